"""Equal samples and atoms, which are solved once, against solvers that know nothing of copies."""

from __future__ import annotations

import time
import tracemalloc

import cvxpy as cp
import numpy as np
import pytest
from elastic_net_oracle import TOL, gammas, objective, samples, violations

from enhg.representation import _blocks, scheduling
from enhg.representation._copies import Copies
from enhg.representation.solver import self_representation


def with_copies(n=14, d=9, dtype=np.float64, seed=0):
    """Samples, of which some have one copy and some many, in random order; −0 equals 0."""
    X = samples(n, d, seed=seed, dtype=dtype)
    X[0, 0] = 0.0
    X = X[np.r_[:n, [0, 1, 1, 1, 1, 2, 2, 0]]]
    X[-1, 0] = -0.0
    return X[np.random.default_rng(seed).permutation(len(X))]


def test_copies_are_found():
    X = with_copies()
    copies = Copies.among(X)
    assert len(copies.distinct) == 14
    np.testing.assert_array_equal(copies.of(X)[copies.places], X)
    assert sorted(copies.counts)[-4:] == [1, 3, 3, 5]
    alone = Copies.among(samples())
    assert not alone.exist
    assert alone.of(X) is X


@pytest.mark.parametrize("loss", ["squared", "norm"])
@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_equals_a_convex_solver_that_has_all_copies(loss, lam):
    X = with_copies()
    result = self_representation(X, gamma=4, lam=lam, loss=loss, tol=1e-8)
    assert violations(X, result.coefficients, 4, lam, loss, "relative").max() <= 2e-8
    Z, G = result.coefficients.toarray(), gammas(X, None, 4, loss, "relative")
    values = objective(X, Z, G, lam, loss)
    for i in range(0, len(X), 3):
        z = cp.Variable(len(X))
        error = X[i] - X.T @ z
        fit = cp.norm(error) if loss == "norm" else cp.sum_squares(error) / 2
        cost = cp.norm1(z) + lam * cp.sum_squares(z) + G[i] * fit
        program = cp.Problem(cp.Minimize(cost), [z[i] == 0])
        program.solve(solver=cp.CLARABEL)
        assert values[i] == pytest.approx(program.value, rel=1e-5)
        if lam > 0:
            np.testing.assert_allclose(Z[i], z.value, atol=2e-3)


@pytest.mark.parametrize("lam", [0.0, 0.5])
def test_copies_share_their_coefficient_equally(lam):
    X = with_copies()
    Z = self_representation(X, gamma=8, lam=lam).coefficients.toarray()
    places = Copies.among(X).places
    for place in range(places.max() + 1):
        members = np.flatnonzero(places == place)
        for i in range(len(X)):
            others = members[members != i]
            assert len(set(Z[i, others])) <= 1
        for i in members[1:]:  # the same rows, but for the sample itself
            order = np.arange(len(X))
            order[[i, members[0]]] = order[[members[0], i]]
            np.testing.assert_array_equal(Z[i], Z[members[0], order])
    largest = places == np.bincount(places).argmax()
    assert np.count_nonzero(Z[np.ix_(largest, largest)]) == 20


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("loss", ["squared", "norm"])
@pytest.mark.parametrize("lam", [0.0, 2.0])
@pytest.mark.parametrize("memory_budget", [1, 2**30])
def test_every_row_is_optimal(dtype, loss, lam, memory_budget):
    X = with_copies(60, 20, dtype)
    options = {"gamma": 6, "lam": lam, "loss": loss, "memory_budget": memory_budget}
    result = self_representation(X, **options)
    true = violations(X, result.coefficients, 6, lam, loss, "relative")
    assert result.certificate.max() <= TOL
    np.testing.assert_allclose(result.certificate, true, atol=2e-5)
    A, Y = with_copies(50, 20, dtype, seed=1), X[:30]
    result = self_representation(Y, dictionary=A, **options)
    assert result.coefficients.shape == (30, len(A))
    true = violations(Y, result.coefficients, 6, lam, loss, "relative", A)
    np.testing.assert_allclose(result.certificate, true, atol=2e-5)
    assert true.max() <= 1.5 * TOL


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_iterations_on_the_residual(monkeypatch, dtype):
    monkeypatch.setattr(_blocks, "_DUAL_COST", 0)
    X = with_copies(150, 15, dtype)
    result = self_representation(X, gamma=20, lam=50)
    assert result.coefficients.nnz > 20 * len(X)
    true = violations(X, result.coefficients, 20, 50, "squared", "relative")
    np.testing.assert_allclose(result.certificate, true, atol=2e-5)
    assert true.max() <= 1.5 * TOL


@pytest.mark.parametrize("loss", ["squared", "norm"])
def test_sparse_errors(loss):
    X, weight, lam = with_copies(), 0.4, 0.5
    result = self_representation(
        X, gamma=20, lam=lam, loss=loss, gamma_scale="absolute", error_weight=weight, tol=1e-8
    )
    assert result.sparse_errors.nnz
    for i in (0, 5, 11):
        z, e = cp.Variable(len(X)), cp.Variable(X.shape[1])
        cost = cp.norm1(z) + weight * cp.norm1(e)
        cost += lam * (cp.sum_squares(z) + weight**2 * cp.sum_squares(e))
        error = X[i] - X.T @ z - e
        cost += 20 * (cp.norm(error) if loss == "norm" else cp.sum_squares(error) / 2)
        cp.Problem(cp.Minimize(cost), [z[i] == 0]).solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(result.coefficients[[i]].toarray()[0], z.value, atol=2e-3)
        np.testing.assert_allclose(result.sparse_errors[[i]].toarray()[0], e.value, atol=2e-3)


def test_all_samples_are_equal():
    X = np.tile(samples(1, 5), (7, 1))
    for lam, loss in ((0.0, "squared"), (2.0, "norm")):
        Z = self_representation(X, gamma=9, lam=lam, loss=loss).coefficients.toarray()
        assert np.count_nonzero(Z) == 42
        assert not np.diagonal(Z).any()


def test_memory_of_copies_is_that_of_the_result():
    X = np.tile(samples(1, 5), (800, 1))
    self_representation(X[:5])
    tracemalloc.start()
    Z = self_representation(X, memory_budget=2**20).coefficients
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert Z.nnz == 800 * 799
    assert peak < 1.5 * (Z.data.nbytes + Z.indices.nbytes)


def test_a_checkpoint_goes_on_and_progress_counts_all_samples(tmp_path, monkeypatch):
    monkeypatch.setattr(scheduling, "_MAX_BLOCK_ROWS", 7)
    X, calls = with_copies(), []
    plain = self_representation(X, lam=1, checkpoint=tmp_path / "c")
    for file in sorted((tmp_path / "c").glob("*/*-1.npz")):
        file.unlink()
    again = self_representation(
        X, lam=1, checkpoint=tmp_path / "c", progress=lambda *done: calls.append(done)
    )
    np.testing.assert_array_equal(again.coefficients.toarray(), plain.coefficients.toarray())
    assert calls == [(22, 22)]


def test_copies_take_no_longer_than_distinct_samples():
    rng = np.random.default_rng(0)
    distinct = rng.random((600, 40))
    copied = np.vstack([distinct[:200], np.repeat(distinct[:1], 400, axis=0)])

    def seconds(X):
        start = time.perf_counter()
        self_representation(X, n_jobs=1)
        return time.perf_counter() - start

    seconds(distinct[:20])
    times = [(seconds(distinct), seconds(copied)) for _ in range(3)]
    assert min(b for _, b in times) <= 2 * min(a for a, _ in times)
