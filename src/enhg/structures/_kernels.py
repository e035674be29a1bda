"""Compiled loops over the rows of sparse matrices."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from enhg._numba import kernel


@kernel(nogil=True)
def products_on_pattern(
    first, last, indptr, indices, data, n_columns, pattern_indptr, pattern_indices, products
):
    """products[p] = |⟨zᵢ, zⱼ⟩| for entries p = (i, j) of a CSR pattern; zᵢ is CSR row i.

    i goes from `first` to `last` − 1. Row i is scattered to a dense vector once and multiplied with
    the sparse rows j of its pattern, so the n×n matrix of all products is never formed.
    """
    row = np.zeros(n_columns)
    for i in range(first, last):
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


@kernel(nogil=True)
def ranks(first, last, indptr, data, out):
    """out[p] = the number of entries of the CSR row of p that are larger, or equal and before p.

    Rows go from `first` to `last` − 1.
    """
    for i in range(first, last):
        start, stop = indptr[i], indptr[i + 1]
        order = np.argsort(-data[start:stop], kind="mergesort")
        for rank in range(stop - start):
            out[start + order[rank]] = rank
