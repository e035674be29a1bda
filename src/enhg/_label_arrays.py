"""Labels, of lists and other packages too, as arrays of NumPy."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from enhg._arrays import as_numpy
from enhg.exceptions import InputError

_UNLABELED = frozenset({"", "-1", "-1.0", "nan", "na", "<na>", "?"})


def means_unlabeled(label: str) -> bool:
    """Whether text in place of a label stands for none.

    >>> means_unlabeled(" NaN "), means_unlabeled("cat")
    (True, False)
    """
    return label.strip().lower() in _UNLABELED


def is_unknown(label: Any) -> bool:
    """Whether a label is None, or is not equal to itself: NaN, and NA of pandas."""
    try:
        return label is None or bool(label != label)
    except TypeError:  # a comparison with NA is neither true nor false
        return True


def label_array(y: Any, name: str) -> Any:
    """Return labels as an array, of objects where NumPy would make others of them.

    It would make text of the numbers and NaN of a list that holds text, and numbers of integers,
    booleans and categories beside missing ones. A table is returned as it is.
    """
    if isinstance(y, list | tuple):
        return _listed(y, name)
    dtype = getattr(y, "dtype", None)
    if isinstance(dtype, np.dtype) and dtype.kind == "T":
        return y.astype(object)
    to_list = getattr(y, "tolist", None) or getattr(y, "to_list", None)
    if isinstance(dtype, np.dtype | None) or to_list is None or len(y.shape) != 1:
        return as_numpy(y, name, name)
    labels = np.empty(len(y), dtype=object)
    labels[:] = to_list()
    return labels


def _listed(y: list | tuple, name: str) -> NDArray:
    try:
        labels = np.asarray(y)
    except ValueError as error:
        raise InputError(
            f"{name} must hold one label per sample, got {error}", parameter=name
        ) from error
    if labels.dtype.kind not in "Uf":
        return labels
    objects = np.array(y, dtype=object)
    if labels.dtype.kind == "U":
        keeps = all(isinstance(label, str) for label in objects.flat)
    else:  # an integer above 2**53 may not be kept
        keeps = all(
            int(value) == int(label)
            for value, label in zip(labels.flat, objects.flat, strict=True)
            if isinstance(label, Integral)
        )
    return labels if keeps else objects


def require_comparable(one: NDArray, other: NDArray) -> None:
    """Raise TypeError for text beside numbers, and for bytes; not all of scikit-learn does."""
    kinds = {_kind(one), _kind(other)}
    if len(kinds) > 1 or bytes in kinds:
        names = " and ".join(sorted(kind.__name__ for kind in kinds))
        raise TypeError(f"values of {names}")


def _kind(labels: NDArray) -> type:
    if labels.dtype.kind == "S":
        return bytes
    values = labels.tolist() if labels.dtype.kind == "O" else []
    is_text = labels.dtype.kind == "U" or any(isinstance(value, str) for value in values)
    return str if is_text else float


def complete_labels(y: ArrayLike, name: str) -> NDArray:
    """Return labels as an array; refuse missing ones.

    They would count as a class, or as what is below a mask.
    """
    labels = np.asarray(label_array(y, name))
    if np.ma.isMaskedArray(y):
        missing = np.ma.getmaskarray(y)
    elif labels.dtype.kind == "O":
        missing = np.array([is_unknown(label) for label in labels.flat])
    else:
        missing = labels != labels
    if count := np.count_nonzero(missing):
        raise missing_labels(name, int(count))
    return labels


def missing_labels(name: str, count: int) -> InputError:
    """The error of labels of which some are missing where none may be."""
    return InputError(
        f"{name} must hold a label for every sample, got {count} missing; leave these samples out",
        parameter=name,
    )
