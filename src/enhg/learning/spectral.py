"""The top of Θ's spectrum, and the embedding of the vertices by it (paper, IV.A)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from enhg.hypergraph import Hypergraph

_DENSE_UP_TO = 400
_FILTER_DEGREE = 16
_MOST_ITERATIONS = 200


@dataclass(frozen=True)
class Spectrum:
    """The largest eigenvalues of Θ, falling, their eigenvectors, and ‖Θv − λv‖ for each."""

    values: NDArray
    vectors: NDArray
    residuals: NDArray


def top_eigenpairs(
    hypergraph: Hypergraph,
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
    >>> hypergraph = Hypergraph.from_edges([[0, 1], [1, 2], [3, 4]])
    >>> top_eigenpairs(hypergraph, 3).values.round(6)
    array([1. , 1. , 0.5])
    """
    n = hypergraph.n_vertices
    if not 1 <= count <= n:
        raise ValueError(f"count must be from 1 to the number of vertices ({n}), got {count}")
    known = _component_vectors(hypergraph)
    found = min(known.shape[1], count)
    values, vectors = np.ones(found), known[:, :found].toarray()
    if found < count:
        width = count - found + max(10, (count - found) // 2)
        rest = _projected(hypergraph.theta, known)
        if n <= max(_DENSE_UP_TO, 2 * width):
            more, block = np.linalg.eigh(rest @ np.eye(n))
            more, block = more[::-1], block[:, ::-1]
        else:
            more, block = _filtered(rest, count - found, width, tol, random_state)
        values = np.concatenate([values, more[: count - found]])
        vectors = np.hstack([vectors, block[:, : count - found]])
    residuals = np.linalg.norm(hypergraph.theta @ vectors - vectors * values, axis=0)
    if residuals.max() > tol:
        warnings.warn(
            f"the eigenvectors did not reach a residual of {tol:g}: the largest is "
            f"{residuals.max():.1e}; ask for fewer clusters or for larger hyperedges",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Spectrum(values, vectors, residuals)


def _component_vectors(hypergraph: Hypergraph) -> sparse.csc_array:
    """√d on each component, of unit length, the component of most vertices first."""
    count, labels = hypergraph.connected_components()
    order = np.argsort(-np.bincount(labels, minlength=count), kind="stable")
    place = np.empty(count, np.int64)
    place[order] = np.arange(count)
    volumes = np.bincount(labels, hypergraph.vertex_degrees, minlength=count)
    entries = np.sqrt(hypergraph.vertex_degrees / volumes[labels])
    return sparse.csc_array(
        (entries, (np.arange(len(labels)), place[labels])), shape=(len(labels), count)
    )


def _projected(theta: LinearOperator, known: sparse.csc_array) -> LinearOperator:
    """Θ with the known eigenvectors, of eigenvalue 1, taken out."""

    def apply(V: NDArray) -> NDArray:
        return theta @ V - known @ (known.T @ V)

    return LinearOperator(theta.shape, matvec=apply, matmat=apply, dtype=theta.dtype)


def _filtered(
    theta: LinearOperator,
    count: int,
    width: int,
    tol: float,
    random_state: np.random.RandomState | int | None,
) -> tuple[NDArray, NDArray]:
    """The top eigenpairs by subspace iteration with a Chebyshev filter.

    A block wider than asked for is multiplied by a polynomial of Θ that damps everything below
    the block's own smallest Ritz value, made orthonormal and rotated to Ritz vectors, until the
    `count` first have residuals below tol. Eigenvalues may be crowded or multiple.
    """
    block = check_random_state(random_state).standard_normal((theta.shape[0], width))
    cut = 0.5
    for _ in range(_MOST_ITERATIONS):
        basis, _ = np.linalg.qr(_chebyshev(theta, block, cut))
        image = theta @ basis
        values, rotation = np.linalg.eigh(basis.T @ image)
        values, rotation = values[::-1], rotation[:, ::-1]
        block = basis @ rotation
        residuals = np.linalg.norm(image @ rotation - block * values, axis=0)
        if residuals[:count].max() <= 0.1 * tol:
            break
        cut = max(values[-1], 0.01)
    return values, block


def _chebyshev(theta: LinearOperator, block: NDArray, cut: float) -> NDArray:
    """T(Θ)·block, T the Chebyshev polynomial that is small on [0, cut], scaled to 1 at 1."""
    half = cut / 2
    ratio = half / (1 - half)
    scale = ratio
    previous, current = block, (theta @ block - half * block) * (ratio / half)
    for _ in range(_FILTER_DEGREE - 1):
        following = 1 / (2 / ratio - scale)
        mapped = (theta @ current - half * current) * (2 * following / half)
        previous, current = current, mapped - (scale * following) * previous
        scale = following
    return current


def embed(
    spectrum: Spectrum,
    n_clusters: int,
    kind: Literal["equal", "resolvent"],
    *,
    unit_rows: bool = True,
) -> NDArray:
    """The vertices as points: a row of scaled eigenvectors each.

    - "equal": the `n_clusters` top eigenvectors as they are (the paper).
    - "resolvent": all eigenvectors of the spectrum, each times μ / (1 − λ + μ) with
      μ = 1 − λ_k, the columns of μ(L + μI)⁻¹: those past the k-th count as well, the less the
      slower... they mix.

    With `unit_rows` every row is scaled to unit length (Ng, Jordan and Weiss); a vertex that no
    eigenvector touches stays at the origin.
    """
    if kind == "equal":
        points = spectrum.vectors[:, :n_clusters]
    else:
        gaps = np.maximum(1 - spectrum.values, 0)
        # With more components than clusters 1 − λ_k is zero: take the first gap that is not.
        open_gaps = gaps[n_clusters - 1 :][gaps[n_clusters - 1 :] > 1e-8]
        mu = open_gaps[0] if len(open_gaps) else 1.0
        points = spectrum.vectors * (mu / (gaps + mu))
    if unit_rows:
        lengths = np.linalg.norm(points, axis=1, keepdims=True)
        points = points / np.where(lengths > 0, lengths, 1)
    return points
