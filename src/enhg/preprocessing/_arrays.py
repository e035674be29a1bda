"""Array functions: lengths of samples, their principal directions, and which are equal."""

from __future__ import annotations

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray


def normalized(X: NDArray, *, center: bool = True) -> tuple[NDArray, NDArray]:
    """Scale every sample to unit length, after subtracting its own mean if `center`.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    center : bool, default=True

    Returns
    -------
    samples : ndarray of shape (n_samples, n_features)
        A new array of the type of X. Samples without direction are 0.
    empty : ndarray of bool, shape (n_samples,)
        True for samples without direction: zero, or constant if `center`.
    """
    # Scaling to about 1 first keeps huge and tiny squares in range.
    largest = np.abs(X).max(axis=1, keepdims=True)
    scale = power_of_two(largest)
    samples = X / scale
    if center:
        samples -= samples.mean(axis=1, keepdims=True)
    lengths = np.linalg.norm(samples, axis=1, keepdims=True)
    # Centering leaves rounding of a constant sample, which is not a direction.
    empty = lengths <= rounding_length(X) * (largest / scale)
    samples[empty[:, 0]] = 0
    lengths[empty] = 1
    samples /= lengths
    return samples, empty[:, 0]


def power_of_two(largest: NDArray) -> NDArray:
    """The largest powers of two that are not above the largest |entries| of rows; ½ for zero.

    Division by them is exact, but for entries that are tiny beside the largest.
    """
    return np.ldexp(np.ones_like(largest), np.frexp(largest)[1] - 1)


def unit_length(X: NDArray) -> NDArray:
    """Scale every sample to length 1; a sample of length 0 stays 0."""
    return normalized(X, center=False)[0]


def inverse_lengths(X: NDArray) -> NDArray:
    """1/‖xᵢ‖ of every sample, 0 for a sample of length 0, without an array of the size of X."""
    lengths = np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64))
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def rounding_length(X: NDArray) -> float:
    """Length up to which a difference of two samples with entries of about 1 is rounding."""
    return float(8 * np.finfo(X.dtype).eps * np.sqrt(X.shape[1]))


def first_equal(X: NDArray) -> NDArray[np.intp]:
    """For every sample, the first one that is equal to it.

    Examples
    --------
    >>> first_equal(np.array([[1.0, 0.0], [2.0, 3.0], [1.0, -0.0]])).tolist()
    [0, 1, 0]
    """
    first: dict[bytes, int] = {}
    # Digests take less memory than a second copy of X. Adding 0 makes 0 of −0.
    digests = (blake2b((row + 0.0).tobytes(), digest_size=16).digest() for row in X)
    return np.array([first.setdefault(digest, i) for i, digest in enumerate(digests)], np.intp)


def evenly_spaced(X: NDArray, count: int) -> NDArray:
    """At most `count` rows of X, evenly spaced."""
    if len(X) <= count:
        return X
    return X[np.linspace(0, len(X) - 1, count).astype(int)]


def principal_directions(X: NDArray) -> tuple[NDArray, NDArray]:
    """Singular values of X above rounding, in decreasing order, and its right singular vectors."""
    X = X.astype(np.float64)
    wide = X.shape[1] > X.shape[0]
    squares, vectors = np.linalg.eigh(X @ X.T if wide else X.T @ X)
    kept = squares > max(X.shape) * np.finfo(float).eps * max(squares[-1], 0)
    spreads, vectors = np.sqrt(squares[kept])[::-1], vectors[:, kept][:, ::-1]
    return spreads, X.T @ (vectors / spreads) if wide else vectors
