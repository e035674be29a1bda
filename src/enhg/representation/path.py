"""LARS-EN: the whole elastic net solution path of one sample (Zou and Hastie, 2005).

The solution is piecewise linear in the l1 penalty, so that its breakpoints determine it. The path
is followed from one breakpoint to the next with a Cholesky factor of the active atoms, in float64,
and the correlations are recomputed from the residual at every breakpoint. The fast solver shares no
code with this module and is tested against it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.blas import dtpsv
from scipy.sparse import csr_array

from enhg._threads import blas_threads
from enhg._validation import check_nonnegative, check_range, check_samples, check_whole
from enhg.exceptions import InputError

Floats = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)
# In units of ‖xᵢ‖·maxⱼ‖xⱼ‖, the scale of the rounding errors of the correlations:
_TIE = 64 * _EPS  # difference of a correlation and the penalty that counts as a tie
_BOTTOM = 1e-12  # penalties below this are rounding: the last piece goes directly to the end
# Relative to the quantity compared with:
_DEPENDENT = 1e-11  # squared distance to the span of the active atoms that counts as zero
_VANISHED = 64 * _EPS  # coefficient, relative to the largest, that counts as zero
_FLAT = 1e-12  # slope of a coefficient or of a correlation that counts as zero


class PathEvent(NamedTuple):
    """An atom enters or leaves the support at a breakpoint."""

    step: int
    """Index of the breakpoint below which the support differs."""
    atom: int
    """Row of X, or of the dictionary."""
    kind: Literal["enter", "leave"]


@dataclass(frozen=True, eq=False)
class ElasticNetPath:
    """Piecewise linear solution path of one sample, the result of `elastic_net_path`.

    Attributes
    ----------
    alphas : ndarray of shape (n_breakpoints,)
        The l1 penalties between which the path is linear; strictly decreasing.
    coefficients : csr_array of shape (n_breakpoints, n_atoms)
        The solution z at each breakpoint.
    events : tuple of PathEvent
        The atoms that enter or leave the support, in order.
    index : int
        The sample that is represented.
    ridge : float
        The ridge penalty, constant along the path (Zou and Hastie's λ₂).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from enhg import elastic_net_path
    >>> from enhg.preprocessing import SampleNormalizer
    >>> X = SampleNormalizer().fit_transform(load_digits().data[:50])
    >>> path = elastic_net_path(X, 0, ridge=0.5)
    >>> path.at(0.5).shape                     # the coefficients at an l1 penalty of 0.5
    (50,)
    """

    alphas: Floats
    coefficients: csr_array
    events: tuple[PathEvent, ...]
    index: int
    ridge: float

    def at(self, alpha: float) -> Floats:
        """Return the solution at an l1 penalty, exact between breakpoints as well.

        Parameters
        ----------
        alpha : float
            At least ``alphas[-1]``, where the path ends. The solution is zero from ``alphas[0]``
            on.

        Returns
        -------
        ndarray of shape (n_atoms,)
        """
        end = self.alphas[-1]
        if not alpha >= end:
            raise InputError(
                f"alpha must be at least {end}, where the path ends, got {alpha}",
                parameter="alpha",
            )
        if alpha >= self.alphas[0]:
            return np.zeros(self.coefficients.shape[1])
        # The first breakpoint at or below alpha; alpha < alphas[0] makes it 1 or more.
        below = int(np.searchsorted(-self.alphas, -alpha))
        upper, lower = self.alphas[below - 1], self.alphas[below]
        share = (upper - alpha) / (upper - lower)
        ends = self.coefficients[[below - 1, below]].toarray()
        return (1 - share) * ends[0] + share * ends[1]

    @property
    def fraction(self) -> Floats:
        """‖z‖₁ at each breakpoint divided by its maximum over the path."""
        norms = np.asarray(abs(self.coefficients).sum(axis=1), dtype=np.float64).ravel()
        largest = norms.max()
        return norms / largest if largest > 0 else norms


def elastic_net_path(
    X: ArrayLike,
    index: int,
    ridge: float = 0.0,
    *,
    dictionary: ArrayLike | None = None,
    alpha_min: float = 0.0,
    max_steps: int | None = None,
) -> ElasticNetPath:
    r"""Compute the elastic net solutions of one sample for all l1 penalties (LARS-EN).

    For every l1 penalty α from maxⱼ |xⱼᵀxᵢ|, where z = 0, down to `alpha_min`, this solves

        minimize over z:   ½‖xᵢ − Σⱼ zⱼ xⱼ‖² + α‖z‖₁ + (ridge/2)‖z‖²

    where j runs over all the other samples (zᵢ = 0), or over the rows of the dictionary.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The samples, neither centered nor scaled.
    index : int
        The sample i to represent.
    ridge : float, default=0.0
        The ridge penalty, Zou and Hastie's λ₂. 0 is the lasso.
    dictionary : array-like of shape (n_atoms, n_features), default=None
        Atoms in place of the other samples.
    alpha_min : float, default=0.0
        The l1 penalty at which the path ends.
    max_steps : int, default=None
        Largest number of linear pieces; the path may then end above `alpha_min`.

    Returns
    -------
    ElasticNetPath
        ``path.at(alpha)`` is the solution at any penalty that the path covers.

    Notes
    -----
    `self_representation` with ``loss="squared"`` and ``gamma_scale="absolute"`` solves the same
    problem with the l1 penalty 1/γ and the ridge penalty 2λ/γ. Its solution for
    ``gamma=1/alpha, lam=ridge/(2*alpha)`` equals ``path.at(alpha)``. Along this path the ridge
    penalty is constant, whereas at a constant λ the ratio of the two penalties is.

    Without a ridge the solution need not be unique. An atom that depends linearly on the active
    atoms (a duplicate, or any atom once the active ones span the data) stays out of the support,
    which leaves an optimal solution; an atom counts as dependent if its distance to their span is
    below 3e-6 of its norm. With a ridge the solution is unique, and duplicates have equal
    coefficients.

    A step costs O((n_atoms + s)·n_features + s²) with s active atoms.

    References
    ----------
    H. Zou and T. Hastie. Regularization and variable selection via the elastic net. Journal of
    the Royal Statistical Society B 67(2), 2005.

    B. Efron, T. Hastie, I. Johnstone and R. Tibshirani. Least angle regression. Annals of
    Statistics 32(2), 2004.

    Examples
    --------
    The first sample is twice the second plus the third:

    >>> import numpy as np
    >>> from enhg import elastic_net_path
    >>> X = np.array([[2.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    >>> path = elastic_net_path(X, 0)
    >>> path.alphas
    array([2., 1., 0.])
    >>> path.coefficients.toarray()
    array([[0., 0., 0., 0.],
           [0., 1., 0., 0.],
           [0., 2., 1., 0.]])
    >>> path.at(0.5)
    array([0. , 1.5, 0.5, 0. ])
    >>> [(event.kind, event.atom) for event in path.events]
    [('enter', 1), ('enter', 2)]

    A ridge shrinks the coefficients:

    >>> elastic_net_path(X, 0, ridge=1.0).at(0.0)
    array([0. , 1. , 0.5, 0. ])
    """
    samples, atoms = _check_data(X, dictionary)
    check_whole("index", index, 0, len(samples) - 1, hint="(rows of X)")
    check_nonnegative("ridge", ridge)
    check_nonnegative("alpha_min", alpha_min)
    if max_steps is not None:
        check_whole("max_steps", max_steps, 1)
    allowed = np.ones(len(atoms), dtype=bool)
    if dictionary is None:
        allowed[index] = False
    # Matrix-vector products are bound by memory: a second thread gains little on an idle machine,
    # and on a busy one a path of Extended Yale B (2414 samples) took 75 s in place of 13 s.
    with blas_threads(1):
        walk = _Walk(atoms, samples[index], allowed, float(ridge), float(alpha_min))
        while not walk.finished and (max_steps is None or len(walk.alphas) <= max_steps):
            walk.choose_active()
            walk.go_to_next_breakpoint()
    return ElasticNetPath(
        np.array(walk.alphas), walk.coefficients(), tuple(walk.events), int(index), float(ridge)
    )


def _check_data(X: ArrayLike, dictionary: ArrayLike | None) -> tuple[Floats, Floats]:
    """Return samples and atoms in float64."""
    samples = check_samples(X, min_samples=2 if dictionary is None else 1)
    samples = samples.astype(np.float64, copy=False)
    check_range(samples, "X")
    if dictionary is None:
        return samples, samples
    atoms = check_samples(dictionary, name="dictionary").astype(np.float64, copy=False)
    check_range(atoms, "dictionary")
    if atoms.shape[1] != samples.shape[1]:
        raise InputError(
            f"dictionary must have as many features as X ({samples.shape[1]}), got "
            f"{atoms.shape[1]}",
            parameter="dictionary",
        )
    return samples, atoms


class _ActiveSet:
    """Active atoms in order of entry, with their signs, rows and a Cholesky factor.

    RᵀR = G + ridge·I with the Gram matrix G of the rows. R is upper triangular and packed by
    columns: a new atom is appended, and BLAS reads the factor without a copy.
    """

    def __init__(self, n_features: int, ridge: float) -> None:
        self.ridge = ridge
        self.indices: list[int] = []
        self.signs = np.empty(0)
        self._rows = np.empty((16, n_features))
        self._packed = np.empty(_triangle(16))

    @property
    def rows(self) -> Floats:
        return self._rows[: len(self.indices)]

    def solve(self, right: Floats) -> Floats:
        """Return (G + ridge·I)⁻¹ right."""
        return self._triangular(self._triangular(right, transposed=True), transposed=False)

    def add(self, atom: int, sign: float, row: Floats) -> bool:
        """Append an atom, or return False if it depends linearly on the active ones."""
        size = len(self.indices)
        column = self._triangular(self.rows @ row, transposed=True)
        squared = row @ row + self.ridge
        pivot = squared - column @ column
        if pivot <= _DEPENDENT * squared:
            return False
        if size == len(self._rows):
            self._double_capacity()
        start = _triangle(size)
        self._packed[start : start + size] = column
        self._packed[start + size] = math.sqrt(pivot)
        self._rows[size] = row
        self.indices.append(atom)
        self.signs = np.append(self.signs, sign)
        return True

    def _double_capacity(self) -> None:
        self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        extra = np.empty(_triangle(len(self._rows)) - len(self._packed))
        self._packed = np.concatenate([self._packed, extra])

    def remove(self, position: int) -> None:
        """Remove the atom at a position, with its row and column of the factor."""
        size = len(self.indices)
        tail = size - position - 1
        removed = np.empty(tail)  # the removed row of R
        corner = np.zeros((tail, tail))  # the block of R below and to the right of it
        for j in range(tail):
            start = _triangle(position + 1 + j) + position
            removed[j] = self._packed[start]
            corner[: j + 1, j] = self._packed[start + 1 : start + j + 2]
        _rank_one_update(corner, removed)
        for j in range(tail):
            old, new = _triangle(position + 1 + j), _triangle(position + j)
            self._packed[new : new + position] = self._packed[old : old + position]
            self._packed[new + position : new + position + j + 1] = corner[: j + 1, j]
        self._rows[position : size - 1] = self._rows[position + 1 : size]
        del self.indices[position]
        self.signs = np.delete(self.signs, position)

    def _triangular(self, right: Floats, transposed: bool) -> Floats:
        size = len(self.indices)
        if size == 0:
            return np.empty(0)
        solution: Floats = dtpsv(size, self._packed, right, trans=int(transposed))
        return solution


def _triangle(size: int) -> int:
    return size * (size + 1) // 2


def _rank_one_update(upper: Floats, vector: Floats) -> None:
    """Replace R by the factor of RᵀR + vector·vectorᵀ, by rotations; both are overwritten."""
    for k in range(len(vector)):
        row, rest = upper[k, k:], vector[k:]
        length = math.hypot(row[0], rest[0])
        cosine, sine = row[0] / length, rest[0] / length
        rotated = cosine * row + sine * rest
        vector[k:] = cosine * rest - sine * row
        upper[k, k:] = rotated


class _Walk:
    """The state at one l1 penalty α of the path, and the breakpoints so far.

    With active atoms A of signs s, z_A(α − t) = z_A + t·v where (G_AA + ridge·I) v = s, and the
    correlation of atom j with the residual decreases by t·xⱼᵀq with q = Σ v_k x_k.
    """

    def __init__(
        self,
        atoms: Floats,
        target: Floats,
        allowed: NDArray[np.bool_],
        ridge: float,
        alpha_min: float,
    ) -> None:
        self.atoms, self.target, self.allowed = atoms, target, allowed
        self.ridge, self.alpha_min = ridge, alpha_min
        self.active = _ActiveSet(atoms.shape[1], ridge)
        self.values = np.empty(0)  # z of the active atoms
        self.slopes = np.empty(0)  # v
        self.direction = np.zeros(atoms.shape[1])  # q
        self.alphas: list[float] = []
        self.events: list[PathEvent] = []
        self._solutions: list[tuple[NDArray[np.intp], Floats]] = []
        largest_atom = math.sqrt(np.einsum("ij,ij->i", atoms, atoms)[allowed].max())
        scale = largest_atom * math.sqrt(target @ target)
        self.tie, self.bottom = _TIE * scale, max(_BOTTOM * scale, alpha_min)
        self.correlations = atoms @ target
        largest = float(abs(self.correlations[allowed]).max())
        # A sample orthogonal to all atoms, up to rounding, has z = 0 down to α = 0.
        self.alpha = largest if largest > _BOTTOM * scale else 0.0
        self.finished = self.alpha <= self.bottom
        self._record_breakpoint(removed=[])

    def coefficients(self) -> csr_array:
        counts = [len(support) for support, _ in self._solutions]
        supports, values = (np.concatenate(parts) for parts in zip(*self._solutions, strict=True))
        starts = np.concatenate([[0], np.cumsum(counts)])
        matrix = csr_array((values, supports, starts), shape=(len(counts), len(self.atoms)))
        matrix.eliminate_zeros()
        matrix.sort_indices()
        return matrix

    def choose_active(self) -> None:
        """Choose which of the tied atoms are active below this breakpoint.

        Their slopes solve a small nonnegative least squares problem (method of Lawson and Hanson):
        an atom whose correlation would exceed the penalty enters, one whose coefficient would take
        the wrong sign does not. Usually there is one tied atom; ties and duplicates make more.
        """
        if self.removed:
            self._update_slopes()
        n_before = len(self.active.indices)
        signs = dict(self.tied)
        # The method is finite; the bound prevents cycles caused by rounding.
        for _ in range(3 * len(signs)):
            waiting = [j for j in signs if j not in self.active.indices]
            excess = [1 - signs[j] * (self.atoms[j] @ self.direction) for j in waiting]
            if not waiting or max(excess) <= _FLAT:
                break
            atom = waiting[int(np.argmax(excess))]
            if self.active.add(atom, signs[atom], self.atoms[atom]):
                self._restore_signs(n_before)
            else:  # its correlation follows those of the atoms that it depends on
                del signs[atom]
        self._record_events(entered=self.active.indices[n_before:])

    def _record_events(self, entered: list[int]) -> None:
        self.values = np.append(self.values, np.zeros(len(entered)))
        step = len(self.alphas) - 1
        # An atom removed and entered at the same breakpoint only touched zero.
        leave = [PathEvent(step, j, "leave") for j in self.removed if j not in entered]
        enter = [PathEvent(step, j, "enter") for j in entered if j not in self.removed]
        self.events += leave + enter

    def go_to_next_breakpoint(self) -> None:
        """Decrease α to the next breakpoint, or to the end of the path."""
        towards_zero = self.active.signs * self.slopes < 0
        exit_steps = np.full(len(self.values), np.inf)
        exit_steps[towards_zero] = -self.values[towards_zero] / self.slopes[towards_zero]
        length = min(self._entry_step(), float(exit_steps.min()))
        self.finished = self.alpha - length <= self.bottom
        if self.finished:
            length = self.alpha - self.alpha_min
        self.values += length * self.slopes
        self.alpha = self.alpha_min if self.finished else self.alpha - length
        vanished = exit_steps <= length
        vanished |= towards_zero & (abs(self.values) <= _VANISHED * abs(self.values).max())
        removed = [] if self.finished else self._remove(vanished)
        self._refine()
        # At α = 0 any sign is right. Above, a sign that rounding changed means a zero coefficient.
        while self.alpha > 0 and (wrong := self.values * self.active.signs < 0).any():
            removed += self._remove(wrong)
            self._refine()
        self._record_breakpoint(removed)

    def _remove(self, marked: NDArray[np.bool_]) -> list[int]:
        """Remove the marked active atoms and return them."""
        positions = np.flatnonzero(marked)
        removed = [self.active.indices[position] for position in positions]
        for position in positions[::-1]:
            self.active.remove(position)
        self.values = self.values[~marked]
        return removed

    def _restore_signs(self, n_before: int) -> None:
        """Update the slopes after an entry; remove new atoms whose slopes have the wrong sign."""
        feasible = np.append(self.slopes, 0.0)
        self._update_slopes()
        while True:
            growth = self.active.signs * self.slopes
            wrong = n_before + np.flatnonzero(growth[n_before:] <= _FLAT * growth.max())
            if len(wrong) == 0:
                return
            # The part of the way from the feasible slopes to the new ones where each is zero.
            whole = np.maximum(abs(feasible[wrong] - self.slopes[wrong]), _TINY)
            shares = abs(feasible[wrong]) / whole
            first = int(np.argmin(shares))
            feasible += shares[first] * (self.slopes - feasible)
            self.active.remove(wrong[first])
            feasible = np.delete(feasible, wrong[first])
            self._update_slopes()

    def _update_slopes(self) -> None:
        self.slopes = self.active.solve(self.active.signs)
        self.direction = self.slopes @ self.active.rows

    def _entry_step(self) -> float:
        """Return the decrease of α at which the first inactive correlation equals it."""
        decreases = self.atoms @ self.direction
        inactive = self.allowed.copy()
        inactive[self.active.indices] = False
        # A tied atom that `choose_active` left out can enter on this piece only with the other
        # sign; rounding would otherwise let it enter at once.
        tied_signs = np.zeros(len(self.atoms))
        tied_signs[list(self.tied)] = list(self.tied.values())
        first = np.inf
        for sign in (1.0, -1.0):
            closing = 1 - sign * decreases
            meets = inactive & (closing > 0) & (tied_signs != sign)
            gap = self.alpha - sign * self.correlations[meets]
            first = min(first, (gap / closing[meets]).min(initial=np.inf))
        return float(first)

    def _refine(self) -> None:
        """Remove rounding errors from z by one Newton step and recompute the correlations."""
        active = self.active
        residual = self.target - self.values @ active.rows
        error = active.rows @ residual - self.ridge * self.values - self.alpha * active.signs
        correction = active.solve(error)
        self.correlations = self.atoms @ (residual - correction @ active.rows)
        self.values = self.values + correction
        self.values[abs(self.values) <= _VANISHED * abs(self.values).max(initial=0.0)] = 0.0

    def _record_breakpoint(self, removed: list[int]) -> None:
        """Record the solution, and the inactive atoms whose correlation is tied to the penalty."""
        if self.alphas and self.alpha >= self.alphas[-1]:  # a step too short for float64
            self.alphas.pop()
            self._solutions.pop()
        self.alphas.append(self.alpha)
        self._solutions.append((np.array(self.active.indices, dtype=np.intp), self.values.copy()))
        near = self.allowed & (abs(self.correlations) >= self.alpha - self.tie)
        near[self.active.indices] = False
        atoms = np.flatnonzero(near)
        signs = np.where(self.correlations[atoms] > 0, 1.0, -1.0)
        self.tied = dict(zip(atoms.tolist(), signs.tolist(), strict=True))
        self.removed = removed
