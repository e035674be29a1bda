"""Data sets of the paper, from local files, and scikit-learn's digits."""

from enhg.datasets.loaders import NAMES, Dataset, load

__all__ = ["NAMES", "Dataset", "load"]
