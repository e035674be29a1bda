"""`preprocessing="auto"`: the choice by modularity."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs

from enhg import ElasticNetHypergraph, HyperedgeRule, self_representation
from enhg.datasets import load
from enhg.modularity import maximize_modularity, modularity
from enhg.preprocessing import SampleNormalizer, Smoothing, Whitening, preprocessing_name
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


def test_scores_are_modularities_of_hypergraphs():
    X = make_blobs(150, 20, centers=5, cluster_std=0.5, random_state=0)[0]
    samples = SampleNormalizer().fit_transform(X)
    hypergraph = HyperedgeRule("top", 10).build(self_representation(samples).coefficients)
    largest = max(
        modularity(hypergraph, maximize_modularity(hypergraph, random_state=seed))
        for seed in range(5)
    )
    assert preprocessing_scores(X)["zero_mean"] == pytest.approx(largest)


def test_a_hypergraph_in_pieces_does_not_count():
    # Orthogonal pairs: every pair is a component of its own, with the largest modularity possible.
    rng = np.random.default_rng(0)
    pairs = np.repeat(np.eye(40), 2, axis=0) + 0.01 * rng.normal(size=(80, 40))
    assert preprocessing_scores(pairs)["zero_mean"] < 0.2


def test_many_features_are_not_whitened():
    X = np.random.default_rng(0).normal(size=(12, 8193))
    assert "whiten" not in preprocessing_scores(X)
    assert "whiten" in preprocessing_scores(X[:, :100])


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
