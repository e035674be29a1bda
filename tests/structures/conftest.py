import cvxpy as cp
import numpy as np
import pytest
from sklearn.linear_model import Lasso

from enhg.preprocessing import SampleNormalizer


@pytest.fixture(scope="session")
def samples(union_of_subspaces):
    """36 samples of three subspaces."""
    return union_of_subspaces(0, n_subspaces=3, per_subspace=12)[0]


@pytest.fixture(scope="session")
def unit_samples():
    """24 noisy samples of three subspaces, of unit length."""
    rng = np.random.default_rng(0)
    bases = rng.normal(size=(3, 2, 12))
    points = np.vstack([rng.normal(size=(8, 2)) @ basis for basis in bases])
    noisy = points + 0.05 * rng.normal(size=points.shape)
    return SampleNormalizer(center=False).fit_transform(noisy)


@pytest.fixture(scope="session")
def points():
    return np.random.default_rng(0).normal(size=(40, 6))


@pytest.fixture(scope="session")
def solve_by_cvxpy():
    """C and E of the lasso with sparse errors at an absolute γ, row by row."""

    def solve(X, gamma, error_weight):
        n, d = X.shape
        C, E = np.zeros((n, n)), np.zeros((n, d))
        for i in range(n):
            c, e = cp.Variable(n), cp.Variable(d)
            cost = cp.norm1(c) + error_weight * cp.norm1(e)
            cost += gamma / 2 * cp.sum_squares(X[i] - X.T @ c - e)
            cp.Problem(cp.Minimize(cost), [c[i] == 0]).solve(solver=cp.CLARABEL)
            C[i], E[i] = c.value, e.value
        return C, E

    return solve


@pytest.fixture(scope="session")
def solve_by_sklearn():
    """|Z| of the lasso at an absolute γ, row by row."""

    def solve(X, gamma):
        n, d = X.shape
        Z = np.zeros((n, n))
        for i in range(n):
            others = np.delete(np.arange(n), i)
            lasso = Lasso(alpha=1 / gamma / d, fit_intercept=False, tol=1e-12, max_iter=100_000)
            Z[i, others] = np.abs(lasso.fit(X[others].T, X[i]).coef_)
        return Z

    return solve


@pytest.fixture(scope="session")
def distances():
    def compute(X):
        return np.array([[np.sqrt(((x - y) ** 2).sum()) for y in X] for x in X])

    return compute


@pytest.fixture(scope="session")
def nearest(distances):
    def find(X, n_neighbors):
        return [np.argsort(row)[1 : n_neighbors + 1] for row in distances(X)]

    return find
