"""Partitions of the vertices of a graph into k clusters, and the choice among them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.cluster import KMeans

from enhg._checkpoint import Computation
from enhg._npz import State, require_indices, require_value
from enhg._protocol import GraphLike, check_graph
from enhg._threads import map_in_threads
from enhg.exceptions import InputError
from enhg.learning.coarsening import small_hyperedges
from enhg.learning.discriminants import class_means
from enhg.learning.spectral import EigenvectorWeighting, Spectrum, embed, n_eigenvectors
from enhg.modularity import Steps, checked_labels, partition_by_modularity

Method = Literal["spectral", "resolvent", "modularity", "merging", "small_hyperedges"]
_MIN_INITIAL_POINTS = 5000  # all of them in the data sets of docs/quality.md
METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True)
class Partition:
    """A partition of the vertices.

    Attributes
    ----------
    labels : ndarray of int of shape (n_vertices,)
        The cluster of every vertex, from 0 to n_clusters − 1.
    method : str
        The method that gave it.
    scores, information : dict of str to float
        The modularity and the `step_information` of every method that was tried.
    """

    labels: NDArray
    method: Method
    scores: dict[Method, float]
    information: dict[Method, float]


def find_partition(
    graph: GraphLike,
    spectrum: Spectrum,
    n_clusters: int,
    method: Method | Literal["auto"],
    *,
    normalize_rows: bool,
    n_init: int,
    seed: int,
    parts: Computation,
) -> Partition:
    """Partition the vertices by one method, or by all and keep one (see `choose_partition`).

    Parameters
    ----------
    graph : Hypergraph or Graph
    spectrum : Spectrum
        The largest eigenpairs of its Θ, `n_eigenvectors_of(method, n_clusters)` of them.
    n_clusters : int
    method : str
        See `HypergraphClustering`.
    normalize_rows : bool
    n_init : int
    seed : int
    parts : Computation
        Receives the partition of every method, or has it of an earlier call.

    Returns
    -------
    Partition
    """
    names: tuple[Method, ...] = METHODS if method == "auto" else (method,)
    if method == "auto" and graph.is_dense:
        names = ("spectral", "resolvent")
    partitions: dict[Method, NDArray] = {}

    def compute(name: Method) -> State:
        return parts.get(f"partition-{name}", lambda: {"labels": partition_by(name)})

    def partition_by(name: Method) -> NDArray | None:
        if name == "small_hyperedges":
            small = small_hyperedges(graph)
            if small is None:
                return None
            return partition_by_modularity(
                small, n_clusters, vary_resolution=True, random_state=seed
            )
        if name == "modularity":
            return partition_by_modularity(graph, n_clusters, random_state=seed)
        if name == "merging":
            return partition_by_modularity(graph, n_clusters, oversampling=2, random_state=seed)
        points = embed(spectrum, n_clusters, weighting_of(name), normalize_rows=normalize_rows)
        return _k_means(points, n_clusters, n_init, seed)

    for name, part in zip(names, map_in_threads(compute, names), strict=True):
        if require_value(part, "labels") is not None:
            partitions[name] = require_indices(part, "labels", n_clusters)
    if not partitions:
        raise InputError(
            'method="small_hyperedges" needs a hypergraph with hyperedges of several sizes, of '
            f"which the smaller ones contain every vertex, got {graph!r}",
            parameter="method",
        )
    return choose_partition(graph, partitions)


def choose_partition(graph: GraphLike, partitions: Mapping[Method, ArrayLike]) -> Partition:
    """Choose the most informative of the partitions of nearly the largest modularity.

    A partition is nearly as modular as that of the largest modularity if its modularity is lower by
    at most the standard error of their difference (the one-standard-error rule). The difference is
    a sum over the vertices, to first order, of

        √d(u) Σ_{v∈c(u)} Θ(u, v) √d(v) / vol − 2 d(u) vol(c(u)) / vol²

    of the one partition minus that of the other, with c(u) the cluster of u; the standard error is
    √n times the standard deviation of these summands. Among partitions that modularity does not
    distinguish, that of the largest `step_information` is chosen. Where, of k clusters, one is
    split and two others are joined, modularity hardly changes, but the information does.

    Parameters
    ----------
    graph : Hypergraph or Graph
    partitions : mapping of str to array-like of int of shape (n_vertices,)
        Partitions of the vertices by name; of equal ones the first is chosen.

    Returns
    -------
    Partition

    References
    ----------
    The one-standard-error rule: L. Breiman, J. H. Friedman, R. A. Olshen and C. J. Stone,
    "Classification and Regression Trees", 1984, section 3.4.3.

    Examples
    --------
    >>> from enhg import Hypergraph
    >>> hypergraph = Hypergraph.from_edges([[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5], [2, 3]])
    >>> partitions = {"odd": [0, 1, 0, 1, 0, 1], "halves": [0, 0, 0, 1, 1, 1]}
    >>> choose_partition(hypergraph, partitions).method
    'halves'
    """
    check_graph(graph)
    checked = {name: checked_labels(labels, graph) for name, labels in partitions.items()}
    scores, information, summands = {}, {}, {}
    for name, labels in checked.items():
        steps = Steps.of_partition(graph, _by_first_member(labels))
        scores[name] = float(steps.modularity_of_clusters().sum())
        information[name], summands[name] = steps.information(), steps.summands()
    best = max(scores, key=scores.__getitem__)

    def is_near(name: Method) -> bool:
        error = np.sqrt(graph.n_vertices) * (summands[best] - summands[name]).std()
        return bool(scores[best] - scores[name] <= error)

    chosen = max(filter(is_near, checked), key=information.__getitem__)
    return Partition(checked[chosen], chosen, scores, information)


def _by_first_member(labels: NDArray) -> NDArray:
    """Number clusters by their first member, so that scores of equal partitions round alike."""
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[codes]


def keep_together(labels: NDArray, groups: NDArray) -> NDArray:
    """Give all members of a group the label that most of them have, the smallest of several.

    A label that no group would have is given to the group with most members of that label, of the
    groups whose own label another group has, too.

    Examples
    --------
    >>> keep_together(np.array([0, 1, 1, 2]), np.array([0, 0, 0, 3])).tolist()
    [1, 1, 1, 2]
    >>> keep_together(np.array([0, 1, 1, 1, 1]), np.array([0, 0, 0, 3, 3])).tolist()
    [0, 0, 0, 1, 1]
    """
    if (groups == np.arange(len(groups))).all():
        return labels
    _, codes = np.unique(groups, return_inverse=True)
    votes = sparse.coo_array((np.ones(len(labels)), (codes, labels))).tocsr()
    kept = np.asarray(votes.argmax(axis=1)).ravel()
    sizes = np.bincount(kept, minlength=votes.shape[1])
    for empty in np.setdiff1d(labels, kept):
        shares = sizes[kept] > 1
        if not shares.any():  # fewer groups than labels
            break
        group = np.where(shares, votes[:, [empty]].toarray().ravel(), -1).argmax()
        sizes[kept[group]] -= 1
        sizes[empty] += 1
        kept[group] = empty
    return kept[codes]


def cluster_means(points: NDArray, labels: NDArray, n_clusters: int) -> NDArray:
    """Return the mean point of every cluster; of an empty one, that of the largest."""
    sizes = np.bincount(labels, minlength=n_clusters)
    means = class_means(points, labels, sizes)
    means[sizes == 0] = means[sizes.argmax()]
    return means


def _k_means(points: NDArray, n_clusters: int, n_init: int, seed: int) -> NDArray:
    """The labels of k-means; of many points, some are clustered first, which gives the centers.

    The initializations take most of the time, and `n_init` points for a cluster suffice to choose
    among them.
    """
    count = max(_MIN_INITIAL_POINTS, n_init * n_clusters)
    first = KMeans(n_clusters, n_init=n_init, random_state=seed)
    if len(points) <= count:
        return np.asarray(first.fit_predict(points))
    drawn = np.random.RandomState(seed).permutation(len(points))[:count]
    first.fit(points[np.sort(drawn)])
    last = KMeans(n_clusters, init=first.cluster_centers_, n_init=1)
    return np.asarray(last.fit_predict(points))


def weighting_of(method: Method) -> EigenvectorWeighting:
    """The weighting of the eigenvectors in the embedding that goes with a method."""
    return "equal" if method == "spectral" else "resolvent"


def n_eigenvectors_of(method: Method | Literal["auto"], n_clusters: int) -> int:
    """The number of eigenvectors that a method needs."""
    return n_clusters if method == "spectral" else n_eigenvectors(n_clusters)
