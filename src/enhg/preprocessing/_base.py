"""Validation and warnings shared by the transformers."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from enhg._npz import State
from enhg._validation import check_features, check_samples
from enhg.preprocessing._arrays import normalized


class SampleTransformer(TransformerMixin, BaseEstimator, ABC):
    """Base class of the transformers: `fit` and `transform` validate the samples.

    Attributes
    ----------
    n_features_in_ : int
        Number of features of the samples of `fit`.
    """

    n_features_in_: int

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn from samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        samples = check_samples(X)
        check_features(self, X, reset=True)
        self._learn(samples)
        return self

    def transform(self, X: ArrayLike) -> NDArray:
        """Transform samples; X is not changed.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features_out)
            float32 if X is float32 or of 8- or 16-bit integers, else float64.
        """
        check_is_fitted(self)
        samples = check_samples(X)
        check_features(self, X, reset=False)
        return self._apply(samples)

    def _learn(self, samples: NDArray) -> None:
        """Set the fitted attributes from validated samples."""

    @abstractmethod
    def _apply(self, samples: NDArray) -> NDArray:
        """Transform validated samples."""

    def to_state(self) -> State:
        """Everything that `from_state` needs to make an equal fitted transformer."""
        check_is_fitted(self)
        return self._fitted_state()

    @abstractmethod
    def _fitted_state(self) -> State:
        """The state of a fitted transformer."""

    @classmethod
    @abstractmethod
    def from_state(cls, state: State) -> Self:
        """Make a fitted transformer of the state of another."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def to_unit_length(X: NDArray, *, center: bool, empty_samples: str) -> NDArray:
    """`normalized`, with a warning that counts the samples without direction.

    `empty_samples` is the adjective that describes them in the warning.
    """
    samples, empty = normalized(X, center=center)
    if empty.any():
        warnings.warn(
            f"{int(empty.sum())} of {len(empty)} samples are {empty_samples} (the first is row "
            f"{int(np.argmax(empty))}): they have no direction and no other sample represents them",
            stacklevel=5,  # the caller of transform, which scikit-learn wraps
        )
    return samples
