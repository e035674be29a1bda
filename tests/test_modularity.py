"""Modularity against its definition, brute force and other libraries."""

from itertools import product

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import entropy
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from enhg import ElasticNetHypergraph, Graph, Hypergraph
from enhg._modularity_kernels import move
from enhg.exceptions import InputError
from enhg.modularity import (
    maximize_modularity,
    modularity,
    modularity_of_clusters,
    partition_by_modularity,
    step_information,
)


def random_hypergraph(seed, n=8, n_edges=9):
    rng = np.random.default_rng(seed)
    edges = [rng.choice(n, rng.integers(2, 4), replace=False).tolist() for _ in range(n_edges)]
    edges += [[v, (v + 1) % n] for v in range(n)]
    return Hypergraph.from_edges(edges, weights=rng.random(len(edges)) + 0.1)


def partitions(n):
    """All partitions of n vertices, each once."""
    for labels in product(*(range(v + 1) for v in range(n))):
        if all(labels[v] <= max(labels[:v], default=-1) + 1 for v in range(n)):
            yield np.array(labels)


def blocks(sizes, seed=0, inside=0.5, outside=0.01):
    """A graph of dense blocks that are sparsely connected."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(len(sizes)), sizes)
    joined = rng.random((len(y), len(y))) < np.where(y[:, None] == y, inside, outside)
    upper = np.triu(joined, 1).astype(float)
    return Graph(sparse.csr_array(upper + upper.T)), y


@given(st.integers(0, 100), st.lists(st.integers(0, 3), min_size=8, max_size=8))
@settings(max_examples=30, deadline=None)
def test_modularity_follows_its_definition(seed, labels):
    hypergraph, labels = random_hypergraph(seed), np.array(labels)
    degrees = hypergraph.vertex_degrees
    roots = np.sqrt(degrees)
    steps = roots[:, None] * hypergraph.theta_dense() * roots / degrees.sum()
    np.testing.assert_allclose(steps.sum(axis=0), degrees / degrees.sum())
    expected = [
        steps[np.ix_(labels == c, labels == c)].sum()
        - (degrees[labels == c].sum() / degrees.sum()) ** 2
        for c in range(labels.max() + 1)
    ]
    np.testing.assert_allclose(modularity_of_clusters(hypergraph, labels), expected, atol=1e-12)
    assert modularity(hypergraph, labels) == pytest.approx(sum(expected))


def test_modularity_of_graphs_is_that_of_networkx():
    graph, y = blocks([20, 30, 10])
    other = nx.from_scipy_sparse_array(graph.adjacency)
    communities = [set(np.flatnonzero(y == c)) for c in range(3)]
    assert modularity(graph, y) == pytest.approx(nx.community.modularity(other, communities))


def test_limits():
    graph, y = blocks([10, 10])
    assert modularity(graph, np.zeros(20, int)) == pytest.approx(0)
    assert modularity(graph, np.arange(20)) < 0
    assert -0.5 <= modularity(graph, y) < 1


@pytest.mark.parametrize("seed", range(6))
def test_the_maximum_is_that_of_all_partitions(seed):
    hypergraph = random_hypergraph(seed, n=7)
    largest = max(modularity(hypergraph, labels) for labels in partitions(7))
    labels = [maximize_modularity(hypergraph, random_state=start) for start in range(8)]
    assert max(modularity(hypergraph, partition) for partition in labels) == pytest.approx(largest)


def test_no_single_move_improves_the_result():
    hypergraph = random_hypergraph(3, n=40, n_edges=80)
    labels = maximize_modularity(hypergraph, random_state=0)
    largest = modularity(hypergraph, labels)
    for vertex, cluster in product(range(40), range(labels.max() + 2)):
        moved = labels.copy()
        moved[vertex] = cluster
        assert modularity(hypergraph, moved) <= largest + 1e-9


def test_more_starts_find_larger_modularity():
    graph = random_hypergraph(0, n=40, n_edges=60)
    once, often = (maximize_modularity(graph, n_starts=n, random_state=0) for n in (1, 20))
    assert modularity(graph, often) > modularity(graph, once)
    with pytest.raises(InputError, match="n_starts"):
        maximize_modularity(graph, n_starts=0)


def test_the_maximum_is_at_least_that_of_networkx():
    graph, _ = blocks([40, 25, 60, 15], inside=0.2, outside=0.03)
    other = nx.from_scipy_sparse_array(graph.adjacency)
    communities = nx.community.louvain_communities(other, seed=0)
    largest = max(modularity(graph, maximize_modularity(graph, random_state=s)) for s in range(3))
    assert largest >= nx.community.modularity(other, communities) - 1e-3


def test_a_larger_resolution_gives_more_clusters():
    graph, _ = blocks([30] * 6, inside=0.3, outside=0.02)
    counts = [
        maximize_modularity(graph, resolution=r, random_state=0).max() for r in (0.1, 1, 5, 50)
    ]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]


@pytest.mark.parametrize("oversampling", [1, 2])
@pytest.mark.parametrize("sizes", [[30, 30, 30], [60, 24, 12]])
def test_blocks_are_partitioned(sizes, oversampling):
    graph, y = blocks(sizes)
    labels = partition_by_modularity(graph, 3, oversampling=oversampling, random_state=0)
    assert sorted(set(labels)) == [0, 1, 2]
    if oversampling == 2 or len(set(sizes)) == 1:
        assert adjusted_rand_score(y, labels) > 0.95


@pytest.mark.parametrize("k", [1, 2, 5, 17, 50, 60])
@pytest.mark.parametrize("oversampling", [1, 2])
def test_any_number_of_clusters(k, oversampling):
    graph, _ = blocks([30, 30], inside=0.2, outside=0.05)
    labels = partition_by_modularity(graph, k, oversampling=oversampling, random_state=0)
    assert len(np.unique(labels)) == k


def test_more_components_than_clusters_are_merged():
    graph, _ = blocks([5, 9, 40, 40], outside=0, inside=1)
    labels = partition_by_modularity(graph, 3, random_state=0)
    assert labels[0] == labels[5]  # the two smallest
    assert len(np.unique(labels)) == 3


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("k", [2, 3, 7])
def test_hyperedge_weights_of_many_magnitudes(k):
    """Products of the volumes of two clusters are below the range of float64."""
    edges = [[2 * i, 2 * i + 1] for i in range(10)]
    graph = Hypergraph.from_edges(edges, weights=10.0 ** np.linspace(-198, -15, 10))
    labels = partition_by_modularity(graph, k, oversampling=2, random_state=0)
    assert len(np.unique(labels)) == k
    assert np.isfinite(step_information(graph, labels))


def test_same_seed_same_partition():
    X = make_blobs(120, 20, centers=4, random_state=0)[0]
    graph = ElasticNetHypergraph(preprocessing="zero_mean").fit(X).graph_
    first, second = (maximize_modularity(graph, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("labels", [[0, 1], [0.0] * 8, [-1] + [0] * 7])
def test_wrong_labels(labels):
    with pytest.raises(InputError, match="labels must be whole numbers of 0 or more"):
        modularity(random_hypergraph(0), labels)


def test_clusters_may_have_any_numbers():
    hypergraph, labels = random_hypergraph(0), np.array([0, 0, 1, 1, 1, 2, 2, 0])
    far = np.array([2**63 + 5, 10**12, 7], np.uint64)[labels]
    assert modularity(hypergraph, far) == pytest.approx(modularity(hypergraph, labels))
    assert step_information(hypergraph, far) == pytest.approx(step_information(hypergraph, labels))


def test_wrong_parameters():
    with pytest.raises(InputError, match="resolution"):
        maximize_modularity(random_hypergraph(0), resolution=0)
    with pytest.raises(InputError, match="n_clusters"):
        partition_by_modularity(random_hypergraph(0), 9)
    with pytest.raises(InputError, match="graph must be"):
        modularity("no graph", [0])


# --- the information of a step ------------------------------------------------------------------


@given(st.integers(0, 100), st.lists(st.integers(0, 3), min_size=8, max_size=8))
@settings(max_examples=30, deadline=None)
def test_information_is_the_mutual_information_of_a_step(seed, labels):
    hypergraph, labels = random_hypergraph(seed), np.array(labels)
    roots = np.sqrt(hypergraph.vertex_degrees)
    steps = roots[:, None] * hypergraph.theta_dense() * roots
    joint = np.array(
        [[steps[np.ix_(labels == a, labels == b)].sum() for b in range(4)] for a in range(4)]
    )
    expected = 2 * entropy(joint.sum(axis=0)) - entropy(joint.ravel())
    assert step_information(hypergraph, labels) == pytest.approx(expected, abs=1e-9)


def test_limits_of_the_information():
    graph, y = blocks([30, 20, 10], outside=0)
    shares = np.array([graph.vertex_degrees[y == c].sum() for c in range(3)])
    shares /= shares.sum()
    assert step_information(graph, y) == pytest.approx(-(shares * np.log(shares)).sum())
    assert step_information(graph, np.zeros(60, int)) == pytest.approx(0)
    assert step_information(graph, (y + 1) % 3) == pytest.approx(step_information(graph, y))


@pytest.mark.parametrize("k", [2, 5, 12, 59, 60])
def test_resolutions_may_vary_between_starts(k):
    graph, _ = blocks([20, 20, 20], outside=0.02)
    labels = partition_by_modularity(graph, k, vary_resolution=True, random_state=0)
    assert set(labels) == set(range(k))


def test_the_kernel_is_compiled_once_for_the_types_of_a_graph():
    """Levels of the search have degrees of one type, read-only as those of the graph or not."""
    for graph in (random_hypergraph(0), blocks([20, 20, 20])[0]):
        maximize_modularity(graph, random_state=0)
    assert all(degrees.mutable for _, _, _, degrees, *_ in move.dispatcher.signatures)
