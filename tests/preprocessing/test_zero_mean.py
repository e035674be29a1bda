"""`SampleNormalizer`."""

import numpy as np
import pytest

from enhg.preprocessing import SampleNormalizer
from enhg.preprocessing._arrays import normalized


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_samples_are_normalized(images, dtype, center, no_warnings):
    X = images().astype(dtype)
    samples = SampleNormalizer(center=center).fit_transform(X)
    precision = np.float64 if dtype == np.float64 else np.float32
    assert samples.dtype == precision
    np.testing.assert_array_equal(samples, normalized(X.astype(precision), center=center)[0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_samples_without_direction_are_counted(images, dtype):
    X = images(5).astype(dtype)
    X[1], X[3], X[4] = 0.1, 0, -1e30
    with pytest.warns(UserWarning, match=r"3 of 5 samples are constant \(the first is row 1\)"):
        samples = SampleNormalizer().fit_transform(X)
    assert not samples[[1, 3, 4]].any()
    assert samples[[0, 2]].any(axis=1).all()
    with pytest.warns(UserWarning, match=r"1 of 5 samples are zero \(the first is row 3\)"):
        samples = SampleNormalizer(center=False).fit_transform(X)
    assert samples.any(axis=1).tolist() == [True, True, True, False, True]


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_faint_images_keep_their_direction(dtype, no_warnings):
    noise = np.random.default_rng(0).integers(-1, 2, (3, 1024))
    faint = (200 + noise).astype(dtype)
    faint[2] = 200
    faint[2, 7] = 201  # a single pixel
    samples = SampleNormalizer().fit_transform(faint)
    centered = faint.astype(np.float64) - faint.mean(axis=1, keepdims=True, dtype=np.float64)
    expected = centered / np.linalg.norm(centered, axis=1, keepdims=True)
    np.testing.assert_allclose(samples, expected, atol=1e-3)


@pytest.mark.parametrize("center", [True, False])
def test_the_callers_samples_are_never_changed(images, center):
    X = images().astype(np.float32)
    before = X.copy()
    X.flags.writeable = False
    samples = SampleNormalizer(center=center).fit_transform(X)
    assert not np.shares_memory(samples, X)
    assert samples.flags.writeable
    np.testing.assert_array_equal(X, before)


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="X contains NaN"):
        SampleNormalizer().fit_transform([[1.0, np.nan]])
    with pytest.raises(ValueError, match="2D array"):
        SampleNormalizer().fit_transform([1.0, 2.0])
    with pytest.raises(ValueError, match="X has 2 features, but SampleNormalizer is expecting 3"):
        SampleNormalizer().fit(np.eye(3)).transform(np.eye(2))
