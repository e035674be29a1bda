"""Representation of samples by other samples: elastic net, its path, and low rank."""
