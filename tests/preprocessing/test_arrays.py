"""Lengths of samples, their principal directions, and which are equal."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from enhg.preprocessing._arrays import (
    evenly_spaced,
    first_equal,
    inverse_lengths,
    normalized,
    principal_directions,
    unit_length,
)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zero_mean_and_unit_length(images, dtype):
    X = images().astype(dtype)
    samples, empty = normalized(X)
    assert samples.dtype == dtype
    assert not empty.any()
    wide = samples.astype(np.float64)
    np.testing.assert_allclose(wide.mean(axis=1), 0, atol=np.finfo(dtype).eps)
    np.testing.assert_allclose(np.linalg.norm(wide, axis=1), 1, rtol=2e-7)
    centered = X.astype(np.float64) - X.astype(np.float64).mean(axis=1, keepdims=True)
    expected = centered / np.linalg.norm(centered, axis=1, keepdims=True)
    np.testing.assert_allclose(samples, expected, atol=2 * np.finfo(dtype).eps)


@settings(deadline=None, max_examples=30)
@given(
    arrays(np.float64, (3, 8), elements=st.floats(-1e6, 1e6, allow_subnormal=False)),
    st.floats(1e-3, 1e3),
    st.floats(-1e3, 1e3),
)
def test_contrast_and_brightness_do_not_matter(X, contrast, brightness):
    X = np.hstack([X, X.min(axis=1, keepdims=True) - 1e6])  # no sample is constant
    samples, _ = normalized(X)
    changed, _ = normalized(contrast * X + brightness)
    np.testing.assert_allclose(changed, samples, atol=1e-9)
    np.testing.assert_allclose(normalized(samples)[0], samples, atol=1e-12)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("size", [2.0**100, 2.0**-100, 2.0**-140])
def test_huge_and_tiny_values_stay_in_range(size, center, no_warnings):
    whole = np.random.default_rng(1).integers(-99, 100, (4, 50)).astype(np.float32)
    plain, _ = normalized(whole, center=center)
    scaled, _ = normalized(whole * np.float32(size), center=center)
    np.testing.assert_allclose(scaled.astype(np.float64), plain, atol=1e-6)
    assert np.abs(scaled).max() > 0


def test_the_largest_floats_can_be_centered(no_warnings):
    top = np.finfo(np.float32).max
    X = np.array([[top, top, top, 0.0], [top, -top, 0.0, 0.0]], dtype=np.float32)
    shape = np.array([[0.25, 0.25, 0.25, -0.75], [1.0, -1.0, 0.0, 0.0]])
    expected = shape / np.linalg.norm(shape, axis=1, keepdims=True)
    np.testing.assert_allclose(normalized(X)[0], expected, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_samples_without_direction_become_zero(images, dtype):
    X = images(5).astype(dtype)
    X[1] = 0.1  # not a sum of powers of two: its mean is rounded
    X[3] = 0
    X[4] = -1e30
    samples, empty = normalized(X)
    assert empty.tolist() == [False, True, False, True, True]
    assert not samples[empty].any()
    assert samples[~empty].any(axis=1).all()
    samples, empty = normalized(X, center=False)
    assert empty.tolist() == [False, False, False, True, False]
    assert samples.any(axis=1).tolist() == [True, True, True, False, True]


def test_unit_length(images):
    X = np.vstack([images().astype(np.float64) + 1, np.zeros(1024)])
    lengths = np.linalg.norm(X[:-1], axis=1, keepdims=True)
    np.testing.assert_allclose(unit_length(X)[:-1], X[:-1] / lengths, rtol=1e-14)
    assert not unit_length(X)[-1].any()


def test_inverse_lengths():
    X = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 0.5]], dtype=np.float32)
    np.testing.assert_allclose(inverse_lengths(X), [0.2, 0.0, 2.0])


@pytest.mark.parametrize(("n", "expected"), [(3, [0, 1, 2]), (9, [0, 2, 5, 8]), (4, [0, 1, 2, 3])])
def test_evenly_spaced_rows(n, expected):
    X = np.arange(n)[:, None]
    assert evenly_spaced(X, 4).ravel().tolist() == expected


@pytest.mark.parametrize("shape", [(50, 20), (20, 50)])
def test_principal_directions_are_singular_vectors(shape):
    X = np.random.default_rng(0).normal(size=shape) * np.geomspace(10, 0.1, shape[1])
    spreads, directions = principal_directions(X)
    _, values, Vt = np.linalg.svd(X, full_matrices=False)
    np.testing.assert_allclose(spreads, values, rtol=1e-6)
    np.testing.assert_allclose(np.abs((directions * Vt.T).sum(axis=0)), 1, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_samples_are_those_of_no_difference(dtype):
    X = np.random.default_rng(0).integers(0, 2, (60, 4)).astype(dtype)
    X[::3] *= -1  # 0 and −0 are equal
    equal = (X[:, None] == X).all(axis=2)
    np.testing.assert_array_equal(first_equal(X), equal.argmax(axis=1))
    np.testing.assert_array_equal(first_equal(np.asfortranarray(X)), equal.argmax(axis=1))
