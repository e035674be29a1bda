"""Low-rank representation of all samples together (Liu et al., 2013)."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from enhg._progress import Progress, reporting
from enhg._validation import check_positive, check_samples, check_whole
from enhg.exceptions import Advised, InputError, warn_not_converged

_CHECK_EVERY = 10  # iterations
_FIRST_PENALTY = 2.0
_UNBALANCED = 5.0  # ratio of primal and dual residual that changes the penalty


@dataclass(frozen=True)
class LowRankRepresentation:
    """Representation of all samples together: X = ZX + E with Z of low rank.

    Attributes
    ----------
    left, values, right : ndarray of shape (n_samples, rank), (rank,) and (rank, n_samples)
        Singular value decomposition Z = left · diag(values) · right.
    residuals : ndarray of shape (n_samples, n_features)
        E = X − ZX.
    gap : float
        Duality gap relative to the objective, a bound on its distance to the optimum.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from enhg import low_rank_representation
    >>> representation = low_rank_representation(load_digits().data[:60] / 16, error_weight=0.3)
    >>> len(representation.values) < 60        # Z = left · diag(values) · right has a low rank
    True
    """

    left: NDArray
    values: NDArray
    right: NDArray
    residuals: NDArray
    gap: float

    @property
    def coefficients(self) -> NDArray:
        """Z, of shape (n_samples, n_samples)."""
        return (self.left * self.values) @ self.right


def low_rank_representation(
    X: ArrayLike,
    *,
    error_weight: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = 1000,
    progress: Progress = None,
) -> LowRankRepresentation:
    """Represent all samples by all samples, themselves included, with a Z of low rank.

        minimize over Z:   ‖Z‖_* + error_weight · Σᵢ ‖xᵢ − Σⱼ zᵢⱼ xⱼ‖₂

    The sum is the l2,1 norm of the residuals, robust to samples that are corrupted as a whole.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The samples, used as they are.
    error_weight : float, default=1.0
        Weight of the residuals. For large values they vanish, and Z becomes the projector on the
        column space of X.
    tol : float, default=1e-3
        Bound on the relative duality gap. A ConvergenceWarning is issued if it is not reached.
    max_iter : int, default=1000
        Largest number of iterations.
    progress : bool or callable, default=None
        True shows a progress bar on standard error; a callable receives (iterations, max_iter).

    Returns
    -------
    LowRankRepresentation

    Notes
    -----
    With X = U S Vᵀ of rank r the solution is Z = W Uᵀ, and the problem becomes one in W (n×r)
    with the diagonal S in place of X: minimize ‖W‖_* + error_weight · Σᵢ ‖fᵢ‖, F = US − WS. It is
    solved by an inexact augmented Lagrangian method with W split in two, one eigendecomposition
    per iteration. Its multiplier Y, scaled so that ‖YS‖₂ ≤ 1 and ‖yᵢ‖ ≤ error_weight, is a dual
    solution of value ⟨Y, US⟩, which gives the gap. No iteration is needed where Z = 0 is optimal
    within ``tol``, or where no row of US⁻¹ is longer than error_weight: there the projector
    Z = UUᵀ is optimal.

    References
    ----------
    G. Liu, Z. Lin, S. Yan, J. Sun, Y. Yu and Y. Ma. Robust recovery of subspace structures by
    low-rank representation. IEEE Transactions on Pattern Analysis and Machine Intelligence 35(1),
    2013.

    Examples
    --------
    >>> import numpy as np
    >>> from enhg import low_rank_representation
    >>> X = np.array([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]])
    >>> representation = low_rank_representation(X, error_weight=10)
    >>> abs(representation.coefficients).round(2)
    array([[0.2, 0.4, 0. , 0. ],
           [0.4, 0.8, 0. , 0. ],
           [0. , 0. , 0.5, 0.5],
           [0. , 0. , 0.5, 0.5]])
    """
    check_positive("error_weight", error_weight)
    check_positive("tol", tol)
    check_whole("max_iter", max_iter, 1)
    samples = check_samples(X).astype(np.float64, copy=False)
    # The iterations start from a penalty for samples of about unit length.
    scale = _scale(samples)
    weight = float(error_weight) * scale
    if not 0 < weight < np.inf:
        raise InputError(
            "error_weight must be within the range of float64 for samples of this scale, got "
            f"{error_weight:g}",
            parameter="error_weight",
        )
    U, S, Vt = _thin_svd(samples / scale)
    with reporting(progress, "low-rank iterations") as report:
        W, gap = _solve(U * S, S, weight, float(tol), int(max_iter), report)
    if not gap <= tol:
        warn_not_converged(
            Advised(
                f"the low-rank representation reached a duality gap of {gap:.1e} in {max_iter} "
                f"iterations, not {tol:g}",
                "increase {max_iter}",
                "increase {tol}",
            )
        )
    left, values, right = _thin_svd(W)
    residuals = scale * ((U * S - W * S) @ Vt)
    return LowRankRepresentation(left, values, right @ U.T, residuals, gap)


def _scale(samples: NDArray) -> float:
    """Return the power of two next to the length of the longest sample; 1 if all are zero."""
    largest = float(np.abs(samples).max())
    if largest == 0:
        return 1.0
    length = float(_norms(samples / largest).max())
    exponent = round(math.log2(largest) + math.log2(length))
    return math.ldexp(1.0, min(exponent, sys.float_info.max_exp - 1))


def _thin_svd(A: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Return U, S, Vt of A = U · diag(S) · Vt, without singular values at the level of rounding."""
    U, S, Vt = np.linalg.svd(A, full_matrices=False)
    smallest = max(A.shape) * np.finfo(A.dtype).eps * S.max(initial=0)
    rank = max(1, np.count_nonzero(smallest < S))
    return U[:, :rank], S[:rank], Vt[:rank]


def _solve(
    target: NDArray,
    S: NDArray,
    error_weight: float,
    tol: float,
    max_iter: int,
    report: Callable[[int, int], None],
) -> tuple[NDArray, float]:
    """Minimize ‖W‖_* + error_weight·‖target − WS‖₂,₁; returns W and the relative duality gap.

    W is split: J carries the rank, W the equation. Y and T are the multipliers of
    target = WS + F and of W = J, both divided by the penalty μ, which is adapted so that primal
    and dual residuals decrease at the same rate.
    """
    # Then US⁻¹ is a dual solution, of the value of W = U.
    if S[-1] > 0 and (_norms(target / S**2) <= error_weight).all():
        return target / S, 0.0
    best, best_value = np.zeros_like(target), error_weight * _norms(target).sum()
    # The gradient of the residuals at W = 0, of its value if it is a dual solution.
    directions = target / np.maximum(_norms(target), np.finfo(float).tiny)[:, None]
    best_dual = _dual_value(error_weight * directions, target, S, error_weight)
    if best_value - best_dual <= tol * best_value:
        return best, _relative_gap(best_value, best_dual)
    mu = _FIRST_PENALTY
    W = np.zeros_like(target)
    Y, T = np.zeros_like(target), np.zeros_like(target)
    for iteration in range(1, max_iter + 1):
        J, nuclear = _shrink_values(W + T, 1 / mu)
        F = _shrink_rows(target - W * S + Y, error_weight / mu)
        previous = W
        W = ((target - F + Y) * S + J - T) / (S**2 + 1)
        unmet, split = target - W * S - F, W - J
        Y += unmet
        T += split
        if iteration % _CHECK_EVERY == 0 or iteration == max_iter:
            value = nuclear + error_weight * _norms(target - J * S).sum()
            if value < best_value:
                best, best_value = J, value
            best_dual = max(best_dual, _dual_value(mu * Y, target, S, error_weight))
            report(iteration, max_iter)
            if best_value - best_dual <= tol * best_value:
                break
            factor = _penalty_factor(mu, unmet, split, W - previous, S)
            mu *= factor
            Y /= factor
            T /= factor
    return best, _relative_gap(best_value, best_dual)


def _relative_gap(value: float, dual_value: float) -> float:
    """Gap of a primal and a dual value, which rounding may exchange."""
    return max(0.0, float((value - dual_value) / value)) if value > 0 else 0.0


def _penalty_factor(
    mu: float, unmet: NDArray, split: NDArray, change: NDArray, S: NDArray
) -> float:
    """Return the factor of μ that balances the primal and dual residuals."""
    primal = np.sqrt((unmet**2).sum() + (split**2).sum())
    dual = mu * np.sqrt(((change * S) ** 2).sum() + (change**2).sum())
    if primal * mu > _UNBALANCED * dual:
        return 2.0
    if dual > _UNBALANCED * primal * mu:
        return 0.5
    return 1.0


def _dual_value(Y: NDArray, target: NDArray, S: NDArray, error_weight: float) -> float:
    """Return ⟨Y, target⟩ with Y scaled down to a feasible dual solution."""
    Y = Y * (error_weight / np.maximum(_norms(Y), error_weight))[:, None]
    spectral_norm = np.sqrt(max(np.linalg.eigvalsh((Y * S).T @ (Y * S))[-1], 0))
    return float((Y * target).sum() / max(1.0, spectral_norm))


def _shrink_values(M: NDArray, threshold: float) -> tuple[NDArray, float]:
    """Return M with its singular values soft-thresholded, and their sum."""
    squares, V = np.linalg.eigh(M.T @ M)
    kept = squares > threshold**2
    values, V = np.sqrt(squares[kept]), V[:, kept]
    return (M @ (V * (1 - threshold / values))) @ V.T, float((values - threshold).sum())


def _shrink_rows(M: NDArray, threshold: float) -> NDArray:
    """Return M with the norms of its rows soft-thresholded."""
    kept = 1 - threshold / np.maximum(_norms(M), threshold)
    return M * kept[:, None]


def _norms(M: NDArray) -> NDArray:
    return np.sqrt((M**2).sum(axis=1))
