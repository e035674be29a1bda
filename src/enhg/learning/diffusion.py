"""Labels spread over a hypergraph: F = (I − αΘ)⁻¹Y (paper, IV.B)."""

from __future__ import annotations

import warnings
from numbers import Real

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import ConvergenceWarning

_MOST_ITERATIONS = 10_000


def diffuse(theta: LinearOperator, Y: NDArray, alpha: float, *, tol: float = 1e-8) -> NDArray:
    """Solve (I − αΘ) F = Y for all columns of Y at once, by conjugate gradients.

    The matrix is symmetric with spectrum in [1 − α, 1], so a few dozen products with Θ are
    enough for most α. Every column stops at a residual of tol·‖y‖; one that does not get there
    (within a factor of ten) is reported by a warning with the figure.

    Examples
    --------
    >>> from scipy.sparse.linalg import aslinearoperator
    >>> diffuse(aslinearoperator(np.eye(2)), np.array([[1.0], [0.0]]), 0.5)
    array([[2.],
           [0.]])
    """
    check_alpha(alpha)
    F = np.zeros_like(Y, dtype=np.float64)
    residual = Y.astype(np.float64)
    target = tol * np.linalg.norm(residual, axis=0)
    direction = residual.copy()
    squared = (residual**2).sum(axis=0)
    for _ in range(_MOST_ITERATIONS):
        if np.all(np.sqrt(squared) <= target):
            break
        image = direction - alpha * (theta @ direction)
        step = _quotient(squared, (direction * image).sum(axis=0))
        F += step * direction
        residual -= step * image
        following = (residual**2).sum(axis=0)
        direction = residual + _quotient(following, squared) * direction
        squared = following
    # With α next to 1, F is so large that rounding keeps the true residual above the one above.
    true = np.linalg.norm(Y - F + alpha * (theta @ F), axis=0)
    worst = float(_quotient(true, np.linalg.norm(Y, axis=0)).max())
    if worst > 10 * tol:
        warnings.warn(
            f"label diffusion reached a relative residual of {worst:.1e}, not {tol:g}; "
            f"lower alpha (now 1 - {1 - alpha:.2g})",
            ConvergenceWarning,
            stacklevel=2,
        )
    return F


def check_alpha(alpha: float) -> None:
    if not (isinstance(alpha, Real) and 0 < alpha < 1):
        raise ValueError(f"alpha must lie between 0 and 1, got {alpha!r}")


def _quotient(above: NDArray, below: NDArray) -> NDArray:
    """above / below, and 0 for a column that is already solved."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
