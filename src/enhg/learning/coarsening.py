"""Graphs of groups of vertices, for graphs that are too large for what learners do (extension)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg._protocol import GraphLike
from enhg.hypergraph import Hypergraph, membership_shares
from enhg.learning.spectral import TOL, Spectrum
from enhg.modularity import group_vertices, move_vertices
from enhg.structures._base import symmetric_graph

_MAX_VERTICES = 100_000  # graphs of more are coarsened
# See `find_groups`.
_MAX_GROUPS, _GROUPS_PER_CLUSTER, _RESOLUTION_PER_CLUSTER, _LEAST_CLUSTERS = 10_000, 20, 2.0, 50
_COLUMNS_AT_ONCE = 10
_BOUNDARY = 0.1  # see `Coarsening.spread_partition`
_COARSE_TOL = 1e-3  # of eigenvectors of groups, which approximate those of the vertices


@dataclass(frozen=True, eq=False)
class Coarsening:
    """Groups of the vertices of a graph, and the graph whose vertices are the groups.

    Attributes
    ----------
    whole : Hypergraph or Graph
    graph : Hypergraph or Graph
        With Σ_{u∈a, v∈b} √d(u) Θ(u, v) √d(v) as weight between the groups a and b: a random walk
        on it steps from group to group as one on the whole graph that forgets where in a group it
        is. The whole graph itself if it is small.
    groups : ndarray of int of shape (n_vertices,) or None
        The group of every vertex; None if every vertex is its own.
    """

    whole: GraphLike
    graph: GraphLike
    groups: NDArray | None

    @classmethod
    def of_groups(cls, graph: GraphLike, groups: NDArray | None) -> Coarsening:
        """The coarsening of a graph by groups that are known."""
        if groups is None:
            return cls(graph, graph, None)
        n, count = len(groups), int(groups.max()) + 1
        entries = (np.ones(n), groups, np.arange(n + 1))
        indicator = sparse.csc_array(entries, shape=(count, n))
        if isinstance(graph, Hypergraph):
            members = sparse.csr_array(indicator @ graph.incidence)
            between = sparse.csr_array(membership_shares(members, graph) @ members.T)
        else:
            links = graph.clique_expansion()
            own = graph.vertex_degrees - links.sum(axis=1)
            between = sparse.csr_array(indicator @ (links + sparse.diags_array(own)) @ indicator.T)
        return cls(graph, symmetric_graph(between), groups)

    @property
    def eigenvector_tol(self) -> float:
        """The tolerance to which the eigenvectors of `graph` are needed."""
        return TOL if self.groups is None else _COARSE_TOL

    def select(self, mask: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """The groups of some vertices, none of which is in a group with any of the others."""
        if self.groups is None:
            return mask
        selected = np.zeros(self.graph.n_vertices, bool)
        selected[self.groups[mask]] = True
        return selected

    def spread(self, values: NDArray) -> NDArray:
        """Values of the vertices: those of their groups."""
        return values if self.groups is None else values[self.groups]

    def spread_partition(self, labels: NDArray, rng: np.random.RandomState) -> NDArray:
        """Clusters of the vertices: those of their groups, after moves of single vertices.

        Of a hypergraph, only vertices near the boundaries of clusters move: their links to some
        other cluster have more than a tenth of the weight of those to their own.
        """
        if self.groups is None:
            return labels
        spread = self.spread(labels)
        links, boundary = _links_across(self.whole, spread)
        return move_vertices(links, self.whole.vertex_degrees, spread, boundary, rng)

    def spread_spectrum(self, spectrum: Spectrum) -> Spectrum:
        """Approximate eigenpairs of the whole graph: those of the groups, times Θ once.

        An eigenvector of the groups has the entry √(d(v)/d(a)) vₐ at a vertex v of the group a. It
        is multiplied by Θ and scaled to unit length; in float32.
        """
        if self.groups is None:
            return spectrum
        roots = np.sqrt(self.whole.vertex_degrees / self.spread(self.graph.vertex_degrees))
        n, count = len(self.groups), len(spectrum.eigenvalues)
        eigenvectors, residuals = np.empty((n, count), np.float32), np.empty(count)
        for start in range(0, count, _COLUMNS_AT_ONCE):
            part = slice(start, start + _COLUMNS_AT_ONCE)
            constant = roots[:, None] * self.spread(spectrum.eigenvectors[:, part])
            image = self.whole.theta @ constant
            differences = image - constant * spectrum.eigenvalues[part]
            residuals[part] = np.linalg.norm(differences, axis=0)
            lengths = np.linalg.norm(image, axis=0)
            eigenvectors[:, part] = image / np.where(lengths > 0, lengths, 1)
        return Spectrum(spectrum.eigenvalues, eigenvectors, residuals)


def find_groups(graph: GraphLike, n_clusters: int, rng: np.random.RandomState) -> NDArray | None:
    """Find groups of strongly connected vertices; None for a graph of at most 100 000 vertices.

    Vertices move as in `maximize_modularity` until none gains, at the resolution 2k for k
    clusters, and at least 100, at which groups stay far smaller than clusters. Then groups move as
    vertices did, until none gains, there are at most 10 000, or fewer than 20k would be left. Of a
    hypergraph with hyperedges of several sizes, those smaller than the median decide.

    Parameters
    ----------
    graph : Hypergraph or Graph
    n_clusters : int
        k, or an upper estimate of it.
    rng : RandomState

    Returns
    -------
    ndarray of int of shape (n_vertices,) or None
        The group of every vertex, numbered from 0.
    """
    if graph.is_dense or graph.n_vertices <= _MAX_VERTICES:
        return None
    resolution = _RESOLUTION_PER_CLUSTER * max(n_clusters, _LEAST_CLUSTERS)
    least = _GROUPS_PER_CLUSTER * n_clusters
    return group_vertices(small_hyperedges(graph) or graph, resolution, _MAX_GROUPS, least, rng)


def _links_across(graph: GraphLike, labels: NDArray) -> tuple[sparse.csr_array, NDArray]:
    """The links of the vertices near the boundaries of clusters, and these vertices."""
    if not isinstance(graph, Hypergraph):
        return graph.clique_expansion(), np.arange(len(labels))
    n, members = len(labels), graph.incidence.T.tocsr()
    shares = membership_shares(graph.incidence, graph)
    clusters = sparse.csr_array((np.ones(n), labels, np.arange(n + 1)))
    to_clusters = sparse.csr_array(shares @ (members @ clusters))
    is_own = to_clusters.indices == np.repeat(labels, np.diff(to_clusters.indptr))
    own, others = to_clusters.data[is_own], np.where(is_own, 0, to_clusters.data)
    linked = np.flatnonzero(np.diff(to_clusters.indptr))
    largest = np.maximum.reduceat(others, to_clusters.indptr[linked])
    boundary = linked[largest > _BOUNDARY * own]
    rows = sparse.csr_array(shares[boundary] @ members)
    counts = np.zeros(n, rows.indptr.dtype)
    counts[boundary] = np.diff(rows.indptr)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(rows.indptr.dtype)
    return sparse.csr_array((rows.data, rows.indices, indptr), shape=(n, n)), boundary


def small_hyperedges(graph: GraphLike) -> Hypergraph | None:
    """The hyperedges of fewer members than the median; None if some vertex is in none of them."""
    if not isinstance(graph, Hypergraph):
        return None
    sizes = np.bincount(graph.incidence.indices, minlength=graph.n_edges)
    small = sizes < np.median(sizes)
    incidence = graph.incidence[:, small]
    if not (np.diff(incidence.indptr) > 0).all():
        return None
    return Hypergraph(incidence, graph.weights[small])
