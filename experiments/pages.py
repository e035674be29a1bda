"""The generated pages of docs/: reproduction.md, practice.md, quality.md, photos.md, labeling.md
and which_tool.md.

Every number on them is read from the stored results; the text around it is in `templates`.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from enhg import InputError
from experiments import (
    copies,
    labeling,
    labeling_page,
    photos,
    photos_page,
    practice,
    practice_page,
    quality,
    quality_page,
    reproduction_page,
    tables,
    which_tool_page,
)
from experiments.charts import Chart
from experiments.paths import DOCS, RESULTS

REPRODUCTION = RESULTS / "reproduction"
"""The summaries of runs of `reproduce`."""

_PICTURES = DOCS / "reproduction"


def store(run: Path) -> None:
    """Copy the summaries and the pictures of a run into the repository.

    Stored results that the run does not have are kept: other tables, figures and analyses, and
    other settings of its tables.
    """
    if not (run / "cells.csv").is_file():
        raise InputError(f"OUT must be a folder of a run of reproduce, got {run} without cells.csv")
    with TemporaryDirectory() as folder_name:
        merged = Path(folder_name)
        for file in (*REPRODUCTION.glob("*.csv"), *_PICTURES.glob("*.png"), *_files(run)):
            shutil.copyfile(file, merged / file.name)
        for name in tables.TABLES:
            _merge_table(f"{name}.csv", run, merged)
        reproduction_page.page(merged, merged)  # raises where something is missing
        for file in _files(merged):
            folder = REPRODUCTION if file.suffix == ".csv" else _PICTURES
            shutil.copyfile(file, folder / file.name)


def _files(folder: Path) -> list[Path]:
    """The summaries and pictures in a folder."""
    summaries = [file for file in folder.glob("*.csv") if file.name != "cells.csv"]
    return sorted((*summaries, *folder.glob("*.png")))


def _merge_table(name: str, run: Path, merged: Path) -> None:
    """Write a table of a run, with the settings that only the stored table has."""
    if (run / name).exists() and (REPRODUCTION / name).exists():
        stored, made = tables.read_cells(REPRODUCTION / name), tables.read_cells(run / name)
        tables.write_cells(merged / name, tables.merge(stored, made))


def write_pages() -> list[Path]:
    """Write every page and its chart from the stored results."""
    suggestions = practice.FOLDER / "suggestions.csv"
    practice_page.draw_curves(suggestions, DOCS / "practice" / "suggestions.png")
    pages = stored_pages()
    for file, text in pages.items():
        file.write_text(text, encoding="utf-8")
    charts = stored_charts()
    for file, chart in charts.items():
        chart.write(file)
    return [*pages, *charts]


def stored_charts() -> dict[Path, Chart]:
    """Return the chart of every page by its file, those of the quality as in `stored_pages`."""
    made = {
        "reproduction": reproduction_page.chart(REPRODUCTION),
        "practice": practice_page.chart(practice.FOLDER),
        "photos": photos_page.chart(photos.FILE),
        "labeling": labeling_page.chart(labeling.FILE),
    }
    if quality.is_complete():
        made["quality"] = quality_page.chart(quality.FILE)
        made["which_tool"] = which_tool_page.chart(quality.FILE, photos.FILE)
    return {DOCS / "images" / f"{name}.svg": chart for name, chart in made.items()}


def stored_pages() -> dict[Path, str]:
    """Return the text of every page by its file.

    The quality page, and the one made from the same scores, are there when the scores of all parts
    and data sets are stored.
    """
    pages = {
        DOCS / "reproduction.md": reproduction_page.page(REPRODUCTION, _PICTURES),
        DOCS / "practice.md": practice_page.page(practice.FOLDER),
        DOCS / "photos.md": photos_page.page(photos.FILE, copies.FILE),
        DOCS / "labeling.md": labeling_page.page(labeling.FILE),
    }
    if quality.is_complete():
        pages[DOCS / "quality.md"] = quality_page.page(quality.FILE)
        pages[DOCS / "which_tool.md"] = which_tool_page.page(quality.FILE, photos.FILE)
    return pages
