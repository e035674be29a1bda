"""The number of clusters, estimated from the eigenvalues of Θ and from modularity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from enhg._checkpoint import Computation
from enhg._npz import State, require, require_array, require_state, require_value
from enhg._protocol import GraphLike, check_graph
from enhg._validation import check_rng, check_whole
from enhg.learning._base import resumed
from enhg.learning.plateaus import TOLERANCE, Plateaus, find_plateaus
from enhg.learning.spectral import (
    MAX_EXTRA_EIGENVECTORS,
    MAX_STORED_VERTICES,
    TOL,
    Spectrum,
    top_eigenpairs,
)

# Chosen in trials, as the numbers that follow (docs/method.md).
_EIGENGAP_WEIGHT = 0.25
# Above that of Gaussian clouds and of the images of one digit.
_MIN_STABILITY = 0.87
# Above that of PIE and Caltech-101, where both estimates are alike and wrong.
_MIN_RELIABLE_STABILITY = 0.95
# 1 − λ₂ from which on the graph is evidence of one cluster: of a part of at most half of the total
# degree, a random walk leaves with a probability of at least half of it (Cheeger's inequality).
# Photographs of five kinds of flowers have 0.08, those of one kind 0.16.
_MIN_GAP_OF_ONE = 0.1


@dataclass(frozen=True)
class ClusterCount:
    """An estimate of the number of clusters.

    Attributes
    ----------
    n_clusters : int
        The number with the largest score, or 1 (see `count_clusters`).
    runner_up : int
        The number with the largest score among the other local maxima of the scores; `n_clusters`
        if no other number was scored.
    reliable : bool
        Whether the eigenvalues and modularity give the same number, up to 20 %, and random subsets
        of the vertices are partitioned in the same way (see `count_clusters`); of 1, whether all
        samples are equal.
    scores : ndarray
        Entry k − 1 is the score of k clusters.
    eigenvalues : ndarray
        The largest eigenvalues of Θ, descending.
    by_eigengap : int
        The estimate from the eigenvalues alone.
    by_modularity : int
        The estimate from modularity alone; 1 if no partition of two or more clusters is stable, 0
        if it was not computed.
    stability : float
        Agreement of the partition into `n_clusters` clusters with those of random subsets of the
        vertices: mean adjusted Rand index, 1 if they are the same.

    Examples
    --------
    >>> from enhg import KNNHypergraph, count_clusters
    >>> from sklearn.datasets import load_digits
    >>> graph = KNNHypergraph().fit(load_digits().data[:500]).graph_
    >>> count = count_clusters(graph, random_state=0)
    >>> len(count.scores) >= count.n_clusters
    True
    """

    n_clusters: int
    runner_up: int
    reliable: bool
    scores: NDArray
    eigenvalues: NDArray
    by_eigengap: int = 1
    by_modularity: int = 0
    stability: float = 0.0

    def describe(self) -> str:
        """Return a sentence with the estimate, whether it is reliable, and what it is based on."""
        word = "reliable" if self.reliable else "not reliable"
        text = f"the estimate of the number of clusters is {word}: {self.n_clusters}"
        if self.reliable and self.n_clusters == 1:
            return f"{text}; all samples are equal"
        if self.runner_up != self.n_clusters:  # otherwise no other number was scored
            text += f", next peak {self.runner_up}"
        if self.n_clusters > 1 == self.by_eigengap == self.by_modularity:
            return f"{text}; no number of clusters stands out"
        text += f"; the eigenvalues alone give {self.by_eigengap}"
        if self.by_modularity:
            text += f", modularity alone {self.by_modularity}"
        return text

    def to_state(self) -> State:
        """Return the fields."""
        return dict(vars(self))

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make an estimate from its state; raise InputError if the state is not one."""
        scores = require_array(state, "scores", (None,))
        eigenvalues = require_array(state, "eigenvalues", (None,))
        largest = {"n_clusters": max(len(scores), 1), "runner_up": max(len(scores), 1)}
        largest |= {"by_eigengap": max(len(eigenvalues), 1), "by_modularity": max(len(scores), 1)}
        numbers = {name: require_value(state, name, int) for name in largest}
        for name, number in numbers.items():
            require((name != "by_modularity") <= number <= largest[name], name)
        reliable = require_value(state, "reliable", bool)
        stability = require_value(state, "stability", float)
        require(-1 <= stability <= 1, "stability")
        return cls(
            reliable=reliable,
            scores=scores,
            eigenvalues=eigenvalues,
            stability=stability,
            **numbers,
        )


def count_clusters(
    graph: GraphLike,
    max_clusters: int | None = None,
    *,
    random_state: np.random.RandomState | int | None = None,
) -> ClusterCount:
    """Estimate the number of clusters by the eigengap and by modularity.

    The score of k clusters is the sum of a quarter of the first and of the second of

        k·ln(μ_{k+1} / μ_k),   μ_k = max(1 − λ_k, 1/n),
        d ln η / d ln k.

    λ are the eigenvalues of Θ in descending order. η is the resolution at which the partition of
    the largest modularity has k clusters; the derivative is large where the number of clusters
    stays the same over a wide range of resolutions. Without clusters, for samples of a uniform
    density in p dimensions, μ_k grows as k^{2/p} (Weyl's law) and the first is about 2/p for every
    k. With k clusters, each connected within itself far better than to the others, both are large.

    At 20 resolutions from 0.03 to 5.25, all vertices and four random subsets of 80 % of them are
    partitioned. The stability of a partition is its adjusted Rand index with that of a subset, in
    the mean over the subsets. The derivative is estimated from the ln k of all these partitions by
    a Gaussian kernel of bandwidth 0.2, in which a resolution has the weight exp(−(ln η)² / 4) times
    its stability.

    The estimate is the number k ≥ 2 of the largest score. It is 1 if there is evidence of one
    cluster: the eigengap is largest at 1, no partition has a stability of 0.87, and 1 − λ₂ is at
    least 0.1, so that no part is nearly separate. It is reliable if all of these hold:

    - it is not 1, and the estimates by the eigengap alone and by modularity alone differ from it
      by at most 20 %;
    - its partition has a stability of at least 0.95;
    - the number by the eigengap is not the largest considered.

    Connected components with fewer than √n/2 vertices are left out. Of a dense graph of more than
    2000 vertices modularity is not computed; the estimate is that of the eigengap and not reliable.

    Parameters
    ----------
    graph : Hypergraph or Graph
    max_clusters : int, optional
        The largest number considered. By default, for the eigengap, √n, at most 200, but at least
        twice the number of components that are not left out; for modularity, what the resolutions
        give.
    random_state : int, RandomState or None, default=None
        Seed of the eigensolver, of modularity and of the random subsets.

    Returns
    -------
    ClusterCount

    Examples
    --------
    >>> from enhg import Hypergraph
    >>> ring = [[i, (i + 1) % 8, (i + 3) % 8] for i in range(8)]
    >>> three = Hypergraph.from_edges([[8 * c + i for i in e] for c in range(3) for e in ring])
    >>> count_clusters(three, random_state=0).n_clusters
    3
    """
    return estimate_clusters(graph, max_clusters, random_state=random_state)[0]


def estimate_clusters(
    graph: GraphLike,
    max_clusters: int | None = None,
    *,
    all_equal: bool = False,
    tol: float = TOL,
    random_state: np.random.RandomState | int | None = None,
) -> tuple[ClusterCount, Spectrum, NDArray[np.bool_]]:
    """Return `count_clusters`, the eigenpairs it computed, and the mask of their vertices.

    The eigenvectors, of residuals of at most `tol`, have one row for each vertex of the mask, in
    their order. If all samples are equal, the links between them are arbitrary and there is one
    cluster.
    """
    check_graph(graph)
    if max_clusters is not None:
        check_whole("max_clusters", max_clusters, 1)
    rng = check_rng(random_state)
    kept, n_components = large_components(graph)
    part = graph if kept.all() else graph.subhypergraph(kept)
    spectrum = _spectrum(part, n_components, 1 if all_equal else max_clusters, tol, rng)
    gaps = eigengap_scores(spectrum.eigenvalues, part.n_vertices)
    if len(gaps) < 2:  # two samples, or equal ones
        return ClusterCount(1, 1, all_equal, gaps, spectrum.eigenvalues), spectrum, kept
    if part.is_dense and part.n_vertices > MAX_STORED_VERTICES:
        by_eigengap = int(gaps.argmax()) + 1
        count = ClusterCount(
            by_eigengap, _runner_up(gaps, by_eigengap), False, gaps, spectrum.eigenvalues,
            by_eigengap,
        )  # fmt: skip
        return count, spectrum, kept
    plateaus = find_plateaus(part, rng)
    return _combine(spectrum.eigenvalues, plateaus, max_clusters), spectrum, kept


def resumed_estimate(
    parts: Computation, graph: GraphLike, *, all_equal: bool, tol: float, rng: np.random.RandomState
) -> tuple[ClusterCount, Spectrum, NDArray[np.bool_]]:
    """`estimate_clusters`, or what an earlier call has finished of it."""

    def compute(rng: np.random.RandomState) -> State:
        count, spectrum, used = estimate_clusters(
            graph, all_equal=all_equal, tol=tol, random_state=rng
        )
        return {"count": count.to_state(), "spectrum": spectrum.to_state(), "used": used}

    estimated = resumed(parts, "count", rng, compute)
    return (
        ClusterCount.from_state(require_state(estimated, "count")),
        Spectrum.from_state(require_state(estimated, "spectrum")),
        require_array(estimated, "used", (graph.n_vertices,), "b"),
    )


def _combine(eigenvalues: NDArray, plateaus: Plateaus, max_clusters: int | None) -> ClusterCount:
    """Combine the scores of both, and decide whether the estimate is reliable."""
    gaps = eigengap_scores(eigenvalues, plateaus.n_vertices)
    levels = plateaus.scores(max_clusters)
    scores = np.zeros(max(len(gaps), len(levels)))
    scores[: len(levels)] = levels
    scores[1 : len(gaps)] += _EIGENGAP_WEIGHT * np.maximum(gaps[1:], 0)
    by_eigengap = int(gaps.argmax()) + 1
    is_stable = plateaus.largest_stability() >= _MIN_STABILITY
    by_modularity = int(levels.argmax()) + 1 if is_stable else 1
    is_one = by_eigengap == by_modularity == 1 and 1 - eigenvalues[1] >= _MIN_GAP_OF_ONE
    k = 1 if is_one else int(scores.argmax()) + 1
    stability = plateaus.stability_of(k)
    reliable = (
        k > 1
        and max(abs(by_eigengap - k), abs(by_modularity - k)) <= TOLERANCE * k
        and stability >= _MIN_RELIABLE_STABILITY
        and by_eigengap < len(gaps)
    )
    return ClusterCount(
        k, _runner_up(scores, k), bool(reliable), scores, eigenvalues, by_eigengap, by_modularity,
        stability,
    )  # fmt: skip


def large_components(graph: GraphLike) -> tuple[NDArray[np.bool_], int]:
    """Return the mask of components of at least √n/2 vertices, all if there is none; and their
    number. Isolated vertices do not count."""
    count, component = graph.connected_components()
    sizes = np.bincount(component, graph.vertex_degrees > 0, minlength=count)
    large = sizes >= max(np.sqrt(graph.n_vertices) / 2, 1)
    kept = large[component]
    return (kept if kept.any() else np.ones_like(kept)), int(large.sum())


def _spectrum(
    graph: GraphLike,
    n_components: int,
    max_clusters: int | None,
    tol: float,
    rng: np.random.RandomState,
) -> Spectrum:
    """Compute the eigenpairs for the scores of 1 … `max_clusters` clusters."""
    n = graph.n_vertices
    if max_clusters is None:
        max_clusters = max(min(int(np.sqrt(n)), MAX_EXTRA_EIGENVECTORS), 2 * n_components)
    return top_eigenpairs(graph, min(max_clusters + 1, n), tol=tol, random_state=rng)


def eigengap_scores(eigenvalues: NDArray, n_vertices: int) -> NDArray:
    """k·ln(μ_{k+1} / μ_k) for k = 1, 2, …

    μ is at least 1/n: smaller differences of 1 − λ are due to single links rather than to clusters.
    """
    logs = np.log(np.maximum(1 - eigenvalues, 1 / n_vertices))
    return np.arange(1, len(eigenvalues)) * np.diff(logs)


def _runner_up(scores: NDArray, k: int) -> int:
    """The number of the largest other local maximum; without one, of the largest other score."""
    padded = np.concatenate([[-np.inf], scores, [-np.inf]])
    is_peak = (scores >= padded[:-2]) & (scores > padded[2:])
    numbers = np.arange(1, len(scores) + 1)
    others = numbers[is_peak & (numbers != k) & (scores > 0)]
    if not len(others):
        others = numbers[numbers != k]
    return int(others[scores[others - 1].argmax()])
