"""Scores of the defaults beside other libraries, and their page."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from experiments import quality, quality_page
from experiments.tabular import write_csv

X, Y = load_digits(n_class=3, return_X_y=True)
X, Y = (X[:120] / 16).astype(np.float32), Y[:120]


def test_every_classifier_is_scored_on_the_unlabeled_samples():
    pytest.importorskip("graphlearning")
    rows = list(quality.classification_rows(X, Y, 0))
    by_labels = {row["labels"] for row in rows}
    assert by_labels == {"1 per class", "3 per class", "5 per class", "10%"}
    names = {row["method"] for row in rows if row["labels"] == "5 per class"}
    assert names == {quality.OURS, quality.DISCRIMINANT, *quality.CLASSIFIERS}
    first = {row["method"] for row in rows if row["labels"] == "1 per class"}
    assert first == names - set(quality.NEEDS_MORE_LABELS)
    tenth = {row["method"]: row["accuracy"] for row in rows if row["labels"] == "10%"}
    assert set(tenth) == names
    assert min(tenth[quality.OURS], tenth[quality.DISCRIMINANT]) > 0.9


@pytest.mark.parametrize("name", [n for n in quality.CLUSTERERS if "UMAP" not in n])
def test_clusterers(name):
    labels = quality.CLUSTERERS[name](X, 3, 0)
    assert labels.shape == Y.shape
    assert len(np.unique(labels)) == 3


def test_labels_are_drawn_from_every_class():
    for name, labeled in quality._label_draws(Y, 0):
        counts = np.bincount(Y[labeled], minlength=3)
        if name == "10%":
            np.testing.assert_array_equal(counts, np.round(0.1 * np.bincount(Y)))
        else:
            assert set(counts) == {int(name.split()[0])}


def test_every_data_set_is_there(data_folder):
    for name in quality.KINDS:
        samples, y = quality.load_samples(name, data_folder)
        assert len(samples) == len(y)
        assert np.abs(samples).max() == 1
        assert set(y) == set(range(len(np.unique(y))))


def test_page_counts_what_is_reached(tmp_path):
    """Two data sets, one of which is below the other libraries."""
    rows = []
    scores = {"digits": {"enhg": 0.9, "k-means": 0.8}, "USPS": {"enhg": 0.7, "k-means": 0.8}}
    for name, by_method in scores.items():
        for method, score in by_method.items():
            for run in range(3):
                fixed = [name, "digits", "clustering", "", method, run]
                rows.append([*fixed, score, score, "", 1.0])
                rows.append(
                    [name, "digits", "classification", "10%", method, run, "", "", score, 1]
                )
    write_csv(tmp_path / "quality.csv.gz", quality.HEADER, rows)
    page = quality_page.page(tmp_path / "quality.csv.gz")
    assert "on 1 of 2 data sets (below: USPS), NMI on\n1 of 2 (below: USPS)" in page
    assert "in 1 of 2 rows" in page
    assert "| digits | **0.900** ± 0.000 | 0.800 ± 0.000 |" in page


def test_stored_scores_are_not_computed_again(tmp_path, monkeypatch):
    monkeypatch.setattr(quality, "FILE", tmp_path / "quality.csv.gz")
    fixed = {"task": "clustering", "method": quality.OURS, "ac": 0.5, "nmi": 0.5, "seconds": 1.0}
    rows = [
        fixed | {"data set": name, "kind": kind, "run": run}
        for run in range(quality.RUNS)
        for name, kind in quality.KINDS.items()
    ]
    quality._store(rows)
    before = quality.FILE.read_bytes()
    calls = []
    quality.measure(tmp_path / "missing", lambda done, total: calls.append(done))
    assert not calls
    assert quality.FILE.read_bytes() == before
