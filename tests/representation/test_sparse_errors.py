"""Sparse errors against the atoms I/γₑ, a convex solver, optimality conditions and limits."""

from __future__ import annotations

import itertools

import cvxpy as cp
import numpy as np
import pytest
from elastic_net_oracle import TOL, samples

from enhg.exceptions import InputError
from enhg.representation import _blocks, scheduling
from enhg.representation.solver import self_representation


def conditions(X, result, weight, A=None):
    """The KKT violation of every row over coefficients and errors relative to a, in float64."""
    own = A is None
    X = X.astype(np.float64)
    A = X if own else A.astype(np.float64)
    Z, E = result.coefficients.toarray(), result.sparse_errors.toarray()
    a, b = result.l1_penalty[:, None], result.ridge_penalty[:, None]
    R = X - Z @ A - E

    def off(values, correlations):
        slope = np.abs(correlations - b * values - a * np.sign(values))
        return np.where(values != 0, slope, np.abs(correlations) - a)

    violated = off(Z, R @ A.T)
    if own:
        assert not np.diagonal(Z).any()
        np.fill_diagonal(violated, 0)
    violated = np.hstack([violated, off(weight * E, R / weight)])
    return np.maximum(violated, 0).max(axis=1) / a[:, 0]


def solve_explicitly(X, i, weight, **options):
    """Coefficients and errors of sample i by the plain problem over the atoms [X, I/γₑ]."""
    A = np.vstack([np.delete(X, i, 0), np.eye(X.shape[1]) / weight])
    z = self_representation(X[[i]], dictionary=A, **options).coefficients.toarray()[0]
    return np.insert(z[: len(X) - 1], i, 0), z[len(X) - 1 :] / weight


@pytest.fixture
def explicit_rows(monkeypatch):
    """Number of rows of each call that stores the atoms I/γₑ."""
    rows, explicit = [], _blocks.Dictionary.split

    def counted(self, solved):
        if self.error_weight:
            rows.append(len(solved.l1))
        return explicit(self, solved)

    monkeypatch.setattr(_blocks.Dictionary, "split", counted)
    return rows


# --- optimality ------------------------------------------------------------------------------

SETTINGS = list(
    itertools.product(("relative", "absolute"), (0.0, 1e-4, 0.3, 50), (1.05, 8, 60), (0.1, 0.5, 3))
)


@pytest.mark.parametrize("shape", [(60, 30), (25, 60)], ids=["n>d", "n<d"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_row_is_optimal_and_the_certificate_says_so(shape, dtype):
    X = samples(*shape, dtype=dtype)
    for gamma_scale, lam, gamma, weight in SETTINGS:
        result = self_representation(
            X, gamma=gamma, lam=lam, gamma_scale=gamma_scale, error_weight=weight
        )
        true = conditions(X, result, weight)
        label = f"{gamma_scale} lam={lam} gamma={gamma} weight={weight}"
        rounding = 1e-5 if dtype == np.float32 else 1e-7
        assert true.max() <= TOL + rounding, label
        assert result.certificate.max() <= TOL, label
        np.testing.assert_allclose(result.certificate, true, atol=rounding, err_msg=label)


@pytest.mark.parametrize("lam", [0.0, 5.0])
def test_errors_are_eliminated(explicit_rows, lam):
    X = samples(80, 60, dtype=np.float32)
    result = self_representation(X, lam=lam, error_weight=0.5)
    assert result.sparse_errors.nnz > 10 * len(X)
    assert not explicit_rows
    assert result.samples.dtype == np.float32


@pytest.mark.parametrize("lam", [0.0, 0.3])
def test_tight_tolerances_are_reached_in_float64(lam):
    X = samples()
    result = self_representation(X, gamma=8, lam=lam, error_weight=0.5, tol=1e-8)
    assert conditions(X, result, 0.5).max() <= 1.1e-8


@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_dependent_atoms(lam):
    X = samples(80, 40, rank=5)
    result = self_representation(X, gamma=100, lam=lam, error_weight=0.5)
    assert conditions(X, result, 0.5).max() <= 1.1 * TOL


# --- other solutions -------------------------------------------------------------------------


@pytest.mark.parametrize("gamma_scale", ["relative", "absolute"])
@pytest.mark.parametrize("shape", [(60, 30), (25, 60)], ids=["n>d", "n<d"])
def test_equals_the_plain_problem_over_unit_atoms(shape, gamma_scale):
    X = samples(*shape)
    for lam, weight in itertools.product((0.05, 5.0), (0.2, 1.0)):
        options = {"gamma": 12, "lam": lam, "gamma_scale": gamma_scale, "tol": 1e-9}
        result = self_representation(X, error_weight=weight, **options)
        for i in (0, 7, 24):
            z, errors = solve_explicitly(X, i, weight, **options)
            np.testing.assert_allclose(result.coefficients[[i]].toarray()[0], z, atol=1e-7)
            np.testing.assert_allclose(result.sparse_errors[[i]].toarray()[0], errors, atol=1e-7)


@pytest.mark.parametrize("loss", ["squared", "norm"])
def test_residuals_are_those_of_the_certificate_in_float32(loss):
    """1/0.3 is rounded in float32, and γ is so large that its rounding exceeds a."""
    X = samples(40, 20, dtype=np.float32)
    options = {"lam": 0.0, "loss": loss, "gamma": 1e3, "gamma_scale": "absolute", "tol": 1e-6}
    result = self_representation(X, error_weight=0.3, **options)
    assert result.certificate.max() <= 1e-6
    assert conditions(X, result, 0.3).max() < 1e-5


def test_equals_the_plain_problem_over_unit_atoms_with_a_dictionary():
    X, A, weight = samples(10, 30, seed=1), samples(60, 30), 0.5
    result = self_representation(X, dictionary=A, error_weight=weight, tol=1e-9)
    plain = self_representation(X, dictionary=np.vstack([A, np.eye(30) / weight]), tol=1e-9)
    Z = plain.coefficients.toarray()
    np.testing.assert_allclose(result.coefficients.toarray(), Z[:, :60], atol=1e-7)
    np.testing.assert_allclose(result.sparse_errors.toarray(), Z[:, 60:] / weight, atol=1e-7)
    assert conditions(X, result, weight, A=A).max() <= 1.1e-9


@pytest.mark.parametrize(("loss", "lam"), [("squared", 0.0), ("squared", 0.5), ("norm", 0.5)])
def test_equals_a_convex_solver_in_value(loss, lam):
    X, weight = samples(20, 12), 0.4
    gamma = 15 if loss == "squared" else 1.5  # short of an exact fit
    result = self_representation(
        X, gamma=gamma, lam=lam, loss=loss, gamma_scale="absolute", error_weight=weight, tol=1e-8
    )

    def cost(z, e, norm, norm1, sum_squares):
        residual = X[i] - X.T @ z - e
        fit = norm(residual) if loss == "norm" else sum_squares(residual) / 2
        squares = sum_squares(z) + weight**2 * sum_squares(e)
        return norm1(z) + weight * norm1(e) + lam * squares + gamma * fit

    for i in (0, 5, 19):
        z, e = cp.Variable(20), cp.Variable(12)
        program = cp.Problem(
            cp.Minimize(cost(z, e, cp.norm, cp.norm1, cp.sum_squares)), [z[i] == 0]
        )
        program.solve(solver=cp.CLARABEL)
        ours = cost(
            result.coefficients[[i]].toarray()[0],
            result.sparse_errors[[i]].toarray()[0],
            np.linalg.norm,
            lambda v: np.abs(v).sum(),
            lambda v: v @ v,
        )
        assert ours == pytest.approx(program.value, rel=1e-6)


# --- limits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("lam", [0.0, 2.0])
def test_a_large_weight_leaves_no_errors(lam):
    X = samples(60, 30)
    plain = self_representation(X, lam=lam, tol=1e-9)
    result = self_representation(X, lam=lam, error_weight=1e6, tol=1e-9)
    assert result.sparse_errors.nnz == 0
    np.testing.assert_allclose(
        result.coefficients.toarray(), plain.coefficients.toarray(), atol=1e-7
    )


def test_a_small_weight_leaves_no_coefficients():
    X = samples(30, 20)
    result = self_representation(X, error_weight=1e-3)
    assert result.coefficients.nnz == 0
    assert conditions(X, result, 1e-3).max() <= 1.1 * TOL


def test_duplicates_share_their_weight():
    X = samples(20, 15)
    X = np.vstack([X, X[:5], X[:5]])
    result = self_representation(X, lam=1, error_weight=0.5, tol=1e-8)
    Z = result.coefficients.toarray()
    np.testing.assert_allclose(Z[12:20, 20:25], Z[12:20, :5], atol=1e-6)
    np.testing.assert_allclose(Z[12:20, 25:30], Z[12:20, :5], atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("gamma_scale", ["relative", "absolute"])
def test_zero_samples_have_neither_coefficients_nor_errors(dtype, gamma_scale):
    X = samples(20, 15, dtype=dtype)
    X[3] = 0
    result = self_representation(X, error_weight=0.5, gamma_scale=gamma_scale)
    assert result.coefficients[[3]].nnz == 0
    assert result.sparse_errors[[3]].nnz == 0
    assert conditions(X, result, 0.5).max() <= 1.1 * TOL


def test_samples_without_correlated_atoms_have_errors_only():
    X = np.eye(6)
    result = self_representation(X, error_weight=0.5)
    assert result.coefficients.nnz == 0
    assert result.sparse_errors.nnz == 6
    assert conditions(X, result, 0.5).max() <= 1.1 * TOL


@pytest.mark.parametrize("lam", [0.0, 1.0])
@pytest.mark.parametrize("n", [2, 40])
def test_one_feature(n, lam):
    X = samples(n, 1) * np.linspace(1, 2, n)[:, None]
    result = self_representation(X, lam=lam, error_weight=0.5)
    assert conditions(X, result, 0.5).max() <= 1.1 * TOL


# --- blocks, threads and large supports ------------------------------------------------------


@pytest.mark.parametrize("memory_budget", [1, 50_000, 2**30])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_result_depends_on_neither_threads_nor_budget(monkeypatch, memory_budget, n_jobs):
    X = samples(150, 40)
    plain = self_representation(X, gamma=20, lam=2, error_weight=0.5, tol=1e-8, n_jobs=1)
    monkeypatch.setattr(scheduling, "_MAX_BLOCK_ROWS", 64)
    monkeypatch.setattr(_blocks, "_FIRST_WITH_ERRORS", 3)
    monkeypatch.setattr(_blocks, "FIRST_CAPACITY", 16)
    monkeypatch.setattr(_blocks, "KEPT_PRODUCTS", 8)
    other = self_representation(
        X, gamma=20, lam=2, error_weight=0.5, tol=1e-8, n_jobs=n_jobs, memory_budget=memory_budget
    )
    np.testing.assert_allclose(
        other.coefficients.toarray(), plain.coefficients.toarray(), atol=1e-6
    )
    np.testing.assert_allclose(
        other.sparse_errors.toarray(), plain.sparse_errors.toarray(), atol=1e-6
    )


def test_large_supports_store_unit_atoms(monkeypatch, explicit_rows):
    X = samples(100, 15)
    monkeypatch.setattr(_blocks, "_DUAL_COST", 1e6)
    eliminated = self_representation(X, lam=20, error_weight=0.7, tol=1e-8)
    assert not explicit_rows
    monkeypatch.setattr(_blocks, "_DUAL_COST", 0)
    explicit = self_representation(X, lam=20, error_weight=0.7, tol=1e-8)
    assert sum(explicit_rows) > 50
    np.testing.assert_allclose(
        explicit.coefficients.toarray(), eliminated.coefficients.toarray(), atol=1e-6
    )
    np.testing.assert_allclose(
        explicit.sparse_errors.toarray(), eliminated.sparse_errors.toarray(), atol=1e-6
    )


def test_errors_of_too_many_features_are_refused():
    """With the norm loss they are atoms, whose number squared are 800 GB here."""
    X = np.random.default_rng(0).standard_normal((4, 450_000), dtype=np.float32)
    with pytest.raises(InputError, match=r'error_weight must be None with loss="norm".*450000'):
        self_representation(X, error_weight=1.0, loss="norm")
