"""Accuracy of a clustering against true labels (paper, V.A)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from enhg._label_arrays import complete_labels
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
    truth = complete_labels(labels_true, "labels_true")
    labels = complete_labels(labels_pred, "labels_pred")
    if truth.ndim != 1 or truth.shape != labels.shape:
        raise InputError(
            "labels_true and labels_pred must hold one label per sample, got shapes "
            f"{truth.shape} and {labels.shape}"
        )
    if not len(truth):
        raise InputError("labels_true and labels_pred must hold at least one label, got none")
    return _sortable(truth, "labels_true"), _sortable(labels, "labels_pred")


def _sortable(labels: NDArray, name: str) -> NDArray:
    """Return numbers in place of objects, which may be both text and numbers."""
    if labels.dtype.kind != "O":
        return labels
    places: dict[Any, int] = {}
    try:
        return np.array([places.setdefault(label, len(places)) for label in labels])
    except TypeError as error:
        raise InputError(
            f"{name} must hold numbers or text, got labels of which one is an {error}",
            parameter=name,
        ) from error
