"""KNN-HG: every sample with its nearest neighbors."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from enhg._progress import Progress
from enhg._validation import check_choice, check_positive
from enhg.hypergraph import Hypergraph
from enhg.preprocessing.naming import Preprocessing
from enhg.structures._base import Structure, heat_of_neighbors, neighbor_distances
from enhg.structures.hyperedges import incidence_matrix


class KNNHypergraph(Structure):
    """One hyperedge per sample, of the sample and its nearest neighbors.

        w(eᵢ) = 1 + Σⱼ s(i, j),   s(i, j) = exp(−‖xᵢ − xⱼ‖²/t)

    over the neighbors j of sample i.

    Parameters
    ----------
    n_neighbors : int, default=8
    weighting : {"heat", "uniform"}, default="heat"
        w(eᵢ) as above, or 1.
    membership : {"binary", "soft"}, default="binary"
        h(j, eᵢ) = 1, or s(i, j) as in the source.
    bandwidth : float, default=1.0
        √t in multiples of the median distance of neighbors.
    preprocessing : str or transformer, default="auto"
        Applied to the samples first: "auto" (chosen from them), a name of
        `enhg.preprocessing.make_preprocessing` or a scikit-learn transformer (of arrays).

    Attributes
    ----------
    graph_ : Hypergraph
    preprocessing_ : transformer
        Fitted to the samples.
    samples_ : ndarray of shape (n_samples, n_features)
        The samples of `fit`, read-only. A copy, unless X cannot be written to.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X is a table whose column names are strings.

    Notes
    -----
    The induced graph a(u, v) = Σₑ w(e) h(u, e) h(v, e)/δ(e), with its loops, has the same Θ.

    References
    ----------
    Huang, Liu, Zhang, Metaxas, *Image retrieval via probabilistic hypergraph ranking*, CVPR 2010.

    Examples
    --------
    >>> X = [[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]]
    >>> hypergraph = KNNHypergraph(1, preprocessing="none").fit(X).graph_
    >>> [edge.tolist() for edge in hypergraph.edges()]
    [[0, 1], [0, 1], [0, 2]]
    """

    def __init__(
        self,
        n_neighbors: int = 8,
        *,
        weighting: Literal["heat", "uniform"] = "heat",
        membership: Literal["binary", "soft"] = "binary",
        bandwidth: float = 1.0,
        preprocessing: Preprocessing = "auto",
    ) -> None:
        self.n_neighbors = n_neighbors
        self.weighting = weighting
        self.membership = membership
        self.bandwidth = bandwidth
        self.preprocessing = preprocessing

    def _check_parameters(self) -> None:
        check_choice("weighting", self.weighting, ("heat", "uniform"))
        check_choice("membership", self.membership, ("binary", "soft"))
        check_positive("bandwidth", self.bandwidth)

    def _build(self, samples: NDArray, progress: Progress) -> None:
        near = neighbor_distances(samples, self.n_neighbors)
        near.data = heat_of_neighbors(near.data, self.bandwidth)
        weights = 1 + near.sum(axis=1) if self.weighting == "heat" else np.ones(len(samples))
        if self.membership == "binary":
            near.data[:] = 1
        self.graph_ = Hypergraph(incidence_matrix(near), weights)
