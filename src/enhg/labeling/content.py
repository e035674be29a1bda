"""What the page of a labeling session shows, as JSON."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

from enhg._version import __version__
from enhg.labeling.actions import MARKS, Action
from enhg.labeling.session import LabelingSession
from enhg.labeling.sheets import sorted_clusters
from enhg.plotting._drawing import COLORS

_COLORFUL = 32  # of 255


def session_content(session: LabelingSession) -> dict[str, Any]:
    """What stays the same during a session: the images, their clusters and the map."""
    return {
        "version": __version__,
        "names": session.names,
        "clusters": [rows.tolist() for rows in sorted_clusters(session.model)],
        "cores": [len(rows) for rows in session.cores],
        "places": encode_array(session.places.astype(np.float32)),
        "marks": list(MARKS),
        "colors": [color for color in COLORS if not _is_gray(color)],  # gray is no label
    }


def session_state(session: LabelingSession) -> dict[str, Any]:
    """What changes with every action."""
    snapshot, history, undo, redo = session.moment()
    predictions = snapshot.predictions
    return {
        "version": snapshot.version,
        "classes": snapshot.classes,
        "labels": encode_array(snapshot.labels),
        "marks": encode_array(snapshot.marks),
        "predicted": encode_array(predictions.codes.astype(np.int16)),
        "confidence": encode_array(np.floor(255 * predictions.confidence).astype(np.uint8)),
        "history": [[step.settled, step.checked, step.right] for step in history],
        "undo": _describe(undo),
        "redo": _describe(redo),
        "keys": {
            "undo": "".join(action.key for action in undo),
            "redo": "".join(action.key for action in redo),
        },
    }


def next_steps(session: LabelingSession) -> dict[str, Any]:
    """The questions with the images that are like theirs, and labels that neighbors contradict.

    Beside a contradiction are the images with the same label, and with the other one, that it is
    linked to most. Contradictions of copies come first, beside these; their number is None while
    copies are not known.
    """
    snapshot = session.snapshot
    labels = snapshot.labels.tolist()
    copies = snapshot.copies
    pairs = copies or []
    listed = {row for sides in pairs for side in sides for row in side}
    others = [(row, code) for row, code in snapshot.contradictions if row not in listed]
    return {
        "version": snapshot.version,
        "questions": snapshot.questions,
        "alike": [snapshot.alike(row) for row in snapshot.questions],
        "hidden": snapshot.hidden,
        "contradictions": [*((own[0], labels[other[0]]) for own, other in pairs), *others],
        "linked": [
            *pairs,
            *(
                (snapshot.linked(row, labels[row]), snapshot.linked(row, code))
                for row, code in others
            ),
        ],
        "copies": None if copies is None else len(copies),
    }


def encode_array(array: NDArray) -> str:
    """Numbers as Base64 of their bytes, the smallest byte first."""
    return b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode()


def _is_gray(color: str) -> bool:
    """Whether the red, green and blue of ``#rrggbb`` differ little."""
    parts = [int(color[at : at + 2], 16) for at in (1, 3, 5)]
    return max(parts) - min(parts) < _COLORFUL


def _describe(actions: list[Action]) -> str:
    """What an action does, in a few words; "" for none."""
    if not actions:
        return ""
    action = actions[0]
    images = "1 image" if len(action.rows) == 1 else f"{len(action.rows)} images"
    if action.kind == "rename":
        return f"{action.previous} renamed to {action.label}"
    if action.kind == "accept":
        return f"{images} accepted"
    if action.kind == "clear":
        return f"label removed from {images}"
    return f"{images} {'marked' if action.kind == 'mark' else 'labeled'} {action.label}"
