"""`LowRankGraph` against its definition."""

import numpy as np
import pytest

from enhg import LowRankGraph


@pytest.fixture(scope="module")
def X():
    """21 samples of three independent subspaces, of unit length."""
    rng = np.random.default_rng(0)
    bases = rng.normal(size=(3, 2, 15))
    points = np.vstack([rng.normal(size=(7, 2)) @ basis for basis in bases])
    return points / np.linalg.norm(points, axis=1, keepdims=True)


@pytest.mark.parametrize("power", [2, 4])
def test_subspaces_are_blocks_of_the_graph(X, power):
    structure = LowRankGraph(error_weight=10, power=power, preprocessing="none").fit(X)
    A, subspace = structure.graph_.adjacency, np.arange(len(X)) // 7
    assert A[subspace[:, None] == subspace].sum() > 0.999 * A.sum()


def test_weights_are_powers_of_cosines(X):
    structure = LowRankGraph(error_weight=0.5, power=3, preprocessing="none").fit(X)
    # The source has samples in columns: its Z is the transpose, its U of that.
    U, S, _ = np.linalg.svd(structure.low_rank_.coefficients.T)
    rows = U * np.sqrt(S)
    A = structure.graph_.adjacency
    for i in range(3):
        for j in range(3, 6):
            cosine = rows[i] @ rows[j]
            cosine /= np.linalg.norm(rows[i]) * np.linalg.norm(rows[j])
            assert A[i, j] == pytest.approx(abs(cosine) ** 3, abs=1e-8)


def test_a_representation_of_zero_is_warned_of(X):
    structure = LowRankGraph(error_weight=1e-6, preprocessing="none")
    with pytest.warns(UserWarning, match=r"raise error_weight \(it is 1e-06\)"):
        graph = structure.fit(X).graph_
    assert graph.connected_components()[0] == len(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"error_weight": 0}, "error_weight must be a positive number"),
        ({"tol": -1}, "tol must be a positive number"),
        ({"max_iter": 0}, "max_iter must be a whole number"),
        ({"power": 0}, "power must be a positive number"),
    ],
)
def test_wrong_parameters(X, parameters, message):
    with pytest.raises(ValueError, match=message):
        LowRankGraph(**parameters).fit(X)
