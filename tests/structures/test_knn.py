"""`KNNHypergraph` against loops."""

import numpy as np
import pytest

from enhg import KNNHypergraph


def test_hyperedges_are_samples_with_their_neighbors(points, nearest):
    graph = KNNHypergraph(5, weighting="uniform", preprocessing="none").fit(points).graph_
    for i, (edge, row) in enumerate(zip(graph.edges(), nearest(points, 5), strict=True)):
        assert edge.tolist() == sorted([i, *row])
    np.testing.assert_array_equal(graph.weights, 1)
    np.testing.assert_array_equal(graph.incidence.data, 1)


@pytest.mark.parametrize("membership", ["soft", "binary"])
def test_weights_and_memberships_follow_the_formula(points, distances, nearest, membership):
    structure = KNNHypergraph(5, membership=membership, preprocessing="none").fit(points)
    d, near = distances(points), nearest(points, 5)
    t = np.median([d[i, j] for i, row in enumerate(near) for j in row]) ** 2
    H = structure.graph_.incidence.toarray()
    for i, row in enumerate(near):
        heat = np.exp(-(d[i, row] ** 2) / t)
        np.testing.assert_allclose(H[row, i], heat if membership == "soft" else 1, rtol=1e-6)
        assert H[i, i] == 1
        np.testing.assert_allclose(structure.graph_.weights[i], 1 + heat.sum(), rtol=1e-6)


def test_the_induced_graph_of_the_paper_has_the_same_theta(points):
    """Weights of pairs and loops, those of each hyperedge divided by its degree."""
    graph = KNNHypergraph(3, preprocessing="none").fit(points).graph_
    induced = np.zeros((len(points), len(points)))
    for edge, weight in zip(graph.edges(), graph.weights, strict=True):
        induced[np.ix_(edge, edge)] += weight / len(edge)
    d = induced.sum(axis=1)
    np.testing.assert_allclose(graph.theta_dense(), induced / np.sqrt(np.outer(d, d)))


@pytest.mark.parametrize("n_neighbors", [0, 40, 2.5, True, "3"])
def test_wrong_number_of_neighbors(points, n_neighbors):
    with pytest.raises(ValueError, match=r"n_neighbors must be a whole number from 1 to .*39"):
        KNNHypergraph(n_neighbors).fit(points)


@pytest.mark.parametrize("bandwidth", [0, -1, np.inf, "1"])
def test_wrong_bandwidth(points, bandwidth):
    with pytest.raises(ValueError, match="bandwidth must be a positive number"):
        KNNHypergraph(bandwidth=bandwidth).fit(points)


@pytest.mark.parametrize("name", ["weighting", "membership"])
def test_unknown_choices(points, name):
    with pytest.raises(ValueError, match=rf"{name} must be one of .*, got 'cold'"):
        KNNHypergraph(**{name: "cold"}).fit(points)
