"""The robust matrix elastic net: parameters, scale of γ, and the result.

For every sample i, with its own coefficient fixed at zero (paper, III.A):

    minimize over z:   ‖z‖₁ + λ‖z‖₂² + γᵢ·ℓ(xᵢ − Σⱼ zⱼ xⱼ),   zᵢ = 0

with ℓ(r) = ‖r‖₂ (`loss="norm"`) or ½‖r‖₂² (`loss="squared"`). Divided by γᵢ, both are the squared
problem ½‖r‖² + a‖z‖₁ + (b/2)‖z‖² with a = s/γᵢ and b = 2λs/γᵢ, where s = 1 for the squared loss and
s = σ = ‖r‖ at the solution for the norm loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg._npz import (
    State,
    require,
    require_array,
    require_indices,
    require_sparse,
    require_state,
    require_value,
)
from enhg._validation import check_choice, check_nonnegative, check_positive
from enhg.exceptions import InputError

Loss = Literal["norm", "squared"]
GammaScale = Literal["relative", "absolute"]

# Residuals below this part of the norm of their sample count as that long in the norm loss: at an
# exact fit the loss is not differentiable, and σ = 0 would remove the penalty σ/γ.
SIGMA_FLOOR = 1e-6
_ENTRIES_AT_ONCE = 2**22  # of the reconstruction, where only its norms are computed


@dataclass(frozen=True)
class Problem:
    """Parameters of the matrix elastic net, as in `self_representation`."""

    gamma: float
    lam: float
    loss: Loss
    gamma_scale: GammaScale

    def __post_init__(self) -> None:
        check_positive("gamma", self.gamma)
        check_nonnegative("lam", self.lam)
        check_choice("loss", self.loss, get_args(Loss))
        check_choice("gamma_scale", self.gamma_scale, get_args(GammaScale))

    def gammas(self, critical: NDArray, norms: NDArray) -> NDArray:
        """Return γᵢ of every sample.

        z = 0 is optimal up to γᵢ = 1/maxⱼ|xⱼᵀxᵢ| for the squared loss and ‖xᵢ‖/maxⱼ|xⱼᵀxᵢ| for the
        norm loss; `gamma` on the relative scale is a multiple of this value. For a sample that
        correlates with no atom z = 0 is optimal at every γ.

        Parameters
        ----------
        critical : ndarray of shape (n_samples,)
            maxⱼ|xⱼᵀxᵢ|.
        norms : ndarray of shape (n_samples,)
            ‖xᵢ‖.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        gammas = np.full(len(critical), float(self.gamma))
        if self.gamma_scale == "relative":
            correlated = critical > 0
            if self.loss == "norm":
                critical = critical / np.where(correlated, norms, 1.0)
            with np.errstate(over="ignore"):  # checked by `check_range`
                gammas[correlated] /= critical[correlated]
        return gammas

    def check_range(self, gammas: NDArray, least: NDArray, largest: NDArray) -> None:
        """Raise InputError unless float64 has the penalties s/γᵢ and 2λs/γᵢ of every sample.

        Parameters
        ----------
        gammas : ndarray of shape (n_samples,)
        least, largest : ndarray of shape (n_samples,)
            Bounds on s.
        """
        with np.errstate(all="ignore"):
            scaled = 2 * self.lam * largest  # before it is divided by γᵢ
            least, largest = least / gammas, largest / gammas
            ridge = np.maximum(scaled, 2 * self.lam * largest)
        wrong = np.flatnonzero(~((least >= np.finfo(float).tiny) & (largest < np.inf)))
        if len(wrong):
            raise InputError(
                "gamma must give l1 penalties within the range of float64 for samples of this "
                f"scale, got {self.gamma:g}, which gives {least[wrong[0]]:g}",
                parameter="gamma",
            )
        if not (ridge < np.inf).all():
            raise InputError(
                "lam must give ridge penalties within the range of float64 for samples of this "
                f"scale, got {self.lam:g}",
                parameter="lam",
            )


@dataclass(frozen=True, eq=False)
class Approximation:
    """Rows of an approximate representation, checked against all atoms.

    Attributes
    ----------
    rows : ndarray of int
        Random samples.
    certificate : ndarray of shape (n_rows,)
        Largest violation of their optimality conditions over all atoms, not only the candidates,
        relative to their l1 penalty.
    """

    rows: NDArray
    certificate: NDArray

    def share_within(self, tol: float) -> float:
        """The share of the rows whose certificate is at most `tol`."""
        return float((self.certificate <= tol).mean())


@dataclass(frozen=True)
class Representation:
    """Representation of samples by atoms: X = ZA + S (paper, III.A; A = X by default).

    Attributes
    ----------
    coefficients : csr_array of shape (n_samples, n_atoms)
        Z; row i represents sample i.
    certificate : ndarray of shape (n_samples,)
        Largest violation of the optimality (KKT) conditions of each row over all atoms, relative
        to its l1 penalty a; 0 is exactly optimal. Infinite for a row that could not be solved,
        whose coefficients are then zero. With the norm loss the conditions are those of the
        problem with ‖r‖²/2f + f/2 in place of ‖r‖ below the floor f = 10⁻⁶‖xᵢ‖, where
        σ counts as f; its objective is above the one of ‖r‖ by at most γᵢf/2.
    l1_penalty, ridge_penalty : ndarray of shape (n_samples,)
        a and b of the squared problem ½‖r‖² + a‖z‖₁ + (b/2)‖z‖² that each row solves.
    at_floor : ndarray of bool of shape (n_samples,)
        Rows of the norm loss with σ at the floor: the atoms reconstruct these samples exactly, but
        for the floor. No row with the squared loss.
    samples, dictionary : ndarray
        X and A, in the precision they were solved in.
    sparse_errors : csr_array of shape (n_samples, n_features) or None
        The part of S that is attributed to single features, if `error_weight` was given.
    approximation : Approximation or None
        If `n_candidates` was given: how close some rows are to the solutions over all atoms. Then
        `certificate` is over the candidates of a sample only.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from enhg import self_representation
    >>> representation = self_representation(load_digits().data[:100] / 16)
    >>> representation.coefficients.shape
    (100, 100)
    >>> bool(representation.certificate.max() <= 1e-4)
    True
    """

    coefficients: sparse.csr_array
    certificate: NDArray
    l1_penalty: NDArray
    ridge_penalty: NDArray
    at_floor: NDArray
    samples: NDArray
    dictionary: NDArray
    sparse_errors: sparse.csr_array | None = None
    approximation: Approximation | None = None

    @cached_property
    def reconstruction(self) -> NDArray:
        """X₀ = ZA, of the shape and precision of the samples."""
        return (self.coefficients @ self.dictionary).astype(self.samples.dtype, copy=False)

    @cached_property
    def residuals(self) -> NDArray:
        """S = X − ZA."""
        return self.samples - self.reconstruction

    @cached_property
    def relative_residuals(self) -> NDArray:
        """‖xᵢ − Σⱼ zᵢⱼaⱼ‖ / ‖xᵢ‖ of every sample, in float64; 0 for a zero sample.

        Computed in blocks of features: neither reconstruction nor residuals are stored.
        """
        n, d = self.samples.shape
        squares, sample_squares = np.zeros(n), np.zeros(n)
        size = max(1, _ENTRIES_AT_ONCE // max(n, len(self.dictionary)))
        for start in range(0, d, size):
            samples = self.samples[:, start : start + size].astype(np.float64)
            atoms = self.dictionary[:, start : start + size].astype(np.float64)
            sample_squares += np.einsum("ij,ij->i", samples, samples)
            samples -= self.coefficients @ atoms
            squares += np.einsum("ij,ij->i", samples, samples)
        nonzero = sample_squares > 0
        return np.sqrt(np.divide(squares, sample_squares, out=np.zeros(n), where=nonzero))

    def to_state(self) -> State:
        """Everything that `from_state` needs but the samples and the dictionary."""
        return {
            "coefficients": self.coefficients,
            "certificate": self.certificate,
            "l1_penalty": self.l1_penalty,
            "ridge_penalty": self.ridge_penalty,
            "at_floor": self.at_floor,
            "sparse_errors": self.sparse_errors,
            "approximation": None if self.approximation is None else dict(vars(self.approximation)),
        }

    @classmethod
    def from_state(cls, state: State, samples: NDArray) -> Self:
        """Make a representation of samples by each other from the state of another.

        Parameters
        ----------
        state : State
            What `to_state` returned.
        samples : ndarray of shape (n_samples, n_features)
            X, which is the dictionary too.
        """
        n, d = samples.shape
        coefficients = require_sparse(state, "coefficients", (n, n))
        # A certificate is infinite where the solver failed.
        certificate = require_array(state, "certificate", (n,), "f", finite=False)
        l1_penalty = require_array(state, "l1_penalty", (n,), "f")
        ridge_penalty = require_array(state, "ridge_penalty", (n,), "f")
        at_floor = require_array(state, "at_floor", (n,), "b")
        require(bool((l1_penalty >= 0).all()), "l1_penalty")
        require(bool((ridge_penalty >= 0).all()), "ridge_penalty")
        errors = require_value(state, "sparse_errors")
        if errors is not None:
            errors = require_sparse(state, "sparse_errors", (n, d))
        approximation = None
        if require_value(state, "approximation") is not None:
            part = require_state(state, "approximation")
            rows = require_indices(part, "rows", n)
            checked = require_array(part, "certificate", (len(rows),), "f", finite=False)
            approximation = Approximation(rows, checked)
        return cls(
            coefficients, certificate, l1_penalty, ridge_penalty, at_floor, samples, samples,
            errors, approximation,
        )  # fmt: skip
