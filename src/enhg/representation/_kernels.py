"""Compiled loops of the elastic net solver.

The problem of one sample, restricted to a working set of w atoms, is

    F(z) = ½ zᵀQz − cᵀz + a‖z‖₁ + (b/2)‖z‖²

with the Gram matrix Q (w×w) of the atoms, their correlations c with the sample, the l1 penalty a
(`l1`) and the ridge penalty b (`ridge`). The correlations with the residual, g = c − Qz, are kept
up to date as z changes. The solution satisfies g = b·z + a·sign(z) where z ≠ 0 and |g| ≤ a where
z = 0. The norm loss has a = σ/γ and b = 2λσ/γ, where σ = ‖r‖ changes with z.

An atom may stand for k equal ones, which share its coefficient equally: its ridge is b/k.

With sparse errors, the errors are eliminated and the problem in z has a quadratic model at every z,
which takes the place of F (section "sparse errors").

Q and c may be products in float32: they are a model that provides steps. Certificates are computed
in float64 from the atoms (`_correct_model`, `_check`).

Kernels release the GIL and work in place; the driver runs `solve` in threads, each on some rows of
a block. All that `solve` calls is in one file because Numba's cache on disk detects changes only in
the file of the kernel that is called from Python: with callees in other files it would run outdated
code.
"""

# mypy: disable-error-code="no-untyped-def,assignment,arg-type,call-arg,var-annotated"

from __future__ import annotations

from typing import Any, NamedTuple, get_type_hints

import numpy as np
from numba import carray, njit, types  # type: ignore[attr-defined]
from numba.extending import intrinsic
from numpy.typing import NDArray

from enhg._numba import kernel

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
}
# Only `solve` is called from Python. A Python wrapper, which unpacks every tuple, would take longer
# to compile than most kernels.
_INNER = _OPTIONS | {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_compile = njit(**_INNER)
# Long functions with one caller are inlined before LLVM, which would otherwise optimize them, and
# all that they call, twice.
_inline = njit(**_INNER, inline="always")

# Status of a sample. A literal passed to a kernel is compiled in as a specialization of its own;
# np.int64(0) is not.
NEW = 0  # no working set yet
WAITING = 1  # for the correlations of all atoms with its residual, or for a wider working set
ACTIVE = 2  # being solved
OPTIMAL = 3  # no atom violates the optimality conditions
INACCURATE = 4  # products in float32 are too coarse for its penalty
DENSE = 5  # its support will be so large that iterations on the residual are faster

_UNDECIDED = -1  # result of a check that needs more exact correlations or a wider working set

_MAX_SWEEP_ROUNDS = 20
_MAX_CORRECTIONS = 10
_MAX_STALLED = 3  # corrections in a row without progress
_MAX_REJECTED = 3  # steps with a factor that is rounding
_PATIENCE = 20  # active set steps without progress, besides one per atom of the support
_LOST_PIVOT = 16  # pivots below this many units of rounding of the diagonal are zero
_ROUNDING = 1e-14
_EPSILON = float(np.finfo(np.float64).eps)
_CLEARLY = 1e-6  # increase of the objective relative to ‖x‖² that is not rounding
_LEAST_FALL = 1e-4  # part of σ that a step may leave of it at once
_GENTLE_FALL = 0.8  # part beyond which steps are not coupled with σ
_STALE_RIDGE = 0.05  # relative change of the ridge that requires a new factorization
_LOOSE = 0.1  # violation at which a working set that is about to grow counts as solved
_LARGE = 1.2  # correlation relative to a beyond which a working set is certain to grow again
_SMALL_STEP = 0.03  # sweeps skip violations below this: they determine signs, not values
_PRODUCT_COST = 24  # cost of one product on its own, in entries of a matrix product
_SELECTION_STEPS = 40
_CACHE_LINE = 64  # bytes
_MAX_MODELS = 100  # of a working set with sparse errors
_MAX_LOOSE_MODELS = 4  # of one that is about to grow
_MODEL_TOL = 0.1  # violation of a model's solution relative to the violation where it was made
_MAX_LENGTHS = 30  # trials of a line search
_FLAT = 0.1  # part of the first slope at which a line search ends
_WHOLE = 1e-3  # part of the first slope, beyond zero, at which the whole step is taken
_LEAST_WEIGHT = 1e-3  # of a feature in a model, which has no minimum if weights are zero
_CHUNK = 64  # features whose weights change together in a model
_STRIDE = 64  # correlations that are skipped together if none of them is large


class Shared(NamedTuple):
    """The dictionary and the parameters, common to all samples."""

    atoms: NDArray  # m×d
    gram: NDArray  # m×m, or 0×0 where it is not stored
    max_norm: float  # largest norm of an atom
    product_error: float  # bound on the rounding error of a product of two unit vectors
    lam: float
    norm_loss: bool
    tol: float
    mean_square: float  # mean squared norm of the atoms
    dense_size: int  # expected supports beyond this may be DENSE
    error_weight: float  # γₑ, or 0 where there are no sparse errors
    counts: NDArray  # equal atoms that each atom stands for


class Block(NamedTuple):
    """The samples of a block and the state of their solutions, one row per sample."""

    samples: NDArray
    excluded: NDArray  # the atom that is the sample itself, of which one is excluded, or −1
    gammas: NDArray
    floors: NDArray  # smallest residual norm that the norm loss distinguishes from zero
    status: NDArray
    residuals: NDArray  # of samples whose status is WAITING or DENSE
    correlations: NDArray  # of all atoms with a residual, the last ones computed
    correlation_rows: NDArray  # the row of `correlations` that belongs to the sample
    working_sets: NDArray  # indices of atoms, padded
    sizes: NDArray  # number of atoms in the working set
    kept_products: NDArray  # Gram matrix of the first atoms of the working set, if none is stored
    n_kept: NDArray  # number of these atoms
    coefficients: NDArray  # of the atoms in the working set
    l1: NDArray
    ridge: NDArray
    loosely_solved: NDArray  # the working set is solved to _LOOSE only
    certificates: NDArray  # of the working set until OPTIMAL; infinite if INACCURATE
    errors: NDArray  # sparse errors of samples whose status is OPTIMAL, if there are any
    kept_weights: NDArray  # of the features in `kept_products`, if there are sparse errors


# Mutable scalars are fields of records: Numba passes the other scalars by value.
_PENALTIES = np.dtype(
    [
        ("l1", np.float64),
        ("ridge", np.float64),
        ("sigma", np.float64),
        ("gamma", np.float64),
        ("lam", np.float64),
        ("floor", np.float64),
        ("anchor_square", np.float64),  # ‖r‖² at the anchor
        ("sample_square", np.float64),  # ‖x‖²
        ("norm_loss", np.bool_),
        ("error_l1", np.float64),  # α = aγₑ
        ("error_ridge", np.float64),  # β = bγₑ²
    ]
)
_FACTOR_STATE = np.dtype([("size", np.int64), ("ridge", np.float64)])
_PROGRESS = np.dtype(
    [
        ("size", np.int64),  # atoms of the working set whose products are in Q
        ("error", np.float64),  # bound on the error of the sample's row of correlations
        ("current", np.bool_),  # that row belongs to the present residual
        ("loosely", np.bool_),  # solve to _LOOSE only
    ]
)


class Factor(NamedTuple):
    """Cholesky factor of the support: UᵀU = Q + bI on the atoms with non-zero coefficients."""

    U: NDArray  # by rows, in the precision of the data
    lost_pivot: float  # pivots below this part of the diagonal are rounding errors
    state: Any  # record: the number of atoms in the factor and the ridge it was made for
    support: NDArray  # the atoms in it, in its order
    contains: NDArray  # 1 where an atom is in it, else 0
    step: NDArray
    coupling: NDArray
    column: NDArray


class Anchor(NamedTuple):
    """Coefficients at which ‖r‖² is known exactly, and g there."""

    z: NDArray
    g: NDArray


class Scratch(NamedTuple):
    """A list of atoms, or of rows of Q, with numbers that belong to them."""

    indices: NDArray
    positions: NDArray  # of listed atoms in the working set
    weights: NDArray
    products: NDArray  # with the residual


class ErrorWork(NamedTuple):
    """Working memory for sparse errors; `residual` is the difference without the errors."""

    difference: NDArray  # sample minus reconstruction
    direction: NDArray  # change of the reconstruction along a step
    correlated: NDArray  # the residual that the correlations belong to
    weights: NDArray  # of the features in Q; in the precision of the data, as the next
    chunk: NDArray  # some features of the working set
    changes: NDArray  # of the weights of these features
    features: NDArray  # their indices
    start: NDArray  # coefficients where the model was made


class Work(NamedTuple):
    """Working memory for the problem of one sample.

    Kernels that need little of it take that alone: every array of a tuple is an argument to
    compile.
    """

    penalties: Any  # record
    progress: Any  # record
    anchor: Anchor
    scratch: Scratch
    Q: NDArray  # Q, U and the coarse arrays are in the precision of the data, all else in float64
    coarse_z: NDArray
    coarse_g: NDArray
    c: NDArray
    g: NDArray
    sample: NDArray
    residual: NDArray
    correlated_z: NDArray  # coefficients of the residual that the correlations belong to
    factor: Factor
    trial: NDArray
    trial_g: NDArray
    shares: NDArray  # 1/k of an atom that stands for k equal ones
    errors: ErrorWork


def _record(dtype: np.dtype) -> Any:
    return np.zeros(1, dtype)[0]


def _aligned(n: int, dtype: np.dtype) -> NDArray:
    """Allocate an n×n matrix that starts at a cache line."""
    buffer = np.empty(n * n * dtype.itemsize + _CACHE_LINE, np.uint8)
    start = -buffer.ctypes.data % _CACHE_LINE
    return buffer[start : start + n * n * dtype.itemsize].view(dtype).reshape(n, n)


def workspace(atoms: NDArray, capacity: int) -> Work:
    """Allocate working memory for working sets of up to `capacity` of the atoms."""
    (m, d), own = atoms.shape, atoms.dtype
    n = capacity // 32 * 32 + 48  # more than the capacity, and an odd number of cache lines
    return Work(
        penalties=_record(_PENALTIES),
        progress=_record(_PROGRESS),
        anchor=Anchor(z=np.empty(n), g=np.empty(n)),
        scratch=Scratch(
            indices=np.empty(max(m, n), np.int64),
            positions=np.empty(n, np.int64),
            weights=np.empty(n),
            products=np.empty(max(m, n)),
        ),
        Q=_aligned(n, own),
        coarse_z=np.empty(n, own),
        coarse_g=np.empty(n, own),
        c=np.empty(n),
        g=np.empty(n),
        sample=np.empty(d),
        residual=np.empty(d),
        correlated_z=np.empty(n),
        factor=Factor(
            U=_aligned(n, own),
            lost_pivot=_LOST_PIVOT * float(np.finfo(own).eps),
            state=_record(_FACTOR_STATE),
            support=np.empty(n, np.int64),
            contains=np.empty(n, np.int64),
            step=np.empty(n, own),
            coupling=np.empty(n, own),
            column=np.empty(n, own),
        ),
        trial=np.empty(n),
        trial_g=np.empty(n),
        shares=np.empty(n),
        errors=ErrorWork(
            difference=np.empty(d),
            direction=np.empty(d),
            correlated=np.empty(d),
            weights=np.empty(d, own),
            chunk=np.empty((capacity, _CHUNK), own),
            changes=np.empty(_CHUNK, own),
            features=np.empty(d, np.int64),
            start=np.empty(n),
        ),
    )


@intrinsic
def _pointer(typing_context, array, address):
    """A pointer to the values of an array in C order, of which the address is given."""
    if array.layout != "C":
        return None  # an error

    def compile_it(context, builder, signature, arguments):
        return builder.inttoptr(arguments[1], context.get_value_type(signature.return_type))

    return types.CPointer(array.dtype)(array, types.uintp), compile_it


@_inline
def _view(array):
    """An array without an owner, of the values of one that the caller keeps alive."""
    return carray(_pointer(array, array.ctypes.data), array.shape)


def _views(kind, name):
    """Expression for a tuple of a kind with views in place of the arrays of the one called name."""
    members = []
    for field, annotation in get_type_hints(kind).items():
        member = f"{name}.{field}"
        if annotation == NDArray:
            member = f"_view({member})"
        elif hasattr(annotation, "_fields"):
            member = _views(annotation, member)
        members.append(member)
    return f"{kind.__name__}({', '.join(members)})"


# Numba counts no references to arrays without an owner. The counts are atomic: on 300 to 1000
# digits and one thread they took 30 % of the time.
_borrow_work, _borrow_shared, _borrow_block = (
    _inline(eval(f"lambda owned: {_views(kind, 'owned')}")) for kind in (Work, Shared, Block)
)


# --- vectors ---------------------------------------------------------------------------------


@_compile
def _copy(source, target):
    for k in range(source.shape[0]):
        target[k] = source[k]


@_compile
def _sign(x):
    return 1.0 if x > 0.0 else (-1.0 if x < 0.0 else 0.0)


@_compile
def _dot(x, y):
    """xᵀy, in float64 because one of them is."""
    total = 0.0
    for k in range(x.shape[0]):
        total += x[k] * y[k]
    return total


@_compile
def _subtract_rows(matrix, rows, weights, count, out):
    """out −= Σₙ weights[n]·matrix[rows[n]] over the first `count` rows, four at a time."""
    n = 0
    while n + 4 <= count:
        row0, row1, row2, row3 = rows[n], rows[n + 1], rows[n + 2], rows[n + 3]
        w0, w1, w2, w3 = weights[n], weights[n + 1], weights[n + 2], weights[n + 3]
        for k in range(out.shape[0]):
            out[k] -= (
                w0 * matrix[row0, k]
                + w1 * matrix[row1, k]
                + w2 * matrix[row2, k]
                + w3 * matrix[row3, k]
            )
        n += 4
    while n < count:
        row0, w0 = rows[n], weights[n]
        for k in range(out.shape[0]):
            out[k] -= w0 * matrix[row0, k]
        n += 1


@_compile
def _multiply_rows(matrix, rows, count, vector, products):
    """products[n] = matrix[rows[n]]ᵀ vector for the first `count` rows, in float64.

    Four rows at a time; at the end the last row stands in for the missing ones.
    """
    n = 0
    while n < count:
        n1, n2, n3 = min(n + 1, count - 1), min(n + 2, count - 1), min(n + 3, count - 1)
        row0, row1, row2, row3 = rows[n], rows[n1], rows[n2], rows[n3]
        sum0, sum1, sum2, sum3 = 0.0, 0.0, 0.0, 0.0
        for k in range(vector.shape[0]):
            sum0 += matrix[row0, k] * vector[k]
            sum1 += matrix[row1, k] * vector[k]
            sum2 += matrix[row2, k] * vector[k]
            sum3 += matrix[row3, k] * vector[k]
        products[n], products[n1], products[n2], products[n3] = sum0, sum1, sum2, sum3
        n += 4


@_compile
def _larger(x, y):
    """The larger of two numbers; infinite if the second is not finite, which `max` may lose."""
    return max(x, y) if y < np.inf else np.inf


# --- the model of a working set --------------------------------------------------------------


@_compile
def _violations(g, z, shares, l1, ridge):
    """Largest KKT violations relative to a: where z ≠ 0, and where z = 0.

    They are infinite if a number behind them is not finite.
    """
    used, unused = 0.0, 0.0
    for j in range(z.shape[0]):
        if z[j] == 0.0:
            unused = _larger(unused, abs(g[j]) - l1)
        else:
            used = _larger(used, abs(g[j] - ridge * shares[j] * z[j] - _sign(z[j]) * l1))
    return _larger(0.0, used / l1), _larger(0.0, unused / l1)


@_compile
def _sweep(Q, z, g, shares, l1, ridge):
    """One pass of coordinate descent without its small steps.

    Returns how many coefficients changed their sign, zero being a sign of its own.
    """
    own, n_turned = z.dtype.type, 0
    threshold, small = own(l1), own(_SMALL_STEP * l1)
    for j in range(z.shape[0]):
        curvature = Q[j, j] + own(ridge * shares[j])
        if curvature <= 0.0:
            continue
        correlation = g[j] + Q[j, j] * z[j]
        new = own(0.0)
        if correlation > threshold:
            new = (correlation - threshold) / curvature
        elif correlation < -threshold:
            new = (correlation + threshold) / curvature
        step, turned = new - z[j], _sign(new) != _sign(z[j])
        if turned or abs(step) * curvature > small:
            n_turned += turned
            z[j] = new
            for k in range(z.shape[0]):
                g[k] -= step * Q[j, k]
    return n_turned


@_compile
def _correlate(Q, c, z, g, scratch):
    """g = c − Qz."""
    rows, weights, count = scratch.indices, scratch.weights, np.int64(0)
    for k in range(z.shape[0]):
        g[k] = c[k]
        if z[k] != 0.0:
            rows[count], weights[count] = k, z[k]
            count += 1
    _subtract_rows(Q, rows, weights, count, g)


@_compile
def _residual_square(penalties, anchor, z, g):
    """‖r‖² at z, from its value at the anchor and the distance of z to that."""
    square = penalties.anchor_square
    for j in range(z.shape[0]):
        square -= (z[j] - anchor.z[j]) * (anchor.g[j] + g[j])
    return max(square, 0.0)


@_compile
def _update_penalties(penalties, anchor, z, g):
    """Norm loss: set σ, and a and b with it, to their values at z."""
    if penalties.norm_loss:
        sigma = max(np.sqrt(_residual_square(penalties, anchor, z, g)), penalties.floor)
        penalties.l1 = sigma / penalties.gamma
        penalties.ridge = 2.0 * penalties.lam * sigma / penalties.gamma
        penalties.sigma = sigma


@_compile
def _objective(penalties, anchor, z, g, shares):
    """The objective as a function of z alone, divided by γ."""
    fit, penalty = 0.5 * _residual_square(penalties, anchor, z, g), 0.0
    lam, floor = penalties.lam, penalties.floor
    for j in range(z.shape[0]):
        penalty += abs(z[j]) + lam * shares[j] * z[j] * z[j]
    if penalties.norm_loss:
        norm = np.sqrt(2.0 * fit)
        fit = norm if norm > floor else fit / floor + 0.5 * floor
    return fit + penalty / penalties.gamma


@_compile
def _is_worse(penalties, Q, z, after, before):
    """Whether the objective at z is clearly above another, or nothing but rounding.

    Where a is below the rounding of the data, factors and exchanges of atoms may be nothing but
    rounding, and steps with them grow without bound.
    """
    size = 0.0
    for j in range(z.shape[0]):
        size += abs(z[j]) * np.sqrt(Q[j, j])
    if not _EPSILON * size * size <= penalties.sample_square:
        return True
    scale = penalties.sample_square
    return not after <= before + _CLEARLY * (np.sqrt(scale) if penalties.norm_loss else scale)


# --- the Cholesky factor of a support --------------------------------------------------------


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
        row, row_above, rest = U[k, k:size], U[above, k:size], x[k:size]
        value = rest[0]
        rest[0] = 0.0
        total, total_above = U.dtype.type(0.0), U.dtype.type(0.0)
        for q in range(rest.shape[0]):
            total += row[q] * rest[q]
            total_above += row_above[q] * rest[q]
        rest[0] = (value - total) / row[0]
        if above < k:
            x[above] = (x[above] - total_above - row_above[0] * rest[0]) / U[above, above]
        k -= 2


@_inline
def _eliminate_pair(U, first, second, length):
    """Subtract rows of U above from two rows, four at a time; returns how many were subtracted.

    Each loaded entry serves both rows.
    """
    k = 0
    while k + 4 <= first and first < second:
        f0, f1, f2, f3 = U[k, first], U[k + 1, first], U[k + 2, first], U[k + 3, first]
        s0, s1, s2, s3 = U[k, second], U[k + 1, second], U[k + 2, second], U[k + 3, second]
        for q in range(length):
            u0, u1 = U[k, first + q], U[k + 1, first + q]
            u2, u3 = U[k + 2, first + q], U[k + 3, first + q]
            U[first, first + q] -= f0 * u0 + f1 * u1 + f2 * u2 + f3 * u3
            U[second, first + q] -= s0 * u0 + s1 * u1 + s2 * u2 + s3 * u3
        k += 4
    return k


@_compile
def _factorize(Q, ridge, shares, factor):
    """Factorize Q + bI on the whole support, two rows at a time; False if its atoms are linearly
    dependent."""
    U, support, size = factor.U, factor.support, factor.state.size
    first = 0
    while first < size:
        second, length = min(first + 1, size - 1), size - first
        atom, next_atom = support[first], support[second]
        for q in range(length):
            U[first, first + q] = Q[atom, support[first + q]]
            U[second, first + q] = Q[next_atom, support[first + q]]
        eliminated = _eliminate_pair(U, first, second, length)
        for row in range(first, second + 1):
            for k in range(eliminated, row):
                multiplier = U[k, row]
                for q in range(length):
                    U[row, first + q] -= multiplier * U[k, first + q]
            own_ridge = ridge * shares[support[row]]
            # No pivot is less than the ridge but by rounding.
            pivot = max(U[row, row] + own_ridge, own_ridge)
            if not pivot > factor.lost_pivot * (Q[support[row], support[row]] + own_ridge):
                return False
            pivot = U.dtype.type(np.sqrt(pivot))
            for q in range(length):
                U[row, first + q] /= pivot
            U[row, row] = pivot
        first += 2
    return True


@_compile
def _append(Q, ridge, j, factor):
    """Append atom j to the support and its Cholesky factor.

    Returns False, with nothing appended, if the atom depends linearly on the support;
    `factor.column` then holds Uᵀ⁻¹ times its products with the support.
    """
    U, support, column, size = factor.U, factor.support, factor.column, factor.state.size
    for p in range(size):
        column[p] = Q[j, support[p]]
    _solve_lower(U, column, size)
    pivot = Q[j, j] + ridge
    for p in range(size):
        pivot -= column[p] * column[p]
    pivot = max(pivot, ridge)
    if not pivot > factor.lost_pivot * (Q[j, j] + ridge):
        return False
    for p in range(size):
        U[p, size] = column[p]
    U[size, size] = np.sqrt(pivot)
    support[size] = j
    factor.contains[j] = 1
    factor.state.size = size + 1
    return True


@_compile
def _remove(position, factor):
    """Remove the atom at a position of the support, and restore the factor by rotations."""
    U, support, size = factor.U, factor.support, factor.state.size
    factor.contains[support[position]] = 0
    for q in range(position, size - 1):
        support[q] = support[q + 1]
    for k in range(size):
        row = U[k, max(position, k - 1) : size]
        for q in range(row.shape[0] - 1):
            row[q] = row[q + 1]
    for k in range(position, size - 1):
        upper, lower = U[k, k : size - 1], U[k + 1, k : size - 1]
        pivot = np.sqrt(upper[0] * upper[0] + lower[0] * lower[0])
        cosine, sine = upper[0] / pivot, lower[0] / pivot
        for q in range(upper.shape[0]):
            x, y = upper[q], lower[q]
            upper[q] = cosine * x + sine * y
            lower[q] = cosine * y - sine * x
    factor.state.size = size - 1


@_compile
def _empty_factor(capacity, factor):
    factor.state.size = 0
    for p in range(capacity):
        factor.contains[p] = 0


@_compile
def _remove_zeros(z, factor):
    """Remove the atoms whose coefficients are zero from the support."""
    for p in range(factor.state.size - 1, -1, -1):
        if z[factor.support[p]] == 0.0:
            _remove(p, factor)


@_inline
def _exchange_direction(z, g, j, factor):
    """Direction of z[j] in which ‖z‖₁ does not grow as the support compensates by `factor.step`."""
    if z[j] == 0.0:
        return _sign(g[j])
    growth = _sign(z[j])
    for p in range(factor.state.size):
        growth -= factor.step[p] * _sign(z[factor.support[p]])
    return -_sign(growth) if growth != 0.0 else -_sign(z[j])


@_compile
def _exchange(z, g, j, factor):
    """Move along the dependence of atom j on the support until a coefficient reaches zero.

    The move leaves the residual unchanged and does not increase ‖z‖₁. Returns the position of the
    atom that reached zero (the size of the support for j itself), or −1 if rounding prevents it.
    """
    support, step, size = factor.support, factor.step, factor.state.size
    for p in range(size):
        step[p] = factor.column[p]
    _solve_upper(factor.U, step, size)
    direction = _exchange_direction(z, g, j, factor)
    length, first = np.inf, np.int64(-1)
    if z[j] * direction < 0.0:
        length, first = abs(z[j]), size
    for p in range(size):
        move = -direction * step[p]
        distance = abs(z[support[p]])
        if _sign(move) == -_sign(z[support[p]]) and distance < length * abs(move):
            length, first = distance / abs(move), p
    if first >= 0:
        z[j] += length * direction
        for p in range(size):
            z[support[p]] -= length * direction * step[p]
        z[j if first == size else support[first]] = 0.0
    return first


@_inline
def _enter(Q, z, g, ridge, j, factor):
    """Add atom j to the support, in exchange for another if it depends linearly on the support
    (possible only without a ridge); returns whether z changed."""
    changed = False
    while not _append(Q, ridge, j, factor):
        leaving = _exchange(z, g, j, factor)
        changed = changed or leaving >= 0
        if leaving < 0 or leaving == factor.state.size:
            break
        _remove(leaving, factor)
    return changed


@_inline
def _factorize_support(Q, z, ridge, shares, factor):
    """Factorize the present support anew; the factor is empty if its atoms are dependent."""
    state, support, contains = factor.state, factor.support, factor.contains
    state.ridge = ridge
    size = 0
    for j in range(z.shape[0]):
        contains[j] = 0
        if z[j] != 0.0:
            support[size] = j
            size += 1
    state.size = size
    if _factorize(Q, ridge, shares, factor):
        for p in range(size):
            contains[support[p]] = 1
    else:
        state.size = 0


@_inline
def _follow_support(Q, z, g, ridge, shares, entering, factor):
    """Bring the factor to the present support and atom `entering` (−1: none), by updates if they
    are few, else anew; returns whether z changed."""
    state, contains = factor.state, factor.contains
    n_changes = 0
    for j in range(z.shape[0]):
        n_changes += contains[j] != (z[j] != 0.0)
    if abs(state.ridge - ridge) <= _STALE_RIDGE * ridge and 8 * n_changes <= state.size:
        _remove_zeros(z, factor)
    else:
        _factorize_support(Q, z, ridge, shares, factor)
    changed = False
    for j in range(z.shape[0]):
        if contains[j] == 0 and (z[j] != 0.0 or j == entering):
            changed = _enter(Q, z, g, state.ridge * shares[j], j, factor) or changed
    return changed


# --- the solution of the model ---------------------------------------------------------------


@_compile
def _is_positive(z, g, j):
    """Whether the sign of coefficient j, or the sign it takes when it leaves zero, is positive."""
    return z[j] > 0.0 or (z[j] == 0.0 and g[j] > 0.0)


@_inline
def _couple_sigma(fall, penalties, z, g, shares, factor):
    """Extend a step at fixed σ by the change of σ along it.

    The minimum z(σ) at a fixed σ changes by (Q + bI)⁻¹g/σ per decrease of σ, where g are its
    correlations, and ‖r(z(σ))‖² is A + Bσ² with B = gᵀ(Q + bI)⁻¹g/σ² (exactly without a ridge). The
    step goes to the σ at which both are equal, √(A/(1 − B)): to 0, thus to the floor, if the
    support reconstructs the sample exactly, where steps at fixed σ would change it by the factor
    √B only. There is none if B ≥ 1: σ grows until a coefficient reaches zero. `fall` is the least
    part of σ that may be left.
    """
    support, step, coupling = factor.support, factor.step, factor.coupling
    size, sigma, square = factor.state.size, penalties.sigma, penalties.sigma**2
    for p in range(size):
        j = support[p]
        sign = 1.0 if _is_positive(z, g, j) else -1.0
        value = penalties.ridge * shares[j] * (z[j] + step[p]) + sign * penalties.l1
        square -= step[p] * (g[j] + value)
        coupling[p] = value
    _solve_lower(factor.U, coupling, size)
    bend = 0.0
    for p in range(size):
        bend += np.float64(coupling[p]) * coupling[p]
    _solve_upper(factor.U, coupling, size)
    rest, left = square - bend, 1.0 - bend / (sigma * sigma)
    least = max(penalties.floor / sigma, fall)
    part = np.sqrt(max(rest, 0.0) / left) / sigma if left > 0.0 else np.inf
    part = min(max(part, least), 10.0)
    for p in range(size):
        step[p] += (1.0 - part) * coupling[p]


@_compile
def _newton_step(coupled, fall, penalties, z, g, shares, factor):
    """Compute the step to the minimum over the support with its present signs (`factor.step`).

    With the norm loss this is the minimum at the present σ, a step that always decreases the
    objective; `coupled` includes the change of σ, which converges faster near the solution.
    """
    support, step, size = factor.support, factor.step, factor.state.size
    l1, ridge = penalties.l1, penalties.ridge
    for p in range(size):
        j = support[p]
        step[p] = g[j] - ridge * shares[j] * z[j] - (l1 if _is_positive(z, g, j) else -l1)
    _solve_lower(factor.U, step, size)
    _solve_upper(factor.U, step, size)
    if coupled:
        _couple_sigma(fall, penalties, z, g, shares, factor)


@_inline
def _take_step(z, g, trial, factor):
    """trial = z + step, with zeros in place of coefficients that would change their sign.

    Returns the part of the step at which the first of them reaches zero, and its position (−1 if
    no sign changes).
    """
    support, step = factor.support, factor.step
    length, first = 1.0, np.int64(-1)
    _copy(z, trial)
    for p in range(factor.state.size):
        j = support[p]
        trial[j] = z[j] + step[p]
        if trial[j] == 0.0 or (trial[j] > 0.0) != _is_positive(z, g, j):
            trial[j] = 0.0
            reached = min(1.0, abs(z[j]) / abs(step[p])) if z[j] != 0.0 else 0.0
            if first < 0 or reached < length:
                length, first = reached, np.int64(p)
    return length, first


@_inline
def _take_part_of_step(z, trial, length, first, factor):
    """trial = z + length·step, where the coefficient at position `first` reaches zero."""
    support, step = factor.support, factor.step
    for p in range(factor.state.size):
        trial[support[p]] = z[support[p]] + length * step[p]
    trial[support[first]] = 0.0


@_compile
def _descend(c, z, g, work):
    """Newton steps with fixed signs, until one can be taken as a whole.

    Coefficients that would change their sign are set to zero, all at once if that decreases the
    objective, else only the first on the way, which always decreases it. A step that increases it
    is not taken, and the factor is given up: returns whether this did not happen.
    """
    Q, factor, penalties, anchor = work.Q, work.factor, work.penalties, work.anchor
    shares, w = work.shares, z.shape[0]
    trial, trial_g = work.trial[:w], work.trial_g[:w]
    coupled, fall = penalties.norm_loss, _LEAST_FALL
    while True:
        before = _objective(penalties, anchor, z, g, shares)
        coupled = coupled and penalties.sigma > penalties.floor
        _newton_step(coupled, fall, penalties, z, g, shares, factor)
        length, first = _take_step(z, g, trial, factor)
        _correlate(Q, c, trial, trial_g, work.scratch)
        after = _objective(penalties, anchor, trial, trial_g, shares)
        if first >= 0 and not after < before:
            _take_part_of_step(z, trial, length, first, factor)
            _correlate(Q, c, trial, trial_g, work.scratch)
            after = _objective(penalties, anchor, trial, trial_g, shares)
        if coupled and not after <= before + _ROUNDING * abs(before):
            fall = np.sqrt(fall)
            coupled = fall < _GENTLE_FALL
            continue
        if _is_worse(penalties, Q, trial, after, before):
            _empty_factor(w, factor)
            return False
        _copy(trial, z)
        _copy(trial_g, g)
        _update_penalties(penalties, anchor, z, g)
        if first < 0:
            return True
        _remove_zeros(z, factor)


@_compile
def _set_back(c, z, g, before, work):
    """Compute g at the present z or, if the objective has grown from `before`, return z to
    `work.trial`."""
    penalties, anchor, shares = work.penalties, work.anchor, work.shares
    _correlate(work.Q, c, z, g, work.scratch)
    after = _objective(penalties, anchor, z, g, shares)
    if _is_worse(penalties, work.Q, z, after, before):
        _copy(work.trial[: z.shape[0]], z)
        _empty_factor(z.shape[0], work.factor)
        _correlate(work.Q, c, z, g, work.scratch)
    _update_penalties(penalties, anchor, z, g)


@_inline
def _sweep_until_settled(c, z, g, work):
    """Sweeps in the precision of the data until the signs no longer change, or a limit."""
    Q, penalties, anchor, w = work.Q, work.penalties, work.anchor, z.shape[0]
    coarse_z, coarse_g = work.coarse_z[:w], work.coarse_g[:w]
    before = _objective(penalties, anchor, z, g, work.shares)
    _copy(z, work.trial)
    _copy(z, coarse_z)
    _copy(g, coarse_g)
    for _ in range(3 + w // 16):
        n_turned = _sweep(Q, coarse_z, coarse_g, work.shares, penalties.l1, penalties.ridge)
        _update_penalties(penalties, anchor, coarse_z, coarse_g)
        if n_turned == 0:
            break
    _copy(coarse_z, z)
    _set_back(c, z, g, before, work)


@_inline
def _worst_unused(z, g, l1, tol):
    """The atom outside the support with the largest violation above tol, or −1."""
    worst, excess = np.int64(-1), l1 * tol
    for j in range(z.shape[0]):
        if z[j] == 0.0 and abs(g[j]) - l1 > excess:
            worst, excess = np.int64(j), abs(g[j]) - l1
    return worst


@_inline
def _solve_model(c, z, g, work, tol):
    """Minimize over the working set, starting at z, to a violation of tol.

    Sweeps determine the support, until it no longer changes, and Newton steps the values. Where
    sweeps converge slowly because atoms are nearly dependent, only the worst violator enters the
    support at a time, as in an active set method, until rounding stops the progress.
    """
    Q, factor, penalties, anchor = work.Q, work.factor, work.penalties, work.anchor
    shares, rounds, waited, n_rejected, best = work.shares, 0, 0, 0, np.inf
    _correlate(Q, c, z, g, work.scratch)
    _update_penalties(penalties, anchor, z, g)
    while waited <= _PATIENCE + factor.state.size and n_rejected < _MAX_REJECTED:
        used, unused = _violations(g, z, work.shares, penalties.l1, penalties.ridge)
        violation = max(used, unused)
        if violation <= tol:
            return
        sweeping = rounds < _MAX_SWEEP_ROUNDS
        rounds += 1
        if sweeping and (unused > tol or factor.state.size == 0):
            _sweep_until_settled(c, z, g, work)
            # Where the ridge dominates, sweeps converge fast and need no factorization.
            used, unused = _violations(g, z, work.shares, penalties.l1, penalties.ridge)
            if max(used, unused) <= max(tol, 0.1 * violation):
                continue
        entering = np.int64(-1)
        if not sweeping:
            waited = 0 if violation < 0.9 * best else waited + 1
            best = min(best, violation)
            entering = _worst_unused(z, g, penalties.l1, tol)
        before = _objective(penalties, anchor, z, g, shares)
        _copy(z, work.trial)
        if _follow_support(Q, z, g, penalties.ridge, shares, entering, factor):
            _set_back(c, z, g, before, work)
        n_rejected += not _descend(c, z, g, work)


# --- the model and the data ------------------------------------------------------------------


@_inline
def _multiply_tile(X, row0, row1, columns, q, Q, p0, p1):
    """Products of two rows of X with four, columns[q : q + 4], into rows p0 and p1 of Q."""
    own = X.dtype.type
    col0, col1, col2, col3 = columns[q], columns[q + 1], columns[q + 2], columns[q + 3]
    s00, s01, s02, s03 = own(0.0), own(0.0), own(0.0), own(0.0)
    s10, s11, s12, s13 = own(0.0), own(0.0), own(0.0), own(0.0)
    for k in range(X.shape[1]):
        s00 += X[row0, k] * X[col0, k]
        s01 += X[row0, k] * X[col1, k]
        s02 += X[row0, k] * X[col2, k]
        s03 += X[row0, k] * X[col3, k]
        s10 += X[row1, k] * X[col0, k]
        s11 += X[row1, k] * X[col1, k]
        s12 += X[row1, k] * X[col2, k]
        s13 += X[row1, k] * X[col3, k]
    Q[p0, q], Q[p0, q + 1], Q[p0, q + 2], Q[p0, q + 3] = s00, s01, s02, s03
    Q[p1, q], Q[p1, q + 1], Q[p1, q + 2], Q[p1, q + 3] = s10, s11, s12, s13


@_compile
def _multiply_atoms(X, atoms, start, stop, Q):
    """Q[p, :p + 1] = products of atom p of a working set with the atoms up to it, for p from
    `start` to `stop`.

    In tiles of two by four, which are as fast as BLAS for matrices of this size.
    """
    own, p = X.dtype.type, start
    while p < stop:
        after = min(p + 1, stop - 1)  # the last row may be without a second
        row0, row1, q = atoms[p], atoms[after], 0
        while q + 4 <= after + 1:
            _multiply_tile(X, row0, row1, atoms, q, Q, p, after)
            q += 4
        while q < after + 1:
            sum0, sum1, col = own(0.0), own(0.0), atoms[q]
            for k in range(X.shape[1]):
                sum0 += X[row0, k] * X[col, k]
                sum1 += X[row1, k] * X[col, k]
            Q[p, q], Q[after, q] = sum0, sum1
            q += 1
        p += 2


@_inline
def _compute_products(shared, block, i, start, stop, Q):
    """Lower triangle of Q from the atoms; products of the first atoms are kept between calls."""
    kept_products, capacity = block.kept_products, block.kept_products.shape[1]
    kept = max(start, min(block.n_kept[i], stop))
    for p in range(start, kept):
        for q in range(p + 1):
            Q[p, q] = kept_products[i, p, q]
    _multiply_atoms(shared.atoms, block.working_sets[i], kept, stop, Q)
    for p in range(kept, min(stop, capacity)):
        for q in range(p + 1):
            kept_products[i, p, q] = Q[p, q]
    block.n_kept[i] = max(block.n_kept[i], min(stop, capacity))


@_compile
def _gather(shared, block, i, start, stop, work):
    """Q and c of the atoms from `start` to `stop` of the working set of sample i."""
    gram, working_set, own = shared.gram, block.working_sets[i], block.excluded[i]
    Q, c, stored = work.Q, work.c, shared.gram.shape[0] > 0
    if stored:
        for p in range(start, stop):
            atom = working_set[p]
            for q in range(p + 1):
                Q[p, q] = gram[atom, working_set[q]]
    else:
        _compute_products(shared, block, i, start, stop, Q)
    for p in range(start, stop):
        atom = working_set[p]
        for q in range(p):
            Q[q, p] = Q[p, q]
        c[p] = gram[own, atom] if stored and own >= 0 else _dot(shared.atoms[atom], work.sample)


@_compile
def _compute_residual(atoms, working_set, z, sample, residual, scratch):
    """The sample minus its reconstruction, in float64."""
    rows, weights, count = scratch.indices, scratch.weights, np.int64(0)
    for p in range(z.shape[0]):
        if z[p] != 0.0:
            rows[count], weights[count] = working_set[p], z[p]
            count += 1
    _copy(sample, residual)
    _subtract_rows(atoms, rows, weights, count, residual)


@_compile
def _store_residual(shared, block, i, work):
    """Compute the residual of the present coefficients of sample i (`work.residual`)."""
    working_set, z = block.working_sets[i], block.coefficients[i, : block.sizes[i]]
    _compute_residual(shared.atoms, working_set, z, work.sample, work.residual, work.scratch)
    if shared.error_weight > 0.0:
        _copy(work.residual, work.errors.difference)
        _remove_errors(work.penalties, work.errors.difference, work.residual)


@_inline
def _list_relevant(shared, working_set, z, g, work):
    """List the atoms of the support and those that may enter it, given the error of the model."""
    total = 0.0
    for p in range(z.shape[0]):
        total += abs(z[p])
    error = (
        shared.product_error
        * shared.max_norm
        * (np.sqrt(_dot(work.sample, work.sample)) + 2.0 * total * shared.max_norm)
    )
    count = np.int64(0)
    for p in range(z.shape[0]):
        if z[p] != 0.0 or not abs(g[p]) + error <= work.penalties.l1:
            work.scratch.indices[count], work.scratch.positions[count] = working_set[p], p
            count += 1
    return count


@_compile
def _correct_model(shared, working_set, c, z, g, work):
    """Compute the residual and its correlations in float64, and shift c so that the model agrees.

    Atoms whose correlation is below a by more than the error of the model are left as they are.
    """
    residual, scratch, products = work.residual, work.scratch, work.scratch.products
    penalties, anchor = work.penalties, work.anchor
    _compute_residual(shared.atoms, working_set, z, work.sample, residual, scratch)
    count = _list_relevant(shared, working_set, z, g, work)
    _multiply_rows(shared.atoms, scratch.indices, count, residual, products)
    for n in range(count):
        p = scratch.positions[n]
        c[p] += products[n] - g[p]
        g[p] = products[n]
    penalties.anchor_square = _dot(residual, residual)
    _copy(z, anchor.z)
    _copy(g, anchor.g)
    _update_penalties(penalties, anchor, z, g)


# --- sparse errors ---------------------------------------------------------------------------

# With the optimal error of every feature, half the squared residual and the penalties of the errors
# are a function h of the difference v = x − Aᵀz of every feature: v²/2 up to α = aγₑ, and beyond a
# parabola of the curvature β/(1 + β), β = bγₑ². Its derivative is the residual v − ε. The model at
# z has these curvatures as weights W of the features, Q = A W Aᵀ, and g = A(v − ε) at z. The step
# to its solution descends, and its length is searched: a Newton method, exact as soon as all
# features keep their sides of ±α.


@_compile
def _error_of(value, penalties):
    """The error that is optimal for the difference of a feature."""
    limit = penalties.error_l1
    return (value - min(max(value, -limit), limit)) / (1.0 + penalties.error_ridge)


@_compile
def _remove_errors(penalties, difference, residual):
    """The residual: the difference without the errors that are optimal for it."""
    for k in range(difference.shape[0]):
        residual[k] = difference[k] - _error_of(difference[k], penalties)


@_compile
def _curvature(value, penalties):
    """The curvature of h at a difference."""
    steep = abs(value) <= penalties.error_l1
    return 1.0 if steep else penalties.error_ridge / (1.0 + penalties.error_ridge)


@_compile
def _distance(x, y):
    total = 0.0
    for k in range(x.shape[0]):
        total += (x[k] - y[k]) * (x[k] - y[k])
    return np.sqrt(total)


@_compile
def _begin_errors(shared, block, i, work):
    """Load the residual that the correlations belong to, and the weights of the features."""
    errors = work.errors
    _copy(work.residual, errors.correlated)
    _store_residual(shared, block, i, work)
    if block.status[i] == WAITING:
        _copy(block.kept_weights[i], errors.weights)
        return
    # At z = 0 slopes of chords in place of curvatures: their model is above the objective.
    limit, own = work.penalties.error_l1, errors.weights.dtype.type
    for k in range(errors.weights.shape[0]):
        value = errors.difference[k]
        errors.weights[k] = own(work.residual[k] / value) if abs(value) > limit else own(1.0)


@_inline
def _keep_errors(block, i, work):
    """Keep Q of the first atoms of the working set, and its weights, until sample i continues."""
    block.n_kept[i] = min(work.progress.size, block.kept_products.shape[1])
    for p in range(block.n_kept[i]):
        for q in range(p + 1):
            block.kept_products[i, p, q] = work.Q[p, q]
    _copy(work.errors.weights, block.kept_weights[i])


@_inline
def _add_weighted_tile(X, weights, row0, row1, columns, q, Q, p0, p1):
    """Add the weighted products of two rows of X with four, columns[q : q + 4], to Q."""
    own = X.dtype.type
    col0, col1, col2, col3 = columns[q], columns[q + 1], columns[q + 2], columns[q + 3]
    s00, s01, s02, s03 = own(0.0), own(0.0), own(0.0), own(0.0)
    s10, s11, s12, s13 = own(0.0), own(0.0), own(0.0), own(0.0)
    for k in range(weights.shape[0]):
        x0, x1 = weights[k] * X[row0, k], weights[k] * X[row1, k]
        s00 += x0 * X[col0, k]
        s01 += x0 * X[col1, k]
        s02 += x0 * X[col2, k]
        s03 += x0 * X[col3, k]
        s10 += x1 * X[col0, k]
        s11 += x1 * X[col1, k]
        s12 += x1 * X[col2, k]
        s13 += x1 * X[col3, k]
    Q[p0, q] += s00
    Q[p0, q + 1] += s01
    Q[p0, q + 2] += s02
    Q[p0, q + 3] += s03
    if p1 > p0:
        Q[p1, q] += s10
        Q[p1, q + 1] += s11
        Q[p1, q + 2] += s12
        Q[p1, q + 3] += s13


@_compile
def _add_weighted(X, weights, atoms, start, stop, Q):
    """Add the weighted products of the rows `atoms` of X from `start` to `stop` with those up to
    them to the lower triangle of Q."""
    own, p = X.dtype.type, start
    while p < stop:
        after = min(p + 1, stop - 1)
        row0, row1, q = atoms[p], atoms[after], 0
        while q + 4 <= after + 1:
            _add_weighted_tile(X, weights, row0, row1, atoms, q, Q, p, after)
            q += 4
        while q < after + 1:
            sum0, sum1, col = own(0.0), own(0.0), atoms[q]
            for k in range(weights.shape[0]):
                sum0 += weights[k] * X[row0, k] * X[col, k]
                sum1 += weights[k] * X[row1, k] * X[col, k]
            Q[p, q] += sum0
            if after > p:
                Q[after, q] += sum1
            q += 1
        p += 2


@_compile
def _mirror(Q, start, stop):
    for p in range(start, stop):
        for q in range(p):
            Q[q, p] = Q[p, q]


@_compile
def _extend_weighted(shared, block, i, start, stop, work):
    """Q of the atoms from `start` to `stop` of the working set of sample i."""
    Q, kept = work.Q, start
    if start == 0:
        kept = min(block.n_kept[i], stop)
    for p in range(start, stop):
        for q in range(p + 1):
            Q[p, q] = block.kept_products[i, p, q] if p < kept else 0.0
    _add_weighted(shared.atoms, work.errors.weights, block.working_sets[i], kept, stop, Q)
    _mirror(Q, start, stop)


@_compile
def _add_changes(shared, block, i, first, count, work):
    """Add the products of `count` listed features, from the `first`, times their changes to Q."""
    errors, w, working_set = work.errors, block.sizes[i], block.working_sets[i]
    chunk, order = errors.chunk, work.scratch.positions
    for p in range(w):
        order[p] = p
        for n in range(count):
            chunk[p, n] = shared.atoms[working_set[p], errors.features[first + n]]
    _add_weighted(errors.chunk, errors.changes[:count], order, np.int64(0), w, work.Q)


@_compile
def _list_changed(penalties, errors):
    """List the features whose weights are not their curvatures; returns their number."""
    own, weights, count = errors.weights.dtype.type, errors.weights, np.int64(0)
    for k in range(weights.shape[0]):
        errors.features[count] = k
        curvature = max(_curvature(errors.difference[k], penalties), _LEAST_WEIGHT)
        count += weights[k] != own(curvature)
    return count


@_compile
def _follow_weights(shared, block, i, work):
    """Bring Q to the curvatures of the features at the present difference."""
    errors, w, weights = work.errors, block.sizes[i], work.errors.weights
    count = _list_changed(work.penalties, errors)
    if count == 0:
        return
    _empty_factor(w, work.factor)
    few = 2 * count <= weights.shape[0]
    for n in range(count):
        k = errors.features[n]
        new = max(_curvature(errors.difference[k], work.penalties), _LEAST_WEIGHT)
        errors.changes[n % _CHUNK] = new - weights[k]
        weights[k] = new
        if few and (n + 1 == count or (n + 1) % _CHUNK == 0):
            _add_changes(shared, block, i, n - n % _CHUNK, n % _CHUNK + 1, work)
    if few:
        _mirror(work.Q, np.int64(0), w)
    else:
        block.n_kept[i] = 0
        _extend_weighted(shared, block, i, np.int64(0), w, work)


@_compile
def _make_model(shared, block, i, work):
    """The model of sample i at its coefficients, with which the anchor agrees."""
    w, anchor, errors = block.sizes[i], work.anchor, work.errors
    z, c, g = block.coefficients[i, :w], work.c[:w], work.g[:w]
    if z.any():
        _follow_weights(shared, block, i, work)
    square = 0.0
    for k in range(errors.weights.shape[0]):
        square += work.residual[k] * work.residual[k] / errors.weights[k]
    work.penalties.anchor_square = square
    for p in range(w):
        c[p], anchor.z[p], anchor.g[p], errors.start[p] = g[p], z[p], g[p], z[p]
    for p in range(w):
        if z[p] != 0.0:
            for q in range(w):
                c[q] += z[p] * work.Q[p, q]


@_compile
def _error_slope(penalties, difference, direction, length):
    """Derivatives of Σ h(v − length·direction) by the length."""
    limit, flat = penalties.error_l1, penalties.error_ridge / (1.0 + penalties.error_ridge)
    slope, curvature = 0.0, 0.0
    for k in range(difference.shape[0]):
        value = difference[k] - length * direction[k]
        inside = min(max(value, -limit), limit)
        slope -= (inside + flat * (value - inside)) * direction[k]
        curvature += (1.0 if inside == value else flat) * direction[k] * direction[k]
    return slope, curvature


@_compile
def _penalty_slope(z, start, shares, length, l1, ridge):
    """Derivatives from the left of the penalties along the step from `start` to z."""
    slope, curvature = 0.0, 0.0
    for p in range(z.shape[0]):
        move = z[p] - start[p]
        value = start[p] + length * move if length < 1.0 else z[p]
        side = value if value != 0.0 else (start[p] if start[p] != 0.0 else move)
        slope += (ridge * shares[p] * value + l1 * _sign(side)) * move
        curvature += ridge * shares[p] * move * move
    return slope, curvature


@_compile
def _search_length(penalties, errors, z, start, shares):
    """The length of the step from `start` to z, at most 1, up to which the objective decreases.

    The slope along the step increases: Newton steps between lengths known to be too short and too
    long.
    """
    l1, ridge = penalties.l1, penalties.ridge
    short, long, length, first = 0.0, 1.0, 0.0, 0.0
    for trial in range(_MAX_LENGTHS):
        slope, curvature = _error_slope(penalties, errors.difference, errors.direction, length)
        slope_z, curvature_z = _penalty_slope(z, start, shares, length, l1, ridge)
        slope, curvature = slope + slope_z, curvature + curvature_z
        if trial == 0:
            if not slope < 0.0:
                return 0.0
            first, length = -slope, 1.0
            continue
        if slope <= 0.0 and (length == 1.0 or slope >= -_FLAT * first):
            return length
        if length == 1.0 and slope <= _WHOLE * first:
            return length
        if slope < 0.0:
            short = length
        else:
            long = length
        length -= slope / curvature
        if not short < length < long:
            length = 0.5 * (short + long)
    return short


@_inline
def _step_with_errors(shared, block, i, work):
    """Go from the coefficients `start` towards those of sample i as far as the objective decreases;
    returns whether it did."""
    w, errors, count = block.sizes[i], work.errors, np.int64(0)
    z, start = block.coefficients[i, :w], errors.start
    rows, moves = work.scratch.indices, work.trial
    for k in range(errors.direction.shape[0]):
        errors.direction[k] = 0.0
    for p in range(w):
        if z[p] != start[p]:
            rows[count], moves[count] = block.working_sets[i, p], start[p] - z[p]
            count += 1
    _subtract_rows(shared.atoms, rows, moves, count, errors.direction)
    length = _search_length(work.penalties, errors, z, start, work.shares)
    if length < 1.0:
        for p in range(w):
            z[p] = start[p] + length * (z[p] - start[p])
    for k in range(errors.direction.shape[0]):
        errors.difference[k] -= length * errors.direction[k]
    _remove_errors(work.penalties, errors.difference, work.residual)
    return length > 0.0


@_compile
def _store_errors(penalties, difference, errors):
    """Store the sparse errors; returns the violation of their conditions, which is rounding."""
    limit, ridge, worst = penalties.error_l1, penalties.error_ridge, 0.0
    for k in range(difference.shape[0]):
        error = _error_of(difference[k], penalties)
        errors[k] = error
        slope = difference[k] - error - ridge * error
        worst = _larger(worst, abs(slope - _sign(error) * limit) if error != 0.0 else 0.0)
    return worst / limit


# --- correlations with all atoms -------------------------------------------------------------


@_compile
def _count_above(correlations, row, threshold):
    """The number of |correlations| above a threshold; one that is not a number counts."""
    count = 0
    for j in range(correlations.shape[1]):
        count += not abs(correlations[row, j]) <= threshold
    return count


@_compile
def _any_above(correlations, row, start, threshold):
    """Whether one |correlation| of the stride that begins at `start` is above a threshold."""
    count = 0
    for j in range(_STRIDE):
        count += not abs(correlations[row, start + j]) <= threshold
    return count > 0


@_compile
def _largest(correlations, row):
    """The largest |correlation| of a row."""
    largest, n_strides = correlations.dtype.type(0.0), correlations.shape[1] // _STRIDE
    for stride in range(n_strides):
        start = stride * _STRIDE
        if _any_above(correlations, row, start, largest):
            for j in range(_STRIDE):
                largest = max(largest, abs(correlations[row, start + j]))
    for j in range(n_strides * _STRIDE, correlations.shape[1]):
        largest = max(largest, abs(correlations[row, j]))
    return largest


@_compile
def _list_above(correlations, row, threshold, out, start, limit):
    """Write the atoms whose |correlation| is above a threshold, at most `limit`, into `out` from
    `start` on; returns their number."""
    count, n_strides = np.int64(0), correlations.shape[1] // _STRIDE
    for stride in range(n_strides + 1):
        begin = stride * _STRIDE
        if stride == n_strides or _any_above(correlations, row, begin, threshold):
            for j in range(begin, min(begin + _STRIDE, correlations.shape[1])):
                if not abs(correlations[row, j]) <= threshold and count < limit:
                    out[start + count] = j
                    count += 1
    return count


@_inline
def _select_threshold(correlations, row, count, low):
    """Thresholds (low, high) at or above `low`: above `high` are at most `count` and, if bisection
    gets there, at least 3/4 of `count` |correlations|; above `low` are more."""
    own = correlations.dtype.type
    low, high = own(low), _largest(correlations, row)
    n_low, n_high = _count_above(correlations, row, low), 0
    if n_low <= count:
        return low, low
    for _ in range(_SELECTION_STEPS):
        # |correlations| become rarer about exponentially towards the largest.
        part = np.log(n_low / (0.85 * count)) / np.log(n_low / max(n_high, 0.5))
        middle = low + own(min(max(part, 0.1), 0.9)) * (high - low)
        n_middle = _count_above(correlations, row, middle)
        if n_middle > count:
            low, n_low = middle, n_middle
        else:
            high, n_high = middle, n_middle
            if 4 * n_high >= 3 * count:
                break
    return low, high


@_compile
def _add_largest(block, i, count, low):
    """Add about `count` atoms, never more, with the largest |correlation| above `low` to the
    working set of sample i; returns their number."""
    correlations, row = block.correlations, block.correlation_rows[i]
    low, high = _select_threshold(correlations, row, count, low)
    working_set, size = block.working_sets[i], block.sizes[i]
    n_added = _list_above(correlations, row, high, working_set, size, count)
    if n_added == 0:  # ties
        n_added = _list_above(correlations, row, low, working_set, size, count)
    block.sizes[i] = size + n_added
    return n_added


@_compile
def _update_correlations(shared, block, i, work):
    """Bring the correlations of sample i from the coefficients `work.correlated_z` to the present
    ones, by the stored Gram matrix."""
    z, correlated_z, progress = block.coefficients, work.correlated_z, work.progress
    rows, moves, count, total = work.scratch.indices, work.coarse_z, np.int64(0), 0.0
    for p in range(progress.size):
        if z[i, p] != correlated_z[p]:
            total += abs(z[i, p] - correlated_z[p])
            rows[count], moves[count] = block.working_sets[i, p], z[i, p] - correlated_z[p]
            correlated_z[p] = z[i, p]
            count += 1
    _subtract_rows(shared.gram, rows, moves, count, block.correlations[block.correlation_rows[i]])
    progress.error += 2.0 * shared.product_error * shared.max_norm**2 * total
    progress.current = True


@_compile
def _residual_distance(shared, block, i, work):
    """Bound on the distance of the residual to that of the coefficients `work.correlated_z`."""
    if shared.error_weight > 0.0:
        return _distance(work.residual, work.errors.correlated)
    z, correlated_z, w = block.coefficients, work.correlated_z, block.sizes[i]
    rows, moves = work.scratch.indices, work.scratch.weights
    count, total = np.int64(0), 0.0
    for p in range(w):
        work.trial_g[p] = 0.0
        if z[i, p] != correlated_z[p]:
            total += abs(z[i, p] - correlated_z[p])
            rows[count], moves[count] = p, z[i, p] - correlated_z[p]
            count += 1
    _subtract_rows(work.Q, rows, moves, count, work.trial_g[:w])
    square = shared.product_error * (shared.max_norm * total) ** 2
    for n in range(count):
        square -= moves[n] * work.trial_g[rows[n]]
    return np.sqrt(max(square, 0.0))


@_inline
def _check_exactly(shared, block, i, lowest, n_candidates, limit, max_added, work):
    """Compute the correlations above `lowest` in float64 and add the atoms that exceed `limit`."""
    candidates, products = work.scratch.indices, work.scratch.products
    row, size = block.correlation_rows[i], block.sizes[i]
    _list_above(block.correlations, row, lowest, candidates, np.int64(0), n_candidates)
    _multiply_rows(shared.atoms, candidates, n_candidates, work.residual, products)
    worst, n_violators = 0.0, np.int64(0)
    for k in range(n_candidates):
        worst = _larger(worst, abs(products[k]))
        if abs(products[k]) > limit:
            if n_violators < max_added:
                block.working_sets[i, size + n_violators] = candidates[k]
            n_violators += 1
    n_added = min(n_violators, max_added)
    block.sizes[i] = size + n_added
    if n_violators == 0:
        block.certificates[i] = _larger(block.certificates[i], worst / block.l1[i] - 1.0)
    return n_added if n_added > 0 or n_violators == 0 else np.int64(_UNDECIDED)


@_compile
def _check(shared, block, i, work):
    """Check the optimality conditions of every atom for sample i and add violators.

    Returns how many were added, or _UNDECIDED if that requires the correlations of the present
    residual or a wider working set. Correlations of an earlier residual rule out most atoms, by
    the distance of the two residuals; if few are left, these are computed in float64.
    """
    correlations, row, l1 = block.correlations, block.correlation_rows[i], block.l1[i]
    own, loosely_solved, size = correlations.dtype.type, block.loosely_solved[i], block.sizes[i]
    limit = l1 * (1.0 + 0.5 * shared.tol)
    max_added = min(max(size, 16), block.working_sets.shape[1] - size)
    current, error = work.progress.current, work.progress.error
    if current:
        n_certain = _count_above(correlations, row, own(limit + error))
        if n_certain > 0 and max_added == 0:
            return np.int64(_UNDECIDED)
        if n_certain > 0:
            return _add_largest(block, i, min(n_certain, max_added), limit + error)
        if loosely_solved:
            return np.int64(0)
    elif loosely_solved:
        return np.int64(_UNDECIDED)
    else:
        error += shared.max_norm * _residual_distance(shared, block, i, work)
    lowest = own(max(l1 - error, 0.0))
    n_candidates = _count_above(correlations, row, lowest)
    # The correlations of the working set are set to zero, which says nothing once error reaches a.
    if not current and (error >= l1 or _PRODUCT_COST * n_candidates > correlations.shape[1]):
        return np.int64(_UNDECIDED)
    return _check_exactly(shared, block, i, lowest, n_candidates, limit, max_added, work)


# --- one sample ------------------------------------------------------------------------------


@_compile
def _exact_violation(shared, block, i, work):
    """Compute the correlations of the working set with the residual in float64 (`work.g`); returns
    the largest violation."""
    w, products, penalties = block.sizes[i], work.scratch.products, work.penalties
    _multiply_rows(shared.atoms, block.working_sets[i], w, work.residual, products)
    _copy(products[:w], work.g)
    z, l1, ridge = block.coefficients[i, :w], penalties.l1, penalties.ridge
    used, unused = _violations(work.g[:w], z, work.shares, l1, ridge)
    return max(used, unused)


@_inline
def _solve_working_set(shared, block, i, work):
    """Solve sample i on its working set; returns whether that succeeded.

    The model is corrected until it agrees with the data. With sparse errors every step has a model
    of its own.
    """
    w, penalties, loosely = block.sizes[i], work.penalties, work.progress.loosely
    z, c, g = block.coefficients[i, :w], work.c[:w], work.g[:w]
    with_errors, goal, violation = shared.error_weight > 0.0, 0.4 * shared.tol, np.inf
    best, n_stalled = np.inf, 0
    tol = _LOOSE if loosely else 0.1 * shared.tol
    n_rounds, model_tol = _MAX_CORRECTIONS, _MODEL_TOL
    if with_errors:
        goal, n_rounds = (_LOOSE, _MAX_LOOSE_MODELS) if loosely else (goal, _MAX_MODELS)
        violation = _exact_violation(shared, block, i, work)
    for _ in range(n_rounds):
        if with_errors:
            if violation <= goal:
                break
            _make_model(shared, block, i, work)
            tol = max(0.25 * goal, model_tol * violation)
        _solve_model(c, z, g, work, tol)
        if with_errors:
            moved = _step_with_errors(shared, block, i, work)
            violation = _exact_violation(shared, block, i, work)
            # Rounding in a model that is not solved exactly may hide the descent.
            if not moved and model_tol == 0.0:
                break
            model_tol = _MODEL_TOL if moved else 0.0
        elif loosely:
            break
        else:
            _correct_model(shared, block.working_sets[i], c, z, g, work)
            used, unused = _violations(g, z, work.shares, penalties.l1, penalties.ridge)
            violation = max(used, unused)
            n_stalled = 0 if violation < 0.9 * best else n_stalled + 1
            best = min(best, violation)
            if violation <= goal or n_stalled == _MAX_STALLED:
                break
    block.l1[i], block.ridge[i] = penalties.l1, penalties.ridge
    block.loosely_solved[i], block.certificates[i] = loosely, violation
    return loosely or violation <= goal


@_inline
def _begin(shared, block, i, first_size, work):
    """Load sample i: with a first working set if it is new, else as it was left."""
    penalties, progress, factor = work.penalties, work.progress, work.factor
    _copy(block.samples[i], work.sample)
    progress.current = block.status[i] == WAITING
    progress.loosely = not progress.current
    progress.size = 0
    if progress.current:
        _copy(block.residuals[i], work.residual)
    else:
        _copy(work.sample, work.residual)
        _add_largest(block, i, first_size, 0.0)
    residual_norm = np.sqrt(_dot(work.residual, work.residual))
    progress.error = shared.product_error * shared.max_norm * residual_norm
    penalties.l1, penalties.ridge, penalties.lam = block.l1[i], block.ridge[i], shared.lam
    penalties.gamma, penalties.floor = block.gammas[i], block.floors[i]
    penalties.norm_loss = shared.norm_loss
    penalties.error_l1 = penalties.l1 * shared.error_weight
    penalties.error_ridge = penalties.ridge * shared.error_weight**2
    penalties.sample_square = _dot(work.sample, work.sample)
    penalties.anchor_square = penalties.sample_square
    _empty_factor(block.working_sets.shape[1], factor)
    if shared.error_weight > 0.0:
        _begin_errors(shared, block, i, work)
    block.status[i] = ACTIVE


@_inline
def _extend_model(shared, block, i, work):
    """Extend the model, its anchor and `correlated_z` by the atoms added to the working set."""
    Q, anchor, progress = work.Q, work.anchor, work.progress
    start, stop = progress.size, block.sizes[i]
    for p in range(start, stop):
        atom = block.working_sets[i, p]
        work.shares[p] = 1.0 / (shared.counts[atom] - (atom == block.excluded[i]))
    if shared.error_weight > 0.0:
        _extend_weighted(shared, block, i, start, stop, work)
        progress.size = stop
        return
    _gather(shared, block, i, start, stop, work)
    for p in range(start, stop):
        work.correlated_z[p] = block.coefficients[i, p]
        anchor.z[p] = 0.0
        anchor.g[p] = work.c[p]
        for q in range(p):
            anchor.g[p] -= Q[p, q] * anchor.z[q]
    progress.size = stop


@_inline
def _improve(shared, block, i, work):
    """Solve the working set, unless only its check was missing; False if float32 is too coarse."""
    if not work.progress.current:
        solved = _solve_working_set(shared, block, i, work)
        if shared.atoms.itemsize == 4:
            return solved and block.l1[i] >= 2.0 * work.progress.error
    elif not block.loosely_solved[i] and shared.error_weight == 0.0:
        _store_residual(shared, block, i, work)
    return True


@_inline
def _check_all(shared, block, i, work):
    """Check sample i, with updated correlations if those at hand do not decide."""
    correlations, row, n_added = block.correlations, block.correlation_rows[i], np.int64(0)
    while True:
        # Atoms of the working set are checked there, and the sample itself is excluded.
        for p in range(work.progress.size):
            correlations[row, block.working_sets[i, p]] = 0.0
        own = block.excluded[i]
        if own >= 0 and shared.counts[own] == 1.0:
            correlations[row, own] = 0.0
        n_added = _check(shared, block, i, work)
        if n_added != _UNDECIDED or work.progress.current or shared.gram.shape[0] == 0:
            break
        _update_correlations(shared, block, i, work)
    return n_added


@_inline
def _leave(shared, block, i, work, status):
    """Store the residual of sample i, with which the driver continues."""
    if block.loosely_solved[i] and shared.error_weight == 0.0:
        _store_residual(shared, block, i, work)
    _copy(work.residual, block.residuals[i])
    if shared.error_weight > 0.0:
        _keep_errors(block, i, work)
    block.status[i] = status


@_inline
def _finish(shared, block, i, work):
    """Mark sample i as optimal, and store its errors."""
    if shared.error_weight > 0.0:
        violation = _store_errors(work.penalties, work.errors.difference, block.errors[i])
        block.certificates[i] = _larger(block.certificates[i], violation)
    block.status[i] = OPTIMAL


@_compile
def _is_dense(shared, block, i, n_added, work):
    """Whether sample i, which is not optimal yet, is faster to solve by iterations on the residual.

    The support is expected to grow to the geometric mean of its present size and of that with all
    violators, of which most cease to be violators as others enter. The iterations take fewer steps
    the larger AₛᵀAₛ + bI is, on average over its d eigenvalues. They are chosen if it is at least
    as large as with as many atoms as features and no ridge.
    """
    correlations, row, size = block.correlations, block.correlation_rows[i], work.progress.size
    n_used, n_violators, d = 0, n_added, shared.atoms.shape[1]
    for p in range(size):
        n_used += block.coefficients[i, p] != 0.0
    if work.progress.current:
        n_violators = _count_above(correlations, row, correlations.dtype.type(block.l1[i]))
    expected = np.sqrt(n_used * (n_used + n_violators))
    return (
        expected > shared.dense_size
        and expected * shared.mean_square + d * block.ridge[i] >= d * shared.mean_square
    )


@kernel(**_OPTIONS)
def solve(rows, work, shared, block, first_size):
    """Solve samples, each from the `first_size` atoms that correlate most with it.

    A working set is solved, checked against all atoms and extended by the worst violators until
    the status of the sample is no longer ACTIVE.
    """
    work, shared, block = _borrow_work(work), _borrow_shared(shared), _borrow_block(block)
    progress = work.progress
    for i in rows:
        _begin(shared, block, i, first_size, work)
        while block.status[i] == ACTIVE:
            _extend_model(shared, block, i, work)
            if not _improve(shared, block, i, work):
                block.certificates[i] = np.inf
                block.status[i] = INACCURATE
                break
            n_added = _check_all(shared, block, i, work)
            dense = n_added > 0 and _is_dense(shared, block, i, n_added, work)
            if n_added == _UNDECIDED or dense:
                _leave(shared, block, i, work, DENSE if dense else WAITING)
            elif n_added == 0 and not block.loosely_solved[i]:
                _finish(shared, block, i, work)
            else:
                progress.loosely = (
                    progress.current
                    and n_added > 0
                    and _largest(block.correlations, block.correlation_rows[i])
                    > _LARGE * block.l1[i]
                )
                progress.current = False
