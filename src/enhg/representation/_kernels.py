"""Compiled loops of the solver, and nothing that is not one.

Notation of a single sample's problem, restricted to its working set of w atoms:

    F(z) = ½ zᵀQz − cᵀz + a‖z‖₁ + (b/2)‖z‖²

`Q` (w×w) is the atoms' Gram matrix, `c` their correlations with the sample, and `g = c − Qz`
their correlations with its residual, which is kept up to date as z changes. z is optimal when
g = b·z + a·sign(z) where z ≠ 0, and |g| ≤ a where z = 0. With the norm loss a and b are σ/γ and
2λσ/γ, where σ = ‖r‖ moves with z.

Q and c may be as coarse as float32 products are: they are a model, by which steps are found. What
is certified is computed in float64 from the atoms themselves (`_correct_model`, `_check`).

Kernels release the GIL and work in place; the driver runs the public ones in threads, each on
some rows of a block. They stay in one file because Numba's cache on disk looks for changes only in
the file of the kernel that is called: with callees elsewhere it would go on running old code.
"""

# mypy: disable-error-code="no-untyped-def,assignment"

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

# Kernels allocate nothing, so Numba's counting of references, atomic and shared by all threads, can
# be left out (`_nrt`). A constant handed to a kernel is compiled in, as a form of its own:
# np.int64(0) is not. Only `solve` is called from Python: a way in from there, which unpacks every
# record, and a place in the cache would take longer to compile than the others themselves.
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
    "_nrt": False,
}
_INNER = _OPTIONS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_compile = njit(**_INNER)
# Long functions called from one place are joined to it before LLVM sees them, which spares it from
# optimizing them, and all that they call, once more.
_join = njit(**_INNER, inline="always")

_MOST_ROUNDS = 20
_MOST_CORRECTIONS = 10
_PATIENCE = 20
_LOST_PIVOT = 16  # that much of the diagonal, times the precision, tells nothing
_ROUNDING = 1e-14
_STALE_RIDGE = 0.05  # how far the ridge may move before the support is factorized again
_LOOSE = 0.1  # violation left by a solve whose working set is sure to grow
_LARGE = 1.2  # violation by which it is sure to, and to be solved again
_SMALL_STEP = 0.03  # violation that a sweep leaves alone: it is for signs, not for figures
_DOTS_A_SCORE = 24  # what one product on its own costs, counted in entries of a matrix product
_SELECTION_STEPS = 40
_CACHE_LINE = 64  # bytes
_STRIDE = 64  # scores that are passed over at once if none of them is large


class Atoms(NamedTuple):
    """What all samples share."""

    vectors: NDArray  # m×d
    gram: NDArray  # m×m, or 0×0 where it is not kept
    longest: float  # length of the longest
    rounding: float  # bound on the error of a product of two vectors of length 1
    lam: float
    norm_loss: bool
    tol: float


class Block(NamedTuple):
    """The samples of a block and the state of their solution, one row a sample."""

    targets: NDArray  # the samples
    excluded: NDArray  # its own atom, or −1
    gammas: NDArray
    floors: NDArray  # shortest residual that the norm loss tells from zero
    residuals: NDArray  # what the sample's present reconstruction leaves
    scores: NDArray  # correlations of every atom with such a residual, the last ones computed
    slots: NDArray  # the row of `scores` that is the sample's
    members: NDArray  # the working set, padded
    sizes: NDArray  # how much of `members` is in use
    products: NDArray  # of the first members with each other, where no Gram matrix is kept
    kept: NDArray  # of how many of them
    values: NDArray  # coefficients of the members
    a: NDArray  # l1 penalty
    b: NDArray  # ridge penalty
    loose: NDArray  # the working set is solved only loosely so far
    certificates: NDArray  # of the working set alone until done; infinite where float32 fails
    done: NDArray  # no atom violates the conditions


class Level(NamedTuple):
    """The penalties of one sample's problem, and what moves them."""

    norm_loss: bool
    lam: float
    gamma: float
    floor: float
    now: NDArray  # a, b, σ, and ‖r‖² at the anchor
    anchor_z: NDArray  # coefficients for which ‖r‖² is known, and g there
    anchor_g: NDArray


class Factor(NamedTuple):
    """The Cholesky factor of a support: UᵀU = Q + bI on the atoms whose coefficients are free."""

    U: NDArray  # by rows, in the precision of the data
    lost: float  # part of the diagonal below which a pivot is only rounding
    ridge: NDArray  # the b it was made for
    support: NDArray  # the atoms in it, in its order
    place: NDArray  # 1 where an atom is in it, else 0
    size: NDArray  # how many are
    step: NDArray
    pull: NDArray
    column: NDArray


class Work(NamedTuple):
    """Room for one sample's problem."""

    Q: NDArray  # in the precision of the data, as the factor; all else but sweeps in float64
    coarse: NDArray  # z and g in the precision of the data, for sweeps
    c: NDArray
    g: NDArray
    now: NDArray  # of its level
    anchor_z: NDArray
    anchor_g: NDArray
    target: NDArray  # the sample
    residual: NDArray
    scored: NDArray  # the coefficients that the scores are of
    factor: Factor
    listed: NDArray  # some atoms, or rows of Q
    places: NDArray  # of listed atoms in the working set
    weights: NDArray  # of listed rows
    products: NDArray  # of listed atoms with the residual
    trial: NDArray
    trial_g: NDArray


def _aligned(n: int, dtype: np.dtype) -> NDArray:
    """An n×n matrix that starts with a cache line."""
    room = np.empty(n * n * dtype.itemsize + _CACHE_LINE, np.uint8)
    start = -room.ctypes.data % _CACHE_LINE
    return room[start : start + n * n * dtype.itemsize].view(dtype).reshape(n, n)


def workspace(atoms: Atoms, room: int) -> Work:
    """Room for working sets of so many atoms."""
    (m, d), own = atoms.vectors.shape, atoms.vectors.dtype
    n = room // 32 * 32 + 48  # more than asked for, and an odd number of cache lines
    return Work(
        Q=_aligned(n, own),
        coarse=np.empty((2, n), own),
        c=np.empty(n),
        g=np.empty(n),
        now=np.empty(4),
        anchor_z=np.empty(n),
        anchor_g=np.empty(n),
        target=np.empty(d),
        residual=np.empty(d),
        scored=np.empty(n),
        factor=Factor(
            U=_aligned(n, own),
            lost=_LOST_PIVOT * float(np.finfo(own).eps),
            ridge=np.empty(1),
            support=np.empty(n, np.int64),
            place=np.empty(n, np.int64),
            size=np.empty(1, np.int64),
            step=np.empty(n, own),
            pull=np.empty(n, own),
            column=np.empty(n, own),
        ),
        listed=np.empty(max(m, n), np.int64),
        places=np.empty(n, np.int64),
        weights=np.empty(n),
        products=np.empty(max(m, n)),
        trial=np.empty(n),
        trial_g=np.empty(n),
    )


@_compile
def _copy(source, target):
    for k in range(source.shape[0]):
        target[k] = source[k]


@_compile
def _sign(x):
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else 0.0)


@_compile
def _dot(x, y):
    """In float64, as one of the two is."""
    s = 0.0
    for k in range(x.shape[0]):
        s += x[k] * y[k]
    return s


@_compile
def _violations(g, z, a, b):
    """Largest KKT violations, relative to a: where z ≠ 0, and where z = 0."""
    used, unused = 0.0, 0.0
    for j in range(z.shape[0]):
        if z[j] > 0.0:
            used = max(used, abs(g[j] - b * z[j] - a))
        elif z[j] < 0.0:
            used = max(used, abs(g[j] - b * z[j] + a))
        else:
            unused = max(unused, abs(g[j]) - a)
    return used / a, unused / a


@_compile
def _sweep(Q, z, g, l1, ridge):
    """One pass of coordinate descent over the working set, without its small steps; how many
    coefficients it set to zero, from zero or over it."""
    turns = 0
    a, b = z.dtype.type(l1), z.dtype.type(ridge)
    w, small = z.shape[0], z.dtype.type(_SMALL_STEP * l1)
    for j in range(w):
        curvature = Q[j, j] + b
        if curvature <= 0.0:
            continue
        pull = g[j] + Q[j, j] * z[j]
        new = z.dtype.type(0.0)
        if pull > a:
            new = (pull - a) / curvature
        elif pull < -a:
            new = (pull + a) / curvature
        step, turned = new - z[j], _sign(new) != _sign(z[j])
        if turned or abs(step) * curvature > small:
            turns += turned
            z[j] = new
            for k in range(w):
                g[k] -= step * Q[j, k]
    return turns


@_compile
def _subtract_rows(matrix, rows, weights, count, out):
    """Subtract so many rows of a matrix, weighted, from a vector."""
    n = 0
    while n + 4 <= count:
        p, q, r, s = rows[n], rows[n + 1], rows[n + 2], rows[n + 3]
        x, y, u, v = weights[n], weights[n + 1], weights[n + 2], weights[n + 3]
        for k in range(out.shape[0]):
            out[k] -= x * matrix[p, k] + y * matrix[q, k] + u * matrix[r, k] + v * matrix[s, k]
        n += 4
    while n < count:
        p, x = rows[n], weights[n]
        for k in range(out.shape[0]):
            out[k] -= x * matrix[p, k]
        n += 1


@_compile
def _find_products(vectors, listed, count, residual, products):
    """Products of so many listed atoms with a residual, in float64."""
    n = 0
    while n < count:
        second, third, last = min(n + 1, count - 1), min(n + 2, count - 1), min(n + 3, count - 1)
        p, q, r, s = listed[n], listed[second], listed[third], listed[last]
        x, y, u, v = 0.0, 0.0, 0.0, 0.0
        for k in range(residual.shape[0]):
            x += vectors[p, k] * residual[k]
            y += vectors[q, k] * residual[k]
            u += vectors[r, k] * residual[k]
            v += vectors[s, k] * residual[k]
        products[n], products[second], products[third], products[last] = x, y, u, v
        n += 4


@_compile
def _correlate(Q, c, z, g, work):
    """g = c − Qz."""
    rows, weights, count = work.listed, work.weights, np.int64(0)
    for k in range(z.shape[0]):
        g[k] = c[k]
        if z[k] != 0.0:
            rows[count], weights[count] = k, z[k]
            count += 1
    _subtract_rows(Q, rows, weights, count, g)


@_compile
def _square(level, z, g):
    """‖r‖² at z, by how far z is from the anchor, where it is known."""
    square = level.now[3]
    for j in range(z.shape[0]):
        square -= (z[j] - level.anchor_z[j]) * (level.anchor_g[j] + g[j])
    return max(square, 0.0)


@_compile
def _set_level(level, z, g):
    """Norm loss: σ, and a and b with it, at the present z."""
    if level.norm_loss:
        sigma = max(np.sqrt(_square(level, z, g)), level.floor)
        level.now[0] = sigma / level.gamma
        level.now[1] = 2.0 * level.lam * sigma / level.gamma
        level.now[2] = sigma


@_compile
def _objective(level, z, g):
    """What is minimized, as a function of z alone."""
    fit, penalty = 0.5 * _square(level, z, g), 0.0
    for j in range(z.shape[0]):
        penalty += abs(z[j]) + level.lam * z[j] * z[j]
    if level.norm_loss:
        norm = np.sqrt(2.0 * fit)
        fit = norm if norm > level.floor else fit / level.floor + 0.5 * level.floor
    return fit + penalty / level.gamma


@_compile
def _solve_lower(U, x, size):
    """Solve Uᵀx = rhs in place."""
    for k in range(size):
        value = x[k] / U[k, k]
        for q in range(size - k):
            x[k + q] -= value * U[k, k + q]
        x[k] = value


@_compile
def _solve_upper(U, x, size):
    """Solve Ux = rhs in place, two unknowns at a time."""
    k = size - 1
    while k >= 0:
        above = max(k - 1, 0)
        row, other, rest = U[k, k:size], U[above, k:size], x[k:size]
        value = rest[0]
        rest[0] = 0.0
        s, t = U.dtype.type(0.0), U.dtype.type(0.0)
        for q in range(rest.shape[0]):
            s += row[q] * rest[q]
            t += other[q] * rest[q]
        rest[0] = (value - s) / row[0]
        if above < k:
            x[above] = (x[above] - t - other[0] * rest[0]) / U[above, above]
        k -= 2


@_compile
def _factorize(Q, b, factor):
    """The Cholesky factor of a whole support; False if its atoms are linearly dependent.

    Two rows at a time, each less four rows above, so that what is loaded serves both.
    """
    U, support, size = factor.U, factor.support, factor.size[0]
    i = 0
    while i < size:
        after = min(i + 1, size - 1)
        one, two, rest = support[i], support[after], size - i
        for j in range(rest):
            U[i, i + j] = Q[one, support[i + j]]
            U[after, i + j] = Q[two, support[i + j]]
        done = 0
        while done + 4 <= i and i < after:
            k = done
            x, y, u, v = U[k, i], U[k + 1, i], U[k + 2, i], U[k + 3, i]
            e, f, g, h = U[k, after], U[k + 1, after], U[k + 2, after], U[k + 3, after]
            for j in range(rest):
                p, q, r, s = U[k, i + j], U[k + 1, i + j], U[k + 2, i + j], U[k + 3, i + j]
                U[i, i + j] -= x * p + y * q + u * r + v * s
                U[after, i + j] -= e * p + f * q + g * r + h * s
            done += 4
        for row in range(i, after + 1):
            for k in range(done, row):
                x = U[k, row]
                for j in range(rest):
                    U[row, i + j] -= x * U[k, i + j]
            # No pivot of Q + bI is less than b; rounding can make it seem so.
            pivot = max(U[row, row] + b, b)
            if pivot <= factor.lost * (Q[support[row], support[row]] + b):
                return False
            pivot = U.dtype.type(np.sqrt(pivot))
            for j in range(rest):
                U[row, i + j] /= pivot
            U[row, row] = pivot
        i += 2
    return True


@_compile
def _append(Q, b, j, factor):
    """Add atom j to the support and its Cholesky factor, as the last column.

    Returns False, with nothing added, if the atom depends linearly on the support; `factor.column`
    then says how.
    """
    U, support, column, size = factor.U, factor.support, factor.column, factor.size[0]
    for p in range(size):
        column[p] = Q[j, support[p]]
    _solve_lower(U, column, size)
    rest = Q[j, j] + b
    for p in range(size):
        rest -= column[p] * column[p]
    rest = max(rest, b)
    if rest <= factor.lost * (Q[j, j] + b):
        return False
    for p in range(size):
        U[p, size] = column[p]
    U[size, size] = np.sqrt(rest)
    support[size] = j
    factor.place[j] = 1
    factor.size[0] = size + 1
    return True


@_compile
def _remove(at, factor):
    """Take the atom at a position out of the support and its Cholesky factor, by rotations."""
    U, support, size = factor.U, factor.support, factor.size[0]
    factor.place[support[at]] = 0
    for q in range(at, size - 1):
        support[q] = support[q + 1]
    for k in range(size):
        row = U[k, max(at, k - 1) : size]
        for q in range(row.shape[0] - 1):
            row[q] = row[q + 1]
    for k in range(at, size - 1):
        upper, lower = U[k, k : size - 1], U[k + 1, k : size - 1]
        pivot = np.sqrt(upper[0] * upper[0] + lower[0] * lower[0])
        cosine, sine = upper[0] / pivot, lower[0] / pivot
        for q in range(upper.shape[0]):
            x, y = upper[q], lower[q]
            upper[q] = cosine * x + sine * y
            lower[q] = cosine * y - sine * x
    factor.size[0] = size - 1


@_compile
def _exchange(z, g, j, factor):
    """Move along the dependence of atom j on the support until a coefficient reaches zero.

    The move changes no residual, and in one direction it does not lengthen ‖z‖₁. Returns the
    position of the atom that reached zero (the support's size for j itself), or −1 if rounding
    hides it.
    """
    support, step, size = factor.support, factor.step, factor.size[0]
    for p in range(size):
        step[p] = factor.column[p]
    _solve_upper(factor.U, step, size)
    toward = _sign(g[j])
    if z[j] != 0.0:
        growth = _sign(z[j])  # of ‖z‖₁ as z[j] grows and the support makes up for it
        for p in range(size):
            growth -= step[p] * _sign(z[support[p]])
        toward = -_sign(growth) if growth != 0.0 else -_sign(z[j])
    length, first = np.inf, np.int64(-1)
    if z[j] * toward < 0.0:
        length, first = abs(z[j]), size
    for p in range(size):
        move = -toward * step[p]
        reach = abs(z[support[p]])
        if _sign(move) == -_sign(z[support[p]]) and reach < length * abs(move):
            length, first = reach / abs(move), p
    if first >= 0:
        z[j] += length * toward
        for p in range(size):
            z[support[p]] -= length * toward * step[p]
        z[j if first == size else support[first]] = 0.0
    return first


@_join
def _enter(Q, z, g, b, j, factor):
    """Add atom j to the support, in exchange for another if it depends on them linearly (only
    possible without a ridge); whether that changed z."""
    moved = False
    while not _append(Q, b, j, factor):
        leaves = _exchange(z, g, j, factor)
        moved = moved or leaves >= 0
        if leaves < 0 or leaves == factor.size[0]:
            break
        _remove(leaves, factor)
    return moved


@_join
def _follow_support(Q, z, g, b, newcomer, factor):
    """Bring the factor to the present support, and one atom more unless −1: by changes if they are
    few, else anew; whether that changed z."""
    size, support, place = factor.size[0], factor.support, factor.place
    changes = 0
    for j in range(z.shape[0]):
        changes += place[j] != (z[j] != 0.0)
    if abs(factor.ridge[0] - b) <= _STALE_RIDGE * b and 8 * changes <= size:
        for p in range(size - 1, -1, -1):
            if z[support[p]] == 0.0:
                _remove(p, factor)
    else:
        factor.ridge[0] = b
        factor.size[0] = 0
        for j in range(z.shape[0]):
            place[j] = 0
            if z[j] != 0.0:
                support[factor.size[0]] = j
                factor.size[0] += 1
        if _factorize(Q, b, factor):
            for p in range(factor.size[0]):
                place[support[p]] = 1
        else:
            factor.size[0] = 0
    moved = False
    for j in range(z.shape[0]):
        if place[j] == 0 and (z[j] != 0.0 or j == newcomer):
            moved = _enter(Q, z, g, factor.ridge[0], j, factor) or moved
    return moved


@_compile
def _newton_step(bent, now, z, g, factor):
    """The step to the minimum over the support with its present signs, into `factor.step`.

    With the norm loss that is a minimum at the present σ, which always lowers the objective;
    `bent` also counts on how σ will follow, which gets there faster when it is close.
    """
    support, step, pull, size = factor.support, factor.step, factor.pull, factor.size[0]
    a, b, sigma = now[0], now[1], now[2]
    for p in range(size):
        j = support[p]
        positive = z[j] > 0.0 or (z[j] == 0.0 and g[j] > 0.0)
        step[p] = g[j] - b * z[j] - (a if positive else -a)
    _solve_lower(factor.U, step, size)
    _solve_upper(factor.U, step, size)
    if bent:
        # A term of rank one, −ggᵀ/σ², in the second derivative of ‖r‖.
        for p in range(size):
            pull[p] = g[support[p]]
        _solve_lower(factor.U, pull, size)
        _solve_upper(factor.U, pull, size)
        along, bend = 0.0, 0.0
        for p in range(size):
            along += g[support[p]] * step[p]
            bend += g[support[p]] * pull[p]
        share = along / (sigma * sigma * max(1.0 - bend / (sigma * sigma), 0.05))
        for p in range(size):
            step[p] += share * pull[p]


@_compile
def _descend(level, Q, c, z, g, work):
    """Newton steps with fixed signs, until one can be made whole.

    Coordinates whose sign would flip are set to zero, all at once if that lowers the objective,
    else only the first on the way there, which always lowers it.
    """
    factor = work.factor
    support, step = factor.support, factor.step
    w = z.shape[0]
    trial, trial_g = work.trial[:w], work.trial_g[:w]
    bent = level.norm_loss
    while True:
        size = factor.size[0]
        before = _objective(level, z, g)
        bent = bent and level.now[2] > level.floor
        _newton_step(bent, level.now, z, g, factor)
        length, first = 1.0, -1
        _copy(z, trial)
        for p in range(size):
            j = support[p]
            positive = z[j] > 0.0 or (z[j] == 0.0 and g[j] > 0.0)
            trial[j] = z[j] + step[p]
            if trial[j] == 0.0 or (trial[j] > 0.0) != positive:
                trial[j] = 0.0
                reach = min(1.0, abs(z[j]) / abs(step[p])) if z[j] != 0.0 else 0.0
                if first < 0 or reach < length:
                    length, first = reach, p
        _correlate(Q, c, trial, trial_g, work)
        if bent or first >= 0:
            after = _objective(level, trial, trial_g)
            if bent and not after <= before + _ROUNDING * abs(before):
                bent = False
                continue
            if first >= 0 and not after < before:
                for p in range(size):
                    trial[support[p]] = z[support[p]] + length * step[p]
                trial[support[first]] = 0.0
                _correlate(Q, c, trial, trial_g, work)
        _copy(trial, z)
        _copy(trial_g, g)
        _set_level(level, z, g)
        if first < 0:
            return
        for p in range(size - 1, -1, -1):
            if z[support[p]] == 0.0:
                _remove(p, factor)


@_join
def _solve_model(level, Q, c, z, g, work, tol):
    """Minimize over the working set from the given z, to a violation of tol.

    Sweeps find the support, until they no longer change it, and Newton steps do the rest. Where
    sweeps only crawl, for atoms that are close to dependent, the worst violator alone is let into
    the support each time, as in an active set method, until rounding ends that.
    """
    now, factor = level.now, work.factor
    w = z.shape[0]
    coarse_z, coarse_g = work.coarse[0, :w], work.coarse[1, :w]
    rounds, waited, best = 0, 0, np.inf
    _correlate(Q, c, z, g, work)
    _set_level(level, z, g)
    while waited <= _PATIENCE + factor.size[0]:
        used, unused = _violations(g, z, now[0], now[1])
        violation = max(used, unused)
        if violation <= tol:
            return
        sweeping = rounds < _MOST_ROUNDS
        rounds += 1
        if sweeping and (unused > tol or factor.size[0] == 0):
            _copy(z, coarse_z)
            _copy(g, coarse_g)
            for _ in range(3 + w // 16):
                turns = _sweep(Q, coarse_z, coarse_g, now[0], now[1])
                _set_level(level, coarse_z, coarse_g)
                if turns == 0:
                    break
            _copy(coarse_z, z)
            _correlate(Q, c, z, g, work)
            _set_level(level, z, g)
            # Where the ridge dominates, sweeps alone converge fast and need no factorization.
            used, unused = _violations(g, z, now[0], now[1])
            if max(used, unused) <= max(tol, 0.1 * violation):
                continue
        worst = np.int64(-1)
        if not sweeping:
            waited = 0 if violation < 0.9 * best else waited + 1
            best = min(best, violation)
            excess = now[0] * tol
            for j in range(w):
                if z[j] == 0.0 and abs(g[j]) - now[0] > excess:
                    worst, excess = j, abs(g[j]) - now[0]
        if _follow_support(Q, z, g, now[1], worst, factor):
            _correlate(Q, c, z, g, work)
            _set_level(level, z, g)
        _descend(level, Q, c, z, g, work)


@_compile
def _multiply(X, members, i, old, w, Q):
    """Q[p, :p + 1] = products of member p of sample i's working set with the members up to it, for
    p from `old` to w.

    In tiles of two by four, which is as fast as BLAS for matrices of this size.
    """
    d, own, p = X.shape[1], X.dtype.type, old
    while p < w:
        r = min(p + 1, w - 1)  # the last row may be left without another
        one, two = members[i, p], members[i, r]
        q = 0
        while q + 4 <= r + 1:
            f, g, h, m = members[i, q], members[i, q + 1], members[i, q + 2], members[i, q + 3]
            a, b, c, e = own(0.0), own(0.0), own(0.0), own(0.0)
            s, t, u, v = own(0.0), own(0.0), own(0.0), own(0.0)
            for k in range(d):
                a += X[one, k] * X[f, k]
                b += X[one, k] * X[g, k]
                c += X[one, k] * X[h, k]
                e += X[one, k] * X[m, k]
                s += X[two, k] * X[f, k]
                t += X[two, k] * X[g, k]
                u += X[two, k] * X[h, k]
                v += X[two, k] * X[m, k]
            Q[p, q], Q[p, q + 1], Q[p, q + 2], Q[p, q + 3] = a, b, c, e
            Q[r, q], Q[r, q + 1], Q[r, q + 2], Q[r, q + 3] = s, t, u, v
            q += 4
        while q < r + 1:
            a, s, f = own(0.0), own(0.0), members[i, q]
            for k in range(d):
                a += X[one, k] * X[f, k]
                s += X[two, k] * X[f, k]
            Q[p, q], Q[r, q] = a, s
            q += 1
        p += 2


@_compile
def _gather(atoms, block, i, old, w, work):
    """Q and c of sample i's working set, from its `old`-th member on.

    Without a stored Gram matrix the products of the first members are kept from call to call.
    """
    gram, members, products = atoms.gram, block.members, block.products
    Q, c, own = work.Q, work.c, block.excluded[i]
    stored, cap = gram.shape[0] > 0, products.shape[1]
    if stored:
        for p in range(old, w):
            at = members[i, p]
            for q in range(p + 1):
                Q[p, q] = gram[at, members[i, q]]
    else:
        kept = max(old, min(block.kept[i], w))
        for p in range(old, kept):
            for q in range(p + 1):
                Q[p, q] = products[i, p, q]
        _multiply(atoms.vectors, members, i, kept, w, Q)
        for p in range(kept, min(w, cap)):
            for q in range(p + 1):
                products[i, p, q] = Q[p, q]
        block.kept[i] = max(block.kept[i], min(w, cap))
    for p in range(old, w):
        at = members[i, p]
        for q in range(p):
            Q[q, p] = Q[p, q]
        c[p] = gram[own, at] if stored and own >= 0 else _dot(atoms.vectors[at], work.target)


@_compile
def _find_residual(atoms, members, z, work):
    """The sample less its reconstruction, in float64."""
    rows, weights, count = work.listed, work.weights, np.int64(0)
    for p in range(z.shape[0]):
        if z[p] != 0.0:
            rows[count], weights[count] = members[p], z[p]
            count += 1
    _copy(work.target, work.residual)
    _subtract_rows(atoms.vectors, rows, weights, count, work.residual)


@_compile
def _correct_model(atoms, level, members, c, z, g, work):
    """Compute the residual, and what it says, in float64; shift c so that the model agrees.

    Atoms that are far from entering, by more than the model can be wrong, stay as they are.
    """
    residual = work.residual
    _find_residual(atoms, members, z, work)
    total = 0.0
    for p in range(z.shape[0]):
        total += abs(z[p])
    off = (
        atoms.rounding
        * atoms.longest
        * (np.sqrt(_dot(work.target, work.target)) + 2.0 * total * atoms.longest)
    )
    listed, places, count = work.listed, work.places, np.int64(0)
    for p in range(z.shape[0]):
        if z[p] != 0.0 or abs(g[p]) + off > level.now[0]:
            listed[count], places[count] = members[p], p
            count += 1
    _find_products(atoms.vectors, listed, count, residual, work.products)
    for n in range(count):
        p = places[n]
        c[p] += work.products[n] - g[p]
        g[p] = work.products[n]
    level.now[3] = _dot(residual, residual)
    _copy(z, level.anchor_z)
    _copy(g, level.anchor_g)
    _set_level(level, z, g)


@_join
def _solve(atoms, block, i, level, work, loosely):
    """Solve sample i on its working set; whether that succeeded."""
    w = block.sizes[i]
    z, c, g = block.values[i, :w], work.c[:w], work.g[:w]
    members, now = block.members[i, :w], level.now
    tol = _LOOSE if loosely else 0.1 * atoms.tol
    violation, solved = np.inf, False
    for _ in range(_MOST_CORRECTIONS):
        _solve_model(level, work.Q, c, z, g, work, tol)
        if loosely:
            solved = True
            break
        last = violation
        _correct_model(atoms, level, members, c, z, g, work)
        used, unused = _violations(g, z, now[0], now[1])
        violation = max(used, unused)
        solved = violation <= 0.4 * atoms.tol
        if solved or not violation < 0.9 * last:
            break
    block.a[i], block.b[i] = now[0], now[1]
    block.loose[i], block.certificates[i] = loosely, violation
    return solved


@_compile
def _count_above(scores, slot, threshold):
    count = 0
    for j in range(scores.shape[1]):
        count += abs(scores[slot, j]) > threshold
    return count


@_compile
def _any_above(scores, slot, at, threshold):
    """Whether one of a stride of |scores| is above a threshold."""
    count = 0
    for j in range(_STRIDE):
        count += abs(scores[slot, at * _STRIDE + j]) > threshold
    return count > 0


@_compile
def _largest(scores, slot):
    """The largest |score| in a row."""
    largest, strides = scores.dtype.type(0.0), scores.shape[1] // _STRIDE
    for at in range(strides):
        if _any_above(scores, slot, at, largest):
            for j in range(_STRIDE):
                largest = max(largest, abs(scores[slot, at * _STRIDE + j]))
    for j in range(strides * _STRIDE, scores.shape[1]):
        largest = max(largest, abs(scores[slot, j]))
    return largest


@_compile
def _list_above(scores, slot, threshold, out, start, most):
    """Write the atoms whose |score| in a row is above a threshold, at most so many, into
    `out` from `start` on; returns how many."""
    count, strides = np.int64(0), scores.shape[1] // _STRIDE
    for at in range(strides + 1):
        if at == strides or _any_above(scores, slot, at, threshold):
            for j in range(at * _STRIDE, min((at + 1) * _STRIDE, scores.shape[1])):
                if abs(scores[slot, j]) > threshold and count < most:
                    out[start + count] = j
                    count += 1
    return count


@_compile
def _add_largest(block, i, count, low):
    """Add about `count` atoms, never more, of the largest |score| above `low` to sample i's
    working set; returns how many."""
    scores, slot = block.scores, block.slots[i]
    own = scores.dtype.type
    low, high = own(low), _largest(scores, slot)
    below, above = _count_above(scores, slot, low), 0
    if below <= count:
        high = low
    else:
        # |scores| thin out about exponentially towards the largest.
        for _ in range(_SELECTION_STEPS):
            part = np.log(below / (0.85 * count)) / np.log(below / max(above, 0.5))
            middle = low + own(min(max(part, 0.1), 0.9)) * (high - low)
            found = _count_above(scores, slot, middle)
            if found > count:
                low, below = middle, found
            else:
                high, above = middle, found
                if 4 * above >= 3 * count:
                    break
    members, size = block.members[i], block.sizes[i]
    added = _list_above(scores, slot, high, members, size, count)
    if added == 0:  # ties
        added = _list_above(scores, slot, low, members, size, count)
    block.sizes[i] = size + added
    return added


@_compile
def _score(atoms, block, i, w, work):
    """Bring all scores of sample i from the coefficients `work.scored` to the present ones, by the
    stored Gram matrix; returns a bound on the error this adds."""
    z, scored, moved, move = block.values, work.scored, work.listed, work.coarse[0]
    count, total = np.int64(0), 0.0
    for p in range(w):
        if z[i, p] != scored[p]:
            total += abs(z[i, p] - scored[p])
            moved[count], move[count] = block.members[i, p], z[i, p] - scored[p]
            scored[p] = z[i, p]
            count += 1
    _subtract_rows(atoms.gram, moved, move, count, block.scores[block.slots[i]])
    return 2.0 * atoms.rounding * atoms.longest**2 * total


@_compile
def _distance(atoms, block, i, w, work):
    """A bound on how far the residual is from that of the coefficients `work.scored`."""
    z, scored, moved, move = block.values, work.scored, work.listed, work.weights
    count, total = np.int64(0), 0.0
    for p in range(w):
        work.trial_g[p] = 0.0
        if z[i, p] != scored[p]:
            total += abs(z[i, p] - scored[p])
            moved[count], move[count] = p, z[i, p] - scored[p]
            count += 1
    _subtract_rows(work.Q, moved, move, count, work.trial_g[:w])
    square = atoms.rounding * (atoms.longest * total) ** 2
    for n in range(count):
        square -= move[n] * work.trial_g[moved[n]]
    return np.sqrt(max(square, 0.0))


@_compile
def _check(atoms, block, i, slack, known, work):
    """Check sample i against the optimality conditions of every atom; add violators.

    `block.scores` holds, within `slack`, the correlations with the present residual (`known`), or
    with one from before. By how far it has moved, few atoms may be left that could violate the
    conditions; then these alone are computed, in float64. Returns how many were added, or −1 where
    only scores of the present residual, or more room, will tell.
    """
    a, size, loose = block.a[i], block.sizes[i], block.loose[i]
    scores, slot, members = block.scores, block.slots[i], block.members
    limit = a * (1.0 + 0.5 * atoms.tol)
    most = min(max(size, 16), members.shape[1] - size)
    off = slack
    if known:
        certain = _count_above(scores, slot, scores.dtype.type(limit + off))
        if certain > 0 and most == 0:
            return np.int64(-1)
        if certain > 0:
            return _add_largest(block, i, min(certain, most), limit + off)
        if loose:
            return np.int64(0)
    elif loose:
        return np.int64(-1)
    else:
        off += atoms.longest * _distance(atoms, block, i, size, work)
    lowest = scores.dtype.type(max(a - off, 0.0))
    possible = _count_above(scores, slot, lowest)
    # Of old scores that are zero, as members' are made, nothing is known once off reaches a.
    if not known and (off >= a or _DOTS_A_SCORE * possible > scores.shape[1]):
        return np.int64(-1)
    candidates, products = work.listed, work.products
    _list_above(scores, slot, lowest, candidates, 0, possible)
    _find_products(atoms.vectors, candidates, possible, work.residual, products)
    worst, violators = 0.0, np.int64(0)
    for k in range(possible):
        worst = max(worst, abs(products[k]))
        if abs(products[k]) > limit:
            if violators < most:
                members[i, size + violators] = candidates[k]
            violators += 1
    added = min(violators, most)
    block.sizes[i] = size + added
    if violators == 0:
        block.certificates[i] = max(block.certificates[i], worst / a - 1.0)
    return added if added > 0 or violators == 0 else np.int64(-1)


@njit(**_OPTIONS, cache=True)
def solve(rows, work, atoms, block, count):
    """Grow, solve and check samples, from the `count` atoms that correlate most with each.

    A sample is left when it is done, when scores are needed that are for the driver to compute
    (of the residual it leaves), or when its working set needs more room.
    """
    scores, members, now = block.scores, block.members, work.now
    stored = atoms.gram.shape[0] > 0
    for i in rows:
        slot = block.slots[i]
        _copy(block.targets[i], work.target)
        known = block.sizes[i] > 0  # whether the scores are of the present residual
        if known:
            _copy(block.residuals[i], work.residual)
        else:
            _copy(work.target, work.residual)
            _add_largest(block, i, count, 0.0)
        slack = atoms.rounding * atoms.longest * np.sqrt(_dot(work.residual, work.residual))
        now[0], now[1], now[3] = block.a[i], block.b[i], _dot(work.target, work.target)
        level = Level(
            atoms.norm_loss, atoms.lam, block.gammas[i], block.floors[i], now, work.anchor_z,
            work.anchor_g
        )  # fmt: skip
        work.factor.size[0] = 0
        for p in range(members.shape[1]):
            work.factor.place[p] = 0
        w, loosely = np.int64(0), not known
        while True:
            _gather(atoms, block, i, w, block.sizes[i], work)
            while w < block.sizes[i]:
                work.scored[w] = block.values[i, w]
                work.anchor_z[w] = 0.0
                work.anchor_g[w] = work.c[w]
                for p in range(w):
                    work.anchor_g[w] -= work.Q[w, p] * work.anchor_z[p]
                w += 1
            if not known:
                solved = _solve(atoms, block, i, level, work, loosely)
                if atoms.vectors.itemsize == 4 and (not solved or block.a[i] < 2.0 * slack):
                    block.certificates[i] = np.inf  # float32 will not do
                    block.done[i] = True
                    break
            elif not block.loose[i]:
                _find_residual(atoms, members[i, :w], block.values[i, :w], work)
            while True:
                for p in range(w):
                    scores[slot, members[i, p]] = 0.0
                if block.excluded[i] >= 0:
                    scores[slot, block.excluded[i]] = 0.0
                added = _check(atoms, block, i, slack, known, work)
                if added >= 0 or known or not stored:
                    break
                slack += _score(atoms, block, i, w, work)
                known = True
            if added < 0:
                if block.loose[i]:
                    _find_residual(atoms, members[i, :w], block.values[i, :w], work)
                _copy(work.residual, block.residuals[i])
                break
            if added == 0 and not block.loose[i]:
                block.done[i] = True
                break
            loosely = known and added > 0 and _largest(scores, slot) > _LARGE * block.a[i]
            known = False
