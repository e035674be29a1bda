"""Samples from array files."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from array_writers import WRITERS, write_h5

from enhg.io import read_samples

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(6, 4))
PIXELS = RNG.integers(0, 256, size=(6, 5, 3), dtype=np.uint8)
TRUTH = np.array([1, 1, 2, 2, 3, 3])


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("uint8", "uint8"),
        ("float32", "float32"),
        (">f4", "float32"),
        ("float16", "float32"),
        ("bool", "uint8"),
        ("float64", "float64"),
        (">f8", "float64"),
        ("int16", "float64"),
        ("uint16", "float64"),
        ("int64", "float64"),
    ],
)
def test_npy_types(tmp_path, given, kept):
    array = RNG.integers(0, 2, size=(5, 3)).astype(given)
    np.save(tmp_path / "a.npy", array)
    samples = read_samples(str(tmp_path / "a.npy"))
    assert samples.X.dtype == np.dtype(kept)
    assert samples.X.dtype.isnative
    np.testing.assert_array_equal(samples.X, array.astype(float))
    assert samples.names == ["0", "1", "2", "3", "4"]
    assert samples.image_shape is None
    assert samples.labels is None


@pytest.mark.parametrize(
    ("shape", "image_shape"),
    [((6, 16), None), ((6, 5, 3), (5, 3)), ((6, 5, 3, 3), (5, 3, 3)), ((6, 5, 3, 1), (5, 3))],
)
@pytest.mark.parametrize("order", ["C", "F"])
def test_npy_shapes(tmp_path, shape, image_shape, order):
    array = RNG.normal(size=shape)
    np.save(tmp_path / "a.npy", np.asarray(array, order=order))
    samples = read_samples(tmp_path / "a.npy")
    np.testing.assert_array_equal(samples.X, array.reshape(6, -1))
    assert samples.X.flags.c_contiguous
    assert samples.image_shape == image_shape


@pytest.mark.parametrize(
    ("array", "part"),
    [
        (np.zeros(5), "got 1 dimension"),
        (np.float64(3), "got 0 dimensions"),
        (np.zeros((2, 2, 2, 2, 2)), "got 5 dimensions"),
        (np.zeros((0, 5)), "at least one sample and one feature, got 0×5"),
        (np.zeros((5, 0)), "at least one sample and one feature, got 5×0"),
        (np.zeros((2, 2), complex), "complex128"),
        (np.array([["a", "b"]]), "<U1"),
        (np.zeros(3, dtype=[("a", int)]), "must hold real numbers, got"),
    ],
)
def test_npy_that_is_no_samples(tmp_path, array, part, refuses):
    np.save(tmp_path / "a.npy", array)
    refuses(lambda: read_samples(tmp_path / "a.npy"), str(tmp_path / "a.npy"), part)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_must_be_finite(tmp_path, value, dtype, refuses):
    array = TABLE.astype(dtype)
    array[4, 1] = array[2, 3] = value
    np.save(tmp_path / "a.npy", array)
    refuses(lambda: read_samples(tmp_path / "a.npy"), "a.npy", "2 of 24 values", "first in row 2")


def test_large_finite_values_pass(tmp_path):
    np.save(tmp_path / "a.npy", np.full((3, 3), 1e308))
    assert read_samples(tmp_path / "a.npy").X.max() == 1e308


@pytest.fixture(params=WRITERS)
def container(request, tmp_path):
    """A function that writes arrays into a file of each format and returns its path."""

    def write(**arrays):
        path = tmp_path / f"data.{request.param}"
        WRITERS[request.param](path, arrays)
        return path

    return write


@pytest.mark.parametrize("name", ["X", "x", "data", "fea", "features", "images", "embeddings"])
def test_well_known_names(container, name):
    path = container(**{name: TABLE, "other": np.ones((9, 9)), "gnd": TRUTH})
    samples = read_samples(path)
    np.testing.assert_array_equal(samples.X, TABLE)
    np.testing.assert_array_equal(samples.labels, TRUTH)
    assert samples.labels.dtype == np.int64
    assert samples.names == [str(i) for i in range(6)]
    assert samples.source == path


@pytest.mark.parametrize("name", ["y", "Y", "labels", "Label", "label", "gnd", "target", "targets"])
def test_label_names(container, name):
    np.testing.assert_array_equal(
        read_samples(container(**{"X": TABLE, name: TRUTH.astype(float)})).labels, TRUTH
    )


def test_labels_that_are_missing(container):
    truth = np.array([1.0, 2.0, np.nan, 1.0, 2.0, np.nan])
    assert read_samples(container(X=TABLE, y=truth)).labels.tolist() == ["1", "2", "", "1", "2", ""]


def test_labels_of_another_length_are_not_the_truth(container):
    samples = read_samples(container(X=TABLE, y=np.arange(5), target=TRUTH))
    np.testing.assert_array_equal(samples.labels, TRUTH)
    with pytest.warns(UserWarning, match="not read as labels"):
        assert read_samples(container(X=TABLE, y=np.arange(5))).labels is None


def test_the_only_table_holds_the_samples(container):
    samples = read_samples(container(faces=TABLE, sigma=np.ones((1, 1)), gnd=TRUTH))
    np.testing.assert_array_equal(samples.X, TABLE)


def test_key(container, refuses):
    path = container(a=TABLE, b=2 * TABLE, y=TRUTH)
    message = refuses(lambda: read_samples(path), str(path), parameter="key")
    assert "a (6×4 " in message
    assert "b (6×4 " in message
    samples = read_samples(path, key="b")
    np.testing.assert_array_equal(samples.X, 2 * TABLE)
    np.testing.assert_array_equal(samples.labels, TRUTH)
    refuses(lambda: read_samples(path, key="c"), "got 'c'", "a (6×4", parameter="key")


def test_columns_as_samples(container):
    samples = read_samples(container(features=TABLE.T, Label=TRUTH[None]))
    np.testing.assert_array_equal(samples.X, TABLE)
    np.testing.assert_array_equal(samples.labels, TRUTH)
    assert samples.X.flags.c_contiguous


def test_a_square_table_keeps_its_rows(container):
    samples = read_samples(container(X=TABLE[:4], y=TRUTH[:4]))
    np.testing.assert_array_equal(samples.X, TABLE[:4])


def test_images_along_the_last_axis(tmp_path):
    path = tmp_path / "svhn.mat"
    scipy.io.savemat(path, {"X": np.moveaxis(PIXELS, 0, -1), "y": TRUTH[:, None]})
    samples = read_samples(path)
    np.testing.assert_array_equal(samples.X, PIXELS.reshape(6, -1))
    assert samples.image_shape == (5, 3)
    assert samples.X.dtype == np.uint8


def test_three_dimensions_in_a_container(tmp_path):
    np.savez(tmp_path / "a.npz", images=PIXELS)
    assert read_samples(tmp_path / "a.npz").image_shape == (5, 3)


def test_text_labels(tmp_path):
    np.savez(tmp_path / "a.npz", X=TABLE, y=np.array(list("aabbcc")))
    assert read_samples(tmp_path / "a.npz").labels.tolist() == list("aabbcc")


WORDS = ["ant", "bée", "ant", "猫", "", "bée"]


@pytest.mark.parametrize(
    "words",
    [
        WORDS,
        [word.encode() for word in WORDS],
        np.array([[word.encode()] for word in WORDS]),
        np.array([WORDS], dtype=h5py.string_dtype()),
    ],
    ids=["any length", "bytes of any length", "column of bytes", "row"],
)
def test_text_labels_of_hdf5(tmp_path, words):
    write_h5(tmp_path / "a.h5", {"X": TABLE, "y": words, "names": WORDS})
    samples = read_samples(tmp_path / "a.h5")
    assert samples.labels.tolist() == WORDS
    assert samples.names == WORDS


def test_text_labels_of_bytes(tmp_path):
    words = np.array([word.encode() for word in WORDS])
    np.savez(tmp_path / "a.npz", X=TABLE, y=words, names=words)
    samples = read_samples(tmp_path / "a.npz")
    assert samples.labels.tolist() == WORDS
    assert samples.names == WORDS


def test_text_that_is_not_utf_8(tmp_path):
    words = np.array([b"q\xe9", b"b"] * 3)
    np.savez(tmp_path / "a.npz", X=TABLE, names=words, y=words)
    write_h5(tmp_path / "a.h5", {"X": TABLE, "names": words, "y": words.tolist()})
    for suffix in ("npz", "h5"):
        samples = read_samples(tmp_path / f"a.{suffix}")
        assert samples.names == samples.labels.tolist() == ["q\udce9", "b"] * 3


def test_text_for_columns_is_no_label(tmp_path):
    write_h5(tmp_path / "a.h5", {"X": TABLE, "labels": ["height", "width", "depth", "area"]})
    with pytest.warns(UserWarning, match="not read as labels"):
        samples = read_samples(tmp_path / "a.h5")
    np.testing.assert_array_equal(samples.X, TABLE)


@pytest.mark.parametrize("labels", [np.eye(6), list("abc"), np.arange(5) * 1j])
def test_labels_that_are_not_read_are_named(tmp_path, labels):
    write_h5(tmp_path / "a.h5", {"X": TABLE, "y": labels, "targets": np.arange(4.5)})
    with pytest.warns(UserWarning, match=r"read as labels: y \(.*\), targets \(5 float64\)"):
        assert read_samples(tmp_path / "a.h5").labels is None


def test_groups_are_joined_train_first(tmp_path):
    arrays = {}
    for i, group in enumerate(["extra", "test", "train"]):
        arrays[f"{group}/data"] = np.full((2, 3), i, dtype=np.float32)
        arrays[f"{group}/target"] = [i, i]
    write_h5(tmp_path / "a.h5", arrays)
    samples = read_samples(tmp_path / "a.h5")
    assert samples.X[:, 0].tolist() == [2, 2, 0, 0, 1, 1]
    assert samples.labels.tolist() == [2, 2, 0, 0, 1, 1]
    assert samples.names == list("012345")
    assert samples.X.dtype == np.float32
    for key in ("test/data", "/test/data"):
        one = read_samples(tmp_path / "a.h5", key=key)
        assert one.X.tolist() == [[1, 1, 1], [1, 1, 1]]
        assert one.labels.tolist() == [1, 1]


def test_groups_that_differ_are_not_joined(tmp_path, refuses):
    write_h5(tmp_path / "a.h5", {"train/data": TABLE, "test/data": TABLE[:, :3]})
    refuses(
        lambda: read_samples(tmp_path / "a.h5"),
        "6×4",
        "6×3",
        "for example 'train/data'",
        parameter="key",
    )
    write_h5(tmp_path / "b.h5", {"train/data": TABLE, "train/y": TRUTH, "test/data": TABLE})
    refuses(lambda: read_samples(tmp_path / "b.h5"), "train/data", parameter="key")


def test_the_top_level_goes_before_groups(tmp_path):
    write_h5(tmp_path / "a.h5", {"X": TABLE, "model/weights": np.ones((3, 3))})
    np.testing.assert_array_equal(read_samples(tmp_path / "a.h5").X, TABLE)


def test_links_to_other_files_are_not_followed(tmp_path, refuses):
    write_h5(tmp_path / "secret.h5", {"data": TABLE})
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["other"] = h5py.ExternalLink("secret.h5", "/data")
    message = "a.h5: array other must hold real numbers, got a link to another file"
    refuses(lambda: read_samples(tmp_path / "a.h5"), message, "never followed")
    refuses(lambda: read_samples(tmp_path / "a.h5", key="other"), message)


def test_containers_without_samples(tmp_path, refuses):
    scipy.io.savemat(tmp_path / "a.mat", {"s": {"f": 1}, "c": np.array([[1, "a"]], dtype=object)})
    refuses(lambda: read_samples(tmp_path / "a.mat"), "s (1×1 struct)", "c (1×2 cell)")
    refuses(lambda: read_samples(tmp_path / "a.mat", key="c"), "objects (cell)")
    scipy.io.savemat(tmp_path / "b.mat", {"X": TABLE + 1j})
    refuses(lambda: read_samples(tmp_path / "b.mat"), "complex")
    scipy.io.savemat(tmp_path / "c.mat", {})
    refuses(lambda: read_samples(tmp_path / "c.mat"), "no arrays")
    with h5py.File(tmp_path / "d.h5", "w") as file:
        file["words"] = ["a", "b"]
        file["nothing"] = h5py.Empty("f")
    refuses(lambda: read_samples(tmp_path / "d.h5"), "words (2 text)", "nothing")
    np.savez(tmp_path / "e.npz", X=np.zeros((0, 3)), y=[])
    refuses(lambda: read_samples(tmp_path / "e.npz"), "array X", "at least one sample")
    np.savez(tmp_path / "f.npz", X=np.zeros(3), y=np.zeros(3))
    refuses(lambda: read_samples(tmp_path / "f.npz"), "X (3 float64)")
    refuses(
        lambda: read_samples(tmp_path / "f.npz", key="X"),
        "array X must be samples × features",
        "got 1 dimension",
    )


def test_key_where_there_is_nothing_to_choose(tmp_path, refuses):
    np.save(tmp_path / "a.npy", TABLE)
    refuses(lambda: read_samples(tmp_path / "a.npy", key="X"), "got 'X'", parameter="key")
    refuses(lambda: read_samples(tmp_path, key="X"), "got 'X'", parameter="key")
    refuses(lambda: read_samples(tmp_path / "a.npy", size=(3, 3)), "got 3×3", parameter="size")
    refuses(lambda: read_samples(tmp_path, size=(0, 3)), "got 0×3", parameter="size")


@pytest.mark.parametrize("kind", ["csr", "coo", "dia", "bsr"])
def test_sparse_matrices_of_scipy(tmp_path, kind, refuses):
    scipy.sparse.save_npz(tmp_path / "a.npz", scipy.sparse.csr_array(TABLE).asformat(kind))
    refuses(
        lambda: read_samples(tmp_path / "a.npz"), "a sparse matrix of SciPy; save its toarray()"
    )
