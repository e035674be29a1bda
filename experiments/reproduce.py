"""Tables, figures and analyses by name, written to a folder that a later call continues from."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from enhg import InputError
from experiments import claims, figures, tables
from experiments.cells import Cells, run_jobs
from experiments.protocol import Job, load_dataset
from experiments.search import Setting

NAMES = (*tables.TABLES, *figures.FIGURES, "claims")
_CELLS = "cells.csv"

Progress = Callable[[int, int], None]
Stage = Callable[[str], AbstractContextManager[Progress | None]]


def select(names: list[str]) -> list[str]:
    """Return the requested names in the paper's order; "all" stands for every name."""
    unknown = [name for name in names if name not in (*NAMES, "all")]
    if unknown:
        raise InputError(f"names must be among {', '.join(NAMES)} and all, got {unknown[0]!r}")
    return [name for name in NAMES if name in names or "all" in names]


def check_folder(out: Path) -> None:
    """Raise InputError unless the folder is new, empty or written by an earlier call."""
    if out.exists() and not out.is_dir():
        raise InputError(f"out must be a folder, got the file {out}")
    other = [
        file.name
        for file in (out.iterdir() if out.is_dir() else ())
        if file.name != _CELLS and not file.name.startswith(NAMES)
    ]
    if other and not (out / _CELLS).exists():
        raise InputError(
            f"out must be a new or empty folder or hold the {_CELLS} of an earlier call, got "
            f"{out} with other files such as {min(other)}"
        )


def select_settings(names: Sequence[str]) -> list[Setting]:
    """Return the requested settings of the tables in their order; all if none is requested."""
    unknown = [name for name in names if name not in tables.SETTINGS]
    if unknown:
        allowed = ", ".join(tables.SETTINGS)
        raise InputError(f"settings must be among {allowed}, got {unknown[0]!r}")
    return [name for name in tables.SETTINGS if name in names or not names]


def _jobs(name: str, runs: int, settings: list[Setting]) -> list[Job]:
    if name in tables.TABLES:
        return tables.jobs(name, runs, settings)
    return claims.jobs(runs) if name == "claims" else figures.jobs(name, runs)


def _write(name: str, folder: Path, out: Path, cells: Cells, runs: int) -> None:
    if name in tables.TABLES:
        tables.write(name, out, cells, runs)
    elif name == "claims":
        claims.write(folder, out, cells, runs)
    else:
        figures.FIGURES[name](folder, out, cells, runs)


def reproduce(
    names: list[str],
    folder: Path,
    out: Path,
    runs: int,
    stage: Stage,
    settings: Sequence[str] = (),
) -> list[Path]:
    """Make tables, figures and analyses.

    Scores of single runs are kept in `cells.csv` as they are finished and are not computed again.

    Parameters
    ----------
    names : list of str
        Among `NAMES`, or "all".
    folder : Path
        Folder of the data sets.
    out : Path
        Folder of the results.
    runs : int
        Number of runs to average.
    stage : callable
        Called with the name of each step; the context manager that it returns gives a function
        to be called with (done, total), or None.
    settings : sequence of str
        Settings of the tables that are made, among `tables.SETTINGS`; all by default.

    Returns
    -------
    list of Path
        The files written.
    """
    selected = select(names)
    columns = select_settings(settings)
    check_folder(out)
    jobs = [job for name in selected for job in _jobs(name, runs, columns)]
    _load_datasets(selected, jobs, folder)
    out.mkdir(parents=True, exist_ok=True)
    cells = Cells(out / _CELLS)
    cells.add([])  # marks the folder as one that a later call may continue from
    with stage("runs") as progress:
        n_kept = sum(len(cells.rows(job)) for job in set(jobs))
        if n_kept:
            warnings.warn(
                f"{n_kept} scores of an earlier call are read from {cells.file}; choose another "
                "folder to compute them again",
                stacklevel=2,
            )
        run_jobs(jobs, folder, cells, progress)
    for name in selected:
        with stage(name):
            _write(name, folder, out, cells, runs)
    return sorted(
        file
        for name in selected
        for file in out.glob(f"{name}*")
        if file.suffix in (".csv", ".md", ".png")
    )


def _load_datasets(selected: list[str], jobs: list[Job], folder: Path) -> None:
    """Load every data set, so that one that is missing fails at once and not after hours."""
    names = {job.draw.dataset for job in jobs}
    if not set(selected) <= set(tables.TABLES):
        names.add("yale-b")  # the figures of single samples have no jobs
    for name in sorted(names):
        load_dataset(name, folder)
