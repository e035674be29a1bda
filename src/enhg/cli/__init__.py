"""The program `enhg`."""

from __future__ import annotations

import io
import sys

from enhg._optional import lacks_memory, require
from enhg.cli.interruption import end_interrupted, watch_signals
from enhg.exceptions import MissingDependencyError


def main() -> None:
    """Run the program on the arguments of the command line."""
    watch_signals()
    try:
        for module in ("typer", "rich"):
            require(module, "cli")
        from enhg.cli.commands import app

        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # for names that are not valid text
        app(prog_name="enhg")
    except BaseException as error:
        if not isinstance(error, SystemExit) or error.code:
            end_interrupted()
        if isinstance(error, MissingDependencyError):
            raise SystemExit(f"error: the program enhg: {error}") from None
        # Of what typer imports.
        if isinstance(error, MemoryError) or (
            isinstance(error, ImportError) and lacks_memory(error)
        ):
            raise SystemExit("error: not enough memory: a library cannot be loaded") from None
        raise
