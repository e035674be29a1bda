"""`Problem`: its parameters and their scale. `Representation`: what it derives from Z."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from enhg.representation.problem import Problem, Representation


def problem(**changes):
    return Problem(**({"gamma": 2.0, "lam": 0.5, "loss": "squared", "scale": "relative"} | changes))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gamma": 0}, "gamma must be positive, got 0"),
        ({"gamma": -1.5}, r"gamma must be positive, got -1\.5"),
        ({"gamma": np.nan}, "gamma must be a finite number, got nan"),
        ({"gamma": np.inf}, "gamma must be a finite number, got inf"),
        ({"gamma": None}, "gamma must be a finite number, got None"),
        ({"gamma": "0.18"}, "gamma must be a finite number, got '0.18'"),
        ({"gamma": [1.0]}, r"gamma must be a finite number, got \[1.0\]"),
        ({"gamma": 1 + 0j}, "gamma must be a finite number"),
        ({"lam": -1e-9}, "lam must be at least 0, got -1e-09"),
        ({"lam": np.nan}, "lam must be a finite number, got nan"),
        ({"lam": np.inf}, "lam must be a finite number, got inf"),
        ({"loss": "l2"}, r"loss must be one of \('norm', 'squared'\), got 'l2'"),
        ({"loss": None}, "loss must be one of .* got None"),
        ({"scale": "Relative"}, r"scale must be one of \('relative', 'absolute'\), got 'Relative'"),
    ],
    ids=str,
)
def test_what_cannot_be_is_refused_by_name(changes, words):
    with pytest.raises(ValueError, match=words):
        problem(**changes)


@pytest.mark.parametrize("number", [1, 2.5, np.float32(3), np.int64(4)])
def test_any_kind_of_number_will_do(number):
    assert problem(gamma=number).gammas(np.ones(1), np.ones(1)).dtype == np.float64
    assert problem(lam=0).lam == 0


def test_it_cannot_be_changed():
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
    found = problem(gamma=0.18, gamma_scale="absolute").gammas(
        np.array([0.0, 1.0, 9.0]), np.ones(3)
    )
    np.testing.assert_array_equal(found, 0.18)


@pytest.mark.parametrize("loss", ["norm", "squared"])
def test_a_sample_that_correlates_with_nothing_has_a_finite_gamma(loss):
    with np.errstate(all="raise"):
        found = problem(loss=loss).gammas(np.array([0.0, 0.5]), np.array([0.0, 2.0]))
    assert found[0] == 2.0
    assert found[1] == float(Fraction(2) / Fraction(1, 2) * (2 if loss == "norm" else 1))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_clean_and_errors_add_up_to_the_samples(dtype):
    rng = np.random.default_rng(0)
    X, A = rng.normal(size=(4, 6)).astype(dtype), rng.normal(size=(9, 6)).astype(dtype)
    Z = sparse.random_array((4, 9), density=0.3, rng=rng, format="csr")
    nothing = np.zeros(4)
    found = Representation(Z, nothing, nothing, nothing, X, A)
    assert found.reconstruction.dtype == found.residuals.dtype == dtype
    np.testing.assert_allclose(found.reconstruction, Z.toarray() @ A, atol=1e-6)
    np.testing.assert_allclose(found.reconstruction + found.residuals, X, atol=1e-6)
    assert found.reconstruction is found.reconstruction  # computed once
