"""Checked matrices and operators, for hypergraphs and graphs alike."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator


def real_array(values: Any, name: str) -> Any:
    """A NumPy array, or the sparse matrix as it is, that holds real numbers."""
    try:
        array = values if sparse.issparse(values) else np.asarray(values)
    except ValueError as error:
        raise ValueError(f"{name} must be an array of real numbers; received {error}") from error
    if array.dtype.kind not in "buif":
        raise ValueError(f"{name} must hold real numbers; received dtype {array.dtype}")
    return array


def nonnegative_csr(values: Any, name: str) -> sparse.csr_array:
    """A canonical float64 copy without explicit zeros."""
    array = _matrix(values, name)
    matrix = sparse.csr_array(array, dtype=np.float64, copy=True)
    matrix.check_format(full_check=True)
    matrix.sum_duplicates()
    _require_nonnegative(matrix.data, name)
    matrix.eliminate_zeros()
    return matrix


def nonnegative_dense(values: Any, name: str) -> NDArray[np.float64]:
    """A float64 copy."""
    matrix = np.array(_matrix(values, name), dtype=np.float64)
    _require_nonnegative(matrix, name)
    return matrix


def _matrix(values: Any, name: str) -> Any:
    array = real_array(values, name)
    if array.ndim != 2:
        raise ValueError(f"{name} must be 2-dimensional; received shape {array.shape}")
    return array


def _require_nonnegative(data: NDArray, name: str) -> None:
    wrong = ~(np.isfinite(data) & (data >= 0))
    if wrong.any():
        raise ValueError(
            f"{name} must hold finite, non-negative numbers; received {data[wrong][0]}"
        )


def require_symmetric(matrix: NDArray | sparse.csr_array, name: str) -> None:
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name} must be square; received shape {matrix.shape}")
    differing = matrix != matrix.T
    u, v = differing.nonzero()
    if len(u):
        u, v = int(u[0]), int(v[0])
        raise ValueError(
            f"{name} must be exactly symmetric (symmetrize with (A + A.T) / 2); received "
            f"{matrix[u, v]} at ({u}, {v}) and {matrix[v, u]} at ({v}, {u})"
        )


def require_positive(values: NDArray[np.float64], requirement: str, kind: str) -> None:
    wrong = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if wrong.size:
        raise ValueError(f"{requirement}; received {values[wrong[0]]} at {kind} {wrong[0]}")


def symmetric_operator(n: int, apply: Callable[[Any], Any]) -> LinearOperator:
    return LinearOperator(
        (n, n), matvec=apply, rmatvec=apply, matmat=apply, rmatmat=apply, dtype=np.float64
    )
