"""Clusters refined by linear discriminants."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_circles, make_moons

from enhg import ElasticNetHypergraph, Hypergraph, HypergraphClustering, clustering_accuracy
from enhg.learning import refinement
from enhg.learning.refinement import refine
from enhg.modularity import modularity


@pytest.fixture(scope="module")
def separable():
    """Classes that differ along directions of small variance only."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 60)
    strong, weak = 0.4 * rng.normal(size=(240, 3)), 0.05 * rng.normal(size=(240, 24))
    weak[:, :4] += 0.3 * np.eye(4)[y]
    X = np.hstack([strong, weak])
    return X, y


def neighbors(X, n_members=8):
    """Every sample with its nearest others."""
    distances = np.linalg.norm(X[:, None] - X, axis=2)
    return Hypergraph.from_edges(np.argsort(distances, axis=1)[:, : n_members + 1].tolist())


def with_errors(y, share, seed=0):
    rng = np.random.default_rng(seed)
    wrong = rng.random(len(y)) < share
    return np.where(wrong, rng.integers(0, y.max() + 1, len(y)), y)


def test_separable_clusters_are_refined(separable):
    X, y = separable
    labels = with_errors(y, 0.15)
    refined = refine(neighbors(X), X, labels, 4, np.random.RandomState(0))
    assert refined is not None
    assert (refined == y).mean() > (labels == y).mean() + 0.05


def test_clusters_that_are_not_linear_are_left_as_they_are():
    rng = np.random.default_rng(0)
    angle, radius = rng.uniform(0, 2 * np.pi, 300), np.repeat([1.0, 2.0, 3.0], 100)
    X = np.c_[radius * np.cos(angle), radius * np.sin(angle)] + 0.02 * rng.normal(size=(300, 2))
    y = np.repeat(np.arange(3), 100)
    assert refine(neighbors(X), X, y, 3, np.random.RandomState(0)) is None


def test_right_clusters_stay(separable):
    X, y = make_blobs(150, 20, centers=3, cluster_std=0.3, random_state=0)
    refined = refine(neighbors(X), X, y, 3, np.random.RandomState(0))
    assert refined is None or (refined == y).all()


def test_only_the_automatic_method_refines(separable):
    X, y = separable
    structure = ElasticNetHypergraph(preprocessing="zero_mean")
    automatic = HypergraphClustering(4, structure=structure, random_state=0).fit(X)
    plain = HypergraphClustering(
        4, structure=structure, method=automatic.method_, random_state=0
    ).fit(X)
    assert not plain.refined_
    if automatic.refined_:
        assert clustering_accuracy(y, automatic.labels_) >= clustering_accuracy(y, plain.labels_)


def refined_by(monkeypatch, P, graph, X, y, n_clusters=4):
    """Refine by given probabilities, not diffused."""
    monkeypatch.setattr(refinement, "out_of_fold_probabilities", lambda *_: P)
    monkeypatch.setattr(refinement, "diffuse", lambda theta, F, alpha, tol: F)
    return refine(graph, X, y, n_clusters, np.random.RandomState(0))


@pytest.mark.parametrize("moves", [[0, 0, 0, 0], [1, 1, 3, 3], [1, 2, 3, 3], [1, 0, 2, 0]])
def test_a_cluster_that_would_lose_all_its_samples_keeps_them(monkeypatch, separable, moves):
    """`moves`: the cluster to which the discriminants move each of the four clusters."""
    X, y = separable
    monkeypatch.setattr(refinement, "_MAX_LOSS", 2.0)
    P = np.eye(4)[np.asarray(moves)[y]]
    refined = refined_by(monkeypatch, P, neighbors(X), X, y)
    if refined is None:  # no sample moves
        refined = y
    assert (np.bincount(refined, minlength=4) > 0).all()
    assert any((refined == moves[c])[y == c].all() for c in range(4))


def test_moves_that_the_graph_opposes_are_not_made(monkeypatch, separable):
    """Two cliques of 30: a sample of one clique moves to the other, or one between both."""
    X = separable[0][:61]
    cliques = [[*range(30), 60], [*range(30, 61)]]
    graph, y = Hypergraph.from_edges(cliques), np.repeat([0, 1, 0], [30, 30, 1])
    between, inside = np.where(np.arange(61) == 60, 1, y), np.where(np.arange(61) == 0, 1, y)
    refined = refined_by(monkeypatch, np.eye(2)[between], graph, X, y, 2)
    np.testing.assert_array_equal(refined, between)
    assert refined_by(monkeypatch, np.eye(2)[inside], graph, X, y, 2) is None


def test_moves_at_random_cost_about_ten_times_what_is_allowed(separable):
    _, y = separable
    graph = neighbors(3 * np.eye(4)[y] + 0.1 * np.random.default_rng(0).normal(size=(240, 4)))
    labels = np.where(np.random.default_rng(0).random(240) < 0.05, (y + 1) % 4, y)
    before, after = modularity(graph, y), modularity(graph, labels)
    allowed = refinement._MAX_LOSS * (labels != y).mean() * before
    assert 9 * allowed < before - after < 16 * allowed


def test_renamed_clusters_are_no_moves():
    refined = np.array([1, 1, 1, 0, 0, 2, 2])
    labels = np.array([0, 0, 2, 1, 1, 2, 2])
    np.testing.assert_array_equal(refinement._renamed(refined, labels, 3), [0, 0, 0, 1, 1, 2, 2])


@pytest.mark.parametrize("shape", ["moons", "circles"])
def test_right_clusters_that_are_not_linear_stay(shape):
    X, y = (
        make_moons(500, noise=0.05, random_state=0)
        if shape == "moons"
        else make_circles((400, 200), noise=0.05, factor=0.5, random_state=0)
    )
    model = HypergraphClustering(2, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) == 1
