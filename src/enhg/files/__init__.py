"""Reading samples and labels from disk, and writing results.

Nothing that a file holds is ever executed: pickled objects are refused.
"""

from enhg.files._base import InputError, Samples
from enhg.files.labels import label_texts, read_labels
from enhg.files.results import output_folder, write_labels, write_table
from enhg.files.samples import read_samples

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
