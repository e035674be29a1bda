"""Outlier scores: how far a sample is from the members of its hyperedge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg.preprocessing._arrays import first_equal, inverse_lengths

_PAIRS_AT_ONCE, _ROWS_AT_ONCE, _COSINES_AT_ONCE = 10_000, 500, 50_000_000


def largest_cosines(
    samples: NDArray, dictionary: NDArray, members: sparse.csr_array, *, held_out: bool
) -> NDArray:
    """maxⱼ |cos(xᵢ, aⱼ)| over the members j of hyperedge i, or over all j ≠ i if it has none.

    Parameters
    ----------
    samples : ndarray of shape (n_samples, n_features)
        X.
    dictionary : ndarray of shape (n_atoms, n_features)
        A.
    members : csr_array of shape (n_samples, n_atoms)
        The stored entries of row i are the members; their values are not used.
    held_out : bool
        Whether the dictionary is X itself, and atom i is left out for sample i.

    Returns
    -------
    ndarray of shape (n_samples,)
    """
    scale, atom_scale = inverse_lengths(samples), inverse_lengths(dictionary)
    largest = np.zeros(len(samples))
    counts = np.diff(members.indptr)
    for block in np.array_split(np.flatnonzero(counts), members.nnz // _PAIRS_AT_ONCE + 1):
        row, atom = np.repeat(block, counts[block]), members[block].indices
        products = np.abs(np.einsum("ij,ij->i", samples[row], dictionary[atom]))
        np.maximum.at(largest, row, products * scale[row] * atom_scale[atom])
    empty = np.flatnonzero(counts == 0)
    rows_at_once = np.clip(_COSINES_AT_ONCE // len(dictionary), 1, _ROWS_AT_ONCE)
    for block in np.array_split(empty, len(empty) // rows_at_once + 1):
        cosines = np.abs(samples[block] @ dictionary.T) * atom_scale * scale[block, None]
        if held_out:
            cosines[np.arange(len(block)), block] = 0
        largest[block] = cosines.max(axis=1)
    return np.minimum(largest, 1)


def largest_entries(samples: NDArray) -> NDArray:
    """maxₖ |xᵢₖ|/‖xᵢ‖: the largest |cosine| of a sample with a unit vector."""
    peaks = np.maximum(samples.max(axis=1), -samples.min(axis=1))
    return peaks * inverse_lengths(samples)


def copies_without_direction(
    X: NDArray, samples: NDArray, others: tuple[NDArray, NDArray] | None
) -> NDArray[np.bool_]:
    """Which samples have no direction, so that no cosine shows it, and are copies of others.

    Parameters
    ----------
    X, samples : ndarray of shape (n_samples, n_features)
        Samples before and after preprocessing; constant ones, for example, may be 0 after it.
    others : (ndarray, ndarray) of shape (n_atoms, n_features), or None
        The same of the samples that they are compared with; None for each other.

    Returns
    -------
    ndarray of bool of shape (n_samples,)
    """
    copies = inverse_lengths(samples) == 0
    if others is None:
        firsts = first_equal(X[copies])
        copies[copies] = np.bincount(firsts)[firsts] > 1
    else:
        stored = others[0][inverse_lengths(others[1]) == 0]
        firsts = first_equal(np.vstack([stored, X[copies]]))[len(stored) :]
        copies[copies] = firsts < len(stored)
    return copies
