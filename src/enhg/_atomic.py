"""Files that are written whole or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4


@contextmanager
def atomic_file(target: Path) -> Iterator[Path]:
    """A place beside `target` to write to, which takes its name when the block succeeds.

    When the block raises, also on Ctrl-C, nothing is left of it, and `target` is as it was.
    """
    part = target.with_name(f".{uuid4().hex}.tmp")
    try:
        yield part
        part.replace(target)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
