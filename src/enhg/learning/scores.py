"""Which samples are doubtful, and which are like no other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from enhg.graph import Graph
from enhg.hypergraph import Hypergraph

LOW_CONFIDENCE = 0.1
_FAR_OUT = 4.0
_HARDLY_OUT, _CERTAINLY_OUT = 0.05, 0.5
_COPY = 1e-3


def boundary_scores(graph: Hypergraph | Graph, codes: NDArray, count: int) -> NDArray:
    """The part of every vertex's hyperedges that belongs to vertices of other codes.

    A step of the random walk on the hypergraph, from v into one of its hyperedges and on to one
    of that one's members: how likely it ends at another code than v's.

    Examples
    --------
    >>> pairs = Hypergraph.from_edges([[0, 1], [1, 2]])
    >>> boundary_scores(pairs, np.array([0, 0, 1]), 2)
    array([0.  , 0.25, 0.5 ])
    """
    roots = np.sqrt(graph.vertex_degrees)
    among = np.zeros(len(codes))
    for code in range(count):
        own = codes == code
        among[own] = (graph.theta @ np.where(own, roots, 0.0))[own] / roots[own]
    return np.clip(1 - among, 0, 1)


def low_confidence(confidence: NDArray, n_classes: int | None = None) -> NDArray:
    """Where a label is hardly surer than an even guess: a confidence below 0.1, or with classes
    below 0.1 more than 1/n_classes."""
    return confidence < LOW_CONFIDENCE + (1 / n_classes if n_classes else 0)


def is_outlier(scores: NDArray) -> NDArray:
    """Where an outlier score is far above the others': by four times their spread above their
    median (of normal numbers, 3 in 100 000 are), or above a half; never below 0.05.

    Examples
    --------
    >>> is_outlier(np.array([0.1, 0.12, 0.09, 0.11, 0.3])).tolist()
    [False, False, False, False, True]
    """
    return scores > outlier_threshold(scores)


def outlier_threshold(scores: NDArray) -> float:
    """The outlier score above which samples count as outlying among those of the scores.

    Copies of others, whose score is next to 0, tell nothing of the rest and are left out.
    """
    told = scores[scores > _COPY]
    if len(told) == 0:
        return _CERTAINLY_OUT
    middle = float(np.median(told))
    spread = 1.4826 * float(np.median(np.abs(told - middle)))
    return float(np.clip(middle + _FAR_OUT * spread, _HARDLY_OUT, _CERTAINLY_OUT))
