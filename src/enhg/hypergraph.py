"""Hypergraphs: sparse incidence, weights, degrees and the Laplacian (paper, section II).

H, the memberships h(v, e), is ``incidence`` (vertices × hyperedges); W, the w(e), ``weights``;
D_v, the d(v), ``vertex_degrees``; D_e, the δ(e), ``edge_degrees``; Θ is ``theta`` and L
``laplacian``, both operators.
"""

import copy
import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, ClassVar, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import LinearOperator

from enhg._npz import read_archive, write_archive
from enhg._validation import (
    nonnegative_csr,
    real_array,
    require_positive_entries,
    require_symmetric,
    symmetric_operator,
)

__all__ = ["Hypergraph"]

_FILE_FORMAT = "enhg.Hypergraph"
_FILE_VERSION = 1


class Hypergraph:
    """A weighted hypergraph G = (V, E, W); it never changes once made.

        d(v) = Σ_e w(e) h(v, e),   δ(e) = Σ_v h(v, e),
        Θ = D_v^-½ H W D_e^-1 Hᵀ D_v^-½,   L = I − Θ

    Every hyperedge holds a vertex and every vertex is in a hyperedge, so all degrees are
    positive. Two hypergraphs are equal when incidence and weights are.

    Parameters
    ----------
    incidence : array or sparse matrix of shape (n_vertices, n_edges)
        H. h(v, e) ≥ 0: 1 for a member and 0 otherwise, or anything in between for soft
        incidence. Copied; explicit zeros are dropped and duplicates summed.
    weights : array of shape (n_edges,), optional
        w(e) > 0. All 1 by default. Copied.

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
    _incidence: sparse.csr_array
    _weights: NDArray[np.float64]
    _vertex_degrees: NDArray[np.float64]
    _edge_degrees: NDArray[np.float64]

    def __init__(self, incidence: Any, weights: ArrayLike | None = None) -> None:
        matrix = nonnegative_csr(incidence, "incidence")
        if matrix.shape[0] == 0:
            raise ValueError(f"incidence must have a vertex (row); received shape {matrix.shape}")
        delta = matrix.sum(axis=0)
        require_positive_entries(delta, "every hyperedge must hold a vertex, 0 < δ(e) < ∞", "hyperedge")
        w = _positive_weights(weights, matrix.shape[1])
        d = matrix @ w
        require_positive_entries(d, "every vertex must be in a hyperedge, 0 < d(v) < ∞", "vertex")
        for array in (matrix.data, matrix.indices, matrix.indptr, w, d, delta):
            array.setflags(write=False)
        vars(self).update(_incidence=matrix, _weights=w, _vertex_degrees=d, _edge_degrees=delta)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a Hypergraph is immutable; cannot set its attribute {name!r}")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"a Hypergraph is immutable; cannot delete its attribute {name!r}")

    def __reduce__(self) -> tuple[type[Self], tuple[sparse.csr_array, NDArray[np.float64]]]:
        # Through __init__, because NumPy forgets that arrays are read-only when it unpickles them.
        return type(self), (self.incidence, self.weights)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_vertices={self.n_vertices}, n_edges={self.n_edges}, memberships={self._incidence.nnz})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Hypergraph):
            return NotImplemented
        mine, theirs = self.arrays(), other.arrays()
        return all(np.array_equal(mine[name], theirs[name]) for name in mine)

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray]) -> Self:
        """Make a hypergraph of the ``arrays`` of another."""
        parts = (arrays["data"], arrays["indices"], arrays["indptr"])
        return cls(sparse.csr_array(parts, shape=tuple(arrays["shape"])), arrays["weights"])

    def arrays(self) -> dict[str, NDArray]:
        """Everything a hypergraph is: what equality compares and a file holds."""
        h = self._incidence
        parts = {"data": h.data, "indices": h.indices, "indptr": h.indptr}
        return {"shape": np.array(h.shape), "weights": self._weights, **parts}

    @property
    def incidence(self) -> sparse.csr_array:
        """H, the memberships h(v, e): canonical CSR over read-only arrays."""
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
        """d(v) = Σ_e w(e) h(v, e) (read-only)."""
        return self._vertex_degrees

    @property
    def edge_degrees(self) -> NDArray[np.float64]:
        """δ(e) = Σ_v h(v, e) (read-only)."""
        return self._edge_degrees

    @property
    def theta_factor(self) -> sparse.csr_array:
        """A = D_v^-½ H W^½ D_e^-½, so Θ = A Aᵀ: CSR over read-only arrays, computed once.

        The left singular vectors of A are the eigenvectors of Θ, the squared singular values
        its eigenvalues.
        """
        return copy.copy(self._factor)

    @cached_property
    def _factor(self) -> sparse.csr_array:
        h, edge = self._incidence.data, self._incidence.indices
        vertex = np.repeat(np.arange(self.n_vertices), np.diff(self._incidence.indptr))
        # Both shares lie in [0, 1], so no scale of weights or memberships overflows.
        share_of_edge = h / self._edge_degrees[edge]
        share_of_vertex = h * self._weights[edge] / self._vertex_degrees[vertex]
        data = np.sqrt(share_of_edge) * np.sqrt(share_of_vertex)
        data.setflags(write=False)
        return _with_data(self._incidence, data)

    @property
    def theta(self) -> LinearOperator:
        """Θ = D_v^-½ H W D_e^-1 Hᵀ D_v^-½ as a symmetric operator; nothing n×n is formed.

        Its spectrum is in [0, 1], and √d is an eigenvector with eigenvalue 1.
        """
        factor, transposed = self._factor, self._factor.T
        return symmetric_operator(self.n_vertices, lambda x: factor @ (transposed @ x))

    @property
    def laplacian(self) -> LinearOperator:
        """L = I − Θ, the normalized Laplacian, as a symmetric operator; nothing n×n is formed.

        Tr(Fᵀ L F) is the paper's regularizer Ω(F) = ½ Σ_e Σ_{u,v} w(e) h(u, e) h(v, e) / δ(e) ·
        ‖f(u)/√d(u) − f(v)/√d(v)‖², over ordered pairs (u, v).
        """
        theta = self.theta
        return symmetric_operator(self.n_vertices, lambda x: x - theta @ x)

    def theta_dense(self) -> NDArray[np.float64]:
        """Θ = A Aᵀ as an n×n array, for small n."""
        return (self._factor @ self._factor.T).toarray()

    def laplacian_dense(self) -> NDArray[np.float64]:
        """L = I − Θ as an n×n array, for small n."""
        return np.eye(self.n_vertices) - self.theta_dense()

    def subhypergraph(self, mask: NDArray[np.bool_]) -> Self:
        """The vertices of the mask, with their memberships in the hyperedges that hold any.

        Examples
        --------
        >>> Hypergraph.from_edges([[0, 1], [1, 2], [3]]).subhypergraph(np.array([0, 0, 1, 1], bool)).edges()
        [array([0]), array([1])]
        """
        incidence = self._incidence[mask]
        edges = np.unique(incidence.indices)
        return type(self)(incidence[:, edges], self._weights[edges])

    def connected_components(self) -> tuple[int, NDArray[np.int32]]:
        """Sets of vertices that chains of hyperedges join: eigenvalue 1 of Θ, once for each.

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
        count, labels = csgraph.connected_components(self.star_expansion(), directed=False)
        labels = labels[: self.n_vertices]
        labels.setflags(write=False)
        return int(count), labels

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[Iterable[int] | Mapping[int, float]],
        n_vertices: int | None = None,
        weights: ArrayLike | None = None,
    ) -> Self:
        """Make a hypergraph from its hyperedges, each a set of vertices.

        Parameters
        ----------
        edges : iterable of iterables of int, or of mappings from int to float
            The vertices of every hyperedge, each counted once; for soft incidence, a mapping
            from vertex to membership h(v, e).
        n_vertices : int, optional
            By default the largest vertex index plus one.
        weights : array of shape (n_edges,), optional
            w(e), all 1 by default.

        Examples
        --------
        >>> Hypergraph.from_edges([[0, 1], [1, 2]]).incidence.toarray().tolist()
        [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
        >>> Hypergraph.from_edges([{0: 1.0, 1: 0.25}]).incidence.toarray().tolist()
        [[1.0], [0.25]]
        """
        members = [e if isinstance(e, Mapping) else dict.fromkeys(e, 1.0) for e in edges]
        vertices = [vertex for edge in members for vertex in edge]
        memberships = [membership for edge in members for membership in edge.values()]
        rows = np.asarray(vertices) if vertices else np.empty(0, dtype=np.intp)
        if rows.dtype.kind not in "iu" or rows.ndim != 1:
            raise ValueError(f"edges must list vertices as integers; received dtype {rows.dtype}")
        if n_vertices is None:
            n_vertices = int(rows.max(initial=-1)) + 1
        outside = rows[(rows < 0) | (rows >= n_vertices)]
        if outside.size:
            bounds = f"0 … n_vertices − 1 = {n_vertices - 1}"
            raise ValueError(f"edges must list vertices in {bounds}; received {outside[0]}")
        columns = (memberships, rows, np.cumsum([0, *map(len, members)]))
        return cls(sparse.csc_array(columns, shape=(n_vertices, len(members))), weights)

    def edges(self) -> list[NDArray[np.intp]]:
        """The vertices of every hyperedge, ascending; soft memberships are in ``incidence``.

        Examples
        --------
        >>> [edge.tolist() for edge in Hypergraph([[1, 0], [1, 1], [0, 1]]).edges()]
        [[0, 1], [1, 2]]
        """
        by_edge = self._incidence.tocsc()
        return np.split(by_edge.indices.astype(np.intp), by_edge.indptr[1:-1])

    def clique_expansion(self) -> sparse.csr_array:
        """C = H W D_e^-1 Hᵀ off the diagonal: the graph that joins all members of a hyperedge.

        Returns
        -------
        adjacency : CSR array of shape (n_vertices, n_vertices)
            Exactly symmetric, with an empty diagonal.

        Examples
        --------
        >>> Hypergraph([[1], [1]], weights=[6]).clique_expansion().toarray().tolist()
        [[0.0, 3.0], [3.0, 0.0]]
        """
        pairs = self._membership_shares() @ self._incidence.T
        upper = sparse.triu(pairs, k=1, format="csr")
        adjacency = sparse.csr_array(upper + upper.T)
        adjacency.sort_indices()
        return adjacency

    @classmethod
    def from_clique_expansion(cls, adjacency: Any) -> Self:
        """Make the 2-uniform hypergraph of a graph: w({u, v}) = 2 a(u, v), so C is the adjacency.

        Its Laplacian is half the graph's normalized Laplacian I − D^-½ A D^-½.

        Parameters
        ----------
        adjacency : array or sparse matrix of shape (n_vertices, n_vertices)
            Exactly symmetric, non-negative, zero on the diagonal, no empty row.

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
            received = f"{matrix[loops[0], loops[0]]} at vertex {loops[0]}"
            raise ValueError(f"adjacency must be zero on the diagonal; received {received}")
        pairs = sparse.triu(matrix, k=1, format="coo")
        ends = np.column_stack([pairs.row, pairs.col]).ravel()
        columns = (np.ones(ends.size), ends, np.arange(0, ends.size + 1, 2))
        shape = (matrix.shape[0], pairs.nnz)
        return cls(sparse.csc_array(columns, shape=shape), 2 * pairs.data)

    def star_expansion(self) -> sparse.csr_array:
        """w(e) h(v, e) / δ(e) between vertices and hyperedges: a bipartite graph (Zien et al.).

        Returns
        -------
        adjacency : CSR array of shape (n_vertices + n_edges, n_vertices + n_edges)
            Symmetric; the vertices first, then the hyperedges.

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

        The star expansion does not fix the scale of a hyperedge's memberships; here the largest
        is 1, as in binary incidence and in soft incidence where the centroid has 1.

        Parameters
        ----------
        adjacency : array or sparse matrix of shape (n_vertices + n_edges, n_vertices + n_edges)
            Exactly symmetric, non-negative, bipartite; the vertices first, then the hyperedges.
        n_vertices : int

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
        if not 0 < n_vertices < n_rows:
            raise ValueError(f"n_vertices must be in 1 … {n_rows - 1}; received {n_vertices}")
        if matrix[:n_vertices, :n_vertices].nnz or matrix[n_vertices:, n_vertices:].nnz:
            raise ValueError(
                f"adjacency must join the first {n_vertices} rows (vertices) to the rest "
                "(hyperedges) only; received entries inside one of the two"
            )
        spokes = sparse.csr_array(matrix[:n_vertices, n_vertices:])
        largest = spokes.max(axis=0).toarray().ravel()
        return cls(_with_data(spokes, spokes.data / largest[spokes.indices]), spokes.sum(axis=0))

    def _membership_shares(self) -> sparse.csr_array:
        """H W D_e^-1."""
        h, edge = self._incidence.data, self._incidence.indices
        return _with_data(self._incidence, h * (self._weights / self._edge_degrees)[edge])

    def save(self, path: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write the hypergraph to an ``.npz`` file: the whole file or, on failure, nothing.

        Parameters
        ----------
        path : str or path
            Used as given; no suffix is added.
        overwrite : bool, default False
            Replace an existing file; otherwise it is left alone and FileExistsError raised.
        """
        write_archive(path, _FILE_FORMAT, _FILE_VERSION, self.arrays(), overwrite=overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a hypergraph that ``save`` wrote; a ValueError says why any other file is not one.

        Examples
        --------
        >>> import tempfile
        >>> hypergraph = Hypergraph([[1, 0], [1, 0.5], [0, 1]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     hypergraph.save(f"{folder}/small.npz")
        ...     Hypergraph.load(f"{folder}/small.npz") == hypergraph
        True
        """
        with open(path, "rb") as stream:
            try:
                return cls.from_arrays(read_archive(stream, _FILE_FORMAT, _FILE_VERSION))
            except Exception as error:  # arbitrary bytes make the readers raise almost anything
                reason = str(error) or type(error).__name__
                raise ValueError(
                    f"{os.fspath(path)} must be a hypergraph file that this enhg can read; {reason}"
                ) from error


def _positive_weights(values: ArrayLike | None, n_edges: int) -> NDArray[np.float64]:
    if values is None:
        return np.ones(n_edges)
    weights = np.array(real_array(values, "weights"), dtype=np.float64)
    if weights.shape != (n_edges,):
        raise ValueError(f"weights must have shape ({n_edges},); received shape {weights.shape}")
    require_positive_entries(weights, "weights must be finite and positive", "hyperedge")
    return weights


def _with_data(matrix: sparse.csr_array, data: NDArray[np.float64]) -> sparse.csr_array:
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)
