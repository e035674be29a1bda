"""`check_samples` and `normalize_samples`: what is accepted, what is refused, and the edges."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.ndimage import gaussian_filter

from enhg.datasets import load
from enhg.preprocessing import (
    Normalizer,
    check_samples,
    directions_spread_over,
    normalize_samples,
)


def images(n=6, d=1024, seed=0):
    return np.random.default_rng(seed).integers(0, 256, (n, d)).astype(np.uint8)


@pytest.fixture
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# --- check_samples ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_dtype", "expected"),
    [
        (np.float64, np.float64),
        (np.float32, np.float32),
        (np.uint8, np.float32),
        (np.int8, np.float32),
        (np.uint16, np.float32),
        (np.int16, np.float32),
        (np.int32, np.float64),
        (np.int64, np.float64),
        (np.float16, np.float64),
        (bool, np.float64),
        (">f4", np.float64),
    ],
)
def test_the_precision_is_the_smallest_that_holds_the_values(given_dtype, expected):
    X = np.array([[0, 1, 100], [3, 0, 1]]).astype(given_dtype)
    checked = check_samples(X)
    assert checked.dtype == expected
    assert checked.dtype.isnative
    np.testing.assert_array_equal(checked, X.astype(np.float64))


@pytest.mark.parametrize("dtype", [np.uint16, np.int16])
def test_whole_numbers_survive_float32(dtype):
    limits = np.iinfo(dtype)
    X = np.array([[limits.min, limits.max], [limits.max - 1, 1]], dtype=dtype)
    np.testing.assert_array_equal(check_samples(X).astype(np.int64), X)


def test_rows_come_out_contiguous_and_what_is_right_is_not_copied():
    X = np.asfortranarray(np.arange(12.0).reshape(3, 4))
    assert check_samples(X).flags.c_contiguous
    X = np.ascontiguousarray(X)
    assert np.shares_memory(check_samples(X), X)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.ones(4), "2D array"),
        (np.ones((2, 2, 2)), "dim 3"),
        (np.ones((0, 4)), "0 sample"),
        (np.ones((4, 0)), r"0 feature"),
        (np.array([[1.0, np.nan]]), "faces contains NaN"),
        (np.array([[1.0, np.inf]]), "faces contains infinity"),
        (np.array([[1.0, 1j]]), "[Cc]omplex"),
        ([["a", "b"]], "convert"),
    ],
    ids=["1-D", "3-D", "no samples", "no features", "NaN", "infinity", "complex", "words"],
)
def test_what_is_no_set_of_samples_is_refused(X, words):
    with pytest.raises(ValueError, match=words):
        check_samples(X, name="faces")


def test_too_few_samples_are_refused():
    with pytest.raises(ValueError, match="minimum of 3"):
        check_samples(np.ones((2, 4)), min_samples=3)


@pytest.mark.parametrize("dtype", [np.float64, np.uint8])
def test_sparse_matrices_are_refused_by_name(dtype):
    with pytest.raises(TypeError, match=r"Sparse data was passed for X"):
        check_samples(sparse.csr_array(np.eye(3, dtype=dtype)))


# --- normalize_samples -----------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_samples_get_zero_mean_and_unit_length(dtype, no_warnings):
    X = images().astype(dtype)
    ready = normalize_samples(X)
    assert ready.dtype == (np.float64 if dtype == np.float64 else np.float32)
    wide = ready.astype(np.float64)
    np.testing.assert_allclose(wide.mean(axis=1), 0, atol=np.finfo(ready.dtype).eps)
    np.testing.assert_allclose(np.linalg.norm(wide, axis=1), 1, rtol=2e-7)
    centerd = X.astype(np.float64) - X.astype(np.float64).mean(axis=1, keepdims=True)
    expected = centerd / np.linalg.norm(centerd, axis=1, keepdims=True)
    np.testing.assert_allclose(ready, expected, atol=2 * np.finfo(ready.dtype).eps)


def test_each_half_can_be_left_out(no_warnings):
    X = images().astype(np.float64) + 1
    means, lengths = X.mean(axis=1, keepdims=True), np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(normalize_samples(X, unit=False), X - means, atol=1e-10)
    np.testing.assert_allclose(normalize_samples(X, center=False), X / lengths, rtol=1e-14)
    np.testing.assert_array_equal(normalize_samples(X, center=False, unit=False), X)


@settings(deadline=None, max_examples=30)
@given(
    arrays(np.float64, (3, 8), elements=st.floats(-1e6, 1e6, allow_subnormal=False)),
    st.floats(1e-3, 1e3),
    st.floats(-1e3, 1e3),
)
def test_neither_contrast_nor_brightness_matters(X, contrast, brightness):
    X = np.hstack([X, X.min(axis=1, keepdims=True) - 1e6])  # no sample is constant
    changed = normalize_samples(contrast * X + brightness)
    np.testing.assert_allclose(changed, normalize_samples(X), atol=1e-9)
    ready = normalize_samples(X)
    np.testing.assert_allclose(normalize_samples(ready), ready, atol=1e-12)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("unit", [True, False])
@pytest.mark.parametrize("size", [2.0**100, 2.0**-100, 2.0**-140])
def test_huge_and_tiny_values_stay_in_range(size, unit, center, no_warnings):
    whole = np.random.default_rng(1).integers(-99, 100, (4, 50)).astype(np.float32)
    plain = normalize_samples(whole, center=center, unit=unit)
    scaled = normalize_samples(whole * np.float32(size), center=center, unit=unit)
    factor = 1.0 if unit else size
    atol = 1e-6 * factor + np.finfo(np.float32).smallest_subnormal
    np.testing.assert_allclose(scaled.astype(np.float64), factor * plain, atol=atol)
    assert np.abs(scaled).max() > 0


def test_the_largest_floats_can_be_centerd(no_warnings):
    top = np.finfo(np.float32).max
    X = np.array([[top, top, top, 0.0], [top, -top, 0.0, 0.0]], dtype=np.float32)
    shape = np.array([[0.25, 0.25, 0.25, -0.75], [1.0, -1.0, 0.0, 0.0]])
    np.testing.assert_allclose(normalize_samples(X, unit=False) / top, shape, rtol=1e-6)
    unit = shape / np.linalg.norm(shape, axis=1, keepdims=True)
    np.testing.assert_allclose(normalize_samples(X), unit, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("unit", [True, False])
def test_samples_without_a_direction_become_zero_and_are_counted(dtype, unit):
    X = images(5).astype(dtype)
    X[1] = 0.1  # not a sum of powers of two: its mean is rounded
    X[3] = 0
    X[4] = -1e30
    with pytest.warns(UserWarning, match=r"3 of 5 samples are constant \(the first is row 1\)"):
        ready = normalize_samples(X, unit=unit)
    assert not ready[[1, 3, 4]].any()
    assert ready[[0, 2]].any(axis=1).all()
    with pytest.warns(UserWarning, match=r"1 of 5 samples are zero \(the first is row 3\)"):
        ready = normalize_samples(X, center=False, unit=unit)
    assert ready.any(axis=1).tolist() == [True, True, True, False, True]


@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.float64])
def test_faint_pictures_are_still_pictures(dtype, no_warnings):
    noise = np.random.default_rng(0).integers(-1, 2, (3, 1024))
    faint = (200 + noise).astype(dtype)
    faint[2] = 200
    faint[2, 7] = 201  # a single pixel
    ready = normalize_samples(faint)
    centerd = faint.astype(np.float64) - faint.mean(axis=1, keepdims=True, dtype=np.float64)
    expected = centerd / np.linalg.norm(centerd, axis=1, keepdims=True)
    np.testing.assert_allclose(ready, expected, atol=1e-3)


def test_the_callers_samples_are_never_changed():
    X = images().astype(np.float32)
    before = X.copy()
    for center, unit in [(True, True), (True, False), (False, True), (False, False)]:
        ready = normalize_samples(X, center=center, unit=unit)
        assert not np.shares_memory(ready, X)
    np.testing.assert_array_equal(X, before)
    X.flags.writeable = False
    assert normalize_samples(X).flags.writeable


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="X contains NaN"):
        normalize_samples([[1.0, np.nan]])
    with pytest.raises(ValueError, match="2D array"):
        normalize_samples([1.0, 2.0])


@pytest.mark.parametrize("shape", [(300, 40), (40, 300)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_whitening_divides_every_direction_by_its_formula(shape, dtype):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=shape) * np.geomspace(10, 0.01, shape[1])).astype(dtype)
    centerd = normalize_samples(X.astype(np.float64))
    centerd -= centerd.mean(axis=0)
    U, spreads, Vt = np.linalg.svd(centerd, full_matrices=False)
    expected = (U * (spreads / np.sqrt(1 + (spreads / (0.02 * spreads[0])) ** 2))) @ Vt
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    whitened = Normalizer.of(X, "whiten")(X)
    assert whitened.dtype == dtype
    np.testing.assert_allclose(whitened, expected, atol=2e-4)


def test_whitening_is_learned_once_and_serves_new_samples():
    X = np.random.default_rng(0).normal(size=(60, 30))
    learned = Normalizer.of(X[:50], "whiten")
    np.testing.assert_allclose(learned(X)[:50], learned(X[:50]))
    assert learned(X[50:]).shape == (10, 30)


def test_whitening_of_equal_samples(no_warnings):
    X = np.tile(np.arange(5.0), (4, 1))
    with np.errstate(all="raise"):
        assert np.isfinite(Normalizer.of(X, "whiten").directions).all()


def test_equal_samples_get_no_direction_from_rounding():
    X = np.tile(np.random.default_rng(0).normal(size=40), (30, 1))
    with pytest.warns(UserWarning, match="30 of 30 samples are"):
        assert not Normalizer.of(X, "whiten")(X).any()


@pytest.mark.parametrize("scale", [2.0**530, 2.0**-530])
def test_points_of_any_size_are_lifted_alike(scale, no_warnings):
    X = np.random.default_rng(0).normal(size=(20, 3))
    np.testing.assert_allclose(
        Normalizer.of(scale * X, "lift")(scale * X), Normalizer.of(X, "lift")(X), atol=1e-12
    )


def test_samples_without_a_direction_get_none_by_whitening():
    X = images(20, 40).astype(float)
    X[3] = 7
    with pytest.warns(UserWarning, match="1 of 20 samples are"):
        whitened = Normalizer.of(X, "whiten")(X)
    assert not whitened[3].any()
    np.testing.assert_allclose(np.linalg.norm(np.delete(whitened, 3, axis=0), axis=1), 1)


def blurred(n, side, seed=0):
    """Images of smooth noise on a black ground, as rows."""
    noise = np.random.default_rng(seed).normal(size=(n, side, side))
    grounds = np.zeros((n, side + 2, side + 2))
    grounds[:, 1:-1, 1:-1] = 1 + gaussian_filter(noise, (0, 1, 1))
    return grounds.reshape(n, -1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_smoothing_mixes_features_by_its_formula(dtype):
    X = blurred(500, 8).astype(dtype)
    ink = X[0] != 0
    unit = X.astype(np.float64) / np.linalg.norm(X, axis=1, keepdims=True)
    shared = np.zeros((100, 100))
    correlation = np.corrcoef(unit[:, ink].T) - np.eye(ink.sum())
    for feature, row in zip(np.flatnonzero(ink), correlation, strict=True):
        best = np.argsort(row)[-4:]
        shared[feature, np.flatnonzero(ink)[best]] = np.maximum(2 * row[best] - 1, 0)
    shared = np.maximum(shared, shared.T)
    step = shared / 2 / np.maximum((shared > 0).sum(axis=1), 4)[:, None]
    step += np.diag(1 - step.sum(axis=1))
    expected = normalize_samples(X.astype(np.float64) @ np.linalg.matrix_power(step, 5).T)
    smoothed = Normalizer.of(X, "smooth")
    assert smoothed.how == "smooth"
    assert smoothed(X).dtype == dtype
    np.testing.assert_allclose(smoothed(X), expected, atol=2e-5)


@pytest.mark.parametrize(("features", "times"), [(2, 1), (64, 3), (65, 4), (256, 12), (900, 12)])
def test_small_images_are_smoothed_less(features, times):
    X = np.random.default_rng(0).normal(size=(400, features))
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    learned = Normalizer.of(X, "smooth")
    mixed = X @ np.linalg.matrix_power(learned.mixing.toarray(), times).T
    np.testing.assert_allclose(learned(X), normalize_samples(mixed), atol=1e-12)


def test_smoothing_finds_the_neighbors_of_pixels():
    mixing = Normalizer.of(blurred(1000, 10), "smooth").mixing.tocoo()
    places = np.stack(np.unravel_index([mixing.row, mixing.col], (12, 12)))
    apart = np.abs(places[:, 0] - places[:, 1]).sum(axis=0)
    assert apart.max() <= 2
    assert (apart == 1).sum() == 2 * 2 * 9 * 10  # every pixel with all beside it


def test_smoothing_does_not_depend_on_the_order_of_features():
    X = blurred(300, 6)
    order = np.random.default_rng(0).permutation(X.shape[1])
    np.testing.assert_allclose(
        Normalizer.of(X[:, order], "smooth")(X[:, order]),
        Normalizer.of(X, "smooth")(X)[:, order],
        atol=1e-12,
    )


def test_smoothing_is_learned_once_and_serves_new_samples():
    X = blurred(5000, 4)
    learned = Normalizer.of(X[:4900], "smooth")
    np.testing.assert_allclose(learned(X)[-100:], learned(X[-100:]), atol=1e-12)


def test_smoothing_leaves_features_that_are_not_correlated(no_warnings):
    X = np.random.default_rng(0).normal(size=(300, 40))
    learned = Normalizer.of(X, "smooth")
    assert learned.how == "zero_mean"
    np.testing.assert_array_equal(learned(X), normalize_samples(X))


@pytest.mark.parametrize("X", [images(1), images(5), np.ones((9, 20)), np.ones((9, 1))])
def test_smoothing_where_there_is_nothing_to_learn_from(X, no_warnings):
    assert Normalizer.of(X.astype(float), "smooth").how == "zero_mean"


def test_samples_without_a_direction_get_none_by_smoothing():
    X = blurred(300, 6).astype(np.float32)
    X[3] = 7
    with pytest.warns(UserWarning, match="1 of 300 samples are constant"):
        smoothed = Normalizer.of(X, "smooth")(X)
    assert not smoothed[3].any()


def test_copies_do_not_count_as_near_samples():
    X = np.random.default_rng(0).normal(size=(150, 60))
    assert Normalizer.of(np.repeat(X, 2, axis=0), "auto").how == "zero_mean"


def test_points_of_huge_size_are_lifted():
    X = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    huge, plain = X * np.float32(2.0**100), X
    lifted = Normalizer.of(huge, "lift")(huge)
    np.testing.assert_allclose(lifted, Normalizer.of(plain, "lift")(plain), atol=1e-6)
    assert lifted.dtype == np.float32


def lit(n_subjects, n_images, n_features, noise, seed=0):
    """Faint patterns, one a subject, under strong light of few kinds, and noise."""
    rng = np.random.default_rng(seed)
    patterns = rng.normal(size=(n_subjects, n_features))
    lights = rng.normal(size=(3, n_features))
    y = np.repeat(np.arange(n_subjects), n_images)
    X = 20 * rng.normal(size=(len(y), 3)) @ lights + patterns[y]
    return X + noise * rng.normal(size=X.shape)


def test_auto_whitens_where_weak_directions_tell_samples_apart():
    assert Normalizer.of(lit(20, 10, 200, noise=0.1), "auto").how == "whiten"


def test_auto_does_not_whiten_what_is_too_large_for_errors_of_single_features():
    assert Normalizer.of(lit(20, 10, 8192, noise=0.1), "auto").how == "whiten"
    assert Normalizer.of(lit(20, 10, 8193, noise=0.1), "auto").how == "zero_mean"


def test_auto_does_not_lift_noise():
    assert Normalizer.of(lit(20, 10, 200, noise=20.0), "auto").how == "zero_mean"
    assert Normalizer.of(np.random.default_rng(0).normal(size=(300, 100)), "auto").how == (
        "zero_mean"
    )


def test_auto_smooths_what_no_few_directions_rule():
    X = blurred(300, 10)
    assert Normalizer.of(X, "auto").how == "smooth"
    light = 30 * np.random.default_rng(0).normal(size=(300, 1)) * np.linspace(-1, 1, X.shape[1])
    assert Normalizer.of(X + light, "smooth").how == "smooth"
    assert Normalizer.of(X + light, "auto").how == "zero_mean"


@pytest.mark.parametrize("shape", [(50, 20), (20, 50)])
def test_directions_are_counted_by_how_even_they_are(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape) * np.geomspace(1, 10, shape[1])
    squares = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    expected = squares.sum() ** 2 / (squares**2).sum()
    assert directions_spread_over(X) == pytest.approx(expected)
    assert directions_spread_over(np.ones(shape)) == 0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_auto_does_without_whitening_where_there_is_nothing_to_learn_from(n, no_warnings):
    assert Normalizer.of(images(n).astype(float), "auto").how == "zero_mean"
    assert Normalizer.of(np.ones((n, 20)), "auto").how == "zero_mean"


def test_auto_whitens_faces_and_smooths_digits(data_folder):
    faces = load("yale-b", data_folder).first_classes(10)
    digits = load("usps", data_folder).first_classes(4)
    assert Normalizer.of(check_samples(faces.X), "auto").how == "whiten"
    assert Normalizer.of(check_samples(digits.X), "auto").how == "smooth"
