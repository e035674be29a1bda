"""Scores of single runs, kept in a CSV file so that an interrupted experiment can continue."""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Thread
from time import sleep

from joblib import Parallel, cpu_count, delayed

from enhg import InputError
from experiments.protocol import Job, Row, evaluate
from experiments.tabular import write_csv

_KEY = (
    "version", "task", "dataset", "classes", "per_class", "seed", "corrupted", "method",
    "structure", "learner", "run", "share",
)  # fmt: skip
_SCORES = ("ac", "nmi", "accuracy", "seconds", "warnings")
_HEADER = (*_KEY, *_SCORES)
_WATCH_SECONDS = 1.0


class Cells:
    """Rows of scores, looked up by the job that gives them.

    Rows that are added are appended to the file at once. A line that an interruption cut short
    is dropped when the file is read again.

    Parameters
    ----------
    file : Path
        CSV file, created by the first `add`.
    """

    def __init__(self, file: Path) -> None:
        self.file = file
        self._rows: dict[tuple[str, ...], Row] = {}
        if file.exists() and file.stat().st_size:
            self._read()

    def _read(self) -> None:
        with self.file.open(newline="", encoding="utf-8", errors="replace") as stream:
            reader = csv.DictReader(stream)
            if reader.fieldnames != list(_HEADER):
                raise InputError(
                    f"{self.file} must have the columns {', '.join(_HEADER)}, got a file of "
                    "another version or program; move it or choose another folder"
                )
            lines = list(reader)
        complete = [line for line in lines if _is_complete(line)]
        self._rows = {_key(line): line for line in complete}
        if len(complete) < len(lines) or not self.file.read_bytes().endswith(b"\n"):
            part = self.file.with_name(f"{self.file.name}.part")
            write_csv(part, _HEADER, ([line[name] for name in _HEADER] for line in complete))
            part.replace(self.file)

    def missing(self, job: Job) -> Job | None:
        """Return the job reduced to the runs that have no rows yet, or None if all have."""
        runs = {key["run"] for key in job.row_keys() if _key(key) not in self._rows}
        return replace(job, runs=tuple(sorted(runs))) if runs else None

    def rows(self, job: Job) -> list[Row]:
        """Return the rows of a job, as far as they are there."""
        keys = (_key(key) for key in job.row_keys())
        return [self._rows[key] for key in keys if key in self._rows]

    def add(self, rows: Iterable[Row]) -> None:
        """Keep rows in memory and append them to the file."""
        is_new = not self.file.exists() or not self.file.stat().st_size
        with self.file.open("a", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, _HEADER)
            if is_new:
                writer.writeheader()
            for row in rows:
                writer.writerow(row)
                self._rows[_key(row)] = {name: str(value) for name, value in row.items()}


def _is_complete(line: Row) -> bool:
    """Whether a line has all its fields, and numbers as scores."""
    if None in line or None in line.values():
        return False
    try:
        scores = [float(line[name]) for name in _SCORES if line[name] != ""]
    except ValueError:
        return False
    return line["warnings"].isdigit() and len(scores) in (3, 4) and line["seconds"] != ""


def _key(row: Row) -> tuple[str, ...]:
    return tuple(str(row[name]) for name in _KEY)


def run_jobs(
    jobs: Iterable[Job],
    folder: Path,
    cells: Cells,
    progress: Callable[[int, int], None] | None = None,
    n_jobs: int | None = None,
) -> None:
    """Run the jobs whose rows are missing, one per core at a time.

    The most expensive come first, so that the cores finish at about the same time.

    Parameters
    ----------
    jobs : iterable of Job
        Duplicates are run once.
    folder : Path
        Folder of the data sets.
    cells : Cells
        Receives the rows of every job when it is finished.
    progress : callable, optional
        Called with (done, total), in units of `Job.cost`.
    n_jobs : int, optional
        Number of processes; all cores by default.
    """
    todo = [rest for job in dict.fromkeys(jobs) if (rest := cells.missing(job)) is not None]
    todo.sort(key=lambda job: job.cost, reverse=True)
    done, total = 0, sum(job.cost for job in todo)
    report = progress or (lambda done, total: None)
    report(done, total)
    parallel = Parallel(n_jobs or cpu_count(), return_as="generator_unordered", max_nbytes=None)
    try:
        for job, rows in parallel(delayed(_run)(job, folder, os.getpid()) for job in todo):
            cells.add(rows)
            done += job.cost
            report(done, total)
    except BrokenProcessPool as error:
        raise ChildProcessError(
            "a process was killed, most likely because memory ran out; close other programs and "
            f"run the same command again to continue from {cells.file}"
        ) from error


def _run(job: Job, folder: Path, parent: int) -> tuple[Job, list[Row]]:
    end_with(parent)
    return job, evaluate(job, folder)


@cache
def end_with(parent: int) -> None:
    """End this process soon after its parent, which may be killed; nothing in the parent itself."""

    def watch() -> None:
        while os.getppid() == parent:
            sleep(_WATCH_SECONDS)
        os._exit(1)

    if os.getpid() != parent:
        Thread(target=watch, daemon=True).start()
