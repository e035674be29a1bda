"""`L1Graph` against other solvers."""

import numpy as np
import pytest

from enhg import L1Graph


def test_it_is_the_symmetrized_lasso(unit_samples, solve_by_sklearn):
    structure = L1Graph(gamma=20, gamma_scale="absolute", preprocessing="none").fit(unit_samples)
    Z = solve_by_sklearn(unit_samples, 20)
    np.testing.assert_allclose(structure.graph_.adjacency.toarray(), (Z + Z.T) / 2, atol=1e-4)


def test_with_sparse_errors_it_solves_its_problem(unit_samples, solve_by_cvxpy):
    structure = L1Graph(
        gamma=40, gamma_scale="absolute", error_weight=0.8, preprocessing="none", tol=1e-6
    ).fit(unit_samples)
    C, _ = solve_by_cvxpy(unit_samples, 40, 0.8)
    expected = (np.abs(C) + np.abs(C).T) / 2
    np.testing.assert_allclose(structure.graph_.adjacency.toarray(), expected, atol=1e-4)


def test_samples_without_representation_are_counted(unit_samples):
    X = np.vstack([unit_samples, np.zeros(unit_samples.shape[1])])
    with pytest.warns(UserWarning, match="1 of 25 samples are not represented by any other"):
        graph = L1Graph(preprocessing="none").fit(X).graph_
    assert graph.adjacency.toarray()[-1].tolist() == [0] * 24 + [1]


def test_nothing_is_represented_below_the_critical_gamma(unit_samples):
    with pytest.warns(UserWarning, match="24 of 24 samples are not represented by any other"):
        graph = L1Graph(gamma=0.5).fit(unit_samples).graph_
    assert graph.connected_components()[0] == len(unit_samples)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"error_weight": 0}, "error_weight must be a positive number or None, got 0"),
        ({"error_weight": "auto"}, "error_weight must be a positive number or None, got 'auto'"),
        ({"gamma": -1}, "gamma must be"),
        ({"gamma_scale": "nonsense"}, r"gamma_scale must be one of .*, got 'nonsense'"),
    ],
)
def test_wrong_parameters(unit_samples, parameters, message):
    with pytest.raises(ValueError, match=message):
        L1Graph(**parameters).fit(unit_samples)
