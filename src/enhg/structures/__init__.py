"""Structures: estimators that turn samples into a hypergraph or a graph."""
