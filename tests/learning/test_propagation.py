"""Cross-validation of the methods on the given labels, and their weights."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from enhg import Graph, Hypergraph, HypergraphClassifier, KNNHypergraph
from enhg.learning.propagation import (
    CLASS_BALANCES,
    METHODS,
    Propagation,
    cross_validate,
    folds,
    method_weights,
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
    [((9, 9, 9), 5), ((3, 3, 3), 3), ((2, 2), 2), ((1, 2, 4), 4), ((1, 1, 40), 5), ((1, 1), 0)],
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


def test_folds_are_always_the_same():
    Y = one_hot(np.arange(40) % 3, 3)
    for one, other in zip(folds(Y), folds(Y), strict=True):
        np.testing.assert_array_equal(one, other)


# --- ranks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("class_balance", CLASS_BALANCES)
def test_ranks_are_those_of_classifiers_that_lack_the_hidden_labels(class_balance):
    given = labels_of_counts((8, 6, 5, 1, 3))
    Y = one_hot(given, 5)
    ranks = cross_validate(Propagation(GRAPH, X, 0.98, class_balance), Y)
    for method in METHODS:
        reciprocal = []
        for hidden in folds(Y):
            partial = given.copy()
            partial[hidden] = -1
            model = HypergraphClassifier(
                structure=GRAPH, method=method, class_balance=class_balance
            )
            rows = model.fit(X, partial).label_distributions_[hidden]
            order = np.argsort(-rows, axis=1).tolist()
            places = [row.index(own) for row, own in zip(order, given[hidden], strict=True)]
            reciprocal.extend(1 / (1 + np.array(places)))
        assert ranks[method].sum() == pytest.approx(np.sum(reciprocal), abs=1.5)


def test_a_hidden_label_that_no_label_reaches_has_the_last_rank():
    """Pairs: the other sample of a pair has the label of its class."""
    pairs = Hypergraph.from_edges([[0, 1], [2, 3], [4, 5], [6, 7]])
    Y = one_hot([0, 0, 1, 1, 0, -1, 1, -1], 2)
    ranks = cross_validate(Propagation(pairs, np.zeros((8, 1)), 0.98, "equal"), Y)
    # The labels of samples 4 and 6 do not reach the hidden sample, alone in its pair.
    for method in ("diffusion", "poisson"):
        assert sorted(ranks[method]) == [1 / 2, 1 / 2, 1, 1, 1, 1]


def test_propagation_that_does_not_converge_in_the_folds_gives_no_warning(monkeypatch):
    from enhg.learning import diffusion

    monkeypatch.setattr(diffusion, "_MAX_ITERATIONS", 2)
    Y = one_hot(labels_of_counts((4, 4, 4, 4, 4)), 5)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        assert cross_validate(Propagation(GRAPH, X, 0.98, "equal"), Y)


# --- the choice ------------------------------------------------------------------------------


def fitted(given, structure=GRAPH, samples=X, **options):
    return HypergraphClassifier(structure=structure, **options).fit(samples, given)


def test_the_distributions_are_means_of_those_of_the_methods():
    for count in (2, 5, 20):
        given = labels_of_counts((count,) * 5)
        model = fitted(given)
        weights = model.method_weights_
        assert sum(weights.values()) == pytest.approx(1)
        mean = sum(w * fitted(given, method=m).label_distributions_ for m, w in weights.items())
        np.testing.assert_allclose(model.label_distributions_, mean, atol=1e-9)
        np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)
        assert fitted(given).method_weights_ == weights


def test_one_method_has_all_the_weight():
    for method in METHODS:
        assert fitted(labels_of_counts((3,) * 5), method=method).method_weights_ == {method: 1.0}


def ranks_of_sums(*sums):
    """Three ranks for each method, whose reciprocals have the given sums."""
    return {m: np.full(3, total / 3) for m, total in zip(METHODS, sums, strict=True)}


def test_weights_by_the_exponential_of_the_sums():
    weights = method_weights(ranks_of_sums(2.0, 1.0, 2.0))
    assert weights["diffusion"] == pytest.approx(weights["discriminant"])
    assert weights["diffusion"] / weights["poisson"] == pytest.approx(np.e)
    assert sum(weights.values()) == pytest.approx(1)


def test_small_weights_are_left_out():
    weights = method_weights(ranks_of_sums(20.0, 12.0, 19.0))
    assert set(weights) == {"diffusion", "discriminant"}
    assert sum(weights.values()) == pytest.approx(1)
    assert method_weights(ranks_of_sums(900.0, 1800.0, 10.0)) == {"poisson": 1.0}


def test_a_single_label_per_class_is_spread_by_poisson_learning():
    assert fitted(labels_of_counts((1,) * 5)).method_weights_ == {"poisson": 1.0}


def test_one_class_with_two_labels_is_enough_for_weights():
    ranks = cross_validate(
        Propagation(GRAPH, X, 0.98, "equal"), one_hot(labels_of_counts((2, 1, 1, 1, 1)), 5)
    )
    assert {len(part) for part in ranks.values()} == {2}
    assert fitted(labels_of_counts((2, 1, 1, 1, 1))).method_weights_ == method_weights(ranks)


def test_linear_classes_without_clusters_use_discriminants():
    """Neighbors at random: only the features tell the classes apart."""
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    samples = rng.normal(size=(200, 20))
    samples[:, 0] += 8 * y
    weights = (rng.uniform(size=(200, 200)) < 0.05).astype(float)
    graph = Graph(np.triu(weights, 1) + np.triu(weights, 1).T + np.eye(200))
    model = fitted(np.where(np.arange(200) < 60, y, -1), graph, samples)
    assert model.method_weights_["discriminant"] > 0.99
    assert (model.transduction_ == y).mean() > 0.9


def test_clusters_without_information_in_the_features_do_not_use_them():
    y = np.repeat([0, 1], 50)
    ring = [[50 * c + i, 50 * c + (i + 1) % 50] for c in range(2) for i in range(50)]
    noise = np.random.default_rng(0).normal(size=(100, 20))
    model = fitted(np.where(np.arange(100) % 5 == 0, y, -1), Hypergraph.from_edges(ring), noise)
    assert model.method_weights_.get("discriminant", 0) < 0.1
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
