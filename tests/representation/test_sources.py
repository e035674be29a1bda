"""Samples in files that workers open."""

import os
import pickle
import shutil

import numpy as np
import pytest

from enhg.exceptions import InputError
from enhg.representation._sources import MappedFile, ZarrFolder

X = np.random.default_rng(0).normal(size=(30, 4)).astype(np.float32)


def test_mapped_file(tmp_path):
    np.save(tmp_path / "samples.npy", X)
    mapped = np.load(tmp_path / "samples.npy", mmap_mode="r")
    assert MappedFile.from_array(mapped[5:]) is None
    assert MappedFile.from_array(X) is None
    changed = np.load(mapped.filename, mmap_mode="c")
    assert MappedFile.from_array(changed) is None
    file = MappedFile.from_array(np.asarray(mapped))
    np.testing.assert_array_equal(file.open(), X)
    os.utime(tmp_path / "samples.npy", ns=(0, 0))
    assert not file.is_visible()


@pytest.fixture(params=[2, 3])
def stored(request, tmp_path):
    """An array of Zarr in a folder, in chunks of ten samples."""
    zarr = pytest.importorskip("zarr")
    group = zarr.create_group(tmp_path / "all.zarr", zarr_format=request.param)
    return group.create_array("samples", data=X, chunks=(10, 4))


def test_zarr_folder(stored, tmp_path, monkeypatch):
    samples, folder = ZarrFolder.read(stored, "X")
    np.testing.assert_array_equal(samples, X)
    monkeypatch.chdir("/")
    opened = pickle.loads(pickle.dumps(folder)).open()  # as on a worker
    assert opened.dtype == X.dtype
    np.testing.assert_array_equal(opened, X)
    assert folder.path == str(tmp_path / "all.zarr" / "samples")


def test_zarr_folder_of_a_relative_path(tmp_path, monkeypatch):
    zarr = pytest.importorskip("zarr")
    monkeypatch.chdir(tmp_path)
    stored = zarr.create_array("samples.zarr", data=X)
    assert ZarrFolder.read(stored, "X")[1].path == str(tmp_path / "samples.zarr")


@pytest.mark.parametrize(
    ("given", "expected"), [(np.uint8, np.float32), (np.int64, np.float64), (">f4", np.float32)]
)
def test_types_of_zarr_are_those_of_samples(tmp_path, given, expected):
    zarr = pytest.importorskip("zarr")
    values = np.abs(10 * X).astype(given)
    stored = zarr.create_array(tmp_path / "samples.zarr", data=values)
    samples, folder = ZarrFolder.read(stored, "X")
    assert samples.dtype == folder.open().dtype == expected
    np.testing.assert_array_equal(samples, values)


def test_zarr_in_memory_has_no_folder():
    zarr = pytest.importorskip("zarr")
    assert ZarrFolder.read(zarr.array(X), "X") is None


def test_zarr_folder_of_another_array_is_not_visible(stored, tmp_path):
    _, folder = ZarrFolder.read(stored, "X")
    assert folder.is_visible()
    stored.resize((20, 4))
    assert not folder.is_visible()
    shutil.rmtree(tmp_path / "all.zarr")
    assert not folder.is_visible()


@pytest.mark.parametrize("change", ["value", "chunk", "all"])
def test_zarr_folder_that_changes(stored, tmp_path, change):
    _, folder = ZarrFolder.read(stored, "faces")
    if change == "value":
        stored[3, 1] = 0.5
    elif change == "chunk":
        chunks = sorted(file for file in (tmp_path / "all.zarr").rglob("*") if file.name[0] != ".")
        next(file for file in chunks if file.is_file() and file.suffix != ".json").unlink()
    else:
        shutil.rmtree(tmp_path / "all.zarr")
    with pytest.raises(
        InputError, match=r"faces must stay as it is .* changed or removed"
    ) as error:
        folder.open()
    assert error.value.parameter == "faces"
