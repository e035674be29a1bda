"""Compiled loops of the solver, and nothing that is not one.

Notation of a single sample's problem, restricted to its working set of w atoms:

    F(z) = ½ zᵀQz − cᵀz + a‖z‖₁ + (b/2)‖z‖²

`Q` (w×w) is the atoms' Gram matrix, `c` their correlations with the sample, and `g = c − Qz`
their correlations with its residual, which is kept up to date as z changes. z is optimal when
g = b·z + a·sign(z) where z ≠ 0, and |g| ≤ a where z = 0.

Kernels release the GIL and work in place; the driver runs the public ones in threads, each on
some rows of a block. They stay in one file because Numba's cache on disk looks for changes only in
the file of the kernel that is called: with callees elsewhere it would go on running old code.
"""

# mypy: disable-error-code="no-untyped-def,assignment"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

_FAST = {"reassoc", "contract", "nsz", "arcp"}
# (A constant handed to a kernel is compiled in, as a form of its own: np.int64(0) is not.)
_compile = njit(nogil=True, cache=True, error_model="numpy", fastmath=_FAST)

_SWEEPS_BEFORE_NEWTON = 3
_MOST_ROUNDS = 20
_PATIENCE = 20
_MOST_ROOT_STEPS = 100
_LOST_PIVOT = 4e-15


class Atoms(NamedTuple):
    """What all samples share."""

    vectors: NDArray  # m×d
    gram: NDArray  # m×m, or 0×0 where it is not kept
    longest: float  # length of the longest
    lam: float
    norm_loss: bool
    tol: float


class Block(NamedTuple):
    """The samples of a block and the state of their solution, one row a sample."""

    targets: NDArray  # the samples
    lengths: NDArray  # of the samples
    correlations: NDArray  # of every atom with the sample, zero for its own
    excluded: NDArray  # its own atom, or −1
    gammas: NDArray
    floors: NDArray  # shortest residual that the norm loss tells from zero
    least: NDArray  # smallest l1 penalty that the precision can serve
    sigmas: NDArray  # norm loss: length of the residual
    members: NDArray  # the working set, padded
    sizes: NDArray  # how much of `members` is in use
    values: NDArray  # coefficients of the members
    a: NDArray  # l1 penalty
    b: NDArray  # ridge penalty
    certificates: NDArray
    done: NDArray  # no atom violates the conditions


@_compile
def _sign(x):
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else 0.0)


@_compile
def _violation(g, z, a, b):
    """Largest KKT violation over the working set, relative to a."""
    worst = 0.0
    for j in range(z.shape[0]):
        if z[j] > 0.0:
            off = abs(g[j] - b * z[j] - a)
        elif z[j] < 0.0:
            off = abs(g[j] - b * z[j] + a)
        else:
            off = abs(g[j]) - a
        worst = max(worst, off)
    return worst / a


@_compile
def _sweep(Q, z, g, a, b):
    """One pass of coordinate descent over the working set."""
    for j in range(z.shape[0]):
        curvature = Q[j, j] + b
        if curvature <= 0.0:
            continue
        pull = g[j] + Q[j, j] * z[j]
        if pull > a:
            new = (pull - a) / curvature
        elif pull < -a:
            new = (pull + a) / curvature
        else:
            new = 0.0
        step = new - z[j]
        if step != 0.0:
            z[j] = new
            for k in range(g.shape[0]):
                g[k] -= step * Q[j, k]


class Work(NamedTuple):
    """Room for the linear algebra on a support: the atoms whose coefficients are free."""

    L: NDArray  # Cholesky factor of the support's Q + bI
    support: NDArray
    step: NDArray
    cosines: NDArray
    sines: NDArray
    z: NDArray
    g: NDArray


@_compile
def _append(Q, b, j, work, size):
    """Add atom j to the support and its Cholesky factor, as the last row.

    Returns False if the atom depends linearly on the support; the row is then of no use as a
    factor's, but still says how it depends.
    """
    L, support = work.L, work.support
    support[size] = j
    rest = Q[j, j] + b
    for p in range(size):
        s = 0.0
        for k in range(p):
            s += L[size, k] * L[p, k]
        L[size, p] = (Q[j, support[p]] - s) / L[p, p]
        rest -= L[size, p] * L[size, p]
    rest = max(rest, b)  # no pivot of Q + bI is less; rounding can make it seem so
    L[size, size] = np.sqrt(rest)
    return rest > _LOST_PIVOT * (Q[j, j] + b)


@_compile
def _remove(at, work, size):
    """Take the atom at a position out of the support and its Cholesky factor, by rotations."""
    L, support, cosines, sines = work.L, work.support, work.cosines, work.sines
    for i in range(at, size - 1):
        support[i] = support[i + 1]
        for k in range(i + 2):
            L[i, k] = L[i + 1, k]
        for k in range(at, i):
            x, y = L[i, k], L[i, k + 1]
            L[i, k] = cosines[k] * x + sines[k] * y
            L[i, k + 1] = cosines[k] * y - sines[k] * x
        pivot = np.sqrt(L[i, i] * L[i, i] + L[i, i + 1] * L[i, i + 1])
        cosines[i], sines[i] = L[i, i] / pivot, L[i, i + 1] / pivot
        L[i, i] = pivot


@_compile
def _solve_lower(L, x, size):
    """Solve L x = rhs in place."""
    for i in range(size):
        s = 0.0
        for k in range(i):
            s += L[i, k] * x[k]
        x[i] = (x[i] - s) / L[i, i]


@_compile
def _solve_upper(L, x, size):
    """Solve Lᵀ x = rhs in place."""
    for i in range(size - 1, -1, -1):
        x[i] /= L[i, i]
        for k in range(i):
            x[k] -= L[i, k] * x[i]


@_compile
def _correlate(Q, c, z, g):
    """g = c − Qz."""
    for k in range(g.shape[0]):
        g[k] = c[k]
    for j in range(z.shape[0]):
        if z[j] != 0.0:
            for k in range(g.shape[0]):
                g[k] -= z[j] * Q[j, k]


@_compile
def _objective(c, z, g, a, b):
    """F(z), with Qz read off g."""
    value = 0.0
    for j in range(z.shape[0]):
        value += z[j] * (0.5 * b * z[j] - 0.5 * (c[j] + g[j])) + a * abs(z[j])
    return value


@_compile
def _exchange(z, g, j, work, size):
    """Move along the dependence of atom j on the support until a coefficient reaches zero.

    The move changes no residual, and in one direction it does not lengthen ‖z‖₁. Returns the
    position of the atom that reached zero (`size` for j itself), or −1 if rounding hides it.
    """
    support, step = work.support, work.step
    step[:size] = work.L[size, :size]
    _solve_upper(work.L, step, size)
    toward = _sign(g[j])
    if z[j] != 0.0:
        growth = _sign(z[j])  # of ‖z‖₁ as z[j] grows and the support makes up for it
        for p in range(size):
            growth -= step[p] * _sign(z[support[p]])
        toward = -_sign(growth) if growth != 0.0 else -_sign(z[j])
    length, first = np.inf, -1
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
        z[support[first]] = 0.0
    return first


@_compile
def _enter(Q, z, g, b, j, work, size):
    """Add atom j to the support, in exchange for another if it depends on them linearly (only
    possible without a ridge). Returns the support's size."""
    while not _append(Q, b, j, work, size):
        leaves = _exchange(z, g, j, work, size)
        if leaves < 0 or leaves == size:
            return size
        _remove(leaves, work, size)
        size -= 1
    return size + 1


@_compile
def _descend(Q, c, z, g, a, b, work, size):
    """Newton steps with fixed signs, until one can be made whole; returns the support's size.

    Coordinates whose sign would flip are set to zero, all at once if that lowers the objective,
    else only the first on the way there, which always lowers it.
    """
    support, step, trial, trial_g = work.support, work.step, work.z, work.g
    while True:
        for p in range(size):
            j = support[p]
            positive = z[j] > 0.0 or (z[j] == 0.0 and g[j] > 0.0)
            step[p] = g[j] - b * z[j] - (a if positive else -a)
        _solve_lower(work.L, step, size)
        _solve_upper(work.L, step, size)
        length, first = 1.0, -1
        trial[:] = z
        for p in range(size):
            j = support[p]
            positive = z[j] > 0.0 or (z[j] == 0.0 and g[j] > 0.0)
            trial[j] = z[j] + step[p]
            if trial[j] == 0.0 or (trial[j] > 0.0) != positive:
                trial[j] = 0.0
                reach = min(1.0, abs(z[j]) / abs(step[p])) if z[j] != 0.0 else 0.0
                if first < 0 or reach < length:
                    length, first = reach, p
        _correlate(Q, c, trial, trial_g)
        if first >= 0 and not _objective(c, trial, trial_g, a, b) < _objective(c, z, g, a, b):
            for p in range(size):
                trial[support[p]] = z[support[p]] + length * step[p]
            trial[support[first]] = 0.0
            _correlate(Q, c, trial, trial_g)
        z[:] = trial
        g[:] = trial_g
        if first < 0:
            return size
        for p in range(size - 1, -1, -1):
            if z[support[p]] == 0.0:
                _remove(p, work, size)
                size -= 1


@_compile
def _let_in_one_by_one(Q, c, a, b, z, g, work, size, tol):
    """Let the worst violator into the support until none is left; False if rounding prevents it.

    An active set method, for what sweeps crawl towards: atoms that are close to dependent.
    """
    best = np.inf
    waited = 0
    while waited <= _PATIENCE + size:
        violation = _violation(g, z, a, b)
        if violation <= tol:
            return True
        waited = 0 if violation < 0.9 * best else waited + 1
        best = min(best, violation)
        worst, excess = np.int64(-1), a * tol
        for j in range(z.shape[0]):
            if z[j] == 0.0 and abs(g[j]) - a > excess:
                worst, excess = j, abs(g[j]) - a
        if worst >= 0:
            size = _enter(Q, z, g, b, worst, work, size)
            _correlate(Q, c, z, g)
        size = _descend(Q, c, z, g, a, b, work, size)
    return False


@_compile
def _newton(Q, c, a, b, z, g, work):
    """The minimum over the present support with its present signs, or on the way there."""
    size = np.int64(0)
    for j in range(z.shape[0]):
        if z[j] != 0.0:
            size = _enter(Q, z, g, b, j, work, size)
    _correlate(Q, c, z, g)
    return _descend(Q, c, z, g, a, b, work, size)


@_compile
def _solve_working_set(Q, c, a, b, z, g, tol):
    """Minimise F on the working set from the given z; whether a violation of tol is reached."""
    w = z.shape[0]
    work = Work(
        np.empty((w + 1, w + 1)), np.empty(w + 1, np.int64), np.empty(w), np.empty(w), np.empty(w),
        np.empty(w), np.empty(w)
    )  # fmt: skip
    size = np.int64(0)
    _correlate(Q, c, z, g)
    for _ in range(_MOST_ROUNDS):
        violation = _violation(g, z, a, b)
        if violation <= tol:
            return True
        for _ in range(_SWEEPS_BEFORE_NEWTON):
            _sweep(Q, z, g, a, b)
        _correlate(Q, c, z, g)
        # Where the ridge dominates, sweeps alone converge fast and need no factorization.
        if _violation(g, z, a, b) > 0.1 * violation:
            size = _newton(Q, c, a, b, z, g, work)
    size = _newton(Q, c, a, b, z, g, work)
    return _let_in_one_by_one(Q, c, a, b, z, g, work, size, tol)


@_compile
def _residual(target, atoms, members, z, out):
    """The sample less its reconstruction."""
    for k in range(out.shape[0]):
        out[k] = target[k]
    for p in range(z.shape[0]):
        if z[p] != 0.0:
            atom = atoms[members[p]]
            for k in range(out.shape[0]):
                out[k] -= z[p] * atom[k]


@_compile
def _norm(x):
    s = 0.0
    for k in range(x.shape[0]):
        s += np.float64(x[k]) * np.float64(x[k])
    return np.sqrt(s)


@_compile
def _largest_magnitude(z):
    worst = 0.0
    for k in range(z.shape[0]):
        worst = max(worst, abs(z[k]))
    return worst


@_compile
def _solve_norm_loss(atoms, block, i, Q, c, z, g):
    """Find σ = ‖r(σ)‖, where r(σ) solves the squared problem with a = σ/γ, b = 2λσ/γ.

    log‖r(σ)‖ − log σ falls through zero once. A secant in log σ finds it, or, where that is slow
    or leads out of the bracket, halving. A residual below the floor counts as the floor, which
    smooths the loss at an exact fit. Returns ‖r‖, and whether z is solved.
    """
    gamma, floor, target = block.gammas[i], block.floors[i], block.targets[i]
    members = block.members[i, : z.shape[0]]
    residual = np.empty(target.shape[0], np.float64)
    sigma, norm, solved = block.sigmas[i], floor, False
    low, high = 0.5 * floor, 1.01 * max(_norm(target), floor)
    slope = 0.0  # of log‖r‖ against log σ: in [0, 1)
    last_sigma, last_off, slow_steps = sigma, np.inf, 0
    for _ in range(_MOST_ROOT_STEPS):
        a, b = sigma / gamma, 2.0 * atoms.lam * sigma / gamma
        # ‖r‖ is less certain than g, by the condition of the support.
        solved = _solve_working_set(Q, c, a, b, z, g, 0.01 * atoms.tol)
        _residual(target, atoms.vectors, members, z, residual)
        norm = max(_norm(residual), floor)
        off = np.log(norm / sigma)
        allowed = 0.1 * atoms.tol / (1.0 + 2.0 * atoms.lam * _largest_magnitude(z))
        if abs(off) <= allowed or high - low <= 1e-14 * high:
            break
        if off > 0.0:
            low = sigma
        else:
            high = sigma
        if last_sigma != sigma:
            slope = 1.0 + (off - last_off) / np.log(sigma / last_sigma)
            slope = min(max(slope, 0.0), 0.95)
        slow_steps = slow_steps + 1 if abs(off) > 0.5 * abs(last_off) else 0
        last_sigma, last_off = sigma, off
        sigma = max(sigma * np.exp(off / (1.0 - slope)), 0.1 * sigma, floor)
        if slow_steps == 2 or sigma <= low or sigma >= high:
            sigma, slow_steps = max(np.sqrt(low * high), floor), 0
    return norm, solved


@_compile
def _gather(atoms, members, Q):
    """Q = the Gram matrix of the working set, from the stored one or from the atoms."""
    w = members.shape[0]
    if atoms.gram.shape[0] > 0:
        for p in range(w):
            row = atoms.gram[members[p]]
            for q in range(w):
                Q[p, q] = row[members[q]]
    else:
        chosen = atoms.vectors[members].astype(np.float64)
        np.dot(chosen, chosen.T, Q)


@_compile
def _correlate_residual(correlations, gram, members, z, out):
    """out = every atom's correlation with the residual, from the stored Gram matrix."""
    for k in range(out.shape[0]):
        out[k] = correlations[k]
    for p in range(z.shape[0]):
        if z[p] != 0.0:
            row = gram[members[p]]
            value = row.dtype.type(z[p])
            for k in range(out.shape[0]):
                out[k] -= value * row[k]


@_compile
def _kth_largest(values, k):
    """The k-th largest of the values, which are reordered (quickselect; NumPy's partition would
    take longer to compile than all the rest)."""
    low, high = 0, values.shape[0] - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            high = j
        elif k - 1 >= i:
            low = i
        else:
            break
    return values[k - 1]


@_compile
def _add_largest(scores, count, members, size):
    """Append the `count` atoms of largest score to the working set, or all of positive score."""
    threshold = _kth_largest(scores.copy(), min(count, scores.shape[0]))
    added = 0
    for ties in range(2):  # those at the threshold only while there is room
        for j in range(scores.shape[0]):
            chosen = scores[j] == threshold if ties == 1 else scores[j] > threshold
            if chosen and scores[j] > 0.0 and added < count:
                members[size + added] = j
                added += 1
    return size + added


@_compile
def _certify_and_grow(scores, block, i, tol):
    """Check sample i against the optimality conditions of every atom; add the worst violators.

    `scores` holds all correlations with its residual and is overwritten. The sample is done
    when no atom outside its working set violates the conditions.
    """
    a, b, size = block.a[i], block.b[i], block.sizes[i]
    members, z = block.members[i], block.values[i]
    inside = np.empty(size, np.float64)
    for p in range(size):
        inside[p] = scores[members[p]]
        scores[members[p]] = 0.0
    if block.excluded[i] >= 0:
        scores[block.excluded[i]] = 0.0
    violators = 0
    largest = 0.0
    for k in range(scores.shape[0]):
        score = abs(scores[k])
        largest = max(largest, score)
        if score > a * (1.0 + 0.5 * tol):
            violators += 1
            scores[k] = score
        else:
            scores[k] = 0.0
    block.certificates[i] = max(_violation(inside, z[:size], a, b), largest / a - 1.0)
    block.done[i] = violators == 0
    count = min(violators, max(size, 16), members.shape[0] - size)
    if count > 0:
        block.sizes[i] = _add_largest(scores, count, members, size)


@_compile
def _solve_row(atoms, block, i):
    """Solve sample i on its working set.

    A row that float32 cannot serve (its l1 penalty is too close to rounding, or its solution is
    not reached) is given up at once, with an infinite certificate, to be solved in float64.
    """
    w = block.sizes[i]
    members = block.members[i, :w]
    z = block.values[i, :w]
    Q = np.empty((w, w), np.float64)
    _gather(atoms, members, Q)
    c = np.empty(w, np.float64)
    for p in range(w):
        c[p] = block.correlations[i, members[p]]
    g = np.empty(w, np.float64)
    gamma, scale, solved = block.gammas[i], 1.0, True
    if atoms.norm_loss:
        scale, solved = _solve_norm_loss(atoms, block, i, Q, c, z, g)
        block.sigmas[i] = scale
    elif scale / gamma >= block.least[i]:
        a, b = 1.0 / gamma, 2.0 * atoms.lam / gamma
        solved = _solve_working_set(Q, c, a, b, z, g, 0.1 * atoms.tol)
    block.a[i] = scale / gamma
    block.b[i] = 2.0 * atoms.lam * scale / gamma
    if block.a[i] < block.least[i] or (block.least[i] > 0.0 and not solved):
        block.certificates[i] = np.inf
        block.done[i] = True


@_compile
def start(rows, block, count):
    """Fill the working sets of the rows with the atoms that correlate most with each sample."""
    for i in rows:
        scores = np.abs(block.correlations[i])
        block.sizes[i] = _add_largest(scores, count, block.members[i], 0)


@_compile
def solve_with_gram(rows, atoms, block):
    """Solve the rows to the end, or until a working set has no room to grow."""
    scores = np.empty(atoms.gram.shape[0], atoms.gram.dtype)
    for i in rows:
        while not block.done[i]:
            _solve_row(atoms, block, i)
            if block.done[i]:
                break
            w = block.sizes[i]
            _correlate_residual(
                block.correlations[i], atoms.gram, block.members[i, :w], block.values[i, :w], scores
            )
            _certify_and_grow(scores, block, i, atoms.tol)
            if block.sizes[i] == w:
                break


@_compile
def solve(rows, atoms, block, residuals):
    """Solve the rows on their working sets and leave their residuals for a check."""
    for i in rows:
        _solve_row(atoms, block, i)
        w = block.sizes[i]
        _residual(
            block.targets[i], atoms.vectors, block.members[i, :w], block.values[i, :w], residuals[i]
        )


@_compile
def check(rows, block, scores, tol):
    """Check the rows, given all correlations with their residuals, and grow their sets."""
    for i in rows:
        if not block.done[i]:
            _certify_and_grow(scores[i], block, i, tol)
