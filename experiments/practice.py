"""Measurements of the extensions.

The parameters are the defaults throughout. Labels are used for scoring, and for the samples that
are given one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import average_precision_score
from sklearn.neighbors import LocalOutlierFactor

from enhg import (
    ElasticNetHypergraph,
    HypergraphClassifier,
    HypergraphClustering,
    clustering_accuracy,
)
from enhg.datasets import Dataset
from experiments.paths import RESULTS
from experiments.protocol import (
    Draw,
    draw_labels,
    draw_labels_per_class,
    estimated_count,
    load_dataset,
)
from experiments.tabular import write_csv

FOLDER = RESULTS / "practice"
"""The scores of single runs, one CSV file per measurement."""

Row = dict[str, Any]

_DRAWS = {
    "digits": Draw("digits", 10),
    "Yale B 10": Draw("yale-b", 10),
    "Yale B 38": Draw("yale-b", 38),
    "PIE 15": Draw("pie", 15),
    "USPS": Draw("usps", 10, 200),
    "MNIST": Draw("mnist", 10, 300),
}
_COUNTED = _DRAWS | {
    "digits, 5 classes": Draw("digits", 5),
    "Yale B 5": Draw("yale-b", 5),
    "Yale B 20": Draw("yale-b", 20),
    "PIE 5": Draw("pie", 5),
    "USPS, 4 digits": Draw("usps", 4, 200),
    "USPS, 6 digits": Draw("usps", 6, 200),
}
_CORRUPTED = ("Yale B 10", "Yale B 38", "digits", "USPS")
RUNS = 5
BUDGETS = (1, 2, 3, 5, 8)  # labels per class on average


def _partial_labels(y: NDArray, rows: NDArray | Sequence[int]) -> NDArray:
    """The labels of some rows, −1 elsewhere."""
    partial = np.full(len(y), -1)
    partial[rows] = y[rows]
    return partial


def _unlabeled_accuracy(y: NDArray, partial: NDArray, labels: NDArray) -> float:
    return float((labels == y)[partial == -1].mean())


# --- new samples -----------------------------------------------------------------------------


def new_samples(data: Dataset, run: int) -> Iterator[Row]:
    """Predict one half of the samples from the other; compare with fitting all together."""
    random_state = np.random.RandomState(run)
    fitted = np.zeros(len(data.y), bool)
    for label in np.unique(data.y):
        members = random_state.permutation(np.flatnonzero(data.y == label))
        fitted[members[: len(members) // 2]] = True
    structure = FrozenEstimator(ElasticNetHypergraph(n_jobs=1).fit(data.X[fitted]))
    graph = ElasticNetHypergraph(n_jobs=1).fit(data.X).graph_
    yield _new_samples_clustered(data, fitted, structure, graph, run)
    labeled = fitted.copy()
    labeled[fitted] = draw_labels(data.y[fitted], 0.1, random_state)
    yield _new_samples_classified(data, fitted, structure, graph, np.where(labeled, data.y, -1))


def _new_samples_clustered(
    data: Dataset, fitted: NDArray, structure: FrozenEstimator, graph: Any, run: int
) -> Row:
    k, X, y = len(np.unique(data.y)), data.X, data.y
    half = HypergraphClustering(k, structure=structure, random_state=run).fit(X[fitted])
    everything = HypergraphClustering(k, structure=graph, random_state=run).fit(X)
    return {
        "task": "clustering",
        "all fitted": clustering_accuracy(y[~fitted], everything.labels_[~fitted]),
        "half fitted": clustering_accuracy(y[fitted], half.labels_),
        "other half predicted": clustering_accuracy(y[~fitted], half.predict(X[~fitted])),
        "agreement": float((half.predict(X[fitted]) == half.labels_).mean()),
    }


def _new_samples_classified(
    data: Dataset, fitted: NDArray, structure: FrozenEstimator, graph: Any, partial: NDArray
) -> Row:
    X, y = data.X, data.y
    half = HypergraphClassifier(structure=structure).fit(X[fitted], partial[fitted])
    everything = HypergraphClassifier(structure=graph).fit(X, partial)
    return {
        "task": "classification",
        "all fitted": float((everything.transduction_ == y)[~fitted].mean()),
        "half fitted": _unlabeled_accuracy(y[fitted], partial[fitted], half.transduction_),
        "other half predicted": float((half.predict(X[~fitted]) == y[~fitted]).mean()),
        "agreement": float((half.predict(X[fitted]) == half.transduction_).mean()),
    }


# --- number of clusters ------------------------------------------------------------------------


def cluster_count(data: Dataset, run: int) -> Iterator[Row]:
    """Estimate the number of clusters."""
    yield estimated_count(ElasticNetHypergraph(n_jobs=1).fit(data.X).graph_, data.y, run)


# --- outliers --------------------------------------------------------------------------------


def _corrupt(image: NDArray, noise: NDArray, corner: NDArray, kind: str) -> NDArray:
    """Replace the image, or a rectangle of half its sides, by noise, one gray level or black."""
    if kind == "noise":
        return noise
    side = np.array(image.shape) // 2
    top, left = (corner * (np.array(image.shape) - side + 1)).astype(int)
    rectangle = (slice(top, top + side[0]), slice(left, left + side[1]))
    corrupted = image.copy()
    corrupted[rectangle] = {"block": noise[rectangle], "gray": noise[0, 0], "black": 0.0}[kind]
    return corrupted


def _corrupt_tenth(data: Dataset, kind: str, run: int) -> tuple[NDArray, NDArray]:
    """Samples of which a tenth is corrupted, and the mask of those."""
    rng = np.random.default_rng(run)
    X = np.array(data.X, dtype=np.float64)
    corrupted = rng.permutation(len(X)) < len(X) // 10
    for row in np.flatnonzero(corrupted):
        noise = rng.uniform(X.min(), X.max(), data.image_shape)
        image = X[row].reshape(data.image_shape)
        X[row] = _corrupt(image, noise, rng.uniform(size=2), kind).ravel()
    return X, corrupted


def outliers(data: Dataset, run: int) -> Iterator[Row]:
    """Average precision of outlier scores when a tenth of the samples is corrupted."""
    for kind in ("noise", "block", "gray", "black"):
        X, corrupted = _corrupt_tenth(data, kind, run)
        structure = ElasticNetHypergraph(n_jobs=1).fit(X)
        samples = structure.representation_.samples
        scores = {
            "enhg": structure.outlier_scores_,
            "LOF": -LocalOutlierFactor().fit(X).negative_outlier_factor_,
            "LOF, preprocessed": -LocalOutlierFactor().fit(samples).negative_outlier_factor_,
            "IsolationForest": -IsolationForest(random_state=run).fit(X).score_samples(X),
        }
        yield {"corrupted by": kind} | {
            method: average_precision_score(corrupted, score) for method, score in scores.items()
        }


# --- samples to label next -------------------------------------------------------------------


def suggestions(data: Dataset, run: int) -> Iterator[Row]:
    """Accuracy with the labels of suggested samples, and of as many random ones.

    These are drawn from all samples, or as many of every class.
    """
    graph = ElasticNetHypergraph(n_jobs=1).fit(data.X).graph_
    k, y = len(np.unique(data.y)), data.y
    shuffled = np.random.default_rng(run).permutation(len(y))

    def classify(rows: NDArray | list[int]) -> tuple[HypergraphClassifier, float]:
        partial = _partial_labels(y, rows)
        classifier = HypergraphClassifier(structure=graph).fit(data.X, partial)
        return classifier, _unlabeled_accuracy(y, partial, classifier.transduction_)

    model: Any = HypergraphClustering(k, structure=graph, random_state=run).fit(data.X)
    suggested: list[int] = []
    for budget in BUDGETS:
        suggested += model.suggest(budget * k - len(suggested)).tolist()
        model, accuracy = classify(suggested)
        _, random_accuracy = classify(shuffled[: budget * k])
        of_every_class = draw_labels_per_class(y, budget, np.random.RandomState(run))
        _, even_accuracy = classify(np.flatnonzero(of_every_class))
        yield {
            "labels per class": budget,
            "suggested": accuracy,
            "random": random_accuracy,
            "random, of every class": even_accuracy,
        }


# --- all measurements --------------------------------------------------------------------------


@dataclass(frozen=True)
class Measurement:
    """A function from samples and run to rows, the data sets and the number of runs."""

    measure: Callable[[Dataset, int], Iterator[Row]]
    datasets: tuple[str, ...]
    runs: int
    varied_classes: bool = False


MEASUREMENTS = {
    "new-samples": Measurement(new_samples, tuple(_DRAWS), RUNS),
    "cluster-count": Measurement(cluster_count, tuple(_COUNTED), RUNS, varied_classes=True),
    "outliers": Measurement(outliers, _CORRUPTED, RUNS),
    "suggestions": Measurement(suggestions, tuple(_DRAWS), RUNS),
}


def _draw(name: str, folder: Path, run: int, *, varied_classes: bool) -> Dataset:
    """The samples of a run; with varied classes, every run after the first draws its own."""
    draw = _COUNTED[name]
    if not varied_classes or run == 0:
        return Draw(draw.dataset, draw.classes, draw.per_class, run).load(folder)
    whole = load_dataset(draw.dataset, folder)
    random_state = np.random.RandomState(run)
    classes = random_state.permutation(np.unique(whole.y))[: draw.classes]
    data = whole.taken(np.flatnonzero(np.isin(whole.y, classes)))
    return data.sampled(draw.per_class, random_state) if draw.per_class else data


def _run(measurement: Measurement, name: str, folder: Path, run: int) -> list[Row]:
    data = _draw(name, folder, run, varied_classes=measurement.varied_classes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unrepresented samples show in the scores
        return [{"data set": name, "run": run} | row for row in measurement.measure(data, run)]


def measure(name: str, folder: Path, progress: Callable[[int, int], None] | None) -> None:
    """Run one measurement and store its scores."""
    measurement = MEASUREMENTS[name]
    tasks = [(dataset, run) for dataset in measurement.datasets for run in range(measurement.runs)]
    jobs = Parallel(cpu_count(), return_as="generator")
    rows: list[Row] = []
    for done, part in enumerate(
        jobs(delayed(_run)(measurement, dataset, folder, run) for dataset, run in tasks), 1
    ):
        rows += part
        if progress:
            progress(done, len(tasks))
    texts = ([_text(value) for value in row.values()] for row in rows)
    write_csv(FOLDER / f"{name}.csv", rows[0], texts)


def _text(value: Any) -> str:
    return f"{value:.5f}" if isinstance(value, float) else str(value)
