"""Supports of many atoms, which are solved by iterations on the residual."""

from __future__ import annotations

import numpy as np
import pytest
from elastic_net_oracle import TOL, samples, violations
from scipy.optimize import minimize_scalar
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet

from enhg.representation import _blocks, _dual, _dual_kernels
from enhg.representation.solver import self_representation


@pytest.fixture
def dual_rows(monkeypatch):
    """Number of rows in each call of the iterations."""
    rows, solve_dual = [], _blocks.solve_dual

    def counted(problem, *arguments):
        rows.append(len(problem.l1))
        return solve_dual(problem, *arguments)

    monkeypatch.setattr(_blocks, "solve_dual", counted)
    return rows


@pytest.fixture
def always_dual(monkeypatch, dual_rows):
    """Iterations wherever the ridge permits them, whatever they cost."""
    monkeypatch.setattr(_blocks, "_DUAL_COST", 0)
    return dual_rows


# --- optimality ------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("gamma", "lam"), [(3, 100), (10, 30), (60, 1), (60, 1e4)])
def test_every_row_is_optimal_and_the_certificate_says_so(always_dual, dtype, gamma, lam):
    X = samples(200, 20, dtype=dtype)
    result = self_representation(X, gamma=gamma, lam=lam, gamma_scale="absolute")
    assert sum(always_dual) >= 190
    assert result.coefficients.nnz > 20 * len(X)
    true = violations(X, result.coefficients, gamma, lam, "squared", "absolute")
    assert true.max() <= 1.1 * TOL
    assert result.certificate.max() <= TOL
    rounding = 1e-5 if dtype == np.float32 else 1e-7
    np.testing.assert_allclose(result.certificate, true, atol=rounding)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_dictionary(always_dual, dtype):
    X, A = samples(30, 12, seed=1, dtype=dtype), samples(150, 12, dtype=dtype)
    result = self_representation(X, dictionary=A, gamma=5, lam=50)
    assert sum(always_dual) == len(X)
    assert result.coefficients.nnz > 12 * len(X)
    true = violations(X, result.coefficients, 5, 50, "squared", "relative", A=A)
    assert true.max() <= 1.1 * TOL
    np.testing.assert_allclose(result.certificate, true, atol=1e-5)


def test_sparse_errors(always_dual):
    X, a, lam, weight = samples(100, 15), 0.05, 20.0, 0.7
    result = self_representation(
        X, gamma=1 / a, lam=lam, gamma_scale="absolute", error_weight=weight
    )
    assert sum(always_dual) >= 90
    assert result.sparse_errors.nnz > 0
    A = np.vstack([X, np.eye(15) / weight])
    Z = np.hstack([result.coefficients.toarray(), weight * result.sparse_errors.toarray()])
    slope = (X - Z @ A) @ A.T - 2 * lam * a * Z
    off = np.where(Z != 0, np.abs(slope - a * np.sign(Z)), np.abs(slope) - a)
    np.fill_diagonal(off, 0)
    assert off.max() / a <= 1.1 * TOL
    assert not np.diagonal(Z).any()


def test_three_features(dual_rows):
    X = samples(500, 3)
    result = self_representation(X, gamma=10, lam=200)
    assert sum(dual_rows) > 250
    assert result.certificate.max() <= TOL
    assert violations(X, result.coefficients, 10, 200, "squared", "relative").max() <= 1.1 * TOL


def test_duplicates_share_their_weight(always_dual):
    X = np.repeat(samples(60, 20), 3, axis=0)
    result = self_representation(X, gamma=10, lam=50, tol=1e-8)
    assert sum(always_dual) > 50  # of 60 distinct samples
    assert violations(X, result.coefficients, 10, 50, "squared", "relative").max() <= 1.1e-8
    Z = result.coefficients.toarray()
    np.testing.assert_allclose(Z[0, 3::3], Z[0, 4::3], atol=1e-7)
    np.testing.assert_allclose(Z[0, 3::3], Z[0, 5::3], atol=1e-7)


def test_float32_with_a_penalty_near_its_rounding(always_dual):
    X = samples(150, 20, dtype=np.float32)
    result = self_representation(X, gamma=1e4, lam=1e4, gamma_scale="absolute")
    assert sum(always_dual) >= 140
    assert result.certificate.max() <= TOL
    assert violations(X, result.coefficients, 1e4, 1e4, "squared", "absolute").max() <= 1.1 * TOL


# --- other solvers ---------------------------------------------------------------------------


@pytest.mark.parametrize(("a", "b"), [(0.1, 5.0), (0.02, 1.0), (0.3, 100.0)])
def test_equals_scikit_learns_elastic_net(always_dual, a, b):
    X = samples(80, 10)
    Z = self_representation(
        X, gamma=1 / a, lam=b / (2 * a), gamma_scale="absolute", tol=1e-10
    ).coefficients.toarray()
    assert sum(always_dual) >= 70
    model = ElasticNet(
        alpha=(a + b) / 10, l1_ratio=a / (a + b), fit_intercept=False, tol=1e-14, max_iter=100_000
    )
    for i in (0, 7, 79):
        z = np.insert(model.fit(np.delete(X, i, 0).T, X[i]).coef_, i, 0)
        assert np.count_nonzero(z) > 10
        np.testing.assert_allclose(Z[i], z, atol=1e-7)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("lam", [2.0, 20.0, 200.0])
def test_equals_working_sets(monkeypatch, dual_rows, dtype, lam):
    X = samples(150, 40, dtype=dtype)
    monkeypatch.setattr(_blocks, "_DUAL_COST", 1e9)
    expected = self_representation(X, gamma=20, lam=lam, tol=1e-6).coefficients.toarray()
    assert not dual_rows
    monkeypatch.setattr(_blocks, "_DUAL_COST", 0)
    Z = self_representation(X, gamma=20, lam=lam, tol=1e-6).coefficients.toarray()
    assert sum(dual_rows) > 50
    np.testing.assert_allclose(Z, expected, atol=1e-5)


# --- choice of the method --------------------------------------------------------------------


@pytest.mark.parametrize("choice", [{"loss": "norm"}, {"lam": 0.0}], ids=["norm", "lasso"])
def test_the_norm_loss_and_the_lasso_use_working_sets(always_dual, choice):
    X = samples(100, 10)
    options = {"gamma": 3, "lam": 30.0, "loss": "squared"} | choice
    result = self_representation(X, **options)
    assert not always_dual
    true = violations(
        X, result.coefficients, options["gamma"], options["lam"], options["loss"], "relative"
    )
    assert true.max() <= 1.1 * TOL


def test_sparse_rows_use_working_sets(dual_rows):
    self_representation(samples(300, 40), gamma=10, lam=1)
    assert not dual_rows


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_rows_that_do_not_converge_return_to_working_sets(monkeypatch, always_dual, dtype):
    X = samples(120, 20, dtype=dtype)
    monkeypatch.setattr(_dual, "_MAX_ITERATIONS", 2)
    result = self_representation(X, gamma=20, lam=20)
    assert sum(always_dual) >= 110
    assert result.certificate.max() <= TOL
    assert violations(X, result.coefficients, 20, 20, "squared", "relative").max() <= 1.2 * TOL


@pytest.mark.parametrize("options", [{"n_jobs": 1}, {"n_jobs": 3}, {"memory_budget": 1}])
def test_result_depends_on_neither_threads_nor_budget(always_dual, options):
    X = samples(150, 20)
    plain = self_representation(X, gamma=10, lam=30, tol=1e-9, n_jobs=2).coefficients
    assert sum(always_dual) > 140
    other = self_representation(X, gamma=10, lam=30, tol=1e-9, **options).coefficients
    np.testing.assert_allclose(other.toarray(), plain.toarray(), atol=1e-8)


# --- pieces ----------------------------------------------------------------------------------


def test_a_step_has_the_best_length():
    rng = np.random.default_rng(0)
    m, l1, ridge = 200, np.array([0.5]), np.array([0.3])
    counts, own = rng.integers(1, 4, m).astype(float), np.array([7])
    counts[own] = 3
    left = counts - (np.arange(m) == own)
    g, q = rng.standard_normal((1, m)), rng.standard_normal((1, m))
    square, linear = 0.8, -30.0

    def value(t):
        excess = np.maximum(np.abs(g0 + t * q0) - l1, 0)
        return linear * t + square * t**2 / 2 + (left * excess**2).sum() / (2 * ridge[0])

    g0, q0 = g.copy(), q.copy()
    soft = left * np.sign(g) * np.maximum(np.abs(g) - l1, 0)
    slope = linear + (soft * q).sum() / ridge[0]
    assert slope < 0
    length, size = np.empty(1), np.empty(1, np.int64)
    _dual_kernels.advance(
        g, q, l1, ridge, counts, own, np.array([slope]), np.array([square]), length, size
    )
    best = minimize_scalar(value)
    assert value(length[0]) - best.fun <= 1e-3 * (value(0) - best.fun)
    np.testing.assert_allclose(g, g0 + length[0] * q0)
    z = left * np.sign(g) * np.maximum(np.abs(g) - l1, 0) / ridge
    np.testing.assert_allclose(q, z)
    assert size[0] == np.count_nonzero(z)


@pytest.mark.parametrize("shape", [(90, 30), (20, 30)], ids=["n>d", "n<d"])
def test_the_preconditioner_is_an_inverse_where_all_eigenvalues_are_known(shape):
    A, scales = samples(*shape), np.array([0.1, 7.0])
    counts = np.arange(len(A)) % 3 + 1.0
    gradients = np.random.default_rng(0).standard_normal((2, 30))
    steps = _dual.Spectrum.estimate(A, counts).precondition(gradients, scales)
    for step, gradient, scale in zip(steps, gradients, scales, strict=True):
        np.testing.assert_allclose(step + scale * A.T @ (counts * (A @ step)), gradient, atol=1e-8)


def test_lengths_of_many_magnitudes_give_no_warning_of_numpy(dual_rows):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((120, 20)) * 10.0 ** rng.uniform(-8, 8, (120, 1))
    options = {"gamma": 1e4, "lam": 1e3, "gamma_scale": "absolute", "error_weight": 0.3}
    with pytest.warns(ConvergenceWarning) as caught:
        result = self_representation(X, **options)
    assert dual_rows
    assert [warning.category for warning in caught] == [ConvergenceWarning]
    assert np.isfinite(result.coefficients.data).all()
