"""Rows of coefficients that are solved, with all that is known of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg._npz import State, require_array, require_sparse, require_value


@dataclass(frozen=True, eq=False)
class SolvedRows:
    """Rows of Z.

    Attributes
    ----------
    coefficients : csr_array of shape (n_rows, n_atoms)
    certificate, l1, ridge : ndarray of shape (n_rows,)
    at_floor : ndarray of bool of shape (n_rows,)
        Rows of the norm loss whose residual counts as longer than it is.
    errors : csr_array of shape (n_rows, n_features) or None
        Sparse errors, if there are any.
    """

    coefficients: sparse.csr_array
    certificate: NDArray
    l1: NDArray
    ridge: NDArray
    at_floor: NDArray
    errors: sparse.csr_array | None = None

    def finite(self) -> SolvedRows:
        """Return these rows with zeros, and an infinite certificate, for those not finite."""
        wrong = ~np.isfinite(self.certificate)
        for matrix in (self.coefficients, self.errors):
            if matrix is not None and not np.isfinite(matrix.data).all():
                entries = np.flatnonzero(~np.isfinite(matrix.data))
                wrong[np.searchsorted(matrix.indptr, entries, side="right") - 1] = True
        if not wrong.any():
            return self
        zeroed = [
            None if matrix is None else _without_rows(matrix, wrong)
            for matrix in (self.coefficients, self.errors)
        ]
        certificate = np.where(wrong, np.inf, self.certificate)
        return replace(self, coefficients=zeroed[0], certificate=certificate, errors=zeroed[1])

    def replace(self, positions: NDArray, other: SolvedRows) -> SolvedRows:
        """Return these rows with those at `positions` taken from `other`."""
        order = np.arange(len(self.l1))
        order[positions] = len(order) + np.arange(len(positions))
        return SolvedRows.stack([self, other]).take(order)

    def take(self, order: NDArray) -> SolvedRows:
        """Return the rows in another order."""
        return SolvedRows(
            self.coefficients[order],
            self.certificate[order],
            self.l1[order],
            self.ridge[order],
            self.at_floor[order],
            None if self.errors is None else self.errors[order],
        )

    def over(self, columns: NDArray, starts: NDArray | int, n_atoms: int) -> SolvedRows:
        """Return rows over some of the atoms as rows over all of them.

        Parameters
        ----------
        columns : ndarray of int
            Atoms, sorted among those of a row.
        starts : ndarray of int of shape (n_rows,) or int
            Where the atoms of a row start in `columns`.
        n_atoms : int
        """
        Z, kind = self.coefficients, sparse.get_index_dtype(maxval=n_atoms)
        if isinstance(starts, np.ndarray):
            starts = np.repeat(starts, np.diff(Z.indptr))
        indices = columns.astype(kind).take(Z.indices + starts)
        wide = sparse.csr_array((Z.data, indices, Z.indptr), shape=(Z.shape[0], n_atoms))
        return replace(self, coefficients=wide)

    def split(self, n_atoms: int, unit: float) -> SolvedRows:
        """Return rows over the atoms [A, unit·I] as coefficients of A and sparse errors."""
        return replace(
            self,
            coefficients=sparse.csr_array(self.coefficients[:, :n_atoms]),
            errors=sparse.csr_array(self.coefficients[:, n_atoms:]) * unit,
        )

    def to_state(self) -> State:
        """Everything that `from_state` needs."""
        return {
            "coefficients": self.coefficients,
            "certificate": self.certificate,
            "l1": self.l1,
            "ridge": self.ridge,
            "at_floor": self.at_floor,
            "errors": self.errors,
        }

    @classmethod
    def from_state(cls, state: State, shape: tuple[int, int]) -> SolvedRows:
        """Make rows of coefficients of a shape from the state of others."""
        n, errors = shape[0], require_value(state, "errors")
        return cls(
            require_sparse(state, "coefficients", shape),
            require_array(state, "certificate", (n,), "f", finite=False),
            require_array(state, "l1", (n,), "f"),
            require_array(state, "ridge", (n,), "f"),
            require_array(state, "at_floor", (n,), "b"),
            None if errors is None else require_sparse(state, "errors", (n, None)),
        )

    @classmethod
    def stack(cls, parts: Iterable[SolvedRows]) -> SolvedRows:
        parts = list(parts)
        if len(parts) == 1:
            return parts[0]
        errors = [part.errors for part in parts if part.errors is not None]
        return cls(
            _stack([part.coefficients for part in parts]),
            np.concatenate([part.certificate for part in parts]),
            np.concatenate([part.l1 for part in parts]),
            np.concatenate([part.ridge for part in parts]),
            np.concatenate([part.at_floor for part in parts]),
            _stack(errors) if errors else None,
        )


def _stack(parts: list[sparse.csr_array]) -> sparse.csr_array:
    return sparse.csr_array(sparse.vstack(parts, format="csr"))


def _without_rows(matrix: sparse.csr_array, left_out: NDArray) -> sparse.csr_array:
    """A matrix with zeros in some rows."""
    sizes = np.diff(matrix.indptr)
    kept = np.repeat(~left_out, sizes)
    indptr = np.concatenate([[0], np.cumsum(np.where(left_out, 0, sizes))])
    return sparse.csr_array((matrix.data[kept], matrix.indices[kept], indptr), shape=matrix.shape)
