"""The program `enhg`."""

from enhg.cli.commands import app, main

__all__ = ["app", "main"]
