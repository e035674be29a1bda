"""Progress of long work, told to a bar in the terminal or to whoever asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

_HOUR = 3600.0  # of the speed so far goes into the estimate of the time left

Progress = bool | Callable[[int, int], None] | None


@contextmanager
def reporting(progress: Progress, what: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function to be called with (done, in all) while the work goes on.

    `progress` is True for a bar on standard error, a function of one's own, or nothing.
    """
    if not progress:
        yield lambda done, total: None
    elif callable(progress):
        yield progress
    else:
        with bar(what) as told:
            yield told


@contextmanager
def bar(what: str, *, transient: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error with the time left; a transient one leaves nothing behind."""
    from rich.console import Console
    from rich.progress import Progress as Bars

    console = Console(stderr=True)
    with Bars(console=console, transient=transient, speed_estimate_period=_HOUR) as bars:
        task = bars.add_task(what, total=None)
        yield lambda done, total: bars.update(task, completed=done, total=total)
