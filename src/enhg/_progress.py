"""Progress of long computations: a bar on standard error, or a callback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from enhg._optional import require

_SPEED_PERIOD = 3600.0  # seconds of past speed that the estimate of the time left averages over

Progress = bool | Callable[[int, int], None] | None


@contextmanager
def reporting(progress: Progress, description: str) -> Iterator[Callable[[int, int], None]]:
    """Yield a function to be called with (number done, total) during the computation.

    Parameters
    ----------
    progress : bool, callable or None
        True for a bar on standard error, a callable to be called instead, False or None for
        neither.
    description : str
        Text beside the bar.
    """
    if not progress:
        yield lambda done, total: None
    elif callable(progress):
        yield progress
    else:
        with bar(description) as update:
            yield update


@contextmanager
def bar(description: str, *, transient: bool = False) -> Iterator[Callable[[int, int], None]]:
    """Show a bar on standard error with the time left; a transient bar is erased at the end."""
    console = require("rich.console", "cli").Console(stderr=True)
    bars = require("rich.progress", "cli").Progress(
        console=console, transient=transient, speed_estimate_period=_SPEED_PERIOD
    )
    with bars:
        task = bars.add_task(description, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)
