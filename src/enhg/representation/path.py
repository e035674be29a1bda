"""LARS-EN: the whole elastic net solution path of one sample (Zou and Hastie, 2005).

The solution is piecewise linear in the l1 penalty, so the breakpoints say everything. The walk
goes from one to the next with a Cholesky factor of the active atoms, in float64, and measures the
correlations anew from the residual at every breakpoint. It serves the path figures, the choice of
parameters, and the tests of the fast solver, which it shares no code with.
"""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from numbers import Real
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.blas import dtpsv
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

Floats = NDArray[np.float64]

_EPS = float(np.finfo(np.float64).eps)
_TINY = float(np.finfo(np.float64).tiny)
# In units of ‖xᵢ‖·maxⱼ‖xⱼ‖, the scale of the rounding errors of the correlations:
_TIE = 64 * _EPS  # a correlation this close to the penalty is tied to it
_BOTTOM = 1e-12  # alphas below this are lost in rounding: the walk goes straight to its end
# Relative to what they are compared with:
_DEPENDENT = 1e-11  # squared distance to the span of the active atoms at which an atom is in it
_VANISHED = 64 * _EPS  # a coefficient this small beside the largest is zero
_FLAT = 1e-12  # a slope this small is: of a coefficient, of a correlation against the penalty


class PathEvent(NamedTuple):
    """An atom enters or leaves the support at a breakpoint."""

    step: int
    """Which breakpoint: the support differs from there on (towards smaller alphas)."""
    atom: int
    """Row of X, or of the dictionary."""
    kind: Literal["enter", "leave"]


@dataclass(frozen=True, eq=False)
class ElasticNetPath:
    """The piecewise linear path of one sample, as `elastic_net_path` returns it.

    Attributes
    ----------
    alphas : ndarray of shape (n_breakpoints,)
        The l1 alphas a between which the path is straight; strictly descending.
    coefficients : csr_array of shape (n_breakpoints, n_atoms)
        The solution z at each breakpoint.
    events : tuple of PathEvent
        Which atom enters or leaves the support at which breakpoint, in order.
    index : int
        The sample that is represented.
    ridge : float
        The ridge, fixed along the path (Zou and Hastie's λ₂).
    """

    alphas: Floats
    coefficients: csr_array
    events: tuple[PathEvent, ...]
    index: int
    ridge: float

    def at(self, a: float) -> Floats:
        """Return the solution at the l1 penalty `a`, exact between breakpoints as well.

        Parameters
        ----------
        a : float
            Not below ``alphas[-1]``, where the path ends. From ``alphas[0]`` upwards the
            solution is zero.

        Returns
        -------
        ndarray of shape (n_atoms,)
        """
        last = len(self.alphas) - 1
        if not a >= self.alphas[last]:
            raise ValueError(
                f"a must be at least {self.alphas[last]}, where the path ends, got {a}"
            )
        if a >= self.alphas[0]:
            return np.zeros(self.coefficients.shape[1])
        # The first breakpoint at or below a; a < alphas[0] makes it 1 or more.
        below = int(np.searchsorted(-self.alphas, -a))
        upper, lower = self.alphas[below - 1], self.alphas[below]
        share = (upper - a) / (upper - lower)
        ends = self.coefficients[[below - 1, below]].toarray()
        return (1 - share) * ends[0] + share * ends[1]

    @property
    def fraction(self) -> Floats:
        """‖z‖₁ at each breakpoint over the largest of the path: the axis of the path figures."""
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
    r"""Compute the elastic net solutions of sample i for every l1 penalty (LARS-EN).

    With the ridge `ridge` fixed and the l1 penalty a falling to `alpha_min` from
    maxⱼ \|xⱼᵀxᵢ\|, where z = 0, it solves

        minimize over z:   ½‖xᵢ − Σⱼ zⱼ xⱼ‖² + a‖z‖₁ + (ridge/2)‖z‖²

    where j runs over all the other samples (zᵢ = 0), or over the rows of the dictionary.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows are samples. Taken as they are: neither centerd nor scaled.
    index : int
        The sample to represent.
    ridge : float, default 0
        The ridge, Zou and Hastie's λ₂. Zero is the lasso.
    dictionary : array-like of shape (n_atoms, n_features), optional
        Atoms to represent the sample with, in place of the other samples.
    alpha_min : float, default 0
        The l1 penalty at which to stop.
    max_steps : int, optional
        Stop after so many linear pieces. The path then simply ends at a penalty above `alpha_min`.

    Returns
    -------
    ElasticNetPath
        ``path.at(a)`` is the solution at any penalty that the path reaches.

    Notes
    -----
    The fast solver ``self_representation(..., loss="squared", gamma_scale="absolute")`` writes the same
    problem with its own γ and λ: the l1 penalty is 1/γ and the ridge 2λ/γ. So the point at `a` of
    this path is the solver's with ``gamma=1/a`` and its ``ridge`` = ``ridge/(2*a)`` (`ridge` on the
    right being this function's). The two differ because the solver holds the ratio of ridge to
    l1 penalty and LARS-EN holds the ridge.

    With `ridge` = 0 the solution need not be unique. An atom that depends linearly on the active
    ones (a duplicate, or any atom once the active ones span the data) stays out, which leaves an
    optimal solution; dependent means nearer to their span than 3e-6 of its length. With
    `ridge` > 0 the solution is unique and duplicates share their weight equally.

    A step costs O((n_atoms + s)·n_features + s²) with s active atoms.

    References
    ----------
    H. Zou and T. Hastie. Regularization and variable selection via the elastic net. Journal of
    the Royal Statistical Society B 67(2), 2005. B. Efron, T. Hastie, I. Johnstone and
    R. Tibshirani. Least angle regression. Annals of Statistics 32(2), 2004.

    Examples
    --------
    The first sample is 2 times the second plus the third, and the lasso finds it:

    >>> import numpy as np
    >>> from enhg.representation.path import elastic_net_path
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
    samples = _matrix("X", X)
    index = operator.index(index)
    if not 0 <= index < len(samples):
        raise ValueError(f"index must be a row of X, 0 to {len(samples) - 1}, got {index}")
    _check_penalty("ridge", ridge)
    _check_penalty("alpha_min", alpha_min)
    if max_steps is not None and max_steps < 1:
        raise ValueError(f"max_steps must be at least 1 or None, got {max_steps}")
    if dictionary is None and len(samples) == 1:
        raise ValueError("X must have at least two rows, or a dictionary be given, got one row")
    atoms = samples if dictionary is None else _matrix("dictionary", dictionary)
    if atoms.shape[1] != samples.shape[1]:
        raise ValueError(
            f"dictionary must have the {samples.shape[1]} columns of X, got {atoms.shape[1]}"
        )
    allowed = np.ones(len(atoms), dtype=bool)
    if dictionary is None:
        allowed[index] = False
    # Matrix-vector products wait for memory: a second thread gains little on an idle machine, and
    # on a busy one made a path of Extended Yale B (2414 samples) take 75 s in place of 13 s.
    with threadpool_limits(limits=1, user_api="blas"):
        walk = _Walk(atoms, samples[index], allowed, float(ridge), float(alpha_min))
        while not walk.arrived and (max_steps is None or len(walk.alphas) <= max_steps):
            walk.turn()
            walk.stride()
    return ElasticNetPath(
        np.array(walk.alphas), walk.coefficients(), tuple(walk.events), index, float(ridge)
    )


def _matrix(name: str, values: ArrayLike) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2:
        raise ValueError(f"{name} must be 2-D, rows being samples, got {array.ndim}-D")
    if array.size == 0:
        raise ValueError(f"{name} must have at least one row and one column, got {array.shape}")
    if not np.isfinite(array).all():
        bad = np.argwhere(~np.isfinite(array))[0]
        raise ValueError(
            f"{name} must be finite, got {array[tuple(bad)]} in row {bad[0]}, column {bad[1]}"
        )
    return np.ascontiguousarray(array)


def _check_penalty(name: str, value: float) -> None:
    if not (isinstance(value, Real) and value >= 0 and math.isfinite(value)):
        raise ValueError(f"{name} must be a finite number of at least 0, got {value!r}")


class _ActiveSet:
    """Active atoms in order of entry, with their signs, rows and a Cholesky factor.

    RᵀR = G + ridge·I, G the Gram matrix of the rows. R is upper triangular and packed column after
    column, so that a new atom is appended and BLAS reads the factor without a copy.
    """

    def __init__(self, width: int, ridge: float) -> None:
        self.ridge = ridge
        self.indices: list[int] = []
        self.signs = np.empty(0)
        self._rows = np.empty((16, width))
        self._packed = np.empty(_triangle(16))

    @property
    def rows(self) -> Floats:
        return self._rows[: len(self.indices)]

    def solve(self, right: Floats) -> Floats:
        """Return (G + ridge·I)⁻¹ right."""
        return self._triangular(self._triangular(right, transposed=True), transposed=False)

    def add(self, atom: int, sign: float, row: Floats) -> bool:
        """Append an atom; return False, changing nothing, when it depends on the active ones."""
        size = len(self.indices)
        column = self._triangular(self.rows @ row, transposed=True)
        squared = row @ row + self.ridge
        pivot = squared - column @ column
        if pivot <= _DEPENDENT * squared:
            return False
        if size == len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
            room = np.empty(_triangle(2 * size) - len(self._packed))
            self._packed = np.concatenate([self._packed, room])
        start = _triangle(size)
        self._packed[start : start + size] = column
        self._packed[start + size] = math.sqrt(pivot)
        self._rows[size] = row
        self.indices.append(atom)
        self.signs = np.append(self.signs, sign)
        return True

    def remove(self, place: int) -> None:
        """Take out the atom at a place in the order, and its row and column of the factor."""
        size = len(self.indices)
        tail = size - place - 1
        lost = np.empty(tail)  # the row of R that goes
        corner = np.zeros((tail, tail))  # the block of R below and to the right of it
        for j in range(tail):
            start = _triangle(place + 1 + j) + place
            lost[j] = self._packed[start]
            corner[: j + 1, j] = self._packed[start + 1 : start + j + 2]
        _rank_one_update(corner, lost)
        for j in range(tail):
            old, new = _triangle(place + 1 + j), _triangle(place + j)
            self._packed[new : new + place] = self._packed[old : old + place]
            self._packed[new + place : new + place + j + 1] = corner[: j + 1, j]
        self._rows[place : size - 1] = self._rows[place + 1 : size]
        del self.indices[place]
        self.signs = np.delete(self.signs, place)

    def _triangular(self, right: Floats, transposed: bool) -> Floats:
        size = len(self.indices)
        if size == 0:
            return np.empty(0)
        solution: Floats = dtpsv(size, self._packed, right, trans=int(transposed))
        return solution


def _triangle(size: int) -> int:
    return size * (size + 1) // 2


def _rank_one_update(upper: Floats, vector: Floats) -> None:
    """Turn R into the factor of RᵀR + vector·vectorᵀ, by rotations; both are overwritten."""
    for k in range(len(vector)):
        row, rest = upper[k, k:], vector[k:]
        length = math.hypot(row[0], rest[0])
        cosine, sine = row[0] / length, rest[0] / length
        rotated = cosine * row + sine * rest
        vector[k:] = cosine * rest - sine * row
        upper[k, k:] = rotated


class _Walk:
    """The state at one penalty of the path, and the record of the breakpoints behind it.

    With active atoms A of signs s, z_A(a − t) = z_A + t·v where (G_AA + ridge·I) v = s, and the
    correlation of atom j with the residual falls by t·xⱼᵀq, q = Σ v_k x_k.
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
        self.pull = np.zeros(atoms.shape[1])  # q
        self.alphas: list[float] = []
        self.events: list[PathEvent] = []
        self._solutions: list[tuple[NDArray[np.intp], Floats]] = []
        largest_atom = math.sqrt(np.einsum("ij,ij->i", atoms, atoms)[allowed].max())
        scale = largest_atom * math.sqrt(target @ target)
        if not math.isfinite(scale):
            raise ValueError("the squared norms of the samples must be finite, got an overflow")
        self.tie, self.bottom = _TIE * scale, max(_BOTTOM * scale, alpha_min)
        self.correlations = atoms @ target
        self.a = float(abs(self.correlations[allowed]).max())
        # A sample orthogonal to all atoms, up to rounding, has z = 0 down to penalty zero.
        self.a = self.a if self.a > _BOTTOM * scale else 0.0
        self.arrived = self.a <= self.bottom
        self._stop_at_breakpoint(left=[])

    def coefficients(self) -> csr_array:
        counts = [len(support) for support, _ in self._solutions]
        supports, values = (np.concatenate(parts) for parts in zip(*self._solutions, strict=True))
        starts = np.concatenate([[0], np.cumsum(counts)])
        matrix = csr_array((values, supports, starts), shape=(len(counts), len(self.atoms)))
        matrix.eliminate_zeros()
        matrix.sort_indices()
        return matrix

    def turn(self) -> None:
        """Choose, among the atoms tied at zero, which are active from this breakpoint on.

        Their slopes solve a small nonnegative least squares problem (Lawson and Hanson's method):
        an atom whose correlation would outgrow the penalty must enter, one whose coefficient
        would take the wrong sign must not. One atom is the rule; ties and duplicates make more.
        """
        if self.left:
            self._aim()
        settled = len(self.active.indices)
        signs = dict(self.tied)
        # The method is finite; the bound only keeps rounding from sending it in a circle.
        for _ in range(3 * len(signs)):
            waiting = [j for j in signs if j not in self.active.indices]
            excess = [1 - signs[j] * (self.atoms[j] @ self.pull) for j in waiting]
            if not waiting or max(excess) <= _FLAT:
                break
            atom = waiting[int(np.argmax(excess))]
            if self.active.add(atom, signs[atom], self.atoms[atom]):
                self._settle_slopes(settled)
            else:  # it follows the active atoms that it depends on
                del signs[atom]
        entered = self.active.indices[settled:]
        self.values = np.append(self.values, np.zeros(len(entered)))
        step = len(self.alphas) - 1
        # An atom that left and came back at the same breakpoint only touched zero.
        leave = [PathEvent(step, j, "leave") for j in self.left if j not in entered]
        enter = [PathEvent(step, j, "enter") for j in entered if j not in self.left]
        self.events += leave + enter

    def stride(self) -> None:
        """Go down to the next breakpoint, or to the end of the path."""
        towards_zero = self.active.signs * self.slopes < 0
        exit_steps = np.full(len(self.values), np.inf)
        exit_steps[towards_zero] = -self.values[towards_zero] / self.slopes[towards_zero]
        length = min(self._entry_step(), float(exit_steps.min()))
        self.arrived = self.a - length <= self.bottom
        if self.arrived:
            length = self.a - self.alpha_min
        self.values += length * self.slopes
        self.a = self.alpha_min if self.arrived else self.a - length
        gone = exit_steps <= length
        gone |= towards_zero & (abs(self.values) <= _VANISHED * abs(self.values).max())
        left = [] if self.arrived else self._take_out(gone)
        self._refine()
        # At a = 0 any sign is right. Above, one that rounding turned means the coefficient is zero.
        while self.a > 0 and (turned := self.values * self.active.signs < 0).any():
            left += self._take_out(turned)
            self._refine()
        self._stop_at_breakpoint(left)

    def _take_out(self, gone: NDArray[np.bool_]) -> list[int]:
        """Remove the marked active atoms and return them."""
        places = np.flatnonzero(gone)
        left = [self.active.indices[place] for place in places]
        for place in places[::-1]:
            self.active.remove(place)
        self.values = self.values[~gone]
        return left

    def _settle_slopes(self, settled: int) -> None:
        """Solve for the slopes after an entry, dropping newcomers that would go the wrong way."""
        feasible = np.append(self.slopes, 0.0)
        self._aim()
        while True:
            rises = self.active.signs * self.slopes
            places = settled + np.flatnonzero(rises[settled:] <= _FLAT * rises.max())
            if len(places) == 0:
                return
            # How far from the feasible slopes (right sign) to the wrong ones each meets zero.
            whole = np.maximum(abs(feasible[places] - self.slopes[places]), _TINY)
            shares = abs(feasible[places]) / whole
            first = int(np.argmin(shares))
            feasible += shares[first] * (self.slopes - feasible)
            self.active.remove(places[first])
            feasible = np.delete(feasible, places[first])
            self._aim()

    def _aim(self) -> None:
        self.slopes = self.active.solve(self.active.signs)
        self.pull = self.slopes @ self.active.rows

    def _entry_step(self) -> float:
        """Return how far down the first correlation of an inactive atom meets the penalty."""
        falls = self.atoms @ self.pull
        inactive = self.allowed.copy()
        inactive[self.active.indices] = False
        # An atom tied to the penalty was let fall behind by `turn`: on this piece it can come
        # back only with the other sign. Rounding would otherwise bring it in again at once.
        held = np.zeros(len(self.atoms))
        held[list(self.tied)] = list(self.tied.values())
        first = np.inf
        for sign in (1.0, -1.0):
            closing = 1 - sign * falls
            meets = inactive & (closing > 0) & (held != sign)
            gap = self.a - sign * self.correlations[meets]
            first = min(first, (gap / closing[meets]).min(initial=np.inf))
        return float(first)

    def _refine(self) -> None:
        """Take the rounding errors out of z by one Newton step and measure the correlations."""
        active = self.active
        residual = self.target - self.values @ active.rows
        error = active.rows @ residual - self.ridge * self.values - self.a * active.signs
        correction = active.solve(error)
        self.correlations = self.atoms @ (residual - correction @ active.rows)
        self.values = self.values + correction
        self.values[abs(self.values) <= _VANISHED * abs(self.values).max(initial=0.0)] = 0.0

    def _stop_at_breakpoint(self, left: list[int]) -> None:
        """Record the solution, and gather the zero atoms whose correlation equals the penalty."""
        if self.alphas and self.a >= self.alphas[-1]:  # a step too short for float64
            self.alphas.pop()
            self._solutions.pop()
        self.alphas.append(self.a)
        self._solutions.append((np.array(self.active.indices, dtype=np.intp), self.values.copy()))
        near = self.allowed & (abs(self.correlations) >= self.a - self.tie)
        near[self.active.indices] = False
        atoms = np.flatnonzero(near)
        signs = np.where(self.correlations[atoms] > 0, 1.0, -1.0)
        self.tied = dict(zip(atoms.tolist(), signs.tolist(), strict=True))
        self.left = left
