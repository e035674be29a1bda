"""Samples from a folder of images."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import prod
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from enhg.exceptions import InputError
from enhg.io._base import Samples, Skipped, shape_text
from enhg.io._decoding import Header, ReadImage, as_pixels, load_pillow, read_header, read_image
from enhg.io._listing import (
    IMAGE_SUFFIXES,
    ImageFolder,
    list_images,
    natural_key,
    sort_skipped,
    unreadable,
)
from enhg.io.feature_cache import FeatureCache
from enhg.io.image_samples import OnUnreadable, Purpose, check_memory, read_image_samples

if TYPE_CHECKING:
    from PIL import Image

__all__ = [
    "IMAGE_SUFFIXES",
    "ImageFolder",
    "OnUnreadable",
    "ReadImage",
    "Survey",
    "list_images",
    "natural_key",
    "read_folder",
    "read_images",
    "survey",
    "working_size",
]

# Images of one size up to this side keep their pixels; others are read with at most _MAX_PIXELS.
_KEPT_SIDE = 64
_MAX_PIXELS = 1024
# Files that could hold colors: how many are decoded to see it, and what difference of the channels
# of a pixel is none.
_N_DECODED = 32
_GRAY_TOLERANCE = 8
_PIXELS_VERSION = 1  # of what is kept of the pixels of an image, part of its recipe

_S = TypeVar("_S")
_T = TypeVar("_T")


def read_images(
    files: Sequence[Path],
    convert: Callable[[Image.Image], _T],
    *,
    min_side: int,
    n_jobs: int | None = None,
) -> Iterator[ReadImage[_T] | Skipped]:
    """Read images in threads, in the order of `files`, each file once.

    Only a few images are read ahead: the memory needed does not grow with their number.

    Parameters
    ----------
    files : sequence of Path
        JPEG, PNG, WebP, TIFF, BMP, GIF, PBM, PGM, PPM, AVIF and, with the extra `heic`, HEIC. The
        format is decided by the contents.
    convert : callable
        Called in the threads with each image as a `PIL.Image.Image`, turned by its EXIF
        orientation: of mode RGB, L (gray) or F (more than 8 bits per pixel; 16 bits scaled to
        0–255, 32 bits and floats with their values). Transparent pixels are blended with white;
        only the first frame of an animation is read. An exception that it raises is passed on.
    min_side : int
        The shorter side that `convert` needs. Larger JPEG images are decoded at a reduced scale
        that is not smaller than this.
    n_jobs : int, optional
        Number of threads, negative numbers as in joblib; None for all cores.

    Returns
    -------
    iterator of ReadImage or Skipped
        `Skipped` for an image that cannot be read: damaged, empty, no image, no regular file,
        larger than 1 GB, of more than 89 megapixels to decode (`PIL.Image.MAX_IMAGE_PIXELS`), or
        of a format that needs an extra.

    Raises
    ------
    MissingDependencyError
        Without Pillow, the extra `images`.
    """
    load_pillow()
    read = partial(read_image, convert=convert, min_side=min_side)
    return _in_order(read, files, _n_threads(n_jobs))


@dataclass(frozen=True, eq=False)
class Survey:
    """What the headers of the images in a folder say.

    Attributes
    ----------
    names : tuple of str
        The images whose headers can be read.
    files : tuple of Path
        The file of each of them.
    sizes : ndarray of shape (n_images, 2)
        Width and height of each, as it is displayed.
    colored : tuple of Path
        The files that can hold colors.
    skipped : tuple of Skipped
        The other images.
    """

    names: tuple[str, ...]
    files: tuple[Path, ...]
    sizes: NDArray[np.int64]
    colored: tuple[Path, ...]
    skipped: tuple[Skipped, ...]

    @cached_property
    def is_gray(self) -> bool:
        """Whether no image has colors.

        A random sample of at most 32 of the files that can hold colors is decoded to see it.
        """
        n_decoded = min(len(self.colored), _N_DECODED)
        chosen = np.random.default_rng(0).choice(len(self.colored), n_decoded, replace=False)
        results = read_images([self.colored[at] for at in chosen], _saturation, min_side=64)
        return all(
            isinstance(image, Skipped) or image.value <= _GRAY_TOLERANCE for image in results
        )


def survey(
    listing: ImageFolder,
    n_jobs: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Survey:
    """Read the headers of images, without decoding them.

    Parameters
    ----------
    listing : ImageFolder
    n_jobs : int, optional
        As in `read_images`.
    progress : callable, optional
        Called with (number of headers read, total) after each header.

    Returns
    -------
    Survey

    Raises
    ------
    InputError
        When no header can be read.
    MissingDependencyError
        Without Pillow, the extra `images`.
    """
    load_pillow()
    headers: dict[int, Header] = {}
    skipped = list(listing.skipped)
    for at, result in enumerate(_in_order(read_header, listing.files, _n_threads(n_jobs))):
        if isinstance(result, Skipped):
            skipped.append(Skipped(listing.names[at], result.reason))
        else:
            headers[at] = result
        if progress is not None:
            progress(at + 1, len(listing.files))
    if not headers:
        raise unreadable(listing.folder, sort_skipped(skipped), 0)
    return Survey(
        tuple(listing.names[at] for at in headers),
        tuple(listing.files[at] for at in headers),
        np.array([header.size for header in headers.values()], dtype=np.int64),
        tuple(listing.files[at] for at, header in headers.items() if not header.is_gray),
        tuple(sort_skipped(skipped)),
    )


def _saturation(image: Image.Image) -> int:
    """Largest difference of the channels of a pixel."""
    pixels = np.asarray(image.convert("RGB"))
    return int((pixels.max(axis=2) - pixels.min(axis=2)).max())


def working_size(sizes: NDArray[np.int64]) -> tuple[int, int]:
    """Height and width that images are read in when no size is given.

    Images that all have one size of at most 64×64 keep it. Others get the median of their
    proportions and at most 1024 pixels, and no more than the median number of their pixels.

    Parameters
    ----------
    sizes : ndarray of shape (n_images, 2)
        Widths and heights.

    Returns
    -------
    (int, int)
        Height and width.

    Examples
    --------
    >>> working_size(np.array([[64, 48], [64, 48]]))
    (48, 64)
    >>> working_size(np.array([[4000, 3000], [3000, 2250], [3000, 4000]]))
    (28, 36)
    """
    width, height = sizes[0].tolist()
    if max(width, height) <= _KEPT_SIDE and (sizes == sizes[0]).all():
        return height, width
    proportion = float(np.median(sizes[:, 0] / sizes[:, 1]))
    n_pixels = min(_MAX_PIXELS, float(np.median(sizes.prod(axis=1))))
    height = min(max(1, round((n_pixels / proportion) ** 0.5)), _MAX_PIXELS)
    return height, min(max(1, round(proportion * height)), _MAX_PIXELS // height)


def read_folder(
    listing: ImageFolder,
    *,
    size: tuple[int, int] | None,
    gray: bool,
    on_unreadable: OnUnreadable,
    progress: Callable[[int, int], object] | None,
    n_jobs: int | None,
    cache: FeatureCache | None,
    purpose: Purpose,
) -> Samples:
    """Read the pixels of every image that is listed; parameters as in `enhg.io.read_samples`."""
    if size is None:
        headers = survey(listing, n_jobs)
        size = working_size(headers.sizes)
        listing = replace(
            listing, names=headers.names, files=headers.files, skipped=headers.skipped
        )
    shape = size if gray else (*size, 3)
    check_memory(
        listing,
        prod(shape),
        f"{shape_text(shape)} pixels",
        "use a smaller size, features of a network in place of pixels, or fewer images",
        "size",
        purpose=purpose,
    )
    # Twice the size, so that a JPEG image decoded at a reduced scale is still resized smoothly.
    read = partial(
        read_images,
        convert=partial(as_pixels, size=size, gray=gray),
        min_side=2 * max(size),
        n_jobs=n_jobs,
    )
    recipe = {"model": "pixels", "version": _PIXELS_VERSION, "size": [*size], "gray": gray}
    samples = read_image_samples(
        listing, read, recipe, prod(shape), cache=cache, on_unreadable=on_unreadable,
        progress=progress,
    )  # fmt: skip
    return replace(samples, image_shape=shape)


def _n_threads(n_jobs: int | None) -> int:
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise InputError(
            f"n_jobs must be a whole number other than 0, or None, got {n_jobs!r}",
            parameter="n_jobs",
        )
    return int(effective_n_jobs(-1 if n_jobs is None else n_jobs))


def _in_order(function: Callable[[_S], _T], items: Iterable[_S], n_threads: int) -> Iterator[_T]:
    """Results of `function` for each item, in order, computed in threads a few items ahead."""
    pending: deque[Future[_T]] = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            for item in items:
                pending.append(pool.submit(function, item))
                if len(pending) >= 2 * n_threads:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()
