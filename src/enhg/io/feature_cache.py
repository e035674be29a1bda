"""Pixels and features of image files that were computed before."""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import partial
from pathlib import Path
from stat import S_ISREG
from time import time_ns
from typing import Any, TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from enhg._npz import (
    State,
    read_archive,
    require,
    require_array,
    require_indices,
    require_value,
    write_archive,
)
from enhg.io._decoding import ReadImage

_FORMAT, _VERSION = "enhg.FeatureCache", 1

_T = TypeVar("_T")
Stamp = tuple[int, int]  # length and time of the last change, in nanoseconds
CachedImage = ReadImage[NDArray[Any]]  # its value is a row of features


class FeatureCache:
    """Features (or pixels), thumbnails and sizes of images, by the contents of their files.

    Parameters
    ----------
    folder : str or path
        Made when something is written.

    Notes
    -----
    The folder holds archives of three kinds, each of many images: ``index-*.npz`` (path, length
    and time of the last change of a file, and the SHA-256 of its contents), ``images-*.npz``
    (thumbnail and size by SHA-256) and ``features-*.npz`` (features by SHA-256 and recipe). They
    are arrays and JSON. An archive is written as a whole under a name of its own and never
    changed, so that several processes can use one folder; a damaged one is passed over, and what
    it held is computed again. If the folder cannot be written to, a warning says so once.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from enhg.demo import make_photos
    >>> from enhg.features import ImageFeatures, extract
    >>> from enhg.io.images import list_images
    >>> folder = Path(tempfile.mkdtemp())
    >>> kinds = make_photos(folder / "photos", seed=0)
    >>> cache, hog = FeatureCache(folder / "cache"), ImageFeatures("hog").fit()
    >>> samples = extract(list_images(folder / "photos"), hog, cache=cache)
    >>> again = extract(list_images(folder / "photos"), hog, cache=cache)  # computes nothing
    >>> bool((again.X == samples.X).all())
    True
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._stamps: dict[Path, Stamp] = {}
        self._is_writable = True

    def lookup(
        self, files: Sequence[Path], recipe: dict[str, Any], n_features: int | None = None
    ) -> list[CachedImage | None]:
        """Return what is kept of each file, or None.

        A file with the path, length and time of the last run is not opened. Other files are read
        for their SHA-256 if a file of the same length is known: it may have been moved or copied.

        Parameters
        ----------
        files : sequence of Path
        recipe : dict
            What identifies the features, as values of JSON; that of `ImageFeatures.recipe`.
        n_features : int, optional
            The length of a row of features: what has another length is passed over as damaged.
        """
        digests = self._digests(files)
        wanted = set(digests) - {None}
        key = _key(recipe)
        rows = partial(_vector_rows, key=key, wanted=wanted, n_features=n_features)
        vectors = dict(self._read(_prefix(key), rows))
        images = dict(self._read("images", partial(_image_rows, wanted=wanted & vectors.keys())))
        return [
            CachedImage(vectors[digest], images[digest][0], digest, images[digest][1])
            if digest is not None and digest in images
            else None
            for digest in digests
        ]

    def add(
        self, files: Sequence[Path], images: Sequence[CachedImage], recipe: dict[str, Any]
    ) -> None:
        """Keep images that `lookup` did not know.

        Parameters
        ----------
        files : sequence of Path
            Files that were given to `lookup` before they were read.
        images : sequence of ReadImage
            One for each file; the value is its row of features, float32 or uint8.
        recipe : dict
            As in `lookup`.
        """
        if not files:
            return
        key = _key(recipe)
        by_type: dict[np.dtype[Any], list[CachedImage]] = {}
        for image in images:
            by_type.setdefault(image.value.dtype, []).append(image)
        for alike in by_type.values():  # pixels of 8 bits stay what they are beside deeper ones
            state = {
                "recipe": key,
                "digests": [image.digest for image in alike],
                "features": np.stack([image.value for image in alike]),
            }
            self._write(_prefix(key), state)
        digests = [image.digest for image in images]
        self._write(
            "images",
            {
                "digests": digests,
                "sizes": np.array([image.size for image in images], dtype=np.int64),
                "ends": np.cumsum([len(image.thumbnail) for image in images]),
                "thumbnails": np.frombuffer(
                    b"".join(image.thumbnail for image in images), dtype=np.uint8
                ),
            },
        )
        self._write_index(zip(files, digests, strict=True))

    # --- files and their contents ----------------------------------------------------------------

    def _digests(self, files: Sequence[Path]) -> list[str | None]:
        """SHA-256 of each file whose contents may be known."""
        index = self._read_index()
        lengths = {stamp[0] for stamp, _ in index.values()}
        digests: list[str | None] = []
        moved: list[tuple[Path, str]] = []
        for file in files:
            digest = None
            stamp = _stamp(file)
            if stamp is not None:
                self._stamps[file] = stamp
                known = index.get(os.path.abspath(file))
                if known is not None and known[0] == stamp:
                    digest = known[1]
                elif stamp[0] in lengths:
                    digest = _digest(file)
                    moved += [] if digest is None else [(file, digest)]
            digests.append(digest)
        self._write_index(moved)
        return digests

    def _read_index(self) -> dict[str, tuple[Stamp, str]]:
        """Stamp and SHA-256 by path; of several, those of the newest archive."""
        return dict(self._read("index", _index_rows))

    def _write_index(self, rows: Iterable[tuple[Path, str]]) -> None:
        rows = [(file, digest) for file, digest in rows if file in self._stamps]
        if rows:
            state = {
                "paths": [os.path.abspath(file) for file, _ in rows],
                "stamps": np.array([self._stamps[file] for file, _ in rows], dtype=np.int64),
                "digests": [digest for _, digest in rows],
            }
            self._write("index", state)

    # --- archives --------------------------------------------------------------------------------

    def _read(
        self, prefix: str, rows: Callable[[State], list[tuple[str, _T]]]
    ) -> Iterator[tuple[str, _T]]:
        """Rows of the archives of a kind, the oldest first, without the damaged ones."""
        times = {
            file: stamp[1]
            for file in self.folder.glob(f"{prefix}-*.npz")
            if (stamp := _stamp(file)) is not None
        }
        for file in sorted(times, key=times.__getitem__):
            try:
                with file.open("rb") as stream:
                    state = read_archive(stream, _FORMAT, _VERSION)
                yield from rows(state)
                time = time_ns()  # of its use; not by touch, whose clock would lose their order
                os.utime(file, ns=(time, time))
            except Exception:  # a damaged archive makes the decoder raise nearly anything
                continue

    def _write(self, prefix: str, state: State) -> None:
        if not self._is_writable:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            file = self.folder / f"{prefix}-{uuid4().hex}.npz"
            write_archive(file, _FORMAT, _VERSION, state, overwrite=False)
        except OSError as error:
            self._is_writable = False
            warnings.warn(
                f"{self.folder}: pixels and features cannot be kept there ({error.strerror}); the "
                "next run computes them again",
                stacklevel=4,
            )


def _key(recipe: dict[str, Any]) -> str:
    """SHA-256 of a recipe; the place of its file does not matter."""
    identity = {name: value for name, value in recipe.items() if name != "file"}
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def _prefix(key: str) -> str:
    return f"features-{key[:16]}"


def _index_rows(state: State) -> list[tuple[str, tuple[Stamp, str]]]:
    paths = require_value(state, "paths", list)
    require(all(isinstance(path, str) for path in paths), "paths")
    digests = _digest_list(state)
    stamps = require_array(state, "stamps", (len(digests), 2), "i").tolist()
    return [
        (path, ((length, time), digest))
        for path, (length, time), digest in zip(paths, stamps, digests, strict=True)
    ]


def _vector_rows(
    state: State, *, key: str, wanted: Set[Any], n_features: int | None
) -> list[tuple[str, NDArray[Any]]]:
    require(require_value(state, "recipe", str) == key, "recipe")
    digests = _digest_list(state)
    features = require_array(state, "features", (len(digests), n_features), "fu")
    rows = [row for row, digest in enumerate(digests) if digest in wanted]
    return [(digests[row], vector) for row, vector in zip(rows, features[rows], strict=True)]


def _image_rows(
    state: State, *, wanted: Set[Any]
) -> list[tuple[str, tuple[bytes, tuple[int, int]]]]:
    digests = _digest_list(state)
    sizes = require_array(state, "sizes", (len(digests), 2), "i").tolist()
    data = require_array(state, "thumbnails", (None,), "u").tobytes()
    ends = require_indices(state, "ends", len(data) + 1).tolist()
    starts = [0, *ends[:-1]]
    return [
        (digest, (data[start:end], (width, height)))
        for digest, (width, height), start, end in zip(digests, sizes, starts, ends, strict=True)
        if digest in wanted
    ]


def _stamp(file: Path) -> Stamp | None:
    """None for what is not a regular file, which may not be opened."""
    try:
        status = file.stat()
    except OSError:
        return None
    return (status.st_size, status.st_mtime_ns) if S_ISREG(status.st_mode) else None


def _digest(file: Path) -> str | None:
    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return None


def _digest_list(state: State) -> list[str]:
    digests = require_value(state, "digests", list)
    require(all(isinstance(digest, str) for digest in digests), "digests")
    return digests
