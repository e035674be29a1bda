"""Samples of images: a row for each, from the cache or made anew, within the free memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from enhg._memory import free_memory
from enhg.exceptions import InputError
from enhg.io._base import Photos, Samples, Skipped, readable
from enhg.io._decoding import ReadImage
from enhg.io._listing import ImageFolder, sort_skipped, unreadable
from enhg.io.feature_cache import CachedImage, FeatureCache

OnUnreadable = Literal["skip", "raise"]
Reader = Callable[[Sequence[Path]], Iterable[CachedImage | Skipped]]

# Images after which the cache is written: what an interrupted run loses.
_CACHE_STEP = 1024
# What is kept of an image besides its row: thumbnail, names, results.
_BYTES_PER_IMAGE = 12_288


@dataclass(frozen=True)
class Purpose:
    """What images are read for, and the memory that it needs.

    Parameters
    ----------
    text : str
        For messages: memory "to be sorted".
    n_copies : int
        Rows of an image as float32 that are in memory at the same time.
    advice : str, optional
        What to change where memory does not suffice; by default, that of the reader.
    n_stored : int, default=0
        Samples of the model that the images are compared with.
    n_copies_stored : int, default=0
        Rows of each of these that are in memory besides those of the model itself.
    """

    text: str
    n_copies: int
    advice: str | None = None
    n_stored: int = 0
    n_copies_stored: int = 0

    def bytes_needed(self, n_images: int, n_features: int) -> int:
        """Return the bytes for so many images, and for the samples of the model."""
        per_image, per_stored = (
            4 * n_copies * n_features + _BYTES_PER_IMAGE
            for n_copies in (self.n_copies, self.n_copies_stored)
        )
        return n_images * per_image + self.n_stored * per_stored


# The solver is not counted: it adapts to what is free. Measured as the growth of the peak memory:
# of `enhg cluster` from 4000 to 30 000 images with 1280 features (42 to 49 kB an image) and between
# 1280 and 1892 features (29 bytes a feature); with 1892 features, of `enhg features` from 2000 to
# 12 000 images (22 kB an image), and of `enhg predict` from 2000 to 6000 images (27 to 43 kB an
# image) and from 2000 to 6000 samples of the model (9 to 25 kB a sample).
SORTING = Purpose("to be sorted", 7)
FEATURES = Purpose("for their features", 2, "make the features of a part of them at a time")


def prediction(n_stored: int) -> Purpose:
    """Return the purpose of images that a model of `n_stored` samples assigns."""
    return Purpose("to be assigned", 4, "assign a part of them at a time", n_stored, 2)


def check_memory(
    listing: ImageFolder,
    n_features: int,
    what: str,
    advice: str,
    parameter: str | None = None,
    *,
    purpose: Purpose,
    in_flight: int = 0,
) -> None:
    """Refuse, before they are read, images for which the memory does not suffice.

    Parameters
    ----------
    listing : ImageFolder
    n_features : int
        Length of the row of an image.
    what : str
        What the images are read as, for the message.
    advice : str
        What to change, for the message, unless the purpose has advice of its own.
    parameter : str, optional
        The parameter to change by this advice.
    purpose : Purpose
    in_flight : int, default=0
        Bytes of the images that are in memory while the others wait to be read.
    """
    n_images = len(listing.files)
    needed = purpose.bytes_needed(n_images, n_features) + in_flight
    free = free_memory()
    if needed > free:
        raise InputError(
            f"{listing.folder}: {n_images} images as {what} need about {needed / 1e9:.3g} GB of "
            f"memory {purpose.text}, {free / 1e9:.3g} GB are free; {purpose.advice or advice}",
            parameter=parameter if purpose.advice is None else None,
        )


def read_image_samples(
    listing: ImageFolder,
    read: Reader,
    recipe: dict[str, Any],
    n_features: int,
    *,
    cache: FeatureCache | None,
    on_unreadable: OnUnreadable,
    progress: Callable[[int, int], object] | None,
) -> Samples:
    """Samples of the images in a folder, one row for each that can be read.

    Parameters
    ----------
    listing : ImageFolder
    read : callable
        Gives for each of some files, in order, the image with its row as value, or `Skipped`.
    recipe : dict
        What identifies the rows in the cache.
    n_features : int
        Length of a row.
    cache : FeatureCache or None
        Images in it are not read again; new ones are added to it.
    on_unreadable : {"skip", "raise"}
        As in `enhg.io.read_samples`.
    progress : callable or None
        Called with (images done, images in total): first with those of the cache.
    """
    images: list[CachedImage | Skipped | None] = [None] * len(listing.files)
    if cache is not None:
        images = [*cache.lookup(listing.files, recipe, n_features)]
    _read_missing(images, listing, read, recipe, cache, progress)
    kept = [(at, image) for at, image in enumerate(images) if isinstance(image, ReadImage)]
    skipped = sort_skipped(
        [*listing.skipped, *(image for image in images if isinstance(image, Skipped))]
    )
    if skipped and (on_unreadable == "raise" or not kept):
        raise unreadable(listing.folder, skipped, len(kept))
    with readable(listing.folder):
        # uint8 of pixels becomes float32 as soon as one image is deeper than 8 bits.
        X: NDArray[Any] = np.stack([image.value for _, image in kept])
    return Samples(
        X,
        [listing.names[at] for at, _ in kept],
        None,
        None,
        listing.folder,
        Photos.collect([listing.files[at] for at, _ in kept], [image for _, image in kept]),
        tuple(skipped),
        listing.n_ignored,
    )


def _read_missing(
    images: list[CachedImage | Skipped | None],
    listing: ImageFolder,
    read: Reader,
    recipe: dict[str, Any],
    cache: FeatureCache | None,
    progress: Callable[[int, int], object] | None,
) -> None:
    """Replace None in `images`, in order; the cache is written every few images and at the end."""
    missing = [at for at, image in enumerate(images) if image is None]
    done = len(images) - len(missing)
    if progress is not None:
        progress(done, len(images))  # from here on, the speed of what is missing
    new: list[tuple[Path, CachedImage]] = []

    def keep() -> None:
        if cache is not None and new:
            files, values = zip(*new, strict=True)
            cache.add(files, values, recipe)
        new.clear()

    try:
        for at, result in zip(missing, read([listing.files[at] for at in missing]), strict=True):
            if isinstance(result, Skipped):
                images[at] = Skipped(listing.names[at], result.reason)
            else:
                images[at] = result
                new.append((listing.files[at], result))
            if len(new) == _CACHE_STEP:
                keep()
            done += 1
            if progress is not None:
                progress(done, len(images))
    finally:
        keep()
