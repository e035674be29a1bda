"""Scores on folders of photographs: features compared, and the default beside other libraries.

Every folder has one sub-folder for each class. Each method has the same features.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from enhg import InputError
from enhg.features import ImageFeatures, extract
from enhg.io import Samples, read_samples
from enhg.io.images import list_images
from experiments.paths import RESULTS
from experiments.quality import Row, classification_rows, clustering_rows, count_rows
from experiments.tabular import write_records

FILE = RESULTS / "photos.csv"
"""The scores of single runs."""

RUNS = 3
LABELS_PER_CLASS = (5,)
NETWORK = "network"
HEADER = (
    "folder", "features", "task", "labels", "method", "run", "ac", "nmi", "accuracy", "classes",
    "estimate", "reliable", "seconds",
)  # fmt: skip

_READERS: dict[str, Callable[[Path], Samples]] = {
    "pixels": lambda folder: read_samples(folder, gray=False),
    "hog": lambda folder: extract(list_images(folder), ImageFeatures("hog").fit()),
    NETWORK: lambda folder: extract(list_images(folder), ImageFeatures().fit()),
}
FEATURES = tuple(_READERS)


def folders(data: Path) -> list[Path]:
    """Return the folders of photographs in the folder of the data sets."""
    root = data / "photos"
    if not root.is_dir():
        raise InputError(f"{data} must hold a folder photos, got none")
    return sorted(folder for folder in root.iterdir() if folder.is_dir())


def load(folder: Path, features: str) -> tuple[NDArray, NDArray]:
    """Return the features of the photographs in a folder, and their classes from 0 on."""
    samples = _READERS[features](folder)
    classes = [name.split("/")[0] for name in samples.names]
    X = samples.X.astype(np.float32)
    return X / np.abs(X).max(), np.unique(classes, return_inverse=True)[1]


def measure(data: Path, report: Callable[[int, int], None] | None = None) -> None:
    """Compute all scores, and store them."""
    rows: list[dict[str, Any]] = []
    todo = [(folder, features) for folder in folders(data) for features in FEATURES]
    for done, (folder, features) in enumerate(todo, 1):
        start = perf_counter()
        X, y = load(folder, features)
        fixed = {"folder": folder.name, "features": features}
        rows.append(fixed | {"task": "features", "seconds": perf_counter() - start})
        with threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows += [
                fixed | {"run": run} | row
                for run in range(RUNS)
                for row in _rows(X, y, run, features)
            ]
        if report is not None:
            report(done, len(todo))
    write_records(FILE, HEADER, rows)


def _rows(X: NDArray, y: NDArray, run: int, features: str) -> Iterator[Row]:
    """The scores of all methods on features of a network, and of the default on others."""
    if features != NETWORK:
        yield next(clustering_rows(X, y, run))
        return
    yield from clustering_rows(X, y, run)
    yield from classification_rows(X, y, run, LABELS_PER_CLASS)
    yield from count_rows(X, y, run)
