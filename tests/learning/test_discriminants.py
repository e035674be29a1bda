"""Linear discriminants of the labeled samples, and their diffusion."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from enhg import Graph, HypergraphClassifier, InputError
from enhg.learning.discriminants import discriminant_distributions

DIGITS, TARGETS = load_digits(n_class=4, return_X_y=True)
DIGITS, TARGETS = DIGITS[:200], TARGETS[:200]


def one_hot(codes, labeled, n_classes):
    Y = np.zeros((len(codes), n_classes))
    Y[np.flatnonzero(labeled), codes[labeled]] = 1
    return Y


def gaussian_posteriors(X, Y):
    """Bayes' rule for Gaussians of one shrunk covariance, from the definition."""
    labeled = Y.any(axis=1)
    codes = Y[labeled].argmax(axis=1)
    priors = Y.sum(axis=0) / Y.sum()
    means = np.array([X[labeled][codes == c].mean(axis=0) for c in range(Y.shape[1])])
    covariance = np.zeros((X.shape[1], X.shape[1]))
    for c, prior in enumerate(priors):
        scaler = StandardScaler()  # scikit-learn shrinks the standardized samples of a class
        scaled = scaler.fit_transform(X[labeled][codes == c])
        shrunk = ledoit_wolf(scaled)[0]
        covariance += prior * scaler.scale_[:, None] * shrunk * scaler.scale_
    logs = np.array(
        [
            np.log(prior) - 0.5 * ((X - mean) @ np.linalg.pinv(covariance) * (X - mean)).sum(axis=1)
            for prior, mean in zip(priors, means, strict=True)
        ]
    ).T
    odds = np.exp(logs - logs.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def test_probabilities_follow_bayes_rule():
    labeled = np.arange(200) < 80
    Y = one_hot(TARGETS, labeled, 4)
    X = DIGITS - DIGITS.mean(axis=1, keepdims=True)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    P = discriminant_distributions(DIGITS, Y)
    np.testing.assert_allclose(P[~labeled], gaussian_posteriors(X, Y)[~labeled], atol=1e-6)
    np.testing.assert_array_equal(P[labeled], Y[labeled])


def test_few_features_are_used_as_given():
    """Points of two dimensions differ by their length, which must not be normalized away."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(c, 0.3, size=(30, 2)) for c in (1, 3, 5)])
    y = np.repeat([0, 1, 2], 30)
    Y = one_hot(y, np.arange(90) % 3 == 0, 3)
    assert (discriminant_distributions(X, Y).argmax(axis=1) == y).mean() > 0.95


def test_without_edges_between_samples_it_is_the_discriminants_alone():
    labeled = np.arange(200) % 3 == 0
    alone = Graph(np.eye(200))
    model = HypergraphClassifier(structure=alone, method="discriminant", class_balance="none").fit(
        DIGITS, np.where(labeled, TARGETS, -1)
    )
    P = discriminant_distributions(DIGITS, one_hot(TARGETS, labeled, 4))
    np.testing.assert_allclose(model.label_distributions_, P, atol=1e-6)


def test_small_alpha_tends_to_the_discriminants():
    given = np.where(np.arange(200) % 3 == 0, TARGETS, -1)
    model = HypergraphClassifier(method="discriminant", alpha=1e-6, class_balance="none")
    P = discriminant_distributions(DIGITS, one_hot(TARGETS, given >= 0, 4))
    np.testing.assert_allclose(model.fit(DIGITS, given).label_distributions_, P, atol=1e-5)


def test_more_accurate_than_either_alone_on_faces(data_folder):
    """PIE, 15 subjects, 10% of the labels: diffusion and discriminants alone score lower."""
    from enhg.datasets import load

    data = load("pie", data_folder).first_classes(15)
    rng = np.random.RandomState(0)
    given = np.full(len(data.y), -1)
    for label in np.unique(data.y):
        chosen = rng.permutation(np.flatnonzero(data.y == label))[:17]
        given[chosen] = label
    unlabeled = given == -1
    scores = {}
    structure = None
    for method in ("diffusion", "discriminant"):
        model = HypergraphClassifier(structure=structure, method=method).fit(data.X, given)
        structure = model.graph_
        scores[method] = (model.transduction_ == data.y)[unlabeled].mean()
    classes, codes = np.unique(data.y, return_inverse=True)
    P = discriminant_distributions(
        data.X.astype(np.float32), one_hot(codes, ~unlabeled, len(classes))
    )
    scores["alone"] = (P.argmax(axis=1) == codes)[unlabeled].mean()
    assert scores["discriminant"] > max(scores["diffusion"], scores["alone"]) + 0.005


def test_as_many_labels_as_classes_are_refused():
    given = np.full(200, -1)
    first = [int(np.argmax(np.equal(TARGETS, target))) for target in range(4)]
    given[first] = TARGETS[first]
    with pytest.raises(InputError, match=r"more labels than classes .* got 4 labels of 4 classes"):
        HypergraphClassifier(method="discriminant").fit(DIGITS, given)
