"""The analyses behind the discussion of the reproduction, on small draws."""

import numpy as np
import pytest

from enhg import SparseSubspaceGraph
from experiments import claims
from experiments.cells import Cells, run_jobs
from experiments.tabular import read_csv


@pytest.fixture
def written(small_draws, tmp_path):
    """Read an analysis, after all were written."""
    cells = Cells(tmp_path / "cells.csv")
    run_jobs(claims.jobs(2), tmp_path, cells, n_jobs=1)
    claims.write(tmp_path, tmp_path, cells, 2)
    return lambda name: read_csv(tmp_path / f"claims-{name}.csv")


def test_claims(written):
    header, (first, *others) = written("choices")
    assert header == ["change", "Extended Yale B, K = 3", "USPS, K = 4"]
    assert float(first[1].split(" / ")[0]) > 0.8
    assert len(others) == len(claims._CHANGES) - 1
    assert any(line[1:] != first[1:] for line in others)
    header, lines = written("extensions")
    assert header == ["change", "Extended Yale B, K = 3", "USPS, K = 4"]
    assert [line[0] for line in lines] == list(claims._EXTENSIONS)
    gammas = written("gamma")[1]
    assert {line[3] for line in gammas} == {"0"}
    assert all(float(line[2]) < 1 for line in gammas)
    digits = {line[0]: line[1:] for line in written("usps")[1]}
    assert digits["KNN-HG, paper"][0] == "0.965"
    unlabeled = digits["ENHG, 20 per digit"]
    all_images = digits["ENHG, 20 per digit, labeled images included"]
    assert float(all_images[5]) == pytest.approx(0.6 + 0.4 * float(unlabeled[5]), abs=1e-3)
    faces = written("pie")[1]
    assert float(faces[0][6]) > float(faces[0][1]) > 0.34  # more labels, higher accuracy
    assert [line[0].split(",")[0] for line in written("independent")[1]] == [
        "l1-graph", "SSC", "LRR", "LRR", "l1-graph", "SSC", "LRR", "LRR", "LRR",
    ]  # fmt: skip
    chosen = written("whitening")[1]
    assert len(chosen) == 2
    assert all((float(line[1]) > 1.3) == (line[3] == "whiten") for line in chosen)


def test_the_independent_ssc_equals_that_of_the_package(union_of_subspaces):
    X = union_of_subspaces(0, n_subspaces=3, per_subspace=12, n_features=20)[0]
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    gamma = 20 / claims._largest_products(X).min()
    C = claims._scale_rows(claims._lasso_coefficients(X, gamma))
    graph = SparseSubspaceGraph(alpha_z=20.0, alpha_e=None, preprocessing="none", tol=1e-6)
    np.testing.assert_allclose(graph.fit(X).graph_.adjacency.toarray(), C + C.T, atol=0.02)
