"""Paths that are no input, permissions, and real data sets."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest
import scipy.io

from enhg.io import read_labels, read_samples


def test_paths_that_are_no_input(tmp_path, refuses):
    refuses(lambda: read_samples(tmp_path / "none.npy"), "none.npy", "no such file")
    refuses(lambda: read_samples(tmp_path / "none"), "no such file")
    refuses(lambda: read_labels(tmp_path / "none.csv", ["a"]), "none.csv", "no such file")
    for name in ("a.xyz", "a.pkl", "a.joblib", "a.png", "a"):
        (tmp_path / name).write_text("?")
        refuses(
            lambda name=name: read_samples(tmp_path / name),
            name,
            "must be a folder of images or a file of kind .npy",
        )


@pytest.mark.parametrize("suffix", ["npy", "npz", "mat", "h5", "csv", "parquet"])
def test_no_permission(tmp_path, monkeypatch, suffix, refuses):
    path = tmp_path / f"a.{suffix}"
    path.write_text("1,2\n")

    def forbidden(*args, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", forbidden)  # the tests may run as root, who may do all
    refuses(lambda: read_samples(path), str(path), "no permission")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read all")
def test_no_permission_for_real(tmp_path, refuses):
    for suffix in ("npy", "h5", "csv"):
        path = tmp_path / f"a.{suffix}"
        path.touch(mode=0o000)
        refuses(lambda path=path: read_samples(path), str(path), "no permission")


def test_unreadable_folder(tmp_path, monkeypatch, refuses):
    def walk(folder, onerror):
        onerror(PermissionError(13, "Permission denied"))
        yield from ()

    monkeypatch.setattr(os, "walk", walk)
    refuses(lambda: read_samples(tmp_path), str(tmp_path), "no permission")


def test_messages_are_one_line(tmp_path, refuses):
    refuses(lambda: read_samples(tmp_path / "two\nlines.npy"), "two lines.npy")


def test_import_is_light():
    modules = ("PIL.Image", "h5py", "scipy.io", "pyarrow", "zarr")
    code = f"import sys, enhg.io; print([m for m in {modules} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("name", "shape", "dtype", "classes"),
    [
        ("YaleB_32x32.mat", (2414, 1024), np.uint8, np.arange(1, 39)),
        ("PIE_32x32.npz", (11554, 1024), np.uint8, np.arange(1, 69)),
        ("usps.h5", (9298, 256), np.float32, np.arange(10)),
        ("mnist_70k.npz", (70000, 784), np.uint8, np.arange(10)),
    ],
)
def test_real_data(name, shape, dtype, classes):
    shared = Path(__file__).parents[3] / "shared" / "data"
    path = Path(os.environ.get("ENHG_DATA", shared)) / name
    if not path.exists():
        pytest.skip(f"{name} is not here; set ENHG_DATA to the folder that holds it")
    samples = read_samples(path)
    assert samples.X.shape == shape
    assert samples.X.dtype == dtype
    assert samples.labels.shape == shape[:1]
    np.testing.assert_array_equal(np.unique(samples.labels), classes)
    assert samples.image_shape is None
    if name == "usps.h5":
        with h5py.File(path) as file:
            np.testing.assert_array_equal(samples.X[:7291], file["train/data"][()])
            np.testing.assert_array_equal(samples.labels[7291:], file["test/target"][()])
    if name == "YaleB_32x32.mat":  # rows of one subject look alike, columns of pixels would not
        np.testing.assert_array_equal(samples.X, scipy.io.loadmat(path)["features"].T)
