"""How many clusters a hypergraph has, from its spectrum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from enhg.graph import Graph
from enhg.hypergraph import Hypergraph
from enhg.learning.spectral import top_eigenpairs

_MOST_CLUSTERS = 100
# Parts of the hypergraph whose λ is this near to 1 count as cut off from each other: how much
# nearer says more of a few stray links than of clusters.
_CUT_OFF = 0.005
_NEARLY = 0.9
_STANDS_OUT = 2.5
_AHEAD = 1.25
_PARTS, _PART = 4, 0.8


@dataclass(frozen=True)
class ClusterCount:
    """An estimate of the number of clusters.

    Attributes
    ----------
    n_clusters, runner_up : int
        The smallest number whose score is within a tenth of the largest, and the number of the
        largest score of all others.
    reliable : bool
        Whether the spectrum tells: the best score is high (2.5) and well ahead of the next (by a
        quarter), four random parts of the vertices, of 80 % each, have it too or one beside it, and
        it is neither 1, which dense hypergraphs always speak for, nor the largest considered.
    scores : ndarray
        Entry k − 1 is the score of k clusters.
    values : ndarray
        The largest eigenvalues of Θ, falling, one more than scores.
    """

    n_clusters: int
    runner_up: int
    reliable: bool
    scores: NDArray
    eigenvalues: NDArray


def count_clusters(
    graph: Hypergraph | Graph,
    most: int | None = None,
    *,
    random_state: np.random.RandomState | int | None = None,
) -> ClusterCount:
    """Estimate the number of clusters by the eigengap.

    The score of k is k·ln(μ_{k+1}/μ_k) with μ = 1 − λ, at least 0.005. Of a single cluster, spread
    evenly over p dimensions, μ_k grows as k^{2/p} (Weyl's law) and the score is 2/p for every k; k
    clusters, each joined within far better than to the others, make a leap after μ_k.
    Components of the hypergraph with fewer than half of √n vertices are left out: each has an
    eigenvalue 1 of its own, but is no cluster.

    Parameters
    ----------
    graph : Hypergraph or Graph
    most : int, optional
        The largest number considered. By default √n, at most 100, but at least twice the number of
        components that are not left out.
    random_state : int, RandomState or None
        Of the eigenvectors' start, and of the parts.

    Examples
    --------
    >>> ring = [[i, (i + 1) % 8, (i + 3) % 8] for i in range(8)]
    >>> three = Hypergraph.from_edges([[8 * c + i for i in e] for c in range(3) for e in ring])
    >>> count_clusters(three).n_clusters
    3
    """
    rng = check_random_state(random_state)
    scores, values = _scores(graph, most, rng)
    if len(scores) < 2:  # of two samples
        return ClusterCount(1, 1, False, scores, values)
    best, second = _best_and_next(scores)
    sure = (
        scores[best] >= max(_STANDS_OUT, _AHEAD * scores[second])
        and 0 < best < len(scores) - 1
        and all(abs(other - best) <= 1 for other in _of_parts(graph, len(scores), rng))
    )
    return ClusterCount(best + 1, second + 1, bool(sure), scores, values)


def _scores(
    graph: Hypergraph | Graph, most: int | None, random_state: np.random.RandomState
) -> tuple[NDArray, NDArray]:
    """The score of every number of clusters, and the eigenvalues."""
    count, component = graph.connected_components()
    sizes = np.bincount(component, minlength=count)
    large = sizes >= np.sqrt(graph.n_vertices) / 2
    kept = large[component]
    part = graph if kept.all() or not kept.any() else graph.subhypergraph(kept)
    n = part.n_vertices
    if most is None:
        most = max(min(int(np.sqrt(n)), _MOST_CLUSTERS), 2 * int(large.sum()))
    values = top_eigenpairs(part, min(most + 1, n), random_state=random_state).eigenvalues
    logs = np.log(np.maximum(1 - values, _CUT_OFF))
    return np.arange(1, len(values)) * np.diff(logs), values


def _best_and_next(scores: NDArray) -> tuple[int, int]:
    """Places of the first score within a tenth of the largest, and of the largest of the others."""
    best = int(np.argmax(scores >= _NEARLY * scores.max()))
    others = np.delete(np.arange(len(scores)), best)
    return best, int(others[np.argmax(scores[others])])


def _of_parts(
    graph: Hypergraph | Graph, most: int, random_state: np.random.RandomState
) -> Iterator[int]:
    """The place of the best score in random parts of the vertices."""
    roots = np.sqrt(graph.vertex_degrees)
    for _ in range(_PARTS):
        chosen = random_state.random_sample(graph.n_vertices) < _PART
        chosen &= graph.theta @ np.where(chosen, roots, 0.0) > 0  # an edge is left
        scores = np.array([])
        if chosen.any():
            scores, _ = _scores(graph.subhypergraph(chosen), most, random_state)
        yield _best_and_next(scores)[0] if len(scores) > 1 else 0
