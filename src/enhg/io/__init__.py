"""Reading samples and labels from disk, and writing results.

Nothing that a file holds is ever executed: pickled objects are refused.
"""

from enhg.io._base import InputError, Samples
from enhg.io.labels import label_texts, read_labels
from enhg.io.results import output_folder, write_labels, write_table
from enhg.io.samples import read_samples

__all__ = [
    "InputError",
    "Samples",
    "label_texts",
    "output_folder",
    "read_labels",
    "read_samples",
    "write_labels",
    "write_table",
]
