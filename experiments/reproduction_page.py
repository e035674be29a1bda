"""The page docs/reproduction.md, from the stored tables, analyses and plots of a run.

The text is in `templates/reproduction.md`, where {{name}} marks where a piece goes. What it says
about the scores is computed from them as well.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from enhg import InputError
from experiments import charts, tables
from experiments.methods import METHODS, as_arguments
from experiments.paths import TEMPLATES
from experiments.search import Setting, setting_for
from experiments.tables import OURS, Cell
from experiments.tabular import MARK, filled, markdown, read_csv, signed

_NEAR = 0.01
_FAR = 0.05
_COMPARED: tuple[Setting, ...] = ("shared", "tuned", "paper")  # those that every structure has
_YALE, _PIE, _USPS = "Extended Yale B", "PIE", "USPS"

# Rows of ENHG whose differences from the paper the text summarizes, by their beginnings.
_RANGES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "yale-clustering": ((f"{_YALE}, K",), ("ac", "nmi")),
    "yale-classification": ((_YALE,), ("accuracy",)),
    "pie-clustering": ((f"{_PIE}, K",), ("ac", "nmi")),
    "pie-classification": ((_PIE,), ("accuracy",)),
    "usps-few": ((f"{_USPS}, K = 4", f"{_USPS}, K = 6"), ("ac", "nmi")),
    "usps-many": ((f"{_USPS}, K = 8", f"{_USPS}, K = 10"), ("ac", "nmi")),
    "usps-classification": ((_USPS,), ("accuracy",)),
}
_ALT_TEXTS = {
    "table1": "AC and NMI of nine structures on Extended Yale B against the number of subjects",
    "table2": "AC and NMI of nine structures on PIE against the number of subjects",
    "table3": "AC and NMI of nine structures on USPS against the number of digits",
    "table4": "Accuracy of nine structures on three data sets against the share of labels",
    "figure-paths-images": "The face that is represented and the ten faces whose paths are shown",
    "figure-paths": "Coefficients along the paths of the lasso and of the elastic net",
    "figure-coefficients": "Coefficients of one face, lasso and elastic net",
    "figure-affinity": "Matrices of nearest neighbors, elastic net and lasso of four subjects",
    "figure-robustness-sparse-noise": "Coefficients of a face with 0% to 40% of sparse noise",
    "figure-robustness-missing-pixels": "Coefficients of a face with 0% to 40% of pixels missing",
    "figure-recovery": "Ten faces, their reconstructions and their residuals",
    "figure-lambda": "AC, NMI and accuracy against λ for three values of γ",
    "figure-gamma": "AC, NMI and accuracy against γ for three values of λ, images with noise",
}


def page(results: Path, pictures: Path) -> str:
    """Return the page of the reproduction.

    Parameters
    ----------
    results : Path
        Folder of the tables and analyses as CSV.
    pictures : Path
        Folder of the plots, beside the page.
    """
    cells = {name: _read_table(results / f"{name}.csv") for name in tables.TABLES}
    pieces = _summaries(cells)
    pieces |= {name: tables.as_markdown(name, table) for name, table in cells.items()}
    pieces |= {file.stem: markdown(*read_csv(file)) for file in results.glob("claims-*.csv")}
    for file in pictures.glob("*.png"):
        text = _ALT_TEXTS.get(file.stem, file.stem)
        pieces[f"{file.stem}-png"] = f"![{text}]({pictures.name}/{file.name})"
    pieces |= _analysis_statements(results)
    template = TEMPLATES / "reproduction.md"
    missing = sorted({name for name, _ in MARK.findall(template.read_text("utf-8"))} - set(pieces))
    if missing:
        raise InputError(
            f"{results} must hold every table, figure and analysis, got no {missing[0]}"
        )
    return filled(template, **pieces)


def chart(results: Path) -> charts.Chart:
    """Return the scores of ENHG minus the paper's, by default and as in the paper."""
    cells = [cell for name in tables.TABLES for cell in _read_table(results / f"{name}.csv")]
    looks: dict[Setting, charts.Look] = {"paper": charts.OTHER, "default": charts.OURS}
    return charts.Chart(
        {
            "here minus the paper: AC, NMI and accuracy": charts.Panel(
                {
                    name: {tables.LABELS[s]: by_setting[s] for s in looks}
                    for name, by_setting in _gaps(cells).items()
                },
                0,
            )
        },
        {tables.LABELS[s]: look for s, look in looks.items()},
    )


def _read_table(file: Path) -> list[Cell]:
    if not file.exists():
        raise InputError(
            f"{file.parent} must hold every table, figure and analysis, got no {file.name}"
        )
    cells = tables.read_cells(file)
    missing = [setting for setting in tables.SETTINGS if setting not in {c.setting for c in cells}]
    if missing:
        raise InputError(f"{file} must have every setting, got no {missing[0]}")
    return cells


def _summaries(cells: dict[str, list[Cell]]) -> dict[str, str]:
    everything = [cell for table in cells.values() for cell in table]
    return {
        "runs": _runs(everything),
        "warnings": _warnings(everything),
        "reached": _reached(everything),
        "paper-reached": _reached_cells(everything),
        "enhg": _scores(everything),
        "structures": _structures(cells, "tuned"),
        "paper-structures": _structures(cells, "paper"),
        "far-below": _far_below(everything),
        "yale-below": _yale_below(everything),
        "settings": _settings("shared"),
        "paper-settings": _settings("paper"),
        **{f"best-{setting}": _best(everything, setting) for setting in _COMPARED},
        **{f"range-{name}": _range(everything, *rows) for name, rows in _RANGES.items()},
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
        return "Every iterative solver converged."
    return f"Some iterations did not converge: {', '.join(texts)}."


# --- counts and differences ----------------------------------------------------------------------


def _best(cells: list[Cell], setting: Setting) -> str:
    """In how many cells ENHG is best (to three decimals), and within 0.01 of the best."""
    rows: dict[tuple[str, str], dict[str, float]] = defaultdict(dict)
    for cell in cells:
        if cell.setting == setting:
            rows[cell.row, cell.metric][cell.method] = cell.mean
    gaps = [round(max(row.values()) - row[OURS], 3) for row in rows.values()]
    near = sum(gap <= _NEAR for gap in gaps)
    return f"{gaps.count(0)} of {len(gaps)} cells, and one within {_NEAR:g} of the best in {near}"


def _range(cells: list[Cell], starts: tuple[str, ...], metrics: tuple[str, ...]) -> str:
    """Smallest and largest difference of ENHG from the paper, by default."""
    gaps = [
        cell.mean - cell.paper
        for cell in cells
        if cell.method == OURS and cell.setting == "default" and cell.paper is not None
        if cell.row.startswith(starts) and cell.metric in metrics
    ]
    return f"{signed(min(gaps))} to {signed(max(gaps))}"


def _gaps(cells: list[Cell]) -> dict[str, dict[str, list[float]]]:
    """Differences of ENHG from the paper, by data set and task, then by setting."""
    gaps: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for cell in cells:
        if cell.method == OURS and cell.paper is not None:
            task = "classification" if cell.metric == "accuracy" else "clustering"
            name = f"{cell.row.split(', ')[0]}, {task}"
            gaps[name][cell.setting].append(cell.mean - cell.paper)
    return gaps


def _reached(cells: list[Cell]) -> str:
    """Cells of ENHG that reach the paper, and their differences from it, by setting."""
    lines = [
        [name, *(_gap_text(by_setting[setting]) for setting in tables.SETTINGS)]
        for name, by_setting in _gaps(cells).items()
    ]
    return markdown(("cells of ENHG", *tables.LABELS.values()), lines)


def _gap_text(gaps: list[float]) -> str:
    reached = sum(gap >= 0 for gap in gaps)
    return f"{reached} of {len(gaps)} ({signed(min(gaps))} to {signed(max(gaps))})"


def _reached_cells(cells: list[Cell]) -> str:
    """Number and names of the cells of ENHG that reach the paper with the paper setting."""
    compared = [
        (cell, cell.paper)
        for cell in cells
        if cell.method == OURS and cell.setting == "paper" and cell.paper is not None
    ]
    texts = [_with_paper(cell) for cell, paper in compared if cell.mean >= paper]
    if not texts:
        return f"none of {len(compared)} cells"
    return f"{len(texts)} of {len(compared)} cells ({'; '.join(texts)})"


def _scores(cells: list[Cell]) -> str:
    """The scores of ENHG in the paper and here, one column for each setting."""
    by_place: dict[tuple[str, str], dict[str, Cell]] = defaultdict(dict)
    for cell in cells:
        if cell.method == OURS:
            by_place[cell.row, cell.metric][cell.setting] = cell
    lines = [
        [
            row,
            tables.METRICS[metric],
            f"{by_setting['shared'].paper:.3f}",
            *(f"{by_setting[setting].mean:.3f}" for setting in tables.SETTINGS),
        ]
        for (row, metric), by_setting in by_place.items()
    ]
    return markdown(("", "", "the paper", *tables.LABELS.values()), lines)


def _structures(cells: dict[str, list[Cell]], setting: Setting) -> str:
    """Mean difference from the paper with one setting, by structure and table."""
    lines = []
    for method in METHODS:
        line = [method]
        for table in cells.values():
            gaps = [
                cell.mean - cell.paper
                for cell in table
                if cell.setting == setting and cell.method == method and cell.paper is not None
            ]
            line.append(signed(float(np.mean(gaps))) if gaps else "")
        lines.append(line)
    return markdown(("", *(table.title for table in tables.TABLES.values())), lines)


def _far_below(cells: list[Cell]) -> str:
    """Cells of the other structures more than 0.05 below the paper with every setting."""
    best: dict[tuple[str, str, str], Cell] = {}
    for cell in cells:
        place = cell.method, cell.row, cell.metric
        best[place] = max(best.get(place, cell), cell, key=lambda cell: cell.mean)
    texts: dict[str, list[str]] = defaultdict(list)
    for cell in best.values():
        if cell.method != OURS and cell.paper is not None and cell.mean < cell.paper - _FAR:
            texts[cell.method].append(_with_paper(cell))
    return "\n".join(f"- {method}: {'; '.join(cells)}" for method, cells in texts.items())


def _yale_below(cells: list[Cell]) -> str:
    """Cells of the other structures on Extended Yale B below the paper, with the shared setting."""
    below = [
        f"{cell.method}, {_with_paper(cell)}"
        for cell in cells
        if cell.setting == "shared" and cell.row.startswith(_YALE) and cell.method != OURS
        if cell.paper is not None and cell.mean < cell.paper
    ]
    return "; ".join(below) if below else "no cell"


def _with_paper(cell: Cell) -> str:
    return f"{cell.row}, {tables.METRICS[cell.metric]}: {cell.mean:.3f} ({cell.paper:.3f})"


# --- settings and analyses -----------------------------------------------------------------------


def _settings(setting: Setting) -> str:
    """The settings of all structures as Python: the shared ones, or those of the paper."""
    lines = []
    for method, built in METHODS.items():
        structure, clustering = _parameters(setting_for(method, "clustering", setting))
        _, classification = _parameters(setting_for(method, "classification", setting))
        call = f"{built.structure.__name__}({built.arguments(structure)})"
        learners = (f"`{as_arguments(learner)}`" for learner in (clustering, classification))
        lines.append([method, f"`{call}`", *learners])
    header = ("", "structure", "`HypergraphClustering`", "`HypergraphClassifier`")
    return markdown(header, lines)


def _parameters(texts: Iterable[str]) -> list[dict[str, Any]]:
    return [json.loads(text) for text in texts]


def _analysis_statements(results: Path) -> dict[str, str]:
    """Numbers of the analyses that the text states; none of a file that is missing."""
    makers = {
        "claims-choices": _choices_of_the_paper,
        "claims-independent": _independent,
        "figure-affinity": _affinity,
    }
    pieces: dict[str, str] = {}
    for name, make in makers.items():
        if (results / f"{name}.csv").exists():
            pieces |= make(*read_csv(results / f"{name}.csv"))
    return pieces


def _choices_of_the_paper(header: list[str], rows: list[list[str]]) -> dict[str, str]:
    """AC on faces with all choices of the paper, the last row, and in the paper."""
    paper = tables.paper_numbers()
    faces = [at for at, name in enumerate(header) if name.startswith((_YALE, _PIE))]
    here = [float(rows[-1][at].split(" / ")[0]) for at in faces]
    there = [paper[header[at], "ac", OURS] for at in faces]
    return {
        "choices-here": f"{min(here):.3f} to {max(here):.3f}",
        "choices-paper": f"{min(there):.3f} to {max(there):.3f}",
    }


def _independent(header: list[str], rows: list[list[str]]) -> dict[str, str]:
    """The highest AC of the independent implementations and of this package."""
    by_package: dict[bool, list[float]] = defaultdict(list)
    for name, accuracy, _ in rows:
        by_package[", enhg" in name].append(float(accuracy))
    return {
        "independent-best": f"{max(by_package[False]):.3f}",
        "package-best": f"{max(by_package[True]):.3f}",
    }


def _affinity(header: list[str], rows: list[list[str]]) -> dict[str, str]:
    lines = [
        [name.replace("LASSO", "lasso"), count, f"{float(share):.0%}"]
        for name, count, share in rows
    ]
    return {"affinity": markdown(("matrix", "entries", "share on the same subject"), lines)}
