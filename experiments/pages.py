"""The generated pages: docs/reproduction.md, docs/defaults.md and docs/practice.md.

Every number on them is read from the stored results; the text around it is in `templates`. In
`reproduction.md` there, {{name}} marks where a piece goes.
"""

from __future__ import annotations

import re
import shutil
from collections import defaultdict
from pathlib import Path

import numpy as np

from enhg import InputError
from experiments import defaults, practice, practice_page, tables
from experiments.cells import Cells
from experiments.methods import METHODS
from experiments.paths import DOCS, RESULTS, TEMPLATES
from experiments.search import setting_for
from experiments.tables import Cell
from experiments.tabular import markdown, read_csv

REPRODUCTION = RESULTS / "reproduction"
"""The summaries of a full run of `reproduce`."""

_PICTURES = DOCS / "reproduction"
_PIECE = re.compile(r"\{\{([a-z0-9-]+)\}\}")
_NEAR = 0.01
_FAR = 0.05
_YALE, _PIE, _USPS = "Extended Yale B", "PIE", "USPS"

# Set before the tables were made: setting, row, metric, target.
_TARGETS: list[tuple[str, str, str, float]] = [
    *(
        ("shared", f"{_YALE}, K = {count}", "ac", target)
        for count, target in ((10, 0.95), (15, 0.94), (20, 0.93), (30, 0.92), (38, 0.91))
    ),
    ("shared", f"{_USPS}, K = 8", "ac", 0.95),
    ("shared", f"{_USPS}, K = 10", "ac", 0.90),
    ("shared", f"{_USPS}, 10% labeled", "accuracy", 0.93),
    ("tuned", f"{_USPS}, 10% labeled", "accuracy", 0.94),
    ("shared", f"{_PIE}, K = 15", "ac", 0.821),
    ("shared", f"{_PIE}, K = 15", "nmi", 0.839),
    ("shared", f"{_USPS}, K = 10", "ac", 0.932),
    ("shared", f"{_USPS}, K = 10", "nmi", 0.874),
]
_TARGET_NEAR = 0.8  # of the cells within 0.01 of the best


def store(run: Path) -> None:
    """Copy the summaries and the pictures of a full run into the repository."""
    page(run, run)  # raises where the run is not complete
    for file in sorted(run.glob("*.csv")):
        if file.name != "cells.csv":
            shutil.copyfile(file, REPRODUCTION / file.name)
    for file in sorted(run.glob("*.png")):
        shutil.copyfile(file, _PICTURES / file.name)


def write_pages() -> list[Path]:
    """Write every page from the stored results."""
    suggestions = practice.FOLDER / "suggestions.csv"
    practice_page.draw_curves(suggestions, DOCS / "practice" / "suggestions.png")
    pages = stored_pages()
    for file, text in pages.items():
        file.write_text(text, encoding="utf-8")
    return list(pages)


def stored_pages() -> dict[Path, str]:
    """Return the text of every page by its file."""
    return {
        DOCS / "reproduction.md": page(REPRODUCTION, _PICTURES),
        DOCS / "defaults.md": defaults.page(Cells.load(defaults.ARCHIVE)),
        DOCS / "practice.md": practice_page.page(practice.FOLDER),
    }


def page(results: Path, pictures: Path) -> str:
    """Return the page of the reproduction.

    Parameters
    ----------
    results : Path
        Folder of the tables and analyses as CSV.
    pictures : Path
        Folder of the pictures, beside the page.
    """
    cells = {name: _read_table(results / f"{name}.csv") for name in tables.TABLES}
    pieces = _summaries(cells)
    pieces |= {name: tables.as_markdown(name, table) for name, table in cells.items()}
    pieces |= {file.stem: markdown(*read_csv(file)) for file in results.glob("claims-*.csv")}
    pieces |= {
        f"{file.stem}-png": f"![{file.stem}]({pictures.name}/{file.name})"
        for file in pictures.glob("*.png")
    }
    template = (TEMPLATES / "reproduction.md").read_text(encoding="utf-8")
    missing = sorted(set(_PIECE.findall(template)) - set(pieces))
    if missing:
        raise InputError(
            f"{results} must hold every table, figure and analysis, got no {missing[0]}"
        )
    return _PIECE.sub(lambda match: pieces[match[1]].strip(), template)


def _read_table(file: Path) -> list[Cell]:
    if not file.exists():
        raise InputError(
            f"{file.parent} must hold every table, figure and analysis, got no {file.name}"
        )
    return tables.read_cells(file)


def _summaries(cells: dict[str, list[Cell]]) -> dict[str, str]:
    everything = [cell for table in cells.values() for cell in table]
    return {
        "runs": _runs(everything),
        "warnings": _warnings(everything),
        "targets": _targets(everything),
        "best": _best_counts(cells),
        "enhg": _differences(everything),
        "baselines": _baselines(cells),
        "far-below": _far_below(everything),
        "settings": _settings(),
    }


def _runs(cells: list[Cell]) -> str:
    counts = sorted({cell.runs for cell in cells})
    if len(counts) > 1:
        raise InputError(
            f"all tables must have the same number of runs, got {counts[0]} to {counts[-1]}"
        )
    return str(counts[0])


def _warnings(cells: list[Cell]) -> str:
    counts: dict[str, int] = defaultdict(int)
    for cell in cells:
        counts[cell.method] += cell.warnings > 0
    texts = [f"{method} in {count} cells" for method, count in counts.items() if count]
    if not texts:
        return "Every iteration of structures and learners converged."
    return f"Some iterations did not converge: {', '.join(texts)}."


def _targets(cells: list[Cell]) -> str:
    """The targets, and whether ENHG reaches them."""
    by_place = {(c.setting, c.row, c.metric): c for c in cells if c.method == "ENHG"}
    targets = list(_TARGETS)
    for (setting, row, metric), cell in by_place.items():
        faces = row.startswith((_YALE, _PIE)) and metric == "accuracy"
        nmi = row.startswith(_YALE) and metric == "nmi"
        if setting == "shared" and cell.paper is not None and (nmi or faces):
            targets.append((setting, row, metric, cell.paper))
    lines = []
    for setting, row, metric, target in targets:
        mean = by_place[setting, row, metric].mean
        reached = "yes" if mean >= target else f"**no**, {mean - target:+.3f}"
        name = tables.METRICS[metric]
        lines.append([row, name, setting, f"{target:.3f}", f"{mean:.3f}", reached])
    for setting in tables.SETTINGS:
        _, near, total = _count_best(cells, setting)
        reached = "yes" if near >= _TARGET_NEAR * total else "**no**"
        figures = f"{_TARGET_NEAR:.0%}", f"{near / total:.0%}"
        lines.append(["all tables", "cells within 0.01", setting, *figures, reached])
    return markdown(("row", "metric", "setting", "target", "enhg", "reached"), lines)


def _best_counts(cells: dict[str, list[Cell]]) -> str:
    """How often ENHG is best, or within 0.01 of the best, by table and setting."""
    everything = [cell for table in cells.values() for cell in table]
    titled = {tables.TABLES[name].title: table for name, table in cells.items()}
    lines = []
    for title, table in (titled | {"all": everything}).items():
        counts = [_count_best(table, setting) for setting in tables.SETTINGS]
        texts = (f"{best}, {near} of {n} ({near / n:.0%})" for best, near, n in counts)
        lines.append([title, *texts])
    return markdown(
        ("cells where ENHG is best, or within 0.01 of the best", *tables.SETTINGS.values()), lines
    )


def _count_best(cells: list[Cell], setting: str) -> tuple[int, int, int]:
    """Rows where ENHG is best (to three decimals), rows where it is within 0.01, all rows."""
    rows: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for cell in cells:
        if cell.setting == setting:
            rows[cell.row, cell.metric][cell.method] = cell.mean
    gaps = [max(row.values()) - row["ENHG"] for row in rows.values()]
    n_best = sum(
        max(round(mean, 3) for mean in row.values()) == round(row["ENHG"], 3)
        for row in rows.values()
    )
    return n_best, sum(gap <= _NEAR for gap in gaps), len(rows)


def _differences(cells: list[Cell]) -> str:
    """ENHG here minus ENHG in the paper, by data set and metric."""
    differences: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for cell in cells:
        if cell.method == "ENHG" and cell.paper is not None:
            name, case = cell.row.split(", ")
            text = f"{case.removesuffix(' labeled')}: {cell.mean - cell.paper:+.3f}"
            differences[name, cell.metric, cell.setting].append(text)
    lines = [
        [name, tables.METRICS[metric], setting, ", ".join(texts)]
        for (name, metric, setting), texts in sorted(differences.items())
    ]
    return markdown(("data set", "metric", "setting", "enhg − paper"), lines)


def _baselines(cells: dict[str, list[Cell]]) -> str:
    """Mean difference from the paper, tuned for each data set, by structure and table."""
    lines = []
    for method in METHODS:
        line = [method]
        for table in cells.values():
            gaps = [
                cell.mean - cell.paper
                for cell in table
                if cell.setting == "tuned" and cell.method == method and cell.paper is not None
            ]
            line.append(f"{np.mean(gaps):+.3f}" if gaps else "")
        lines.append(line)
    return markdown(("", *(table.title for table in tables.TABLES.values())), lines)


def _far_below(cells: list[Cell]) -> str:
    """Cells of the other structures more than 0.05 below the paper with the better setting."""
    best: dict[tuple[str, str, str], Cell] = {}
    for cell in cells:
        place = cell.method, cell.row, cell.metric
        best[place] = max(best.get(place, cell), cell, key=lambda cell: cell.mean)
    texts: dict[str, list[str]] = defaultdict(list)
    for cell in best.values():
        if cell.method != "ENHG" and cell.paper is not None and cell.mean < cell.paper - _FAR:
            metric = tables.METRICS[cell.metric]
            texts[cell.method].append(f"{cell.row} {metric} {cell.mean:.3f} ({cell.paper:.3f})")
    return "\n".join(f"- {method}: {'; '.join(cells)}" for method, cells in texts.items())


def _settings() -> str:
    lines = []
    for method in METHODS:
        structure, clustering = setting_for(method, "clustering", None)
        _, classification = setting_for(method, "classification", None)
        lines.append([method, f"`{structure}`", f"`{clustering}`", f"`{classification}`"])
    return markdown(("", "structure", "clustering", "classification"), lines)
