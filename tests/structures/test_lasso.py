"""l1-graph, SSC, SCHG and l1-hypergraph against other solvers and their definitions."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.linear_model import Lasso

from enhg import ElasticNetHypergraph, normalize_samples, self_representation
from enhg.structures.l1_graph import L1Graph
from enhg.structures.l1_hypergraph import L1Hypergraph
from enhg.structures.semantic_correlation import SemanticCorrelationHypergraph
from enhg.structures.sparse_subspace import SparseSubspaceGraph


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    bases = rng.normal(size=(3, 2, 12))
    points = np.vstack([rng.normal(size=(8, 2)) @ basis for basis in bases])
    return normalize_samples(points + 0.05 * rng.normal(size=points.shape), center=False)


def solved_by_cvxpy(X, gamma, error_weight):
    """C and E of sparse subspace clustering's problem, row by row."""
    n, d = X.shape
    C, E = np.zeros((n, n)), np.zeros((n, d))
    for i in range(n):
        c, e = cp.Variable(n), cp.Variable(d)
        cost = cp.norm1(c) + error_weight * cp.norm1(e)
        cost += gamma / 2 * cp.sum_squares(X[i] - X.T @ c - e)
        cp.Problem(cp.Minimize(cost), [c[i] == 0]).solve(solver=cp.CLARABEL)
        C[i], E[i] = c.value, e.value
    return C, E


def solved_by_sklearn(X, gamma):
    """|Z| of the lasso at an absolute γ, row by row."""
    n, d = X.shape
    Z = np.zeros((n, n))
    for i in range(n):
        others = np.delete(np.arange(n), i)
        lasso = Lasso(alpha=1 / gamma / d, fit_intercept=False, tol=1e-12, max_iter=100_000)
        Z[i, others] = np.abs(lasso.fit(X[others].T, X[i]).coef_)
    return Z


def test_ssc_solves_its_problem(X):
    structure = SparseSubspaceGraph(alpha_z=30, alpha_e=6, preprocessing="none", tol=1e-6).fit(X)
    products = np.abs(X @ X.T - np.diag(np.diag(X @ X.T)))
    lengths = np.abs(X).sum(axis=1)
    mu_e = min(np.delete(lengths, i).max() for i in range(len(X)))
    C, E = solved_by_cvxpy(X, 30 / products.max(axis=1).min(), 6 / mu_e)
    assert np.abs(E).max() > 0.01  # or the sparse error would not be tested
    np.testing.assert_allclose(structure.representation_.sparse_errors.toarray(), E, atol=1e-4)
    scaled = np.abs(C) / np.abs(C).max(axis=1, keepdims=True)
    np.testing.assert_allclose(structure.graph_.adjacency.toarray(), scaled + scaled.T, atol=2e-3)


def test_schg_with_errors_of_single_features(X):
    structure = SemanticCorrelationHypergraph(
        error_weight=0.7,
        gamma=20,
        gamma_scale="absolute",
        threshold=3,
        preprocessing="none",
        tol=1e-6,
    ).fit(X)
    C, E = solved_by_cvxpy(X, 20, 0.7)
    assert np.abs(E).max() > 0.01
    largest = np.sort(np.abs(C), axis=1)[:, -3:]
    np.testing.assert_allclose(structure.graph_.weights, largest.sum(axis=1), atol=1e-3)


@pytest.mark.parametrize("level", [None, 0, 2.5, True])
def test_schg_refuses_a_wrong_level(X, level):
    with pytest.raises(ValueError, match="level must be a whole number of at least 1"):
        SemanticCorrelationHypergraph(n_members=level).fit(X)


def test_rows_that_are_empty_are_counted(X):
    lonely = np.vstack([X, np.zeros(X.shape[1])])
    with pytest.warns(UserWarning, match="1 of 25 samples are not represented by any other"):
        L1Graph(preprocessing="none").fit(lonely)


def test_ssc_without_sparse_errors_is_the_lasso(X):
    structure = SparseSubspaceGraph(alpha_z=30, alpha_e=None, preprocessing="none").fit(X)
    products = np.abs(X @ X.T - np.diag(np.diag(X @ X.T)))
    found = self_representation(
        X, gamma=30 / products.max(axis=1).min(), lam=0, gamma_scale="absolute"
    )
    C = np.abs(found.coefficients.toarray())
    C /= C.max(axis=1, keepdims=True)
    np.testing.assert_allclose(structure.graph_.adjacency.toarray(), C + C.T)
    assert structure.representation_.sparse_errors is None


def test_ssc_takes_single_wrong_pixels_for_errors(X):
    spoilt = X.copy()
    spoilt[5, 3] += 2
    structure = SparseSubspaceGraph(alpha_z=50, alpha_e=4, preprocessing="none").fit(spoilt)
    E = structure.representation_.sparse_errors
    assert np.abs(E[[5]].toarray()).argmax() == 3
    assert E[5, 3] == pytest.approx(2, abs=0.3)


def test_ssc_is_not_ruled_by_a_sample_orthogonal_but_for_rounding(X):
    n, d = X.shape
    apart = np.zeros((n + 1, d + 4))
    apart[:n, :d] = X
    apart[n, d:] = 0.5
    rotation, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(d + 4, d + 4)))
    apart = apart @ rotation
    assert np.abs(apart[:n] @ apart[n]).max() > 0  # or there would be no rounding
    structure = SparseSubspaceGraph(alpha_z=30, alpha_e=None, preprocessing="none")
    expected = structure.fit(X).graph_.adjacency.toarray()
    found = structure.fit(apart).graph_.adjacency.toarray()
    np.testing.assert_allclose(found[:n, :n], expected, atol=1e-3)


def test_l1_graph_is_the_lasso_made_symmetric(X):
    gamma = 20
    graph = L1Graph(gamma=gamma, gamma_scale="absolute", preprocessing="none").fit(X).graph_
    Z = solved_by_sklearn(X, gamma)
    np.testing.assert_allclose(graph.adjacency.toarray(), (Z + Z.T) / 2, atol=1e-4)


def test_l1_graph_with_errors_solves_its_problem(X):
    structure = L1Graph(
        gamma=40, gamma_scale="absolute", error_weight=0.8, preprocessing="none", tol=1e-6
    ).fit(X)
    C, _ = solved_by_cvxpy(X, 40, 0.8)
    expected = (np.abs(C) + np.abs(C).T) / 2
    np.testing.assert_allclose(structure.graph_.adjacency.toarray(), expected, atol=1e-4)


def test_semantic_correlation_follows_its_definition(X):
    structure = SemanticCorrelationHypergraph(
        gamma=20, gamma_scale="absolute", threshold=3, preprocessing="none", tol=1e-8
    ).fit(X)
    Z = solved_by_sklearn(X, 20)
    for i, (edge, weight) in enumerate(
        zip(structure.graph_.edges(), structure.graph_.weights, strict=True)
    ):
        members = [j for j in np.argsort(-Z[i])[:3] if Z[i, j] > 1e-6]
        assert edge.tolist() == sorted([i, *members])
        assert weight == pytest.approx(Z[i, members].sum(), rel=1e-4)


def test_l1_hypergraph_holds_the_largest_of_the_lasso(X):
    structure = L1Hypergraph(
        gamma=20,
        gamma_scale="absolute",
        threshold=3,
        weighting="product",
        preprocessing="none",
        tol=1e-8,
    ).fit(X)
    Z = solved_by_sklearn(X, 20)
    H = structure.graph_.incidence.toarray()
    for i in range(len(X)):
        members = [j for j in np.argsort(-Z[i])[:3] if Z[i, j] > 1e-6]
        np.testing.assert_allclose(H[members, i], Z[i, members] / Z[i, members].sum(), atol=1e-4)
        assert np.count_nonzero(H[:, i]) == 1 + len(members)


def test_l1_hypergraph_is_the_elastic_net_hypergraph_without_ridge(X):
    choices = {"gamma": 20, "threshold": 3, "membership": "binary", "weighting": "product"}
    ours = L1Hypergraph(**choices).fit(X)
    assert ours.graph_ == ElasticNetHypergraph(lam=0, **choices).fit(X).graph_
    assert ours.graph_ != ElasticNetHypergraph(lam=5, **choices).fit(X).graph_
    assert "lam" not in ours.get_params()
    assert ours.attach(X[:2]).memberships.shape == (2, len(X))


@pytest.mark.parametrize(
    ("structure", "message"),
    [
        (L1Graph(error_weight=0), "error_weight must be a positive number, or None, got 0"),
        (SparseSubspaceGraph(alpha_z=-1), "alpha_z must be a positive number"),
        (SparseSubspaceGraph(alpha_e=np.inf), "alpha_e must be a positive number"),
        (L1Graph(gamma=-1), "gamma must be positive"),
        (SemanticCorrelationHypergraph(n_members=0), "level must be a whole number of at least 1"),
    ],
)
def test_wrong_parameters(X, structure, message):
    with pytest.raises(ValueError, match=message):
        structure.fit(X)


def test_nothing_rebuilt_is_told(X):
    for structure in (L1Graph, SemanticCorrelationHypergraph):
        with pytest.warns(UserWarning, match="24 of 24 samples are not represented by any other"):
            graph = structure(gamma=0.5).fit(X).graph_
        assert graph.connected_components()[0] == len(X)
