"""Incidences with names of vertices and hyperedges, as other programs give and take them."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg._files import check_memory
from enhg._validation import nonnegative_csr, real_matrix, real_vector
from enhg.exceptions import InputError

_EMPTY_EDGES = "hyperedges without a vertex"
_LINE_BYTES = 40  # of an empty row or column, while a hypergraph is made; measured


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

        An incidence that is listed again counts once.

        Raises
        ------
        InputError
            If it has another membership then.
        """
        shape = (len(vertex_names), len(edge_names))
        incidence = sparse.csr_array((memberships, (vertices, edges)), shape=shape)
        if incidence.nnz < len(memberships):
            places = vertices.astype(np.int64) * len(edge_names) + edges
            _, first, again = np.unique(places, return_index=True, return_inverse=True)
            one, other = memberships[first][again], memberships
            for i in np.flatnonzero(one != other)[:1]:
                raise InputError(
                    f"an incidence must have one weight, got {one[i]} and {other[i]} of "
                    f"{shown(vertex_names[vertices[i]])} in hyperedge "
                    f"{shown(edge_names[edges[i]])}"
                )
            entries = (memberships[first], (vertices[first], edges[first]))
            incidence = sparse.csr_array(entries, shape=shape)
        return cls(incidence, weights, vertex_names, edge_names)

    @property
    def names(self) -> tuple[list[Any], list[Any]]:
        """Names of vertices and of hyperedges."""
        return self.vertex_names, self.edge_names

    def without_empty(self, drop: bool) -> NamedIncidence:
        """Leave out hyperedges without a vertex, with a warning, which no result depends on.

        With `drop`, vertices in no hyperedge are left out as well, and there is no warning.
        """
        matrix = self.incidence.copy()
        matrix.eliminate_zeros()
        kept = (np.diff(matrix.indptr) > 0) | (not drop)
        filled = np.bincount(matrix.indices, minlength=matrix.shape[1]) > 0
        if kept.all() and filled.all():
            return self
        if not drop:
            warn_of_left_out(_EMPTY_EDGES, [self.edge_names[e] for e in np.flatnonzero(~filled)])
        return NamedIncidence(
            matrix[kept][:, filled],
            self.weights[filled],
            [self.vertex_names[i] for i in np.flatnonzero(kept)],
            [self.edge_names[i] for i in np.flatnonzero(filled)],
        )


def check_shape(shape: tuple[int, ...], n_memberships: int) -> None:
    """Refuse an incidence matrix, most of it empty rows or columns, that memory does not hold."""
    if max(shape) > n_memberships:
        check_memory(_LINE_BYTES * max(shape), f"incidence of shape {shape}")


def warn_of_left_out(what: str, names: Sequence[Any], stacklevel: int = 5) -> None:
    """Warn of vertices or hyperedges that are left out, if there are any."""
    if names:
        first = shown(names[0])
        message = f"{what} are left out: {len(names)}, the first of them {first}"
        warnings.warn(message, stacklevel=stacklevel)


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
    if isinstance(names, str | set | frozenset) or not isinstance(names, Sized):
        raise InputError(
            f"{parameter} must be a sequence of names, got {shown(names)}", parameter=parameter
        )
    if len(names) != count:
        raise InputError(
            f"{parameter} must have a name for each of {count}, got {len(names)}",
            parameter=parameter,
        )
    plain = plain_names(names)
    seen: set[Hashable] = set()
    for name in plain:
        if not _is_name(name):
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


def require_texts_or_integers(names: Sequence[Any], parameter: str) -> None:
    """Require names that pandas keeps as they are; those of hyperedges may also be tuples."""
    if parameter == "edge_names" and all(isinstance(name, tuple) for name in names):
        return
    for name in names:
        if not isinstance(name, str | int) or isinstance(name, bool):
            raise InputError(
                f"{parameter} must be text or integers, got {shown(name)}", parameter=parameter
            )


def _is_name(name: Any) -> bool:
    """Whether a value is hashable, and neither None nor NaN."""
    try:
        hash(name)
    except TypeError:
        return False
    return name is not None and name == name


def incidence_of_matrix(matrix: Any, weights: Any, *, drop_empty: bool) -> NamedIncidence:
    """Incidences of a matrix, named by the numbers of its rows and columns.

    With `drop_empty`, memory is used for its entries only, whatever its shape.
    """
    entries = sparse.coo_array(real_matrix(matrix, "incidence"), copy=True)
    entries.sum_duplicates()
    entries.eliminate_zeros()
    n_vertices, n_edges = entries.shape
    w = None if weights is None else real_vector(weights, "weights", n_edges)
    vertices, row = np.unique(entries.row, return_inverse=True)
    edges, column = np.unique(entries.col, return_inverse=True)
    if not drop_empty:
        check_shape(entries.shape, entries.nnz)
        vertices, row = np.arange(n_vertices), entries.row
        warn_of_left_out(_EMPTY_EDGES, np.setdiff1d(np.arange(n_edges), edges).tolist())
    shape = (len(vertices), len(edges))
    compact = sparse.coo_array((entries.data, (row, column)), shape=shape)
    used = np.ones(len(edges)) if w is None else w[edges]
    incidence = nonnegative_csr(compact, "incidence")
    return NamedIncidence(incidence, used, vertices.tolist(), edges.tolist())


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
        if not np.isscalar(side) or side not in (0, 1):
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
    return NamedIncidence.collect(
        _places([vertex for vertex, _, _ in incidences], vertices),
        _places([edge for _, edge, _ in incidences], edges),
        _numbers([membership for _, _, membership in incidences]),
        _numbers(weights),
        vertices,
        edges,
    )


def incidence_of_pairs(
    triples: Iterable[tuple[Any, Any, Any]], vertices: list[Any]
) -> NamedIncidence:
    """Incidences from the edges (u, v, weight) of a graph, which are the names of hyperedges."""
    weights, incidences = {}, []
    for u, v, weight in triples:
        if u == v:
            raise InputError(
                f"network must have no loops, got one at {shown(u)}", parameter="network"
            )
        if (u, v) in weights:
            raise InputError(
                f"network must have one edge between two nodes, got two between {shown(u)} and "
                f"{shown(v)}",
                parameter="network",
            )
        incidences += [(u, (u, v), 1.0), (v, (u, v), 1.0)]
        weights[u, v] = weight
    return incidence_of_triples(incidences, vertices, list(weights), list(weights.values()))


def _places(names: list[Any], all_names: list[Any]) -> NDArray[np.int64]:
    places = {name: place for place, name in enumerate(all_names)}
    try:
        return np.fromiter((places[name] for name in names), np.int64, len(names))
    except KeyError as error:  # NaN, which is not equal to itself
        raise InputError(
            f"names of network must be text or numbers, got {shown(error.args[0])}",
            parameter="network",
        ) from error


def _numbers(values: list[Any]) -> NDArray[np.float64]:
    if not all(issubclass(kind, Real) for kind in set(map(type, values))):
        wrong = next(value for value in values if not isinstance(value, Real))
        raise InputError(
            f"every weight in network must be a real number, got {shown(wrong)}",
            parameter="network",
        )
    try:
        return np.array(values, np.float64)
    except OverflowError as error:
        raise InputError(
            "every weight in network must be finite, got a larger integer", parameter="network"
        ) from error


def membership_values(memberships: Any, members: Collection[Any], edge: Any) -> list[Any]:
    """Memberships of the members of a hyperedge from a mapping by member; 1 where one is missing.

    Keys that are no members are refused: of a file in JSON they are text, whatever the members are.
    """
    if not isinstance(memberships, Mapping) or not set(members).issuperset(memberships):
        raise InputError(
            f"memberships of hyperedge {shown(edge)} must be a mapping from its vertices, got "
            f"{shown(memberships)}",
            parameter="network",
        )
    return [memberships.get(vertex, 1.0) for vertex in members]


def require_graph(hypergraph: Any) -> None:
    """Require a Hypergraph or a Graph."""
    if not hasattr(hypergraph, "to_incidence") or isinstance(hypergraph, type):
        raise InputError(
            f"hypergraph must be a Hypergraph or a Graph, got {shown(hypergraph)}; that of a "
            "fitted estimator is its graph_",
            parameter="hypergraph",
        )


def named_incidence(
    hypergraph: Any,
    vertex_names: Sequence[Any] | None,
    edge_names: Sequence[Any] | None,
    *,
    edges_follow: bool = False,
) -> tuple[sparse.csr_array, NDArray[np.float64], list[Any], list[Any]]:
    """H and w, and names that were checked.

    Numbers of hyperedges start at 0 or, with `edges_follow`, after those of the vertices.
    """
    require_graph(hypergraph)
    incidence, weights = hypergraph.to_incidence()
    vertices = check_names(vertex_names, "vertex_names", incidence.shape[0])
    first = incidence.shape[0] if edges_follow else 0
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
    """An attribute of vertices or edges of igraph, with a default for each that has none."""
    if key not in items.attributes():
        return default
    given = zip(items[key], default, strict=True)
    return [other if value is None else value for value, other in given]
