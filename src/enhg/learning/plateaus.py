"""Plateaus of the number of clusters over the resolution of modularity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from enhg._protocol import GraphLike
from enhg.modularity import partitions_over_resolutions

RESOLUTIONS = np.geomspace(0.03, 5.25, 20)
_N_SUBSETS, _SUBSET_FRACTION = 4, 0.8
TOLERANCE = 0.2  # relative difference of two numbers of clusters that counts as none


@dataclass(frozen=True)
class Plateaus:
    """The number of clusters and the stability of the partition at every resolution.

    Attributes
    ----------
    counts : ndarray of int of shape (n_resolutions, 1 + n_subsets)
        Number of clusters of all vertices, and of each random subset.
    stability : ndarray of shape (n_resolutions,)
        Mean over the subsets of the adjusted Rand index of the partition of all vertices with that
        of the subset, the largest of the same and of the two neighboring resolutions.
    n_vertices : int
    """

    counts: NDArray
    stability: NDArray
    n_vertices: int

    def largest_stability(self) -> float:
        """The largest stability of a partition into two or more clusters; 0 if there is none."""
        return float(self.stability[self._proper()].max(initial=0.0))

    def stability_of(self, n_clusters: int) -> float:
        """The largest stability of a partition into that many clusters, or 20 % more or fewer."""
        near = np.abs(self.counts[:, 0] - n_clusters) <= TOLERANCE * n_clusters
        return float(self.stability[near & self._proper()].max(initial=0.0))

    def scores(self, max_clusters: int | None = None) -> NDArray:
        """The score of 1, 2, … clusters: an estimate of d ln η / d ln k.

        Resolutions η are weighted by exp(−(ln η)² / 4) and by the stability. The score of one
        cluster, which has no end towards small resolutions, is 0.
        """
        largest = max_clusters or int(self.counts[self._proper()].max(initial=2))
        k = np.arange(1, largest + 1)
        weights = np.exp(-(np.log(RESOLUTIONS) ** 2) / 4) * np.log(RESOLUTIONS[1] / RESOLUTIONS[0])
        weights *= np.clip(self.stability, 0, 1) * self._proper()
        distance = (np.log(self.counts)[:, :, None] - np.log(k)) / TOLERANCE
        kernel = np.exp(-(distance**2) / 2).mean(axis=1) / (np.sqrt(2 * np.pi) * TOLERANCE)
        scores = weights @ kernel
        scores[0] = 0
        return np.asarray(scores)

    def _proper(self) -> NDArray[np.bool_]:
        """The partitions into more than one cluster, but of two vertices or more on average."""
        counts = self.counts[:, 0]
        return np.asarray((counts > 1) & (counts <= self.n_vertices / 2))


def find_plateaus(graph: GraphLike, rng: np.random.RandomState) -> Plateaus:
    """Partition all vertices, and random subsets of about 80 % of them, at every resolution."""
    everything = partitions_over_resolutions(graph, RESOLUTIONS, random_state=rng)
    counts, stabilities = [_counts(everything)], []
    for _ in range(_N_SUBSETS):
        chosen = _random_subset(graph, rng)
        if not chosen.any():
            continue
        subset = graph.subhypergraph(chosen)
        partitions = partitions_over_resolutions(subset, RESOLUTIONS, random_state=rng)
        counts.append(_counts(partitions))
        stabilities.append(_agreement(everything[:, chosen], partitions))
    stability = np.mean(stabilities, axis=0) if stabilities else np.zeros(len(RESOLUTIONS))
    return Plateaus(np.column_stack(counts), stability, graph.n_vertices)


def _random_subset(graph: GraphLike, rng: np.random.RandomState) -> NDArray[np.bool_]:
    """Draw vertices, without those that keep no edge."""
    chosen = rng.random_sample(graph.n_vertices) < _SUBSET_FRACTION
    roots = np.sqrt(graph.vertex_degrees)
    return np.asarray(chosen & (graph.theta @ np.where(chosen, roots, 0.0) > 0))


def _counts(partitions: NDArray) -> NDArray:
    return np.asarray(partitions.max(axis=1) + 1)


def _agreement(everything: NDArray, partitions: NDArray) -> NDArray:
    """The adjusted Rand index of every row with the most similar of three neighboring rows."""
    count = len(partitions)
    return np.array(
        [
            max(
                adjusted_rand_score(everything[i], partitions[j])
                for j in range(max(i - 1, 0), min(i + 2, count))
            )
            for i in range(count)
        ]
    )
