"""The estimate of the number of clusters."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs

from enhg import ElasticNetHypergraph, Graph, Hypergraph, HypergraphClustering
from enhg.exceptions import InputError
from enhg.learning import cluster_count, spectral
from enhg.learning.cluster_count import (
    ClusterCount,
    _combine,
    count_clusters,
    eigengap_scores,
    estimate_clusters,
)
from enhg.learning.plateaus import Plateaus


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
    count = count_clusters(blocks([30] * k, between=between))
    assert count.n_clusters == k
    assert count.reliable


def test_eigengap_scores_are_those_of_the_definition():
    graph = blocks([20, 25, 30], between=0.05)
    count = count_clusters(graph, max_clusters=6)
    values = np.sort(np.linalg.eigvalsh(graph.theta_dense()))[::-1][:7]
    np.testing.assert_allclose(count.eigenvalues, values, atol=1e-6)
    mu = np.maximum(1 - values, 1 / 75)
    expected = np.arange(1, 7) * np.log(mu[1:] / mu[:-1])
    np.testing.assert_allclose(eigengap_scores(count.eigenvalues, 75), expected, atol=1e-4)
    assert len(count.scores) == 6


def test_the_estimate_has_the_largest_score_and_the_runner_up_is_another_peak():
    count = count_clusters(blocks([30] * 5, between=0.05), random_state=0)
    assert count.n_clusters == np.argmax(count.scores) + 1
    peak = count.scores[count.runner_up - 1]
    assert count.runner_up != count.n_clusters
    assert peak <= count.scores[count.n_clusters - 1]
    assert peak >= count.scores[count.runner_up - 2]


def test_groups_of_clusters_are_counted_at_both_ends():
    """Three groups of three: nine clusters, then three as the links within a group grow."""
    block = np.repeat(np.arange(9), 15)
    group = block // 3
    noise = np.random.default_rng(0).uniform(0.5, 1.5, (135, 135))
    noise = (noise + noise.T) / 2
    estimates = []
    for sibling in (0.001, 0.05, 0.9):
        weights = np.where(group[:, None] == group, sibling, 0.001)
        weights[block[:, None] == block] = 1
        count = count_clusters(Graph(weights * noise), random_state=0)
        estimates.append(count.n_clusters)
        assert count.n_clusters in (3, 9)
    assert (estimates[0], estimates[-1]) == (9, 3)


@pytest.mark.parametrize("shape", [(400, 30), (300, 10)])
@pytest.mark.parametrize("draw", ["normal", "uniform"])
def test_one_cloud_is_one_cluster(shape, draw):
    X = getattr(np.random.default_rng(0), draw)(size=shape)
    count = count_clusters(ElasticNetHypergraph().fit(X).graph_, random_state=0)
    assert (count.n_clusters, count.by_eigengap, count.by_modularity) == (1, 1, 1)
    assert not count.reliable


def test_one_is_an_estimate_only_where_both_agree():
    """Forty people of ten images: the eigengap is largest at 1, but partitions are stable."""
    counts = np.array([[1] * 5, [20] * 5, [21] * 5])
    counts = np.vstack([counts[[0]].repeat(8, axis=0), counts[[1]].repeat(12, axis=0)])
    eigenvalues = np.array([1, 0.4, 0.35, 0.33, 0.3])
    stable = Plateaus(counts, np.full(20, 0.9), 400)
    unstable = Plateaus(counts, np.full(20, 0.5), 400)
    assert _combine(eigenvalues, unstable, None).n_clusters == 1
    count = _combine(eigenvalues, stable, None)
    assert (count.n_clusters, count.by_eigengap, count.reliable) == (20, 1, False)
    clear = np.array([1, 1, 1, 0.2, 0.15])
    assert _combine(clear, unstable, None).n_clusters > 1


def gaussians(k, per_cluster, seed=0):
    rng = np.random.default_rng(seed)
    centers = 10 * rng.normal(size=(k, 20))
    return np.vstack([center + rng.normal(size=(per_cluster, 20)) for center in centers])


@pytest.mark.parametrize(("k", "per_cluster"), [(2, 80), (5, 60), (20, 30), (40, 25)])
def test_separated_gaussians_are_counted(k, per_cluster):
    graph = ElasticNetHypergraph().fit(gaussians(k, per_cluster)).graph_
    count = count_clusters(graph, random_state=0)
    assert (count.n_clusters, count.reliable) == (k, True)
    assert (count.by_eigengap, count.by_modularity) == (k, k)
    assert count.stability > 0.99


def test_order_and_copies_of_the_samples_do_not_matter():
    X = gaussians(5, 60)
    order = np.random.default_rng(1).permutation(len(X))
    for samples in (X[order], np.vstack([X, X])):
        graph = ElasticNetHypergraph().fit(samples).graph_
        assert count_clusters(graph, random_state=0).n_clusters == 5


def test_same_seed_same_estimate():
    graph = blocks([25, 30, 35], between=0.1)
    first, second = (count_clusters(graph, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first.scores, second.scores)
    assert first.stability == second.stability


def test_large_dense_graphs_are_counted_by_the_eigengap(monkeypatch):
    monkeypatch.setattr(cluster_count, "MAX_STORED_VERTICES", 50)
    count = count_clusters(blocks([30] * 3, between=0.01))
    assert (count.n_clusters, count.by_eigengap, count.by_modularity) == (3, 3, 0)
    assert not count.reliable
    assert "modularity" not in count.describe()


def test_the_description_names_both_estimates():
    count = ClusterCount(4, 6, False, np.ones(9), np.ones(10), by_eigengap=6, by_modularity=3)
    assert count.describe() == (
        "the estimate of the number of clusters is not reliable: 4, next peak 6; the eigenvalues "
        "alone give 6, modularity alone 3"
    )


def test_the_description_where_no_other_number_was_scored():
    count = ClusterCount(1, 1, False, np.ones(1), np.ones(2), by_eigengap=1, by_modularity=0)
    assert count.describe() == (
        "the estimate of the number of clusters is not reliable: 1; the eigenvalues alone give 1"
    )


def test_the_description_where_no_number_stands_out():
    count = ClusterCount(4, 6, False, np.ones(9), np.ones(10), by_eigengap=1, by_modularity=1)
    assert count.describe().endswith(
        "not reliable: 4, next peak 6; no number of clusters stands out"
    )


def test_a_part_that_is_nearly_separate_is_no_evidence_of_one_cluster():
    """Below 0.1, 1 − λ₂ leaves room for two clusters, whatever the other witnesses say."""
    plateaus = SimpleNamespace(
        scores=lambda most: np.array([0.0, 0.2, 0.1]),
        largest_stability=lambda: 0.5,
        stability_of=lambda k: 0.5,
        n_vertices=400,
    )
    for gap, k in ((0.099, 2), (0.101, 1)):
        eigenvalues = np.array([1, 1 - gap, 0.85, 0.8])
        assert cluster_count._combine(eigenvalues, plateaus, None).n_clusters == k


def test_many_small_groups_are_not_beyond_what_is_considered():
    rng = np.random.default_rng(0)
    X = np.vstack(
        [center + 0.1 * rng.normal(size=(10, 60)) for center in rng.normal(size=(30, 60))]
    )
    assert count_clusters(ElasticNetHypergraph().fit(X).graph_).n_clusters == 30


def test_an_estimate_that_subsets_do_not_confirm_is_not_reliable():
    everything = load_digits().data
    for seed in range(2):
        rows = np.random.default_rng(seed).permutation(len(everything))[:900]
        count = count_clusters(ElasticNetHypergraph().fit(everything[rows]).graph_, random_state=0)
        assert abs(count.n_clusters - 10) <= 1 or not count.reliable


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
    count = count_clusters(Graph(joined))
    assert (count.n_clusters, count.reliable) == (4, True)


def test_nothing_but_small_components():
    alone = Hypergraph.from_edges([[i] for i in range(50)])
    assert not count_clusters(alone).reliable


@pytest.mark.parametrize("n", [2, 3])
def test_a_few_samples(n):
    count = count_clusters(Hypergraph.from_edges([list(range(n))]))
    assert 1 <= count.n_clusters < n
    assert not count.reliable


def test_the_digits_are_ten():
    model = HypergraphClustering(random_state=0).fit(load_digits().data)
    assert model.cluster_count_.n_clusters == model.n_clusters_ == 10
    assert model.cluster_count_.reliable


def test_blobs_are_counted_and_clustered():
    X, y = make_blobs(400, centers=6, n_features=20, random_state=1)
    model = HypergraphClustering("auto", random_state=0).fit(X)
    assert model.n_clusters_ == 6
    assert len({*zip(y, model.labels_, strict=True)}) == 6


def test_an_unreliable_estimate_is_reported():
    X = np.random.default_rng(0).uniform(size=(400, 2))
    with pytest.warns(UserWarning, match=r"number of clusters is not reliable: \d+, next peak"):
        model = HypergraphClustering("auto", random_state=0).fit(X)
    assert model.n_clusters_ == model.cluster_count_.n_clusters
    assert not model.cluster_count_.reliable


def test_no_estimate_where_a_number_is_given():
    X, _ = make_blobs(60, centers=3, n_features=20, random_state=0)
    assert HypergraphClustering(3, random_state=0).fit(X).cluster_count_ is None
    with pytest.raises(InputError, match=r'n_clusters must be a whole number .* or "auto", got'):
        HypergraphClustering("many").fit(X)


@pytest.mark.parametrize("max_clusters", [0, -1, 2.0, "5"])
def test_impossible_numbers(max_clusters):
    with pytest.raises(InputError, match="max_clusters must be a whole number of at least 1, got"):
        count_clusters(Hypergraph(np.eye(3)), max_clusters)


# --- one spectrum for the estimate and the clustering ---------------------------------------------


def with_strays(graph, pairs):
    """A graph and pairs of vertices apart from it."""
    n = graph.n_vertices
    joined = np.zeros((n + 2 * pairs, n + 2 * pairs))
    joined[:n, :n] = graph.adjacency
    for row in range(n, n + 2 * pairs, 2):
        joined[row, row + 1] = joined[row + 1, row] = 1
    return Graph(joined)


def test_the_estimate_hands_on_its_eigenpairs():
    graph = with_strays(blocks([60] * 4, between=0.002), 15)
    count, spectrum, kept = estimate_clusters(graph, random_state=0)
    assert kept.tolist() == [True] * 240 + [False] * 30
    part = graph.subhypergraph(kept)
    np.testing.assert_array_equal(spectrum.eigenvalues, count.eigenvalues)
    images = part.theta @ spectrum.eigenvectors
    np.testing.assert_allclose(images, spectrum.eigenvectors * spectrum.eigenvalues, atol=1e-6)


@pytest.fixture
def solved(monkeypatch):
    """For every eigenproblem its number of vertices, of known eigenpairs and of new ones."""
    problems = []
    original = spectral._solve

    def spy(graph, deflation, count, *args):
        known = deflation.components.shape[1] + len(deflation.eigenvalues)
        problems.append((graph.n_vertices, known, count))
        return original(graph, deflation, count, *args)

    monkeypatch.setattr(spectral, "_solve", spy)
    return problems


@pytest.mark.parametrize("method", ["auto", "spectral", "resolvent"])
@pytest.mark.parametrize("strays", [0, 15])
def test_no_eigenvector_of_the_whole_graph_is_solved_for_twice(solved, method, strays):
    graph = with_strays(blocks([60] * 4, between=0.002), strays)
    model = HypergraphClustering(structure=graph, method=method, random_state=0)
    if strays:
        with pytest.warns(UserWarning, match=r"too small for a cluster \(30 of "):
            model.fit(np.zeros((graph.n_vertices, 1)))
    else:
        model.fit(np.zeros((graph.n_vertices, 1)))
    assert model.n_clusters_ == 4
    # Subsets of 80 % of the vertices, on which the estimate is confirmed, are smaller graphs.
    whole = [(known, count) for n, known, count in solved if n == 240]
    assert whole[0] == (1, 15)  # √240 + 1 eigenpairs, one of them of the component
    assert whole[1:] == ([] if method == "spectral" else [(16, 4)])
    assert len(model.spectrum_.eigenvalues) == (4 if method == "spectral" else 20)


def test_the_spectrum_of_an_automatic_clustering_is_that_of_a_dense_solver():
    graph = ElasticNetHypergraph().fit(load_digits().data[:600]).graph_
    with pytest.warns(UserWarning, match="not reliable"):
        model = HypergraphClustering(structure=graph, random_state=0).fit(np.zeros((600, 1)))
    assert model.cluster_count_.n_clusters >= 5  # more eigenvectors than the estimate needs
    values = np.sort(np.linalg.eigvalsh(graph.theta_dense()))[::-1]
    eigenvalues = model.spectrum_.eigenvalues
    assert len(eigenvalues) == 5 * model.n_clusters_ > len(model.cluster_count_.eigenvalues)
    np.testing.assert_allclose(eigenvalues, values[: len(eigenvalues)], atol=1e-9)
    residuals = (
        graph.theta @ model.spectrum_.eigenvectors - model.spectrum_.eigenvectors * eigenvalues
    )
    assert np.linalg.norm(residuals, axis=0).max() <= 1e-6


def test_automatic_clustering_leaves_out_the_components_that_the_estimate_leaves_out():
    """Of √n/2 vertices, not of a tenth of a cluster: here 8 pairs and a component of 7."""
    seven = np.ones((7, 7)) - np.eye(7)
    graph = with_strays(blocks([60] * 2, between=0.002), 8)
    n = graph.n_vertices
    joined = np.zeros((n + 7, n + 7))
    joined[:n, :n], joined[n:, n:] = graph.adjacency, seven
    graph = Graph(joined)
    model = HypergraphClustering(structure=graph, random_state=0)
    with pytest.warns(UserWarning, match=r"too small for a cluster \(16 of "):
        model.fit(np.zeros((n + 7, 1)))
    assert np.flatnonzero(model.confidence_ == 0).tolist() == list(range(120, 136))
    assert not model.spectrum_.eigenvectors[120:136].any()
    assert model.spectrum_.eigenvectors[136:].any()


def test_one_cluster_is_estimated_with_confidence():
    """A single cluster has no border, even beside components that are left out."""
    graph = with_strays(blocks([100]), 3)
    with pytest.warns(UserWarning, match="not reliable: 1, next peak"):
        model = HypergraphClustering(structure=graph, random_state=0).fit(np.zeros((106, 1)))
    assert model.n_clusters_ == 1
    np.testing.assert_array_equal(model.labels_, 0)
    np.testing.assert_array_equal(model.confidence_, 1)


# --- states ---------------------------------------------------------------------------------------


def test_state_of_an_estimate():
    count = count_clusters(blocks([30] * 3, between=0.01))
    again = ClusterCount.from_state(count.to_state())
    assert (again.n_clusters, again.runner_up, again.reliable) == (3, count.runner_up, True)
    assert (again.by_eigengap, again.by_modularity) == (count.by_eigengap, count.by_modularity)
    assert again.stability == count.stability
    np.testing.assert_array_equal(again.scores, count.scores)
    np.testing.assert_array_equal(again.eigenvalues, count.eigenvalues)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_clusters", "three"),
        ("n_clusters", 0),
        ("n_clusters", 2.0),
        ("n_clusters", True),
        ("runner_up", 10**6),
        ("reliable", 1),
        ("by_eigengap", 0),
        ("by_modularity", -1),
        ("stability", 2.0),
        ("scores", np.ones(2)),
        ("scores", np.full(9, "text")),
        ("eigenvalues", np.array([np.nan])),
    ],
)
def test_states_that_are_no_estimates(name, value):
    state = count_clusters(blocks([30] * 3, between=0.01)).to_state()
    with pytest.raises(InputError, match="does not fit"):
        ClusterCount.from_state(state | {name: value})
    del state[name]
    with pytest.raises(InputError, match=f"{name} is missing"):
        ClusterCount.from_state(state)


@pytest.mark.parametrize("wrong", ["a", None, np.eye(3), Hypergraph])
def test_what_is_no_graph_is_refused(wrong):
    with pytest.raises(InputError, match="graph must be a Hypergraph or a Graph, got") as caught:
        count_clusters(wrong)
    assert caught.value.parameter == "graph"


def test_wrong_random_state_is_refused():
    with pytest.raises(InputError, match="random_state must be None, a whole number"):
        count_clusters(Hypergraph(np.eye(3)), random_state=-1)
