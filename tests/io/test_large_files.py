"""Samples from files of many samples: memory-mapped .npy, Parquet and Zarr."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr

from enhg._validation import check_samples
from enhg.io import read_samples

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(6, 4))
TRUTH = np.array([1, 1, 2, 2, 3, 3])
LISTS = pa.array(TABLE.tolist(), pa.list_(pa.float64()))


class Bomb:
    """Unpickling this makes a folder: the proof that a payload ran."""

    def __init__(self, witness):
        self.witness = witness

    def __reduce__(self):
        return (os.mkdir, (str(self.witness),))


def write_parquet(path, columns, **options):
    pq.write_table(pa.table(columns), path, **options)
    return path


def write_zarr(path, arrays, **options):
    group = zarr.open_group(path, mode="w")
    for name, array in arrays.items():
        group.create_array(name, data=np.asarray(array), **options)
    return path


# --- .npy -----------------------------------------------------------------------------------------


def is_mapped(array):
    while isinstance(array.base, np.ndarray):
        array = array.base
    return isinstance(array, np.memmap)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(6, 4), (6, 2, 2)])
def test_npy_stays_a_memory_map(tmp_path, dtype, shape):
    np.save(tmp_path / "a.npy", TABLE.astype(dtype).reshape(shape))
    X = read_samples(tmp_path / "a.npy").X
    assert is_mapped(X)
    assert not X.flags.writeable
    assert np.shares_memory(check_samples(X), X)
    np.testing.assert_array_equal(X, TABLE.astype(dtype))


@pytest.mark.parametrize("dtype", ["int64", "uint16", ">f4", "f2", "bool"])
def test_npy_is_converted_in_blocks(tmp_path, monkeypatch, dtype):
    monkeypatch.setattr("enhg.io._base._BLOCK_BYTES", 100)
    array = RNG.integers(0, 2, size=(50, 3, 2)).astype(dtype)
    np.save(tmp_path / "a.npy", array)
    X = read_samples(tmp_path / "a.npy").X
    assert not is_mapped(X)
    np.testing.assert_array_equal(X, array.reshape(50, -1).astype(float))


def test_values_are_checked_in_blocks(tmp_path, monkeypatch, refuses):
    monkeypatch.setattr("enhg.io._base._BLOCK_BYTES", 100)
    array = RNG.normal(size=(50, 3))
    array[[17, 17, 40], [0, 2, 1]] = np.nan, np.inf, np.nan
    np.save(tmp_path / "a.npy", array)
    refuses(lambda: read_samples(tmp_path / "a.npy"), "3 of 150 values", "first in row 17")


# --- Parquet --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "uint8", "int32"])
@pytest.mark.parametrize("make", [pa.list_, pa.large_list, lambda kind: pa.list_(kind, 3)])
def test_parquet_lists_equal_npy(tmp_path, dtype, make, monkeypatch):
    monkeypatch.setattr("enhg.io._base._BLOCK_BYTES", 100)  # several batches, several row groups
    array = RNG.integers(0, 9, size=(50, 3)).astype(dtype)
    kind = pa.from_numpy_dtype(dtype)
    column = pa.array(list(array), pa.list_(kind)).cast(make(kind))
    write_parquet(tmp_path / "a.parquet", {"embedding": column}, row_group_size=20)
    np.save(tmp_path / "a.npy", array)
    samples, same = (read_samples(tmp_path / name) for name in ("a.parquet", "a.npy"))
    np.testing.assert_array_equal(samples.X, same.X)
    assert samples.X.dtype == same.X.dtype
    assert samples.names == same.names
    assert samples.labels is None


def test_parquet_columns_of_features(tmp_path):
    columns = {"name": list("abcdef"), "f": TABLE[:, 0], "g": TABLE[:, 1], "class": TRUTH}
    samples = read_samples(write_parquet(tmp_path / "a.parquet", columns))
    np.testing.assert_array_equal(samples.X, TABLE[:, :2])
    assert samples.names == list("abcdef")
    np.testing.assert_array_equal(samples.labels, TRUTH)
    mixed = {"f": TABLE[:, 0].astype(np.float32), "g": TRUTH.astype(np.uint8)}
    samples = read_samples(write_parquet(tmp_path / "a.parquet", mixed))
    assert samples.X.dtype == np.float32
    np.testing.assert_array_equal(samples.X[:, 1], TRUTH)


@pytest.mark.parametrize("head", ["name", "path", "file", "filename", "Name", "__index_level_0__"])
def test_parquet_names(tmp_path, head):
    columns = {"width": TRUTH, "embedding": LISTS, "caption": ["?"] * 6, head: list("abcdef")}
    samples = read_samples(write_parquet(tmp_path / "a.parquet", columns))
    assert samples.names == list("abcdef")
    np.testing.assert_array_equal(samples.X, TABLE)


def test_parquet_whole_numbers_as_names(tmp_path):
    columns = {"id": TRUTH + 5, "f": TABLE[:, 0], "y": TRUTH}
    samples = read_samples(write_parquet(tmp_path / "a.parquet", columns))
    assert samples.names == ["6", "6", "7", "7", "8", "8"]
    assert samples.X.shape == (6, 1)
    columns = {"f": TABLE[:, 0], "id": TRUTH}
    assert read_samples(write_parquet(tmp_path / "a.parquet", columns)).X.shape == (6, 2)


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        ([0, 1, 1], [0, 1, 1]),
        ([0.0, 1.0, 1.0], [0, 1, 1]),
        (["a", "b", "b"], ["a", "b", "b"]),
        (pa.array(["a", "b", "b"]).dictionary_encode(), ["a", "b", "b"]),
        (["a", None, "b"], ["a", "", "b"]),
        ([True, False, True], ["True", "False", "True"]),
        ([1.0, None, 2.0], ["1", "", "2"]),
        ([1.0, float("nan"), 2.0], ["1", "", "2"]),
        ([1, None, 2], ["1", "", "2"]),
        ([2**60, 2**60 + 1, 1], [2**60, 2**60 + 1, 1]),
        ([2**60, 2**60 + 1, None], [str(2**60), str(2**60 + 1), ""]),
        (pa.array([2**64 - 1, 1, 2], pa.uint64()), [2**64 - 1, 1, 2]),
        (pa.nulls(3), ["", "", ""]),
    ],
)
def test_parquet_labels(tmp_path, cells, labels):
    path = write_parquet(tmp_path / "a.parquet", {"embedding": LISTS[:3], "label": cells})
    assert read_samples(path).labels.tolist() == labels


@pytest.mark.parametrize("encoding", ["PLAIN", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_parquet_encodings_of_text(tmp_path, monkeypatch, encoding, version):
    monkeypatch.setattr("enhg.io.parquet._TEXT_BYTES", 1000)  # several batches
    names = [f"name {i}" for i in range(500)]
    labels = [None if i % 7 == 0 else "ab"[i % 2] for i in range(500)]
    path = write_parquet(
        tmp_path / "a.parquet", {"f": np.arange(500.0), "name": names, "label": labels},
        use_dictionary=False, column_encoding={"name": encoding, "label": encoding},
        data_page_version=version, data_page_size=300, write_batch_size=10, row_group_size=200,
    )  # fmt: skip
    samples = read_samples(path)
    assert samples.names == names
    assert samples.labels.tolist() == [label or "" for label in labels]


@pytest.mark.parametrize("make", [pa.list_, lambda kind: pa.list_(kind, 50), None])
def test_parquet_memory_is_that_of_the_type(tmp_path, monkeypatch, make, refuses):
    """Small integers are stored as larger ones."""
    array = RNG.integers(0, 256, (20_000, 50)).astype(np.uint8)
    columns = {f"f{i}": array[:, i] for i in range(50)}
    if make is not None:
        columns = {"X": pa.array(array.tolist(), make(pa.uint8()))}
    path = write_parquet(tmp_path / "a.parquet", columns, use_dictionary=False)
    monkeypatch.setattr("enhg._files.free_memory", lambda: 3_500_000)
    np.testing.assert_array_equal(read_samples(path).X, array)
    monkeypatch.setattr("enhg._files.free_memory", lambda: 900_000)
    refuses(lambda: read_samples(path), str(path), "does not fit in memory")


def test_parquet_advice_to_store_it_in_another_way(tmp_path, refuses):
    columns = {f"f{j}": np.repeat(np.float32([0, 1]), 200_000) for j in range(80)}
    path = write_parquet(tmp_path / "a.parquet", columns)
    refuses(lambda: read_samples(path), "store it without dictionary encoding and compression")
    write_parquet(path, columns, use_dictionary=False, compression="none")
    assert read_samples(path).X.shape == (400_000, 80)


def test_parquet_key(tmp_path, refuses):
    columns = {"a": LISTS, "b": pa.array((2 * TABLE).tolist()), "n": TRUTH, "label": TRUTH}
    path = write_parquet(tmp_path / "a.parquet", columns)
    refuses(lambda: read_samples(path), "key must say which column", "a, b", parameter="key")
    np.testing.assert_array_equal(read_samples(path, key="b").X, 2 * TABLE)
    refuses(lambda: read_samples(path, key="c"), "one of a, b, got 'c'", parameter="key")
    refuses(lambda: read_samples(path, key="n"), "one of a, b, got n (int64)", parameter="key")
    columns["embeddings"] = columns.pop("b")
    path = write_parquet(tmp_path / "a.parquet", columns)
    np.testing.assert_array_equal(read_samples(path).X, 2 * TABLE)


def test_parquet_of_pandas(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"embedding": list(TABLE), "class": list("aabbcc")}, index=list("uvwxyz"))
    frame.to_parquet(tmp_path / "a.parquet")
    samples = read_samples(tmp_path / "a.parquet")
    np.testing.assert_array_equal(samples.X, TABLE)
    assert samples.names == list("uvwxyz")
    assert samples.labels.tolist() == list("aabbcc")


@pytest.mark.parametrize("kind", ["whole", "text", "date", "levels"])
def test_parquet_of_pandas_with_a_named_index(tmp_path, kind):
    """Row labels are no feature; text and whole numbers are the names of the samples."""
    pd = pytest.importorskip("pandas")
    indices = {
        "whole": pd.Index([31, 4, 15, 9, 26, 5], name="number"),
        "text": pd.Index(list("uvwxyz"), name="file"),
        "date": pd.date_range("2026-11-18", periods=6, name="day"),
        "levels": pd.MultiIndex.from_product([["a", "b"], [1, 2, 3]]),
    }
    frame = pd.DataFrame({f"f{i}": column for i, column in enumerate(TABLE.T)}, index=indices[kind])
    frame.to_parquet(tmp_path / "a.parquet")
    samples = read_samples(tmp_path / "a.parquet")
    np.testing.assert_array_equal(samples.X, TABLE)
    names = {"date": map(str, range(6)), "levels": "aaabbb"}
    assert samples.names == list(names.get(kind, map(str, indices[kind])))


def test_parquet_tensors(tmp_path):
    tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(TABLE)
    samples = read_samples(write_parquet(tmp_path / "a.parquet", {"embedding": tensors}))
    np.testing.assert_array_equal(samples.X, TABLE)


NULL = [[1.0, 2.0], None, [3.0, 4.0]]
BAD_COLUMNS = {
    "ragged": ({"v": [[1.0, 2], [3], [4, 5]]}, "lists of one length, got 2 numbers", "1 in row 1"),
    "a null list": ({"v": NULL}, "column v must hold a list in every row, got none in row 1"),
    "a null in a list": ({"v": [[1.0, 2], [3, None]]}, "only numbers, got an empty value in row 1"),
    "a null": ({"f": [1.0, None], "g": [1, 2]}, "row 1, column f: must be a number"),
    "NaN in a list": ({"v": [[1.0, 2], [3, np.nan]]}, "1 of 4 values", "row 1"),
    "infinity": ({"f": [1.0, np.inf], "g": [1, 2]}, "1 of 4 values", "row 1"),
    "empty lists": ({"v": pa.array([[], []], pa.list_(pa.float32()))}, "got empty lists"),
    "no rows": ({"f": pa.array([], pa.float32())}, "at least one sample, got no rows"),
    "text": ({"f": [1.0, 2], "word": ["a", "b"]}, "only columns of numbers", "word (string)"),
    "lists of text": ({"f": [1.0, 2], "w": [["a"], ["b"]]}, "lists of numbers", "w (list<"),
    "bytes": ({"f": [1.0, 2], "w": [b"a", b"b"]}, "lists of numbers", "w (binary)"),
    "only names": ({"name": ["a", "b"]}, "a column of numbers for each feature, got none"),
    "two of labels": ({"f": [1.0], "y": [1], "class": [2]}, "at most one column of labels"),
}


@pytest.mark.parametrize(("columns", "parts"), [(c, p) for c, *p in BAD_COLUMNS.values()],
                         ids=BAD_COLUMNS)  # fmt: skip
def test_parquet_that_is_no_samples(tmp_path, columns, parts, refuses):
    path = write_parquet(tmp_path / "a.parquet", columns)
    refuses(lambda: read_samples(path), str(path), *parts)


def test_parquet_rows_are_counted_across_batches(tmp_path, monkeypatch, refuses):
    monkeypatch.setattr("enhg.io._base._BLOCK_BYTES", 100)
    rows = [[1.0, 2.0]] * 50
    for bad, part in (([1.0], "1 in row 41"), (None, "in row 41"), ([None, 1.0], "in row 41")):
        rows[41] = bad
        path = write_parquet(tmp_path / "a.parquet", {"v": rows}, row_group_size=20)
        refuses(lambda path=path: read_samples(path), part)


def test_parquet_of_equal_headings(tmp_path, refuses):
    table = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["f", "f"])
    pq.write_table(table, tmp_path / "a.parquet")
    refuses(lambda: read_samples(tmp_path / "a.parquet"), "different headings, got f, f")


def test_parquet_with_a_flipped_bit(tmp_path, refuses):
    path = tmp_path / "a.parquet"
    columns = {"v": TABLE[:, 0]}
    write_parquet(path, columns, write_page_checksum=True, compression="none", use_dictionary=False)
    content = bytearray(path.read_bytes())
    content[content.index(TABLE[:, 0].tobytes()) + 9] ^= 1
    path.write_bytes(bytes(content))
    refuses(lambda: read_samples(path), str(path), "CRC")


def test_parquet_of_many_pages_takes_little_time(tmp_path, monkeypatch):
    """To find the free memory takes as long as to read a page."""
    path = write_parquet(tmp_path / "a.parquet", {f"f{i}": TABLE[:, 0] for i in range(300)})
    calls = []
    monkeypatch.setattr("enhg._files.free_memory", lambda: calls.append(1) or 10**10)
    assert read_samples(path).X.shape == (6, 300)
    assert len(calls) < 10


def test_parquet_labels_of_bytes(tmp_path):
    words = [word.encode() for word in ("a", "é", "a", "b", "b", "b")]
    path = write_parquet(tmp_path / "a.parquet", {"f": TABLE[:, 0], "label": words})
    assert read_samples(path).labels.tolist() == ["a", "é", "a", "b", "b", "b"]


# --- Zarr -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("dtype", ["f4", "f8", ">f4", "f2", "u1", "i4", "bool"])
def test_zarr_equals_npy(tmp_path, monkeypatch, version, dtype):
    monkeypatch.setattr("enhg.io._base._BLOCK_BYTES", 100)
    array = RNG.integers(0, 9, size=(50, 3)).astype(dtype)
    zarr.create_array(tmp_path / "a.zarr", data=array, chunks=(7, 2), zarr_format=version)
    np.save(tmp_path / "a.npy", array)
    samples, same = (read_samples(tmp_path / name) for name in ("a.zarr", "a.npy"))
    np.testing.assert_array_equal(samples.X, same.X)
    assert samples.X.dtype == same.X.dtype
    assert samples.names == same.names


def test_zarr_shards(tmp_path):
    array = RNG.normal(size=(50, 3))
    zarr.create_array(tmp_path / "a.zarr", data=array, chunks=(5, 3), shards=(20, 3))
    np.testing.assert_array_equal(read_samples(tmp_path / "a.zarr").X, array)


def test_zarr_images(tmp_path):
    zarr.create_array(tmp_path / "a.zarr", data=RNG.normal(size=(6, 5, 3)))
    assert read_samples(tmp_path / "a.zarr").image_shape == (5, 3)


def test_zarr_groups(tmp_path, refuses):
    path = write_zarr(tmp_path / "a.zarr", {"X": TABLE, "Z": 2 * TABLE, "y": TRUTH})
    samples = read_samples(path)
    np.testing.assert_array_equal(samples.X, TABLE)
    np.testing.assert_array_equal(samples.labels, TRUTH)
    np.testing.assert_array_equal(read_samples(path, key="Z").X, 2 * TABLE)
    refuses(lambda: read_samples(path, key="c"), "X (6×4 float64)", "got 'c'", parameter="key")
    path = write_zarr(tmp_path / "b.zarr", {"inner/a": TABLE, "inner/b": TABLE})
    refuses(lambda: read_samples(path), "key must say", "inner/a (6×4", parameter="key")
    np.testing.assert_array_equal(read_samples(path, key="inner/a").X, TABLE)
    zarr.create_array(tmp_path / "c.zarr", data=TABLE)
    refuses(lambda: read_samples(tmp_path / "c.zarr", key="X"), "must be None", parameter="key")


def test_zarr_large_labels_keep_their_values(tmp_path):
    labels = TRUTH + 2**60
    samples = read_samples(write_zarr(tmp_path / "a.zarr", {"X": TABLE, "labels": labels}))
    np.testing.assert_array_equal(samples.labels, labels)


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("kind", ["U", "S"])
def test_zarr_text_labels(tmp_path, version, kind):
    words = ["ant", "bée", "ant", "猫", "", "bée"]
    group = zarr.open_group(tmp_path / "a.zarr", mode="w", zarr_format=version)
    group.create_array("X", data=TABLE)
    group.create_array("y", data=np.array(words if kind == "U" else [w.encode() for w in words]))
    assert read_samples(tmp_path / "a.zarr").labels.tolist() == words


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_zarr_labels_of_any_length_are_named(tmp_path):
    path = write_zarr(tmp_path / "a.zarr", {"X": TABLE})
    zarr.open_group(path).create_array("y", shape=6, dtype=str)
    with pytest.warns(UserWarning, match=r"not read as labels: y \(6 string\)"):
        assert read_samples(path).labels is None


def test_zarr_that_is_none(tmp_path, refuses, save_image):
    path = tmp_path / "a.zarr"
    save_image(path / "image.png", np.zeros((8, 8), np.uint8))
    refuses(lambda: read_samples(path), str(path), "must be a Zarr array or group, got a folder")
    (tmp_path / "b.zarr").write_bytes(b"?")
    refuses(lambda: read_samples(tmp_path / "b.zarr"), "must be a Zarr array or group, a folder")
    refuses(lambda: read_samples(path, size=(3, 3)), "got 3×3", parameter="size")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"shape": [2]}', '{"shape": 3}'])
def test_zarr_of_damaged_metadata(tmp_path, text, refuses):
    zarr.create_array(tmp_path / "a.zarr", data=TABLE)
    (tmp_path / "a.zarr" / "zarr.json").write_text(text)
    refuses(lambda: read_samples(tmp_path / "a.zarr"), str(tmp_path / "a.zarr"))


def test_zarr_of_damaged_chunks(tmp_path, refuses, cut):
    zarr.create_array(tmp_path / "a.zarr", data=TABLE)
    cut(tmp_path / "a.zarr" / "c" / "0" / "0")
    refuses(lambda: read_samples(tmp_path / "a.zarr"), str(tmp_path / "a.zarr"), "damaged")


@pytest.mark.parametrize(
    ("array", "part"),
    [
        (np.zeros(5), "got 1 dimension"),
        (np.zeros((0, 5)), "at least one sample"),
        (np.zeros((2, 2), complex), "complex128"),
        (np.full((2, 2), np.nan), "4 of 4 values"),
    ],
)
def test_zarr_of_no_samples(tmp_path, array, part, refuses):
    zarr.create_array(tmp_path / "a.zarr", data=array)
    refuses(lambda: read_samples(tmp_path / "a.zarr"), str(tmp_path / "a.zarr"), part)


@pytest.mark.parametrize("dtype", ["<f4", "|O"])
@pytest.mark.parametrize("place", ["filters", "compressor"])
def test_pickles_in_zarr_are_refused_and_never_run(tmp_path, dtype, place, refuses):
    witness, path = tmp_path / "it-ran", tmp_path / "a.zarr"
    path.mkdir()
    codec = {"id": "pickle"}
    metadata = {
        "zarr_format": 2, "shape": [2, 2], "chunks": [2, 2], "dtype": dtype, "order": "C",
        "fill_value": 0, "filters": None, "compressor": None,
    }  # fmt: skip
    metadata[place] = [codec] if place == "filters" else codec
    (path / ".zarray").write_text(json.dumps(metadata))
    (path / "0.0").write_bytes(pickle.dumps(Bomb(witness)))
    refuses(lambda: read_samples(path), str(path), "pickle" if dtype == "<f4" else "objects")
    assert not witness.exists()


# --- memory ---------------------------------------------------------------------------------------

N_ROWS, N_COLUMNS = 200_000, 500  # 400 MB of float32
# Not ru_maxrss, which a new process inherits from the one that starts it.
PEAK = """
import re, sys
from pathlib import Path
from enhg.io import read_samples

def peak():
    return 1024 * int(re.search(r"VmHWM:\\s*(\\d+) kB", Path("/proc/self/status").read_text())[1])

if sys.argv[1].endswith(".parquet"):
    import pyarrow.parquet
before = peak()
samples = read_samples(sys.argv[1])
assert samples.X.shape == (200_000, 500), samples.X.shape
print(before, peak())
"""


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A function that writes 400 MB of float32 of a kind of file."""
    folder = tmp_path_factory.mktemp("large")
    array = np.random.default_rng(0).standard_normal((N_ROWS, N_COLUMNS), dtype=np.float32)

    def write(kind):
        path = folder / f"a.{kind}"
        if kind == "npy":
            np.save(path, array)
        elif kind == "zarr":
            zarr.create_array(path, data=array, chunks=(1024, N_COLUMNS))
        else:
            flat = pa.FixedSizeListArray.from_arrays(pa.array(array.ravel()), N_COLUMNS)
            write_parquet(path, {"embedding": flat}, use_dictionary=False)
        return path

    return write


@pytest.mark.skipif(sys.platform != "linux", reason="/proc")
@pytest.mark.parametrize("kind", ["npy", "parquet", "zarr"])
def test_peak_memory(large, kind):
    out = subprocess.run(
        [sys.executable, "-c", PEAK, str(large(kind))], capture_output=True, text=True, check=True
    )
    before, peak = map(int, out.stdout.split())
    n_bytes = 4 * N_ROWS * N_COLUMNS
    if (
        kind == "parquet"
    ):  # pyarrow alone takes some 60 MB; with it, the peak is 1.33 times the file
        assert peak - before < 1.2 * n_bytes
    else:
        assert peak < 1.3 * n_bytes
