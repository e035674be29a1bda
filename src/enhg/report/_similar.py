"""Nearest images of every image."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg.preprocessing._arrays import inverse_lengths

SIMILAR = 12
_MOST_COMPARED = 20_000**2  # pairs of samples up to which all are compared
_BLOCK = 2**23  # cosines computed at once


def nearest(samples: NDArray, members: sparse.csr_array) -> list[list[int]]:
    """Samples of the largest cosines that fill the similar images of every sample up to 12.

    The members of the hyperedge of a sample with positive coefficients are similar to it already;
    they are left out.

    Parameters
    ----------
    samples : ndarray of shape (n_samples, n_features)
        Preprocessed samples.
    members : csr_array of shape (n_samples, n_samples)
        Coefficients of the members of the hyperedge of every sample.

    Returns
    -------
    list of list of int
        In order of decreasing cosine; empty lists for more than 20 000 samples.
    """
    n = len(samples)
    known = sparse.csr_array(members > 0)
    missing = np.maximum(min(SIMILAR, n - 1) - np.diff(known.indptr), 0)
    return _largest_cosines(samples, samples, known + sparse.eye_array(n, dtype=bool), missing)


def nearest_fitted(samples: NDArray, fitted: NDArray) -> list[list[int]]:
    """The 12 samples of a model of the largest cosines with every new sample.

    Parameters
    ----------
    samples : ndarray of shape (n_new, n_features)
        Preprocessed new samples.
    fitted : ndarray of shape (n_samples, n_features)
        Preprocessed samples of the model.

    Returns
    -------
    list of list of int
        Rows of `fitted` in order of decreasing cosine; empty lists for more pairs than 20 000².
    """
    shape = (len(samples), len(fitted))
    counts = np.full(len(samples), min(SIMILAR, len(fitted)))
    return _largest_cosines(samples, fitted, sparse.csr_array(shape, dtype=bool), counts)


def _largest_cosines(
    samples: NDArray, others: NDArray, excluded: sparse.csr_array, counts: NDArray
) -> list[list[int]]:
    """For every sample as many of the others as `counts` says, without the excluded ones."""
    n, most = len(samples), int(counts.max(initial=0))
    if n * len(others) > _MOST_COMPARED or most == 0:
        return [[] for _ in range(n)]
    units = _units(others)
    lists: list[list[int]] = []
    for block in np.array_split(np.arange(n), ceil(n * len(others) / _BLOCK)):
        cosines = _units(samples[block]) @ units.T
        left_out = sparse.coo_array(excluded[block])
        cosines[left_out.row, left_out.col] = -np.inf
        at = np.arange(len(block))[:, None]
        first = np.argpartition(-cosines, most - 1, axis=1)[:, :most]
        ranked = first[at, np.argsort(-cosines[at, first], axis=1, kind="stable")]
        lists += [row[:count].tolist() for row, count in zip(ranked, counts[block], strict=True)]
    return lists


def _units(samples: NDArray) -> NDArray[np.float32]:
    return (samples * inverse_lengths(samples)[:, None]).astype(np.float32)
