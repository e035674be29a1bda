"""What the readers share: the error, the result and the checks on numbers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray


class InputError(ValueError):
    """What the user gave is wrong: one line with the file, the fault and the remedy."""

    def __init__(self, message: str) -> None:
        super().__init__(" ".join(message.splitlines()))


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples read from disk.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        One row a sample; uint8, float32 or float64.
    names : list of str
        One name a sample: the path inside the folder, the name column of a table, or the row
        number.
    image_shape : tuple of int or None
        ``(height, width)`` or ``(height, width, channels)`` of a row; None when not known.
    labels : ndarray of shape (n,) or None
        The truth that the file holds, for scoring.
    source : Path
        Where the samples came from.
    """

    X: NDArray[Any]
    names: list[str]
    image_shape: tuple[int, ...] | None
    labels: NDArray[Any] | None
    source: Path


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn whatever a damaged or forbidden file raises into an `InputError` that names it.

    Wrap only the calls that decode the file: decoders raise nearly every exception there is.
    """
    try:
        yield
    except InputError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file or folder; check the path") from error
    except PermissionError as error:
        raise InputError(f"{path}: no permission to read it; change its permissions") from error
    except MemoryError as error:
        raise InputError(f"{path}: does not fit in memory; use fewer samples") from error
    except Exception as error:
        raise InputError(
            f"{path}: cannot be read, it is damaged or not what its name says ({reason(error)}); make or download it again"
        ) from error


def reason(error: BaseException) -> str:
    """First line of what an exception says, without the paths that it may repeat."""
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    lines = text.splitlines() or [type(error).__name__]
    return lines[0][:150]


def check_numeric(kind: str, dtype: str, where: str) -> None:
    """Refuse what is not real numbers; `kind` is NumPy's letter, `dtype` the name shown."""
    if kind == "O":
        raise InputError(
            f"{where} holds objects ({dtype}), which are never loaded; save it as plain numbers"
        )
    if kind not in "buif":
        raise InputError(f"{where} holds {dtype} values; save it as real numbers")


def as_matrix(array: NDArray[Any], where: str) -> tuple[NDArray[Any], tuple[int, ...] | None]:
    """Samples as rows, and the shape of an image when the array tells it.

    uint8 and float32 stay, bool becomes uint8, float16 becomes float32, the rest float64.
    """
    check_numeric(array.dtype.kind, str(array.dtype), where)
    if not 2 <= array.ndim <= 4:
        raise InputError(
            f"{where} has {array.ndim} dimension{'' if array.ndim == 1 else 's'}; give samples × "
            "features, samples × height × width, or samples × height × width × channels"
        )
    if array.size == 0:
        raise InputError(f"{where} is empty ({shape_text(array.shape)}); give at least one sample")
    image_shape = array.shape[1:] if array.ndim > 2 else None
    if image_shape is not None and image_shape[2:] == (1,):
        image_shape = image_shape[:2]
    kept = {"b1": np.uint8, "u1": np.uint8, "f2": np.float32, "f4": np.float32}
    dtype = kept.get(array.dtype.str[1:], np.float64)
    return np.ascontiguousarray(array.reshape(len(array), -1), dtype=dtype), image_shape


def check_finite(samples: Samples) -> None:
    """Refuse NaN and infinite values, saying how many there are and where the first is."""
    if samples.X.dtype.kind != "f":
        return
    bad = ~np.isfinite(samples.X)
    if not bad.any():
        return
    row = int(bad.any(axis=1).argmax())
    name = samples.names[row]
    raise InputError(
        f"{samples.source}: {bad.sum()} of {bad.size} values are NaN or infinite, "
        f"first in row {row}{'' if name == str(row) else f' ({name})'}; "
        "fill them or leave those samples out"
    )


def tidy_labels(labels: NDArray[Any]) -> NDArray[Any]:
    """Labels in one dimension, whole numbers of any type as int64."""
    flat = labels.ravel()
    whole = flat.dtype.kind in "ui" or (
        flat.dtype.kind == "f" and np.isfinite(flat).all() and (flat == np.rint(flat)).all()
    )
    return flat.astype(np.int64) if whole else flat


def shape_text(shape: tuple[int, ...]) -> str:
    """A shape as people write it.

    >>> shape_text((2414, 32, 32))
    '2414×32×32'
    """
    return "×".join(map(str, shape)) or "one value"
