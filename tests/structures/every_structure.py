"""The structures, for tests of what holds for each of them."""

from enhg import (
    ElasticNetHypergraph,
    GaussianGraph,
    KNNHypergraph,
    L1Graph,
    L1Hypergraph,
    LaplacianEigenmapGraph,
    LowRankGraph,
    SemanticCorrelationHypergraph,
    SparseSubspaceGraph,
)

STRUCTURES = [
    ElasticNetHypergraph,
    GaussianGraph,
    KNNHypergraph,
    L1Graph,
    L1Hypergraph,
    LaplacianEigenmapGraph,
    LowRankGraph,
    SemanticCorrelationHypergraph,
    SparseSubspaceGraph,
]
