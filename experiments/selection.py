"""The choice of the settings: a grid, and its scores where a kind of data is left out.

The setting that is best on all kinds of data but one is scored on that one. This shows what the
choice of the defaults is worth on kinds of data that it was not made on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from enhg import ElasticNetHypergraph, HyperedgeRule, HypergraphClassifier, HypergraphClustering
from enhg.hypergraph import Hypergraph
from enhg.learning.partitions import METHODS
from enhg.learning.propagation import METHODS as CLASSIFICATION_METHODS
from enhg.structures.choice import choose_preprocessing, preprocessing_scores
from experiments.protocol import clustering_scores, estimated_count

Row = dict[str, Any]

PREPROCESSINGS = ("zero_mean", "smooth", "whiten")
"""What `preprocessing="auto"` compares."""

CLUSTERING, CLASSIFICATION, COUNT = "clustering", "classification", "count"
"""The tasks."""

_THRESHOLDS = (5, 10, None, 20)


@dataclass(frozen=True)
class Setting:
    """Parameters of a structure and of the learner on it; the defaults are those of the package.

    Attributes
    ----------
    preprocessing : str
    threshold : int or None
        Of `HyperedgeRule`; its default if None.
    method : str
        Of `HypergraphClustering` or `HypergraphClassifier`.
    """

    preprocessing: str = "auto"
    threshold: int | None = None
    method: str = "auto"

    def __str__(self) -> str:
        changed = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        return ", ".join(changed).replace("'", '"') or DEFAULT


DEFAULT = "the defaults"

STRUCTURES = [Setting(*values) for values in product(("auto", *PREPROCESSINGS), _THRESHOLDS)]
"""The settings that differ in the hypergraph."""

GRID = {
    CLUSTERING: [*STRUCTURES, *(Setting(method=method) for method in METHODS)],
    CLASSIFICATION: [*STRUCTURES, *(Setting(method=name) for name in CLASSIFICATION_METHODS)],
}
"""The settings of each task."""


# --- scores ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Trial:
    """Samples that settings are scored on.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of int of shape (n_samples,)
    labeled : ndarray of bool of shape (n_samples,)
        The samples whose label is given in classification.
    run : int
        Random state of clustering and counting.
    """

    X: NDArray
    y: NDArray
    labeled: NDArray
    run: int

    def score(self, task: str, graph: Hypergraph, options: Mapping[str, Any]) -> Row:
        """AC and NMI of a clustering, the accuracy of a classification, or a number of clusters.

        Parameters
        ----------
        task : {"clustering", "classification", "count"}
        graph : Hypergraph
        options : mapping of str to object
            Parameters of the learner that differ from the defaults.
        """
        return {"task": task} | _SCORES[task](self, graph, options)


def _clustered(trial: Trial, graph: Hypergraph, options: Mapping[str, Any]) -> Row:
    k = len(np.unique(trial.y))
    model = HypergraphClustering(k, structure=graph, random_state=trial.run, **options)
    ac, nmi = clustering_scores(trial.y, model.fit_predict(trial.X))
    return {"ac": ac, "nmi": nmi}


def _classified(trial: Trial, graph: Hypergraph, options: Mapping[str, Any]) -> Row:
    y, labeled = trial.y, trial.labeled
    model = HypergraphClassifier(structure=graph, **options)
    model.fit(trial.X, np.where(labeled, y, -1))
    return {"accuracy": float((model.transduction_ == y)[~labeled].mean())}


def _counted(trial: Trial, graph: Hypergraph, options: Mapping[str, Any]) -> Row:
    return estimated_count(graph, trial.y, trial.run)


_SCORES = {CLUSTERING: _clustered, CLASSIFICATION: _classified, COUNT: _counted}


def setting_rows(trial: Trial) -> Iterator[Row]:
    """Cluster and classify the samples by every setting of the grid."""
    auto = choose_preprocessing(trial.X)
    for preprocessing in PREPROCESSINGS:
        model = ElasticNetHypergraph(preprocessing=preprocessing, n_jobs=1).fit(trial.X)
        coefficients = model.representation_.coefficients
        for threshold in _THRESHOLDS:
            graph = HyperedgeRule("top", threshold).build(coefficients)
            for task, method in _methods(preprocessing == auto, threshold):
                row = trial.score(task, graph, {"method": method})
                names = (preprocessing, "auto") if method == "auto" else ()
                for name in names if preprocessing == auto else names[:1]:
                    yield row | {"method": str(Setting(name, threshold))}
                if not names:
                    yield row | {"method": str(Setting(method=method))}


def _methods(is_chosen: bool, threshold: int | None) -> list[tuple[str, str]]:
    """Tasks and methods of a hypergraph: "auto", and on the default hypergraph all others."""
    tasks = [(CLUSTERING, "auto"), (CLASSIFICATION, "auto")]
    if is_chosen and Setting(threshold=threshold) == Setting():
        tasks += [(CLUSTERING, method) for method in METHODS]
        tasks += [(CLASSIFICATION, method) for method in CLASSIFICATION_METHODS]
    return tasks


def preprocessing_rows(trial: Trial) -> Iterator[Row]:
    """The modularity that "auto" compares, and the clustering that each preprocessing gives."""
    for name, modularity in preprocessing_scores(trial.X).items():
        graph = ElasticNetHypergraph(preprocessing=name, n_jobs=1).fit(trial.X).graph_
        yield trial.score(CLUSTERING, graph, {}) | {"method": name, "modularity": modularity}


# --- leaving out kinds ---------------------------------------------------------------------------


@dataclass(frozen=True)
class LeftOut:
    """The scores of a kind of data that was left out of the choice.

    Attributes
    ----------
    kind : str
    chosen : str
        The setting of the largest mean score on the other kinds, which have equal weights.
    score, default : float
        The score on this kind of the chosen setting and of the defaults.
    best : str
        The setting of the largest score on this kind.
    best_score : float
    alternative : str
        The method of another library of the largest score on this kind.
    alternative_score : float
    """

    kind: str
    chosen: str
    score: float
    default: float
    best: str
    best_score: float
    alternative: str
    alternative_score: float


def leave_one_kind_out(
    settings: Mapping[str, Mapping[str, float]], alternatives: Mapping[str, Mapping[str, float]]
) -> list[LeftOut]:
    """Choose a setting on all kinds but one and score it on that one, for every kind.

    Parameters
    ----------
    settings : mapping
        From settings to mappings from kinds to scores; one setting is `DEFAULT`. The first of equal
        settings is chosen.
    alternatives : mapping
        The same of other methods; kinds may be missing.

    Returns
    -------
    list of LeftOut
        One for every kind.
    """
    rows = []
    for kind in settings[DEFAULT]:
        means = {
            name: np.mean([score for other, score in scores.items() if other != kind])
            for name, scores in settings.items()
        }
        chosen = max(means, key=lambda name: means[name])
        best = max(settings, key=lambda name: settings[name][kind])
        there = {name: scores[kind] for name, scores in alternatives.items() if kind in scores}
        other = max(there, key=lambda name: there[name])
        row = LeftOut(
            kind, chosen, settings[chosen][kind], settings[DEFAULT][kind],
            best, settings[best][kind], other, there[other],
        )  # fmt: skip
        rows.append(row)
    return rows
