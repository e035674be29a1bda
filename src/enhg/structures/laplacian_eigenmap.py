"""LE-graph: nearest neighbors joined by a heat kernel, as in Laplacian eigenmaps
(Belkin and Niyogi, Neural Computation 15, 2003)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg._progress import Progress
from enhg.preprocessing import Normalization
from enhg.structures._base import (
    Structure,
    heat_of_neighbors,
    neighbor_distances,
    require_one_of,
    require_positive,
    symmetric_graph,
)


class LaplacianEigenmapGraph(Structure):
    """Samples are joined if one is among the k nearest of the other.

    a(i, j) = exp(−‖xᵢ − xⱼ‖²/t), or 1.

    Parameters
    ----------
    n_neighbors : int
    weighting : {"heat", "binary"}
    bandwidth : float
        √t as a multiple of the median distance of neighbors.
    preprocessing : {"auto", "zero_mean", "unit", "whiten", "smooth", "lift", "none"}
        What is done to the samples first, as in `ElasticNetHypergraph`.

    Attributes
    ----------
    graph_ : Graph

    Examples
    --------
    >>> X = [[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]]
    >>> LaplacianEigenmapGraph(n_neighbors=1, weighting="binary", preprocessing="none").fit(X).graph_.adjacency
    <Compressed Sparse Row sparse array of dtype 'float64'
        with 4 stored elements and shape (3, 3)>
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weighting: Literal["heat", "binary"] = "heat",
        bandwidth: float = 1.0,
        preprocessing: Normalization = "auto",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weighting = weighting
        self.bandwidth = bandwidth
        self.preprocessing = preprocessing

    def _check_choices(self) -> None:
        require_one_of("weighting", self.weighting, ("heat", "binary"))
        require_positive(bandwidth=self.bandwidth)

    def _build(self, samples: NDArray, progress: Progress) -> None:
        near = neighbor_distances(samples, self.n_neighbors)
        heat = self.weighting == "heat"
        near.data = heat_of_neighbors(near.data, self.bandwidth) if heat else np.ones(near.nnz)
        self.graph_ = symmetric_graph(sparse.csr_array(near.maximum(near.T)))
