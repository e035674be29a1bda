"""Parameters and constants varied one at a time."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits

from enhg import ElasticNetHypergraph, HypergraphClassifier
from enhg.learning import discriminants, propagation, refinement
from experiments.selection import DEFAULT, Trial
from experiments.variations import VARIATIONS, Variation, as_text, variation_rows

X, Y = load_digits(n_class=4, return_X_y=True)
X, Y = X[:160].astype(np.float32), Y[:160]
LABELED = np.arange(len(Y)) % 10 == 0


@pytest.mark.parametrize("variation", VARIATIONS, ids=str)
def test_a_variation_differs_from_the_default_and_is_undone(variation):
    before = variation.default
    assert as_text(variation.value) != as_text(before)
    with variation.applied():
        assert (variation.default == variation.value) == ("." in variation.name)
    assert variation.default is before


def test_a_constant_is_changed_wherever_it_is_imported():
    modules = discriminants, propagation, refinement
    with Variation("learning.discriminants.SHORT_ALPHA", 0.5, ()).applied():
        assert [module.SHORT_ALPHA for module in modules] == [0.5] * 3
    assert [module.SHORT_ALPHA for module in modules] == [0.9] * 3


def test_an_unknown_constant_is_refused():
    with pytest.raises(AttributeError), Variation("modularity._UNKNOWN", 1, ()).applied():
        pass


@pytest.fixture(scope="module")
def rows():
    return list(variation_rows(Trial(X, Y, LABELED, 0)))


def test_every_variation_is_scored_for_its_tasks(rows):
    expected = {(DEFAULT, task) for task in ("clustering", "classification", "count")}
    expected |= {(str(v), task) for v in VARIATIONS for task in v.tasks}
    places = [(row["method"], row["task"]) for row in rows]
    assert len(places) == len(set(places))
    assert set(places) == expected


def test_a_varied_parameter_has_the_scores_of_that_parameter(rows):
    graph = ElasticNetHypergraph(gamma=20).fit(X).graph_
    model = HypergraphClassifier(structure=graph).fit(X, np.where(LABELED, Y, -1))
    accuracy = (model.transduction_ == Y)[~LABELED].mean()
    place = "gamma=20", "classification"
    (row,) = (row for row in rows if (row["method"], row["task"]) == place)
    assert row["accuracy"] == pytest.approx(accuracy, abs=1e-12)


def test_a_constant_of_a_preprocessing_that_is_not_chosen_changes_nothing():
    default = ElasticNetHypergraph(preprocessing="smooth").fit(X)
    whitening, smoothing = (
        next(v for v in VARIATIONS if v.name.startswith(f"preprocessing.{name}"))
        for name in ("whitening", "smoothing")
    )
    with whitening.applied():
        assert whitening.hypergraph(X, default) is default.graph_
    with smoothing.applied():
        other = smoothing.hypergraph(X, default)
    assert (other.incidence != default.graph_.incidence).nnz > 0


def test_constants_are_those_of_modules_of_the_package():
    names = {v.name.rpartition(".")[0] for v in VARIATIONS} - {""}
    assert all(f"enhg.{name}" in sys.modules for name in names)
