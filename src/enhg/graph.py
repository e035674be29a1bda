"""Pairwise graphs with the interface of hypergraphs."""

from __future__ import annotations

import copy
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import LinearOperator

from enhg._immutable import ImmutableGraph, read_only
from enhg._npz import State, require_array, require_sparse
from enhg._validation import (
    check_mask,
    nonnegative_csr,
    nonnegative_dense,
    require_positive_entries,
    require_symmetric,
    symmetric_operator,
    with_small_indices,
)
from enhg.exceptions import InputError


class Graph(ImmutableGraph):
    """A weighted graph, immutable.

        d(v) = Σ_u a(u, v),   Θ = D^-½ A D^-½,   L = I − Θ

    Two graphs are equal if their adjacency matrices are, and stored alike (dense or sparse).

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n_vertices, n_vertices)
        A: exactly symmetric, non-negative, without an empty row; an entry of the diagonal is a
        loop. Copied. An array is stored as one, which is faster if most pairs are joined.

    Examples
    --------
    >>> graph = Graph([[0, 3, 0], [3, 0, 1], [0, 1, 0]])
    >>> graph
    Graph(n_vertices=3, n_edges=2)
    >>> graph.vertex_degrees.tolist()
    [3.0, 4.0, 1.0]
    """

    theta_lower_bound: ClassVar[float] = -1.0
    _file_kind = "enhg.Graph"
    _adjacency: Any  # an array, or CSR
    _vertex_degrees: NDArray[np.float64]

    def __init__(self, adjacency: Any) -> None:
        check = nonnegative_csr if sparse.issparse(adjacency) else nonnegative_dense
        matrix = check(adjacency, "adjacency")
        if matrix.shape[0] == 0:
            raise InputError(
                f"adjacency must have a vertex (row), got shape {matrix.shape}",
                parameter="adjacency",
            )
        require_symmetric(matrix, "adjacency")
        degrees = np.asarray(matrix.sum(axis=1))
        require_positive_entries(degrees, "every vertex must have an edge, 0 < d(v) < ∞", "vertex")
        vars(self).update(_adjacency=read_only(matrix), _vertex_degrees=read_only(degrees))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_vertices={self.n_vertices}, n_edges={self.n_edges})"

    def to_state(self) -> State:
        """Return the adjacency, which defines the graph."""
        return {"adjacency": self.adjacency}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a graph from the state of another."""
        if sparse.issparse(state.get("adjacency")):
            return cls(require_sparse(state, "adjacency", (None, None)))
        return cls(require_array(state, "adjacency", (None, None)))

    def to_incidence(self) -> tuple[sparse.csr_array, NDArray[np.float64]]:
        """Return the ends of every edge as vertices × edges, and the weights a(u, v).

        A loop has one end.

        Examples
        --------
        >>> incidence, weights = Graph([[0, 3], [3, 1]]).to_incidence()
        >>> incidence.toarray().tolist(), weights.tolist()
        ([[1.0, 0.0], [1.0, 1.0]], [3.0, 1.0])
        """
        pairs = sparse.triu(sparse.coo_array(self._adjacency), format="coo")
        numbers, joined = np.arange(pairs.nnz), pairs.row != pairs.col
        ends = np.concatenate([pairs.row, pairs.col[joined]])
        edges = np.concatenate([numbers, numbers[joined]])
        shape = (self.n_vertices, pairs.nnz)
        incidence = sparse.csr_array((np.ones(len(ends)), (ends, edges)), shape=shape)
        return incidence, pairs.data

    @classmethod
    def from_incidence(cls, incidence: sparse.csr_array, weights: NDArray[np.float64]) -> Self:
        """Make a graph from the ends of its edges; weights of edges with the same ends add up."""
        members = np.bincount(incidence.indices, minlength=incidence.shape[1])
        wrong = np.flatnonzero((members < 1) | (members > 2))
        if wrong.size:
            raise InputError(
                f"edges of a graph must have one or two vertices, got {members[wrong[0]]}",
                parameter="incidence",
            )
        if (others := incidence.data[incidence.data != 1]).size:
            raise InputError(
                f"edges of a graph must have memberships of 1, got {others[0]}",
                parameter="incidence",
            )
        by_edge = incidence.tocsc()
        u, v = by_edge.indices[by_edge.indptr[:-1]], by_edge.indices[by_edge.indptr[1:] - 1]
        shape = (incidence.shape[0],) * 2
        upper = sparse.csr_array((weights, (u, v)), shape=shape)
        return cls(sparse.csr_array(upper + sparse.triu(upper, k=1).T))

    @property
    def adjacency(self) -> NDArray[np.float64] | sparse.csr_array:
        """A, the weights a(u, v): an array, or CSR over arrays, read-only."""
        return self._adjacency if self.is_dense else copy.copy(self._adjacency)

    @property
    def n_vertices(self) -> int:
        """|V|, the number of vertices."""
        return int(self._adjacency.shape[0])

    @property
    def n_edges(self) -> int:
        """|E|, the number of pairs that are joined, and of loops."""
        matrix = self._adjacency
        entries = np.count_nonzero(matrix) if self.is_dense else matrix.nnz
        return int(entries + np.count_nonzero(matrix.diagonal())) // 2

    @property
    def is_dense(self) -> bool:
        """Whether A and Θ are stored as arrays."""
        return not sparse.issparse(self._adjacency)

    @property
    def vertex_degrees(self) -> NDArray[np.float64]:
        """d(v) = Σ_u a(u, v) (read-only)."""
        return self._vertex_degrees

    @cached_property
    def _theta(self) -> Any:
        roots = np.sqrt(self._vertex_degrees)
        if self.is_dense:
            return self._adjacency / roots / roots[:, None]
        matrix = copy.copy(self._adjacency)
        rows = np.repeat(roots, np.diff(matrix.indptr))
        matrix.data = matrix.data / rows / roots[matrix.indices]
        return matrix

    @property
    def theta(self) -> LinearOperator:
        """Θ = D^-½ A D^-½ as a symmetric operator.

        Its spectrum is in [−1, 1], and √d is an eigenvector with eigenvalue 1.
        """
        matrix = self._theta
        return symmetric_operator(self.n_vertices, lambda x: matrix @ x)

    def theta_dense(self) -> NDArray[np.float64]:
        """Return Θ as an array of shape (n_vertices, n_vertices)."""
        return self._theta.copy() if self.is_dense else self._theta.toarray()

    def clique_expansion(self) -> sparse.csr_array:
        """Return A off the diagonal, as a CSR array.

        It is an affinity matrix, as scikit-learn's `SpectralClustering` accepts with
        ``affinity="precomputed"``; `Graph(affinity)` is the graph of one.

        Examples
        --------
        >>> Graph([[2, 3], [3, 0]]).clique_expansion().toarray().tolist()
        [[0.0, 3.0], [3.0, 0.0]]
        """
        upper = sparse.triu(sparse.coo_array(self._adjacency), k=1, format="csr")
        return with_small_indices(sparse.csr_array(upper + upper.T))

    def edges(self) -> list[NDArray[np.intp]]:
        """Return the ends of every edge, ascending; a loop has one.

        Examples
        --------
        >>> [edge.tolist() for edge in Graph([[0, 3, 0], [3, 0, 0], [0, 0, 1]]).edges()]
        [[0, 1], [2]]
        """
        rows, columns = sparse.triu(sparse.coo_array(self._adjacency), format="csr").nonzero()
        return [np.unique(ends).astype(np.intp) for ends in zip(rows, columns, strict=True)]

    def connected_components(self) -> tuple[int, NDArray[np.int32]]:
        """Find the sets of vertices that are connected by edges.

        Returns
        -------
        count : int
            The multiplicity of the eigenvalue 1 of Θ.
        labels : array of shape (n_vertices,)
            The component of every vertex, numbered in order of first appearance (read-only).

        Examples
        --------
        >>> count, labels = Graph([[0, 1, 0], [1, 0, 0], [0, 0, 1]]).connected_components()
        >>> count, labels.tolist()
        (2, [0, 0, 1])
        """
        return self._components

    @cached_property
    def _components(self) -> tuple[int, NDArray[np.int32]]:
        # In a dense array SciPy ignores entries below 1e-8.
        joined = self._adjacency > 0 if self.is_dense else self._adjacency
        count, labels = csgraph.connected_components(joined, directed=False)
        return int(count), read_only(labels)

    def subhypergraph(self, mask: NDArray[np.bool_]) -> Self:
        """Return the graph of some vertices and the edges among them.

        Parameters
        ----------
        mask : array of bool of shape (n_vertices,)
            With at least one True.

        Examples
        --------
        >>> graph = Graph([[0, 3, 0], [3, 0, 1], [0, 1, 0]])
        >>> graph.subhypergraph(np.array([True, True, False])).adjacency.tolist()
        [[0.0, 3.0], [3.0, 0.0]]
        """
        chosen = check_mask(mask, self.n_vertices)
        return type(self)(self._adjacency[chosen][:, chosen])
