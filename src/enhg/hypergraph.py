"""Hypergraphs: sparse incidence, weights, degrees and the Laplacian (paper, section II).

In the notation of the paper: H, the memberships h(v, e), is ``incidence`` (vertices × hyperedges);
W, the weights w(e), ``weights``; D_v, the degrees d(v), ``vertex_degrees``; D_e, the degrees δ(e),
``edge_degrees``; Θ is ``theta`` and L ``laplacian``, both operators.
"""

import copy
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import LinearOperator

from enhg._immutable import ImmutableGraph, read_only
from enhg._incidences import check_shape
from enhg._npz import State, require_array, require_sparse
from enhg._threads import ThreadedMatrix, map_in_threads
from enhg._validation import (
    check_mask,
    check_whole,
    nonnegative_csr,
    real_array,
    real_matrix,
    real_vector,
    require_positive_entries,
    require_symmetric,
    symmetric_operator,
    with_data,
    with_small_indices,
)
from enhg.exceptions import InputError

__all__ = ["Hypergraph"]

_ROWS_AT_ONCE = 100_000
_FILLED_EDGES = "every hyperedge must hold a vertex, 0 < δ(e) < ∞"
_DEGREES = "every vertex in a hyperedge must have a degree 0 < d(v) < ∞"


class Hypergraph(ImmutableGraph):
    """A weighted hypergraph G = (V, E, W), immutable.

        d(v) = Σ_e w(e) h(v, e),   δ(e) = Σ_v h(v, e),
        Θ = D_v^-½ H W D_e^-1 Hᵀ D_v^-½,   L = I − Θ

    Every hyperedge contains a vertex. A vertex in no hyperedge is isolated: its degree is 0, and so
    is its row of Θ. Two hypergraphs are equal if their incidence and weights are.

    Parameters
    ----------
    incidence : array or sparse matrix of shape (n_vertices, n_edges)
        H, with memberships h(v, e) ≥ 0: 1 for members and 0 otherwise, or values between them for
        soft memberships. Copied; explicit zeros are dropped and duplicates summed.
    weights : array of shape (n_edges,), optional
        Hyperedge weights w(e) > 0. All 1 by default. Copied.

    Examples
    --------
    >>> hypergraph = Hypergraph([[1, 0], [1, 1], [0, 1]], weights=[2, 4])
    >>> hypergraph
    Hypergraph(n_vertices=3, n_edges=2, memberships=4)
    >>> hypergraph.vertex_degrees.tolist(), hypergraph.edge_degrees.tolist()
    ([2.0, 6.0, 4.0], [2.0, 2.0])
    """

    theta_lower_bound: ClassVar[float] = 0.0
    is_dense: ClassVar[bool] = False
    _file_kind = "enhg.Hypergraph"
    _incidence: sparse.csr_array
    _weights: NDArray[np.float64]
    _vertex_degrees: NDArray[np.float64]
    _edge_degrees: NDArray[np.float64]

    def __init__(self, incidence: Any, weights: ArrayLike | None = None) -> None:
        given = real_matrix(incidence, "incidence")
        if given.shape[0] == 0:
            raise InputError(
                f"incidence must have a vertex (row), got shape {given.shape}",
                parameter="incidence",
            )
        if sparse.issparse(given):
            check_shape(given.shape, given.nnz)
        matrix = nonnegative_csr(given, "incidence")
        delta = matrix.sum(axis=0)
        require_positive_entries(delta, _FILLED_EDGES, "hyperedge")
        w = _positive_weights(weights, matrix.shape[1])
        d = matrix @ w
        isolated = np.diff(matrix.indptr) == 0
        require_positive_entries(np.where(isolated, 1.0, d), _DEGREES, "vertex")
        for array in (matrix, w, d, delta):
            read_only(array)
        vars(self).update(_incidence=matrix, _weights=w, _vertex_degrees=d, _edge_degrees=delta)

    def __repr__(self) -> str:
        sizes = f"n_vertices={self.n_vertices}, n_edges={self.n_edges}"
        return f"{type(self).__name__}({sizes}, memberships={self._incidence.nnz})"

    def to_state(self) -> State:
        """Return incidence and weights, which define the hypergraph."""
        return {"incidence": self.incidence, "weights": self.weights}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a hypergraph from the state of another."""
        incidence = require_sparse(state, "incidence", (None, None))
        return cls(incidence, require_array(state, "weights", (incidence.shape[1],)))

    def to_incidence(self) -> tuple[sparse.csr_array, NDArray[np.float64]]:
        """Return incidence and weights."""
        return self.incidence, self.weights

    @classmethod
    def from_incidence(cls, incidence: sparse.csr_array, weights: NDArray[np.float64]) -> Self:
        """Make a hypergraph, as the constructor does."""
        return cls(incidence, weights)

    @property
    def incidence(self) -> sparse.csr_array:
        """H, the memberships h(v, e), as canonical CSR over read-only arrays."""
        return copy.copy(self._incidence)

    @property
    def weights(self) -> NDArray[np.float64]:
        """w(e), the weight of every hyperedge (read-only)."""
        return self._weights

    @property
    def n_vertices(self) -> int:
        """|V|, the number of vertices."""
        return int(self._incidence.shape[0])

    @property
    def n_edges(self) -> int:
        """|E|, the number of hyperedges."""
        return int(self._incidence.shape[1])

    @property
    def vertex_degrees(self) -> NDArray[np.float64]:
        """d(v) = Σ_e w(e) h(v, e); 0 of an isolated vertex (read-only)."""
        return self._vertex_degrees

    @property
    def edge_degrees(self) -> NDArray[np.float64]:
        """δ(e) = Σ_v h(v, e) (read-only)."""
        return self._edge_degrees

    @property
    def theta_factor(self) -> sparse.csr_array:
        """B = D_v^-½ H W^½ D_e^-½, with Θ = B Bᵀ, as CSR over read-only arrays; computed once.

        The left singular vectors of B are the eigenvectors of Θ, its squared singular values the
        eigenvalues.
        """
        return copy.copy(self._theta_factor)

    @cached_property
    def _theta_factor(self) -> sparse.csr_array:
        h, edge = self._incidence.data, self._incidence.indices
        vertex = np.repeat(np.arange(self.n_vertices), np.diff(self._incidence.indptr))
        # Both fractions lie in [0, 1], so no scale of weights or memberships overflows.
        edge_fraction = h / self._edge_degrees[edge]
        vertex_fraction = h * self._weights[edge] / self._vertex_degrees[vertex]
        data = np.sqrt(edge_fraction) * np.sqrt(vertex_fraction)
        return read_only(with_data(self._incidence, data))

    @property
    def theta(self) -> LinearOperator:
        """Θ = D_v^-½ H W D_e^-1 Hᵀ D_v^-½ as a symmetric operator; nothing n×n is formed.

        Its spectrum is in [0, 1], and √d is an eigenvector with eigenvalue 1, if there is a
        hyperedge.
        """
        factor, transposed = self._theta_factors
        return symmetric_operator(self.n_vertices, lambda x: factor @ (transposed @ x))

    @cached_property
    def _theta_factors(self) -> tuple[ThreadedMatrix, ThreadedMatrix]:
        """B and Bᵀ."""
        factor = self._theta_factor
        return ThreadedMatrix(factor), ThreadedMatrix(factor.T.tocsr())

    def theta_dense(self) -> NDArray[np.float64]:
        """Return Θ = B Bᵀ as an array of shape (n_vertices, n_vertices), for small n."""
        return (self._theta_factor @ self._theta_factor.T).toarray()

    def subhypergraph(self, mask: NDArray[np.bool_]) -> Self:
        """Return the hypergraph of some vertices, with their memberships and weights.

        Hyperedges without a member among them are left out.

        Parameters
        ----------
        mask : array of bool of shape (n_vertices,)
            With at least one True.

        Examples
        --------
        >>> hypergraph = Hypergraph.from_edges([[0, 1], [1, 2], [3]])
        >>> hypergraph.subhypergraph(np.array([False, False, True, True])).edges()
        [array([0]), array([1])]
        """
        incidence = self._incidence[check_mask(mask, self.n_vertices)]
        edges = np.unique(incidence.indices)
        return type(self)(incidence[:, edges], self._weights[edges])

    def connected_components(self) -> tuple[int, NDArray[np.int32]]:
        """Find the sets of vertices that are connected by hyperedges.

        An isolated vertex is one by itself. The number of the others is the multiplicity of the
        eigenvalue 1 of Θ.

        Returns
        -------
        count : int
        labels : array of shape (n_vertices,)
            The component of every vertex, numbered in order of first appearance (read-only).

        Examples
        --------
        >>> count, labels = Hypergraph.from_edges([[0, 2], [1], [2, 3]]).connected_components()
        >>> count, labels.tolist()
        (2, [0, 1, 0, 0])
        """
        return self._components

    @cached_property
    def _components(self) -> tuple[int, NDArray[np.int32]]:
        by_edge, n = self._incidence.tocsc(), self.n_vertices
        first_members = by_edge.indices[by_edge.indptr[:-1]]
        indices = first_members[self._incidence.indices]
        ones = np.ones(len(indices), np.int8)
        links = sparse.csr_array((ones, indices, self._incidence.indptr), shape=(n, n))
        count, labels = csgraph.connected_components(links, directed=False)
        return int(count), read_only(labels)

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[Iterable[int] | Mapping[int, float]],
        n_vertices: int | None = None,
        weights: ArrayLike | None = None,
    ) -> Self:
        """Make a hypergraph from a list of hyperedges.

        Parameters
        ----------
        edges : iterable of iterables of int, or of mappings from int to float
            The vertices of every hyperedge, each counted once; for soft memberships, a mapping
            from member to membership h(v, e).
        n_vertices : int, optional
            The largest index plus one by default.
        weights : array of shape (n_edges,), optional
            Hyperedge weights w(e). All 1 by default.

        Examples
        --------
        >>> Hypergraph.from_edges([[0, 1], [1, 2]]).incidence.toarray().tolist()
        [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
        >>> Hypergraph.from_edges([{0: 1.0, 1: 0.25}]).incidence.toarray().tolist()
        [[1.0], [0.25]]
        """
        members = _edge_members(edges)
        rows, memberships = _vertices(members), _memberships(members)
        if n_vertices is None:
            n_vertices = int(rows.max(initial=-1)) + 1
        check_whole("n_vertices", n_vertices, 0)
        outside = rows[(rows < 0) | (rows >= n_vertices)]
        if outside.size:
            bounds = f"0 … n_vertices − 1 = {n_vertices - 1}"
            raise InputError(
                f"edges must list vertices in {bounds}, got {outside[0]}", parameter="edges"
            )
        shape = (int(n_vertices), len(members))
        check_shape(shape, len(rows))
        columns = (memberships, rows, np.cumsum([0, *map(len, members)]))
        return cls(sparse.csc_array(columns, shape=shape), weights)

    def edges(self) -> list[NDArray[np.intp]]:
        """Return the vertices of every hyperedge, ascending; ``incidence`` has their memberships.

        Examples
        --------
        >>> [edge.tolist() for edge in Hypergraph([[1, 0], [1, 1], [0, 1]]).edges()]
        [[0, 1], [1, 2]]
        """
        by_edge = self._incidence.tocsc()
        return np.split(by_edge.indices.astype(np.intp), by_edge.indptr[1:])[:-1]

    def clique_expansion(self) -> sparse.csr_array:
        """Return C = H W D_e^-1 Hᵀ off the diagonal: the graph that joins the members of an edge.

        Returns
        -------
        adjacency : CSR array of shape (n_vertices, n_vertices)
            Exactly symmetric, with a zero diagonal: an affinity matrix, as scikit-learn's
            `SpectralClustering` accepts with ``affinity="precomputed"``.

        Examples
        --------
        >>> Hypergraph([[1], [1]], weights=[6]).clique_expansion().toarray().tolist()
        [[0.0, 3.0], [3.0, 0.0]]
        """
        shares, members = self._membership_shares(), self._incidence.T.tocsr()

        def pairs_above_diagonal(start: int) -> sparse.csr_array:
            pairs = shares[start : start + _ROWS_AT_ONCE] @ members
            return sparse.triu(pairs, k=start + 1, format="csr")

        starts = range(0, self.n_vertices, _ROWS_AT_ONCE)
        parts = map_in_threads(pairs_above_diagonal, starts)
        upper = sparse.vstack(parts, format="csr")
        adjacency = with_small_indices(sparse.csr_array(upper + upper.T))
        adjacency.sort_indices()
        return adjacency

    @classmethod
    def from_clique_expansion(cls, adjacency: Any) -> Self:
        """Make the 2-uniform hypergraph of a graph, with w({u, v}) = 2 a(u, v) and thus C = A.

        Its Laplacian is half the graph's normalized Laplacian I − D^-½ A D^-½.

        Parameters
        ----------
        adjacency : array or sparse matrix of shape (n_vertices, n_vertices)
            Exactly symmetric, non-negative, zero on the diagonal.

        Examples
        --------
        >>> hypergraph = Hypergraph.from_clique_expansion([[0, 3, 0], [3, 0, 1], [0, 1, 0]])
        >>> [edge.tolist() for edge in hypergraph.edges()], hypergraph.weights.tolist()
        ([[0, 1], [1, 2]], [6.0, 2.0])
        """
        matrix = nonnegative_csr(adjacency, "adjacency")
        require_symmetric(matrix, "adjacency")
        loops = np.flatnonzero(matrix.diagonal())
        if loops.size:
            entry = f"{matrix[loops[0], loops[0]]} at vertex {loops[0]}"
            raise InputError(
                f"adjacency must be zero on the diagonal, got {entry}", parameter="adjacency"
            )
        pairs = sparse.triu(matrix, k=1, format="coo")
        ends = np.column_stack([pairs.row, pairs.col]).ravel()
        columns = (np.ones(ends.size), ends, np.arange(0, ends.size + 1, 2))
        shape = (matrix.shape[0], pairs.nnz)
        return cls(sparse.csc_array(columns, shape=shape), 2 * pairs.data)

    def star_expansion(self) -> sparse.csr_array:
        """Return the bipartite graph of vertices and hyperedges, a(v, e) = w(e) h(v, e) / δ(e).

        Returns
        -------
        adjacency : CSR array of shape (n_vertices + n_edges, n_vertices + n_edges)
            Symmetric; vertices first, then hyperedges.

        References
        ----------
        J. Y. Zien, M. D. F. Schlag and P. K. Chan, "Multilevel spectral hypergraph partitioning
        with arbitrary vertex sizes", IEEE Transactions on Computer-Aided Design, 1999.

        Examples
        --------
        >>> Hypergraph([[1], [1]], weights=[6]).star_expansion().toarray().tolist()
        [[0.0, 0.0, 3.0], [0.0, 0.0, 3.0], [3.0, 3.0, 0.0]]
        """
        spokes = self._membership_shares()
        return sparse.block_array([[None, spokes], [spokes.T, None]], format="csr")

    @classmethod
    def from_star_expansion(cls, adjacency: Any, n_vertices: int) -> Self:
        """Invert ``star_expansion``: w(e) = Σ_v a(v, e), h(v, e) = a(v, e) / max_u a(u, e).

        The star expansion does not determine the scale of a hyperedge's memberships; the largest
        is set to 1, which is the membership of the centroid in hyperedges of samples.

        Parameters
        ----------
        adjacency : array or sparse matrix of shape (n_vertices + n_edges, n_vertices + n_edges)
            Exactly symmetric, non-negative, bipartite; vertices first, then hyperedges.
        n_vertices : int
            The number of rows that are vertices.

        Examples
        --------
        >>> hypergraph = Hypergraph([[1, 0], [1, 0.5], [0, 1]], weights=[6, 3])
        >>> star = hypergraph.star_expansion()
        >>> Hypergraph.from_star_expansion(star, n_vertices=3) == hypergraph
        True
        """
        matrix = nonnegative_csr(adjacency, "adjacency")
        require_symmetric(matrix, "adjacency")
        n_rows = matrix.shape[0]
        check_whole("n_vertices", n_vertices, 1, n_rows - 1)
        if matrix[:n_vertices, :n_vertices].nnz or matrix[n_vertices:, n_vertices:].nnz:
            raise InputError(
                f"adjacency must join the first {n_vertices} rows (vertices) to the rest "
                "(hyperedges) only, got entries inside one of the two",
                parameter="adjacency",
            )
        spokes = sparse.csr_array(matrix[:n_vertices, n_vertices:])
        largest = spokes.max(axis=0).toarray().ravel()
        return cls(with_data(spokes, spokes.data / largest[spokes.indices]), spokes.sum(axis=0))

    def _membership_shares(self) -> sparse.csr_array:
        """Return H W D_e^-1."""
        return membership_shares(self._incidence, self)


def membership_shares(memberships: sparse.csr_array, hypergraph: Hypergraph) -> sparse.csr_array:
    """Memberships in the hyperedges of a hypergraph, each times w(e) / δ(e)."""
    scale = hypergraph.weights / hypergraph.edge_degrees
    return with_data(memberships, memberships.data * scale[memberships.indices])


def _edge_members(
    edges: Iterable[Iterable[int] | Mapping[int, float]],
) -> list[Mapping[int, float]]:
    """Return the memberships of the members of every hyperedge."""
    try:
        return [e if isinstance(e, Mapping) else dict.fromkeys(e, 1.0) for e in edges]
    except TypeError as error:  # not iterable, or members that are not hashable
        raise InputError(
            f"edges must be a list of lists or mappings of vertices, got {error}",
            parameter="edges",
        ) from error


def _vertices(members: list[Mapping[int, float]]) -> NDArray:
    vertices = [vertex for edge in members for vertex in edge]
    try:
        rows = np.asarray(vertices) if vertices else np.empty(0, dtype=np.intp)
    except ValueError as error:
        raise InputError(
            f"edges must list vertices as integers, got {error}", parameter="edges"
        ) from error
    if rows.dtype.kind not in "iu" or rows.ndim != 1:
        raise InputError(
            f"edges must list vertices as integers, got dtype {rows.dtype}", parameter="edges"
        )
    return rows


def _memberships(members: list[Mapping[int, float]]) -> NDArray[np.float64]:
    values = real_array([value for edge in members for value in edge.values()], "edges")
    if values.ndim != 1:
        raise InputError(
            "edges must map every member to a number, its membership, got an array of shape "
            f"{values.shape[1:]}",
            parameter="edges",
        )
    return values.astype(np.float64)


def _positive_weights(values: ArrayLike | None, n_edges: int) -> NDArray[np.float64]:
    if values is None:
        return np.ones(n_edges)
    weights = np.array(real_vector(values, "weights", n_edges), dtype=np.float64)
    require_positive_entries(weights, "weights must be finite and positive", "hyperedge")
    return weights
