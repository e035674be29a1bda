"""What holds for every structure of the paper."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from enhg import HypergraphClassifier, HypergraphClustering, clustering_accuracy
from experiments.methods import METHODS

STRUCTURES = {name: method.structure for name, method in METHODS.items()}
each = pytest.mark.parametrize("structure", STRUCTURES.values(), ids=list(STRUCTURES))


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=4, return_X_y=True)
    return X[:240], y[:240]


@each
def test_it_gives_both_learners_what_they_need(structure, digits):
    X, y = digits
    k = 4
    labels = HypergraphClustering(k, structure=structure(), random_state=0).fit_predict(X)
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
def test_samples_in_another_order_give_the_same_structure(structure, digits):
    X = digits[0][:100]
    order = np.random.default_rng(0).permutation(len(X))
    theta = structure().fit(X).graph_.theta_dense()
    turned = structure().fit(X[order]).graph_.theta_dense()
    np.testing.assert_allclose(turned, theta[np.ix_(order, order)], atol=2e-3)


@each
def test_it_can_be_cloned_and_told_its_parameters(structure, digits):
    made = structure(preprocessing="unit")
    copy = clone(made)
    assert copy.get_params() == made.get_params()
    assert copy.set_params(preprocessing="zero_mean").normalize == "zero_mean"
    first = made.fit(digits[0][:60]).graph_.theta_dense()
    again = clone(made).fit(digits[0][:60]).graph_.theta_dense()
    np.testing.assert_array_equal(first, again)


@each
def test_samples_that_are_equal_or_empty_are_borne(structure):
    rng = np.random.default_rng(0)
    X = rng.random((30, 20))
    X[10:15] = X[0]
    X[20] = 0
    with pytest.warns(UserWarning, match="constant"):
        graph = structure().fit(X).graph_
    assert np.isfinite(graph.theta_dense()).all()
    assert graph.vertex_degrees.min() > 0


@each
def test_samples_that_are_all_equal_are_borne(structure):
    graph = (
        structure(**({"k": 3} if "k" in structure().get_params() else {}))
        .fit(np.tile(np.arange(20.0), (6, 1)))
        .graph_
    )
    assert np.isfinite(graph.theta_dense()).all()


@each
def test_bad_samples_are_refused(structure):
    with pytest.raises(ValueError, match="NaN"):
        structure().fit(np.full((5, 4), np.nan))
    with pytest.raises(ValueError, match="minimum of 2"):
        structure().fit(np.ones((1, 4)))
    with pytest.raises(ValueError, match="normalize must be one of"):
        structure(preprocessing="sideways").fit(np.ones((5, 4)))


@each
def test_progress_is_told(structure, digits):
    told = []
    structure().fit(digits[0][:50], progress=lambda done, total: told.append((done, total)))
    assert all(0 < done <= total for done, total in told)
    # Neighbors take one step, of which there is nothing to tell.
    assert told or "k" in structure().get_params() or structure.__name__ == "GaussianGraph"
