"""Files that are damaged, of another kind, or hold pickled objects."""

from __future__ import annotations

import io
import os
import pickle
from zipfile import ZipFile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from array_writers import WRITERS

from enhg.io import read_labels, read_samples

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(6, 4))
TRUTH = np.array([1, 1, 2, 2, 3, 3])


class Bomb:
    """Unpickling this makes a file: the proof that a payload ran."""

    def __init__(self, witness):
        self.witness = witness

    def __reduce__(self):
        return (os.mkdir, (str(self.witness),))


@pytest.mark.parametrize(
    "name", ["a.npy", "a.npz", "a.mat", "zipped.mat", "a.h5", "v73.mat", "a.parquet"]
)
@pytest.mark.parametrize("keep", [0, 0.01, 0.3, 0.6, 0.95])
def test_truncated_files(tmp_path, name, keep, refuses, cut):
    path = tmp_path / name
    arrays = {"X": RNG.normal(size=(60, 40)), "y": np.arange(60)}
    if name == "a.npy":
        np.save(path, arrays["X"])
    elif name == "a.parquet":
        pq.write_table(pa.table({"X": arrays["X"].tolist(), "y": arrays["y"]}), path)
    else:
        WRITERS.get(name, WRITERS.get(path.suffix[1:], WRITERS["v5.mat"]))(path, arrays)
    read_samples(path)
    refuses(lambda: read_samples(cut(path, keep)), str(path))


@pytest.mark.parametrize("suffix", ["npy", "npz", "mat", "h5", "hdf5", "csv", "parquet", "zarr"])
def test_files_of_something_else(tmp_path, suffix, refuses):
    path = tmp_path / f"a.{suffix}"
    for content in (b"", b"hello\nworld\n", bytes(range(256)) * 8):
        path.write_bytes(content)
        refuses(lambda: read_samples(path), str(path))


def test_npz_with_a_flipped_bit(tmp_path, refuses):
    path = tmp_path / "a.npz"
    np.savez(path, X=TABLE)
    content = bytearray(path.read_bytes())
    content[content.index(TABLE.tobytes()) + 9] ^= 1
    path.write_bytes(bytes(content))
    refuses(lambda: read_samples(path), str(path), "CRC")


def test_pickles_are_refused_and_never_run(tmp_path, refuses):
    witness = tmp_path / "it-ran"
    bomb = np.array([[Bomb(witness)]], dtype=object)
    np.save(tmp_path / "a.npy", bomb, allow_pickle=True)
    np.savez(tmp_path / "a.npz", X=bomb)
    (tmp_path / "raw.npy").write_bytes(pickle.dumps(Bomb(witness)))
    (tmp_path / "raw.npz").write_bytes(pickle.dumps(Bomb(witness)))
    for name in ("a.npy", "a.npz"):
        refuses(lambda name=name: read_samples(tmp_path / name), name, "objects", "never loaded")
    for name in ("raw.npy", "raw.npz"):
        refuses(lambda name=name: read_samples(tmp_path / name), name)
    refuses(lambda: read_labels(tmp_path / "a.npy", ["a"]), "a.npy", "object")
    refuses(lambda: read_labels(tmp_path / "raw.npy", ["a"]), "raw.npy")
    assert not witness.exists()
    np.load(tmp_path / "a.npy", allow_pickle=True)  # the payload is a live one
    assert witness.exists()


def test_an_object_array_that_is_not_chosen_is_never_loaded(tmp_path, refuses):
    witness = tmp_path / "it-ran"
    info = np.array([Bomb(witness)], dtype=object)
    np.savez(tmp_path / "a.npz", X=TABLE, y=TRUTH, info=info)
    np.testing.assert_array_equal(read_samples(tmp_path / "a.npz").X, TABLE)
    np.savez(tmp_path / "b.npz", X=info[None], weights=TABLE)
    refuses(lambda: read_samples(tmp_path / "b.npz"), "array X must hold real numbers, got objects")
    assert not witness.exists()


def test_memory_error(tmp_path, refuses):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**7)}
    )
    with ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("X.npy", header.getvalue())
    refuses(lambda: read_samples(tmp_path / "a.npz"), "a.npz", "does not fit in memory")
    (tmp_path / "a.npy").write_bytes(header.getvalue())  # is mapped, and shorter than it says
    refuses(lambda: read_samples(tmp_path / "a.npy"), "a.npy", "damaged")
