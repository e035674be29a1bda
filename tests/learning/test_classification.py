"""Semi-supervised classification."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import check_estimator

from enhg import ElasticNetHypergraph, Hypergraph, HypergraphClassifier
from enhg.exceptions import InputError
from enhg.learning import classification
from enhg.learning.scores import boundary_scores

BALANCES = ("estimated", "equal", "labels", "none")
# Vertices 0–5 hang together, 6–8 too, 9 is alone.
THREE_COMPONENTS = Hypergraph.from_edges(
    [[0, 1, 2], [2, 3], [3, 4, 5], [6, 7, 8], [9]], weights=[1, 0.1, 1, 2, 1]
)
TEN = np.zeros((10, 1))  # a given hypergraph needs their number only


@pytest.fixture(scope="module")
def subspaces(union_of_subspaces):
    """Samples with noise, true labels, and labels of which one in six is given."""
    X, y = union_of_subspaces(1, n_subspaces=3, per_subspace=40)
    X = X + 0.1 * np.random.default_rng(1).normal(size=X.shape)
    given = np.where(np.arange(len(y)) % 6 == 0, y, -1)
    return X, y, given


@pytest.fixture(scope="module")
def fitted(subspaces):
    X, _, given = subspaces
    return HypergraphClassifier().fit(X, given)


def on(hypergraph, method="diffusion", **options):
    return HypergraphClassifier(structure=hypergraph, method=method, **options)


def test_scikit_learn_accepts_the_estimator():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks feed it constant samples and the like
        results = check_estimator(HypergraphClassifier(), on_skip=None)
    assert {result["status"] for result in results} <= {"passed", "skipped"}
    assert sum(result["status"] == "passed" for result in results) > 40


# --- F ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def soft():
    """A connected hypergraph and labels of three classes, four of the first and one of the last."""
    rng = np.random.default_rng(0)
    h = rng.uniform(size=(30, 20)) * (rng.uniform(size=(30, 20)) < 0.2)
    h[np.arange(30), np.arange(30) % 20] = 1
    y = np.full(30, -1)
    y[:7] = [0, 0, 0, 0, 1, 1, 2]
    return Hypergraph(h, rng.uniform(0.5, 2, 20)), y


def dense_F(hypergraph, y, alpha):
    Y = (y[:, None] == np.unique(y[y >= 0])).astype(float)
    n = hypergraph.n_vertices
    return np.linalg.inv(np.eye(n) - alpha * hypergraph.theta_dense()) @ Y, Y


@pytest.mark.parametrize("alpha", [0.1, 0.9, 0.999])
@pytest.mark.parametrize("class_balance", BALANCES)
def test_distributions_are_those_of_the_dense_inverse(soft, alpha, class_balance):
    hypergraph, y = soft
    model = on(hypergraph, alpha=alpha, class_balance=class_balance).fit(np.zeros((30, 1)), y)
    F, Y = dense_F(hypergraph, y, alpha)
    if class_balance in ("equal", "estimated"):
        F = F @ np.diag(1 / F.sum(axis=0))
    if class_balance == "estimated":
        sizes = (F / F.sum(axis=1, keepdims=True)).sum(axis=0)
        covariance = np.cov(np.log(sizes), np.log([4, 2, 1]))
        weight = max(2 * covariance[0, 1] / np.trace(covariance), 0)
        F = F @ np.diag(sizes ** (1 - weight) * np.array([4, 2, 1]) ** weight)
    if class_balance == "labels":
        F = F @ np.diag(Y.sum(axis=0) / F.sum(axis=0))
    expected = F / F.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.label_distributions_, expected, atol=1e-5)
    np.testing.assert_array_equal(model.transduction_[7:], expected.argmax(axis=1)[7:])
    np.testing.assert_array_equal(model.transduction_[:7], y[:7])
    differs = expected.argmax(axis=1)[:7] != y[:7]
    np.testing.assert_array_equal(model.disputed_indices_, np.flatnonzero(differs))
    np.testing.assert_allclose(model.confidence_, expected.max(axis=1), atol=1e-5)
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)
    assert not model.unreached_.any()


def test_class_balance_matters_as_alpha_tends_to_one(soft):
    """Without it every row of F tends to that of √d·√dᵀ·Y, whose largest entry is one class."""
    hypergraph, y = soft
    X = np.zeros((30, 1))
    plain = on(hypergraph, alpha=1 - 1e-6, class_balance="none").fit(X, y)
    assert set(plain.transduction_[7:]) == {0}
    assert plain.disputed_indices_.tolist() == [4, 5, 6]
    reach = np.bincount(y[:7], np.sqrt(hypergraph.vertex_degrees)[:7])
    limit = np.tile(reach / reach.sum(), (30, 1))
    np.testing.assert_allclose(plain.label_distributions_, limit, atol=1e-4)
    scaled = on(hypergraph, alpha=1 - 1e-6, class_balance="equal").fit(X, y)
    assert set(scaled.transduction_) == {0, 1, 2}
    by_labels = on(hypergraph, alpha=1 - 1e-6, class_balance="labels").fit(X, y)
    odds = by_labels.label_distributions_ / scaled.label_distributions_
    np.testing.assert_allclose(odds / odds[:, :1], np.tile([1, 0.5, 0.25], (30, 1)), rtol=1e-6)


def test_estimated_sizes_of_classes():
    """Two clusters of 10 and 40 samples, one label each, with a bridge."""
    edges = [[*np.random.RandomState(e).choice(10, 4, replace=False)] for e in range(20)]
    edges += [[*(10 + np.random.RandomState(e).choice(40, 4, replace=False))] for e in range(80)]
    hypergraph = Hypergraph.from_edges([*edges, [0, 10], [1, 11], [2, 12]])
    y = np.full(50, -1)
    y[[5, 30]] = 0, 1
    errors = {}
    for balance in ("estimated", "equal"):
        model = on(hypergraph, alpha=0.999, class_balance=balance).fit(np.zeros((50, 1)), y)
        sums = model.label_distributions_.sum(axis=0)
        errors[balance] = abs(sums / 50 - [0.2, 0.8]).max()
    assert errors["estimated"] < errors["equal"]


@pytest.mark.parametrize("class_balance", BALANCES)
def test_renaming_the_classes_renames_the_answer(soft, class_balance):
    hypergraph, y = soft
    X = np.zeros((30, 1))
    names = np.array([30, 10, 20])
    renamed = np.where(y >= 0, names[y], -1)
    plain = on(hypergraph, class_balance=class_balance).fit(X, y)
    other = on(hypergraph, class_balance=class_balance).fit(X, renamed)
    assert other.classes_.tolist() == [10, 20, 30]
    np.testing.assert_array_equal(other.transduction_, names[plain.transduction_])
    np.testing.assert_allclose(
        other.label_distributions_[:, [2, 0, 1]], plain.label_distributions_, atol=1e-6
    )


@pytest.mark.parametrize("alpha", [0, 1, -1, np.nan, "high"])
def test_impossible_alphas_are_refused_before_the_long_work(alpha):
    class Slow(ElasticNetHypergraph):
        def fit(self, X, y=None, *, progress=None):
            raise AssertionError("the structure was built")

    with pytest.raises(InputError, match="alpha must be a number between 0 and 1"):
        HypergraphClassifier(structure=Slow(), alpha=alpha).fit(np.eye(4), [0, 1, -1, -1])


def test_unknown_class_balance():
    with pytest.raises(InputError, match=r"class_balance must be .*, got True"):
        HypergraphClassifier(class_balance=True).fit(np.eye(4), [0, 1, -1, -1])


# --- samples that no label reaches -----------------------------------------------------------


@pytest.mark.parametrize("class_balance", BALANCES)
@pytest.mark.parametrize(
    ("y", "mark"),
    [
        (np.array([0, -1, -1, -1, -1, 1, -1, -1, -1, -1]), -1),
        (np.array([0, np.nan, -1, -1, -1, 1, -1, -1, -1, -1]), -1),
        (np.array(["a", "", "", "", "", "b", "", "", "", ""]), ""),
        (np.array(["a", *[None] * 4, "b", *[None] * 4], dtype=object), ""),
        (np.array([True, *[None] * 4, False, *[None] * 4], dtype=object), None),
    ],
)
def test_components_without_a_label_are_reported(y, mark, class_balance):
    with pytest.warns(UserWarning, match="no label reaches 4 of 10 samples, which are") as caught:
        model = on(THREE_COMPONENTS, class_balance=class_balance).fit(TEN, y)
    text = str(caught[0].message)
    assert text.endswith(": rows 6, 7, 8 and 1 more; label some of them")
    assert "alpha" not in text  # which does not connect what is separate
    assert model.unreached_.tolist() == [False] * 6 + [True] * 4
    assert model.transduction_[6:].tolist() == [mark] * 4
    assert model.transduction_[:3].tolist() == [y[0]] * 3
    assert model.transduction_[3:6].tolist() == [y[5]] * 3
    np.testing.assert_array_equal(model.label_distributions_[6:], 0)
    np.testing.assert_array_equal(model.confidence_[6:], 0)
    np.testing.assert_allclose(model.label_distributions_[:6].sum(axis=1), 1)


def test_vertices_too_far_for_a_label_to_arrive_are_reported_too():
    """Entries that conjugate gradients leave at zero are no labels."""
    path = Hypergraph.from_edges([[i, i + 1] for i in range(599)])
    y = np.full(600, -1)
    y[0], y[599] = 0, 1
    with pytest.warns(UserWarning, match="no label reaches .* increase alpha"):
        model = on(path, alpha=0.5).fit(np.zeros((600, 1)), y)
    lost = model.transduction_ == -1
    np.testing.assert_array_equal(model.unreached_, lost)
    assert lost[300]
    assert not lost[:5].any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = on(path, alpha=0.9999).fit(np.zeros((600, 1)), y)
    np.testing.assert_array_equal(model.transduction_, np.arange(600) >= 300)


def test_new_sample_beside_unreached_ones_has_no_label():
    """Two groups in orthogonal spaces, labels only in the first."""
    rng = np.random.default_rng(3)
    X = np.zeros((40, 40))
    X[:20, :20], X[20:, 20:] = rng.normal(size=(2, 20, 20))
    X[:10, :20] += 3 * rng.normal(size=20)
    y = np.full(40, -1)
    y[[0, 1, 11, 12]] = [5, 5, 6, 6]
    structure = ElasticNetHypergraph(preprocessing="unit")
    with pytest.warns(UserWarning, match="no label reaches 20 of 40"):
        model = HypergraphClassifier(structure=structure).fit(X, y)
    new = X[[2, 25]]
    assert model.predict(new).tolist() == [5, -1]
    proba = model.predict_proba(new)
    assert proba[0].sum() == pytest.approx(1)
    np.testing.assert_array_equal(proba[1], 0)


# --- from samples ------------------------------------------------------------------------------


def test_the_rest_of_the_samples(fitted, subspaces):
    X, y, given = subspaces
    hidden = given == -1
    assert (fitted.transduction_ == y)[hidden].mean() > 0.97
    np.testing.assert_array_equal(fitted.transduction_[~hidden], y[~hidden])
    assert fitted.representation_.coefficients.shape == (len(X), len(X))
    assert fitted.n_features_in_ == X.shape[1]


def test_new_samples_of_the_same_subspaces(subspaces):
    X, y, given = subspaces
    model = HypergraphClassifier().fit(X[:90], given[:90])
    assert (model.predict(X[90:]) == y[90:]).mean() > 0.9
    assert model.score(X[90:], y[90:]) == (model.predict(X[90:]) == y[90:]).mean()


def test_prediction_of_the_samples_of_fit_is_their_transduction(fitted, subspaces):
    assert (fitted.predict(subspaces[0]) == fitted.transduction_).mean() > 0.97


def test_probabilities_are_means_of_those_of_the_members(fitted, subspaces):
    new = subspaces[0][:20] + 0.05 * np.random.default_rng(2).normal(size=(20, 50))
    proba = fitted.predict_proba(new)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert proba.min() >= 0
    np.testing.assert_array_equal(fitted.predict(new), fitted.classes_[proba.argmax(axis=1)])
    memberships = fitted.structure_.attach(new).memberships.toarray()
    for row, weights in zip(proba, memberships, strict=True):
        expected = np.average(fitted.label_distributions_, axis=0, weights=weights)
        np.testing.assert_allclose(row, expected, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
def test_pixels_of_any_type(dtype):
    rng = np.random.default_rng(2)
    faces = rng.integers(0, 2, size=(3, 64))
    X = (200 * np.abs(np.repeat(faces, 20, axis=0) - (rng.uniform(size=(60, 64)) < 0.1))).astype(
        dtype
    )
    y = np.repeat(["ann", "bob", "cyd"], 20)
    given = np.where(np.arange(60) % 10 == 0, y, "")
    model = HypergraphClassifier().fit(X, given)
    assert model.transduction_.tolist() == y.tolist()
    assert model.predict(X).tolist() == y.tolist()


# --- few labels ------------------------------------------------------------------------------


def test_few_labels(subspaces):
    X, y, _ = subspaces
    for labels in (1, 2, 5):
        given = np.full(len(y), -1)
        for kind in np.unique(y):
            given[np.flatnonzero(y == kind)[:labels]] = kind
        model = HypergraphClassifier().fit(X, given)
        assert (model.transduction_ == y).mean() > 0.97
    with pytest.raises(InputError, match=r"method must be one of .*, got 'fish'"):
        HypergraphClassifier(method="fish").fit(X, given)


def test_a_class_with_more_labels_does_not_dominate(subspaces):
    X, y, _ = subspaces
    given = np.full(len(y), -1)
    first, *others = np.unique(y)
    given[np.flatnonzero(y == first)[:10]] = first
    for kind in others:
        given[np.flatnonzero(y == kind)[0]] = kind
    model = HypergraphClassifier(method="poisson").fit(X, given)
    assert (model.transduction_ == y).mean() > 0.97


def test_component_with_labels_of_one_class_belongs_to_it():
    two = Hypergraph.from_edges([[0, 1, 2], [1, 2, 3], [4, 5], [5, 6], [7, 8], [8, 9]])
    given = np.array([0, -1, -1, 1, 2, -1, 2, -1, -1, -1])
    with pytest.warns(UserWarning, match="no label reaches 3 of 10"):
        model = on(two, method="poisson").fit(TEN, given)
    assert model.transduction_.tolist()[3:] == [1, 2, 2, 2, -1, -1, -1]
    np.testing.assert_array_equal(model.label_distributions_[4:7], [[0, 0, 1]] * 3)


def test_prediction_with_scores(fitted, subspaces):
    X = subspaces[0]
    prediction = fitted.predict_with_scores(X)
    np.testing.assert_array_equal(prediction.labels, fitted.predict(X))
    np.testing.assert_array_equal(prediction.confidence, fitted.predict_proba(X).max(axis=1))


# --- given labels, disputed or not ----------------------------------------------------------------


@pytest.fixture(scope="module")
def disputed(subspaces):
    """A model with one wrong label among many, and the index of the sample that has it."""
    X, _, given = subspaces
    wrong = int(np.flatnonzero(given == 1)[3])
    changed = given.copy()
    changed[wrong] = 0
    return HypergraphClassifier(alpha=0.999).fit(X, changed), wrong, changed


def test_given_labels_are_kept_and_disputed_ones_reported(disputed):
    model, wrong, given = disputed
    labeled = np.flatnonzero(given >= 0)
    np.testing.assert_array_equal(model.labeled_indices_, labeled)
    np.testing.assert_array_equal(model.transduction_[labeled], given[labeled])
    assert model.disputed_indices_.tolist() == [wrong]
    assert model.classes_[model.label_distributions_[wrong].argmax()] == 1
    assert model.transduction_[wrong] == 0
    assert model.confidence_[wrong] == model.label_distributions_[wrong].max()


def test_boundary_scores_are_those_of_the_final_labels(disputed):
    model, wrong, _ = disputed
    expected = boundary_scores(model.graph_, model.transduction_, 3)
    np.testing.assert_array_equal(model.boundary_scores_, expected)
    assert model.boundary_scores_[wrong] > 0.3  # its neighbors are of the other class


def test_boundary_scores_of_samples_that_no_label_reaches():
    y = np.array([0, -1, -1, -1, -1, 1, -1, -1, -1, -1])
    with pytest.warns(UserWarning, match="no label reaches 4"):
        model = on(THREE_COMPONENTS).fit(TEN, y)
    codes = np.where(model.unreached_, 2, model.transduction_)
    np.testing.assert_array_equal(
        model.boundary_scores_, boundary_scores(THREE_COMPONENTS, codes, 3)
    )


@pytest.mark.parametrize("method", ["diffusion", "poisson"])
def test_no_label_is_disputed_among_true_ones(subspaces, method):
    X, _, given = subspaces
    assert HypergraphClassifier(method=method).fit(X, given).disputed_indices_.tolist() == []


# --- the spectrum ---------------------------------------------------------------------------------


def test_the_spectrum_is_computed_once_and_only_if_it_is_used(subspaces, monkeypatch):
    X, _, given = subspaces
    calls = []
    original = classification.eigenpairs_on

    def spy(*args, **kwargs):
        calls.append(args[2])
        return original(*args, **kwargs)

    monkeypatch.setattr(classification, "eigenpairs_on", spy)
    model = HypergraphClassifier().fit(X, given)
    assert calls == []
    spectrum = model.spectrum_
    model.suggest(3)
    assert model.spectrum_ is spectrum
    assert calls == [15]  # five per class
    model.fit(X, given)
    assert model.spectrum_ is not spectrum
    assert calls == [15, 15]


def test_the_spectrum_is_that_of_a_dense_solver(fitted):
    values = np.sort(np.linalg.eigvalsh(fitted.graph_.theta_dense()))[::-1]
    np.testing.assert_allclose(fitted.spectrum_.eigenvalues, values[:15], atol=1e-9)


def test_the_spectrum_leaves_out_fragments():
    y = np.array([0, -1, -1, -1, -1, 1, -1, -1, -1, -1])
    with pytest.warns(UserWarning, match="no label reaches 4"):
        model = on(THREE_COMPONENTS).fit(TEN, y)
    assert not model.spectrum_.eigenvectors[9].any()
    assert np.abs(model.spectrum_.eigenvectors[:9]).max(axis=1).min() > 0
    with pytest.raises(NotFittedError):
        _ = HypergraphClassifier().spectrum_
