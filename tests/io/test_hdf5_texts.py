"""Text of any length in HDF5 files."""

from __future__ import annotations

import h5py
import numpy as np
import pytest

from enhg.io import read_samples


@pytest.mark.parametrize("options", [{}, {"libver": "latest"}, {"libver": "v110"}])
@pytest.mark.parametrize("chunks", [None, (4,), (1000,)])
def test_many_texts_of_hdf5(tmp_path, options, chunks):
    words = [f"word {i} " + "é" * (i % 50) for i in range(3000)]
    words[7] = ""
    with h5py.File(tmp_path / "a.h5", "w", **options) as file:
        file["X"] = np.eye(3000, 2)
        for name in ("y", "names"):  # whose texts share heaps
            data = file.create_dataset(
                name, 3000, h5py.string_dtype(), chunks=chunks, maxshape=chunks and (None,)
            )
            data[:2990] = words[:2990]
    samples = read_samples(tmp_path / "a.h5")
    assert samples.labels.tolist() == samples.names == words[:2990] + 10 * [""]


def test_texts_of_hdf5_that_are_not_read(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["X"] = np.eye(6)
        file.create_dataset("y", data=list("aabbcc"), compression="gzip")
    with pytest.warns(UserWarning, match=r"labels: y \(6 text, stored in a way that is not read\)"):
        assert read_samples(tmp_path / "a.h5").labels is None


def test_hdf5_labels_that_are_one_long_text(tmp_path, refuses):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["X"] = np.eye(4000, 2)
        file["y"] = ["long" * 250_000, *["short"] * 3999]
        start = file["y"].id.get_offset()
    with path.open("r+b") as stream:  # every place leads to the first text
        stream.seek(start)
        first = stream.read(16)
        stream.seek(start)
        stream.write(first * 4000)
    refuses(lambda: read_samples(path), str(path), "500 times as large in memory")


@pytest.mark.parametrize(
    ("place", "value"), [(4, 10**6), (4, 2**62), (12, 77)], ids=["no heap", "outside", "no text"]
)
def test_hdf5_references_that_lead_nowhere(tmp_path, refuses, place, value):
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file["X"], file["y"] = np.eye(6), list("aabbcc")
        file["other"] = np.zeros(200_000)
        start = file["y"].id.get_offset()
    with path.open("r+b") as stream:
        stream.seek(start + place)
        stream.write(value.to_bytes(8 if place == 4 else 4, "little"))
    refuses(lambda: read_samples(path), str(path), "damaged")
