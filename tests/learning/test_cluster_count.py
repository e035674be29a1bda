import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs

from enhg import ElasticNetHypergraph, Graph, Hypergraph, HypergraphClustering
from enhg.learning.cluster_count import count_clusters


def blocks(sizes, within=1.0, between=0.0, seed=0):
    """A graph of random weights about `within` inside blocks, and about `between` elsewhere."""
    block = np.repeat(np.arange(len(sizes)), sizes)
    weights = np.where(block[:, None] == block, within, between)
    noise = np.random.default_rng(seed).uniform(0.5, 1.5, weights.shape)
    weights = weights * (noise + noise.T) / 2
    np.fill_diagonal(weights, 0)
    return Graph(weights)


@pytest.mark.parametrize("k", [2, 3, 5, 8])
@pytest.mark.parametrize("between", [0.0, 0.001, 0.01])
def test_blocks_are_counted(k, between):
    found = count_clusters(blocks([30] * k, between=between))
    assert found.n_clusters == k
    assert found.reliable


def test_scores_are_those_of_the_definition():
    graph = blocks([20, 25, 30], between=0.05)
    found = count_clusters(graph, most=6)
    values = np.sort(np.linalg.eigvalsh(graph.theta_dense()))[::-1][:7]
    np.testing.assert_allclose(found.values, values, atol=1e-6)
    mu = np.maximum(1 - values, 0.005)
    np.testing.assert_allclose(found.scores, np.arange(1, 7) * np.log(mu[1:] / mu[:-1]), atol=1e-4)
    order = np.argsort(-found.scores)
    assert (found.n_clusters, found.runner_up) == (order[0] + 1, order[1] + 1)


def test_of_scores_nearly_alike_the_smaller_number_is_taken():
    """Three groups of three: from nine clusters to three as the three of a group draw nearer."""
    block = np.repeat(np.arange(9), 15)
    group = block // 3
    noise = np.random.default_rng(0).uniform(0.5, 1.5, (135, 135))
    noise = (noise + noise.T) / 2
    found = []
    for sibling in np.geomspace(0.001, 0.9, 60):
        weights = np.where(group[:, None] == group, sibling, 0.001)
        weights[block[:, None] == block] = 1
        count = count_clusters(Graph(weights * noise))
        found.append(count.n_clusters)
        near = np.flatnonzero(count.scores >= 0.9 * count.scores.max()) + 1
        assert count.n_clusters == near[0]
        assert len(near) == 1 or not count.reliable
    assert (found[0], found[-1]) == (9, 3)


def test_one_cloud_is_one_cluster():
    X = np.random.default_rng(0).normal(size=(400, 30))
    found = count_clusters(ElasticNetHypergraph().fit(X).graph_)
    assert (found.n_clusters, found.reliable) == (1, False)  # as any dense hypergraph says


def test_many_small_groups_are_not_beyond_what_is_considered():
    rng = np.random.default_rng(0)
    X = np.vstack(
        [center + 0.1 * rng.normal(size=(10, 60)) for center in rng.normal(size=(30, 60))]
    )
    assert count_clusters(ElasticNetHypergraph().fit(X).graph_).best == 30


def test_what_parts_of_the_samples_do_not_bear_out_is_not_sure():
    everything = load_digits().data
    for seed in range(6):
        rows = np.random.default_rng(seed).permutation(len(everything))[:900]
        found = count_clusters(ElasticNetHypergraph().fit(everything[rows]).graph_, random_state=0)
        assert abs(found.n_clusters - 10) <= 1 or not found.reliable


def test_small_components_are_no_clusters():
    clusters = blocks([60] * 4, between=0.002).adjacency
    strays = [np.array([[0.0, 1], [1, 0]])] * 15 + [np.ones((1, 1))] * 10
    n = 240 + 40
    joined = np.zeros((n, n))
    joined[:240, :240] = clusters
    at = 240
    for stray in strays:
        joined[at : at + len(stray), at : at + len(stray)] = stray
        at += len(stray)
    found = count_clusters(Graph(joined))
    assert (found.n_clusters, found.reliable) == (4, True)


def test_nothing_but_small_components():
    alone = Hypergraph.from_edges([[i] for i in range(50)])
    assert not count_clusters(alone).sure


@pytest.mark.parametrize("n", [2, 3])
def test_a_few_samples(n):
    found = count_clusters(Hypergraph.from_edges([list(range(n))]))
    assert 1 <= found.n_clusters < n or found.n_clusters == 1


def test_the_digits_are_ten():
    model = HypergraphClustering(random_state=0).fit(load_digits().data)
    assert model.cluster_count_.n_clusters == model.n_clusters_ == 10
    assert model.cluster_count_.reliable


def test_blobs_are_counted_and_clustered():
    X, y = make_blobs(400, centers=6, n_features=20, random_state=1)
    model = HypergraphClustering("auto", random_state=0).fit(X)
    assert model.n_clusters_ == 6
    assert len({*zip(y, model.labels_, strict=True)}) == 6


def test_where_the_spectrum_does_not_tell_it_says_so():
    X = np.random.default_rng(0).uniform(size=(400, 2))
    with pytest.warns(UserWarning, match=r"does not tell the number of clusters: \d+ is the best"):
        model = HypergraphClustering("auto", random_state=0).fit(X)
    assert model.n_clusters_ == model.cluster_count_.n_clusters
    assert not model.cluster_count_.reliable


def test_no_estimate_where_a_number_is_given():
    X, _ = make_blobs(60, centers=3, n_features=20, random_state=0)
    assert HypergraphClustering(3, random_state=0).fit(X).cluster_count_ is None
    with pytest.raises(ValueError, match='n_clusters must be "auto" or a whole number'):
        HypergraphClustering("many").fit(X)
