"""Boundary scores, low confidence and outliers."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from enhg import (
    ElasticNetHypergraph,
    Graph,
    Hypergraph,
    HypergraphClassifier,
    HypergraphClustering,
)
from enhg.learning.scores import (
    boundary_scores,
    is_outlier,
    low_confidence,
    outlier_threshold,
)

RANDOM = np.random.default_rng(0)


def random_graph(kind):
    h = RANDOM.uniform(size=(12, 8)) * (RANDOM.uniform(size=(12, 8)) < 0.4)
    h[np.arange(12), np.arange(12) % 8] = 1
    return Hypergraph(h) if kind is Hypergraph else Graph(h @ h.T)


@pytest.mark.parametrize("kind", [Hypergraph, Graph])
def test_boundary_scores_are_those_of_the_transition_matrix(kind):
    graph = random_graph(kind)
    codes = np.arange(12) % 3
    roots = np.sqrt(graph.vertex_degrees)
    P = graph.theta_dense() / roots[:, None] * roots
    np.testing.assert_allclose(P.sum(axis=1), 1)
    expected = (P * (codes[:, None] != codes)).sum(axis=1)
    np.testing.assert_allclose(boundary_scores(graph, codes, 3), expected, atol=1e-12)


def test_one_group_has_no_boundary():
    graph = random_graph(Hypergraph)
    np.testing.assert_allclose(boundary_scores(graph, np.zeros(12, int), 1), 0, atol=1e-12)


@pytest.mark.parametrize(("n", "count"), [(2, 1), (20, 1), (21, 2), (400, 20), (5000, 100)])
def test_low_confidence_is_a_share_of_the_smallest(n, count):
    confidence = np.random.default_rng(0).permutation(np.linspace(0.1, 0.9, n))
    low = low_confidence(confidence, np.ones(n, bool))
    assert low.sum() == count
    assert confidence[low].max() < confidence[~low].min()
    # of a scale of its own: near 1/n_classes if few labels are given
    np.testing.assert_array_equal(low_confidence(0.1 + confidence / 10, np.ones(n, bool)), low)


def test_low_confidence_is_of_predicted_labels():
    confidence = np.array([0.0, 0.1, 0.2, 0.9])
    assert low_confidence(confidence, confidence > 0.15).tolist() == [False, False, True, False]
    assert not low_confidence(confidence, np.zeros(4, bool)).any()


def test_equal_confidence_is_not_low():
    everything = np.ones(40, bool)
    assert not low_confidence(1 - 1e-9 * np.arange(40), everything).any()
    assert not low_confidence(np.zeros(40), everything).any()
    assert low_confidence(np.repeat([0.0, 1.0], [30, 10]), everything).sum() == 2


@pytest.mark.parametrize("labels_per_class", [1, 2, 5])
def test_errors_are_more_frequent_where_confidence_is_low(labels_per_class):
    X, y = load_digits(return_X_y=True)
    given = np.full(len(y), -1)
    for digit in range(10):
        rows = np.flatnonzero(y == digit)[:labels_per_class]
        given[rows] = digit
    model = HypergraphClassifier().fit(X, given)
    predicted, wrong = given == -1, model.transduction_ != y
    low = low_confidence(model.confidence_, predicted)
    assert low.sum() == np.ceil(0.05 * predicted.sum())
    assert wrong[low].mean() > 3 * wrong[predicted & ~low].mean()


def test_outlier_threshold_is_that_of_the_median_absolute_deviation():
    scores = np.linspace(0.1, 0.2, 11)
    assert outlier_threshold(scores) == pytest.approx(0.15 + 4 * 1.4826 * 0.03)
    assert is_outlier(np.append(scores, 0.4)).tolist() == [False] * 11 + [True]


@pytest.mark.parametrize(
    ("scores", "threshold"), [([0.01] * 5, 0.05), ([0.9] * 5, 0.5), ([0.0] * 5, 0.5), ([], 0.5)]
)
def test_bounds_of_the_outlier_threshold(scores, threshold):
    assert outlier_threshold(np.array(scores)) == threshold


def test_copies_do_not_change_the_threshold():
    scores = np.linspace(0.1, 0.2, 11)
    assert outlier_threshold(np.append(scores, np.zeros(50))) == outlier_threshold(scores)


def test_copies_do_not_make_outliers_of_others(union_of_subspaces):
    X, _ = union_of_subspaces(2, per_subspace=60)
    X += 0.3 * np.random.default_rng(0).normal(size=X.shape)
    alone = is_outlier(HypergraphClustering(4, random_state=0).fit(X).outlier_scores_)
    twice = np.vstack([X, X[:150]])
    scores = HypergraphClustering(4, random_state=0).fit(twice).outlier_scores_
    assert is_outlier(scores).sum() <= alone.sum() + 5
    assert scores[:150].max() < 1e-3


def test_boundary_scores_of_digits_are_larger_between_classes():
    X, y = load_digits(n_class=3, return_X_y=True)
    graph = ElasticNetHypergraph().fit(X).graph_
    shuffled = np.random.default_rng(0).permutation(y)
    assert boundary_scores(graph, y, 3).mean() < 0.1
    assert boundary_scores(graph, shuffled, 3).mean() > 0.4
