"""Baselines: other solvers of the same objective, one sample at a time, in their best setting."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from benchmarks.problems import TOL, Problem, optimality

Solve = Callable[[NDArray, NDArray], NDArray]
"""From the atoms (d×m, in columns) and a sample (d) to its m coefficients."""

_TRIAL_ROWS = 3
_FAR_SLOWER = 3
_TRIES = 2
# Far more than they need where rounding allows their tolerance; where it does not, a limit.
_MOST_SWEEPS = 1000
_MOST_ROUNDS = 50
_ENSC_CAPACITY = 100


def _scikit_learn(a: float, b: float, d: int, tol: float) -> Solve:
    from sklearn.linear_model import ElasticNet

    model = ElasticNet(
        alpha=(a + b) / d,
        l1_ratio=a / (a + b),
        fit_intercept=False,
        copy_X=False,
        max_iter=_MOST_SWEEPS,
        tol=tol,
    )
    return lambda atoms, x: model.fit(atoms, x).coef_


def _celer(a: float, b: float, d: int, tol: float) -> Solve:
    from celer import ElasticNet

    model = ElasticNet(
        alpha=(a + b) / d,
        l1_ratio=a / (a + b),
        fit_intercept=False,
        max_iter=_MOST_ROUNDS,
        max_epochs=_MOST_SWEEPS,
        tol=tol,
    )
    return lambda atoms, x: model.fit(atoms, x).coef_


def _skglm(a: float, b: float, d: int, tol: float) -> Solve:
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import Quadratic
    from skglm.penalties import L1_plus_L2
    from skglm.solvers import AndersonCD

    # Its tolerance is on the violation of the optimality conditions, divided by d like the loss.
    model = GeneralizedLinearEstimator(
        Quadratic(),
        L1_plus_L2((a + b) / d, a / (a + b)),
        AndersonCD(fit_intercept=False, tol=tol * a / d),
    )
    return lambda atoms, x: model.fit(atoms, x).coef_


def _spams(a: float, b: float, d: int, tol: float) -> Solve:
    """LARS: exact up to rounding, without a tolerance."""
    return _lars(a, b, threads=1)


def _lars(a: float, b: float, threads: int) -> Solve:
    from spams import lasso

    def solve(atoms: NDArray, x: NDArray) -> NDArray:
        target = np.asfortranarray(x[:, None])
        return lasso(target, D=atoms, lambda1=a, lambda2=b, numThreads=threads).toarray()[:, 0]

    return solve


def _ensc(a: float, b: float, d: int, tol: float) -> Solve:
    """EnSC as its authors' program runs it: SPAMS chooses the number of threads (−1)."""
    return _active_supports(a, tol, _lars(a, b, threads=-1), growth=1.1)


def _tuned_ensc(a: float, b: float, d: int, tol: float) -> Solve:
    """EnSC with one thread per problem and faster growing supports, which is faster."""
    return _active_supports(a, tol, _lars(a, b, threads=1), growth=1.5)


def _active_supports(a: float, tol: float, lars: Solve, growth: float) -> Solve:
    """LARS on a small support that an oracle updates: EnSC (You, Li, Robinson, Vidal, 2016).

    The support starts from the atoms that correlate most with the sample. After each solution,
    the atoms whose correlation with the residual exceeds a are added to those with non-zero
    coefficients, the largest first up to the capacity, and the others are removed; the capacity
    grows when most of it is used. If no atom is added the solution is that of the whole problem.
    """

    def solve(atoms: NDArray, x: NDArray) -> NDArray:
        capacity = _ENSC_CAPACITY
        support = _largest(np.abs(x @ atoms), capacity)
        while True:
            part = np.asfortranarray(atoms[:, support])
            z = lars(part, x)
            violation = np.abs((x - part @ z) @ atoms)
            violation[support] = 0
            used = support[z != 0]
            if len(used) > 0.8 * capacity:
                capacity = round(max(len(used), capacity) * growth)
            added = _largest(violation, capacity - len(used))
            added = added[violation[added] > a * (1 + tol)]
            if len(added) == 0:
                break
            support = np.concatenate([used, added])
        coefficients = np.zeros(atoms.shape[1])
        coefficients[support] = z
        return coefficients

    return solve


def _largest(scores: NDArray, count: int) -> NDArray:
    if len(scores) <= count:
        return np.arange(len(scores))
    return np.argpartition(scores, -count)[-count:]


@dataclass(frozen=True)
class Baseline:
    """A solver with the module it needs, its tolerances from loose to strict, the precisions it
    supports, and whether it is published or our improvement of a published one."""

    name: str
    module: str
    solver: Callable[[float, float, int, float], Solve]
    tolerances: tuple[float, ...]
    precisions: tuple[str, ...] = ("float64", "float32")
    published: bool = True


_GAPS = tuple(10 ** (-k / 2) for k in range(8, 17))  # from 1e-4 to 1e-8
BASELINES = (
    Baseline("EnSC (SPAMS)", "spams", _ensc, (TOL,), precisions=("float64",)),
    Baseline("EnSC, tuned by us", "spams", _tuned_ensc, (TOL,), published=False),
    Baseline("skglm", "skglm", _skglm, (TOL,)),
    Baseline("celer", "celer", _celer, _GAPS),
    Baseline("SPAMS LARS", "spams", _spams, (0.0,)),
    Baseline("scikit-learn", "sklearn", _scikit_learn, _GAPS),
)


@dataclass(frozen=True)
class Setting:
    """Stopping tolerance and precision of the data of a baseline."""

    tol: float
    dtype: str


@dataclass(frozen=True)
class BaselineRun:
    """Rows solved by a baseline: seconds per row, and their coefficients."""

    seconds: float
    Z: NDArray


def require_baselines() -> None:
    """Exit at once if a baseline is not installed, rather than after an hour."""
    for baseline in BASELINES:
        try:
            import_module(baseline.module)
        except ImportError as error:
            raise SystemExit(
                f"the benchmarks need {baseline.module}, from the extra: pip install -e '.[bench]'"
            ) from error


def run(
    baseline: Baseline,
    setting: Setting,
    X: NDArray,
    rows: NDArray,
    problem: Problem,
    tries: int = 1,
) -> BaselineRun:
    """Solve the rows one by one; the time of a row is the best of `tries`.

    Removing the sample's own column is outside the timer.
    """
    solve = baseline.solver(problem.a, problem.b, X.shape[1], setting.tol)
    typed = X.astype(setting.dtype)
    Z = np.zeros((len(rows), len(X)))
    seconds = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the violation shows what has not converged
        for place, i in enumerate(rows):
            others = np.delete(typed, i, axis=0).T
            taken = []
            for _ in range(tries):
                began = time.perf_counter()
                z = solve(others, typed[i])
                taken.append(time.perf_counter() - began)
            seconds += min(taken)
            Z[place] = np.insert(z, i, 0)
    return BaselineRun(seconds / len(rows), Z)


def run_accurately(
    baseline: Baseline, X: NDArray, rows: NDArray, problem: Problem
) -> tuple[Setting, BaselineRun]:
    """Solve the rows in the fastest setting that is as accurate as enhg on all of them.

    In each precision this is the loosest tolerance whose largest violation is within TOL, tried on
    a few rows before all; if there is none, the strictest. A precision is abandoned when it is far
    slower than the other one in an accurate setting: a tolerance below rounding has no end.
    """
    few = rows[:: max(1, len(rows) // _TRIAL_ROWS)][:_TRIAL_ROWS]
    tried: list[tuple[float, float, Setting, BaselineRun]] = []

    def attempt(setting: Setting, some: NDArray, tries: int = 1) -> tuple[BaselineRun, float, bool]:
        done = run(baseline, setting, X, some, problem, tries)
        violation = float(optimality(X, some, done.Z, problem.a, problem.b)[1].max())
        accurate = [seconds for worst, seconds, *_ in tried if worst <= TOL]
        return done, violation, done.seconds > _FAR_SLOWER * min(accurate, default=np.inf)

    for dtype in baseline.precisions:
        attempt(Setting(baseline.tolerances[0], dtype), rows[:1])  # warm-up
        for tol in baseline.tolerances:
            setting = Setting(tol, dtype)
            done, violation, far_slower = attempt(setting, few)
            if far_slower:
                break
            if violation <= TOL or tol == baseline.tolerances[-1]:
                done, violation, _ = attempt(setting, rows, _TRIES)
                # Accurate settings first, then the faster ones.
                tried.append((max(violation, TOL), done.seconds, setting, done))
            if violation <= TOL:
                break
    return min(tried, key=lambda one: one[:2])[2:]
