"""`low_rank_representation` against its closed form, a convex solver and its duality gap."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from enhg.exceptions import InputError
from enhg.representation.low_rank import low_rank_representation


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    bases = rng.normal(size=(3, 2, 15))
    points = np.vstack([rng.normal(size=(7, 2)) @ basis for basis in bases])
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def objective(X, Z, error_weight):
    residuals = np.linalg.norm(X - Z @ X, axis=1).sum()
    return np.linalg.svd(Z, compute_uv=False).sum() + error_weight * residuals


def test_without_noise_it_is_the_projector_on_the_column_space(X):
    """The shape interaction matrix UUᵀ, the closed form of Liu et al."""
    result = low_rank_representation(X, error_weight=100, tol=1e-8, max_iter=5000)
    U, S, _ = np.linalg.svd(X, full_matrices=False)
    U = U[:, S > 1e-10]
    np.testing.assert_allclose(result.coefficients, U @ U.T, atol=1e-5)
    np.testing.assert_allclose(result.residuals, 0, atol=1e-5)


@pytest.mark.parametrize("error_weight", [0.1, 0.5, 2.0])
def test_objective_equals_that_of_a_convex_solver(X, error_weight):
    X = X + 0.1 * np.random.default_rng(1).normal(size=X.shape)
    Z = cp.Variable((len(X), len(X)))
    cost = cp.normNuc(Z) + error_weight * cp.sum(cp.norm(X - Z @ X, axis=1))
    best = cp.Problem(cp.Minimize(cost)).solve(solver=cp.SCS, eps=1e-7, max_iters=100_000)
    result = low_rank_representation(X, error_weight=error_weight, tol=1e-5, max_iter=5000)
    assert objective(X, result.coefficients, error_weight) == pytest.approx(best, rel=1e-4)
    assert result.gap <= 1e-5
    np.testing.assert_allclose(result.residuals, X - result.coefficients @ X, atol=1e-9)


def test_the_gap_bounds_the_distance_from_the_optimum(X):
    exact = objective(
        X, low_rank_representation(X, error_weight=0.5, tol=1e-9, max_iter=20_000).coefficients, 0.5
    )
    for count in (1, 5, 20, 50):
        with pytest.warns(ConvergenceWarning, match="duality gap"):
            loose = low_rank_representation(X, error_weight=0.5, tol=1e-10, max_iter=count)
        value = objective(X, loose.coefficients, 0.5)
        assert exact - 1e-7 <= value
        assert value - exact <= loose.gap * value + 1e-7


@pytest.mark.parametrize("scale", [1e-300, 1e-8, 255.0, 1e8, 1e300])
def test_samples_of_any_scale(X, scale):
    """Z is that of the samples divided by their scale, with the weight times it."""
    X = X + 0.1 * np.random.default_rng(1).normal(size=X.shape)
    result = low_rank_representation(X * scale, error_weight=0.5 / scale, tol=1e-5)
    expected = low_rank_representation(X, error_weight=0.5, tol=1e-5)
    assert result.gap <= 1e-5
    assert objective(X, result.coefficients, 0.5) == pytest.approx(
        objective(X, expected.coefficients, 0.5), rel=2e-5
    )
    np.testing.assert_allclose(result.residuals / scale, X - result.coefficients @ X, atol=1e-9)


@pytest.mark.parametrize("error_weight", [1e3, 1e9, 1e300])
def test_a_large_error_weight_gives_the_projector(X, error_weight):
    X = X + 0.1 * np.random.default_rng(1).normal(size=X.shape)
    result = low_rank_representation(X, error_weight=error_weight, max_iter=1)
    U = np.linalg.svd(X, full_matrices=False)[0]
    np.testing.assert_allclose(result.coefficients, U @ U.T, atol=1e-10)
    assert result.gap == 0


def test_a_weight_out_of_range_is_refused(X):
    with pytest.raises(InputError, match="error_weight must be within the range"):
        low_rank_representation(X * 1e300, error_weight=1e300)


@pytest.mark.parametrize("error_weight", [1e-3, 1e-12, 1e-100, 1e-300])
def test_a_small_error_weight_leaves_all_in_the_residuals(X, error_weight):
    result = low_rank_representation(X, error_weight=error_weight)
    assert result.gap <= 1e-3
    np.testing.assert_array_equal(result.coefficients, 0)
    np.testing.assert_allclose(result.residuals, X, atol=1e-12)


def test_a_corrupted_sample_has_a_large_residual(X):
    corrupted = X.copy()
    corrupted[4] = np.random.default_rng(2).normal(size=X.shape[1])
    corrupted[4] /= np.linalg.norm(corrupted[4])
    norms = np.linalg.norm(low_rank_representation(corrupted, error_weight=0.8).residuals, axis=1)
    assert norms.argmax() == 4
    assert norms[4] > 2 * np.delete(norms, 4).max()


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"error_weight": 0}, "error_weight must be a positive number, got 0"),
        ({"error_weight": np.inf}, "error_weight must be a positive number, got inf"),
        ({"tol": -1}, "tol must be a positive number, got -1"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1, got 0"),
        ({"max_iter": 1.5}, "max_iter must be a whole number of at least 1, got 1.5"),
    ],
)
def test_wrong_parameters(X, choice, message):
    with pytest.raises(InputError, match=message):
        low_rank_representation(X, **choice)


def test_progress_counts_iterations(X):
    calls = []
    low_rank_representation(
        X, error_weight=0.3, progress=lambda done, total: calls.append((done, total))
    )
    assert calls
    assert all(total == 1000 for _, total in calls)
    assert [done for done, _ in calls] == list(range(10, 10 * len(calls) + 1, 10))


def test_zero_samples():
    result = low_rank_representation(np.zeros((4, 3)))
    np.testing.assert_array_equal(result.coefficients, 0)
    assert result.gap == 0


def test_a_zero_sample_among_others(X):
    """Its residual has no direction; no division by its length overflows."""
    noise = 0.01 * np.random.default_rng(1).normal(size=X.shape)
    samples = np.vstack([X + noise, np.zeros(15)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = low_rank_representation(samples, error_weight=8.0)
    assert result.gap <= 1e-3
    np.testing.assert_allclose(result.coefficients[-1], 0, atol=1e-12)
