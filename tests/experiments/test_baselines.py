"""Clusterers of other libraries."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import ElasticNet
from sklearn.preprocessing import normalize

from enhg.exceptions import MissingDependencyError
from experiments import baselines

X, Y = load_digits(n_class=3, return_X_y=True)
X, Y = X[:120] / 16, Y[:120]


@pytest.mark.parametrize("name", [n for n in baselines.CLUSTERERS if n != "Leiden"])
def test_clusterers(name):
    labels = baselines.CLUSTERERS[name](X, 3, 0)
    assert labels.shape == Y.shape
    assert len(np.unique(labels)) == 3


def test_leiden_has_the_number_of_communities_of_the_classes():
    for module in ("umap", "leidenalg", "igraph"):
        pytest.importorskip(module)
    assert len(np.unique(baselines.leiden(X, 3, 0))) == 3


def test_a_partition_of_the_size_is_sought():
    """The number of clusters grows with the resolution, and skips 7."""

    def partition(resolution):
        count = int(np.clip(10 * resolution, 1, 100))
        return np.arange(100) % (8 if count == 7 else count)

    for k in (1, 5, 6, 10, 40, 90):
        assert len(np.unique(baselines.partition_of_size(partition, k))) == k
    assert len(np.unique(baselines.partition_of_size(partition, 7))) in (6, 8)


@pytest.mark.parametrize("row", [0, 17])
def test_ensc_solves_the_problem_of_its_authors(row):
    """scikit-learn: ‖x − Aw‖²/(2d) + a·ρ‖w‖₁ + a(1 − ρ)/2·‖w‖₂², which times d·γ is EnSC's."""
    unit = normalize(X)
    others = np.delete(unit, row, axis=0)
    mixing = baselines.ENSC_MIXING
    gamma = baselines.ENSC_SCALE * mixing / np.abs(others @ unit[row]).max()
    model = ElasticNet(
        alpha=1 / (gamma * X.shape[1]), l1_ratio=mixing, fit_intercept=False, tol=1e-12,
        max_iter=100_000,
    ).fit(others.T, unit[row])  # fmt: skip
    own = baselines.ensc_coefficients(X)[[row]].toarray().ravel()
    assert own[row] == 0
    np.testing.assert_allclose(np.delete(own, row), model.coef_, atol=1e-4)
    assert np.abs(model.coef_).max() > 0.05


def test_ensc_coefficients_are_zero_up_to_the_smallest_scale(monkeypatch):
    monkeypatch.setattr(baselines, "ENSC_SCALE", 1.0)
    assert np.abs(baselines.ensc_coefficients(X)).max() < 1e-6
    monkeypatch.setattr(baselines, "ENSC_SCALE", 1.01)
    assert (np.diff(baselines.ensc_coefficients(X).indptr) > 0).all()


def test_missing_packages_are_named(monkeypatch):
    monkeypatch.setattr(baselines, "OPTIONAL", ("absent",))
    with pytest.raises(MissingDependencyError, match=r"absent \(extra quality\)"):
        baselines.require_all()
