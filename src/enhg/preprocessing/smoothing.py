"""Smoothing: correlated features, as neighboring pixels are, mixed with each other."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import OneToOneFeatureMixin
from sklearn.neighbors import kneighbors_graph

from enhg._npz import State, require, require_sparse, require_value
from enhg._threads import one_thread_in_libraries
from enhg.preprocessing._arrays import evenly_spaced, normalized
from enhg.preprocessing._base import SampleTransformer, to_unit_length

_SAMPLES = 2000
_NEIGHBORS = 4  # as many as a pixel has sides
_LEAST_CORRELATION = 0.5
# The reach of a step in pixels grows with the square root of the number of steps, so steps in
# proportion to the number of features reach the same part of a small and of a large image.
_STEPS_PER_FEATURE, _MOST_STEPS = 3 / 64, 12
_BLOCK = 4096  # samples


class Smoothing(OneToOneFeatureMixin, SampleTransformer):
    """Mix every feature with those most correlated with it.

        x ↦ (y − ȳ)/‖y − ȳ‖,   y = Mᵗx',   t = min(⌈3d/64⌉, 12)

    x' is x with zero mean over its own features and unit length (`SampleNormalizer`), d the number
    of features. The rows of the d×d matrix M sum to 1:

        m_kl = max(0, (r_kl − r₀)/(1 − r₀)) / (2·max(4, n_k)),   m_kk = 1 − Σ_{l≠k} m_kl

    for the pairs where l is among the four features nearest to k in correlation r_kl over the
    samples, or k among those of l; n_k is the number of such l with r_kl > r₀. For n samples
    r₀ = max(1/2, √(2 ln d/n)), which is above the correlations of independent features. In images
    the most correlated features are neighboring pixels, so strokes that are a pixel apart overlap.

    M is estimated from at most 2000 samples, evenly spaced. A constant sample becomes 0, and a
    warning counts such samples.

    Attributes
    ----------
    mixing_ : csr_array of shape (n_features, n_features)
        M; the identity if no two features are correlated by more than r₀.
    n_steps_ : int
        t; 0 if M is the identity, and the transformer is then `SampleNormalizer`.
    n_features_in_ : int

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> smoothing = Smoothing().fit(load_digits().data)
    >>> smoothing.n_steps_, int(abs(smoothing.mixing_).max(axis=1).nnz)
    (3, 64)
    """

    mixing_: sparse.csr_array
    n_steps_: int

    def _learn(self, samples: NDArray) -> None:
        d = samples.shape[1]
        similarity = _feature_similarity(samples)
        self.n_steps_ = 0
        if similarity.nnz:
            self.n_steps_ = min(int(np.ceil(_STEPS_PER_FEATURE * d)), _MOST_STEPS)
        counts = np.maximum(np.diff(similarity.indptr), _NEIGHBORS)
        taken = sparse.diags_array(0.5 / counts) @ similarity
        kept = sparse.diags_array(1 - taken.sum(axis=1))
        self.mixing_ = sparse.csr_array(taken + kept).astype(samples.dtype)

    def _apply(self, samples: NDArray) -> NDArray:
        if self.n_steps_:
            samples, _ = normalized(samples)
            for block in np.array_split(samples, range(_BLOCK, len(samples), _BLOCK)):
                mixed = np.ascontiguousarray(block.T)
                for _ in range(self.n_steps_):
                    mixed = self.mixing_ @ mixed
                block[:] = mixed.T
        return to_unit_length(samples, center=True, empty_samples="constant")

    def _fitted_state(self) -> State:
        return {"mixing": self.mixing_, "n_steps": self.n_steps_}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a fitted transformer of the state of another."""
        transformer = cls()
        transformer.mixing_ = mixing = require_sparse(state, "mixing", (None, None))
        require(mixing.shape[0] == mixing.shape[1], "mixing")
        transformer.n_features_in_ = int(mixing.shape[0])
        transformer.n_steps_ = require_value(state, "n_steps", int)
        require(0 <= transformer.n_steps_ <= _MOST_STEPS, "n_steps")
        return transformer


def _feature_similarity(X: NDArray) -> sparse.csr_array:
    """max(0, (r_kl − r₀)/(1 − r₀)) of the pairs of features that are mixed, symmetric."""
    X, _ = normalized(evenly_spaced(X, _SAMPLES), center=False)
    n, d = X.shape
    least = max(_LEAST_CORRELATION, np.sqrt(2 * np.log(d) / n))
    if d == 1 or least >= 1:
        return sparse.csr_array((d, d))
    features, constant = normalized(np.ascontiguousarray(X.T))
    # In a process that is a copy of one which has used several threads of OpenMP, they would wait
    # for each other for ever.
    with one_thread_in_libraries():
        nearest = kneighbors_graph(features, min(_NEIGHBORS, d - 1), mode="distance")
    feature = np.repeat(np.arange(d), np.diff(nearest.indptr))
    correlation = 1 - nearest.data**2 / 2
    correlation[constant[feature] | constant[nearest.indices]] = 0
    nearest.data = np.maximum((correlation - least) / (1 - least), 0)
    nearest.eliminate_zeros()
    return sparse.csr_array(nearest.maximum(nearest.T))
