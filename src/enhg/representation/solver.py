"""The robust matrix elastic net of all samples, solved block by block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from enhg._checkpoint import Checkpoint, CheckpointLike, Computation, digest
from enhg._memory import free_memory
from enhg._progress import Progress, reporting
from enhg._validation import (
    check_positive,
    check_range,
    check_samples,
    check_whole,
    out_of_range,
    range_of_products,
)
from enhg.exceptions import Advised, InputError, warn_not_converged
from enhg.representation._blocks import length_of_unit_atoms, with_unit_atoms, without_copies
from enhg.representation._copies import Copies, expand
from enhg.representation._rows import SolvedRows
from enhg.representation._threads import ThreadTeam
from enhg.representation.candidates import Candidates, check_against_all, find_candidates
from enhg.representation.problem import GammaScale, Loss, Problem, Representation
from enhg.representation.scheduling import BlockProblem, Scheduler, make_scheduler, solve_blocks

if TYPE_CHECKING:
    from distributed import Client


def self_representation(
    X: ArrayLike,
    *,
    gamma: float = 10.0,
    lam: float = 5.0,
    loss: Loss = "squared",
    gamma_scale: GammaScale = "relative",
    dictionary: ArrayLike | None = None,
    error_weight: float | None = None,
    n_candidates: int | None = None,
    tol: float = 1e-4,
    memory_budget: int | None = None,
    n_jobs: int | None = None,
    scheduler: Literal["auto", "threads"] | Client = "auto",
    checkpoint: CheckpointLike = None,
    progress: Progress = None,
) -> Representation:
    """Represent every sample by the others: the robust matrix elastic net.

    For every sample i, with its own coefficient fixed at zero, this solves

        minimize over z:   ‖z‖₁ + lam·‖z‖₂² + γᵢ·ℓ(xᵢ − Σⱼ zⱼ xⱼ),   zᵢ = 0

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The samples, used as they are; may be memory-mapped, or an array of Dask or Zarr. Matrix
        products of float32 samples are computed in float32, which is twice as fast; solutions and
        certificates are completed in float64.
    gamma : float, default=10.0
        Weight γ of the residual. On the relative scale a multiple of the value at which z = 0
        ceases to be optimal: every `gamma` > 1 gives a non-zero row (of coefficients or, with
        `error_weight`, of errors).
    lam : float, default=5.0
        Weight λ of the squared l2 norm. 0 is the lasso; larger values distribute weight among
        correlated samples.
    loss : {"squared", "norm"}, default="squared"
        "squared": ℓ(r) = ½‖r‖₂², the loss of LARS-EN and of the paper's baselines. "norm":
        ℓ(r) = ‖r‖₂, the paper's equation, robust to samples that are corrupted as a whole;
        residuals shorter than 10⁻⁶‖xᵢ‖ count as that long.
    gamma_scale : {"relative", "absolute"}, default="relative"
        "relative": γᵢ = gamma / maxⱼ|xⱼᵀxᵢ| over all atoms, times ‖xᵢ‖ for the norm loss.
        "absolute": γᵢ = gamma.
    dictionary : array-like of shape (n_atoms, n_features), default=None
        Atoms in place of the other samples. No coefficient is fixed at zero.
    error_weight : float, default=None
        Weight γₑ of a sparse error ε in single features, which models shadows and occlusions: the
        residual becomes xᵢ − Σⱼ zⱼxⱼ − ε, with the penalty γₑ‖ε‖₁ + lam·γₑ²‖ε‖². This is the same
        problem over the atoms [X, I/γₑ], which are rounded like the samples: 1/γₑ has the precision
        of float32 where they have. None: no such error.
    n_candidates : int, default=None
        Try only some atoms for each sample, approximately: at least this many of the largest
        cosines, found by an index (extra ``large``), and those of 31 similar samples. The problem
        is solved exactly on these, and `approximation` of the result checks some rows against all
        atoms. None: all atoms.
    tol : float, default=1e-4
        Bound on the certificate. A ConvergenceWarning counts the samples that do not reach it,
        which happens where a is close to the rounding of the data.
    memory_budget : int, default=None
        Bytes to use besides the samples and the result; None for half of the free memory. The
        Gram matrix (4 or 8 bytes times n_atoms²) is stored if it fits, which is faster; otherwise
        each block of samples computes the products it needs. The result is the same to the last
        bit, on one machine, with one number of threads and one compiled code (that with Numba's
        cache is not that without), for all budgets with room for the Gram matrix and two blocks of
        512 samples, and the same within `tol` for all others; so that with None it may change in
        the last digits where free memory falls below that. Not counted
        are the distinct samples, if some are equal, two square matrices per thread, of the order
        of the largest working set, and the samples in float64 where float32 does not reach `tol`.
        Working sets become large only with the norm loss, or with a small ridge or none.
    n_jobs : int, default=None
        Number of threads; None for all cores. The result does not depend on it beyond rounding,
        but for `n_candidates`: another number of threads may find other candidates.
        Workers of Dask have their own threads.
    scheduler : {"auto", "threads"} or distributed.Client, default="auto"
        Where blocks of samples are solved: in threads of this process, or by the workers of a Dask
        cluster (extra ``dask``). "auto": the active Dask client, if there is one, else threads.
        Samples are sent to every worker once. Workers that see the file of samples
        that are memory-mapped, or the folder of a Zarr array, read it instead, and a Dask array is
        computed and shared by the workers; this process receives a copy of it. Workers do not
        store the Gram matrix.
    checkpoint : path, default=None
        Folder that receives every block of samples once it is solved. After an interruption, the
        same call goes on from there, to the same bits. The folder is new, empty or that of a
        checkpoint of the same samples and parameters; it is kept at the end.
    progress : bool or callable, default=None
        True shows a progress bar on standard error; a callable receives (samples done, samples).

    Returns
    -------
    Representation
        Coefficients Z, certificates, and the residuals and reconstruction derived from them.

    Notes
    -----
    Divided by γᵢ, the squared problem is ½‖r‖² + a‖z‖₁ + (b/2)‖z‖² with a = 1/γᵢ and b = 2·lam/γᵢ.
    The norm problem has a = σ/γᵢ and b = 2·lam·σ/γᵢ with σ = ‖r‖, or σ = 10⁻⁶‖xᵢ‖ where the
    residual is shorter (`at_floor` of the result).

    Equal samples are solved once, and equal atoms share their coefficient equally. With `lam` > 0
    this is the only solution; with `lam` = 0 it is the one of smallest l2 norm among those that
    divide the coefficient otherwise.

    Each sample is solved on a working set of atoms, by factorizations of matrices of the order of
    its support. With the squared loss and `lam` > 0, samples whose supports are expected to be
    large are solved for their residual, of n_features unknowns, by conjugate gradients on many
    samples at once. Both end with the same certificate.

    With the squared loss sparse errors are eliminated: ε is xᵢ − Σⱼ zⱼxⱼ soft-thresholded at aγₑ
    and divided by 1 + bγₑ², and z minimizes a smooth loss of single features. With the norm loss,
    for large supports and for samples that do not reach `tol` otherwise, the atoms I/γₑ are stored,
    d×d numbers.

    z = 0 is optimal as soon as γ·maxⱼ|xⱼᵀxᵢ| ≤ 1 (unit-length samples), so that the paper's
    γ = 0.18 on the absolute scale gives z = 0 for every sample. On the relative scale, a sample
    whose correlations |xⱼᵀxᵢ| are all at most 4ε‖xⱼ‖‖xᵢ‖, with ε the precision of the data, counts
    as orthogonal to the others and has z = 0; its l1 penalty is at least their rounding.

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
    check_positive("tol", tol)
    check_positive("error_weight", error_weight, optional=True)
    if memory_budget is not None:
        check_whole("memory_budget", memory_budget, 1, hint="(bytes)")
    _check_candidates(n_candidates, loss, error_weight)
    with ThreadTeam(n_jobs) as team:
        engine = make_scheduler(scheduler, team, memory_budget)
        samples, atoms = _read_data(engine, X, dictionary)
        samples, atoms = _within_range(samples, atoms, error_weight)
        copies = Copies.among(samples)
        copied = copies if atoms is samples else Copies.among(atoms)
        rows, columns = copies.of(samples), copied.of(atoms)
        if atoms is samples:
            columns = rows
        own = np.arange(len(rows)) if dictionary is None else np.full(len(rows), -1)
        blocks = BlockProblem(rows, columns, own, copied.counts, problem, tol)
        if error_weight is not None:
            blocks = _with_errors(blocks, error_weight)
        with reporting(progress, "elastic nets") as report:
            parts = _finished_parts(checkpoint, samples, atoms, blocks, error_weight, n_candidates)
            if n_candidates is not None:
                blocks = _with_candidates(blocks, n_candidates, parts, team)
            solved = _solve(blocks, engine, parts, _of_all(report, len(samples)))
    if error_weight is not None and not blocks.error_weight:
        solved = solved.split(len(columns), length_of_unit_atoms(columns, error_weight))
    solved = expand(solved, copies, copied, excluded=dictionary is None)
    _warn_of_large_certificates(solved.certificate, tol)
    representation = Representation(
        solved.coefficients,
        solved.certificate,
        solved.l1,
        solved.ridge,
        solved.at_floor,
        samples,
        atoms,
        solved.errors,
    )
    if n_candidates is None:
        return representation
    excluded = np.arange(len(samples)) if dictionary is None else np.full(len(samples), -1)
    return replace(representation, approximation=check_against_all(representation, excluded))


def _with_errors(blocks: BlockProblem, error_weight: float) -> BlockProblem:
    """The problem with sparse errors: eliminated, or as atoms of their own with the norm loss."""
    if blocks.problem.loss == "squared":
        return replace(blocks, error_weight=float(error_weight))
    needed = blocks.atoms.shape[1] ** 2 * blocks.atoms.itemsize
    if needed > (free := free_memory()):
        raise InputError(
            'error_weight must be None with loss="norm" and as many features as '
            f"{blocks.atoms.shape[1]}, whose errors take {needed / 1e9:.3g} GB of "
            f'{free / 1e9:.3g} GB that are free, got {error_weight}; use loss="squared"',
            parameter="error_weight",
        )
    atoms = with_unit_atoms(blocks.atoms, error_weight)
    counts = np.concatenate([blocks.counts, np.ones(atoms.shape[1])])
    return replace(blocks, atoms=atoms, counts=counts)


def _of_all(report: Callable[[int, int], None], n: int) -> Callable[[int, int], None]:
    """Report the part of the distinct samples that is done as that of all n samples."""
    return lambda done, total: report(done * n // total, n)


def _check_candidates(n_candidates: int | None, loss: Loss, error_weight: float | None) -> None:
    if n_candidates is None:
        return
    check_whole("n_candidates", n_candidates, 1)
    if loss == "norm" and error_weight is not None:
        raise InputError(
            f'n_candidates must be None with loss="norm" and an error_weight, got {n_candidates}',
            parameter="n_candidates",
        )


def _with_candidates(
    blocks: BlockProblem, n_candidates: int, parts: Computation, team: ThreadTeam
) -> BlockProblem:
    samples, atoms = blocks.samples, blocks.atoms
    excluded = without_copies(blocks.excluded, blocks.counts)
    stored = parts.get(
        "candidates",
        lambda: find_candidates(samples, atoms, excluded, n_candidates, team).to_state(),
    )
    return replace(blocks, candidates=Candidates.from_state(stored, len(samples), len(atoms)))


def _finished_parts(
    checkpoint: CheckpointLike,
    samples: NDArray,
    atoms: NDArray,
    blocks: BlockProblem,
    error_weight: float | None,
    n_candidates: int | None,
) -> Computation:
    """Return the parts of these samples and parameters in a checkpoint."""
    problem = blocks.problem
    parameters = {
        "gamma": float(problem.gamma),
        "lam": float(problem.lam),
        "loss": problem.loss,
        "gamma_scale": problem.gamma_scale,
        "error_weight": None if error_weight is None else float(error_weight),
        "n_candidates": None if n_candidates is None else int(n_candidates),
        "tol": float(blocks.tol),
        "dictionary": atoms is not samples,
    }
    arrays = {"samples": samples}
    if atoms is not samples:
        arrays["atoms"] = atoms
    return Checkpoint.at(checkpoint).computation("representation", parameters, **arrays)


def _read_data(
    engine: Scheduler, X: ArrayLike, dictionary: ArrayLike | None
) -> tuple[NDArray, NDArray]:
    """Return samples and atoms, of which workers may get arrays of Dask and Zarr on their own."""
    return _check_data(engine.read(X, "X"), engine.read(dictionary, "dictionary"))


def _check_data(X: ArrayLike, dictionary: ArrayLike | None) -> tuple[NDArray, NDArray]:
    """Return samples and atoms in one precision; they are the same array without a dictionary."""
    samples = check_samples(X, min_samples=2 if dictionary is None else 1)
    if dictionary is None:
        return samples, samples
    atoms = check_samples(dictionary, name="dictionary")
    if atoms.shape[1] != samples.shape[1]:
        raise InputError(
            f"dictionary must have as many features as X ({samples.shape[1]}), got "
            f"{atoms.shape[1]}",
            parameter="dictionary",
        )
    dtype = np.result_type(samples, atoms)
    return samples.astype(dtype, copy=False), atoms.astype(dtype, copy=False)


def _within_range(
    samples: NDArray, atoms: NDArray, error_weight: float | None = None
) -> tuple[NDArray, NDArray]:
    """Return samples and atoms in a precision whose range contains sums of their products.

    Every sample that is not zero counts: where products of small ones became zero, their solutions
    would be those of other samples.
    """
    low, high = range_of_products(samples)
    if error_weight is not None and not low < 1 / error_weight < high:
        if samples.dtype == np.float64:
            raise InputError(
                "error_weight must be within the range of products of float64, got "
                f"{error_weight:g}",
                parameter="error_weight",
            )
        return _within_range(*_in_float64(samples, atoms), error_weight)
    for name, A in {"X": samples, "dictionary": atoms}.items():
        if samples.dtype == np.float64:
            check_range(A, name)
        elif len(out_of_range(A)):
            return _within_range(*_in_float64(samples, atoms), error_weight)
    return samples, atoms


def _in_float64(samples: NDArray, atoms: NDArray) -> tuple[NDArray, NDArray]:
    wide = samples.astype(np.float64)
    return wide, wide if atoms is samples else atoms.astype(np.float64)


def _solve(
    problem: BlockProblem,
    scheduler: Scheduler,
    parts: Computation,
    report: Callable[[int, int], None],
) -> SolvedRows:
    """Solve all samples; those that do not reach `tol` in float32 once more in float64."""
    name = problem.samples.dtype.name
    if problem.candidates is not None:  # blocks of others are of no use
        name += f"-{problem.candidates.fingerprint}"
    rows = solve_blocks(problem, scheduler, parts, name, report)
    failed = np.flatnonzero(_exceeds(rows.certificate, problem.tol))
    if problem.samples.dtype == np.float64 or len(failed) == 0:
        return rows
    # Where the l1 penalty is small, the rounding of float32 products alone exceeds it.
    again = solve_blocks(
        problem.of_rows(failed),
        scheduler,
        parts,
        f"{name}-{digest(failed)[:16]}",
        lambda done, total: None,
    )
    return rows.replace(failed, again)


def _exceeds(certificate: NDArray, tol: float) -> NDArray:
    return ~(certificate <= tol)  # true for NaN


def _warn_of_large_certificates(certificate: NDArray, tol: float) -> None:
    n_failed = np.count_nonzero(_exceeds(certificate, tol))
    if n_failed:
        warn_not_converged(
            Advised(
                f"{n_failed} of {len(certificate)} samples did not reach the tolerance {tol:g}, as "
                "the l1 penalty is close to the rounding of the data: the largest certificate is "
                f"{certificate.max():.2e}, of sample {int(certificate.argmax())}",
                "increase {tol}",
                "decrease {gamma}",
            ),
            stacklevel=3,
        )
