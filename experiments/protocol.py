"""The paper's protocol: which samples are drawn, and how a structure is scored on them (paper, V).

A `Job` fits one structure to one draw of samples and scores everything learned from it.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, normalized_mutual_info_score
from threadpoolctl import threadpool_limits

from enhg import (
    Hypergraph,
    HypergraphClassifier,
    HypergraphClustering,
    clustering_accuracy,
    count_clusters,
)
from enhg.datasets import Dataset, load
from experiments.methods import METHODS

Task = Literal["clustering", "classification"]
Row = dict[str, Any]

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
"""Shares of the samples that are labeled in table IV."""

VERSION = 3
"""Version of the scores: raised when a structure or a learner gives different ones."""

_COST_OF_FACES = 8  # relative to the same number of digits
_CLASS_SIZES = {"yale-b": 64, "pie": 170, "usps": 930}
_NOISE_VARIANCE = 0.1


@dataclass(frozen=True)
class Draw:
    """Samples of the first classes of a data set.

    Attributes
    ----------
    dataset : str
        Name of the data set, as in `enhg.datasets.load`.
    classes : int
        Number of classes.
    per_class : int
        Number of samples drawn at random from each class; 0 takes all.
    seed : int
        Seed of the random draws.
    corrupted : float
        Share of the samples, drawn at random, that get Gaussian noise of variance 0.1 (features
        scaled so that the largest is 1).
    """

    dataset: str
    classes: int
    per_class: int = 0
    seed: int = 0
    corrupted: float = 0.0

    def load(self, folder: Path) -> Dataset:
        """Load the samples from a folder of data sets."""
        data = load_dataset(self.dataset, folder).first_classes(self.classes)
        if self.per_class:
            data = data.sampled(self.per_class, np.random.RandomState(self.seed))
        if self.corrupted:
            data = replace(data, X=_add_noise(data.X, self.corrupted, self.seed))
        return data

    def by_run(self, n_runs: int) -> Iterator[tuple[Draw, tuple[int, ...]]]:
        """Yield draws with the runs that use them: one draw per run where it is random."""
        if not self.per_class and not self.corrupted:
            yield self, tuple(range(n_runs))
            return
        for run in range(n_runs):
            yield replace(self, seed=run), (run,)


def _add_noise(X: NDArray, share: float, seed: int) -> NDArray:
    random_state = np.random.RandomState(seed)
    images = X / X.max()
    rows = random_state.permutation(len(X))[: round(share * len(X))]
    noise = random_state.standard_normal((len(rows), X.shape[1]))
    images[rows] += np.sqrt(_NOISE_VARIANCE) * noise
    return images.astype(np.float32)


@cache
def load_dataset(name: str, folder: Path) -> Dataset:
    """Load a data set, once per process."""
    return load(name, folder)


@dataclass(frozen=True)
class Job:
    """One structure fitted to one draw, and the learners scored on it.

    Attributes
    ----------
    task : Task
        What the learners do.
    draw : Draw
        The samples.
    method : str
        Name of the structure in `METHODS`.
    structure : str
        Parameters of the structure as JSON (see `to_json`).
    learners : tuple of str
        Parameters of each learner as JSON.
    runs : tuple of int
        Random states of clustering, or of the draw of labels.
    shares : tuple of float
        Shares of labeled samples; (0.0,) in clustering.
    """

    task: Task
    draw: Draw
    method: str
    structure: str
    learners: tuple[str, ...]
    runs: tuple[int, ...]
    shares: tuple[float, ...] = (0.0,)

    @property
    def cost(self) -> int:
        """Estimated duration in arbitrary units."""
        draw = self.draw
        n_samples = draw.classes * (draw.per_class or _CLASS_SIZES[draw.dataset])
        relative = 1 if draw.dataset == "usps" else _COST_OF_FACES
        return n_samples**2 * METHODS[self.method].cost * relative

    def row_keys(self) -> list[Row]:
        """Return the rows that `evaluate` gives, without their scores."""
        fixed = {"version": VERSION, "task": self.task, **asdict(self.draw), "method": self.method}
        return [
            fixed | {"structure": self.structure, "learner": learner, "run": run, "share": share}
            for learner, run, share in product(self.learners, self.runs, self.shares)
        ]


def to_json(parameters: dict[str, Any]) -> str:
    """Write parameters as the text that identifies them in files."""
    return json.dumps(parameters, sort_keys=True)


def evaluate(job: Job, folder: Path) -> list[Row]:
    """Run a job.

    `seconds` is the time of fitting the structure and one learner; `warnings` counts the
    iterations that did not converge.
    """
    data = job.draw.load(folder)
    with threadpool_limits(limits=1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", ConvergenceWarning)
        start = time.perf_counter()
        structure = METHODS[job.method].build(json.loads(job.structure)).fit(data.X)
        fit_time = time.perf_counter() - start
        fit_warnings = len(caught)
        rows = []
        for key in job.row_keys():
            del caught[fit_warnings:]
            start = time.perf_counter()
            scores = _score(job.task, data, structure.graph_, key)
            seconds = round(fit_time + time.perf_counter() - start, 3)
            rows.append(key | scores | {"seconds": seconds, "warnings": len(caught)})
    return rows


def _score(task: Task, data: Dataset, graph: Any, key: Row) -> Row:
    parameters = json.loads(key["learner"])
    if task == "clustering":
        labels = HypergraphClustering(
            len(np.unique(data.y)), structure=graph, random_state=key["run"], **parameters
        ).fit_predict(data.X)
        ac, nmi = clustering_scores(data.y, labels)
        return {"ac": round(ac, 5), "nmi": round(nmi, 5), "accuracy": ""}
    labeled = draw_labels(data.y, key["share"], np.random.RandomState(key["run"]))
    model = HypergraphClassifier(structure=graph, **parameters)
    model.fit(data.X, np.where(labeled, data.y, -1))
    accuracy = accuracy_score(data.y[~labeled], model.transduction_[~labeled])
    return {"ac": "", "nmi": "", "accuracy": round(accuracy, 5)}


def clustering_scores(y: NDArray, labels: NDArray) -> tuple[float, float]:
    """AC, and NMI normalized by the geometric mean of the entropies."""
    nmi = normalized_mutual_info_score(y, labels, average_method="geometric")
    return clustering_accuracy(y, labels), float(nmi)


def estimated_count(graph: Hypergraph, y: NDArray, run: int) -> Row:
    """The number of classes, and the estimated number of clusters with its witnesses."""
    count = count_clusters(graph, random_state=run)
    return {
        "classes": len(np.unique(y)),
        "estimate": count.n_clusters,
        "runner-up": count.runner_up,
        "reliable": "yes" if count.reliable else "no",
        "by the eigengap": count.by_eigengap,
        "by modularity": count.by_modularity,
        "stability": count.stability,
    }


def draw_labels(y: NDArray, share: float, random_state: np.random.RandomState) -> NDArray:
    """Draw the mask of the labeled samples: a share of every class, at least one sample."""
    labeled = np.zeros(len(y), bool)
    for label in np.unique(y):
        members = random_state.permutation(np.flatnonzero(y == label))
        labeled[members[: max(1, round(share * len(members)))]] = True
    return labeled


def draw_labels_per_class(y: NDArray, count: int, random_state: np.random.RandomState) -> NDArray:
    """Draw the mask of the labeled samples: `count` of every class.

    One sample of a class stays unlabeled, unless it is the only one.
    """
    labeled = np.zeros(len(y), bool)
    for label in np.unique(y):
        members = random_state.permutation(np.flatnonzero(y == label))
        labeled[members[: max(1, min(count, len(members) - 1))]] = True
    return labeled
