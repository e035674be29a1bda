"""`Smoothing`."""

import numpy as np
import pytest

from enhg.preprocessing import SampleNormalizer, Smoothing


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_features_are_mixed_by_the_formula(blurred_images, dtype):
    X = blurred_images(500, 8).astype(dtype)
    inside = X[0] != 0
    unit = X.astype(np.float64) / np.linalg.norm(X, axis=1, keepdims=True)
    similarity = np.zeros((100, 100))
    correlation = np.corrcoef(unit[:, inside].T) - np.eye(inside.sum())
    for feature, row in zip(np.flatnonzero(inside), correlation, strict=True):
        best = np.argsort(row)[-4:]
        similarity[feature, np.flatnonzero(inside)[best]] = np.maximum(2 * row[best] - 1, 0)
    similarity = np.maximum(similarity, similarity.T)
    mixing = similarity / 2 / np.maximum((similarity > 0).sum(axis=1), 4)[:, None]
    mixing += np.diag(1 - mixing.sum(axis=1))
    mixed = X.astype(np.float64) @ np.linalg.matrix_power(mixing, 5).T
    smoothing = Smoothing().fit(X)
    assert smoothing.n_steps_ == 5
    assert smoothing.transform(X).dtype == dtype
    expected = SampleNormalizer().fit_transform(mixed)
    np.testing.assert_allclose(smoothing.transform(X), expected, atol=2e-5)


@pytest.mark.parametrize(("features", "steps"), [(2, 1), (64, 3), (65, 4), (256, 12), (900, 12)])
def test_small_images_are_smoothed_less(features, steps):
    X = np.random.default_rng(0).normal(size=(400, features))
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    smoothing = Smoothing().fit(X)
    assert smoothing.n_steps_ == steps
    mixed = X @ np.linalg.matrix_power(smoothing.mixing_.toarray(), steps).T
    expected = SampleNormalizer().fit_transform(mixed)
    np.testing.assert_allclose(smoothing.transform(X), expected, atol=1e-12)


def test_neighboring_pixels_are_mixed(blurred_images):
    mixing = Smoothing().fit(blurred_images(1000, 10)).mixing_.tocoo()
    places = np.stack(np.unravel_index([mixing.row, mixing.col], (12, 12)))
    distances = np.abs(places[:, 0] - places[:, 1]).sum(axis=0)
    assert distances.max() <= 2
    assert (distances == 1).sum() == 2 * 2 * 9 * 10  # every pixel with all beside it


def test_rows_of_the_mixing_matrix_sum_to_one(blurred_images):
    mixing = Smoothing().fit(blurred_images(300, 6)).mixing_
    assert mixing.data.min() > 0
    np.testing.assert_allclose(mixing.sum(axis=1), 1)


def test_the_order_of_features_does_not_matter(blurred_images):
    X = blurred_images(300, 6)
    order = np.random.default_rng(0).permutation(X.shape[1])
    np.testing.assert_allclose(
        Smoothing().fit_transform(X[:, order]), Smoothing().fit_transform(X)[:, order], atol=1e-12
    )


def test_new_samples_are_transformed_like_those_of_fit(blurred_images):
    X = blurred_images(5000, 4)
    smoothing = Smoothing().fit(X[:4900])
    np.testing.assert_allclose(
        smoothing.transform(X)[-100:], smoothing.transform(X[-100:]), atol=1e-12
    )


def test_uncorrelated_features_are_not_mixed(no_warnings):
    X = np.random.default_rng(0).normal(size=(300, 40))
    smoothing = Smoothing().fit(X)
    assert smoothing.n_steps_ == 0
    np.testing.assert_array_equal(smoothing.mixing_.toarray(), np.eye(40))
    np.testing.assert_array_equal(smoothing.transform(X), SampleNormalizer().fit_transform(X))


@pytest.mark.parametrize("shape", [(1, 1024), (5, 1024), (9, 20), (9, 1)])
def test_too_few_samples_to_estimate_correlations(images, shape, no_warnings):
    X = np.ones(shape) if shape[0] == 9 else images(*shape).astype(float)
    assert Smoothing().fit(X).n_steps_ == 0


def test_constant_samples_become_zero(blurred_images):
    X = blurred_images(300, 6).astype(np.float32)
    X[3] = 7
    with pytest.warns(UserWarning, match="1 of 300 samples are constant"):
        smoothed = Smoothing().fit_transform(X)
    assert not smoothed[3].any()
    assert smoothed.any(axis=1).sum() == 299
