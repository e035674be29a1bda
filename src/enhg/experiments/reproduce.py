"""Tables and figures of the paper by name, into a folder that a later run goes on from."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from enhg.experiments import tables
from enhg.experiments.claims import claims
from enhg.experiments.figures import FIGURES
from enhg.experiments.protocol import Cells, write_csv

_OTHERS = FIGURES | {"claims": claims}
NAMES = (*tables.TABLES, *_OTHERS)
_KEPT = "cells.csv"

Report = Callable[[int, int], None]
Stage = Callable[[str], AbstractContextManager[Report | None]]


def chosen(names: list[str]) -> list[str]:
    """The tables and figures that names stand for, in the paper's order; "all" for all."""
    unknown = [name for name in names if name not in (*NAMES, "all")]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is none of {', '.join(NAMES)} and all")
    return [name for name in NAMES if name in names or "all" in names]


def check_folder(out: Path) -> None:
    """Only a folder that is new, empty or holds an earlier run is written to."""
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file; name a folder")
    if out.is_dir() and any(out.iterdir()) and not (out / _KEPT).exists():
        raise ValueError(f"{out} holds other files and no {_KEPT} of an earlier run; name another")


def reproduce(names: list[str], folder: Path, out: Path, runs: int, stage: Stage) -> list[Path]:
    """Make tables and figures; the files written.

    `stage` is entered with each name, and may give a function to be told (done, in all).
    Figures of single runs are kept in `cells.csv` as they are finished: what is there is not
    computed again.
    """
    wanted = chosen(names)
    check_folder(out)
    out.mkdir(parents=True, exist_ok=True)
    cells = Cells(out / _KEPT)
    cells.add([])  # marks the folder as one to go on with
    for name in wanted:
        with stage(name) as told:
            report = told or (lambda done, total: None)
            if name in _OTHERS:
                _OTHERS[name](folder, out, cells, runs, report)
                continue
            made = tables.make(name, folder, cells, runs, report)
            heads = tables.Cell.__dataclass_fields__
            write_csv(out / f"{name}.csv", heads, tables.as_rows(made))
            (out / f"{name}.md").write_text(tables.as_markdown(name, made), encoding="utf-8")
            tables.draw(name, made, out / f"{name}.png")
    return sorted(
        file
        for name in wanted
        for file in out.glob(f"{name}*")
        if file.suffix in (".csv", ".md", ".png")
    )
