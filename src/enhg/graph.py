"""Pairwise graphs, as the learners see them: what a hypergraph is with two vertices an edge.

`Graph` and `Hypergraph` share what the learners need: `n_vertices`, `vertex_degrees`, Θ as an
operator (`theta`) and as an array (`theta_dense`), a lower bound on its spectrum
(`theta_lower_bound`), whether it is stored as an array (`is_dense`), `connected_components` and
`part`.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse.linalg import LinearOperator

from enhg._validation import (
    nonnegative_csr,
    nonnegative_dense,
    require_positive_entries,
    require_symmetric,
    symmetric_operator,
)


class Graph:
    """A weighted graph: Θ = D^-½ A D^-½ with d(v) = Σ_u a(u, v), and L = I − Θ.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n_vertices, n_vertices)
        A: exactly symmetric, non-negative, no empty row; an entry of the diagonal is a loop.
        Copied. An array stays one, which is faster where most pairs are joined.

    Examples
    --------
    >>> graph = Graph([[0, 3, 0], [3, 0, 1], [0, 1, 0]])
    >>> graph
    Graph(n_vertices=3, n_edges=2)
    >>> graph.vertex_degrees.tolist()
    [3.0, 4.0, 1.0]
    """

    theta_lower_bound: ClassVar[float] = -1.0
    _adjacency: Any  # an array, or CSR

    def __init__(self, adjacency: Any) -> None:
        check = nonnegative_csr if sparse.issparse(adjacency) else nonnegative_dense
        matrix = check(adjacency, "adjacency")
        if matrix.shape[0] == 0:
            raise ValueError(f"adjacency must have a vertex (row); received shape {matrix.shape}")
        require_symmetric(matrix, "adjacency")
        degrees = np.asarray(matrix.sum(axis=1))
        require_positive_entries(degrees, "every vertex must have an edge, 0 < d(v) < ∞", "vertex")
        self._adjacency, self._degrees = matrix, degrees

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_vertices={self.n_vertices}, n_edges={self.n_edges})"

    @property
    def adjacency(self) -> NDArray[np.float64] | sparse.csr_array:
        """A, an array or CSR as it was given."""
        return self._adjacency.copy()

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
        """Whether A is stored as an array."""
        return not sparse.issparse(self._adjacency)

    @property
    def vertex_degrees(self) -> NDArray[np.float64]:
        """d(v) = Σ_u a(u, v)."""
        return self._degrees.copy()

    @cached_property
    def _theta(self) -> Any:
        roots = np.sqrt(self._degrees)
        if self.is_dense:
            return self._adjacency / roots / roots[:, None]
        matrix = self._adjacency.copy()
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
        """Θ as an n×n array."""
        return self._theta.copy() if self.is_dense else self._theta.toarray()

    def connected_components(self) -> tuple[int, NDArray[np.int32]]:
        """Sets of vertices that chains of edges join: their number, and each vertex's.

        Examples
        --------
        >>> count, labels = Graph([[0, 1, 0], [1, 0, 0], [0, 0, 1]]).connected_components()
        >>> count, labels.tolist()
        (2, [0, 0, 1])
        """
        return self._components

    @cached_property
    def _components(self) -> tuple[int, NDArray[np.int32]]:
        # Of an array SciPy takes entries below 1e-8 for none.
        joined = self._adjacency > 0 if self.is_dense else self._adjacency
        count, labels = csgraph.connected_components(joined, directed=False)
        labels.setflags(write=False)
        return int(count), labels

    def subhypergraph(self, mask: NDArray[np.bool_]) -> Graph:
        """The vertices of the mask and the edges among them."""
        return Graph(self._adjacency[mask][:, mask])
