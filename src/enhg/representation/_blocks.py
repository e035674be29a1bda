"""Solution of one block of samples: working sets, their extension and the optimality check."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg.representation import _kernels
from enhg.representation._dual import DualProblem, Spectrum, solve_dual
from enhg.representation._rows import SolvedRows
from enhg.representation._threads import ThreadTeam
from enhg.representation.problem import SIGMA_FLOOR, Problem

FIRST_CAPACITY = 512  # atoms of a working set for which memory is allocated at first
KEPT_PRODUCTS = 160  # atoms of a working set whose Gram matrix is kept where no whole one is
FIRST_WORKING_SET = 32
_FIRST_WITH_ERRORS = 20  # whose products are not stored
_ROWS_AT_ONCE = 32
# Costs of iterations on the residual, see `_dense_size`. Measured with and without them: the times
# are equal at some 200 non-zeros for the 1797 digits of scikit-learn (64 features), and at some 450
# for 4114 embeddings of 512 features.
_DUAL_COST, _PASS_COST = 40, 128
_DENSE_WITH_ERRORS = 0.5  # part of that size with sparse errors, whose working sets cost more
_DUAL_TOL = 0.8  # part of the tolerance that the gradient may take
_LAST_BITS = 1e-12  # by which quotients of kernels may differ from those of NumPy
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
    counts : ndarray of shape (n_atoms,)
        Equal atoms that each stands for, in float64.
    error_weight : float, default=0
        γₑ of the atoms I/γₑ, which follow the others and are not stored; 0 for none.
    """

    atoms: NDArray
    gram: NDArray
    norms: NDArray
    counts: NDArray
    error_weight: float = 0.0

    @cached_property
    def spectrum(self) -> Spectrum:
        return Spectrum.estimate(self.atoms, self.counts)

    def without(self, excluded: NDArray) -> NDArray:
        """The atoms of which none is left for a sample if one is excluded; −1 where some are."""
        return without_copies(excluded, self.counts)

    @cached_property
    def explicit(self) -> Dictionary:
        """The dictionary with the atoms I/γₑ stored like the others."""
        if not self.error_weight:
            return self
        atoms = with_unit_atoms(self.atoms, self.error_weight)
        counts = np.concatenate([self.counts, np.ones(atoms.shape[1])])
        return Dictionary(atoms, self.gram[:0, :0], row_norms(atoms), counts)

    def split(self, rows: SolvedRows) -> SolvedRows:
        """Return rows over the explicit dictionary as rows over this one."""
        if not self.error_weight:
            return rows
        return rows.split(len(self.atoms), length_of_unit_atoms(self.atoms, self.error_weight))


def solve_block(
    samples: NDArray,
    excluded: NDArray,
    dictionary: Dictionary,
    problem: Problem,
    tol: float,
    buffer: NDArray,
    team: ThreadTeam,
    dual: bool = True,
) -> SolvedRows:
    """Solve the elastic nets of a block of samples.

    The result is a pure function of samples, excluded, dictionary, problem and tol: it depends
    neither on other blocks nor, up to rounding within `tol`, on the threads.

    Parameters
    ----------
    samples : ndarray of shape (n_rows, n_features)
    excluded : ndarray of shape (n_rows,)
        The atom that is excluded for each sample, or one of those that it stands for; −1 for none.
    dictionary : Dictionary
    problem : Problem
    tol : float
    buffer : ndarray of shape (at least n_rows and 2, n_atoms)
        Overwritten with correlations. Here the atoms I/γₑ count.
    team : ThreadTeam
    dual : bool, default=True
        Solve samples with large supports by iterations on the residual (`_dual`).

    Notes
    -----
    A working set starts with the atoms of the largest correlations with the sample. It is solved,
    checked against all atoms and extended by the worst violators until there are none. With the
    Gram matrix a sample completes these rounds on its own. Without it the correlations of all
    atoms with the residuals of all unfinished samples are one matrix product per round. Samples
    whose supports are expected to be large are solved together by iterations on the residual; in
    float64, those that do not reach `tol` in this way return to working sets.

    Sparse errors are eliminated on working sets. They are atoms like the others in the iterations
    on the residual and, in float64, for samples that do not reach `tol` otherwise.
    """
    shared = shared_by(dictionary, problem, tol, dual)
    n, m = len(samples), len(dictionary.atoms)
    correlations = buffer.reshape(-1)[: n * m].reshape(n, m)
    block = _open_block(samples, excluded, dictionary, problem, correlations, team)
    block = _solve_working_sets(shared, block, dictionary, team)
    solved, dense = solved_rows(block, m), block.status == _kernels.DENSE
    if dense.any():
        rows = np.flatnonzero(dense)
        solved = solved.replace(rows, _solve_dense(block, rows, dictionary, tol, buffer, team))
    repeated = dense | (dictionary.error_weight > 0)
    failed = np.flatnonzero(repeated & ~(solved.certificate <= tol))
    if len(failed) == 0 or samples.dtype == np.float32:  # which is solved again in float64
        return solved
    explicit = dictionary.explicit
    again = solve_block(
        samples[failed], excluded[failed], explicit, problem, tol, buffer, team, dual=False
    )
    return solved.replace(failed, dictionary.split(again))


def _solve_working_sets(
    shared: _kernels.Shared,
    block: _kernels.Block,
    dictionary: Dictionary,
    team: ThreadTeam,
) -> _kernels.Block:
    """Run rounds until every sample is optimal, dense or inaccurate."""
    n_atoms, errors = len(dictionary.atoms), dictionary.error_weight > 0
    first_size = min(_FIRST_WITH_ERRORS if errors else FIRST_WORKING_SET, n_atoms)
    while True:
        rows = _unfinished(block)
        make_workspace = partial(_kernels.workspace, shared.atoms, block.working_sets.shape[1])
        team.run_kernel(_kernels.solve, rows, make_workspace, shared, block, first_size)
        rows = _unfinished(block)
        if len(rows) == 0:
            return block
        team.multiply(block.residuals[rows], dictionary.atoms, block.correlations[: len(rows)])
        block.correlation_rows[rows] = np.arange(len(rows))
        block = _widened(block, n_atoms)


def _solve_dense(
    block: _kernels.Block,
    rows: NDArray,
    dictionary: Dictionary,
    tol: float,
    buffer: NDArray,
    team: ThreadTeam,
) -> SolvedRows:
    """Solve rows of a block by iterations on the residual."""
    l1, ridge, explicit = block.l1[rows], block.ridge[rows], dictionary.explicit
    problem = DualProblem(
        samples=block.samples[rows],
        residuals=block.residuals[rows],
        excluded=dictionary.without(block.excluded[rows]),
        own=block.excluded[rows],
        l1=l1,
        ridge=ridge,
        limits=_DUAL_TOL * tol * l1 / explicit.norms.max(),
    )
    spectrum = team.call(lambda: explicit.spectrum)
    Z, certificate = solve_dual(problem, explicit.atoms, explicit.counts, spectrum, buffer, team)
    solved = SolvedRows(Z, certificate, l1, ridge, np.zeros(len(l1), bool))
    return dictionary.split(solved.finite())


def without_copies(excluded: NDArray, counts: NDArray) -> NDArray:
    """Return the excluded atoms that stand for themselves only; −1 for others."""
    rows = np.flatnonzero(excluded >= 0)
    rows = rows[counts[excluded[rows]] == 1]
    alone = np.full_like(excluded, -1)
    alone[rows] = excluded[rows]
    return alone


def with_unit_atoms(atoms: NDArray, error_weight: float) -> NDArray:
    """Return the atoms [A, I/γₑ]."""
    length = length_of_unit_atoms(atoms, error_weight)
    return np.vstack([atoms, length * np.eye(atoms.shape[1], dtype=atoms.dtype)])


def length_of_unit_atoms(atoms: NDArray, error_weight: float) -> float:
    """Return 1/γₑ in the precision of the atoms."""
    own = atoms.dtype.type
    return float(own(1) / own(error_weight))


def row_norms(X: NDArray) -> NDArray:
    return np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64))


def row_slices(n: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, n)) for start in range(0, n, size)]


def shared_by(
    dictionary: Dictionary, problem: Problem, tol: float, dual: bool = True
) -> _kernels.Shared:
    """Return what all samples share that are solved over a dictionary."""
    atoms = dictionary.atoms
    # Iterations on the residual need a ridge, and penalties that do not change with the solution.
    dual = dual and problem.lam > 0 and problem.loss == "squared"
    part = _DENSE_WITH_ERRORS if dictionary.error_weight else 1.0
    return _kernels.Shared(
        atoms=_read_only(atoms),
        gram=_read_only(dictionary.gram),
        max_norm=float(dictionary.norms.max()),
        product_error=(atoms.shape[1] + 2) * float(np.finfo(atoms.dtype).eps),
        lam=float(problem.lam),
        norm_loss=problem.loss == "norm",
        tol=float(tol),
        mean_square=float(np.mean(dictionary.norms**2)),
        dense_size=int(part * _dense_size(*atoms.shape)) if dual else len(atoms),
        error_weight=float(dictionary.error_weight),
        counts=_read_only(dictionary.counts),
    )


def _dense_size(n_atoms: int, n_features: int) -> int:
    """Return the size of supports beyond which iterations on the residual are faster.

    On working sets, a support of s atoms costs about s³. The iterations cost about
    n_atoms·n_features, and as much as _PASS_COST features for what is not a matrix product.
    """
    return int(np.cbrt(_DUAL_COST * n_atoms * (n_features + _PASS_COST)))


def _open_block(
    samples: NDArray,
    excluded: NDArray,
    dictionary: Dictionary,
    problem: Problem,
    correlations: NDArray,
    team: ThreadTeam,
) -> _kernels.Block:
    """Return the block at z = 0, which is final for samples that correlate with no atom."""
    m = len(dictionary.atoms)
    critical = _correlate_samples(samples, excluded, dictionary, correlations, team)
    if dictionary.error_weight:
        largest = np.maximum(samples.max(axis=1), -samples.min(axis=1)).astype(np.float64)
        critical = np.maximum(critical, largest / dictionary.error_weight)
    norms, orthogonal = row_norms(samples), np.zeros(len(samples), bool)
    if problem.gamma_scale == "relative" and not dictionary.error_weight:
        orthogonal = (critical > 0) & _orthogonal(critical, norms, correlations, dictionary)
        critical[orthogonal] = 0
    capacity, kept = min(m, FIRST_CAPACITY), min(m, KEPT_PRODUCTS)
    block = block_at_zero(
        samples, excluded, critical, norms, problem, correlations, capacity,
        n_kept=0 if len(dictionary.gram) else kept, errors=dictionary.error_weight > 0,
    )  # fmt: skip
    # Of samples that correlate by rounding only, z = 0 is optimal from its bound on.
    error = (_ORTHOGONAL + samples.shape[1] + 2) * np.finfo(samples.dtype).eps
    bounds = error * float(dictionary.norms.max()) * norms[orthogonal]
    block.l1[orthogonal] = np.maximum(block.l1[orthogonal], bounds)
    return block


def block_at_zero(
    samples: NDArray,
    excluded: NDArray,
    critical: NDArray,
    norms: NDArray,
    problem: Problem,
    correlations: NDArray,
    capacity: int,
    n_kept: int = 0,
    errors: bool = False,
) -> _kernels.Block:
    """Return a block at z = 0.

    Parameters
    ----------
    samples, excluded : ndarray
    critical, norms : ndarray of shape (n_rows,)
        The largest |correlation| of every sample, 0 where z = 0 is final, and its length.
    problem : Problem
    correlations : ndarray of shape (n_rows, n_atoms)
    capacity : int
        Atoms of a working set.
    n_kept : int, default=0
        Atoms of a working set whose Gram matrix is kept.
    errors : bool, default=False
        Whether there are sparse errors.
    """
    n, n_features = samples.shape
    gammas = problem.gammas(critical, norms)
    floors, scales = np.zeros(n), np.ones(n)
    if problem.loss == "norm":
        floors = np.where(norms > 0, SIGMA_FLOOR * norms, 1.0)
        scales = np.maximum(norms, floors)
    problem.check_range(gammas, floors if problem.loss == "norm" else scales, scales)
    n_errors = n if errors else 0
    return _kernels.Block(
        samples=_read_only(samples),
        excluded=excluded,
        gammas=gammas,
        floors=floors,
        status=np.where(critical == 0, _kernels.OPTIMAL, _kernels.NEW),
        residuals=np.empty_like(samples),
        correlations=correlations,
        correlation_rows=np.arange(n),
        working_sets=np.zeros((n, capacity), np.int64),
        sizes=np.zeros(n, np.int64),
        kept_products=np.empty((n if n_kept else 0, n_kept, n_kept), samples.dtype),
        n_kept=np.zeros(n, np.int64),
        coefficients=np.zeros((n, capacity)),
        l1=scales / gammas,
        ridge=2 * problem.lam * scales / gammas,
        loosely_solved=np.zeros(n, bool),
        certificates=np.zeros(n),
        errors=np.zeros((n_errors, n_features)),
        kept_weights=np.empty((n_errors, n_features), samples.dtype),
    )


def _correlate_samples(
    samples: NDArray,
    excluded: NDArray,
    dictionary: Dictionary,
    correlations: NDArray,
    team: ThreadTeam,
) -> NDArray:
    """Compute the correlations of all atoms but those without a copy left with the samples.

    Returns the largest |correlation| of every sample.
    """
    critical, without = np.empty(len(samples)), dictionary.without(excluded)
    # Samples that are the atoms excluded for them have their products in the Gram matrix.
    stored = (
        len(dictionary.gram) > 0
        and bool((excluded >= 0).all())
        and np.array_equal(samples, dictionary.atoms[excluded])
    )
    if not stored:
        team.multiply(samples, dictionary.atoms, correlations)

    def prepare(part: slice) -> None:
        if stored:
            dictionary.gram.take(excluded[part], axis=0, out=correlations[part], mode="clip")
        critical[part] = largest_correlations(correlations[part], without[part])

    team.map(prepare, row_slices(len(samples), _ROWS_AT_ONCE))
    return critical


def largest_correlations(correlations: NDArray, excluded: NDArray) -> NDArray:
    """Set the correlation of the excluded atom of every row to 0; returns the largest of others."""
    rows = np.flatnonzero(excluded >= 0)
    correlations[rows, excluded[rows]] = 0
    return np.maximum(correlations.max(axis=1), -correlations.min(axis=1)).astype(np.float64)


def correlations_of_rounding(norms: NDArray, dtype: np.dtype) -> NDArray:
    """Return the correlations of samples with an atom of unit length that count as zero."""
    return _ORTHOGONAL * np.finfo(dtype).eps * norms


def _orthogonal(
    critical: NDArray, norms: NDArray, correlations: NDArray, dictionary: Dictionary
) -> NDArray:
    """Return which samples have no correlation above rounding, and so no scale of their own."""
    limits = correlations_of_rounding(norms, correlations.dtype)
    orthogonal = np.zeros(len(critical), bool)
    for i in np.flatnonzero(critical <= limits * float(dictionary.norms.max())):
        orthogonal[i] = (np.abs(correlations[i]) <= limits[i] * dictionary.norms).all()
    return orthogonal


def _read_only(array: NDArray) -> NDArray:
    """Return a read-only view: kernels have one signature for it, memory-mapped or not, and view
    all arrays as aligned."""
    view = np.require(array, requirements="A").view()
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


def solved_rows(block: _kernels.Block, n_atoms: int) -> SolvedRows:
    """Return the solutions as sparse matrices with sorted indices."""
    used, shape = block.coefficients != 0, (len(block.l1), n_atoms)
    indices = block.working_sets[used].astype(sparse.get_index_dtype(maxval=n_atoms))
    Z = sparse.csr_array((block.coefficients[used], indices, _row_starts(used)), shape=shape)
    Z.sort_indices()
    errors = None
    if len(block.errors):
        used = block.errors != 0
        indices = np.flatnonzero(used) % used.shape[1]
        errors = sparse.csr_array(
            (block.errors[used], indices, _row_starts(used)), shape=used.shape
        )
    at_floor = block.l1 <= (1 + _LAST_BITS) * block.floors / block.gammas
    return SolvedRows(Z, block.certificates, block.l1, block.ridge, at_floor, errors).finite()


def _row_starts(used: NDArray) -> NDArray:
    return np.concatenate([[0], np.cumsum(np.count_nonzero(used, axis=1))])
