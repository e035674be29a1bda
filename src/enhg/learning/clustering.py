"""Spectral clustering on a hypergraph (paper, IV.A)."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.metrics import euclidean_distances
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from enhg._progress import Progress
from enhg.graph import Graph
from enhg.hypergraph import Hypergraph
from enhg.learning._base import Prediction, attach, fit_structure
from enhg.learning.cluster_count import ClusterCount, count_clusters
from enhg.learning.queries import most_telling
from enhg.learning.scores import boundary_scores
from enhg.learning.spectral import Kind, Spectrum, eigenpairs_among, embed, fragments
from enhg.preprocessing import check_samples, unit_length

_EIGENVECTORS_PER_CLUSTER = 5
_MOST_EXTRA_EIGENVECTORS = 200
# With fewer samples the threads of BLAS and OpenMP mostly wait for each other, and on a busy
# machine for long.
_THREADS_FROM = 10_000


class HypergraphClustering(ClusterMixin, BaseEstimator):
    """Cluster samples by the top eigenvectors of their hypergraph's Θ.

    A structure is built from the samples, its Θ = I − L embedded by its top eigenvectors, and
    the rows of the embedding are grouped by k-means.

    Parameters
    ----------
    n_clusters : int or "auto"
        "auto": estimated from the spectrum (`count_clusters`). Where the spectrum does not tell, a
        warning says so, and the best guess is taken.
    structure : structure, Hypergraph or Graph, optional
        What turns samples into a hypergraph or a graph; `ElasticNetHypergraph()` by default. Any
        estimator will do whose `fit(X)` sets `graph_`. A ready `Hypergraph` or `Graph` is taken
        as it is, and so is what a structure in scikit-learn's `FrozenEstimator` was fitted to.
    eigenvector_weighting : {"auto", "equal", "resolvent"}
        How eigenvectors count. "equal": the `n_clusters` top ones alike (the paper).
        "resolvent": five times as many (at most 200 more), each times μ/(1 − λ + μ) with
        μ = 1 − λ_k. "auto": both are clustered, and the partition of more even sizes (by
        entropy) is kept; on the sets tried, faces want the one and digits the other
        (docs/defaults.md).
    normalize_rows : bool
        GammaScale the rows of the embedding to unit length first; the paper does not.
    n_init : int
        Starts of k-means; the best is kept.
    random_state : int, RandomState or None
    verbose : bool
        Show a progress bar on standard error.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
    embedding_ : ndarray of shape (n_samples, n_eigenvectors)
        The points that were grouped.
    confidence_ : ndarray of shape (n_samples,)
        1 − (distance to the own center / distance to the next one): 0 on the border, 1 at the
        center, and 1 for all of a single cluster. 0 for samples in components of the hypergraph
        with less than a tenth of an average cluster, or alone where there are more components
        than clusters: these do not take the place of a cluster.
    structure_ : structure or None
        What built `graph_`, fitted; None where a ready one was given.
    n_clusters_ : int
    cluster_count_ : ClusterCount or None
        The estimate, if one was asked for.
    cluster_centers_ : ndarray of shape (n_clusters, n_eigenvectors)
        Of k-means, among the points of the embedding.
    boundary_scores_ : ndarray of shape (n_samples,)
        From 0 to 1: the part of a sample's hyperedges that belongs to samples of other clusters.
    outlier_scores_ : ndarray of shape (n_samples,)
        From 0 to 1: how far a sample is from all that could rebuild it (see
        `ElasticNetHypergraph`). Where the structure has them.
    spectrum_ : Spectrum
        Eigenvalues, eigenvectors and residuals.
    graph_ : Hypergraph or Graph
    representation_ : Representation
        Where the structure has one.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from enhg import HypergraphClustering, clustering_accuracy
    >>> X, y = load_digits(n_class=5, return_X_y=True)
    >>> labels = HypergraphClustering(n_clusters=5, random_state=0).fit_predict(X)
    >>> clustering_accuracy(y, labels) > 0.95
    True
    """

    labels_: NDArray
    embedding_: NDArray
    confidence_: NDArray
    spectrum_: Spectrum
    graph_: Hypergraph | Graph
    structure_: Any
    n_clusters_: int
    cluster_count_: ClusterCount | None
    cluster_centers_: NDArray
    boundary_scores_: NDArray
    outlier_scores_: NDArray

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = "auto",
        *,
        structure: BaseEstimator | Hypergraph | Graph | None = None,
        eigenvector_weighting: Literal["auto", "equal", "resolvent"] = "auto",
        normalize_rows: bool = True,
        n_init: int = 30,
        random_state: np.random.RandomState | int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.structure = structure
        self.eigenvector_weighting = eigenvector_weighting
        self.normalize_rows = normalize_rows
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: object = None) -> HypergraphClustering:
        """Cluster the samples; y is not used."""
        if self.eigenvector_weighting not in ("auto", "equal", "resolvent"):
            raise ValueError(
                f'eigenvector_weighting must be "auto", "equal" or "resolvent", got {self.eigenvector_weighting!r}'
            )
        k, n = self.n_clusters, len(check_samples(X, min_samples=2))
        if not (isinstance(k, str) and k == "auto") and (
            not isinstance(k, Integral) or isinstance(k, bool) or not 1 <= k <= n
        ):
            raise ValueError(
                f'n_clusters must be "auto" or a whole number from 1 to the number of samples ({n}), got {k!r}'
            )
        if not isinstance(self.n_init, Integral) or self.n_init < 1:
            raise ValueError(f"n_init must be a whole number of at least 1, got {self.n_init!r}")
        fit_structure(self, X)
        random_state = check_random_state(self.random_state)
        both: tuple[Kind, ...] = ("equal", "resolvent")
        kinds = both if self.eigenvector_weighting == "auto" else (self.eigenvector_weighting,)
        with threadpool_limits(limits=1 if n < _THREADS_FROM else None):
            self.n_clusters_ = k = self._count(random_state)
            small = self._fragments()
            linked = ~small if (~small).sum() >= k else np.ones(n, bool)
            count = k
            if self.eigenvector_weighting != "equal":
                count = min(_EIGENVECTORS_PER_CLUSTER * k, k + _MOST_EXTRA_EIGENVECTORS)
            self.spectrum_ = eigenpairs_among(self.graph_, linked, count, random_state)
            seed = random_state.randint(np.iinfo(np.int32).max)
            candidates = [self._group(linked, kind, seed) for kind in kinds]
            evenness = [_size_entropy(means.labels_, k) for _, means in candidates]
            self.embedding_, means = candidates[int(np.argmax(evenness))]
            self.cluster_centers_ = means.cluster_centers_
            self.labels_, self.confidence_ = self._assign(self.embedding_)
        self.confidence_[small] = 0
        self.boundary_scores_ = boundary_scores(self.graph_, self.labels_, k)
        return self

    def predict(self, X: ArrayLike) -> NDArray:
        """Clusters of samples, seen in `fit` or not: the labels of `place`."""
        return self.predict_with_scores(X).labels

    def predict_with_scores(self, X: ArrayLike, *, progress: Progress = None) -> Prediction:
        """Cluster, confidence and outlier score of samples, seen in `fit` or not.

        Each is rebuilt from the samples of `fit`, and placed in the embedding at the mean of its
        prominent rebuilders, weighted by their memberships; the nearest center is its cluster. What
        nothing rebuilds has the label −1 and the confidence 0.
        """
        found = attach(self, X, progress)
        points = found.memberships @ self.embedding_
        if self.normalize_rows:
            points = unit_length(points)
        labels, confidence = self._assign(points)
        lost = np.diff(found.memberships.indptr) == 0
        labels[lost], confidence[lost] = -1, 0
        return Prediction(labels, confidence, found.outlier_scores)

    def to_state(self):
        import pickle
        return {"pickle": np.frombuffer(pickle.dumps(self), np.uint8), "structure": {"kind": "x", "state": {}}}

    @classmethod
    def from_state(cls, state):
        import pickle
        return pickle.loads(state["pickle"].tobytes())

    def suggest(self, n: int) -> NDArray:
        """The n samples whose labels would tell most of all the others', best first.

        For labeling by hand: the labels can then be spread by `HypergraphClassifier`, whose own
        `suggest` goes on from there.
        """
        check_is_fitted(self)
        none = np.array([], dtype=int)
        doubt = np.ones(len(self.labels_))
        return most_telling(self.spectrum_, self.n_clusters_, none, doubt, n)

    def _count(self, random_state: np.random.RandomState) -> int:
        """The number of clusters, estimated if that is asked for."""
        self.cluster_count_ = None
        if not isinstance(self.n_clusters, str):
            return int(self.n_clusters)
        found = self.cluster_count_ = count_clusters(self.graph_, random_state=random_state)
        if not found.reliable:
            warnings.warn(
                f"the spectrum does not tell the number of clusters: {found.n_clusters} is the best "
                f"guess, {found.runner_up} the next; look at cluster_count_, or give the number",
                stacklevel=3,
            )
        return found.n_clusters

    def _group(self, linked: NDArray, kind: Kind, seed: int) -> tuple[NDArray, KMeans]:
        k = self.n_clusters_
        points = embed(self.spectrum_, k, kind, normalize_rows=self.normalize_rows)
        return points, KMeans(k, n_init=self.n_init, random_state=seed).fit(points[linked])

    def _assign(self, points: NDArray) -> tuple[NDArray, NDArray]:
        """The nearest center of every point, and `confidence_`."""
        distances = euclidean_distances(points, self.cluster_centers_)
        return distances.argmin(axis=1), _margin(distances)

    def _fragments(self) -> NDArray:
        """`fragments`; warns of what they and more components than clusters mean."""
        k = self.n_clusters_
        components, _ = self.graph_.connected_components()
        small = fragments(self.graph_, k)
        if k == 1 or not (small.any() or components > k):
            return np.zeros(len(small), bool)
        more, ask = "", ""
        if components > k:
            more = f", more than the {k} clusters asked for"
            ask = f", or ask for up to {components} clusters"
        fate = "some are put together"
        if small.any():
            number = int(small.sum())
            many = "a sample in one" if number == 1 else f"{number} samples in ones"
            fate = f"{many} too small for a cluster {'is' if number == 1 else 'are'} placed"
        warnings.warn(
            f"the hypergraph falls into {components} components{more}: {fate} without a reason "
            "in the data. Make hyperedges larger (more prominent coefficients, by the rule and "
            f"level of the structure, or a higher gamma){ask}",
            stacklevel=3,
        )
        return small


def _size_entropy(labels: NDArray, n_clusters: int) -> float:
    """Entropy of the cluster sizes: largest when all are alike."""
    share = np.bincount(labels, minlength=n_clusters) / len(labels)
    share = share[share > 0]
    return float(-(share * np.log(share)).sum())


def _margin(distances: NDArray) -> NDArray:
    """1 − nearest/second nearest distance of every row."""
    if distances.shape[1] == 1:
        return np.ones(len(distances))
    nearest, second = np.partition(distances, 1, axis=1)[:, :2].T
    return 1 - np.divide(nearest, second, out=np.ones_like(nearest), where=second > 0)
