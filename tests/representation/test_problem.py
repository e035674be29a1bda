"""`Problem`: parameters and scale of γ. `Representation`: quantities derived from Z."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from enhg.exceptions import InputError
from enhg.representation import problem as module
from enhg.representation.problem import Problem, Representation


def problem(**changes):
    return Problem(
        **({"gamma": 2.0, "lam": 0.5, "loss": "squared", "gamma_scale": "relative"} | changes)
    )


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gamma": 0}, "gamma must be a positive number, got 0"),
        ({"gamma": -1.5}, r"gamma must be a positive number, got -1\.5"),
        ({"gamma": np.nan}, "gamma must be a positive number, got nan"),
        ({"gamma": np.inf}, "gamma must be a positive number, got inf"),
        ({"gamma": None}, "gamma must be a positive number, got None"),
        ({"gamma": "0.18"}, "gamma must be a positive number, got '0.18'"),
        ({"gamma": [1.0]}, r"gamma must be a positive number, got \[1.0\]"),
        ({"gamma": 1 + 0j}, "gamma must be a positive number"),
        ({"lam": -1e-9}, "lam must be a number of at least 0, got -1e-09"),
        ({"lam": np.nan}, "lam must be a number of at least 0, got nan"),
        ({"lam": np.inf}, "lam must be a number of at least 0, got inf"),
        ({"loss": "l2"}, r"loss must be one of \('norm', 'squared'\), got 'l2'"),
        ({"loss": None}, "loss must be one of .* got None"),
        (
            {"gamma_scale": "Relative"},
            r"gamma_scale must be one of \('relative', 'absolute'\), got 'Relative'",
        ),
    ],
    ids=str,
)
def test_wrong_parameters_are_named(changes, words):
    with pytest.raises(InputError, match=words):
        problem(**changes)


@pytest.mark.parametrize("number", [1, 2.5, np.float32(3), np.int64(4)])
def test_numbers_of_any_type_are_accepted(number):
    assert problem(gamma=number).gammas(np.ones(1), np.ones(1)).dtype == np.float64
    assert problem(lam=0).lam == 0


def test_problem_is_immutable():
    with pytest.raises(AttributeError):
        problem().gamma = 3.0


def value(z, x, A, gamma, lam, loss):
    """‖z‖₁ + λ‖z‖² + γ·ℓ(x − zA), by definition."""
    r = np.linalg.norm(x - z @ A)
    return np.abs(z).sum() + lam * (z**2).sum() + gamma * (r if loss == "norm" else r**2 / 2)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from(["norm", "squared"]), st.floats(0, 10))
def test_relative_gammas_count_from_where_zero_stops_being_optimal(seed, loss, lam):
    """By the objective itself: a small enough step along the best atom helps iff gamma > 1."""
    rng = np.random.default_rng(seed)
    x, A = rng.normal(size=5) * 10 ** rng.uniform(-2, 2), rng.normal(size=(7, 5))
    correlations = A @ x
    critical, length = np.abs(correlations).max(), np.linalg.norm(x)
    best = np.abs(correlations).argmax()
    step = np.zeros(7)
    step[best] = 1e-4 * np.sign(correlations[best]) * length / np.linalg.norm(A[best])
    for gamma, helps in [(0.95, False), (1.05, True)]:
        set_up = problem(gamma=gamma, lam=lam, loss=loss)
        own = set_up.gammas(np.array([critical]), np.array([length]))[0]
        change = value(1e-2 * step, x, A, own, lam, loss) - value(0 * step, x, A, own, lam, loss)
        assert (change < 0) == helps


def test_absolute_gammas_are_taken_as_given():
    gammas = problem(gamma=0.18, gamma_scale="absolute").gammas(
        np.array([0.0, 1.0, 9.0]), np.ones(3)
    )
    np.testing.assert_array_equal(gammas, 0.18)


@pytest.mark.parametrize("loss", ["norm", "squared"])
def test_a_sample_that_correlates_with_nothing_has_a_finite_gamma(loss):
    with np.errstate(all="raise"):
        gammas = problem(loss=loss).gammas(np.array([0.0, 0.5]), np.array([0.0, 2.0]))
    assert gammas[0] == 2.0
    assert gammas[1] == float(Fraction(2) / Fraction(1, 2) * (2 if loss == "norm" else 1))


def represented(n=4, m=9, d=6, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    X, A = rng.normal(size=(n, d)).astype(dtype), rng.normal(size=(m, d)).astype(dtype)
    Z = sparse.random_array((n, m), density=0.3, rng=rng, format="csr")
    zeros = np.zeros(n)
    return Representation(Z, zeros, zeros, zeros, zeros > 0, X, A)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_reconstruction_and_residuals_add_up_to_the_samples(dtype):
    result = represented(dtype=dtype)
    Z, X, A = result.coefficients, result.samples, result.dictionary
    assert result.reconstruction.dtype == result.residuals.dtype == dtype
    np.testing.assert_allclose(result.reconstruction, Z.toarray() @ A, atol=1e-6)
    np.testing.assert_allclose(result.reconstruction + result.residuals, X, atol=1e-6)
    assert result.reconstruction is result.reconstruction  # computed once


@pytest.mark.parametrize("entries", [1, 9 * 4, 2**22])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_relative_residuals_by_brute_force(monkeypatch, dtype, entries):
    """Entry by entry from the definition, for every size of the blocks of features."""
    monkeypatch.setattr(module, "_ENTRIES_AT_ONCE", entries)
    result = represented(dtype=dtype, seed=1)
    Z = result.coefficients.toarray()
    expected = []
    for i, x in enumerate(result.samples):
        squares = 0.0
        for k in range(len(x)):
            value = sum(Z[i, j] * float(result.dictionary[j, k]) for j in range(Z.shape[1]))
            squares += (float(x[k]) - value) ** 2
        expected.append(squares**0.5 / sum(float(v) ** 2 for v in x) ** 0.5)
    assert result.relative_residuals.dtype == np.float64
    np.testing.assert_allclose(result.relative_residuals, expected, rtol=1e-12)
    assert result.relative_residuals is result.relative_residuals  # computed once
    assert not {"reconstruction", "residuals"} & set(vars(result))  # nothing n×d is kept


def test_relative_residual_of_special_samples():
    A = np.array([[1.0, 0.0], [0.0, 2.0]])
    X = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 4.0], [0.0, 5.0]])
    Z = sparse.csr_array([[0.0, 0.0], [0.0, 0.0], [3.0, 0.0], [0.0, 2.5]])
    zeros = np.zeros(4)
    result = Representation(Z, zeros, zeros, zeros, zeros > 0, X, A)
    # Zero sample, zero coefficients, one of two features reconstructed, exact reconstruction.
    np.testing.assert_allclose(result.relative_residuals, [0, 1, 0.8, 0], rtol=1e-15)
    zero_sample = Representation(Z[[1]], *[np.zeros(1)] * 3, np.zeros(1, bool), np.zeros((1, 2)), A)
    assert zero_sample.relative_residuals.tolist() == [0.0]


def test_sparse_errors_are_part_of_the_residuals():
    result = represented()
    errors = sparse.csr_array(result.residuals)
    explained = Representation(
        result.coefficients, *[np.zeros(4)] * 3, result.at_floor, result.samples, result.dictionary,
        errors,
    )  # fmt: skip
    np.testing.assert_array_equal(explained.relative_residuals, result.relative_residuals)
    assert explained.relative_residuals.min() > 0
