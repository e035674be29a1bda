"""Compiled loops over the rows of sparse matrices."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import njit

from enhg._numba import CACHE


@njit(nogil=True, cache=CACHE)
def products_on_pattern(
    indptr, indices, data, n_columns, pattern_indptr, pattern_indices, products
):
    """products[p] = |⟨zᵢ, zⱼ⟩| for every entry p = (i, j) of a CSR pattern; zᵢ is CSR row i.

    Row i is scattered to a dense vector once and multiplied with the sparse rows j of its pattern,
    so the n×n matrix of all products is never formed.
    """
    row = np.zeros(n_columns)
    for i in range(indptr.shape[0] - 1):
        for k in range(indptr[i], indptr[i + 1]):
            row[indices[k]] = data[k]
        for p in range(pattern_indptr[i], pattern_indptr[i + 1]):
            j = pattern_indices[p]
            product = 0.0
            for k in range(indptr[j], indptr[j + 1]):
                product += data[k] * row[indices[k]]
            products[p] = abs(product)
        for k in range(indptr[i], indptr[i + 1]):
            row[indices[k]] = 0.0
