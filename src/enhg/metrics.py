"""How good a partition is, against the truth (paper, V.A)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix


def clustering_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """AC: the share of samples labeled rightly under the best one-to-one matching.

    Clusters are matched with classes so that as many samples as possible agree (the Hungarian
    method); where there are more clusters than classes, the rest count as wrong.

    Examples
    --------
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    table = contingency_matrix(*_paired(labels_true, labels_pred))
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / table.sum())


def normalized_mutual_information(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """NMI: mutual information over the geometric mean of the two entropies.

    Where an entropy is zero (one class, one cluster) it is 0, or 1 if both are.

    Examples
    --------
    >>> normalized_mutual_information([0, 0, 1, 1], ["x", "x", "y", "y"])
    1.0
    """
    truth, labels = _paired(labels_true, labels_pred)
    return float(normalized_mutual_info_score(truth, labels, average_method="geometric"))


def unlabeled_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike, given: ArrayLike) -> float:
    """Accuracy on the samples whose label was not given; `given` is a boolean mask.

    Examples
    --------
    >>> unlabeled_accuracy([0, 1, 1], [0, 1, 0], [True, False, False])
    0.5
    """
    truth, labels = _paired(labels_true, labels_pred)
    mask = np.asarray(given)
    if mask.dtype != bool or mask.shape != truth.shape:
        raise ValueError(
            f"given must be a boolean mask of shape {truth.shape}, got shape {mask.shape} of dtype {mask.dtype}"
        )
    if mask.all():
        raise ValueError("no sample is unlabeled: there is nothing to score")
    return float(np.mean(truth[~mask] == labels[~mask]))


def _paired(labels_true: ArrayLike, labels_pred: ArrayLike) -> tuple[NDArray, NDArray]:
    """Both as arrays of one label a sample, of the same samples."""
    truth, labels = np.asarray(labels_true), np.asarray(labels_pred)
    if truth.ndim != 1 or truth.shape != labels.shape:
        raise ValueError(
            "labels_true and labels_pred must hold one label a sample, of the same samples; "
            f"got shapes {truth.shape} and {labels.shape}"
        )
    if not len(truth):
        raise ValueError("labels_true and labels_pred are empty: there is nothing to score")
    return truth, labels
