"""Choice of the samples of a page."""

import numpy as np

from enhg.report import _selection as selection
from enhg.report._results import make_results


def chosen_samples(run, wanted=(), photographs=False):
    results = make_results(run.record, run.samples, run.model)
    members = run.structure.member_coefficients_
    return selection.select(results, members, np.array(wanted, dtype=int), photographs=photographs)


def test_selection_is_bounded_and_holds_the_extremes(digits, monkeypatch):
    model, structure = digits.model, digits.structure
    monkeypatch.setattr(selection, "MOST_PICTURED", 300)
    monkeypatch.setattr(selection, "_MOST_EXTREME", 20)
    chosen = chosen_samples(digits)
    assert len(chosen.pictured) == 300
    np.testing.assert_array_equal(np.sort(chosen.rows), np.arange(len(digits.samples.X)))
    assert set(np.argsort(-structure.outlier_scores_, kind="stable")[:20]) <= set(chosen.pictured)
    for group in range(4):
        inside = np.flatnonzero(model.labels_ == group)
        by_confidence = inside[np.argsort(model.confidence_[inside], kind="stable")]
        assert {by_confidence[0], by_confidence[-1]} <= set(chosen.pictured)


def test_number_of_listed_samples_is_bounded(digits, monkeypatch):
    monkeypatch.setattr(selection, "MOST_PICTURED", 50)
    monkeypatch.setattr(selection, "_MOST_EXTREME", 5)
    monkeypatch.setattr(selection, "_MOST_LISTED", 400)
    chosen = chosen_samples(digits)
    assert len(chosen.rows) == len(set(chosen.rows)) == 400
    assert set(chosen.members[chosen.pictured].indices) <= set(chosen.rows)


def test_wanted_samples_are_pictured_and_photographs_if_listed(digits, monkeypatch):
    monkeypatch.setattr(selection, "MOST_PICTURED", 100)
    monkeypatch.setattr(selection, "_MOST_EXTREME", 10)
    monkeypatch.setattr(selection, "_MOST_LISTED", 200)
    wanted = np.random.default_rng(0).permutation(len(digits.samples.X))[:80]
    chosen = chosen_samples(digits, wanted)
    assert set(wanted[:50]) <= set(chosen.pictured)
    assert len(chosen.pictured) == 100
    np.testing.assert_array_equal(chosen.position[chosen.rows], np.arange(200))
    assert (chosen.position == -1).sum() == len(digits.samples.X) - 200
    photographs = chosen_samples(digits, wanted, photographs=True)
    assert len(photographs.rows) == len(set(photographs.pictured)) == 200
    assert set(wanted) <= set(photographs.pictured)
    monkeypatch.setattr(selection, "_MOST_LISTED", len(digits.samples.X))
    every = chosen_samples(digits, wanted, photographs=True)
    np.testing.assert_array_equal(every.pictured, np.arange(len(digits.samples.X)))
