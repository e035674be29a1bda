"""The sets of the paper from the files people have, and scikit-learn's digits, which need none.

Extended Yale B, PIE, USPS and MNIST are for research use and are not shipped. `folder` (or the
environment variable ENHG_DATA) names where their files lie: arrays under the names below, or the
original images in a folder below it, one folder a class. USPS and MNIST can be fetched from
OpenML.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml
from sklearn.datasets import load_digits as _sklearn_digits

from enhg.io import read_samples
from enhg.io.images import read_folder


@dataclass(frozen=True)
class Dataset:
    """Images and their true labels: X (n×d), pixels row by row, y (n,), and the image's shape."""

    name: str
    X: NDArray
    y: NDArray
    image_shape: tuple[int, int]

    def first_classes(self, count: int) -> Dataset:
        """Only the samples of the first `count` classes."""
        return self.taken(np.flatnonzero(np.isin(self.y, np.unique(self.y)[:count])))

    def sampled(self, per_class: int, random_state: np.random.RandomState) -> Dataset:
        """`per_class` samples of every class at random (all of a class that has fewer)."""
        chosen = [
            random_state.permutation(np.flatnonzero(self.y == label))[:per_class]
            for label in np.unique(self.y)
        ]
        return self.taken(np.sort(np.concatenate(chosen)))

    def taken(self, rows: NDArray) -> Dataset:
        return Dataset(self.name, self.X[rows], self.y[rows], self.image_shape)


@dataclass(frozen=True)
class _Source:
    """Where a set is found, and what it must be."""

    title: str
    file: str
    folder: str  # of the original images, one folder a class
    image_shape: tuple[int, int]
    samples: int
    classes: int
    columns_first: bool = False  # pixels are stored column by column, as MATLAB does
    first_label: int = 1
    openml: int | None = None
    from_openml: Callable[[NDArray, NDArray], tuple[NDArray, NDArray]] | None = None

    def check(self, where: object, X: NDArray, y: NDArray | None) -> None:
        pixels = self.image_shape[0] * self.image_shape[1]
        found = 0 if y is None else len(np.unique(y))
        if X.shape != (self.samples, pixels) or found != self.classes:
            raise ValueError(
                f"{where} is not the {self.title} this library knows: expected {self.samples} "
                f"samples of {pixels} pixels in {self.classes} classes, got shape {X.shape} and "
                + ("no labels" if y is None else f"{found} classes")
            )


def _usps_from_openml(X: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
    """Pixels from −1 … 1 to 0 … 1, and classes 1 … 10 to digits."""
    return (X + 1) / 2, y.astype(int) - 1


def _mnist_from_openml(X: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
    return X.astype(np.uint8), y.astype(int)


_SOURCES = {
    "yale-b": _Source(
        "Extended Yale B", "YaleB_32x32.mat", "CroppedYale", (32, 32), 2414, 38, True
    ),
    "pie": _Source("PIE", "PIE_32x32.npz", "PIE", (32, 32), 11554, 68, True),
    "usps": _Source(
        "USPS", "usps.h5", "USPS", (16, 16), 9298, 10, first_label=0, openml=41082,
        from_openml=_usps_from_openml,
    ),
    "mnist": _Source(
        "MNIST", "mnist_70k.npz", "MNIST", (28, 28), 70000, 10, first_label=0, openml=554,
        from_openml=_mnist_from_openml,
    ),
}  # fmt: skip

NAMES = ("digits", *_SOURCES)


def load(name: str, folder: str | Path | None = None, *, download: bool = False) -> Dataset:
    """Load "digits", "yale-b", "pie", "usps" or "mnist".

    Parameters
    ----------
    name : str
    folder : path, optional
        Holds the set's file (YaleB_32x32.mat, PIE_32x32.npz, usps.h5, mnist_70k.npz), or a
        folder of its images (CroppedYale, PIE, USPS, MNIST) with one folder a class, which are
        brought to the set's size. By default the environment variable ENHG_DATA names it.
    download : bool
        Fetch USPS or MNIST from OpenML, if the folder does not have it; scikit-learn keeps it.

    Examples
    --------
    >>> load("digits").X.shape
    (1797, 64)
    """
    if name == "digits":
        digits = _sklearn_digits()
        return Dataset("digits", digits.data.astype(np.float32), digits.target, (8, 8))
    if name not in _SOURCES:
        raise ValueError(f"name must be one of {NAMES}, got {name!r}")
    source = _SOURCES[name]
    folder = folder or os.environ.get("ENHG_DATA")
    if folder is not None and (file := Path(folder) / source.file).exists():
        return _from_file(source, file)
    if folder is not None and (images := Path(folder) / source.folder).is_dir():
        return _from_images(source, images)
    if download and source.openml is not None:
        return _from_openml(source)
    where = "pass the folder that holds it, or name that in the environment variable ENHG_DATA"
    if folder is not None:
        where = f"{folder} must hold {source.file}, or {source.folder} with one folder a class"
    fetched = f'; in Python, load("{name}", download=True) fetches it' if source.openml else ""
    raise FileNotFoundError(f"{source.title} is not shipped: {where}{fetched}")


def _from_file(source: _Source, file: Path) -> Dataset:
    samples = read_samples(file)
    source.check(file, samples.X, samples.labels)
    X = samples.X
    if source.columns_first:
        h, w = source.image_shape
        X = np.ascontiguousarray(X.reshape(-1, w, h).transpose(0, 2, 1).reshape(len(X), -1))
    return Dataset(source.title, X, np.asarray(samples.labels), source.image_shape)


def _from_images(source: _Source, folder: Path) -> Dataset:
    """Images in one folder a class; classes are numbered in the order of their folders."""
    # Beside the faces Extended Yale B has a picture of the room a person, of another size.
    samples = read_folder(
        folder, source.image_shape, gray=True, keep=lambda name: "ambient" not in name.casefold()
    )
    owners = [name.split("/")[0] for name in samples.names]
    number = {owner: at for at, owner in enumerate(dict.fromkeys(owners), source.first_label)}
    y = np.array([number[owner] for owner in owners])
    source.check(folder, samples.X, y)
    return Dataset(source.title, samples.X, y, source.image_shape)


def _from_openml(source: _Source) -> Dataset:
    try:
        found = fetch_openml(data_id=source.openml, as_frame=False, parser="liac-arff")
    except OSError as error:  # urllib's errors are OSErrors
        raise OSError(
            f"{source.title} could not be fetched from OpenML ({error}); try again, or give the folder that holds {source.file}"
        ) from error
    assert source.from_openml is not None
    X, y = source.from_openml(found.data, found.target)
    source.check(f"OpenML's data set {source.openml}", X, y)
    return Dataset(source.title, X, y, source.image_shape)
