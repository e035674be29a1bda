"""Transformers that make samples comparable before they are represented by each other."""

from enhg.preprocessing.choice import (
    choose_preprocessing,
    effective_dimension,
    make_preprocessing,
    preprocessing_name,
    weak_contrast,
)
from enhg.preprocessing.identity import Identity
from enhg.preprocessing.lifting import Lifting
from enhg.preprocessing.smoothing import Smoothing
from enhg.preprocessing.whitening import Whitening
from enhg.preprocessing.zero_mean import SampleNormalizer

__all__ = [
    "Identity",
    "Lifting",
    "SampleNormalizer",
    "Smoothing",
    "Whitening",
    "choose_preprocessing",
    "effective_dimension",
    "make_preprocessing",
    "preprocessing_name",
    "weak_contrast",
]
