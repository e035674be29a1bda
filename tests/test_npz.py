"""Archives of nested states, and the checks of states that were read."""

import json
import os

import numpy as np
import pytest
from scipy import sparse

from enhg import _npz
from enhg._npz import (
    read_archive,
    require,
    require_array,
    require_indices,
    require_parameters,
    require_sparse,
    require_state,
    require_value,
    saved_parameters,
    write_archive,
)
from enhg.exceptions import InputError
from enhg.hypergraph import Hypergraph
from enhg.learning.clustering import HypergraphClustering

STATE = {
    "number": 3,
    "float": 0.1,
    "word": "é",
    "nothing": None,
    "flag": True,
    "list": [1, "two", None, [3.5]],
    "array": np.arange(6.0).reshape(2, 3),
    "words": np.array(["a", "bc"]),
    "empty": {},
    "inner": {
        "matrix": sparse.csr_array([[0, 1.5], [2, 0]]),
        "flags": np.array([True, False]),
        "deep": {"bytes": np.arange(3, dtype=np.uint8), "x": -1},
    },
}


def written(path, state=STATE, **options):
    write_archive(path, "test.Thing", 1, state, **({"overwrite": False} | options))
    return path


def read(path):
    with open(path, "rb") as stream:
        return read_archive(stream, "test.Thing", 1)


def same(one, other):
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if sparse.issparse(one):
        return sparse.issparse(other) and one.shape == other.shape and not (one != other).nnz
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return type(one) is type(other) and one == other


def rewritten(path, **changes):
    """The same archive with some members replaced, or left out where None."""
    with np.load(path) as archive:
        arrays = dict(archive) | changes
    np.savez(path, **{name: array for name, array in arrays.items() if array is not None})
    return path


def test_what_is_read_is_what_was_written(tmp_path):
    assert same(STATE, read(written(tmp_path / "a.npz")))


def test_numpy_scalars_and_tuples_become_json(tmp_path):
    state = {"a": np.float32(0.5), "b": np.int64(3), "c": np.True_, "d": (1, np.int8(2))}
    expected = {"a": 0.5, "b": 3, "c": True, "d": [1, 2]}
    assert same(expected, read(written(tmp_path / "a.npz", state)))


@pytest.mark.parametrize("matrix", [sparse.csc_array([[1, 0]]), sparse.coo_matrix([[1, 0]])])
def test_any_sparse_format_is_written_as_csr(tmp_path, matrix):
    again = read(written(tmp_path / "a.npz", {"m": matrix}))["m"]
    assert isinstance(again, sparse.csr_array)
    np.testing.assert_array_equal(again.toarray(), matrix.toarray())


@pytest.mark.parametrize(
    "state",
    [
        {"x": np.array([{}], dtype=object)},
        {"x": object()},
        {"x": [1, {}]},
        {"x": {"y": np.array([None])}},
        {"x": 1j},
    ],
)
def test_what_cannot_be_saved(tmp_path, state):
    with pytest.raises(InputError, match=r"x(\.y)? must .* to be saved, got"):
        written(tmp_path / "a.npz", state)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_json_does_not_have(tmp_path, value):
    with pytest.raises(ValueError, match="JSON"):
        written(tmp_path / "a.npz", {"x": value})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("key", ["format", "version", "header", "a.b"])
def test_reserved_keys(tmp_path, key):
    with pytest.raises(ValueError, match="unreserved name, got"):
        written(tmp_path / "a.npz", {key: np.ones(1)})


def test_existing_file_is_refused_unless_overwrite(tmp_path):
    path = written(tmp_path / "a.npz", {"x": 1})
    with pytest.raises(FileExistsError, match=r"a\.npz already exists.*overwrite=True"):
        written(path, {"x": 2})
    assert read(path) == {"x": 1}
    assert read(written(str(path), {"x": 2}, overwrite=True)) == {"x": 2}
    assert os.listdir(tmp_path) == ["a.npz"]


def test_file_has_the_given_name_and_the_usual_permissions(tmp_path):
    (tmp_path / "plain").touch()
    written(tmp_path / "no_suffix")
    assert sorted(os.listdir(tmp_path)) == ["no_suffix", "plain"]
    assert (tmp_path / "no_suffix").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch, error):
    path = written(tmp_path / "a.npz", {"x": 1})

    def fail_half_way(stream, *_, **options):
        stream.write(b"half")
        raise error

    monkeypatch.setattr(np.lib.format, "write_array", fail_half_way)
    with pytest.raises(type(error)):
        written(path, {"x": 2}, overwrite=True)
    assert os.listdir(tmp_path) == ["a.npz"]
    assert read(path) == {"x": 1}


def test_failed_replace_leaves_nothing(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        written(tmp_path / "folder", overwrite=True)
    assert os.listdir(tmp_path) == ["folder"]


def test_compressed_archives_are_refused(tmp_path):
    """A compressed member can be of any size in memory."""
    path = written(tmp_path / "a.npz")
    with np.load(path) as archive:
        np.savez_compressed(path, **dict(archive))
    with pytest.raises(InputError, match="compressed"):
        read(path)


def test_pickles_are_refused(tmp_path):
    path = rewritten(written(tmp_path / "a.npz"), array=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="objects, which are never loaded"):
        read(path)


def test_damaged_member(tmp_path):
    path = written(tmp_path / "a.npz")
    path.write_bytes(path.read_bytes().replace(b"'<f8'", b"'<f4'", 1))
    with pytest.raises(InputError, match="damaged"):
        read(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": "test.Other"}, "without the mark 'test.Thing'"),
        ({"format": None}, "without the mark 'test.Thing'"),
        ({"version": 2}, "version 2 and this enhg reads version 1"),
        ({"header": np.array("[]")}, "its header does not fit"),
        ({"header": np.array('{"values": 3}')}, "its header does not fit"),
        ({"header": np.array('{"values": {"x": NaN}}')}, "finite numbers, got NaN"),
        ({"inner.matrix.data": None}, r"inner\.matrix\.data is missing"),
        ({"inner.matrix.indices": np.array([0, 9])}, "indices"),
        ({"number": np.ones(2)}, "its number does not fit"),
        ({"number.x": np.ones(2)}, "its number does not fit"),
        ({"absent.x": np.ones(2)}, "absent is missing"),
    ],
)
def test_archives_that_do_not_fit(tmp_path, changes, message):
    path = rewritten(written(tmp_path / "a.npz"), **changes)
    with pytest.raises(ValueError, match=message):
        read(path)


def test_the_header_is_json(tmp_path):
    with np.load(written(tmp_path / "a.npz")) as archive:
        header = json.loads(str(archive["header"]))
    assert header["values"]["inner"] == {"deep": {"x": -1}}
    assert header["sparse"] == ["inner.matrix"]


# --- checks of states -----------------------------------------------------------------------------


def test_require():
    assert require(True, "x") is None
    with pytest.raises(InputError, match="its x does not fit the rest of it"):
        require(False, "x")


def test_require_value():
    state = {"a": 1, "b": True, "c": "word"}
    assert require_value(state, "a", int) == 1
    assert require_value(state, "b", bool) is True
    assert require_value(state, "b") is True
    assert require_value(state, "c", (int, str)) == "word"
    for name, kind in (("a", str), ("b", int), ("b", (int, float)), ("c", float)):
        with pytest.raises(InputError, match=f"its {name} does not fit"):
            require_value(state, name, kind)
    with pytest.raises(InputError, match="d is missing"):
        require_value(state, "d")


def test_require_state():
    assert require_state({"a": {"x": 1}}, "a") == {"x": 1}
    for state in ({"a": 3}, {"a": np.ones(2)}, {"a": None}):
        with pytest.raises(InputError, match="its a does not fit"):
            require_state(state, "a")


@pytest.mark.parametrize(
    ("array", "shape", "options"),
    [
        (np.ones((2, 3)), (2, 3), {}),
        (np.ones((2, 3), int), (None, 3), {}),
        (np.zeros(0), (0,), {}),
        (np.array([np.inf]), (1,), {"finite": False}),
        (np.array(["a"]), (1,), {"kinds": "U"}),
    ],
)
def test_require_array(array, shape, options):
    assert require_array({"x": array}, "x", shape, **options) is array


@pytest.mark.parametrize(
    ("array", "shape", "options"),
    [
        (np.ones((2, 3)), (3, 2), {}),
        (np.ones((2, 3)), (2,), {}),
        (np.ones(2), (None, None), {}),
        (np.array([np.nan]), (1,), {}),
        (np.array([np.inf]), (1,), {}),
        (np.array(["a"]), (1,), {}),
        (np.array([1j]), (1,), {}),
        (np.array([1.0]), (1,), {"kinds": "iu"}),
        ([1.0], (1,), {}),
        (sparse.csr_array([[1.0]]), (1, 1), {}),
    ],
)
def test_require_array_refuses(array, shape, options):
    with pytest.raises(InputError, match="its x does not fit"):
        require_array({"x": array}, "x", shape, **options)


def test_require_indices():
    for good in (np.array([0, 2, 1]), np.array([], dtype=int), np.array([2], dtype=np.uint8)):
        assert require_indices({"x": good}, "x", 3) is good
    for bad in (np.array([3]), np.array([-1]), np.array([1.0]), np.array([[1]]), np.array([True])):
        with pytest.raises(InputError, match="its x does not fit"):
            require_indices({"x": bad}, "x", 3)


def test_require_sparse():
    good = sparse.csr_array([[1.0, 0]])
    assert require_sparse({"x": good}, "x", (1, 2)) is good
    assert require_sparse({"x": good}, "x", (None, 2)) is good
    for bad in (good * 1j, good * np.nan, np.ones((1, 2)), good.T.tocsr(), None):
        with pytest.raises(InputError, match="its x does not fit"):
            require_sparse({"x": bad}, "x", (1, 2))


def test_parameters_of_the_machine_are_not_saved():
    model = HypergraphClustering(np.int64(4), random_state=3, verbose=True, n_init=7)
    assert saved_parameters(model) == {
        "n_clusters": 4,
        "method": "auto",
        "normalize_rows": True,
        "n_init": 7,
    }
    with pytest.raises(InputError, match="n_init must be a number or a word to be saved"):
        saved_parameters(model.set_params(n_init={}))


@pytest.mark.parametrize("name", ["evil", *_npz._NOT_SAVED])
def test_parameters_that_are_not_known(name):
    assert require_parameters({"parameters": {"n_init": 1}}, ["n_init", name]) == {"n_init": 1}
    with pytest.raises(InputError, match=f"its parameter {name} does not fit"):
        require_parameters({"parameters": {name: 1}}, ["n_init", *_npz._NOT_SAVED])


def test_row_pointers_that_rise_and_end_with_zero(tmp_path):
    """SciPy's own check passes over them, and then reads outside of its arrays."""
    for pointers in ([0, 2, 0], [0, 2**62, 0], [0, -1, 0]):
        path = written(tmp_path / "a.npz", overwrite=True)
        rewritten(path, **{"inner.matrix.indptr": np.array(pointers)})
        with pytest.raises(ValueError, match="non-decreasing"):
            read(path)
        matrix = sparse.csr_array((2, 2))
        matrix.indptr = np.array(pointers)
        with pytest.raises(InputError, match="non-decreasing"):
            Hypergraph(matrix)
