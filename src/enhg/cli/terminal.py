"""How the program speaks: stages with their times, bars, warnings and errors in one line."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NoReturn

import typer

from enhg._progress import bar


@contextmanager
def errors_in_one_line(interrupted: str = "nothing was written") -> Iterator[None]:
    """End the program with one line and an exit code for what the user can mend.

    Everything else is a bug, and keeps its traceback.
    """
    try:
        yield
    except KeyboardInterrupt:
        _fail(f"interrupted: {interrupted}", 130)
    except BrokenPipeError:  # whoever read our output has gone; typer ends quietly
        raise
    except MemoryError as error:
        advice = "lower --memory-budget, or use fewer samples or smaller images"
        _fail(f"error: not enough memory ({error}); {advice}", 1)
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        _fail(f"error: {where}{error.strerror or error}", 1)
    except ValueError as error:
        _fail(f"error: {error}", 1)


def _fail(message: str, code: int) -> NoReturn:
    typer.echo(" ".join(message.split()), err=True)
    raise typer.Exit(code)


_MINUTE = 60.0  # between lines where there is no terminal


class Stages:
    """The stages of a run: a bar while one lasts, then a line with its time and its warnings.

    Bars go to standard error, or a line a minute where that is no terminal; the lines that
    remain to standard output, or one JSON object at the end in their place.

    Attributes
    ----------
    times : list of (str, float)
        Names and seconds of the stages so far.
    warnings : list of str
    """

    def __init__(self, quiet: bool, as_json: bool = False) -> None:
        self._quiet = quiet
        self._json = as_json
        self.times: list[tuple[str, float]] = []
        self.warnings: list[str] = []

    @contextmanager
    def stage(
        self, name: str, doing: str, note: str = ""
    ) -> Iterator[Callable[[int, int], None] | None]:
        """Time a stage; gives the function to be told (done, in all), if there is a bar.

        `doing` stands beside the bar, `name` and `note` in the line that remains.
        """
        start = perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                with self._bar(doing) as progress:
                    yield progress
                self.times.append((name, perf_counter() - start))
                self._say(f"{name:<12}{self.times[-1][1]:6.1f} s  {note}".rstrip())
            finally:
                texts = [str(w.message) for w in caught if issubclass(w.category, UserWarning)]
                for text in dict.fromkeys(" ".join(text.split()) for text in texts):
                    self.warnings.append(text)
                    typer.echo(f"warning: {text}", err=True)

    @contextmanager
    def _bar(self, doing: str) -> Iterator[Callable[[int, int], None] | None]:
        if self._quiet:
            yield None
            return
        if not sys.stderr.isatty():
            yield _lines(doing)
            return
        with bar(doing, transient=True) as told:
            yield told

    def say_rows(self, *rows: tuple[str, str]) -> None:
        """A closing table of names and texts; a text may have several lines."""
        self._say("")
        for name, text in rows:
            first, *more = text.splitlines()
            self._say(f"{name:<12}{first}")
            for line in more:
                self._say(" " * 12 + line)

    def say_json(self, found: dict[str, Any]) -> None:
        """What was found, with stages and warnings, as JSON, if that is wanted."""
        if self._json:
            stages = {name: round(seconds, 3) for name, seconds in self.times}
            everything = found | {"seconds": stages, "warnings": self.warnings}
            # JSON knows no infinity, which a certificate may be: it becomes null.
            finite = json.loads(json.dumps(everything), parse_constant=lambda _: None)
            typer.echo(json.dumps(finite, indent=1))

    def _say(self, line: str) -> None:
        if not self._quiet and not self._json:
            typer.echo(line)


def _lines(doing: str) -> Callable[[int, int], None]:
    """To be told (done, in all); a line a minute on standard error, for logs."""
    start = last = perf_counter()

    def told(done: int, total: int) -> None:
        nonlocal last
        now = perf_counter()
        if 0 < done < total and now - last >= _MINUTE:
            last = now
            left = (now - start) * (total - done) / done
            typer.echo(f"{doing}: {done / total:.0%}, about {left / 60:.0f} min left", err=True)

    return told
