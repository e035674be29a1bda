"""Incidences with names of vertices and hyperedges, as other programs give and take them."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg._validation import real_array
from enhg.exceptions import InputError


@dataclass(frozen=True, eq=False)
class NamedIncidence:
    """H and w of a hypergraph, with a name for every vertex and hyperedge.

    Attributes
    ----------
    incidence : CSR array of shape (n_vertices, n_edges)
    weights : ndarray of shape (n_edges,)
    vertex_names, edge_names : list
    """

    incidence: sparse.csr_array
    weights: NDArray[np.float64]
    vertex_names: list[Any]
    edge_names: list[Any]

    @classmethod
    def collect(
        cls,
        vertices: NDArray[np.integer],
        edges: NDArray[np.integer],
        memberships: NDArray[np.float64],
        weights: NDArray[np.float64],
        vertex_names: list[Any],
        edge_names: list[Any],
    ) -> NamedIncidence:
        """Make it from a list of incidences, by their places in the lists of names.

        Raises
        ------
        InputError
            If an incidence is listed twice: its membership would not be known.
        """
        shape = (len(vertex_names), len(edge_names))
        incidence = sparse.csr_array((memberships, (vertices, edges)), shape=shape)
        if incidence.nnz < len(memberships):
            pair = _first_repeated(vertices, edges, len(edge_names))
            vertex, edge = vertex_names[vertices[pair]], edge_names[edges[pair]]
            raise InputError(
                f"incidences must be listed once, got {shown(vertex)} in hyperedge "
                f"{shown(edge)} twice"
            )
        return cls(incidence, weights, vertex_names, edge_names)

    def without_empty(self, drop: bool) -> NamedIncidence:
        """Leave out vertices in no hyperedge and hyperedges without a vertex.

        Raises
        ------
        InputError
            If there are any and `drop` is not set.
        """
        matrix = self.incidence.copy()
        matrix.eliminate_zeros()
        filled_vertices = np.diff(matrix.indptr) > 0
        filled_edges = np.bincount(matrix.indices, minlength=matrix.shape[1]) > 0
        if filled_vertices.all() and filled_edges.all():
            return self
        if not drop:
            requirement = "every vertex must be in a hyperedge, got {} in none"
            _refuse_empty(requirement, self.vertex_names, filled_vertices)
            requirement = "every hyperedge must hold a vertex, got {} without"
            _refuse_empty(requirement, self.edge_names, filled_edges)
        return NamedIncidence(
            matrix[filled_vertices][:, filled_edges],
            self.weights[filled_edges],
            [self.vertex_names[i] for i in np.flatnonzero(filled_vertices)],
            [self.edge_names[i] for i in np.flatnonzero(filled_edges)],
        )


def _first_repeated(vertices: NDArray, edges: NDArray, n_edges: int) -> int:
    places = vertices.astype(np.int64) * n_edges + edges
    order = np.argsort(places, kind="stable")
    repeated = np.flatnonzero(np.diff(places[order]) == 0)
    return int(order[repeated[0]])


def _refuse_empty(requirement: str, names: list[Any], filled: NDArray[np.bool_]) -> None:
    empty = np.flatnonzero(~filled)
    if empty.size:
        raise InputError(
            f"{requirement.format(empty.size)}, the first of them {shown(names[empty[0]])}; set "
            "drop_empty to leave them out",
            parameter="drop_empty",
        )


def shown(name: object) -> str:
    """A name in a message, shortened.

    >>> shown("a" * 100)
    "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa..."
    """
    text = repr(name)
    return text if len(text) <= 40 else f"{text[:37]}..."


def plain_names(names: Iterable[Any]) -> list[Any]:
    """Names with NumPy's numbers as Python's."""
    return [name.item() if isinstance(name, np.generic) else name for name in names]


def check_names(names: Sequence[Any] | None, parameter: str, count: int, first: int = 0) -> list:
    """Return `count` distinct hashable names; the numbers from `first` on by default."""
    if names is None:
        return list(range(first, first + count))
    if isinstance(names, str) or len(names) != count:
        raise InputError(
            f"{parameter} must have a name for each of {count}, got {len(names)}",
            parameter=parameter,
        )
    plain = plain_names(names)
    seen: set[Hashable] = set()
    for name in plain:
        if not isinstance(name, Hashable) or name is None:
            raise InputError(
                f"{parameter} must be names such as text or integers, got {shown(name)}",
                parameter=parameter,
            )
        if name in seen:
            raise InputError(
                f"{parameter} must be distinct, got {shown(name)} twice", parameter=parameter
            )
        seen.add(name)
    return plain


def incidence_of_bipartite(
    sides: Mapping[Any, Any],
    weights: Mapping[Any, Any] | Sequence[Any],
    triples: Iterable[tuple[Any, Any, Any]],
    attribute: str,
) -> NamedIncidence:
    """Incidences from the edges of a bipartite graph.

    Parameters
    ----------
    sides : mapping
        0 or False for nodes that are vertices, 1 or True for those that are hyperedges.
    weights : mapping, or sequence if nodes are numbers
        The weights of all nodes, of which those of hyperedges are used.
    triples : iterable of (node, node, membership)
    attribute : str
        Where the package has the sides, for messages.
    """
    for node, side in sides.items():
        if side not in (0, 1):
            raise InputError(
                f"nodes of network must have the attribute {attribute!r}, 0 for a vertex and 1 for "
                f"a hyperedge, got {side!r} at {shown(node)}",
                parameter="network",
            )
    incidences = []
    for u, v, h in triples:
        if sides[u] == sides[v]:
            raise InputError(
                "edges of network must join a vertex to a hyperedge, got one from "
                f"{shown(u)} to {shown(v)}",
                parameter="network",
            )
        incidences.append((v, u, h) if sides[u] else (u, v, h))
    edges = [node for node, side in sides.items() if side]
    vertices = [node for node, side in sides.items() if not side]
    return incidence_of_triples(incidences, vertices, edges, [weights[edge] for edge in edges])


def incidence_of_triples(
    incidences: list[tuple[Any, Any, Any]], vertices: list[Any], edges: list[Any], weights: list
) -> NamedIncidence:
    """Incidences from a list of (vertex, hyperedge, membership)."""
    rows = {name: place for place, name in enumerate(vertices)}
    columns = {name: place for place, name in enumerate(edges)}
    count = len(incidences)
    return NamedIncidence.collect(
        np.fromiter((rows[vertex] for vertex, _, _ in incidences), np.int64, count),
        np.fromiter((columns[edge] for _, edge, _ in incidences), np.int64, count),
        _numbers([membership for _, _, membership in incidences]),
        _numbers(weights),
        vertices,
        edges,
    )


def _numbers(values: list[Any]) -> NDArray[np.float64]:
    return real_array(values, "weight").astype(np.float64)


def named_incidence(
    hypergraph: Any,
    vertex_names: Sequence[Any] | None,
    edge_names: Sequence[Any] | None,
    first: int = 0,
) -> tuple[sparse.csr_array, NDArray[np.float64], list[Any], list[Any]]:
    """H and w, and names that were checked; `first` is the first number of hyperedges."""
    incidence, weights = hypergraph.to_incidence()
    vertices = check_names(vertex_names, "vertex_names", incidence.shape[0])
    edges = check_names(edge_names, "edge_names", incidence.shape[1], first)
    return incidence, weights, vertices, edges


def require_undirected(network: Any, kind: type, name: str) -> None:
    """Require an object of a class of another package, undirected."""
    if not isinstance(network, kind) or getattr(network, "is_directed", bool)():
        raise InputError(
            f"network must be an undirected {name}, got {type(network).__name__}",
            parameter="network",
        )


def attribute_of(items: Any, key: str, default: list[Any]) -> list[Any]:
    """An attribute of vertices or edges of igraph, if they have it."""
    return items[key] if key in items.attributes() else default
