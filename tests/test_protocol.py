"""Graphs of other packages, which have the interface of graphs and nothing else."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import aslinearoperator
from sklearn.datasets import load_digits

from enhg import (
    GaussianGraph,
    Graph,
    Hypergraph,
    HypergraphClassifier,
    HypergraphClustering,
    clustering_accuracy,
    count_clusters,
)
from enhg._protocol import GraphLike, check_graph, is_graph
from enhg.exceptions import InputError

X, Y = load_digits(n_class=3, return_X_y=True)
X, Y = X[:150], Y[:150]
MEMBERS = [
    "n_vertices",
    "vertex_degrees",
    "theta",
    "theta_lower_bound",
    "is_dense",
    "theta_dense",
    "clique_expansion",
    "connected_components",
    "subhypergraph",
]


class DenseGraph:
    """A dense Θ and the degrees, without a base class of enhg."""

    theta_lower_bound = -1.0
    is_dense = True

    def __init__(self, theta, degrees):
        self._theta, self.vertex_degrees = theta, degrees

    @property
    def n_vertices(self):
        return len(self._theta)

    @property
    def theta(self):
        return aslinearoperator(self._theta)

    def theta_dense(self):
        return self._theta.copy()

    def clique_expansion(self):
        roots = np.sqrt(self.vertex_degrees)
        adjacency = self._theta * np.outer(roots, roots)
        np.fill_diagonal(adjacency, 0)
        return sparse.csr_array(adjacency)

    def connected_components(self):
        return connected_components(self._theta > 0, directed=False)

    def subhypergraph(self, mask):
        roots = np.sqrt(self.vertex_degrees[mask])
        adjacency = self._theta[mask][:, mask] * np.outer(roots, roots)
        degrees = adjacency.sum(axis=1)
        return DenseGraph(adjacency / np.sqrt(np.outer(degrees, degrees)), degrees)


@pytest.fixture(scope="module")
def own():
    return GaussianGraph(0.5).fit(X).graph_


@pytest.fixture(scope="module")
def other(own):
    return DenseGraph(own.theta_dense(), own.vertex_degrees)


def test_clustering_accepts_it(own, other):
    model = HypergraphClustering(3, structure=other, random_state=0).fit(X)
    assert model.structure_ is model.graph_ is other
    assert clustering_accuracy(Y, model.labels_) >= 0.9
    expected = HypergraphClustering(3, structure=own, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    with pytest.raises(AttributeError, match=r"can attach new samples.*got DenseGraph"):
        model.predict(X)


@pytest.mark.parametrize("method", ["diffusion", "poisson"])
def test_classification_accepts_it(own, other, method):
    given = np.where(np.arange(len(Y)) < 20, Y, -1)
    model = HypergraphClassifier(structure=other, method=method).fit(X, given)
    assert (model.transduction_ == Y)[20:].mean() > 0.9
    expected = HypergraphClassifier(structure=own, method=method).fit(X, given)
    np.testing.assert_allclose(model.label_distributions_, expected.label_distributions_)
    np.testing.assert_array_equal(model.suggest(5), expected.suggest(5))


def test_its_clusters_are_counted(own, other):
    count, expected = (count_clusters(graph, random_state=0) for graph in (other, own))
    np.testing.assert_allclose(count.scores, expected.scores, atol=1e-6)


@pytest.mark.parametrize("graph", [Hypergraph(np.eye(3)), Graph(np.eye(3))], ids=repr)
def test_own_graphs_have_the_interface(graph):
    assert isinstance(graph, GraphLike)
    assert is_graph(graph)
    assert check_graph(graph) is None
    assert not is_graph(type(graph))


@pytest.mark.parametrize("name", MEMBERS)
def test_every_member_is_needed(name):
    members = {member: None for member in MEMBERS if member != name}
    partial = type("Partial", (), members)()
    assert not is_graph(partial)
    with pytest.raises(InputError, match="graph must be a Hypergraph or a Graph, got"):
        check_graph(partial)
    with pytest.raises(InputError, match="structure must be a structure, a Hypergraph or a Graph"):
        HypergraphClustering(3, structure=partial).fit(X)
