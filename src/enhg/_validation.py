"""Checks of samples, matrices and parameters, shared by all modules."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from mmap import mmap
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator
from sklearn import config_context, get_config
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import validate_data

from enhg._arrays import as_numpy, as_real, require_unmasked
from enhg._sparse import check_indices
from enhg.exceptions import InputError

# The caller's setting of assume_finite while `validated` is active.
_assume_finite: ContextVar[bool | None] = ContextVar("assume_finite", default=None)


def check_samples(
    X: ArrayLike, *, name: str = "X", min_samples: int = 1, parameter: str | None = None
) -> NDArray:
    """Return X as a C-ordered float array of shape (n_samples, n_features).

    float32 and float64 are kept, 8- and 16-bit numbers become float32, all other types float64.
    Within `validated` an array that this function returned is neither scanned nor copied.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        An array of Dask or Zarr is read as a whole. Of a PyTorch tensor and others that provide
        ``__array__`` or DLPack, the array that NumPy makes of them.
    name : str, default="X"
        The name of the samples, for messages.
    min_samples : int, default=1
        The smallest number of rows accepted.
    parameter : str, optional
        The parameter to change, if it is not `name`.

    Raises
    ------
    InputError
        If X has a wrong shape, holds NaN, infinity, masked entries or anything but numbers, or
        NumPy cannot read it.
    TypeError
        If X is a sparse matrix.
    """
    require_unmasked(X, name, parameter)
    if is_unread(X):
        check_unread(X, name, parameter)
        X = np.asarray(X)  # here, since errors of its computation are not those of its values
    X = as_real(X, name, parameter or name)
    if isinstance(X, np.ndarray) and _is_exact_in_single(X.dtype):
        X = np.asarray(X, dtype=np.float32)
    try:
        return check_array(
            X,
            dtype=[np.float64, np.float32],
            order="C",
            input_name=name,
            ensure_min_samples=min_samples,
        )
    except (TypeError, ValueError, OverflowError) as error:
        # scikit-learn demands a TypeError of sparse matrices and of objects.
        demanded = sparse.issparse(X) or (isinstance(X, np.ndarray) and X.dtype.kind == "O")
        if isinstance(error, TypeError) and demanded:
            raise
        message = _samples_message(X, name, min_samples, str(error).partition("\n")[0])
        raise InputError(message, parameter=parameter or name) from error


def sample_dtype(dtype: np.dtype) -> np.dtype:
    """The type that `check_samples` gives to numbers of a type.

    >>> sample_dtype(np.dtype(np.uint8)), sample_dtype(np.dtype(np.int32))
    (dtype('float32'), dtype('float64'))
    """
    return np.dtype(np.float32 if _is_exact_in_single(dtype) else np.float64)


def _is_exact_in_single(dtype: np.dtype) -> bool:
    """Whether numbers of a type are exact in float32, which halves memory and doubles speed."""
    return dtype.itemsize <= {"u": 2, "i": 2, "f": 4}.get(dtype.kind, 0)


def freeze_new(samples: NDArray, X: ArrayLike) -> None:
    """Make samples read-only that `check_samples` made of X in new memory."""
    is_new = is_unread(X) or isinstance(X, list)
    if isinstance(X, np.ndarray):
        is_new = not np.may_share_memory(samples, X)
    if is_new:
        samples.setflags(write=False)


def kept_samples(samples: NDArray, X: ArrayLike) -> NDArray:
    """Return checked samples of X as a read-only array that the caller cannot change.

    It is a copy if the samples are in memory that can be written to. Samples in a file that is
    mapped by mode "r", and those of an array that is read-only and owns its memory, are not copied.
    """
    freeze_new(samples, X)
    if _can_change(samples):
        samples = samples.copy()
        samples.setflags(write=False)
    return samples


def _can_change(array: NDArray) -> bool:
    """Whether the memory of an array can be written to, by it or by what it is a view of."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return True
        owner = owner.base
    return not (owner is None or isinstance(owner, bytes | mmap))


def is_dask_array(X: Any) -> bool:
    module = sys.modules.get("dask.array")
    return module is not None and isinstance(X, module.Array)


def is_zarr_array(X: Any) -> bool:
    module = sys.modules.get("zarr")
    return module is not None and isinstance(X, module.Array)


def is_unread(X: Any) -> bool:
    """Whether X is described in memory, with its numbers elsewhere: an array of Dask or Zarr."""
    return is_dask_array(X) or is_zarr_array(X)


def zarr_folder(X: Any) -> Path | None:
    """The folder of an array of Zarr; None if it is in another store."""
    if not isinstance(X.store, sys.modules["zarr"].storage.LocalStore):
        return None
    return Path(X.store.root, X.path).absolute()


def check_unread(X: Any, name: str, parameter: str | None = None) -> None:
    """Require samples that can be read, by the description of an array of Dask or Zarr."""
    message = None
    if X.ndim != 2:
        message = _dimensions_message(name, X.shape)
    elif X.dtype.kind not in "buif":
        message = f"{name} must hold real numbers, got dtype {X.dtype}"
    elif np.isnan(X.shape[1]):
        message = (
            f"{name} must have a known number of features, got a Dask array of shape {X.shape}; "
            "call its compute_chunk_sizes() first"
        )
    elif is_zarr_array(X) and (folder := zarr_folder(X)) is not None and not folder.is_dir():
        # Zarr would read zeros.
        message = f"{name} must be a Zarr array that is still there, got {folder}, which is not"
    if message is not None:
        raise InputError(message, parameter=parameter or name)


def _samples_message(X: Any, name: str, min_samples: int, reason: str) -> str:
    """Say what is wrong with samples, in words that contain those of scikit-learn's messages."""
    try:
        shape = np.shape(X)
    except ValueError:
        return f"{name} must have rows of one length, got {reason}"
    if "Complex data" in reason:
        return f"{name} must hold real numbers, got complex numbers (Complex data not supported)"
    if "could not convert string" in reason:
        return f"{name} must hold real numbers, got text ({reason})"
    if len(shape) != 2:
        return _dimensions_message(name, shape)
    for place, unit, least in ((0, "sample", min_samples), (1, "feature", 1)):
        if shape[place] < least:
            return (
                f"{name} must have at least {least} {unit}{'' if least == 1 else 's'}, got "
                f"{shape[place]} {unit}(s) (shape={shape}) while a minimum of {least} is required."
            )
    for values in ("NaN", "infinity"):
        if f"contains {values}" in reason:
            return f"{name} must hold finite numbers, got {values} (Input {name} contains {values})"
    return f"{name} must be an array of real numbers, got {reason}"


def _dimensions_message(name: str, shape: tuple[int, ...]) -> str:
    message = f"{name} must have 2 dimensions, samples × features, got dim {len(shape)}"
    if len(shape) == 1:
        message += (
            " (Expected 2D array, got 1D array. Reshape your data by array.reshape(-1, 1) if it "
            "has a single feature, or array.reshape(1, -1) if it is a single sample)"
        )
    return message


def range_of_products(X: NDArray) -> tuple[float, float]:
    """Bounds on the largest entry of a row: between them its type has sums of products."""
    limits = np.finfo(X.dtype)
    margin = float(X.shape[1]) / limits.eps
    return float(np.sqrt(limits.tiny * margin)), float(np.sqrt(limits.max / margin))


def out_of_range(X: NDArray) -> NDArray:
    """Rows, other than zeros, whose largest entry is not within `range_of_products`, or is NaN."""
    low, high = range_of_products(X)
    largest = np.maximum(X.max(axis=1), -X.min(axis=1))
    return np.flatnonzero((largest != 0) & ~((low < largest) & (largest < high)))


def check_range(X: NDArray, name: str) -> None:
    """Require samples in float64 whose products are within its range."""
    rows = out_of_range(X)
    if len(rows):
        raise InputError(
            f"{name} must have products within the range of float64, got a largest entry of "
            f"{np.abs(X[rows[0]]).max():g} in row {rows[0]}; scale the samples first",
            parameter=name,
        )


def check_features(estimator: Any, X: ArrayLike, *, reset: bool) -> None:
    """Set `n_features_in_` and `feature_names_in_` if `reset`; otherwise require those of `fit`.

    X are samples that `check_samples` accepted, as they were given.
    """
    if not hasattr(X, "shape") and not isinstance(X, list | tuple):
        X = as_numpy(X, "X", "X")  # of which scikit-learn would not find the number of features
    try:
        validate_data(estimator, X, skip_check_array=True, reset=reset)
    except TypeError as error:
        raise InputError(
            f"X must have column names that are all text, or none that are: {error}", parameter="X"
        ) from error
    except ValueError as error:
        requirement = "X must have the features of fit"
        expected, given = getattr(estimator, "n_features_in_", None), np.shape(X)[1]
        if not reset and given != expected:
            requirement = f"X must have the {expected} features of fit, got {given}"
        raise InputError(f"{requirement}: {error}", parameter="X") from error


@contextmanager
def validated() -> Iterator[None]:
    """Context in which samples are known to be finite: `check_samples` does not scan them again."""
    outer = _assume_finite.get()
    token = _assume_finite.set(get_config()["assume_finite"] if outer is None else outer)
    try:
        with config_context(assume_finite=True):
            yield
    finally:
        _assume_finite.reset(token)


@contextmanager
def not_validated() -> Iterator[None]:
    """Context for code of other packages, within `validated`: it validates as it does alone."""
    with config_context(assume_finite=_assume_finite.get()):  # None: as it is
        yield


def check_rng(random_state: Any) -> np.random.RandomState:
    """Return scikit-learn's generator of a parameter `random_state`."""
    try:
        return check_random_state(random_state)
    except ValueError as error:
        raise InputError(
            "random_state must be None, a whole number from 0 to 2**32 - 1 or a RandomState, got "
            f"{random_state!r}",
            parameter="random_state",
        ) from error


def check_mask(mask: ArrayLike, n_vertices: int) -> NDArray[np.bool_]:
    """Return a mask of vertices as an array of booleans; require one True."""
    array = np.asarray(mask)
    if array.dtype != bool or array.shape != (n_vertices,):
        raise InputError(
            f"mask must hold a boolean for every vertex, shape ({n_vertices},), got shape "
            f"{array.shape} and dtype {array.dtype}",
            parameter="mask",
        )
    if not array.any():
        raise InputError("mask must select a vertex, got only False", parameter="mask")
    return array


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
    if isinstance(value, int):  # which may be larger than any float
        return not isinstance(value, bool) and abs(value) <= sys.float_info.max
    return isinstance(value, Real)


def real_array(values: Any, name: str) -> Any:
    """Return `values` as a NumPy array, or as it is if it is sparse; require real numbers."""
    require_unmasked(values, name)
    values = as_real(values, name, name)
    try:
        array = values if sparse.issparse(values) else np.asarray(values)
    except ValueError as error:
        raise InputError(
            f"{name} must be an array of real numbers, got {error}", parameter=name
        ) from error
    if array.dtype.kind not in "buif":
        raise InputError(f"{name} must hold real numbers, got dtype {array.dtype}", parameter=name)
    return array


def real_vector(values: Any, name: str, length: int | None = None) -> NDArray:
    """Return `values` as an array of shape (length,), or of any length; require real numbers."""
    array = real_array(values, name)
    if sparse.issparse(array):
        raise InputError(f"{name} must be a dense array, got a sparse one", parameter=name)
    if length is None and array.ndim != 1:
        raise InputError(f"{name} must have 1 dimension, got shape {array.shape}", parameter=name)
    if length is not None and array.shape != (length,):
        raise InputError(
            f"{name} must have shape ({length},), got shape {array.shape}", parameter=name
        )
    return array


def real_matrix(values: Any, name: str) -> Any:
    """Return a matrix in float64 or bool, sparse or not; require real numbers, valid indices."""
    array = _matrix(values, name)
    _require_valid_indices(array, name)
    # Sums of duplicates overflow small integers, and SciPy knows no float16.
    return array if array.dtype == bool else array.astype(np.float64, copy=False)


def real_csr(values: Any, name: str, *, copy: bool = False) -> sparse.csr_array:
    """Return a matrix as float64 CSR; require real numbers and valid indices."""
    return sparse.csr_array(real_matrix(values, name), dtype=np.float64, copy=copy)


def _require_valid_indices(matrix: Any, name: str) -> None:
    # Before any conversion: SciPy's reads and writes outside of its arrays at wrong indices.
    try:
        if hasattr(matrix, "check_format"):
            check_indices(matrix)
        elif hasattr(matrix, "coords"):
            np.ravel_multi_index(matrix.coords, matrix.shape)
    except (ValueError, IndexError) as error:
        raise InputError(
            f"{name} must be a valid sparse matrix, got one of which SciPy says: {error}",
            parameter=name,
        ) from error


def nonnegative_csr(values: Any, name: str) -> sparse.csr_array:
    """Return a canonical float64 CSR copy without explicit zeros; require entries ≥ 0."""
    matrix = real_csr(values, name, copy=True)
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


def with_data(matrix: sparse.csr_array, data: NDArray) -> sparse.csr_array:
    """Return a matrix with the sparsity pattern of another and these entries."""
    return sparse.csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def with_small_indices(matrix: sparse.csr_array) -> sparse.csr_array:
    """Return a matrix with 32-bit indices if they suffice, as scikit-learn's estimators need."""
    if max(matrix.nnz, *matrix.shape) > np.iinfo(np.int32).max:
        return matrix
    parts = (matrix.data, matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
    return sparse.csr_array(parts, shape=matrix.shape)


def symmetric_operator(n: int, apply: Callable[[Any], Any]) -> LinearOperator:
    """Return x ↦ apply(x) on n-vectors and n-row matrices as a symmetric linear operator."""
    return LinearOperator(
        (n, n), matvec=apply, rmatvec=apply, matmat=apply, rmatmat=apply, dtype=np.float64
    )
