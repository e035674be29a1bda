"""How the defaults were chosen: one setting for faces and digits alike.

    python -m experiments.defaults --data DIR

Every setting clusters and classifies every set; labels are used for scoring only, and for the
few that classification is given. First γ and λ are varied together, then every other choice
alone. Every figure is kept in `docs/defaults.csv` as it is there, so a stopped run goes on where
it was; `defaults.md` is written from it at the end. Remove the CSV to measure anew.
"""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import typer

from enhg._progress import reporting
from experiments.protocol import Cells, Draw, Task, Work, carry_out, markdown, written

Setting = dict[str, dict[str, Any]]  # parameters of "structure", "clustering", "classification"

_RUNS = (1000, 1001, 1002)  # draws of labels and starts of k-means; the tables have 0 and up
_SHARE = 0.1
_SETS = {
    "digits": Draw("digits", 10),
    "Yale B 10": Draw("yale-b", 10),
    "Yale B 38": Draw("yale-b", 38),
    "PIE 15": Draw("pie", 15),
    "USPS": Draw("usps", 10, 200, 1000),
}


def settings() -> list[Setting]:
    """γ and λ together, then each other choice varied alone from the defaults."""
    grid: list[Setting] = [
        {"structure": {"gamma": gamma, "lam": lam}}
        for gamma, lam in itertools.product((3, 5, 10, 20), (2, 5, 20))
    ]
    structure: list[dict[str, Any]] = [
        {"threshold": 3}, {"threshold": 5}, {"threshold": 7}, {"threshold": 15},
        {"selection": "largest", "threshold": 0.2}, {"selection": "largest", "threshold": 0.4},
        {"selection": "support_mean"}, {"selection": "support_mean", "threshold": 3.0},
        {"selection": "mass", "threshold": 0.3}, {"selection": "mean"},
        {"membership": "binary"}, {"weighting": "cosine"}, {"weighting": "uniform"},
        {"positive": True}, {"symmetrize": True}, {"preprocessing": "unit"}, {"preprocessing": "zero_mean"},
        {"preprocessing": "whiten"}, {"preprocessing": "smooth"},
        {"error_weight": None}, {"error_weight": 1.0}, {"error_weight": 0.5}, {"error_weight": 0.3},
        {"loss": "norm", "error_weight": None}, {"lam": 0},
    ]  # fmt: skip
    clustering: list[dict[str, Any]] = [
        {"eigenvector_weighting": "equal"}, {"eigenvector_weighting": "resolvent"}, {"normalize_rows": False}
    ]  # fmt: skip
    classification: list[dict[str, Any]] = [
        {"alpha": 0.9}, {"alpha": 0.95}, {"alpha": 0.99}, {"alpha": 0.999}, {"class_balance": "none"},
        {"class_balance": "labels"}, {"class_balance": "labels", "alpha": 0.9}
    ]  # fmt: skip
    paper: Setting = {
        "structure": {"selection": "mean", "membership": "binary", "preprocessing": "unit",
                      "loss": "norm", "lam": 0.01},
        "clustering": {"eigenvector_weighting": "equal", "normalize_rows": False},
        "classification": {"class_balance": "none"},
    }  # fmt: skip
    return [
        {},
        *grid,
        *({"structure": choice} for choice in structure),
        *({"clustering": choice} for choice in clustering),
        *({"classification": choice} for choice in classification),
        paper,
    ]


def works(setting: Setting, draw: Draw) -> list[Work]:
    """All that one setting is tried on of one set."""
    structure = written(setting.get("structure", {}))
    clustering = (written(setting.get("clustering", {})),)
    classification = (written(setting.get("classification", {})),)
    tasks: tuple[Task, ...] = ("classification", "uneven classification")
    return [Work("clustering", draw, "ENHG", structure, clustering, _RUNS)] + [
        Work(task, draw, "ENHG", structure, classification, _RUNS, (_SHARE,)) for task in tasks
    ]


def scores(setting: Setting, draw: Draw, cells: Cells) -> list[float]:
    """AC, NMI, accuracy and accuracy with uneven labels, each the mean of the runs."""
    clustered, *classified = (cells.of(work) for work in works(setting, draw))
    columns = [(clustered, "ac"), (clustered, "nmi"), *((rows, "accuracy") for rows in classified)]
    return [float(np.mean([float(row[name]) for row in rows])) for rows, name in columns]


def page(cells: Cells) -> str:
    """A line a setting, a column a set, best mean first."""
    lines: list[tuple[float, list[str]]] = []
    for setting in settings():
        by_set = [scores(setting, draw, cells) for draw in _SETS.values()]
        mean = float(np.mean(by_set))
        texts = (" / ".join(f"{figure:.3f}" for figure in figures) for figures in by_set)
        lines.append((mean, [_words(setting), f"{mean:.3f}", *texts]))
    lines.sort(key=lambda line: -line[0])
    heads = ["changed from the defaults", "mean", *_SETS]
    return _PAGE.lstrip() + markdown(heads, (texts for _, texts in lines))


def _words(setting: Setting) -> str:
    choices = [f"{name}={value}" for part in setting.values() for name, value in part.items()]
    return ", ".join(choices) if choices else "**nothing: the defaults**"


def measure(folder: Path, kept: Path) -> None:
    """Try what is not in the file yet, and write the page beside it."""
    cells = Cells(kept)
    everything = [
        w for setting in settings() for draw in _SETS.values() for w in works(setting, draw)
    ]
    with reporting(True, "settings tried") as report:
        carry_out(everything, folder, cells, report)
    kept.with_suffix(".md").write_text(page(cells), encoding="utf-8")


_PAGE = """
# How the defaults were chosen

Made by `python -m experiments.defaults --data DIR`; every single figure is in
[defaults.csv](defaults.csv).

One setting for all: a user who passes nothing but the number of clusters should get good results
on faces and digits alike. Every cell is AC / NMI / accuracy / accuracy, the mean of three runs.
The accuracies are on the unlabeled samples, with 10 % of the labels given: first of every class,
then of all samples at random, so that some classes have several times the labels of others. The
sets: scikit-learn's digits (1797), Extended Yale B with 10 and with all 38 subjects (640 and
2414), PIE with 15 subjects (2550; pixels that went through JPEG) and USPS with 200 images a digit.
Labels were used for scoring only. The mean is over all figures of a line.

Faces are whitened and digits smoothed, by themselves (`preprocessing="auto"`); where samples are
whitened, single pixels may be wrong (`error_weight="auto"`). Without whitening and smoothing
(`normalize=zero_mean`) all sets lose, and with whitening but without such errors
(`error_weight=None`) the smallest set of faces loses most; whitened digits (`normalize=whiten`) and
smoothed faces (`normalize=smooth`) lose too. Ten members a hyperedge do better than seven by what
PIE gains, where a person has 170 images, and digits lose a little. `lam=20`, as `enhg reproduce`
has, does as well as 5, but leaves more non-zeros and takes longer. The top of the table is flat.
The literal reading of the paper (its θ, binary incidence, unscaled rows, no class mass) is the
last line.

"""


if __name__ == "__main__":

    def _main(
        data: Path = typer.Option(..., help="Folder of the image sets."),  # noqa: B008
        kept: Path = typer.Option("docs/defaults.csv", help="Where figures are kept."),  # noqa: B008
    ) -> None:
        measure(data, kept)

    typer.run(_main)
