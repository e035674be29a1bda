"""`preprocessing="auto"`: the choice by modularity."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs

from enhg import ElasticNetHypergraph, HyperedgeRule, Hypergraph, self_representation
from enhg.datasets import load
from enhg.modularity import maximize_modularity, modularity
from enhg.preprocessing import SampleNormalizer, Smoothing, Whitening, preprocessing_name
from enhg.structures import choice
from enhg.structures.choice import choose_preprocessing, preprocessing_scores, sparse_error_weight


def illuminated(n_subjects, n_images, n_features, noise, seed=0):
    """Faint patterns, one a subject, under strong light of few kinds, and noise."""
    rng = np.random.default_rng(seed)
    patterns = rng.normal(size=(n_subjects, n_features))
    lights = rng.normal(size=(3, n_features))
    y = np.repeat(np.arange(n_subjects), n_images)
    X = 20 * rng.normal(size=(len(y), 3)) @ lights + patterns[y]
    return X + noise * rng.normal(size=X.shape)


def test_the_preprocessing_of_the_largest_modularity_is_chosen():
    X = illuminated(10, 20, 60, noise=0.3)
    scores = preprocessing_scores(X)
    assert list(scores) in (["zero_mean", "whiten"], ["zero_mean", "smooth", "whiten"])
    chosen = choose_preprocessing(X)
    assert scores[chosen] == max(scores.values())
    structure = ElasticNetHypergraph().fit(X)
    assert preprocessing_name(structure.preprocessing_) == chosen


def test_faint_patterns_under_strong_light_are_whitened():
    assert choose_preprocessing(illuminated(10, 20, 60, noise=0.3)) == "whiten"


def largest_modularity(hypergraph):
    starts = [maximize_modularity(hypergraph, random_state=seed) for seed in range(5)]
    return max(modularity(hypergraph, labels) for labels in starts)


def test_scores_are_adjusted_modularities_of_hypergraphs():
    X = make_blobs(150, 20, centers=5, cluster_std=0.5, random_state=0)[0]
    samples = SampleNormalizer().fit_transform(X)
    hypergraph = HyperedgeRule("top", 10).build(self_representation(samples).coefficients)
    largest = largest_modularity(hypergraph)
    # every hyperedge with members drawn anew
    rng = np.random.default_rng(0)
    columns = np.eye(150)
    for i, column in enumerate(hypergraph.incidence.toarray().T):
        memberships = np.delete(column, i)
        columns[i] += np.insert(rng.permutation(memberships), i, 0)
    chance = largest_modularity(Hypergraph(columns.T, hypergraph.weights))
    expected = (largest - chance) / (1 - chance)
    assert preprocessing_scores(X)["zero_mean"] == pytest.approx(expected, abs=0.05)


def test_a_hypergraph_without_clusters_has_a_score_near_zero():
    X = np.random.default_rng(0).normal(size=(300, 200))
    samples = SampleNormalizer().fit_transform(X)
    hypergraph = HyperedgeRule("top", 10).build(self_representation(samples).coefficients)
    assert largest_modularity(hypergraph) > 0.3
    assert abs(preprocessing_scores(X)["zero_mean"]) < 0.1


def test_a_hypergraph_in_pieces_does_not_count():
    # Orthogonal pairs: every pair is a component of its own, with the largest modularity possible.
    rng = np.random.default_rng(0)
    pairs = np.repeat(np.eye(40), 2, axis=0) + 0.01 * rng.normal(size=(80, 40))
    assert preprocessing_scores(pairs)["zero_mean"] < 0.2


def test_members_at_random_keep_sizes_centroids_and_numbers_of_hyperedges():
    X = np.random.default_rng(0).normal(size=(40, 20))
    hypergraph = HyperedgeRule("top", 5).build(self_representation(X).coefficients)
    shuffled = choice._with_random_members(hypergraph)
    np.testing.assert_allclose(shuffled.incidence.sum(axis=0), hypergraph.incidence.sum(axis=0))
    assert (shuffled.incidence.toarray().diagonal() >= 1).all()
    np.testing.assert_array_equal(shuffled.weights, hypergraph.weights)
    assert (shuffled.incidence != hypergraph.incidence).nnz > 0


def test_the_largest_score_is_chosen(monkeypatch):
    X = np.random.default_rng(0).normal(size=(120, 20))
    for scores, name in (
        ({"zero_mean": 0.5, "smooth": 0.5, "whiten": 0.4}, "zero_mean"),
        ({"zero_mean": 0.5, "smooth": 0.502, "whiten": 0.4}, "smooth"),
        ({"zero_mean": 0.5, "whiten": 0.6}, "whiten"),
    ):
        monkeypatch.setattr(choice, "preprocessing_scores", lambda _, scores=scores: scores)
        assert choose_preprocessing(X) == name


def test_many_features_are_not_whitened(monkeypatch):
    X = np.random.default_rng(0).normal(size=(12, 8193))
    assert "whiten" not in preprocessing_scores(X)
    faces = illuminated(10, 20, 60, noise=0.3)
    for limit in (60, 59):
        monkeypatch.setattr(choice, "_MAX_WHITENED_FEATURES", limit)
        assert ("whiten" in preprocessing_scores(faces)) == (limit == 60)


def test_errors_that_are_not_sparse_are_no_reason_to_whiten():
    noise = np.random.default_rng(0).normal(size=(120, 400))
    assert "whiten" not in preprocessing_scores(noise)
    faces = illuminated(10, 20, 60, noise=0.3)
    whitened = Whitening().fit_transform(faces)
    errors = self_representation(whitened, error_weight=0.5).sparse_errors
    assert errors.nnz < errors.shape[0] * errors.shape[1] / 2
    assert "whiten" in preprocessing_scores(faces)


def test_samples_without_correlated_features_are_not_smoothed():
    X = np.random.default_rng(0).normal(size=(60, 30))
    assert Smoothing().fit(X).n_steps_ == 0
    assert "smooth" not in preprocessing_scores(X)


@pytest.mark.parametrize(("n_features", "lifted"), [(15, True), (16, False)])
def test_few_features_are_lifted(n_features, lifted):
    X = np.random.default_rng(0).normal(size=(110, n_features))
    assert (choose_preprocessing(X) == "lift") is lifted


@pytest.mark.parametrize("n", [1, 2, 99])
def test_too_few_samples_for_a_choice(n):
    assert choose_preprocessing(load_digits().data[:n]) == "zero_mean"


def test_the_choice_depends_on_the_samples_only():
    X = load_digits().data[:120]
    assert preprocessing_scores(X) == preprocessing_scores(X.copy())
    assert preprocessing_scores(X.tolist()) == preprocessing_scores(X)


def test_sparse_errors_go_with_whitening():
    X = np.random.default_rng(0).normal(size=(30, 20))
    assert sparse_error_weight(Whitening().fit(X)) == 0.5
    assert sparse_error_weight(SampleNormalizer().fit(X)) is None


def test_faces_are_whitened_and_digits_are_not(data_folder):
    faces = load("yale-b", data_folder).first_classes(10)
    digits = load("usps", data_folder).first_classes(4)
    assert choose_preprocessing(faces.X) == "whiten"
    assert choose_preprocessing(digits.X) != "whiten"
