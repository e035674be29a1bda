"""Progress of long computations: a bar in the terminal or a callback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from enhg._optional import require

_SPEED_WINDOW = 3600.0  # seconds over which the speed is averaged for the remaining time

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
    bars = require("rich.progress", "cli").Progress(
        console=console, transient=transient, speed_estimate_period=_SPEED_WINDOW
    )
    with bars:
        task = bars.add_task(description, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)
