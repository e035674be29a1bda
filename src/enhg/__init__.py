"""Elastic net hypergraphs: cluster images without labels, and label the rest from a few."""

__version__ = "0.1.0"
