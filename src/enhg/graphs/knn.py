"""KNN-HG: every sample and its nearest neighbours (Huang, Liu, Zhang, Metaxas, CVPR 2010)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from enhg._progress import Progress
from enhg.graphs._structure import (
    Structure,
    heat_of_neighbors,
    neighbor_distances,
    require_one_of,
    require_positive,
)
from enhg.graphs.elastic_net import incidence_of
from enhg.hypergraph import Hypergraph
from enhg.preprocessing import Normalization


class KNNHypergraph(Structure):
    """One hyperedge a sample, of it and its k nearest neighbours.

    w(eᵢ) = Σ over the members j of exp(−‖xᵢ − xⱼ‖²/t), or 1. The induced graph, with weights
    divided by the degree of the hyperedge and a loop at every vertex, has the same Θ.

    Parameters
    ----------
    k : int
        Eight in the paper.
    weights : {"heat", "uniform"}
    incidence : {"binary", "soft"}
        Membership 1, or exp(−‖xᵢ − xⱼ‖²/t).
    width : float
        √t as a multiple of the median distance of neighbours.
    normalize : {"auto", "zero_mean", "unit", "whiten", "smooth", "lift", "none"}
        What is done to the samples first, as in `ElasticNetHypergraph`.

    Attributes
    ----------
    graph_ : Hypergraph

    Examples
    --------
    >>> X = [[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]]
    >>> [edge.tolist() for edge in KNNHypergraph(k=1, normalize="none").fit(X).graph_.edges()]
    [[0, 1], [0, 1], [0, 2]]
    """

    def __init__(
        self,
        k: int = 8,
        *,
        weights: Literal["heat", "uniform"] = "heat",
        incidence: Literal["binary", "soft"] = "binary",
        width: float = 1.0,
        normalize: Normalization = "auto",
    ) -> None:
        self.k = k
        self.weights = weights
        self.incidence = incidence
        self.width = width
        self.normalize = normalize

    def _check_choices(self) -> None:
        require_one_of("weights", self.weights, ("heat", "uniform"))
        require_one_of("incidence", self.incidence, ("binary", "soft"))
        require_positive(width=self.width)

    def _build(self, samples: NDArray, progress: Progress) -> None:
        near = neighbor_distances(samples, self.k)
        near.data = heat_of_neighbors(near.data, self.width)
        weights = 1 + near.sum(axis=1) if self.weights == "heat" else np.ones(len(samples))
        if self.incidence == "binary":
            near.data[:] = 1
        self.graph_ = Hypergraph(incidence_of(near), weights)
