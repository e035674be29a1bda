"""`LaplacianEigenmapGraph` against loops and scikit-learn."""

import numpy as np
import pytest
from sklearn.neighbors import kneighbors_graph

from enhg import LaplacianEigenmapGraph


@pytest.mark.parametrize("n_neighbors", [1, 4, 39])
def test_neighbors_are_those_of_scikit_learn(points, n_neighbors):
    structure = LaplacianEigenmapGraph(n_neighbors, weighting="binary", preprocessing="none")
    neighbors = kneighbors_graph(points, n_neighbors).toarray()
    adjacency = structure.fit(points).graph_.adjacency.toarray()
    np.testing.assert_array_equal(adjacency, np.maximum(neighbors, neighbors.T))


def test_weights_follow_the_formula(points, distances, nearest):
    structure = LaplacianEigenmapGraph(3, bandwidth=1.5, preprocessing="none").fit(points)
    d = distances(points)
    pairs = [(i, j) for i, row in enumerate(nearest(points, 3)) for j in row]
    t = (1.5 * np.median([d[pair] for pair in pairs])) ** 2
    expected = np.zeros_like(d)
    for i, j in pairs:
        expected[i, j] = expected[j, i] = np.exp(-(d[i, j] ** 2) / t)
    np.testing.assert_allclose(structure.graph_.adjacency.toarray(), expected, rtol=1e-6)


def test_a_sample_far_from_all_keeps_its_neighbors(points):
    far = np.vstack([points, np.full(points.shape[1], 1e3)])
    graph = LaplacianEigenmapGraph(3, preprocessing="none").fit(far).graph_
    assert (graph.adjacency.toarray()[-1] > 0).sum() == 3


@pytest.mark.parametrize("n_neighbors", [0, 40, 2.5, True, "3"])
def test_wrong_number_of_neighbors(points, n_neighbors):
    with pytest.raises(ValueError, match=r"n_neighbors must be a whole number from 1 to .*39"):
        LaplacianEigenmapGraph(n_neighbors).fit(points)


@pytest.mark.parametrize("bandwidth", [0, -1, np.inf, "1"])
def test_wrong_bandwidth(points, bandwidth):
    with pytest.raises(ValueError, match="bandwidth must be a positive number"):
        LaplacianEigenmapGraph(bandwidth=bandwidth).fit(points)


def test_unknown_weighting(points):
    with pytest.raises(ValueError, match=r"weighting must be one of .*, got 'cold'"):
        LaplacianEigenmapGraph(weighting="cold").fit(points)
