"""Compiled loops: the order of samples in which neighbors are consecutive, and the way back."""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from enhg._numba import kernel


@kernel(nogil=True)
def order_by_links(nearest, size):
    """Return the samples in an order that fills groups of `size`, one after the other.

    The next sample of a group is the one to which most samples of the group link, and the first of
    the next group the one to which most of this group do. Where no sample is left to which they
    link, it is the first in the order of the samples.

    Parameters
    ----------
    nearest : ndarray of int of shape (n_samples, n_nearest)
        The samples to which each links; negative for none.
    size : int

    Returns
    -------
    ndarray of int of shape (n_samples,)
    """
    n, n_nearest = nearest.shape
    order, placed = np.empty(n, np.int64), np.zeros(n, np.bool_)
    links = np.zeros(n, np.int64)  # from the group to every sample that is not placed
    reached = np.empty(size * n_nearest, np.int64)  # samples with such links
    n_reached, first = 0, 0
    for position in range(n):
        best = -1
        for place in range(n_reached):
            if best < 0 or links[reached[place]] > links[reached[best]]:
                best = place
        if best >= 0:
            sample = reached[best]
            n_reached -= 1
            reached[best] = reached[n_reached]
        else:
            while placed[first]:
                first += 1
            sample = first
        order[position], placed[sample] = sample, True
        if position % size == 0:
            for place in range(n_reached):
                links[reached[place]] = 0
            n_reached = 0
        for k in range(n_nearest):
            other = nearest[sample, k]
            if other >= 0 and not placed[other]:
                if links[other] == 0:
                    reached[n_reached] = other
                    n_reached += 1
                links[other] += 1
    return order


@kernel(nogil=True)
def copy_rows(indptr, indices, data, rows, all_indptr, all_indices, all_data):
    """Copy the rows of a CSR matrix to the given rows of a larger one, whose `indptr` is known."""
    for i in range(rows.shape[0]):
        shift = all_indptr[rows[i]] - indptr[i]
        for k in range(indptr[i], indptr[i + 1]):
            all_indices[k + shift] = indices[k]
            all_data[k + shift] = data[k]
