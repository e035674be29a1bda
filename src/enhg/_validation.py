"""Checks of samples, matrices and parameters, shared by all modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn import config_context
from sklearn.utils import check_array

from enhg.exceptions import InputError

# Integers this small are exact in float32, which halves memory and doubles speed.
_SMALL_INTEGERS = (np.dtype(np.uint8), np.dtype(np.int8), np.dtype(np.uint16), np.dtype(np.int16))


def check_samples(X: ArrayLike, *, name: str = "X", min_samples: int = 1) -> NDArray:
    """Return X as a C-ordered float array of shape (n_samples, n_features).

    float32 and float64 are kept, 8- and 16-bit integers become float32, all other types float64.
    Within `validated` an array that this function returned is neither scanned nor copied.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
    name : str, default="X"
        The name of the parameter, for messages.
    min_samples : int, default=1
        The smallest number of rows accepted.

    Raises
    ------
    InputError
        If X has a wrong shape, or holds NaN, infinity or anything but numbers.
    TypeError
        If X is a sparse matrix.
    """
    if getattr(X, "dtype", None) in _SMALL_INTEGERS and not sparse.issparse(X):
        X = np.asarray(X, dtype=np.float32)
    try:
        return check_array(
            X,
            dtype=[np.float64, np.float32],
            order="C",
            input_name=name,
            ensure_min_samples=min_samples,
        )
    except ValueError as error:
        raise InputError(str(error), parameter=name) from error


@contextmanager
def validated() -> Iterator[None]:
    """Context in which samples are known to be finite: `check_samples` does not scan them again."""
    with config_context(assume_finite=True):
        yield


def check_positive(name: str, value: object, *, optional: bool = False) -> None:
    """Require a finite number > 0; None is accepted if `optional`."""
    if optional and value is None:
        return
    if not _is_number(value) or not 0 < value < np.inf:  # type: ignore[operator]
        none = " or None" if optional else ""
        raise InputError(f"{name} must be a positive number{none}, got {value!r}", parameter=name)


def check_nonnegative(name: str, value: object) -> None:
    """Require a finite number ≥ 0."""
    if not _is_number(value) or not 0 <= value < np.inf:  # type: ignore[operator]
        raise InputError(f"{name} must be a number of at least 0, got {value!r}", parameter=name)


def check_whole(
    name: str, value: object, low: int, high: int | None = None, *, hint: str = ""
) -> None:
    """Require an integer ≥ `low`, and ≤ `high` if given; `hint` follows the range in the message.

    Examples
    --------
    >>> check_whole("n_init", 9, 1, 5, hint="(at most 5)")
    Traceback (most recent call last):
    enhg.exceptions.InputError: n_init must be a whole number from 1 to 5 (at most 5), got 9
    """
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not whole or value < low or (high is not None and value > high):  # type: ignore[operator]
        allowed = f"of at least {low}" if high is None else f"from {low} to {high}"
        allowed += f" {hint}" if hint else ""
        raise InputError(f"{name} must be a whole number {allowed}, got {value!r}", parameter=name)


def check_choice(name: str, value: object, allowed: Iterable[str]) -> None:
    """Require one of the allowed strings."""
    choices = tuple(allowed)
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{name} must be one of {choices}, got {value!r}", parameter=name)


def check_fraction(name: str, value: object, *, open_interval: bool) -> None:
    """Require a number in (0, 1) if `open_interval`, else in [0, 1]."""
    inside = _is_number(value) and 0 <= value <= 1  # type: ignore[operator]
    if not inside or (open_interval and value in (0, 1)):
        bounds = "between 0 and 1, both excluded" if open_interval else "from 0 to 1"
        raise InputError(f"{name} must be a number {bounds}, got {value!r}", parameter=name)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def real_array(values: Any, name: str) -> Any:
    """Return `values` as a NumPy array, or as it is if it is sparse; require real numbers."""
    try:
        array = values if sparse.issparse(values) else np.asarray(values)
    except ValueError as error:
        raise InputError(
            f"{name} must be an array of real numbers, got {error}", parameter=name
        ) from error
    if array.dtype.kind not in "buif":
        raise InputError(f"{name} must hold real numbers, got dtype {array.dtype}", parameter=name)
    return array


def nonnegative_csr(values: Any, name: str) -> sparse.csr_array:
    """Return a canonical float64 CSR copy without explicit zeros; require entries ≥ 0."""
    array = _matrix(values, name)
    matrix = sparse.csr_array(array, dtype=np.float64, copy=True)
    matrix.check_format(full_check=True)
    matrix.sum_duplicates()
    _require_nonnegative(matrix.data, name)
    matrix.eliminate_zeros()
    return matrix


def nonnegative_dense(values: Any, name: str) -> NDArray[np.float64]:
    """Return a float64 copy; require entries ≥ 0."""
    matrix = np.array(_matrix(values, name), dtype=np.float64)
    _require_nonnegative(matrix, name)
    return matrix


def _matrix(values: Any, name: str) -> Any:
    array = real_array(values, name)
    if array.ndim != 2:
        raise InputError(f"{name} must be 2-dimensional, got shape {array.shape}", parameter=name)
    return array


def _require_nonnegative(data: NDArray, name: str) -> None:
    wrong = ~(np.isfinite(data) & (data >= 0))
    if wrong.any():
        raise InputError(
            f"{name} must hold finite, non-negative numbers, got {data[wrong][0]}", parameter=name
        )


def require_symmetric(matrix: NDArray | sparse.csr_array, name: str) -> None:
    """Require an exactly symmetric square matrix."""
    if matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"{name} must be square, got shape {matrix.shape}", parameter=name)
    u, v = (matrix != matrix.T).nonzero()
    if len(u):
        i, j = int(u[0]), int(v[0])
        raise InputError(
            f"{name} must be exactly symmetric (symmetrize with (A + A.T) / 2), got "
            f"{matrix[i, j]} at ({i}, {j}) and {matrix[j, i]} at ({j}, {i})",
            parameter=name,
        )


def require_positive_entries(values: NDArray[np.float64], requirement: str, kind: str) -> None:
    """Require finite entries > 0; the message is the requirement and the first wrong entry."""
    wrong = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if wrong.size:
        raise InputError(f"{requirement}, got {values[wrong[0]]} at {kind} {wrong[0]}")


def symmetric_operator(n: int, apply: Callable[[Any], Any]) -> LinearOperator:
    """Return x ↦ apply(x) on n-vectors and n-row matrices as a symmetric linear operator."""
    return LinearOperator(
        (n, n), matvec=apply, rmatvec=apply, matmat=apply, rmatmat=apply, dtype=np.float64
    )
