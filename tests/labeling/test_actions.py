"""Actions on labels, and undoing them."""

from __future__ import annotations

import numpy as np
import pytest

from enhg.exceptions import InputError
from enhg.io import read_labels, write_table
from enhg.labeling.actions import KINDS, MARKS, Action, Answers, normalize_class


def answers_after(*actions, n=10, classes=()):
    answers = Answers(n, classes)
    for number, fields in enumerate(actions):
        answers.apply(Action.from_json({"key": str(number), **fields}, n))
    return answers


def name(label, *rows, **others):
    return {"kind": "name", "rows": list(rows), "label": label, **others}


def test_the_last_answer_counts():
    answers = answers_after(
        name("cat", 0, 1, 2), name("dog", 2, 3), {"kind": "mark", "rows": [0], "label": "unsure"},
        {"kind": "clear", "rows": [3]},
    )  # fmt: skip
    assert answers.classes == ["cat", "dog"]
    assert list(answers.labels[:5]) == [-1, 0, 1, -1, -1]
    assert answers.marks[0] == MARKS.index("unsure")
    assert list(np.flatnonzero(answers.settled)) == [0, 1, 2]


def test_rename_and_join():
    answers = answers_after(
        name("ct", 0), name("dog", 1), name("cat", 2),
        {"kind": "rename", "previous": "dog", "label": "hound"},
        {"kind": "rename", "previous": "ct", "label": "cat"},
    )  # fmt: skip
    assert answers.classes == ["hound", "cat"]
    assert [answers.classes[code] for code in answers.labels[:3]] == ["cat", "hound", "cat"]


def random_actions(rng, n, count):
    names = ["a", "b", "c", "d"]
    for number in range(count):
        kind = rng.choice(KINDS, p=[0.3, 0.1, 0.1, 0.1, 0.1, 0.2, 0.1])
        fields = {"key": str(number), "kind": str(kind)}
        if kind in ("name", "accept", "mark", "clear"):
            fields["rows"] = rng.permutation(n)[: rng.integers(1, n)].tolist()
        if kind in ("name", "rename"):
            fields["label"] = str(rng.choice(names))
        if kind == "accept":
            fields["predicted"] = rng.choice(names, len(fields["rows"])).tolist()
        if kind == "mark":
            fields["label"] = str(rng.choice(MARKS))
        if kind == "rename":
            fields["previous"] = str(rng.choice(names))
        yield Action.from_json(fields, n)


def content(answers):
    named = [answers.classes[code] if code >= 0 else "" for code in answers.labels]
    return named, answers.marks.tolist(), answers.confirmed.tolist(), list(answers.classes)


@pytest.mark.parametrize("seed", range(20))
def test_undo_and_redo_are_inverse(seed):
    """Against an oracle that applies the actions that are in effect from the start."""
    rng, n = np.random.default_rng(seed), 8
    answers, expected, undone = Answers(n), [], []
    for action in random_actions(rng, n, 60):
        try:
            answers.apply(action)
        except InputError:
            continue
        if action.kind == "undo":
            undone.append(expected.pop())
        elif action.kind == "redo":
            expected.append(undone.pop())
        else:
            expected.append(action)
            undone.clear()
        again = Answers(n)
        for earlier in expected:
            again.apply(earlier)
        assert content(answers) == content(again)
        assert answers.done == expected


def test_the_same_key_is_one_action():
    answers = answers_after(name("cat", 0))
    answers.apply(Action("0", "undo"))
    assert answers.classes == ["cat"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ([], "JSON object"),
        ({"kind": "name"}, "at least one image"),
        ({"kind": "name", "rows": [0], "label": " "}, "1 to 100"),
        ({"kind": "name", "rows": [0], "label": "a\x1b[31m"}, "control"),
        ({"kind": "name", "rows": [0], "label": "x" * 101}, "at most 100"),
        ({"kind": "name", "rows": [10], "label": "a"}, "below 10"),
        ({"kind": "name", "rows": [-1], "label": "a"}, "below 10"),
        ({"kind": "name", "rows": [1, 1], "label": "a"}, "different"),
        ({"kind": "name", "rows": [True], "label": "a"}, "whole numbers"),
        ({"kind": "name", "rows": "1", "label": "a"}, "whole numbers"),
        ({"kind": "name", "rows": [1], "label": 3}, "text"),
        ({"kind": "mark", "rows": [1], "label": "odd"}, "mark"),
        ({"kind": "erase", "rows": [1]}, "kind"),
        ({"kind": "accept", "rows": [1]}, "a name for every row"),
        ({"kind": "clear", "rows": [1], "origin": "heaven"}, "origin"),
        ({"kind": "clear", "rows": [1], "extra": 1}, "extra"),
        ({"kind": "undo", "key": ""}, "key"),
        ({"kind": "undo", "key": "\ud800"}, "key"),
        ({"kind": "undo", "previous": "x" * 101}, "previous"),
    ],
)
def test_wrong_actions_are_refused(fields, message):
    fields = {"key": "k", **fields} if isinstance(fields, dict) else fields
    with pytest.raises(InputError, match=message):
        Action.from_json(fields, 10)


def test_predictions_are_accepted_in_one_action():
    answers = answers_after(
        name("cat", 0), name("dog", 1),
        {"kind": "accept", "rows": [4, 5, 6], "predicted": ["dog", "cat", "dog"]},
    )  # fmt: skip
    assert list(answers.labels[4:7]) == [1, 0, 1]
    answers.apply(Action("k", "undo"))
    assert list(answers.labels[4:7]) == [-1, -1, -1]
    with pytest.raises(InputError, match="names of classes"):
        answers.apply(Action("l", "accept", (4,), predicted=("bird",)))


@pytest.mark.parametrize("kind", ["undo", "redo"])
def test_nothing_to_undo(kind):
    with pytest.raises(InputError, match=f"nothing to {kind}"):
        Answers(3).apply(Action("k", kind))


def test_an_action_survives_json():
    action = Action("k", "name", (3, 4), "cat", origin="question", predicted=("dog", ""))
    assert Action.from_json(action.to_json(), 10) == action


def test_a_label_of_the_person_is_not_replaced_by_a_prediction_of_before():
    answers = answers_after(name("a", 0), name("b", 1))
    with pytest.raises(InputError, match="decided on some of these images"):
        answers.apply(Action("k", "accept", (1, 2), predicted=("a", "a")))
    answers.apply(Action("k", "accept", (2, 3), predicted=("a", "b")))
    assert list(np.flatnonzero(answers.accepted)) == [2, 3]
    answers.apply(Action("l", "name", (3,), "b"))
    assert list(np.flatnonzero(answers.accepted)) == [2]
    answers.apply(Action("m", "undo"))
    answers.apply(Action("n", "undo"))
    assert not answers.accepted.any()


def test_undo_is_of_the_action_that_was_shown():
    answers = answers_after(name("a", 0), name("b", 1))
    with pytest.raises(InputError, match="another window"):
        answers.apply(Action("u", "undo", previous="0"))
    answers.apply(Action("v", "undo", previous="1"))
    with pytest.raises(InputError, match="another window"):
        answers.apply(Action("w", "redo", previous="0"))
    answers.apply(Action("x", "redo", previous="1"))
    assert answers.classes == ["a", "b"]


@pytest.mark.parametrize(
    "name", ["nan", "NaN", "-1", "?", " ", "\u3164", "\u200d", "a\x07", "a\u200bb"]
)
def test_names_that_no_class_has(name):
    with pytest.raises(InputError):
        normalize_class(name)


@pytest.mark.parametrize(
    "name", ["می\u200cخواهم", "👩\u200d🚀", "=1+1", "'=q", "007", "None", "#N/A", "../.."]
)
def test_names_of_classes_come_back_from_files(name, tmp_path):
    """All that is accepted is read again as it was, by what reads labels."""
    assert normalize_class(name) == name
    names = ["a.png", "b.png", "c.png"]
    write_table(tmp_path / "labels.csv", {"name": names, "label": [name, "other", ""]})
    assert read_labels(tmp_path / "labels.csv", names).tolist() == [name, "other", ""]


def test_spaces_in_names_are_plain_ones():
    assert normalize_class(" a\u00a0b\u2003") == "a b"
