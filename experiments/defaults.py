"""The choice of the defaults: one setting for faces and digits.

Every setting clusters and classifies every data set. γ and λ are varied together, every other
parameter alone. Labels are used for scoring, and for the samples that classification is given.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from experiments.cells import Cells, run_jobs
from experiments.paths import RESULTS, TEMPLATES
from experiments.protocol import Draw, Job, Task, to_json
from experiments.tabular import markdown

ARCHIVE = RESULTS / "defaults.csv.gz"
"""The scores of every single run."""

Setting = dict[str, dict[str, Any]]  # parameters of "structure", "clustering", "classification"

_RUNS = (1000, 1001, 1002)  # the tables use random states from 0
_SHARE = 0.1
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
    {"eigenvector_weighting": "equal"},
    {"eigenvector_weighting": "resolvent"},
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
    "clustering": {"eigenvector_weighting": "equal", "normalize_rows": False},
    "classification": {"class_balance": "none"},
}  # fmt: skip


def settings() -> list[Setting]:
    """Return the defaults, γ and λ varied together, every other parameter alone, the paper's."""
    return [
        {},
        *({"structure": {"gamma": gamma, "lam": lam}} for gamma, lam in product(_GAMMAS, _LAMS)),
        *({"structure": parameters} for parameters in _STRUCTURES),
        *({"clustering": parameters} for parameters in _CLUSTERINGS),
        *({"classification": parameters} for parameters in _CLASSIFICATIONS),
        _PAPER,
    ]


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
    lines: list[tuple[float, list[str]]] = []
    for setting in settings():
        by_draw = [scores(setting, draw, cells) for draw in _DRAWS.values()]
        mean = float(np.mean(by_draw))
        texts = (" / ".join(f"{score:.3f}" for score in scores) for scores in by_draw)
        lines.append((mean, [_describe(setting), f"{mean:.3f}", *texts]))
    lines.sort(key=lambda line: -line[0])
    header = ["changed from the defaults", "mean", *_DRAWS]
    template = (TEMPLATES / "defaults.md").read_text(encoding="utf-8")
    return template.format(table=markdown(header, (texts for _, texts in lines)).strip())


def _describe(setting: Setting) -> str:
    choices = [f"{name}={value}" for part in setting.values() for name, value in part.items()]
    return f"`{', '.join(choices)}`" if choices else "**none: the defaults**"


def measure(folder: Path, cells: Cells, progress: Callable[[int, int], None] | None) -> None:
    """Try every setting that is missing in `cells`."""
    everything = [
        job for setting in settings() for draw in _DRAWS.values() for job in jobs(setting, draw)
    ]
    run_jobs(everything, folder, cells, progress)
