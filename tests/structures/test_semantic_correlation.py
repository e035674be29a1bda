"""`SemanticCorrelationHypergraph` against other solvers."""

import numpy as np
import pytest

from enhg import SemanticCorrelationHypergraph


def test_it_follows_its_definition(unit_samples, solve_by_sklearn):
    structure = SemanticCorrelationHypergraph(
        gamma=20, gamma_scale="absolute", n_members=3, preprocessing="none", tol=1e-8
    ).fit(unit_samples)
    Z = solve_by_sklearn(unit_samples, 20)
    graph = structure.graph_
    for i, (edge, weight) in enumerate(zip(graph.edges(), graph.weights, strict=True)):
        members = [j for j in np.argsort(-Z[i])[:3] if Z[i, j] > 1e-6]
        assert edge.tolist() == sorted([i, *members])
        assert weight == pytest.approx(Z[i, members].sum(), rel=1e-4)
    np.testing.assert_array_equal(graph.incidence.data, 1)


def test_with_sparse_errors(unit_samples, solve_by_cvxpy):
    structure = SemanticCorrelationHypergraph(
        error_weight=0.7, gamma=20, gamma_scale="absolute", n_members=3, preprocessing="none",
        tol=1e-6,
    ).fit(unit_samples)  # fmt: skip
    C, E = solve_by_cvxpy(unit_samples, 20, 0.7)
    assert np.abs(E).max() > 0.01
    largest = np.sort(np.abs(C), axis=1)[:, -3:]
    np.testing.assert_allclose(structure.graph_.weights, largest.sum(axis=1), atol=1e-3)


@pytest.mark.parametrize("n_members", [None, 0, 2.5, True])
def test_wrong_number_of_members(unit_samples, n_members):
    with pytest.raises(ValueError, match="n_members must be a whole number of at least 1"):
        SemanticCorrelationHypergraph(n_members=n_members).fit(unit_samples)


def test_nothing_is_represented_below_the_critical_gamma(unit_samples):
    structure = SemanticCorrelationHypergraph(gamma=0.5)
    with pytest.warns(UserWarning, match="24 of 24 samples are not represented by any other"):
        graph = structure.fit(unit_samples).graph_
    assert graph.connected_components()[0] == len(unit_samples)
