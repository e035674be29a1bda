"""A labeling session: images, clusters, the actions of a person, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from enhg._checkpoint import digest
from enhg.exceptions import InputError
from enhg.labeling.actions import MARKS, Action, Answers, normalize_class, timestamp
from enhg.labeling.log import ActionLog
from enhg.labeling.predictions import (
    Predictions,
    Spreading,
    find_contradictions,
    strongest_links,
)
from enhg.labeling.sheets import core_size, find_parts, sorted_clusters
from enhg.learning.clustering import HypergraphClustering
from enhg.learning.queries import select_queries
from enhg.report._layout import lay_out

LOG = "actions.jsonl"
_QUESTIONS = 24
_LINKED = 6  # images of a class beside a contradiction
_MOST_ON_MAP = 20_000
_T = TypeVar("_T")
_RANDOM_EVERY = 4  # of the questions one is of a random image, for the estimate of the accuracy


class _derived(cached_property[_T]):
    """A value that follows from the actions, computed under the lock of the session alone.

    `cached_property` of Python 3.11 has a lock of its own: of two threads that take both, in two
    orders, each would wait for the other.
    """

    def __get__(self, session: Any, owner: Any = None) -> Any:
        if session is None:
            return self
        with session.lock:
            if self.attrname not in session.__dict__:
                session.__dict__[self.attrname] = self.func(session)
            return session.__dict__[self.attrname]


@dataclass(frozen=True)
class Progress:
    """How far the labels are after an action.

    Attributes
    ----------
    settled : int
        Images that a person decided on.
    checked, right : int
        Random images that were asked about before their prediction was shown, and those of them
        that were predicted as the person answered.
    """

    settled: int
    checked: int
    right: int


class LabelingSession:
    """Labels of the images of a clustering, given by a person.

    Parameters
    ----------
    model : HypergraphClustering
    names : sequence of str
        Of the images.
    folder : Path
        Receives the log of the actions.
    classes : sequence of str, optional
        Names that are classes from the start.
    given : sequence of str, optional
        Labels that are known, "" for none; the first actions of a new log.
    options : dict of str to str, optional
        What else a new log records about its start.

    Attributes
    ----------
    options : dict of str to str
        Those that the log was started with.
    """

    def __init__(
        self,
        model: HypergraphClustering,
        names: Sequence[str],
        folder: Path,
        classes: Iterable[str] = (),
        given: Sequence[str] | None = None,
        options: Mapping[str, str] | None = None,
    ) -> None:
        self.model, self.names = model, list(names)
        self.lock = RLock()
        self._spreading = Spreading(model.graph_)
        start = {
            "classes": list(map(normalize_class, classes)),
            "given": _named_rows(given),
            "options": dict(options or {}),
        }
        subject = {"images": len(self.names), "names": digest(np.array(self.names, dtype=str))}
        self._log = ActionLog(folder / LOG, subject, start)
        try:
            first, *actions = self._log
            self.options: dict[str, str] = dict(first["options"])
            self.answers = Answers(len(self.names), first["classes"])
            self.history = [self._progress()]
            for number, (name, rows) in enumerate(first["given"]):
                self._apply(Action(f"given {number}", "name", tuple(rows), name, origin="given"))
            for line in actions:
                self._apply(Action.from_json(line, len(self.names)))
        except (KeyError, TypeError, ValueError) as error:
            self._log.close()
            raise InputError(f"{folder / LOG}: is damaged ({error})") from error
        except BaseException:
            self._log.close()
            raise

    def act(self, action: Action) -> None:
        """Write an action to the log, then apply it; the same action again has no effect."""
        with self.lock:
            if self.answers.has(action.key):
                return
            self.answers.check(action)
            if action.origin == "question" and action.kind in ("name", "mark"):
                action = self._with_predictions(action)
            elif action.predicted and action.kind != "accept":
                raise InputError("predictions belong to questions")
            action = replace(action, time=timestamp())
            self._log.append(action.to_json())
            self._apply(action)

    def _with_predictions(self, action: Action) -> Action:
        """The answer to a question, with what was predicted if it was of random images."""
        if not set(action.rows) <= set(self.random_questions):
            return replace(action, predicted=())
        codes = self.predictions.codes[list(action.rows)]
        names = tuple("" if code < 0 else self.answers.classes[code] for code in codes)
        return replace(action, predicted=names)

    def _apply(self, action: Action) -> None:
        with self.lock:
            self.answers.apply(action)
            for name in ("predictions", "questions", "random_questions", "contradictions"):
                self.__dict__.pop(name, None)
            self.history.append(self._progress())

    def _progress(self) -> Progress:
        done = self.answers.done
        asked = [
            action
            for action in done
            if action.kind == "name" or (action.kind == "mark" and action.label == MARKS[0])
        ]
        checks = [
            predicted == action.label
            for action in asked
            for predicted in action.predicted
            if predicted  # where nothing is predicted there is nothing to check
        ]
        settled = int(self.answers.settled.sum())
        return Progress(settled, len(checks), sum(checks))

    @property
    def version(self) -> int:
        """Number of actions in the log."""
        return len(self.history) - 1

    @_derived
    def predictions(self) -> Predictions:
        """What the labels of the person say about all images."""
        with self.lock:
            labels, settled = self.answers.labels, self.answers.settled
            named = np.unique(self.model.labels_[settled])
            unnamed = [
                row for code, rows in enumerate(self.cores) if code not in named for row in rows
            ]
            return self._spreading.predict(
                labels, len(self.answers.classes), np.array(unnamed, int)
            )

    @_derived
    def random_questions(self) -> list[int]:
        """Images drawn at random from those that nobody decided on, whose prediction is hidden.

        The order is always the same: an image that is asked about stays among them until it is
        answered.
        """
        order = np.random.RandomState(0).permutation(len(self.names))
        open_rows = order[~self.answers.settled[order]]
        return open_rows[: _QUESTIONS // _RANDOM_EVERY].tolist()

    @_derived
    def questions(self) -> list[int]:
        """Images to ask about next: the most informative, and some random ones between them."""
        with self.lock:
            settled, spectrum = np.flatnonzero(self.answers.settled), self.model.spectrum_
            n_open = len(self.names) - len(settled)
            if n_open == 0:
                return []
            k = max(self.model.n_clusters_, len(self.answers.classes))
            chosen = select_queries(
                spectrum, k, settled, self.predictions.ambiguity, min(_QUESTIONS, n_open)
            ).tolist()
            if self.predictions.confidence.any():
                for place, row in enumerate(self.random_questions):
                    chosen.insert((place + 1) * _RANDOM_EVERY - 1, row)
            return list(dict.fromkeys(chosen))[:_QUESTIONS]

    @_derived
    def cores(self) -> list[list[int]]:
        """The surest images of every cluster, to be named together."""
        clusters = sorted_clusters(self.model)
        return [rows[: core_size(len(rows))].tolist() for rows in clusters]

    @_derived
    def _parts(self) -> NDArray:
        return find_parts(self.model.graph_)

    def alike(self, row: int) -> list[int]:
        """The images like one that is asked about that nobody decided on, without itself."""
        rows = np.flatnonzero((self._parts == self._parts[row]) & ~self.answers.settled)
        return rows[rows != row].tolist()

    @_derived
    def contradictions(self) -> list[tuple[int, int]]:
        """Images whose label their neighbors contradict, with the class that these have."""
        labels, confirmed = self.answers.labels, self.answers.confirmed
        rows, classes = find_contradictions(self._links, labels, len(self.answers.classes))
        pairs = zip(rows.tolist(), classes.tolist(), strict=True)
        return [(row, code) for row, code in pairs if not confirmed[row]]

    def linked(self, row: int, code: int) -> list[int]:
        """The images of a class that another one is linked to most."""
        is_member = self.answers.labels == code
        return strongest_links(self._links, row, is_member, _LINKED).tolist()

    @_derived
    def places(self) -> NDArray:
        """Places of the images on the map, in [0, 1]²; of many images, NaN for all but some."""
        points = self.model.embedding_
        rows = np.sort(np.random.RandomState(0).permutation(len(points))[:_MOST_ON_MAP])
        places = np.full((len(points), 2), np.nan)
        places[rows] = lay_out(points[rows])
        return places

    @_derived
    def _links(self) -> csr_array:
        return self.model.graph_.clique_expansion()

    def final_labels(self) -> tuple[NDArray, NDArray, NDArray]:
        """Names, who decided and how sure, of all images.

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
        with self.lock:
            answers, predictions = self.answers, self.predictions
            names = np.array([*answers.classes, ""], dtype=object)
            settled = answers.settled
            codes = np.where(settled, answers.labels, predictions.codes)
            decided = np.where(settled, "person", np.where(codes >= 0, "model", ""))
            decided = np.where(answers.accepted, "accepted", decided)
            confidence = np.where(settled, 1.0, predictions.confidence)
            return names[codes].astype(str), decided, confidence

    def close(self) -> None:
        """Close the log."""
        self._log.close()


def _named_rows(given: Sequence[str] | None) -> list[tuple[str, list[int]]]:
    """The rows of every class among given labels."""
    rows: dict[str, list[int]] = {}
    for row, label in enumerate(given or ()):
        if label:
            rows.setdefault(normalize_class(label), []).append(row)
    return list(rows.items())
