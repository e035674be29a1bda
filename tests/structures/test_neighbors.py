"""G-graph, LE-graph and KNN-hypergraph against loops and scikit-learn."""

import numpy as np
import pytest
from sklearn.neighbors import kneighbors_graph

from enhg.structures.gaussian import GaussianGraph
from enhg.structures.knn import KNNHypergraph
from enhg.structures.laplacian_eigenmap import LaplacianEigenmapGraph


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).normal(size=(40, 6))


def distances(X):
    return np.array([[np.sqrt(((x - y) ** 2).sum()) for y in X] for x in X])


def nearest(X, k):
    return [np.argsort(row)[1 : k + 1] for row in distances(X)]


@pytest.mark.parametrize("bandwidth", [0.3, 1.0, 2.5])
def test_gaussian_graph(X, bandwidth):
    d = distances(X)
    t = (bandwidth * np.median(d[np.triu_indices(len(X), 1)])) ** 2
    expected = np.exp(-(d**2) / t)
    np.fill_diagonal(expected, 0)
    graph = GaussianGraph(bandwidth, preprocessing="none").fit(X).graph_
    np.testing.assert_allclose(graph.adjacency, expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("k", [1, 4, 39])
def test_laplacian_eigenmap_graph_joins_what_scikit_learn_finds(X, k):
    graph = LaplacianEigenmapGraph(k, weighting="binary", preprocessing="none").fit(X).graph_
    found = kneighbors_graph(X, k).toarray()
    np.testing.assert_array_equal(graph.adjacency.toarray(), np.maximum(found, found.T))


def test_laplacian_eigenmap_graph_is_weighted_by_heat(X):
    graph = LaplacianEigenmapGraph(3, bandwidth=1.5, preprocessing="none").fit(X).graph_
    d = distances(X)
    near = [(i, j) for i, row in enumerate(nearest(X, 3)) for j in row]
    t = (1.5 * np.median([d[pair] for pair in near])) ** 2
    expected = np.zeros_like(d)
    for i, j in near:
        expected[i, j] = expected[j, i] = np.exp(-(d[i, j] ** 2) / t)
    np.testing.assert_allclose(graph.adjacency.toarray(), expected, rtol=1e-6)


def test_laplacian_eigenmap_graph_joins_what_is_far_from_all(X):
    far = np.vstack([X, np.full(X.shape[1], 1e3)])
    graph = LaplacianEigenmapGraph(3, preprocessing="none").fit(far).graph_
    assert (graph.adjacency.toarray()[-1] > 0).sum() == 3


def test_knn_hypergraph_holds_a_sample_and_its_neighbors(X):
    graph = KNNHypergraph(5, weighting="uniform", preprocessing="none").fit(X).graph_
    for i, (edge, row) in enumerate(zip(graph.edges(), nearest(X, 5), strict=True)):
        assert edge.tolist() == sorted([i, *row])
    np.testing.assert_array_equal(graph.weights, 1)


def test_knn_hypergraph_by_heat(X):
    graph = KNNHypergraph(5, membership="soft", preprocessing="none").fit(X).graph_
    d, near = distances(X), nearest(X, 5)
    t = np.median([d[i, j] for i, row in enumerate(near) for j in row]) ** 2
    H = graph.incidence.toarray()
    for i, row in enumerate(near):
        expected = np.exp(-(d[i, row] ** 2) / t)
        np.testing.assert_allclose(H[row, i], expected, rtol=1e-6)
        assert H[i, i] == 1
        np.testing.assert_allclose(graph.weights[i], 1 + expected.sum(), rtol=1e-6)


def test_the_induced_graph_of_the_paper_has_the_same_theta(X):
    """Weights of pairs and loops, each hyperedge's divided by its degree."""
    graph = KNNHypergraph(3, preprocessing="none").fit(X).graph_
    induced = np.zeros((len(X), len(X)))
    for edge, weight in zip(graph.edges(), graph.weights, strict=True):
        induced[np.ix_(edge, edge)] += weight / len(edge)
    d = induced.sum(axis=1)
    np.testing.assert_allclose(graph.theta_dense(), induced / np.sqrt(np.outer(d, d)))


@pytest.mark.parametrize("structure", [LaplacianEigenmapGraph, KNNHypergraph])
@pytest.mark.parametrize("k", [0, 40, 2.5, True, "3"])
def test_wrong_k(X, structure, k):
    with pytest.raises(ValueError, match=r"k must be a whole number from 1 to .*39"):
        structure(k).fit(X)


@pytest.mark.parametrize("structure", [GaussianGraph, LaplacianEigenmapGraph, KNNHypergraph])
@pytest.mark.parametrize("bandwidth", [0, -1, np.inf, "1"])
def test_wrong_width(X, structure, bandwidth):
    with pytest.raises(ValueError, match="bandwidth must be a positive number"):
        structure(bandwidth=bandwidth).fit(X)


def test_wrong_words(X):
    with pytest.raises(ValueError, match="weights must be one of"):
        LaplacianEigenmapGraph(weighting="cold").fit(X)
    with pytest.raises(ValueError, match="weights must be one of"):
        KNNHypergraph(weighting="cold").fit(X)
    with pytest.raises(ValueError, match="incidence must be one of"):
        KNNHypergraph(membership="hard").fit(X)
