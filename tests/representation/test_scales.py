"""Samples of tiny, huge and mixed scales, extreme penalties, and residuals of nearly zero."""

from __future__ import annotations

import warnings
from itertools import product

import numpy as np
import pytest
from elastic_net_oracle import TOL, samples, violations
from numba import njit
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.exceptions import ConvergenceWarning

from enhg.exceptions import InputError
from enhg.representation import _blocks
from enhg.representation._kernels import _violations
from enhg.representation._rows import SolvedRows
from enhg.representation.problem import SIGMA_FLOOR
from enhg.representation.solver import self_representation


def represent(X, **options):
    """The representation, of which every number must be finite or known not to be optimal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        result = self_representation(X, **options)
    assert np.isfinite(result.coefficients.data).all()
    assert np.isfinite(result.l1_penalty).all()
    assert not np.isnan(result.certificate).any()
    return result


# --- scales ----------------------------------------------------------------------------------


def in_long_double(X, Z, penalties, A=None):
    """KKT violations relative to a by the definition, of a and b given, in extended precision."""
    own = A is None
    X = X.astype(np.longdouble)
    A = X if own else A.astype(np.longdouble)
    Z, (a, b) = Z.toarray().astype(np.longdouble), (p[:, None] for p in penalties)
    C = (X - Z @ A) @ A.T
    off = np.where(Z != 0, np.abs(C - b * Z - a * np.sign(Z)), np.abs(C) - a)
    if own:
        np.fill_diagonal(off, 0)
    return (np.maximum(off, 0) / a).max(axis=1)


@pytest.mark.parametrize("loss", ["squared", "norm"])
@pytest.mark.parametrize(
    ("dtype", "scale"), [(np.float64, 1e9), (np.float64, 1e100), (np.float32, 1e6)]
)
def test_certificates_of_samples_that_correlate_by_rounding_only(dtype, scale, loss):
    Q = np.linalg.qr(np.random.default_rng(0).standard_normal((30, 30)))[0]
    X = (scale * Q).astype(dtype)
    result = represent(X, lam=1, loss=loss)
    assert result.coefficients.nnz == 0
    penalties = result.l1_penalty, result.ridge_penalty
    assert in_long_double(X, result.coefficients, penalties).max() <= result.certificate.max() == 0


def test_the_penalty_of_samples_that_correlate_with_nothing_is_that_of_gamma():
    result = represent(1e9 * np.eye(5), gamma=20, lam=1)
    np.testing.assert_array_equal(result.l1_penalty, 1 / 20)


SCALES = {np.float64: (1e-140, 1e-30, 1e30, 1e140), np.float32: (1e-30, 1e-12, 1e12, 1e30)}


@pytest.mark.parametrize(
    ("dtype", "scale"), [(dtype, scale) for dtype, scales in SCALES.items() for scale in scales]
)
@pytest.mark.parametrize("loss", ["squared", "norm"])
def test_the_scale_of_the_samples_changes_no_coefficient(dtype, scale, loss):
    X = samples(40, 20)
    for lam in (0.0, 0.5):
        plain = represent(X, gamma=5, lam=lam, loss=loss, tol=1e-6)
        scaled = represent((scale * X).astype(dtype), gamma=5, lam=lam, loss=loss, tol=1e-6)
        assert scaled.certificate.max() <= 1e-6
        rounding = 1e-5 if dtype == np.float64 else 1e-3
        np.testing.assert_allclose(
            scaled.coefficients.toarray(), plain.coefficients.toarray(), atol=rounding
        )


@pytest.mark.parametrize(("dtype", "scale"), [(np.float32, 1e25), (np.float64, 1e130)])
@pytest.mark.parametrize("loss", ["squared", "norm"])
@pytest.mark.parametrize("memory_budget", [1, 2**30])
def test_samples_of_mixed_scales(dtype, scale, loss, memory_budget):
    """Two sets of samples, orthogonal to each other, one tiny and one huge: each as if alone."""
    X = np.zeros((40, 30))
    X[:20, :15], X[20:, 15:] = samples(20, 15) / scale, samples(20, 15, seed=1) * scale
    X = X.astype(dtype)
    options = {"gamma": 5, "lam": 0.5, "loss": loss, "memory_budget": memory_budget}
    result = represent(X, **options)
    assert result.certificate.max() <= TOL
    penalties = result.l1_penalty, result.ridge_penalty
    assert in_long_double(X, result.coefficients, penalties).max() <= 2 * TOL
    for part in (slice(0, 20), slice(20, 40)):
        alone = represent(X[part].astype(np.float64), **options).coefficients.toarray()
        assert np.count_nonzero(alone) > 40
        np.testing.assert_allclose(result.coefficients.toarray()[part, part], alone, atol=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("error_weight", [None, 0.5])
def test_samples_and_dictionary_of_other_scales(dtype, error_weight):
    scale = 1e12 if dtype == np.float32 else 1e60
    X, A = (samples(9, 12, seed=1) / scale).astype(dtype), (samples(30, 12) * scale).astype(dtype)
    result = represent(X, dictionary=A, gamma=5, lam=0, error_weight=error_weight)
    assert result.certificate.max() <= TOL
    if error_weight is None:
        penalties = result.l1_penalty, result.ridge_penalty
        assert in_long_double(X, result.coefficients, penalties, A).max() <= 2 * TOL


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"row": 1e-160}, r"X must .* got a largest entry of \S*e-161 in row 7; scale the samples"),
        ({"row": 1e160}, r"X must .* got a largest entry of \S*e\+159 in row 7; scale"),
        ({"gamma": 1e308, "gamma_scale": "absolute", "row": 1e-3, "loss": "norm"}, "gamma must"),
        ({"gamma": 1e308, "row": 1e-100}, r"gamma must give l1 penalties within .* got 1e\+308"),
        ({"gamma": 1e-300, "row": 1e100}, r"gamma must give l1 penalties within .* gives inf"),
        ({"lam": 1e308, "row": 1e100}, r"lam must give ridge penalties within .* got 1e\+308"),
        ({"lam": 1e300, "gamma": 1e15, "row": 1e20, "loss": "norm"}, "lam must give ridge"),
        ({"error_weight": 1e200, "row": 1}, "error_weight must be within"),
    ],
    ids=str,
)
def test_what_float64_cannot_hold_is_refused(change, words):
    X = samples()
    X[7] *= change.pop("row")
    with pytest.raises(InputError, match=words):
        self_representation(X, **change)


# --- penalties below the rounding of the data ------------------------------------------------


def test_a_row_that_was_not_a_number():
    X = np.random.default_rng(0).standard_normal((150, 100)) * 1e9
    A = np.delete(X, 28, 0)
    options = {"dictionary": A, "gamma": 1e3, "lam": 0, "gamma_scale": "absolute"}
    result = represent(X[28:29], **options)
    true = violations(X[28:29], result.coefficients, 1e3, 0, "squared", "absolute", A)
    assert result.certificate[0] > TOL
    assert true[0] > TOL
    with pytest.warns(ConvergenceWarning, match="1 of 1 samples did not reach the tolerance"):
        self_representation(X[28:29], **options)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("gamma", [1e13, 1e18, 1e40])
def test_penalties_of_nothing(dtype, gamma):
    """Coefficients stay finite, and certificates honest, where a is far below rounding."""
    X = samples(36, 24, seed=2, dtype=dtype)
    for loss, lam in product(("squared", "norm"), (0.0, 1e-3, 5.0)):
        result = represent(X, gamma=gamma, lam=lam, loss=loss)
        true = violations(X, result.coefficients, gamma, lam, loss, "relative")
        assert not ((result.certificate <= TOL) & ~(true <= 10 * TOL)).any()
        assert np.abs(result.coefficients.data).max() < 1e8  # beyond, residuals are rounding
    with_errors = represent(X[:8], gamma=gamma, lam=1e-3, error_weight=0.5)
    assert np.isfinite(with_errors.sparse_errors.data).all()


# --- the second line of defense --------------------------------------------------------------


@njit
def violations_of(g, z, shares, l1, ridge):  # inner kernels cannot be called from Python
    return _violations(g, z, shares, l1, ridge)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("place", [0, 3, 4])
def test_violations_do_not_lose_what_is_not_finite(wrong, place):
    z, g = np.array([1.0, -1.0, 0.0, 0.0, 2.0]), np.array([0.5, -0.5, 0.1, 0.1, 0.5])
    g[place] = wrong
    assert max(violations_of(g, z, np.ones(5), 0.5, 0.0)) == np.inf
    z[4] = wrong
    assert violations_of(g, z, np.ones(5), 0.5, 0.1)[0] == np.inf


def test_rows_that_are_not_finite_become_zero(monkeypatch):
    """Numbers that a kernel would leave reach nobody, and the sample is not optimal."""
    solved = _blocks.solved_rows

    def spoiled(block, n_atoms):
        block.coefficients[3, block.coefficients[3] != 0] = np.nan
        return solved(block, n_atoms)

    monkeypatch.setattr(_blocks, "solved_rows", spoiled)
    with pytest.warns(ConvergenceWarning, match="1 of 60 samples.*certificate is inf, of sample 3"):
        result = self_representation(samples())
    sizes = np.diff(result.coefficients.indptr)
    assert sizes[3] == 0
    assert np.delete(sizes, 3).min() > 0
    assert np.isinf(result.certificate).tolist() == (np.arange(60) == 3).tolist()


def test_errors_that_are_not_finite(sparse_rows):
    rows = sparse_rows
    rows.errors.data[0] = np.inf
    finite = rows.finite()
    assert finite.coefficients.toarray()[0].tolist() == [0, 0]
    assert finite.errors.toarray().tolist() == [[0, 0], [0, 4]]
    assert finite.certificate.tolist() == [np.inf, 0]


@pytest.fixture
def sparse_rows():
    zeros = np.zeros(2)
    return SolvedRows(
        csr_array([[1.0, 2], [0, 3]]), zeros, zeros, zeros, zeros > 0, csr_array([[1.0, 0], [0, 4]])
    )


# --- the norm loss near an exact fit ---------------------------------------------------------


def near_copies(noise, seed, dtype=np.float64):
    X = samples(20, 15, seed=seed)
    X = np.vstack([X, X[:5], X[:5]])
    return (X + noise * np.random.default_rng(seed).standard_normal(X.shape)).astype(dtype)


@pytest.mark.parametrize("noise", [0, 1e-6, 1e-5, 1e-4, 1e-3])
@pytest.mark.parametrize("lam", [0, 0.1, 5])
def test_the_tolerance_is_reached_near_an_exact_fit(noise, lam):
    floor = 0
    for seed in range(4):
        X = near_copies(noise, seed)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result = self_representation(
                X, gamma=20, lam=lam, loss="norm", gamma_scale="absolute", tol=1e-6
            )
        true = violations(X, result.coefficients, 20, lam, "norm", "absolute")
        assert true.max() <= 2e-6
        floor += result.at_floor.sum()
    assert floor > 0


def test_nearly_equal_atoms_take_the_place_of_each_other():
    """With one in place of another, a small residual is another one: the first correction of the
    model after that is no progress."""
    n_failed = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        A = rng.standard_normal((2, 6))[rng.integers(0, 2, 12)]
        A = A / np.linalg.norm(A, axis=1)[:, None] + 1e-9 * rng.standard_normal((12, 6))
        X = rng.standard_normal((40, 12)) @ A
        X = X / np.linalg.norm(X, axis=1)[:, None] + 1.5e-6 * rng.standard_normal((40, 6))
        for gamma in (3, 10):
            result = represent(X, dictionary=A, gamma=gamma, lam=0, loss="norm", tol=1e-6)
            true = violations(X, result.coefficients, gamma, 0, "norm", "relative", A)
            np.testing.assert_allclose(result.certificate, true, atol=1e-7)
            n_failed += np.count_nonzero(true > 1.1e-6)
    assert n_failed <= 2  # of 800, where rounding prevents it


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_at_the_floor_are_marked(dtype):
    X = near_copies(0, 0, dtype)
    X[12] = 0
    result = self_representation(X, gamma=20, lam=0.1, loss="norm", gamma_scale="absolute")
    lengths = np.linalg.norm(X.astype(np.float64), axis=1)
    residuals = np.linalg.norm(
        X.astype(np.float64) - result.coefficients @ X.astype(np.float64), axis=1
    )
    np.testing.assert_array_equal(result.at_floor, residuals <= SIGMA_FLOOR * lengths)
    assert 15 <= result.at_floor.sum() < len(X)
    squared = self_representation(1e8 * X, gamma=20, lam=0.1)
    assert squared.at_floor.dtype == bool
    assert not squared.at_floor.any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_numbers_that_are_assumed_to_be_finite(value, dtype):
    """With this setting of scikit-learn samples are not scanned; rounds would never end."""
    X = np.random.default_rng(0).standard_normal((30, 8)).astype(dtype)
    X[3, 4] = value
    with (
        config_context(assume_finite=True),
        pytest.raises(InputError, match=f"got .* of {value}"),
    ):
        self_representation(X)


def test_residuals_that_grow_along_a_support_of_as_many_atoms_as_features():
    """Along such a support the residual and its penalties are proportional, and so no smaller
    violation shows the way to the solution: the next coefficient that reaches zero does."""
    rng = np.random.default_rng(4)
    for _ in range(3):
        X = rng.standard_normal((50, 4))
    X[1] = -X[0]
    X /= np.linalg.norm(X, axis=1)[:, None]
    atoms = np.delete(X, 42, axis=0)
    for _ in range(20):
        A = atoms[rng.permutation(49)]
        result = self_representation(X[[42]], dictionary=A, gamma=1.2, lam=0, loss="norm", tol=1e-6)
        true = violations(X[[42]], result.coefficients, 1.2, 0, "norm", "relative", A)
        assert max(result.certificate[0], true[0]) <= 1e-6
