"""A simulated person labels images: the number of actions until labels are right.

The person sees what the page of `enhg label` shows, and knows the class of every image that is
looked at. One action is: naming a cluster or a selection; a click that takes an image out of a
selection, or puts one in; an answer to a question; an answer to a contradiction. Looking, scrolling
and changing the view are not counted.

The bulk strategy, whose numbers are constants below:

1. Clusters, the largest first: the core of a cluster is named after the class of most of its
   images. A core where that class has too small a share is passed over.
2. Questions, the most informative first, each with the images alike: these are named together,
   after those of other classes have been taken out; if there are many of these, the answer is for
   the image alone. Questions of random images, which estimate the accuracy, are skipped.
3. When most of the last answers were what had been predicted, the least sure predictions are looked
   at, one sheet after another, and those that are wrong are selected and named.
4. In the end, contradictions.
"""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.frozen import FrozenEstimator
from threadpoolctl import threadpool_limits

from enhg import ElasticNetHypergraph, HypergraphClassifier, HypergraphClustering
from enhg.labeling.actions import Action, Origin
from enhg.labeling.session import LabelingSession
from experiments.paths import RESULTS
from experiments.protocol import load_dataset
from experiments.quality import load_samples
from experiments.tabular import read_records, write_records

FILE = RESULTS / "labeling.csv"
"""The numbers of actions of single runs."""

RUNS = 3
LEVELS = (0.90, 0.95, 0.98)
MOST_ACTIONS = 400
HEADER = (
    "data set", "images", "classes", "clusters", "method", "run",
    *(f"{kind} {level:.0%}" for kind in ("least", "actions") for level in LEVELS),
    "last actions", "last accuracy",
)  # fmt: skip

MIXED = 0.8
"""Smallest share of one class in a cluster that is named."""
MOST_TAKEN_OUT = 2
"""Images taken out of those alike; with more of them, one image is named alone."""
REMEMBERED, AGREED = 8, 0.75
"""The last answers, and their share as predicted at which the person turns to predictions."""
SHEET = 60
"""Predictions looked at together."""

_WHOLE = {"USPS": ("usps", None), "MNIST, first 5000": ("mnist", 5000)}
DATASETS = (
    "digits", "Extended Yale B, 10 subjects", "Extended Yale B, 38 subjects", "COIL-20", "ORL",
    "PIE, 15 subjects", "USPS", "MNIST, first 5000", "Fashion-MNIST, first 5000",
    "CLIP features of DTD", "CLIP features of Caltech-101",
)  # fmt: skip

Row = dict[str, Any]
Curve = list[tuple[int, float]]  # actions, accuracy


def load(name: str, folder: Path) -> tuple[NDArray, NDArray]:
    """Load the samples of a data set, divided by their largest entry, and their classes."""
    if name not in _WHOLE:
        return load_samples(name, folder)
    dataset, count = _WHOLE[name]
    data = load_dataset(dataset, folder)
    X = data.X[:count].astype(np.float32)
    return X / np.abs(X).max(), np.unique(data.y[:count], return_inverse=True)[1]


def least_actions(y: NDArray, level: float) -> int:
    """The smallest number of names with which a share of the images can have the right one."""
    covered = np.cumsum(np.sort(np.bincount(y))[::-1])
    return int(np.searchsorted(covered, level * len(y))) + 1


# --- the person ------------------------------------------------------------------------------


class Person:
    """Labels images in a session, and counts actions.

    Parameters
    ----------
    session : LabelingSession
    truth : ndarray of str
        The classes of the images.
    most : int
        Actions after which the person stops.
    """

    def __init__(self, session: LabelingSession, truth: NDArray, most: int) -> None:
        self.session, self.truth, self.most = session, truth, most
        self.actions = 0
        self.curve: Curve = []
        self._agreed: deque[bool] = deque(maxlen=REMEMBERED)
        self._looked = np.full(len(truth), -1)  # the prediction that was looked at

    @property
    def is_done(self) -> bool:
        """Whether the labels are right enough, or too many actions were made."""
        accurate = bool(self.curve) and self.curve[-1][1] >= LEVELS[-1]
        return accurate or self.actions >= self.most

    def name(self, rows: Collection[int], label: str, origin: Origin, clicks: int = 0) -> None:
        """Give images a name, after clicks that choose them."""
        self.actions += 1 + clicks
        key = f"{self.session.version}"
        self.session.act(Action(key, "name", tuple(map(int, rows)), label, origin=origin))
        right = (self.session.snapshot.final_labels()[0] == self.truth).mean()
        self.curve.append((self.actions, float(right)))

    def label_in_bulk(self) -> None:
        """Name cores of clusters and images alike, then correct predictions."""
        self.name_clusters(self.session.cores)
        self.answer_questions(together=True)
        while not self.is_done and self.correct_predictions():
            pass
        self.answer_contradictions()

    def label_whole_clusters(self) -> None:
        """Name whole clusters, then answer contradictions and questions, one at a time."""
        labels = self.session.model.labels_
        self.name_clusters([np.flatnonzero(labels == c).tolist() for c in np.unique(labels)])
        self.answer_contradictions()
        self.answer_questions(together=False)

    def label_suggested(self) -> None:
        """Name one image at a time, always the most informative."""
        while not self.is_done and (row := self._question()) is not None:
            self.name([row], self.truth[row], "question")

    def label_random(self, seed: int) -> None:
        """Name one image at a time, in a random order."""
        for row in np.random.RandomState(seed).permutation(len(self.truth)):
            if self.is_done:
                return
            self.name([row], self.truth[row], "selection")

    def name_clusters(self, clusters: Collection[list[int]]) -> None:
        """Name each by the class of most of its images, unless it is visibly mixed."""
        for rows in sorted(clusters, key=len, reverse=True):
            names, counts = np.unique(self.truth[rows], return_counts=True)
            if not self.is_done and counts.max() >= MIXED * len(rows):
                self.name(rows, names[counts.argmax()], "cluster")

    def _question(self) -> int | None:
        """The most informative image."""
        hidden = set(self.session.snapshot.hidden)
        questions = self.session.snapshot.questions
        return next((row for row in questions if row not in hidden), next(iter(questions), None))

    def answer_questions(self, *, together: bool) -> None:
        """Answer questions until most answers were predicted; alone: until none is left."""
        while not self.is_done and (row := self._question()) is not None:
            self._agreed.append(self._predicted()[row] == self.truth[row])
            label, alike = self.truth[row], self.session.snapshot.alike(row) if together else []
            others = sum(self.truth[other] != label for other in alike)
            if others > MOST_TAKEN_OUT or 2 * others > len(alike) + 1:
                alike, others = [], 0
            rows = [row, *(other for other in alike if self.truth[other] == label)]
            self.name(rows, label, "question", clicks=others)
            if together and sum(self._agreed) >= AGREED * REMEMBERED:
                return

    def _predicted(self) -> NDArray:
        """The names that are predicted."""
        names = np.array([*self.session.answers.classes, ""], dtype=object)
        return np.asarray(names[self.session.snapshot.predictions.codes])

    def correct_predictions(self) -> bool:
        """Look at a sheet of the least sure predictions, and name those that are wrong.

        Returns
        -------
        bool
            Whether there was one to look at.
        """
        session, predictions = self.session, self.session.snapshot.predictions
        shown = ~session.answers.settled & (predictions.codes != self._looked)
        shown[session.snapshot.hidden] = False
        rows = np.flatnonzero(shown)
        rows = rows[np.argsort(predictions.confidence[rows], kind="stable")][:SHEET]
        self._looked[rows] = predictions.codes[rows]
        wrong = rows[self._predicted()[rows] != self.truth[rows]]
        for label in np.unique(self.truth[wrong]):
            chosen = wrong[self.truth[wrong] == label]
            if not self.is_done:
                self.name(chosen, label, "selection", clicks=len(chosen))
        return len(rows) > 0

    def answer_contradictions(self) -> None:
        """Say for one image after the other what it is."""
        while not self.is_done and self.session.snapshot.contradictions:
            row = self.session.snapshot.contradictions[0][0]
            self.name([row], self.truth[row], "contradiction")


BULK, WHOLE, SUGGESTED, RANDOM = "bulk", "whole clusters", "suggested", "random"
_STRATEGIES: dict[str, Callable[[Person, int], None]] = {
    BULK: lambda person, run: person.label_in_bulk(),
    WHOLE: lambda person, run: person.label_whole_clusters(),
    SUGGESTED: lambda person, run: person.label_suggested(),
    RANDOM: lambda person, run: person.label_random(run),
}
CLASSIFIER_SUGGESTED, CLASSIFIER_RANDOM = "suggested, classifier", "random, classifier"
METHODS = (*_STRATEGIES, CLASSIFIER_SUGGESTED, CLASSIFIER_RANDOM)


def simulate(model: HypergraphClustering, y: NDArray, method: str, run: int, most: int) -> Curve:
    """Let a person label the images of a clustering; return accuracies by actions."""
    with TemporaryDirectory() as folder:
        names = [str(row) for row in range(len(y))]
        session = LabelingSession(model, names, Path(folder))
        try:
            person = Person(session, y.astype(str), most)
            _STRATEGIES[method](person, run)
        finally:
            session.close()
    return person.curve


# --- one label at a time, and the classifier ---------------------------------------------------


def classify(
    X: NDArray, y: NDArray, model: HypergraphClustering, method: str, run: int, most: int
) -> Curve:
    """Accuracies of `HypergraphClassifier` after numbers of labels that grow by a third.

    Suggested images are those of the clustering first, then those of the classifier.
    """
    is_suggested = method == CLASSIFIER_SUGGESTED
    order = np.random.RandomState(run).permutation(len(y))
    count, given = len(np.unique(y)), np.full(len(y), -1)
    rows = model.suggest(count) if is_suggested else order[:count]
    curve: Curve = []
    while True:
        given[rows] = y[rows]
        classifier = HypergraphClassifier(structure=FrozenEstimator(model.structure_))
        labels = np.where(given >= 0, given, classifier.fit(X, given).transduction_)
        curve.append((count, float((labels == y).mean())))
        more = min(-(-count // 3), len(y) - count)
        if curve[-1][1] >= LEVELS[-1] or count + more > most or not more:
            return curve
        rows = classifier.suggest(more) if is_suggested else order[count : count + more]
        count += more


# --- all measurements --------------------------------------------------------------------------


@dataclass(frozen=True)
class Piece:
    """What is stored at a time: all methods on one data set in one run."""

    name: str
    run: int

    def compute(self, folder: Path, most: int) -> Iterator[Row]:
        """Compute the rows of the methods."""
        X, y = load(self.name, folder)
        with threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numbers of clusters that are not reliable
            structure = FrozenEstimator(ElasticNetHypergraph(n_jobs=1).fit(X))
            model = HypergraphClustering(structure=structure, random_state=self.run).fit(X)
            for method in METHODS:
                if method in _STRATEGIES:
                    curve = simulate(model, y, method, self.run, most)
                else:
                    curve = classify(X, y, model, method, self.run, most)
                yield self._row(y, model.n_clusters_, method, curve)

    def _row(self, y: NDArray, n_clusters: int, method: str, curve: Curve) -> Row:
        row: Row = {
            "data set": self.name, "images": len(y), "classes": len(np.unique(y)),
            "clusters": n_clusters, "method": method, "run": self.run,
        }  # fmt: skip
        for level in LEVELS:
            reached = (actions for actions, accuracy in curve if accuracy >= level)
            row[f"least {level:.0%}"] = least_actions(y, level)
            row[f"actions {level:.0%}"] = next(reached, "")
        row["last actions"], row["last accuracy"] = curve[-1]
        return row


def measure(
    folder: Path,
    names: Collection[str] = DATASETS,
    runs: int = RUNS,
    file: Path = FILE,
    report: Callable[[int, int], None] | None = None,
    most: int = MOST_ACTIONS,
) -> None:
    """Compute what is not stored yet, and store every data set and run when it is computed."""
    rows: list[Row] = list(read_records(file)) if file.exists() else []
    stored = {(row["data set"], int(row["run"])) for row in rows}
    pieces = [Piece(name, run) for name in DATASETS if name in names for run in range(runs)]
    todo = [piece for piece in pieces if (piece.name, piece.run) not in stored]
    for done, piece in enumerate(todo, 1):
        rows += piece.compute(folder, most)
        rows.sort(key=lambda row: (DATASETS.index(row["data set"]), int(row["run"])))
        write_records(file, HEADER, rows)
        if report is not None:
            report(done, len(todo))
