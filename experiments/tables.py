"""Tables I to IV of the paper, with the paper's own numbers beside the scores of this package."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path

import numpy as np

from enhg import plotting
from experiments.cells import Cells
from experiments.methods import METHODS
from experiments.paths import PAPER
from experiments.protocol import SHARES, Draw, Job, Row, Task
from experiments.search import Setting, setting_for
from experiments.tabular import folded, markdown, read_records, write_csv

METRICS = {"ac": "AC", "nmi": "NMI", "accuracy": "accuracy"}
SETTINGS: dict[Setting, str] = {
    "default": "by default: no parameters given but the number of clusters",
    "shared": "one setting shared by all tables",
    "tuned": "tuned for each data set",
    "paper": "as in the paper: one setting shared by all tables, no extensions",
}
LABELS: dict[Setting, str] = {
    "default": "default",
    "shared": "shared",
    "tuned": "tuned",
    "paper": "as in the paper",
}
OURS = "ENHG"
"""The structure that the setting "default" is of; the other settings are of every structure."""

TITLES = {"yale-b": "Extended Yale B", "pie": "PIE", "usps": "USPS"}


@dataclass(frozen=True)
class Table:
    """A table of the paper: its title, its task and the samples of its rows."""

    title: str
    task: Task
    draws: tuple[Draw, ...]

    def jobs(self, setting: Setting, runs: int) -> Iterator[tuple[Draw, str, Job]]:
        """Yield every job with its draw and the name of its structure."""
        shares = SHARES if self.task == "classification" else (0.0,)
        methods = (OURS,) if setting == "default" else tuple(METHODS)
        for draw, method in product(self.draws, methods):
            structure, learner = setting_for(method, self.task, setting, draw.dataset)
            for by_run, numbers in draw.by_run(runs):
                job = Job(self.task, by_run, method, structure, (learner,), numbers, shares)
                yield draw, method, job


TABLES = {
    "table1": Table(
        "Clustering of Extended Yale B",
        "clustering",
        tuple(Draw("yale-b", count) for count in (10, 15, 20, 30, 38)),
    ),
    "table2": Table(
        "Clustering of PIE", "clustering", tuple(Draw("pie", count) for count in (15, 25))
    ),
    "table3": Table(
        "Clustering of USPS, 200 images per digit",
        "clustering",
        tuple(Draw("usps", count, 200) for count in (4, 6, 8, 10)),
    ),
    "table4": Table(
        "Classification: accuracy on the unlabeled images",
        "classification",
        (Draw("yale-b", 38, 50), Draw("pie", 15, 50), Draw("usps", 10, 200)),
    ),
}


@dataclass(frozen=True)
class Cell:
    """One entry of a table: statistics over the runs, and the paper's number if it has one."""

    setting: str
    row: str
    metric: str
    method: str
    mean: float
    std: float
    runs: int
    seconds: float
    warnings: int
    paper: float | None


def jobs(name: str, runs: int, settings: Iterable[Setting] = tuple(SETTINGS)) -> list[Job]:
    """Return the jobs of a table with the given settings."""
    return [job for setting in settings for *_, job in TABLES[name].jobs(setting, runs)]


def make(name: str, cells: Cells, runs: int) -> list[Cell]:
    """Compute a table from the rows of its jobs, as far as they are there."""
    paper = paper_numbers()
    return [
        _summary(setting, *place, rows, paper.get(place))
        for setting in SETTINGS
        for place, rows in _rows_by_place(TABLES[name], setting, cells, runs).items()
    ]


def _rows_by_place(
    table: Table, setting: Setting, cells: Cells, runs: int
) -> dict[tuple[str, str, str], list[Row]]:
    """The rows of single runs, by row of the table, metric and structure."""
    places: dict[tuple[str, str, str], list[Row]] = {}
    for draw, method, job in table.jobs(setting, runs):
        for row in cells.rows(job):
            name = row_name(draw, table.task, float(row["share"]))
            for metric in METRICS:
                if row[metric] != "":
                    places.setdefault((name, metric, method), []).append(row)
    return places


def _summary(
    setting: Setting, name: str, metric: str, method: str, rows: list[Row], paper: float | None
) -> Cell:
    scores = [float(row[metric]) for row in rows]
    return Cell(
        setting,
        name,
        metric,
        method,
        mean=float(np.mean(scores)),
        std=float(np.std(scores, ddof=1)) if len(scores) > 1 else 0.0,
        runs=len(scores),
        seconds=float(np.mean([float(row["seconds"]) for row in rows])),
        warnings=sum(int(row["warnings"]) for row in rows),
        paper=paper,
    )


def row_name(draw: Draw, task: Task, share: float = 0.0) -> str:
    """Return the name of a row of a table."""
    if task == "clustering":
        return f"{TITLES[draw.dataset]}, K = {draw.classes}"
    return f"{TITLES[draw.dataset]}, {share:.0%} labeled"


def paper_numbers() -> dict[tuple[str, str, str], float]:
    """Return the paper's numbers by row, metric and structure; accuracies as fractions."""
    numbers = {}
    for line in read_records(PAPER / "clustering.csv"):
        row = f"{line['dataset']}, K = {line['n_clusters']}"
        numbers[row, line["metric"].lower(), line["method"]] = float(line["value"])
    for line in read_records(PAPER / "classification.csv"):
        row = f"{line['dataset']}, {line['labeled_percent']}% labeled"
        numbers[row, "accuracy", line["method"]] = float(line["accuracy_percent"]) / 100
    return numbers


def as_markdown(name: str, cells: list[Cell]) -> str:
    """Format a table in Markdown, once for each setting.

    An entry is mean ± standard deviation with the paper's number in parentheses, the best of
    several structures in bold; the last row has the mean seconds of every structure.
    """
    parts = [f"### {TABLES[name].title}"]
    for setting, title in SETTINGS.items():
        shown = [cell for cell in cells if cell.setting == setting]
        if shown:
            summary = (
                f"{title.capitalize()}; mean ± standard deviation of {_run_counts(shown)} runs, "
                "the paper's number in parentheses"
            )
            parts.append(folded(summary, _markdown_table(shown)))
    return "\n\n".join(parts) + "\n"


def _markdown_table(cells: list[Cell]) -> str:
    methods = [method for method in METHODS if any(cell.method == method for cell in cells)]
    by_place = {(cell.row, cell.metric, cell.method): cell for cell in cells}
    lines = []
    for row, metric in dict.fromkeys((cell.row, cell.metric) for cell in cells):
        entries = [by_place.get((row, metric, method)) for method in methods]
        best = max(round(cell.mean, 3) for cell in entries if cell) if len(methods) > 1 else None
        texts = [_entry(cell, best) if cell else "" for cell in entries]
        lines.append([row, METRICS[metric], *texts])
    lines.append(["seconds per run", "", *(_seconds(cells, method) for method in methods)])
    return markdown(["", "", *methods], lines)


def _run_counts(cells: list[Cell]) -> str:
    counts = sorted({cell.runs for cell in cells})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _entry(cell: Cell, best: float | None) -> str:
    text = f"{cell.mean:.3f}"
    if round(cell.mean, 3) == best:
        text = f"**{text}**"
    if cell.runs > 1:
        text += f" ± {cell.std:.3f}"
    return text if cell.paper is None else f"{text} ({cell.paper:.3f})"


def _seconds(cells: list[Cell], method: str) -> str:
    seconds = np.mean([cell.seconds for cell in cells if cell.method == method])
    return f"{seconds:.0f}" if seconds >= 10 else f"{seconds:.2g}"


def write(name: str, out: Path, cells: Cells, runs: int) -> None:
    """Write a table as CSV, Markdown and, if it has the shared setting, a picture."""
    made = make(name, cells, runs)
    write_cells(out / f"{name}.csv", made)
    (out / f"{name}.md").write_text(as_markdown(name, made), encoding="utf-8")
    if any(cell.setting == "shared" for cell in made):
        draw(name, made, out / f"{name}.png")


def write_cells(file: Path, cells: list[Cell]) -> None:
    """Write the cells of a table as CSV."""
    rows = [
        [
            cell.setting, cell.row, cell.metric, cell.method, f"{cell.mean:.4f}",
            f"{cell.std:.4f}", cell.runs, f"{cell.seconds:.2f}", cell.warnings,
            "" if cell.paper is None else f"{cell.paper:.4f}",
        ]
        for cell in cells
    ]  # fmt: skip
    write_csv(file, (field.name for field in fields(Cell)), rows)


def read_cells(file: Path) -> list[Cell]:
    """Read the cells that `write_cells` wrote."""
    return [
        Cell(
            line["setting"], line["row"], line["metric"], line["method"], float(line["mean"]),
            float(line["std"]), int(line["runs"]), float(line["seconds"]),
            int(line["warnings"]), float(line["paper"]) if line["paper"] else None,
        )
        for line in read_records(file)
    ]  # fmt: skip


def merge(stored: list[Cell], made: list[Cell]) -> list[Cell]:
    """Return the stored cells, with those that were made anew in their places."""
    cells = {_place(cell): cell for cell in stored} | {_place(cell): cell for cell in made}
    order = list[str](SETTINGS)
    return sorted(cells.values(), key=lambda cell: order.index(cell.setting))


def _place(cell: Cell) -> tuple[str, str, str, str]:
    return cell.setting, cell.row, cell.metric, cell.method


def draw(name: str, cells: list[Cell], file: Path) -> None:
    """Plot the scores of every structure with the shared setting, and the paper's ENHG."""
    shown = [cell for cell in cells if cell.setting == "shared"]
    metrics = list(dict.fromkeys(cell.metric for cell in shown))
    datasets = list(dict.fromkeys(cell.row.split(",")[0] for cell in shown))
    size = (5.2 * len(datasets) + 2, 4.4 * len(metrics))
    figure, axes = plotting.new_figure(len(metrics), len(datasets), size)
    for ax, (metric, dataset) in zip(axes, product(metrics, datasets), strict=True):
        plotted = [c for c in shown if c.metric == metric and c.row.startswith(dataset)]
        plotting.plot_comparison(
            _curves(plotted), OURS, METRICS[metric], legend=dataset == datasets[-1], ax=ax
        )
        ax.set_title(f"{dataset}, shared setting")
        if TABLES[name].task == "classification":
            ax.set_xlabel("labeled")
    figure.savefig(file)


def _curves(cells: list[Cell]) -> dict[str, list[tuple[str, float]]]:
    curves = {
        method: [(_tick(cell), cell.mean) for cell in cells if cell.method == method]
        for method in METHODS
    }
    curves["ENHG in the paper"] = [
        (_tick(cell), cell.paper)
        for cell in cells
        if cell.method == OURS and cell.paper is not None
    ]
    return curves


def _tick(cell: Cell) -> str:
    """The label on the axis: the name of the row without the data set."""
    return cell.row.split(", ")[1].removesuffix(" labeled")
