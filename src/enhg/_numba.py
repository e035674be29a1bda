"""Compiled functions, and their machine code on disk.

Numba reads the machine code that it keeps without a check: a file that a crash, a full disk or a
faulty one has damaged ends the process. So beside every file of Numba is one with its SHA-256,
written once Numba has written both of its files. A file without it, or with another one, is
removed before Numba reads it. So is one of another version of Numba, which ends a process that
reads it after the index and before the machine code has been replaced.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import update_wrapper
from hashlib import sha256
from pathlib import Path
from threading import Lock
from time import time
from typing import Any

import numba
from numba import njit

from enhg._atomic import atomic_file
from enhg.exceptions import InputError

if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
    raise InputError("NUMBA_DISABLE_JIT must be 0 or unset, got 1: the solver is compiled code")

# Numba keeps machine code on disk between processes unless ENHG_NUMBA_CACHE=0, for work on the
# kernels themselves.
CACHE: bool = os.environ.get("ENHG_NUMBA_CACHE", "1") != "0"

_KINDS = (".nbi", ".nbc")  # of Numba's files: an index, and machine code
_DIGEST = f".numba-{numba.__version__}.sha256"
_NOT_KEPT = "machine code cannot be kept there, and every process compiles again"
_MAX_WRITING_SECONDS = 3600  # after which an unfinished file is that of a process that was killed

_folders: dict[Path, _Folder] = {}
_warned: list[str] = []
_lock = Lock()


class Kernel:
    """A function that is compiled when it is called, and called from Python only.

    Parameters
    ----------
    function : callable
    options : dict
        Those of ``numba.njit``.

    Attributes
    ----------
    dispatcher : Dispatcher
        The function of Numba.
    is_kept : bool
        Whether its machine code is read from disk and kept there.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self._folder = None
        if CACHE:
            with suppress(RuntimeError):  # there is no folder that can be written to
                self.dispatcher = njit(**options, cache=True)(function)
                self._folder = _Folder.at(Path(self.dispatcher.stats.cache_path))
        self.is_kept = self._folder is not None and self._folder.is_usable
        if CACHE and self._folder is None:
            place = os.environ.get("NUMBA_CACHE_DIR") or Path(function.__code__.co_filename).parent
            _warn_once(f"{place}: {_NOT_KEPT}; set NUMBA_CACHE_DIR to a writable folder")
        if not self.is_kept:
            self.dispatcher = njit(**options)(function)
        self._n_compiled = 0

    @property
    def lock(self) -> Path:
        """File that is locked by the process that compiles, if the machine code is kept."""
        assert self._folder is not None
        return self._folder.path / f".{self.dispatcher.__name__}.lock"

    def __call__(self, *arguments: Any) -> Any:
        try:
            result = self.dispatcher(*arguments)
        except OSError as error:  # of writing machine code: the function itself opens no file
            if not self.is_kept:
                raise
            assert self._folder is not None
            _warn_once(f"{self._folder.path}: {_NOT_KEPT} ({error.strerror})")
            result = self.dispatcher(*arguments)  # which is compiled by then
        if self.is_kept and len(self.dispatcher.overloads) != self._n_compiled:
            self._n_compiled = len(self.dispatcher.overloads)
            assert self._folder is not None
            self._folder.record()
        return result


def kernel(**options: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """Decorate a function that is compiled with these options of ``numba.njit``."""
    return lambda function: Kernel(function, options)


class _Folder:
    """A folder of Numba's files, from which those that are not as they were written are removed.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    is_usable : bool
        Whether all files that remain are as they were written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_usable = True
        self._known: dict[str, tuple[int, int]] = {}
        self._recording = Lock()
        try:
            self._verify()
        except OSError as error:
            self.is_usable = False
            _warn_once(f"{path}: {_NOT_KEPT}: files there are damaged ({error.strerror})")

    @classmethod
    def at(cls, path: Path) -> _Folder:
        """The folder of a path, verified once."""
        with _lock:
            if path not in _folders:
                _folders[path] = cls(path)
            return _folders[path]

    def _verify(self) -> None:
        for file in self.path.iterdir():
            if file.suffix in _KINDS:
                stamp, digest, written = _stamp(file), _sha256(file), _read(_digest_file(file))
                if digest is not None and digest == written:
                    self._known[file.name] = stamp
                    continue
                for other in (file, *self.path.glob(f"{file.name}.*sha256")):
                    other.unlink(missing_ok=True)
                if written is not None:  # else the process ended before, or had another Numba
                    _warn_once(f"{self.path}: machine code there was damaged and is compiled again")
            elif ".tmp" in file.suffixes and time() - _stamp(file)[0] / 1e9 > _MAX_WRITING_SECONDS:
                file.unlink(missing_ok=True)

    def record(self) -> None:
        """Write the SHA-256 of the files that have changed."""
        with self._recording, suppress(OSError):  # without it, the next process removes the file
            for file in self.path.iterdir():
                stamp = _stamp(file)
                if file.suffix in _KINDS and self._known.get(file.name) != stamp:
                    with atomic_file(_digest_file(file)) as part:
                        part.write_text(_sha256(file) or "")
                    self._known[file.name] = stamp


def _warn_once(message: str) -> None:
    """Warn, unless it was done before: there are several functions and folders."""
    if not _warned:
        _warned.append(message)
        warnings.warn(message, stacklevel=5)


def _digest_file(file: Path) -> Path:
    return file.with_name(file.name + _DIGEST)


def _sha256(file: Path) -> str | None:
    """None for a file that cannot be read."""
    try:
        return sha256(file.read_bytes()).hexdigest()
    except OSError:
        return None


def _read(file: Path) -> str | None:
    try:
        return file.read_text()
    except (OSError, ValueError):
        return None


def _stamp(file: Path) -> tuple[int, int]:
    """Time of the last change and length; zeros for a file that another process has removed."""
    try:
        status = file.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
