"""Label propagation over a hypergraph: diffusion (paper, IV.B) and Poisson learning."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from enhg._protocol import GraphLike
from enhg._validation import check_fraction
from enhg.exceptions import Advised, warn_not_converged
from enhg.learning._advice import LINK

# Relative residual of diffusions that are only compared: in cross-validation and refinement.
ROUGH_TOL = 1e-2
_MAX_ITERATIONS = 10_000


def diffuse(theta: LinearOperator, Y: NDArray, alpha: float, *, tol: float = 1e-8) -> NDArray:
    """Solve (I − αΘ) F = Y by conjugate gradients, all columns of Y at once.

    The matrix is symmetric with spectrum in [1 − α, 1 + α]. A column stops at a residual of
    tol·‖y‖; a larger residual than 10·tol·‖y‖ gives a ConvergenceWarning.

    Parameters
    ----------
    theta : LinearOperator of shape (n, n)
        Θ.
    Y : ndarray of shape (n, n_classes)
    alpha : float
        α in (0, 1).
    tol : float, default=1e-8

    Returns
    -------
    ndarray of shape (n, n_classes)
        F.

    Examples
    --------
    >>> from scipy.sparse.linalg import aslinearoperator
    >>> diffuse(aslinearoperator(np.eye(2)), np.array([[1.0], [0.0]]), 0.5)
    array([[2.],
           [0.]])
    """
    check_fraction("alpha", alpha, open_interval=True)
    F, residual = _conjugate_gradients(lambda V: V - alpha * (theta @ V), Y, tol)
    _warn_of_residual(residual, tol, f"reduce {{alpha}} (1 - {1 - alpha:.2g})")
    return F


def poisson(graph: GraphLike, Y: NDArray, *, tol: float = 1e-8) -> NDArray:
    """Solve the Poisson equation D^½ L D^½ U = Y − Ȳ, with labels as sources and sinks.

    L is the normalized Laplacian. Ȳ has, in the rows of labeled samples, the mean of these rows of
    Y, and zeros elsewhere: a labeled sample is a source of its class and a sink of the others, and
    the right-hand side sums to zero. Each connected component is solved by itself; U is zero in a
    component without labels, or with labels of one class. Unlike diffusion, U does not become flat
    far from the labels.

    Parameters
    ----------
    graph : Hypergraph or Graph
    Y : ndarray of shape (n_vertices, n_classes)
        1 where a label is given, 0 elsewhere.
    tol : float, default=1e-8
        As in `diffuse`.

    Returns
    -------
    ndarray of shape (n_vertices, n_classes)
        U, with Σ_v d(v) U(v) = 0 on each component.

    References
    ----------
    J. Calder, B. Cook, M. Thorpe and D. Slepčev, "Poisson learning: graph based semi-supervised
    learning at very low label rates", International Conference on Machine Learning, 2020.

    Examples
    --------
    >>> from enhg import Graph
    >>> path = Graph([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]])
    >>> poisson(path, np.array([[1.0, 0], [0, 0], [0, 0], [0, 1]])).round(2)
    array([[ 0.75, -0.75],
           [ 0.25, -0.25],
           [-0.25,  0.25],
           [-0.75,  0.75]])
    """
    count, component = graph.connected_components()
    degrees = np.where(graph.vertex_degrees > 0, graph.vertex_degrees, 1.0)  # U is 0 if isolated
    roots = np.sqrt(degrees)[:, None]
    volumes = np.bincount(component, degrees, minlength=count)[:, None]
    theta = graph.theta

    def project(V: NDArray) -> NDArray:
        """Project √d on each component, the null space of L, out of V."""
        return V - roots * (component_sums(roots * V, component, count) / volumes)[component]

    sources = _balanced_sources(Y, component, count)
    W, residual = _conjugate_gradients(
        lambda V: V - theta @ V, project(sources / roots), tol, project
    )
    _warn_of_residual(residual, tol, LINK)
    return W / roots


def _balanced_sources(Y: NDArray, component: NDArray, count: int) -> NDArray:
    """Return Y − Ȳ of `poisson`, with means over the labeled samples of each component."""
    given = Y.sum(axis=1) > 0
    n_labels = np.maximum(np.bincount(component[given], minlength=count), 1)[:, None]
    means = component_sums(Y, component, count) / n_labels
    return np.where(given[:, None], Y - means[component], 0)


def component_sums(V: NDArray, component: NDArray, count: int) -> NDArray:
    """Sum the rows of V over each connected component."""
    n = len(component)
    indicator = sparse.csc_array((np.ones(n), component, np.arange(n + 1)), shape=(count, n))
    return indicator @ V


def _conjugate_gradients(
    apply: Callable[[NDArray], NDArray],
    B: NDArray,
    tol: float,
    project: Callable[[NDArray], NDArray] = lambda V: V,
) -> tuple[NDArray, float]:
    """Solve apply(X) = B on the range of `project`, for all columns at once.

    Returns X and its largest relative residual over the columns.
    """
    X = np.zeros_like(B, dtype=np.float64)
    residual = B.astype(np.float64)
    target = tol * np.linalg.norm(residual, axis=0)
    direction = residual.copy()
    squared = _column_products(residual, residual)
    for _ in range(_MAX_ITERATIONS):
        if np.all(np.sqrt(squared) <= target):
            break
        image = apply(direction)
        step = _quotient(squared, _column_products(direction, image))
        X += step * direction
        image *= step
        residual -= image
        residual = project(residual)
        following = _column_products(residual, residual)
        direction *= _quotient(following, squared)
        direction += residual
        squared = following
    X = project(X)
    # In a nearly singular system rounding makes the true residual larger than the recursion's.
    true = np.linalg.norm(B - apply(X), axis=0)
    return X, float(_quotient(true, np.linalg.norm(B, axis=0)).max())


def _column_products(V: NDArray, W: NDArray) -> NDArray:
    """Inner products of the columns of V with those of W."""
    return np.einsum("ij,ij->j", V, W)


def _warn_of_residual(residual: float, tol: float, advice: str) -> None:
    if residual > 10 * tol:
        warn_not_converged(
            Advised(
                f"label propagation reached a relative residual of {residual:.1e}, not {tol:g}",
                advice,
            ),
            stacklevel=3,
        )


def _quotient(numerator: NDArray, denominator: NDArray) -> NDArray:
    """Return numerator / denominator, and 0 in columns that are solved already."""
    return np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator > 0)
