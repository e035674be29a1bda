"""What the learners share: from samples to the hypergraph or graph that they work on, and from new
samples to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from enhg._progress import Progress
from enhg.graph import Graph
from enhg.hypergraph import Hypergraph
from enhg.preprocessing import check_samples
from enhg.structures.elastic_net import Attachment, ElasticNetHypergraph

_OF_STRUCTURE = ("representation_", "outlier_scores_")


@dataclass(frozen=True)
class Prediction:
    """Where new samples belong.

    Attributes
    ----------
    labels : ndarray of shape (n_new,)
        The mark of a missing label (−1, an empty string, or None beside truth values) where nothing
        rebuilds the sample.
    confidence : ndarray of shape (n_new,)
        As `confidence_` of the learner.
    outlier_scores : ndarray of shape (n_new,)
        As `outlier_scores_`.
    """

    labels: NDArray
    confidence: NDArray
    outlier_scores: NDArray


def fit_structure(learner: Any, X: ArrayLike) -> None:
    """Check X, build `learner.graph` of it, and set what it gives on the learner.

    Sets `graph_`, `structure_` (None for a ready one), `representation_` and `outlier_scores_`
    where the structure has them, and scikit-learn's `n_features_in_`.
    """
    samples = check_samples(X, min_samples=2)
    validate_data(learner, X, skip_check_array=True)
    for name in _OF_STRUCTURE:
        vars(learner).pop(name, None)  # an earlier fit's, which this one may not have
    graph = learner.structure
    if isinstance(graph, Hypergraph | Graph):
        learner.structure_, learner.graph_ = graph, graph
    else:
        structure = ElasticNetHypergraph() if graph is None else graph
        if isinstance(structure, type) or not hasattr(structure, "fit"):
            raise ValueError(
                f"structure must be a structure, a Hypergraph or a Graph, got {graph!r}"
            )
        if not isinstance(structure, FrozenEstimator):
            structure = clone(structure)
            structure.fit(samples, **({"progress": True} if learner.verbose else {}))
        learner.structure_, learner.graph_ = structure, structure.graph_
        for name in _OF_STRUCTURE:
            if hasattr(structure, name):
                setattr(learner, name, getattr(structure, name))
    if learner.graph_.n_vertices != len(samples):
        raise ValueError(
            f"graph has {learner.graph_.n_vertices} vertices, but X has {len(samples)} samples"
        )


def attach(learner: Any, X: ArrayLike, progress: Progress) -> Attachment:
    """New samples, attached to those that the learner was fitted to."""
    check_is_fitted(learner)
    samples = check_samples(X)
    validate_data(learner, X, skip_check_array=True, reset=False)
    if not hasattr(learner.structure_, "attach"):
        have = type(learner.graph_ if learner.structure_ is None else learner.structure_).__name__
        raise ValueError(
            f"structure must be able to attach new samples, as ElasticNetHypergraph is; got a {have}"
        )
    return learner.structure_.attach(samples, progress=progress)
