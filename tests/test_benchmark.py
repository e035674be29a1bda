"""The speed floor is a command of its own (`make bench`); here only that its parts are right."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np

import enhg

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "first_floor.py"
spec = importlib.util.spec_from_file_location("first_floor", SCRIPT)
first_floor = importlib.util.module_from_spec(spec)
spec.loader.exec_module(first_floor)


def test_peer_and_ours_solve_the_same_problem():
    random = np.random.default_rng(0)
    X = enhg.normalize_samples(random.random((60, 30)).astype(np.float32), center=False)
    rows = np.array([0, 31, 59])
    seconds, peer = first_floor.peer(X, rows)
    ours = enhg.self_representation(
        X, gamma=1 / first_floor.A, lam=first_floor.B / (2 * first_floor.A), scale="absolute"
    ).coefficients[rows]
    assert seconds > 0
    assert np.count_nonzero(peer) > 0
    np.testing.assert_allclose(
        first_floor.objective(X, rows, ours.toarray()),
        first_floor.objective(X, rows, peer),
        rtol=1e-3,
    )
    assert np.all(
        first_floor.objective(X, rows, ours.toarray())
        <= first_floor.objective(X, rows, peer) + 1e-6
    )
