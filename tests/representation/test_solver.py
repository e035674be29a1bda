"""`self_representation` against its optimality conditions, other solvers, limits and symmetries."""

from __future__ import annotations

import itertools
import warnings
from itertools import product

import cvxpy as cp
import numpy as np
import pytest
from elastic_net_oracle import TOL, gammas, objective, samples, violations
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso

from enhg.exceptions import InputError
from enhg.representation import _blocks, scheduling
from enhg.representation.path import elastic_net_path
from enhg.representation.solver import self_representation

# --- optimality ------------------------------------------------------------------------------

SETTINGS = list(
    itertools.product(("squared", "norm"), ("relative", "absolute"), (0.0, 0.3, 1e3), (1.05, 8, 60))
)


@pytest.mark.parametrize("shape", [(60, 30), (25, 60)], ids=["n>d", "n<d"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_row_is_optimal_and_the_certificate_says_so(shape, dtype):
    X = samples(*shape, dtype=dtype)
    for loss, gamma_scale, lam, gamma in SETTINGS:
        result = self_representation(X, gamma=gamma, lam=lam, loss=loss, gamma_scale=gamma_scale)
        true = violations(X, result.coefficients, gamma, lam, loss, gamma_scale)
        label = f"{loss} {gamma_scale} lam={lam} gamma={gamma}"
        # At an exact fit a is near 1e-8; γᵢ is computed in the precision of the data.
        rounding = 1e-5 if dtype == np.float32 else 1e-7
        assert true.max() <= TOL + rounding, label
        assert result.certificate.max() <= TOL, label
        np.testing.assert_allclose(result.certificate, true, atol=rounding, err_msg=label)


@pytest.mark.parametrize("loss", ["squared", "norm"])
@pytest.mark.parametrize("gamma", [2.0, 20.0, 1e4])
def test_the_lasso_where_atoms_depend_on_each_other(loss, gamma):
    X = samples(80, 40, rank=5)
    result = self_representation(X, gamma=gamma, lam=0, loss=loss)
    assert violations(X, result.coefficients, gamma, 0, loss, "relative").max() <= 1.1 * TOL


def test_tight_tolerances_are_reached_in_float64():
    X = samples()
    for loss in ("squared", "norm"):
        result = self_representation(X, gamma=8, lam=0.5, loss=loss, tol=1e-9)
        assert violations(X, result.coefficients, 8, 0.5, loss, "relative").max() <= 1.1e-9


# --- other solvers ---------------------------------------------------------------------------


@pytest.mark.parametrize(("a", "b"), [(0.1, 0.1), (0.02, 1.0), (0.3, 0.01)])
def test_equals_scikit_learns_elastic_net(a, b):
    X = samples(40, 25)
    Z = self_representation(
        X, gamma=1 / a, lam=b / (2 * a), gamma_scale="absolute", tol=1e-10
    ).coefficients.toarray()
    d = X.shape[1]
    model = ElasticNet(
        alpha=(a + b) / d, l1_ratio=a / (a + b), fit_intercept=False, tol=1e-14, max_iter=100_000
    )
    for i in (0, 7, 39):
        z = np.insert(model.fit(np.delete(X, i, 0).T, X[i]).coef_, i, 0)
        np.testing.assert_allclose(Z[i], z, atol=1e-7)


def test_equals_scikit_learns_lasso_in_value():
    X, a = samples(40, 25), 0.05
    Z = self_representation(X, gamma=1 / a, lam=0, gamma_scale="absolute", tol=1e-9).coefficients
    G = np.full(len(X), 1 / a)
    model = Lasso(alpha=a / X.shape[1], fit_intercept=False, tol=1e-14, max_iter=100_000)
    baselines = [np.insert(model.fit(np.delete(X, i, 0).T, X[i]).coef_, i, 0) for i in range(5)]
    ours = objective(X, Z.toarray(), G, 0, "squared")[:5]
    baseline = np.vstack([baselines, np.zeros((35, 40))])
    np.testing.assert_allclose(ours, objective(X, baseline, G, 0, "squared")[:5], rtol=1e-8)


@pytest.mark.parametrize("loss", ["norm", "squared"])
@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_equals_a_convex_solver(loss, lam):
    X = samples(20, 12)
    result = self_representation(X, gamma=4, lam=lam, loss=loss, tol=1e-9)
    Z = result.coefficients.toarray()
    G = gammas(X, None, 4, loss, "relative")
    values = objective(X, Z, G, lam, loss)
    for i in (0, 5, 19):
        z = cp.Variable(len(X))
        error = X[i] - X.T @ z
        fit = cp.norm(error) if loss == "norm" else cp.sum_squares(error) / 2
        cost = cp.norm1(z) + lam * cp.sum_squares(z) + G[i] * fit
        program = cp.Problem(cp.Minimize(cost), [z[i] == 0])
        program.solve(solver=cp.CLARABEL)
        assert values[i] == pytest.approx(program.value, rel=1e-6)
        if lam > 0:
            np.testing.assert_allclose(Z[i], z.value, atol=1e-4)


@pytest.mark.parametrize("ridge", [0.0, 0.4])
def test_equals_the_lars_en_path(ridge):
    X = samples(30, 50)
    path = elastic_net_path(X, 3, ridge)
    for a in np.linspace(path.alphas[1], 0.01, 5):
        result = self_representation(
            X, gamma=1 / a, lam=ridge / (2 * a), gamma_scale="absolute", tol=1e-10
        )
        np.testing.assert_allclose(result.coefficients[[3]].toarray()[0], path.at(a), atol=1e-8)


def test_the_norm_loss_is_a_point_of_the_squared_one():
    X = samples()
    norm = self_representation(X, gamma=5, lam=0.3, loss="norm", tol=1e-9)
    sigma = np.linalg.norm(norm.residuals, axis=1)
    G = gammas(X, None, 5, "norm", "relative")
    np.testing.assert_allclose(norm.l1_penalty, sigma / G, rtol=1e-8)
    np.testing.assert_allclose(norm.ridge_penalty, 2 * 0.3 * sigma / G, rtol=1e-8)
    i = 11
    squared = self_representation(
        X, gamma=G[i] / sigma[i], lam=0.3, gamma_scale="absolute", tol=1e-10
    ).coefficients[[i]]
    np.testing.assert_allclose(squared.toarray(), norm.coefficients[[i]].toarray(), atol=1e-7)


# --- limits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["squared", "norm"])
def test_the_relative_scale_turns_at_one(loss):
    X = samples()
    below = self_representation(X, gamma=0.999, lam=0.1, loss=loss)
    above = self_representation(X, gamma=1.01, lam=0.1, loss=loss)
    assert below.coefficients.nnz == 0
    assert (np.diff(above.coefficients.indptr) > 0).all()
    assert below.certificate.max() == 0


@pytest.mark.parametrize("loss", ["squared", "norm"])
def test_the_papers_gamma_gives_zero(loss):
    result = self_representation(samples(), gamma=0.18, lam=0.01, loss=loss, gamma_scale="absolute")
    assert result.coefficients.nnz == 0


def test_scaling_the_samples():
    """On the relative scale γᵢ·ℓ(r) does not change when all samples are scaled, nor does z."""
    X, t = samples(), 7.0
    for loss, lam in itertools.product(("squared", "norm"), (0, 0.5)):
        plain = self_representation(X, gamma=4, lam=lam, loss=loss, tol=1e-9)
        scaled = self_representation(t * X, gamma=4, lam=lam, loss=loss, tol=1e-9)
        np.testing.assert_allclose(
            scaled.coefficients.toarray(), plain.coefficients.toarray(), atol=1e-7
        )


def test_permuting_the_samples_permutes_z():
    X = samples()
    order = np.random.default_rng(1).permutation(len(X))
    Z = self_representation(X, gamma=8, lam=0.5, tol=1e-9).coefficients.toarray()
    permuted = self_representation(X[order], gamma=8, lam=0.5, tol=1e-9).coefficients.toarray()
    np.testing.assert_allclose(permuted, Z[np.ix_(order, order)], atol=1e-8)


@pytest.mark.parametrize(
    "constants",
    [
        {(scheduling, "PART_OF_FREE_MEMORY"): 0},
        {(scheduling, "_MAX_BLOCK_ROWS"): 7},
        {(_blocks, "FIRST_CAPACITY"): 32},
        {(_blocks, "FIRST_WORKING_SET"): 2},
        {
            (scheduling, "PART_OF_FREE_MEMORY"): 1e-4,
            (scheduling, "_MAX_BLOCK_ROWS"): 11,
            (_blocks, "FIRST_WORKING_SET"): 3,
        },
    ],
    ids=lambda constants: ", ".join(f"{name}={value}" for (_, name), value in constants.items()),
)
@pytest.mark.parametrize("loss", ["squared", "norm"])
def test_result_depends_on_neither_blocks_nor_budget(monkeypatch, constants, loss):
    X = samples(150, 40)
    gamma = 20 if loss == "squared" else 5  # short of an exact fit
    plain = self_representation(X, gamma=gamma, lam=2, loss=loss, tol=1e-8, n_jobs=1)
    for (module, name), value in constants.items():
        monkeypatch.setattr(module, name, value)
    other = self_representation(X, gamma=gamma, lam=2, loss=loss, tol=1e-8, n_jobs=np.int64(2))
    assert np.diff(plain.coefficients.indptr).max() > 20
    np.testing.assert_allclose(
        other.coefficients.toarray(), plain.coefficients.toarray(), atol=1e-6
    )


@pytest.mark.parametrize("memory_budget", [1, 2**30])
def test_atoms_that_do_not_correlate_with_the_sample_itself_may_enter(memory_budget):
    rng = np.random.default_rng(0)
    X = (rng.random((40, 100)) < 0.1) * rng.random((40, 100))  # many pairs have a product of zero
    assert (X @ X.T == 0).sum() > 200
    result = self_representation(X, gamma=100, lam=0.1, memory_budget=memory_budget)
    assert violations(X, result.coefficients, 100, 0.1, "squared", "relative").max() <= TOL


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("gamma_scale", ["relative", "absolute"])
def test_a_long_sample_hides_no_correlations(dtype, gamma_scale):
    X = samples(100, 50)
    X[:, -1] = X[0] = 0
    X[0, -1] = 1e7 if dtype == np.float32 else 1e16
    X = X.astype(dtype)
    result = self_representation(X, gamma_scale=gamma_scale)
    assert np.diff(result.coefficients.indptr)[1:].min() > 0
    with np.errstate(divide="ignore", invalid="ignore"):  # the long sample correlates with no other
        violated = violations(X, result.coefficients, 10, 5, "squared", gamma_scale)
    assert violated[1:].max() <= 1.1 * TOL


def test_large_gamma_on_the_absolute_scale_finds_small_correlations():
    X = np.eye(30, dtype=np.float32) + np.float32(2e-7) * np.eye(30, k=1, dtype=np.float32)
    result = self_representation(X, gamma=1e9, lam=0.01, gamma_scale="absolute")
    assert result.coefficients.nnz > 0
    assert violations(X, result.coefficients, 1e9, 0.01, "squared", "absolute").max() <= 1.1 * TOL


KINDS = {
    "normal": lambda rng, n, d: rng.standard_normal((n, d)),
    "positive": lambda rng, n, d: rng.random((n, d)),
    "nearly equal": lambda rng, n, d: 1 + 0.01 * rng.standard_normal((n, d)),
    "low rank": lambda rng, n, d: rng.standard_normal((n, 4)) @ rng.standard_normal((4, d)),
    "nearly duplicates": lambda rng, n, d: (
        np.repeat(rng.random((n // 3 + 1, d)), 3, axis=0)[:n] + 1e-4 * rng.random((n, d))
    ),
    "sparse": lambda rng, n, d: (rng.random((n, d)) < 0.1) * rng.random((n, d)),
}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
def test_certificates_hold_for_data_of_every_kind(kind, dtype):
    rng = np.random.default_rng(0)
    for loss, lam, memory_budget in product(("squared", "norm"), (0.0, 0.1, 10.0), (1, 2**30)):
        n, d, gamma = rng.integers(20, 120), rng.integers(50, 100), 10 ** rng.uniform(0, 3)
        X = KINDS[kind](rng, n, d).astype(dtype)
        X = X[X.any(axis=1)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            result = self_representation(
                X, gamma=gamma, lam=lam, loss=loss, memory_budget=memory_budget
            )
        violated = violations(X, result.coefficients, gamma, lam, loss, "relative")
        assert (violated <= result.certificate + 0.1 * TOL).all()
        # The norm loss may not get there where it is about to fit exactly.
        assert np.mean(result.certificate <= TOL) > (0.8 if loss == "norm" else 0.99)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_result_does_not_depend_on_the_memory_budget(dtype):
    X = samples(150, 40, dtype=dtype)
    plain = self_representation(X, gamma=20, lam=2, tol=1e-7)
    for memory_budget in (1, 20_000, 150 * 150 * X.itemsize, 2**30):
        other = self_representation(X, gamma=20, lam=2, tol=1e-7, memory_budget=memory_budget)
        assert other.certificate.max() <= 1e-7
        np.testing.assert_allclose(
            other.coefficients.toarray(), plain.coefficients.toarray(), atol=1e-6
        )
    for wrong in (0, -1, 1.5, "2G"):
        with pytest.raises(InputError, match="memory_budget must be a whole number of at least 1"):
            self_representation(X, memory_budget=wrong)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", ["squared", "norm"])
def test_result_has_the_same_bits_wherever_the_gram_matrix_fits(dtype, loss):
    X = samples(150, 40, dtype=dtype)
    results = [
        self_representation(X, gamma=6, lam=2, loss=loss, memory_budget=budget)
        for budget in (None, 2**23, 2**26, 2**33)
    ]
    for other in results[1:]:
        np.testing.assert_array_equal(other.coefficients.indices, results[0].coefficients.indices)
        np.testing.assert_array_equal(other.coefficients.data, results[0].coefficients.data)
        np.testing.assert_array_equal(other.certificate, results[0].certificate)


def test_samples_may_be_memory_mapped(tmp_path):
    X = samples(150, 40, dtype=np.float32)
    X.tofile(tmp_path / "X")
    mapped = np.memmap(tmp_path / "X", np.float32, mode="r", shape=X.shape)
    result = self_representation(mapped)
    assert np.shares_memory(result.samples, mapped)
    expected = self_representation(X).coefficients
    np.testing.assert_array_equal(result.coefficients.toarray(), expected.toarray())


@pytest.mark.parametrize("memory_budget", [1, 2**30])
def test_a_block_depends_only_on_its_rows(monkeypatch, memory_budget):
    """The first rows alone, with the same atoms, give the first rows of all samples."""
    X = samples(90, 40)
    monkeypatch.setattr(scheduling, "_MAX_BLOCK_ROWS", 30)
    options = {"gamma": 20, "lam": 2, "memory_budget": memory_budget, "n_jobs": 1}
    whole = self_representation(X, dictionary=X, **options)
    part = self_representation(X[30:60], dictionary=X, **options)
    np.testing.assert_array_equal(part.coefficients.toarray(), whole.coefficients[30:60].toarray())
    np.testing.assert_array_equal(part.certificate, whole.certificate[30:60])
