"""What holds for every structure."""

import ast
import sys
from pathlib import Path

import numpy as np
import pytest
from every_structure import STRUCTURES
from scipy import sparse
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import enhg._validation
from enhg import (
    ElasticNetHypergraph,
    GaussianGraph,
    HypergraphClassifier,
    HypergraphClustering,
    KNNHypergraph,
    L1Hypergraph,
    LaplacianEigenmapGraph,
    LowRankGraph,
    clustering_accuracy,
)
from enhg.exceptions import InputError
from enhg.preprocessing import Whitening

ATTACHING = [ElasticNetHypergraph, L1Hypergraph]
each = pytest.mark.parametrize("structure", STRUCTURES)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=4, return_X_y=True)
    return X[:240], y[:240]


@each
def test_structures_do_not_import_each_other(structure):
    module = structure.__module__
    others = {other.__module__ for other in STRUCTURES} - {module}
    tree = ast.parse(Path(sys.modules[module].__file__).read_text(encoding="utf-8"))
    imported = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert "enhg.preprocessing.naming" in imported
    assert not imported & others


@each
def test_both_learners_accept_it(structure, digits):
    X, y = digits
    labels = HypergraphClustering(4, structure=structure(), random_state=0).fit_predict(X)
    assert clustering_accuracy(y, labels) > 0.6
    given = np.where(np.arange(len(y)) < 40, y, -1)
    model = HypergraphClassifier(structure=structure()).fit(X, given)
    assert (model.transduction_ == y)[40:].mean() > 0.85


@each
def test_degrees_are_positive_and_the_root_of_degrees_is_an_eigenvector(structure, digits):
    graph = structure().fit(digits[0]).graph_
    assert graph.n_vertices == len(digits[0])
    assert graph.vertex_degrees.min() > 0
    root = np.sqrt(graph.vertex_degrees)
    np.testing.assert_allclose(graph.theta @ root, root, rtol=1e-9)
    theta = graph.theta_dense()
    np.testing.assert_allclose(theta, theta.T, atol=1e-12)
    values = np.linalg.eigvalsh(theta)
    assert values[0] >= graph.theta_lower_bound - 1e-9
    assert values[-1] <= 1 + 1e-9


@each
def test_permuting_the_samples_permutes_the_structure(structure, digits):
    X = digits[0][:100]
    order = np.random.default_rng(0).permutation(len(X))
    # "auto" compares modularities from random starts, which depend a little on the order.
    made = structure(preprocessing="smooth")
    theta = clone(made).fit(X).graph_.theta_dense()
    permuted = clone(made).fit(X[order]).graph_.theta_dense()
    np.testing.assert_allclose(permuted, theta[np.ix_(order, order)], atol=2e-3)


@each
def test_it_can_be_cloned_and_its_parameters_set(structure, digits):
    made = structure(preprocessing="unit")
    copy = clone(made)
    assert copy.get_params() == made.get_params()
    assert copy.set_params(preprocessing="zero_mean").preprocessing == "zero_mean"
    first = made.fit(digits[0][:60]).graph_.theta_dense()
    again = clone(made).fit(digits[0][:60]).graph_.theta_dense()
    np.testing.assert_array_equal(first, again)


@each
def test_equal_and_zero_samples_are_accepted(structure):
    X = np.random.default_rng(0).random((30, 20))
    X[10:15] = X[0]
    X[20] = 0
    with pytest.warns(UserWarning, match="constant"):
        graph = structure().fit(X).graph_
    assert np.isfinite(graph.theta_dense()).all()
    assert graph.vertex_degrees.min() > 0


@each
def test_samples_that_are_all_equal_are_accepted(structure):
    few = {"n_neighbors": 3} if "n_neighbors" in structure().get_params() else {}
    graph = structure(**few).fit(np.tile(np.arange(20.0), (6, 1))).graph_
    assert np.isfinite(graph.theta_dense()).all()


@each
def test_bad_samples_are_refused(structure):
    with pytest.raises(ValueError, match="NaN"):
        structure().fit(np.full((5, 4), np.nan))
    with pytest.raises(ValueError, match="minimum of 2"):
        structure().fit(np.ones((1, 4)))
    with pytest.raises(ValueError, match="preprocessing must be one of"):
        structure(preprocessing="sideways").fit(np.ones((5, 4)))


@each
def test_progress_is_reported(structure, digits):
    calls = []
    structure().fit(digits[0][:50], progress=lambda done, total: calls.append((done, total)))
    assert all(0 < done <= total for done, total in calls)
    # Structures of distances are built in one step, without reports.
    assert bool(calls) != (structure in (GaussianGraph, KNNHypergraph, LaplacianEigenmapGraph))


# --- preprocessing --------------------------------------------------------------------------------


@each
@pytest.mark.filterwarnings("ignore:.*represented by any other")
@pytest.mark.parametrize(
    "transformer",
    [StandardScaler(), Whitening(), make_pipeline(StandardScaler(), PCA(10))],
    ids=lambda transformer: type(transformer).__name__,
)
def test_any_transformer_can_preprocess(structure, digits, transformer):
    X = digits[0][:80]
    fitted = structure(preprocessing=transformer).fit(X)
    assert type(fitted.preprocessing_) is type(transformer)
    assert fitted.preprocessing_ is not transformer
    ready = clone(transformer).fit(X).transform(X)
    options = {"error_weight": fitted.error_weight_} if structure in ATTACHING else {}
    expected = structure(preprocessing="none", **options).fit(ready).graph_
    np.testing.assert_array_equal(fitted.graph_.theta_dense(), expected.theta_dense())
    np.testing.assert_array_equal(fitted.samples_, X)
    assert fitted.n_features_in_ == 64


@pytest.mark.parametrize("structure", ATTACHING)
def test_new_samples_go_through_any_transformer(structure, digits):
    X = digits[0]
    pipeline = make_pipeline(StandardScaler(), PCA(10))
    fitted = structure(preprocessing=pipeline).fit(X[:80])
    ready = clone(pipeline).fit(X[:80]).transform(X)
    expected = structure(preprocessing="none").fit(ready[:80]).attach(ready[80:100])
    memberships = fitted.attach(X[80:100]).memberships
    # BLAS may round the transform of some samples otherwise than that of all.
    np.testing.assert_allclose(memberships.toarray(), expected.memberships.toarray(), atol=1e-10)
    assert fitted.reconstruct([0]).shape == (1, 64)


@pytest.mark.parametrize(
    ("transformer", "message"),
    [
        (FunctionTransformer(lambda X: X[:-1]), r"keep the number of samples \(20\), got .* 19"),
        (
            FunctionTransformer(lambda X: X / 0),
            "the output of preprocessing must hold finite numbers, got infinity",
        ),
        (
            FunctionTransformer(lambda X: X[:, 0]),
            "the output of preprocessing must have 2 dimensions, samples × features, got dim 1",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_output_of_other_transformers_is_validated(transformer, message):
    X = np.random.default_rng(0).random((20, 5))
    with pytest.raises(InputError, match=message) as caught:
        KNNHypergraph(preprocessing=transformer).fit(X)
    assert caught.value.parameter == "preprocessing"


def test_sparse_output_of_other_transformers_is_refused():
    X = np.random.default_rng(0).integers(0, 3, (20, 5))
    assert sparse.issparse(OneHotEncoder().fit_transform(X))
    message = "preprocessing must return an array, got a sparse csr"
    with pytest.raises(InputError, match=message) as caught:
        KNNHypergraph(preprocessing=OneHotEncoder()).fit(X)
    assert caught.value.parameter == "preprocessing"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # log(0)
def test_other_transformers_validate_as_they_do_alone(digits):
    X = digits[0][:80]
    pipeline = make_pipeline(
        FunctionTransformer(np.log), StandardScaler(), FunctionTransformer(np.nan_to_num)
    )
    structure = KNNHypergraph(preprocessing=pipeline)
    learner = HypergraphClustering(4, structure=structure)
    for fit in (clone(pipeline).fit, structure.fit, learner.fit):
        with pytest.raises(ValueError, match="Input X contains infinity"):
            fit(X)


def test_the_callers_setting_holds_for_other_transformers(digits):
    settings = []

    def record(X):
        settings.append(get_config()["assume_finite"])
        return X

    structure = ElasticNetHypergraph(preprocessing=FunctionTransformer(record))
    structure.fit(digits[0][:40]).attach(digits[0][40:50])
    assert settings == [False, False]
    with config_context(assume_finite=True):
        structure.fit(digits[0][:40])
    assert settings == [False, False, True]


@pytest.mark.parametrize("structure", ATTACHING)
@pytest.mark.filterwarnings("ignore:.*represented by any other")
def test_transformers_that_work_in_place_do_not_change_the_samples(structure, digits):
    X, new = digits[0][:60].copy(), digits[0][60:70].copy()
    scaler = FunctionTransformer(lambda X: np.multiply(X, 2, out=X))
    pipeline = make_pipeline(scaler, StandardScaler(copy=False), PCA(10, copy=False))
    fitted = structure(preprocessing=pipeline).fit(X)
    fitted.attach(new)
    np.testing.assert_array_equal(X, digits[0][:60])
    np.testing.assert_array_equal(fitted.samples_, digits[0][:60])
    np.testing.assert_array_equal(new, digits[0][60:70])


def test_a_frozen_transformer_is_used_as_it_is(digits):
    X = digits[0][:60]
    pca = PCA(10).fit(digits[0][60:])
    fitted = ElasticNetHypergraph(preprocessing=FrozenEstimator(pca)).fit(X)
    assert fitted.preprocessing_.estimator is pca
    expected = ElasticNetHypergraph(preprocessing="none").fit(pca.transform(X))
    assert fitted.graph_ == expected.graph_
    message = "preprocessing must be fitted to the 20 features of X, got one fitted to 64"
    with pytest.raises(InputError, match=message):
        fitted.fit(X[:, :20])


# --- feature names --------------------------------------------------------------------------------


@each
@pytest.mark.filterwarnings("ignore:.*represented by any other")
def test_feature_names_are_recorded(structure, digits):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(digits[0][:40]).add_prefix("pixel ")
    fitted = structure().fit(frame)
    assert fitted.feature_names_in_.tolist() == frame.columns.tolist()
    assert fitted.n_features_in_ == 64
    assert not hasattr(fitted.fit(digits[0][:40]), "feature_names_in_")


@pytest.mark.parametrize("structure", ATTACHING)
def test_feature_names_of_new_samples_are_checked(structure, digits):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(digits[0]).add_prefix("pixel ")
    fitted = structure().fit(frame[:60])
    expected = structure().fit(digits[0][:60]).attach(digits[0][60:70]).memberships
    assert (fitted.attach(frame[60:70]).memberships != expected).nnz == 0
    with pytest.raises(InputError, match=r"X must have the features of fit: .*feature names"):
        fitted.attach(frame[60:70].add_prefix("other "))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        fitted.attach(digits[0][60:70])


# --- validation -----------------------------------------------------------------------------------


@pytest.fixture
def scans(monkeypatch):
    """Shapes of the arrays that `check_samples` scans for NaN, in the order of the calls."""
    shapes = []
    check_array = enhg._validation.check_array

    def counting(X, *args, **kwargs):
        if not get_config()["assume_finite"]:
            shapes.append(np.shape(X))
        return check_array(X, *args, **kwargs)

    monkeypatch.setattr(enhg._validation, "check_array", counting)
    return shapes


@each
@pytest.mark.filterwarnings("ignore:.*represented by any other")
@pytest.mark.parametrize("preprocessing", ["auto", "whiten", "smooth", "lift", "none"])
def test_samples_are_validated_once(structure, digits, scans, preprocessing):
    X = digits[0][:50].copy()
    X.setflags(write=False)
    fitted = structure(preprocessing=preprocessing).fit(X)
    assert scans == [X.shape]
    assert fitted.samples_ is X
    if structure in ATTACHING:
        fitted.attach(digits[0][50:60])
        assert scans == [X.shape, (10, 64)]


# --- scales ---------------------------------------------------------------------------------------

SCALE_FREE = [kind for kind in STRUCTURES if kind is not LowRankGraph]


@pytest.mark.parametrize("structure", SCALE_FREE)
@pytest.mark.parametrize("exponent", [530, -660])
def test_samples_whose_squares_are_out_of_range_are_refused(structure, exponent):
    X = np.random.default_rng(0).normal(size=(30, 5)) * 2.0**exponent
    with pytest.raises(InputError, match="X must have products within the range of float64"):
        structure(preprocessing="none").fit(X)


@pytest.mark.parametrize("structure", SCALE_FREE)
@pytest.mark.parametrize("exponent", [66, -80])
def test_samples_in_float32_have_the_range_of_float64(structure, exponent):
    X = np.random.default_rng(0).normal(size=(30, 5)).astype(np.float32)
    graphs = [structure(preprocessing="none").fit(A).graph_ for A in (X, X * 2.0**exponent)]
    scaled, expected = (graph.theta @ np.eye(30) for graph in graphs)
    np.testing.assert_allclose(scaled, expected, atol=1e-3)
