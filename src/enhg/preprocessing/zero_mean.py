"""Zero mean over a sample's own features, and unit length."""

from __future__ import annotations

from typing import Self

from numpy.typing import NDArray
from sklearn.base import OneToOneFeatureMixin

from enhg._npz import State, require, require_value
from enhg.preprocessing._base import SampleTransformer, to_unit_length


class SampleNormalizer(OneToOneFeatureMixin, SampleTransformer):
    """Scale every sample to zero mean and unit length.

        x ↦ (x − x̄)/‖x − x̄‖,   x̄ = (1/d) Σₖ xₖ

    The mean x̄ is over the d features of the sample itself, so neither the brightness nor the
    contrast of an image matters. A sample without direction (constant; zero if `center` is False)
    becomes 0, and a warning counts such samples.

    Parameters
    ----------
    center : bool, default=True
        False: x ↦ x/‖x‖.

    Attributes
    ----------
    n_features_in_ : int
        Number of features of the samples of `fit`; nothing else is learned.

    Examples
    --------
    >>> SampleNormalizer(center=False).fit_transform([[3.0, 4.0], [6.0, 8.0]])
    array([[0.6, 0.8],
           [0.6, 0.8]])
    """

    def __init__(self, center: bool = True) -> None:
        self.center = center

    def _apply(self, samples: NDArray) -> NDArray:
        kind = "constant" if self.center else "zero"
        return to_unit_length(samples, center=bool(self.center), empty_samples=kind)

    def _fitted_state(self) -> State:
        return {"center": bool(self.center), "n_features": self.n_features_in_}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a fitted transformer of the state of another."""
        transformer = cls(center=require_value(state, "center", bool))
        transformer.n_features_in_ = require_value(state, "n_features", int)
        require(transformer.n_features_in_ > 0, "n_features")
        return transformer
