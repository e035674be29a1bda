"""Labels spread over a hypergraph: by diffusion, F = (I − αΘ)⁻¹Y (paper, IV.B), and from very few
labels by Poisson learning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Real

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import ConvergenceWarning

from enhg.graph import Graph
from enhg.hypergraph import Hypergraph

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
    F, worst = _conjugate_gradients(lambda V: V - alpha * (theta @ V), Y, tol)
    _warn_of_residual(worst, tol, f"lower alpha (now 1 - {1 - alpha:.2g})")
    return F


def poisson(graph: Hypergraph | Graph, Y: NDArray, *, tol: float = 1e-8) -> NDArray:
    """Poisson learning: D^½ L D^½ U = Y − Ȳ, labels as sources and sinks (Calder, Cook, Thorpe,
    Slepčev, International Conference on Machine Learning, 2020).

    L is the hypergraph's Laplacian. Labeled samples are sources of their own class and sinks of
    the others, in balance: Ȳ is the mean of the labels, taken where a label is given. So U is not
    flat away from the labels, as what diffuses out of few of them is, and its largest entry
    still tells the class.

    Components of the hypergraph are solved each for itself; U is zero in one that has no label,
    or labels of one class only.

    Examples
    --------
    >>> path = Graph([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> poisson(path, np.array([[1.0, 0], [0, 0], [0, 0], [0, 1]])).round(2)
    array([[ 0.75, -0.75],
           [ 0.25, -0.25],
           [-0.25,  0.25],
           [-0.75,  0.75]])
    """
    count, component = graph.connected_components()
    roots = np.sqrt(graph.vertex_degrees)[:, None]
    given = Y.sum(axis=1) > 0
    labels = np.maximum(np.bincount(component[given], minlength=count), 1)[:, None]
    sources = np.where(
        given[:, None], Y - (component_sums(Y, component, count) / labels)[component], 0
    )
    volumes = np.bincount(component, graph.vertex_degrees, minlength=count)[:, None]

    def without_constant(V: NDArray) -> NDArray:
        """V freed of √d on each component, which L takes to zero."""
        return V - roots * (component_sums(roots * V, component, count) / volumes)[component]

    theta = graph.theta
    W, worst = _conjugate_gradients(
        lambda V: V - theta @ V, without_constant(sources / roots), tol, without_constant
    )
    _warn_of_residual(worst, tol, "the hypergraph nearly falls apart: make hyperedges larger")
    return W / roots


def component_sums(V: NDArray, component: NDArray, count: int) -> NDArray:
    """The rows of V summed over each component."""
    sums = np.zeros((count, V.shape[1]))
    np.add.at(sums, component, V)
    return sums


def _conjugate_gradients(
    apply: Callable[[NDArray], NDArray],
    B: NDArray,
    tol: float,
    project: Callable[[NDArray], NDArray] = lambda V: V,
) -> tuple[NDArray, float]:
    """X with apply(X) = B, column by column but all at once, in the space that `project` projects
    on; and the largest relative residual."""
    X = np.zeros_like(B, dtype=np.float64)
    residual = B.astype(np.float64)
    target = tol * np.linalg.norm(residual, axis=0)
    direction = residual.copy()
    squared = (residual**2).sum(axis=0)
    for _ in range(_MOST_ITERATIONS):
        if np.all(np.sqrt(squared) <= target):
            break
        image = apply(direction)
        step = _quotient(squared, (direction * image).sum(axis=0))
        X += step * direction
        residual = project(residual - step * image)
        following = (residual**2).sum(axis=0)
        direction = residual + _quotient(following, squared) * direction
        squared = following
    X = project(X)
    # Where the system is nearly singular, rounding keeps the true residual above the one above.
    true = np.linalg.norm(B - apply(X), axis=0)
    return X, float(_quotient(true, np.linalg.norm(B, axis=0)).max())


def _warn_of_residual(worst: float, tol: float, remedy: str) -> None:
    if worst > 10 * tol:
        warnings.warn(
            f"the spreading of labels reached a relative residual of {worst:.1e}, not {tol:g}; {remedy}",
            ConvergenceWarning,
            stacklevel=3,
        )


def check_alpha(alpha: float) -> None:
    if not (isinstance(alpha, Real) and 0 < alpha < 1):
        raise ValueError(f"alpha must lie between 0 and 1, got {alpha!r}")


def _quotient(above: NDArray, below: NDArray) -> NDArray:
    """above / below, and 0 for a column that is already solved."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)
