"""The interface of graphs and hypergraphs that learners rely on."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Protocol, Self, TypeGuard, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from enhg.exceptions import InputError


@runtime_checkable
class GraphLike(Protocol):
    """A graph or hypergraph with the operator Θ, a symmetric matrix with eigenvalues ≤ 1.

    √d is an eigenvector of Θ with eigenvalue 1, where d are the vertex degrees, and the
    multiplicity of the eigenvalue 1 is the number of connected components, without isolated
    vertices, whose degree and row of Θ are 0. `Hypergraph` and `Graph` implement it; learners
    accept any object that does.
    """

    @property
    @abstractmethod
    def n_vertices(self) -> int:
        """|V|, the number of vertices."""

    @property
    @abstractmethod
    def vertex_degrees(self) -> NDArray[np.float64]:
        """d(v) ≥ 0, the degree of every vertex."""

    @property
    @abstractmethod
    def theta(self) -> LinearOperator:
        """Θ as a symmetric operator."""

    @property
    @abstractmethod
    def theta_lower_bound(self) -> float:
        """A lower bound of the eigenvalues of Θ."""

    @property
    @abstractmethod
    def is_dense(self) -> bool:
        """Whether Θ is stored as an array of shape (n_vertices, n_vertices)."""

    @abstractmethod
    def theta_dense(self) -> NDArray[np.float64]:
        """Return Θ as an array of shape (n_vertices, n_vertices)."""

    @abstractmethod
    def clique_expansion(self) -> sparse.csr_array:
        """Return √d(u) Θ(u, v) √d(v) for u ≠ v, with zeros on the diagonal."""

    @abstractmethod
    def connected_components(self) -> tuple[int, NDArray[np.int32]]:
        """Return the number of connected components and the component of every vertex."""

    @abstractmethod
    def subhypergraph(self, mask: NDArray[np.bool_]) -> Self:
        """Return the graph or hypergraph induced by the vertices of a boolean mask."""


def is_graph(value: Any) -> TypeGuard[GraphLike]:
    """Whether a value has the interface of graphs; a class has not."""
    return isinstance(value, GraphLike) and not isinstance(value, type)


def check_graph(graph: Any, name: str = "graph") -> None:
    """Require a parameter with the interface of graphs, and an edge."""
    if not is_graph(graph):
        raise InputError(f"{name} must be a Hypergraph or a Graph, got {graph!r}", parameter=name)
    if not graph.vertex_degrees.any():
        raise InputError(f"{name} must have an edge, got only isolated vertices", parameter=name)
