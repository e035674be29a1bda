"""The measurements of the extensions, on a few digits."""

import numpy as np
import pytest

from enhg.datasets import load
from experiments import practice
from experiments.tabular import read_csv


@pytest.fixture(scope="module")
def some_digits():
    return load("digits").first_classes(4).sampled(40, np.random.RandomState(0))


def test_new_samples_are_predicted_nearly_as_well_as_fitted(some_digits):
    rows = list(practice.new_samples(some_digits, 0))
    assert [row["task"] for row in rows] == ["clustering", "classification"]
    for row in rows:
        assert row["all fitted"] > 0.8
        assert row["other half predicted"] > 0.8
        assert row["agreement"] > 0.9


def test_cluster_counts_are_measured(some_digits):
    (row,) = practice.cluster_count(some_digits, 0)
    assert row["classes"] == 4
    assert row["estimate"] != row["runner-up"]
    assert row["reliable"] in ("yes", "no")


def test_squares_cover_a_quarter_of_an_image():
    image, noise = np.zeros((8, 10)), np.arange(1, 81.0).reshape(8, 10)
    for corner in (np.zeros(2), np.full(2, 0.999)):
        block = practice._corrupt(image, noise, corner, "block")
        assert np.count_nonzero(block) == 20
        assert set(block.ravel()) <= {0.0, *noise.ravel()}
        gray = practice._corrupt(image, noise, corner, "gray")
        assert sorted(np.unique(gray)) == [0.0, 1.0]
        np.testing.assert_array_equal(gray != 0, block != 0)
    assert not practice._corrupt(image + 5, noise, np.zeros(2), "black")[:4, :5].any()
    np.testing.assert_array_equal(practice._corrupt(image, noise, np.zeros(2), "noise"), noise)
    assert not image.any()


def test_outliers_are_measured(some_digits):
    rows = list(practice.outliers(some_digits, 0))
    assert [row["corrupted by"] for row in rows] == ["noise", "block", "gray", "black"]
    assert rows[0]["enhg"] > 0.95


def test_few_labels_are_measured(some_digits):
    pytest.importorskip("graphlearning")
    rows = list(practice.few_labels(some_digits, 0))
    assert [row["labels per class"] for row in rows] == [1, 2, 3, 5]
    assert rows[-1]["enhg"] > 0.9
    assert rows[-1]["graphlearning, Poisson"] > 0.8


def test_suggestions_are_measured(some_digits):
    rows = list(practice.suggestions(some_digits, 0))
    assert rows[-1]["suggested"] > 0.9
    assert sum(row["suggested"] for row in rows) > sum(row["random"] for row in rows)


@pytest.mark.parametrize("name", practice.MEASUREMENTS)
def test_every_run_is_stored(name):
    measurement = practice.MEASUREMENTS[name]
    header, rows = read_csv(practice.FOLDER / f"{name}.csv")
    assert header[:2] == ["data set", "run"]
    assert {(row[0], int(row[1])) for row in rows} == {
        (dataset, run) for dataset in measurement.datasets for run in range(measurement.runs)
    }


def test_measurements_are_stored(some_digits, tmp_path, monkeypatch):
    measurement = practice.Measurement(practice.cluster_count, ("digits",), 2, varied_classes=True)
    monkeypatch.setitem(practice.MEASUREMENTS, "few", measurement)
    monkeypatch.setattr(practice, "FOLDER", tmp_path)
    monkeypatch.setattr(practice, "cpu_count", lambda: 1)
    monkeypatch.setattr(practice, "load_dataset", lambda name, folder: some_digits)
    monkeypatch.setattr("experiments.protocol.load_dataset", lambda name, folder: some_digits)
    calls = []
    practice.measure("few", tmp_path, lambda *call: calls.append(call))
    assert calls == [(1, 2), (2, 2)]
    header, rows = read_csv(tmp_path / "few.csv")
    assert header[:4] == ["data set", "run", "classes", "estimate"]
    assert [row[:3] for row in rows] == [["digits", "0", "4"], ["digits", "1", "4"]]
