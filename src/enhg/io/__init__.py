"""Reading of samples and labels, and writing of results.

Nothing that a file holds is ever executed: pickled objects are refused.
"""

from enhg.exceptions import InputError
from enhg.io._base import Samples
from enhg.io.feature_cache import FeatureCache
from enhg.io.labels import label_texts, read_labels
from enhg.io.results import output_folder, write_table
from enhg.io.samples import read_samples

__all__ = [
    "FeatureCache",
    "InputError",
    "Samples",
    "label_texts",
    "output_folder",
    "read_labels",
    "read_samples",
    "write_table",
]
