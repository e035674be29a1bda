"""Conversion to and from SciPy, xgi, HyperNetX, NetworkX and igraph, with the real packages."""

import warnings

import hypernetx
import igraph
import networkx as nx
import numpy as np
import pandas
import pytest
import xgi
from networkx.algorithms import bipartite
from scipy import sparse

from enhg import Graph, Hypergraph, KNNHypergraph, interchange
from enhg.exceptions import InputError

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning")  # of HyperNetX, about pandas

PAIRS = {
    "xgi": (interchange.to_xgi, interchange.from_xgi),
    "hypernetx": (interchange.to_hypernetx, interchange.from_hypernetx),
    "networkx": (interchange.to_networkx, interchange.from_networkx),
    "igraph": (interchange.to_igraph, interchange.from_igraph),
}


@pytest.fixture(params=[True, False], ids=["soft", "hard"])
def hypergraph(request):
    """Twelve vertices in nine hyperedges, a single vertex and two equal hyperedges among them."""
    rng = np.random.default_rng(0)
    incidence = rng.random((12, 9)) * (rng.random((12, 9)) < 0.35)
    incidence[:, 3] = 0
    incidence[5, 3] = 0.25
    incidence[:, 4] = incidence[:, 2]
    incidence[np.arange(12), np.arange(12) % 3] += 0.5
    if not request.param:
        incidence = (incidence > 0).astype(float)
    return Hypergraph(incidence, rng.random(9) + 0.1)


VERTICES = [f"photo {i}.jpg" for i in range(12)]
EDGES = [f"e{i}" for i in range(9)]


def in_order(named, vertices, edges):
    """The incidence and the weights of a hypergraph with its names in a given order."""
    rows = [named.vertex_names.index(name) for name in vertices]
    columns = [named.edge_names.index(name) for name in edges]
    matrix = named.hypergraph.incidence.toarray()[np.ix_(rows, columns)]
    return matrix, named.hypergraph.weights[columns]


@pytest.mark.parametrize("package", PAIRS)
@pytest.mark.parametrize("named", [True, False])
def test_round_trip(hypergraph, package, named):
    to, back = PAIRS[package]
    first = 12 if package == "networkx" else 0
    vertices = VERTICES if named else list(range(12))
    edges = EDGES if named else list(range(first, first + 9))
    given = {"vertex_names": VERTICES, "edge_names": EDGES} if named else {}
    result = back(to(hypergraph, **given))
    assert sorted(map(str, result.vertex_names)) == sorted(map(str, vertices))
    matrix, weights = in_order(result, vertices, edges)
    assert np.array_equal(matrix, hypergraph.incidence.toarray())
    assert np.array_equal(weights, hypergraph.weights)
    assert result.vertex_names == vertices  # the order of the vertices is kept by all
    if package != "hypernetx":
        assert result.hypergraph == hypergraph


@pytest.mark.parametrize("package", PAIRS)
def test_graph_as_pairs_and_loops(package):
    adjacency = np.array([[0, 3, 0], [3, 0, 0.5], [0, 0.5, 2]])
    to, back = PAIRS[package]
    result = back(to(Graph(adjacency)))
    hypergraph = result.hypergraph
    total = np.zeros((3, 3))
    for edge, weight in zip(hypergraph.edges(), hypergraph.weights, strict=True):
        total[edge[0], edge[-1]] += weight
    assert np.array_equal(total, np.triu(adjacency))


# --- against the other package's own matrices ------------------------------------------------


def test_xgi_incidence_and_degrees(hypergraph):
    network = interchange.to_xgi(hypergraph, vertex_names=VERTICES, edge_names=EDGES)
    matrix, rows, columns = xgi.incidence_matrix(network, index=True)
    assert [rows[i] for i in range(12)] == VERTICES
    assert [columns[i] for i in range(9)] == EDGES
    members = hypergraph.incidence.toarray() > 0
    assert np.array_equal(matrix.toarray(), members)
    assert network.nodes.degree.aslist() == members.sum(axis=1).tolist()
    assert network.edges.attrs("weight").aslist() == hypergraph.weights.tolist()


def test_xgi_unweighted_network():
    network = xgi.fast_random_hypergraph(20, [0.1, 0.02], seed=3)
    result = interchange.from_xgi(network, drop_empty=True)
    expected = xgi.incidence_matrix(network).toarray()
    kept = expected.sum(axis=1) > 0
    assert np.array_equal(result.hypergraph.incidence.toarray(), expected[kept])
    assert result.vertex_names == [v for v, keep in zip(network.nodes, kept, strict=True) if keep]
    # Without weights, xgi's normalized Laplacian is that of the paper.
    network.remove_nodes_from([v for v in network.nodes if v not in result.vertex_names])
    laplacian = xgi.normalized_hypergraph_laplacian(network, weighted=False)
    assert np.allclose(result.hypergraph.laplacian_dense(), laplacian.toarray())


def test_xgi_simplicial_complex():
    network = xgi.SimplicialComplex([[0, 1, 2]])
    assert interchange.from_xgi(network).hypergraph.n_edges == len(network.edges)


def test_hypernetx_incidence(hypergraph):
    network = interchange.to_hypernetx(hypergraph, vertex_names=VERTICES, edge_names=EDGES)
    matrix, rows, columns = network.incidence_matrix(index=True, weights=True)
    places = np.ix_([VERTICES.index(v) for v in rows], [EDGES.index(e) for e in columns])
    assert np.array_equal(matrix.toarray(), hypergraph.incidence.toarray()[places])
    sizes = dict(zip(EDGES, (hypergraph.incidence.toarray() > 0).sum(axis=0), strict=True))
    assert {edge: network.size(edge) for edge in network.edges} == sizes


def test_hypernetx_network():
    network = hypernetx.Hypergraph({"a": [3, 1], "b": [1, 2, 7], "c": [7]})
    result = interchange.from_hypernetx(network)
    matrix, rows, columns = network.incidence_matrix(index=True)
    assert np.array_equal(in_order(result, list(rows), list(columns))[0], matrix.toarray())
    assert all(type(name) is int for name in result.vertex_names)


def test_hypernetx_names_that_are_pairs(hypergraph):
    pairs = [(i, i + 1) for i in range(9)]
    result = interchange.from_hypernetx(interchange.to_hypernetx(hypergraph, edge_names=pairs))
    matrix, weights = in_order(result, list(range(12)), pairs)
    assert np.array_equal(matrix, hypergraph.incidence.toarray())
    assert np.array_equal(weights, hypergraph.weights)


def test_networkx_biadjacency(hypergraph):
    network = interchange.to_networkx(hypergraph)
    assert bipartite.is_bipartite(network)
    matrix = bipartite.biadjacency_matrix(network, range(12), range(12, 21), dtype=float)
    assert np.array_equal(matrix.toarray(), hypergraph.incidence.toarray())
    degrees = dict(network.degree(range(12, 21), weight="weight"))
    assert np.allclose(list(degrees.values()), hypergraph.edge_degrees)


def test_networkx_network_without_weights():
    network = nx.Graph([("a", "e"), ("b", "e"), ("f", "b")])
    nx.set_node_attributes(network, {"a": 0, "b": 0, "e": 1, "f": 1}, "bipartite")
    result = interchange.from_networkx(network)
    assert (result.vertex_names, result.edge_names) == (["a", "b"], ["e", "f"])
    assert result.hypergraph == Hypergraph([[1, 0], [1, 1]])


def test_igraph_degrees(hypergraph):
    network = interchange.to_igraph(hypergraph)
    assert network.is_bipartite()
    strengths = np.array(network.strength(weights="weight"))
    assert np.allclose(strengths[12:], hypergraph.edge_degrees)
    assert np.allclose(strengths[:12], hypergraph.incidence.sum(axis=1))
    counts, rows, columns = network.get_biadjacency()
    assert np.array_equal(counts, hypergraph.incidence.toarray() > 0)
    assert (rows, columns) == (list(range(12)), list(range(12, 21)))


def test_igraph_network_without_weights_and_names():
    network = igraph.Graph.Bipartite([True, False, False], [(0, 1), (0, 2)])
    result = interchange.from_igraph(network)
    assert result == (Hypergraph([[1], [1]]), [1, 2], [0])


def test_igraph_network_with_some_weights_and_names():
    """igraph has None where a vertex or an edge has no attribute that others have."""
    network = igraph.Graph.Bipartite([0, 0, 1, 1], [(0, 2), (1, 2), (1, 3)])
    network.es[0]["weight"], network.vs[3]["weight"], network.vs[1]["name"] = 0.5, 4.0, "b"
    result = interchange.from_igraph(network)
    assert result.hypergraph == Hypergraph([[0.5, 0], [1, 1]], weights=[1, 4])
    assert (result.vertex_names, result.edge_names) == ([0, "b"], [2, 3])


def test_clique_expansion_is_networkxs_projection(hypergraph):
    """C(u, v) = Σ_e w(e) h(u, e) h(v, e) / δ(e), by NetworkX from the bipartite graph."""
    network = interchange.to_networkx(hypergraph)

    def shared(graph, u, v):
        return sum(
            graph.nodes[e]["weight"] * graph[u][e]["weight"] * graph[v][e]["weight"]
            / graph.degree(e, weight="weight")
            for e in set(graph[u]) & set(graph[v])
        )  # fmt: skip

    expected = bipartite.generic_weighted_projected_graph(network, range(12), shared)
    cliques = interchange.to_networkx_clique(hypergraph)
    assert set(map(frozenset, cliques.edges)) == set(map(frozenset, expected.edges))
    for u, v, weight in expected.edges(data="weight"):
        assert cliques[u][v]["weight"] == pytest.approx(weight, rel=1e-12)


def test_clique_round_trip_and_laplacian():
    network = nx.les_miserables_graph()
    result = interchange.from_networkx_clique(network)
    laplacian = nx.normalized_laplacian_matrix(network, result.vertex_names).toarray()
    assert np.allclose(2 * result.hypergraph.laplacian_dense(), laplacian)
    assert result.edge_names == list(network.edges)
    back = interchange.to_networkx_clique(result.hypergraph, vertex_names=result.vertex_names)
    assert {frozenset(pair): back.edges[pair]["weight"] for pair in back.edges} == {
        frozenset(pair): network.edges[pair]["weight"] for pair in network.edges
    }


def test_scipy_round_trip(hypergraph):
    incidence, weights = interchange.to_scipy(hypergraph)
    assert isinstance(incidence, sparse.csr_array)
    assert interchange.from_scipy(incidence, weights).hypergraph == hypergraph
    assert interchange.from_scipy(sparse.coo_matrix(incidence), weights)[0] == hypergraph
    incidence.data[:] = 7  # a copy
    weights[:] = 7
    assert not (hypergraph.incidence.data == 7).any()
    assert not (hypergraph.weights == 7).any()


# --- what cannot be converted ----------------------------------------------------------------


def empty_in(package):
    """A network with a vertex and a hyperedge without incidences, and what is left: a and e."""
    if package == "xgi":
        network = xgi.Hypergraph()
        network.add_nodes_from(["a", "alone"])
        network.add_edge(["a"], idx="e")
        network.add_edge([], idx="empty")
        return interchange.from_xgi, (network,)
    if package == "networkx":
        network = nx.Graph([("a", "e")])
        network.add_nodes_from(["alone", "empty"])
        sides = {"a": 0, "alone": 0, "e": 1, "empty": 1}
        nx.set_node_attributes(network, sides, "bipartite")
        return interchange.from_networkx, (network,)
    if package == "igraph":
        network = igraph.Graph(4, [(0, 1)])
        network.vs["name"] = ["a", "e", "alone", "empty"]
        network.vs["type"] = [False, True, False, True]
        return interchange.from_igraph, (network,)
    return interchange.from_scipy, ([[1, 0], [0, 0]],)


@pytest.mark.parametrize("package", ["xgi", "networkx", "igraph", "scipy"])
def test_isolated_vertices_are_kept_and_empty_hyperedges_left_out(package):
    back, arguments = empty_in(package)
    names = ([0, 1], [0], "1") if package == "scipy" else (["a", "alone"], ["e"], "'empty'")
    with pytest.warns(UserWarning, match=f"without a vertex are left out: 1, .* {names[2]}$"):
        assert back(*arguments) == (Hypergraph([[1], [0]]), *names[:2])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = back(*arguments, drop_empty=True)
    assert result == (Hypergraph([[1]]), names[0][:1], names[1])


@pytest.mark.parametrize("package", ["xgi", "networkx", "igraph", "hypernetx"])
def test_isolated_vertices_in_a_round_trip(package):
    hypergraph = Hypergraph([[1, 0], [0, 0], [1, 0.5]], weights=[2, 3])
    to, back = PAIRS[package]
    given = {"vertex_names": ["a", "alone", "c"], "edge_names": ["e", "f"]}
    if package == "hypernetx":
        with pytest.warns(UserWarning, match="HyperNetX .* left out: 1, the first of them 'alone'"):
            network = to(hypergraph, **given)
        assert list(network.nodes) == ["a", "c"]
        return
    assert back(to(hypergraph, **given)) == (hypergraph, *given.values())


def test_isolated_vertices_of_a_clique_expansion():
    network = nx.path_graph(2)
    network.add_node("alone")
    result = interchange.from_networkx_clique(network)
    assert result.vertex_names == [0, 1, "alone"]
    assert result.hypergraph.vertex_degrees.tolist() == [2, 2, 0]
    again = interchange.to_networkx_clique(result.hypergraph, vertex_names=result.vertex_names)
    assert nx.to_dict_of_dicts(again, edge_data=1) == nx.to_dict_of_dicts(network, edge_data=1)


def labeled_graph(edges, **sides):
    network = nx.Graph(edges)
    nx.set_node_attributes(network, sides, "bipartite")
    return network


def xgi_with(**attributes):
    network = xgi.Hypergraph()
    network.add_edge([0, 1], **attributes)
    return network


REFUSED = {
    "xgi class": (interchange.from_xgi, nx.Graph(), "must be an undirected xgi.Hypergraph, got Gr"),
    "xgi directed": (interchange.from_xgi, xgi.DiHypergraph(), "undirected xgi.Hypergraph"),
    "xgi weight": (interchange.from_xgi, xgi_with(weight="x"), "must be a real number, got 'x'"),
    "xgi large weight": (interchange.from_xgi, xgi_with(weight=10**400), "must be finite"),
    "xgi negative": (interchange.from_xgi, xgi_with(weight=-1), "weights must be finite and pos"),
    "xgi memberships": (interchange.from_xgi, xgi_with(memberships=3), "must be a mapping"),
    "xgi memberships of others": (
        interchange.from_xgi,
        xgi_with(memberships={"0": 0.5}),
        "must be a mapping from its vertices, got {'0': 0.5}",
    ),
    "hypernetx class": (interchange.from_hypernetx, 3, "hypernetx.Hypergraph, got int"),
    "hypernetx missing name": (
        interchange.from_hypernetx,
        hypernetx.Hypergraph(pandas.DataFrame({"e": ["x", "x"], "v": [1, float("nan")]})),
        "names of network must be text or numbers, got nan",
    ),
    "networkx class": (interchange.from_networkx, 3, "undirected networkx.Graph, got int"),
    "networkx directed": (interchange.from_networkx, nx.DiGraph(), "undirected networkx.Graph"),
    "networkx side": (interchange.from_networkx, nx.Graph([(0, 1)]), "'bipartite'.* got None at 0"),
    "networkx pair": (
        interchange.from_networkx,
        labeled_graph([("a", "b")], a=0, b=0),
        "must join a vertex to a hyperedge, got one from 'a' to 'b'",
    ),
    "clique loop": (interchange.from_networkx_clique, nx.Graph([(4, 4)]), "no loops, got one at 4"),
    "clique parallel": (
        interchange.from_networkx_clique,
        nx.MultiGraph([(0, 1), (0, 1)]),
        "network must have one edge between two nodes, got two between 0 and 1",
    ),
    "igraph directed": (interchange.from_igraph, igraph.Graph(directed=True), "undirected igraph"),
    "igraph type": (interchange.from_igraph, igraph.Graph(2, [(0, 1)]), "'type'.* got None at 0"),
    "scipy negative": (interchange.from_scipy, [[-1]], "incidence must hold finite, non-negative"),
}


@pytest.mark.parametrize(("back", "network", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(back, network, message):
    with pytest.raises(InputError, match=message) as caught:
        back(network)
    own = "incidence" if back is interchange.from_scipy else "network"
    assert caught.value.parameter in (own, None)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"vertex_names": ["a"]}, "vertex_names must have a name for each of 2, got 1"),
        ({"vertex_names": "ab"}, "vertex_names must be a sequence of names, got 'ab'"),
        ({"vertex_names": {"a", "b"}}, "vertex_names must be a sequence of names"),
        ({"vertex_names": 2}, "vertex_names must be a sequence of names, got 2"),
        ({"vertex_names": ["a", "a"]}, "vertex_names must be distinct, got 'a' twice"),
        ({"edge_names": [[0]]}, "edge_names must be names such as text or integers"),
        ({"edge_names": [None]}, "edge_names must be names such as text or integers"),
        ({"edge_names": [float("nan")]}, "edge_names must be names such as text or integers"),
        ({"edge_names": [(0, [1])]}, "edge_names must be names such as text or integers"),
    ],
)
@pytest.mark.parametrize("package", PAIRS)
def test_names_are_checked(package, names, message):
    with pytest.raises(InputError, match=message):
        PAIRS[package][0](Hypergraph([[1], [1]]), **names)


@pytest.mark.parametrize("to", [*(to for to, _ in PAIRS.values()), interchange.to_scipy])
def test_estimators_are_no_hypergraphs(to):
    with pytest.raises(InputError, match="hypergraph must be a Hypergraph or a Graph, got KNN"):
        to(KNNHypergraph())


def test_names_of_a_bipartite_graph_differ():
    with pytest.raises(InputError, match="edge_names must differ from vertex_names, got 'a'"):
        interchange.to_networkx(Hypergraph([[1]]), vertex_names=["a"], edge_names=["a"])


def test_weights_of_scipy_are_one_per_column():
    with pytest.raises(InputError, match=r"weights must have shape \(1,\), got shape \(2,\)"):
        interchange.from_scipy([[1]], [1, 2])


@pytest.mark.parametrize(
    ("shape", "form"),
    [((10**12, 1), "coo"), ((10**12, 1), "csc"), ((1, 10**12), "coo"), ((1, 10**12), "csr")],
)
def test_empty_lines_of_scipy_take_no_memory(shape, form):
    place = tuple([size // 2] for size in shape)
    matrix = sparse.coo_array(([0.5], place), shape=shape).asformat(form)
    result = interchange.from_scipy(matrix, drop_empty=True)
    assert result.hypergraph == Hypergraph([[0.5]])
    assert [result.vertex_names, result.edge_names] == list(map(list, place))


def test_explicit_zeros_of_scipy_are_no_incidences():
    data, rows, columns = [1.0, 0.0, 2.0, 1.0], [0, 1, 2, 0], [0, 1, 2, 2]
    matrix = sparse.coo_array((data, (rows, columns)), shape=(3, 3))
    result = interchange.from_scipy(matrix, [3, 4, 5], drop_empty=True)
    assert result.hypergraph == Hypergraph([[1, 1], [0, 2]], [3, 5])
    assert (result.vertex_names, result.edge_names) == ([0, 2], [0, 2])
    assert matrix.data.tolist() == data
    entries = ([1.0, 0.5, -0.5, 1.0], ([0, 1, 1, 2], [0, 0, 0, 0]))
    cancelled = sparse.coo_array(entries, shape=(3, 1))
    assert interchange.from_scipy(cancelled, drop_empty=True).vertex_names == [0, 2]


def test_half_precision_of_scipy():
    incidence = np.array([[1, 0.5]], np.float16)  # of which SciPy makes no sparse matrix
    assert interchange.from_scipy(incidence).hypergraph == Hypergraph([[1, 0.5]])


def test_sparse_weights_of_scipy():
    with pytest.raises(InputError, match="weights must be a dense array, got a sparse one"):
        interchange.from_scipy([[1.0]], sparse.coo_array([1.0]))


@pytest.mark.parametrize(
    ("parameter", "names"),
    [
        *(("edge_names", names) for names in ([True, False], [(0, 1), 2], [b"a", b"b"])),
        *(("vertex_names", names) for names in ([True, False], [(0, 1), (1, 2)], [0.5, 1.5])),
    ],
)
def test_names_for_hypernetx_are_text_or_integers(parameter, names):
    with pytest.raises(InputError, match=f"{parameter} must be text or integers, got") as caught:
        interchange.to_hypernetx(Hypergraph([[1, 0], [1, 1]]), **{parameter: names})
    assert caught.value.parameter == parameter


@pytest.mark.parametrize("names", [[frozenset([1]), frozenset([2])], [b"a", b"b"], [1j, 2j]])
def test_names_that_xgi_refuses(names):
    with pytest.raises(InputError, match="edge_names must be names that xgi takes") as caught:
        interchange.to_xgi(Hypergraph([[1, 0], [1, 1]]), edge_names=names)
    assert caught.value.parameter == "edge_names"
