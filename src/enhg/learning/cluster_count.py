"""The number of clusters, estimated from the eigenvalues of Θ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from enhg._npz import State, require, require_array, require_value
from enhg._protocol import GraphLike, check_graph
from enhg._validation import check_rng, check_whole
from enhg.learning.spectral import Spectrum, top_eigenpairs

_MAX_CLUSTERS = 100
# Lower bound of 1 − λ: below it, differences are due to single links rather than to clusters.
_MIN_GAP = 0.005
_NEAR_MAXIMUM = 0.9
_MIN_RELIABLE_SCORE = 2.5
_MIN_RELIABLE_LEAD = 1.25
_N_SUBSETS, _SUBSET_FRACTION = 4, 0.8


@dataclass(frozen=True)
class ClusterCount:
    """An estimate of the number of clusters.

    Attributes
    ----------
    n_clusters : int
        The smallest number whose score is at least 0.9 of the largest score.
    runner_up : int
        The number with the largest score among all others.
    reliable : bool
        Whether all of these hold: the score of `n_clusters` is at least 2.5, and at least 1.25 of
        the score of `runner_up`; the estimates on four random subsets of 80 % of the vertices
        differ from it by at most one; and it is neither 1, the estimate of every dense hypergraph,
        nor the largest number considered.
    scores : ndarray
        Entry k − 1 is the score of k clusters.
    eigenvalues : ndarray
        The largest eigenvalues of Θ, descending, one more than scores.
    """

    n_clusters: int
    runner_up: int
    reliable: bool
    scores: NDArray
    eigenvalues: NDArray

    def to_state(self) -> State:
        """Return the fields."""
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make an estimate from its state; raise InputError if the state is not one."""
        scores = require_array(state, "scores", (None,))
        eigenvalues = require_array(state, "eigenvalues", (len(scores) + 1,))
        n_clusters, runner_up = (
            require_value(state, name, int) for name in ("n_clusters", "runner_up")
        )
        largest = max(len(scores), 1)
        require(1 <= n_clusters <= largest, "n_clusters")
        require(1 <= runner_up <= largest, "runner_up")
        reliable = require_value(state, "reliable", bool)
        return cls(n_clusters, runner_up, reliable, scores, eigenvalues)


def count_clusters(
    graph: GraphLike,
    max_clusters: int | None = None,
    *,
    random_state: np.random.RandomState | int | None = None,
) -> ClusterCount:
    """Estimate the number of clusters by the eigengap.

        s(k) = k·ln(μ_{k+1} / μ_k),   μ_k = max(1 − λ_k, 0.005)

    is the score of k clusters, λ the eigenvalues of Θ in descending order. Without clusters, for
    samples of a uniform density in p dimensions, μ_k grows as k^{2/p} (Weyl's law) and s(k) ≈ 2/p
    for every k. With k clusters, each connected within itself far better than to the others, the
    gap between μ_k and μ_{k+1} is large. Connected components with fewer than √n/2 vertices are
    left out: each has an eigenvalue 1 of its own.

    Parameters
    ----------
    graph : Hypergraph or Graph
    max_clusters : int, optional
        The largest number considered. By default √n, at most 100, but at least twice the number of
        components that are not left out.
    random_state : int, RandomState or None, default=None
        Seed of the eigensolver and of the random subsets.

    Returns
    -------
    ClusterCount

    Examples
    --------
    >>> from enhg import Hypergraph
    >>> ring = [[i, (i + 1) % 8, (i + 3) % 8] for i in range(8)]
    >>> three = Hypergraph.from_edges([[8 * c + i for i in e] for c in range(3) for e in ring])
    >>> count_clusters(three).n_clusters
    3
    """
    return estimate_clusters(graph, max_clusters, random_state=random_state)[0]


def estimate_clusters(
    graph: GraphLike,
    max_clusters: int | None = None,
    *,
    random_state: np.random.RandomState | int | None = None,
) -> tuple[ClusterCount, Spectrum, NDArray[np.bool_]]:
    """Return `count_clusters`, the eigenpairs it computed, and the mask of their vertices.

    The eigenvectors have one row for each vertex of the mask, in their order.
    """
    check_graph(graph)
    if max_clusters is not None:
        check_whole("max_clusters", max_clusters, 1)
    rng = check_rng(random_state)
    kept, n_components = large_components(graph)
    part = graph if kept.all() else graph.subhypergraph(kept)
    spectrum = _spectrum(part, n_components, max_clusters, rng)
    scores = _scores(spectrum.eigenvalues)
    if len(scores) < 2:  # two samples
        return ClusterCount(1, 1, False, scores, spectrum.eigenvalues), spectrum, kept
    best, second = _best_and_second(scores)
    reliable = (
        scores[best] >= max(_MIN_RELIABLE_SCORE, _MIN_RELIABLE_LEAD * scores[second])
        and 0 < best < len(scores) - 1
        and all(abs(other - best) <= 1 for other in _best_of_subsets(graph, len(scores), rng))
    )
    count = ClusterCount(best + 1, second + 1, bool(reliable), scores, spectrum.eigenvalues)
    return count, spectrum, kept


def large_components(graph: GraphLike) -> tuple[NDArray[np.bool_], int]:
    """Return the mask of components of at least √n/2 vertices, all if there is none; and their
    number."""
    count, component = graph.connected_components()
    sizes = np.bincount(component, minlength=count)
    large = sizes >= np.sqrt(graph.n_vertices) / 2
    kept = large[component]
    return (kept if kept.any() else np.ones_like(kept)), int(large.sum())


def _spectrum(
    graph: GraphLike, n_components: int, max_clusters: int | None, rng: np.random.RandomState
) -> Spectrum:
    """Compute the eigenpairs for the scores of 1 … `max_clusters` clusters."""
    n = graph.n_vertices
    if max_clusters is None:
        max_clusters = max(min(int(np.sqrt(n)), _MAX_CLUSTERS), 2 * n_components)
    return top_eigenpairs(graph, min(max_clusters + 1, n), random_state=rng)


def _scores(eigenvalues: NDArray) -> NDArray:
    logs = np.log(np.maximum(1 - eigenvalues, _MIN_GAP))
    return np.arange(1, len(eigenvalues)) * np.diff(logs)


def _best_and_second(scores: NDArray) -> tuple[int, int]:
    """Return the first index of a score near the maximum, and that of the largest other score."""
    best = int(np.argmax(scores >= _NEAR_MAXIMUM * scores.max()))
    others = np.delete(np.arange(len(scores)), best)
    return best, int(others[np.argmax(scores[others])])


def _best_of_subsets(
    graph: GraphLike, max_clusters: int, rng: np.random.RandomState
) -> Iterator[int]:
    """Yield the index of the best score on random subsets of the vertices."""
    roots = np.sqrt(graph.vertex_degrees)
    for _ in range(_N_SUBSETS):
        chosen = rng.random_sample(graph.n_vertices) < _SUBSET_FRACTION
        chosen &= graph.theta @ np.where(chosen, roots, 0.0) > 0  # those that keep an edge
        yield _best_of_subset(graph, chosen, max_clusters, rng) if chosen.any() else 0


def _best_of_subset(
    graph: GraphLike, chosen: NDArray[np.bool_], max_clusters: int, rng: np.random.RandomState
) -> int:
    subset = graph.subhypergraph(chosen)
    kept, n_components = large_components(subset)
    part = subset if kept.all() else subset.subhypergraph(kept)
    scores = _scores(_spectrum(part, n_components, max_clusters, rng).eigenvalues)
    return _best_and_second(scores)[0] if len(scores) > 1 else 0
