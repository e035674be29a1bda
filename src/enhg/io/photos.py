"""The image files behind samples of a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from enhg.exceptions import InputError
from enhg.io._base import Photos, Samples, Skipped
from enhg.io._name_finder import NameFinder
from enhg.io.images import IMAGE_SUFFIXES, list_images, read_images


def attach_photos(
    samples: Samples,
    folder: Path | None,
    *,
    n_jobs: int | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> Samples:
    """Find the image of every sample, and read its thumbnail.

    Parameters
    ----------
    samples : Samples
        Read from a file.
    folder : Path or None
        The folder of the images. The image of a sample has its name, which may lack leading folders
        or the extension, as long as it matches one image only. Samples that have no names need one
        image for each of them, in natural order. Without a folder, the names may be paths of
        images, absolute or relative to the folder of the file; samples with other names are
        returned as they are.
    n_jobs : int, optional
        Number of threads.
    progress : callable, optional
        Called with (number of images read, total) after each image.

    Returns
    -------
    Samples
        With `photos`; the names are those of the images in the folder.

    Raises
    ------
    InputError
        When images and samples do not match, or an image cannot be read.
    """
    names = samples.names
    if folder is None:
        files = [samples.source.parent / name for name in names]
        if not all(file.suffix.lower() in IMAGE_SUFFIXES and file.is_file() for file in files):
            return samples
    else:
        listing = list_images(folder)
        rows = _rows_of_images(names, listing.names, folder)
        files = [listing.files[row] for row in rows]
        names = [listing.names[row] for row in rows]
    return replace(samples, names=names, photos=_read_photos(files, n_jobs, progress))


def _read_photos(
    files: list[Path], n_jobs: int | None, progress: Callable[[int, int], object] | None
) -> Photos:
    images = []
    for done, image in enumerate(read_images(files, lambda _: None, min_side=1, n_jobs=n_jobs), 1):
        if isinstance(image, Skipped):
            raise InputError(f"{image.name}: cannot be read ({image.reason})", parameter="images")
        images.append(image)
        if progress is not None:
            progress(done, len(files))
    return Photos.collect(files, images)


def _rows_of_images(names: Sequence[str], images: Sequence[str], folder: Path) -> list[int]:
    """The image of every sample, by name or else in order."""
    finder = NameFinder(images)
    only = {}
    for name in {*names}:
        match = finder.find(name)  # may be of all images, and is not kept
        if len(match) == 1:
            only[name] = match[0]
    rows = [only[name] for name in names if name in only]
    if len(rows) == len(set(rows)) == len(names):
        return rows
    numbered = all(name == str(row) for row, name in enumerate(names))
    if numbered and len(images) == len(names):
        return list(range(len(names)))
    raise InputError(
        f"{folder}: images must have the names of the {len(names)} samples"
        f"{', or be as many' if numbered else ''}, got {len(images)} images of which "
        f"{len(set(rows))} have the name of a sample",
        parameter="images",
    )
