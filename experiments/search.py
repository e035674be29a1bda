"""The search for the parameters of every structure, the same for all.

    python -m experiments.search --data DIR

Every combination of the values in `methods.METHODS` clusters and classifies the paper's sets.
Classification is the mean of three draws of 10 % of the labels, clustering of PIE of three starts
of k-means, which matter there; Extended Yale B and one draw of USPS are clustered once.
Where the tables draw images at random the draw here has another seed, which still shares many
images with theirs; Extended Yale B and PIE are clustered whole by both. Labels are
used for scoring, and for the few that classification is given. The setting of a structure for all
tables is the one of the best mean over all sets and figures; the settings tuned for each set and
task are the best on it. They go to `settings.json`, and what they were chosen from, the mean of
the runs of everything that was tried, to `docs/search.csv`. Every single figure is kept as it is
there, in `search-cells.csv`; remove it to search anew.
"""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import typer

from enhg._progress import reporting
from experiments.methods import METHODS
from experiments.protocol import (
    Cells,
    Draw,
    Row,
    Task,
    Work,
    carry_out,
    write_csv,
    written,
)

SETTINGS_FILE = Path(__file__).with_name("settings.json")
_TRIED = ("version", "task", "dataset", "method", "structure", "learner")
_FIGURES = ("ac", "nmi", "accuracy")
_SPECTRA = tuple(
    written({"eigenvector_weighting": kind}) for kind in ("auto", "equal", "resolvent")
)
_ALPHAS = tuple(written({"alpha": alpha}) for alpha in (0.9, 0.98, 0.998))
_SEED = 1000  # the tables have runs from 0 on
_ONCE, _THRICE = (_SEED,), (_SEED, _SEED + 1, _SEED + 2)
_CLUSTERED = (
    (Draw("yale-b", 20), _ONCE),
    (Draw("pie", 15), _THRICE),
    (Draw("usps", 10, 200, _SEED), _ONCE),
)
_CLASSIFIED = (
    Draw("yale-b", 38, 50, _SEED),
    Draw("pie", 15, 50, _SEED),
    Draw("usps", 10, 200, _SEED),
)


def works(method: str) -> list[Work]:
    """All that is tried of one structure."""
    settings = [written(parameters) for parameters in METHODS[method].settings()]
    return [
        Work("clustering", draw, method, setting, _SPECTRA, runs)
        for setting in settings
        for draw, runs in _CLUSTERED
    ] + [
        Work("classification", draw, method, setting, _ALPHAS, _THRICE, (0.1,))
        for setting in settings
        for draw in _CLASSIFIED
    ]


def means(rows: Iterable[Row]) -> list[Row]:
    """One row for all that was tried, with the mean of its runs."""
    runs: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        runs[tuple(row[name] for name in _TRIED)].append(row)
    return [
        dict(zip(_TRIED, tried, strict=True))
        | {name: _mean([row[name] for row in found]) for name in _FIGURES}
        for tried, found in runs.items()
    ]


def _mean(figures: list[str]) -> str:
    return "" if figures[0] == "" else f"{np.mean([float(figure) for figure in figures]):.5f}"


def choose(tried: Iterable[Row]) -> dict[str, Any]:
    """From the means of one structure to its settings: "all", and one a set and task."""
    scores: dict[tuple[str, str], dict[tuple[str, str], float]] = defaultdict(dict)
    for row in tried:
        figures = [float(row[name]) for name in _FIGURES if row[name] != ""]
        place, pair = (row["task"], row["dataset"]), (row["structure"], row["learner"])
        scores[place][pair] = float(np.mean(figures))
    structures = {structure for found in scores.values() for structure, _ in found}
    learners = {
        task: {learner for place in scores if place[0] == task for _, learner in scores[place]}
        for task in ("clustering", "classification")
    }

    def mean(structure: str, task: str, learner: str) -> float:
        return float(
            np.mean([found[structure, learner] for (t, _), found in scores.items() if t == task])
        )

    best = max(
        sorted(structures),
        key=lambda structure: sum(
            max(mean(structure, task, learner) for learner in found)
            for task, found in learners.items()
        ),
    )
    chosen: dict[str, Any] = {
        "all": {"structure": json.loads(best)}
        | {
            task: json.loads(max(sorted(found), key=lambda learner: mean(best, task, learner)))
            for task, found in learners.items()
        }
    }
    for (task, dataset), found in scores.items():
        structure, learner = max(sorted(found), key=lambda pair: found[pair])
        chosen[f"{dataset} {task}"] = {
            "structure": json.loads(structure),
            task: json.loads(learner),
        }
    return chosen


@cache
def _settings() -> dict[str, Any]:
    return json.loads(SETTINGS_FILE.read_text(encoding="utf-8"))


def setting_for(method: str, task: Task, dataset: str | None) -> tuple[str, str]:
    """Structure and learner, as text: those of all tables, or those tuned for a set."""
    chosen = _settings()[method]
    setting = chosen["all" if dataset is None else f"{dataset} {task}"]
    return written(setting["structure"]), written(setting[task])


def search(folder: Path, kept: Path, out: Path) -> None:
    """Try what is not kept yet, and write the means and the choices."""
    cells = Cells(kept)
    todo = [work for method in METHODS for work in works(method)]
    with reporting(True, "settings tried") as report:
        carry_out(todo, folder, cells, report)
    tried = means(row for work in todo for row in cells.of(work))
    heads = (*_TRIED, *_FIGURES)
    write_csv(out, heads, ([row[head] for head in heads] for row in tried))
    SETTINGS_FILE.write_text(json.dumps(choices(out), indent=1) + "\n", encoding="utf-8")


def choices(file: Path) -> dict[str, Any]:
    """The settings of every structure, from the file of the means."""
    with file.open(newline="", encoding="utf-8") as stream:
        tried = list(csv.DictReader(stream))
    return {method: choose(row for row in tried if row["method"] == method) for method in METHODS}


if __name__ == "__main__":

    def _main(
        data: Path = typer.Option(..., help="Folder of the image sets."),  # noqa: B008
        kept: Path = typer.Option("search-cells.csv", help="Where figures are kept."),  # noqa: B008
        out: Path = typer.Option("docs/search.csv", help="File of the means."),  # noqa: B008
    ) -> None:
        """Try every setting of every structure, and choose."""
        search(data, kept, out)

    typer.run(_main)
