"""Compiled loops over sparse rows."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np
from numba import njit

from enhg._numba import CACHE


@njit(nogil=True, cache=CACHE)
def products_on_pattern(indptr, indices, data, width, pattern_indptr, pattern_indices, out):
    """out[p] = |⟨zᵢ, zⱼ⟩| for every entry p = (i, j) of a sparse pattern, zᵢ = CSR row i.

    Each row is spread out once and met with the rows its pattern names: the cost is that of the
    pattern, and nothing n×n is formed.
    """
    spread = np.zeros(width)
    for i in range(indptr.shape[0] - 1):
        for k in range(indptr[i], indptr[i + 1]):
            spread[indices[k]] = data[k]
        for p in range(pattern_indptr[i], pattern_indptr[i + 1]):
            j = pattern_indices[p]
            product = 0.0
            for k in range(indptr[j], indptr[j + 1]):
                product += data[k] * spread[indices[k]]
            out[p] = abs(product)
        for k in range(indptr[i], indptr[i + 1]):
            spread[indices[k]] = 0.0
