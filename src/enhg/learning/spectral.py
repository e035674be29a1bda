"""The largest eigenpairs of Θ, and the embedding of the vertices by them (paper, IV.A)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import LinAlgError, eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from enhg._npz import State, require, require_array
from enhg._protocol import GraphLike
from enhg._validation import check_rng, check_whole
from enhg.exceptions import Advised, warn_not_converged
from enhg.learning._advice import LINK
from enhg.preprocessing._arrays import unit_length

EigenvectorWeighting = Literal["equal", "resolvent"]

TOL = 1e-6  # the largest residual ‖Θv − λv‖ of an eigenvector
_LANCZOS_TOL = 1e-4  # from which on the Lanczos method is used
_MIN_CLUSTER_FRACTION = 0.1  # of an average cluster; smaller components are fragments
_EIGENVECTORS_PER_CLUSTER = 5
MAX_EXTRA_EIGENVECTORS = 200
_MAX_DENSE_VERTICES = 400
MAX_STORED_VERTICES = 2000  # of graphs whose Θ is stored as an array anyway
_MAX_ITERATIONS = 200
_MAX_FILTER_DEGREE = 100
_MAX_BLOCK_WIDTH = 300
# Amplification of the eigenvalue 1 by a filter, relative to the eigenvalues it damps. With more,
# rounding errors along the top eigenvectors would exceed the other components.
_FILTER_AMPLIFICATION = 1e10


@dataclass(frozen=True)
class Spectrum:
    """The largest eigenpairs of Θ.

    Attributes
    ----------
    eigenvalues : ndarray of shape (n_eigenvectors,)
        λ, descending.
    eigenvectors : ndarray of shape (n_vertices, n_eigenvectors)
        Orthonormal columns v.
    residuals : ndarray of shape (n_eigenvectors,)
        ‖Θv − λv‖.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from enhg import HypergraphClustering
    >>> X = load_digits(n_class=3).data
    >>> spectrum = HypergraphClustering(3, random_state=0).fit(X).spectrum_
    >>> spectrum.first(3).eigenvectors.shape
    (537, 3)
    """

    eigenvalues: NDArray
    eigenvectors: NDArray
    residuals: NDArray

    def first(self, count: int) -> Spectrum:
        """Return the first `count` eigenpairs."""
        return Spectrum(
            self.eigenvalues[:count], self.eigenvectors[:, :count], self.residuals[:count]
        )

    def of_vertices(self, mask: NDArray[np.bool_]) -> Spectrum:
        """Return the rows of the eigenvectors of some vertices.

        Parameters
        ----------
        mask : ndarray of bool of shape (n_vertices,)
        """
        if mask.all():
            return self
        return Spectrum(self.eigenvalues, self.eigenvectors[mask], self.residuals)

    def on_vertices(self, mask: NDArray[np.bool_]) -> Spectrum:
        """Extend the eigenvectors by zeros to a larger graph.

        Parameters
        ----------
        mask : ndarray of bool
            The vertices of this graph among those of the larger one.
        """
        if mask.all():
            return self
        eigenvectors = np.zeros((len(mask), len(self.eigenvalues)))
        eigenvectors[mask] = self.eigenvectors
        return Spectrum(self.eigenvalues, eigenvectors, self.residuals)

    def to_state(self) -> State:
        """Return the arrays."""
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a spectrum from its state; raise InputError if the state is not one."""
        eigenvalues = require_array(state, "eigenvalues", (None,))
        eigenvectors = require_array(state, "eigenvectors", (None, len(eigenvalues)))
        residuals = require_array(state, "residuals", (len(eigenvalues),))
        require(len(eigenvalues) <= len(eigenvectors), "eigenvectors")
        return cls(eigenvalues, eigenvectors, residuals)


def top_eigenpairs(
    graph: GraphLike,
    count: int,
    *,
    known: Spectrum | None = None,
    tol: float = TOL,
    random_state: np.random.RandomState | int | None = None,
) -> Spectrum:
    """Compute the largest eigenpairs of Θ.

    The eigenvectors of the eigenvalue 1 are known: √d on each connected component, the largest
    component first. The others are computed orthogonal to them, by a dense solver for small graphs
    and by Chebyshev-filtered subspace iteration for large ones. (Hypergraphs of real data have many
    components and clustered eigenvalues near 1, for which the Lanczos method of ARPACK does not
    converge; it is used for a `tol` of 1e-4 or more only.) Residuals above `tol` give a
    ConvergenceWarning.

    Parameters
    ----------
    graph : Hypergraph or Graph
    count : int
        The number of eigenpairs.
    known : Spectrum, optional
        The largest eigenpairs of the same graph, as far as they were computed before. Only those
        that are missing are solved for, orthogonal to the known ones.
    tol : float, default=1e-6
        The largest residual ‖Θv − λv‖ accepted.
    random_state : int, RandomState or None, default=None
        Seed of the initial subspace.

    Returns
    -------
    Spectrum

    Examples
    --------
    >>> from enhg import Hypergraph
    >>> hypergraph = Hypergraph.from_edges([[0, 1], [1, 2], [3, 4]])
    >>> top_eigenpairs(hypergraph, 3).eigenvalues.round(6)
    array([1. , 1. , 0.5])
    """
    check_whole("count", count, 1, graph.n_vertices, hint="(the number of vertices)")
    if known is not None and len(known.eigenvalues) >= count:
        return known.first(count)
    deflation = _Deflation(_component_vectors(graph), known)
    eigenvalues, eigenvectors = deflation.first(count)
    missing = count - len(eigenvalues)
    if missing:
        more, block = _solve(graph, deflation, missing, tol, random_state)
        eigenvalues = np.concatenate([eigenvalues, more[:missing]])
        eigenvectors = np.hstack([eigenvectors, block[:, :missing]])
    if known is not None:  # within the tolerance, a new eigenvalue can exceed a known one
        order = deflation.order(eigenvalues)
        eigenvalues, eigenvectors = eigenvalues[order], np.take(eigenvectors, order, axis=1)
    residuals = np.linalg.norm(graph.theta @ eigenvectors - eigenvectors * eigenvalues, axis=0)
    if residuals.max() > tol:
        warn_not_converged(
            Advised(
                f"the eigenvectors of Θ did not reach a residual of {tol:g}: the largest is "
                f"{residuals.max():.1e}",
                "reduce {n_clusters}",
                LINK,
            )
        )
    return Spectrum(eigenvalues, eigenvectors, residuals)


def n_eigenvectors(n_clusters: int) -> int:
    """Return the number of eigenvectors of a full spectrum: min(5k, k + 200) for k clusters."""
    extended = n_clusters + MAX_EXTRA_EIGENVECTORS
    return min(_EIGENVECTORS_PER_CLUSTER * n_clusters, extended)


def fragments(graph: GraphLike, n_clusters: int) -> NDArray[np.bool_]:
    """Return the mask of the vertices in connected components that are too small for a cluster.

    These are components of fewer than 0.1·n/k vertices, for n vertices and k clusters, vertices of
    degree 0, and single vertices if there are more components than clusters.
    """
    count, component = graph.connected_components()
    sizes = np.bincount(component, minlength=count)[component]
    small = sizes < _MIN_CLUSTER_FRACTION * len(sizes) / n_clusters
    small |= graph.vertex_degrees == 0
    return small | (sizes == 1) if count > n_clusters else small


def eigenpairs_on(
    graph: GraphLike,
    mask: NDArray[np.bool_],
    count: int,
    random_state: np.random.RandomState | int | None,
    *,
    known: Spectrum | None = None,
    tol: float = TOL,
) -> Spectrum:
    """Compute the largest eigenpairs on some connected components, zero on the other vertices.

    Parameters
    ----------
    graph : Hypergraph or Graph
    mask : ndarray of bool of shape (n_vertices,)
        The vertices of these components.
    count : int
        The number of eigenpairs, at most the number of these vertices.
    random_state : int, RandomState or None
    known : Spectrum, optional
        The largest of these eigenpairs, on the vertices of the mask only (see `top_eigenpairs`).
    tol : float, default=1e-6
    """
    part = graph if mask.all() else graph.subhypergraph(mask)
    count = min(count, part.n_vertices)
    spectrum = top_eigenpairs(part, count, known=known, tol=tol, random_state=random_state)
    return spectrum.on_vertices(mask)


def _component_vectors(graph: GraphLike) -> sparse.csc_array:
    """Return √d on each component, of unit length, the component of most vertices first.

    There is none on isolated vertices.
    """
    linked = np.flatnonzero(graph.vertex_degrees)
    degrees = graph.vertex_degrees[linked]
    components, labels = np.unique(graph.connected_components()[1][linked], return_inverse=True)
    count = len(components)
    order = np.argsort(-np.bincount(labels, minlength=count), kind="stable")
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count)
    volumes = np.bincount(labels, degrees, minlength=count)
    entries = np.sqrt(degrees / volumes[labels])
    return sparse.csc_array((entries, (linked, rank[labels])), shape=(graph.n_vertices, count))


class _Deflation:
    """Known eigenvectors, to be projected out of those that are solved for.

    Parameters
    ----------
    components : csc_array of shape (n_vertices, n_components)
        The eigenvectors of the eigenvalue 1.
    known : Spectrum or None
        Eigenpairs that were computed before, those of the components first.
    """

    def __init__(self, components: sparse.csc_array, known: Spectrum | None) -> None:
        n, count = components.shape
        self.components = components
        self.eigenvalues, self.eigenvectors = np.empty(0), np.empty((n, 0))
        if known is not None and len(known.eigenvalues) > count:
            self.eigenvalues = known.eigenvalues[count:]
            self.eigenvectors = known.eigenvectors[:, count:]

    def first(self, count: int) -> tuple[NDArray, NDArray]:
        """Return the known eigenpairs, at most `count`."""
        vectors = self.components[:, :count].toarray()
        ones = np.ones(vectors.shape[1])
        if not len(self.eigenvalues):
            return ones, vectors
        return np.concatenate([ones, self.eigenvalues]), np.hstack([vectors, self.eigenvectors])

    def order(self, eigenvalues: NDArray) -> NDArray:
        """Return the order of descending eigenvalues, with those of the components first."""
        count = min(self.components.shape[1], len(eigenvalues))
        rest = np.argsort(-eigenvalues[count:], kind="stable")
        return np.concatenate([np.arange(count), count + rest])

    def project(self, block: NDArray) -> NDArray:
        """Return the block with the known eigenvectors projected out."""
        block = block - self.components @ (self.components.T @ block)
        return self.project_computed(block)

    def project_computed(self, block: NDArray) -> NDArray:
        """Project out the eigenvectors that were computed, which are exact to a tolerance only."""
        if not len(self.eigenvalues):
            return block
        return block - self.eigenvectors @ (self.eigenvectors.T @ block)

    def projector(self) -> NDArray:
        """Return the orthogonal projector on the known eigenvectors as an array."""
        projector = (self.components @ self.components.T).toarray()
        if len(self.eigenvalues):
            projector += self.eigenvectors @ self.eigenvectors.T
        return projector


def _solve(
    graph: GraphLike,
    deflation: _Deflation,
    count: int,
    tol: float,
    random_state: np.random.RandomState | int | None,
) -> tuple[NDArray, NDArray]:
    """Return at least `count` of the largest eigenpairs beside the known ones."""
    n = graph.n_vertices
    total = count + deflation.components.shape[1] + len(deflation.eigenvalues)
    stored = MAX_STORED_VERTICES if graph.is_dense else 0
    if n <= max(_MAX_DENSE_VERTICES, 3 * total, stored):
        return _dense(graph, deflation, count)
    if tol >= _LANCZOS_TOL:
        with suppress(ArpackNoConvergence):
            return _lanczos(graph, deflation, count, tol, random_state)
    return _filtered(graph, deflation, count, tol, random_state)


def _dense(graph: GraphLike, deflation: _Deflation, count: int) -> tuple[NDArray, NDArray]:
    """Solve by LAPACK, with the known eigenvalues shifted by −3, below all others."""

    def shifted() -> NDArray:
        return graph.theta_dense() - 3 * deflation.projector()

    n, eigenvalues = graph.n_vertices, np.empty(0)
    with suppress(LinAlgError):
        eigenvalues, eigenvectors = eigh(
            shifted(), subset_by_index=(n - count, n - 1), overwrite_a=True, check_finite=False
        )
    # Where many eigenvalues are equal, relatively robust representations fail or miss some.
    if len(eigenvalues) < count:
        eigenvalues, eigenvectors = eigh(
            shifted(), driver="evd", overwrite_a=True, check_finite=False
        )
    return eigenvalues[-count:][::-1], eigenvectors[:, -count:][:, ::-1]


def _lanczos(
    graph: GraphLike,
    deflation: _Deflation,
    count: int,
    tol: float,
    random_state: np.random.RandomState | int | None,
) -> tuple[NDArray, NDArray]:
    """Solve by ARPACK, with the known eigenvalues shifted by −3, below all others.

    It is several times as fast as the filter as long as clustered eigenvalues need not be resolved.
    """
    theta, n = graph.theta, graph.n_vertices
    shifted = LinearOperator(
        (n, n), matvec=lambda x: theta @ x - 3 * (x - deflation.project(x)), dtype=np.float64
    )
    start = check_rng(random_state).standard_normal(n)
    eigenvalues, eigenvectors = eigsh(shifted, count, which="LA", tol=tol, v0=start)
    order = np.argsort(-eigenvalues)
    return eigenvalues[order], eigenvectors[:, order]


def _filtered(
    graph: GraphLike,
    deflation: _Deflation,
    count: int,
    tol: float,
    random_state: np.random.RandomState | int | None,
) -> tuple[NDArray, NDArray]:
    """Solve by subspace iteration with a Chebyshev filter.

    A block of more than `count` vectors is multiplied by a polynomial of Θ that damps all
    eigenvalues below the smallest Ritz value of the block, freed of the known eigenvectors, made
    orthonormal and rotated to Ritz vectors, until the first `count` have residuals below `tol`.
    Where multiple or clustered eigenvalues slow this down, the block is widened.
    """
    theta, low, n = graph.theta, graph.theta_lower_bound, graph.n_vertices
    rng = check_rng(random_state)
    block = rng.standard_normal((n, count + max(10, count // 2)))
    cut, worst = 0.5, np.inf
    for _ in range(_MAX_ITERATIONS):
        block = _chebyshev(theta, block, low, cut)
        basis, _ = np.linalg.qr(deflation.project(block))
        # Errors of the known eigenvectors are no reason to iterate on.
        image = deflation.project_computed(theta @ basis)
        eigenvalues, rotation = np.linalg.eigh(basis.T @ image)
        eigenvalues, rotation = eigenvalues[::-1], rotation[:, ::-1]
        block = basis @ rotation
        residuals = np.linalg.norm(image @ rotation - block * eigenvalues, axis=0)
        previous, worst = worst, residuals[:count].max()
        if worst <= 0.1 * tol:
            break
        cut = np.clip(eigenvalues[-1], 0.01, 1 - 1e-8)
        width = block.shape[1]
        slow = worst > 0.1 * previous
        if slow and 3 * width <= n and width < max(_MAX_BLOCK_WIDTH, 4 * count):
            block = np.hstack([block, rng.standard_normal((n, width // 2))])
    return eigenvalues, block


def _chebyshev(theta: LinearOperator, block: NDArray, low: float, cut: float) -> NDArray:
    """Return T(Θ)·block, T the Chebyshev polynomial of [low, cut], scaled to T(1) = 1."""
    middle, half = (cut + low) / 2, (cut - low) / 2
    ratio = half / (1 - middle)
    amplified = np.log(2 * _FILTER_AMPLIFICATION) / np.arccosh(1 / ratio)
    degree = min(int(amplified), _MAX_FILTER_DEGREE)
    scale = ratio
    previous, current = block, (theta @ block - middle * block) * (ratio / half)
    for _ in range(degree - 1):
        following = 1 / (2 / ratio - scale)
        mapped = (theta @ current - middle * current) * (2 * following / half)
        previous, current = current, mapped - (scale * following) * previous
        scale = following
    return current


def embed(
    spectrum: Spectrum,
    n_clusters: int,
    weighting: EigenvectorWeighting,
    *,
    normalize_rows: bool = True,
) -> NDArray:
    """Embed the vertices by weighted eigenvectors, one row each.

    - "equal": v₁ … v_k, the k = `n_clusters` first eigenvectors (the paper).
    - "resolvent": all eigenvectors, vⱼ·μ / (1 − λⱼ + μ) with μ = 1 − λ_k, which spans the columns
      of μ(L + μI)⁻¹ (an extension). If 1 − λ_k = 0, μ is the first positive 1 − λⱼ, j > k.

    With `normalize_rows` every row is scaled to unit length (Ng, Jordan and Weiss); a row of zeros
    is kept.

    References
    ----------
    A. Y. Ng, M. I. Jordan and Y. Weiss, "On spectral clustering: analysis and an algorithm",
    Advances in Neural Information Processing Systems, 2001.
    """
    if weighting == "equal":
        points = spectrum.eigenvectors[:, :n_clusters]
    else:
        gaps = np.maximum(1 - spectrum.eigenvalues, 0)
        positive = gaps[n_clusters - 1 :][gaps[n_clusters - 1 :] > 1e-8]
        mu = positive[0] if len(positive) else 1.0
        scale = (mu / (gaps + mu)).astype(spectrum.eigenvectors.dtype)
        points = spectrum.eigenvectors * scale
    return unit_length(points) if normalize_rows else points
