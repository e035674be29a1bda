"""Samples as they come, made ready for the elastic net: checked, zero-mean, unit-length."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_array

# Integers this small are exact in float32, which halves memory and doubles speed.
_SMALL_INTEGERS = (np.dtype(np.uint8), np.dtype(np.int8), np.dtype(np.uint16), np.dtype(np.int16))

Normalization = Literal["auto", "zero_mean", "unit", "whiten", "lift", "none"]

# Below this many features a sample's own mean and length are most of what it has to say.
_LIFT_BELOW = 16
_LIFT_HEIGHT = 3.0
_WHITENED = 200  # main directions


def check_samples(X: ArrayLike, *, name: str = "X", min_samples: int = 1) -> NDArray:
    """Return X as a C-ordered float array of shape (samples, features), or raise ValueError.

    float32 and float64 stay what they are, 8- and 16-bit integers become float32, everything
    else float64. NaN, infinities and wrong shapes are refused, sparse matrices with TypeError.
    """
    if getattr(X, "dtype", None) in _SMALL_INTEGERS and not sparse.issparse(X):
        X = np.asarray(X, dtype=np.float32)
    return check_array(
        X,
        dtype=[np.float64, np.float32],
        order="C",
        input_name=name,
        ensure_min_samples=min_samples,
    )


def normalize_samples(X: ArrayLike, *, center: bool = True, unit: bool = True) -> NDArray:
    """Give every sample zero mean (over its own features) and unit length.

    A sample that is zero, or constant when `center` is true, has no direction: it becomes (or
    stays) zero, with a warning that counts such samples.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    center : bool
        Subtract from every sample the mean of its own features.
    unit : bool
        Divide every sample by its Euclidean length.

    Returns
    -------
    array of shape (n_samples, n_features)
        A new array; X is never changed.

    Examples
    --------
    >>> normalize_samples([[3.0, 4.0], [6.0, 8.0]], center=False)
    array([[0.6, 0.8],
           [0.6, 0.8]])
    """
    X = check_samples(X)
    # Scaling to about 1 first, by an exact power of two, keeps huge and tiny squares in range.
    largest = np.abs(X).max(axis=1, keepdims=True)
    scale = np.ldexp(np.ones_like(largest), np.frexp(largest)[1] - 1)
    result = X / scale
    if center:
        result -= result.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(result, axis=1, keepdims=True)
    # What centring leaves of a constant sample is rounding, not a direction.
    rounding = 8 * np.finfo(X.dtype).eps * np.sqrt(X.shape[1])
    empty = lengths <= rounding * (largest / scale)
    result[empty[:, 0]] = 0
    if unit:
        lengths[empty] = 1
        result /= lengths
    else:
        result *= scale
    if empty.any():
        what = "constant" if center else "zero"
        warnings.warn(
            f"{int(empty.sum())} of {len(X)} samples are {what} (the first is row "
            f"{int(np.argmax(empty))}): they have no direction and nothing can represent them",
            stacklevel=2,
        )
    return result


@dataclass(frozen=True)
class Normalizer:
    """One of the ways to make samples comparable, learned from some and applied to any.

    - "zero_mean": every sample gets zero mean over its own features, then unit length (the
      paper's algorithm box); what it looks like, not how bright or how strong it is.
    - "unit": unit length only.
    - "whiten": "zero_mean", then the mean sample is subtracted, the 200 main directions (or as
      many as there are) are given equal spread, the others left out, and the length made 1. Light
      and pose, which move a face most, then count no more than what tells people apart.
    - "lift": for points in few dimensions, where nearness is distance and not direction. The
      mean sample is subtracted, the spread made 1, a constant appended and the length made 1,
      so that points near each other, and only those, point the same way.
    - "auto": "zero_mean" from 16 features on, "lift" below.
    - "none": as they come.
    """

    how: Normalization
    mean: NDArray | None = None
    spread: float = 1.0
    directions: NDArray | None = None

    @staticmethod
    def of(X: NDArray, how: Normalization) -> Normalizer:
        """Learn from the samples X."""
        allowed = ("auto", "zero_mean", "unit", "whiten", "lift", "none")
        if how not in allowed:
            raise ValueError(f"normalize must be one of {allowed}, got {how!r}")
        if how == "auto":
            how = "zero_mean" if X.shape[1] >= _LIFT_BELOW else "lift"
        if how == "whiten":
            return Normalizer._whitening(normalize_samples(X))
        if how != "lift":
            return Normalizer(how)
        mean = X.mean(axis=0)
        spread = float(np.sqrt(((X - mean) ** 2).sum(axis=1).mean()))
        return Normalizer(how, mean, spread if spread > 0 else 1.0)

    @staticmethod
    def _whitening(X: NDArray) -> Normalizer:
        mean = X.mean(axis=0)
        _, spreads, directions = np.linalg.svd(X - mean, full_matrices=False)
        real = spreads > max(X.shape) * np.finfo(X.dtype).eps * np.sqrt(len(X))  # and not rounding
        spreads[~real] = np.inf  # all samples may be equal
        kept = min(_WHITENED, max(1, np.count_nonzero(real)))
        return Normalizer("whiten", mean, 1.0, directions[:kept].T / spreads[:kept])

    def __call__(self, X: NDArray) -> NDArray:
        if self.how == "none":
            return X
        if self.how == "lift":
            points = (X - self.mean) / self.spread
            X = np.hstack([points, np.full((len(X), 1), _LIFT_HEIGHT, dtype=points.dtype)])
        if self.how == "whiten":
            X = (normalize_samples(X) - self.mean) @ self.directions
        return normalize_samples(X, center=self.how == "zero_mean")
