"""Fitted structures kept on disk."""

import os

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from enhg import ElasticNetHypergraph, HyperedgeRule
from enhg.io.cache import _KEPT, fit_cached


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).random((60, 20), dtype=np.float32)


def solve_once(monkeypatch):
    """Count how often structures are fitted."""
    calls = []
    fit = ElasticNetHypergraph.fit
    monkeypatch.setattr(
        ElasticNetHypergraph, "fit", lambda self, *a, **k: calls.append(1) or fit(self, *a, **k)
    )
    return calls


@pytest.mark.parametrize("preprocessing", ["zero_mean", "whiten"])
def test_a_second_run_reads_the_same_structure(X, tmp_path, monkeypatch, preprocessing):
    calls = solve_once(monkeypatch)
    parameters = {"preprocessing": preprocessing, "hyperedges": HyperedgeRule(threshold=4)}
    first, was_read = fit_cached(ElasticNetHypergraph(**parameters), X, tmp_path / "new")
    second, was_read_again = fit_cached(ElasticNetHypergraph(**parameters), X, tmp_path / "new")
    assert (was_read, was_read_again, len(calls)) == (False, True, 1)
    assert second is not first
    for name in ("coefficients", "certificate", "relative_residuals", "sparse_errors"):
        old, new = (getattr(s.representation_, name) for s in (first, second))
        assert (old is None) == (new is None)
        if old is not None:
            old, new = (a.toarray() if hasattr(a, "toarray") else a for a in (old, new))
            assert_array_equal(old, new)
    assert_array_equal(first.graph_.incidence.toarray(), second.graph_.incidence.toarray())
    assert_array_equal(first.graph_.weights, second.graph_.weights)
    assert_array_equal(first.outlier_scores_, second.outlier_scores_)
    assert_array_equal(first.reconstruct([3, 5]), second.reconstruct([3, 5]))


@pytest.mark.parametrize(
    "change", [{"gamma": 9.0}, {"lam": 4.0}, {"hyperedges": HyperedgeRule(threshold=3)}]
)
def test_other_parameters_are_fitted_anew(X, tmp_path, change):
    fit_cached(ElasticNetHypergraph(preprocessing="zero_mean"), X, tmp_path)
    _, was_read = fit_cached(ElasticNetHypergraph(preprocessing="zero_mean", **change), X, tmp_path)
    assert not was_read


def test_other_samples_are_fitted_anew(X, tmp_path):
    fit_cached(ElasticNetHypergraph(preprocessing="zero_mean"), X, tmp_path)
    other = X.copy()
    other[0, 0] += 1e-3
    assert not fit_cached(ElasticNetHypergraph(preprocessing="zero_mean"), other, tmp_path)[1]


def test_a_damaged_file_is_fitted_anew(X, tmp_path):
    fit_cached(ElasticNetHypergraph(preprocessing="zero_mean"), X, tmp_path)
    (file,) = tmp_path.iterdir()
    content = file.read_bytes()
    at = content.index(X.tobytes()[:100])
    flipped = content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]
    for damaged in (b"", content[:-100], flipped):
        file.write_bytes(damaged)
        assert not fit_cached(ElasticNetHypergraph(preprocessing="zero_mean"), X, tmp_path)[1]
        assert fit_cached(ElasticNetHypergraph(preprocessing="zero_mean"), X, tmp_path)[1]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
def test_a_fifo_in_the_place_of_a_file_is_not_waited_for(X, tmp_path):
    fit_cached(ElasticNetHypergraph(preprocessing="zero_mean"), X, tmp_path)
    (file,) = tmp_path.iterdir()
    file.unlink()
    os.mkfifo(file)
    assert not fit_cached(ElasticNetHypergraph(preprocessing="zero_mean"), X, tmp_path)[1]
    assert fit_cached(ElasticNetHypergraph(preprocessing="zero_mean"), X, tmp_path)[1]


def test_without_a_folder_nothing_is_kept(X, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert not fit_cached(ElasticNetHypergraph(preprocessing="zero_mean"), X, None)[1]
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["file", "x" * 300])  # the second as one without permission
def test_a_folder_that_cannot_be_used_is_no_error(X, tmp_path, name):
    (tmp_path / "file").touch()
    structure, _ = fit_cached(ElasticNetHypergraph(preprocessing="zero_mean"), X, tmp_path / name)
    assert structure.graph_.n_vertices == 60


def test_the_oldest_structures_are_removed(X, tmp_path):
    for gamma in range(2, _KEPT + 4):
        fit_cached(ElasticNetHypergraph(gamma=gamma, preprocessing="zero_mean"), X, tmp_path)
    assert len(list(tmp_path.iterdir())) == _KEPT
    assert not fit_cached(ElasticNetHypergraph(gamma=2, preprocessing="zero_mean"), X, tmp_path)[1]
