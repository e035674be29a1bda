"""Hypergraphs of other packages: SciPy, xgi, HyperNetX, NetworkX and igraph, each way.

For files see `Hypergraph.to_hif` and `Hypergraph.from_hif`. The extra ``interchange`` installs the
other packages; only the one that a function is about is imported. Functions ``to_...`` take a
`Hypergraph`, or a `Graph`, whose edges then are hyperedges of two vertices, or of one for a loop.
Functions ``from_...`` make a `Hypergraph`; they leave out hyperedges without a vertex, and warn.
Weights w(e) and h(v, e) are attributes ``weight`` of the other package, 1 where there is none.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from enhg._incidences import (
    NamedIncidence,
    attribute_of,
    check_names,
    incidence_of_bipartite,
    incidence_of_matrix,
    incidence_of_pairs,
    incidence_of_triples,
    membership_values,
    named_incidence,
    plain_names,
    require_graph,
    require_texts_or_integers,
    require_undirected,
    shown,
    warn_of_left_out,
)
from enhg._optional import require
from enhg.exceptions import InputError
from enhg.graph import Graph
from enhg.hypergraph import Hypergraph

__all__ = [
    "NamedHypergraph", "from_hypernetx", "from_igraph", "from_networkx", "from_networkx_clique",
    "from_scipy", "from_xgi", "to_hypernetx", "to_igraph", "to_networkx", "to_networkx_clique",
    "to_scipy", "to_xgi",
]  # fmt: skip

_EXTRA = "interchange"
_MEMBERSHIPS = "memberships"  # the attribute of a hyperedge of xgi, whose incidences have none

Names = Sequence[Hashable]


class NamedHypergraph(NamedTuple):
    """A hypergraph of another package, with its names.

    Attributes
    ----------
    hypergraph : Hypergraph
    vertex_names : list
        The name of every vertex, in the order of the rows of ``hypergraph.incidence``.
    edge_names : list
        The name of every hyperedge, in the order of the columns.

    Examples
    --------
    >>> NamedHypergraph(Hypergraph([[1], [1]]), ["a", "b"], ["e"]).vertex_names
    ['a', 'b']
    """

    hypergraph: Hypergraph
    vertex_names: list[Any]
    edge_names: list[Any]


def to_scipy(hypergraph: Hypergraph | Graph) -> tuple[sparse.csr_array, NDArray[np.float64]]:
    """Return H and w, as arrays that can be written to, unlike those of the hypergraph.

    Parameters
    ----------
    hypergraph : Hypergraph or Graph

    Returns
    -------
    incidence : CSR array of shape (n_vertices, n_edges)
    weights : ndarray of shape (n_edges,)

    Examples
    --------
    >>> incidence, weights = to_scipy(Hypergraph([[1, 0], [1, 0.5]], weights=[2, 3]))
    >>> incidence.toarray().tolist(), weights.tolist()
    ([[1.0, 0.0], [1.0, 0.5]], [2.0, 3.0])
    """
    require_graph(hypergraph)
    incidence, weights = hypergraph.to_incidence()
    return incidence.copy(), weights.copy()


def from_scipy(
    incidence: Any, weights: ArrayLike | None = None, *, drop_empty: bool = False
) -> NamedHypergraph:
    """Make a hypergraph from a sparse matrix H, named by the numbers of its rows and columns.

    Parameters
    ----------
    incidence : sparse matrix or array of shape (n_vertices, n_edges)
        H, with memberships h(v, e) ≥ 0.
    weights : array of shape (n_edges,), optional
        Hyperedge weights w(e) > 0. All 1 by default.
    drop_empty : bool, default=False
        Leave out isolated vertices as well, and do not warn.

    Returns
    -------
    NamedHypergraph

    Examples
    --------
    >>> hypergraph, rows, columns = from_scipy([[1, 0], [0, 0], [1, 0]], drop_empty=True)
    >>> hypergraph, rows, columns
    (Hypergraph(n_vertices=2, n_edges=1, memberships=2), [0, 2], [0])
    """
    named = incidence_of_matrix(incidence, weights, drop_empty=drop_empty)
    return NamedHypergraph(Hypergraph(named.incidence, named.weights), *named.names)


def to_xgi(
    hypergraph: Hypergraph | Graph,
    *,
    vertex_names: Names | None = None,
    edge_names: Names | None = None,
) -> Any:
    """Make an ``xgi.Hypergraph``.

    xgi has no weights of incidences: a hyperedge with memberships other than 1 has them as its
    attribute ``memberships``, a dictionary by vertex.

    Parameters
    ----------
    hypergraph : Hypergraph or Graph
    vertex_names, edge_names : sequence of hashable, optional
        0, 1, … by default.

    Returns
    -------
    network : xgi.Hypergraph

    Examples
    --------
    >>> network = to_xgi(Hypergraph([[1, 0], [1, 0.5]], weights=[2, 3]), vertex_names=["a", "b"])
    >>> network.edges[0], network.edges[1]
    ({'weight': 2.0}, {'weight': 3.0, 'memberships': {'b': 0.5}})
    """
    xgi = require("xgi", _EXTRA)
    incidence, weights, vertices, edges = named_incidence(hypergraph, vertex_names, edge_names)
    by_edge = incidence.tocsc()
    network = xgi.Hypergraph()
    network.add_nodes_from(vertices)
    for e, name in enumerate(edges):
        part = slice(by_edge.indptr[e], by_edge.indptr[e + 1])
        members = [vertices[v] for v in by_edge.indices[part].tolist()]
        attributes: dict[str, Any] = {"weight": float(weights[e])}
        if (by_edge.data[part] != 1).any():
            memberships = by_edge.data[part].tolist()
            attributes[_MEMBERSHIPS] = dict(zip(members, memberships, strict=True))
        try:
            network.add_edge(members, idx=name, **attributes)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"edge_names must be names that xgi takes, such as text, got {shown(name)}",
                parameter="edge_names",
            ) from error
    return network


def from_xgi(network: Any, *, drop_empty: bool = False) -> NamedHypergraph:
    """Make a hypergraph from an ``xgi.Hypergraph`` or ``xgi.SimplicialComplex``.

    Parameters
    ----------
    network : xgi.Hypergraph
        With the attributes of `to_xgi`, where hyperedges have them.
    drop_empty : bool, default=False
        Leave out isolated vertices as well, and do not warn.

    Returns
    -------
    NamedHypergraph

    Examples
    --------
    >>> from_xgi(to_xgi(Hypergraph([[1], [0.5]]), vertex_names=["a", "b"])).vertex_names
    ['a', 'b']
    """
    xgi = require("xgi", _EXTRA)
    require_undirected(network, xgi.Hypergraph, "xgi.Hypergraph")
    weights, incidences = [], []
    for name, members in network.edges.members(dtype=dict).items():
        attributes = network.edges[name]
        weights.append(attributes.get("weight", 1.0))
        memberships = membership_values(attributes.get(_MEMBERSHIPS, {}), members, name)
        incidences += [(v, name, h) for v, h in zip(members, memberships, strict=True)]
    named = incidence_of_triples(incidences, list(network.nodes), list(network.edges), weights)
    return _finished(named, drop_empty)


def to_hypernetx(
    hypergraph: Hypergraph | Graph,
    *,
    vertex_names: Names | None = None,
    edge_names: Names | None = None,
) -> Any:
    """Make a ``hypernetx.Hypergraph``, with memberships as weights of its cells.

    HyperNetX orders hyperedges by their first vertex, and vertices as they are here. It holds no
    isolated vertices: they are left out, with a warning.

    Parameters
    ----------
    hypergraph : Hypergraph or Graph
    vertex_names, edge_names : sequence of str or int, optional
        0, 1, … by default. Names of hyperedges may be tuples.

    Returns
    -------
    network : hypernetx.Hypergraph

    Examples
    --------
    >>> network = to_hypernetx(Hypergraph([[1, 0], [1, 0.5]], weights=[2, 3]))
    >>> network.edges[1].weight, network.incidence_matrix(weights=True).toarray().tolist()
    (3.0, [[1.0, 0.0], [1.0, 0.5]])
    """
    hypernetx, pandas = require("hypernetx", _EXTRA), require("pandas", _EXTRA)
    incidence, weights, vertices, edges = named_incidence(hypergraph, vertex_names, edge_names)
    require_texts_or_integers(vertices, "vertex_names")
    require_texts_or_integers(edges, "edge_names")
    isolated = [vertices[v] for v in np.flatnonzero(np.diff(incidence.indptr) == 0)]
    warn_of_left_out("isolated vertices, which HyperNetX does not hold,", isolated, 3)
    entries = incidence.tocoo()
    cells = {
        "edge": [edges[e] for e in entries.col.tolist()],
        "node": [vertices[v] for v in entries.row.tolist()],
        "weight": entries.data,
    }
    return hypernetx.Hypergraph(
        pandas.DataFrame(cells),
        edge_col="edge",
        node_col="node",
        cell_weight_col="weight",
        edge_properties=pandas.DataFrame({"edge": edges, "weight": weights}),
    )


def from_hypernetx(network: Any, *, drop_empty: bool = False) -> NamedHypergraph:
    """Make a hypergraph from a ``hypernetx.Hypergraph``, with the weights of its cells.

    Parameters
    ----------
    network : hypernetx.Hypergraph
    drop_empty : bool, default=False
        Leave out isolated vertices as well, and do not warn.

    Returns
    -------
    NamedHypergraph

    Examples
    --------
    >>> from_hypernetx(to_hypernetx(Hypergraph([[1], [0.5]]), vertex_names=["a", "b"])).vertex_names
    ['a', 'b']
    """
    hypernetx = require("hypernetx", _EXTRA)
    require_undirected(network, hypernetx.Hypergraph, "hypernetx.Hypergraph")
    cells = network.incidences.to_dataframe["weight"]
    incidences = [(v, e, h) for (e, v), h in zip(cells.index, cells.tolist(), strict=True)]
    vertices, edges = plain_names(network.nodes), plain_names(network.edges)
    with warnings.catch_warnings():  # of pandas, about HyperNetX
        warnings.simplefilter("ignore", FutureWarning)
        by_edge = network.edges.to_dataframe["weight"].to_dict()
    weights = [by_edge[e] for e in edges]
    return _finished(incidence_of_triples(incidences, vertices, edges, weights), drop_empty)


def to_networkx(
    hypergraph: Hypergraph | Graph,
    *,
    vertex_names: Names | None = None,
    edge_names: Names | None = None,
) -> Any:
    """Make the bipartite ``networkx.Graph`` of vertices and hyperedges.

    Its nodes have the attribute ``bipartite``: 0 for vertices, 1 for hyperedges, which also have
    their ``weight`` w(e). The ``weight`` of an edge is the membership h(v, e).

    Parameters
    ----------
    hypergraph : Hypergraph or Graph
    vertex_names, edge_names : sequence of hashable, optional
        Nodes for vertices and hyperedges, all distinct; 0 … n − 1 and n, n + 1, … by default.

    Returns
    -------
    network : networkx.Graph

    Examples
    --------
    >>> network = to_networkx(Hypergraph([[1, 0], [1, 0.5]], weights=[2, 3]))
    >>> network.nodes[3], network.edges[1, 3]
    ({'bipartite': 1, 'weight': 3.0}, {'weight': 0.5})
    """
    networkx = require("networkx", _EXTRA)
    incidence, weights, vertices, edges = named_incidence(
        hypergraph, vertex_names, edge_names, edges_follow=True
    )
    if common := set(vertices) & set(edges):
        both = shown(next(iter(common)))
        raise InputError(
            f"edge_names must differ from vertex_names, got {both} in both", parameter="edge_names"
        )
    network = networkx.Graph()
    network.add_nodes_from(vertices, bipartite=0)
    for name, weight in zip(edges, weights.tolist(), strict=True):
        network.add_node(name, bipartite=1, weight=weight)
    entries = incidence.tocoo()
    triples = zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True)
    network.add_weighted_edges_from((vertices[v], edges[e], h) for v, e, h in triples)
    return network


def from_networkx(network: Any, *, drop_empty: bool = False) -> NamedHypergraph:
    """Make a hypergraph from the bipartite ``networkx.Graph`` of vertices and hyperedges.

    Parameters
    ----------
    network : networkx.Graph
        Undirected, with the attributes of `to_networkx`, of which only ``bipartite`` is required.
    drop_empty : bool, default=False
        Leave out isolated vertices as well, and do not warn.

    Returns
    -------
    NamedHypergraph

    Examples
    --------
    >>> from_networkx(to_networkx(Hypergraph([[1], [0.5]]), vertex_names=["a", "b"])).vertex_names
    ['a', 'b']
    """
    networkx = require("networkx", _EXTRA)
    require_undirected(network, networkx.Graph, "networkx.Graph")
    sides = dict(network.nodes(data="bipartite"))
    weights = dict(network.nodes(data="weight", default=1.0))
    triples = network.edges(data="weight", default=1.0)
    return _finished(incidence_of_bipartite(sides, weights, triples, "bipartite"), drop_empty)


def to_networkx_clique(hypergraph: Hypergraph | Graph, *, vertex_names: Names | None = None) -> Any:
    """Make the ``networkx.Graph`` that joins the members of each hyperedge, C = H W D_e^-1 Hᵀ.

    The ``weight`` of an edge is C(u, v), and a(u, v) for a `Graph`; loops are left out.

    Parameters
    ----------
    hypergraph : Hypergraph or Graph
    vertex_names : sequence of hashable, optional
        0, 1, … by default.

    Returns
    -------
    network : networkx.Graph

    Examples
    --------
    >>> to_networkx_clique(Hypergraph([[1], [1]], weights=[6])).edges[0, 1]
    {'weight': 3.0}
    """
    networkx = require("networkx", _EXTRA)
    require_graph(hypergraph)
    vertices = check_names(vertex_names, "vertex_names", hypergraph.n_vertices)
    network = networkx.Graph()
    network.add_nodes_from(vertices)
    pairs = sparse.triu(hypergraph.clique_expansion(), k=1, format="coo")
    triples = zip(pairs.row.tolist(), pairs.col.tolist(), pairs.data.tolist(), strict=True)
    network.add_weighted_edges_from((vertices[u], vertices[v], c) for u, v, c in triples)
    return network


def from_networkx_clique(network: Any, *, drop_empty: bool = False) -> NamedHypergraph:
    """Make the hypergraph of pairs whose clique expansion is a ``networkx.Graph``.

    Every edge becomes a hyperedge of two vertices, named by the pair, w({u, v}) = 2 a(u, v). For a
    pairwise graph use ``Graph(networkx.to_scipy_sparse_array(network, dtype=float))``.

    Parameters
    ----------
    network : networkx.Graph
        Undirected, without loops; the ``weight`` of an edge is a(u, v), 1 where it is missing.
    drop_empty : bool, default=False
        Leave out nodes without an edge.

    Returns
    -------
    NamedHypergraph

    Examples
    --------
    >>> import networkx
    >>> from_networkx_clique(networkx.path_graph(3)).hypergraph.incidence.toarray().tolist()
    [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    """
    networkx = require("networkx", _EXTRA)
    require_undirected(network, networkx.Graph, "networkx.Graph")
    named = incidence_of_pairs(network.edges(data="weight", default=1.0), list(network.nodes))
    return _finished(replace(named, weights=2 * named.weights), drop_empty)


def to_igraph(
    hypergraph: Hypergraph | Graph,
    *,
    vertex_names: Names | None = None,
    edge_names: Names | None = None,
) -> Any:
    """Make the bipartite ``igraph.Graph`` of vertices and hyperedges.

    Its vertices have the attributes ``type``, False for vertices of the hypergraph and True for
    hyperedges, ``name``, and ``weight``, which is w(e) for hyperedges and None for vertices. The
    ``weight`` of an edge is the membership h(v, e).

    Parameters
    ----------
    hypergraph : Hypergraph or Graph
    vertex_names, edge_names : sequence of hashable, optional
        0, 1, … by default.

    Returns
    -------
    network : igraph.Graph

    Examples
    --------
    >>> network = to_igraph(Hypergraph([[1, 0], [1, 0.5]], weights=[2, 3]))
    >>> network.is_bipartite(), network.vs["weight"], network.es["weight"]
    (True, [None, None, 2.0, 3.0], [1.0, 1.0, 0.5])
    """
    igraph = require("igraph", _EXTRA)
    incidence, weights, vertices, edges = named_incidence(hypergraph, vertex_names, edge_names)
    (n_vertices, n_edges), entries = incidence.shape, incidence.tocoo()
    pairs = np.column_stack([entries.row, entries.col + n_vertices]).tolist()
    network = igraph.Graph(n_vertices + n_edges, pairs)
    network.vs["type"] = [False] * n_vertices + [True] * n_edges
    network.vs["name"] = vertices + edges
    network.vs["weight"] = [None] * n_vertices + weights.tolist()
    network.es["weight"] = entries.data.tolist()
    return network


def from_igraph(network: Any, *, drop_empty: bool = False) -> NamedHypergraph:
    """Make a hypergraph from the bipartite ``igraph.Graph`` of vertices and hyperedges.

    Parameters
    ----------
    network : igraph.Graph
        Undirected, with the attributes of `to_igraph`, of which only ``type`` is required.
    drop_empty : bool, default=False
        Leave out isolated vertices as well, and do not warn.

    Returns
    -------
    NamedHypergraph

    Examples
    --------
    >>> from_igraph(to_igraph(Hypergraph([[1], [0.5]]), vertex_names=["a", "b"])).vertex_names
    ['a', 'b']
    """
    igraph = require("igraph", _EXTRA)
    require_undirected(network, igraph.Graph, "igraph.Graph")
    n_nodes, n_pairs = network.vcount(), network.ecount()
    sides = attribute_of(network.vs, "type", [None] * n_nodes)
    names = attribute_of(network.vs, "name", list(range(n_nodes)))
    weights = attribute_of(network.vs, "weight", [1.0] * n_nodes)
    memberships = attribute_of(network.es, "weight", [1.0] * n_pairs)
    triples = ((u, v, h) for (u, v), h in zip(network.get_edgelist(), memberships, strict=True))
    named = incidence_of_bipartite(dict(enumerate(sides)), weights, triples, "type")
    vertices = [names[place] for place in named.vertex_names]
    edges = [names[place] for place in named.edge_names]
    return _finished(replace(named, vertex_names=vertices, edge_names=edges), drop_empty)


def _finished(named: NamedIncidence, drop_empty: bool) -> NamedHypergraph:
    """The hypergraph of a parameter `network`."""
    filled = named.without_empty(drop_empty)
    try:
        return NamedHypergraph(Hypergraph(filled.incidence, filled.weights), *filled.names)
    except InputError as error:
        raise InputError(
            f"network must be one that a Hypergraph can hold: {error}", parameter="network"
        ) from error
