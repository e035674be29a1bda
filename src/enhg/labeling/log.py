"""The log of actions: written before an action is confirmed, and read again at the next start."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from enhg._atomic import LockedError, is_at, open_locked
from enhg.exceptions import InputError
from enhg.io._base import reason

_FORMAT = "enhg labels"


class ActionLog:
    """A file of JSON lines to which lines are only appended.

    The first line says what the log is of. A line counts once it ends: what a write that was
    interrupted has left of one is cut off when the log is opened again. While it is open, no
    other process can open it.

    Parameters
    ----------
    path : Path
    subject : dict
        What the log is of; a log of something else is refused.
    start : dict
        The first line of a new log, in one write with what it is of.
    """

    def __init__(self, path: Path, subject: dict[str, Any], start: dict[str, Any]) -> None:
        self.path = path
        header = {"format": _FORMAT, "version": 1, **subject}
        try:
            self._file, _ = open_locked(path, os.O_CREAT | os.O_APPEND)
        except LockedError as error:
            raise InputError(
                f"{path}: is in use by another enhg label; use its page, or stop it first"
            ) from error
        except OSError as error:
            raise InputError(f"{path}: cannot be written ({reason(error)})") from error
        try:
            self._lines = self._read()
            if not self._lines:
                self._write(header, start)
                self._lines = [start]
            elif self._lines.pop(0) != header or not self._lines:
                raise InputError(
                    f"{path}: the log is of other images, or of another version of enhg; choose "
                    "another folder"
                )
        except BaseException:
            os.close(self._file)
            raise

    def _read(self) -> list[Any]:
        """The lines that are complete; the file is cut behind them."""
        with open(self._file, "rb", closefd=False) as stream:
            content = stream.read()
        end = content.rfind(b"\n") + 1
        if end < len(content):
            os.ftruncate(self._file, end)
        lines = []
        for number, line in enumerate(content[:end].splitlines(), start=1):
            try:
                lines.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise InputError(f"{self.path}: line {number} is damaged") from error
        return lines

    def __iter__(self) -> Iterator[Any]:
        """The lines that were there when the log was opened."""
        return iter(self._lines)

    def append(self, line: dict[str, Any]) -> None:
        """Write a line to the disk, whole or not at all."""
        self._write(line)

    def _write(self, *lines: dict[str, Any]) -> None:
        texts = (json.dumps(line, ensure_ascii=False, separators=(",", ":")) for line in lines)
        content = "".join(f"{text}\n" for text in texts).encode()
        size = os.fstat(self._file).st_size
        self._require_present()
        try:
            written = 0
            while written < len(content):
                written += os.write(self._file, content[written:])
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, size)
            raise InputError(f"{self.path}: cannot be written ({reason(error)})") from error

    def _require_present(self) -> None:
        """Raise InputError if the file is no longer where it is looked for at the next start."""
        if not is_at(self._file, self.path):
            raise InputError(
                f"{self.path}: was moved or deleted; put it back, or stop and start again"
            )

    def close(self) -> None:
        """Close the file, after which another process can open it."""
        os.close(self._file)
