"""Pictures of the images of a labeling session."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from enhg._optional import require
from enhg.duplicates import DuplicateGroup, find_duplicates
from enhg.exceptions import InputError
from enhg.io import Samples
from enhg.io._base import Photos, Skipped
from enhg.io._decoding import load_pillow, read_image, thumbnail_size, to_jpeg
from enhg.io._listing import is_inside

_PREVIEW_SIDE = 1024  # pixels


class Pictures:
    """Small and large pictures of samples that are images.

    Parameters
    ----------
    samples : Samples
    folder : Path
        What is not in it, links followed, is not shown.
    """

    def __init__(self, samples: Samples, folder: Path) -> None:
        if samples.photos is None and samples.image_shape is None:
            raise InputError(
                f"{samples.source}: a person can only label what can be seen, got samples without "
                "images; give their folder as images",
                parameter="images",
            )
        load_pillow()
        self.samples, self.folder = samples, folder
        outside = (
            (f for f in samples.photos.files if not is_inside(f, folder)) if samples.photos else ()
        )
        if file := next(iter(outside), None):
            raise InputError(
                f"{samples.source}: only images in {folder} are shown, got {file}; give the folder "
                "of all images as images",
                parameter="images",
            )
        if samples.photos is None:
            self._low, self._high = float(samples.X.min()), float(samples.X.max())

    def sizes(self) -> list[tuple[int, int]]:
        """Width and height of every small picture."""
        photos = self.samples.photos
        if photos is None:
            height, width = self.samples.image_shape[:2]  # type: ignore[index]
            return [(width, height)] * len(self.samples.X)
        return [thumbnail_size(size) for size in photos.sizes]

    def small(self, row: int) -> tuple[bytes, str]:
        """The picture for a sheet, and its media type; FileNotFoundError if there is none."""
        if self.samples.photos is None:
            return self._draw_png(row), "image/png"
        if thumbnail := self.samples.photos.thumbnails[row]:
            return thumbnail, "image/jpeg"
        raise FileNotFoundError(f"{self.samples.photos.files[row]}: is gone")

    def large(self, row: int) -> tuple[bytes, str]:
        """A larger picture; FileNotFoundError if its file is no longer there."""
        if self.samples.photos is None:
            return self.small(row)
        file = self.samples.photos.files[row]
        if not is_inside(file, self.folder):  # it was replaced by a link since it was listed
            raise FileNotFoundError(f"{file}: leads outside of {self.folder}")
        read = read_image(file, _preview, _PREVIEW_SIDE)
        if isinstance(read, Skipped):
            raise FileNotFoundError(f"{file}: {read.reason}")
        return read.value, "image/jpeg"

    def copies(self) -> list[DuplicateGroup]:
        """Groups of photographs that show the same picture, of those that are not gone."""
        photos = self.samples.photos
        if photos is None:
            return []
        rows = [row for row, thumbnail in enumerate(photos.thumbnails) if thumbnail]
        columns: Any = (photos.files, photos.thumbnails, photos.digests, photos.sizes)
        groups = find_duplicates(Photos(*([column[row] for row in rows] for column in columns)))
        return [replace(group, members=tuple(rows[i] for i in group.members)) for group in groups]

    def _draw_png(self, row: int) -> bytes:
        """A row of pixels as PNG."""
        shape = self.samples.image_shape
        assert shape is not None
        span = self._high - self._low or 1.0
        pixels = np.rint(255 * (self.samples.X[row].astype(float) - self._low) / span)
        image = np.clip(pixels, 0, 255).astype(np.uint8).reshape(shape)
        if image.ndim == 3:
            image = image[..., :3] if shape[2] >= 3 else image.mean(axis=2).astype(np.uint8)
        buffer = BytesIO()
        require("PIL.Image", "images").fromarray(image).save(buffer, "PNG")
        return buffer.getvalue()


def _preview(image: Any) -> bytes:
    small = image.copy()
    small.thumbnail((_PREVIEW_SIDE, _PREVIEW_SIDE))
    return to_jpeg(small, quality=88)
