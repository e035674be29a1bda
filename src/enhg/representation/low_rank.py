"""Low-rank representation: all samples rebuilt together, by coefficients of the lowest rank
(Liu, Lin, Yan, Sun, Yu, Ma, IEEE Transactions on Pattern Analysis and Machine Intelligence 35,
2013)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning

from enhg._progress import Progress, reporting
from enhg._validation import check_samples

_CHECK_EVERY = 10
_FIRST_PENALTY = 2.0
_UNBALANCED = 5.0


@dataclass(frozen=True)
class LowRankRepresentation:
    """Samples rebuilt together: X = ZX + E, with Z of low rank.

    Attributes
    ----------
    left, values, right : ndarray of shape (n_samples, rank), (rank,) and (rank, n_samples)
        Z = left · diag(values) · right, its singular value decomposition.
    errors : ndarray of shape (n_samples, n_features)
        E.
    gap : float
        How far the objective is above the optimum at most (by a dual solution), relative to it.
    """

    left: NDArray
    values: NDArray
    right: NDArray
    errors: NDArray
    gap: float

    @property
    def coefficients(self) -> NDArray:
        """Z, n×n."""
        return (self.left * self.values) @ self.right


def low_rank_representation(
    X: ArrayLike,
    *,
    error_weight: float = 1.0,
    tol: float = 1e-3,
    max_iter: int = 1000,
    progress: Progress = None,
) -> LowRankRepresentation:
    """Rebuild all samples from all samples, themselves included, by the Z of lowest rank.

        minimize over Z:   ‖Z‖_* + λ Σᵢ ‖xᵢ − Σⱼ zᵢⱼ xⱼ‖₂

    The sum is the l2,1 norm of the errors: robust to samples that are corrupted as a whole.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        Taken as they are (see `normalize_samples`).
    error_weight : float
        λ. As it grows errors vanish, and Z becomes the projector on the column space of X.
    tol : float
        Bound on the relative duality gap. What does not get there is reported by a warning.
    max_iter : int
    progress : bool or callable, optional
        True for a bar on standard error; a function is called with (iterations, most of them).

    Notes
    -----
    With X = U S Vᵀ of rank r the solution is Z = W Uᵀ, and the problem becomes one in W (n×r)
    with a diagonal S in place of X: minimize ‖W‖_* + λ Σᵢ ‖fᵢ‖, F = US − WS. It is solved by an
    inexact augmented Lagrangian with W split in two, one singular value decomposition an
    iteration. Its multiplier Y, scaled so that ‖YS‖₂ ≤ 1 and ‖yᵢ‖ ≤ λ, is a dual solution of
    value ⟨Y, US⟩, from which the gap follows.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, -1.0, 0.0]])
    >>> found = low_rank_representation(X, error_weight=10)
    >>> abs(found.coefficients).round(2)
    array([[0.2, 0.4, 0. , 0. ],
           [0.4, 0.8, 0. , 0. ],
           [0. , 0. , 0.5, 0.5],
           [0. , 0. , 0.5, 0.5]])
    """
    for name, value in (("error_weight", error_weight), ("tol", tol)):
        number = isinstance(value, Real) and not isinstance(value, bool)
        if not number or not 0 < value < np.inf:
            raise ValueError(f"{name} must be a positive number, got {value!r}")
    if not isinstance(max_iter, Integral) or max_iter < 1:
        raise ValueError(f"max_iter must be a whole number of at least 1, got {max_iter!r}")
    samples = check_samples(X).astype(np.float64, copy=False)
    U, S, Vt = _thin_svd(samples)
    with reporting(progress, "low-rank iterations") as report:
        W, gap = _solve(U * S, S, float(error_weight), float(tol), int(max_iter), report)
    if gap > tol:
        warnings.warn(
            f"the low-rank representation reached a duality gap of {gap:.1e} in {max_iter} "
            f"iterations, not tol = {tol:g}; raise max_iter or tol",
            ConvergenceWarning,
            stacklevel=2,
        )
    left, values, right = _thin_svd(W)
    return LowRankRepresentation(left, values, right @ U.T, (U * S - W * S) @ Vt, gap)


def _thin_svd(A: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """A = U · diag(S) · Vt with only the singular values that are not rounding."""
    U, S, Vt = np.linalg.svd(A, full_matrices=False)
    least = max(A.shape) * np.finfo(A.dtype).eps * S.max(initial=0)
    rank = max(1, np.count_nonzero(least < S))
    return U[:, :rank], S[:rank], Vt[:rank]


def _solve(
    target: NDArray,
    S: NDArray,
    error_weight: float,
    tol: float,
    max_iter: int,
    report: Callable[[int, int], None],
) -> tuple[NDArray, float]:
    """W of least ‖W‖_* + λ‖target − WS‖₂,₁, and its relative duality gap.

    W is split: J carries the rank, W the equation. Y and T are the multipliers of
    target = WS + F and of W = J, both divided by the penalty μ, which is moved so that the
    equations and the stationarity are met at one pace.
    """
    mu = _FIRST_PENALTY
    W = np.zeros_like(target)
    Y, T = np.zeros_like(target), np.zeros_like(target)
    best, best_value, best_dual = W, error_weight * _lengths(target).sum(), 0.0
    for iteration in range(1, max_iter + 1):
        J, nuclear = _shrink_values(W + T, 1 / mu)
        F = _shrink_rows(target - W * S + Y, error_weight / mu)
        before = W
        W = ((target - F + Y) * S + J - T) / (S**2 + 1)
        unmet, split = target - W * S - F, W - J
        Y += unmet
        T += split
        if iteration % _CHECK_EVERY == 0 or iteration == max_iter:
            value = nuclear + error_weight * _lengths(target - J * S).sum()
            if value < best_value:
                best, best_value = J, value
            best_dual = max(best_dual, _dual_value(mu * Y, target, S, error_weight))
            report(iteration, max_iter)
            if best_value - best_dual <= tol * best_value:
                break
            primal = np.sqrt((unmet**2).sum() + (split**2).sum())
            moved = W - before
            dual = mu * np.sqrt(((moved * S) ** 2).sum() + (moved**2).sum())
            factor = 1.0
            if primal * mu > _UNBALANCED * dual:
                factor = 2.0
            elif dual > _UNBALANCED * primal * mu:
                factor = 0.5
            mu *= factor
            Y /= factor
            T /= factor
    return best, float((best_value - best_dual) / best_value) if best_value > 0 else 0.0


def _dual_value(Y: NDArray, target: NDArray, S: NDArray, error_weight: float) -> float:
    """⟨Y, target⟩ with Y made smaller until it is feasible."""
    Y = Y * np.minimum(1, error_weight / np.maximum(_lengths(Y), np.finfo(float).tiny))[:, None]
    longest = np.sqrt(max(np.linalg.eigvalsh((Y * S).T @ (Y * S))[-1], 0))
    return float((Y * target).sum() / max(1.0, longest))


def _shrink_values(M: NDArray, threshold: float) -> tuple[NDArray, float]:
    """M with its singular values lowered by the threshold, and their sum."""
    squares, V = np.linalg.eigh(M.T @ M)
    kept = squares > threshold**2
    values, V = np.sqrt(squares[kept]), V[:, kept]
    return (M @ (V * (1 - threshold / values))) @ V.T, float((values - threshold).sum())


def _shrink_rows(M: NDArray, threshold: float) -> NDArray:
    lengths = _lengths(M)
    kept = 1 - threshold / np.maximum(lengths, threshold)
    return M * kept[:, None]


def _lengths(M: NDArray) -> NDArray:
    return np.sqrt((M**2).sum(axis=1))
