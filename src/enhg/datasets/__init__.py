"""The sets of the paper from local files, and scikit-learn's digits, which need none.

Extended Yale B, PIE, USPS and MNIST are for research use and are not shipped: `folder` (or the
environment variable ENHG_DATA) names where their files lie, under the names below.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits as _sklearn_digits

from enhg.files import read_samples


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
class _File:
    title: str
    name: str
    image_shape: tuple[int, int]
    samples: int
    columns_first: bool  # pixels are stored column by column, as MATLAB does


_FILES = {
    "yale-b": _File("Extended Yale B", "YaleB_32x32.mat", (32, 32), 2414, True),
    "pie": _File("PIE", "PIE_32x32.npz", (32, 32), 11554, True),
    "usps": _File("USPS", "usps.h5", (16, 16), 9298, False),
    "mnist": _File("MNIST", "mnist_70k.npz", (28, 28), 70000, False),
}

NAMES = ("digits", *_FILES)


def load(name: str, folder: str | Path | None = None) -> Dataset:
    """Load "digits", "yale-b", "pie", "usps" or "mnist".

    Examples
    --------
    >>> load("digits").X.shape
    (1797, 64)
    """
    if name == "digits":
        digits = _sklearn_digits()
        return Dataset("digits", digits.data.astype(np.float32), digits.target, (8, 8))
    if name not in _FILES:
        raise ValueError(f"name must be one of {NAMES}, got {name!r}")
    file = _FILES[name]
    folder = folder or os.environ.get("ENHG_DATA")
    if folder is None:
        raise FileNotFoundError(
            f"{file.title} is not shipped: pass the folder that holds {file.name}, "
            "or name it in the environment variable ENHG_DATA"
        )
    samples = read_samples(Path(folder) / file.name)
    h, w = file.image_shape
    if samples.X.shape != (file.samples, h * w) or samples.labels is None:
        raise ValueError(
            f"{samples.source} is not the {file.title} this library knows: expected "
            f"{file.samples} labelled samples of {h * w} pixels, got shape {samples.X.shape}"
        )
    X = samples.X
    if file.columns_first:
        X = np.ascontiguousarray(X.reshape(-1, w, h).transpose(0, 2, 1).reshape(len(X), -1))
    return Dataset(file.title, X, samples.labels, file.image_shape)
