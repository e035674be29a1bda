"""Compiled loops of the solver, and nothing that is not one.

Notation of a single sample's problem, restricted to its working set of w atoms:

    F(z) = ½ zᵀQz − cᵀz + a‖z‖₁ + (b/2)‖z‖²

`Q` (w×w) is the atoms' Gram matrix, `c` their correlations with the sample, and `g = c − Qz`
their correlations with its residual, which is kept up to date as z changes. z is optimal when
g = b·z + a·sign(z) where z ≠ 0, and |g| ≤ a where z = 0.

Kernels release the GIL and work in place; the driver runs the public ones in threads, each on
some rows of a block.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

_compile = njit(nogil=True, cache=True, fastmath={"reassoc", "contract", "nsz", "arcp"})

_SWEEPS_BEFORE_NEWTON = 3
_MOST_ROUNDS = 10_000
_MOST_STALLED_ROUNDS = 50
_MOST_ROOT_STEPS = 100
_LOST_PIVOT = 1e-12


class Atoms(NamedTuple):
    """What all samples share."""

    vectors: NDArray  # m×d
    gram: NDArray  # m×m, or 0×0 where it is not kept
    lam: float
    norm_loss: bool
    tol: float


class Block(NamedTuple):
    """The samples of a block and the state of their solution, one row a sample."""

    targets: NDArray  # the samples
    correlations: NDArray  # of every atom with the sample, zero for its own
    excluded: NDArray  # its own atom, or −1
    gammas: NDArray
    floors: NDArray  # shortest residual that the norm loss tells from zero
    sigmas: NDArray  # norm loss: length of the residual
    members: NDArray  # the working set, padded
    sizes: NDArray  # how much of `members` is in use
    values: NDArray  # coefficients of the members
    a: NDArray  # l1 penalty
    b: NDArray  # ridge penalty
    certificates: NDArray
    done: NDArray  # no atom violates the conditions


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


@_compile
def _factorize(M, size):
    """Cholesky factor of M's leading part, in its lower triangle; a lost pivot is made infinite.

    (The size is an argument because a slice M[:s, :s] would not be known to have dense rows, and
    its loops would not be vectorised.)
    """
    for i in range(size):
        for j in range(i):
            s = 0.0
            for k in range(j):
                s += M[i, k] * M[j, k]
            M[i, j] = (M[i, j] - s) / M[j, j]
        s = 0.0
        for k in range(i):
            s += M[i, k] * M[i, k]
        rest = M[i, i] - s
        M[i, i] = np.sqrt(rest) if rest > _LOST_PIVOT * M[i, i] else np.inf


@_compile
def _solve_factorized(L, x, size):
    """Solve L Lᵀ x = rhs in place; coordinates with an infinite pivot come out as zero."""
    for i in range(size):
        s = 0.0
        for k in range(i):
            s += L[i, k] * x[k]
        x[i] = (x[i] - s) / L[i, i]
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
def _newton_step(Q, z, g, a, b, support, M, step):
    """The step from z to the exact minimum with its present signs; returns the support's size.

    Atoms that depend linearly on earlier ones (only possible at b = 0) do not move.
    """
    s = 0
    for j in range(z.shape[0]):
        if z[j] != 0.0:
            support[s] = j
            s += 1
    for p in range(s):
        j = support[p]
        for q in range(p + 1):
            M[p, q] = Q[j, support[q]]
        M[p, p] += b
        step[p] = g[j] - b * z[j] - (a if z[j] > 0.0 else -a)
    _factorize(M, s)
    _solve_factorized(M, step, s)
    return s


@_compile
def _newton(Q, c, z, g, a, b, support, M, step, trial, trial_g):
    """Newton steps with fixed signs, until one can be made whole.

    Coordinates whose sign would flip are set to zero, all at once if that lowers the objective,
    else only the first on the way there, which always lowers it.
    """
    value = _objective(c, z, g, a, b)
    while True:
        s = _newton_step(Q, z, g, a, b, support, M, step)
        length, first = 1.0, -1
        trial[:] = z
        for p in range(s):
            j = support[p]
            trial[j] = z[j] + step[p]
            if z[j] * trial[j] <= 0.0:
                trial[j] = 0.0
                if -z[j] / step[p] < length:
                    length, first = -z[j] / step[p], j
        _correlate(Q, c, trial, trial_g)
        trial_value = _objective(c, trial, trial_g, a, b)
        if first >= 0 and not trial_value < value:
            for p in range(s):
                trial[support[p]] = z[support[p]] + length * step[p]
            trial[first] = 0.0
            _correlate(Q, c, trial, trial_g)
            trial_value = _objective(c, trial, trial_g, a, b)
        z[:] = trial
        g[:] = trial_g
        value = trial_value
        if first < 0:
            return


@_compile
def _solve_working_set(Q, c, a, b, z, g, tol):
    """Minimise F on the working set from the given z, to a violation of at most tol."""
    w = z.shape[0]
    support = np.empty(w, np.int64)
    M = np.empty((w, w), np.float64)
    step, trial, trial_g = np.empty(w), np.empty(w), np.empty(w)
    best = np.inf
    stalled = 0
    _correlate(Q, c, z, g)
    for _ in range(_MOST_ROUNDS):
        violation = _violation(g, z, a, b)
        # Rounding sets a floor that no further round can pass.
        stalled = stalled + 1 if violation > 0.9 * best else 0
        best = min(best, violation)
        if violation <= tol or stalled > _MOST_STALLED_ROUNDS:
            return
        for _ in range(_SWEEPS_BEFORE_NEWTON):
            _sweep(Q, z, g, a, b)
        _correlate(Q, c, z, g)
        # Where the ridge dominates, sweeps alone converge fast and need no factorization.
        if _violation(g, z, a, b) > 0.1 * violation:
            _newton(Q, c, z, g, a, b, support, M, step, trial, trial_g)


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

    log‖r(σ)‖ − log σ falls through zero once. A secant in log σ finds it, kept inside a bracket;
    a residual below the floor counts as the floor, which smooths the loss at an exact fit.
    """
    gamma, floor, target = block.gammas[i], block.floors[i], block.targets[i]
    members = block.members[i, : z.shape[0]]
    residual = np.empty(target.shape[0], np.float64)
    sigma = block.sigmas[i]
    norm = sigma
    low, high = floor, max(_norm(target), floor)
    slope = 0.0  # of log‖r‖ against log σ: in [0, 1)
    last_sigma, last_norm = 0.0, 0.0
    for _ in range(_MOST_ROOT_STEPS):
        a, b = sigma / gamma, 2.0 * atoms.lam * sigma / gamma
        _solve_working_set(Q, c, a, b, z, g, 0.1 * atoms.tol)
        _residual(target, atoms.vectors, members, z, residual)
        norm = max(_norm(residual), floor)
        allowed = 0.1 * atoms.tol / (1.0 + 2.0 * atoms.lam * _largest_magnitude(z))
        if abs(norm - sigma) <= allowed * norm or high - low <= 1e-14 * high:
            break
        if norm > sigma:
            low = sigma
        else:
            high = sigma
        if last_sigma > 0.0 and last_sigma != sigma:
            slope = np.log(norm / last_norm) / np.log(sigma / last_sigma)
            slope = min(max(slope, 0.0), 0.95)
        last_sigma, last_norm = sigma, norm
        sigma = sigma * (norm / sigma) ** (1.0 / (1.0 - slope))
        if sigma <= floor:
            sigma = floor
        elif sigma <= low or sigma >= high:
            sigma = np.sqrt(low * high)
    return norm


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
        chosen = atoms.vectors[members]
        product = np.dot(chosen, chosen.T)
        for p in range(w):
            for q in range(w):
                Q[p, q] = product[p, q]


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
def _add_largest(scores, count, members, size):
    """Append the `count` atoms of largest score (all must be positive) to the working set."""
    if count >= scores.shape[0]:
        threshold = scores.dtype.type(0.0)
    else:
        at = scores.shape[0] - count
        threshold = np.partition(scores, at)[at]
    added = 0
    for above in (True, False):  # those equal to the threshold only while there is room
        for j in range(scores.shape[0]):
            if added == count:
                break
            score = scores[j]
            if score > 0.0 and (score > threshold if above else score == threshold):
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
    block.certificates[i] = max(_violation(inside, z[:size], a, b), (largest - a) / a)
    block.done[i] = violators == 0
    count = min(violators, max(size, 16), members.shape[0] - size)
    if count > 0:
        block.sizes[i] = _add_largest(scores, count, members, size)


@_compile
def _solve_row(atoms, block, i):
    """Solve sample i on its working set."""
    w = block.sizes[i]
    members = block.members[i, :w]
    z = block.values[i, :w]
    Q = np.empty((w, w), np.float64)
    _gather(atoms, members, Q)
    c = np.empty(w, np.float64)
    for p in range(w):
        c[p] = block.correlations[i, members[p]]
    g = np.empty(w, np.float64)
    scale = 1.0
    if atoms.norm_loss:
        scale = _solve_norm_loss(atoms, block, i, Q, c, z, g)
        block.sigmas[i] = scale
    block.a[i] = scale / block.gammas[i]
    block.b[i] = 2.0 * atoms.lam * scale / block.gammas[i]
    if not atoms.norm_loss:
        _solve_working_set(Q, c, block.a[i], block.b[i], z, g, 0.1 * atoms.tol)


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
        _certify_and_grow(scores[i], block, i, tol)
