"""The choice among partitions."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from enhg import Graph, clustering_accuracy
from enhg.learning import partitions
from enhg.learning.partitions import choose_partition, keep_together
from enhg.modularity import Steps, modularity, step_information


def linked_blocks(seed, linked=0.25, halves=0.2):
    """Four blocks of 40, two of them linked, and the last one of two halves."""
    rng = np.random.default_rng(seed)
    part = np.repeat(range(5), [40, 40, 40, 20, 20])
    density = np.where(np.eye(5), 0.4, 0.02)
    density[[0, 1], [1, 0]], density[[3, 4], [4, 3]] = linked, halves
    upper = np.triu(rng.random((160, 160)) < density[part][:, part], 1).astype(float)
    partitions = {
        "blocks": np.array([0, 1, 2, 3, 3])[part],
        "joined": np.array([0, 0, 1, 2, 3])[part],
    }
    return Graph(sparse.csr_array(upper + upper.T)), partitions


def test_a_clearly_larger_modularity_is_chosen():
    graph, partitions = linked_blocks(0, linked=0.05)
    choice = choose_partition(graph, partitions)
    assert choice.method == "blocks"
    np.testing.assert_array_equal(choice.labels, partitions["blocks"])
    for name, labels in partitions.items():
        assert choice.scores[name] == pytest.approx(modularity(graph, labels))
        assert choice.information[name] == pytest.approx(step_information(graph, labels))


@pytest.mark.parametrize(("seed", "errors", "chosen"), [(1, 0.9, "blocks"), (3, 1.3, "joined")])
def test_within_one_standard_error_the_information_decides(seed, errors, chosen):
    graph, partitions = linked_blocks(seed)
    choice = choose_partition(graph, partitions)
    gain = choice.scores["joined"] - choice.scores["blocks"]
    summands = [Steps.of_partition(graph, labels).summands() for labels in partitions.values()]
    assert gain / (np.sqrt(160) * np.subtract(*summands).std()) == pytest.approx(errors, abs=0.05)
    assert choice.information["blocks"] > choice.information["joined"]
    assert choice.method == chosen


def test_the_standard_error_is_of_the_size_of_that_of_the_jackknife():
    """Without a vertex, its row and its column of links are missing; a summand has its row.

    If rows and columns were the same, the jackknife would have twice the error.
    """
    graph, partitions = linked_blocks(0)
    summands = [Steps.of_partition(graph, labels).summands() for labels in partitions.values()]

    def difference(rows):
        part = graph.subhypergraph(rows)
        return np.subtract(*(modularity(part, labels[rows]) for labels in partitions.values()))

    left_out = np.array([difference(np.arange(160) != v) for v in range(160)])
    by_jackknife = np.sqrt(159 / 160 * ((left_out - left_out.mean()) ** 2).sum())
    error = np.sqrt(160) * np.subtract(*summands).std()
    assert 1 < by_jackknife / error < 2


@pytest.mark.parametrize("seed", range(5))
def test_of_equal_partitions_the_first_is_chosen(seed):
    """However their clusters are numbered, which changes the rounding of sums over clusters."""
    rng = np.random.default_rng(seed)
    upper = np.triu(rng.random((60, 60)) * (rng.random((60, 60)) < 0.2), 1)
    graph, labels = Graph(sparse.csr_array(upper + upper.T)), rng.integers(6, size=60)
    equal = {str(number): rng.permutation(6)[labels] for number in range(8)}
    choice = choose_partition(graph, equal)
    assert choice.method == "0"
    np.testing.assert_array_equal(choice.labels, equal["0"])


@pytest.mark.parametrize("k", [4, 40])
def test_k_means_of_many_points(monkeypatch, k):
    """Centers of some of the points lead to clusters as compact as initializations on all."""
    points, classes = make_blobs(3000, 10, centers=k, cluster_std=1.5, random_state=0)
    whole = KMeans(k, n_init=30, random_state=0).fit(points)
    np.testing.assert_array_equal(partitions._k_means(points, k, 30, 0), whole.labels_)
    monkeypatch.setattr(partitions, "_MIN_INITIAL_POINTS", 500)
    labels = partitions._k_means(points, k, 30, 0)
    centers = np.array([points[labels == cluster].mean(axis=0) for cluster in range(k)])
    assert ((points - centers[labels]) ** 2).sum() <= 1.01 * whole.inertia_
    assert clustering_accuracy(classes, labels) > 0.99
    assert len(np.unique(labels)) == k


@pytest.mark.parametrize("seed", range(5))
def test_copies_kept_together_empty_no_cluster(seed):
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(0, 30, 5), 5)
    labels = rng.permutation(np.r_[:6, np.zeros(24, int)])  # one member in each cluster but 0
    kept = keep_together(labels, groups)
    assert set(kept) == set(range(6))
    assert (kept == kept[groups]).all()


def test_fewer_groups_of_copies_than_clusters():
    kept = keep_together(np.array([0, 1, 2, 2]), np.array([0, 0, 2, 2]))
    assert kept.tolist() == [0, 0, 2, 2]
