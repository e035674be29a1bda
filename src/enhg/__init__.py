"""Elastic net hypergraphs: cluster images without labels, and label the rest from a few."""

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from enhg.graphs.elastic_net import ElasticNetHypergraph as ElasticNetHypergraph
    from enhg.hypergraph import Hypergraph as Hypergraph
    from enhg.learning.classification import HypergraphClassifier as HypergraphClassifier
    from enhg.learning.clustering import HypergraphClustering as HypergraphClustering
    from enhg.metrics import clustering_accuracy as clustering_accuracy
    from enhg.metrics import normalized_mutual_information as normalized_mutual_information
    from enhg.metrics import unlabelled_accuracy as unlabelled_accuracy
    from enhg.preprocessing import normalize_samples as normalize_samples
    from enhg.representation.path import ElasticNetPath as ElasticNetPath
    from enhg.representation.path import elastic_net_path as elastic_net_path
    from enhg.representation.problem import Representation as Representation
    from enhg.representation.solver import self_representation as self_representation

_ROOMS = {
    "ElasticNetHypergraph": "enhg.graphs.elastic_net",
    "ElasticNetPath": "enhg.representation.path",
    "Hypergraph": "enhg.hypergraph",
    "HypergraphClassifier": "enhg.learning.classification",
    "HypergraphClustering": "enhg.learning.clustering",
    "Representation": "enhg.representation.problem",
    "clustering_accuracy": "enhg.metrics",
    "elastic_net_path": "enhg.representation.path",
    "normalize_samples": "enhg.preprocessing",
    "normalized_mutual_information": "enhg.metrics",
    "self_representation": "enhg.representation.solver",
    "unlabelled_accuracy": "enhg.metrics",
}

__all__ = sorted(_ROOMS)


def __getattr__(name: str) -> object:
    """Load a public name when it is first used: scikit-learn and Numba take a second to load."""
    if name not in _ROOMS:
        raise AttributeError(f"module 'enhg' has no attribute {name!r}")
    value = getattr(import_module(_ROOMS[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
