"""With its defaults the library must do well on faces and digits alike."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from enhg import (
    HypergraphClassifier,
    HypergraphClustering,
    clustering_accuracy,
    normalized_mutual_information,
    unlabelled_accuracy,
)
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
    assert normalized_mutual_information(ten.y, labels) >= 0.92


def test_all_subjects(faces, clustered):
    assert clustering_accuracy(faces.y, clustered.labels_) >= 0.88
    assert clustered.representation_.certificate.max() <= 1e-4
    assert clustered.spectrum_.residuals.max() <= 1e-6


def accuracy_from_a_tenth(data, hypergraph, draws=3):
    """Mean accuracy on the rest, with a tenth of every class labelled at random."""
    scores = []
    for seed in range(draws):
        rng = np.random.RandomState(seed)
        given = np.zeros(len(data.y), bool)
        for label in np.unique(data.y):
            members = rng.permutation(np.flatnonzero(data.y == label))
            given[members[: round(0.1 * len(members))]] = True
        model = HypergraphClassifier(graph=hypergraph).fit(data.X, np.where(given, data.y, -1))
        scores.append(unlabelled_accuracy(data.y, model.transduction_, given))
    return np.mean(scores)


def test_all_subjects_from_a_tenth_of_the_labels(faces, clustered):
    assert accuracy_from_a_tenth(faces, clustered.graph_) >= 0.91


def test_digits(digits, clustered_digits):
    assert clustering_accuracy(digits.y, clustered_digits.labels_) >= 0.9


def test_digits_from_a_tenth_of_the_labels(digits, clustered_digits):
    assert accuracy_from_a_tenth(digits, clustered_digits.graph_) >= 0.95


def test_new_digits(digits):
    """Unlabelled samples help: it beats the nearest neighbour among the labelled ones."""
    ahead = []
    for seed in range(3):
        order = np.random.RandomState(seed).permutation(len(digits.y))
        some, new = digits.taken(order[:600]), digits.taken(order[600:])
        known = np.arange(600) % 5 == 0
        model = HypergraphClassifier().fit(some.X, np.where(known, some.y, -1))
        nearest = KNeighborsClassifier(1).fit(some.X[known], some.y[known])
        ahead.append(model.score(new.X, new.y) - nearest.score(new.X, new.y))
    assert np.mean(ahead) > 0.01
