"""The search for the parameters of every structure, with the same effort for each.

Every setting of `methods.METHODS` clusters and classifies the paper's data sets. Classification
is averaged over three draws of 10 % of the labels, clustering of PIE over three starts of k-means,
on which it depends; Extended Yale B and one draw of USPS are clustered once. Where the tables draw
samples at random, the search uses another seed. Labels are used for scoring, and for the samples
that classification is given.

There are two searches: one with the options of this package, extensions included, and one with
those of the paper alone. The shared setting of a structure has the best mean over all data sets
and scores of the first; the tuned settings are its best for each data set and task. The paper
setting has the best mean over all data sets and scores of the second.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from enhg import InputError
from experiments.cells import Cells, run_jobs
from experiments.methods import METHODS, Options
from experiments.paths import RESULTS, SETTINGS
from experiments.protocol import Draw, Job, Row, Task, to_json
from experiments.tabular import read_records, write_csv

Setting = Literal["default", "shared", "tuned", "paper"]

MEANS: dict[Options, Path] = {
    "extended": RESULTS / "search.csv.gz",
    "paper": RESULTS / "search-paper.csv.gz",
}
"""The mean scores of every setting that was tried, by search."""

_KEY = ("version", "task", "dataset", "method", "structure", "learner")
_SCORES = ("ac", "nmi", "accuracy")
_TASKS: tuple[Task, ...] = ("clustering", "classification")
_ALPHAS = (0.9, 0.98, 0.998)
_CLUSTERINGS = {
    "extended": tuple(to_json({"method": name}) for name in ("spectral", "resolvent")),
    "paper": (to_json({"method": "spectral", "normalize_rows": False}),),
}
_CLASSIFIERS = {
    options: tuple(
        to_json({"alpha": alpha, "class_balance": balance, "method": "diffusion"})
        for alpha in _ALPHAS
    )
    for options, balance in (("extended", "equal"), ("paper", "none"))
}
_SEED = 1000  # the tables use seeds from 0
_ONE_RUN, _THREE_RUNS = (_SEED,), (_SEED, _SEED + 1, _SEED + 2)
_CLUSTERED = (
    (Draw("yale-b", 20), _ONE_RUN),
    (Draw("pie", 15), _THREE_RUNS),
    (Draw("usps", 10, 200, _SEED), _ONE_RUN),
)
_CLASSIFIED = (
    Draw("yale-b", 38, 50, _SEED),
    Draw("pie", 15, 50, _SEED),
    Draw("usps", 10, 200, _SEED),
)

Pair = tuple[str, str]  # parameters of a structure and of a learner
Scores = dict[tuple[str, str], dict[Pair, float]]  # by task and data set


def jobs(method: str, options: Options) -> list[Job]:
    """Return everything that one search tries for one structure."""
    settings = [to_json(parameters) for parameters in METHODS[method].settings(options)]
    clusterings, classifiers = _CLUSTERINGS[options], _CLASSIFIERS[options]
    return [
        Job("clustering", draw, method, setting, clusterings, runs)
        for setting in settings
        for draw, runs in _CLUSTERED
    ] + [
        Job("classification", draw, method, setting, classifiers, _THREE_RUNS, (0.1,))
        for setting in settings
        for draw in _CLASSIFIED
    ]


def means(rows: Iterable[Row]) -> list[Row]:
    """Average the rows of every setting over its runs."""
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in _KEY)].append(row)
    return [
        dict(zip(_KEY, key, strict=True))
        | {name: _mean([row[name] for row in group]) for name in _SCORES}
        for key, group in groups.items()
    ]


def _mean(scores: list[str]) -> str:
    return "" if scores[0] == "" else f"{np.mean([float(score) for score in scores]):.5f}"


def choose(rows: Iterable[Row]) -> dict[str, Any]:
    """Choose the settings of one structure from its mean scores.

    Returns
    -------
    dict
        The shared setting under "all", and the best under "<data set> <task>" for each.
    """
    scores: Scores = defaultdict(dict)
    for row in rows:
        values = [float(row[name]) for name in _SCORES if row[name] != ""]
        pair = row["structure"], row["learner"]
        scores[row["task"], row["dataset"]][pair] = float(np.mean(values))
    chosen: dict[str, Any] = {"all": _shared_setting(scores)}
    for (task, dataset), by_pair in scores.items():
        structure, learner = _best(by_pair, by_pair.__getitem__)
        chosen[f"{dataset} {task}"] = {
            "structure": json.loads(structure),
            task: json.loads(learner),
        }
    return chosen


def _shared_setting(scores: Scores) -> dict[str, Any]:
    """The structure of the best mean, with the best learner of each task on it."""
    structures = {structure for by_pair in scores.values() for structure, _ in by_pair}
    learners = {
        task: {learner for place in scores if place[0] == task for _, learner in scores[place]}
        for task in _TASKS
    }

    def mean(structure: str, task: Task, learner: str) -> float:
        places = [by_pair for (name, _), by_pair in scores.items() if name == task]
        return float(np.mean([by_pair[structure, learner] for by_pair in places]))

    def total(structure: str) -> float:
        return sum(
            max(mean(structure, task, learner) for learner in learners[task]) for task in _TASKS
        )

    best = _best(structures, total)
    return {"structure": json.loads(best)} | {
        task: json.loads(_best(learners[task], partial(mean, best, task))) for task in _TASKS
    }


def _best(candidates: Iterable[Any], score: Callable[[Any], float]) -> Any:
    """The candidate of the highest score, the first in sorted order where several have it."""
    return max(sorted(candidates), key=score)


@cache
def _settings() -> dict[str, Any]:
    return json.loads(SETTINGS.read_text(encoding="utf-8"))


def setting_for(method: str, task: Task, setting: Setting, dataset: str = "") -> Pair:
    """Return the parameters of structure and learner as JSON.

    Parameters
    ----------
    method : str
        Name of the structure.
    task : Task
        Clustering or classification.
    setting : {"default", "shared", "tuned", "paper"}
        Which of the chosen settings; "default" has no parameters.
    dataset : str
        The data set of a tuned setting.
    """
    if setting == "default":
        return to_json({}), to_json({})
    key = {"shared": "all", "tuned": f"{dataset} {task}", "paper": "paper"}[setting]
    chosen = _settings()[method][key]
    return to_json(chosen["structure"]), to_json(chosen[task])


def search(
    folder: Path,
    cells: Cells,
    progress: Callable[[int, int], None] | None,
    searches: Iterable[Options] = tuple(MEANS),
) -> None:
    """Try every setting that is missing in `cells`; store the mean scores and the choices."""
    todo = {options: _all_jobs(options) for options in searches}
    run_jobs([job for part in todo.values() for job in part], folder, cells, progress)
    header = (*_KEY, *_SCORES)
    for options, part in todo.items():
        rows = means(row for job in part for row in cells.rows(job))
        write_csv(MEANS[options], header, ([row[name] for name in header] for row in rows))
    SETTINGS.write_text(json.dumps(choices(), indent=1) + "\n", encoding="utf-8")


def select(names: Sequence[str]) -> list[Options]:
    """Return the requested searches in their order; all if none is requested."""
    unknown = [name for name in names if name not in MEANS]
    if unknown:
        raise InputError(f"names must be among {', '.join(MEANS)}, got {unknown[0]!r}")
    return [name for name in MEANS if name in names or not names]


def _all_jobs(options: Options) -> list[Job]:
    return [job for method in METHODS for job in jobs(method, options)]


def choices() -> dict[str, Any]:
    """Choose the settings of every structure from the stored mean scores."""
    chosen = {options: _choices(file) for options, file in MEANS.items()}
    return {
        method: chosen["extended"][method] | {"paper": chosen["paper"][method]["all"]}
        for method in METHODS
    }


def _choices(file: Path) -> dict[str, Any]:
    rows = read_records(file)
    return {method: choose(row for row in rows if row["method"] == method) for method in METHODS}
