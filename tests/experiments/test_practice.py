"""The measurements of the extensions, on a few digits."""

import numpy as np
import pytest

from enhg.datasets import load
from experiments import practice, practice_page
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


def test_rectangles_cover_a_quarter_of_an_image():
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


def test_suggestions_are_measured(some_digits):
    """Against three draws: a single one can be lucky."""
    rows = [row for run in range(3) for row in practice.suggestions(some_digits, run)]
    assert rows[-1]["suggested"] > 0.9
    assert rows[-1]["random, of every class"] > 0.8
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


# --- the page ------------------------------------------------------------------------------------


def record(name, **columns):
    return {"data set": name, "run": "0"} | {key: str(value) for key, value in columns.items()}


def test_tables_give_mean_and_deviation():
    rows = [record("a", by=1, x=0.5, y=0.7), record("a", by=1, x=0.7, y=0.7)]
    *_, line = practice_page.mean_table(rows, "by").splitlines()
    assert line == "| a | 1 | 0.60 ± 0.14 | **0.70** ± 0.00 |"


def test_reliable_estimates_are_counted():
    rows = [
        record(name, classes=5, estimate=estimate, reliable=reliable) | {"runner-up": "3"}
        for name, estimate, reliable in (
            ("a", "5", "yes"), ("a", "5", "yes"), ("a", "7", "yes"),
            ("b", "5", "no"), ("b", "6", "no"),
        )
    ]  # fmt: skip
    *_, first, second = practice_page._estimate_table(rows).splitlines()
    assert first == "| a | 5 | 5 (2×), 7 |  |"
    assert second == "| b | 5 |  | 5 (3), 6 (3) |"
    assert practice_page._reliable_estimates(rows) == (
        "3 of the 5 estimates are reliable, and 2 of these equal the number of classes; of the 2 "
        "others, 1 do. The reliable estimates that differ from the number of classes are: "
        "7 on a (5 classes)."
    )


def test_statements_follow_the_scores():
    scores = {"random": 0, "random, of every class": 0.8}
    suggested = [
        record(name, **{"labels per class": count, "suggested": score}, **scores)
        for name, count, score in (("a", 1, 0.75), ("a", 2, 0.9), ("b", 1, 0.9), ("b", 2, 0.7))
    ]
    below, above = {"first_below": "a"}, {"first_above": "b"}
    assert practice_page._first_suggestions(suggested) == below | above
    only = {"first_below": "no data set"} | above
    assert practice_page._first_suggestions(suggested[2:]) == only
    halves = {"all fitted": 0.9, "half fitted": 0.8}
    new = [
        record("a", task="x", **halves, **{"other half predicted": 0.75}),
        record("b", task="x", **halves, **{"other half predicted": 0.82}),
    ]
    assert practice_page._prediction_gaps(new) == {
        "predicted_mean": "−0.015",
        "predicted_least": "−0.050",
        "predicted_most": "+0.020",
        "fewer_mean": "−0.100",
    }
