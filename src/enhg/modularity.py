"""Modularity of partitions: its value, its maximum, and partitions into k clusters by it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from enhg._modularity_kernels import move, sum_links
from enhg._protocol import GraphLike, check_graph
from enhg._validation import check_positive, check_rng, check_whole
from enhg.exceptions import InputError

__all__ = ["maximize_modularity", "modularity", "partition_by_modularity"]

# Interval of the resolutions that are searched for a number of clusters, and steps of the search.
_RESOLUTIONS = (1e-2, 1e4)
_MAX_STEPS = 40
_RESTARTS = 10  # after the search of a resolution that gives the number of clusters
_NEAR = 10  # largest ratio of the resolutions of two starts


def modularity(graph: GraphLike, labels: ArrayLike) -> float:
    """Modularity of a partition of the vertices.

        Q = Σ_c [ Σ_{u,v∈c} √d(u) Θ(u, v) √d(v) / vol − (vol(c) / vol)² ]

    The first term is the probability that a step of a random walk on the graph stays in its
    cluster, the second what it would be if the steps ignored the graph. vol(c) is the sum of the
    degrees d of cluster c, vol that of all vertices.

    Parameters
    ----------
    graph : Hypergraph or Graph
    labels : array-like of int of shape (n_vertices,)
        The cluster of every vertex, 0 or more.

    Returns
    -------
    float
        Below 1; 0 for a single cluster.

    References
    ----------
    M. E. J. Newman and M. Girvan, "Finding and evaluating community structure in networks",
    Physical Review E 69, 2004. For hypergraphs: T. Kumar, S. Vaidyanathan, H. Ananthapadmanabhan,
    S. Parthasarathy and B. Ravindran, "Hypergraph clustering by iteratively reweighted modularity
    maximization", Applied Network Science 5, 2020.

    Examples
    --------
    >>> from enhg import Hypergraph
    >>> hypergraph = Hypergraph.from_edges([[0, 1], [2, 3]])
    >>> round(modularity(hypergraph, [0, 0, 1, 1]), 6)
    0.5
    """
    check_graph(graph)
    return float(modularity_of_clusters(graph, checked_labels(labels, graph)).sum())


def modularity_of_clusters(graph: GraphLike, labels: NDArray) -> NDArray:
    """The summands of `modularity`, one for each cluster."""
    return Steps.of_partition(graph, labels).modularity_of_clusters()


def maximize_modularity(
    graph: GraphLike,
    *,
    resolution: float = 1.0,
    n_starts: int = 1,
    random_state: np.random.RandomState | int | None = None,
) -> NDArray[np.intp]:
    """Find a partition of large modularity by local moves (the Louvain method).

    Starting from single vertices, a vertex moves to the neighboring cluster of the largest gain
    until none gains; then clusters move as vertices did, until nothing moves. All of this is done
    once more from the partition found.

    Parameters
    ----------
    graph : Hypergraph or Graph
    resolution : float, default=1.0
        Factor of (vol(c) / vol)² in the modularity. More and smaller clusters with larger values.
    n_starts : int, default=1
        Number of random orders in which vertices are visited; the partition of the largest
        modularity is kept.
    random_state : int, RandomState or None, default=None
        Seed of the orders.

    Returns
    -------
    ndarray of int of shape (n_vertices,)
        The cluster of every vertex, numbered from 0.

    References
    ----------
    V. D. Blondel, J.-L. Guillaume, R. Lambiotte and E. Lefebvre, "Fast unfolding of communities in
    large networks", Journal of Statistical Mechanics, 2008.

    Examples
    --------
    >>> from enhg import Hypergraph
    >>> hypergraph = Hypergraph.from_edges([[0, 1, 2], [0, 1, 2], [3, 4, 5], [3, 4, 5], [2, 3]])
    >>> maximize_modularity(hypergraph, random_state=0).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    check_graph(graph)
    check_positive("resolution", resolution)
    check_whole("n_starts", n_starts, 1)
    moves = _Moves(graph, random_state)
    return moves.best([moves.partition(resolution) for _ in range(n_starts)], resolution)


def step_information(graph: GraphLike, labels: ArrayLike) -> float:
    """Mutual information of the clusters at both ends of a step of the random walk, in nats.

        I = Σ_{a,b} p(a, b) ln( p(a, b) / (p(a) p(b)) ),
        p(a, b) = Σ_{u∈a, v∈b} √d(u) Θ(u, v) √d(v) / vol,   p(a) = vol(a) / vol

    It is, up to a factor and a constant, the logarithm of the largest likelihood of the
    degree-corrected stochastic block model.

    Parameters
    ----------
    graph : Hypergraph or Graph
    labels : array-like of int of shape (n_vertices,)
        The cluster of every vertex, 0 or more.

    Returns
    -------
    float
        From 0 to the entropy of p(a), which it is if no step leaves its cluster.

    References
    ----------
    B. Karrer and M. E. J. Newman, "Stochastic blockmodels and community structure in networks",
    Physical Review E 83, 2011.

    Examples
    --------
    >>> from enhg import Hypergraph
    >>> hypergraph = Hypergraph.from_edges([[0, 1], [2, 3]])
    >>> round(step_information(hypergraph, [0, 0, 1, 1]), 6) == round(float(np.log(2)), 6)
    True
    """
    check_graph(graph)
    return Steps.of_partition(graph, checked_labels(labels, graph)).information()


@dataclass(frozen=True)
class Steps:
    """Steps of the random walk between the clusters of a partition.

    Attributes
    ----------
    roots : ndarray of shape (n_vertices, n_clusters)
        √(d(u)/vol) in the column of the cluster of u, 0 elsewhere.
    ends : ndarray of shape (n_vertices, n_clusters)
        Θ times this.
    """

    roots: NDArray
    ends: NDArray

    @classmethod
    def of_partition(cls, graph: GraphLike, labels: NDArray) -> Self:
        volumes = graph.vertex_degrees / graph.vertex_degrees.sum()
        roots = np.zeros((len(labels), int(labels.max()) + 1))
        roots[np.arange(len(labels)), labels] = np.sqrt(volumes)
        return cls(roots, graph.theta @ roots)

    def _volumes(self) -> NDArray:
        return np.asarray((self.roots**2).sum(axis=0))

    def modularity_of_clusters(self) -> NDArray:
        return np.asarray((self.roots * self.ends).sum(axis=0) - self._volumes() ** 2)

    def summands(self) -> NDArray:
        """What every vertex adds to a difference of modularities, to first order."""
        within = (self.roots * self.ends).sum(axis=1)
        return np.asarray(within - 2 * self.roots**2 @ self._volumes())

    def information(self) -> float:
        joint = np.maximum(self.roots.T @ self.ends, 0)
        by_chance = np.outer(joint.sum(axis=1), joint.sum(axis=0))
        occurs = (joint > 0) & (by_chance > 0)  # else it is too rare for float64
        return float(np.sum(joint[occurs] * np.log(joint[occurs] / by_chance[occurs])))


def partitions_over_resolutions(
    graph: GraphLike,
    resolutions: NDArray,
    *,
    random_state: np.random.RandomState | int | None = None,
) -> NDArray[np.int32]:
    """The partitions of `maximize_modularity`, one row for each resolution."""
    moves = _Moves(graph, random_state)
    return np.array([moves.partition(float(resolution)) for resolution in resolutions], np.int32)


def partition_by_modularity(
    graph: GraphLike,
    n_clusters: int,
    *,
    oversampling: int = 1,
    vary_resolution: bool = False,
    random_state: np.random.RandomState | int | None = None,
) -> NDArray[np.intp]:
    """Partition the vertices into k clusters by modularity.

    Bisection finds a resolution at which `maximize_modularity` gives k clusters; of eleven random
    starts, the one of the largest modularity is kept. Where no resolution gives exactly k, or with
    `oversampling`, a larger number of clusters is merged two at a time, those with the largest
    w(a, b) / √(vol(a) vol(b)) first, where w(a, b) is the weight between two clusters; those of the
    smallest volumes if no two are connected.

    At the resolution of k clusters these tend to have similar volumes. Of clusters found at a
    higher resolution those that belong together are merged, however large they become.

    Parameters
    ----------
    graph : Hypergraph or Graph
    n_clusters : int
        k, at most the number of vertices.
    oversampling : int, default=1
        Find this many times k clusters first (at most as many as vertices), then merge them to k.
    vary_resolution : bool, default=False
        Whether every start searches a resolution of its own, at most ten times larger or smaller
        than the first. Partitions into k clusters at different resolutions differ more than those
        of several starts at one, but the search takes three to five times as long.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    ndarray of int of shape (n_vertices,)
        The cluster of every vertex, numbered from 0.

    Examples
    --------
    >>> from enhg import Hypergraph
    >>> hypergraph = Hypergraph.from_edges([[0, 1, 2], [3, 4, 5], [2, 3]], weights=[1, 1, 0.1])
    >>> labels = partition_by_modularity(hypergraph, 2, random_state=0)
    >>> bool(labels[0] == labels[1] != labels[4])
    True
    """
    check_graph(graph)
    check_whole("n_clusters", n_clusters, 1, graph.n_vertices, hint="(the number of vertices)")
    check_whole("oversampling", oversampling, 1)
    moves = _Moves(graph, random_state)
    labels = moves.at_least(
        min(n_clusters * oversampling, graph.n_vertices), vary_resolution=vary_resolution
    )
    return _merge(moves.adjacency, moves.degrees, labels, n_clusters)


def group_vertices(
    graph: GraphLike, resolution: float, most: int, least: int, rng: np.random.RandomState
) -> NDArray[np.intp]:
    """Group vertices by moves of single vertices, then groups, until there are at most `most`.

    The last step is left out if it would leave fewer than `least`.

    Parameters
    ----------
    graph : Hypergraph or Graph
    resolution : float
        Of the modularity that moves gain. The volume of a group stays below about the total volume
        divided by it.
    most, least : int
    rng : RandomState
        Draws the order in which vertices are visited.

    Returns
    -------
    ndarray of int of shape (n_vertices,)
        The group of every vertex, numbered from 0.
    """
    adjacency, degrees = graph.clique_expansion(), np.array(graph.vertex_degrees)
    groups = np.arange(len(degrees))
    while len(degrees) > most:
        own, order = np.arange(len(degrees)), rng.permutation(len(degrees))
        joined = _numbered(_moved(adjacency, degrees, own, resolution, order))
        if joined.max() + 1 == len(joined) or joined.max() + 1 < least:
            break
        groups = joined[groups]
        adjacency, degrees = _aggregate(adjacency, degrees, joined)
    return groups


def move_vertices(
    links: sparse.csr_array,
    degrees: NDArray,
    labels: NDArray,
    visited: NDArray,
    rng: np.random.RandomState,
) -> NDArray[np.intp]:
    """Move single vertices to the cluster of the largest gain of modularity until none gains.

    Vertices that would gain most as a cluster of their own stay where they are.

    Parameters
    ----------
    links : csr_array of shape (n_vertices, n_vertices)
        √d(u) Θ(u, v) √d(v) for u ≠ v; only rows of vertices that are visited are used.
    degrees : ndarray of shape (n_vertices,)
    labels : ndarray of int of shape (n_vertices,)
    visited : ndarray of int
        The vertices that may move.
    rng : RandomState
        Draws the order in which vertices are visited.

    Returns
    -------
    ndarray of int of shape (n_vertices,)
        The cluster of every vertex, under the names of the given labels.
    """
    moved = _moved(links, np.array(degrees), labels, 1.0, rng.permutation(visited))
    return np.where(moved > labels.max(), labels, moved)


def _moved(
    adjacency: sparse.csr_array,
    degrees: NDArray,
    labels: NDArray,
    resolution: float,
    order: NDArray,
) -> NDArray[np.intp]:
    """Labels of the vertices after moves from those given; a new cluster has a larger one."""
    moved = labels.astype(np.int64)
    move(adjacency.indptr, adjacency.indices, adjacency.data, degrees, resolution, order, moved)
    return np.asarray(moved)


def _numbered(labels: NDArray) -> NDArray[np.intp]:
    """The same clusters, numbered from 0."""
    return np.asarray(np.unique(labels, return_inverse=True)[1])


class _Moves:
    """Modularity maximization on one graph at several resolutions."""

    def __init__(self, graph: GraphLike, random_state: np.random.RandomState | int | None) -> None:
        # A copy, since for read-only degrees the kernel would be compiled a second time.
        self.adjacency, self.degrees = graph.clique_expansion(), np.array(graph.vertex_degrees)
        self.rng = check_rng(random_state)

    def partition(self, resolution: float) -> NDArray[np.intp]:
        first = self._improve(np.arange(len(self.degrees)), resolution)
        return self._improve(first, resolution)

    def _improve(self, labels: NDArray, resolution: float) -> NDArray[np.intp]:
        """Move vertices from the clusters they are in, then clusters, until nothing moves."""
        adjacency, degrees = self.adjacency, self.degrees
        own = np.arange(len(labels))  # the vertex of the present level that a vertex is part of
        while True:
            order = self.rng.permutation(len(degrees))
            clusters = _numbered(_moved(adjacency, degrees, labels, resolution, order))
            own = clusters[own]
            if clusters.max() + 1 == len(clusters):
                return np.asarray(own)
            adjacency, degrees = _aggregate(adjacency, degrees, clusters)
            labels = np.arange(len(degrees))

    def at_least(self, count: int, *, vary_resolution: bool) -> NDArray[np.intp]:
        """The partition of fewest clusters, but at least `count`, of several starts.

        Of equally many clusters, that of the largest modularity is taken.
        """
        first, resolution = self._search(count, _RESOLUTIONS, at_random=False)
        partitions = [first]
        for _ in range(_RESTARTS):
            if vary_resolution:
                near = (resolution / _NEAR, resolution * _NEAR)
                partitions.append(self._search(count, near, at_random=True)[0])
            else:
                partitions.append(self.partition(resolution))
        enough = [labels for labels in partitions if labels.max() >= count - 1]
        fewest = min(labels.max() for labels in enough)
        return self.best([labels for labels in enough if labels.max() == fewest])

    def _search(
        self, count: int, interval: tuple[float, float], *, at_random: bool
    ) -> tuple[NDArray[np.intp], float]:
        """The partition of fewest clusters, but at least `count`, that bisection finds.

        Intervals of resolutions are halved, or divided at random within their middle half. Also
        returns the resolution of the partition.
        """
        low, high = interval
        best, of_best = np.arange(len(self.degrees)), high
        for _ in range(_MAX_STEPS):
            share = self.rng.uniform(0.25, 0.75) if at_random else 0.5
            resolution = float(low ** (1 - share) * high**share)
            labels = self.partition(resolution)
            clusters = int(labels.max()) + 1
            if count <= clusters <= best.max():
                best, of_best = labels, resolution
            if clusters == count:
                break
            low, high = (resolution, high) if clusters < count else (low, resolution)
        return best, of_best

    def best(self, partitions: list[NDArray], resolution: float = 1.0) -> NDArray[np.intp]:
        """The partition of the largest modularity."""
        return max(partitions, key=lambda labels: self._quality(labels, resolution))

    def _quality(self, labels: NDArray, resolution: float) -> float:
        """The modularity, up to a constant that no partition changes."""
        rows = np.repeat(labels, np.diff(self.adjacency.indptr))
        within = self.adjacency.data[rows == labels[self.adjacency.indices]].sum()
        total = self.degrees.sum()
        volumes = np.bincount(labels, self.degrees) / total
        return float(within / total - resolution * (volumes**2).sum())


def _aggregate(
    adjacency: sparse.csr_array, degrees: NDArray, clusters: NDArray
) -> tuple[sparse.csr_array, NDArray]:
    """The graph whose vertices are the clusters of a graph."""
    count = int(clusters.max()) + 1
    order = np.argsort(clusters, kind="stable")
    starts = np.searchsorted(clusters[order], np.arange(count + 1))
    between = sum_links(
        adjacency.indptr, adjacency.indices, adjacency.data, clusters, order, starts
    )
    return sparse.csr_array(between, shape=(count, count)), np.bincount(clusters, degrees, count)


def _merge(
    adjacency: sparse.csr_array, degrees: NDArray, labels: NDArray, count: int
) -> NDArray[np.intp]:
    """Merge clusters two at a time until `count` are left."""
    between, volumes = _aggregate(adjacency, degrees, labels)
    links = between.toarray()
    np.fill_diagonal(links, 0)
    names = np.arange(len(volumes))  # of the clusters that the given ones are part of
    kept = np.ones(len(volumes), bool)
    while kept.sum() > count:
        left = np.flatnonzero(kept)
        # Products of roots do not underflow; isolated vertices have no links.
        roots = np.sqrt(np.where(volumes[left] > 0, volumes[left], 1.0))
        score = links[np.ix_(left, left)] / np.outer(roots, roots)
        pair = np.unravel_index(score.argmax(), score.shape)
        if score[pair] == 0:
            pair = tuple(np.argsort(volumes[left], kind="stable")[:2])
        a, b = left[pair[0]], left[pair[1]]
        links[a] += links[b]
        links[:, a] += links[:, b]
        links[a, a] = 0
        volumes[a] += volumes[b]
        names[names == b] = a
        kept[b] = False
    return _numbered(names[labels])


def checked_labels(labels: ArrayLike, graph: GraphLike) -> NDArray:
    """Return labels numbered from 0; require one whole number of 0 or more for each vertex.

    Memory that depends on the largest label does not then depend on how clusters are numbered.
    """
    given = np.asarray(labels)
    if given.shape != (graph.n_vertices,) or given.dtype.kind not in "iu" or given.min() < 0:
        raise InputError(
            f"labels must be whole numbers of 0 or more, one for each of the {graph.n_vertices} "
            f"vertices, got shape {given.shape} and dtype {given.dtype}",
            parameter="labels",
        )
    return _numbered(given)
