"""A labeling session: what follows from the actions of a person."""

from __future__ import annotations

import json
from threading import Event, Thread

import numpy as np
import pytest
from digit_labels import TRUTH, N, act, name_clusters

from enhg import HypergraphClassifier
from enhg.exceptions import InputError
from enhg.labeling.actions import Action
from enhg.labeling.content import session_state
from enhg.labeling.predictions import Spreading, find_contradictions, strongest_links
from enhg.labeling.session import LOG, LabelingSession, start_log

NOBODY = np.array([], np.int64)


def test_labels_spread(session):
    assert (session.snapshot.predictions.codes == -1).all()
    for row in session.snapshot.questions:
        act(session, "name", [row], TRUTH[row], origin="question")
    for row in session.snapshot.questions:
        act(session, "name", [row], TRUTH[row], origin="question")
    labels, decided, confidence = session.snapshot.final_labels()
    assert (labels == TRUTH).mean() > 0.85
    assert (decided == "person").sum() == 48
    assert (confidence[decided == "person"] == 1).all()
    assert (confidence[decided == "model"] < 1).all()


def test_predictions_are_those_of_the_classifier(session, clustering):
    """Which spreads labels by the same diffusion, more exactly, without a second copy of code."""
    rng = np.random.default_rng(0)
    given = np.where(rng.random(N) < 0.1, TRUTH, "")
    names = sorted(set(given) - {""})
    codes = np.array([names.index(label) if label else -1 for label in given], np.int16)
    predictions = Spreading(clustering.graph_).predict(codes, len(names), NOBODY)
    classifier = HypergraphClassifier(structure=clustering.graph_, method="diffusion")
    classifier.fit(np.zeros((N, 1)), given)
    expected = classifier.label_distributions_
    open_rows = given == ""
    agree = predictions.codes[open_rows] == expected.argmax(axis=1)[open_rows]
    assert agree.mean() > 0.99
    np.testing.assert_allclose(predictions.confidence, expected.max(axis=1), atol=0.1)


def test_only_changed_classes_are_diffused(clustering, monkeypatch):
    from enhg.labeling import predictions

    widths, original = [], predictions.diffuse

    def counting(theta, Y, *args, **options):
        widths.append(Y.shape[1])
        return original(theta, Y, *args, **options)

    monkeypatch.setattr(predictions, "diffuse", counting)
    spreading, labels = Spreading(clustering.graph_), np.full(N, -1, np.int16)
    labels[:50] = np.arange(50) % 5
    spreading.predict(labels, 5, NOBODY)
    labels[60] = 2
    changed = spreading.predict(labels, 5, NOBODY)
    labels[70], before = 2, changed.confidence
    labels[70] = -1
    again = spreading.predict(labels, 5, NOBODY)
    assert widths == [5, 1]
    np.testing.assert_array_equal(again.confidence, before)


def test_clusters_without_a_name_are_not_predicted(session):
    """Nor is a cluster named after others as long as nobody has looked at it."""
    clusters = session.model.labels_
    act(session, "name", session.cores[0], "a")
    act(session, "name", session.cores[1], "b")
    predicted = session.snapshot.predictions.codes
    expected = np.where(clusters < 2, clusters, -1)
    assert (predicted == expected).mean() > 0.9
    assert (session.snapshot.predictions.confidence[predicted == -1] == 0).all()
    for code in range(2, 10):
        act(session, "mark", session.cores[code][:1], "none of these")
    assert (session.snapshot.predictions.codes >= 0).all()


def test_one_class_decides_nothing(clustering):
    labels = np.full(N, -1, np.int16)
    labels[:2] = 0
    assert (Spreading(clustering.graph_).predict(labels, 1, NOBODY).codes == -1).all()


def test_the_log_is_the_session(open_session, tmp_path):
    session = open_session()
    name_clusters(session)
    act(session, "undo")
    act(session, "mark", [3], "two things")
    act(session, "undo")
    act(session, "redo")
    state = (session.answers.labels.tolist(), session.answers.marks.tolist(), session.history)
    session.close()
    again = open_session()
    assert (again.answers.labels.tolist(), again.answers.marks.tolist(), again.history) == state
    act(again, "undo")
    assert again.answers.marks[3] == -1


def test_an_action_that_is_not_written_has_no_effect(session, monkeypatch):
    def full(line):
        raise InputError("no space left")

    monkeypatch.setattr(session._log, "append", full)
    with pytest.raises(InputError):
        act(session, "name", [0], "a")
    assert not session.answers.settled.any()
    assert session.version == 0


def test_given_labels_and_classes_are_the_start_of_the_log(open_session):
    """Whatever the next call says, and with names as a person would type them."""
    given = np.where(np.arange(N) < 20, TRUTH, "").astype(object)
    given[20], given[21] = "cafe\u0301", "x" * 97
    session = open_session(given=given.tolist(), classes=["9", "zebra"])
    assert session.answers.classes[:2] == ["9", "zebra"]
    assert list(np.flatnonzero(session.answers.settled)) == list(range(22))
    act(session, "rename", label="horse", previous="zebra")
    session.close()
    again = open_session()
    assert again.answers.classes == session.answers.classes
    assert "caf\u00e9" in again.answers.classes
    np.testing.assert_array_equal(again.answers.labels, session.answers.labels)
    act(again, "undo")
    assert again.answers.classes[:2] == ["9", "zebra"]


@pytest.mark.parametrize("label", ["x" * 101, "a\tb", "\u200b"])
def test_given_labels_that_cannot_be_classes_are_refused_first(open_session, tmp_path, label):
    with pytest.raises(InputError, match="class"):
        open_session(given=[label] + [""] * (N - 1))
    assert not list(tmp_path.iterdir())


def test_none_of_these_is_a_wrong_prediction(session):
    name_clusters(session)
    for cluster in range(5):
        act(session, "clear", np.flatnonzero(session.model.labels_ == cluster)[3:])
    row = session.snapshot.random_questions[0]
    act(session, "mark", [row], "unsure", origin="question")
    assert session.history[-1].checked == 0
    row = session.snapshot.random_questions[0]
    act(session, "mark", [row], "none of these", origin="question")
    assert (session.history[-1].checked, session.history[-1].right) == (1, 0)


def test_the_estimate_counts_random_questions_only(session):
    """Those that were predicted and not shown: the accuracy of these is that of all images."""
    assert session.history[-1].checked == 0
    name_clusters(session)
    for cluster in range(8):  # of ten, so that most of the 24 that are hidden are open again
        act(session, "clear", np.flatnonzero(session.model.labels_ == cluster)[3:])
    snapshot = session.snapshot
    informative = next(row for row in snapshot.questions if row not in snapshot.hidden)
    act(session, "name", [informative], TRUTH[informative], origin="question")
    assert session.history[-1].checked == 0
    hidden = session.snapshot.hidden
    assert 10 <= len(hidden) <= 24
    for row in hidden:
        assert row in session.snapshot.random_questions
        expected = session.answers.classes[session.snapshot.predictions.codes[row]] == TRUTH[row]
        right = session.history[-1].right
        act(session, "name", [row], TRUTH[row], origin="question")
        assert session.history[-1].right == right + expected
    assert session.history[-1].checked == len(hidden)
    assert session.history[-1].right > len(hidden) / 2
    assert (
        session.snapshot.hidden == []
    )  # the others have been shown: none of them takes their place
    other = session.snapshot.questions[0]
    act(session, "name", [other], TRUTH[other], origin="question")
    assert session.history[-1].checked == len(hidden)


def test_predictions_cannot_be_sent(session):
    with pytest.raises(InputError, match="belong to questions"):
        session.act(Action("k", "name", (0,), "a", predicted=("a",)))


def test_questions_end(session):
    act(session, "name", range(N - 3), "a")
    assert sorted(session.snapshot.questions) == [N - 3, N - 2, N - 1]
    act(session, "mark", range(N - 3, N), "unsure")
    assert session.snapshot.questions == []


def test_contradicted_labels_are_asked_for_again_once(session):
    name_clusters(session)
    answers = session.answers
    right = np.array(answers.classes)[answers.labels] == TRUTH
    core = np.argsort(np.where(right, -session.model.confidence_, 1))[:20]
    wrong = core[:3]
    for row in wrong:
        other = next(name for name in answers.classes if name != TRUTH[row])
        act(session, "name", [row, core[10]], other)
        act(session, "name", [core[10]], TRUTH[core[10]])
    asked = dict(session.snapshot.contradictions)
    assert set(wrong.tolist()) <= set(asked)
    assert [answers.classes[asked[row]] for row in wrong] == TRUTH[wrong].tolist()
    kept = answers.classes[answers.labels[wrong[0]]]
    act(session, "name", [wrong[0]], kept, origin="contradiction")
    assert wrong[0] not in dict(session.snapshot.contradictions)
    assert answers.classes[answers.labels[wrong[0]]] == kept


def test_contradictions_are_links_to_another_class(clustering):
    """Against the clique expansion, without the diagonal, computed densely."""
    graph, rng = clustering.graph_, np.random.default_rng(0)
    labels = np.where(rng.random(N) < 0.7, rng.integers(3, size=N), -1)
    links = graph.clique_expansion().toarray()
    Y = (labels[:, None] == np.arange(3)).astype(float)
    sums = links @ Y
    expected = [
        row
        for row in np.flatnonzero(labels >= 0)
        if sums[row].sum() > 0
        and sums[row].argmax() != labels[row]
        and sums[row].max() > 0.5 * sums[row].sum()
    ]
    rows, classes = find_contradictions(graph.clique_expansion(), labels, 3)
    assert sorted(rows) == expected
    assert all(sums[row].argmax() == code for row, code in zip(rows, classes, strict=True))
    strongest = strongest_links(graph.clique_expansion(), rows[0], labels == classes[0], 4)
    linked = links[rows[0]] * (labels == classes[0])
    assert 0 < len(strongest) == min(4, (linked > 0).sum())
    np.testing.assert_array_equal(linked[strongest], np.sort(linked)[::-1][: len(strongest)])


def test_an_action_does_not_wait_for_questions_that_are_computed(session, monkeypatch):
    """Those of the labels before it: they are computed in another thread, for as long as needed."""
    session.prepare()
    act(session, "name", [0], TRUTH[0])
    under_way, goes_on = Event(), Event()

    def slow(*_):
        under_way.set()
        assert goes_on.wait(30)
        return np.array([1])

    monkeypatch.setattr("enhg.labeling.snapshot.select_queries", slow)
    before = session.snapshot
    thread = Thread(target=lambda: before.questions, daemon=True)
    thread.start()
    assert under_way.wait(30)
    row = before.hidden[0]
    act(session, "name", [row], TRUTH[row], origin="question")  # waits for ever if it needs these
    assert session_state(session)["version"] == 2
    session.snapshot.final_labels()
    goes_on.set()
    thread.join(30)
    assert before.questions[0] == 1


def test_wrong_labels_of_single_images_are_contradicted(session):
    name_clusters(session)
    row = int(np.argmax(session.model.confidence_))
    other = next(name for name in session.answers.classes if name != TRUTH[row])
    for origin in ("question", "selection"):
        act(session, "name", [row], other, origin=origin)
        assert row in dict(session.snapshot.contradictions)
    act(session, "name", [row], other, origin="contradiction")
    assert row not in dict(session.snapshot.contradictions)  # what the person says stands


def test_threads_do_not_wait_for_each_other(session):
    """One applies actions and reads what follows, another writes labels meanwhile."""
    ended = Event()

    def write():
        while not ended.is_set():
            session.snapshot.final_labels()

    def label():
        for row in range(60):
            act(session, "name", [row], TRUTH[row])
            assert session.snapshot.predictions.codes.shape == (N,)
            assert row not in session.snapshot.questions

    threads = [Thread(target=write, daemon=True), Thread(target=label, daemon=True)]
    for thread in threads:
        thread.start()
    threads[1].join(60)
    ended.set()
    assert not threads[1].is_alive()


@pytest.mark.parametrize("rows", [[N], [-1], [0, 0], ["0"], 0, None])
def test_a_log_of_other_rows_is_damaged(clustering, tmp_path, rows):
    names = [str(row) for row in range(N)]
    start_log(tmp_path, names, given=["a", *[""] * (N - 1)])
    log = tmp_path / LOG
    log.write_text(log.read_text().replace('[["a",[0]]]', json.dumps([["a", rows]])))
    with pytest.raises(InputError, match="is damaged"):
        LabelingSession(clustering, names, tmp_path)
