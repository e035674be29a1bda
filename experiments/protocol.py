"""The paper's protocol: which images, which runs, and how a structure is scored on them.

A piece of `Work` is one structure built on one draw of images and all that is asked of it. Its
results are rows of a CSV file, written as soon as they are there: what is in the file is not
computed again.
"""

from __future__ import annotations

import csv
import json
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal

import numpy as np
from joblib import Parallel, cpu_count, delayed
from joblib.externals.loky.process_executor import TerminatedWorkerError
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from enhg.datasets import Dataset, load
from enhg.learning.classification import HypergraphClassifier
from enhg.learning.clustering import HypergraphClustering
from enhg.metrics import clustering_accuracy, normalized_mutual_information, unlabeled_accuracy
from experiments.methods import METHODS

Task = Literal["clustering", "classification", "uneven classification"]
Row = dict[str, Any]

SHARES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
"""Of the labels that are given in table 4."""

_DIGITS = ("digits", "usps")
_FACES_TAKE = 8  # times as long as as many digits, roughly
_TYPICAL = {"digits": 180, "yale-b": 64, "pie": 170, "usps": 930}  # images a class

VERSION = 3
"""Of what figures rest on: raised when a structure or a learner gives others than before."""

_KEY = (
    "version", "task", "dataset", "classes", "per_class", "seed", "corrupted", "method",
    "structure", "learner", "run", "share",
)  # fmt: skip
_FIGURES = ("ac", "nmi", "accuracy", "seconds", "warnings")
_HEADS = (*_KEY, *_FIGURES)


@dataclass(frozen=True)
class Draw:
    """Images of the first classes of a set: all, or some of each class at random (by the seed).

    A share of them, drawn by the seed as well, may be corrupted: pixels from 0 to 1 get noise of
    variance 0.1.
    """

    dataset: str
    classes: int
    per_class: int = 0
    seed: int = 0
    corrupted: float = 0.0

    def images(self, folder: Path) -> Dataset:
        data = loaded(self.dataset, folder).first_classes(self.classes)
        if self.per_class:
            data = data.sampled(self.per_class, np.random.RandomState(self.seed))
        if self.corrupted:
            data = replace(data, X=_with_noise(data.X, self.corrupted, self.seed))
        return data

    def by_run(self, runs: int) -> Iterator[tuple[Draw, tuple[int, ...]]]:
        """Draws and the runs they serve: where images are drawn at random, each run has its own."""
        if not self.per_class and not self.corrupted:
            yield self, tuple(range(runs))
            return
        for run in range(runs):
            yield replace(self, seed=run), (run,)


def _with_noise(X: NDArray, share: float, seed: int) -> NDArray:
    """Some rows with Gaussian noise of variance 0.1, where the largest entry of X counts as 1."""
    random_state = np.random.RandomState(seed)
    images = X / X.max()
    rows = random_state.permutation(len(X))[: round(share * len(X))]
    images[rows] += np.sqrt(0.1) * random_state.standard_normal((len(rows), X.shape[1]))
    return images.astype(np.float32)


@cache
def loaded(dataset: str, folder: Path) -> Dataset:
    """A set, read once a process."""
    return load(dataset, folder)


@dataclass(frozen=True)
class Work:
    """One structure on one draw: clustered once a learner and run, or classified once a learner,
    run and share of labels. Parameters are JSON (see `written`)."""

    task: Task
    draw: Draw
    method: str
    structure: str
    learners: tuple[str, ...]
    runs: tuple[int, ...]
    shares: tuple[float, ...] = (0.0,)

    @property
    def weight(self) -> int:
        """How long it takes beside other work, roughly."""
        images = self.draw.classes * (self.draw.per_class or _TYPICAL[self.draw.dataset])
        slowness = METHODS[self.method].slowness
        return images**2 * slowness * (1 if self.draw.dataset in _DIGITS else _FACES_TAKE)

    def rows(self) -> list[Row]:
        """The rows that the work gives, without their figures."""
        fixed = {"version": VERSION, "task": self.task, **asdict(self.draw), "method": self.method}
        return [
            fixed | {"structure": self.structure, "learner": learner, "run": run, "share": share}
            for learner, run, share in product(self.learners, self.runs, self.shares)
        ]


def written(parameters: dict[str, Any]) -> str:
    """Parameters as the text that stands for them in files."""
    return json.dumps(parameters, sort_keys=True)


def evaluate(work: Work, folder: Path) -> list[Row]:
    """The rows of a piece of work. Seconds are those of building and learning once; warnings are
    counted where an iteration did not converge."""
    data = work.draw.images(folder)
    with threadpool_limits(limits=1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", ConvergenceWarning)
        began = time.perf_counter()
        structure = METHODS[work.method].build(json.loads(work.structure)).fit(data.X)
        built = time.perf_counter() - began
        of_structure = len(caught)
        rows = []
        for key in work.rows():
            del caught[of_structure:]
            began = time.perf_counter()
            figures = _learn(work.task, data, structure.graph_, key)
            seconds = round(built + time.perf_counter() - began, 3)
            rows.append(key | figures | {"seconds": seconds, "warnings": len(caught)})
    return rows


def _learn(task: Task, data: Dataset, graph: Any, key: Row) -> Row:
    choices = json.loads(key["learner"])
    if task == "clustering":
        labels = HypergraphClustering(
            len(np.unique(data.y)), structure=graph, random_state=key["run"], **choices
        ).fit_predict(data.X)
        ac = clustering_accuracy(data.y, labels)
        nmi = normalized_mutual_information(data.y, labels)
        return {"ac": round(ac, 5), "nmi": round(nmi, 5), "accuracy": ""}
    draw = draw_labels if task == "classification" else draw_uneven_labels
    given = draw(data.y, key["share"], np.random.RandomState(key["run"]))
    model = HypergraphClassifier(structure=graph, method="diffusion", **choices)
    model.fit(data.X, np.where(given, data.y, -1))
    accuracy = unlabeled_accuracy(data.y, model.transduction_, given)
    return {"ac": "", "nmi": "", "accuracy": round(accuracy, 5)}


def draw_labels(y: NDArray, share: float, random_state: np.random.RandomState) -> NDArray:
    """A mask of the labels given: this share of every class, at least one."""
    given = np.zeros(len(y), bool)
    for label in np.unique(y):
        members = random_state.permutation(np.flatnonzero(y == label))
        given[members[: max(1, round(share * len(members)))]] = True
    return given


def draw_uneven_labels(y: NDArray, share: float, random_state: np.random.RandomState) -> NDArray:
    """This share of all labels, whatever their class, but at least one of each."""
    given = random_state.random_sample(len(y)) < share
    for label in np.unique(y):
        members = np.flatnonzero(y == label)
        given[random_state.choice(members)] |= not given[members].any()
    return given


class Cells:
    """Rows of figures in a CSV file, found again by what they are figures of.

    A line that was cut short by an interruption is dropped, and with it only that line.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._rows: dict[tuple[str, ...], Row] = {}
        if not file.exists() or not file.stat().st_size:
            return
        with file.open(newline="", encoding="utf-8", errors="replace") as stream:
            reader = csv.DictReader(stream)
            if reader.fieldnames != list(_HEADS):
                raise ValueError(
                    f"{file} holds figures of another version of this program, or of another; "
                    "move it away, or name another folder"
                )
            lines = list(reader)
        good = [line for line in lines if _whole(line)]
        self._rows = {_key(line): line for line in good}
        if len(good) < len(lines) or not file.read_bytes().endswith(b"\n"):
            part = file.with_name(f"{file.name}.part")
            write_csv(part, _HEADS, ([line[head] for head in _HEADS] for line in good))
            part.replace(file)

    def rest(self, work: Work) -> Work | None:
        """The work without the runs that are there, or None if all are."""
        missing = {row["run"] for row in work.rows() if _key(row) not in self._rows}
        return replace(work, runs=tuple(sorted(missing))) if missing else None

    def of(self, work: Work) -> list[Row]:
        """The rows of the work that are there."""
        keys = (_key(row) for row in work.rows())
        return [self._rows[key] for key in keys if key in self._rows]

    def add(self, rows: Iterable[Row]) -> None:
        """Keep rows, in memory and at the end of the file."""
        fresh = not self.file.exists() or not self.file.stat().st_size
        with self.file.open("a", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, _HEADS)
            if fresh:
                writer.writeheader()
            for row in rows:
                writer.writerow(row)
                self._rows[_key(row)] = {name: str(value) for name, value in row.items()}


def _whole(line: Row) -> bool:
    """Whether a line read from the file has all its fields, and numbers for figures."""
    if None in line or None in line.values():
        return False
    try:
        figures = [float(line[name]) for name in _FIGURES if line[name] != ""]
    except ValueError:
        return False
    return line["warnings"].isdigit() and len(figures) in (3, 4) and line["seconds"] != ""


def _key(row: Row) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in _KEY)


def write_csv(file: Path, heads: Iterable[str], rows: Iterable[Sequence[Any]]) -> None:
    """A table of its own, in place of one that is there."""
    with file.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(heads)
        writer.writerows(rows)


def markdown(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    rows = (heads, ["---"] * len(heads), *lines)
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"


def carry_out(
    works: Iterable[Work],
    folder: Path,
    cells: Cells,
    report: Callable[[int, int], None],
    n_jobs: int | None = None,
) -> None:
    """Do the work whose rows are not there yet, one piece a core at a time.

    The heaviest pieces come first, so that no core ends long before another.
    """
    todo = [rest for work in dict.fromkeys(works) if (rest := cells.rest(work)) is not None]
    todo.sort(key=lambda work: work.weight, reverse=True)
    total = sum(work.weight for work in todo)
    done = 0
    report(done, total)
    jobs = Parallel(n_jobs or cpu_count(), return_as="generator_unordered", max_nbytes=None)
    try:
        for work, rows in jobs(delayed(_carried_out)(work, folder) for work in todo):
            cells.add(rows)
            done += work.weight
            report(done, total)
    except TerminatedWorkerError as error:
        raise ChildProcessError(
            "a process was ended from outside, most likely for want of memory; close other "
            f"programs and run the same command to go on from {cells.file}"
        ) from error


def _carried_out(work: Work, folder: Path) -> tuple[Work, list[Row]]:
    return work, evaluate(work, folder)
