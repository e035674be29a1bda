"""Whitening of the principal directions of the samples."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin

from enhg._npz import State, require, require_array
from enhg.preprocessing._arrays import (
    evenly_spaced,
    normalized,
    principal_directions,
    rounding_length,
)
from enhg.preprocessing._base import SampleTransformer, to_unit_length

# Of the largest singular value; chosen on faces; varied in docs/quality.md.
_KNEE = 0.02
# Enough to estimate the directions above the knee.
_SAMPLES = 5000


class Whitening(OneToOneFeatureMixin, SampleTransformer):
    """Whitening with a ceiling: scale the strong principal directions to about equal variance.

        x ↦ y/‖y‖,   y = (x' − μ) + V diag(c) Vᵀ(x' − μ),   cₖ = (1 + (sₖ/0.02s₁)²)^-½ − 1

    x' is x with zero mean over its own features and unit length (`SampleNormalizer`), μ the mean
    of all x', and sₖ, vₖ are the singular values and right singular vectors of the centered x', in
    decreasing order. A direction with sₖ ≫ 0.02s₁ gets about the spread 0.02s₁; weaker ones stay
    as they are. Illumination and pose, which cause most of the variance among images of faces,
    then count no more than the differences between persons.

    The directions are estimated from at most 5000 samples, evenly spaced. A sample without
    direction (constant, or equal to the mean) becomes 0, and a warning counts such samples.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
        μ.
    directions_ : ndarray of shape (n_features, n_directions)
        V, the directions with sₖ above rounding.
    damping_ : ndarray of shape (n_directions,)
        c, from −1 (removed) to 0 (unchanged).
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = load_digits(return_X_y=True)
    >>> model = make_pipeline(Whitening(), KNeighborsClassifier()).fit(X[:900], y[:900])
    >>> model.score(X[900:], y[900:]) > 0.8
    True
    """

    mean_: NDArray
    directions_: NDArray
    damping_: NDArray

    def _learn(self, samples: NDArray) -> None:
        X, _ = normalized(evenly_spaced(samples, _SAMPLES))
        self.mean_ = X.mean(axis=0)
        spreads, directions = principal_directions(X - self.mean_)
        relative = spreads / (_KNEE * spreads[:1])  # empty if all samples are equal
        self.directions_ = directions.astype(X.dtype)
        self.damping_ = (1 / np.sqrt(1 + relative**2) - 1).astype(X.dtype)

    def _apply(self, samples: NDArray) -> NDArray:
        ready, empty = normalized(samples)
        X = ready - self.mean_
        empty |= np.linalg.norm(X, axis=1) <= rounding_length(X)
        X += ((X @ self.directions_) * self.damping_) @ self.directions_.T
        X[empty] = 0  # the mean is not a direction of the sample
        return to_unit_length(X, center=False, empty_samples="constant or equal to the mean")

    def _fitted_state(self) -> State:
        return {"mean": self.mean_, "directions": self.directions_, "damping": self.damping_}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a fitted transformer of the state of another."""
        transformer = cls()
        transformer.mean_ = require_array(state, "mean", (None,), "f")
        transformer.n_features_in_ = d = len(transformer.mean_)
        transformer.directions_ = require_array(state, "directions", (d, None), "f")
        count = transformer.directions_.shape[1]
        transformer.damping_ = require_array(state, "damping", (count,), "f")
        require(bool((np.abs(transformer.damping_) <= 1).all()), "damping")
        return transformer
