"""Check of sparse matrices of any origin."""

from __future__ import annotations

from typing import Any


def check_indices(matrix: Any) -> None:
    """Raise ValueError unless a compressed sparse matrix has valid indices.

    SciPy reads and writes outside of its arrays at wrong ones. Its own check passes over row
    pointers that rise and end with 0 all the same.
    """
    pointers, indices = matrix.indptr, matrix.indices
    if pointers.dtype.kind != "i" or indices.dtype.kind != "i":
        raise ValueError(f"indices of type {pointers.dtype} and {indices.dtype}")
    if (pointers[1:] < pointers[:-1]).any():
        raise ValueError("indptr must be a non-decreasing sequence")
    matrix.check_format(full_check=True)
