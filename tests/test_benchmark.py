"""The benchmark's peers must solve our problem, or its ratios mean nothing."""

import numpy as np
import pytest
from benchmarks.peers import PEERS, run_accurately
from benchmarks.problems import Problem, optimality
from sklearn.datasets import load_digits

import enhg

PROBLEM = Problem("digits", 200, a=0.1, b=0.1)
ROWS = np.array([0, 50, 199])


@pytest.fixture(scope="module")
def X():
    images = load_digits().data[: PROBLEM.count].astype(np.float32)
    return enhg.normalize_samples(images, center=False)


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_a_peer_finds_our_solution(X, peer):
    pytest.importorskip(peer.module)
    _, theirs = run_accurately(peer, X, ROWS, PROBLEM)
    ours = PROBLEM.solver(X)().coefficients[ROWS].toarray()
    _, violation = optimality(X, ROWS, theirs.Z, PROBLEM.a, PROBLEM.b)
    assert theirs.seconds > 0
    assert violation.max() <= 1e-4
    np.testing.assert_allclose(theirs.Z, ours, atol=1e-3)


def test_the_judge_agrees_with_the_certificate(X):
    found = PROBLEM.solver(X)()
    rows = np.arange(len(X))
    _, violation = optimality(X, rows, found.coefficients.toarray(), PROBLEM.a, PROBLEM.b)
    np.testing.assert_allclose(violation, found.certificate, atol=2e-5)
    worse = found.coefficients.toarray() * 1.01
    assert optimality(X, rows, worse, PROBLEM.a, PROBLEM.b)[1].min() > violation.max()
