"""The choice of the defaults: one setting for faces and digits.

Every setting clusters and classifies every data set. γ and λ are varied together, every other
parameter alone. The defaults were chosen by these scores.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from enhg import HyperedgeRule, HypergraphClassifier, HypergraphClustering
from experiments.cells import Cells, run_jobs
from experiments.methods import METHODS, as_arguments
from experiments.paths import RESULTS, TEMPLATES
from experiments.protocol import Draw, Job, Task, to_json
from experiments.tabular import enumerated, markdown, signed

ARCHIVE = RESULTS / "defaults.csv.gz"
"""The scores of every single run."""

Setting = dict[str, dict[str, Any]]  # parameters of "structure", "clustering", "classification"

_RUNS = (1000, 1001, 1002)  # the tables use random states from 0
_SHARE = 0.1
_FLAT = 0.005  # difference of two means that the text calls small
_DRAWS = {
    "digits": Draw("digits", 10),
    "Yale B 10": Draw("yale-b", 10),
    "Yale B 38": Draw("yale-b", 38),
    "PIE 15": Draw("pie", 15),
    "USPS": Draw("usps", 10, 200, 1000),
}
_GAMMAS, _LAMS = (3, 5, 10, 20), (2, 5, 20)
_STRUCTURES: list[dict[str, Any]] = [
    {"threshold": 3}, {"threshold": 5}, {"threshold": 7}, {"threshold": 15},
    {"selection": "largest", "threshold": 0.2}, {"selection": "largest", "threshold": 0.4},
    {"selection": "mean"}, {"membership": "binary"},
    {"weighting": "cosine"}, {"weighting": "uniform"},
    {"positive": True}, {"symmetrize": True},
    {"preprocessing": "unit"}, {"preprocessing": "zero_mean"},
    {"preprocessing": "whiten"}, {"preprocessing": "smooth"},
    {"error_weight": None}, {"error_weight": 1.0}, {"error_weight": 0.5}, {"error_weight": 0.3},
    {"loss": "norm", "error_weight": None}, {"lam": 0},
]  # fmt: skip
_CLUSTERINGS: list[dict[str, Any]] = [
    {"method": "spectral"},
    {"method": "resolvent"},
    {"normalize_rows": False},
]
_CLASSIFICATIONS: list[dict[str, Any]] = [
    {"alpha": 0.9}, {"alpha": 0.95}, {"alpha": 0.99}, {"alpha": 0.999},
    {"class_balance": "none"}, {"class_balance": "labels"},
    {"class_balance": "labels", "alpha": 0.9},
]  # fmt: skip
_PAPER: Setting = {
    "structure": {"selection": "mean", "membership": "binary", "preprocessing": "unit",
                  "loss": "norm", "lam": 0.01},
    "clustering": {"method": "spectral", "normalize_rows": False},
    "classification": {"class_balance": "none"},
}  # fmt: skip

COMPARED: dict[str, Setting] = {
    "zero_mean": {"structure": {"preprocessing": "zero_mean"}},
    "no_errors": {"structure": {"error_weight": None}},
    "seven": {"structure": {"threshold": 7}},
    "more_ridge": {"structure": {"gamma": 10, "lam": 20}},
}
"""Settings that the text of the page compares with the defaults, data set by data set."""


def settings() -> list[Setting]:
    """Return the defaults, γ and λ varied together, every other parameter alone, the paper's."""
    return [
        {},
        *({"structure": {"gamma": gamma, "lam": lam}} for gamma, lam in _gammas_and_lams()),
        *({"structure": parameters} for parameters in _STRUCTURES),
        *({"clustering": parameters} for parameters in _CLUSTERINGS),
        *({"classification": parameters} for parameters in _CLASSIFICATIONS),
        _PAPER,
    ]


def _gammas_and_lams() -> list[tuple[float, float]]:
    """The pairs that are tried besides the defaults."""
    own = METHODS["ENHG"].structure()
    return [pair for pair in product(_GAMMAS, _LAMS) if pair != (own.gamma, own.lam)]


def jobs(setting: Setting, draw: Draw) -> list[Job]:
    """Return the jobs of one setting on one data set."""
    structure = to_json(setting.get("structure", {}))
    clustering = (to_json(setting.get("clustering", {})),)
    classification = (to_json(setting.get("classification", {})),)
    tasks: tuple[Task, ...] = ("classification", "uneven classification")
    return [Job("clustering", draw, "ENHG", structure, clustering, _RUNS)] + [
        Job(task, draw, "ENHG", structure, classification, _RUNS, (_SHARE,)) for task in tasks
    ]


def scores(setting: Setting, draw: Draw, cells: Cells) -> list[float]:
    """Return the means of AC, NMI, accuracy and accuracy with unevenly drawn labels."""
    clustered, *classified = (cells.rows(job) for job in jobs(setting, draw))
    columns = [(clustered, "ac"), (clustered, "nmi"), *((rows, "accuracy") for rows in classified)]
    return [float(np.mean([float(row[name]) for row in rows])) for rows, name in columns]


def page(cells: Cells) -> str:
    """Return the page: one line per setting, the best mean first."""
    lines = [_line(setting, cells) for setting in settings()]
    own_mean, _ = _line({}, cells)
    near = sum(abs(mean - own_mean) < _FLAT for mean, _ in lines) - 1
    lines.sort(key=lambda line: -line[0])
    header = ["changed from the defaults", "mean", *_DRAWS]
    template = (TEMPLATES / "defaults.md").read_text(encoding="utf-8")
    return template.format(
        table=markdown(header, (texts for _, texts in lines)).strip(),
        near=near,
        others=len(lines) - 1,
        flat=_FLAT,
        **{name: _differences(setting, cells) for name, setting in COMPARED.items()},
        seconds=f"{_seconds({}, cells):.1f}",
        more_ridge_seconds=f"{_seconds(COMPARED['more_ridge'], cells):.1f}",
    )


def _line(setting: Setting, cells: Cells) -> tuple[float, list[str]]:
    """The mean of all scores of a setting, and its line of the table."""
    by_draw = [scores(setting, draw, cells) for draw in _DRAWS.values()]
    mean = float(np.mean(by_draw))
    texts = (" / ".join(f"{score:.3f}" for score in scores) for scores in by_draw)
    return mean, [_describe(setting), f"{mean:.3f}", *texts]


def _differences(setting: Setting, cells: Cells) -> str:
    """Mean score of a setting minus that of the defaults, by data set."""
    return enumerated(
        [
            f"{signed(float(np.mean(scores(setting, draw, cells)) - np.mean(own)))} on {name}"
            for name, draw in _DRAWS.items()
            for own in [scores({}, draw, cells)]
        ]
    )


def _seconds(setting: Setting, cells: Cells) -> float:
    """Mean time of a clustering over all data sets."""
    rows = [row for draw in _DRAWS.values() for row in cells.rows(jobs(setting, draw)[0])]
    return float(np.mean([float(row["seconds"]) for row in rows]))


def _describe(setting: Setting) -> str:
    if not setting:
        return f"**none: the defaults** `{_default_arguments()}`"
    return f"`{_arguments(setting)}`"


def _arguments(setting: Setting) -> str:
    """The parameters of structure and learners as arguments in Python."""
    parts = [
        METHODS["ENHG"].arguments(parameters) if name == "structure" else as_arguments(parameters)
        for name, parameters in setting.items()
    ]
    return ", ".join(parts)


def _default_arguments() -> str:
    """The default values of all parameters that are varied."""
    rule = HyperedgeRule()
    structure = METHODS["ENHG"].structure()
    values = structure.get_params() | rule.get_params() | {"threshold": rule.thresholds}
    learners = {
        "clustering": HypergraphClustering().get_params(),
        "classification": HypergraphClassifier().get_params(),
    }
    names = {"structure": ("gamma", "lam", *_names(_STRUCTURES))} | {
        "clustering": _names(_CLUSTERINGS),
        "classification": _names(_CLASSIFICATIONS),
    }
    return _arguments(
        {
            part: {name: learners.get(part, values)[name] for name in dict.fromkeys(own)}
            for part, own in names.items()
        }
    )


def _names(choices: list[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(name for choice in choices for name in choice)


def measure(folder: Path, cells: Cells, progress: Callable[[int, int], None] | None) -> None:
    """Try every setting that is missing in `cells`."""
    everything = [
        job for setting in settings() for draw in _DRAWS.values() for job in jobs(setting, draw)
    ]
    run_jobs(everything, folder, cells, progress)
