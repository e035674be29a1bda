"""Samples of a model that are similar to new samples: names, groups and pictures."""

from __future__ import annotations

from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator

from enhg.io import Samples, label_texts
from enhg.io._decoding import open_file
from enhg.io.models import SavedModel
from enhg.learning.clustering import HypergraphClustering
from enhg.report._pictures import Pictures, draw_pictures, jpeg_size
from enhg.report._similar import nearest_fitted

THUMBNAILS = "thumbnails"
Thumbnail = tuple[bytes, tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Fitted:
    """The samples of a model that are similar to new samples.

    Attributes
    ----------
    names, labels : list of str
        Name, and cluster or class, of every one of them.
    similar : list of list of int
        For every pictured new sample the positions of those similar to it, the nearest first.
    thumbnails : list of (bytes, (int, int))
        Their photographs, from the folder of the model, with width and height; empty where these
        are not there.
    pictures : Pictures or None
        Tiles of their pixels, where there are no photographs and the model holds pixels.
    """

    names: list[str]
    labels: list[str]
    similar: list[list[int]]
    thumbnails: list[Thumbnail]
    pictures: Pictures | None


def find_fitted(saved: SavedModel, samples: Samples, pictured: NDArray) -> Fitted | None:
    """Find the samples of a model that are similar to new samples.

    Parameters
    ----------
    saved : SavedModel
    samples : Samples
        The new samples.
    pictured : ndarray of int
        Those that have pictures on the page.

    Returns
    -------
    Fitted or None
        None where there are too many pairs to compare.
    """
    model = saved.model
    structure = model.structure_
    if isinstance(structure, FrozenEstimator):
        structure = structure.estimator
    new = structure.preprocessing_.transform(samples.X[pictured].astype(structure.samples_.dtype))
    lists = nearest_fitted(new, structure.representation_.samples)
    flat = np.array([row for similar in lists for row in similar], dtype=int)
    if not len(flat):
        return None
    rows, positions = np.unique(flat, return_inverse=True)
    ends = np.cumsum([len(similar) for similar in lists])
    clusters = isinstance(model, HypergraphClustering)
    labels = label_texts(model.labels_ if clusters else model.transduction_)
    thumbnails = [] if samples.photos is None else _thumbnails(saved, rows)
    pictures = None
    if not thumbnails and saved.image_shape is not None:
        shown = Samples(structure.samples_, [], saved.image_shape, None, samples.source)
        pictures = draw_pictures(shown, None, rows)
    return Fitted(
        [str(row) if saved.names is None else saved.names[row] for row in rows],
        [labels[row] for row in rows],
        [part.tolist() for part in np.split(positions, ends[:-1])],
        thumbnails,
        pictures,
    )


def thumbnail_file(row: int) -> str:
    """Name of the file of the photograph of a sample."""
    return f"{row:06}.jpg"


def _thumbnails(saved: SavedModel, rows: NDArray) -> list[Thumbnail]:
    """Photographs of samples in the folder of the model; none unless all are those of its run."""
    if saved.checksums is None or saved.folder is None:
        return []
    thumbnails = []
    for row in rows:
        try:
            with open_file(saved.folder / THUMBNAILS / thumbnail_file(row)) as file:
                data = file.read()
            if crc32(data) != saved.checksums[row]:
                return []
            thumbnails.append((data, jpeg_size(data)))
        except OSError:  # no such file, or no image
            return []
    return thumbnails
