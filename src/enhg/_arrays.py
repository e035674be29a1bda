"""What lists and other packages hold, as arrays of NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from enhg.exceptions import InputError


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


def refuse_dates(X: Any, name: str, parameter: str) -> None:
    """Refuse dates and durations in an array or a table, of which NumPy would make counts."""
    for dtype in X.dtypes if hasattr(X, "columns") else [getattr(X, "dtype", None)]:
        if getattr(dtype, "kind", "") in ("m", "M"):
            raise InputError(
                f"{name} must hold real numbers, got dtype {dtype}", parameter=parameter
            )


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
