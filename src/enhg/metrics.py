"""Accuracy of a clustering against true labels (paper, V.A)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from enhg._validation import is_unknown
from enhg.exceptions import InputError


def clustering_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """Return the accuracy of a clustering under the best one-to-one matching (AC).

        AC = max_m (1/n) Σᵢ [labels_trueᵢ = m(labels_predᵢ)]

    over all one-to-one maps m of clusters to classes (Hungarian method). If there are more clusters
    than classes, the samples of unmatched clusters count as errors.

    Parameters
    ----------
    labels_true, labels_pred : array-like of shape (n_samples,)
        Numbers or text, none of them missing: None, NaN or masked.

    Returns
    -------
    float
        In (0, 1].

    Examples
    --------
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    table = contingency_matrix(*_paired(labels_true, labels_pred))
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / table.sum())


def _paired(labels_true: ArrayLike, labels_pred: ArrayLike) -> tuple[NDArray, NDArray]:
    """Return both as one-dimensional arrays of equal, positive length."""
    truth, labels = np.asarray(labels_true), np.asarray(labels_pred)
    if truth.ndim != 1 or truth.shape != labels.shape:
        raise InputError(
            "labels_true and labels_pred must hold one label per sample, got shapes "
            f"{truth.shape} and {labels.shape}"
        )
    if not len(truth):
        raise InputError("labels_true and labels_pred must hold at least one label, got none")
    _require_all(labels_true, truth, "labels_true")
    _require_all(labels_pred, labels, "labels_pred")
    return truth, labels


def _require_all(given: ArrayLike, labels: NDArray, name: str) -> None:
    """Refuse missing labels, which would count as a class, or as what is below a mask."""
    if np.ma.isMaskedArray(given):
        missing = np.ma.getmaskarray(given)
    elif labels.dtype.kind == "O":
        missing = np.array([is_unknown(label) for label in labels])
    else:
        missing = labels != labels
    if count := np.count_nonzero(missing):
        raise InputError(
            f"{name} must hold a label for every sample, got {count} missing; leave these samples "
            "out of both",
            parameter=name,
        )
