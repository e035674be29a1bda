"""From samples to the hypergraph or graph that a learner works on: one way for all learners."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import validate_data

from enhg.graph import Graph
from enhg.graphs.elastic_net import ElasticNetHypergraph
from enhg.hypergraph import Hypergraph
from enhg.preprocessing import check_samples


def fit_structure(learner: Any, X: ArrayLike) -> None:
    """Check X, build `learner.graph` of it, and set what it gives on the learner.

    Sets `graph_`, `structure_` (None for a ready one), `representation_` where the
    structure has one, and scikit-learn's `n_features_in_`.
    """
    samples = check_samples(X, min_samples=2)
    validate_data(learner, X, skip_check_array=True)
    vars(learner).pop("representation_", None)  # an earlier fit's, which this one may not have
    if isinstance(learner.graph, Hypergraph | Graph):
        if learner.graph.n_vertices != len(samples):
            raise ValueError(
                f"graph has {learner.graph.n_vertices} vertices, but X has {len(samples)} samples"
            )
        learner.structure_, learner.graph_ = None, learner.graph
        return
    structure = ElasticNetHypergraph() if learner.graph is None else learner.graph
    if isinstance(structure, type) or not hasattr(structure, "fit"):
        raise ValueError(f"graph must be a structure, a Hypergraph or a Graph, got {structure!r}")
    structure = clone(structure)
    learner.structure_ = structure.fit(samples, **({"progress": True} if learner.verbose else {}))
    learner.graph_ = structure.graph_
    if hasattr(structure, "representation_"):
        learner.representation_ = structure.representation_
