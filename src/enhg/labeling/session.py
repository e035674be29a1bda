"""A labeling session: images, clusters, the actions of a person, and what follows from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from enhg._checkpoint import digest
from enhg.duplicates import DuplicateGroup
from enhg.exceptions import InputError
from enhg.labeling.actions import MARKS, MAX_CLASSES, Action, Answers, normalize_class, timestamp
from enhg.labeling.log import ActionLog
from enhg.labeling.predictions import Spreading
from enhg.labeling.sheets import core_size, find_parts, sorted_clusters
from enhg.labeling.snapshot import Snapshot, derived
from enhg.learning.clustering import HypergraphClustering
from enhg.report._layout import lay_out

LOG = "actions.jsonl"
_MOST_CHECKED, _SHARE_CHECKED = 24, 0.1  # images whose predictions are checked
_MOST_ON_MAP = 20_000


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
        Holds the log of the actions, from `start_log` or of an earlier session; a new one is
        written where there is none.

    Attributes
    ----------
    options : dict of str to str
        Those that the log was started with.
    copies : list of DuplicateGroup or None
        Images that show the same picture; None while they are not known.
    """

    def __init__(
        self,
        model: HypergraphClustering,
        names: Sequence[str],
        folder: Path,
    ) -> None:
        self.model, self.names = model, list(names)
        self.lock = RLock()  # of what stays the same
        self._acting = RLock()  # of the actions; taken first where both are
        self.spreading = Spreading(model.graph_)
        self.copies: list[DuplicateGroup] | None = None
        self._log = _open_log(folder, self.names, {"classes": [], "given": [], "options": {}})
        try:
            first, *actions = self._log
            self.options: dict[str, str] = dict(first["options"])
            self.answers = Answers(len(self.names), first["classes"])
            self.history = [self._progress()]
            self.snapshot = Snapshot(self, self.answers, 0)
            for number, (name, rows) in enumerate(first["given"]):
                given = {"key": f"given {number}", "kind": "name", "rows": rows, "label": name}
                self._apply(Action.from_json({**given, "origin": "given"}, len(self.names)))
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
        with self._acting:
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
        """The answer to a question, with what was predicted if it was of hidden images."""
        if not set(action.rows) <= set(self.snapshot.hidden):
            return replace(action, predicted=())
        codes = self.snapshot.predictions.codes[list(action.rows)]
        names = tuple("" if code < 0 else self.answers.classes[code] for code in codes)
        return replace(action, predicted=names)

    def _apply(self, action: Action) -> None:
        with self._acting:
            self.answers.apply(action)
            self.history.append(self._progress())
            self.snapshot = Snapshot(self, self.answers, self.version)

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

    @derived
    def check_sample(self) -> NDArray:
        """Images drawn at random at the start, whose predictions are hidden until an answer.

        An estimate from images whose prediction has been shown before would be too high.
        """
        n = len(self.names)
        count = min(_MOST_CHECKED, int(np.ceil(_SHARE_CHECKED * n)))
        return np.random.RandomState(0).permutation(n)[:count]

    @derived
    def cores(self) -> list[list[int]]:
        """The images of highest confidence of every cluster, to be named together."""
        clusters = sorted_clusters(self.model)
        return [rows[: core_size(len(rows))].tolist() for rows in clusters]

    @derived
    def parts(self) -> NDArray:
        """The part of images that are alike that every image is in."""
        return find_parts(self.model.graph_)

    @derived
    def links(self) -> csr_array:
        """Weights of the links between images, the clique expansion of the hypergraph."""
        return self.model.graph_.clique_expansion()

    def moment(self) -> tuple[Snapshot, list[Progress], list[Action], list[Action]]:
        """The snapshot, the history, and the actions that "undo" and "redo" would concern."""
        with self._acting:
            undo, redo = self.answers.done[-1:], self.answers.undone[-1:]
            return self.snapshot, self.history[:], undo, redo

    def prepare(self) -> None:
        """Compute what stays the same during the session, before anybody waits for it."""
        _ = self.cores, self.parts, self.links, self.places, self.check_sample
        _ = self.snapshot.questions

    @derived
    def places(self) -> NDArray:
        """Places of the images on the map, in [0, 1]²; of many images, NaN for all but some."""
        points = self.model.embedding_
        rows = np.sort(np.random.RandomState(0).permutation(len(points))[:_MOST_ON_MAP])
        places = np.full((len(points), 2), np.nan)
        places[rows] = lay_out(points[rows])
        return places

    def close(self) -> None:
        """Close the log."""
        self._log.close()


def start_log(
    folder: Path,
    names: Sequence[str],
    classes: Iterable[str] = (),
    given: Sequence[str] = (),
    options: Mapping[str, str] | None = None,
) -> None:
    """Write the log of a session without actions.

    Parameters
    ----------
    folder : Path
    names : sequence of str
        Of the images.
    classes : iterable of str, default=()
        Names that are classes from the start.
    given : sequence of str, default=()
        Labels of all images that are known, "" for none.
    options : dict of str to str, optional
        What else is recorded about the start.
    """
    start = {
        "classes": list(map(normalize_class, classes)),
        "given": _named_rows(given),
        "options": dict(options or {}),
    }
    _open_log(folder, names, start).close()


def check_classes(names: Iterable[str]) -> None:
    """Raise InputError for names that no class can have, and for too many classes.

    Names that are empty, those of unlabeled images, do not count.
    """
    classes = {normalize_class(name) for name in set(names) - {""}}
    if len(classes) > MAX_CLASSES:
        raise InputError(f"there can be at most {MAX_CLASSES} classes, got {len(classes)}")


def _open_log(folder: Path, names: Sequence[str], start: dict[str, Any]) -> ActionLog:
    subject = {"images": len(names), "names": digest(np.array(names, dtype=str))}
    return ActionLog(folder / LOG, subject, start)


def _named_rows(given: Sequence[str]) -> list[tuple[str, list[int]]]:
    """The rows of every class among given labels."""
    rows: dict[str, list[int]] = {}
    for row, label in enumerate(given):
        if label:
            rows.setdefault(normalize_class(label), []).append(row)
    return list(rows.items())
