"""Accuracy of the defaults on faces and digits."""

import numpy as np
import pytest
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score, normalized_mutual_info_score
from sklearn.neighbors import KNeighborsClassifier

from enhg import HypergraphClassifier, HypergraphClustering, clustering_accuracy
from enhg.datasets import load


@pytest.fixture(scope="module")
def faces(data_folder):
    return load("yale-b", data_folder)


@pytest.fixture(scope="module")
def clustered(faces):
    """All 38 subjects of Extended Yale B."""
    return HypergraphClustering(38, random_state=0).fit(faces.X)


@pytest.fixture(scope="module")
def digits():
    return load("digits")


@pytest.fixture(scope="module")
def clustered_digits(digits):
    return HypergraphClustering(10, random_state=0).fit(digits.X)


def test_ten_subjects(faces):
    ten = faces.first_classes(10)
    labels = HypergraphClustering(10, random_state=0).fit_predict(ten.X)
    assert clustering_accuracy(ten.y, labels) >= 0.93
    assert normalized_mutual_info_score(ten.y, labels, average_method="geometric") >= 0.92


def test_all_subjects(faces, clustered):
    assert clustering_accuracy(faces.y, clustered.labels_) >= 0.88
    assert clustered.representation_.certificate.max() <= 1e-4
    assert clustered.spectrum_.residuals.max() <= 1e-6


def unlabeled_accuracy(y, labels, given):
    return np.mean((labels == y)[~given])


def accuracy_from_a_tenth(data, hypergraph, draws=3):
    """Mean accuracy on the rest, with a tenth of every class labeled at random."""
    scores = []
    for seed in range(draws):
        rng = np.random.RandomState(seed)
        given = np.zeros(len(data.y), bool)
        for label in np.unique(data.y):
            members = rng.permutation(np.flatnonzero(data.y == label))
            given[members[: round(0.1 * len(members))]] = True
        model = HypergraphClassifier(structure=hypergraph).fit(data.X, np.where(given, data.y, -1))
        scores.append(unlabeled_accuracy(data.y, model.transduction_, given))
    return np.mean(scores)


def test_all_subjects_from_a_tenth_of_the_labels(faces, clustered):
    assert accuracy_from_a_tenth(faces, clustered.graph_) >= 0.91


def test_digits(digits, clustered_digits):
    assert clustering_accuracy(digits.y, clustered_digits.labels_) >= 0.9


def test_digits_from_a_tenth_of_the_labels(digits, clustered_digits):
    assert accuracy_from_a_tenth(digits, clustered_digits.graph_) >= 0.95


def test_new_digits(digits):
    """Unlabeled samples help: more accurate than the nearest labeled neighbor."""
    ahead = []
    for seed in range(3):
        order = np.random.RandomState(seed).permutation(len(digits.y))
        some, new = digits.taken(order[:600]), digits.taken(order[600:])
        known = np.arange(600) % 5 == 0
        model = HypergraphClassifier().fit(some.X, np.where(known, some.y, -1))
        nearest = KNeighborsClassifier(1).fit(some.X[known], some.y[known])
        ahead.append(model.score(new.X, new.y) - nearest.score(new.X, new.y))
    assert np.mean(ahead) > 0.01


# --- counting, outliers, new samples and few labels --------------------------


def test_ten_subjects_are_counted(faces):
    model = HypergraphClustering("auto", random_state=0).fit(faces.first_classes(10).X)
    assert abs(model.n_clusters_ - 10) <= 1
    assert model.cluster_count_.reliable


def test_corrupted_faces_have_the_largest_outlier_scores(faces):
    ten = faces.first_classes(10)
    rng = np.random.default_rng(0)
    X = ten.X.astype(float)
    bad = rng.permutation(len(X)) < len(X) // 10
    for at, row in enumerate(np.flatnonzero(bad)):
        image = X[row].reshape(ten.image_shape)
        top, left = rng.integers(0, 17, 2)
        if at % 2:
            image[:] = rng.uniform(X.min(), X.max(), image.shape)
        else:
            image[top : top + 16, left : left + 16] = rng.uniform(X.min(), X.max(), (16, 16))
    scores = HypergraphClustering(10, random_state=0).fit(X).outlier_scores_
    forest = -IsolationForest(random_state=0).fit(X).score_samples(X)
    assert average_precision_score(bad, scores) > 0.95
    assert average_precision_score(bad, scores) > average_precision_score(bad, forest) + 0.1


def test_new_faces_are_clustered_nearly_as_well_as_those_of_fit(faces):
    half = np.random.default_rng(0).permutation(len(faces.y)) % 2 == 0
    model = HypergraphClustering(38, random_state=0).fit(faces.X[half])
    assert (model.predict(faces.X[half]) == model.labels_).mean() > 0.97
    known = clustering_accuracy(faces.y[half], model.labels_)
    assert clustering_accuracy(faces.y[~half], model.predict(faces.X[~half])) > known - 0.04


def test_one_label_a_subject(faces, clustered):
    """Where plain diffusion far from few labels is flat, Poisson learning is not."""
    rng = np.random.default_rng(0)
    rows = [rng.choice(np.flatnonzero(faces.y == label)) for label in np.unique(faces.y)]
    given = np.full(len(faces.y), -1)
    given[rows] = faces.y[rows]
    hidden = given == -1

    def accuracy(**options):
        model = HypergraphClassifier(structure=clustered.graph_, **options).fit(faces.X, given)
        return unlabeled_accuracy(faces.y, model.transduction_, ~hidden)

    assert accuracy() > 0.85
    assert accuracy() > accuracy(method="diffusion", class_balance="none", alpha=0.998) + 0.03


def test_faces_to_label_are_chosen_better_than_at_random(faces, clustered):
    rng = np.random.default_rng(0)

    def accuracy(rows):
        given = np.full(len(faces.y), -1)
        given[rows] = faces.y[rows]
        model = HypergraphClassifier(structure=clustered.graph_).fit(faces.X, given)
        return unlabeled_accuracy(faces.y, model.transduction_, given != -1)

    random = [accuracy(rng.permutation(len(faces.y))[:76]) for _ in range(3)]
    assert accuracy(clustered.suggest(76)) > max(random) + 0.05
