"""The page as a file: its data and its safety."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from enhg import ClusterCount, HypergraphClustering, clustering_accuracy
from enhg.io import Samples
from enhg.run import Estimate, record_clustering

NASTY = "</script><b>bold</b>&amp;\udcff.png"


def test_names_cannot_leave_their_place(page, data_of):
    text = page.read_text(encoding="utf-8")
    assert "<b>bold" not in text
    assert "<i>odd" not in text
    assert text.count("</script>") == 2
    assert data_of(page)["samples"]["name"][0] == NASTY.replace("\udcff", "\ufffd")


def test_nothing_comes_from_elsewhere(page):
    text = page.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert "unsafe" not in text
    assert set(re.findall(r"https?://[^\s\"'`]+", text)) == {"http://www.w3.org/2000/svg"}
    assert set(re.findall(r"url\(\"(.{11})", text)) == {"data:image/"}
    assert not re.search(r"<[^>]+\son\w+=", text)


def test_numbers_are_those_of_the_model(page, digits, data_of):
    samples, model, structure = digits.samples, digits.model, digits.structure
    data = data_of(page)
    assert data["total"] == data["pictured"] == len(samples.X)
    assert data["samples"]["group"] == model.labels_.tolist()
    for name, values in {
        "confidence": model.confidence_,
        "outlier": model.outlier_scores_,
        "boundary": model.boundary_scores_,
        "residual": structure.relative_residuals_,
    }.items():
        np.testing.assert_allclose(data["samples"][name], values, atol=5.1e-5)
    assert [group["count"] for group in data["groups"]] == np.bincount(model.labels_).tolist()
    assert data["scores"][0] == ["AC", clustering_accuracy(samples.labels, model.labels_)]
    assert np.sum(data["confusion"]["table"]) == len(samples.X)
    assert np.trace(data["confusion"]["table"]) / len(samples.X) == data["scores"][0][1]
    Z = structure.representation_.coefficients.toarray()
    assert data["edges"]["support"] == np.count_nonzero(Z, axis=1).tolist()
    for i in (0, 100):
        count, *flat = data["edges"]["members"][i]
        others, values = np.array(flat[::2], int), flat[1::2]
        assert count == len(others) == 10
        np.testing.assert_allclose(values, Z[i, others], atol=5e-5)
    in_hyperedges = np.count_nonzero(structure.member_coefficients_.toarray(), axis=0)
    assert data["edges"]["memberOf"] == in_hyperedges.tolist()


def test_true_labels_are_optional(digits, tmp_path, written, data_of):
    samples = replace(digits.samples, labels=None)
    record = record_clustering(samples, digits.model)
    run = SimpleNamespace(samples=samples, model=digits.model, record=record)
    data = data_of(written(tmp_path / "r.html", run))
    assert data["scores"] == []
    assert data["confusion"] is None


def test_classes_given_and_unreached(tmp_path, union_of_subspaces, fitted, written, data_of):
    X, y = union_of_subspaces(0)
    truth = np.array(["été", "日本", "10", "9"])[y]
    given = np.where((np.arange(len(y)) % 4 == 0) & (y != 3), truth, "")
    samples = Samples(X, [str(i) for i in range(len(y))], None, truth, Path("x.npy"))
    with pytest.warns(UserWarning, match="no label reaches"):
        run = fitted(samples, given=given)
    model = run.model
    data = data_of(written(tmp_path / "r.html", run))
    assert [group["name"] for group in data["groups"]] == ["10", "été", "日本", ""]
    assert sum(group["given"] for group in data["groups"]) == (given != "").sum()
    assert data["scores"] == [["accuracy", np.mean((model.transduction_ == truth)[given == ""])]]
    assert np.sum(data["confusion"]["table"]) == (given == "").sum()


def test_written_whole_or_not_at_all(digits, tmp_path, monkeypatch, written):
    path = tmp_path / "report.html"
    path.write_text("before")

    def fail(self, target):
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        written(path, digits)
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize(("n", "k"), [(2, 1), (2, 2), (30, 1)])
@pytest.mark.parametrize("shape", [None, (4, 5)])
def test_small_runs(n, k, shape, tmp_path, fitted, written, data_of):
    X = np.random.default_rng(0).normal(size=(n, 20))
    samples = Samples(X, [str(i) for i in range(n)], shape, None, Path("x.npy"))
    data = data_of(written(tmp_path / "r.html", fitted(samples, k)))
    assert len(data["samples"]["x"]) == n
    assert len(data["groups"]) == k


def test_estimate_of_the_number_of_clusters(digits, tmp_path, written, data_of):
    estimate = ClusterCount(4, 2, False, np.array([0, np.nan]), np.array([1, 0.9, 0.5]))
    model = HypergraphClustering(4, structure=digits.structure, random_state=0)
    model.fit(digits.samples.X).cluster_count_ = estimate
    record = record_clustering(digits.samples, model)
    assert record.estimate == Estimate(4, 2, False)
    run = SimpleNamespace(samples=digits.samples, model=model, record=record)
    data = data_of(written(tmp_path / "r.html", run))
    assert data["estimate"] == {
        "nClusters": 4, "runnerUp": 2, "reliable": False, "eigenvalues": [1, 0.9, 0.5],
        "scores": [0, None],
    }  # fmt: skip


def test_no_eigenproblem_is_solved(digits, fitted, tmp_path, monkeypatch, written, data_of):
    """The page uses the eigenvectors of the model; one of classes shows no eigenvalues."""
    given = np.where(np.arange(len(digits.samples.X)) < 40, digits.samples.labels.astype(str), "")
    classified = fitted(digits.samples, given=given)
    eigenvalues = classified.model.spectrum_.eigenvalues

    def fail(*_, **__):
        raise AssertionError("an eigenproblem was solved")

    for name in ("scipy.linalg.eigh", "enhg.learning.spectral.top_eigenpairs"):
        monkeypatch.setattr(name, fail)
    for run in (digits, classified):
        data = data_of(written(tmp_path / "r.html", run))
        if run is digits:
            expected = run.model.spectrum_.eigenvalues[:80]
            np.testing.assert_allclose(data["eigenvalues"], expected, atol=1e-6)
        else:
            assert data["eigenvalues"] is None
    np.testing.assert_array_equal(classified.model.spectrum_.eigenvalues, eigenvalues)
