"""G-graph: all pairs of samples, joined by a Gaussian of their distance (paper, V)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances

from enhg._progress import Progress
from enhg.preprocessing import Normalization
from enhg.structures._base import Structure, heat, require_positive, symmetric_graph


class GaussianGraph(Structure):
    """The complete graph with a(i, j) = exp(−‖xᵢ − xⱼ‖²/t).

    n×n numbers are stored, so it is for a few thousand samples.

    Parameters
    ----------
    bandwidth : float
        √t as a multiple of the median distance of all pairs.
    preprocessing : {"auto", "zero_mean", "unit", "whiten", "smooth", "lift", "none"}
        What is done to the samples first, as in `ElasticNetHypergraph`.

    Attributes
    ----------
    graph_ : Graph

    Examples
    --------
    >>> GaussianGraph().fit([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]).graph_
    Graph(n_vertices=3, n_edges=3)
    """

    def __init__(self, bandwidth: float = 1.0, *, preprocessing: Normalization = "auto") -> None:
        self.bandwidth = bandwidth
        self.preprocessing = preprocessing

    def _check_choices(self) -> None:
        require_positive(bandwidth=self.bandwidth)

    def _build(self, samples: NDArray, progress: Progress) -> None:
        distances = pairwise_distances(samples.astype(np.float64, copy=False))
        pairs = np.triu_indices(len(samples), 1)
        weights = np.zeros_like(distances)
        weights[pairs] = 2 * heat(distances[pairs], self.bandwidth)
        self.graph_ = symmetric_graph(weights)
