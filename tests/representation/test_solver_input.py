"""`self_representation` on special samples, extreme parameters and wrong input."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest
from elastic_net_oracle import TOL, samples, violations
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from enhg.datasets import load
from enhg.exceptions import InputError
from enhg.preprocessing import SampleNormalizer
from enhg.representation import scheduling
from enhg.representation.solver import self_representation

# --- special samples -------------------------------------------------------------------------


def test_a_dictionary_excludes_no_atom():
    X = samples()
    result = self_representation(X, gamma=20, lam=0.1, dictionary=X)
    assert (np.abs(result.coefficients.toarray()).argmax(1) == np.arange(len(X))).mean() > 0.9
    A = samples(17, 30, seed=5)
    result = self_representation(X[:1], gamma=6, lam=0.2, dictionary=A.astype(np.float32))
    assert result.coefficients.shape == (1, 17)
    true = violations(X[:1], result.coefficients, 6, 0.2, "squared", "relative", A)
    assert true.max() <= 2 * TOL
    np.testing.assert_allclose(result.reconstruction, result.coefficients @ result.dictionary)
    np.testing.assert_allclose(result.reconstruction + result.residuals, X[:1])


@pytest.mark.parametrize("memory_budget", [1, 2**30])
@pytest.mark.parametrize("lam", [0, 0.5])
def test_sparse_errors_are_atoms_of_their_own(memory_budget, lam):
    X, weight = samples(12, 9), 0.4
    result = self_representation(
        X,
        gamma=20,
        lam=lam,
        gamma_scale="absolute",
        error_weight=weight,
        tol=1e-8,
        memory_budget=memory_budget,
    )
    assert result.sparse_errors.nnz
    for i in (0, 5, 11):
        z, e = cp.Variable(12), cp.Variable(9)
        cost = cp.norm1(z) + weight * cp.norm1(e)
        cost += lam * (cp.sum_squares(z) + weight**2 * cp.sum_squares(e))
        cost += 20 / 2 * cp.sum_squares(X[i] - X.T @ z - e)
        cp.Problem(cp.Minimize(cost), [z[i] == 0]).solve(solver=cp.CLARABEL)
        np.testing.assert_allclose(result.coefficients[[i]].toarray()[0], z.value, atol=1e-4)
        np.testing.assert_allclose(result.sparse_errors[[i]].toarray()[0], e.value, atol=1e-4)
    np.testing.assert_allclose(result.residuals, X - result.coefficients @ X, atol=1e-12)


def test_sparse_errors_beside_a_dictionary():
    X = samples(30, 20)
    corrupted = X[:3].copy()
    corrupted[1, 7] += 3
    result = self_representation(
        corrupted, gamma=500, lam=0, dictionary=X, error_weight=0.3, gamma_scale="absolute"
    )
    assert result.coefficients.shape == (3, 30)
    assert result.sparse_errors.shape == (3, 20)
    assert result.coefficients[1, 1] == pytest.approx(1, abs=0.05)
    assert result.sparse_errors[1, 7] == pytest.approx(3, abs=0.1)
    assert result.dictionary.shape == X.shape


@pytest.mark.parametrize("weight", [0, -1, np.nan, np.inf, "much"])
def test_wrong_weights_of_sparse_errors(weight):
    with pytest.raises(InputError, match="error_weight must be a positive number or None"):
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
        result = self_representation(X.astype(dtype), gamma=50, lam=0, loss="norm")
    assert np.linalg.norm(result.residuals[[0, 3]], axis=1).max() <= 1e-5
    np.testing.assert_allclose(result.coefficients[[0]].toarray()[0, [1, 2]], 1, atol=1e-3)
    assert result.certificate.max() <= TOL


def test_samples_that_nothing_represents():
    X = np.zeros((5, 6))
    X[0, 0] = X[1, 1] = 1  # orthogonal to all others
    X[3:] = samples(2, 6)
    X[3:, :2] = 0  # row 2 is zero
    for loss in ("squared", "norm"):
        result = self_representation(X, gamma=5, lam=0.1, loss=loss)
        assert np.diff(result.coefficients.indptr).tolist() == [0, 0, 0, 1, 1]
        assert result.certificate[:3].max() == 0
        assert np.isfinite(result.certificate).all()


@pytest.mark.parametrize("scale", [1e20, 1e-25])
def test_float32_whose_products_leave_its_range_is_solved_in_float64(scale):
    X = samples(30, 20)
    plain = self_representation(X).coefficients.toarray()
    result = self_representation((scale * X).astype(np.float32))
    np.testing.assert_allclose(result.coefficients.toarray(), plain, atol=1e-4)
    assert np.count_nonzero(plain) > 100


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_orthogonal_samples_have_no_representation_but_rounding(dtype):
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((50, 50)))[0][:20]
    assert self_representation(Q.astype(dtype)).coefficients.nnz == 0


def test_small_penalties_in_float32_are_redone_in_float64():
    X = samples(80, 40, dtype=np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = self_representation(X, gamma=1e5, lam=1e-3)
    assert result.certificate.max() <= TOL
    assert violations(X, result.coefficients, 1e5, 1e-3, "squared", "relative").max() <= 1.1 * TOL


def test_a_warning_states_the_certificate_reached():
    reached = r"did not reach the tolerance 1e-17.*: the largest certificate is \d.*increase tol or"
    with pytest.warns(ConvergenceWarning, match=reached):
        self_representation(samples(), gamma=20, lam=0.1, tol=1e-17)


@pytest.mark.parametrize("lam", [0.0, 1e-9, 1e12])
@pytest.mark.parametrize("gamma", [1e12, 3.0])
def test_extreme_parameters_terminate(lam, gamma):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for loss in ("squared", "norm"):
            result = self_representation(samples(40, 20), gamma=gamma, lam=lam, loss=loss)
            assert np.isfinite(result.coefficients.data).all()
            assert not np.isnan(result.certificate).any()


# --- input -----------------------------------------------------------------------------------


def test_samples_are_not_modified(tmp_path):
    X = samples()
    before = X.copy()
    X.flags.writeable = False
    plain = self_representation(X, gamma=5, lam=0.5)
    assert (before == X).all()
    np.save(tmp_path / "X.npy", before)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    for other in (mapped, np.asfortranarray(before), before.tolist()):
        result = self_representation(other, gamma=5, lam=0.5)
        np.testing.assert_allclose(result.coefficients.toarray(), plain.coefficients.toarray())


def test_integers_are_converted_to_floats():
    X = np.random.default_rng(0).integers(0, 255, (30, 20)).astype(np.uint8)
    result = self_representation(X, gamma=5, lam=1e5)
    assert result.samples.dtype == np.float32
    assert violations(X, result.coefficients, 5, 1e5, "squared", "relative").max() <= 2 * TOL


def test_progress_is_reported_per_block(monkeypatch):
    monkeypatch.setattr(scheduling, "_MAX_BLOCK_ROWS", 25)
    calls = []
    self_representation(samples(60), progress=lambda done, total: calls.append((done, total)))
    assert calls == [(25, 60), (50, 60), (60, 60)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"gamma": 0}, "gamma must be a positive number, got 0"),
        ({"gamma": np.nan}, "gamma must be a positive number, got nan"),
        ({"gamma": "big"}, "gamma must be a positive number, got 'big'"),
        ({"lam": -1}, "lam must be a number of at least 0, got -1"),
        ({"loss": "huber"}, r"loss must be one of \('norm', 'squared'\), got 'huber'"),
        ({"gamma_scale": "log"}, "gamma_scale must be one of .* got 'log'"),
        ({"tol": 0}, "tol must be a positive number, got 0"),
        ({"tol": np.inf}, "tol must be a positive number, got inf"),
        ({"n_jobs": "2"}, "n_jobs must be a whole number .* got '2'"),
        ({"X": 1e160 * np.ones((3, 30))}, r"range of float64, got a largest entry of 1e\+160"),
        ({"X": 1e-170 * np.ones((3, 30))}, "range of float64, got a largest entry of 1e-170"),
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
    with pytest.raises(InputError, match=words):
        self_representation(arguments.pop("X"), **arguments)


def test_sparse_input_is_refused():
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        self_representation(sparse.csr_array(samples()))


def test_real_faces(data_folder):
    faces = load("yale-b", data_folder).first_classes(10)
    X = SampleNormalizer().fit_transform(faces.X)
    result = self_representation(X)
    true = violations(X, result.coefficients, 10, 5, "squared", "relative")
    assert result.certificate.max() <= TOL
    assert true.max() <= 2 * TOL
    rows = sparse.coo_array(result.coefficients)
    same = faces.y[rows.row] == faces.y[rows.col]
    assert np.abs(rows.data[same]).sum() > np.abs(rows.data[~same]).sum()  # of ten subjects
