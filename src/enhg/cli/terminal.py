"""Output of the program: stages with their times, progress, warnings and errors in one line."""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import wraps
from pathlib import Path
from shutil import get_terminal_size
from textwrap import fill
from time import perf_counter
from traceback import clear_frames
from typing import Any, NoReturn, TextIO, get_type_hints
from warnings import WarningMessage

import typer
from typer.models import OptionInfo

from enhg._optional import lacks_memory
from enhg._progress import bar, seconds_left
from enhg._text import escaped, printable
from enhg.cli.interruption import end_in_order, message_of, set_outcome
from enhg.exceptions import Advised, InputError, MissingDependencyError

_LINE_PERIOD = 60.0  # seconds between lines of progress where there is no terminal


def errors_in_one_line(command: Callable[..., None]) -> Callable[..., None]:
    """Make a command end with one line and an exit code for errors that the user can correct.

    Any other exception is a bug and keeps its traceback.
    """

    @wraps(command)
    def run(*args: Any, **options: Any) -> None:
        set_outcome()
        try:
            command(*args, **options)
        except KeyboardInterrupt as error:
            end_in_order()
            _fail(*message_of(error))
        except BrokenPipeError:  # the reader of the output has ended; typer ends quietly
            raise
        except MemoryError as error:
            clear_frames(error.__traceback__)  # which hold what has used up the memory
            _fail_without_memory(command, str(error))
        except OSError as error:
            where = f"{error.filename}: " if error.filename else ""
            _fail(f"error: {where}{error.strerror or error}", 1)
        except InputError as error:
            option = options_of(command).get(error.parameter or "")
            _fail(f"error: {error}{f' (option {option})' if option else ''}", 1)
        except MissingDependencyError as error:
            _fail(f"error: {error}", 1)
        except (ImportError, RuntimeError) as error:
            if not lacks_memory(error):
                raise
            is_import = isinstance(error, ImportError)
            what = "a library cannot be loaded" if is_import else "a thread cannot be started"
            _fail_without_memory(command, what)

    return run


def options_of(command: Callable[..., None]) -> dict[str, str]:
    """The options of a command by the parameters of the library that they set."""
    return {
        parameter: _option_name(parameter, info)
        for parameter, hint in get_type_hints(command, include_extras=True).items()
        for info in getattr(hint, "__metadata__", ())
        if isinstance(info, OptionInfo)
    }


def _option_name(parameter: str, info: OptionInfo) -> str:
    """The last declared name; inside of Annotated, typer takes the first for the default."""
    declared = [name for name in (info.default, *(info.param_decls or ())) if name is not ...]
    return str(declared[-1]) if declared else f"--{parameter}".replace("_", "-")


def _fail_without_memory(command: Callable[..., None], detail: str) -> NoReturn:
    advice = "use fewer samples or smaller images"
    if budget := options_of(command).get("memory_budget"):
        advice = f"lower {budget}, or {advice}"
    _fail(f"error: not enough memory{f' ({detail})' if detail else ''}; {advice}", 1)


def _fail(message: str, code: int) -> NoReturn:
    _echo(printable(message), err=True)
    raise typer.Exit(code)


def _echo(line: str, *, err: bool = False) -> None:
    """Print a line; the one place where text reaches the terminal, JSON and the version apart."""
    typer.echo(wrapped(escaped(line), sys.stderr if err else sys.stdout), err=err)


def wrapped(line: str, stream: TextIO | None) -> str:
    """A line for a stream: whole, or broken between words for a terminal.

    It goes on below the last of its columns, which two spaces separate. A command after a colon
    stays whole, so that it can be copied.
    """
    width = get_terminal_size().columns
    if stream is None or not stream.isatty() or len(line) <= width:
        return line
    columns = re.match(r"( *\S+)? {2,}", line)
    indent = " " * (columns.end() if columns else 0)
    text, is_next, command = line.partition(": enhg ")
    if is_next:
        return f"{text}:\n{indent}enhg {command}"
    return fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )


@dataclass
class Stages:
    """Stages of a run: progress during a stage, then a line with its time and its warnings.

    Progress goes to standard error, as a bar or, where that is no terminal, as a line per minute;
    the lines that remain go to standard output, unless JSON is printed there at the end.

    Attributes
    ----------
    quiet, as_json : bool
    options : dict of str to str or None
        `options_of` the command, which warnings name in place of the parameters of the library;
        None if they keep naming these.
    sample_names : sequence of str
        Names of the samples, which warnings name in place of their rows; empty if they have none.
    times : list of (str, float)
        Names and seconds of the stages so far.
    warnings : list of str
    """

    quiet: bool
    as_json: bool = False
    options: dict[str, str] | None = None
    sample_names: Sequence[str] = ()
    times: list[tuple[str, float]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @contextmanager
    def stage(
        self, name: str, description: str | None, note: str = ""
    ) -> Iterator[Callable[[int, int], None] | None]:
        """Time a stage; yields the function to call with (number done, total), or None.

        Parameters
        ----------
        name, note : str
            For the line that remains.
        description : str or None
            Beside the bar; None for a stage of parts with a `progress` of their own.
        """
        start = perf_counter()
        with self.warnings_shown():
            with nullcontext() if description is None else self.progress(description) as progress:
                yield progress
            self.times.append((name, perf_counter() - start))
            self._print(f"{name:<12}{self.times[-1][1]:6.1f} s  {note}".rstrip())

    @contextmanager
    def warnings_shown(self) -> Iterator[None]:
        """Print the warnings of a block at its end, each in one line."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                yield
            finally:
                self._print_warnings(caught)

    def _print_warnings(self, caught: Sequence[WarningMessage]) -> None:
        # Those of Pillow, on damaged metadata, name no file, and nothing is to be done about them.
        own = [w for w in caught if "PIL" not in Path(w.filename).parts]
        texts = [self._phrased(w.message) for w in own if issubclass(w.category, UserWarning)]
        for text in dict.fromkeys(" ".join(text.split()) for text in texts):
            self.warnings.append(text)
            _echo(f"warning: {text}", err=True)

    def _phrased(self, warning: Warning | str) -> str:
        """The text of a warning, with options in place of the parameters of the library, and names
        of the samples in place of their rows."""
        message = warning.args[0] if isinstance(warning, Warning) and warning.args else warning
        if isinstance(message, Advised) and self.options is not None:
            return message.phrased(self.options.get, self.sample_names)
        return str(message)

    @contextmanager
    def progress(self, description: str) -> Iterator[Callable[[int, int], None] | None]:
        """Show a bar; yields the function to call with (number done, total), or None."""
        if self.quiet:
            yield None
        elif sys.stderr is None or not sys.stderr.isatty():
            yield _line_per_minute(description)
        else:
            with bar(description, transient=True) as update:
                yield update

    def print_line(self, line: str) -> None:
        """Print a line that is no stage."""
        self._print(printable(line))

    def print_error(self, line: str) -> None:
        """Print a line to standard error, also if the run is quiet."""
        _echo(printable(line), err=True)

    def print_rows(self, *rows: tuple[str, str]) -> None:
        """Print a table of names and texts; a text may have several lines."""
        self._print("")
        for name, text in rows:
            first, *more = text.splitlines()
            self._print(f"{name:<12}{first}")
            for line in more:
                self._print(" " * 12 + line)

    def print_json(self, figures: dict[str, Any]) -> None:
        """Print an object as JSON, if that is the output."""
        if self.as_json:
            # JSON has no infinity, which a certificate may be: it becomes null.
            finite = json.loads(json.dumps(figures), parse_constant=lambda _: None)
            typer.echo(json.dumps(finite, indent=1))

    def _print(self, line: str) -> None:
        if not self.quiet and not self.as_json:
            _echo(line)


def _line_per_minute(description: str) -> Callable[[int, int], None]:
    """A function to call with (number done, total), which prints to standard error, for logs."""
    printed = perf_counter()
    left_after = seconds_left()

    def update(done: int, total: int) -> None:
        nonlocal printed
        time = perf_counter()
        seconds = left_after(done, total)
        if done < total and time - printed >= _LINE_PERIOD:
            printed = time
            left = "" if seconds is None else f", about {seconds / 60:.0f} min left"
            _echo(f"{description}: {done / total:.0%}{left}", err=True)

    return update
