"""Samples from a folder or file of any supported kind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from enhg.exceptions import InputError
from enhg.io._base import Samples, check_finite, readable
from enhg.io._decoding import load_pillow
from enhg.io._zarr import ZARR_SUFFIX
from enhg.io.arrays import ARRAY_SUFFIXES, no_named_arrays, read_arrays
from enhg.io.feature_cache import FeatureCache
from enhg.io.image_samples import SORTING, Purpose
from enhg.io.images import OnUnreadable, list_images, read_folder
from enhg.io.parquet import PARQUET_SUFFIXES, read_parquet
from enhg.io.tables import read_table

TABLE_SUFFIXES = (".csv", ".tsv")


def is_image_folder(path: Path) -> bool:
    """Whether a path is a folder to look for images in: any but a Zarr folder."""
    return path.is_dir() and path.suffix.lower() != ZARR_SUFFIX


def read_samples(
    path: str | os.PathLike[str],
    *,
    key: str | None = None,
    size: tuple[int, int] | None = None,
    gray: bool = True,
    on_unreadable: OnUnreadable = "skip",
    progress: Callable[[int, int], object] | None = None,
    n_jobs: int | None = None,
    cache: FeatureCache | None = None,
    purpose: Purpose = SORTING,
) -> Samples:
    """Read samples from a folder of images, an array file or a table.

    Parameters
    ----------
    path : path
        One of these:

        - A folder: the pixels of every image in it and in its sub-folders, links included, in
          natural order (img2 before img10), turned by its EXIF orientation. JPEG, PNG, WebP, TIFF,
          BMP, GIF, PBM, PGM, PPM, AVIF and, with the extra `heic`, HEIC. Images of more than
          8 bits per pixel give float32; 16 bits are scaled to 0–255, 32 bits and floats keep
          their values. Transparent pixels are blended with white. Only the first frame of an
          animation is read. Hidden files are left out.
        - ``.npy``: samples × features, samples × height × width, or samples × height × width ×
          channels. float32, float64 and uint8 are memory-mapped.
        - ``.npz``, ``.mat``, ``.h5``, ``.hdf5``, and ``.zarr``, a folder, which may be one array:
          the array `key`; else the one called X, x, data, fea, features, images, embeddings or
          embedding; else the only table of numbers. Groups that hold arrays of the same names
          (train, test) are joined, train first, then by name. A vector beside it called y, Y,
          labels, Label, label, gnd, target or targets, a number or text for each sample, holds
          the true labels, and one called names, of text, the names. **Rows are samples**, with
          one exception: when the number of labels is that of the columns (last axis) and not
          that of the rows, columns are samples.
        - ``.csv``, ``.tsv``: comma, semicolon or tab separated, with or without headings, which
          may number the columns or rise as years do. Columns are features, except one headed
          label, labels, class, target or, unless another is headed x, y, and the first, which
          holds the names when none of its cells is a number or when it is headed name, file, id,
          index or, as by pandas, nothing. Labels that are all whole numbers, or missing, are
          numbers: 1.0 and +1 are the label 1. Others are text, also 01.
        - ``.parquet``: a column of lists of numbers, all of one length, each a sample: the column
          `key`; else the one called as an array of ``.npz``; else the only one. Where there is no
          such column, every column is a feature. Labels and names are in columns headed as
          those of ``.csv``; a column of names holds text and may be anywhere, or whole numbers if
          it is the first.
    key : str, optional
        The array or the column of lists to read, for files that hold several; ``train/data``
        reaches into groups.
    size : (int, int), optional
        Height and width that every image is resized to, antialiased. For folders only. By default
        images that all have one size of at most 64×64 keep it; others are resized to the median
        of their proportions and at most 1024 pixels. Large JPEG images are decoded at a reduced
        scale, not smaller than twice this size.
    gray : bool, default=True
        Convert images to gray; else to red, green and blue. For folders only.
    on_unreadable : {"skip", "raise"}, default="skip"
        What to do with images that cannot be read: leave them out and list them in `skipped` of
        the result, or raise an error that names them. For folders only.
    progress : callable, optional
        Called with (number of images read, total) after each image.
    n_jobs : int, optional
        Number of threads that read images, negative numbers as in joblib; None for all cores.
    cache : FeatureCache, optional
        Images in it are not decoded again; new ones are added to it. For folders only.
    purpose : Purpose, default=SORTING
        What the samples are for, which decides how much memory must be free: `SORTING`, `FEATURES`
        or `prediction` of `enhg.io.image_samples`. For folders only.

    Returns
    -------
    Samples
        `image_shape` is known for folders and for arrays of three or four dimensions; `photos`,
        `skipped` and `n_ignored` for folders.

    Raises
    ------
    InputError
        When the input is missing, unreadable, of an unknown kind, ambiguous, empty, not real
        numbers, or holds NaN or infinite values, or when the purpose of the images needs more than
        the free memory. Objects in files are refused, never unpickled.
    MissingDependencyError
        When images, HDF5, or Parquet and Zarr files are read without the extra `images`, `hdf5`
        or `large`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = Path(folder, "flowers.csv")
    ...     _ = table.write_text("name,petal,sepal,label\\nrose,1.5,2,0\\niris,3,4,1\\n")
    ...     samples = read_samples(table)
    >>> samples.names, samples.X.tolist(), samples.labels.tolist()
    (['rose', 'iris'], [[1.5, 2.0], [3.0, 4.0]], [0, 1])
    """
    source = Path(path)
    with readable(source):
        source.stat()
    is_folder = is_image_folder(source)
    suffix = source.suffix.lower()
    if key is not None and (is_folder or suffix in {".npy", *TABLE_SUFFIXES}):
        raise no_named_arrays(source, key)
    if size is not None and (not is_folder or min(size) < 1):
        raise InputError(
            f"{source}: size must be None, or for a folder of images a height and a width of at "
            f"least 1, got {size[0]}×{size[1]}",
            parameter="size",
        )
    if on_unreadable not in ("skip", "raise"):
        raise InputError(
            f"on_unreadable must be 'skip' or 'raise', got {on_unreadable!r}",
            parameter="on_unreadable",
        )
    if is_folder:
        load_pillow()
        samples = read_folder(
            list_images(source),
            size=size,
            gray=gray,
            on_unreadable=on_unreadable,
            progress=progress,
            n_jobs=n_jobs,
            cache=cache,
            purpose=purpose,
        )
    elif suffix in ARRAY_SUFFIXES:
        samples = read_arrays(source, key)
    elif suffix in TABLE_SUFFIXES:
        samples = read_table(source)
    elif suffix in PARQUET_SUFFIXES:
        samples = read_parquet(source, key)
    else:
        raise InputError(
            f"{source}: must be a folder of images or a file of kind "
            f"{' '.join((*ARRAY_SUFFIXES, *TABLE_SUFFIXES, *PARQUET_SUFFIXES))}"
        )
    check_finite(samples)
    return samples
