"""Transformers that make samples comparable before they are represented by each other."""

from enhg.preprocessing.identity import Identity
from enhg.preprocessing.lifting import Lifting
from enhg.preprocessing.naming import make_preprocessing, preprocessing_name
from enhg.preprocessing.smoothing import Smoothing
from enhg.preprocessing.whitening import Whitening
from enhg.preprocessing.zero_mean import SampleNormalizer

__all__ = [
    "Identity",
    "Lifting",
    "SampleNormalizer",
    "Smoothing",
    "Whitening",
    "make_preprocessing",
    "preprocessing_name",
]
