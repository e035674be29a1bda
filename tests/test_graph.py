"""Graphs: degrees, Θ, components and subgraphs."""

import numpy as np
import pytest
from scipy import sparse

from enhg.exceptions import InputError
from enhg.graph import Graph

ADJACENCY = np.array([[0, 3, 0, 0], [3, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 2.0]])
KINDS = [np.array, sparse.csr_array, sparse.coo_array, lambda a: a.tolist()]


@pytest.mark.parametrize("kind", KINDS)
def test_theta_follows_its_definition(kind):
    graph = Graph(kind(ADJACENCY))
    d = [sum(row) for row in ADJACENCY]
    expected = [[ADJACENCY[u, v] / np.sqrt(d[u] * d[v]) for v in range(4)] for u in range(4)]
    np.testing.assert_allclose(graph.theta_dense(), expected)
    np.testing.assert_allclose(graph.theta @ np.eye(4), expected)
    np.testing.assert_array_equal(graph.vertex_degrees, d)
    assert graph.n_vertices == 4
    assert graph.n_edges == 3


def test_sparse_and_dense_stay_what_they_were():
    assert Graph(ADJACENCY).is_dense
    assert not Graph(sparse.csr_array(ADJACENCY)).is_dense
    assert isinstance(Graph(ADJACENCY).adjacency, np.ndarray)
    assert sparse.issparse(Graph(sparse.csr_array(ADJACENCY)).adjacency)


def test_the_spectrum_lies_within_its_bounds():
    rng = np.random.default_rng(0)
    for _ in range(20):
        A = rng.random((9, 9)) * (rng.random((9, 9)) < 0.5) + np.diag(rng.random(9))
        graph = Graph(A + A.T)
        values = np.linalg.eigvalsh(graph.theta_dense())
        assert graph.theta_lower_bound - 1e-12 <= values[0] <= values[-1] <= 1 + 1e-12
        root = np.sqrt(graph.vertex_degrees)
        np.testing.assert_allclose(graph.theta @ root, root)


def test_two_sides_of_a_bipartite_graph_reach_the_lower_bound():
    values = np.linalg.eigvalsh(Graph([[0, 1], [1, 0]]).theta_dense())
    np.testing.assert_allclose(values, [-1, 1])


@pytest.mark.parametrize("kind", KINDS[:2])
def test_components_and_parts(kind):
    graph = Graph(kind(ADJACENCY))
    count, labels = graph.connected_components()
    assert count == 2
    assert labels.tolist() == [0, 0, 0, 1]
    part = graph.subhypergraph(labels == 0)
    assert part.n_vertices == 3
    np.testing.assert_allclose(part.theta_dense(), graph.theta_dense()[:3, :3])


def test_weak_edges_of_an_array_join_too():
    weak = np.array([[0, 1e-12, 0], [1e-12, 0, 1], [0, 1, 0]])
    assert Graph(weak).connected_components()[0] == 1


def test_equality_is_by_content():
    graph = Graph(ADJACENCY)
    assert graph == Graph(ADJACENCY.tolist())
    assert graph != Graph(2 * ADJACENCY)
    assert graph != Graph(ADJACENCY[:3, :3])
    assert Graph(sparse.csr_array(ADJACENCY)) == Graph(sparse.coo_array(ADJACENCY))
    assert graph != Graph(sparse.csr_array(ADJACENCY))  # stored otherwise


@pytest.mark.parametrize("kind", KINDS)
def test_edges(kind):
    assert [edge.tolist() for edge in Graph(kind(ADJACENCY)).edges()] == [[0, 1], [1, 2], [3]]


@pytest.mark.parametrize(
    ("adjacency", "message"),
    [
        ([[0, 1], [2, 0]], r"exactly symmetric.*1.0 at \(0, 1\) and 2.0 at \(1, 0\)"),
        ([[0, -1], [-1, 0]], "non-negative numbers, got -1"),
        ([[0, np.nan], [np.nan, 0]], "finite.*got nan"),
        ([[0, 1, 0], [1, 0, 0], [0, 0, 0]], "every vertex must have an edge.*0.0 at vertex 2"),
        ([[0, 1]], r"square, got shape \(1, 2\)"),
        ([1, 2], r"2-dimensional, got shape \(2,\)"),
        (np.zeros((0, 0)), "must have a vertex"),
        ([["a", "b"], ["b", "a"]], "real numbers"),
    ],
)
def test_what_is_not_a_graph(adjacency, message):
    with pytest.raises(InputError, match=message):
        Graph(adjacency)


@pytest.mark.parametrize(
    ("adjacency", "message"),
    [
        ([[0, 1], [2, 0]], r"exactly symmetric.*1.0 at \(0, 1\) and 2.0 at \(1, 0\)"),
        ([[0, -1], [-1, 0]], "non-negative numbers, got -1"),
        ([[0, np.nan], [np.nan, 0]], "finite.*got nan"),
        ([[0, 1, 0], [1, 0, 0], [0, 0, 0]], "every vertex must have an edge.*0.0 at vertex 2"),
        ([[0, 1]], r"square, got shape \(1, 2\)"),
        (np.zeros((0, 0)), "must have a vertex"),
    ],
)
def test_what_is_not_a_sparse_graph(adjacency, message):
    with pytest.raises(InputError, match=message):
        Graph(sparse.csr_array(adjacency))


@pytest.mark.parametrize(
    ("incidence", "message"),
    [
        ([[1, 0, 1], [1, 0, 0], [0, 0, 1]], "one or two vertices, got 0"),
        ([[1, 1], [1, 1], [0, 1]], "one or two vertices, got 3"),
        ([[0.5], [1]], "edges of a graph must have memberships of 1, got 0.5"),
    ],
)
def test_what_are_not_the_ends_of_edges(incidence, message):
    matrix = sparse.csr_array(np.array(incidence, float))
    with pytest.raises(InputError, match=message):
        Graph.from_incidence(matrix, np.ones(matrix.shape[1]))
