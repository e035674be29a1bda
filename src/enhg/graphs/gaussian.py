"""G-graph: all pairs of samples, joined by a Gaussian of their distance (paper, V)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances

from enhg._progress import Progress
from enhg.graphs._structure import Structure, heat, require_positive, symmetric_graph
from enhg.preprocessing import Normalization


class GaussianGraph(Structure):
    """The complete graph with a(i, j) = exp(−‖xᵢ − xⱼ‖²/t).

    n×n numbers are stored, so it is for a few thousand samples.

    Parameters
    ----------
    width : float
        √t as a multiple of the median distance of all pairs.
    normalize : {"auto", "zero_mean", "unit", "whiten", "smooth", "lift", "none"}
        What is done to the samples first, as in `ElasticNetHypergraph`.

    Attributes
    ----------
    graph_ : Graph

    Examples
    --------
    >>> GaussianGraph().fit([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]).graph_
    Graph(n_vertices=3, n_edges=3)
    """

    def __init__(self, width: float = 1.0, *, normalize: Normalization = "auto") -> None:
        self.width = width
        self.normalize = normalize

    def _check_choices(self) -> None:
        require_positive(width=self.width)

    def _build(self, samples: NDArray, progress: Progress) -> None:
        distances = pairwise_distances(samples.astype(np.float64, copy=False))
        pairs = np.triu_indices(len(samples), 1)
        weights = np.zeros_like(distances)
        weights[pairs] = 2 * heat(distances[pairs], self.width)
        self.graph_ = symmetric_graph(weights)
