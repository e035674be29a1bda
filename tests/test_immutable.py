"""What graphs and hypergraphs share: immutability, equality, copies, the Laplacian and files."""

import copy
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from enhg.exceptions import InputError
from enhg.graph import Graph
from enhg.hypergraph import Hypergraph

SOFT = [[1, 0, 0], [0.5, 1, 0], [0, 0.25, 0], [0, 0, 1]]
ADJACENCY = np.array([[0, 3, 0, 0], [3, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 2.0]])
GRAPHS = {
    "hypergraph": Hypergraph(SOFT, [1, 2, 3]),
    "dense graph": Graph(ADJACENCY),
    "sparse graph": Graph(sparse.csr_array(ADJACENCY)),
}
MATRICES = {"hypergraph": ("incidence", "theta_factor"), "sparse graph": ("adjacency",)}
SETTINGS = settings(max_examples=150, deadline=None)


@pytest.fixture(params=GRAPHS)
def graph(request):
    return GRAPHS[request.param]


def kind_of(graph):
    return type(graph).__name__


def arrays_of(graph):
    """Every array that the graph hands out."""
    for name in dir(type(graph)):
        if isinstance(getattr(type(graph), name), property):
            value = getattr(graph, name)
            if isinstance(value, np.ndarray):
                yield value
            elif sparse.issparse(value):
                yield from (value.data, value.indices, value.indptr)
    yield graph.connected_components()[1]


class TestImmutability:
    @pytest.mark.parametrize("name", ["vertex_degrees", "theta", "_weights", "anything"])
    def test_no_attribute_can_be_set_or_deleted(self, graph, name):
        with pytest.raises(AttributeError, match=f"a {kind_of(graph)} is immutable.*{name}"):
            setattr(graph, name, 1)
        with pytest.raises(AttributeError, match=f"a {kind_of(graph)} is immutable.*{name}"):
            delattr(graph, name)

    def test_no_array_can_be_written(self, graph):
        arrays = list(arrays_of(graph))
        assert len(arrays) >= 3
        for array in arrays:
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 2

    @pytest.mark.parametrize(("kind", "name"), [(k, n) for k in MATRICES for n in MATRICES[k]])
    def test_matrices_handed_out_do_not_lead_back(self, kind, name):
        graph = GRAPHS[kind]
        before = getattr(graph, name).toarray()
        matrix = getattr(graph, name)
        matrix.data = np.zeros(matrix.nnz)
        matrix.resize((1, matrix.shape[1]))
        np.testing.assert_array_equal(getattr(graph, name).toarray(), before)

    @pytest.mark.parametrize("kind", ["hypergraph", "sparse graph"])
    def test_state_does_not_lead_back(self, kind):
        graph = GRAPHS[kind]
        name = next(name for name, value in graph.to_state().items() if sparse.issparse(value))
        before = getattr(graph, name).toarray()
        matrix = graph.to_state()[name]
        matrix.data = np.zeros(matrix.nnz)
        np.testing.assert_array_equal(getattr(graph, name).toarray(), before)

    def test_theta_dense_is_a_copy(self, graph):
        before = graph.theta_dense()
        graph.theta_dense()[:] = 5
        np.testing.assert_array_equal(graph.theta_dense(), before)

    @pytest.mark.parametrize("form", [np.array, sparse.csr_array])
    def test_input_is_copied_and_left_alone(self, form):
        matrix, weights = form(np.eye(3)), np.ones(3)
        hypergraph, graph = Hypergraph(matrix, weights), Graph(matrix)
        matrix[0, 0] = 5
        weights[0] = 5
        assert hypergraph == Hypergraph(np.eye(3))
        assert graph == Graph(form(np.eye(3)))


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
)
def test_copies_and_pickles_are_equal_and_immutable(graph, duplicate):
    again = duplicate(graph)
    assert type(again) is type(graph)
    assert again == graph
    assert not any(array.flags.writeable for array in arrays_of(again))


def test_equality_with_other_objects():
    for one in GRAPHS:
        for other in GRAPHS:
            assert (GRAPHS[one] == GRAPHS[other]) == (one == other)
        assert GRAPHS[one] != "graph"
        assert GRAPHS[one] != object()


def test_graphs_are_not_hashable(graph):
    with pytest.raises(TypeError, match="unhashable"):
        hash(graph)


def test_laplacian_is_the_identity_less_theta(graph):
    identity = np.eye(graph.n_vertices)
    expected = identity - graph.theta_dense()
    np.testing.assert_array_equal(graph.laplacian_dense(), expected)
    np.testing.assert_allclose(graph.laplacian @ identity, expected, atol=1e-15)
    np.testing.assert_allclose(graph.laplacian.rmatmat(identity), expected, atol=1e-15)
    np.testing.assert_allclose(graph.laplacian @ np.sqrt(graph.vertex_degrees), 0, atol=1e-15)


def test_subhypergraph_of_all_vertices_and_of_a_component(graph):
    assert graph.subhypergraph(np.ones(graph.n_vertices, bool)) == graph
    _, component = graph.connected_components()
    part = graph.subhypergraph(component == 0)
    inside = np.ix_(component == 0, component == 0)
    np.testing.assert_allclose(part.theta_dense(), graph.theta_dense()[inside], atol=1e-15)
    assert part.connected_components()[0] == 1


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (np.ones(3, bool), r"a boolean for every vertex, shape \(4,\), got shape \(3,\) and dtype"),
        (np.ones(4, int), r"got shape \(4,\) and dtype int64"),
        ([0, 1], r"got shape \(2,\) and dtype int64"),
        ("a", r"got shape \(\) and dtype <U1"),
        (np.zeros(4, bool), "mask must select a vertex, got only False"),
    ],
)
def test_masks_that_do_not_fit(graph, mask, message):
    with pytest.raises(InputError, match=message) as caught:
        graph.subhypergraph(mask)
    assert caught.value.parameter == "mask"


def malformed(form):
    matrix = sparse.coo_array(np.eye(3)).asformat(form)
    if form == "coo":
        matrix.coords[0][0] = 99
    else:
        matrix.indices[0] = 99
    return matrix


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", [Hypergraph, Graph])
def test_malformed_sparse_matrices(kind, form):
    with pytest.raises(InputError, match=r"(incidence|adjacency) must be a valid sparse matrix"):
        kind(malformed(form))


# --- files ----------------------------------------------------------------------------------------


class Payload:
    """Creates the file ``path`` when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def stored_arrays(graph, folder):
    path = folder / "good.npz"
    graph.save(path)
    with np.load(path) as archive:
        return dict(archive)


def loaded(graph, path):
    """The graph in a file, or None if it is refused."""
    try:
        return type(graph).load(path)
    except InputError:
        return None


def test_a_file_holds_the_graph(graph, tmp_path):
    graph.save(tmp_path / "graph.npz")
    again = type(graph).load(str(tmp_path / "graph.npz"))
    assert again == graph
    assert not any(array.flags.writeable for array in arrays_of(again))
    assert os.listdir(tmp_path) == ["graph.npz"]


def test_existing_file_is_refused_unless_overwrite(graph, tmp_path):
    path = tmp_path / "graph.npz"
    path.write_text("other")
    with pytest.raises(FileExistsError, match=r"graph\.npz already exists.*overwrite=True"):
        graph.save(path)
    assert path.read_text() == "other"
    assert os.listdir(tmp_path) == ["graph.npz"]
    graph.save(path, overwrite=True)
    assert type(graph).load(path) == graph
    assert os.listdir(tmp_path) == ["graph.npz"]


def test_what_is_no_path(graph):
    for use in (type(graph).load, graph.save):
        with pytest.raises(InputError, match="path must be a path, got 3") as caught:
            use(3)
        assert caught.value.parameter == "path"


def test_missing_file_and_folder(graph, tmp_path):
    message = rf"absent\.npz must be a {kind_of(graph)} file, got no such file"
    with pytest.raises(InputError, match=message) as caught:
        type(graph).load(tmp_path / "absent.npz")
    assert caught.value.parameter == "path"
    with pytest.raises(InputError, match=f"must be a {kind_of(graph)} file, got a folder"):
        type(graph).load(str(tmp_path))


def test_saving_where_no_file_can_be_names_the_file(graph, tmp_path):
    path = tmp_path / "absent" / "graph.npz"
    with pytest.raises(FileNotFoundError) as caught:
        graph.save(path)
    assert str(caught.value) == f"[Errno 2] No such file or directory: {str(path)!r}"
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder") as caught:
        graph.save(tmp_path / "folder", overwrite=True)
    assert ".tmp" not in str(caught.value)
    assert os.listdir(tmp_path) == ["folder"]


@pytest.mark.parametrize("name", GRAPHS)
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_truncated_file(name, data, tmp_path_factory):
    graph, path = GRAPHS[name], tmp_path_factory.mktemp("cut") / "cut.npz"
    graph.save(path)
    content = path.read_bytes()
    path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
    with pytest.raises(InputError, match=rf"cut\.npz must be a {kind_of(graph)} file"):
        type(graph).load(path)


@pytest.mark.parametrize("name", GRAPHS)
@SETTINGS
@given(data=st.data())
def test_changed_byte_is_noticed_or_harmless(name, data, tmp_path_factory):
    graph, path = GRAPHS[name], tmp_path_factory.mktemp("flip") / "flip.npz"
    graph.save(path)
    content = bytearray(path.read_bytes())
    content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    again = loaded(graph, path)
    assert again is None or again == graph


def test_damage_that_numpy_would_not_notice(tmp_path):
    path = tmp_path / "damaged.npz"
    GRAPHS["hypergraph"].save(path)
    path.write_bytes(path.read_bytes().replace(b"'<f8'", b"'<f4'", 1))
    with pytest.raises(InputError, match=r"damaged\.npz must be.*: got a damaged incidence"):
        Hypergraph.load(path)


def test_npz_of_another_kind(graph, tmp_path):
    np.savez(tmp_path / "another.npz", data=np.ones(3))
    np.savez(tmp_path / "other.npz", format="other.Thing", version=1)
    for name in ("another", "other"):
        with pytest.raises(InputError, match=rf"{name}\.npz must be.*without the mark"):
            type(graph).load(tmp_path / f"{name}.npz")


def test_graph_file_is_no_hypergraph_file(tmp_path):
    GRAPHS["dense graph"].save(tmp_path / "graph.npz")
    with pytest.raises(InputError, match=r"without the mark 'enhg\.Hypergraph'"):
        Hypergraph.load(tmp_path / "graph.npz")


def test_single_array_and_text(graph, tmp_path):
    np.save(tmp_path / "array.npy", np.ones(3))
    (tmp_path / "text.npz").write_text("hypergraph")
    for name in ("array.npy", "text.npz"):
        with pytest.raises(InputError, match=f"{name} must be a {kind_of(graph)} file"):
            type(graph).load(tmp_path / name)


@pytest.mark.parametrize(
    "name", ["format", "version", "header", "incidence.shape", "incidence.data", "weights"]
)
def test_pickled_object_is_not_executed(tmp_path, name):
    arrays = stored_arrays(GRAPHS["hypergraph"], tmp_path)
    assert name in arrays
    arrays[name] = np.array([Payload(tmp_path / "executed")], dtype=object)
    np.savez(tmp_path / "pickle.npz", **arrays)
    with pytest.raises(InputError, match=r"pickle\.npz must be.*objects, which are never loaded"):
        Hypergraph.load(tmp_path / "pickle.npz")
    assert not (tmp_path / "executed").exists()


def test_newer_version(graph, tmp_path):
    newer = {"format": f"enhg.{kind_of(graph)}", "version": 2, "laid_out": "otherwise"}
    np.savez(tmp_path / "newer.npz", **newer)
    with pytest.raises(InputError, match=r"newer\.npz must be.*version 2 and .* version 1"):
        type(graph).load(tmp_path / "newer.npz")


STORED = {
    "hypergraph": ["incidence.shape", "incidence.data", "incidence.indices", "incidence.indptr",
                   "weights", "version", "header"],
    "sparse graph": ["adjacency.shape", "adjacency.data", "adjacency.indices", "adjacency.indptr"],
    "dense graph": ["adjacency"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in STORED for name in STORED[kind]]
)
def test_missing_array(tmp_path, kind, name):
    arrays = stored_arrays(GRAPHS[kind], tmp_path)
    del arrays[name]
    np.savez(tmp_path / "partial.npz", **arrays)
    with pytest.raises(InputError, match=rf"partial\.npz must be.*{name}"):
        type(GRAPHS[kind]).load(tmp_path / "partial.npz")


@pytest.mark.parametrize(
    ("kind", "name", "value"),
    [
        ("hypergraph", "incidence.indices", [0, 0, 1, 99, 2]),
        ("hypergraph", "incidence.indices", [0, 0, 1, -1, 2]),
        ("hypergraph", "incidence.indptr", [0, 5, 1, 4, 5]),
        ("hypergraph", "incidence.shape", [4, 2]),
        ("hypergraph", "incidence.shape", [4000, 3]),
        ("hypergraph", "incidence.data", [1, 1, 1, np.nan, 1]),
        ("hypergraph", "weights", [1, 1]),
        ("hypergraph", "weights", [1, 1, 0]),
        ("dense graph", "adjacency", [[0, 1], [2, 0]]),
        ("dense graph", "adjacency", [1, 2]),
        ("dense graph", "adjacency", [["a"]]),
        ("sparse graph", "adjacency.shape", [3, 4]),
        ("sparse graph", "adjacency.data", [1, 2, 3, 4, 5]),
        ("sparse graph", "adjacency.indptr", [0, 1, 3]),
    ],
)
def test_inconsistent_arrays(tmp_path, kind, name, value):
    arrays = stored_arrays(GRAPHS[kind], tmp_path)
    assert name in arrays
    np.savez(tmp_path / "inconsistent.npz", **(arrays | {name: np.array(value)}))
    with pytest.raises(InputError, match=r"inconsistent\.npz must be a \w+ file"):
        type(GRAPHS[kind]).load(tmp_path / "inconsistent.npz")
