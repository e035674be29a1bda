"""Points of a few dimensions as directions."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin

from enhg._npz import State, require, require_array, require_value
from enhg.preprocessing._base import SampleTransformer, to_unit_length

_HEIGHT = 3.0


class Lifting(ClassNamePrefixFeaturesOutMixin, SampleTransformer):
    """Append a constant feature, so that the direction of a sample encodes its position.

        x ↦ y/‖y‖,   y = [(x − μ)/σ, 3],   σ² = (1/n) Σᵢ ‖xᵢ − μ‖²

    μ is the mean sample. For points in a few dimensions distance matters and not direction: of
    lifted points, those that are close to each other, and only those, have a cosine close to 1.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
        μ.
    spread_ : float
        σ, or 1 if all samples are equal.
    n_features_in_ : int

    Examples
    --------
    >>> Lifting().fit_transform([[-1.0], [1.0]]).round(3)
    array([[-0.316,  0.949],
           [ 0.316,  0.949]])
    """

    mean_: NDArray
    spread_: float

    def _learn(self, samples: NDArray) -> None:
        scale = 2.0 ** (np.frexp(np.abs(samples).max())[1] - 1)  # keeps huge sums in range
        self.mean_ = scale * (samples / scale).mean(axis=0, dtype=np.float64)
        deviations = samples - self.mean_
        largest = float(np.abs(deviations).max()) or 1.0  # keeps huge and tiny squares in range
        spread = largest * float(np.sqrt(((deviations / largest) ** 2).sum(axis=1).mean()))
        self.spread_ = spread if spread > 0 else 1.0

    def _apply(self, samples: NDArray) -> NDArray:
        points = ((samples - self.mean_) / self.spread_).astype(samples.dtype)
        lifted = np.hstack([points, np.full((len(points), 1), _HEIGHT, dtype=points.dtype)])
        return to_unit_length(lifted, center=False, empty_samples="zero")

    @property
    def _n_features_out(self) -> int:
        return self.n_features_in_ + 1

    def _fitted_state(self) -> State:
        return {"mean": self.mean_, "spread": self.spread_}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a fitted transformer of the state of another."""
        transformer = cls()
        transformer.mean_ = require_array(state, "mean", (None,), "f")
        transformer.n_features_in_ = len(transformer.mean_)
        transformer.spread_ = float(require_value(state, "spread", (int, float)))
        require(0 < transformer.spread_ < np.inf, "spread")
        return transformer
