"""Scores of samples: on the boundary between groups, of low confidence, outliers."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.stats import median_abs_deviation

from enhg._protocol import GraphLike

_LOW_SHARE, _MOST_LOW = 0.05, 100  # of the samples that low confidence is chosen from
_OUTLIER_DEVIATIONS = 4.0
_MIN_OUTLIER_THRESHOLD, _MAX_OUTLIER_THRESHOLD = 0.05, 0.5
_COPY = 1e-3  # outlier scores below are those of copies of other samples


def boundary_scores(graph: GraphLike, codes: NDArray, n_groups: int) -> NDArray:
    """Return the probability that a random walk leaves the group of a vertex in one step.

        b(v) = Σ_{u: g(u) ≠ g(v)} P(v, u),   P = D^-½ Θ D^½

    The walk on a hypergraph goes from a vertex to one of its hyperedges, with probability
    w(e) h(v, e) / d(v), and on to one of its members, with probability h(u, e) / δ(e).

    Parameters
    ----------
    graph : Hypergraph or Graph
    codes : ndarray of int of shape (n_vertices,)
        The group g(v) of every vertex.
    n_groups : int
        Groups are numbered from 0 to `n_groups` − 1.

    Returns
    -------
    ndarray of shape (n_vertices,)
        In [0, 1].

    Examples
    --------
    >>> from enhg import Hypergraph
    >>> pairs = Hypergraph.from_edges([[0, 1], [1, 2]])
    >>> boundary_scores(pairs, np.array([0, 0, 1]), 2)
    array([0.  , 0.25, 0.5 ])
    """
    roots = np.sqrt(graph.vertex_degrees)
    inside = np.ones(len(codes))  # of isolated vertices
    for code in range(n_groups):
        own = (codes == code) & (roots > 0)
        inside[own] = (graph.theta @ np.where(own, roots, 0.0))[own] / roots[own]
    return np.clip(1 - inside, 0, 1)


def low_confidence(confidence: NDArray, predicted: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the mask of the samples to check: 5 % of the smallest confidence, at most 100.

    The number is rounded up. It is a share, since no threshold suits all results: the confidence of
    a classifier is near 1/n_classes for nearly all samples if few labels are given, and far above
    it for nearly all, wrong ones included, if many are. Samples that are as confident as the most
    confident one, to four decimals, are left out.

    Parameters
    ----------
    confidence : ndarray of shape (n_samples,)
    predicted : ndarray of bool of shape (n_samples,)
        The samples to choose from: those whose label was predicted.

    Examples
    --------
    >>> low_confidence(np.array([0.1, 0.9, 0.2, 0.8]), np.array([False, True, True, True])).tolist()
    [False, False, True, False]
    """
    rows = np.flatnonzero(predicted)
    count = min(math.ceil(_LOW_SHARE * len(rows)), _MOST_LOW)
    rounded = confidence.round(4)  # as in tables
    least = rows[np.argsort(confidence[rows], kind="stable")[:count]]
    mask = np.zeros(len(confidence), bool)
    mask[least] = rounded[least] < rounded[rows].max(initial=0)
    return mask


def is_outlier(scores: NDArray) -> NDArray[np.bool_]:
    """Return the mask of outlier scores above `outlier_threshold`.

    Examples
    --------
    >>> is_outlier(np.array([0.1, 0.12, 0.09, 0.11, 0.3])).tolist()
    [False, False, False, False, True]
    """
    return scores > outlier_threshold(scores)


def outlier_threshold(scores: NDArray) -> float:
    """Return the threshold of outlier scores: m + 4·1.4826·MAD, clipped to [0.05, 0.5].

    m is the median of the scores and MAD their median absolute deviation, both without scores
    below 0.001, those of copies of other samples. Of normal numbers, 3 in 100 000 are above.
    """
    distinct = scores[scores > _COPY]
    if len(distinct) == 0:
        return _MAX_OUTLIER_THRESHOLD
    median = float(np.median(distinct))
    deviation = float(median_abs_deviation(distinct, scale="normal"))
    threshold = median + _OUTLIER_DEVIATIONS * deviation
    return float(np.clip(threshold, _MIN_OUTLIER_THRESHOLD, _MAX_OUTLIER_THRESHOLD))


def margins(distances: NDArray, labels: NDArray) -> NDArray:
    """Return max(1 − d₁/d₂, 0), d₁ of the own cluster and d₂ of the nearest other one."""
    if distances.shape[1] == 1:
        return np.ones(len(distances))
    rows = np.arange(len(distances))
    own = distances[rows, labels]
    others = distances.copy()
    others[rows, labels] = np.inf
    nearest = others.min(axis=1)
    ratio = np.divide(own, nearest, out=np.ones_like(own), where=nearest > 0)
    return np.asarray(np.maximum(1 - ratio, 0))
