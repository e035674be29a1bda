"""The robust matrix elastic net: its parameters, their scale, and what a solution holds.

For every sample i, with its own coefficient held at zero (paper, III.A):

    minimize over z:   ‖z‖₁ + λ‖z‖₂² + γᵢ·ℓ(xᵢ − Σⱼ zⱼ xⱼ),   zᵢ = 0

with ℓ(r) = ‖r‖₂ (`loss="norm"`) or ½‖r‖₂² (`loss="squared"`). Divided by γᵢ, both are the
squared problem ½‖r‖² + a‖z‖₁ + (b/2)‖z‖², with a = s/γᵢ, b = 2λs/γᵢ and s = 1 for the squared
loss, s = σ = ‖r‖ at the solution for the norm loss.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg._npz import State, require, require_array, require_sparse, require_value

Loss = Literal["norm", "squared"]
GammaScale = Literal["relative", "absolute"]

# Residuals shorter than this part of their sample count as this long in the norm loss: at an
# exact fit the loss has no derivative, and a penalty of σ/γ with σ = 0 would be no penalty.
SIGMA_FLOOR = 1e-6


@dataclass(frozen=True)
class Problem:
    """Parameters of the matrix elastic net; see `self_representation` for their meaning."""

    gamma: float
    lam: float
    loss: Loss
    gamma_scale: GammaScale

    def __post_init__(self) -> None:
        for name, value in (("gamma", self.gamma), ("lam", self.lam)):
            if not isinstance(value, Real) or not np.isfinite(value):
                raise ValueError(f"{name} must be a finite number, got {value!r}")
        if self.gamma <= 0:
            raise ValueError(f"gamma must be positive, got {self.gamma!r}")
        if self.lam < 0:
            raise ValueError(f"lam must be at least 0, got {self.lam!r}")
        for name, choice, allowed in (
            ("loss", self.loss, ("norm", "squared")),
            ("gamma_scale", self.gamma_scale, ("relative", "absolute")),
        ):
            if choice not in allowed:
                raise ValueError(f"{name} must be one of {allowed}, got {choice!r}")

    def gammas(self, critical: NDArray, lengths: NDArray) -> NDArray:
        """γᵢ of every sample, from its largest |correlation| and its length.

        At γᵢ = 1/maxⱼ|xⱼᵀxᵢ| (squared loss) or ‖xᵢ‖/maxⱼ|xⱼᵀxᵢ| (norm loss) z = 0 stops being
        optimal; the relative scale counts in multiples of that. A sample that correlates with
        nothing has no such point: z = 0 is optimal for it at every γ.
        """
        gammas = np.full(len(critical), float(self.gamma))
        if self.gamma_scale == "relative":
            reached = critical > 0
            gammas[reached] /= critical[reached]
            if self.loss == "norm":
                gammas[reached] *= lengths[reached]
        return gammas


@dataclass(frozen=True)
class Representation:
    """Every sample rebuilt from a few others: X = ZA + S (paper, III.A; A = X by default).

    Attributes
    ----------
    coefficients : csr_array of shape (n_samples, n_atoms)
        Z; row i rebuilds sample i.
    certificate : ndarray of shape (n_samples,)
        How far from optimal each row is: the largest violation of its optimality (KKT)
        conditions over all atoms, relative to its l1 penalty a. 0 is exactly optimal.
    l1_penalty, ridge_penalty : ndarray of shape (n_samples,)
        a and b of the squared problem ½‖r‖² + a‖z‖₁ + (b/2)‖z‖² that each row solves.
    samples, dictionary : ndarray
        X and A, in the precision they were solved in.
    sparse_errors : csr_array of shape (n_samples, n_features) or None
        The errors of single features, where they were asked for; part of S.
    """

    coefficients: sparse.csr_array
    certificate: NDArray
    l1_penalty: NDArray
    ridge_penalty: NDArray
    samples: NDArray
    dictionary: NDArray
    sparse_errors: sparse.csr_array | None = None

    @cached_property
    def reconstruction(self) -> NDArray:
        """X₀ = ZA: the samples as the others rebuild them."""
        return (self.coefficients @ self.dictionary).astype(self.samples.dtype, copy=False)

    @cached_property
    def residuals(self) -> NDArray:
        """S = X − ZA: what the others cannot rebuild."""
        return self.samples - self.reconstruction

    @cached_property
    def relative_residuals(self) -> NDArray:
        """‖xᵢ − Σⱼ zᵢⱼaⱼ‖/‖xᵢ‖; 0 for a zero sample."""
        lengths = np.linalg.norm(self.samples.astype(np.float64), axis=1)
        residuals = np.linalg.norm(self.residuals.astype(np.float64), axis=1)
        return np.divide(residuals, lengths, out=np.zeros_like(lengths), where=lengths > 0)

    def to_state(self) -> State:
        """Everything that `from_state` needs but the samples and the dictionary."""
        return {
            "coefficients": self.coefficients,
            "certificate": self.certificate,
            "l1_penalty": self.l1_penalty,
            "ridge_penalty": self.ridge_penalty,
            "sparse_errors": self.sparse_errors,
        }

    @classmethod
    def from_state(cls, state: State, samples: NDArray) -> Self:
        """Make the representation of samples by each other of the state of another.

        Parameters
        ----------
        state : State
        samples : ndarray of shape (n_samples, n_features)
            X, which is the dictionary too.
        """
        n, d = samples.shape
        coefficients = require_sparse(state, "coefficients", (n, n))
        # A certificate is infinite where the solver failed.
        certificate = require_array(state, "certificate", (n,), "f", finite=False)
        l1_penalty = require_array(state, "l1_penalty", (n,), "f")
        ridge_penalty = require_array(state, "ridge_penalty", (n,), "f")
        require(bool((l1_penalty >= 0).all()), "l1_penalty")
        require(bool((ridge_penalty >= 0).all()), "ridge_penalty")
        errors = require_value(state, "sparse_errors")
        if errors is not None:
            errors = require_sparse(state, "sparse_errors", (n, d))
        return cls(
            coefficients, certificate, l1_penalty, ridge_penalty, samples, samples, errors
        )
