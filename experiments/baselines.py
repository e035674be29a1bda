"""Clusterers and classifiers of other libraries that the defaults are compared with.

umap-learn, leidenalg with python-igraph, and graphlearning are in the extra "quality". leidenalg
and python-igraph are under the GPL: they are installed and imported for this comparison only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import laplacian
from scipy.sparse.linalg import eigsh
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import NearestCentroid
from sklearn.preprocessing import normalize
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from enhg import self_representation
from enhg._optional import require

OPTIONAL = ("umap", "leidenalg", "igraph", "graphlearning")
"""The modules of the extra "quality"."""

NEIGHBORS = 10
"""Nearest neighbors of the graphs of LabelSpreading and graphlearning."""

LEIDEN_NEIGHBORS = 15
"""Nearest neighbors of the graph of Leiden."""

ENSC_MIXING, ENSC_SCALE = 0.9, 50.0
"""λ and α of elastic net subspace clustering."""

Clusterer = Callable[[NDArray, int, int], NDArray]
Classifier = Callable[[NDArray, NDArray], NDArray]

_RESOLUTIONS = (1e-4, 1e3)
_MAX_BISECTIONS = 25


def require_all() -> None:
    """Raise MissingDependencyError if a module of the extra "quality" is not installed."""
    for module in OPTIONAL:
        require(module, "quality")


# --- clustering ------------------------------------------------------------------------------


def umap_embedding(X: NDArray, run: int) -> NDArray:
    """UMAP in 10 dimensions with min_dist = 0, as its documentation advises for clustering."""
    return require("umap", "quality").UMAP(
        n_components=10, min_dist=0.0, random_state=run
    ).fit_transform(X)  # fmt: skip


def leiden(X: NDArray, k: int, run: int) -> NDArray:
    """Leiden communities of UMAP's graph of 15 nearest neighbors.

    The resolution is bisected until there are k communities; if there is no such resolution, the
    partition whose number of communities is closest to k is kept.
    """
    igraph, leidenalg = (require(name, "quality") for name in ("igraph", "leidenalg"))
    weights = sparse.triu(_fuzzy_neighbors(X, run), k=1).tocoo()
    graph = igraph.Graph(len(X), list(zip(*map(np.ndarray.tolist, weights.coords), strict=True)))

    def communities(resolution: float) -> NDArray:
        partition = leidenalg.find_partition(
            graph, leidenalg.RBConfigurationVertexPartition, weights=weights.data.tolist(),
            n_iterations=-1, seed=run, resolution_parameter=resolution,
        )  # fmt: skip
        return np.asarray(partition.membership)

    return partition_of_size(communities, k)


def _fuzzy_neighbors(X: NDArray, run: int) -> sparse.sparray:
    """The symmetric weights of UMAP and scanpy."""
    weights, *_ = require("umap.umap_", "quality").fuzzy_simplicial_set(
        X, LEIDEN_NEIGHBORS, np.random.RandomState(run), "euclidean"
    )
    return sparse.coo_array(weights)


def partition_of_size(partition: Callable[[float], NDArray], k: int) -> NDArray:
    """Bisect the resolution, on the scale of its logarithm, for a partition of k clusters.

    Parameters
    ----------
    partition : callable
        Labels from 0 at a resolution; their number increases with it, apart from exceptions.
    k : int

    Returns
    -------
    ndarray of int
        The labels whose number is closest to k among those computed.
    """
    low, high = np.log(_RESOLUTIONS)
    best = np.empty(0, int)
    for step in range(_MAX_BISECTIONS):
        # 1, the usual resolution, is tried first.
        middle = 0.0 if step == 0 else (low + high) / 2
        labels = partition(float(np.exp(middle)))
        count = labels.max() + 1
        if not len(best) or abs(count - k) < abs(best.max() + 1 - k):
            best = labels
        if count == k:
            break
        low, high = (middle, high) if count < k else (low, middle)
    return best


def ensc_coefficients(X: NDArray) -> sparse.csr_array:
    """The coefficients of elastic net subspace clustering (You, Li, Robinson and Vidal, 2016).

    For every sample of unit length

        minimize over z:   λ‖z‖₁ + (1 − λ)/2·‖z‖₂² + γᵢ/2·‖xᵢ − Σⱼ zⱼxⱼ‖₂²,   zᵢ = 0

    with λ = 0.9 and γᵢ = α·λ / max_{j≠i} |xⱼᵀxᵢ|, α = 50: α times the largest γᵢ of which z = 0 is
    the solution. Divided by λ, this is the problem of `self_representation` with
    lam = (1 − λ)/(2λ) and gamma = α on the relative scale.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
    """
    lam = (1 - ENSC_MIXING) / (2 * ENSC_MIXING)
    unit = normalize(X)
    return self_representation(unit, gamma=ENSC_SCALE, lam=lam, n_jobs=1).coefficients


def ensc(X: NDArray, k: int, run: int) -> NDArray:
    """Elastic net subspace clustering, as in its authors' program.

    Rows of coefficients are scaled to unit length. The k first eigenvectors of the normalized
    affinity |Z| + |Z|ᵀ, with rows of unit length, are clustered by k-means. scikit-learn's
    SpectralClustering, which does not scale the rows, has lower scores on this affinity.
    """
    magnitudes = normalize(abs(ensc_coefficients(X)))
    normalized = -laplacian(magnitudes + magnitudes.T, normed=True)
    normalized.setdiag(0)
    start = np.random.RandomState(run).uniform(-1, 1, len(X))
    _, vectors = eigsh(normalized, k, which="LA", v0=start)
    return KMeans(k, n_init=20, random_state=run).fit_predict(normalize(vectors))


CLUSTERERS: dict[str, Clusterer] = {
    "k-means": lambda X, k, run: KMeans(k, n_init=10, random_state=run).fit_predict(X),
    "Ward": lambda X, k, run: AgglomerativeClustering(k).fit_predict(X),
    "SpectralClustering": lambda X, k, run: SpectralClustering(
        k, affinity="nearest_neighbors", random_state=run
    ).fit_predict(X),
    "Leiden": leiden,
    "EnSC": ensc,
}
UMAP_CLUSTERERS: dict[str, Clusterer] = {
    "UMAP + k-means": CLUSTERERS["k-means"],
    "UMAP + HDBSCAN": lambda X, k, run: HDBSCAN(min_cluster_size=10, copy=True).fit_predict(X),
}
"""Clusterers of the samples as embedded by `umap_embedding`."""


# --- classification --------------------------------------------------------------------------


def _graphlearning(X: NDArray, partial: NDArray) -> NDArray:
    ssl, weightmatrix = (
        require(f"graphlearning.{name}", "quality") for name in ("ssl", "weightmatrix")
    )
    samples, rows = X.astype(np.float64), np.flatnonzero(partial >= 0)
    neighbors = weightmatrix.knnsearch(samples, NEIGHBORS + 1, method="brute")  # and itself
    weights = weightmatrix.knn(samples, NEIGHBORS, knn_data=neighbors)
    # Its conjugate gradients, the default, took more than minutes on an unconnected graph.
    model = ssl.poisson(weights, solver="gradient_descent")
    return model.fit_predict(rows, partial[rows])


def _supervised(make: Callable[[], Any]) -> Classifier:
    def predict(X: NDArray, partial: NDArray) -> NDArray:
        labeled = partial >= 0
        return make().fit(X[labeled], partial[labeled]).predict(X)

    return predict


CLASSIFIERS: dict[str, Classifier] = {
    "LabelSpreading": lambda X, partial: (
        LabelSpreading("knn", n_neighbors=NEIGHBORS).fit(X, partial).transduction_
    ),
    "graphlearning, Poisson": _graphlearning,
    "nearest mean": _supervised(NearestCentroid),
    "logistic regression": _supervised(lambda: LogisticRegression(C=10, max_iter=1000)),
    "shrinkage LDA": _supervised(
        lambda: LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    ),
    "SVC": _supervised(lambda: SVC(C=10)),
}
"""Functions of samples and of labels, −1 where there is none, to the labels of all samples."""

NEEDS_MORE_LABELS = ("shrinkage LDA",)
"""Classifiers that need more labels than classes."""
