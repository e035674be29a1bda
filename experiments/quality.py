"""Scores of the default settings beside those of other libraries.

Every method has the samples divided by their largest absolute entry, and its default parameters
where none are given here. umap-learn and graphlearning are needed as baselines.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed
from numpy.typing import NDArray
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import normalized_mutual_info_score
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from enhg import (
    ElasticNetHypergraph,
    HypergraphClassifier,
    HypergraphClustering,
    clustering_accuracy,
)
from enhg.exceptions import InputError
from enhg.io import read_samples
from experiments.paths import RESULTS
from experiments.protocol import Draw, draw_labels
from experiments.tabular import read_records, write_csv

FILE = RESULTS / "quality.csv.gz"
"""The scores of single runs."""

RUNS = 3
SHARE = 0.1
NEIGHBORS = 10  # of the graphs of LabelSpreading and graphlearning
LABELS_PER_CLASS = (1, 3, 5)
OURS = "enhg"
DISCRIMINANT = 'enhg, method="discriminant"'
HEADER = ("data set", "kind", "task", "labels", "method", "run", "ac", "nmi", "accuracy", "seconds")

Samples = tuple[NDArray, NDArray]
Row = dict[str, Any]

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


def load_samples(name: str, folder: Path) -> Samples:
    """Load the samples of a data set, divided by their largest entry, and their classes."""
    if name in _DRAWS:
        data = _DRAWS[name][1].load(folder)
        X, y = data.X, data.y
    else:
        _, file, count = _FILES[name]
        samples = read_samples(folder / file)
        if samples.labels is None:
            raise InputError(f"{folder / file} must hold labels, got none")
        X, y = samples.X[:count], samples.labels[:count]
    X = X.astype(np.float32)
    return X / np.abs(X).max(), np.unique(y, return_inverse=True)[1]


# --- clustering ------------------------------------------------------------------------------


def _umap(X: NDArray, run: int) -> NDArray:
    from umap import UMAP

    return UMAP(n_components=10, min_dist=0.0, random_state=run).fit_transform(X)


CLUSTERERS: dict[str, Callable[[NDArray, int, int], NDArray]] = {
    OURS: lambda X, k, run: HypergraphClustering(k, random_state=run).fit_predict(X),
    "k-means": lambda X, k, run: KMeans(k, n_init=10, random_state=run).fit_predict(X),
    "Ward": lambda X, k, run: AgglomerativeClustering(k).fit_predict(X),
    "SpectralClustering": lambda X, k, run: SpectralClustering(
        k, affinity="nearest_neighbors", random_state=run
    ).fit_predict(X),
    "UMAP + k-means": lambda X, k, run: KMeans(k, n_init=10, random_state=run).fit_predict(
        _umap(X, run)
    ),
    "UMAP + HDBSCAN": lambda X, k, run: HDBSCAN(min_cluster_size=10, copy=True).fit_predict(
        _umap(X, run)
    ),
}


def clustering_rows(X: NDArray, y: NDArray, run: int) -> Iterator[Row]:
    """Cluster the samples by every method, the number of clusters given."""
    k = len(np.unique(y))
    for name, cluster in CLUSTERERS.items():
        start = perf_counter()
        labels = cluster(X, k, run)
        yield {
            "task": "clustering",
            "method": name,
            "seconds": perf_counter() - start,
            "ac": clustering_accuracy(y, labels),
            "nmi": normalized_mutual_info_score(y, labels, average_method="geometric"),
        }


# --- classification --------------------------------------------------------------------------


def _graphlearning(X: NDArray, partial: NDArray) -> NDArray:
    from graphlearning import ssl, weightmatrix

    samples, rows = X.astype(np.float64), np.flatnonzero(partial >= 0)
    neighbors = weightmatrix.knnsearch(samples, NEIGHBORS + 1, method="brute")  # and itself
    weights = weightmatrix.knn(samples, NEIGHBORS, knn_data=neighbors)
    # Its conjugate gradients, the default, took more than minutes on an unconnected graph.
    model = ssl.poisson(weights, solver="gradient_descent")
    return model.fit_predict(rows, partial[rows])


def _supervised(make: Callable[[], Any]) -> Callable[[NDArray, NDArray], NDArray]:
    def predict(X: NDArray, partial: NDArray) -> NDArray:
        labeled = partial >= 0
        return make().fit(X[labeled], partial[labeled]).predict(X)

    return predict


CLASSIFIERS: dict[str, Callable[[NDArray, NDArray], NDArray]] = {
    "LabelSpreading": lambda X, partial: (
        LabelSpreading("knn", n_neighbors=NEIGHBORS).fit(X, partial).transduction_
    ),
    "graphlearning, Poisson": _graphlearning,
    "logistic regression": _supervised(lambda: LogisticRegression(C=10, max_iter=1000)),
    "shrinkage LDA": _supervised(
        lambda: LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    ),
    "SVC": _supervised(lambda: SVC(C=10)),
}
NEEDS_MORE_LABELS = ("shrinkage LDA",)
"""Methods that need more labels than classes."""


def classification_rows(X: NDArray, y: NDArray, run: int) -> Iterator[Row]:
    """Classify the samples by every method, from several numbers of labels."""
    start = perf_counter()
    graph = ElasticNetHypergraph().fit(X).graph_
    built = perf_counter() - start
    ours = {
        name: lambda X, partial, method=method: (
            HypergraphClassifier(structure=graph, method=method).fit(X, partial).transduction_
        )
        for name, method in ((OURS, "auto"), (DISCRIMINANT, "discriminant"))
    }
    for labels, labeled in _label_draws(y, run):
        partial = np.where(labeled, y, -1)
        few = labeled.sum() <= len(np.unique(y))
        for name, classify in (ours | CLASSIFIERS).items():
            if few and name in NEEDS_MORE_LABELS:
                continue
            start = perf_counter()
            correct = classify(X, partial) == y
            yield {
                "task": "classification",
                "labels": labels,
                "method": name,
                "seconds": perf_counter() - start + (built if name in ours else 0),
                "accuracy": correct[~labeled].mean(),
            }


def _label_draws(y: NDArray, run: int) -> Iterator[tuple[str, NDArray]]:
    """Masks of labeled samples: some of every class, and a share of every class."""
    for count in LABELS_PER_CLASS:
        random_state = np.random.RandomState(run)
        labeled = np.zeros(len(y), bool)
        for label in np.unique(y):
            members = random_state.permutation(np.flatnonzero(y == label))
            labeled[members[: min(count, len(members) - 1)]] = True
        yield f"{count} per class", labeled
    yield f"{SHARE:.0%}", draw_labels(y, SHARE, np.random.RandomState(run))


# --- all -------------------------------------------------------------------------------------


def measure(folder: Path, report: Callable[[int, int], None] | None = None) -> None:
    """Score all methods on all data sets and store the scores.

    The scores of a data set and run are stored as soon as they are computed; those that are stored
    already are not computed again.
    """
    rows: list[Row] = list(read_records(FILE)) if FILE.exists() else []
    stored = {(row["data set"], int(row["run"])) for row in rows}
    tasks = [(name, run) for name in KINDS for run in range(RUNS) if (name, run) not in stored]
    jobs = Parallel(cpu_count(), return_as="generator_unordered")
    for done, new in enumerate(jobs(delayed(_measure)(name, run, folder) for name, run in tasks)):
        rows += new
        _store(rows)
        if report is not None:
            report(done + 1, len(tasks))


def _store(rows: list[Row]) -> None:
    order = {name: at for at, name in enumerate(KINDS)}
    rows.sort(key=lambda row: (row["task"], order[row["data set"]], int(row["run"])))
    write_csv(FILE, HEADER, ([_text(row.get(name, "")) for name in HEADER] for row in rows))


def _measure(name: str, run: int, folder: Path) -> list[Row]:
    X, y = load_samples(name, folder)
    fixed = {"data set": name, "kind": KINDS[name], "run": run}
    with threadpool_limits(limits=1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scored = [*clustering_rows(X, y, run), *classification_rows(X, y, run)]
    return [fixed | row for row in scored]


def _text(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)
