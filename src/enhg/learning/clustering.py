"""Spectral clustering on a hypergraph (paper, IV.A)."""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.metrics import euclidean_distances
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from enhg._npz import (
    State,
    require,
    require_array,
    require_indices,
    require_scores,
    require_state,
    require_value,
)
from enhg._progress import Progress
from enhg._protocol import GraphLike
from enhg._validation import check_choice, check_rng, check_whole
from enhg.learning._base import (
    Prediction,
    attach,
    fit_structure,
    learner_from_state,
    learner_to_state,
    validate_samples,
)
from enhg.learning.cluster_count import ClusterCount, estimate_clusters, large_components
from enhg.learning.queries import select_queries
from enhg.learning.scores import boundary_scores
from enhg.learning.spectral import (
    EigenvectorWeighting,
    Spectrum,
    eigenpairs_on,
    embed,
    fragments,
    n_eigenvectors,
)
from enhg.preprocessing._arrays import unit_length

_WEIGHTINGS: tuple[EigenvectorWeighting, ...] = ("equal", "resolvent")
# With fewer samples the threads of BLAS and OpenMP mostly wait for each other.
_MIN_THREADED_SAMPLES = 10_000


class HypergraphClustering(ClusterMixin, BaseEstimator):
    """Spectral clustering by the eigenvectors of the largest eigenvalues of Θ of a hypergraph.

    The samples are embedded by the eigenvectors of the largest eigenvalues of Θ = I − L, one row of
    weighted entries each, and the rows are clustered by k-means.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        "auto": estimated from the eigenvalues (see `count_clusters`); a warning is issued if the
        estimate is not reliable.
    structure : structure, Hypergraph or Graph, default=None
        Makes a hypergraph or graph of the samples; `ElasticNetHypergraph()` by default. Any
        estimator whose `fit(X)` sets `graph_`. A Hypergraph, a Graph, another object with their
        interface, or a fitted structure in scikit-learn's `FrozenEstimator` is used as it is.
    eigenvector_weighting : {"auto", "equal", "resolvent"}, default="auto"
        "equal": the k first eigenvectors, k the number of clusters (the paper). "resolvent":
        min(5k, k + 200) eigenvectors, each times μ / (1 − λ + μ) with μ = 1 − λ_k (an extension).
        "auto": both, and the partition with the larger entropy of cluster sizes,
        −Σ (n_c/n) ln(n_c/n), is kept (docs/defaults.md); not for clusters of very different sizes.
    normalize_rows : bool, default=True
        Scale the rows of the embedding to unit length (an extension).
    n_init : int, default=30
        Initializations of k-means; the best result is kept.
    random_state : int, RandomState or None, default=None
        Seed of the eigensolver and of k-means.
    verbose : bool, default=False
        Show a progress bar on standard error.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every sample.
    n_clusters_ : int
    cluster_count_ : ClusterCount or None
        The estimate, with ``n_clusters="auto"``.
    structure_ : structure, Hypergraph or Graph
        The fitted structure, or the Hypergraph or Graph that was given.
    graph_ : Hypergraph or Graph
    embedding_ : ndarray of shape (n_samples, n_eigenvectors)
        The points clustered by k-means.
    cluster_centers_ : ndarray of shape (n_clusters, n_eigenvectors)
        The centers of k-means.
    confidence_ : ndarray of shape (n_samples,)
        1 − d₁/d₂, with d₁ and d₂ the distances of a sample to the nearest and second nearest
        center; 1 for a single cluster, 0 for `fragments_`.
    fragments_ : ndarray of bool of shape (n_samples,)
        The samples in connected components that are too small for a cluster, which are left out of
        the spectrum and of k-means: components of fewer than 0.1·n/k samples, and single samples if
        there are more components than clusters; with ``n_clusters="auto"``, components of fewer
        than √n/2 samples.
    spectrum_ : Spectrum
        The largest eigenpairs of Θ; zero on components that are too small for a cluster.
    eigenvector_weighting_ : {"equal", "resolvent"}
        The weighting of `embedding_`.
    boundary_scores_ : ndarray of shape (n_samples,)
        In [0, 1]: the probability that a random walk leaves the cluster of a sample in one step.
    outlier_scores_ : ndarray of shape (n_samples,)
        In [0, 1], of the structure (see `ElasticNetHypergraph`), if it has them.
    representation_ : Representation
        Of the structure, if it has one.

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
    n_clusters_: int
    cluster_count_: ClusterCount | None
    structure_: Any
    graph_: GraphLike
    embedding_: NDArray
    cluster_centers_: NDArray
    confidence_: NDArray
    spectrum_: Spectrum
    eigenvector_weighting_: EigenvectorWeighting
    boundary_scores_: NDArray
    outlier_scores_: NDArray

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = "auto",
        *,
        structure: BaseEstimator | GraphLike | None = None,
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

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Cluster the samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        """
        self._check_parameters()
        samples = validate_samples(self, X)
        n = len(samples)
        if not self._is_automatic():
            hint = '(the number of samples) or "auto"'
            check_whole("n_clusters", self.n_clusters, 1, n, hint=hint)
        fit_structure(self, samples)
        rng = check_rng(self.random_state)
        with threadpool_limits(limits=1 if n < _MIN_THREADED_SAMPLES else None):
            self._embed_and_cluster(rng)
        self.boundary_scores_ = boundary_scores(self.graph_, self.labels_, self.n_clusters_)
        return self

    def _check_parameters(self) -> None:
        check_choice("eigenvector_weighting", self.eigenvector_weighting, ("auto", *_WEIGHTINGS))
        check_whole("n_init", self.n_init, 1)
        check_rng(self.random_state)

    def _is_automatic(self) -> bool:
        return isinstance(self.n_clusters, str) and self.n_clusters == "auto"

    @property
    def fragments_(self) -> NDArray[np.bool_]:
        """Mask of the samples in connected components that are too small for a cluster."""
        if self.n_clusters_ == 1:
            return np.zeros(self.graph_.n_vertices, bool)
        if self.cluster_count_ is not None:
            return ~large_components(self.graph_)[0]
        return fragments(self.graph_, self.n_clusters_)

    def _embed_and_cluster(self, rng: np.random.RandomState) -> None:
        """Set the spectrum, the embedding and the clusters."""
        if self._is_automatic():
            self.cluster_count_, known, used = estimate_clusters(self.graph_, random_state=rng)
            self.n_clusters_ = self.cluster_count_.n_clusters
            self._warn_if_not_reliable()
        else:
            self.cluster_count_, self.n_clusters_, known = None, int(self.n_clusters), None
            used = ~self.fragments_
            if used.sum() < self.n_clusters_:
                used = np.ones_like(used)
        self._warn_of_components(self.fragments_)
        k = self.n_clusters_
        count = k if self.eigenvector_weighting == "equal" else n_eigenvectors(k)
        self.spectrum_ = eigenpairs_on(self.graph_, used, count, rng, known=known)
        self._cluster(used, rng.randint(np.iinfo(np.int32).max))
        self.confidence_[self.fragments_] = 0

    def _cluster(self, used: NDArray[np.bool_], seed: int) -> None:
        """Cluster the points of the vertices that are used, and assign all to the centers."""
        k, best = self.n_clusters_, -np.inf
        chosen = self.eigenvector_weighting
        for weighting in _WEIGHTINGS if chosen == "auto" else (chosen,):
            points = embed(self.spectrum_, k, weighting, normalize_rows=self.normalize_rows)
            means = KMeans(k, n_init=self.n_init, random_state=seed).fit(points[used])
            entropy = _size_entropy(means.labels_, k)
            if entropy > best:
                best, self.eigenvector_weighting_ = entropy, weighting
                self.embedding_, self.cluster_centers_ = points, means.cluster_centers_
        self.labels_, self.confidence_ = self._assign(self.embedding_)

    def _assign(self, points: NDArray) -> tuple[NDArray, NDArray]:
        """Return the nearest center of every point, and 1 − d₁/d₂."""
        distances = euclidean_distances(points, self.cluster_centers_)
        return distances.argmin(axis=1), _margin(distances)

    def _warn_if_not_reliable(self) -> None:
        count = self.cluster_count_
        if count is not None and not count.reliable:
            warnings.warn(
                f"the estimate of the number of clusters is not reliable: {count.n_clusters} has "
                f"the best score, {count.runner_up} the next; see cluster_count_, or set "
                "n_clusters",
                stacklevel=4,
            )

    def _warn_of_components(self, small: NDArray[np.bool_]) -> None:
        """Warn of fragments, and of more connected components than clusters."""
        k, (components, _) = self.n_clusters_, self.graph_.connected_components()
        if k == 1 or not (small.any() or components > k):
            return
        consequence, more, remedy = "some clusters join several of them", "", ""
        if small.any():
            consequence = (
                f"{int(small.sum())} of the samples are in components too small for a cluster, and "
                "are assigned to the nearest center with confidence 0"
            )
        if components > k:
            more, remedy = (
                f", more than the {k} clusters",
                f", or set n_clusters up to {components}",
            )
        warnings.warn(
            f"the hypergraph has {components} connected components{more}: {consequence}. Enlarge "
            f"the hyperedges (more members, or a larger gamma of the structure){remedy}",
            stacklevel=4,
        )

    def predict(self, X: ArrayLike) -> NDArray:
        """Return the clusters of samples, in `fit` or new: the labels of `predict_with_scores`."""
        return self.predict_with_scores(X).labels

    def predict_with_scores(self, X: ArrayLike, *, progress: Progress = None) -> Prediction:
        """Return cluster, confidence and outlier score of samples, in `fit` or new.

        Samples of `fit` are treated as new ones, with themselves among the atoms. A sample is
        embedded at the mean of its members among the samples of `fit`, weighted by
        their memberships, and assigned to the nearest center. Without a member it has the label −1
        and the confidence 0.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
        progress : bool or callable, optional
            True for a progress bar on standard error, or a function called with the number of
            samples done and their total.

        Returns
        -------
        Prediction
        """
        attachment = attach(self, X, progress)
        points = attachment.memberships @ self.embedding_
        if self.normalize_rows:
            points = unit_length(points)
        labels, confidence = self._assign(points)
        empty = np.diff(attachment.memberships.indptr) == 0
        labels[empty], confidence[empty] = -1, 0
        return Prediction(labels, confidence, attachment.outlier_scores)

    def suggest(self, n: int) -> NDArray:
        """Return the n samples whose labels are most informative, best first.

        See `enhg.learning.queries.select_queries`. Given these labels, `HypergraphClassifier`
        labels the other samples, and its `suggest` selects further ones.
        """
        check_is_fitted(self)
        no_labels = np.array([], dtype=int)
        ambiguity = np.ones(len(self.labels_))
        return select_queries(self.spectrum_, self.n_clusters_, no_labels, ambiguity, n)

    def to_state(self) -> State:
        """Return the state of the fitted clustering, from which `from_state` makes it again."""
        check_is_fitted(self)
        count = self.cluster_count_
        return learner_to_state(
            self,
            {
                "labels": self.labels_,
                "confidence": self.confidence_,
                "boundary_scores": self.boundary_scores_,
                "embedding": self.embedding_,
                "cluster_centers": self.cluster_centers_,
                "eigenvector_weighting": self.eigenvector_weighting_,
                "spectrum": self.spectrum_.to_state(),
                "cluster_count": None if count is None else count.to_state(),
            },
        )

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a fitted clustering from its state; raise InputError if the state is not one."""
        model: Self = learner_from_state(cls, state)
        n = model.graph_.n_vertices
        model.cluster_centers_ = require_array(state, "cluster_centers", (None, None))
        k, m = model.cluster_centers_.shape
        require(k > 0, "cluster_centers")
        model.n_clusters_ = k
        model.embedding_ = require_array(state, "embedding", (n, m))
        model.labels_ = require_indices(state, "labels", k)
        require(len(model.labels_) == n, "labels")
        model.confidence_ = require_scores(state, "confidence", n)
        model.boundary_scores_ = require_scores(state, "boundary_scores", n)
        model.eigenvector_weighting_ = require_value(state, "eigenvector_weighting", str)
        require(model.eigenvector_weighting_ in _WEIGHTINGS, "eigenvector_weighting")
        model.spectrum_ = Spectrum.from_state(require_state(state, "spectrum"))
        require(len(model.spectrum_.eigenvectors) == n, "spectrum")
        model.cluster_count_ = None
        if require_value(state, "cluster_count") is not None:
            count = require_state(state, "cluster_count")
            model.cluster_count_ = ClusterCount.from_state(count)
        return model


def _size_entropy(labels: NDArray, n_clusters: int) -> float:
    """Return −Σ (n_c/n) ln(n_c/n) of the cluster sizes n_c."""
    fractions = np.bincount(labels, minlength=n_clusters) / len(labels)
    fractions = fractions[fractions > 0]
    return float(-(fractions * np.log(fractions)).sum())


def _margin(distances: NDArray) -> NDArray:
    """Return 1 − d₁/d₂ of every row, with its two smallest entries; 1 for a single column."""
    if distances.shape[1] == 1:
        return np.ones(len(distances))
    nearest, second = np.partition(distances, 1, axis=1)[:, :2].T
    return 1 - np.divide(nearest, second, out=np.ones_like(nearest), where=second > 0)
