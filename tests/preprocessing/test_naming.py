"""Preprocessing by name and by transformer."""

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from enhg.exceptions import InputError
from enhg.preprocessing import (
    Identity,
    Lifting,
    SampleNormalizer,
    Smoothing,
    Whitening,
    make_preprocessing,
    preprocessing_name,
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


@pytest.mark.parametrize("wrong", ["sideways", "auto", 3, None, StandardScaler, np.log])
def test_anything_else_is_refused(wrong):
    with pytest.raises(InputError, match=r"preprocessing must be one of .*, got") as error:
        make_preprocessing(wrong, np.eye(3))
    assert error.value.parameter == "preprocessing"


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
