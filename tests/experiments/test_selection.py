"""The grid of settings, and their scores with a kind of data left out."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from enhg import ElasticNetHypergraph, HyperedgeRule, HypergraphClassifier, HypergraphClustering
from experiments import selection
from experiments.protocol import clustering_scores
from experiments.selection import DEFAULT, GRID, Setting, Trial, leave_one_kind_out

X, Y = load_digits(n_class=4, return_X_y=True)
X, Y = X[:160].astype(np.float32), Y[:160]


def test_the_defaults_are_those_of_the_package():
    setting = Setting()
    structure = ElasticNetHypergraph()
    assert str(setting) == DEFAULT
    assert setting.preprocessing == structure.preprocessing
    assert setting.method == HypergraphClustering().method == HypergraphClassifier().method
    Z = structure.fit(X).representation_.coefficients
    default, own = HyperedgeRule().build(Z), HyperedgeRule("top", setting.threshold).build(Z)
    assert (default.incidence != own.incidence).nnz == 0


def test_settings_are_named_by_what_differs_from_the_defaults():
    assert str(Setting("whiten", 5)) == 'preprocessing="whiten", threshold=5'
    assert str(Setting(method="spectral")) == 'method="spectral"'
    for settings in GRID.values():
        names = [str(setting) for setting in settings]
        assert DEFAULT in names
        assert len(set(names)) == len(names)


@pytest.fixture(scope="module")
def rows():
    labeled = np.arange(len(Y)) % 10 == 0
    return list(selection.setting_rows(Trial(X, Y, labeled, 0)))


def test_every_setting_is_scored_once(rows):
    for task, settings in GRID.items():
        names = [row["method"] for row in rows if row["task"] == task]
        assert sorted(names) == sorted(str(setting) for setting in settings)


def test_the_default_setting_is_the_default_clustering(rows):
    (row,) = (r for r in rows if r["method"] == DEFAULT and r["task"] == "clustering")
    labels = HypergraphClustering(4, random_state=0).fit_predict(X)
    assert (row["ac"], row["nmi"]) == pytest.approx(clustering_scores(Y, labels), abs=1e-12)


def test_preprocessing_is_scored_beside_its_modularity():
    rows = list(selection.preprocessing_rows(Trial(X, Y, np.zeros(len(Y), bool), 0)))
    assert [row["method"] for row in rows] == ["zero_mean", "smooth"]  # errors are not sparse
    assert all(0 < row["modularity"] < 1 and 0 < row["ac"] <= 1 for row in rows)


def test_the_choice_does_not_use_the_kind_left_out():
    settings = {
        DEFAULT: {"digits": 0.5, "faces": 0.6, "objects": 0.7},
        "a": {"digits": 1.0, "faces": 0.5, "objects": 0.6},
        "b": {"digits": 0.4, "faces": 0.9, "objects": 0.6},
    }
    others = {"c": {"digits": 0.3, "faces": 0.8}, "d": {"digits": 0.2, "faces": 0.1, "objects": 1}}
    digits, faces, objects = leave_one_kind_out(settings, others)
    # Means without digits: 0.65, 0.55, 0.75; without faces: 0.6, 0.8, 0.5; without objects: 0.55,
    # 0.75, 0.65.
    assert (digits.kind, digits.chosen, digits.score) == ("digits", "b", 0.4)
    assert (digits.default, digits.best, digits.best_score) == (0.5, "a", 1.0)
    assert (digits.alternative, digits.alternative_score) == ("c", 0.3)
    assert (faces.chosen, faces.score, faces.best, faces.alternative) == ("a", 0.5, "b", "c")
    assert (objects.chosen, objects.best, objects.alternative) == ("a", DEFAULT, "d")
