"""Combination of the methods: cross-validation on the given labels, weights, self-training."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, make_circles
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import cross_val_predict

from enhg import Graph, Hypergraph, HypergraphClassifier, KNNHypergraph
from enhg.learning.discriminants import discriminant_features
from enhg.learning.propagation import (
    CLASS_BALANCES,
    METHODS,
    Propagation,
    combine,
    estimate_class_sizes,
    folds,
    rank_weights,
    rows_to_sum_one,
    sum_of_reciprocal_ranks,
    weighted_mean,
)

X, TARGETS = load_digits(n_class=5, return_X_y=True)
X, TARGETS = X[:300], TARGETS[:300]
GRAPH = KNNHypergraph().fit(X).graph_


def one_hot(labels, n_classes):
    Y = np.zeros((len(labels), n_classes))
    given = np.flatnonzero(np.asarray(labels) >= 0)
    Y[given, np.asarray(labels)[given]] = 1
    return Y


def labels_of_counts(counts, targets=TARGETS):
    """Labels of the first samples of every class, as many as given."""
    given = np.full(len(targets), -1)
    for code, count in enumerate(counts):
        given[np.flatnonzero(targets == code)[:count]] = code
    return given


# --- folds -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counts", "n_folds"),
    [((9, 9, 9), 3), ((3, 3, 3), 3), ((2, 2), 2), ((1, 2, 4), 3), ((1, 1, 40), 3), ((1, 1), 0)],
)
def test_every_label_is_hidden_once_but_single_ones_never(counts, n_folds):
    labels = np.repeat(np.arange(len(counts)), counts)
    Y = one_hot(labels, len(counts))
    parts = list(folds(Y))
    assert len(parts) == n_folds
    repeated = np.flatnonzero(np.array(counts)[labels] > 1)
    np.testing.assert_array_equal(np.sort(np.concatenate([*parts, []])), repeated)
    for hidden in parts:
        kept = np.delete(labels, hidden)
        assert set(kept) == set(labels)
        per_class = np.bincount(labels[hidden], minlength=len(counts))
        assert (per_class <= -(-np.array(counts) // n_folds)).all()
        assert len(hidden) <= -(-len(repeated) // n_folds)


def test_no_more_folds_than_hide_a_thousand_labels():
    for count, n_folds in ((1499, 3), (1500, 2), (2999, 2), (3000, 1), (20_000, 1)):
        Y = one_hot(np.arange(count) % 2, 2)
        assert len(list(folds(Y))) == n_folds


def test_folds_are_always_the_same():
    Y = one_hot(np.arange(40) % 3, 3)
    for one, other in zip(folds(Y), folds(Y), strict=True):
        np.testing.assert_array_equal(one, other)


# --- ranks -----------------------------------------------------------------------------------


def test_the_rank_is_the_place_in_the_sorted_row():
    rows = np.random.default_rng(0).uniform(size=(40, 6))
    codes = np.arange(40) % 6
    order = np.argsort(-rows, axis=1).tolist()
    places = [1 + row.index(code) for row, code in zip(order, codes, strict=True)]
    expected = np.sum(1 / np.array(places))
    assert sum_of_reciprocal_ranks(rows, codes) == pytest.approx(expected)


def test_of_equal_entries_the_rank_is_the_last():
    assert sum_of_reciprocal_ranks(np.zeros((2, 4)), np.array([0, 3])) == 2 / 4
    assert sum_of_reciprocal_ranks(np.array([[2.0, 2, 1]]), np.array([0])) == 1 / 2


# --- the weights -----------------------------------------------------------------------------


def propagation_of(given, class_balance="estimated", graph=GRAPH, samples=X):
    Y = one_hot(given, given.max() + 1)
    return Propagation(graph, discriminant_features(samples), Y, 0.98, class_balance)


def distributions(given, method, class_balance):
    model = HypergraphClassifier(structure=GRAPH, method=method, class_balance=class_balance)
    return model.fit(X, given).label_distributions_


@pytest.mark.parametrize("class_balance", CLASS_BALANCES)
def test_weights_are_those_of_classifiers_that_lack_the_hidden_labels(class_balance):
    given = labels_of_counts((8, 6, 5, 1, 3))
    sums = dict.fromkeys(METHODS, 0.0)
    for hidden in folds(one_hot(given, 5)):
        partial = given.copy()
        partial[hidden] = -1
        for method in METHODS:
            rows = distributions(partial, method, class_balance)[hidden]
            sums[method] += sum_of_reciprocal_ranks(rows, given[hidden])
    _, weights = combine(propagation_of(given, class_balance))
    for one, other in ((0, 1), (1, 2)):
        one, other = METHODS[one], METHODS[other]
        if one in weights and other in weights:
            ratio = np.log(weights[one] / weights[other])
            assert ratio == pytest.approx(sums[one] - sums[other], abs=0.5)  # folds have a low tol


def test_propagation_that_does_not_converge_in_the_folds_gives_no_warning(monkeypatch):
    from enhg.learning import diffusion, propagation

    given = labels_of_counts((4, 4, 4, 4, 4))
    hidden = list(folds(one_hot(given, 5)))
    monkeypatch.setattr(diffusion, "_MAX_ITERATIONS", 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        assert propagation._cross_validate(propagation_of(given), hidden)


# --- the choice ------------------------------------------------------------------------------


def fitted(given, structure=GRAPH, samples=X, **options):
    return HypergraphClassifier(structure=structure, **options).fit(samples, given)


def test_the_distributions_are_means_of_those_of_the_methods():
    """What is left of the distributions is self-training's: distributions as well."""
    for count in (2, 5, 20):
        given = labels_of_counts((count,) * 5)
        model = fitted(given)
        weights = dict(model.method_weights_)
        assert sum(weights.values()) == pytest.approx(1)
        assert fitted(given).method_weights_ == weights
        share = weights.pop("self_training", 0)
        mean = sum(w * fitted(given, method=m).label_distributions_ for m, w in weights.items())
        rest = model.label_distributions_ - mean
        np.testing.assert_allclose(rest.sum(axis=1), share, atol=1e-9)
        assert rest.min() > -1e-9


def test_one_method_has_all_the_weight():
    for method in METHODS:
        assert fitted(labels_of_counts((3,) * 5), method=method).method_weights_ == {method: 1.0}


def weights_of_sums(*sums):
    return rank_weights(dict(zip(METHODS, sums, strict=True)))


def test_weights_by_the_exponential_of_the_sums():
    weights = weights_of_sums(2.0, 1.0, 2.0)
    assert weights["diffusion"] == pytest.approx(weights["discriminant"])
    assert weights["diffusion"] / weights["poisson"] == pytest.approx(np.e)
    assert sum(weights.values()) == pytest.approx(1)


def test_weights_of_many_labels_do_not_overflow():
    assert weights_of_sums(900.0, 1800.0, 10.0)["poisson"] == pytest.approx(1)


def test_one_class_with_two_labels_is_enough_for_weights():
    assert len(fitted(labels_of_counts((2, 1, 1, 1, 1))).method_weights_) == 4


# --- self-training ---------------------------------------------------------------------------


def test_a_single_label_per_class_is_spread_by_self_training():
    """From diffusion and Poisson learning, and better than both."""
    given = labels_of_counts((1,) * 5)
    model = fitted(given)
    assert model.method_weights_ == {"self_training": 1.0}
    propagation = propagation_of(given)
    start = sum(propagation.distributions(m) for m in ("diffusion", "poisson")) / 2
    expected = propagation.diffused(propagation.self_trained(start), 0.98)
    np.testing.assert_allclose(model.label_distributions_, expected, atol=1e-9)
    right = (model.transduction_ == TARGETS).mean()
    for method in METHODS:
        assert right >= (fitted(given, method=method).transduction_ == TARGETS).mean()


def test_self_training_fits_discriminants_to_labels_and_predictions():
    """scikit-learn's discriminants, of the same samples, predict nearly the same classes."""
    given = labels_of_counts((3,) * 5)
    propagation = propagation_of(given)
    start = propagation.distributions("diffusion")
    P = propagation.self_trained(start)
    codes = np.where(given >= 0, given, start.argmax(axis=1))
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto", priors=np.full(5, 0.2))
    predicted = cross_val_predict(model, propagation.features, codes, cv=3)
    assert (P.argmax(axis=1) == predicted)[given < 0].mean() > 0.92  # other folds
    np.testing.assert_array_equal(P[given >= 0], one_hot(given, 5)[given >= 0])


def test_self_training_does_not_use_samples_that_no_label_reaches():
    """The last two samples, far from all others, would change the covariance."""
    given = labels_of_counts((3,) * 5)
    samples = np.r_[X, 50 * np.eye(64)[:2]]
    reached = propagation_of(given).distributions("diffusion")
    with_zeros = np.r_[reached, np.zeros((2, 5))]
    incidence = sparse.block_diag([GRAPH.incidence, np.ones((2, 1))], format="csc")
    apart = Hypergraph(sparse.csc_array(incidence), np.r_[GRAPH.weights, 1])
    propagation = propagation_of(np.r_[given, [-1, -1]], graph=apart, samples=samples)
    P = propagation.self_trained(with_zeros)
    np.testing.assert_allclose(P[:-2], propagation_of(given).self_trained(reached), atol=1e-9)
    np.testing.assert_array_equal(P[-2:], 0)


def test_the_mean_is_over_the_methods_that_reach_a_sample():
    parts = {
        "diffusion": np.array([[1.0, 0], [0, 0], [0, 0]]),
        "poisson": np.array([[0.0, 1], [0, 1], [0, 0]]),
    }
    mean = weighted_mean(parts, {"diffusion": 0.25, "poisson": 0.75})
    np.testing.assert_array_equal(mean, [[0.25, 0.75], [0, 1], [0, 0]])
    np.testing.assert_array_equal(weighted_mean(parts, {"poisson": 1.0}), parts["poisson"])


def test_a_method_of_small_weight_that_does_not_reach_far_takes_no_labels():
    """A chain: diffusion stops within its tolerance, Poisson learning goes to the end."""
    n = 300
    chain = Graph(np.eye(n) + np.eye(n, k=1) + np.eye(n, k=-1))
    given = np.full(n, -1)
    given[[0, 1, n - 2, n - 1]] = 0, 0, 1, 1
    features = np.random.default_rng(0).normal(size=(n, 20))
    assert fitted(given, chain, features, method="diffusion").unreached_.any()
    assert not fitted(given, chain, features).unreached_.any()


def test_components_without_a_label_get_none():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    samples = rng.normal(size=(120, 20))
    samples[:, 0] += 8 * y
    blocks = np.kron(np.eye(2), np.ones((60, 60))) * (rng.uniform(size=(120, 120)) < 0.2)
    graph = Graph(np.triu(blocks, 1) + np.triu(blocks, 1).T + np.eye(120))
    assert graph.connected_components()[0] == 2
    model = fitted(np.where(np.arange(120) < 50, y, -1), graph, samples)
    np.testing.assert_array_equal(model.unreached_, np.arange(120) >= 60)


def test_distributions_are_at_most_one():
    """Weights of sum 1 + rounding do not make a distribution that no model may have."""
    parts = {name: np.array([[1.0, 0]]) for name in ("diffusion", "poisson", "discriminant")}
    for seed in range(200):
        weights = dict(zip(parts, np.random.RandomState(seed).dirichlet(np.ones(3)), strict=True))
        assert weighted_mean(parts, weights).max() == 1


def test_self_training_decides_between_linked_classes():
    """Rings: discriminants cannot separate them, and the graph does not link them."""
    samples, y = make_circles(400, noise=0.04, factor=0.4, random_state=0)
    given = labels_of_counts((1, 1), y)
    model = HypergraphClassifier().fit(samples, given)
    assert model.method_weights_ == {"self_training": 1.0}
    np.testing.assert_array_equal(model.transduction_, y)


# --- sizes of the classes --------------------------------------------------------------------


def test_sizes_are_those_by_diffusion_where_label_counts_say_nothing():
    sizes = np.array([1.0, 10, 100])
    for counts in ([4, 4, 4], [9, 3, 1], [2, 1, 2]):
        estimated, weight = estimate_class_sizes(sizes, np.array(counts))
        assert weight == pytest.approx(0)
        np.testing.assert_allclose(estimated, sizes)


def test_label_counts_have_a_weight_where_they_agree_with_the_sizes():
    counts = np.array([1, 4, 16])
    estimated, weight = estimate_class_sizes(np.array([1.0, 2, 4]), counts)
    assert weight == pytest.approx(2 * 2 / (1 + 4))  # logarithms in the ratio of 1 to 2
    np.testing.assert_allclose(estimated, np.array([1, 2, 4]) ** (1 + weight))
    estimated, weight = estimate_class_sizes(5.0 * counts, counts)
    assert weight == pytest.approx(1)
    np.testing.assert_allclose(estimated, counts)


def test_the_weight_of_label_counts_is_lin_s_concordance():
    """2 cov(a, b) / (var(a) + var(b)), of centered logarithms."""
    rng = np.random.default_rng(0)
    sizes, counts = rng.uniform(1, 9, 20), rng.integers(1, 9, 20)
    counts[sizes > 5] += 5
    _, weight = estimate_class_sizes(sizes, counts)
    covariance = np.cov(np.log(sizes), np.log(counts))
    assert weight == pytest.approx(2 * covariance[0, 1] / np.trace(covariance))


def test_equal_sizes_do_not_follow_uneven_labels():
    """Two classes always correlate perfectly: nearly equal sizes must not count as agreement."""
    for sizes in ([100.0, 100.001], [100.001, 100.0]):
        estimated, weight = estimate_class_sizes(np.array(sizes), np.array([2, 20]))
        assert weight < 1e-4
        np.testing.assert_allclose(estimated, 100, rtol=1e-3)


def test_many_labels_of_one_of_two_equal_classes():
    samples, y = load_digits(return_X_y=True)
    rows = np.isin(y, [3, 8])
    samples, y = samples[rows], (y[rows] == 8).astype(int)
    given = labels_of_counts((3, 30), y)
    for method in ("auto", "diffusion"):
        model = HypergraphClassifier(method=method).fit(samples, given)
        assert (model.transduction_ == y).mean() > 0.95


def test_all_methods_have_the_same_sizes_of_classes():
    given = labels_of_counts((12, 2, 4, 4, 4))
    estimated, equal = (propagation_of(given, balance) for balance in ("estimated", "equal"))
    by_diffusion = equal.distributions("diffusion").sum(axis=0)
    sizes, weight = estimate_class_sizes(by_diffusion, np.array([12, 2, 4, 4, 4]))
    for method in ("diffusion", "discriminant"):
        scaled = rows_to_sum_one(equal.distributions(method) * sizes)
        np.testing.assert_allclose(estimated.distributions(method), scaled, atol=1e-6)
    scaled = rows_to_sum_one(equal.distributions("poisson") * np.array([12, 2, 4, 4, 4]) ** weight)
    np.testing.assert_allclose(estimated.distributions("poisson"), scaled, atol=1e-6)


# --- kinds of data ---------------------------------------------------------------------------


def test_linear_classes_without_clusters_use_discriminants():
    """Neighbors at random: only the features tell the classes apart."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    samples = rng.normal(size=(200, 20))
    samples[:, 0] += 8 * y
    weights = (rng.uniform(size=(200, 200)) < 0.05).astype(float)
    graph = Graph(np.triu(weights, 1) + np.triu(weights, 1).T + np.eye(200))
    model = fitted(np.where(np.arange(200) < 60, y, -1), graph, samples)
    weights = model.method_weights_
    assert weights["discriminant"] + weights["self_training"] > 0.99
    assert (model.transduction_ == y).mean() > 0.9


def test_clusters_without_information_in_the_features_do_not_use_them():
    y = np.repeat([0, 1], 50)
    ring = [[50 * c + i, 50 * c + (i + 1) % 50] for c in range(2) for i in range(50)]
    noise = np.random.default_rng(0).normal(size=(100, 20))
    model = fitted(np.where(np.arange(100) % 5 == 0, y, -1), Hypergraph.from_edges(ring), noise)
    assert model.method_weights_["discriminant"] < 0.1
    np.testing.assert_array_equal(model.transduction_, y)


@pytest.mark.parametrize("class_balance", CLASS_BALANCES)
def test_classes_of_very_different_size(class_balance):
    """Ten to one in samples and in labels."""
    y = TARGETS[(TARGETS == 0) | (TARGETS == 1)]
    samples = X[(TARGETS == 0) | (TARGETS == 1)]
    kept = np.sort(np.r_[np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:6]])
    y, samples = y[kept], samples[kept]
    for counts in ((20, 2), (30, 3), (10, 1)):
        given = labels_of_counts(counts, y)
        graph = KNNHypergraph(5).fit(samples).graph_
        model = fitted(given, graph, samples, class_balance=class_balance)
        hidden = given == -1
        assert (model.transduction_ == y)[hidden].mean() > 0.9


def test_only_the_propagation_is_repeated():
    calls = []

    class Counted(KNNHypergraph):
        def fit(self, X, y=None):
            calls.append(len(X))
            return super().fit(X)

    fitted(labels_of_counts((4,) * 5), Counted())
    assert calls == [300]
