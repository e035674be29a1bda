"""Loading of Extended Yale B, PIE, USPS and MNIST, and of scikit-learn's digits."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml
from sklearn.datasets import load_digits as _sklearn_digits

from enhg.exceptions import InputError
from enhg.io import read_samples


@dataclass(frozen=True)
class Dataset:
    """Images with their true labels.

    Attributes
    ----------
    name : str
    X : ndarray of shape (n_samples, n_features)
        Pixels, row by row.
    y : ndarray of shape (n_samples,)
        True labels.
    image_shape : (int, int)
        Height and width of an image.

    Examples
    --------
    >>> from enhg.datasets import load
    >>> digits = load("digits").first_classes(3)
    >>> digits.X.shape, digits.image_shape
    ((537, 64), (8, 8))
    """

    name: str
    X: NDArray
    y: NDArray
    image_shape: tuple[int, int]

    def first_classes(self, count: int) -> Dataset:
        """The samples of the first `count` classes."""
        return self.taken(np.flatnonzero(np.isin(self.y, np.unique(self.y)[:count])))

    def sampled(self, per_class: int, random_state: np.random.RandomState) -> Dataset:
        """`per_class` random samples of every class; all samples of a class that has fewer."""
        chosen = [
            random_state.permutation(np.flatnonzero(self.y == label))[:per_class]
            for label in np.unique(self.y)
        ]
        return self.taken(np.sort(np.concatenate(chosen)))

    def taken(self, rows: NDArray) -> Dataset:
        """The samples of these rows."""
        return Dataset(self.name, self.X[rows], self.y[rows], self.image_shape)


@dataclass(frozen=True)
class _Source:
    """Files of a data set, and the size that it must have."""

    title: str
    file: str
    folder: str  # of the original images, one folder per class
    image_shape: tuple[int, int]
    samples: int
    classes: int
    columns_first: bool = False  # pixels are stored column by column, as by MATLAB
    first_label: int = 1
    openml: int | None = None
    from_openml: Callable[[NDArray, NDArray], tuple[NDArray, NDArray]] | None = None

    def check(self, where: object, X: NDArray, y: NDArray | None) -> None:
        pixels = self.image_shape[0] * self.image_shape[1]
        n_classes = 0 if y is None else len(np.unique(y))
        if X.shape != (self.samples, pixels) or n_classes != self.classes:
            raise InputError(
                f"{where} must be {self.title}, {self.samples} samples of {pixels} pixels in "
                f"{self.classes} classes, got shape {X.shape} and "
                + ("no labels" if y is None else f"{n_classes} classes")
            )


def _usps_from_openml(X: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
    """Scale pixels from [−1, 1] to [0, 1], and turn classes 1 … 10 into digits."""
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
    """Load a data set.

    Extended Yale B, PIE, USPS and MNIST are not part of the package: they are read from a folder
    that holds their file, or their images with one folder per class.

    Parameters
    ----------
    name : {"digits", "yale-b", "pie", "usps", "mnist"}
        "digits" is part of scikit-learn and needs no files.
    folder : path, optional
        Folder with the file of the set (YaleB_32x32.mat, PIE_32x32.npz, usps.h5 or mnist_70k.npz)
        or with a folder of its images (CroppedYale, PIE, USPS or MNIST), which are resized. By
        default the environment variable ENHG_DATA.
    download : bool, default=False
        Fetch USPS or MNIST from OpenML if the folder does not hold it; scikit-learn caches it.

    Returns
    -------
    Dataset

    Raises
    ------
    InputError
        When the name is unknown or the file is not that data set.
    FileNotFoundError
        When there is no such file.

    Examples
    --------
    >>> load("digits").X.shape
    (1797, 64)
    """
    if name == "digits":
        digits = _sklearn_digits()
        return Dataset("digits", digits.data.astype(np.float32), digits.target, (8, 8))
    if name not in _SOURCES:
        raise InputError(f"name must be one of {NAMES}, got {name!r}", parameter="name")
    source = _SOURCES[name]
    folder = folder or os.environ.get("ENHG_DATA")
    if folder is not None and (file := Path(folder) / source.file).exists():
        return _from_file(source, file)
    if folder is not None and (images := Path(folder) / source.folder).is_dir():
        return _from_images(source, images)
    if download and source.openml is not None:
        return _from_openml(source)
    advice = "set folder, or the environment variable ENHG_DATA, to the folder that holds it"
    if folder is not None:
        advice = f"{folder} must hold {source.file}, or {source.folder} with one folder per class"
    fetch = f'; load("{name}", download=True) fetches it' if source.openml else ""
    raise FileNotFoundError(f"{source.title} is not part of the package: {advice}{fetch}")


def _from_file(source: _Source, file: Path) -> Dataset:
    samples = read_samples(file)
    source.check(file, samples.X, samples.labels)
    X = samples.X
    if source.columns_first:
        h, w = source.image_shape
        X = np.ascontiguousarray(X.reshape(-1, w, h).transpose(0, 2, 1).reshape(len(X), -1))
    return Dataset(source.title, X, np.asarray(samples.labels), source.image_shape)


def _from_images(source: _Source, folder: Path) -> Dataset:
    """Read images from one folder per class; classes are numbered in the order of the folders."""
    samples = read_samples(folder, size=source.image_shape, on_unreadable="raise")
    # Extended Yale B has a background image per person.
    kept = [at for at, name in enumerate(samples.names) if "ambient" not in name.casefold()]
    owners = [samples.names[at].split("/")[0] for at in kept]
    number = {owner: at for at, owner in enumerate(dict.fromkeys(owners), source.first_label)}
    y = np.array([number[owner] for owner in owners])
    X = samples.X[kept]
    source.check(folder, X, y)
    return Dataset(source.title, X, y, source.image_shape)


def _from_openml(source: _Source) -> Dataset:
    try:
        data = fetch_openml(data_id=source.openml, as_frame=False, parser="liac-arff")
    except OSError as error:  # urllib's errors are OSErrors
        raise OSError(
            f"{source.title} could not be fetched from OpenML ({error}); set folder to the folder "
            f"that holds {source.file}"
        ) from error
    assert source.from_openml is not None
    X, y = source.from_openml(data.data, data.target)
    source.check(f"OpenML's data set {source.openml}", X, y)
    return Dataset(source.title, X, y, source.image_shape)
