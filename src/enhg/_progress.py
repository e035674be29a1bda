"""Progress of long computations: a bar in the terminal or a callback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import perf_counter

from enhg._optional import require

Report = Callable[[int, int], None]
Progress = bool | Report | None


@contextmanager
def reporting(progress: Progress, description: str) -> Iterator[Report]:
    """Context whose value is a function to call with (steps done, steps in total).

    Parameters
    ----------
    progress : bool, callable or None
        True shows a bar on standard error; a callable is called itself; False and None ignore
        the calls.
    description : str
        The text beside the bar.
    """
    if not progress:
        yield lambda done, total: None
    elif callable(progress):
        yield progress
    else:
        with bar(description) as report:
            yield report


@contextmanager
def bar(description: str, *, transient: bool = False) -> Iterator[Report]:
    """Bar on standard error with the remaining time; a transient one disappears at the end."""
    console = require("rich.console", "cli").Console(stderr=True)
    rich = require("rich.progress", "cli")
    # Not the remaining time of rich, for which a batch that is finished at once has no duration.
    columns = *rich.Progress.get_default_columns()[:-1], rich.TextColumn("{task.fields[left]}")
    left_after = seconds_left()
    with rich.Progress(*columns, console=console, transient=transient) as bars:
        task = bars.add_task(description, total=None, left="")

        def report(done: int, total: int) -> None:
            seconds = left_after(done, total)
            left = "" if seconds is None else f"{timedelta(seconds=round(seconds))} left"
            bars.update(task, completed=done, total=total, left=left)

        yield report


def seconds_left() -> Callable[[int, int], float | None]:
    """Function that gives the seconds left after (steps done, steps in total), None if unknown.

    They follow from the speed since its first call, before which there may be preparations.
    """
    start: tuple[float, int] | None = None

    def left(done: int, total: int) -> float | None:
        nonlocal start
        start = start or (perf_counter(), done)
        seconds, first = perf_counter() - start[0], start[1]
        return seconds * (total - done) / (done - first) if done > first else None

    return left
