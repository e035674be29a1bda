"""Choice of the samples of a page: all of a few, and of many the most informative."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg.report._results import Results

MOST_PICTURED = 2500  # by tiles of the page; photographs are files beside it
_MOST_LISTED = 20_000
_TYPICAL, _LOW_CONFIDENCE, _RANDOM = 0.15, 0.15, 0.2  # shares of the pictures, over all groups
_MOST_EXTREME = 100  # largest outlier scores


@dataclass(frozen=True, eq=False)
class Selection:
    """Rows of the samples on the page: those with pictures come first.

    Attributes
    ----------
    rows : ndarray of int
        The samples whose figures are on the page; the page refers to a sample by its position
        here.
    n_pictured : int
        Number of samples, from the first, that have a picture and a hyperedge on the page.
    members : csr_array of shape (n_samples, n_samples)
        `member_coefficients_` of the structure; without entries for new samples.
    """

    rows: NDArray
    n_pictured: int
    members: sparse.csr_array

    @property
    def pictured(self) -> NDArray:
        """Rows of the samples with pictures."""
        return self.rows[: self.n_pictured]

    @property
    def position(self) -> NDArray:
        """Position of every sample on the page, −1 for those that are not on it."""
        position = np.full(self.members.shape[0], -1)
        position[self.rows] = np.arange(len(self.rows))
        return position


def select(
    results: Results, members: sparse.csr_array, wanted: NDArray, *, photographs: bool
) -> Selection:
    """Choose the samples of a page.

    Parameters
    ----------
    results : Results
    members : csr_array of shape (n_samples, n_samples)
        `member_coefficients_` of the structure; without entries for new samples.
    wanted : ndarray of int
        Rows that come first in a choice, as far as there is space for half of the pictures.
    photographs : bool
        Whether all samples that are listed have a picture, as photographs have.
    """
    n = len(results.group)
    rng = np.random.default_rng(0)
    pictured = np.arange(n)
    most = _MOST_LISTED if photographs else MOST_PICTURED
    if n > most:
        pictured = np.sort(_most_informative(results, members, wanted, most, rng))
    rest = np.setdiff1d(np.arange(n), pictured)
    if n > _MOST_LISTED:
        linked = np.setdiff1d(members[pictured].indices, pictured)
        rest = _first_unique(linked, rng.permutation(rest), most=_MOST_LISTED - len(pictured))
    return Selection(np.concatenate([pictured, rest]), len(pictured), members)


def _most_informative(
    results: Results,
    members: sparse.csr_array,
    wanted: NDArray,
    most: int,
    rng: np.random.Generator,
) -> NDArray:
    """Outliers, samples of high, low and random confidence of every group, and their members."""
    n, columns = len(results.group), results.columns

    def from_every_group(key: NDArray, share: float) -> NDArray:
        return _in_turn(results.group, key)[: int(share * most)]

    chosen = _first_unique(
        wanted[: most // 2],
        np.argsort(-columns.outlier_scores, kind="stable")[:_MOST_EXTREME],
        np.flatnonzero(columns.low_confidence),
        from_every_group(-columns.confidence, _TYPICAL),
        from_every_group(columns.confidence, _LOW_CONFIDENCE),
        most=most,
    )
    random = from_every_group(rng.random(n), 1.0)
    edges = members[chosen]
    by_size = edges.indices[np.argsort(-np.abs(edges.data), kind="stable")]
    some = random[: int(_RANDOM * most)]
    return _first_unique(chosen, some, by_size, random, rng.permutation(n), most=most)


def _in_turn(group: NDArray, key: NDArray) -> NDArray:
    """All samples: the first of every group by the key, then the second of every group, …"""
    order = np.lexsort((key, group))
    starts = np.searchsorted(group[order], group[order])
    rank = np.arange(len(group)) - starts
    return order[np.argsort(rank, kind="stable")]


def _first_unique(*rows: NDArray, most: int) -> NDArray:
    """The first `most` distinct rows, in order."""
    together = np.concatenate(rows)
    _, first = np.unique(together, return_index=True)
    return together[np.sort(first)[:most]]
