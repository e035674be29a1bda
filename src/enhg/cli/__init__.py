"""The program `enhg`."""

from __future__ import annotations

import io
import signal
import sys
from typing import NoReturn

from enhg._optional import require
from enhg.exceptions import MissingDependencyError


def main() -> None:
    """Run the program on the arguments of the command line."""
    try:
        for module in ("typer", "rich"):
            require(module, "cli")
    except MissingDependencyError as error:
        raise SystemExit(f"error: the program enhg: {error}") from None
    from enhg.cli.commands import app

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # for file names that are not valid text
    signal.signal(signal.SIGTERM, _exit)  # so that temporary files are removed
    app(prog_name="enhg")


def _exit(number: int, _: object) -> NoReturn:
    raise SystemExit(128 + number)
