"""Samples as they come, made ready for the elastic net: checked, zero-mean, unit-length."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.neighbors import kneighbors_graph
from sklearn.utils import check_array

# Integers this small are exact in float32, which halves memory and doubles speed.
_SMALL_INTEGERS = (np.dtype(np.uint8), np.dtype(np.int8), np.dtype(np.uint16), np.dtype(np.int16))

Normalization = Literal["auto", "zero_mean", "unit", "whiten", "smooth", "lift", "none"]

# Below this many features a sample's own mean and length are most of what it has to say.
_LIFT_BELOW = 16
_LIFT_HEIGHT = 3.0
_DAMPED_FROM = 0.02  # of the strongest direction's spread
_LEARNED_FROM = 5000  # samples: enough to know the main directions
_COMPARED = 2000  # samples
_STRONG = 0.9  # of the variance
_MORE_THAN_NOISE = 1.3
_SAME = 1 - 1e-6
# Whitened samples need errors of single features, which take the square of their number.
_WHITENED_UP_TO = 8192
_MIXED_WITH = 4  # features: as many as the sides of a pixel
_MIXED_TIMES = 3 / 64  # a feature: the square of the reach grows with the number of times
_MOST_TIMES = 12
_MIXED_ABOVE = 0.5  # correlation
_MANY_DIRECTIONS = 8
_BLOCK = 4096  # samples


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
    result, empty = normalized(check_samples(X), center=center, unit=unit)
    if empty.any():
        what = "constant" if center else "zero"
        warnings.warn(
            f"{int(empty.sum())} of {len(empty)} samples are {what} (the first is row "
            f"{int(np.argmax(empty))}): they have no direction and nothing can represent them",
            stacklevel=2,
        )
    return result


def normalized(X: NDArray, *, center: bool = True, unit: bool = True) -> tuple[NDArray, NDArray]:
    """The same, and a mask of the samples without a direction in place of the warning."""
    # Scaling to about 1 first, by an exact power of two, keeps huge and tiny squares in range.
    largest = np.abs(X).max(axis=1, keepdims=True)
    scale = np.ldexp(np.ones_like(largest), np.frexp(largest)[1] - 1)
    result = X / scale
    if center:
        result -= result.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(result, axis=1, keepdims=True)
    # What centering leaves of a constant sample is rounding, not a direction.
    empty = lengths <= _rounding(X) * (largest / scale)
    result[empty[:, 0]] = 0
    if unit:
        lengths[empty] = 1
        result /= lengths
    else:
        result *= scale
    return result, empty[:, 0]


def inverse_lengths(X: NDArray) -> NDArray:
    """1 / the length of every sample, and 0 for one of length 0; nothing of the size of X is
    made."""
    lengths = np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64))
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def unit_length(X: NDArray) -> NDArray:
    """Every sample at length 1, and one without a direction at 0."""
    return normalized(X, center=False)[0]


def _rounding(X: NDArray) -> float:
    """The length that rounding leaves of a sample with entries of about 1 once it is subtracted."""
    return float(8 * np.finfo(X.dtype).eps * np.sqrt(X.shape[1]))


@dataclass(frozen=True)
class Normalizer:
    """One of the ways to make samples comparable, learned from some and applied to any.

    - "zero_mean": every sample gets zero mean over its own features, then unit length (the
      paper's algorithm box); what it looks like, not how bright or how strong it is.
    - "unit": unit length only.
    - "whiten": "zero_mean", then the mean sample is subtracted, the main directions of all
      samples are damped to about the same spread, and the length made 1. Light and pose, which
      move a face most, then count no more than what tells people apart. A direction of spread s
      is divided by √(1 + (s / 0.02 s₁)²), s₁ the largest: the weak ones stay as they are.
    - "smooth": "zero_mean", after features were mixed with those they are most correlated with;
      of pixels these are the neighbors, so that strokes that lie a pixel apart still meet.
      A feature takes (2r - 1)/8 of each of four others, r their correlation, and keeps the rest
      of itself; nothing where r is below 1/2, or small enough to be chance. This is done three
      times for every 64 features, at most 12 times, so that it reaches no further across small
      images as across large ones.
    - "lift": for points in few dimensions, where nearness is distance and not direction. The
      mean sample is subtracted, the spread made 1, a constant appended and the length made 1,
      so that points near each other, and only those, point the same way.
    - "auto": "lift" below 16 features; "zero_mean" above 8192; from 16 to there "whiten" if the
      weak directions, which it lifts, hold more than noise. Asked of the directions beyond 90 %
      of the variance alone: by how many standard deviations of all cosines does the nearest
      other sample stand out? Of n samples of noise, √(2 ln n); here it must be 1.3 times that.
      If not, "smooth" where features are correlated and the samples spread over eight directions
      or more, (Σs²)²/Σs⁴ ≥ 8, so that no few of them, as light is, hide the rest even more; and
      else "zero_mean". No labels are needed.
    - "none": as they come.
    """

    how: Normalization
    mean: NDArray | None = None
    spread: float = 1.0
    directions: NDArray | None = None
    damping: NDArray | None = None
    mixing: sparse.csr_array | None = None

    @staticmethod
    def of(X: NDArray, how: Normalization) -> Normalizer:
        """Learn from the samples X."""
        if how not in get_args(Normalization):
            raise ValueError(f"normalize must be one of {get_args(Normalization)}, got {how!r}")
        if how == "auto":
            how = _fitting(X)
        if how == "whiten":
            return Normalizer._whitening(normalized(_some(X, _LEARNED_FROM))[0])
        if how == "smooth":
            mixing = _mixing(X)
            return Normalizer("zero_mean" if mixing is None else how, mixing=mixing)
        if how != "lift":
            return Normalizer(how)
        mean = X.mean(axis=0, dtype=np.float64)
        largest = float(np.abs(X - mean).max()) or 1.0  # keeps huge and tiny squares in range
        spread = largest * float(np.sqrt((((X - mean) / largest) ** 2).sum(axis=1).mean()))
        return Normalizer(how, mean, spread if spread > 0 else 1.0)

    @staticmethod
    def _whitening(X: NDArray) -> Normalizer:
        mean = X.mean(axis=0)
        spreads, directions = _main_directions(X - mean)
        relative = spreads / (_DAMPED_FROM * spreads[:1])  # nothing if all samples are equal
        strong = relative > 0.01  # what is weaker would change by less than 1e-4
        damping = 1 / np.sqrt(1 + relative[strong] ** 2) - 1
        return Normalizer(
            "whiten", mean, 1.0, directions[:, strong].astype(X.dtype), damping.astype(X.dtype)
        )

    def __call__(self, X: NDArray) -> NDArray:
        if self.how == "none":
            return X
        if self.how == "lift":
            points = ((X - self.mean) / self.spread).astype(X.dtype)
            X = np.hstack([points, np.full((len(X), 1), _LIFT_HEIGHT, dtype=points.dtype)])
        if self.directions is not None:
            samples, empty = normalized(X)
            X = samples - self.mean
            empty |= np.linalg.norm(X, axis=1) <= _rounding(X)
            X += ((X @ self.directions) * self.damping) @ self.directions.T
            X[empty] = 0  # what has no direction gets none from the mean
        if self.mixing is not None:
            X, _ = normalized(X)
            times = min(int(np.ceil(_MIXED_TIMES * X.shape[1])), _MOST_TIMES)
            for block in np.array_split(X, range(_BLOCK, len(X), _BLOCK)):
                mixed = np.ascontiguousarray(block.T)
                for _ in range(times):
                    mixed = self.mixing @ mixed
                block[:] = mixed.T
        return normalize_samples(X, center=self.how in ("zero_mean", "smooth"))


def _fitting(X: NDArray) -> Normalization:
    """What "auto" stands for."""
    if X.shape[1] < _LIFT_BELOW:
        return "lift"
    if X.shape[1] > _WHITENED_UP_TO:
        return "zero_mean"
    few, _ = normalized(_some(X, _COMPARED))
    if weak_contrast(few) > _MORE_THAN_NOISE:
        return "whiten"
    return "smooth" if directions_spread_over(few) >= _MANY_DIRECTIONS else "zero_mean"


def _some(X: NDArray, count: int) -> NDArray:
    """At most `count` rows, evenly spread."""
    if len(X) <= count:
        return X
    return X[np.linspace(0, len(X) - 1, count).astype(int)]


def _main_directions(X: NDArray) -> tuple[NDArray, NDArray]:
    """Singular values of X above rounding, falling, and their right vectors."""
    X = X.astype(np.float64)
    wide = X.shape[1] > X.shape[0]
    squares, vectors = np.linalg.eigh(X @ X.T if wide else X.T @ X)
    kept = squares > max(X.shape) * np.finfo(float).eps * max(squares[-1], 0)
    spreads, vectors = np.sqrt(squares[kept])[::-1], vectors[:, kept][:, ::-1]
    return spreads, X.T @ (vectors / spreads) if wide else vectors


def _mixing(X: NDArray) -> sparse.csr_array | None:
    """What every feature takes from each (see `Normalizer`), rows that sum to 1; None if all keep
    to themselves."""
    X, _ = normalized(_some(X, _COMPARED), center=False)
    n, d = X.shape
    least = max(_MIXED_ABOVE, np.sqrt(2 * np.log(d) / n))
    if d == 1 or least >= 1:
        return None
    features, constant = normalized(np.ascontiguousarray(X.T))
    nearest = kneighbors_graph(features, min(_MIXED_WITH, d - 1), mode="distance")
    takers = np.repeat(np.arange(d), np.diff(nearest.indptr))
    correlation = 1 - nearest.data**2 / 2
    correlation[constant[takers] | constant[nearest.indices]] = 0
    nearest.data = np.maximum((correlation - least) / (1 - least), 0)
    nearest.eliminate_zeros()
    if nearest.nnz == 0:
        return None
    shared = sparse.csr_array(nearest.maximum(nearest.T))
    most = np.maximum(np.diff(shared.indptr), _MIXED_WITH)
    taken = sparse.diags_array(0.5 / most) @ shared
    return (taken + sparse.diags_array(1 - taken.sum(axis=1))).astype(X.dtype).tocsr()


def directions_spread_over(X: NDArray) -> float:
    """How many directions of equal spread would be as even as those of X: (Σs²)²/Σs⁴."""
    X = (X - X.mean(axis=0)).astype(np.float64)
    products = X @ X.T if len(X) < X.shape[1] else X.T @ X
    of_squares = float((products**2).sum())
    return float(np.trace(products)) ** 2 / of_squares if of_squares > 0 else 0.0


def weak_contrast(X: NDArray) -> float:
    """How far the nearest other stands out in the weak directions of zero-mean samples alone, in
    multiples of what it would by chance (see `Normalizer`)."""
    X = _some(X, _COMPARED)
    X = X - X.mean(axis=0)
    spreads, directions = _main_directions(X)
    carried = np.cumsum(spreads**2) - spreads**2  # by the stronger ones
    weak = carried >= _STRONG * (spreads**2).sum()
    if len(X) < 3 or not weak.any():
        return 0.0
    points = X @ directions[:, weak]
    points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), np.finfo(X.dtype).tiny)
    cosines = points @ points.T
    spread = cosines[~np.eye(len(X), dtype=bool)].std()
    cosines[cosines > _SAME] = -1  # itself, and copies, which tell nothing
    by_chance = max(spread * np.sqrt(2 * np.log(len(X))), np.finfo(float).tiny)
    return float(cosines.max(axis=1).mean() / by_chance)


class SampleNormalizer:
    """Zero mean and unit length of every sample."""

    def __init__(self, center: bool = True) -> None:
        self.center = center

    def fit_transform(self, X: ArrayLike) -> NDArray:
        return normalize_samples(X, center=self.center)
