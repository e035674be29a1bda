"""Elastic net hypergraphs: clustering of images, and classification from a few labels."""

from importlib import import_module
from typing import TYPE_CHECKING

from enhg._version import __version__ as __version__

if TYPE_CHECKING:
    from enhg.exceptions import InputError as InputError
    from enhg.graph import Graph as Graph
    from enhg.hypergraph import Hypergraph as Hypergraph
    from enhg.io.models import load_model as load_model
    from enhg.io.models import save_model as save_model
    from enhg.learning.classification import HypergraphClassifier as HypergraphClassifier
    from enhg.learning.cluster_count import ClusterCount as ClusterCount
    from enhg.learning.cluster_count import count_clusters as count_clusters
    from enhg.learning.clustering import HypergraphClustering as HypergraphClustering
    from enhg.metrics import clustering_accuracy as clustering_accuracy
    from enhg.representation.low_rank import LowRankRepresentation as LowRankRepresentation
    from enhg.representation.low_rank import low_rank_representation as low_rank_representation
    from enhg.representation.path import ElasticNetPath as ElasticNetPath
    from enhg.representation.path import elastic_net_path as elastic_net_path
    from enhg.representation.problem import Representation as Representation
    from enhg.representation.solver import self_representation as self_representation
    from enhg.structures.elastic_net import ElasticNetHypergraph as ElasticNetHypergraph
    from enhg.structures.gaussian import GaussianGraph as GaussianGraph
    from enhg.structures.hyperedges import HyperedgeRule as HyperedgeRule
    from enhg.structures.knn import KNNHypergraph as KNNHypergraph
    from enhg.structures.l1_graph import L1Graph as L1Graph
    from enhg.structures.l1_hypergraph import L1Hypergraph as L1Hypergraph
    from enhg.structures.laplacian_eigenmap import LaplacianEigenmapGraph as LaplacianEigenmapGraph
    from enhg.structures.low_rank import LowRankGraph as LowRankGraph
    from enhg.structures.semantic_correlation import (
        SemanticCorrelationHypergraph as SemanticCorrelationHypergraph,
    )
    from enhg.structures.sparse_subspace import SparseSubspaceGraph as SparseSubspaceGraph

_MODULES = {
    "ClusterCount": "enhg.learning.cluster_count",
    "ElasticNetHypergraph": "enhg.structures.elastic_net",
    "ElasticNetPath": "enhg.representation.path",
    "GaussianGraph": "enhg.structures.gaussian",
    "Graph": "enhg.graph",
    "HyperedgeRule": "enhg.structures.hyperedges",
    "Hypergraph": "enhg.hypergraph",
    "HypergraphClassifier": "enhg.learning.classification",
    "HypergraphClustering": "enhg.learning.clustering",
    "InputError": "enhg.exceptions",
    "KNNHypergraph": "enhg.structures.knn",
    "L1Graph": "enhg.structures.l1_graph",
    "L1Hypergraph": "enhg.structures.l1_hypergraph",
    "LaplacianEigenmapGraph": "enhg.structures.laplacian_eigenmap",
    "LowRankGraph": "enhg.structures.low_rank",
    "LowRankRepresentation": "enhg.representation.low_rank",
    "Representation": "enhg.representation.problem",
    "SemanticCorrelationHypergraph": "enhg.structures.semantic_correlation",
    "SparseSubspaceGraph": "enhg.structures.sparse_subspace",
    "clustering_accuracy": "enhg.metrics",
    "count_clusters": "enhg.learning.cluster_count",
    "elastic_net_path": "enhg.representation.path",
    "load_model": "enhg.io.models",
    "low_rank_representation": "enhg.representation.low_rank",
    "save_model": "enhg.io.models",
    "self_representation": "enhg.representation.solver",
}

__all__ = sorted(_MODULES)


if not TYPE_CHECKING:  # with it, type checkers would accept any name

    def __getattr__(name: str) -> object:
        """Import a public name on first use: scikit-learn and Numba take a second to import."""
        if name not in _MODULES:
            raise AttributeError(f"module 'enhg' has no attribute {name!r}")
        value = getattr(import_module(_MODULES[name]), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
