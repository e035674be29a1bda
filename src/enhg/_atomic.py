"""Files and folders that appear whole or not at all, also if the process is killed.

What is written has a temporary name, and a lock that ends with the process. Temporary files whose
lock is free are those of processes that were killed, and are removed.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from uuid import uuid4

try:
    import fcntl
except ImportError:  # Windows: nothing is locked, and nothing of other processes is removed
    fcntl = None  # type: ignore[assignment]

_TEMPORARY = re.compile(r"\.[0-9a-f]{32}\.tmp")

# What removes each temporary file or folder of this process, those made first at the beginning.
_unfinished: dict[Path, Callable[[Path], None]] = {}
_swept: set[Path] = set()
_completing = Event()


class LockedError(OSError):
    """Another process holds a lock."""


@contextmanager
def atomic_file(target: Path) -> Iterator[Path]:
    """Yield a temporary path beside `target`, which is renamed to it when the block succeeds.

    If the block raises, KeyboardInterrupt included, the temporary file is removed and `target` is
    unchanged. An error of the file system names `target`, not the temporary file. The file may
    exist, for its lock, and is written in place.

    Raises
    ------
    OSError
        If `target` is a FIFO, a device or a socket, or a link to one, which would be replaced by
        a file.
    """
    _refuse_special(target)
    part = target.with_name(f".{uuid4().hex}.tmp")
    if (folder := part.parent.absolute()) not in _swept:
        _swept.add(folder)
        sweep(folder)
    lock = None
    try:
        with temporary(part):
            if fcntl is not None:
                lock = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
                with suppress(OSError):  # of file systems without locks
                    fcntl.flock(lock, fcntl.LOCK_EX)
            yield part
            part.replace(target)
    except OSError as error:
        is_of_part = error.filename is None or str(error.filename) == str(part)
        if is_of_part and error.errno is not None:
            raise type(error)(error.errno, error.strerror, str(target)) from error
        raise
    finally:
        if lock is not None:
            os.close(lock)


def _refuse_special(target: Path) -> None:
    try:
        mode = target.stat().st_mode
    except OSError:  # there is none yet, or it is found when it is written
        return
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        raise OSError(errno.EINVAL, "not a regular file", str(target))


def remove_tree(path: Path) -> None:
    """Remove a file, or a folder with all that it holds, as far as possible."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def temporary(path: Path, remove: Callable[[Path], None] = remove_tree) -> Iterator[None]:
    """Remove a path at the end, or when `remove_unfinished` is called before."""
    _unfinished[path] = remove
    try:
        yield
    finally:
        with suppress(OSError):
            remove(path)
        _unfinished.pop(path, None)


def remove_unfinished() -> None:
    """Remove all that is temporary, in a process that is about to end without unwinding."""
    for path, remove in reversed(list(_unfinished.items())):
        with suppress(OSError):
            remove(path)


@contextmanager
def completing() -> Iterator[None]:
    """Mark what must not be cut off by the end of the process, as far as that can wait."""
    try:
        _completing.set()
        yield
    finally:
        _completing.clear()


def is_completing() -> bool:
    """Whether a block of `completing` has begun and not ended."""
    return _completing.is_set()


def sweep(folder: Path) -> None:
    """Remove the temporary files of processes that were killed from a folder."""
    if fcntl is None:
        return
    with suppress(OSError):  # a folder that cannot be listed or changed stays as it is
        for name in filter(_TEMPORARY.fullmatch, os.listdir(folder)):
            with suppress(OSError):  # of a process that runs, or of another user
                file, is_locked = open_locked(folder / name)
                try:
                    if is_locked:
                        (folder / name).unlink(missing_ok=True)
                finally:
                    os.close(file)


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Hold the lock of a file, which is made for it and removed at the end.

    A file that is not empty is of someone else, and stays.

    Yields
    ------
    bool
        Whether the lock is held: not all systems and file systems have locks.

    Raises
    ------
    LockedError
        If another process holds it.
    OSError
        If the file cannot be made.
    """
    if fcntl is None:
        yield False
        return
    file, is_locked = open_locked(path, os.O_CREAT)
    while not is_at(file, path):  # a process has removed it and ended meanwhile
        os.close(file)
        file, is_locked = open_locked(path, os.O_CREAT)
    try:
        with temporary(path, _remove_empty):
            yield is_locked
    finally:
        os.close(file)


def _remove_empty(path: Path) -> None:
    status = path.lstat()
    if stat.S_ISREG(status.st_mode) and status.st_size == 0:
        path.unlink()


def open_locked(path: Path, flags: int = 0) -> tuple[int, bool]:
    """Open a file and lock it until it is closed; whether that was possible is the second result.

    Raises
    ------
    LockedError
        If another process holds the lock.
    """
    file = os.open(path, os.O_RDWR | flags, 0o666)
    if fcntl is None:
        return file, False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(file)
        raise LockedError(error.errno, error.strerror, str(path)) from error
    except OSError:
        return file, False
    return file, True


def is_at(file: int, path: Path) -> bool:
    """Whether an open file is the one of a path."""
    try:
        return os.path.samestat(os.fstat(file), os.stat(path))
    except OSError:
        return False
