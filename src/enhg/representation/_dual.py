"""Elastic nets with many non-zeros: iterations of d unknowns on many samples at once.

With a ridge b > 0 the problem ½‖x − Aᵀz‖² + a‖z‖₁ + ½ Σⱼ (b/kⱼ)zⱼ² over atoms of which each stands
for kⱼ equal ones has the dual

    minimize over r:   φ(r) = ½‖r‖² − xᵀr + Σⱼ kⱼ(|gⱼ| − a)₊² / 2b,   g = Ar

whose solution is the residual, and zⱼ = kⱼ(|gⱼ| − a)₊·sign(gⱼ)/b. φ is differentiable, and
piecewise quadratic with the Hessian I + AₛᵀKAₛ/b over the support s. It is minimized by conjugate
gradients with searched step lengths. Where the support contains the part θ of all atoms, θAᵀKA
takes the place of AₛᵀKAₛ in the preconditioner, which all samples share but for two numbers.

An iteration of many samples is two products with the matrix A. The gradient bounds the violation of
the optimality conditions: Aⱼ∇φ(r) is the difference between gⱼ and the correlation of atom j with
the residual of z.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg.representation import _dual_kernels
from enhg.representation._threads import ThreadTeam

_MAX_ITERATIONS = 100
_PATIENCE = 10  # iterations without progress, after which rounding prevents it
_N_EIGENVECTORS = 64
_POWER_STEPS = 3
_SEED = 0
_RENEWAL = 8  # iterations between products of the residuals with all atoms
_MAX_ROWS = 256  # of a part: beyond, matrix products are not faster
_ATOMS_AT_ONCE = 512


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Largest eigenvalues of AᵀKA, with eigenvectors, and the mean of the others.

    They need not be exact: they determine a preconditioner.
    """

    values: NDArray
    vectors: NDArray  # d×k
    rest: float

    @classmethod
    def estimate(cls, atoms: NDArray, counts: NDArray) -> Self:
        """Estimate the spectrum by power steps on a random subspace."""
        d, weights = atoms.shape[1], counts[:, np.newaxis].astype(atoms.dtype)
        k = min(*atoms.shape, _N_EIGENVECTORS)
        basis = np.random.default_rng(_SEED).standard_normal((d, k)).astype(atoms.dtype)
        for _ in range(_POWER_STEPS):
            basis = np.linalg.qr(atoms.T @ (weights * (atoms @ basis)))[0]
        image = np.sqrt(weights) * (atoms @ basis)
        values, rotation = np.linalg.eigh(image.T @ image)
        total = np.einsum("ij,ij,i->", atoms, atoms, counts, dtype=np.float64)
        rest = max(float(total - values.sum()), 0.0) / max(d - k, 1)
        return cls(np.maximum(values, 0.0), basis @ rotation, rest)

    def precondition(self, gradients: NDArray, scales: NDArray) -> NDArray:
        """Return (I + tAᵀKA)⁻¹ times the gradient of every row, with t of that row."""
        scales = scales[:, np.newaxis].astype(gradients.dtype)
        rest = 1 / (1 + scales * gradients.dtype.type(self.rest))
        inner = (gradients @ self.vectors) * (1 / (1 + scales * self.values) - rest)
        return rest * gradients + inner @ self.vectors.T


class DualRows(NamedTuple):
    """Rows of Z, and their certificates."""

    coefficients: sparse.csr_array
    certificate: NDArray


class DualProblem(NamedTuple):
    """Samples to be solved, one row each.

    Attributes
    ----------
    samples, residuals : ndarray of shape (n_rows, n_features)
        The samples, and the residuals to start at.
    excluded : ndarray of shape (n_rows,)
        The atom whose coefficient is zero for each sample; −1 for none.
    own : ndarray of shape (n_rows,)
        The atom that stands for one less than for others; −1 for none.
    l1, ridge : ndarray of shape (n_rows,)
        a and b > 0 of every sample.
    limits : ndarray of shape (n_rows,)
        Norms of the gradient at which a row is finished.
    """

    samples: NDArray
    residuals: NDArray
    excluded: NDArray
    own: NDArray
    l1: NDArray
    ridge: NDArray
    limits: NDArray


class _State(NamedTuple):
    """Iteration on some samples, one row each; finished rows come last."""

    order: NDArray  # their positions
    problem: DualProblem
    correlations: NDArray
    gradients: NDArray
    directions: NDArray
    decrements: NDArray  # product of the gradient with the preconditioned one
    slopes: NDArray
    lowest: NDArray  # norm of a gradient so far
    waited: NDArray  # iterations since then
    sizes: NDArray  # of the supports


def solve_dual(
    problem: DualProblem,
    atoms: NDArray,
    counts: NDArray,
    spectrum: Spectrum,
    buffer: NDArray,
    team: ThreadTeam,
) -> DualRows:
    """Solve the squared problems of many samples.

    Every thread iterates on its own part of the rows, with products of one thread.

    Parameters
    ----------
    problem : DualProblem
    atoms : ndarray of shape (n_atoms, n_features)
    counts : ndarray of shape (n_atoms,)
        Equal atoms that each stands for.
    spectrum : Spectrum
        Of the atoms.
    buffer : ndarray of shape (at least 2, n_atoms)
        Overwritten.
    team : ThreadTeam
    """
    n = len(problem.l1)
    n_threads = min(team.size, len(buffer) // 2)
    size = min(_MAX_ROWS, len(buffer) // (2 * n_threads), -(-n // n_threads))
    tasks = iter([(start, slice(start, start + size)) for start in range(0, n, size)])
    parts: dict[int, DualRows] = {}

    def work(thread: int) -> None:
        correlations, products = np.split(buffer[2 * size * thread : 2 * size * (thread + 1)], 2)
        for start, rows in tasks:
            part = DualProblem(*(array[rows].copy() for array in problem))
            # Rows that leave the range of the precision have certificates that are not finite.
            with np.errstate(over="ignore", invalid="ignore"):
                parts[start] = _solve_part(part, atoms, counts, spectrum, correlations, products)

    team.map(work, range(n_threads))
    solved = [parts[start] for start in sorted(parts)]
    return DualRows(
        sparse.csr_array(sparse.vstack([part.coefficients for part in solved], format="csr")),
        np.concatenate([part.certificate for part in solved]),
    )


def _solve_part(
    problem: DualProblem,
    atoms: NDArray,
    counts: NDArray,
    spectrum: Spectrum,
    correlations: NDArray,
    work: NDArray,
) -> DualRows:
    """Solve some rows; `work` holds correlations of directions and coefficients by turns."""
    n, weights = len(problem.l1), counts.astype(atoms.dtype)  # a copy, which kernels change
    state = _State(
        order=np.arange(n),
        problem=problem,
        correlations=correlations[:n],
        gradients=np.zeros_like(problem.samples),
        directions=np.zeros_like(problem.samples),
        decrements=np.full(n, np.inf),
        slopes=np.zeros(n),
        lowest=np.full(n, np.inf),
        waited=np.zeros(n, np.int64),
        sizes=np.zeros(n, np.int64),
    )
    for iteration in range(_MAX_ITERATIONS):
        present = _first(state, n)
        # Now and then also removes the rounding errors that have accumulated.
        if iteration % _RENEWAL == 0:
            _renew(present, work[:n], atoms, weights)
        n = _retire(present, _turn(present, work[:n] @ atoms, spectrum, len(atoms)))
        if n == 0:
            break
        _advance(_first(state, n), work[:n], atoms, weights)
    return _finish(state, atoms, counts)


def _first(state: _State, n: int) -> _State:
    problem = DualProblem(*(array[:n] for array in state.problem))
    return _State(state.order[:n], problem, *(array[:n] for array in state[2:]))


def _exclude(excluded: NDArray, products: NDArray) -> None:
    rows = np.flatnonzero(excluded >= 0)
    products[rows, excluded[rows]] = 0


def _products(X: NDArray, Y: NDArray) -> NDArray:
    return np.einsum("ij,ij->i", X, Y, dtype=np.float64)


def _renew(state: _State, work: NDArray, atoms: NDArray, weights: NDArray) -> None:
    """Compute the correlations of the residuals, and the coefficients in `work`."""
    problem, g = state.problem, state.correlations
    np.matmul(problem.residuals, atoms.T, out=g)
    _exclude(problem.excluded, g)
    _dual_kernels.threshold(g, problem.l1, problem.ridge, weights, problem.own, work, state.sizes)


def _turn(state: _State, reconstructions: NDArray, spectrum: Spectrum, n_atoms: int) -> NDArray:
    """Compute gradients and conjugate directions; returns which rows are finished."""
    problem = state.problem
    gradients = problem.residuals - problem.samples + reconstructions
    steps = spectrum.precondition(gradients, state.sizes / n_atoms / problem.ridge)
    decrements = _products(gradients, steps)
    # Polak–Ribière; 0 in the first iteration, whose previous decrement is infinite.
    growth = np.maximum(decrements - _products(state.gradients, steps), 0) / state.decrements
    directions = growth[:, np.newaxis].astype(steps.dtype) * state.directions - steps
    slopes = _products(gradients, directions)
    ascending = ~(slopes < 0)
    directions[ascending], slopes[ascending] = -steps[ascending], -decrements[ascending]
    state.gradients[:], state.directions[:] = gradients, directions
    state.decrements[:], state.slopes[:] = decrements, slopes
    norms = np.sqrt(_products(gradients, gradients))
    state.waited[:] = np.where(norms < 0.9 * state.lowest, 0, state.waited + 1)
    state.lowest[:] = np.minimum(norms, state.lowest)
    return (norms <= problem.limits) | (state.waited > _PATIENCE)


def _retire(state: _State, finished: NDArray) -> int:
    """Move the finished rows behind the others; returns the number of the others."""
    n = np.count_nonzero(~finished)
    leaving, staying = np.flatnonzero(finished[:n]), n + np.flatnonzero(~finished[n:])
    for array in (state.order, *state.problem, *state[2:]):
        array[leaving], array[staying] = array[staying], array[leaving]
    return int(n)


def _advance(state: _State, work: NDArray, atoms: NDArray, weights: NDArray) -> None:
    """Take the step of every row, and replace `work` by the coefficients."""
    problem, directions = state.problem, state.directions
    np.matmul(directions, atoms.T, out=work)
    _exclude(problem.excluded, work)
    squares, lengths = _products(directions, directions), np.empty(len(work))
    _dual_kernels.advance(
        state.correlations, work, problem.l1, problem.ridge, weights, problem.own, state.slopes,
        squares, lengths, state.sizes,
    )  # fmt: skip
    problem.residuals[:] += lengths[:, np.newaxis].astype(work.dtype) * directions


def _finish(state: _State, atoms: NDArray, counts: NDArray) -> DualRows:
    """Return the rows in their first order, with certificates."""
    certificate = _certify(state.problem, state.correlations, atoms, counts)
    l1, ridge = state.problem.l1, state.problem.ridge
    used = np.abs(state.correlations) > l1[:, np.newaxis]
    rows, columns = np.nonzero(used)
    g = state.correlations[used].astype(np.float64)
    left = counts[columns] - (columns == state.problem.own[rows])
    values = left * (g - np.copysign(l1[rows], g)) / ridge[rows]
    indptr = np.concatenate([[0], np.cumsum(np.count_nonzero(used, axis=1))])
    Z = sparse.csr_array((values, columns, indptr), shape=used.shape)
    inverse = np.argsort(state.order)
    return DualRows(Z[inverse], certificate[inverse])


def _certify(
    problem: DualProblem, correlations: NDArray, atoms: NDArray, counts: NDArray
) -> NDArray:
    """Largest violations of the optimality conditions relative to a, in float64.

    Where z ≠ 0, bz/k + a·sign(z) is g.
    """
    l1, ridge = problem.l1[:, np.newaxis], problem.ridge[:, np.newaxis]
    tiles = [slice(start, start + _ATOMS_AT_ONCE) for start in range(0, len(atoms), _ATOMS_AT_ONCE)]
    residuals = problem.samples.astype(np.float64)
    for tile in tiles:
        g = correlations[:, tile].astype(np.float64)
        z = counts[tile] * (g - g.clip(-l1, l1)) / ridge
        inside = np.flatnonzero((problem.own >= tile.start) & (problem.own < tile.stop))
        place = problem.own[inside] - tile.start
        z[inside, place] *= 1 - 1 / counts[problem.own[inside]]
        residuals -= z @ atoms[tile].astype(np.float64)
    worst = np.zeros(len(residuals))
    for tile in tiles:
        g = correlations[:, tile].astype(np.float64)
        exact = residuals @ atoms[tile].T.astype(np.float64)
        violation = np.where(np.abs(g) > l1, np.abs(exact - g), np.abs(exact) - l1)
        own = (problem.excluded >= tile.start) & (problem.excluded < tile.stop)
        violation[own, problem.excluded[own] - tile.start] = 0
        np.maximum(worst, violation.max(axis=1), out=worst)
    return worst / problem.l1
