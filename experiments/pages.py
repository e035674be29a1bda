"""The generated pages of docs/: reproduction.md, defaults.md, practice.md and quality.md.

Every number on them is read from the stored results; the text around it is in `templates`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from experiments import (
    defaults,
    practice,
    practice_page,
    quality,
    quality_page,
    reproduction_page,
)
from experiments.cells import Cells
from experiments.paths import DOCS, RESULTS

REPRODUCTION = RESULTS / "reproduction"
"""The summaries of a full run of `reproduce`."""

_PICTURES = DOCS / "reproduction"


def store(run: Path) -> None:
    """Copy the summaries and the pictures of a full run into the repository."""
    reproduction_page.page(run, run)  # raises where the run is not complete
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
    """Return the text of every page by its file.

    The quality page is there when the scores of all its parts and data sets are stored.
    """
    pages = {
        DOCS / "reproduction.md": reproduction_page.page(REPRODUCTION, _PICTURES),
        DOCS / "defaults.md": defaults.page(Cells.load(defaults.ARCHIVE)),
        DOCS / "practice.md": practice_page.page(practice.FOLDER),
    }
    if quality.is_complete():
        pages[DOCS / "quality.md"] = quality_page.page(quality.FILE)
    return pages
