"""The driver over all samples: blocks, working sets, checks (the loops are in `_kernels`)."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import ThreadpoolController

from enhg._memory import free_memory
from enhg._progress import Progress, reporting
from enhg._validation import check_samples
from enhg.representation import _kernels
from enhg.representation.problem import SIGMA_FLOOR, GammaScale, Loss, Problem, Representation

# What the solver may use of the memory that is free, unless told otherwise.
_PART_OF_FREE_MEMORY = 0.5
_MOST_BLOCK_ROWS = 512
_FIRST_WORKING_SET = 32
_FIRST_ROOM = 512
_KEPT_PRODUCTS = 160
_ROWS_AT_ONCE = 32
_LEAST_TASK = 4
_GRAM_TILE, _MIRROR_TILE = 1024, 128


def self_representation(
    X: ArrayLike,
    *,
    gamma: float = 10.0,
    lam: float = 5.0,
    loss: Loss = "squared",
    gamma_scale: GammaScale = "relative",
    dictionary: ArrayLike | None = None,
    error_weight: float | None = None,
    tol: float = 1e-4,
    memory_budget: int | None = None,
    n_jobs: int | None = None,
    progress: Progress = None,
) -> Representation:
    """Rebuild every sample from a few others: the robust matrix elastic net, solved exactly.

    For every sample i, with its own coefficient held at zero:

        minimize over z:   ‖z‖₁ + lam·‖z‖₂² + γᵢ·ℓ(xᵢ − Σⱼ zⱼ xⱼ),   zᵢ = 0

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
        The samples, taken as they are (see `normalize_samples`); may be memory-mapped. Matrix
        products of float32 samples are made in float32, at twice the speed of float64. They only
        show the way: every row is finished, and certified, in float64.
    gamma : float
        γ, the weight of the error. On the relative scale, a multiple of the value at which the
        representation stops being zero: every `gamma` > 1 gives a non-zero row (with
        `error_weight`, of coefficients or of errors).
    lam : float
        λ, the weight of the ridge against the l1 norm. 0 is the lasso; the larger, the more
        correlated samples share their weight.
    loss : {"squared", "norm"}
        ℓ(r) = ½‖r‖₂², which LARS-EN and the paper's baselines solve, or ‖r‖₂, the paper's
        equation, robust to whole corrupted samples. For the norm loss, errors shorter than
        10⁻⁶‖xᵢ‖ count as that long.
    gamma_scale : {"relative", "absolute"}
        Relative: γᵢ = gamma / maxⱼ|xⱼᵀxᵢ|, over all atoms (see `error_weight`), times ‖xᵢ‖ for
        the norm loss. Absolute: γᵢ = gamma.
        On the relative scale, a sample whose products with all others are at most 4 units of
        rounding (of its precision, times both lengths) counts as orthogonal to them: z = 0.
        The paper's γ = 0.18 on the absolute scale gives z = 0 for every unit-length sample,
        because z = 0 is optimal as soon as γ·maxⱼ|xⱼᵀxᵢ| ≤ 1.
    dictionary : array of shape (n_atoms, n_features), optional
        Atoms to rebuild the samples from, in place of the other samples. None is held out.
    error_weight : float, optional
        γₑ, the price of errors in single features (shadows, occlusion): they are taken out of
        the residual, xᵢ − Σⱼ zⱼxⱼ − e, at the price γₑ‖e‖₁ + lam·γₑ²‖e‖². It is the same problem
        over the atoms [X, I/γₑ], so d×d numbers more are stored. None for no such errors.
    tol : float
        Bound on the certificate. A row that cannot reach it is reported by a warning.
    memory_budget : int, optional
        Bytes that may be used besides the samples and the result; half of the memory that is
        free by default. If the Gram matrix fits (4 or 8 bytes times the square of the number
        of samples) it is kept, which is faster; if not,
        samples are solved in blocks, each with the products it needs. The result is the same,
        within `tol`. Not counted: two square matrices a thread, of the order of the largest
        working set, and where float32 does not reach `tol`, the samples in float64.
    n_jobs : int, optional
        Threads; all cores by default. The result does not depend on it but for rounding.
    progress : bool or callable, optional
        True for a bar on standard error; a function is called with (samples done, in all).

    Returns
    -------
    Representation
        With `coefficients` (Z), `residuals` (S), `reconstruction` (X₀) and `certificate`.

    Notes
    -----
    Divided by γᵢ the squared problem is ½‖r‖² + a‖z‖₁ + (b/2)‖z‖² with a = 1/γᵢ and
    b = 2·lam/γᵢ; the norm problem has a = σ/γᵢ and b = 2·lam·σ/γᵢ, with σ = ‖r‖.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8], [0.0, 1.0]])
    >>> representation = self_representation(X, gamma=5.0, lam=0.0)
    >>> representation.coefficients.shape
    (4, 4)
    >>> bool(representation.certificate.max() <= 1e-4)
    True
    """
    problem = Problem(gamma, lam, loss, gamma_scale)
    if not isinstance(tol, Real) or not 0 < tol < np.inf:
        raise ValueError(f"tol must be a positive number, got {tol!r}")
    if memory_budget is not None and (
        not isinstance(memory_budget, Integral) or memory_budget <= 0
    ):
        raise ValueError(
            f"memory_budget must be a positive number of bytes, or None, got {memory_budget!r}"
        )
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs must be a whole number other than 0, or None, got {n_jobs!r}")
    X = check_samples(X, min_samples=2 if dictionary is None else 1)
    if error_weight is not None and not (
        isinstance(error_weight, Real) and 0 < error_weight < np.inf
    ):
        raise ValueError(f"error_weight must be a positive number, or None, got {error_weight!r}")
    if dictionary is None:
        atoms, own = X, np.arange(len(X))
    else:
        atoms = check_samples(dictionary, name="dictionary")
        X, atoms = _in_one_precision(X, atoms)
        own = np.full(len(X), -1)
        if atoms.shape[1] != X.shape[1]:
            raise ValueError(
                f"dictionary must have as many features as X ({X.shape[1]}), got {atoms.shape[1]}"
            )
    count = len(atoms)
    if error_weight is not None:
        units = np.eye(X.shape[1], dtype=X.dtype) / X.dtype.type(error_weight)
        atoms = np.vstack([atoms, units])
    X, atoms = _within_range(X, atoms)
    if memory_budget is None:
        memory_budget = int(_PART_OF_FREE_MEMORY * free_memory())
    with Crew(n_jobs) as crew:
        with reporting(progress, "elastic nets") as report:
            rows = _solve(X, atoms, own, problem, tol, memory_budget, crew, report)
        if X.dtype == np.float32:
            # Where a is small, rounding in float32 products alone exceeds it.
            short = np.flatnonzero(_falls_short(rows.certificate, tol))
            if len(short):
                again = _solve(
                    X[short].astype(np.float64), atoms.astype(np.float64), own[short],
                    problem, tol, memory_budget, crew, lambda done, total: None
                )  # fmt: skip
                rows = rows.replaced(short, again)
    _warn_of_large_certificates(rows.certificate, tol)
    Z, sparse_errors = rows.coefficients, None
    if error_weight is not None:
        sparse_errors = sparse.csr_array(Z[:, count:]) / float(error_weight)
        Z = sparse.csr_array(Z[:, :count])
    return Representation(Z, rows.certificate, rows.a, rows.b, X, atoms[:count], sparse_errors)


def _in_one_precision(X: NDArray, atoms: NDArray) -> tuple[NDArray, NDArray]:
    dtype = np.result_type(X, atoms)
    return X.astype(dtype, copy=False), atoms.astype(dtype, copy=False)


def _within_range(X: NDArray, atoms: NDArray) -> tuple[NDArray, NDArray]:
    """X and the atoms in a precision whose range holds their products, or an error."""
    longest = max(float(max(A.max(), -A.min())) for A in (X, atoms))
    # Products of entries, and sums of them, must neither overflow nor be lost.
    bounds = np.finfo(X.dtype)
    room = float(X.shape[1]) / bounds.eps
    if longest == 0 or np.sqrt(bounds.tiny * room) < longest < np.sqrt(bounds.max / room):
        return X, atoms
    if X.dtype == np.float32:
        same = atoms is X
        X = X.astype(np.float64)
        return _within_range(X, X if same else atoms.astype(np.float64))
    raise ValueError(
        f"the largest entry of the samples is {longest:g}, and products of such numbers leave the "
        "range of float64; scale the samples first (see normalize_samples)"
    )


def _falls_short(certificate: NDArray, tol: float) -> NDArray:
    return ~(certificate <= tol)  # which is also true of NaN


def _warn_of_large_certificates(certificate: NDArray, tol: float) -> None:
    short = np.flatnonzero(_falls_short(certificate, tol))
    if len(short):
        warnings.warn(
            f"{len(short)} of {len(certificate)} samples did not reach tol = {tol:g}; the worst "
            f"certificate is {certificate.max():.2e}, of sample {int(certificate.argmax())}. "
            "Raise tol, or lower gamma: the l1 penalty is close to the rounding of the data",
            ConvergenceWarning,
            stacklevel=3,
        )


class Crew:
    """A crew of threads: for the BLAS inside a matrix product, or for compiled loops over rows,
    never for both at once."""

    def __init__(self, n_jobs: int | None = None) -> None:
        self.size = effective_n_jobs(-1 if n_jobs is None else int(n_jobs))
        self._blas = ThreadpoolController().select(user_api="blas")
        self._pool = ThreadPoolExecutor(self.size)

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def product(self, A: NDArray, B: NDArray, out: NDArray) -> None:
        """out = A @ B.T on all threads."""
        with self._blas.limit(limits=self.size):
            np.matmul(A, B.T, out=out)

    def gram(self, X: NDArray) -> NDArray:
        """X @ X.T on all threads: one half of it is computed, the other copied."""
        n = len(X)
        G = np.empty((n, n), X.dtype)
        for at in range(0, n, _GRAM_TILE):
            self.product(X[at : at + _GRAM_TILE], X[at:], G[at : at + _GRAM_TILE, at:])

        def mirror(at: int) -> None:
            for below in range(at + _GRAM_TILE, n, _MIRROR_TILE):
                tile = slice(at, at + _GRAM_TILE), slice(below, below + _MIRROR_TILE)
                G[tile[1], tile[0]] = G[tile].T

        self.each(mirror, range(0, n, _GRAM_TILE))
        return G

    def each(self, work: Callable, items: Iterable) -> None:
        """work(item) for all items, in all threads."""
        with self._blas.limit(limits=1):
            for _ in self._pool.map(work, items):
                pass

    def over(
        self, kernel: Callable, rows: NDArray, workspace: Callable[[], object], *arguments: object
    ) -> None:
        """Run kernel(some of the rows, workspace, *arguments) in all threads, each with a
        workspace of its own, until all rows are done."""
        tasks = iter(self._tasks(rows))

        def work(_: int) -> None:
            space = workspace()
            for task in tasks:
                kernel(task, space, *arguments)

        self.each(work, range(min(self.size, len(rows))))

    def _tasks(self, rows: NDArray) -> list[NDArray]:
        """The rows in parts, the last ones small, so that all threads end at about one time."""
        tasks = []
        while len(rows):
            size = max(_LEAST_TASK, len(rows) // (3 * self.size))
            tasks.append(rows[:size])
            rows = rows[size:]
        return tasks


def _slices(n: int, size: int) -> list[slice]:
    return [slice(at, min(at + size, n)) for at in range(0, n, size)]


@dataclass(frozen=True)
class _Rows:
    """Solved rows of Z."""

    coefficients: sparse.csr_array
    certificate: NDArray
    a: NDArray
    b: NDArray

    def replaced(self, where: NDArray, other: _Rows) -> _Rows:
        """These rows with those at `where` taken from another."""
        order = np.arange(len(self.a))
        order[where] = len(order) + np.arange(len(where))
        return _Rows.stacked([self, other]).taken(order)

    def taken(self, order: NDArray) -> _Rows:
        return _Rows(
            self.coefficients[order], self.certificate[order], self.a[order], self.b[order]
        )

    @staticmethod
    def stacked(parts: Iterable[_Rows]) -> _Rows:
        parts = list(parts)
        return _Rows(
            sparse.csr_array(sparse.vstack([part.coefficients for part in parts], format="csr")),
            np.concatenate([part.certificate for part in parts]),
            np.concatenate([part.a for part in parts]),
            np.concatenate([part.b for part in parts]),
        )


def _solve(
    X: NDArray,
    atoms: NDArray,
    excluded: NDArray,
    problem: Problem,
    tol: float,
    memory_budget: int,
    crew: Crew,
    report: Callable[[int, int], None],
) -> _Rows:
    """All samples, block by block."""
    (n, d), m = X.shape, len(atoms)
    row = (m + 3 * d) * X.itemsize + _FIRST_ROOM * 16  # bytes of a block
    gram = np.empty((0, 0), X.dtype)
    if m * m * X.itemsize + min(n, _MOST_BLOCK_ROWS) * row <= memory_budget and m <= 4 * n:
        gram = crew.gram(atoms)
    else:
        row += min(m, _KEPT_PRODUCTS) ** 2 * X.itemsize
    lengths = _lengths(atoms)
    size = int(np.clip((memory_budget - gram.nbytes) // row, 1, _MOST_BLOCK_ROWS))
    scores = np.empty((min(n, size), m), X.dtype)
    solved = []
    for block in _slices(n, size):
        solved.append(
            solve_block(X[block], atoms, gram, lengths, excluded[block], problem, tol, scores, crew)
        )
        report(block.stop, n)
    return _Rows.stacked(solved)


def solve_block(
    targets: NDArray,
    vectors: NDArray,
    gram: NDArray,
    lengths: NDArray,
    excluded: NDArray,
    problem: Problem,
    tol: float,
    scores: NDArray,
    crew: Crew,
) -> _Rows:
    """Solve one block: what comes out depends on the samples in it, the atoms and the parameters.

    `gram` is the Gram matrix of the atoms' `vectors`, or empty, and `lengths` their lengths;
    `excluded` is the atom each sample may not use (−1: none); `scores` is room for a number of
    every sample and atom. Working sets start from the atoms that correlate most with
    the sample, are solved, checked against all atoms and grown by the worst violators until none
    is left. With the Gram matrix at hand a sample goes through all that alone; without it, all
    samples that need their atoms' correlations with a new residual get them from one matrix
    product.
    """
    m = len(vectors)
    atoms = _kernels.Atoms(
        vectors=_read_only(vectors),
        gram=_read_only(gram),
        longest=float(lengths.max()),
        rounding=(vectors.shape[1] + 2) * float(np.finfo(vectors.dtype).eps),
        lam=float(problem.lam),
        norm_loss=problem.loss == "norm",
        tol=float(tol),
    )
    block = _open(targets, excluded, problem, atoms, lengths, scores, crew)
    while True:
        rows = np.flatnonzero(~block.done)
        space = partial(_kernels.workspace, atoms, block.members.shape[1])
        crew.over(_kernels.solve, rows, space, atoms, block, min(_FIRST_WORKING_SET, m))
        rows = np.flatnonzero(~block.done)
        if len(rows) == 0:
            return _rows(block)
        crew.product(block.residuals[rows], vectors, scores[: len(rows)])
        block.slots[rows] = np.arange(len(rows))
        block = _with_more_room(block, m)


def _open(
    targets: NDArray,
    excluded: NDArray,
    problem: Problem,
    atoms: _kernels.Atoms,
    atom_lengths: NDArray,
    scores: NDArray,
    crew: Crew,
) -> _kernels.Block:
    """A block before the first round: z = 0, and what correlates with nothing is done."""
    n, m = len(targets), len(atoms.vectors)
    scores, critical = scores[:n], np.empty(n)
    # Samples that are the atoms they may not use have their products in the Gram matrix.
    stored = (
        len(atoms.gram) > 0
        and bool((excluded >= 0).all())
        and np.array_equal(targets, atoms.vectors[excluded])
    )
    if not stored:
        crew.product(targets, atoms.vectors, scores)

    def prepare(part: slice) -> None:
        rows, own = scores[part], excluded[part]
        if stored:
            atoms.gram.take(own, axis=0, out=rows, mode="clip")
        rows[own >= 0, own[own >= 0]] = 0
        critical[part] = np.maximum(rows.max(axis=1), -rows.min(axis=1))

    crew.each(prepare, _slices(n, _ROWS_AT_ONCE))
    lengths = _lengths(targets)
    nothing = critical == 0
    if problem.gamma_scale == "relative":
        # What is left of orthogonal samples is rounding, and no scale to be relative to.
        faint = 4 * np.finfo(targets.dtype).eps * lengths
        for i in np.flatnonzero(critical <= faint * atoms.longest):
            nothing[i] = (np.abs(scores[i]) <= faint[i] * atom_lengths).all()
        critical[nothing] = 0
    gammas = problem.gammas(critical, lengths)
    floors = np.where(lengths > 0, SIGMA_FLOOR * lengths, 1.0)
    scales = np.maximum(lengths, floors) if atoms.norm_loss else np.ones(n)
    room, kept = min(m, _FIRST_ROOM), min(m, _KEPT_PRODUCTS)
    return _kernels.Block(
        targets=_read_only(targets),
        excluded=excluded,
        gammas=gammas,
        floors=floors,
        residuals=np.empty_like(targets),
        scores=scores,
        slots=np.arange(n),
        members=np.zeros((n, room), np.int64),
        sizes=np.zeros(n, np.int64),
        products=np.empty((0 if len(atoms.gram) else n, kept, kept), targets.dtype),
        kept=np.zeros(n, np.int64),
        values=np.zeros((n, room)),
        a=scales / gammas,
        b=2 * problem.lam * scales / gammas,
        loose=np.zeros(n, bool),
        certificates=np.zeros(n),
        done=nothing,
    )


def _read_only(array: NDArray) -> NDArray:
    """A view that cannot be written to: compiled code has one form for it, memory-mapped or not."""
    view = array.view()
    view.flags.writeable = False
    return view


def _with_more_room(block: _kernels.Block, most: int) -> _kernels.Block:
    """The block with wider working sets, if one of them could not double."""
    room = block.members.shape[1]
    if room == most or 2 * block.sizes.max() <= room:
        return block
    wider = ((0, 0), (0, min(most, 2 * room) - room))
    return block._replace(members=np.pad(block.members, wider), values=np.pad(block.values, wider))


def _rows(block: _kernels.Block) -> _Rows:
    """The solved rows as a sparse matrix, with atoms in ascending order."""
    used = block.values != 0
    ends = np.concatenate([[0], np.cumsum(np.count_nonzero(used, axis=1))])
    Z = sparse.csr_array((block.values[used], block.members[used], ends), shape=block.scores.shape)
    Z.sort_indices()
    return _Rows(Z, block.certificates, block.a, block.b)


def _lengths(X: NDArray) -> NDArray:
    return np.sqrt(np.einsum("ij,ij->i", X, X, dtype=np.float64))
