"""What a person does to labels: actions, their effects, and undoing them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from enhg._label_arrays import means_unlabeled
from enhg.exceptions import InputError

Kind: TypeAlias = Literal["name", "accept", "mark", "clear", "rename", "undo", "redo"]
Origin: TypeAlias = Literal[
    "given", "cluster", "selection", "question", "predictions", "contradiction"
]
Mark: TypeAlias = Literal["none of these", "unsure", "two things"]

KINDS: tuple[Kind, ...] = get_args(Kind)
ORIGINS: tuple[Origin, ...] = get_args(Origin)
MARKS: tuple[Mark, ...] = get_args(Mark)
MAX_CLASSES = 1000
_MAX_NAME = 100  # characters
_JOINERS = "\u200c\u200d"  # within words of some scripts, and within emoji
_BLANK = f" {_JOINERS}\u115f\u1160\u3164\uffa0"  # and letters without a shape


@dataclass(frozen=True)
class Action:
    """One action, which may concern many images.

    Attributes
    ----------
    key : str
        Identifies the action: the same key twice is one action.
    kind : str
        "name" gives the rows the class `label`, "accept" those of `predicted`, "mark" the mark
        `label`; "clear" takes class and mark away;
        "rename" gives the class `previous` the name `label`, and joins two classes where that is
        the name of another one; "undo" takes the last action back that still has its effect,
        "redo" makes the last "undo" ineffective. Both have in `previous` the key of the action
        that is meant, if it is known.
    rows : tuple of int
        The images concerned, by their row.
    label : str
    previous : str
    origin : str
        Where the rows were chosen: labels "given" in a file, a "cluster", a "selection", a
        "question", "predictions" that were accepted, or a "contradiction".
    predicted : tuple of str
        For every row of a question to random images, the class that was predicted, which was not
        shown; "" for none. For every row of "accept" the class that was shown. Empty otherwise.
    time : str
    """

    key: str
    kind: Kind
    rows: tuple[int, ...] = ()
    label: str = ""
    previous: str = ""
    origin: Origin = "selection"
    predicted: tuple[str, ...] = ()
    time: str = ""

    @classmethod
    def from_json(cls, value: Any, n_rows: int) -> Self:
        """Make an action of what a page sent or a log has; raise InputError if it is not one."""
        if not isinstance(value, Mapping):
            raise InputError("an action must be a JSON object")
        unknown = set(value) - set(cls.__dataclass_fields__)
        if unknown:
            raise InputError(f"an action has no {sorted(map(str, unknown))[0]}")
        rows, predicted = value.get("rows", ()), value.get("predicted", ())
        texts = {name: value.get(name, default) for name, default in _TEXTS.items()}
        for name, text in texts.items():
            if not _is_text(text):
                raise InputError(
                    f"{name} of an action must be text of at most {_MAX_NAME} characters"
                )
        if texts["kind"] not in KINDS:
            raise InputError(f"kind of an action must be one of {KINDS}, got {texts['kind']!r}")
        if texts["origin"] not in ORIGINS:
            raise InputError(f"origin of an action must be one of {ORIGINS}")
        if not texts["key"]:
            raise InputError("key of an action must not be empty")
        if not _are_rows(rows, n_rows):
            raise InputError(f"rows of an action must be different whole numbers below {n_rows}")
        if not isinstance(predicted, list | tuple) or not all(map(_is_text, predicted)):
            raise InputError("predicted of an action must be a list of names")
        action = cls(rows=tuple(rows), predicted=tuple(predicted), **texts)
        action._check()
        return action

    def _check(self) -> None:
        if self.kind in ("name", "accept", "mark", "clear") and not self.rows:
            raise InputError("choose at least one image first")
        if self.kind in ("name", "rename") and self.label != normalize_class(self.label):
            raise InputError(f"{self.label!r} cannot be the name of a class")
        if self.kind == "mark" and self.label not in MARKS:
            raise InputError(f"a mark must be one of {MARKS}, got {self.label!r}")
        if (self.predicted or self.kind == "accept") and len(self.predicted) != len(self.rows):
            raise InputError("predicted of an action must have a name for every row")

    def to_json(self) -> dict[str, Any]:
        """What `from_json` makes the action of: the fields that are not empty."""
        fields = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {name: value for name, value in fields.items() if value not in ("", ())}


_TEXTS = {
    "key": "", "kind": "", "label": "", "previous": "", "origin": "selection", "time": "",
}  # fmt: skip


def _is_text(value: Any) -> bool:
    """Whether a value is a short text that can be written to a file."""
    if not isinstance(value, str) or len(value) > _MAX_NAME:
        return False
    return not any("\ud800" <= mark <= "\udfff" for mark in value)


def _are_rows(rows: Any, n_rows: int) -> bool:
    if not isinstance(rows, list | tuple):
        return False
    whole = all(type(row) is int and 0 <= row < n_rows for row in rows)
    return whole and len(set(rows)) == len(rows)


def normalize_class(text: str) -> str:
    """The name of a class that a person typed: composed, without spaces around it.

    Raises
    ------
    InputError
        Where it is empty, too long, has characters that cannot be printed, or means unlabeled in
        files of labels.
    """
    composed = unicodedata.normalize("NFC", text)
    name = "".join(" " if unicodedata.category(mark) == "Zs" else mark for mark in composed).strip()
    if not name.strip(_BLANK) or len(name) > _MAX_NAME:
        raise InputError(f"a class must have a name of 1 to {_MAX_NAME} characters")
    if not "".join(mark for mark in name if mark not in _JOINERS).isprintable():
        raise InputError("the name of a class must have no control characters")
    if means_unlabeled(name):
        raise InputError(f"{name!r} means unlabeled in files of labels; choose another name")
    return name


def timestamp() -> str:
    """The time, as text."""
    return datetime.now(UTC).isoformat(timespec="seconds")


@dataclass(frozen=True, eq=False)
class _Effect:
    """An action and what it replaced."""

    action: Action
    rows: NDArray
    labels: NDArray
    marks: NDArray
    confirmed: NDArray
    accepted: NDArray
    classes: tuple[str, ...]


class Answers:
    """What actions have made of the labels of images.

    Parameters
    ----------
    n_rows : int
    classes : sequence of str, optional
        Names that are classes from the start.

    Attributes
    ----------
    classes : list of str
    labels : ndarray of int of shape (n_rows,)
        The class of every image that a person decided on; −1 for none.
    marks : ndarray of int of shape (n_rows,)
        The place of its mark among `MARKS`; −1 for none.
    confirmed : ndarray of bool of shape (n_rows,)
        Whether its label was kept or changed where its neighbors contradict it.
    accepted : ndarray of bool of shape (n_rows,)
        Whether its label is a prediction that was accepted.
    """

    def __init__(self, n_rows: int, classes: Iterable[str] = ()) -> None:
        self.classes = list(dict.fromkeys(map(normalize_class, classes)))
        self.labels = np.full(n_rows, -1, np.int16)
        self.marks = np.full(n_rows, -1, np.int8)
        self.confirmed = np.zeros(n_rows, bool)
        self.accepted = np.zeros(n_rows, bool)
        self._effects: list[_Effect] = []
        self._undone: list[Action] = []
        self._keys: set[str] = set()

    @property
    def done(self) -> list[Action]:
        """The actions that have an effect, in their order."""
        return [effect.action for effect in self._effects]

    @property
    def undone(self) -> list[Action]:
        """The actions that "redo" would make again, the next one last."""
        return list(self._undone)

    @property
    def settled(self) -> NDArray[np.bool_]:
        """The images that a person decided on: with a label or a mark."""
        return (self.labels >= 0) | (self.marks >= 0)

    def has(self, key: str) -> bool:
        """Whether an action of this key was applied."""
        return key in self._keys

    def check(self, action: Action) -> None:
        """Raise InputError if the action cannot be applied."""
        if action.kind == "undo" and not self._effects:
            raise InputError("there is nothing to undo")
        if action.kind == "redo" and not self._undone:
            raise InputError("there is nothing to redo")
        if action.kind in ("undo", "redo") and action.previous:
            last = self._undone[-1] if action.kind == "redo" else self._effects[-1].action
            if action.previous != last.key:
                raise InputError("something else was done in another window; look again")
        if action.kind == "rename" and action.previous not in self.classes:
            raise InputError(f"there is no class {action.previous!r}")
        if action.kind == "accept" and not set(action.predicted) <= set(self.classes):
            raise InputError("only names of classes can be accepted")
        if action.kind == "accept" and self.settled[list(action.rows)].any():
            raise InputError("a person has decided on some of these images by now; look again")
        new = action.kind == "name" and action.label not in self.classes
        if new and len(self.classes) >= MAX_CLASSES:
            raise InputError(f"there are {MAX_CLASSES} classes already")

    def apply(self, action: Action) -> None:
        """Apply an action, once."""
        if self.has(action.key):
            return
        self.check(action)
        self._keys.add(action.key)
        if action.kind == "undo":
            self._revert()
        elif action.kind == "redo":
            self._perform(self._undone.pop())
        else:
            self._undone.clear()
            self._perform(action)

    def _perform(self, action: Action) -> None:
        rows = np.array(action.rows, np.int64)
        if action.kind == "rename":
            rows = np.flatnonzero(self.labels >= 0)
        self._effects.append(
            _Effect(
                action,
                rows,
                self.labels[rows],
                self.marks[rows],
                self.confirmed[rows],
                self.accepted[rows],
                tuple(self.classes),
            )
        )
        if action.kind == "rename":
            self._rename(action.previous, action.label)
            return
        self.labels[rows], self.marks[rows] = -1, -1
        self.confirmed[rows] = action.origin == "contradiction"
        self.accepted[rows] = action.kind == "accept"
        if action.kind == "mark":
            self.marks[rows] = MARKS.index(action.label)
        if action.kind == "name":
            if action.label not in self.classes:
                self.classes.append(action.label)
            self.labels[rows] = self.classes.index(action.label)
        if action.kind == "accept":
            codes = {name: code for code, name in enumerate(self.classes)}
            self.labels[rows] = [codes[name] for name in action.predicted]

    def _rename(self, previous: str, name: str) -> None:
        at = self.classes.index(previous)
        if name not in self.classes:
            self.classes[at] = name
        elif name != previous:
            self.labels[self.labels == at] = self.classes.index(name)
            self.labels[self.labels > at] -= 1
            del self.classes[at]

    def _revert(self) -> None:
        effect = self._effects.pop()
        self.labels[effect.rows], self.marks[effect.rows] = effect.labels, effect.marks
        self.confirmed[effect.rows] = effect.confirmed
        self.accepted[effect.rows] = effect.accepted
        self.classes = list(effect.classes)
        self._undone.append(effect.action)
