"""Files in the Hypergraph Interchange Format: ours, and those of other programs."""

import json
import tracemalloc

import hypernetx
import jsonschema
import numpy as np
import pytest
import xgi
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from enhg import Graph, Hypergraph, _json_stream
from enhg.exceptions import InputError

SMALL = Hypergraph([[1, 0], [1, 0.5], [0, 1]], weights=[2, 0.1])


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.hif.json"


# --- the rules themselves --------------------------------------------------------------------

VALID = {
    "no incidences": {"incidences": []},
    "one incidence": {"incidences": [{"edge": "abcd", "node": 42, "weight": -2.5}]},
    "directed": {
        "network-type": "directed",
        "incidences": [{"edge": 1, "node": "a", "direction": "head"}],
    },
    "one node": {"incidences": [], "nodes": [{"node": 42, "attrs": {"since": [2020, {}]}}]},
    "one edge": {"incidences": [], "edges": [{"edge": 3, "weight": 1}]},
    "metadata": {"incidences": [], "metadata": {"name": "small"}, "network-type": "asc"},
}
INVALID = {
    "nothing": {},
    "another key": {"incidences": [], "colors": []},
    "network type": {"incidences": [], "network-type": "bidirected"},
    "metadata is a list": {"incidences": [], "metadata": []},
    "node without id": {"incidences": [], "nodes": [{"attrs": {}}]},
    "incidence without node": {"incidences": [{"edge": 1}]},
    "another key of a record": {"incidences": [{"edge": 1, "node": 1, "color": 1}]},
    "text as weight": {"incidences": [{"edge": 1, "node": 1, "weight": "1"}]},
    "number as id": {"incidences": [{"edge": 1.5, "node": 1}]},
    "direction": {"incidences": [{"edge": 1, "node": 1, "direction": "up"}]},
}


@pytest.mark.parametrize("content", VALID.values(), ids=VALID)
def test_rules_accept(hif_schema, content):
    jsonschema.validate(content, hif_schema)


@pytest.mark.parametrize("content", INVALID.values(), ids=INVALID)
def test_rules_refuse(hif_schema, content):
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(content, hif_schema)


# --- writing ---------------------------------------------------------------------------------

names = st.one_of(
    st.integers(-(2**70), 2**70),
    st.text(max_size=8),
    st.sampled_from(['"},{"', "\ud800", "\\", "0"]),
)
positive = st.floats(1e-300, 1e300)


@st.composite
def named_hypergraphs(draw):
    vertices = draw(st.lists(names, min_size=1, max_size=6, unique=True))
    members = st.dictionaries(st.integers(0, len(vertices) - 1), positive, min_size=1)
    edges = draw(st.lists(members, max_size=5))
    weights = draw(st.lists(st.floats(1e-3, 1e3), min_size=len(edges), max_size=len(edges)))
    edge_names = draw(st.lists(names, min_size=len(edges), max_size=len(edges), unique=True))
    return Hypergraph.from_edges(edges, len(vertices), weights), vertices, edge_names


@settings(deadline=None, max_examples=30)
@given(case=named_hypergraphs())
def test_round_trip_is_exact(tmp_path_factory, read_valid_hif, case):
    hypergraph, vertices, edges = case
    path = tmp_path_factory.mktemp("hif") / "a.json"
    hypergraph.to_hif(path, vertex_names=vertices, edge_names=edges)
    content = read_valid_hif(path)
    matrix = np.zeros((len(vertices), len(edges)))
    for record in content["incidences"]:
        place = vertices.index(record["node"]), edges.index(record["edge"])
        matrix[place] = record.get("weight", 1)
    assert np.array_equal(matrix, hypergraph.incidence.toarray())
    assert [record["weight"] for record in content["edges"]] == hypergraph.weights.tolist()
    loaded = Hypergraph.from_hif(path, return_names=True)
    assert loaded == (hypergraph, vertices, edges)


def test_memberships_that_are_all_one_are_left_out(path, read_valid_hif):
    Hypergraph([[1, 0], [1, 1]]).to_hif(path)
    assert {len(record) for record in read_valid_hif(path)["incidences"]} == {2}


def test_numbers_are_the_default_names(path, read_valid_hif):
    SMALL.to_hif(path)
    content = read_valid_hif(path)
    assert [record["node"] for record in content["nodes"]] == [0, 1, 2]
    assert content["network-type"] == "undirected"
    assert Hypergraph.from_hif(path, return_names=True) == (SMALL, [0, 1, 2], [0, 1])


def test_attributes_and_metadata(path, read_valid_hif):
    attributes = {"label": np.array([0, 1, 1]), "score": [0.5, np.nan, np.inf], "word": list("abc")}
    SMALL.to_hif(path, vertex_attributes=attributes, metadata={"name": "é", "enhg": 3})
    content = read_valid_hif(path)
    assert content["nodes"][1]["attrs"] == {"label": 1, "score": None, "word": "b"}
    assert content["metadata"]["name"] == "é"
    assert content["metadata"]["enhg"]["kind"] == "Hypergraph"
    assert Hypergraph.from_hif(path) == SMALL


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vertex_names": ["a", "b"]}, "vertex_names must have a name for each of 3, got 2"),
        ({"vertex_names": ["a", "b", "a"]}, "vertex_names must be distinct, got 'a' twice"),
        ({"vertex_names": ["a", "b", 1.5]}, "vertex_names must be text or integers, got 1.5"),
        ({"edge_names": [True, 2]}, "edge_names must be text or integers, got True"),
        ({"vertex_attributes": {"x": [1]}}, "value for each of 3 vertices, got 1 of 'x'"),
        ({"vertex_attributes": {"x": [1, 2, object()]}}, "'x' must be a number or a word"),
        *(
            ({"vertex_attributes": {"x": values}}, "must be a mapping from names to sequences")
            for values in ({0: 1, 1: 2, 2: 3}, "abc", {1, 2, 3}, np.array(1))
        ),
        ({"vertex_attributes": {1: [1, 2, 3]}}, "must be a mapping from names to sequences"),
        ({"vertex_names": [10**5000, 1, 2]}, "vertex_names must be text or integers that JSON can"),
        ({"vertex_attributes": {"x": 1}}, "vertex_attributes must be a mapping .* got {'x': 1}"),
        ({"vertex_attributes": [1, 2, 3]}, "vertex_attributes must be a mapping"),
        ({"vertex_attributes": {"x": [[np.nan], 1, 2]}}, "vertex_attributes must be numbers and"),
        ({"metadata": {"x": object()}}, "metadata must be a dictionary of JSON values"),
        ({"metadata": {"x": float("nan")}}, "metadata must be a dictionary of JSON values"),
    ],
)
def test_bad_options_write_nothing(path, options, message):
    with pytest.raises(InputError, match=message):
        SMALL.to_hif(path, **options)
    assert list(path.parent.iterdir()) == []


def test_attributes_of_a_table(path):
    pandas = pytest.importorskip("pandas")
    SMALL.to_hif(path, vertex_attributes=pandas.DataFrame({"label": [2, pandas.NA, 0]}))
    nodes = json.loads(path.read_text())["nodes"]
    assert [node["attrs"]["label"] for node in nodes] == [2, None, 0]


def test_files_are_overwritten_on_request_only(path):
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="pass overwrite=True"):
        SMALL.to_hif(path)
    assert path.read_text() == "mine"
    SMALL.to_hif(path, overwrite=True)
    assert Hypergraph.from_hif(path) == SMALL


def test_interruption_leaves_nothing(path):
    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SMALL.to_hif(path, progress=interrupt)
    assert list(path.parent.iterdir()) == []


def test_progress_reaches_the_total(path):
    calls = []
    SMALL.to_hif(path, progress=lambda *call: calls.append(call))
    assert calls[-1] == (4, 4)
    calls.clear()
    Hypergraph.from_hif(path, progress=lambda *call: calls.append(call))
    assert calls[-1] == (path.stat().st_size, path.stat().st_size)


def test_graph(path, read_valid_hif):
    graph = Graph(sparse.csr_array([[0, 3, 0], [3, 0, 0.1], [0, 0.1, 2.5]]))
    graph.to_hif(path, vertex_names=["a", "b", "c"])
    content = read_valid_hif(path)
    assert content["metadata"]["enhg"]["kind"] == "Graph"
    loaded, vertices, _ = Graph.from_hif(path, return_names=True)
    assert loaded == graph
    assert vertices == ["a", "b", "c"]
    Graph(graph.adjacency.toarray()).to_hif(path, overwrite=True)
    assert Graph.from_hif(path) == graph  # sparse


@pytest.mark.parametrize(
    ("hypergraph", "message"),
    [(SMALL, "memberships of 1"), (Hypergraph([[1], [1], [1]]), "one or two vertices, got 3")],
)
def test_hypergraph_is_no_graph(path, hypergraph, message):
    hypergraph.to_hif(path)
    with pytest.raises(InputError, match=f"edges of a graph must have {message}"):
        Graph.from_hif(path)


# --- reading ---------------------------------------------------------------------------------

braces = st.sampled_from(["}, {", "]", '"', '\\"}', "{[", "\n", "é", "\U0001f600", "node"])
attributes = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), braces)
    .filter(lambda value: value not in (float("inf"), -float("inf"))),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(braces, inner, max_size=3)
    ),
    max_leaves=6,
)  # fmt: skip


@st.composite
def documents(draw):
    """A HIF document without empty vertices and hyperedges, its keys in any order."""
    ids = st.one_of(st.integers(0, 3), braces)
    pairs = draw(st.lists(st.tuples(ids, ids), min_size=1, max_size=12, unique=True))
    content = {"incidences": []}
    for edge, node in pairs:
        record = {"node": node, "edge": edge}
        record |= draw(st.fixed_dictionaries({}, optional={"weight": positive}))
        record |= draw(st.fixed_dictionaries({}, optional={"attrs": st.just({"a": attributes})}))
        if "attrs" in record:
            record["attrs"] = {"a": draw(attributes)}
        content["incidences"].append(dict(draw(st.permutations(list(record.items())))))
    for key, place in (("nodes", 1), ("edges", 0)):
        known = list(dict.fromkeys(pair[place] for pair in pairs))
        listed = draw(st.lists(st.sampled_from(known), unique=True))
        content[key] = [{key[:-1]: name} for name in listed]
    for record in content["edges"]:
        record["weight"] = draw(st.integers(1, 9))
    content["metadata"] = {"x": draw(attributes)}
    return dict(draw(st.permutations(list(content.items()))))


def brute_force(content):
    """Names, memberships and weights by dictionaries."""
    weights = {record["edge"]: record["weight"] for record in content["edges"]}
    vertices = [record["node"] for record in content["nodes"]]
    edges = list(weights)
    for record in content["incidences"]:
        vertices += [record["node"]] * (record["node"] not in vertices)
        edges += [record["edge"]] * (record["edge"] not in edges)
    matrix = np.zeros((len(vertices), len(edges)))
    for record in content["incidences"]:
        place = vertices.index(record["node"]), edges.index(record["edge"])
        matrix[place] = record.get("weight", 1)
    return matrix, [weights.get(edge, 1) for edge in edges], vertices, edges


@settings(deadline=None, max_examples=60)
@given(
    content=documents(),
    indent=st.sampled_from([None, 0, 3, "\t\r\n "]),
    separators=st.sampled_from([(",", ":"), (" , ", " :\n"), (",", ": ")]),
    ascii_only=st.booleans(),
    block=st.sampled_from([1, 2, 3, 7, 20, 50, 200, 1 << 20]),
)
def test_any_layout_and_any_blocks(
    tmp_path_factory, hif_schema, content, indent, separators, ascii_only, block
):
    jsonschema.validate(content, hif_schema)
    path = tmp_path_factory.mktemp("hif") / "a.json"
    text = json.dumps(content, indent=indent, separators=separators, ensure_ascii=ascii_only)
    path.write_text(text, encoding="utf-8", newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_json_stream, "_BLOCK", block)
        hypergraph, *found_names = Hypergraph.from_hif(path, return_names=True)
    matrix, weights, *expected_names = brute_force(content)
    assert found_names == expected_names
    assert np.array_equal(hypergraph.incidence.toarray(), matrix)
    assert hypergraph.weights.tolist() == weights


def write(path, text):
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_text_and_numbers_are_different_names(path):
    write(path, '{"incidences": [{"edge": 1, "node": "1"}, {"edge": 1.0, "node": 1}]}')
    hypergraph, vertices, edges = Hypergraph.from_hif(path, return_names=True)
    assert (vertices, edges) == (["1", 1], [1])
    assert type(edges[0]) is int
    assert hypergraph == Hypergraph([[1], [1]])


def test_byte_order_mark(path):
    write(path, b'\xef\xbb\xbf{"incidences": [{"edge": 1, "node": 1}]}')
    assert Hypergraph.from_hif(path) == Hypergraph([[1]])


def test_empty_vertices_and_edges(path):
    write(
        path,
        '{"nodes": [{"node": "alone"}, {"node": "b"}], "edges": [{"edge": 9, "weight": 5}],'
        ' "incidences": [{"edge": 1, "node": "b"}, {"edge": 2, "node": "b", "weight": 0}]}',
    )
    with pytest.warns(UserWarning, match="without a vertex are left out: 2, the first of them 9"):
        loaded = Hypergraph.from_hif(path, return_names=True)
    assert loaded == (Hypergraph([[0], [1]]), ["alone", "b"], [1])
    loaded = Hypergraph.from_hif(path, drop_empty=True, return_names=True)
    assert loaded == (Hypergraph([[1]]), ["b"], [1])


# Files that HIF allows, of the kinds of its own tests, and the hypergraphs that they are.
READ = {
    "one node": ({"incidences": [], "nodes": [{"node": 42, "weight": 2}]}, np.empty((1, 0)), []),
    "one incidence": ({"incidences": [{"edge": "abcd", "node": 42}]}, [[1]], [1]),
    "lists that are empty": (
        {"incidences": [{"edge": 0, "node": 1}, {"edge": 1, "node": 0}], "nodes": [], "edges": []},
        [[1, 0], [0, 1]],
        [1, 1],
    ),
    "repeated": (
        {
            "nodes": [{"node": 2}, {"node": 1}, {"node": 2, "attrs": {"a": 1}}],
            "edges": [{"edge": 1, "weight": 3}, {"edge": 2}, {"edge": 1, "weight": 3}],
            "incidences": [
                {"edge": 1, "node": 2, "weight": 0.1},
                {"edge": 2, "node": 2},
                {"weight": 0.1, "node": 2, "edge": 1},
            ],
        },
        [[0.1, 1], [0, 0]],
        [3, 1],
    ),
    "isolated": ({"nodes": [{"node": 1}], "incidences": [{"edge": 1, "node": 2}]}, [[0], [1]], [1]),
}


@pytest.mark.parametrize(("content", "incidence", "weights"), READ.values(), ids=READ)
def test_files_that_hif_allows(path, hif_schema, content, incidence, weights):
    jsonschema.validate(content, hif_schema)
    write(path, json.dumps(content))
    hypergraph, *names_read = Hypergraph.from_hif(path, return_names=True)
    assert hypergraph == Hypergraph(incidence, weights)
    again = path.with_name("again.json")
    hypergraph.to_hif(again, vertex_names=names_read[0], edge_names=names_read[1])
    assert Hypergraph.from_hif(again, return_names=True) == (hypergraph, *names_read)
    hypergraph.save(path.with_name("again.npz"))
    assert Hypergraph.load(path.with_name("again.npz")) == hypergraph


def test_files_of_xgi(path, read_valid_hif):
    network = xgi.fast_random_hypergraph(30, [0.05, 0.01], seed=1)
    network.add_edge(["é", "b"], idx="named", weight=2.5, since={"year": 2020})
    network["name"] = "random"
    xgi.write_hif(network, path)
    read_valid_hif(path)
    hypergraph, vertices, edges = Hypergraph.from_hif(path, drop_empty=True, return_names=True)
    matrix, rows, columns = xgi.incidence_matrix(network, index=True)
    rows = {name: place for place, name in rows.items()}
    columns = {name: place for place, name in columns.items()}
    expected = matrix.toarray()[[rows[v] for v in vertices]][:, [columns[e] for e in edges]]
    assert np.array_equal(hypergraph.incidence.toarray(), expected)
    assert hypergraph.incidence.sum() == matrix.sum()
    assert hypergraph.weights[edges.index("named")] == 2.5


def test_directed_file_of_xgi(path, read_valid_hif):
    xgi.write_hif(xgi.DiHypergraph([({0, 1}, {2})]), path)
    read_valid_hif(path)
    with pytest.raises(InputError, match="network-type must be undirected or asc, got 'directed'"):
        Hypergraph.from_hif(path)


def test_xgi_reads_our_files(path):
    SMALL.to_hif(path, vertex_names=["a", "b", "c"], vertex_attributes={"label": [0, 1, 1]})
    network = xgi.read_hif(path)
    assert network.edges.members() == [{"a", "b"}, {"b", "c"}]
    assert network.nodes.attrs("label").asdict() == {"a": 0, "b": 1, "c": 1}
    xgi.write_hif(network, path)
    hypergraph, vertices, _ = Hypergraph.from_hif(path, return_names=True)
    order = [vertices.index(name) for name in "abc"]
    assert np.array_equal(hypergraph.incidence.toarray()[order], SMALL.incidence.toarray() > 0)


@pytest.fixture
def schema_at_hand(monkeypatch, hif_schema):
    """HyperNetX downloads the schema whenever it reads or writes HIF."""

    class Answer:
        text = json.dumps(hif_schema)

    monkeypatch.setattr("requests.get", lambda url: Answer)


@pytest.mark.filterwarnings("ignore::FutureWarning")  # of HyperNetX, about pandas
@pytest.mark.usefixtures("schema_at_hand")
def test_files_of_hypernetx(path, read_valid_hif):
    cells = {"e": {"a": {"weight": 0.25}, "b": {}}, "f": {"b": {"weight": 3}, "c": {}}}
    network = hypernetx.Hypergraph(cells, edge_properties={"e": {"weight": 2.5}})
    hypernetx.to_hif(network, path)
    read_valid_hif(path)
    hypergraph, vertices, edges = Hypergraph.from_hif(path, return_names=True)
    matrix, rows, columns = network.incidence_matrix(index=True, weights=True)
    places = np.ix_(
        [list(rows).index(v) for v in vertices], [list(columns).index(e) for e in edges]
    )
    assert np.array_equal(hypergraph.incidence.toarray(), matrix.toarray()[places])
    assert hypergraph.weights[edges.index("e")] == 2.5


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.usefixtures("schema_at_hand")
def test_hypernetx_reads_our_files(path):
    SMALL.to_hif(path, vertex_names=["a", "b", "c"], edge_names=["e", "f"])
    network = hypernetx.from_hif(filename=path)
    matrix, rows, columns = network.incidence_matrix(index=True, weights=True)
    assert (list(rows), list(columns)) == (["a", "b", "c"], ["e", "f"])
    assert np.array_equal(matrix.toarray(), SMALL.incidence.toarray())
    assert [network.edges[e].weight for e in "ef"] == SMALL.weights.tolist()


# --- memory --------------------------------------------------------------------------------


def peak(action):
    """The largest memory during an action, in bytes."""
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_incidences_are_not_held_as_objects(path, monkeypatch):
    n = 30_000
    rng = np.random.default_rng(0)
    incidence = sparse.coo_array(
        (rng.random(n) + 0.1, (np.arange(n) % 100, np.arange(n) // 100)), shape=(100, n // 100)
    )
    hypergraph = Hypergraph(incidence)
    arrays = 12 * n  # of the hypergraph in memory
    monkeypatch.setattr("enhg._hif._BLOCK", 1000)
    monkeypatch.setattr(_json_stream, "_BLOCK", 1 << 14)
    assert peak(lambda: hypergraph.to_hif(path)) < arrays
    assert peak(lambda: Hypergraph.from_hif(path)) < 6 * arrays
    assert peak(lambda: json.loads(path.read_text())) > 20 * arrays
