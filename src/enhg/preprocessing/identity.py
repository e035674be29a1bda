"""Samples as they are."""

from __future__ import annotations

from typing import Self

from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin

from enhg._npz import State, require, require_value
from enhg.preprocessing._base import SampleTransformer


class Identity(OneToOneFeatureMixin, SampleTransformer):
    """Return the samples unchanged: x ↦ x.

    Attributes
    ----------
    n_features_in_ : int
        Number of features of the samples of `fit`; nothing else is learned.

    Examples
    --------
    >>> Identity().fit_transform([[3.0, 4.0]])
    array([[3., 4.]])
    """

    def _apply(self, samples: NDArray) -> NDArray:
        return samples

    def _fitted_state(self) -> State:
        return {"n_features": self.n_features_in_}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a fitted transformer of the state of another."""
        transformer = cls()
        transformer.n_features_in_ = require_value(state, "n_features", int)
        require(transformer.n_features_in_ > 0, "n_features")
        return transformer
