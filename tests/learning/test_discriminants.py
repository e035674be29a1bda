"""Linear discriminants, and their diffusion from the labeled samples."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import NearestCentroid

from enhg import Graph, HypergraphClassifier
from enhg.learning import discriminants
from enhg.learning.discriminants import (
    discriminant_distributions,
    discriminant_features,
    fit_discriminants,
    linked_only,
    out_of_fold_probabilities,
)

DIGITS, TARGETS = load_digits(n_class=4, return_X_y=True)
DIGITS, TARGETS = DIGITS[:200], TARGETS[:200]


def one_hot(codes, labeled, n_classes):
    Y = np.zeros((len(codes), n_classes))
    Y[np.flatnonzero(labeled), codes[labeled]] = 1
    return Y


def gaussians(n, d, k=3, seed=0, apart=1.0):
    """Samples of Gaussian classes of one covariance, with features of different scale."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % k
    mixing = rng.normal(size=(d, d)) * rng.uniform(0.5, 3, d)
    return (rng.normal(size=(n, d)) + apart * rng.normal(size=(k, d))[codes]) @ mixing + 5, codes


def class_means(X, codes):
    return np.array([X[codes == c].mean(axis=0) for c in np.unique(codes)])


def posteriors(X, means, covariance):
    """Bayes' rule for Gaussians of one covariance and equal probability."""
    distances = [np.einsum("ij,ij->i", X - m, (X - m) @ np.linalg.inv(covariance)) for m in means]
    logs = -0.5 * np.array(distances).T
    odds = np.exp(logs - logs.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)


def dense_covariance(residuals, dof, shrinkage):
    """The covariance of `fit_discriminants` from its definition, with all matrices dense."""
    variances = (residuals**2).sum(axis=0) / dof
    spread = ((variances - variances.mean()) ** 2).sum()
    weight = min(1, 2 / (dof + 2) * (variances**2).sum() / spread)
    deviations = np.sqrt((1 - weight) * variances + weight * variances.mean())
    C = (residuals / deviations).T @ (residuals / deviations) / dof
    d = len(C)
    shrunk = (1 - shrinkage) * C + shrinkage * np.trace(C) / d * np.eye(d)
    return deviations[:, None] * shrunk * deviations


# --- against dense matrices and scikit-learn -------------------------------------------------


@pytest.mark.parametrize(("n", "d"), [(12, 40), (40, 40), (60, 8)])
@pytest.mark.parametrize("shrinkage", [0.05, 0.5, 1.0, None])
def test_probabilities_are_those_of_the_dense_inverse(n, d, shrinkage):
    X, codes = gaussians(n, d, apart=0.2)
    model = fit_discriminants(X, codes, 3, shrinkage=shrinkage)
    means = class_means(X, codes)
    covariance = dense_covariance(X - means[codes], n - 3, model.shrinkage)
    new = gaussians(30, d, seed=1, apart=0.2)[0]
    np.testing.assert_allclose(
        model.probabilities(new), posteriors(new, means, covariance), atol=1e-7
    )
    assert shrinkage is None or model.shrinkage == shrinkage


@pytest.mark.parametrize(("n", "d"), [(12, 40), (60, 8)])
@pytest.mark.parametrize("shrinkage", [0.1, 0.9])
def test_features_of_equal_deviation_have_the_discriminants_of_scikit_learn(n, d, shrinkage):
    """Its covariance is divided by n, ours by n − 3: logarithms of odds are in this proportion."""
    X, codes = gaussians(n, d)
    X /= np.sqrt(((X - class_means(X, codes)[codes]) ** 2).mean(axis=0))
    other = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(X, codes)
    model = fit_discriminants(X, codes, 3, shrinkage=shrinkage)
    scores = (X / model.scale - model.center) @ model.coefficients + model.intercepts
    ours = scores - scores[:, :1]
    theirs = other.decision_function(X) - other.decision_function(X)[:, :1]
    np.testing.assert_allclose(ours * n / (n - 3), theirs, rtol=1e-6, atol=1e-8)


def test_as_accurate_as_scikit_learn_with_the_shrinkage_of_ledoit_and_wolf():
    X, y = load_digits(return_X_y=True)
    X = discriminant_features(X)
    for count in (50, 200, 600):
        other = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
        theirs = other.fit(X[:count], y[:count]).score(X[count:], y[count:])
        P = fit_discriminants(X[:count], y[:count], 10).probabilities(X[count:])
        assert (P.argmax(axis=1) == y[count:]).mean() > theirs - 0.005


def test_the_intensity_is_near_the_one_of_least_error():
    """Gaussian classes of known covariance: the shrunk covariance is compared with it."""
    rng = np.random.default_rng(0)
    d, n = 30, 40
    scale = np.sqrt(np.linspace(0.2, 2, d))
    rotation = np.linalg.qr(rng.normal(size=(d, d)))[0]
    true = rotation.T @ np.diag(scale**2) @ rotation

    def error(C, s):
        return (1 - s) * C + s * np.trace(C) / d * np.eye(d) - true

    estimates, best = [], []
    grid = np.linspace(0, 1, 101)
    for _ in range(20):
        X = rng.normal(size=(n, d)) * scale @ rotation
        estimates.append(fit_discriminants(X, np.zeros(n, int), 1).shrinkage)
        C = np.cov(X.T)
        best.append(grid[np.argmin([(error(C, s) ** 2).sum() for s in grid])])
    assert abs(np.mean(estimates) - np.mean(best)) < 0.1


# --- symmetries ------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "d"), [(12, 40), (60, 8)])
def test_renaming_classes_renames_probabilities(n, d):
    X, codes = gaussians(n, d, apart=0.2)
    names = np.array([2, 0, 1])
    P = fit_discriminants(X, codes, 3).probabilities(X)
    renamed = fit_discriminants(X, names[codes], 3).probabilities(X)
    np.testing.assert_allclose(renamed[:, names], P, atol=1e-9)


@pytest.mark.parametrize("factor", [1e-150, 1e-3, 1e150])
@pytest.mark.parametrize(("n", "d"), [(12, 40), (60, 8)])
def test_units_and_origin_do_not_matter(n, d, factor):
    X, codes = gaussians(n, d, apart=0.2)
    P = fit_discriminants(X, codes, 3).probabilities(X)
    moved = (X + 10) * factor
    again = fit_discriminants(moved, codes, 3).probabilities(moved)
    np.testing.assert_allclose(again, P, atol=1e-7)


def test_types_of_features():
    X, codes = gaussians(60, 8, apart=0.2)
    P = fit_discriminants(X, codes, 3).probabilities(X)
    single = X.astype(np.float32)
    np.testing.assert_allclose(
        fit_discriminants(single, codes, 3).probabilities(single), P, atol=1e-3
    )
    pixels = (10 * (X - X.min())).astype(np.uint8)
    as_float = fit_discriminants(pixels.astype(float), codes, 3).probabilities(pixels.astype(float))
    np.testing.assert_allclose(fit_discriminants(pixels, codes, 3).probabilities(pixels), as_float)


# --- limits ----------------------------------------------------------------------------------


def test_full_shrinkage_is_the_nearest_mean():
    X, codes = gaussians(60, 8, apart=0.3)
    X /= np.sqrt(((X - class_means(X, codes)[codes]) ** 2).mean(axis=0))
    P = fit_discriminants(X, codes, 3, shrinkage=1.0).probabilities(X)
    np.testing.assert_array_equal(P.argmax(axis=1), NearestCentroid().fit(X, codes).predict(X))


def test_no_shrinkage_of_more_samples_than_features_is_plain_discriminant_analysis():
    X, codes = gaussians(60, 8, apart=0.2)
    P = fit_discriminants(X, codes, 3, shrinkage=0.0).probabilities(X)
    other = LinearDiscriminantAnalysis(solver="svd").fit(X, codes)
    np.testing.assert_array_equal(P.argmax(axis=1), other.predict(X))


def test_no_shrinkage_of_fewer_samples_than_features_stays_finite():
    X, codes = gaussians(12, 40)
    P = fit_discriminants(X, codes, 3, shrinkage=0.0).probabilities(X)
    np.testing.assert_array_equal(P.argmax(axis=1), codes)


def test_single_samples_have_the_covariance_of_all_samples():
    X, _ = gaussians(9, 20)
    codes = np.arange(9)
    model = fit_discriminants(X, codes, 9)
    covariance = dense_covariance(X - X.mean(axis=0), 8, model.shrinkage)
    new = gaussians(30, 20, seed=1)[0]
    np.testing.assert_allclose(model.probabilities(new), posteriors(new, X, covariance), atol=1e-7)
    assert 0 < model.shrinkage <= 1


def test_copies_of_single_samples_are_single_samples():
    X, _ = gaussians(3, 5)
    copies, codes = np.repeat(X, 3, axis=0), np.repeat([0, 1, 2], 3)
    P = fit_discriminants(copies, codes, 3).probabilities(copies)
    np.testing.assert_array_equal(P.argmax(axis=1), codes)


def test_classes_without_samples_have_probability_zero():
    X, codes = gaussians(60, 8, apart=0.2)
    P = fit_discriminants(X, codes, 3).probabilities(X)
    wider = fit_discriminants(X, np.array([1, 3, 4])[codes], 6).probabilities(X)
    np.testing.assert_array_equal(wider[:, [0, 2, 5]], 0)
    np.testing.assert_allclose(wider[:, [1, 3, 4]], P)


@pytest.mark.parametrize("counts", [(1,), (5,), (1, 1), (2, 1), (1, 9), (2, 2, 1), (3, 1)])
def test_few_samples(counts):
    X, _ = gaussians(sum(counts), 6, apart=3)
    codes = np.repeat(np.arange(len(counts)), counts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        P = fit_discriminants(X, codes, len(counts)).probabilities(X)
    np.testing.assert_allclose(P.sum(axis=1), 1)
    if min(counts) == max(counts) == 1:
        np.testing.assert_array_equal(P.argmax(axis=1), codes)


def test_constant_features_change_nothing_that_is_not_shrunk():
    """They lower the mean variance, but not the order of the classes."""
    X, codes = gaussians(60, 8, apart=0.2)
    wider = np.hstack([X, np.full((60, 3), 7.0)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit_discriminants(wider, codes, 3)
    np.testing.assert_allclose(model.coefficients[8:], 0, atol=1e-12)
    P = fit_discriminants(X, codes, 3).probabilities(X)
    agree = model.probabilities(wider).argmax(axis=1) == P.argmax(axis=1)
    assert agree.mean() > 0.95


def test_identical_samples_leave_classes_equal():
    P = fit_discriminants(np.ones((6, 4)), np.arange(6) % 2, 3).probabilities(np.eye(4))
    np.testing.assert_allclose(P, np.tile([0.5, 0.5, 0], (4, 1)))


def test_scores_beyond_the_range_of_the_exponential():
    X, codes = gaussians(60, 8, apart=0.2)
    model = fit_discriminants(X, codes, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        P = model.probabilities(1e6 * X)
    np.testing.assert_allclose(P.sum(axis=1), 1)


# --- the distributions that are diffused -----------------------------------------------------


def test_given_labels_are_kept_and_others_follow_the_discriminants():
    labeled = np.arange(200) < 80
    Y = one_hot(TARGETS, labeled, 4)
    X = discriminant_features(DIGITS)
    np.testing.assert_allclose(X.mean(axis=1), 0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1)
    P = discriminant_distributions(X, Y)
    model = fit_discriminants(X[labeled], TARGETS[labeled], 4)
    np.testing.assert_array_equal(P[~labeled], model.probabilities(X)[~labeled])
    np.testing.assert_array_equal(P[labeled], Y[labeled])


def test_few_features_are_used_as_given():
    """Points of two dimensions differ by their length, which must not be normalized away."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(c, 0.3, size=(30, 2)) for c in (1, 3, 5)])
    y = np.repeat([0, 1, 2], 30)
    Y = one_hot(y, np.arange(90) % 3 == 0, 3)
    P = discriminant_distributions(discriminant_features(X), Y)
    assert (P.argmax(axis=1) == y).mean() > 0.95


def test_without_edges_between_samples_it_is_the_discriminants_alone():
    labeled = np.arange(200) % 3 == 0
    alone = Graph(np.eye(200))
    model = HypergraphClassifier(structure=alone, method="discriminant", class_balance="none").fit(
        DIGITS, np.where(labeled, TARGETS, -1)
    )
    P = discriminant_distributions(discriminant_features(DIGITS), one_hot(TARGETS, labeled, 4))
    np.testing.assert_allclose(model.label_distributions_, P, atol=1e-6)


def test_small_alpha_tends_to_the_discriminants():
    given = np.where(np.arange(200) % 3 == 0, TARGETS, -1)
    model = HypergraphClassifier(method="discriminant", alpha=1e-6, class_balance="none")
    P = discriminant_distributions(discriminant_features(DIGITS), one_hot(TARGETS, given >= 0, 4))
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
        discriminant_features(data.X.astype(np.float32)),
        one_hot(codes, ~unlabeled, len(classes)),
    )
    scores["alone"] = (P.argmax(axis=1) == codes)[unlabeled].mean()
    assert scores["discriminant"] > max(scores["diffusion"], scores["alone"]) + 0.005


def test_one_label_per_class_is_enough():
    given = np.full(200, -1)
    first = [int(np.argmax(np.equal(TARGETS, target))) for target in range(4)]
    given[first] = TARGETS[first]
    model = HypergraphClassifier(method="discriminant").fit(DIGITS, given)
    assert (model.transduction_ == TARGETS).mean() > 0.8


# --- predictions of samples that are not fitted ------------------------------------------------


def test_probabilities_are_those_of_discriminants_that_lack_the_sample():
    """Every sample of a cluster of its own label is held out: its cluster is unknown then."""
    X, y = gaussians(240, 6, k=4, apart=8.0)
    labels = y.copy()
    labels[[3, 77]] = 4, 5
    P = out_of_fold_probabilities(X, labels, 6, np.random.RandomState(0))
    assert P[3, 4] == P[77, 5] == 0
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert (P.argmax(axis=1) == y).mean() > 0.9


def test_the_folds_are_drawn():
    X, y = gaussians(240, 6, k=4, apart=8.0)
    first, second = (
        out_of_fold_probabilities(X, y, 4, np.random.RandomState(seed)) for seed in (0, 1)
    )
    assert (first != second).any()


def test_certain_samples_take_part_in_all_fits():
    """The only sample of a class is known to all other folds, and to its own if it is certain."""
    X, y = gaussians(100, 5)
    codes = np.where(np.arange(100) == 7, 3, y)
    for certain in (np.zeros(100, bool), np.arange(100) == 7):
        rng = np.random.RandomState(0)
        P = out_of_fold_probabilities(X, codes, 4, rng, certain=certain)
        assert (P[7, 3] > 0) == certain[7]
        assert (P[:, 3] > 0).sum() > 60


def test_many_samples_are_fitted_in_part(monkeypatch):
    """As many of every class, but all of a rare one."""
    X, y = gaussians(600, 5)
    codes = np.where(np.arange(600) < 4, 3, y)
    all_fitted = []

    def record(features, own, n_classes):
        all_fitted.append(np.bincount(own, minlength=n_classes))
        return fit_discriminants(features, own, n_classes)

    monkeypatch.setattr(discriminants, "fit_discriminants", record)
    monkeypatch.setattr(discriminants, "_MAX_FITTED", 200)
    monkeypatch.setattr(discriminants, "FOLDS", 2)
    P = out_of_fold_probabilities(X, codes, 4, np.random.RandomState(0))
    assert [counts.tolist() for counts in all_fitted] == [[50, 50, 50, 2]] * 2
    np.testing.assert_allclose(P.sum(axis=1), 1)


@pytest.mark.parametrize(
    ("scale", "dtype"), [(1e-35, np.float32), (1e30, np.float32), (1e-300, float), (1e307, float)]
)
def test_tiny_and_huge_values(scale, dtype):
    X, codes = gaussians(60, 5, apart=4.0)
    X = (X / np.abs(X).max()).astype(dtype)
    expected = fit_discriminants(X, codes, 3).probabilities(X)
    scaled = X * dtype(scale)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        P = fit_discriminants(scaled, codes, 3).probabilities(scaled)
    np.testing.assert_allclose(P, expected, atol=1e-3)


def test_classes_that_are_not_linked_are_left_out():
    """A path of two classes: only the samples next to the other class may move there."""
    graph = Graph(np.eye(6) + np.eye(6, k=1) + np.eye(6, k=-1))
    codes = np.array([0, 0, 0, 1, 1, 1])
    P = np.tile([0.2, 0.6, 0.2], (6, 1))
    expected = np.array([[1, 0, 0]] * 2 + [[0.25, 0.75, 0]] * 2 + [[0, 1, 0]] * 2)
    np.testing.assert_allclose(linked_only(graph, P, codes), expected)
    codes[0] = -1
    np.testing.assert_allclose(linked_only(graph, P, codes)[0], [1, 0, 0])
    codes[1] = -1
    np.testing.assert_array_equal(linked_only(graph, P, codes)[0], 0)
