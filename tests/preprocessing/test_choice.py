"""Preprocessing by name, by transformer and by the statistics of the samples."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from enhg._validation import check_samples
from enhg.datasets import load
from enhg.exceptions import InputError
from enhg.preprocessing import (
    Identity,
    Lifting,
    SampleNormalizer,
    Smoothing,
    Whitening,
    choose_preprocessing,
    effective_dimension,
    make_preprocessing,
    preprocessing_name,
    weak_contrast,
)

NAMED = {
    "zero_mean": SampleNormalizer(),
    "unit": SampleNormalizer(center=False),
    "whiten": Whitening(),
    "smooth": Smoothing(),
    "lift": Lifting(),
    "none": Identity(),
}


@pytest.mark.parametrize("name", NAMED)
def test_names_stand_for_transformers(name):
    X = np.random.default_rng(0).random((30, 20))
    transformer = make_preprocessing(name, X)
    assert type(transformer) is type(NAMED[name])
    assert transformer.get_params() == NAMED[name].get_params()
    assert preprocessing_name(transformer) == preprocessing_name(NAMED[name]) == name
    np.testing.assert_array_equal(transformer.transform(X), NAMED[name].fit_transform(X))


def test_identity_returns_the_samples():
    X = np.random.default_rng(0).random((30, 20))
    assert make_preprocessing("none", X).transform(X) is X


def test_transformers_are_cloned_and_fitted():
    X = np.random.default_rng(0).random((30, 20))
    given = make_pipeline(StandardScaler(), PCA(3))
    fitted = make_preprocessing(given, X)
    assert not hasattr(given[0], "mean_")
    assert isinstance(fitted, Pipeline)
    assert fitted.transform(X).shape == (30, 3)
    assert preprocessing_name(fitted) == "Pipeline"


@pytest.mark.parametrize("wrong", ["sideways", 3, None, StandardScaler, np.log])
def test_anything_else_is_refused(wrong):
    with pytest.raises(InputError, match=r"preprocessing must be one of .*, got") as error:
        make_preprocessing(wrong, np.eye(3))
    assert error.value.parameter == "preprocessing"


def test_statistics_of_lists():
    X = SampleNormalizer().fit_transform(np.random.default_rng(0).random((30, 20)))
    assert effective_dimension(X.tolist()) == effective_dimension(X)
    assert weak_contrast(X.tolist()) == weak_contrast(X)
    for statistic in (effective_dimension, weak_contrast):
        with pytest.raises(InputError, match="X must have 2 dimensions"):
            statistic([1.0, 2.0])


def test_a_frozen_transformer_is_checked():
    X = np.random.default_rng(0).random((30, 20))
    frozen = FrozenEstimator(PCA(3).fit(X))
    assert make_preprocessing(frozen, X) is frozen
    with pytest.raises(InputError, match="fitted to the 5 features of X, got one fitted to 20"):
        make_preprocessing(frozen, X[:, :5])
    with pytest.raises(InputError, match="X must have 2 dimensions"):
        make_preprocessing(frozen, X[0])
    with pytest.raises(NotFittedError):
        make_preprocessing(FrozenEstimator(PCA(3)), X)


# --- "auto" --------------------------------------------------------------------------------------


def illuminated(n_subjects, n_images, n_features, noise, seed=0):
    """Faint patterns, one a subject, under strong light of few kinds, and noise."""
    rng = np.random.default_rng(seed)
    patterns = rng.normal(size=(n_subjects, n_features))
    lights = rng.normal(size=(3, n_features))
    y = np.repeat(np.arange(n_subjects), n_images)
    X = 20 * rng.normal(size=(len(y), 3)) @ lights + patterns[y]
    return X + noise * rng.normal(size=X.shape)


def test_weak_directions_with_structure_are_whitened():
    X = illuminated(20, 10, 200, noise=0.1)
    assert choose_preprocessing(X) == "whiten"
    assert isinstance(make_preprocessing("auto", X), Whitening)


def test_too_many_features_for_sparse_errors_are_not_whitened():
    assert choose_preprocessing(illuminated(20, 10, 8192, noise=0.1)) == "whiten"
    assert choose_preprocessing(illuminated(20, 10, 8193, noise=0.1)) == "zero_mean"


def test_noise_is_not_amplified():
    assert choose_preprocessing(illuminated(20, 10, 200, noise=20.0)) == "zero_mean"
    X = np.random.default_rng(0).normal(size=(300, 100))
    assert choose_preprocessing(X) == "zero_mean"
    assert weak_contrast(SampleNormalizer().fit_transform(X)) == pytest.approx(1, abs=0.2)


def test_many_directions_of_correlated_features_are_smoothed(blurred_images):
    X = blurred_images(300, 10)
    assert choose_preprocessing(X) == "smooth"
    light = 30 * np.random.default_rng(0).normal(size=(300, 1)) * np.linspace(-1, 1, X.shape[1])
    assert make_preprocessing("smooth", X + light).n_steps_ > 0
    assert choose_preprocessing(X + light) == "zero_mean"


def test_copies_do_not_count_as_near_samples():
    X = np.random.default_rng(0).normal(size=(150, 60))
    assert choose_preprocessing(np.repeat(X, 2, axis=0)) == "zero_mean"


@pytest.mark.parametrize(("n_features", "name"), [(15, "lift"), (16, "zero_mean")])
def test_few_features_are_lifted(n_features, name):
    X = np.random.default_rng(0).normal(size=(50, n_features))
    assert choose_preprocessing(X) == name


@pytest.mark.parametrize("n", [1, 2, 3])
def test_too_few_samples_for_statistics(images, n, no_warnings):
    assert choose_preprocessing(images(n).astype(float)) == "zero_mean"
    assert choose_preprocessing(np.ones((n, 20))) == "zero_mean"


@pytest.mark.parametrize("shape", [(50, 20), (20, 50)])
def test_effective_dimension(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=shape) * np.geomspace(1, 10, shape[1])
    squares = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    expected = squares.sum() ** 2 / (squares**2).sum()
    assert effective_dimension(X) == pytest.approx(expected)
    assert effective_dimension(np.ones(shape)) == 0


def test_weak_contrast_follows_its_formula():
    rng = np.random.default_rng(0)
    X = SampleNormalizer().fit_transform(rng.normal(size=(60, 40)) * np.geomspace(5, 0.1, 40))
    centered = X - X.mean(axis=0)
    _, s, Vt = np.linalg.svd(centered, full_matrices=False)
    weak = [k for k in range(len(s)) if (s[:k] ** 2).sum() >= 0.9 * (s**2).sum()]
    points = centered @ Vt[weak].T
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    cosines = points @ points.T
    others = ~np.eye(60, dtype=bool)
    nearest = np.mean([row[other].max() for row, other in zip(cosines, others, strict=True)])
    expected = nearest / (cosines[others].std() * np.sqrt(2 * np.log(60)))
    assert weak_contrast(X) == pytest.approx(expected, rel=1e-6)


def test_faces_are_whitened_and_digits_smoothed(data_folder):
    faces = load("yale-b", data_folder).first_classes(10)
    digits = load("usps", data_folder).first_classes(4)
    assert choose_preprocessing(check_samples(faces.X)) == "whiten"
    assert choose_preprocessing(check_samples(digits.X)) == "smooth"
