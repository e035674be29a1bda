"""Predictions: where they are available, and that they do not follow the array of the caller."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator

from enhg import (
    ElasticNetHypergraph,
    HypergraphClassifier,
    HypergraphClustering,
    KNNHypergraph,
    L1Hypergraph,
)
from enhg.io.models import load_model, save_model

X, Y = load_digits(n_class=4, return_X_y=True)
X, NEW, Y = X[:360], X[360:], Y[:360]
GIVEN = np.where(np.arange(len(X)) % 10 == 0, Y, -1)
LEARNERS = ["clustering", "classifier"]


def learner(name, structure=None):
    if name == "clustering":
        return HypergraphClustering(4, structure=structure, random_state=0)
    return HypergraphClassifier(structure=structure)


@pytest.fixture(scope="module")
def structure():
    return ElasticNetHypergraph().fit(X)


PREDICTING = {
    "clustering": ("predict", "predict_with_scores"),
    "classifier": ("predict", "predict_with_scores", "predict_proba", "score"),
}


@pytest.mark.parametrize("name", LEARNERS)
def test_predictions_are_available_if_the_structure_attaches_new_samples(name, structure):
    knn = KNNHypergraph().fit(X)
    fitted = learner(name, FrozenEstimator(structure)).fit(X, GIVEN).set_params(structure=knn)
    without = [KNNHypergraph(), FrozenEstimator(knn), knn.graph_]
    for method in PREDICTING[name]:
        for given in (None, L1Hypergraph(), FrozenEstimator(structure)):
            assert hasattr(learner(name, given), method)
        for given in without:
            assert not hasattr(learner(name, given), method)
        # Of a fitted learner, the structure that it was fitted with decides.
        assert hasattr(fitted, method)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_reason_for_a_missing_prediction_is_stated(name):
    model = learner(name, KNNHypergraph()).fit(X, GIVEN)
    reason = "predict needs .* ElasticNetHypergraph or L1Hypergraph, got KNNHypergraph; use one"
    with pytest.raises(AttributeError, match=reason):
        model.predict(X)


@pytest.mark.parametrize("name", LEARNERS)
def test_parameters_of_the_default_structure(name):
    model = learner(name)
    assert model.get_params()["structure__gamma"] == ElasticNetHypergraph().gamma
    assert model.get_params(deep=False)["structure"] is None
    changed = clone(model).set_params(structure__gamma=30, structure__hyperedges__threshold=0.1)
    assert changed.get_params()["structure__gamma"] == 30
    assert changed.structure.hyperedges.threshold == 0.1
    assert "ElasticNetHypergraph(gamma=30" in repr(clone(changed))
    assert "structure" not in repr(model)
    assert changed.set_params(structure=None).structure is None
    assert changed.set_params(structure=None, structure__lam=2).structure.lam == 2
    with pytest.raises(ValueError, match="Invalid parameter 'typo'"):
        model.set_params(structure__typo=1)


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("preprocessing", ["none", "whiten"])
def test_a_change_of_the_array_changes_neither_model_nor_file(name, preprocessing, tmp_path):
    samples = X.copy()
    model = learner(name, ElasticNetHypergraph(preprocessing=preprocessing)).fit(samples, GIVEN)
    expected = model.predict_with_scores(NEW)
    reconstructed = model.structure_.reconstruct([0, 1])
    samples[:] = samples[::-1] + 3.0
    save_model(model, tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    for changed_later in (model, again):
        prediction = changed_later.predict_with_scores(NEW)
        for part in ("labels", "confidence", "outlier_scores"):
            np.testing.assert_array_equal(getattr(prediction, part), getattr(expected, part))
        np.testing.assert_array_equal(changed_later.structure_.reconstruct([0, 1]), reconstructed)
