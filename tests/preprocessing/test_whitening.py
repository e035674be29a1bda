"""`Whitening`."""

import numpy as np
import pytest

from enhg.preprocessing import SampleNormalizer, Whitening


@pytest.mark.parametrize("shape", [(300, 40), (40, 300)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_direction_is_damped_by_the_formula(shape, dtype):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=shape) * np.geomspace(10, 0.01, shape[1])).astype(dtype)
    centered = SampleNormalizer().fit_transform(X.astype(np.float64))
    centered -= centered.mean(axis=0)
    U, spreads, Vt = np.linalg.svd(centered, full_matrices=False)
    expected = (U * (spreads / np.sqrt(1 + (spreads / (0.02 * spreads[0])) ** 2))) @ Vt
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    whitened = Whitening().fit_transform(X)
    assert whitened.dtype == dtype
    np.testing.assert_allclose(whitened, expected, atol=2e-4)


def test_new_samples_are_transformed_like_those_of_fit():
    X = np.random.default_rng(0).normal(size=(60, 30))
    whitening = Whitening().fit(X[:50])
    np.testing.assert_allclose(whitening.transform(X)[:50], whitening.transform(X[:50]))
    assert whitening.transform(X[50:]).shape == (10, 30)


def test_equal_samples_have_no_directions(no_warnings):
    X = np.tile(np.arange(5.0), (4, 1))
    with np.errstate(all="raise"):
        whitening = Whitening().fit(X)
    assert np.isfinite(whitening.directions_).all()
    assert np.isfinite(whitening.damping_).all()


def test_equal_samples_get_no_direction_from_rounding():
    X = np.tile(np.random.default_rng(0).normal(size=40), (30, 1))
    with pytest.warns(UserWarning, match="30 of 30 samples are constant or equal to the mean"):
        assert not Whitening().fit_transform(X).any()


def test_samples_without_direction_become_zero(images):
    X = images(20, 40).astype(float)
    X[3] = 7
    with pytest.warns(UserWarning, match="1 of 20 samples are"):
        whitened = Whitening().fit_transform(X)
    assert not whitened[3].any()
    np.testing.assert_allclose(np.linalg.norm(np.delete(whitened, 3, axis=0), axis=1), 1)
