"""Opening of files of any origin: regular files only, and nothing larger than the free memory."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import IO

from enhg._memory import free_memory
from enhg.exceptions import InputError

# Arrays of more than _SMALL_BYTES may be this many times as large in memory as in their file.
# Samples, also sparse ones, stay below it; zeros that deflate has packed are 1000 times as large.
MOST_INFLATED = 500
_SMALL_BYTES = 100_000_000

_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}


class NotRegularError(OSError):
    """A path that leads to no regular file; `kind` says in words what it leads to."""

    def __init__(self, mode: int) -> None:
        super().__init__("not a regular file")
        self.kind = _KINDS.get(stat.S_IFMT(mode), "something else")


def require_path(path: object, name: str = "path") -> None:
    """Require text or an object of pathlib."""
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"{name} must be a path, got {path!r}", parameter=name)


def open_regular(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a regular file, or a link to one, for reading.

    A FIFO or a device could be waited for without end, or be read until memory ends.

    Raises
    ------
    NotRegularError
        If the path leads to anything else.
    OSError
        If there is no such file, or no permission to read it.
    """
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode):
        raise NotRegularError(mode)
    stream = open(path, "rb", opener=_open_at_once)  # noqa: SIM115 (the caller closes it)
    mode = os.fstat(stream.fileno()).st_mode
    if not stat.S_ISREG(mode):  # any more
        stream.close()
        raise NotRegularError(mode)
    return stream


def _open_at_once(path: str, flags: int) -> int:
    """Open a file without the wait for a writer if it is a FIFO."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def resolved(path: str | os.PathLike[str]) -> Path:
    """Return the absolute path without links; raise InputError for a link to itself."""
    try:
        place = Path(path).resolve()
        with suppress(FileNotFoundError, NotADirectoryError, PermissionError):
            os.stat(place)  # from Python 3.13 on, `resolve` does not raise
    except (OSError, RuntimeError) as error:
        if isinstance(error, OSError) and error.errno != errno.ELOOP:  # such as a name too long
            raise
        raise InputError(
            f"{os.fspath(path)}: must lead to a file or folder, got a link to itself"
        ) from error
    return place


def file_size(stream: IO[bytes]) -> int:
    """Return the number of bytes of an open file."""
    return os.fstat(stream.fileno()).st_size


def read_regular(path: str | os.PathLike[str]) -> bytes:
    """Return the contents of a regular file that fits in memory; raise as `open_regular`."""
    with open_regular(path) as stream:
        if file_size(stream) > free_memory():
            raise OSError(errno.EFBIG, "does not fit in memory", os.fspath(path))
        return stream.read()


def check_size(n_bytes: int, stored: int, what: str, remedy: str = "uncompressed") -> None:
    """Refuse, before it is read, what does not fit in memory or is far larger than its file.

    Parameters
    ----------
    n_bytes : int
        Bytes in memory.
    stored : int
        Bytes in the file.
    what : str
        File and array, for the message.
    remedy : str, default="uncompressed"
        How it can be stored so that its file is large enough, for the message.

    Raises
    ------
    InputError
        If the bytes in memory are more than `free_memory`, or more than 100 MB and than 500 times
        the bytes of the file.
    """
    check_memory(n_bytes, what)
    check_inflation(n_bytes, stored, what, remedy)


def check_memory(n_bytes: int, what: str) -> None:
    """Refuse what does not fit in memory; parameters as in `check_size`."""
    if n_bytes > (free := free_memory()):
        raise InputError(
            f"{what} does not fit in memory: it needs {n_bytes / 1e9:.3g} GB, {free / 1e9:.3g} GB "
            "are free; use fewer samples"
        )


def check_inflation(n_bytes: int, stored: int, what: str, remedy: str = "uncompressed") -> None:
    """Refuse what is far larger than its file; parameters as in `check_size`."""
    if n_bytes > max(_SMALL_BYTES, MOST_INFLATED * stored):
        raise InputError(
            f"{what} must not be over {MOST_INFLATED} times as large in memory as in its file, got "
            f"{n_bytes / 1e9:.3g} GB from {stored} bytes; if it is meant, store it {remedy}"
        )
