"""`Lifting`."""

import numpy as np
import pytest

from enhg.preprocessing import Lifting


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_points_are_lifted_by_the_formula(dtype, no_warnings):
    X = (np.random.default_rng(0).normal(size=(50, 4)) * 3 + 7).astype(dtype)
    deviations = X - X.mean(axis=0)
    spread = np.sqrt((deviations**2).sum(axis=1).mean())
    expected = np.hstack([deviations / spread, np.full((50, 1), 3.0)])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    lifted = Lifting().fit_transform(X)
    assert lifted.dtype == dtype
    np.testing.assert_allclose(lifted, expected, atol=1e-6)


@pytest.mark.parametrize("scale", [2.0**530, 2.0**-530])
def test_points_of_any_size_are_lifted_alike(scale, no_warnings):
    X = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_allclose(
        Lifting().fit_transform(scale * X), Lifting().fit_transform(X), atol=1e-12
    )


def test_huge_float32_points_are_lifted():
    X = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    lifted = Lifting().fit_transform(X * np.float32(2.0**100))
    np.testing.assert_allclose(lifted, Lifting().fit_transform(X), atol=1e-6)
    assert lifted.dtype == np.float32


def test_sums_of_points_may_overflow(no_warnings):
    X = np.random.default_rng(0).uniform(-1, 1, size=(200, 3)) + 0.5
    lifted = Lifting().fit_transform(X * 1e307)
    np.testing.assert_allclose(lifted, Lifting().fit_transform(X), atol=1e-12)


def test_equal_points_have_one_direction(no_warnings):
    lifting = Lifting().fit(np.ones((4, 2)))
    assert lifting.spread_ == 1
    np.testing.assert_array_equal(lifting.transform(np.ones((4, 2))), [[0, 0, 1]] * 4)
