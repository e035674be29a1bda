"""The paper's tables I to IV, made again: ours beside the paper's own numbers."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np

from enhg import plotting
from experiments.methods import METHODS
from experiments.protocol import SHARES, Cells, Draw, Row, Task, Work, markdown, write_csv
from experiments.search import setting_for

METRICS = {"ac": "AC", "nmi": "NMI", "accuracy": "accuracy"}
COLUMNS = {"one": "one setting for all tables", "tuned": "tuned for each set"}
_TITLES = {"yale-b": "Extended Yale B", "pie": "PIE", "usps": "USPS"}
_PAPER = Path(__file__).with_name("paper")


@dataclass(frozen=True)
class Table:
    """A table of the paper: what is drawn for each of its rows."""

    title: str
    task: Task
    draws: tuple[Draw, ...]

    def works(self, column: str, runs: int) -> Iterator[tuple[Draw, str, Work]]:
        """Work by draw and method."""
        shares = SHARES if self.task == "classification" else (0.0,)
        for draw, method in product(self.draws, METHODS):
            dataset = draw.dataset if column == "tuned" else None
            structure, learner = setting_for(method, self.task, dataset)
            for drawn, numbers in draw.by_run(runs):
                work = Work(self.task, drawn, method, structure, (learner,), numbers, shares)
                yield draw, method, work


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
        "Clustering of USPS, 200 images a digit",
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
    """One figure of a table: ours over the runs, and the paper's where it has one."""

    column: str
    row: str
    metric: str
    method: str
    mean: float
    std: float
    runs: int
    seconds: float
    warnings: int
    paper: float | None


def works(name: str, runs: int) -> list[Work]:
    """All that a table is made of."""
    return [work for column in COLUMNS for *_, work in TABLES[name].works(column, runs)]


def make(name: str, cells: Cells, runs: int) -> list[Cell]:
    """A table from the rows of its work."""
    table = TABLES[name]
    paper = paper_numbers()
    made = []
    for column in COLUMNS:
        rows: dict[tuple[str, str, str], list[Row]] = {}
        for draw, method, work in table.works(column, runs):
            for row in cells.of(work):
                for metric in METRICS:
                    if row[metric] == "":
                        continue
                    name = row_name(draw, table.task, float(row["share"]))
                    rows.setdefault((name, metric, method), []).append(row)
        for (name, metric, method), of_cell in rows.items():
            values = [float(row[metric]) for row in of_cell]
            made.append(
                Cell(
                    column, name, metric, method, float(np.mean(values)),
                    float(np.std(values, ddof=1)) if len(values) > 1 else 0.0, len(values),
                    float(np.mean([float(row["seconds"]) for row in of_cell])),
                    sum(int(row["warnings"]) for row in of_cell),
                    paper.get((name, metric, method)),
                )
            )  # fmt: skip
    return made


def row_name(draw: Draw, task: Task, share: float = 0.0) -> str:
    """What the row of a table is called."""
    if task == "clustering":
        return f"{_TITLES[draw.dataset]}, K = {draw.classes}"
    return f"{_TITLES[draw.dataset]}, {share:.0%} labeled"


def paper_numbers() -> dict[tuple[str, str, str], float]:
    """The paper's, by row, metric and method; accuracies as fractions."""
    found = {}
    with (_PAPER / "clustering.csv").open(newline="", encoding="utf-8") as stream:
        for line in csv.DictReader(stream):
            row = f"{line['dataset']}, K = {line['n_clusters']}"
            found[row, line["metric"].lower(), line["method"]] = float(line["value"])
    with (_PAPER / "classification.csv").open(newline="", encoding="utf-8") as stream:
        for line in csv.DictReader(stream):
            row = f"{line['dataset']}, {line['labelled_percent']}% labeled"
            found[row, "accuracy", line["method"]] = float(line["accuracy_percent"]) / 100
    return found


def as_markdown(name: str, cells: list[Cell]) -> str:
    """A table a column of settings: mean ± standard deviation, the paper's number in brackets,
    the best of a row bold, and the seconds of every method below."""
    methods = [method for method in METHODS if any(cell.method == method for cell in cells)]
    lines = [f"## {TABLES[name].title}"]
    for column, words in COLUMNS.items():
        of_column = [cell for cell in cells if cell.column == column]
        if not of_column:
            continue
        found = {(cell.row, cell.metric, cell.method): cell for cell in of_column}
        rows = []
        for row, metric in dict.fromkeys((cell.row, cell.metric) for cell in of_column):
            line = {method: found.get((row, metric, method)) for method in methods}
            best = max(round(cell.mean, 3) for cell in line.values() if cell)
            texts = [_in_words(cell, best) if cell else "" for cell in line.values()]
            rows.append([row, METRICS[metric], *texts])
        seconds = [
            np.mean([cell.seconds for cell in of_column if cell.method == method])
            for method in methods
        ]
        rounded = [f"{s:.0f}" if s >= 10 else f"{s:.2g}" for s in seconds]
        rows.append(["seconds a run", "", *rounded])
        lines += [
            "",
            f"**{words.capitalize()}**: mean ± standard deviation over the runs "
            f"({_count_of_runs(of_column)}), the paper's number in brackets",
            "",
            markdown(["", "", *methods], rows),
        ]
    return "\n".join(lines).rstrip() + "\n"


def _count_of_runs(cells: list[Cell]) -> str:
    counts = sorted({cell.runs for cell in cells})
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _in_words(cell: Cell, best: float) -> str:
    text = f"{cell.mean:.3f}"
    if round(cell.mean, 3) == best:
        text = f"**{text}**"
    if cell.runs > 1:
        text += f" ± {cell.std:.3f}"
    return text if cell.paper is None else f"{text} ({cell.paper:.3f})"


def write(name: str, out: Path, cells: Cells, runs: int) -> None:
    """The table as CSV, Markdown and a picture."""
    made = make(name, cells, runs)
    write_csv(out / f"{name}.csv", Cell.__dataclass_fields__, as_rows(made))
    (out / f"{name}.md").write_text(as_markdown(name, made), encoding="utf-8")
    draw(name, made, out / f"{name}.png")


def as_rows(cells: list[Cell]) -> list[list[object]]:
    """The cells as rows of a CSV file, under the names of a `Cell`'s fields."""
    return [
        [
            cell.column, cell.row, cell.metric, cell.method, f"{cell.mean:.4f}",
            f"{cell.std:.4f}", cell.runs, f"{cell.seconds:.2f}", cell.warnings,
            "" if cell.paper is None else f"{cell.paper:.4f}",
        ]
        for cell in cells
    ]  # fmt: skip


def draw(name: str, cells: list[Cell], file: Path) -> None:
    """Every method over the rows of the table, one setting for all; the paper's ENHG dashed."""
    shown = [cell for cell in cells if cell.column == "one"]
    metrics = list(dict.fromkeys(cell.metric for cell in shown))
    datasets = list(dict.fromkeys(cell.row.split(",")[0] for cell in shown))
    figure, axes = plotting.new_figure(
        len(metrics), len(datasets), (5.2 * len(datasets) + 2, 4.4 * len(metrics))
    )
    for ax, (metric, dataset) in zip(axes, product(metrics, datasets), strict=True):
        of_plot = [c for c in shown if c.metric == metric and c.row.startswith(dataset)]
        curves = {
            method: [(_place(c), c.mean) for c in of_plot if c.method == method]
            for method in METHODS
        }
        curves["ENHG in the paper"] = [
            (_place(c), c.paper) for c in of_plot if c.method == "ENHG" and c.paper is not None
        ]
        last = dataset == datasets[-1]
        plotting.plot_comparison(curves, "ENHG", METRICS[metric], legend=last, ax=ax)
        ax.set_title(f"{dataset}, one setting")
        if TABLES[name].task == "classification":
            ax.set_xlabel("labeled")
    figure.savefig(file)


def _place(cell: Cell) -> str:
    """Where on the axis a cell stands: the part of its row after the set."""
    return cell.row.split(", ")[1].removesuffix(" labeled")
