"""G-graph: the complete graph with Gaussian weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances

from enhg._progress import Progress
from enhg._validation import check_positive, check_range
from enhg.preprocessing.naming import Preprocessing
from enhg.structures._base import Structure, heat, symmetric_graph


class GaussianGraph(Structure):
    """The complete graph with a(i, j) = exp(−‖xᵢ − xⱼ‖²/t).

    The adjacency is a dense n×n array: for a few thousand samples.

    Parameters
    ----------
    bandwidth : float, default=1.0
        √t in multiples of the median distance of all pairs.
    preprocessing : str or transformer, default="auto"
        Applied to the samples first: "auto" (chosen from them), a name of
        `enhg.preprocessing.make_preprocessing` or a scikit-learn transformer (of arrays).

    Attributes
    ----------
    graph_ : Graph
    preprocessing_ : transformer
        Fitted to the samples.
    samples_ : ndarray of shape (n_samples, n_features)
        The samples of `fit`, read-only. A copy, unless X cannot be written to.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X is a table whose column names are strings.

    References
    ----------
    Ng, Jordan, Weiss, *On spectral clustering: analysis and an algorithm*, NIPS 2001.

    Examples
    --------
    >>> GaussianGraph().fit([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]).graph_
    Graph(n_vertices=3, n_edges=3)
    """

    def __init__(self, bandwidth: float = 1.0, *, preprocessing: Preprocessing = "auto") -> None:
        self.bandwidth = bandwidth
        self.preprocessing = preprocessing

    def _check_parameters(self) -> None:
        check_positive("bandwidth", self.bandwidth)

    def _build(self, samples: NDArray, progress: Progress) -> None:
        wide = samples.astype(np.float64, copy=False)
        check_range(wide, "X")
        distances = pairwise_distances(wide)
        pairs = np.triu_indices(len(samples), 1)
        weights = np.zeros_like(distances)
        weights[pairs] = 2 * heat(distances[pairs], self.bandwidth)
        self.graph_ = symmetric_graph(weights)
