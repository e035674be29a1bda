"""Preprocessing by name or by transformer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeAlias

from numpy.typing import ArrayLike
from sklearn.base import TransformerMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from enhg._npz import State, require, require_state, require_value
from enhg._validation import check_choice, check_samples, not_validated
from enhg.exceptions import InputError
from enhg.preprocessing._base import SampleTransformer
from enhg.preprocessing.identity import Identity
from enhg.preprocessing.lifting import Lifting
from enhg.preprocessing.smoothing import Smoothing
from enhg.preprocessing.whitening import Whitening
from enhg.preprocessing.zero_mean import SampleNormalizer

PreprocessingName = Literal["auto", "zero_mean", "unit", "whiten", "smooth", "lift", "none"]
Preprocessing: TypeAlias = PreprocessingName | TransformerMixin

_MAKERS: dict[str, Callable[[], SampleTransformer]] = {
    "zero_mean": SampleNormalizer,
    "unit": partial(SampleNormalizer, center=False),
    "whiten": Whitening,
    "smooth": Smoothing,
    "lift": Lifting,
    "none": Identity,
}
PREPROCESSING_NAMES = tuple(_MAKERS)
_SAVED: dict[str, type[SampleTransformer]] = {
    kind.__name__: kind for kind in (SampleNormalizer, Whitening, Smoothing, Lifting, Identity)
}

# Of fewer features the mean and length of a sample are a large part of its information.
MIN_DIRECTIONAL_FEATURES = 16


def make_preprocessing(preprocessing: Preprocessing, X: ArrayLike) -> Any:
    """Fit a transformer, given by name or itself, to samples.

    Parameters
    ----------
    preprocessing : str or transformer
        - "zero_mean": `SampleNormalizer`, zero mean over a sample's own features and unit length;
        - "unit": `SampleNormalizer(center=False)`, unit length;
        - "whiten": `Whitening`;
        - "smooth": `Smoothing`;
        - "lift": `Lifting`;
        - "none": `Identity`;
        - a scikit-learn transformer or `Pipeline`, which is cloned, and receives a copy of the
          samples as an array, without feature names;
        - a fitted transformer in scikit-learn's `FrozenEstimator`, which is used as it is.
    X : array-like of shape (n_samples, n_features)

    Returns
    -------
    transformer
        Fitted to X, or the frozen one.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> make_preprocessing("smooth", load_digits().data)
    Smoothing()
    """
    if isinstance(preprocessing, str):
        check_choice("preprocessing", preprocessing, PREPROCESSING_NAMES)
        return _MAKERS[preprocessing]().fit(X)
    methods = ("fit", "transform", "get_params")
    if isinstance(preprocessing, type) or not all(hasattr(preprocessing, m) for m in methods):
        raise InputError(
            f"preprocessing must be one of {PREPROCESSING_NAMES} or a scikit-learn transformer, "
            f"got {preprocessing!r}",
            parameter="preprocessing",
        )
    if isinstance(preprocessing, FrozenEstimator):
        return _fitted_to_features(preprocessing, X)
    return _fit_given(clone(preprocessing), X)


def _fit_given(transformer: Any, X: ArrayLike) -> Any:
    if is_own(transformer):
        return transformer.fit(X)
    samples = check_samples(X).copy()  # a transformer of another package may work in place
    with not_validated():
        return transformer.fit(samples)


def _fitted_to_features(frozen: FrozenEstimator, X: ArrayLike) -> FrozenEstimator:
    """Return a frozen transformer; require that it was fitted to as many features as X has."""
    check_is_fitted(frozen)
    expected, given = getattr(frozen, "n_features_in_", None), check_samples(X).shape[1]
    if expected not in (None, given):
        raise InputError(
            f"preprocessing must be fitted to the {given} features of X, got one fitted to "
            f"{expected}",
            parameter="preprocessing",
        )
    return frozen


def preprocessing_name(transformer: Any) -> str:
    """The name by which `make_preprocessing` makes a transformer; of others, the name of the class.

    Parameters
    ----------
    transformer : transformer

    Returns
    -------
    str

    Examples
    --------
    >>> preprocessing_name(SampleNormalizer(center=False))
    'unit'
    """
    if type(transformer) is SampleNormalizer:
        return "zero_mean" if transformer.center else "unit"
    names = {Whitening: "whiten", Smoothing: "smooth", Lifting: "lift", Identity: "none"}
    return names.get(type(transformer), type(transformer).__name__)


def is_own(transformer: Any) -> bool:
    """Whether a transformer is one of this package: it can be saved, and its output is finite."""
    return _SAVED.get(type(transformer).__name__) is type(transformer)


def preprocessing_to_state(transformer: Any) -> State:
    """The class and the state of a fitted transformer, for `preprocessing_from_state`."""
    if not is_own(transformer):
        raise InputError(
            "preprocessing must be a transformer of enhg.preprocessing to be saved, got "
            f"{transformer!r}",
            parameter="preprocessing",
        )
    return {"kind": type(transformer).__name__, "state": transformer.to_state()}


def preprocessing_from_state(state: State) -> SampleTransformer:
    """Make a fitted transformer of what `preprocessing_to_state` returned."""
    kind = require_value(state, "kind", str)
    require(kind in _SAVED, "kind")
    return _SAVED[kind].from_state(require_state(state, "state"))
