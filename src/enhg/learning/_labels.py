"""Labels as they are given for classification, some of them missing."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from enhg._label_arrays import complete_labels, is_unknown, label_array, missing_labels
from enhg.exceptions import InputError

_MISSING_OBJECTS = ("", "-1", -1)


def check_labels(y: ArrayLike | None, samples: NDArray) -> tuple[NDArray, NDArray, NDArray]:
    """Check the labels of samples.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The distinct labels, sorted.
    codes : ndarray of int of shape (n_labeled,)
        The index into `classes` of the label of every labeled sample.
    labeled_indices : ndarray of int of shape (n_labeled,)
        The samples with a label, ascending.
    """
    if y is None:
        raise InputError("requires y to be passed, but the target y is None", parameter="y")
    try:
        labels, missing = _parse(y)
        check_consistent_length(samples, labels)
    except (TypeError, ValueError) as error:
        raise InputError(str(error), parameter="y") from error
    classes, codes = np.unique(labels[~missing], return_inverse=True)
    if len(classes) < 2:
        have = "no label" if missing.all() else f"only one class, {classes.tolist()[0]!r}"
        raise InputError(f"y must hold labels of at least two classes, got {have}", parameter="y")
    return classes, codes, np.flatnonzero(~missing)


def check_true_labels(y: ArrayLike, n_samples: int, classes: NDArray) -> NDArray:
    """Return labels of all samples as an array of one type; none may be missing.

    They are those that are missing in `fit`, unless they are one of its classes.
    """
    try:
        labels: NDArray = column_or_1d(complete_labels(y, "y"))
        if len(labels) != n_samples:
            raise InputError(
                f"y must hold a label for each of {n_samples} samples, got {len(labels)}"
            )
        if labels.dtype.kind == "O":
            labels = _of_one_type(labels, np.zeros(n_samples, bool))
    except (TypeError, ValueError) as error:
        raise InputError(str(error), parameter="y") from error
    known = classes.tolist()
    markers = [marker for marker in _MISSING_OBJECTS if marker not in known]
    missing = np.array([label in markers for label in labels.tolist()])
    if count := np.count_nonzero(missing):
        raise missing_labels("y", int(count))
    return labels


def labels_of(classes: NDArray, codes: NDArray) -> NDArray:
    """Return the classes of codes, the marker of a missing label for the code n_classes."""
    missing = codes == len(classes)
    labels = classes[np.where(missing, 0, codes)]
    if missing.any():
        marker = missing_marker(classes)
        if marker is None:
            labels = labels.astype(object)
        elif classes.dtype.kind == "u":
            labels = labels.astype(np.int64)
        labels[missing] = marker
    return labels


def missing_marker(classes: NDArray) -> int | str | None:
    """Return the marker of a missing label beside some classes, none of which it is."""
    kind = classes.dtype.kind
    if kind in "if" or (kind == "u" and classes.max() <= np.iinfo(np.int64).max):
        return None if -1 in classes else -1
    return "" if kind == "U" and "" not in classes else None


def _parse(y: ArrayLike) -> tuple[NDArray, NDArray]:
    """Return y as a one-dimensional array of one type, and the mask of missing labels."""
    if isinstance(y, np.ma.MaskedArray):
        return _parse_masked(y)
    labels: NDArray = column_or_1d(label_array(y, "y"), warn=True)
    if labels.dtype.kind == "O" and all(_is_either(label) for label in labels):
        labels = labels.astype(int)
    if labels.dtype.kind == "O":
        labels, missing = _parse_objects(labels)
    elif labels.dtype.kind == "U":
        missing = (labels == "") | (labels == "-1")
    elif labels.dtype.kind in "mM":
        missing = np.isnat(labels)
    else:
        missing = _missing_numbers(labels)
    _check_targets(labels[~missing])
    return labels, missing


def _parse_masked(y: np.ma.MaskedArray) -> tuple[NDArray, NDArray]:
    """Parse a masked array, whose mask alone says which labels are missing."""
    labels, missing = column_or_1d(y.data), column_or_1d(np.ma.getmaskarray(y))
    if labels.dtype.kind in "OT":
        labels = _of_one_type(labels.astype(object), missing)
    _check_targets(labels[~missing])
    return labels, missing


def _check_targets(given: NDArray) -> None:
    """Require labels that are classes, where there are any."""
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        wrong = given[~np.isfinite(given)][0]
        raise InputError(f"y must hold finite numbers, got {wrong}")
    if given.dtype.kind == "S":  # which versions of scikit-learn treat in different ways
        raise InputError(f"y must hold text or numbers, got bytes, such as {given[0]!r}")
    if len(given):
        check_classification_targets(given)


def _missing_numbers(labels: NDArray) -> NDArray:
    missing = labels == -1
    if labels.dtype.kind == "f":
        missing |= np.isnan(labels)
    if missing.any() and set(np.unique(labels)) == {-1, 1}:
        warnings.warn(
            "the labels are only -1 and 1: these are taken as two classes with every sample "
            "labeled, not as one class and missing labels",
            stacklevel=5,
        )
        return np.zeros(len(labels), bool)
    return missing


def _parse_objects(y: NDArray) -> tuple[NDArray, NDArray]:
    """Parse an array of strings or numbers, with None, NaN or NA among the missing labels."""
    missing = np.array([_is_missing(label) for label in y])
    return _of_one_type(y, missing), missing


def _of_one_type(y: NDArray, missing: NDArray) -> NDArray:
    """Return labels that are objects as an array of strings or numbers."""
    given = y[~missing].tolist()
    if len({isinstance(label, str) for label in given}) > 1:
        raise InputError("y must hold labels of one type, got both text and numbers")
    labels = np.array(given or [""])
    if labels.ndim != 1 or labels.dtype.kind == "O":
        raise InputError(f"y must hold one string or number per sample, got {given[0]!r}")
    if given and len(set(given)) != len(np.unique(labels)):
        raise InputError(
            f"y must hold labels that differ as {labels.dtype}, the type of all of them, got "
            "different ones that are equal; give all as text"
        )
    # Entries of missing labels are never read; any label fills them.
    filled = np.full(len(y), labels[0], dtype=labels.dtype)
    filled[~missing] = labels[: len(given)]
    return filled


def _is_either(label: Any) -> bool:
    """Whether a label is -1 or 1."""
    return not is_unknown(label) and label in (-1, 1)


def _is_missing(label: Any) -> bool:
    return is_unknown(label) or label in _MISSING_OBJECTS
