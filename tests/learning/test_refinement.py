"""Clusters refined by linear discriminants."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from enhg import ElasticNetHypergraph, Hypergraph, HypergraphClustering, clustering_accuracy
from enhg.learning import refinement
from enhg.learning.refinement import refine


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


def test_halves_hold_half_of_every_cluster():
    labels = np.repeat([0, 1, 2], [40, 11, 1])
    half = refinement._halves(labels, np.random.RandomState(0))
    assert [half[labels == c].sum() for c in (0, 1)] in ([20, 5], [20, 6])
    other = refinement._halves(labels, np.random.RandomState(1))
    assert (half != other).any()


def test_the_confident_part_of_every_cluster():
    X, y = make_blobs([50, 20, 1], 20, cluster_std=3.0, random_state=0)
    graph = neighbors(X)
    chosen = refinement._confident(graph, y, 3)
    assert np.bincount(y[chosen]).tolist() == [40, 16, 1]
    stay = refinement.diffuse(graph.theta, np.eye(3)[y], 0.9)
    confidence = stay[np.arange(len(y)), y] / stay.sum(axis=1)
    left_out = np.setdiff1d(np.flatnonzero(y == 0), chosen)
    assert confidence[left_out].max() <= confidence[chosen[y[chosen] == 0]].min() + 1e-6


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


@pytest.mark.parametrize("moves", [[0, 0, 0, 0], [1, 1, 3, 3], [1, 2, 3, 3], [1, 0, 2, 0]])
def test_a_cluster_that_would_lose_all_its_samples_keeps_them(monkeypatch, separable, moves):
    """`moves`: the cluster to which the discriminants move each of the four clusters."""
    X, y = separable

    class Mover:
        def probabilities(self, features):
            return np.eye(4)[np.asarray(moves)[y]]

    monkeypatch.setattr(refinement, "fit_discriminants", lambda *_: Mover())
    monkeypatch.setattr(refinement, "_held_out_errors", lambda *_: (0, 0))
    monkeypatch.setattr(refinement, "diffuse", lambda theta, F, alpha, tol: F)
    refined = refine(neighbors(X), X, y, 4, np.random.RandomState(0))
    assert (np.bincount(refined, minlength=4) > 0).all()
    assert any((refined == moves[c])[y == c].all() for c in range(4))


def test_the_errors_allowed_are_relative_to_those_of_diffusion(monkeypatch, separable):
    X, y = separable
    for errors, is_refined in (((0, 0), True), ((1, 0), False), ((7, 4), True), ((8, 4), False)):
        monkeypatch.setattr(refinement, "_held_out_errors", lambda *_, e=errors: e)
        refined = refine(neighbors(X), X, y, 4, np.random.RandomState(0))
        assert (refined is not None) == is_refined
