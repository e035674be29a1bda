"""`self_representation` against its optimality conditions, other solvers, limits and symmetries."""

from __future__ import annotations

import itertools
import warnings
from itertools import product

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso

from enhg.datasets import load
from enhg.preprocessing import normalize_samples
from enhg.representation import solver
from enhg.representation.path import elastic_net_path
from enhg.representation.problem import SIGMA_FLOOR
from enhg.representation.solver import self_representation

TOL = 1e-4


def samples(n=60, d=30, *, rank=None, seed=0, dtype=np.float64):
    """Unit-length samples, positively correlated like images; of low rank if asked for."""
    rng = np.random.default_rng(seed)
    rank = rank or d
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d)) + 0.5 * (rank == d)
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(dtype)


def gammas(X, A, gamma, loss, gamma_scale):
    """γᵢ by the documentation, without the solver's code."""
    X, own = X.astype(np.float64), A is None
    correlations = np.abs(X @ (X if own else A.astype(np.float64)).T)
    if own:
        np.fill_diagonal(correlations, 0)
    if gamma_scale == "absolute":
        return np.full(len(X), float(gamma))
    lengths = np.linalg.norm(X, axis=1) if loss == "norm" else np.ones(len(X))
    return gamma * lengths / correlations.max(axis=1)


def violations(X, Z, gamma, lam, loss, gamma_scale, A=None):
    """The KKT violation of every row relative to a, in float64, straight from the definition."""
    own = A is None
    G = gammas(X, A, gamma, loss, gamma_scale)
    X = X.astype(np.float64)
    A = X if own else A.astype(np.float64)
    Z = Z.toarray()
    R = X - Z @ A
    lengths = np.linalg.norm(X, axis=1)
    sigma = np.maximum(np.linalg.norm(R, axis=1), SIGMA_FLOOR * lengths)
    a = ((sigma if loss == "norm" else 1.0) / G)[:, None]
    C = R @ A.T
    off = np.where(Z != 0, np.abs(C - 2 * lam * a * Z - a * np.sign(Z)), np.abs(C) - a)
    if own:
        assert not np.diagonal(Z).any()
        np.fill_diagonal(off, 0)
    return np.maximum(off, 0).max(axis=1) / a[:, 0]


def objective(X, Z, G, lam, loss):
    R = X - Z @ X
    lengths = np.linalg.norm(R, axis=1)
    fit = lengths if loss == "norm" else lengths**2 / 2
    return np.abs(Z).sum(1) + lam * (Z**2).sum(1) + G * fit


# --- optimality ------------------------------------------------------------------------------

SETTINGS = list(
    itertools.product(("squared", "norm"), ("relative", "absolute"), (0.0, 0.3, 1e3), (1.05, 8, 60))
)


@pytest.mark.parametrize("shape", [(60, 30), (25, 60)], ids=["n>d", "n<d"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_row_is_optimal_and_the_certificate_says_so(shape, dtype):
    X = samples(*shape, dtype=dtype)
    for loss, gamma_scale, lam, gamma in SETTINGS:
        found = self_representation(X, gamma=gamma, lam=lam, loss=loss, gamma_scale=gamma_scale)
        true = violations(X, found.coefficients, gamma, lam, loss, gamma_scale)
        label = f"{loss} {gamma_scale} lam={lam} gamma={gamma}"
        # At an exact fit a is near 1e-8; γᵢ is computed in the precision of the data.
        rounding = 1e-5 if dtype == np.float32 else 1e-7
        assert true.max() <= TOL + rounding, label
        assert found.certificate.max() <= TOL, label
        np.testing.assert_allclose(found.certificate, true, atol=rounding, err_msg=label)


@pytest.mark.parametrize("loss", ["squared", "norm"])
@pytest.mark.parametrize("gamma", [2.0, 20.0, 1e4])
def test_the_lasso_where_atoms_depend_on_each_other(loss, gamma):
    X = samples(80, 40, rank=5)
    found = self_representation(X, gamma=gamma, lam=0, loss=loss)
    assert violations(X, found.coefficients, gamma, 0, loss, "relative").max() <= 1.1 * TOL


def test_tight_tolerances_are_reached_in_float64():
    X = samples()
    for loss in ("squared", "norm"):
        found = self_representation(X, gamma=8, lam=0.5, loss=loss, tol=1e-9)
        assert violations(X, found.coefficients, 8, 0.5, loss, "relative").max() <= 1.1e-9


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
    peers = [np.insert(model.fit(np.delete(X, i, 0).T, X[i]).coef_, i, 0) for i in range(5)]
    ours = objective(X, Z.toarray(), G, 0, "squared")[:5]
    peer = np.vstack([peers, np.zeros((35, 40))])
    np.testing.assert_allclose(ours, objective(X, peer, G, 0, "squared")[:5], rtol=1e-8)


@pytest.mark.parametrize("loss", ["norm", "squared"])
@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_equals_a_convex_solver(loss, lam):
    X = samples(20, 12)
    found = self_representation(X, gamma=4, lam=lam, loss=loss, tol=1e-9)
    Z = found.coefficients.toarray()
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
        found = self_representation(
            X, gamma=1 / a, lam=ridge / (2 * a), gamma_scale="absolute", tol=1e-10
        )
        np.testing.assert_allclose(found.coefficients[[3]].toarray()[0], path.at(a), atol=1e-8)


def test_the_norm_loss_is_a_point_of_the_squared_one():
    X = samples()
    norm = self_representation(X, gamma=5, lam=0.3, loss="norm", tol=1e-9)
    sigma = np.linalg.norm(norm.errors, axis=1)
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
def test_the_papers_gamma_gives_nothing(loss):
    found = self_representation(samples(), gamma=0.18, lam=0.01, loss=loss, gamma_scale="absolute")
    assert found.coefficients.nnz == 0


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
    "ways",
    [
        {"_PART_OF_FREE_MEMORY": 0},
        {"_MOST_BLOCK_ROWS": 7},
        {"_FIRST_ROOM": 32},
        {"_FIRST_WORKING_SET": 2},
        {"_PART_OF_FREE_MEMORY": 1e-4, "_MOST_BLOCK_ROWS": 11, "_FIRST_WORKING_SET": 3},
    ],
    ids=str,
)
@pytest.mark.parametrize("loss", ["squared", "norm"])
def test_every_way_gives_the_same(monkeypatch, ways, loss):
    X = samples(150, 40)
    gamma = 20 if loss == "squared" else 5  # short of an exact fit
    plain = self_representation(X, gamma=gamma, lam=2, loss=loss, tol=1e-8, n_jobs=1)
    for name, value in ways.items():
        monkeypatch.setattr(solver, name, value)
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
    found = self_representation(X, gamma=100, lam=0.1, memory_budget=memory_budget)
    assert violations(X, found.coefficients, 100, 0.1, "squared", "relative").max() <= TOL


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("gamma_scale", ["relative", "absolute"])
def test_a_giant_among_the_samples_hides_no_correlations(dtype, gamma_scale):
    X = samples(100, 50)
    X[:, -1] = X[0] = 0
    X[0, -1] = 1e7 if dtype == np.float32 else 1e16
    X = X.astype(dtype)
    found = self_representation(X, gamma_scale=gamma_scale)
    assert np.diff(found.coefficients.indptr)[1:].min() > 0
    with np.errstate(divide="ignore", invalid="ignore"):  # the giant correlates with nobody
        violated = violations(X, found.coefficients, 10, 5, "squared", gamma_scale)
    assert violated[1:].max() <= 1.1 * TOL


def test_large_gamma_on_the_absolute_scale_finds_small_correlations():
    X = np.eye(30, dtype=np.float32) + np.float32(2e-7) * np.eye(30, k=1, dtype=np.float32)
    found = self_representation(X, gamma=1e9, lam=0.01, gamma_scale="absolute")
    assert found.coefficients.nnz > 0
    assert violations(X, found.coefficients, 1e9, 0.01, "squared", "absolute").max() <= 1.1 * TOL


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
            found = self_representation(
                X, gamma=gamma, lam=lam, loss=loss, memory_budget=memory_budget
            )
        violated = violations(X, found.coefficients, gamma, lam, loss, "relative")
        assert (violated <= found.certificate + 0.1 * TOL).all()
        # The norm loss may not get there where it is about to fit exactly.
        assert np.mean(found.certificate <= TOL) > (0.8 if loss == "norm" else 0.99)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_any_memory_will_do(dtype):
    X = samples(150, 40, dtype=dtype)
    plain = self_representation(X, gamma=20, lam=2, tol=1e-7)
    for memory_budget in (1, 20_000, 150 * 150 * X.itemsize, 2**30):
        other = self_representation(X, gamma=20, lam=2, tol=1e-7, memory_budget=memory_budget)
        assert other.certificate.max() <= 1e-7
        np.testing.assert_allclose(
            other.coefficients.toarray(), plain.coefficients.toarray(), atol=1e-6
        )
    for wrong in (0, -1, 1.5, "2G"):
        with pytest.raises(ValueError, match="memory_budget must be a positive number of bytes"):
            self_representation(X, memory_budget=wrong)


def test_no_gram_matrix_is_made_beyond_the_budget(monkeypatch):
    X = samples(150, 40)
    made = []
    gram = solver.Crew.gram
    monkeypatch.setattr(solver.Crew, "gram", lambda self, A: made.append(len(A)) or gram(self, A))
    self_representation(X, memory_budget=150 * 150 * 8 // 2)
    assert not made
    self_representation(X, memory_budget=2**30)
    assert made == [150]


def test_the_gram_matrix_is_symmetric_and_right():
    X = samples(1500, 7)  # more than a tile
    with solver.Crew(2) as crew:
        G = crew.gram(X)
    np.testing.assert_array_equal(G, G.T)
    np.testing.assert_allclose(G, X @ X.T, atol=1e-12)


def test_samples_may_be_memory_mapped(tmp_path):
    X = samples(150, 40, dtype=np.float32)
    X.tofile(tmp_path / "X")
    mapped = np.memmap(tmp_path / "X", np.float32, mode="r", shape=X.shape)
    found = self_representation(mapped)
    assert np.shares_memory(found.samples, mapped)
    expected = self_representation(X).coefficients
    np.testing.assert_array_equal(found.coefficients.toarray(), expected.toarray())


# --- special samples -------------------------------------------------------------------------


def test_a_dictionary_holds_nobody_out():
    X = samples()
    found = self_representation(X, gamma=20, lam=0.1, dictionary=X)
    assert (np.abs(found.coefficients.toarray()).argmax(1) == np.arange(len(X))).mean() > 0.9
    A = samples(17, 30, seed=5)
    found = self_representation(X[:1], gamma=6, lam=0.2, dictionary=A.astype(np.float32))
    assert found.coefficients.shape == (1, 17)
    true = violations(X[:1], found.coefficients, 6, 0.2, "squared", "relative", A)
    assert true.max() <= 2 * TOL
    np.testing.assert_allclose(found.reconstruction, found.coefficients @ found.dictionary)
    np.testing.assert_allclose(found.reconstruction + found.residuals, X[:1])


@pytest.mark.parametrize("memory_budget", [1, 2**30])
@pytest.mark.parametrize("lam", [0, 0.5])
def test_sparse_errors_are_atoms_of_their_own(memory_budget, lam):
    X, weight = samples(12, 9), 0.4
    found = self_representation(
        X,
        gamma=20,
        lam=lam,
        gamma_scale="absolute",
        error_weight=weight,
        tol=1e-8,
        memory_budget=memory_budget,
    )
    assert found.sparse_errors.nnz
    for i in (0, 5, 11):
        z, e = cp.Variable(12), cp.Variable(9)
        cost = cp.norm1(z) + weight * cp.norm1(e)
        cost += lam * (cp.sum_squares(z) + weight**2 * cp.sum_squares(e))
        cost += 20 / 2 * cp.sum_squares(X[i] - X.T @ z - e)
        cp.Problem(cp.Minimize(cost), [z[i] == 0]).solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(found.coefficients[[i]].toarray()[0], z.value, atol=1e-4)
        np.testing.assert_allclose(found.sparse_errors[[i]].toarray()[0], e.value, atol=1e-4)
    np.testing.assert_allclose(found.residuals, X - found.coefficients @ X, atol=1e-12)


def test_sparse_errors_beside_a_dictionary():
    X = samples(30, 20)
    spoilt = X[:3].copy()
    spoilt[1, 7] += 3
    found = self_representation(
        spoilt, gamma=500, lam=0, dictionary=X, error_weight=0.3, gamma_scale="absolute"
    )
    assert found.coefficients.shape == (3, 30)
    assert found.sparse_errors.shape == (3, 20)
    assert found.coefficients[1, 1] == pytest.approx(1, abs=0.05)
    assert found.sparse_errors[1, 7] == pytest.approx(3, abs=0.1)
    assert found.dictionary.shape == X.shape


@pytest.mark.parametrize("weight", [0, -1, np.nan, np.inf, "much"])
def test_wrong_weights_of_sparse_errors(weight):
    with pytest.raises(ValueError, match="error_weight must be a positive number, or None"):
        self_representation(samples(5, 4), error_weight=weight)


@pytest.mark.parametrize("loss", ["squared", "norm"])
def test_duplicates_share_their_weight(loss):
    X = samples(20, 15)
    X = np.vstack([X, X[:5], X[:5]])
    Z = self_representation(X, gamma=6, lam=1, loss=loss, tol=1e-7).coefficients.toarray()
    np.testing.assert_allclose(Z[12:20, 20:25], Z[12:20, :5], atol=1e-6)
    np.testing.assert_allclose(Z[12:20, 25:30], Z[12:20, :5], atol=1e-6)
    lasso = self_representation(X, gamma=6, lam=0, loss=loss)
    assert violations(X, lasso.coefficients, 6, 0, loss, "relative").max() <= 1.1 * TOL


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_exact_combinations_reach_the_floor_of_the_norm_loss(dtype):
    X = samples(30, 60, seed=3)
    X[0] = X[1] + X[2]
    X[3] = X[4]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = self_representation(X.astype(dtype), gamma=50, lam=0, loss="norm")
    assert np.linalg.norm(found.residuals[[0, 3]], axis=1).max() <= 1e-5
    np.testing.assert_allclose(found.coefficients[[0]].toarray()[0, [1, 2]], 1, atol=1e-3)
    assert found.certificate.max() <= TOL


def test_samples_that_nothing_represents():
    X = np.zeros((5, 6))
    X[0, 0] = X[1, 1] = 1  # orthogonal to all others
    X[3:] = samples(2, 6)
    X[3:, :2] = 0  # row 2 is zero
    for loss in ("squared", "norm"):
        found = self_representation(X, gamma=5, lam=0.1, loss=loss)
        assert np.diff(found.coefficients.indptr).tolist() == [0, 0, 0, 1, 1]
        assert found.certificate[:3].max() == 0
        assert np.isfinite(found.certificate).all()


@pytest.mark.parametrize("scale", [1e20, 1e-25])
def test_float32_whose_products_leave_its_range_is_solved_in_float64(scale):
    X = samples(30, 20)
    plain = self_representation(X).coefficients.toarray()
    found = self_representation((scale * X).astype(np.float32))
    np.testing.assert_allclose(found.coefficients.toarray(), plain, atol=1e-4)
    assert np.count_nonzero(plain) > 100


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_orthogonal_samples_have_no_representation_but_rounding(dtype):
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((50, 50)))[0][:20]
    assert self_representation(Q.astype(dtype)).coefficients.nnz == 0


def test_small_penalties_in_float32_are_redone_in_float64():
    X = samples(80, 40, dtype=np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = self_representation(X, gamma=1e5, lam=1e-3)
    assert found.certificate.max() <= TOL
    assert violations(X, found.coefficients, 1e5, 1e-3, "squared", "relative").max() <= 1.1 * TOL


def test_what_is_not_reached_is_reported_with_its_figure():
    with pytest.warns(ConvergenceWarning, match=r"did not reach tol = 1e-17; the worst .* is \d"):
        self_representation(samples(), gamma=20, lam=0.1, tol=1e-17)


@pytest.mark.parametrize("lam", [0.0, 1e-9, 1e12])
@pytest.mark.parametrize("gamma", [1e12, 3.0])
def test_extreme_parameters_end(lam, gamma):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for loss in ("squared", "norm"):
            found = self_representation(samples(40, 20), gamma=gamma, lam=lam, loss=loss)
            assert np.isfinite(found.coefficients.data).all()
            assert not np.isnan(found.certificate).any()


# --- input -----------------------------------------------------------------------------------


def test_the_samples_are_never_changed(tmp_path):
    X = samples()
    before = X.copy()
    X.flags.writeable = False
    plain = self_representation(X, gamma=5, lam=0.5)
    assert (before == X).all()
    np.save(tmp_path / "X.npy", before)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for other in (mapped, np.asfortranarray(before), before.tolist()):
        found = self_representation(other, gamma=5, lam=0.5)
        np.testing.assert_allclose(found.coefficients.toarray(), plain.coefficients.toarray())


def test_whole_numbers_are_read_as_floats():
    X = np.random.default_rng(0).integers(0, 255, (30, 20)).astype(np.uint8)
    found = self_representation(X, gamma=5, lam=1e5)
    assert found.samples.dtype == np.float32
    assert violations(X, found.coefficients, 5, 1e5, "squared", "relative").max() <= 2 * TOL


def test_progress_is_told(monkeypatch):
    monkeypatch.setattr(solver, "_MOST_BLOCK_ROWS", 25)
    told = []
    self_representation(samples(60), progress=lambda done, total: told.append((done, total)))
    assert told == [(25, 60), (50, 60), (60, 60)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"gamma": 0}, "gamma must be positive, got 0"),
        ({"gamma": np.nan}, "gamma must be a finite number, got nan"),
        ({"gamma": "big"}, "gamma must be a finite number, got 'big'"),
        ({"lam": -1}, "lam must be at least 0, got -1"),
        ({"loss": "huber"}, r"loss must be one of \('norm', 'squared'\), got 'huber'"),
        ({"gamma_scale": "log"}, "gamma_scale must be one of .* got 'log'"),
        ({"tol": 0}, "tol must be a positive number, got 0"),
        ({"tol": np.inf}, "tol must be a positive number, got inf"),
        ({"n_jobs": "2"}, "n_jobs must be a whole number .* got '2'"),
        ({"X": 1e160 * np.ones((3, 30))}, r"1e\+160.* leave the range of float64"),
        ({"X": 1e-170 * np.ones((3, 30))}, "1e-170.* leave the range of float64"),
        ({"dictionary": np.ones((3, 4))}, r"as many features as X \(30\), got 4"),
        ({"dictionary": np.full((3, 30), np.nan)}, "dictionary contains NaN"),
        ({"X": np.ones(3)}, "2D array"),
        ({"X": np.ones((1, 30))}, "minimum of 2"),
        ({"X": np.ones((0, 30))}, "0 sample"),
        ({"X": np.full((3, 30), np.inf)}, "X contains infinity"),
    ],
    ids=str,
)
def test_bad_parameters(change, words):
    arguments = {"X": samples()} | change
    with pytest.raises(ValueError, match=words):
        self_representation(arguments.pop("X"), **arguments)


def test_sparse_input_is_refused():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        self_representation(sparse.csr_array(samples()))


def test_real_faces(data_folder):
    faces = load("yale-b", data_folder).first_classes(10)
    X = normalize_samples(faces.X)
    found = self_representation(X)
    true = violations(X, found.coefficients, 10, 5, "squared", "relative")
    assert found.certificate.max() <= TOL
    assert true.max() <= 2 * TOL
    rows = sparse.coo_array(found.coefficients)
    same = faces.y[rows.row] == faces.y[rows.col]
    assert np.abs(rows.data[same]).sum() > np.abs(rows.data[~same]).sum()  # of ten people
