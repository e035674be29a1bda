"""How good a partition is, against the truth (paper, V.A)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import accuracy_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix


def clustering_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """AC: the share of samples labelled rightly under the best one-to-one matching.

    Clusters are matched with classes so that as many samples as possible agree (the Hungarian
    method); where there are more clusters than classes, the rest count as wrong.

    Examples
    --------
    >>> clustering_accuracy(["a", "a", "b", "b"], [1, 1, 0, 1])
    0.75
    """
    table = contingency_matrix(labels_true, labels_pred)
    rows, columns = linear_sum_assignment(table, maximize=True)
    return float(table[rows, columns].sum() / table.sum())


def normalized_mutual_information(labels_true: ArrayLike, labels_pred: ArrayLike) -> float:
    """NMI: mutual information over the geometric mean of the two entropies.

    Examples
    --------
    >>> normalized_mutual_information([0, 0, 1, 1], ["x", "x", "y", "y"])
    1.0
    """
    return float(normalized_mutual_info_score(labels_true, labels_pred, average_method="geometric"))


def unlabelled_accuracy(labels_true: ArrayLike, labels_pred: ArrayLike, given: ArrayLike) -> float:
    """Accuracy on the samples whose label was not given; `given` is a boolean mask.

    Examples
    --------
    >>> unlabelled_accuracy([0, 1, 1], [0, 1, 0], [True, False, False])
    0.5
    """
    hidden = ~np.asarray(given, dtype=bool)
    if not hidden.any():
        raise ValueError("no sample is unlabelled: there is nothing to score")
    return float(accuracy_score(np.asarray(labels_true)[hidden], np.asarray(labels_pred)[hidden]))
