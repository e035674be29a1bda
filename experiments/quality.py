"""Scores of the default settings beside those of other libraries.

Every method has the samples divided by their largest absolute entry, and its default parameters
where none are given in `experiments.baselines`, whose optional packages are needed.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numba
import numpy as np
from joblib import Parallel, cpu_count, delayed
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from threadpoolctl import threadpool_limits

from enhg import ElasticNetHypergraph, HypergraphClassifier, HypergraphClustering
from enhg.exceptions import InputError
from enhg.io import read_samples
from experiments import selection, variations
from experiments.baselines import (
    CLASSIFIERS,
    CLUSTERERS,
    NEEDS_MORE_LABELS,
    UMAP_CLUSTERERS,
    Clusterer,
    umap_embedding,
)
from experiments.paths import RESULTS
from experiments.protocol import (
    Draw,
    clustering_scores,
    draw_labels,
    draw_labels_per_class,
    estimated_count,
)
from experiments.tabular import read_records, write_records

FILE = RESULTS / "quality.csv.gz"
"""The scores of single runs."""

RUNS = 3
SHARE = 0.1
LABELS_PER_CLASS = (1, 3, 5)
OURS = "enhg"
HEADER = (
    "part", "data set", "kind", "thinned", "task", "labels", "method", "run", "ac", "nmi",
    "accuracy", "modularity", "classes", "estimate", "reliable", "seconds",
)  # fmt: skip

Samples = tuple[NDArray, NDArray]
Row = dict[str, Any]
Rows = Callable[[NDArray, NDArray, int], Iterator[Row]]  # of samples, classes and a run

_DRAWS = {
    "digits": ("digits", Draw("digits", 10)),
    "USPS": ("digits", Draw("usps", 10, 200)),
    "MNIST": ("digits", Draw("mnist", 10, 300)),
    "Extended Yale B, 10 subjects": ("faces", Draw("yale-b", 10)),
    "Extended Yale B, 38 subjects": ("faces", Draw("yale-b", 38)),
    "PIE, 15 subjects": ("faces", Draw("pie", 15)),
}
_FILES = {
    "ORL": ("faces", "orl_32x32.npz", None),
    "COIL-20": ("objects", "coil20_32x32.npz", None),
    "Fashion-MNIST, first 5000": ("clothing", "fashion_mnist_10k.npz", 5000),
    "CLIP features of DTD": ("embeddings", "clip_vitb32_dtd.npz", None),
    "CLIP features of Caltech-101": ("embeddings", "clip_vitb32_caltech101.npz", None),
}
KINDS = {name: kind for name, (kind, *_) in (_DRAWS | _FILES).items()}

# --- samples ---------------------------------------------------------------------------------

WHOLE = "whole"
RATIOS = {"1:10": 10, "1:30": 30}
"""Ratios of the largest to the smallest class of thinned sets."""

SMALL = ("ORL", "CLIP features of Caltech-101")
"""Sets of which a class has too few samples for a smallest class of two at 1:30."""


def load_samples(name: str, folder: Path, run: int = 0) -> Samples:
    """Load the samples of a data set, divided by their largest entry, and their classes.

    Where samples are drawn from a larger set, every run draws its own.
    """
    if name in _DRAWS:
        data = replace(_DRAWS[name][1], seed=run).load(folder)
        X, y = data.X, data.y
    else:
        _, file, count = _FILES[name]
        samples = read_samples(folder / file)
        if samples.labels is None:
            raise InputError(f"{folder / file} must hold labels, got none")
        X, y = samples.X[:count], samples.labels[:count]
    X = X.astype(np.float32)
    return X / np.abs(X).max(), np.unique(y, return_inverse=True)[1]


def thin(y: NDArray, ratio: float, run: int) -> NDArray[np.intp]:
    """Draw samples so that the sizes of the classes fall geometrically.

    In a random order of the K classes, class number i = 0, …, K − 1 keeps m · ratio^(−i/(K − 1))
    samples, rounded, or all if it has fewer; m is the median of the sizes of the classes.

    Parameters
    ----------
    y : ndarray of int of shape (n_samples,)
        Classes from 0 to K − 1.
    ratio : float
    run : int
        Seed of the order of the classes and of the samples drawn.

    Returns
    -------
    ndarray of int
        The rows that are kept, in increasing order.
    """
    random_state = np.random.RandomState(run)
    sizes = np.bincount(y)
    kept = np.median(sizes) * ratio ** -np.linspace(0, 1, len(sizes))
    rows = [
        random_state.permutation(np.flatnonzero(y == label))[: max(1, round(size))]
        for label, size in zip(random_state.permutation(len(sizes)), kept, strict=True)
    ]
    return np.sort(np.concatenate(rows))


# --- scores ----------------------------------------------------------------------------------


def clustering_rows(X: NDArray, y: NDArray, run: int) -> Iterator[Row]:
    """Cluster the samples by every method, the number of clusters given."""
    yield _clustered(OURS, _cluster_by_default, X, y, run)
    for name, cluster in CLUSTERERS.items():
        yield _clustered(name, cluster, X, y, run)
    start = perf_counter()
    embedding = umap_embedding(X, run)
    seconds = perf_counter() - start
    for name, cluster in UMAP_CLUSTERERS.items():
        row = _clustered(name, cluster, embedding, y, run)
        yield row | {"seconds": row["seconds"] + seconds}


def _cluster_by_default(X: NDArray, k: int, run: int) -> NDArray:
    structure = ElasticNetHypergraph(n_jobs=1)
    return HypergraphClustering(k, structure=structure, random_state=run).fit_predict(X)


def _clustered(name: str, cluster: Clusterer, X: NDArray, y: NDArray, run: int) -> Row:
    start = perf_counter()
    labels = cluster(X, len(np.unique(y)), run)
    seconds = perf_counter() - start
    ac, nmi = clustering_scores(y, labels)
    return {"task": "clustering", "method": name, "ac": ac, "nmi": nmi, "seconds": seconds}


def classification_rows(
    X: NDArray, y: NDArray, run: int, counts: Collection[int] = LABELS_PER_CLASS
) -> Iterator[Row]:
    """Classify the samples by every method, from some labels of every class and from 10 %."""
    start = perf_counter()
    structure = FrozenEstimator(ElasticNetHypergraph(n_jobs=1).fit(X))
    built = perf_counter() - start

    def by_default(X: NDArray, partial: NDArray) -> NDArray:
        return HypergraphClassifier(structure=structure).fit(X, partial).transduction_

    for labels, labeled in label_draws(y, run, counts):
        partial = np.where(labeled, y, -1)
        few = labeled.sum() <= len(np.unique(y))
        for name, classify in ({OURS: by_default} | CLASSIFIERS).items():
            if few and name in NEEDS_MORE_LABELS:
                continue
            start = perf_counter()
            correct = classify(X, partial) == y
            yield {
                "task": "classification",
                "labels": labels,
                "method": name,
                "seconds": perf_counter() - start + (built if name == OURS else 0),
                "accuracy": correct[~labeled].mean(),
            }


def label_draws(y: NDArray, run: int, counts: Collection[int]) -> Iterator[tuple[str, NDArray]]:
    """Yield names and masks of labeled samples: some of every class, and a share of every class."""
    for count in counts:
        yield f"{count} per class", draw_labels_per_class(y, count, np.random.RandomState(run))
    yield f"{SHARE:.0%}", draw_labels(y, SHARE, np.random.RandomState(run))


def uneven_rows(X: NDArray, y: NDArray, run: int) -> Iterator[Row]:
    """Cluster the samples, and classify them from five labels of every class and from 10 %."""
    yield from clustering_rows(X, y, run)
    yield from classification_rows(X, y, run, counts=(5,))


def count_rows(X: NDArray, y: NDArray, run: int) -> Iterator[Row]:
    """Estimate the number of clusters."""
    graph = ElasticNetHypergraph(n_jobs=1).fit(X).graph_
    yield {"task": "count", "method": OURS} | estimated_count(graph, y, run)


def _of_trial(rows: Callable[[selection.Trial], Iterator[Row]]) -> Rows:
    """The rows of a trial, with 10 % of the labels given."""

    def of_samples(X: NDArray, y: NDArray, run: int) -> Iterator[Row]:
        labeled = draw_labels(y, SHARE, np.random.RandomState(run))
        yield from rows(selection.Trial(X, y, labeled, run))

    return of_samples


# --- pieces ----------------------------------------------------------------------------------

PARTS: dict[str, tuple[Rows, Sequence[str], int]] = {
    "settings": (_of_trial(selection.setting_rows), (WHOLE,), 1),
    "variations": (_of_trial(variations.variation_rows), (WHOLE, "1:10"), 1),
    "preprocessing": (_of_trial(selection.preprocessing_rows), (WHOLE, "1:10"), 1),
    "clustering": (clustering_rows, (WHOLE,), RUNS),
    "classification": (classification_rows, (WHOLE,), RUNS),
    "uneven": (uneven_rows, ("1:10", "1:30"), RUNS),
    "count": (count_rows, (WHOLE, "1:10"), RUNS),
}
"""Function, ratios of the class sizes and largest number of runs of the parts of the page."""

TIMED = ("clustering", "classification", "uneven")
"""The parts whose seconds are stored."""


@dataclass(frozen=True)
class Piece:
    """What is computed at a time: one part, data set, ratio of class sizes and run."""

    part: str
    name: str
    thinned: str
    run: int

    def compute(self, folder: Path) -> list[Row]:
        """Compute the rows, on one core."""
        if self.part in TIMED:
            _warm_up()
        X, y = load_samples(self.name, folder, self.run)
        if self.thinned != WHOLE:
            rows = thin(y, RATIOS[self.thinned], self.run)
            X, y = X[rows], y[rows]
        fixed = {
            "part": self.part, "data set": self.name, "kind": KINDS[self.name],
            "thinned": self.thinned, "run": self.run,
        }  # fmt: skip
        with threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return [fixed | row for row in PARTS[self.part][0](X, y, self.run)]


def pieces(
    parts: Collection[str] = tuple(PARTS), only: Collection[str] = tuple(KINDS), runs: int = RUNS
) -> list[Piece]:
    """Return the pieces of some parts, data sets and runs, those that take longest first."""
    return [
        Piece(part, name, thinned, run)
        for part, (_, ratios, most) in PARTS.items()
        for name in reversed(KINDS)
        for thinned in ratios
        for run in range(min(runs, most))
        if part in parts and name in only and not (thinned == "1:30" and name in SMALL)
    ]


def missing(wanted: list[Piece]) -> list[Piece]:
    """Return the pieces that are not stored."""
    stored = {_piece(row) for row in _stored_rows()}
    return [piece for piece in wanted if piece not in stored]


def is_complete() -> bool:
    """Whether all parts and data sets are stored, each for as many runs as any."""
    runs = 1 + max((int(row["run"]) for row in _stored_rows()), default=-1)
    return runs > 0 and not missing(pieces(runs=runs))


def measure(
    folder: Path, wanted: list[Piece], report: Callable[[int, int], None] | None = None
) -> None:
    """Compute the pieces that are not stored, and store each as soon as it is computed.

    Parameters
    ----------
    folder : Path
        Folder of the data sets.
    wanted : list of Piece
    report : callable, optional
        Called with the number of pieces done and their total.
    """
    rows: list[Row] = list(_stored_rows())
    todo = missing(wanted)
    jobs = Parallel(cpu_count(), return_as="generator_unordered")
    for done, new in enumerate(jobs(delayed(piece.compute)(folder) for piece in todo), 1):
        rows += new
        _store(rows)
        if report is not None:
            report(done, len(todo))


def _piece(row: Row) -> Piece:
    return Piece(row["part"], row["data set"], row["thinned"], int(row["run"]))


def _stored_rows() -> list[dict[str, str]]:
    return read_records(FILE) if FILE.exists() else []


def _store(rows: list[Row]) -> None:
    names, parts, ratios = list(KINDS), list(PARTS), [WHOLE, *RATIOS]

    def place(row: Row) -> tuple[int, ...]:
        piece = _piece(row)
        order = parts.index(piece.part), ratios.index(piece.thinned), names.index(piece.name)
        return *order, piece.run

    rows.sort(key=place)
    part = FILE.with_name(f"part-{FILE.name}")
    write_records(part, HEADER, rows)
    part.replace(FILE)


@cache
def _warm_up() -> None:
    """Compile what is compiled at the first call, once per process: it is not to be timed."""
    numba.set_num_threads(1)
    X = np.random.RandomState(0).rand(100, 20).astype(np.float32)
    y = np.repeat([0, 1], 50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        list(uneven_rows(X, y, 0))
