"""Spectral clustering and semi-supervised classification on graphs and hypergraphs."""
