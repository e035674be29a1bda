"""The simulated person who labels images."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator

from enhg import ElasticNetHypergraph, HypergraphClustering
from enhg.labeling.session import LabelingSession
from experiments import labeling, labeling_page
from experiments.labeling import BULK, CLASSIFIER_SUGGESTED, METHODS, RANDOM, SUGGESTED, WHOLE
from experiments.tabular import read_records, write_records

DIGITS = load_digits(n_class=4)
X, Y = DIGITS.data[:200].astype(np.float32), DIGITS.target[:200]
TRUTH = Y.astype(str)


@pytest.fixture(scope="module")
def model():
    structure = FrozenEstimator(ElasticNetHypergraph(n_jobs=1).fit(X))
    return HypergraphClustering(4, structure=structure, random_state=0).fit(X)


@pytest.fixture
def person(model, tmp_path):
    session = LabelingSession(model, [str(row) for row in range(len(Y))], tmp_path)
    yield labeling.Person(session, TRUTH, 40)
    session.close()


def test_names_give_at_most_their_classes():
    y = np.repeat([0, 1, 2], [50, 40, 10])
    assert [labeling.least_actions(y, level) for level in (0.5, 0.9, 0.91, 1)] == [1, 2, 3, 3]


def test_a_cluster_is_one_action_and_a_mixed_one_none(person):
    zeros, mixed = np.flatnonzero(Y == 0)[:20].tolist(), [*range(20)]
    person.name_clusters([zeros, mixed])
    assert person.actions == 1
    assert set(person.session.answers.labels[zeros]) == {0}


def test_clicks_are_actions(person, monkeypatch):
    row = person.session.snapshot.questions[0]
    same = [other for other in np.flatnonzero(Y[row] == Y) if other != row][:5]
    other = int(np.flatnonzero(Y[row] != Y)[0])
    monkeypatch.setattr(person.session.snapshot, "alike", lambda row: [*same, other])
    monkeypatch.setattr(person, "most", 2)
    person.answer_questions(together=True)
    assert person.actions == 2  # one for the answer, one for the image taken out
    assert person.session.answers.labels[other] == -1
    assert (person.session.answers.labels[[row, *same]] == 0).all()


def test_wrong_predictions_are_corrected_with_a_click_each(person, monkeypatch):
    for label in range(4):
        rows = np.flatnonzero(label == Y)[:5]
        person.name(rows, str(label), "selection")
    wrong = person._predicted() != TRUTH
    monkeypatch.setattr(labeling, "SHEET", len(Y))
    monkeypatch.setattr(labeling, "LEVELS", (2.0,))
    before, hidden = person.actions, person.session.snapshot.hidden
    wrong[hidden] = False
    wrong &= ~person.session.answers.settled
    assert person.correct_predictions()
    assert (person.session.answers.labels >= 0).sum() == 20 + wrong.sum()
    assert person.actions - before == wrong.sum() + len(np.unique(Y[wrong]))


def test_bulk_takes_the_fewest_actions(model):
    curves = {
        method: labeling.simulate(model, Y, method, 0, 60)
        for method in (BULK, WHOLE, SUGGESTED, RANDOM)
    }
    needed = {
        method: next(actions for actions, accuracy in curve if accuracy >= 0.95)
        for method, curve in curves.items()
    }
    assert labeling.least_actions(Y, 0.95) <= needed[BULK] <= needed[SUGGESTED] <= needed[RANDOM]
    for curve in curves.values():
        actions = [count for count, _ in curve]
        assert actions == sorted(set(actions))


def test_the_classifier_has_labels_in_rounds(model):
    curve = labeling.classify(X, Y, model, CLASSIFIER_SUGGESTED, 0, 10)
    assert [count for count, _ in curve] in ([4], [4, 6], [4, 6, 8])
    assert curve[-1][1] > 0.9


@pytest.fixture
def measured(tmp_path, monkeypatch):
    monkeypatch.setattr(labeling, "load", lambda name, folder: (X, Y))
    monkeypatch.setattr(labeling, "METHODS", (BULK, RANDOM))
    return tmp_path / "labeling.csv"


def test_numbers_are_stored_and_not_computed_twice(measured, tmp_path, monkeypatch):
    steps = []
    arguments = (tmp_path, ["digits"], 2, measured, lambda done, total: steps.append(done), 20)
    labeling.measure(*arguments)
    assert steps == [1, 2]
    rows = read_records(measured)
    assert [(row["method"], row["run"]) for row in rows] == [
        (method, run) for run in "01" for method in (BULK, RANDOM)
    ]
    monkeypatch.setattr(labeling, "load", lambda *_: pytest.fail("computed twice"))
    labeling.measure(*arguments)
    assert read_records(measured) == rows


def stored(file, actions):
    """Write numbers of actions by data set and method."""
    facts = {"images": 1000, "classes": 10, "clusters": 9, "last actions": 9, "last accuracy": 1.0}
    facts |= {f"least {level}": 10 for level in ("90%", "95%", "98%")}
    rows = [
        {"data set": name, "method": method, "run": run, **facts}
        | {f"actions {level}": number for level in ("90%", "95%", "98%")}
        for name, numbers in actions.items()
        for method in METHODS
        for run, number in enumerate(numbers.get(method, [""]))
    ]
    write_records(file, labeling.HEADER, rows)


def test_the_page_says_where_the_target_is_missed(tmp_path):
    file = tmp_path / "labeling.csv"
    stored(
        file,
        {
            "digits": {BULK: [10, 12], SUGGESTED: [20, 24], RANDOM: [60, 50]},
            "ORL": {BULK: [""], SUGGESTED: [100]},
        },
    )
    text = labeling_page.page(file)
    assert "{" not in text
    assert "| digits | 1000 | 10 | 9 | 10 | 11 |  | 22 | 55 |" in text
    assert "Against *suggested*, 5 times fewer actions are reached on none" in text
    assert "missed on digits (2.0)" in text
    assert "Against *random*, 5 times fewer actions are reached on digits." in text
    assert "2 runs (1 of ORL)" in text
    assert "| ORL | 1.000 / 9 |" in text
    assert "| digits | 1.000" not in text
    assert "| digits | 1000 |" in labeling_page.summary(file)
    (panel,) = labeling_page.chart(file).panels.values()
    assert panel.rows["digits"] == {
        BULK: [11],
        SUGGESTED: [22],
        RANDOM: [55],
        "no spreading": [950],
    }
    assert set(panel.rows["ORL"]) == {SUGGESTED, "no spreading"}  # 95 % are not reached in bulk


def test_data_sets_are_divided_by_their_largest_entry(tmp_path):
    data, y = labeling.load("digits", tmp_path)
    assert np.abs(data).max() == 1
    assert set(y) == set(range(10))
