"""LE-graph: nearest neighbours joined by a heat kernel, as in Laplacian eigenmaps
(Belkin and Niyogi, Neural Computation 15, 2003)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg._progress import Progress
from enhg.graphs._structure import (
    Structure,
    heat_of_neighbors,
    neighbor_distances,
    require_one_of,
    require_positive,
    symmetric_graph,
)
from enhg.preprocessing import Normalization


class LaplacianEigenmapGraph(Structure):
    """Samples are joined if one is among the k nearest of the other.

    a(i, j) = exp(−‖xᵢ − xⱼ‖²/t), or 1.

    Parameters
    ----------
    k : int
    weights : {"heat", "binary"}
    width : float
        √t as a multiple of the median distance of neighbours.
    normalize : {"auto", "zero_mean", "unit", "whiten", "smooth", "lift", "none"}
        What is done to the samples first, as in `ElasticNetHypergraph`.

    Attributes
    ----------
    graph_ : Graph

    Examples
    --------
    >>> X = [[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]]
    >>> LaplacianEigenmapGraph(k=1, weights="binary", normalize="none").fit(X).graph_.adjacency
    <Compressed Sparse Row sparse array of dtype 'float64'
        with 4 stored elements and shape (3, 3)>
    """

    def __init__(
        self,
        k: int = 5,
        *,
        weights: Literal["heat", "binary"] = "heat",
        width: float = 1.0,
        normalize: Normalization = "auto",
    ) -> None:
        self.k = k
        self.weights = weights
        self.width = width
        self.normalize = normalize

    def _check_choices(self) -> None:
        require_one_of("weights", self.weights, ("heat", "binary"))
        require_positive(width=self.width)

    def _build(self, samples: NDArray, progress: Progress) -> None:
        near = neighbor_distances(samples, self.k)
        heat = self.weights == "heat"
        near.data = heat_of_neighbors(near.data, self.width) if heat else np.ones(near.nnz)
        self.graph_ = symmetric_graph(sparse.csr_array(near.maximum(near.T)))
