"""The interface of graphs and hypergraphs that learners rely on."""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator


class GraphLike(Protocol):
    """A graph or hypergraph with the operator Θ, a symmetric matrix with eigenvalues ≤ 1.

    √d is an eigenvector of Θ with eigenvalue 1, where d are the vertex degrees, and the
    multiplicity of the eigenvalue 1 is the number of connected components. `Hypergraph` and
    `Graph` implement it.
    """

    @property
    def n_vertices(self) -> int:
        """|V|, the number of vertices."""

    @property
    def vertex_degrees(self) -> NDArray[np.float64]:
        """d(v) > 0, the degree of every vertex."""

    @property
    def theta(self) -> LinearOperator:
        """Θ as a symmetric operator."""

    @property
    def theta_lower_bound(self) -> float:
        """A lower bound of the eigenvalues of Θ."""

    @property
    def is_dense(self) -> bool:
        """Whether Θ is stored as an array of shape (n_vertices, n_vertices)."""

    def theta_dense(self) -> NDArray[np.float64]:
        """Return Θ as an array of shape (n_vertices, n_vertices)."""

    def connected_components(self) -> tuple[int, NDArray[np.int32]]:
        """Return the number of connected components and the component of every vertex."""

    def subhypergraph(self, mask: NDArray[np.bool_]) -> Self:
        """Return the graph or hypergraph induced by the vertices of a boolean mask."""
