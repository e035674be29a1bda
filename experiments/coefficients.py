"""Selections of coefficients that the figures and analyses show beside those of a structure."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def largest_per_row(Z: sparse.csr_array, count: int) -> sparse.csr_array:
    """Keep the `count` largest |zᵢⱼ| of every row, as magnitudes."""
    Z = abs(sparse.csr_array(Z))
    Z.eliminate_zeros()
    row = np.repeat(np.arange(Z.shape[0]), np.diff(Z.indptr))
    order = np.lexsort((-Z.data, row))
    kept = np.empty(Z.nnz, bool)
    kept[order] = np.arange(Z.nnz) - Z.indptr[row] < count
    return sparse.csr_array((Z.data[kept], (row[kept], Z.indices[kept])), shape=Z.shape)
