"""The images of a labeling session that goes on: some may be gone by now, and others new."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from enhg.exceptions import InputError
from enhg.io import Samples
from enhg.io._base import Photos
from enhg.io._decoding import THUMBNAIL_SIDE
from enhg.labeling.export import ANSWERS
from enhg.learning.clustering import HypergraphClustering
from enhg.run import fitted_structure

_TOLERANCE = 1e-3  # of features: other versions of a network's libraries round differently


def restore(
    samples: Samples, names: Sequence[str], model: HypergraphClustering, out: Path, folder: Path
) -> Samples:
    """Samples of a session in the order that it was started with.

    Images that are gone keep their rows, without a picture; images that are new are left out. Both
    are warned of.

    Parameters
    ----------
    samples : Samples
        What is there now.
    names : sequence of str
        The images that the session was started with.
    model : HypergraphClustering
        Their clusters.
    out : Path
        The folder of the session.
    folder : Path
        The folder of the images.

    Raises
    ------
    InputError
        If no image is left, or one has changed.
    """
    rows = {name: row for row, name in enumerate(samples.names)}
    kept = np.array([rows.get(name, -1) for name in names])
    is_gone = kept < 0
    gone = [name for name, row in zip(names, kept, strict=True) if row < 0]
    new = [name for name in samples.names if name not in set(names)]
    if is_gone.all() or (samples.photos is None and (gone or new)):
        raise InputError(f"{out}: was made of other images; {_advice(out)}", parameter="out")
    _require_same(samples, kept, names, model, out)
    if gone:
        warnings.warn(
            f"{_counted(gone)} gone or cannot be read any more; labels of such images stay",
            stacklevel=2,
        )
    if new:
        warnings.warn(
            f"{_counted(new)} new and not among the images to be labeled; {_advice(out)}",
            stacklevel=2,
        )
    if not gone and samples.names == list(names):
        return samples
    assert samples.photos is not None
    photos = samples.photos
    paths = [folder / name for name in names]
    side = THUMBNAIL_SIDE
    return replace(
        samples,
        X=fitted_structure(model).samples_,
        names=list(names),
        photos=Photos(
            [photos.files[row] if row >= 0 else paths[at] for at, row in enumerate(kept)],
            [photos.thumbnails[row] if row >= 0 else b"" for row in kept],
            [photos.digests[row] if row >= 0 else "" for row in kept],
            [photos.sizes[row] if row >= 0 else (side, side) for row in kept],
        ),
    )


def _require_same(
    samples: Samples,
    kept: np.ndarray,
    names: Sequence[str],
    model: HypergraphClustering,
    out: Path,
) -> None:
    """Raise InputError if an image of the same name is another one by now."""
    stored = fitted_structure(model).samples_
    present = np.flatnonzero(kept >= 0)
    changed = present
    if samples.X.shape[1:] == stored.shape[1:] and len(stored) == len(kept):
        close = np.isclose(samples.X[kept[present]], stored[present], _TOLERANCE, _TOLERANCE)
        changed = present[~close.all(axis=1)]
    if len(changed):
        count = _counted([names[row] for row in changed.tolist()])
        raise InputError(
            f"{out}: was made of other images: {count} of another content now; put back what was "
            f"there, or {_advice(out)}",
            parameter="out",
        )


def _counted(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} is"
    return f"{len(names)} images ({names[0]} and others) are"


def _advice(out: Path) -> str:
    return f"choose another folder for the results, and begin there with {out / ANSWERS}"
