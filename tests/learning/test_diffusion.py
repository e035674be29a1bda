"""Diffusion and Poisson learning."""

import warnings

import numpy as np
import pytest
from graphlearning import ssl
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import block_diag, csr_matrix
from sklearn.exceptions import ConvergenceWarning

from enhg import Graph, Hypergraph
from enhg.exceptions import InputError
from enhg.learning import diffusion
from enhg.learning.diffusion import diffuse, poisson

RING = Hypergraph.from_edges([[i, (i + 1) % 40, (i + 7) % 40] for i in range(40)])


def random_hypergraph(seed, n=12, edges=8):
    rng = np.random.default_rng(seed)
    h = rng.uniform(size=(n, edges)) * (rng.uniform(size=(n, edges)) < 0.4)
    h[np.arange(n), np.arange(n) % edges] = 1
    return Hypergraph(h, rng.uniform(0.1, 10, edges))


def solved(hypergraph, Y, alpha):
    return np.linalg.solve(np.eye(len(Y)) - alpha * hypergraph.theta_dense(), Y)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.001, 0.999))
def test_solution_is_that_of_the_dense_system(seed, alpha):
    hypergraph = random_hypergraph(seed)
    Y = np.random.default_rng(seed + 1).normal(size=(12, 3))
    F = diffuse(hypergraph.theta, Y, alpha)
    expected = solved(hypergraph, Y, alpha)
    # ‖error‖ ≤ ‖residual‖ / (1 − α), and the residual is at most tol·‖y‖.
    assert np.linalg.norm(F - expected) <= 1e-7 * np.linalg.norm(Y) / (1 - alpha)


def test_limits_of_alpha():
    Y = np.eye(40)[:, :2]
    np.testing.assert_allclose(diffuse(RING.theta, Y, 1e-12), Y, atol=1e-11)
    # (1 − α)(I − αΘ)⁻¹ tends to the projector on √d as α tends to 1.
    root = np.sqrt(RING.vertex_degrees / RING.vertex_degrees.sum())
    F = (1 - (1 - 1e-7)) * diffuse(RING.theta, Y, 1 - 1e-7)
    np.testing.assert_allclose(F, np.outer(root, root @ Y), atol=1e-5)


def test_columns_are_independent():
    Y = np.random.default_rng(0).normal(size=(40, 4))
    together = diffuse(RING.theta, Y, 0.9)
    for j in range(4):
        np.testing.assert_allclose(
            diffuse(RING.theta, Y[:, [j]], 0.9)[:, 0], together[:, j], rtol=1e-5, atol=1e-7
        )


def test_columns_of_very_different_size():
    Y = np.random.default_rng(1).normal(size=(40, 3)) * [1e-9, 1, 1e9]
    np.testing.assert_allclose(
        diffuse(RING.theta, Y, 0.9) / np.linalg.norm(Y, axis=0),
        solved(RING, Y, 0.9) / np.linalg.norm(Y, axis=0),
        atol=1e-6,
    )


def test_zero_columns_stay_zero():
    Y = np.zeros((40, 2))
    Y[3, 1] = 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F = diffuse(RING.theta, Y, 0.9)
        assert not diffuse(RING.theta, np.zeros((40, 1)), 0.9).any()
    np.testing.assert_array_equal(F[:, 0], 0)
    np.testing.assert_allclose(F, solved(RING, Y, 0.9), atol=1e-6)


def test_input_stays_as_it_was():
    Y = np.eye(40, 2, dtype=int)
    F = diffuse(RING.theta, Y, 0.5)
    np.testing.assert_array_equal(Y, np.eye(40, 2))
    assert F.dtype == np.float64


@pytest.mark.parametrize("alpha", [0, 1, -0.5, 1.5, np.nan, np.inf, "0.5", None])
def test_impossible_alphas(alpha):
    with pytest.raises(InputError, match=r"alpha must be a number between 0 and 1.*, got"):
        diffuse(RING.theta, np.eye(40, 1), alpha)


def test_what_does_not_converge_is_reported_with_its_figure(monkeypatch):
    monkeypatch.setattr(diffusion, "_MAX_ITERATIONS", 2)
    Y = np.eye(40, 2)
    with pytest.warns(ConvergenceWarning, match="relative residual") as caught:
        F = diffuse(RING.theta, Y, 0.99)
    true = np.linalg.norm(Y - F + 0.99 * (RING.theta @ F), axis=0)
    assert f"{true.max():.1e}" in str(caught[0].message)


def test_alpha_so_near_to_one_that_rounding_counts_is_reported():
    """The recursion's own residual falls below tol there, and the true one does not."""
    path = Hypergraph.from_edges([[i, i + 1] for i in range(299)])
    Y = np.eye(300)[:, [0, 299]]
    with pytest.warns(ConvergenceWarning, match="reduce alpha"):
        diffuse(path.theta, Y, 1 - 1e-14)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        F = diffuse(path.theta, Y, 1 - 1e-7)
    np.testing.assert_allclose(F, solved(path, Y, 1 - 1e-7), rtol=1e-6)


# --- Poisson learning ----------------------------------------------------------------------------


def labels_of(n, rows):
    Y = np.zeros((n, 3))
    Y[list(rows), list(rows.values())] = 1
    return Y


def test_poisson_is_the_pseudoinverse_applied_to_sources_in_balance():
    hypergraph = random_hypergraph(0)
    n = hypergraph.n_vertices
    Y = labels_of(n, {0: 0, 5: 1, 7: 1, 9: 2})
    roots = np.diag(np.sqrt(hypergraph.vertex_degrees))
    sources = np.zeros_like(Y)
    given = Y.sum(axis=1) > 0
    sources[given] = Y[given] - Y[given].mean(axis=0)
    U = poisson(hypergraph, Y)
    np.testing.assert_allclose(roots @ hypergraph.laplacian_dense() @ roots @ U, sources, atol=1e-6)
    # The solution is the one of mean zero, each vertex counted by its degree.
    np.testing.assert_allclose(hypergraph.vertex_degrees @ U, 0, atol=1e-6)
    np.testing.assert_allclose(U.sum(axis=1), 0, atol=1e-6)


def test_poisson_solves_every_component_by_itself():
    first, second = random_hypergraph(1), random_hypergraph(2)
    n = first.n_vertices
    both = Hypergraph(
        block_diag([first.incidence, second.incidence]),
        np.concatenate([first.weights, second.weights]),
    )
    Y1, Y2 = labels_of(n, {0: 0, 3: 1}), labels_of(n, {1: 1, 2: 1, 8: 2})
    U = poisson(both, np.vstack([Y1, Y2]))
    np.testing.assert_allclose(U[:n], poisson(first, Y1), atol=1e-6)
    np.testing.assert_allclose(U[n:], poisson(second, Y2), atol=1e-6)


def test_poisson_without_sources():
    hypergraph = random_hypergraph(1)
    n = hypergraph.n_vertices
    for Y in (labels_of(n, {0: 0, 3: 0}), np.zeros((n, 3))):
        np.testing.assert_array_equal(poisson(hypergraph, Y), 0)


def test_poisson_is_that_of_graphlearning():
    weights = random_hypergraph(3, n=40, edges=60).clique_expansion()
    rows, codes = np.array([0, 5, 9, 20]), np.array([0, 1, 2, 1])
    Y = np.zeros((40, 3))
    Y[rows, codes] = 1
    reference = ssl.poisson(csr_matrix(weights), tol=1e-12, max_iter=10_000).fit(rows, codes)
    ours = poisson(Graph(weights), Y)
    np.testing.assert_allclose(
        ours - ours.mean(axis=0), reference - reference.mean(axis=0), atol=1e-6
    )
