"""Copies among samples and atoms: each is solved once.

k equal atoms share their coefficient equally: for their sum t, ‖z‖₁ + λ‖z‖² is at least
|t| + λt²/k, which is reached by t/k each. One atom with the ridge of t divided by k stands for
them. With λ = 0 any division with the signs of t is optimal, and the same one is chosen. A sample
that has copies keeps all but itself. The optimality conditions of equal atoms are equal, so that
certificates over the distinct atoms are those over all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg.preprocessing._arrays import first_equal
from enhg.representation._rows import SolvedRows


@dataclass(frozen=True, eq=False)
class Copies:
    """Rows of an array by the distinct ones among them.

    Attributes
    ----------
    distinct : ndarray of int of shape (n_distinct,)
        The first of every set of equal rows, in their order.
    places : ndarray of int of shape (n_rows,)
        The place of every row, or of the one that it equals, among the distinct ones.
    """

    distinct: NDArray
    places: NDArray

    @classmethod
    def among(cls, X: NDArray) -> Copies:
        """Find equal rows."""
        distinct, places = np.unique(first_equal(X), return_inverse=True)
        return cls(distinct, places)

    @property
    def exist(self) -> bool:
        return len(self.distinct) < len(self.places)

    @property
    def counts(self) -> NDArray:
        """How many rows each distinct one stands for, in float64."""
        return np.bincount(self.places).astype(np.float64)

    def of(self, X: NDArray) -> NDArray:
        """The distinct rows; X itself if there are no others."""
        return X[self.distinct] if self.exist else X


def expand(rows: SolvedRows, samples: Copies, atoms: Copies, *, excluded: bool) -> SolvedRows:
    """Return rows of distinct samples over distinct atoms as rows of all over all.

    Parameters
    ----------
    rows : SolvedRows
    samples, atoms : Copies
    excluded : bool
        Whether samples are the atoms, and excluded from their own rows.
    """
    if not (samples.exist or atoms.exist):
        return rows
    Z = rows.coefficients
    left = atoms.counts[Z.indices]
    if excluded:
        left -= Z.indices == np.repeat(np.arange(Z.shape[0]), np.diff(Z.indptr))
    shares = sparse.csr_array((Z.data / left, Z.indices, Z.indptr), shape=Z.shape)
    n_atoms = len(atoms.places)
    members = sparse.csc_array((np.ones(n_atoms), atoms.places, np.arange(n_atoms + 1)))
    wide = sparse.csr_array(shares @ members.tocsr())
    wide.sort_indices()
    expanded = replace(rows, coefficients=wide).take(samples.places)
    if excluded:
        _remove_own(expanded.coefficients, wide, samples.places)
    return expanded


def _remove_own(Z: sparse.csr_array, wide: sparse.csr_array, places: NDArray) -> None:
    """Remove the coefficient of every sample for itself, in place: Z may be nearly full.

    Parameters
    ----------
    Z : csr_array of shape (n_samples, n_samples)
        ``wide[places]``.
    wide : csr_array of shape (n_distinct, n_samples)
        With sorted indices.
    places : ndarray of int of shape (n_samples,)
    """
    n_distinct, n = wide.shape
    entries = np.repeat(np.arange(n_distinct) * n, np.diff(wide.indptr)) + wide.indices
    own = places * n + np.arange(n)
    at = np.searchsorted(entries, own)
    there = np.append(entries, -1)[at] == own
    Z.data[(Z.indptr[:-1] + at - wide.indptr[places])[there]] = 0
    Z.eliminate_zeros()
