"""Solution of samples in groups, each on the few atoms that are candidates for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg.representation import _kernels
from enhg.representation._blocks import (
    FIRST_WORKING_SET,
    Dictionary,
    block_at_zero,
    correlations_of_rounding,
    largest_correlations,
    row_norms,
    shared_by,
    solve_block,
    solved_rows,
)
from enhg.representation._order_kernels import copy_rows
from enhg.representation._rows import SolvedRows
from enhg.representation._threads import ThreadTeam
from enhg.representation.problem import Problem

_CAPACITY = 160  # atoms of a working set: nearly all are smaller


@dataclass(frozen=True, eq=False)
class Groups:
    """Consecutive samples in groups, with the atoms of each group.

    Attributes
    ----------
    rows : ndarray of int of shape (n_groups + 1,)
        Where the samples of every group start, and where the last one ends.
    columns : ndarray of int
        The atoms of one group after the other, sorted within each.
    starts : ndarray of int of shape (n_groups + 1,)
        Where the atoms of every group start in `columns`, and where the last one ends.
    """

    rows: NDArray
    columns: NDArray
    starts: NDArray

    @classmethod
    def of_nearest(cls, nearest: NDArray, size: int) -> Groups:
        """Groups of `size` samples, each with all atoms nearest to one of them; −1 is no atom."""
        n, count = nearest.shape
        n_groups = -(-n // size)
        padded = np.full((n_groups * size, count), -1, nearest.dtype)
        padded[:n] = nearest
        atoms = np.sort(padded.reshape(n_groups, -1), axis=1)
        is_first = atoms >= 0
        is_first[:, 1:] &= atoms[:, 1:] != atoms[:, :-1]
        rows = np.minimum(np.arange(n_groups + 1) * size, n)
        starts = np.concatenate([[0], np.cumsum(is_first.sum(axis=1))])
        return cls(rows, atoms[is_first].astype(np.int64), starts)

    def __iter__(self) -> Iterator[tuple[slice, slice]]:
        """The samples and the atoms of every group."""
        edges = zip(self.rows[:-1], self.rows[1:], self.starts[:-1], self.starts[1:], strict=True)
        return ((slice(a, b), slice(c, d)) for a, b, c, d in edges)

    @property
    def of_samples(self) -> NDArray:
        """The group of every sample."""
        return np.repeat(np.arange(len(self.rows) - 1), np.diff(self.rows))

    def places(self, atoms: NDArray, n_atoms: int) -> NDArray:
        """For one atom of every sample, its place within the group; −1 where it is not there."""
        of_atoms = np.repeat(np.arange(len(self.rows) - 1), np.diff(self.starts))
        keys, wanted = of_atoms * n_atoms + self.columns, self.of_samples * n_atoms + atoms
        places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        present = (keys[places] == wanted) & (atoms >= 0)
        return np.where(present, places - self.starts[self.of_samples], -1)


@dataclass(frozen=True, eq=False)
class GroupProblem:
    """The elastic nets of samples in groups.

    Attributes
    ----------
    samples : ndarray of shape (n_samples, n_features)
    excluded : ndarray of shape (n_samples,)
        The place in its group of the atom that is excluded for each sample; −1 for none.
    atoms : ndarray of shape (len(groups.columns), n_features)
        The atoms of one group after the other.
    counts : ndarray of shape (len(groups.columns),)
        Equal atoms that each of these stands for.
    groups : Groups
    problem : Problem
    tol : float
    error_weight : float
        γₑ of sparse errors; 0 for none.
    """

    samples: NDArray
    excluded: NDArray
    atoms: NDArray
    counts: NDArray
    groups: Groups
    problem: Problem
    tol: float
    error_weight: float

    def solve(self, n_atoms: int, team: ThreadTeam) -> SolvedRows:
        """Solve all samples; `groups.columns` are some of `n_atoms` atoms.

        Samples are prepared together, and each is solved with the Gram matrix of its group. Those
        that this does not finish, as their supports are large or their correlations are those of
        rounding, are solved as blocks of their own, and so are all where there are sparse errors.
        """
        if self.error_weight:
            return SolvedRows.stack(
                self._solve_alone(np.arange(rows.start, rows.stop), atoms, n_atoms, team)
                for rows, atoms in self.groups
            )
        block = self._solve_together()
        starts = self.groups.starts[self.groups.of_samples]
        widest = int(np.diff(self.groups.starts).max())
        solved = solved_rows(block, widest).over(self.groups.columns, starts, n_atoms)
        finished = (block.status == _kernels.OPTIMAL) | (block.status == _kernels.INACCURATE)
        if finished.all():
            return solved
        for rows, atoms in self.groups:
            left = rows.start + np.flatnonzero(~finished[rows])
            if len(left):
                again = self._solve_alone(left, atoms, n_atoms, team)
                solved = solved.replace(left, again)
        return solved

    def _solve_together(self) -> _kernels.Block:
        """Solve the samples as far as the Gram matrix of their group goes."""
        norms, lengths = row_norms(self.atoms), row_norms(self.samples)
        correlations = [self.samples[rows] @ self.atoms[atoms].T for rows, atoms in self.groups]
        dictionaries = [
            Dictionary(own, own @ own.T, norms[atoms], self.counts[atoms])
            for own, atoms in ((self.atoms[atoms], atoms) for _, atoms in self.groups)
        ]
        parts = list(zip(correlations, dictionaries, self.groups, strict=True))
        critical = np.concatenate(
            [
                largest_correlations(products, dictionary.without(self.excluded[rows]))
                for products, dictionary, (rows, _) in parts
            ]
        )
        capacity = min(int(np.diff(self.groups.starts).max()), _CAPACITY)
        block = block_at_zero(
            self.samples, self.excluded, critical, lengths, self.problem, correlations[0], capacity
        )
        limits = correlations_of_rounding(lengths, self.samples.dtype)
        in_rounding = critical <= norms.max() * limits
        workspace = _kernels.workspace(self.atoms, capacity)
        for products, dictionary, (rows, _) in parts:
            part = _kernels.Block(*(array[rows] for array in block))._replace(
                correlations=products, correlation_rows=np.arange(len(products))
            )
            new = np.flatnonzero((part.status == _kernels.NEW) & ~in_rounding[rows])
            shared = shared_by(dictionary, self.problem, self.tol)
            first_size = min(FIRST_WORKING_SET, len(dictionary.atoms))
            _kernels.solve(new, workspace, shared, part, first_size)
        return block

    def _solve_alone(
        self, rows: NDArray, atoms: slice, n_atoms: int, team: ThreadTeam
    ) -> SolvedRows:
        """Solve some samples of a group as a block."""
        own = self.atoms[atoms]
        gram = own @ own.T if not self.error_weight else own[:0, :0]
        dictionary = Dictionary(own, gram, row_norms(own), self.counts[atoms], self.error_weight)
        width = len(own) + (own.shape[1] if self.error_weight else 0)
        buffer = np.empty((max(2, 2 * len(rows)), width), own.dtype)
        solved = solve_block(
            self.samples[rows], self.excluded[rows], dictionary, self.problem, self.tol, buffer,
            team,
        )  # fmt: skip
        return solved.over(self.groups.columns, atoms.start, n_atoms)


def stack_in_order(parts: list[SolvedRows], order: NDArray) -> SolvedRows:
    """Stack rows, of which number i becomes row order[i] of the result."""
    position, errors = np.argsort(order), [part.errors for part in parts]
    return SolvedRows(
        _stack_matrices([part.coefficients for part in parts], order),
        np.concatenate([part.certificate for part in parts])[position],
        np.concatenate([part.l1 for part in parts])[position],
        np.concatenate([part.ridge for part in parts])[position],
        np.concatenate([part.at_floor for part in parts])[position],
        None if errors[0] is None else _stack_matrices(errors, order),
    )


def _stack_matrices(parts: list, order: NDArray) -> sparse.csr_array:
    """Stack CSR matrices in an order of their rows, without a copy of all in another."""
    width = parts[0].shape[1]
    sizes = np.empty(len(order), np.int64)
    sizes[order] = np.concatenate([np.diff(part.indptr) for part in parts])
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    indptr = indptr.astype(sparse.get_index_dtype(maxval=max(width, int(indptr[-1]))))
    indices, data = np.empty(indptr[-1], indptr.dtype), np.empty(indptr[-1])
    start = 0
    for part in parts:
        rows = order[start : start + part.shape[0]]
        copy_rows(part.indptr, part.indices, part.data, rows, indptr, indices, data)
        start += part.shape[0]
    return sparse.csr_array((data, indices, indptr), shape=(len(order), width))
