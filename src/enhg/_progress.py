"""Progress of long work, told to a bar in the terminal or to whoever asks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

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
        from rich.console import Console
        from rich.progress import Progress as Bars

        with Bars(*Bars.get_default_columns(), console=Console(stderr=True)) as bars:
            bar = bars.add_task(what, total=None)
            yield lambda done, total: bars.update(bar, completed=done, total=total)
