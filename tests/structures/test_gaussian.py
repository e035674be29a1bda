"""`GaussianGraph` against loops."""

import numpy as np
import pytest

from enhg import GaussianGraph


@pytest.mark.parametrize("bandwidth", [0.3, 1.0, 2.5])
def test_weights_follow_the_formula(points, distances, bandwidth):
    d = distances(points)
    t = (bandwidth * np.median(d[np.triu_indices(len(points), 1)])) ** 2
    expected = np.exp(-(d**2) / t)
    np.fill_diagonal(expected, 0)
    graph = GaussianGraph(bandwidth, preprocessing="none").fit(points).graph_
    np.testing.assert_allclose(graph.adjacency, expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("bandwidth", [0, -1, np.inf, "1"])
def test_wrong_bandwidth(points, bandwidth):
    with pytest.raises(ValueError, match="bandwidth must be a positive number"):
        GaussianGraph(bandwidth=bandwidth).fit(points)
