"""LE-graph: the nearest-neighbor graph of Laplacian eigenmaps."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg._progress import Progress
from enhg._validation import check_choice, check_positive
from enhg.preprocessing.naming import Preprocessing
from enhg.structures._base import (
    Structure,
    heat_of_neighbors,
    neighbor_distances,
    symmetric_graph,
)


class LaplacianEigenmapGraph(Structure):
    """The nearest-neighbor graph with a(i, j) = exp(−‖xᵢ − xⱼ‖²/t).

    Two samples are connected if one is among the nearest neighbors of the other.

    Parameters
    ----------
    n_neighbors : int, default=5
    weighting : {"heat", "binary"}, default="heat"
        a(i, j) as above, or 1.
    bandwidth : float, default=1.0
        √t in multiples of the median distance of neighbors.
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
    Belkin, Niyogi, *Laplacian eigenmaps for dimensionality reduction and data representation*,
    Neural Computation 15, 2003.

    Examples
    --------
    >>> X = [[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]]
    >>> structure = LaplacianEigenmapGraph(1, weighting="binary", preprocessing="none").fit(X)
    >>> structure.graph_.adjacency.toarray()
    array([[0., 1., 1.],
           [1., 0., 0.],
           [1., 0., 0.]])
    """

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weighting: Literal["heat", "binary"] = "heat",
        bandwidth: float = 1.0,
        preprocessing: Preprocessing = "auto",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weighting = weighting
        self.bandwidth = bandwidth
        self.preprocessing = preprocessing

    def _check_parameters(self) -> None:
        check_choice("weighting", self.weighting, ("heat", "binary"))
        check_positive("bandwidth", self.bandwidth)

    def _build(self, samples: NDArray, progress: Progress) -> None:
        near = neighbor_distances(samples, self.n_neighbors)
        heat = self.weighting == "heat"
        near.data = heat_of_neighbors(near.data, self.bandwidth) if heat else np.ones(near.nnz)
        self.graph_ = symmetric_graph(sparse.csr_array(near.maximum(near.T)))
