"""Solution of one block of samples: working sets, their extension and the optimality check."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg.representation import _kernels
from enhg.representation._threads import ThreadTeam
from enhg.representation.problem import SIGMA_FLOOR, Problem

FIRST_CAPACITY = 512  # atoms of a working set for which memory is allocated at first
KEPT_PRODUCTS = 160  # atoms of a working set whose Gram matrix is kept where no whole one is
_FIRST_WORKING_SET = 32
_ROWS_AT_ONCE = 32
_ORTHOGONAL = 4  # units of rounding below which a correlation counts as zero


@dataclass(frozen=True, eq=False)
class Dictionary:
    """The atoms with what is computed from them once.

    Attributes
    ----------
    atoms : ndarray of shape (n_atoms, n_features)
    gram : ndarray of shape (n_atoms, n_atoms) or (0, 0)
        Gram matrix of the atoms; empty if it does not fit the memory budget.
    norms : ndarray of shape (n_atoms,)
    """

    atoms: NDArray
    gram: NDArray
    norms: NDArray


@dataclass(frozen=True, eq=False)
class SolvedRows:
    """Rows of Z with their certificates and penalties."""

    coefficients: sparse.csr_array
    certificate: NDArray
    l1: NDArray
    ridge: NDArray

    def replace(self, positions: NDArray, other: SolvedRows) -> SolvedRows:
        """Return these rows with those at `positions` taken from `other`."""
        order = np.arange(len(self.l1))
        order[positions] = len(order) + np.arange(len(positions))
        both = SolvedRows.stack([self, other])
        return SolvedRows(
            both.coefficients[order], both.certificate[order], both.l1[order], both.ridge[order]
        )

    @classmethod
    def stack(cls, parts: Iterable[SolvedRows]) -> SolvedRows:
        parts = list(parts)
        return cls(
            sparse.csr_array(sparse.vstack([part.coefficients for part in parts], format="csr")),
            np.concatenate([part.certificate for part in parts]),
            np.concatenate([part.l1 for part in parts]),
            np.concatenate([part.ridge for part in parts]),
        )


def solve_block(
    samples: NDArray,
    excluded: NDArray,
    dictionary: Dictionary,
    problem: Problem,
    tol: float,
    buffer: NDArray,
    team: ThreadTeam,
) -> SolvedRows:
    """Solve the elastic nets of a block of samples.

    The result is a pure function of samples, excluded, dictionary, problem and tol: it depends
    neither on other blocks nor, up to rounding within `tol`, on the threads.

    Parameters
    ----------
    samples : ndarray of shape (n_rows, n_features)
    excluded : ndarray of shape (n_rows,)
        The atom whose coefficient is zero for each sample; −1 for none.
    dictionary : Dictionary
    problem : Problem
    tol : float
    buffer : ndarray of shape (at least n_rows, n_atoms)
        Overwritten with correlations.
    team : ThreadTeam

    Notes
    -----
    A working set starts with the atoms of the largest correlations with the sample. It is solved,
    checked against all atoms and extended by the worst violators until there are none. With the
    Gram matrix a sample completes these rounds on its own. Without it the correlations of all
    atoms with the residuals of all unfinished samples are one matrix product per round.
    """
    n_atoms = len(dictionary.atoms)
    shared = _shared(dictionary, problem, tol)
    block = _open_block(samples, excluded, dictionary, problem, buffer[: len(samples)], team)
    first_size = min(_FIRST_WORKING_SET, n_atoms)
    while True:
        rows = _unfinished(block)
        make_workspace = partial(_kernels.workspace, shared, block.working_sets.shape[1])
        team.run_kernel(_kernels.solve, rows, make_workspace, shared, block, first_size)
        rows = _unfinished(block)
        if len(rows) == 0:
            return _solved_rows(block)
        team.multiply(block.residuals[rows], dictionary.atoms, buffer[: len(rows)])
        block.correlation_rows[rows] = np.arange(len(rows))
        block = _widened(block, n_atoms)


def row_norms(X: NDArray) -> NDArray:
    return np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64))


def row_slices(n: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def _shared(dictionary: Dictionary, problem: Problem, tol: float) -> _kernels.Shared:
    atoms = dictionary.atoms
    return _kernels.Shared(
        atoms=_read_only(atoms),
        gram=_read_only(dictionary.gram),
        max_norm=float(dictionary.norms.max()),
        product_error=(atoms.shape[1] + 2) * float(np.finfo(atoms.dtype).eps),
        lam=float(problem.lam),
        norm_loss=problem.loss == "norm",
        tol=float(tol),
    )


def _open_block(
    samples: NDArray,
    excluded: NDArray,
    dictionary: Dictionary,
    problem: Problem,
    correlations: NDArray,
    team: ThreadTeam,
) -> _kernels.Block:
    """Return the block at z = 0, which is final for samples that correlate with no atom."""
    n, m = len(samples), len(dictionary.atoms)
    critical = _correlate_samples(samples, excluded, dictionary, correlations, team)
    norms = row_norms(samples)
    uncorrelated = critical == 0
    if problem.gamma_scale == "relative":
        uncorrelated |= _orthogonal(critical, norms, correlations, dictionary)
        critical[uncorrelated] = 0
    gammas = problem.gammas(critical, norms)
    floors = np.where(norms > 0, SIGMA_FLOOR * norms, 1.0)
    scales = np.maximum(norms, floors) if problem.loss == "norm" else np.ones(n)
    capacity, kept = min(m, FIRST_CAPACITY), min(m, KEPT_PRODUCTS)
    return _kernels.Block(
        samples=_read_only(samples),
        excluded=excluded,
        gammas=gammas,
        floors=floors,
        status=np.where(uncorrelated, _kernels.OPTIMAL, _kernels.NEW),
        residuals=np.empty_like(samples),
        correlations=correlations,
        correlation_rows=np.arange(n),
        working_sets=np.zeros((n, capacity), np.int64),
        sizes=np.zeros(n, np.int64),
        kept_products=np.empty((0 if len(dictionary.gram) else n, kept, kept), samples.dtype),
        n_kept=np.zeros(n, np.int64),
        coefficients=np.zeros((n, capacity)),
        l1=scales / gammas,
        ridge=2 * problem.lam * scales / gammas,
        loosely_solved=np.zeros(n, bool),
        certificates=np.zeros(n),
    )


def _correlate_samples(
    samples: NDArray,
    excluded: NDArray,
    dictionary: Dictionary,
    correlations: NDArray,
    team: ThreadTeam,
) -> NDArray:
    """Compute the correlations of all atoms but the excluded with the samples.

    Returns the largest |correlation| of every sample.
    """
    critical = np.empty(len(samples))
    # Samples that are the atoms excluded for them have their products in the Gram matrix.
    stored = (
        len(dictionary.gram) > 0
        and bool((excluded >= 0).all())
        and np.array_equal(samples, dictionary.atoms[excluded])
    )
    if not stored:
        team.multiply(samples, dictionary.atoms, correlations)

    def prepare(part: slice) -> None:
        rows, own = correlations[part], excluded[part]
        if stored:
            dictionary.gram.take(own, axis=0, out=rows, mode="clip")
        rows[own >= 0, own[own >= 0]] = 0
        critical[part] = np.maximum(rows.max(axis=1), -rows.min(axis=1))

    team.map(prepare, row_slices(len(samples), _ROWS_AT_ONCE))
    return critical


def _orthogonal(
    critical: NDArray, norms: NDArray, correlations: NDArray, dictionary: Dictionary
) -> NDArray:
    """Return which samples have no correlation above rounding, and so no scale of their own."""
    rounding = _ORTHOGONAL * np.finfo(correlations.dtype).eps * norms
    orthogonal = np.zeros(len(critical), bool)
    for i in np.flatnonzero(critical <= rounding * float(dictionary.norms.max())):
        orthogonal[i] = (np.abs(correlations[i]) <= rounding[i] * dictionary.norms).all()
    return orthogonal


def _read_only(array: NDArray) -> NDArray:
    """Return a read-only view: kernels have one signature for it, memory-mapped or not."""
    view = array.view()
    view.flags.writeable = False
    return view


def _unfinished(block: _kernels.Block) -> NDArray:
    return np.flatnonzero((block.status == _kernels.NEW) | (block.status == _kernels.WAITING))


def _widened(block: _kernels.Block, n_atoms: int) -> _kernels.Block:
    """Return the block with wider working sets if one of them cannot double in size."""
    capacity = block.working_sets.shape[1]
    if capacity == n_atoms or 2 * block.sizes.max() <= capacity:
        return block
    padding = ((0, 0), (0, min(n_atoms, 2 * capacity) - capacity))
    return block._replace(
        working_sets=np.pad(block.working_sets, padding),
        coefficients=np.pad(block.coefficients, padding),
    )


def _solved_rows(block: _kernels.Block) -> SolvedRows:
    """Return the solutions as a sparse matrix with sorted indices."""
    used = block.coefficients != 0
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(used, axis=1))])
    Z = sparse.csr_array(
        (block.coefficients[used], block.working_sets[used], indptr),
        shape=block.correlations.shape,
    )
    Z.sort_indices()
    return SolvedRows(Z, block.certificates, block.l1, block.ridge)
