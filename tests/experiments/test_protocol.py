"""Draws, labels and the scores of a job."""

from dataclasses import replace

import numpy as np
import pytest

from experiments.protocol import (
    Draw,
    draw_labels,
    draw_labels_per_class,
    evaluate,
    to_json,
)


def test_a_clustering_job_gives_a_row_per_run(small, clustering_job, tmp_path):
    rows = evaluate(clustering_job(), tmp_path)
    assert [row["run"] for row in rows] == [0, 1]
    assert all(0.8 < row["ac"] <= 1 and 0.5 < row["nmi"] <= 1 for row in rows)


def test_a_classification_job_gives_a_row_per_share(small, classification_job, tmp_path):
    rows = evaluate(classification_job, tmp_path)
    assert [row["share"] for row in rows] == [0.1, 0.5]
    assert all(0.8 < row["accuracy"] <= 1 for row in rows)
    assert all(row["seconds"] > 0 for row in rows)


def test_the_seed_decides_which_samples_are_drawn(small, tmp_path):
    part = Draw("usps", 3, 20, seed=1).load(tmp_path)
    assert np.bincount(part.y).tolist() == [20, 20, 20]
    again, other = Draw("usps", 3, 20, 1).load(tmp_path), Draw("usps", 3, 20, 2).load(tmp_path)
    np.testing.assert_array_equal(part.X, again.X)
    assert not np.array_equal(part.X, other.X)


def test_a_share_of_the_samples_is_corrupted(small, tmp_path):
    original = Draw("usps", 4).load(tmp_path).X
    corrupted = Draw("usps", 4, corrupted=0.25).load(tmp_path).X
    noise = corrupted - original / original.max()
    changed = np.abs(noise).max(axis=1) > 1e-6
    assert changed.mean() == pytest.approx(0.25, abs=0.01)
    assert noise[changed].var() == pytest.approx(0.1, rel=0.1)
    assert noise[changed].mean() == pytest.approx(0, abs=0.02)


def test_corruption_is_drawn_for_every_run(small, tmp_path):
    draws = list(Draw("usps", 3, corrupted=0.25).by_run(3))
    assert [runs for _, runs in draws] == [(0,), (1,), (2,)]
    first, second = (draw.load(tmp_path).X for draw, _ in draws[:2])
    assert not np.array_equal(first, second)
    assert list(Draw("usps", 3).by_run(3)) == [(Draw("usps", 3), (0, 1, 2))]


def test_labels_are_drawn_from_every_class():
    y = np.repeat([0, 1, 2], [10, 20, 3])
    labeled = draw_labels(y, 0.2, np.random.RandomState(0))
    assert np.bincount(y[labeled]).tolist() == [2, 4, 1]


def test_iterations_that_do_not_converge_are_counted(small, clustering_job, tmp_path):
    stopped = replace(clustering_job(), method="LRR", structure=to_json({"max_iter": 1}))
    rows = evaluate(stopped, tmp_path)
    assert [row["warnings"] for row in rows] == [1, 1]
    rows = evaluate(clustering_job(), tmp_path)
    assert [row["warnings"] for row in rows] == [0, 0]


def test_some_labels_of_every_class_are_drawn():
    y = np.repeat([0, 1, 2, 3], [1, 2, 3, 20])
    labeled = draw_labels_per_class(y, 3, np.random.RandomState(0))
    assert np.bincount(y[labeled]).tolist() == [1, 1, 2, 3]
