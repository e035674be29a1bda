"""The result of reading, and the checks that all readers share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from enhg._files import NotRegularError, check_memory
from enhg.exceptions import InputError, MissingDependencyError

_BLOCK_BYTES = 2e6  # of rows that are read, converted or checked at a time
_MAX_LETTERS = 500  # of a label
_LETTER_BYTES = 4


@dataclass(frozen=True)
class Skipped:
    """An image that is left out, and why."""

    name: str
    reason: str


@dataclass(frozen=True, eq=False)
class Photos:
    """The image files behind samples, one of each per sample.

    Attributes
    ----------
    files : list of Path
    thumbnails : list of bytes
        JPEG files in color whose longer side has at most 160 pixels, turned by the EXIF
        orientation; small images are not enlarged.
    digests : list of str
        SHA-256 of the contents of the files, in hexadecimal.
    sizes : list of (int, int)
        Width and height of the images, as they are displayed.
    """

    files: list[Path]
    thumbnails: list[bytes]
    digests: list[str]
    sizes: list[tuple[int, int]]

    @classmethod
    def collect(cls, files: Sequence[Path], images: Sequence[Any]) -> Photos:
        """Photos of files from what was read of them: thumbnail, digest and size of each."""
        return cls(
            list(files),
            [image.thumbnail for image in images],
            [image.digest for image in images],
            [image.size for image in images],
        )


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples read from disk.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        One row per sample; uint8, float32 or float64. Read-only, and a memory map, where a
        ``.npy`` file holds the values as they are.
    names : list of str
        One name per sample: the path inside the folder, the name column of a table, or the row
        number.
    image_shape : tuple of int or None
        ``(height, width)`` or ``(height, width, channels)`` of a row; None when not known.
    labels : ndarray of shape (n_samples,) or None
        The true labels that the file holds, for scoring.
    source : Path
        The folder or file.
    photos : Photos or None
        The image files that the samples were read from.
    skipped : tuple of Skipped
        Images that could not be read.
    n_ignored : int
        Number of files in the folder that are no images.
    recipe : dict or None
        How the features were made from images: `recipe` of `enhg.features.ImageFeatures`; None
        for pixels and other numbers.
    description : str
        What the features are and why, in a sentence; "" where there was no choice.
    feature_names : tuple of str or None
        Headings of the features in a table, "" for none.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from enhg.io import read_samples
    >>> file = tempfile.mkdtemp() + "/samples.npy"
    >>> np.save(file, np.eye(3))
    >>> samples = read_samples(file)
    >>> samples.X.shape, samples.names
    ((3, 3), ['0', '1', '2'])
    """

    X: NDArray[Any]
    names: list[str]
    image_shape: tuple[int, ...] | None
    labels: NDArray[Any] | None
    source: Path
    photos: Photos | None = None
    skipped: tuple[Skipped, ...] = ()
    n_ignored: int = 0
    recipe: dict[str, Any] | None = None
    description: str = ""
    feature_names: tuple[str, ...] | None = None


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn any exception of a decoder into an `InputError` that names the file.

    Wrap only the calls that decode the file: on damaged files decoders raise almost any exception.
    """
    try:
        yield
    except (InputError, MissingDependencyError):
        raise
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file or folder") from error
    except PermissionError as error:
        raise InputError(f"{path}: no permission to read it") from error
    except NotRegularError as error:
        raise InputError(f"{path}: must be a regular file, got {error.kind}") from error
    except MemoryError as error:
        raise InputError(f"{path}: does not fit in memory; use fewer samples") from error
    except Exception as error:
        raise InputError(
            f"{path}: cannot be read: damaged, or not of the kind that its name says "
            f"({reason(error)})"
        ) from error


def reason(error: BaseException) -> str:
    """First line of an exception's message, without the paths that it may repeat."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    lines = text.splitlines() or [type(error).__name__]
    return lines[0][:150]


def check_numeric(kind: str, dtype: str, where: str) -> None:
    """Refuse arrays that do not hold real numbers.

    Parameters
    ----------
    kind : str
        NumPy's letter for the kind of the type.
    dtype : str
        Name of the type for the message.
    where : str
        File and array for the message.
    """
    if kind == "O":
        raise InputError(
            f"{where} must hold real numbers, got objects ({dtype}), which are never loaded"
        )
    if kind not in "buif":
        raise InputError(f"{where} must hold real numbers, got {dtype}")


def as_matrix(array: NDArray[Any], where: str) -> tuple[NDArray[Any], tuple[int, ...] | None]:
    """Samples as rows, and the shape of an image if the array has more than two dimensions.

    uint8 and float32 are kept, bool becomes uint8, float16 becomes float32, any other type
    float64.
    """
    check_numeric(array.dtype.kind, str(array.dtype), where)
    if not 2 <= array.ndim <= 4:
        raise InputError(
            f"{where} must be samples × features, samples × height × width or samples × height × "
            f"width × channels, got {array.ndim} dimension{'' if array.ndim == 1 else 's'}"
        )
    if array.size == 0:
        raise no_samples(where, array.shape)
    image_shape = array.shape[1:] if array.ndim > 2 else None
    if image_shape is not None and image_shape[2:] == (1,):
        image_shape = image_shape[:2]
    rows = array.reshape(len(array), -1)
    return np.ascontiguousarray(rows, dtype=kept_dtype(array.dtype)), image_shape


def no_samples(where: str, shape: tuple[int, ...]) -> InputError:
    """Error for an array without values."""
    return InputError(
        f"{where} must hold at least one sample and one feature, got {shape_text(shape)}"
    )


def kept_dtype(dtype: np.dtype) -> np.dtype:
    """The type that values of a type have as samples.

    >>> kept_dtype(np.dtype(">f4")), kept_dtype(np.dtype(bool)), kept_dtype(np.dtype(np.int16))
    (dtype('float32'), dtype('uint8'), dtype('float64'))
    """
    kept = {"b1": np.uint8, "u1": np.uint8, "f2": np.float32, "f4": np.float32}
    return np.dtype(kept.get(dtype.str[1:], np.float64))


def row_blocks(n_rows: int, row_bytes: float, multiple: int = 1) -> Iterator[slice]:
    """Consecutive rows of about 2 MB, in multiples of so many rows; the last may be fewer.

    >>> list(row_blocks(5, 1e6))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, int(_BLOCK_BYTES / max(row_bytes * multiple, 1))) * multiple
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def check_finite(samples: Samples) -> None:
    """Refuse NaN and infinite values; the message gives their number and the first row."""
    if samples.X.dtype.kind != "f":
        return
    X, n_bad, first = samples.X, 0, 0
    for rows in row_blocks(len(X), X.itemsize * X.shape[1]):
        bad = ~np.isfinite(X[rows])
        if not n_bad and bad.any():
            first = rows.start + int(bad.any(axis=1).argmax())
        n_bad += int(bad.sum())
    if not n_bad:
        return
    name = samples.names[first]
    raise InputError(
        f"{samples.source}: values must be finite, got {n_bad} of {X.size} values that are "
        f"NaN or infinite, first in row {first}{'' if name == str(first) else f' ({name})'}"
    )


def tidy_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels in one dimension, whole numbers of any type as int64, or uint64 if they are too large.

    Where some are NaN and the others whole numbers, they are text.

    >>> tidy_labels(np.array([7.0, 8.0])), tidy_labels(np.array([7.0, np.nan]))
    (array([7, 8]), array(['7', ''], dtype='<U1'))
    """
    flat = labels.ravel()
    if flat.dtype.kind in "ui":
        is_large = flat.size > 0 and int(flat.max()) > np.iinfo(np.int64).max
        return flat if is_large else flat.astype(np.int64)
    if flat.dtype.kind != "f":
        return flat
    known = flat[~np.isnan(flat)].astype(np.float64)
    if not ((np.abs(known) < 2.0**63) & (known == np.rint(known))).all():
        return flat
    if len(known) == len(flat):
        return flat.astype(np.int64)
    return np.array(["" if np.isnan(label) else str(int(label)) for label in flat])


def decoded(values: Iterable[Any]) -> list[str]:
    """Values as text; bytes are UTF-8, and those that are not are kept as surrogate escapes.

    >>> decoded(["é".encode(), b"b", 1])
    ['é', 'b', '1']
    """
    return [
        value.decode(errors="surrogateescape") if isinstance(value, bytes) else str(value)
        for value in values
    ]


def label_values(labels: NDArray[Any], where: str) -> NDArray[Any]:
    """Labels as `tidy_labels` has them, of bytes as text; `where` is their file for a message."""
    if labels.dtype.kind not in "OS":
        return tidy_labels(labels)
    texts = decoded(labels.ravel().tolist())
    check_labels(texts, where)
    return np.array(texts)


def check_labels(texts: Sequence[str], where: str) -> None:
    """Refuse very long labels: in an array, every label takes the room of the longest.

    Parameters
    ----------
    texts : sequence of str
    where : str
        File for the message.
    """
    longest = max(texts, key=len, default="")
    if len(longest) > _MAX_LETTERS:
        raise InputError(
            f"{where}: labels must have at most {_MAX_LETTERS} letters, got one of {len(longest)} "
            f"that begins with {longest[:20]!r}; shorten it"
        )
    check_memory(_LETTER_BYTES * len(longest) * len(texts), f"{where}: an array of its labels")


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape in words.

    >>> shape_text((2414, 32, 32))
    '2414×32×32'
    """
    return "×".join(map(str, shape)) or "one value"
