"""The score of a classifier, of labels of which some are missing; searches of scikit-learn."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, KFold

from enhg import ElasticNetHypergraph, HypergraphClassifier, HypergraphClustering
from enhg.exceptions import InputError


def halves():
    """Samples of two orthogonal subspaces, 40 of each."""
    rng = np.random.default_rng(0)
    return np.vstack([rng.random((40, 6)) * ([3, 0] * 3), rng.random((40, 6)) * ([0, 3] * 3)])


def fitted_to_halves(y):
    structure = ElasticNetHypergraph(preprocessing="unit")
    return HypergraphClassifier(structure=structure, method="diffusion").fit(halves(), y)


@pytest.mark.parametrize("dtype", [int, bool, np.uint8, str])
def test_a_sample_without_a_label_counts_as_wrong(dtype):
    X, y = halves(), np.repeat([0, 1], 40).astype(dtype)
    model = fitted_to_halves(y)
    assert model.score(X, y) == 1
    new, wanted = [X[0], X[-1], np.zeros(6), np.zeros(6)], [y[0], y[-1], y[0], y[-1]]
    with pytest.warns(UserWarning, match="2 of 4 samples"):
        assert model.score(new, wanted) == 0.5
    with pytest.warns(UserWarning, match="2 of 4 samples"):
        assert model.score(new, wanted, sample_weight=[5, 1, 1, 1]) == 0.75


def test_score_of_samples_that_no_label_reaches():
    y = np.where(np.arange(80) < 40, np.arange(80) % 2, -1)
    with pytest.warns(UserWarning, match="no label reaches 40 of 80"):
        model = fitted_to_halves(y)
    X = halves()
    assert model.score(X[40:], np.zeros(40)) == 0
    assert model.score(X, y == 0, sample_weight=np.arange(80) >= 40) == 0


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.int8, np.float16, np.float32])
def test_weights_of_any_type(dtype):
    X, y = halves(), np.repeat([0, 1], 40)
    model, wanted = fitted_to_halves(y), np.where(np.arange(80) % 4, y, 1 - y)
    weights = np.full(80, 120).astype(dtype)
    assert model.score(X, wanted, sample_weight=weights) == 0.75
    assert model.score(X, wanted, sample_weight=weights[:, np.newaxis]) == 0.75


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (["1"] * 80, "hold real numbers, got dtype <U1"),
        ([1, 2], r"hold a number for each of 80 samples, got shape \(2,\)"),
        ([0] * 80, "be finite numbers of at least 0, one of them positive, got .* a sum of 0"),
        ([-1] + [1] * 79, "be finite .* got a least of -1"),
        ([np.nan] * 80, "be finite .* got a least of nan"),
    ],
)
def test_weights_that_are_refused(weights, message):
    y = np.repeat([0, 1], 40)
    with pytest.raises(InputError, match=f"sample_weight must {message}") as caught:
        fitted_to_halves(y).score(halves(), y, sample_weight=weights)
    assert caught.value.parameter == "sample_weight"


def test_true_labels_of_the_types_that_fit_takes(only_dlpack):
    X, y = halves(), np.repeat(["a", "b"], 40)
    model = fitted_to_halves(y)
    forms = [y.tolist(), y.astype(object), np.ma.MaskedArray(y), y[:, np.newaxis]]
    if hasattr(np.dtypes, "StringDType"):
        forms.append(y.astype(np.dtypes.StringDType()))
    assert [model.score(X, form) for form in forms] == [1] * len(forms)
    model, codes = fitted_to_halves(np.repeat([0, 1], 40)), np.repeat([0, 1], 40)
    assert model.score(X, np.ma.MaskedArray(codes)) == 1
    assert model.score(X, only_dlpack(codes)) == 1


@pytest.mark.parametrize(
    ("y", "dtype"),
    [
        (np.repeat(["0", "1"], 40), "<U1"),
        (np.repeat([0.5, 1.5], 40), "float64"),
        (np.repeat([0, 1], 40).astype("M8[s]"), "datetime64"),
        (np.repeat([b"0", b"1"], 40), r"\|S1"),
    ],
)
def test_true_labels_that_cannot_be_compared_with_the_classes(y, dtype):
    model = fitted_to_halves(np.repeat([0, 1], 40))
    with pytest.raises(InputError, match=f"y must hold labels that .* got dtype {dtype}") as caught:
        model.score(halves(), y)
    assert caught.value.parameter == "y"


@pytest.mark.parametrize(
    ("first", "second", "missing", "dtype"),
    [
        (0, 1, -1, int),
        (0, 1, -1, np.int8),
        (0, 1, np.nan, float),
        (1, 2, -1, int),  # in a fold, -1 and 1 only
        ("a", "b", "", str),
        ("a", "b", "?", str),
        ("a", "b", None, object),
        (0, 1, None, object),
    ],
)
def test_score_of_the_labeled_samples_only(first, second, missing, dtype):
    X, y = halves(), np.array([first] * 40 + [second] * 40, dtype)
    model = fitted_to_halves(y)
    some = np.array([missing] * 80, dtype)
    some[:4], some[40] = first, first
    assert model.score(X, some) == 0.8
    weights = np.where(np.arange(80) == 40, 4, 1)
    assert model.score(X, some, sample_weight=weights) == 0.5
    assert model.score(X[:40], some[:40]) == 1
    masked = np.ma.MaskedArray(y, np.arange(80) > 3)
    assert model.score(X, masked) == 1
    for none, weight in ((some[60:], None), (some, np.arange(80) > 40)):
        with pytest.raises(InputError, match="y must hold the label of a sample") as caught:
            model.score(X[-len(none) :], none, sample_weight=weight)
        assert caught.value.parameter == "y"


def test_classes_of_fit_are_never_missing_in_score():
    X, y = halves(), np.repeat([0, 1], 40)
    with pytest.warns(UserWarning, match="two classes"):
        model = fitted_to_halves(2 * y - 1)
    assert model.score(X, 2 * y - 1) == 1
    model = fitted_to_halves(np.ma.MaskedArray(np.where(y == 0, "nan", "b"), [False] * 80))
    assert model.score(X, ["nan"] * 80) == 0.5


def test_true_labels_that_are_refused():
    X, y = halves(), np.repeat(["a", "b"], 40)
    model = fitted_to_halves(y)
    for wrong, message in (
        ([1, *y[1:]], "labels of one type"),
        (y[:3], "a label for each of 80 samples, got 3"),
    ):
        with pytest.raises(InputError, match=f"y must hold {message}") as caught:
            model.score(X, wrong)
        assert caught.value.parameter == "y"


# --- searches of scikit-learn ---------------------------------------------------------------------


@pytest.mark.parametrize("missing", [-1, ""])
@pytest.mark.parametrize("cv", [2, KFold(2, shuffle=True, random_state=0)])
def test_searches_over_labels_of_which_some_are_missing(missing, cv):
    kind = type(missing)
    y = np.where(np.arange(80) % 3 == 0, np.repeat([0, 1], 40).astype(kind), missing)
    learner = HypergraphClassifier(method="diffusion")
    grid = {"structure__gamma": [10, 30], "structure__hyperedges__threshold": [8]}
    search = GridSearchCV(learner, grid, cv=cv, error_score="raise").fit(halves(), y)
    assert (search.cv_results_["mean_test_score"] > 0.9).all()
    assert search.best_estimator_.structure.gamma == search.best_params_["structure__gamma"]
    assert learner.structure is None


def test_searches_for_a_clustering_need_a_criterion():
    X, y = halves(), np.repeat([0, 1], 40)
    learner, grid = HypergraphClustering(2, random_state=0), {"structure__gamma": [5, 30]}
    with pytest.raises(TypeError, match="should have a 'score' method"):
        GridSearchCV(learner, grid).fit(X)
    search = GridSearchCV(learner, grid, cv=2, scoring="rand_score", error_score="raise").fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
