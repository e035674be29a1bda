"""Clustering on a hypergraph (paper, IV.A)."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics import euclidean_distances
from sklearn.utils.validation import check_is_fitted

from enhg._checkpoint import CheckpointLike, Computation
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
from enhg._protocol import GraphLike, is_graph
from enhg._threads import one_thread_in_libraries
from enhg._validation import check_choice, check_rng, check_whole
from enhg.learning._base import (
    Learner,
    Prediction,
    attach,
    finished_parts,
    fit_structure,
    if_attaching,
    learner_from_state,
    learner_to_state,
    require_by_method,
    resumed,
    validate_samples,
)
from enhg.learning._clustering_warnings import (
    warn_if_not_reliable,
    warn_of_components,
    warn_of_few_samples,
)
from enhg.learning.cluster_count import ClusterCount, large_components, resumed_estimate
from enhg.learning.coarsening import Coarsening, find_groups
from enhg.learning.partitions import (
    METHODS,
    Method,
    cluster_means,
    find_partition,
    keep_together,
    n_eigenvectors_of,
    weighting_of,
)
from enhg.learning.queries import select_queries
from enhg.learning.refinement import refine
from enhg.learning.scores import boundary_scores, margins
from enhg.learning.spectral import Spectrum, eigenpairs_on, embed, fragments
from enhg.preprocessing._arrays import first_equal, unit_length

_EXPECTED_CLUSTERS = 30  # at most, of samples whose number of clusters is to be estimated


class HypergraphClustering(ClusterMixin, Learner):
    """Clustering of the vertices of a hypergraph: spectral, or by modularity.

    In the paper, the samples are embedded by the eigenvectors of the largest eigenvalues of
    Θ = I − L, one row of entries each, and the rows are clustered by k-means. By default, other
    partitions of the same hypergraph are tried as well, and one of nearly the largest modularity is
    kept.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        "auto": estimated from the eigenvalues and from modularity (see `count_clusters`); a warning
        is issued if the estimate is not reliable.
    structure : structure, Hypergraph or Graph, default=None
        Makes a hypergraph or graph of the samples; `ElasticNetHypergraph()` by default. Any
        estimator whose `fit(X)` sets `graph_`. A Hypergraph, a Graph, another object with their
        interface, or a fitted structure in scikit-learn's `FrozenEstimator` is used as it is.
    method : str, default="auto"
        How the vertices are partitioned into k clusters:

        - "spectral": k-means of the k first eigenvectors (the paper);
        - "resolvent": k-means of min(5k, k + 200) eigenvectors, each times μ / (1 − λ + μ) with
          μ = 1 − λ_k (an extension);
        - "modularity": the partition of the largest modularity at the resolution that gives k
          clusters (an extension, see `partition_by_modularity`);
        - "merging": 2k such clusters, merged two at a time (an extension). It is meant for clusters
          of very different sizes;
        - "small_hyperedges": as "modularity", of the hyperedges with fewer members than the median
          only (an extension), which connect the most similar samples. It needs a hypergraph with
          hyperedges of several sizes, as `ElasticNetHypergraph` has by default;
        - "auto": all of them. Of the partitions whose modularity is within one standard error of
          the largest, the most informative is kept (the method, "Partitions"). It is then refined
          by linear discriminants if this costs little modularity (see `refined_`). If `graph_` is a
          Graph with a dense adjacency matrix, only the first two are tried; "small_hyperedges" is
          left out if there are none.
    normalize_rows : bool, default=True
        Scale the rows of the embedding to unit length (an extension).
    n_init : int, default=30
        Initializations of k-means; the best result is kept.
    random_state : int, RandomState or None, default=None
        Seed of the eigensolver, of k-means and of the maximization of modularity.
    verbose : bool, default=False
        Show a progress bar on standard error.
    checkpoint : path, default=None
        Folder that receives parts of the computation as they are finished. After an interruption,
        the same fit goes on from there, to the same result. The folder is new, empty or that of a
        checkpoint of the same samples and parameters; it is kept at the end.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of every sample. Equal samples are in one cluster, unless a graph was given.
    n_clusters_ : int
    cluster_count_ : ClusterCount or None
        The estimate, with ``n_clusters="auto"``.
    structure_ : structure, Hypergraph or Graph
        The fitted structure, or the Hypergraph or Graph that was given.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X is a table whose column names are strings.
    graph_ : Hypergraph or Graph
    method_ : {"spectral", "resolvent", "modularity", "merging", "small_hyperedges"}
        The method that was used.
    method_scores_ : dict of str to float
        The modularity of every method that was tried, before the refinement.
    method_information_ : dict of str to float
        The information of every method that was tried, before the refinement (the method,
        "Partitions").
    refined_ : bool
        Whether the partition is the refined one. Linear discriminants fitted to two thirds of
        every cluster give the last third distributions over the clusters that share hyperedges with
        a sample, in turn. These are diffused over the hypergraph, and every sample moves to the
        cluster of its largest entry. The result is kept if the modularity Q falls by at most
        0.18 Q times the share of the samples that moved.
    embedding_ : ndarray of shape (n_samples, n_eigenvectors)
        Weighted eigenvectors, one row for each sample: the k first with method "spectral",
        otherwise those of "resolvent". Also with the methods that do not cluster its rows, it is
        what confidence and plots are based on.
    cluster_centers_ : ndarray of shape (n_clusters, n_eigenvectors)
        The means of `embedding_` over the clusters.
    confidence_ : ndarray of shape (n_samples,)
        max(1 − d₁/d₂, 0), with d₁ the distance of a sample to the center of its cluster and d₂ to
        the nearest other center; 1 for a single cluster, 0 for `fragments_`.
    fragments_ : ndarray of bool of shape (n_samples,)
        Mask of the samples in connected components that are too small for a cluster.
    spectrum_ : Spectrum
        The largest eigenpairs of Θ; zero on components that are too small for a cluster. Of more
        than 100 000 samples, approximate ones, whose `residuals` say how good they are.
    boundary_scores_ : ndarray of shape (n_samples,)
        In [0, 1]: the probability that a random walk leaves the cluster of a sample in one step.
    outlier_scores_ : ndarray of shape (n_samples,)
        In [0, 1], of the structure (see `ElasticNetHypergraph`), if it has them.
    representation_ : Representation
        Of the structure, if it has one.

    Notes
    -----
    Of more than 100 000 samples, groups of strongly connected ones are clustered in place of the
    samples, by all methods but "small_hyperedges". Then single samples move to the cluster of the
    largest gain of modularity.

    `predict` and `predict_with_scores` need a structure that can attach new samples,
    `ElasticNetHypergraph` or `L1Hypergraph`; with others they are not available.

    On one graph, the same `random_state` gives the same result bit for bit, for any number of
    threads.

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
    method_: Method
    method_scores_: dict[Method, float]
    method_information_: dict[Method, float]
    refined_: bool
    boundary_scores_: NDArray
    outlier_scores_: NDArray

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = "auto",
        *,
        structure: BaseEstimator | GraphLike | None = None,
        method: Literal["auto"] | Method = "auto",
        normalize_rows: bool = True,
        n_init: int = 30,
        random_state: np.random.RandomState | int | None = None,
        verbose: bool = False,
        checkpoint: CheckpointLike = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.structure = structure
        self.method = method
        self.normalize_rows = normalize_rows
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose
        self.checkpoint = checkpoint

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Cluster the samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        """
        self._check_parameters()
        samples = validate_samples(self, X)
        self._check_n_clusters(len(samples))
        fit_structure(self, samples)
        parts = finished_parts(self, "clustering", samples, self._description())
        rng = self._rng(parts)
        with one_thread_in_libraries():
            self._cluster(samples, rng, parts)
        self.boundary_scores_ = boundary_scores(self.graph_, self.labels_, self.n_clusters_)
        return self

    def _check_parameters(self) -> None:
        check_choice("method", self.method, ("auto", *METHODS))
        check_whole("n_init", self.n_init, 1)
        check_rng(self.random_state)

    def _check_n_clusters(self, n_samples: int) -> None:
        if not self._is_automatic():
            hint = '(the number of samples) or "auto"'
            check_whole("n_clusters", self.n_clusters, 1, n_samples, hint=hint)

    def _description(self) -> State:
        """What the clusters depend on beside the samples and the graph."""
        seed = self.random_state
        return {
            "n_clusters": "auto" if self._is_automatic() else int(self.n_clusters),
            "method": self.method,
            "normalize_rows": bool(self.normalize_rows),
            "n_init": int(self.n_init),
            "random_state": int(seed) if isinstance(seed, Integral) else None,
        }

    def _rng(self, parts: Computation) -> np.random.RandomState:
        """The generator of this fit; one without a seed goes on as it was in the checkpoint."""
        rng = check_rng(self.random_state)
        if isinstance(self.random_state, Integral):
            return rng
        drawn = parts.get("seed", lambda: {"seed": rng.randint(np.iinfo(np.int32).max)})
        return check_rng(require_value(drawn, "seed", int))

    def _is_automatic(self) -> bool:
        return isinstance(self.n_clusters, str) and self.n_clusters == "auto"

    @property
    def fragments_(self) -> NDArray[np.bool_]:
        """Mask of the samples in connected components that are too small for a cluster.

        They are left out of the spectrum and of k-means: components of fewer than 0.1·n/k samples,
        and single samples if there are more components than clusters; with ``n_clusters="auto"``,
        components of fewer than √n/2 samples. Of a single cluster there are none.
        """
        check_is_fitted(self)
        if self.n_clusters_ == 1:
            return np.zeros(self.graph_.n_vertices, bool)
        if self.cluster_count_ is not None:
            return ~large_components(self.graph_)[0]
        return fragments(self.graph_, self.n_clusters_)

    def _cluster(self, samples: NDArray, rng: np.random.RandomState, parts: Computation) -> None:
        """Set the spectrum, the clusters and the embedding."""
        firsts = np.arange(len(samples)) if is_graph(self.structure_) else first_equal(samples)
        coarse = self._coarsen(rng, parts)
        if self._is_automatic():
            count, known, selected = resumed_estimate(
                parts, coarse.graph, all_equal=not firsts.any(), tol=coarse.eigenvector_tol, rng=rng
            )
            self.cluster_count_, used = count, coarse.spread(selected)
            self.n_clusters_ = self.cluster_count_.n_clusters
            warn_if_not_reliable(count)
        else:
            self.cluster_count_, self.n_clusters_, known = None, int(self.n_clusters), None
            used = ~self.fragments_
            if used.sum() < self.n_clusters_:
                used = np.ones_like(used)
            warn_of_few_samples(len(np.unique(firsts)), self.n_clusters_)
        warn_of_components(self.graph_, self.structure_, self.n_clusters_, self.fragments_)
        n_pairs, selected = n_eigenvectors_of(self.method, self.n_clusters_), coarse.select(used)
        computed = resumed(
            parts, "spectrum", rng,
            lambda rng: eigenpairs_on(
                coarse.graph, selected, n_pairs, rng, known=known, tol=coarse.eigenvector_tol
            ).to_state(),
        )  # fmt: skip
        spectrum = Spectrum.from_state(computed)
        self.spectrum_ = coarse.spread_spectrum(spectrum)
        labels = self._partition(coarse, spectrum, selected, rng, parts)
        self._set_clusters(samples, used, labels[used], firsts, rng, parts)
        self.confidence_[self.fragments_] = 0

    def _coarsen(self, rng: np.random.RandomState, parts: Computation) -> Coarsening:
        """Groups of the vertices, if there are too many of them for what follows."""
        k = _EXPECTED_CLUSTERS if self._is_automatic() else int(self.n_clusters)
        groups = resumed(
            parts, "groups", rng, lambda rng: {"groups": find_groups(self.graph_, k, rng)}
        )
        if require_value(groups, "groups") is None:
            return Coarsening.of_groups(self.graph_, None)
        return Coarsening.of_groups(
            self.graph_, require_indices(groups, "groups", self.graph_.n_vertices)
        )

    def _partition(
        self,
        coarse: Coarsening,
        spectrum: Spectrum,
        selected: NDArray[np.bool_],
        rng: np.random.RandomState,
        parts: Computation,
    ) -> NDArray:
        """The clusters of the vertices, by one method or the best of several."""
        graph = coarse.graph if selected.all() else coarse.graph.subhypergraph(selected)
        seed = rng.randint(np.iinfo(np.int32).max)
        partition = find_partition(
            graph, spectrum.of_vertices(selected), self.n_clusters_, self.method,
            normalize_rows=self.normalize_rows, n_init=self.n_init, seed=seed, parts=parts,
        )  # fmt: skip
        self.method_, self.method_scores_ = partition.method, partition.scores
        self.method_information_ = partition.information
        labels = np.zeros(len(selected), np.intp)
        labels[selected] = partition.labels
        return coarse.spread_partition(labels, rng)

    def _set_clusters(
        self,
        samples: NDArray,
        used: NDArray[np.bool_],
        labels: NDArray,
        firsts: NDArray,
        rng: np.random.RandomState,
        parts: Computation,
    ) -> None:
        """Refine the partition of the vertices that are used, and set what follows from it.

        The other vertices are assigned to the nearest center. `firsts` gives for every sample the
        first that is equal to it.
        """
        k, self.refined_ = self.n_clusters_, False
        rows = slice(None) if used.all() else used
        if self.method == "auto" and k > 1:
            graph = self.graph_ if used.all() else self.graph_.subhypergraph(used)
            refined = resumed(
                parts, "refinement", rng,
                lambda rng: {"labels": refine(graph, samples[rows], labels, k, rng)},
            )  # fmt: skip
            if require_value(refined, "labels") is not None:
                labels, self.refined_ = require_indices(refined, "labels", k), True
        self.embedding_ = embed(
            self.spectrum_, k, weighting_of(self.method_), normalize_rows=self.normalize_rows
        )
        centers = cluster_means(self.embedding_[rows], labels, k)
        assigned = np.empty(len(used), np.intp)
        assigned[rows] = labels
        if not used.all():
            others = euclidean_distances(self.embedding_[~used], centers)
            assigned[~used] = others.argmin(axis=1)
        self.labels_ = keep_together(assigned, firsts)
        self.cluster_centers_ = cluster_means(self.embedding_[rows], self.labels_[rows], k)
        distances = euclidean_distances(self.embedding_, self.cluster_centers_)
        self.confidence_ = margins(distances, self.labels_)

    @if_attaching
    def predict(self, X: ArrayLike) -> NDArray:
        """Return the clusters of samples, in `fit` or new: the labels of `predict_with_scores`."""
        return self.predict_with_scores(X).labels

    @if_attaching
    def predict_with_scores(
        self, X: ArrayLike, *, progress: Progress = None, checkpoint: CheckpointLike = None
    ) -> Prediction:
        """Return cluster, confidence and outlier score of samples, in `fit` or new.

        Samples of `fit` are treated as new ones, with themselves among the atoms. A sample is
        assigned to the cluster of its members among the samples of `fit`, by the sum of their
        memberships. Its confidence is that of a sample at the mean of their rows of `embedding_`,
        weighted by memberships. Without a member it has the label −1 and the confidence 0.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
        progress : bool or callable, optional
            True for a progress bar on standard error, or a function called with the number of
            samples done and their total.
        checkpoint : path, optional
            Folder from which the same call goes on after an interruption.

        Returns
        -------
        Prediction
        """
        attachment = attach(self, X, progress, checkpoint)
        memberships = attachment.memberships
        points = memberships @ self.embedding_
        if self.normalize_rows:
            points = unit_length(points)
        labels = (memberships @ np.eye(self.n_clusters_)[self.labels_]).argmax(axis=1)
        confidence = margins(euclidean_distances(points, self.cluster_centers_), labels)
        empty = np.diff(memberships.indptr) == 0
        labels[empty], confidence[empty] = -1, 0
        return Prediction(labels, confidence, attachment.outlier_scores)

    def suggest(self, n: int) -> NDArray:
        """Return the samples whose labels are most informative, best first.

        Their labels determine those of the other samples best (the method, "Samples to label
        next"): given these labels, `HypergraphClassifier` labels the others, and its `suggest`
        selects further ones.

        Parameters
        ----------
        n : int

        Returns
        -------
        ndarray of int, of shape (n,)
            Indices of the samples.
        """
        check_is_fitted(self)
        no_labels = np.array([], dtype=int)
        ambiguity = np.ones(len(self.labels_))
        return select_queries(self.spectrum_, self.n_clusters_, no_labels, ambiguity, n)

    def to_state(self) -> State:
        """Return the state of the fitted clustering, from which `from_state` makes it again."""
        check_is_fitted(self)
        self._check_n_clusters(self.graph_.n_vertices)
        count = self.cluster_count_
        return learner_to_state(
            self,
            {
                "labels": self.labels_,
                "confidence": self.confidence_,
                "boundary_scores": self.boundary_scores_,
                "embedding": self.embedding_,
                "cluster_centers": self.cluster_centers_,
                "method": self.method_,
                "method_scores": self.method_scores_,
                "method_information": self.method_information_,
                "refined": self.refined_,
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
        model._check_n_clusters(n)
        model.n_clusters_ = k
        model.embedding_ = require_array(state, "embedding", (n, m))
        model.labels_ = require_indices(state, "labels", k)
        require(len(model.labels_) == n, "labels")
        model.confidence_ = require_scores(state, "confidence", n)
        model.boundary_scores_ = require_scores(state, "boundary_scores", n)
        model.method_ = require_value(state, "method", str)
        require(model.method_ in METHODS, "method")
        model.method_scores_ = require_by_method(state, "method_scores", METHODS)
        entropy = float(np.log(k)) + 1e-6  # the largest information of k clusters, and rounding
        model.method_information_ = require_by_method(
            state, "method_information", METHODS, largest=entropy
        )
        model.refined_ = require_value(state, "refined", bool)
        model.spectrum_ = Spectrum.from_state(require_state(state, "spectrum"))
        require(len(model.spectrum_.eigenvectors) == n, "spectrum")
        model.cluster_count_ = None
        if require_value(state, "cluster_count") is not None:
            count = require_state(state, "cluster_count")
            model.cluster_count_ = ClusterCount.from_state(count)
        return model
