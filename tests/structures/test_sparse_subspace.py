"""`SparseSubspaceGraph` against a convex solver."""

import numpy as np
import pytest

from enhg import SparseSubspaceGraph, self_representation


def largest_products(X):
    return np.abs(X @ X.T - np.diag(np.diag(X @ X.T))).max(axis=1)


def test_it_solves_its_problem(unit_samples, solve_by_cvxpy):
    X = unit_samples
    structure = SparseSubspaceGraph(alpha_z=30, alpha_e=6, preprocessing="none", tol=1e-6).fit(X)
    lengths = np.abs(X).sum(axis=1)
    mu_e = min(np.delete(lengths, i).max() for i in range(len(X)))
    gamma, error_weight = 30 / largest_products(X).min(), 6 / mu_e
    assert structure.gamma_ == pytest.approx(gamma)
    assert structure.error_weight_ == pytest.approx(error_weight)
    C, E = solve_by_cvxpy(X, gamma, error_weight)
    assert np.abs(E).max() > 0.01  # or the sparse error would not be tested
    np.testing.assert_allclose(structure.representation_.sparse_errors.toarray(), E, atol=1e-4)
    scaled = np.abs(C) / np.abs(C).max(axis=1, keepdims=True)
    np.testing.assert_allclose(structure.graph_.adjacency.toarray(), scaled + scaled.T, atol=2e-3)


def test_without_sparse_errors_it_is_the_lasso(unit_samples):
    X = unit_samples
    structure = SparseSubspaceGraph(alpha_z=30, alpha_e=None, preprocessing="none").fit(X)
    gamma = 30 / largest_products(X).min()
    lasso = self_representation(X, gamma=gamma, lam=0, gamma_scale="absolute")
    C = np.abs(lasso.coefficients.toarray())
    C /= C.max(axis=1, keepdims=True)
    np.testing.assert_allclose(structure.graph_.adjacency.toarray(), C + C.T)
    assert structure.representation_.sparse_errors is None
    assert structure.error_weight_ is None


def test_a_wrong_pixel_is_a_sparse_error(unit_samples):
    X = unit_samples.copy()
    X[5, 3] += 2
    structure = SparseSubspaceGraph(alpha_z=50, alpha_e=4, preprocessing="none").fit(X)
    E = structure.representation_.sparse_errors
    assert np.abs(E[[5]].toarray()).argmax() == 3
    assert E[5, 3] == pytest.approx(2, abs=0.3)


def test_a_sample_orthogonal_but_for_rounding_does_not_set_gamma(unit_samples):
    n, d = unit_samples.shape
    X = np.zeros((n + 1, d + 4))
    X[:n, :d] = unit_samples
    X[n, d:] = 0.5
    rotation, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(d + 4, d + 4)))
    X = X @ rotation
    assert np.abs(X[:n] @ X[n]).max() > 0  # or there would be no rounding
    structure = SparseSubspaceGraph(alpha_z=30, alpha_e=None, preprocessing="none")
    expected = structure.fit(unit_samples).graph_.adjacency.toarray()
    with pytest.warns(UserWarning, match="1 of 25 samples are not represented"):
        adjacency = structure.fit(X).graph_.adjacency.toarray()
    np.testing.assert_allclose(adjacency[:n, :n], expected, atol=1e-3)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"alpha_z": -1}, "alpha_z must be a positive number, got -1"),
        ({"alpha_z": None}, "alpha_z must be a positive number, got None"),
        ({"alpha_e": np.inf}, "alpha_e must be a positive number or None, got inf"),
    ],
)
def test_wrong_parameters(unit_samples, parameters, message):
    with pytest.raises(ValueError, match=message):
        SparseSubspaceGraph(**parameters).fit(unit_samples)
