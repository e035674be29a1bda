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

_CALIBRATION_ROWS = 3
_TRIES = 2
_MOST_SWEEPS = 2000
_ENSC_STEP = 50


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

    model = ElasticNet(alpha=(a + b) / d, l1_ratio=a / (a + b), fit_intercept=False, tol=tol)
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
    from spams import lasso

    def solve(atoms: NDArray, x: NDArray) -> NDArray:
        target = np.asfortranarray(x[:, None])
        return lasso(target, D=atoms, lambda1=a, lambda2=b, numThreads=1).toarray()[:, 0]

    return solve


def _ensc(a: float, b: float, d: int, tol: float) -> Solve:
    """SPAMS on a small support that an oracle grows, as in EnSC (You, Li, Robinson, Vidal 2016).

    The support starts from the atoms that correlate most with the sample; after each solution,
    the atoms whose correlation with the residual exceeds a join those in use, and the others
    leave. Without newcomers the solution is that of the whole problem.
    """
    lars = _spams(a, b, d, tol)

    def solve(atoms: NDArray, x: NDArray) -> NDArray:
        support = _largest(np.abs(x @ atoms), _ENSC_STEP)
        while True:
            part = np.asfortranarray(atoms[:, support])
            z = lars(part, x)
            violation = np.abs((x - part @ z) @ atoms)
            violation[support] = 0
            newcomers = _largest(violation, _ENSC_STEP)
            newcomers = newcomers[violation[newcomers] > a * (1 + tol)]
            if len(newcomers) == 0:
                break
            support = np.concatenate([support[z != 0], newcomers])
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
    """A solver, the module it needs, and its tolerances from loose to strict."""

    name: str
    module: str
    solver: Callable[[float, float, int, float], Solve]
    tolerances: tuple[float, ...]


_GAPS = tuple(10 ** (-k / 2) for k in range(8, 25))  # from 1e-4 to 1e-12
PEERS = (
    Peer("EnSC (SPAMS)", "spams", _ensc, (TOL,)),
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


def run(peer: Peer, setting: Setting, X: NDArray, rows: NDArray, problem: Problem) -> PeerRun:
    """Solve the rows one by one, the better of two runs each counting.

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
            tries = []
            for _ in range(_TRIES):
                began = time.perf_counter()
                z = solve(others, typed[i])
                tries.append(time.perf_counter() - began)
            seconds += min(tries)
            Z[place] = np.insert(z, i, 0)
    return PeerRun(seconds / len(rows), Z)


def calibrate(peer: Peer, X: NDArray, rows: NDArray, problem: Problem) -> Setting:
    """The fastest setting that is as accurate as we are, found on a few rows; also the warm-up.

    In each precision the loosest tolerance is taken whose worst violation is within TOL; where
    none is, the one that comes nearest.
    """
    few = rows[:: max(1, len(rows) // _CALIBRATION_ROWS)][:_CALIBRATION_ROWS]
    found = []
    for dtype in ("float64", "float32"):
        run(peer, Setting(peer.tolerances[0], dtype), X, few[:1], problem)
        for tol in peer.tolerances:
            setting = Setting(tol, dtype)
            trial = run(peer, setting, X, few, problem)
            violation = float(optimality(X, few, trial.Z, problem.a, problem.b)[1].max())
            # One that is accurate enough comes first, then the faster.
            found.append((max(violation, TOL), trial.seconds, setting))
            if violation <= TOL:
                break
    return min(found, key=lambda one: one[:2])[2]
