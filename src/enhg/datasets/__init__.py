"""Data sets of the paper, from local files, and scikit-learn's digits."""

from enhg.datasets.loaders import Dataset, load

__all__ = ["Dataset", "load"]
