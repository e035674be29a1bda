"""Nearest images of every image."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg.preprocessing._arrays import inverse_lengths

SIMILAR = 12
_MOST_COMPARED = 20_000  # samples up to which all pairs are compared
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
    if n > _MOST_COMPARED:
        return [[] for _ in range(n)]
    units = (samples * inverse_lengths(samples)[:, None]).astype(np.float32)
    count = min(SIMILAR, n - 1)
    lists: list[list[int]] = []
    for block in np.array_split(np.arange(n), ceil(n * n / _BLOCK)):
        cosines = units[block] @ units.T
        at = np.arange(len(block))
        known = sparse.coo_array(members[block])
        positive = known.data > 0
        cosines[known.row[positive], known.col[positive]] = -np.inf
        cosines[at, block] = -np.inf
        missing = np.maximum(count - np.bincount(known.row[positive], minlength=len(block)), 0)
        first = np.argpartition(-cosines, count - 1, axis=1)[:, :count]
        order = np.argsort(-cosines[at[:, None], first], axis=1, kind="stable")
        ranked = first[at[:, None], order]
        lists += [row[:most].tolist() for row, most in zip(ranked, missing, strict=True)]
    return lists
