"""Tables and figures of the paper by name, into a folder that a later run goes on from."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from experiments import claims, figures, tables
from experiments.protocol import Cells, Work, carry_out, loaded

NAMES = (*tables.TABLES, *figures.FIGURES, "claims")
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
    """Only a folder that is new or empty, or was written by an earlier run, is written to."""
    if out.exists() and not out.is_dir():
        raise ValueError(f"{out} is a file; name a folder")
    foreign = [
        file.name
        for file in (out.iterdir() if out.is_dir() else ())
        if file.name != _KEPT and not file.name.startswith(NAMES)
    ]
    if foreign and not (out / _KEPT).exists():
        raise ValueError(
            f"{out} holds other files, such as {min(foreign)}, and no {_KEPT} of an earlier run; name another folder"
        )


def _works(name: str, runs: int) -> list[Work]:
    if name in tables.TABLES:
        return tables.works(name, runs)
    return claims.works(runs) if name == "claims" else figures.works(name, runs)


def _write(name: str, folder: Path, out: Path, cells: Cells, runs: int) -> None:
    if name in tables.TABLES:
        tables.write(name, out, cells, runs)
    elif name == "claims":
        claims.write(folder, out, cells, runs)
    else:
        figures.FIGURES[name](folder, out, cells, runs)


def reproduce(names: list[str], folder: Path, out: Path, runs: int, stage: Stage) -> list[Path]:
    """Make tables and figures; the files written.

    `stage` is entered with the name of each step, and may give a function to be told (done, in
    all). Figures of single runs are kept in `cells.csv` as they are finished: what is there is
    not computed again.
    """
    wanted = chosen(names)
    check_folder(out)
    works = [work for name in wanted for work in _works(name, runs)]
    sets = {work.draw.dataset for work in works}
    if not set(wanted) <= set(tables.TABLES):
        sets.add("yale-b")  # of figures of single samples
    for dataset in sorted(sets):
        loaded(dataset, folder)  # an error now rather than after hours
    out.mkdir(parents=True, exist_ok=True)
    cells = Cells(out / _KEPT)
    cells.add([])  # marks the folder as one to go on with
    with stage("runs") as told:
        kept = sum(len(cells.of(work)) for work in set(works))
        if kept:
            warnings.warn(
                f"{kept} figures of an earlier run are taken from {cells.file}; name another folder to compute all anew",
                stacklevel=2,
            )
        carry_out(works, folder, cells, told or (lambda done, total: None))
    for name in wanted:
        with stage(name):
            _write(name, folder, out, cells, runs)
    return sorted(
        file
        for name in wanted
        for file in out.glob(f"{name}*")
        if file.suffix in (".csv", ".md", ".png")
    )
