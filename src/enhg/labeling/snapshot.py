"""The labels of a session at one moment, and what follows from them."""

from __future__ import annotations

from collections import defaultdict
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from enhg.duplicates import conflicting
from enhg.labeling.actions import Answers
from enhg.labeling.predictions import Predictions, find_contradictions, strongest_links
from enhg.learning.queries import select_queries

if TYPE_CHECKING:
    from enhg.labeling.session import LabelingSession

_QUESTIONS = 24
_RANDOM_EVERY = 4  # of the questions one is of a random image, for the estimate of the accuracy
_LINKED = 6  # images of a class beside a contradiction
_T = TypeVar("_T")


class derived(cached_property[_T]):
    """A value that is computed once, under the lock of its object alone.

    `cached_property` of Python 3.11 has one lock for all objects: of two threads that take two
    locks, in two orders, each would wait for the other.
    """

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with instance.lock:
            if self.attrname not in instance.__dict__:
                instance.__dict__[self.attrname] = self.func(instance)
            return instance.__dict__[self.attrname]


class Snapshot:
    """Labels of all images after an action, and what follows from them.

    It never changes: while its questions are computed, the next action makes another one.

    Parameters
    ----------
    session : LabelingSession
        What stays the same during a session is taken from it.
    answers : Answers
        Copied.
    version : int
        Number of actions before.

    Attributes
    ----------
    hidden : list of int
        Images to check the predictions with, as far as nobody decided on them. Their predictions
        are shown nowhere from the beginning.
    """

    def __init__(self, session: LabelingSession, answers: Answers, version: int) -> None:
        self.lock = RLock()
        self.version = version
        self.classes = tuple(answers.classes)
        self.labels, self.marks = answers.labels.copy(), answers.marks.copy()
        self.confirmed, self.accepted = answers.confirmed.copy(), answers.accepted.copy()
        self.settled = answers.settled
        self._session = session
        sample = session.check_sample
        self.hidden: list[int] = sample[~self.settled[sample]].tolist()

    @derived
    def predictions(self) -> Predictions:
        """What the labels of the person say about all images."""
        session = self._session
        looked_at = np.unique(session.model.labels_[self.settled])
        unnamed = [
            row for code, rows in enumerate(session.cores) if code not in looked_at for row in rows
        ]
        return session.spreading.predict(self.labels, len(self.classes), np.array(unnamed, int))

    @property
    def random_questions(self) -> list[int]:
        """The next of the hidden images to ask about."""
        return self.hidden[: _QUESTIONS // _RANDOM_EVERY]

    @derived
    def questions(self) -> list[int]:
        """Images to ask about next: the most informative, and some hidden ones between them."""
        session, settled = self._session, np.flatnonzero(self.settled)
        n_open = len(self.labels) - len(settled)
        if n_open == 0:
            return []
        k = max(session.model.n_clusters_, len(self.classes))
        chosen = select_queries(
            session.model.spectrum_, k, settled, self.predictions.ambiguity,
            min(_QUESTIONS, n_open),
        ).tolist()  # fmt: skip
        if self.predictions.confidence.any():
            for place, row in enumerate(self.random_questions):
                chosen.insert((place + 1) * _RANDOM_EVERY - 1, row)
        return list(dict.fromkeys(chosen))[:_QUESTIONS]

    def alike(self, row: int) -> list[int]:
        """The images like one that is asked about that nobody decided on, without itself."""
        parts = self._session.parts
        rows = np.flatnonzero((parts == parts[row]) & ~self.settled)
        return rows[rows != row].tolist()

    @derived
    def contradictions(self) -> list[tuple[int, int]]:
        """Images whose label their neighbors contradict, with the class that these have."""
        rows, classes = find_contradictions(self._session.links, self.labels, len(self.classes))
        pairs = zip(rows.tolist(), classes.tolist(), strict=True)
        return [(row, code) for row, code in pairs if not self.confirmed[row]]

    @property
    def copies(self) -> list[tuple[list[int], list[int]]] | None:
        """Images whose copies have another label, with these copies; None while none are known.

        The label of the first is rarest in its group. A label that was kept is not counted.
        """
        if (groups := self._session.copies) is None:
            return None
        names = np.where(self.confirmed, "", np.array([*self.classes, ""])[self.labels]).tolist()
        pairs = []
        for group in conflicting(groups, names):
            sides = defaultdict(list)
            for row in group.members:
                sides[names[row]].append(row)
            sides.pop("", None)
            rarest, *_, most = sorted(sides.values(), key=len)
            pairs.append((rarest, most))
        return pairs

    def linked(self, row: int, code: int) -> list[int]:
        """The images of a class that another one is linked to most."""
        return strongest_links(self._session.links, row, self.labels == code, _LINKED).tolist()

    def final_labels(self) -> tuple[NDArray, NDArray, NDArray]:
        """Names, who decided and with what confidence, of all images.

        Returns
        -------
        labels : ndarray of str
            "" where nobody decided, or for "none of these", "unsure" and "two things".
        decided : ndarray of str
            "person"; "accepted" for a prediction that the person accepted; "model"; "" without a
            label or mark.
        confidence : ndarray
            1 where a person decided, 0 where nobody did.
        """
        names = np.array([*self.classes, ""], dtype=object)
        codes = np.where(self.settled, self.labels, self.predictions.codes)
        decided = np.where(self.settled, "person", np.where(codes >= 0, "model", ""))
        decided = np.where(self.accepted, "accepted", decided)
        confidence = np.where(self.settled, 1.0, self.predictions.confidence)
        return names[codes].astype(str), decided, confidence
