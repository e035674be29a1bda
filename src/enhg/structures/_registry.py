"""Structures that can be saved, by the name of their class."""

from __future__ import annotations

from enhg.structures._representation_hypergraph import RepresentationHypergraph
from enhg.structures.elastic_net import ElasticNetHypergraph
from enhg.structures.l1_hypergraph import L1Hypergraph

SAVED_STRUCTURES: dict[str, type[RepresentationHypergraph]] = {
    kind.__name__: kind for kind in (ElasticNetHypergraph, L1Hypergraph)
}
