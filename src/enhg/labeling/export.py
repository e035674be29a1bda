"""Files with the labels of a session, for people and for other tools."""

from __future__ import annotations

import json
from pathlib import Path
from threading import Lock
from typing import Literal

import numpy as np
from sklearn.frozen import FrozenEstimator

from enhg._atomic import atomic_file
from enhg._validation import validated
from enhg.exceptions import InputError
from enhg.io import Samples, output_folder, write_table
from enhg.io.folders import write_folders
from enhg.io.models import save_model
from enhg.labeling.actions import MARKS
from enhg.labeling.session import LabelingSession
from enhg.learning.classification import HypergraphClassifier
from enhg.run import fitted_structure

LABELS, LINES, ANSWERS, CLASSIFIER = "labels.csv", "labels.jsonl", "answers.csv", "classifier.npz"


class Exporter:
    """Writes the labels of a session into its folder.

    Parameters
    ----------
    session : LabelingSession
    samples : Samples
    folder : Path
    """

    def __init__(self, session: LabelingSession, samples: Samples, folder: Path) -> None:
        self.session, self.samples, self.folder = session, samples, folder
        self._lock = Lock()

    def write_tables(self) -> list[str]:
        """Write the labels of all images, and those that a person decided on alone.

        Returns
        -------
        list of str
            The names of the files.
        """
        snapshot, names = self.session.snapshot, self.session.names
        labels, decided, confidence = snapshot.final_labels()
        columns = {
            "name": names,
            "label": labels.tolist(),
            "decided": decided.tolist(),
            "confidence": [round(float(value), 4) for value in confidence],
            "mark": np.array([*MARKS, ""])[snapshot.marks].tolist(),
        }
        own = np.flatnonzero((snapshot.labels >= 0) & ~snapshot.accepted)
        answers = {"name": [names[i] for i in own], "label": labels[own].tolist()}
        with self._lock:
            write_table(self.folder / LABELS, columns)
            with atomic_file(self.folder / LINES) as part:
                rows = (
                    dict(zip(columns, row, strict=True))
                    for row in zip(*columns.values(), strict=True)
                )
                part.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
            write_table(self.folder / ANSWERS, answers)
        return [LABELS, LINES, ANSWERS]

    def write_folders(self, kind: Literal["links", "copies"]) -> tuple[str, int]:
        """Write a folder of links or copies for each class, all in one folder that is new.

        Returns
        -------
        name : str
            Of the folder.
        missing : int
            Number of images that are gone, and therefore in none of the folders.
        """
        photos = self.samples.photos
        if photos is None:
            raise InputError("folders are of image files, got samples in one file")
        with self._lock:
            numbers = (number for number in range(1, 10_000))
            name = next(n for n in map(_folder_name, numbers) if not (self.folder / n).exists())
            labels = self.session.snapshot.final_labels()[0]
            rows = [row for row, file in enumerate(photos.files) if file.is_file()]
            with output_folder(self.folder / name) as folder:
                write_folders(
                    folder, [self.session.names[row] for row in rows],
                    [photos.files[row] for row in rows], labels[rows], copy=kind == "copies",
                )  # fmt: skip
        return name, len(labels) - len(rows)

    def write_classifier(self) -> str:
        """Write the model that `enhg predict` takes: a classifier of the labels of the person."""
        snapshot, model = self.session.snapshot, self.session.model
        codes = snapshot.labels
        if len(np.unique(codes[codes >= 0])) < 2:
            raise InputError("a classifier needs labels of at least two classes")
        names = np.array([*snapshot.classes, ""])
        given = np.ma.MaskedArray(names[codes], codes < 0)
        structure = fitted_structure(model)
        classifier = HypergraphClassifier(structure=FrozenEstimator(structure))
        with self._lock, validated():
            classifier.fit(structure.samples_, given)
            save_model(
                classifier, self.folder / CLASSIFIER, image_shape=self.samples.image_shape,
                recipe=self.samples.recipe, names=self.samples.names, overwrite=True,
            )  # fmt: skip
        return CLASSIFIER


def _folder_name(number: int) -> str:
    return "folders" if number == 1 else f"folders-{number}"
