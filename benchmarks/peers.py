"""Other solvers of the same objective, one sample at a time, each used the way it likes best."""

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
# Far more than they need where rounding allows their tolerance; without end where it does not.
_MOST_SWEEPS = 1000
_MOST_ROUNDS = 50
_ENSC_ROOM = 100


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
    """LARS: exact but for rounding, so there is no tolerance to set."""
    return _lars(a, b, threads=1)


def _lars(a: float, b: float, threads: int) -> Solve:
    from spams import lasso

    def solve(atoms: NDArray, x: NDArray) -> NDArray:
        target = np.asfortranarray(x[:, None])
        return lasso(target, D=atoms, lambda1=a, lambda2=b, numThreads=threads).toarray()[:, 0]

    return solve


def _ensc(a: float, b: float, d: int, tol: float) -> Solve:
    """EnSC as its authors' program runs it: SPAMS with as many threads as it likes (−1)."""
    return _active_supports(a, tol, _lars(a, b, threads=-1), growth=1.1)


def _tuned_ensc(a: float, b: float, d: int, tol: float) -> Solve:
    """The same without what slows it down: threads for one small problem, and timid growth."""
    return _active_supports(a, tol, _lars(a, b, threads=1), growth=1.5)


def _active_supports(a: float, tol: float, lars: Solve, growth: float) -> Solve:
    """LARS on a small support that an oracle moves, as in EnSC (You, Li, Robinson, Vidal 2016).

    The support starts from the atoms that correlate most with the sample. After each solution,
    the atoms whose correlation with the residual exceeds a join those in use, the largest first
    and as many as there is room for, and the others leave; the room grows where most of it is in
    use. Without newcomers the solution is that of the whole problem.
    """

    def solve(atoms: NDArray, x: NDArray) -> NDArray:
        room = _ENSC_ROOM
        support = _largest(np.abs(x @ atoms), room)
        while True:
            part = np.asfortranarray(atoms[:, support])
            z = lars(part, x)
            violation = np.abs((x - part @ z) @ atoms)
            violation[support] = 0
            used = support[z != 0]
            if len(used) > 0.8 * room:
                room = round(max(len(used), room) * growth)
            newcomers = _largest(violation, room - len(used))
            newcomers = newcomers[violation[newcomers] > a * (1 + tol)]
            if len(newcomers) == 0:
                break
            support = np.concatenate([used, newcomers])
        coefficients = np.zeros(atoms.shape[1])
        coefficients[support] = z
        return coefficients

    return solve


def _largest(scores: NDArray, count: int) -> NDArray:
    if len(scores) <= count:
        return np.arange(len(scores))
    return np.argpartition(scores, -count)[-count:]


@dataclass(frozen=True)
class Peer:
    """A solver, the module it needs, its tolerances from loose to strict, the precisions it can be
    run in, and whether it is one that others use or our own improvement of it."""

    name: str
    module: str
    solver: Callable[[float, float, int, float], Solve]
    tolerances: tuple[float, ...]
    precisions: tuple[str, ...] = ("float64", "float32")
    published: bool = True


_GAPS = tuple(10 ** (-k / 2) for k in range(8, 17))  # from 1e-4 to 1e-8
PEERS = (
    Peer("EnSC (SPAMS)", "spams", _ensc, (TOL,), precisions=("float64",)),
    Peer("EnSC, tuned by us", "spams", _tuned_ensc, (TOL,), published=False),
    Peer("skglm", "skglm", _skglm, (TOL,)),
    Peer("celer", "celer", _celer, _GAPS),
    Peer("SPAMS LARS", "spams", _spams, (0.0,)),
    Peer("scikit-learn", "sklearn", _scikit_learn, _GAPS),
)


@dataclass(frozen=True)
class Setting:
    """How a peer is run: its stopping tolerance and the precision of its data."""

    tol: float
    dtype: str


@dataclass(frozen=True)
class PeerRun:
    """Some rows solved by a peer: seconds a row, and their coefficients."""

    seconds: float
    Z: NDArray


def require_peers() -> None:
    """Say at once what is missing, not after an hour."""
    for peer in PEERS:
        try:
            import_module(peer.module)
        except ImportError as error:
            raise SystemExit(
                f"the benchmarks need {peer.module}, from the extra: pip install -e '.[bench]'"
            ) from error


def run(
    peer: Peer, setting: Setting, X: NDArray, rows: NDArray, problem: Problem, tries: int = 1
) -> PeerRun:
    """Solve the rows one by one, the best of some tries of each counting.

    Taking out the own column is outside the timer.
    """
    solve = peer.solver(problem.a, problem.b, X.shape[1], setting.tol)
    typed = X.astype(setting.dtype)
    Z = np.zeros((len(rows), len(X)))
    seconds = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what has not converged shows in its violation
        for place, i in enumerate(rows):
            others = np.delete(typed, i, axis=0).T
            taken = []
            for _ in range(tries):
                began = time.perf_counter()
                z = solve(others, typed[i])
                taken.append(time.perf_counter() - began)
            seconds += min(taken)
            Z[place] = np.insert(z, i, 0)
    return PeerRun(seconds / len(rows), Z)


def run_accurately(
    peer: Peer, X: NDArray, rows: NDArray, problem: Problem
) -> tuple[Setting, PeerRun]:
    """Solve the rows in the fastest setting that is as accurate as we are on all of them.

    In each precision the loosest tolerance is taken whose worst violation is within TOL, tried on
    a few rows before it is on all; where none is, the strictest. A precision is given up once it
    has become far slower than the other was when that was accurate: tolerances that rounding does
    not allow take for ever.
    """
    few = rows[:: max(1, len(rows) // _TRIAL_ROWS)][:_TRIAL_ROWS]
    tried: list[tuple[float, float, Setting, PeerRun]] = []

    def attempt(setting: Setting, some: NDArray, tries: int = 1) -> tuple[PeerRun, float, bool]:
        done = run(peer, setting, X, some, problem, tries)
        violation = float(optimality(X, some, done.Z, problem.a, problem.b)[1].max())
        accurate = [seconds for worst, seconds, *_ in tried if worst <= TOL]
        return done, violation, done.seconds > _FAR_SLOWER * min(accurate, default=np.inf)

    for dtype in peer.precisions:
        attempt(Setting(peer.tolerances[0], dtype), rows[:1])  # warm-up
        for tol in peer.tolerances:
            setting = Setting(tol, dtype)
            done, violation, far_slower = attempt(setting, few)
            if far_slower:
                break
            if violation <= TOL or tol == peer.tolerances[-1]:
                done, violation, _ = attempt(setting, rows, _TRIES)
                # One that is accurate enough comes first, then the faster.
                tried.append((max(violation, TOL), done.seconds, setting, done))
            if violation <= TOL:
                break
    return min(tried, key=lambda one: one[:2])[2:]
