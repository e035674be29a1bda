"""The page of the reproduction, from the folder of a full run.

    enhg reproduce all --data DIR -o docs/reproduction
    python -m experiments.report docs/reproduction

Every figure on the page is read from the files of the folder; the words around them, in
`reproduction.md` beside this file, name where each piece goes as {{piece}}.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import typer

from enhg.cli.terminal import errors_in_one_line
from experiments import tables
from experiments.methods import METHODS
from experiments.protocol import markdown
from experiments.search import setting_for
from experiments.tables import Cell

_WORDS = Path(__file__).with_name("reproduction.md")
_PIECE = re.compile(r"\{\{([a-z0-9-]+)\}\}")
_NEAR = 0.01
_FAR = 0.05
_YALE, _PIE, _USPS = "Extended Yale B", "PIE", "USPS"

# What was set beforehand: column, row, metric, at least.
_AIMS: list[tuple[str, str, str, float]] = [
    *(
        ("one", f"{_YALE}, K = {count}", "ac", aim)
        for count, aim in ((10, 0.95), (15, 0.94), (20, 0.93), (30, 0.92), (38, 0.91))
    ),
    ("one", f"{_USPS}, K = 8", "ac", 0.95),
    ("one", f"{_USPS}, K = 10", "ac", 0.90),
    ("one", f"{_USPS}, 10% labeled", "accuracy", 0.93),
    ("tuned", f"{_USPS}, 10% labeled", "accuracy", 0.94),
    ("one", f"{_PIE}, K = 15", "ac", 0.821),
    ("one", f"{_PIE}, K = 15", "nmi", 0.839),
    ("one", f"{_USPS}, K = 10", "ac", 0.932),
    ("one", f"{_USPS}, K = 10", "nmi", 0.874),
]
_AIM_NEAR = 0.8  # of the cells first, or within 0.01


def page(folder: Path) -> str:
    """The page, with links to the pictures of the folder."""
    cells = {name: _read(folder / f"{name}.csv") for name in tables.TABLES}
    everything = [cell for found in cells.values() for cell in found]
    pieces = {
        "runs": _runs(everything),
        "warnings": _warnings(everything),
        "aims": _aims(everything),
        "first": _first(cells),
        "enhg": _beside_the_paper(everything),
        "baselines": _baselines(cells),
        "far-below": _far_below(everything),
        "settings": _settings(),
    }
    pieces |= {name: tables.as_markdown(name, found) for name, found in cells.items()}
    pieces |= {
        file.stem: file.read_text(encoding="utf-8").strip() for file in folder.glob("claims-*.md")
    }
    pieces |= {
        f"{file.stem}-png": f"![{file.stem}]({folder.name}/{file.name})"
        for file in folder.glob("*.png")
    }
    words = _WORDS.read_text(encoding="utf-8")
    missing = sorted(set(_PIECE.findall(words)) - set(pieces))
    if missing:
        raise ValueError(
            f"{folder} holds no {missing[0]}; make all with enhg reproduce all -o {folder}"
        )
    return _PIECE.sub(lambda found: pieces[found[1]].strip(), words)


def _read(file: Path) -> list[Cell]:
    if not file.exists():
        raise ValueError(f"{file} is not there; make all with enhg reproduce all -o {file.parent}")
    with file.open(newline="", encoding="utf-8") as stream:
        return [
            Cell(
                line["column"], line["row"], line["metric"], line["method"], float(line["mean"]),
                float(line["std"]), int(line["runs"]), float(line["seconds"]),
                int(line["warnings"]),
                float(line["paper"]) if line["paper"] else None,
            )
            for line in csv.DictReader(stream)
        ]  # fmt: skip


def _runs(cells: list[Cell]) -> str:
    counts = sorted({cell.runs for cell in cells})
    if len(counts) > 1:
        raise ValueError(f"the tables are of {counts[0]} to {counts[-1]} runs; make all with one")
    return str(counts[0])


def _warnings(cells: list[Cell]) -> str:
    found: dict[str, int] = defaultdict(int)
    for cell in cells:
        found[cell.method] += cell.warnings > 0
    texts = [f"{method} in {count} cells" for method, count in found.items() if count]
    return f"did not all converge: {', '.join(texts)}" if texts else "all converged"


def _aims(cells: list[Cell]) -> str:
    ours = {(c.column, c.row, c.metric): c for c in cells if c.method == "ENHG"}
    aims = list(_AIMS)
    for (column, row, metric), cell in ours.items():
        faces = row.startswith((_YALE, _PIE)) and metric == "accuracy"
        nmi = row.startswith(_YALE) and metric == "nmi"
        if column == "one" and cell.paper is not None and (nmi or faces):
            aims.append((column, row, metric, cell.paper))
    lines = []
    for column, row, metric, aim in aims:
        mean = ours[column, row, metric].mean
        met = "yes" if mean >= aim else f"**no**, {mean - aim:+.3f}"
        lines.append([row, metric, column, f"{aim:.3f}", f"{mean:.3f}", met])
    for column in tables.COLUMNS:
        _, near, of = _places(cells, column)
        met = "yes" if near >= _AIM_NEAR * of else "**no**"
        lines.append(
            ["all tables", "cells within 0.01", column, f"{_AIM_NEAR:.0%}", f"{near / of:.0%}", met]
        )
    return markdown(("", "figure", "setting", "aim", "ours", "met"), lines)


def _first(cells: dict[str, list[Cell]]) -> str:
    """How often ENHG is first, or within 0.01 of the first, by table and column."""
    everything = [cell for found in cells.values() for cell in found]
    of_tables = {tables.TABLES[name].title: found for name, found in cells.items()}
    lines = []
    for title, found in (of_tables | {"all": everything}).items():
        places = [_places(found, column) for column in tables.COLUMNS]
        texts = (f"{first}, {near} of {of} ({near / of:.0%})" for first, near, of in places)
        lines.append([title, *texts])
    return markdown(("cells where ENHG is first, or within 0.01", *tables.COLUMNS.values()), lines)


def _places(cells: list[Cell], column: str) -> tuple[int, int, int]:
    """In how many rows of a column ENHG is first to three decimals, as in the tables, in how many
    within 0.01, and of how many."""
    rows: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for cell in cells:
        if cell.column == column:
            rows[cell.row, cell.metric][cell.method] = cell.mean
    behind = [max(row.values()) - row["ENHG"] for row in rows.values()]
    first = sum(max(map(_shown, row.values())) == _shown(row["ENHG"]) for row in rows.values())
    return first, sum(b <= _NEAR for b in behind), len(rows)


def _shown(mean: float) -> float:
    return round(mean, 3)


def _beside_the_paper(cells: list[Cell]) -> str:
    """ENHG's cells, ours less the paper's, by set and figure."""
    differences: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for cell in cells:
        if cell.method == "ENHG" and cell.paper is not None:
            name, at = cell.row.split(", ")
            text = f"{at.removesuffix(' labeled')}: {cell.mean - cell.paper:+.3f}"
            differences[name, cell.metric, cell.column].append(text)
    lines = [[*key, ", ".join(texts)] for key, texts in sorted(differences.items())]
    return markdown(("set", "figure", "setting", "ours less the paper's"), lines)


def _baselines(cells: dict[str, list[Cell]]) -> str:
    """Mean of ours less the paper's, tuned for each set, by method and table."""
    lines = []
    for method in METHODS:
        line = [method]
        for found in cells.values():
            gaps = [
                cell.mean - cell.paper
                for cell in found
                if cell.column == "tuned" and cell.method == method and cell.paper is not None
            ]
            line.append(f"{np.mean(gaps):+.3f}" if gaps else "")
        lines.append(line)
    return markdown(("", *(table.title for table in tables.TABLES.values())), lines)


def _far_below(cells: list[Cell]) -> str:
    """Cells of baselines more than 0.05 below the paper's figure in the better of the columns."""
    best: dict[tuple[str, str, str], Cell] = {}
    for cell in cells:
        place = cell.method, cell.row, cell.metric
        best[place] = max(best.get(place, cell), cell, key=lambda cell: cell.mean)
    found: dict[str, list[str]] = defaultdict(list)
    for cell in best.values():
        if cell.method != "ENHG" and cell.paper is not None and cell.mean < cell.paper - _FAR:
            text = f"{cell.row} {cell.metric} {cell.mean:.3f} ({cell.paper:.3f})"
            found[cell.method].append(text)
    return "\n".join(f"- {method}: {'; '.join(texts)}" for method, texts in found.items())


def _settings() -> str:
    lines = []
    for method in METHODS:
        structure, spectrum = setting_for(method, "clustering", None)
        _, alpha = setting_for(method, "classification", None)
        lines.append([method, f"`{structure}`", f"`{spectrum}`", f"`{alpha}`"])
    return markdown(("", "structure", "clustering", "classification"), lines)


if __name__ == "__main__":

    def _main(
        folder: Path = typer.Argument(help="Folder of enhg reproduce all."),  # noqa: B008
    ) -> None:
        """Write the page beside the folder, under its name."""
        with errors_in_one_line():
            folder.with_suffix(".md").write_text(page(folder), encoding="utf-8")

    typer.run(_main)
