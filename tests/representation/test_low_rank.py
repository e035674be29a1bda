import cvxpy as cp
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from enhg.representation.low_rank import low_rank_representation
from enhg.structures.low_rank import LowRankGraph


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    bases = rng.normal(size=(3, 2, 15))
    points = np.vstack([rng.normal(size=(7, 2)) @ basis for basis in bases])
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def objective(X, Z, lam):
    errors = np.linalg.norm(X - Z @ X, axis=1).sum()
    return np.linalg.svd(Z, compute_uv=False).sum() + lam * errors


def test_without_noise_it_is_the_projector_on_the_column_space(X):
    """The shape interaction matrix UUᵀ, the closed form of Liu et al."""
    found = low_rank_representation(X, error_weight=100, tol=1e-8, max_iter=5000)
    U, S, _ = np.linalg.svd(X, full_matrices=False)
    U = U[:, S > 1e-10]
    np.testing.assert_allclose(found.coefficients, U @ U.T, atol=1e-5)
    np.testing.assert_allclose(found.residuals, 0, atol=1e-5)


@pytest.mark.parametrize("lam", [0.1, 0.5, 2.0])
def test_it_is_as_good_as_a_convex_solver(X, lam):
    X = X + 0.1 * np.random.default_rng(1).normal(size=X.shape)
    Z = cp.Variable((len(X), len(X)))
    cost = cp.normNuc(Z) + lam * cp.sum(cp.norm(X - Z @ X, axis=1))
    best = cp.Problem(cp.Minimize(cost)).solve(solver=cp.SCS, eps=1e-7, max_iters=100_000)
    found = low_rank_representation(X, error_weight=lam, tol=1e-5, max_iter=5000)
    assert objective(X, found.coefficients, lam) == pytest.approx(best, rel=1e-4)
    assert found.gap <= 1e-5
    np.testing.assert_allclose(found.residuals, X - found.coefficients @ X, atol=1e-9)


def test_the_gap_bounds_the_distance_from_the_optimum(X):
    exact = objective(
        X, low_rank_representation(X, error_weight=0.5, tol=1e-9, max_iter=20_000).coefficients, 0.5
    )
    for count in (1, 5, 20, 50):
        with pytest.warns(ConvergenceWarning, match="duality gap"):
            loose = low_rank_representation(X, error_weight=0.5, tol=1e-10, max_iter=count)
        value = objective(X, loose.coefficients, 0.5)
        assert exact - 1e-7 <= value
        assert value - exact <= loose.gap * value + 1e-7


def test_small_lam_gives_nothing_and_all_error(X):
    found = low_rank_representation(X, error_weight=1e-3)
    np.testing.assert_array_equal(found.coefficients, 0)
    np.testing.assert_allclose(found.residuals, X, atol=1e-12)


def test_a_sample_far_from_all_is_an_error_as_a_whole(X):
    spoilt = X.copy()
    spoilt[4] = np.random.default_rng(2).normal(size=X.shape[1])
    spoilt[4] /= np.linalg.norm(spoilt[4])
    lengths = np.linalg.norm(low_rank_representation(spoilt, error_weight=0.8).errors, axis=1)
    assert lengths.argmax() == 4
    assert lengths[4] > 2 * np.delete(lengths, 4).max()


def test_subspaces_are_blocks_of_the_graph(X):
    for power in (2, 4):
        A = LowRankGraph(error_weight=10, power=power, preprocessing="none").fit(X).graph_.adjacency
        own = np.arange(len(X)) // 7
        inside = A[own[:, None] == own].sum()
        assert inside > 0.999 * A.sum()


def test_the_graph_is_the_cosine_of_the_places_to_a_power(X):
    structure = LowRankGraph(error_weight=0.5, power=3, preprocessing="none").fit(X)
    # The source has samples in columns: its Z is the transpose, its U of that.
    U, S, _ = np.linalg.svd(structure.low_rank_.coefficients.T)
    places = U * np.sqrt(S)
    A = structure.graph_.adjacency
    for i in range(3):
        for j in range(3, 6):
            cosine = places[i] @ places[j]
            cosine /= np.linalg.norm(places[i]) * np.linalg.norm(places[j])
            assert A[i, j] == pytest.approx(abs(cosine) ** 3, abs=1e-8)


def test_a_graph_of_nothing_is_told(X):
    with pytest.warns(UserWarning, match=r"each is alone: raise lam \(now 1e-06\)"):
        LowRankGraph(error_weight=1e-6, preprocessing="none").fit(X)


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"lam": 0}, "lam must be a positive number"),
        ({"tol": -1}, "tol must be a positive number"),
        ({"max_iter": 0}, "max_iter must be a whole number"),
        ({"power": 0}, "power must be a positive number"),
    ],
)
def test_wrong_parameters(X, choice, message):
    with pytest.raises(ValueError, match=message):
        LowRankGraph(**choice).fit(X)


def test_zero_samples():
    found = low_rank_representation(np.zeros((4, 3)))
    np.testing.assert_array_equal(found.coefficients, 0)
    assert found.gap == 0
