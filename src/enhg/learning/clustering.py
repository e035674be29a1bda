"""Spectral clustering on a hypergraph (paper, IV.A)."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils import check_random_state
from threadpoolctl import threadpool_limits

from enhg.graph import Graph
from enhg.hypergraph import Hypergraph
from enhg.learning._structure import fit_structure
from enhg.learning.spectral import Kind, Spectrum, embed, top_eigenpairs
from enhg.preprocessing import check_samples

_EIGENVECTORS_PER_CLUSTER = 5
_MOST_EXTRA_EIGENVECTORS = 200
# With fewer samples the threads of BLAS and OpenMP mostly wait for each other, and on a busy
# machine for long.
_THREADS_FROM = 10_000
# Components smaller than this part of an average cluster are fragments.
_SMALLEST_CLUSTER = 0.1


class HypergraphClustering(ClusterMixin, BaseEstimator):
    """Cluster samples by the top eigenvectors of their hypergraph's Θ.

    A structure is built from the samples, its Θ = I − L embedded by its top eigenvectors, and
    the rows of the embedding are grouped by k-means.

    Parameters
    ----------
    n_clusters : int
    graph : structure, Hypergraph or Graph, optional
        What turns samples into a hypergraph or a graph; `ElasticNetHypergraph()` by default. Any
        estimator will do whose `fit(X)` sets `graph_`. A ready `Hypergraph` or `Graph` is taken
        as it is.
    spectrum : {"auto", "equal", "resolvent"}
        How eigenvectors count. "equal": the `n_clusters` top ones alike (the paper).
        "resolvent": five times as many (at most 200 more), each times μ/(1 − λ + μ) with
        μ = 1 − λ_k. "auto": both are clustered, and the partition of more even sizes (by
        entropy) is kept; on the sets tried, faces want the one and digits the other
        (docs/defaults.md).
    unit_rows : bool
        Scale the rows of the embedding to unit length first; the paper does not.
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
        1 − (distance to the own centre / distance to the next one): 0 on the border, 1 at the
        centre. 0 for samples in components of the hypergraph with less than a tenth of an
        average cluster, which do not take the place of a cluster.
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

    def __init__(
        self,
        n_clusters: int,
        *,
        graph: BaseEstimator | Hypergraph | Graph | None = None,
        spectrum: Literal["auto", "equal", "resolvent"] = "auto",
        unit_rows: bool = True,
        n_init: int = 30,
        random_state: np.random.RandomState | int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.graph = graph
        self.spectrum = spectrum
        self.unit_rows = unit_rows
        self.n_init = n_init
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: object = None) -> HypergraphClustering:
        """Cluster the samples; y is not used."""
        if self.spectrum not in ("auto", "equal", "resolvent"):
            raise ValueError(
                f'spectrum must be "auto", "equal" or "resolvent", got {self.spectrum!r}'
            )
        k, n = self.n_clusters, len(check_samples(X, min_samples=2))
        if not isinstance(k, Integral) or isinstance(k, bool) or not 1 <= k <= n:
            raise ValueError(
                f"n_clusters must be a whole number from 1 to the number of samples ({n}), "
                f"got {k!r}"
            )
        if not isinstance(self.n_init, Integral) or self.n_init < 1:
            raise ValueError(f"n_init must be a whole number of at least 1, got {self.n_init!r}")
        fit_structure(self, X)
        fragments = self._fragments()
        linked = ~fragments if (~fragments).sum() >= k else np.ones(n, bool)
        random_state = check_random_state(self.random_state)
        count = k
        if self.spectrum != "equal":
            count = min(_EIGENVECTORS_PER_CLUSTER * k, k + _MOST_EXTRA_EIGENVECTORS)
        both: tuple[Kind, ...] = ("equal", "resolvent")
        kinds = both if self.spectrum == "auto" else (self.spectrum,)
        with threadpool_limits(limits=1 if n < _THREADS_FROM else None):
            self.spectrum_ = _spectrum(self.graph_, linked, count, random_state)
            seed = random_state.randint(np.iinfo(np.int32).max)
            candidates = [self._group(linked, kind, seed) for kind in kinds]
        evenness = [_size_entropy(labels, k) for _, labels, _ in candidates]
        self.embedding_, self.labels_, self.confidence_ = candidates[int(np.argmax(evenness))]
        self.confidence_[fragments] = 0
        return self

    def _group(self, linked: NDArray, kind: Kind, seed: int) -> tuple[NDArray, NDArray, NDArray]:
        points = embed(self.spectrum_, self.n_clusters, kind, unit_rows=self.unit_rows)
        means = KMeans(self.n_clusters, n_init=self.n_init, random_state=seed).fit(points[linked])
        return points, means.predict(points), _margin(means.transform(points))

    def _fragments(self) -> NDArray:
        """Mask of the samples in components far too small for a cluster; warns of what they and
        more components than clusters mean."""
        k, n = self.n_clusters, self.graph_.n_vertices
        components, component = self.graph_.connected_components()
        fragments = np.bincount(component)[component] < _SMALLEST_CLUSTER * n / k
        if k == 1 or not (fragments.any() or components > k):
            return np.zeros(n, bool)
        more = f", more than the {k} clusters asked for" if components > k else ""
        fate = "some are put together"
        if fragments.any():
            fate = f"{int(fragments.sum())} samples in ones too small for a cluster are placed"
        warnings.warn(
            f"the hypergraph falls into {components} components{more}: {fate} without a reason "
            "in the data. Make hyperedges larger (more prominent coefficients, by the rule and "
            f"level of the structure, or a higher gamma), or ask for up to {components} clusters",
            stacklevel=3,
        )
        return fragments


def _spectrum(
    graph: Hypergraph | Graph, linked: NDArray, count: int, random_state: np.random.RandomState
) -> Spectrum:
    """The top eigenpairs of the components that the mask names, zero on the other vertices."""
    if linked.all():
        return top_eigenpairs(graph, min(count, len(linked)), random_state=random_state)
    part = graph.part(linked)
    found = top_eigenpairs(part, min(count, part.n_vertices), random_state=random_state)
    vectors = np.zeros((len(linked), found.vectors.shape[1]))
    vectors[linked] = found.vectors
    return Spectrum(found.values, vectors, found.residuals)


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
