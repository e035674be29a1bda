"""The program `enhg`."""

from __future__ import annotations

import io
import sys

from enhg._optional import lacks_memory, require
from enhg.cli.interruption import message_of, unsaid_interruption, watch_signals
from enhg.exceptions import MissingDependencyError


def main() -> None:
    """Run the program on the arguments of the command line."""
    try:
        for module in ("typer", "rich"):
            require(module, "cli")
    except MissingDependencyError as error:
        raise SystemExit(f"error: the program enhg: {error}") from None
    watch_signals()
    try:
        from enhg.cli.commands import app

        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="backslashreplace")  # for names that are not valid text
        app(prog_name="enhg")
    except ImportError as error:  # of what typer imports
        if not lacks_memory(error):
            raise
        raise SystemExit("error: not enough memory: a library cannot be loaded") from None
    except (KeyboardInterrupt, SystemExit) as error:  # before a command has started
        interruption = unsaid_interruption(error)
        if interruption is None:
            raise
        message, status = message_of(interruption)
        print(message, file=sys.stderr)
        raise SystemExit(status) from None
