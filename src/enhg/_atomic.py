"""Atomic writing of files: the whole file or none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4


@contextmanager
def atomic_file(target: Path) -> Iterator[Path]:
    """Yield a temporary path beside `target`, which is renamed to it when the block succeeds.

    If the block raises, KeyboardInterrupt included, the temporary file is removed and `target` is
    unchanged. An error of the file system names `target`, not the temporary file.
    """
    part = target.with_name(f".{uuid4().hex}.tmp")
    try:
        yield part
        part.replace(target)
    except BaseException as error:
        with suppress(OSError):
            part.unlink()
        if isinstance(error, OSError) and str(error.filename) == str(part):
            raise type(error)(error.errno, error.strerror, str(target)) from error
        raise
