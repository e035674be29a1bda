"""What lists and other packages hold, as arrays of NumPy."""

from __future__ import annotations

from datetime import date, time, timedelta
from typing import Any

import numpy as np
from scipy import sparse

from enhg.exceptions import InputError

_DATES = (np.datetime64, np.timedelta64, date, time, timedelta)


def as_numpy(X: Any, name: str, parameter: str) -> Any:
    """Return the array of NumPy that X provides; other values as they are.

    scikit-learn's `check_array` knows lists, sparse matrices and pandas' tables. Of all others it
    would convert float32 to float64, and lets errors pass.
    """
    if isinstance(X, np.ndarray | list) or sparse.issparse(X) or hasattr(X, "iloc"):
        return X
    try:
        if hasattr(X, "__array__"):
            return np.asarray(X)
        return np.from_dlpack(X) if hasattr(X, "__dlpack__") else X
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise InputError(
            f"{name} must be an array that NumPy can read, got a {type(X).__name__} ({error}); "
            "convert it first, a PyTorch tensor by detach(), cpu() or float()",
            parameter=parameter,
        ) from error


def as_real(X: Any, name: str, parameter: str) -> Any:
    """Return what `as_numpy` does, and lists as arrays; refuse dates and durations in all of them.

    NumPy would make counts of these.
    """
    if hasattr(X, "collect"):
        raise InputError(
            f"{name} must be in memory, got a {type(X).__name__}; call its collect() first",
            parameter=parameter,
        )
    _refuse_dates(X, name, parameter)  # before columns of numbers are joined to those of dates
    if isinstance(X, list | tuple):
        try:
            array = np.asarray(X)
        except ValueError:  # rows of several lengths, which the caller refuses
            return X
    else:
        array = as_numpy(X, name, parameter)
    if array is not X:
        _refuse_dates(array, name, parameter)
    return array


def _refuse_dates(X: Any, name: str, parameter: str) -> None:
    """Refuse dates and durations in an array or a table."""
    is_table = hasattr(X, "columns") and hasattr(X, "dtypes")
    dtypes = list(X.dtypes) if is_table else [getattr(X, "dtype", None)]
    kinds = [dtype for dtype in dtypes if _is_temporal(dtype)]
    if np.dtype(object) in dtypes:
        objects = np.asarray(X.select_dtypes(object) if is_table else X)
        kinds += [type(value).__name__ for value in objects.flat if isinstance(value, _DATES)]
    if kinds:
        raise InputError(
            f"{name} must hold real numbers, got dtype {kinds[0]}", parameter=parameter
        )


def _is_temporal(dtype: Any) -> bool:
    """Whether a type of NumPy, pandas or Polars is one of dates or durations."""
    return getattr(dtype, "kind", "") in ("m", "M") or getattr(dtype, "is_temporal", bool)()


def require_unmasked(values: Any, name: str, parameter: str | None = None) -> None:
    """Refuse masked entries of an array or of a list of rows: NumPy takes them for numbers."""
    arrays = values if isinstance(values, list | tuple) else [values]
    masked = (array for array in arrays if isinstance(array, np.ma.MaskedArray))
    if count := sum(int(np.ma.count_masked(array)) for array in masked):
        raise InputError(
            f"{name} must hold a number everywhere, got {count} masked entries; replace them, for "
            "example by filled()",
            parameter=parameter or name,
        )
