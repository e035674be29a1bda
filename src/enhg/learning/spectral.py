"""The top of Θ's spectrum, and the embedding of the vertices by it (paper, IV.A)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from enhg.graph import Graph
from enhg.hypergraph import Hypergraph
from enhg.preprocessing import unit_length

Kind = Literal["equal", "resolvent"]

_SMALLEST_CLUSTER = 0.1  # of an average one; components of fewer vertices are fragments
_DENSE_UP_TO = 400
_STORED_UP_TO = 5000  # where Θ is stored as an array anyway
_MOST_ITERATIONS = 200
_MOST_FILTER_DEGREE = 100
_WIDEST_BLOCK = 300
# How much more than the rest a filter lifts the eigenvalue 1: any more, and what rounding has
# mixed in of the top eigenvectors would drown the others.
_FILTER_LIFT = 1e10


@dataclass(frozen=True)
class Spectrum:
    """The largest eigenvalues of Θ, falling, their eigenvectors, and ‖Θv − λv‖ for each."""

    eigenvalues: NDArray
    eigenvectors: NDArray
    residuals: NDArray


def top_eigenpairs(
    graph: Hypergraph | Graph,
    count: int,
    *,
    tol: float = 1e-6,
    random_state: np.random.RandomState | int | None = None,
) -> Spectrum:
    """The `count` largest eigenpairs of Θ.

    Real hypergraphs have many components, each with its own eigenvalue 1, and more eigenvalues
    crowded beneath: there single-vector Lanczos (ARPACK) does not converge. The eigenvectors of
    the components are known, √d on each, and are taken as they are, the largest component
    first. The others are found with those projected out, by a block method (`_filtered`), to a
    residual of `tol`; what does not get there is reported by a warning with the figure.

    Examples
    --------
    >>> graph = Hypergraph.from_edges([[0, 1], [1, 2], [3, 4]])
    >>> top_eigenpairs(graph, 3).values.round(6)
    array([1. , 1. , 0.5])
    """
    n = graph.n_vertices
    if not 1 <= count <= n:
        raise ValueError(f"count must be from 1 to the number of vertices ({n}), got {count}")
    known = _component_vectors(graph)
    found = min(known.shape[1], count)
    values, vectors = np.ones(found), known[:, :found].toarray()
    if found < count:
        wanted = count - found
        if n <= max(_DENSE_UP_TO, 3 * count, _STORED_UP_TO if graph.is_dense else 0):
            more, block = _dense(graph, known, wanted)
        else:
            more, block = _filtered(graph, known, wanted, tol, random_state)
        values = np.concatenate([values, more[:wanted]])
        vectors = np.hstack([vectors, block[:, :wanted]])
    residuals = np.linalg.norm(graph.theta @ vectors - vectors * values, axis=0)
    if residuals.max() > tol:
        warnings.warn(
            f"the eigenvectors did not reach a residual of {tol:g}: the largest is "
            f"{residuals.max():.1e}; ask for fewer clusters or for larger hyperedges",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Spectrum(values, vectors, residuals)


def fragments(graph: Hypergraph | Graph, n_clusters: int) -> NDArray:
    """Mask of the vertices in components far too small for a cluster: with less than a tenth of an
    average cluster, or alone where there are more components than clusters."""
    count, component = graph.connected_components()
    sizes = np.bincount(component, minlength=count)[component]
    small = sizes < _SMALLEST_CLUSTER * len(sizes) / n_clusters
    return small | (sizes == 1) if count > n_clusters else small


def eigenpairs_among(
    graph: Hypergraph | Graph,
    linked: NDArray,
    count: int,
    random_state: np.random.RandomState | int | None,
) -> Spectrum:
    """The top eigenpairs of the components that the mask names, zero on the other vertices."""
    if linked.all():
        return top_eigenpairs(graph, min(count, len(linked)), random_state=random_state)
    part = graph.subhypergraph(linked)
    found = top_eigenpairs(part, min(count, part.n_vertices), random_state=random_state)
    vectors = np.zeros((len(linked), found.eigenvectors.shape[1]))
    vectors[linked] = found.eigenvectors
    return Spectrum(found.eigenvalues, vectors, found.residuals)


def _component_vectors(graph: Hypergraph | Graph) -> sparse.csc_array:
    """√d on each component, of unit length, the component of most vertices first."""
    count, labels = graph.connected_components()
    order = np.argsort(-np.bincount(labels, minlength=count), kind="stable")
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    volumes = np.bincount(labels, graph.vertex_degrees, minlength=count)
    entries = np.sqrt(graph.vertex_degrees / volumes[labels])
    return sparse.csc_array(
        (entries, (np.arange(len(labels)), place[labels])), shape=(len(labels), count)
    )


def _dense(
    graph: Hypergraph | Graph, known: sparse.csc_array, count: int
) -> tuple[NDArray, NDArray]:
    """The top eigenpairs beside the known ones, which are moved from 1 to −2, below every other."""
    theta = graph.theta_dense() - 3 * (known @ known.T).toarray()
    n = len(theta)
    values, vectors = eigh(
        theta, subset_by_index=(n - count, n - 1), overwrite_a=True, check_finite=False
    )
    return values[::-1], vectors[:, ::-1]


def _filtered(
    graph: Hypergraph | Graph,
    known: sparse.csc_array,
    count: int,
    tol: float,
    random_state: np.random.RandomState | int | None,
) -> tuple[NDArray, NDArray]:
    """The top eigenpairs beside the known ones, by subspace iteration with a Chebyshev filter.

    A block wider than asked for is multiplied by a polynomial of Θ that damps everything below
    the block's own smallest Ritz value, freed of the known eigenvectors, made orthonormal and
    rotated to Ritz vectors, until the `count` first have residuals below tol. Eigenvalues may
    be crowded or multiple: where that makes progress slow, the block grows past the crowd.
    """
    theta, low, n = graph.theta, graph.theta_lower_bound, graph.n_vertices
    rng = check_random_state(random_state)
    block = rng.standard_normal((n, count + max(10, count // 2)))
    cut, worst = 0.5, np.inf
    for _ in range(_MOST_ITERATIONS):
        block = _chebyshev(theta, block, low, cut)
        basis, _ = np.linalg.qr(block - known @ (known.T @ block))
        image = theta @ basis
        values, rotation = np.linalg.eigh(basis.T @ image)
        values, rotation = values[::-1], rotation[:, ::-1]
        block = basis @ rotation
        residuals = np.linalg.norm(image @ rotation - block * values, axis=0)
        before, worst = worst, residuals[:count].max()
        if worst <= 0.1 * tol:
            break
        cut = np.clip(values[-1], 0.01, 1 - 1e-8)
        width = block.shape[1]
        if worst > 0.1 * before and 3 * width <= n and width < max(_WIDEST_BLOCK, 4 * count):
            block = np.hstack([block, rng.standard_normal((n, width // 2))])
    return values, block


def _chebyshev(theta: LinearOperator, block: NDArray, low: float, cut: float) -> NDArray:
    """T(Θ)·block, T the Chebyshev polynomial that is small on [low, cut], scaled to 1 at 1."""
    middle, half = (cut + low) / 2, (cut - low) / 2
    ratio = half / (1 - middle)
    degree = min(int(np.log(2 * _FILTER_LIFT) / np.arccosh(1 / ratio)), _MOST_FILTER_DEGREE)
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
    kind: Kind,
    *,
    normalize_rows: bool = True,
) -> NDArray:
    """The vertices as points: a row of scaled eigenvectors each.

    - "equal": the `n_clusters` top eigenvectors as they are (the paper).
    - "resolvent": all eigenvectors of the spectrum, each times μ / (1 − λ + μ) with
      μ = 1 − λ_k, the columns of μ(L + μI)⁻¹: those past the k-th count as well, the less the
      further their λ is from 1.

    With `normalize_rows` every row is scaled to unit length (Ng, Jordan and Weiss); a vertex that no
    eigenvector touches stays at the origin.
    """
    if kind == "equal":
        points = spectrum.eigenvectors[:, :n_clusters]
    else:
        gaps = np.maximum(1 - spectrum.eigenvalues, 0)
        # With more components than clusters 1 − λ_k is zero: take the first gap that is not.
        open_gaps = gaps[n_clusters - 1 :][gaps[n_clusters - 1 :] > 1e-8]
        mu = open_gaps[0] if len(open_gaps) else 1.0
        points = spectrum.eigenvectors * (mu / (gaps + mu))
    return unit_length(points) if normalize_rows else points
