"""What both learners found, in one form: every sample in a group, with its scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import euclidean_distances

from enhg.graph import Graph
from enhg.hypergraph import Hypergraph
from enhg.io import label_texts
from enhg.io.images import natural_key
from enhg.learning.classification import HypergraphClassifier
from enhg.learning.clustering import HypergraphClustering
from enhg.learning.scores import doubtful, outlying
from enhg.learning.spectral import embed, fragments, top_eigenpairs
from enhg.run import of_classes, of_clusters
from enhg.structures.elastic_net import ElasticNetHypergraph

_MOST_EIGENVECTORS = 60  # of a classifier's hypergraph


@dataclass(frozen=True)
class Results:
    """A fitted learner's groups (clusters or classes) and the scores of its samples.

    Attributes
    ----------
    kind : "cluster" or "class"
    names : list of str
        Of the groups; "" is the group of the samples that no label reached.
    group, rival : ndarray of int
        The group of every sample, and the one it would be in else (−1: there is none).
    confidence, outlying, foreign : ndarray
    truth : ndarray of int
        Into `truths`, −1 where it is not known.
    given : ndarray of bool
    points : ndarray of shape (n_samples, n_dimensions)
        What the map is drawn of.
    eigenvalues : ndarray
    count : the estimate of the number of clusters, or None
    scores : list of (str, float)
        Against the truth, where that is known.
    """

    kind: str
    graph: Hypergraph | Graph
    names: list[str]
    group: NDArray
    rival: NDArray
    confidence: NDArray
    outlying: NDArray
    foreign: NDArray
    truth: NDArray
    truths: list[str]
    given: NDArray
    points: NDArray
    eigenvalues: NDArray
    count: Any
    scores: list[tuple[str, float]]

    @cached_property
    def doubtful(self) -> NDArray:
        """Samples that hardly any evidence puts into their group, of those that are in one."""
        named = np.array([name != "" for name in self.names])
        classes = int(named.sum()) if self.kind == "class" else None
        return named[self.group] & doubtful(self.confidence, classes)

    @cached_property
    def outliers(self) -> NDArray:
        return outlying(self.outlying)

    @cached_property
    def piece(self) -> NDArray:
        """Size of every sample's component where that is a fragment, 0 elsewhere."""
        count, component = self.graph.connected_components()
        sizes = np.bincount(component, minlength=count)[component]
        return np.where(fragments(self.graph, len(self.names)), sizes, 0)


def results_of(
    model: HypergraphClustering | HypergraphClassifier,
    structure: ElasticNetHypergraph,
    labels: NDArray | None,
    given: NDArray | None,
) -> Results:
    """The results of a fitted learner, with the true labels as far as they are known."""
    n = len(model.confidence_)
    texts = [""] * n if labels is None else label_texts(labels)
    truths = in_natural_order(set(texts) - {""})
    truth = _places(texts, truths)
    if isinstance(model, HypergraphClassifier):
        reached = label_texts(model.transduction_)
        names = in_natural_order({*label_texts(model.classes_), *reached})
        group, rival = _places(reached, names), _second_class(model, names)
        count = min(n, 2 * len(model.classes_) + 10, _MOST_EIGENVECTORS)
        spectrum = top_eigenpairs(model.graph_, count, random_state=0)
        points = embed(spectrum, min(count, len(model.classes_)), "equal")
        eigenvalues, estimate = spectrum.values, None
    else:
        names = [str(number) for number in range(model.n_clusters_)]
        group, rival = model.labels_, _second_cluster(model)
        points, eigenvalues = model.embedding_, model.spectrum_.values
        estimate = model.cluster_count_
    return Results(
        kind="class" if isinstance(model, HypergraphClassifier) else "cluster",
        graph=model.graph_,
        names=names,
        group=np.asarray(group),
        rival=rival,
        confidence=model.confidence_,
        outlying=structure.outlier_scores_,
        foreign=model.boundary_scores_,
        truth=truth,
        truths=truths,
        given=np.zeros(n, bool) if given is None else np.asarray(given) != "",
        points=points,
        eigenvalues=eigenvalues,
        count=estimate,
        scores=_scores(model, labels, given),
    )


def _scores(
    model: HypergraphClustering | HypergraphClassifier, truth: NDArray | None, given: NDArray | None
) -> list[tuple[str, float]]:
    if isinstance(model, HypergraphClustering):
        found = of_clusters(model, truth)
    else:
        none = np.full(len(model.confidence_), "")
        found = of_classes(model, none if given is None else np.asarray(given), truth)
    names = {"ac": "AC", "nmi": "NMI", "accuracy": "accuracy"}
    return [(name, found[key]) for key, name in names.items() if key in found]


def in_natural_order(names: set[str]) -> list[str]:
    """Names with the numbers in them in order; "" comes last.

    >>> in_natural_order({"face 10", "face 9", ""})
    ['face 9', 'face 10', '']
    """
    return sorted(names, key=lambda name: (name == "", natural_key(name)))


def _places(texts: Sequence[str], names: Sequence[str]) -> NDArray:
    place = {name: at for at, name in enumerate(names)}
    return np.array([place.get(text, -1) for text in texts])


def _second_class(model: HypergraphClassifier, names: Sequence[str]) -> NDArray:
    """The class of the second largest share, where it has one."""
    shares = np.array(model.label_distributions_)
    rows = np.arange(len(shares))
    shares[rows, shares.argmax(axis=1)] = 0
    second = shares.argmax(axis=1)
    places = _places(label_texts(model.classes_), names)
    return np.where(shares[rows, second] > 0, places[second], -1)


def _second_cluster(model: HypergraphClustering) -> NDArray:
    """The cluster whose center is the next after the own."""
    distances = euclidean_distances(model.embedding_, model.cluster_centers_)
    distances[np.arange(len(distances)), model.labels_] = np.inf
    none = np.full(len(distances), -1)
    return none if model.n_clusters_ == 1 else distances.argmin(axis=1)
