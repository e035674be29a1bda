"""KNN-HG: every sample and its nearest neighbors (Huang, Liu, Zhang, Metaxas, CVPR 2010)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from enhg._progress import Progress
from enhg.hypergraph import Hypergraph
from enhg.preprocessing import Normalization
from enhg.structures._base import (
    Structure,
    heat_of_neighbors,
    neighbor_distances,
    require_one_of,
    require_positive,
)
from enhg.structures.elastic_net import incidence_of


class KNNHypergraph(Structure):
    """One hyperedge a sample, of it and its k nearest neighbors.

    w(eᵢ) = Σ over the members j of exp(−‖xᵢ − xⱼ‖²/t), or 1. The induced graph, with weights
    divided by the degree of the hyperedge and a loop at every vertex, has the same Θ.

    Parameters
    ----------
    n_neighbors : int
        Eight in the paper.
    weighting : {"heat", "uniform"}
    membership : {"binary", "soft"}
        Membership 1, or exp(−‖xᵢ − xⱼ‖²/t).
    bandwidth : float
        √t as a multiple of the median distance of neighbors.
    preprocessing : {"auto", "zero_mean", "unit", "whiten", "smooth", "lift", "none"}
        What is done to the samples first, as in `ElasticNetHypergraph`.

    Attributes
    ----------
    graph_ : Hypergraph

    Examples
    --------
    >>> X = [[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]]
    >>> [edge.tolist() for edge in KNNHypergraph(n_neighbors=1, preprocessing="none").fit(X).graph_.edges()]
    [[0, 1], [0, 1], [0, 2]]
    """

    def __init__(
        self,
        n_neighbors: int = 8,
        *,
        weighting: Literal["heat", "uniform"] = "heat",
        membership: Literal["binary", "soft"] = "binary",
        bandwidth: float = 1.0,
        preprocessing: Normalization = "auto",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weighting = weighting
        self.membership = membership
        self.bandwidth = bandwidth
        self.preprocessing = preprocessing

    def _check_choices(self) -> None:
        require_one_of("weighting", self.weighting, ("heat", "uniform"))
        require_one_of("membership", self.membership, ("binary", "soft"))
        require_positive(bandwidth=self.bandwidth)

    def _build(self, samples: NDArray, progress: Progress) -> None:
        near = neighbor_distances(samples, self.n_neighbors)
        near.data = heat_of_neighbors(near.data, self.bandwidth)
        weights = 1 + near.sum(axis=1) if self.weighting == "heat" else np.ones(len(samples))
        if self.membership == "binary":
            near.data[:] = 1
        self.graph_ = Hypergraph(incidence_of(near), weights)
