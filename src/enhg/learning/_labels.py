"""Labels as they are given for classification, some of them missing."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from enhg._label_arrays import is_unknown, label_array, means_unlabeled
from enhg.exceptions import InputError


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
        _check_targets(labels[~missing])
        check_consistent_length(samples, labels)
    except (TypeError, ValueError) as error:
        raise InputError(str(error), parameter="y") from error
    classes, codes = np.unique(labels[~missing], return_inverse=True)
    if len(classes) < 2:
        have = "no label" if missing.all() else f"only one class, {classes.tolist()[0]!r}"
        raise InputError(f"y must hold labels of at least two classes, got {have}", parameter="y")
    return classes, codes, np.flatnonzero(~missing)


def check_true_labels(y: ArrayLike, n_samples: int, classes: NDArray) -> tuple[NDArray, NDArray]:
    """Return labels of samples as an array of one type, and the mask of those that are given.

    The others are those that are missing in `fit`, unless they are one of its classes.
    """
    try:
        labels, missing = _parse(y, classes)
        if len(labels) != n_samples:
            raise InputError(
                f"y must hold a label for each of {n_samples} samples, got {len(labels)}"
            )
    except (TypeError, ValueError) as error:
        raise InputError(str(error), parameter="y") from error
    return labels, ~missing


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


def _parse(y: ArrayLike, classes: NDArray | None = None) -> tuple[NDArray, NDArray]:
    """Return y as a one-dimensional array of one type, and the mask of missing labels.

    Known classes are labels, whatever they are.
    """
    if isinstance(y, np.ma.MaskedArray):
        return _parse_masked(y)
    labels: NDArray = column_or_1d(label_array(y, "y"), warn=classes is None)
    known = set() if classes is None else set(classes.tolist())
    if labels.dtype.kind == "O" and all(_is_either(label) for label in labels):
        labels = labels.astype(int)
    if labels.dtype.kind in "OU":
        missing = np.array([_is_missing(label) and label not in known for label in labels], bool)
        if labels.dtype.kind == "O":
            labels = _of_one_type(labels, missing)
    elif labels.dtype.kind in "mM":
        missing = np.isnat(labels)
    else:
        missing = _missing_numbers(labels, classes)
    return labels, missing


def _parse_masked(y: np.ma.MaskedArray) -> tuple[NDArray, NDArray]:
    """Parse a masked array, whose mask alone says which labels are missing."""
    labels, missing = column_or_1d(y.data), column_or_1d(np.ma.getmaskarray(y))
    if labels.dtype.kind in "OT":
        labels = _of_one_type(labels.astype(object), missing)
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


def _missing_numbers(labels: NDArray, classes: NDArray | None) -> NDArray:
    missing = np.zeros(len(labels), bool)
    if classes is None or -1 not in classes:
        missing |= labels == -1
    if labels.dtype.kind == "f":
        missing |= np.isnan(labels)
    if classes is None and missing.any() and set(np.unique(labels)) == {-1, 1}:
        warnings.warn(
            "the labels are only -1 and 1: these are taken as two classes with every sample "
            "labeled, not as one class and missing labels",
            stacklevel=5,
        )
        return np.zeros(len(labels), bool)
    return missing


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
    return means_unlabeled(label) if isinstance(label, str) else is_unknown(label) or label == -1
