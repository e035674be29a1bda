"""Preprocessing by name, by transformer, or chosen from the data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from enhg._npz import State, require, require_state, require_value
from enhg._validation import check_choice, check_samples, not_validated, validated
from enhg.exceptions import InputError
from enhg.preprocessing._arrays import evenly_spaced, normalized, principal_directions
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
_SAVED: dict[str, type[SampleTransformer]] = {
    kind.__name__: kind for kind in (SampleNormalizer, Whitening, Smoothing, Lifting, Identity)
}

# Of fewer features the mean and length of a sample are a large part of its information.
MIN_DIRECTIONAL_FEATURES = 16
# The sparse errors that whitened samples need take the square of the number of features.
_MOST_WHITENED = 8192
_LEAST_CONTRAST = 1.3
_LEAST_DIMENSION = 8
_SAMPLES = 2000
_STRONG_VARIANCE = 0.9
_COPY = 1 - 1e-6  # cosine


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
        - "auto": one of them, see `choose_preprocessing`;
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
    >>> make_preprocessing("auto", load_digits().data)
    Smoothing()
    """
    if isinstance(preprocessing, str):
        check_choice("preprocessing", preprocessing, ("auto", *_MAKERS))
        return _fit_chosen(X) if preprocessing == "auto" else _MAKERS[preprocessing]().fit(X)
    methods = ("fit", "transform", "get_params")
    if isinstance(preprocessing, type) or not all(hasattr(preprocessing, m) for m in methods):
        raise InputError(
            f"preprocessing must be one of {('auto', *_MAKERS)} or a scikit-learn transformer, got "
            f"{preprocessing!r}",
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


def choose_preprocessing(X: ArrayLike) -> str:
    """The name of the transformer that "auto" stands for; no labels are needed.

    With d features, in this order:

    - "lift" if d < 16;
    - "zero_mean" if d > 8192;
    - "whiten" if `weak_contrast` > 1.3: the weak directions, which whitening amplifies, contain
      more than noise;
    - "smooth" if `effective_dimension` ≥ 8, so that no few directions dominate, and some features
      are correlated (see `Smoothing`);
    - "zero_mean".

    Both statistics are of at most 2000 samples, evenly spaced, with zero mean and unit length.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)

    Returns
    -------
    str
    """
    return preprocessing_name(_fit_chosen(X))


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


def _fit_chosen(X: ArrayLike) -> SampleTransformer:
    samples = check_samples(X)
    with validated():
        transformer = _MAKERS[_by_statistics(samples)]().fit(samples)
        if isinstance(transformer, Smoothing) and transformer.n_steps_ == 0:
            return SampleNormalizer().fit(samples)
    return transformer


def _by_statistics(X: NDArray) -> str:
    if X.shape[1] < MIN_DIRECTIONAL_FEATURES:
        return "lift"
    if X.shape[1] > _MOST_WHITENED:
        return "zero_mean"
    samples, _ = normalized(evenly_spaced(X, _SAMPLES))
    if weak_contrast(samples) > _LEAST_CONTRAST:
        return "whiten"
    return "smooth" if effective_dimension(samples) >= _LEAST_DIMENSION else "zero_mean"


def effective_dimension(X: ArrayLike) -> float:
    """(Σₖ sₖ²)²/Σₖ sₖ⁴ over the singular values s of the centered samples.

    It is the number of directions if all have the same spread, and 0 if all samples are equal.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)

    Returns
    -------
    float
    """
    samples = check_samples(X)
    centered = (samples - samples.mean(axis=0)).astype(np.float64)
    n, d = centered.shape
    products = centered @ centered.T if n < d else centered.T @ centered
    fourth_powers = float((products**2).sum())
    return float(np.trace(products)) ** 2 / fourth_powers if fourth_powers > 0 else 0.0


def weak_contrast(X: ArrayLike) -> float:
    """Contrast of the nearest sample in the weak directions, relative to that of noise.

        (1/n) Σᵢ max_{j≠i} cᵢⱼ / (σ_c √(2 ln n))

    cᵢⱼ are the cosines of the n centered samples projected on the directions beyond the first 90 %
    of the variance, and σ_c is the standard deviation of all cᵢⱼ. For independent Gaussian samples
    it is about 1. Copies (cᵢⱼ > 1 − 10⁻⁶) are left out of the maximum.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        With zero mean and unit length; at most 2000 of them, evenly spaced, are used.
    """
    samples = evenly_spaced(check_samples(X), _SAMPLES)
    centered = samples - samples.mean(axis=0)
    spreads, directions = principal_directions(centered)
    stronger = np.cumsum(spreads**2) - spreads**2
    weak = stronger >= _STRONG_VARIANCE * (spreads**2).sum()
    n = len(centered)
    if n < 3 or not weak.any():
        return 0.0
    points = centered @ directions[:, weak]
    lengths = np.linalg.norm(points, axis=1, keepdims=True)
    points /= np.maximum(lengths, np.finfo(centered.dtype).tiny)
    cosines = points @ points.T
    deviation = cosines[~np.eye(n, dtype=bool)].std()
    cosines[cosines > _COPY] = -1
    of_noise = max(deviation * np.sqrt(2 * np.log(n)), np.finfo(float).tiny)
    return float(cosines.max(axis=1).mean() / of_noise)
