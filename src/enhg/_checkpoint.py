"""Finished parts of computations in a folder, to go on from them after an interruption.

A checkpoint has a folder for each computation, with a description of it, ``computation.json``, and
an archive for each finished part. Files appear whole or not at all; one that is damaged all the
same counts as missing.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from contextlib import suppress
from errno import ENOSPC
from hashlib import sha256
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from enhg._atomic import atomic_file, sweep
from enhg._files import open_regular, require_path
from enhg._npz import State, read_archive, write_archive
from enhg._version import __version__
from enhg.exceptions import InputError

_DESCRIPTION = "computation.json"
_FORMAT, _VERSION = "enhg.Checkpoint", 1
_HASHED_BYTES = 2**24  # hashed at once, so that samples on disk are not read as a whole


class Checkpoint:
    """Folder with the finished parts of computations.

    Parameters
    ----------
    folder : path or None
        A new or empty folder, or that of a checkpoint; None to keep nothing.
    delay : float, default=0
        Seconds from now before which nothing is written. Parts that are finished earlier are
        written after them.
    replace : bool, default=False
        Whether another computation in the folder is removed; otherwise it is refused.

    Raises
    ------
    InputError
        If the folder is not that of a checkpoint.
    """

    def __init__(
        self, folder: str | os.PathLike[str] | None, *, delay: float = 0.0, replace: bool = False
    ) -> None:
        if folder is not None:
            require_path(folder, "checkpoint")
        self.folder = None if folder is None else Path(folder)
        self.starts = monotonic() + delay
        self.replace = replace
        if self.folder is not None:
            _check_folder(self.folder)

    @classmethod
    def at(cls, checkpoint: CheckpointLike) -> Checkpoint:
        """The checkpoint in a folder, or the given one."""
        return checkpoint if isinstance(checkpoint, Checkpoint) else cls(checkpoint)

    def computation(self, name: str, parameters: State, **arrays: NDArray) -> Computation:
        """The parts of a computation, by everything that its result depends on.

        Parameters
        ----------
        name : str
        parameters : State
            Numbers, words and lists of these.
        **arrays : ndarray
            By the name that a message has for them.

        Raises
        ------
        InputError
            If the folder has a computation of this name with other parameters or arrays.
        """
        if self.folder is None:
            return Computation(None, "", self.starts)
        own = {
            "format": _FORMAT,
            "version": _VERSION,
            "enhg": __version__,
            "parameters": json.loads(json.dumps(parameters)),
            "arrays": {array: digest(values) for array, values in arrays.items()},
        }
        folder = self.folder / name
        stored = _read_description(folder)
        if stored is not None and stored != own:
            if not self.replace:
                raise InputError(
                    f"{self.folder}: must be a checkpoint of the same computation, got one of "
                    f"{_difference(own, stored)}; remove it or choose another folder",
                    parameter="checkpoint",
                )
            _remove(folder)
        sweep(folder)
        return Computation(folder, json.dumps(own, indent=1, allow_nan=False), self.starts)

    def remove(self) -> None:
        """Remove the computations, and the folder if it is empty then."""
        if self.folder is None or not self.folder.is_dir():
            return
        for folder in self.folder.iterdir():
            if _is_computation(folder):
                _remove(folder)
        with suppress(OSError):
            self.folder.rmdir()


class Computation:
    """Finished parts of one computation.

    Parameters
    ----------
    folder : Path or None
        None to keep nothing.
    description : str
        The text of the file that describes the computation.
    starts : float
        The time, by `monotonic`, before which nothing is written.
    """

    def __init__(self, folder: Path | None, description: str, starts: float) -> None:
        self._folder = folder
        self._description = description
        self._starts = starts
        self._waiting: dict[str, State] = {}
        self._storing = Lock()

    def load(self, name: str) -> State | None:
        """The part of a name; None if it is not there, or damaged."""
        if self._folder is None:
            return None
        file = self._folder / f"{name}.npz"
        with suppress(Exception), open_regular(file) as stream:  # arbitrary bytes raise anything
            return read_archive(stream, _FORMAT, _VERSION)
        return None

    def store(self, name: str, state: State) -> None:
        """Write a part, and those that were waiting for the delay to pass; from any thread.

        Raises
        ------
        InputError
            If the file cannot be written. What was written before stays.
        """
        if self._folder is None:
            return
        with self._storing:
            self._waiting[name] = state
            if monotonic() < self._starts:
                return
            try:
                self._write(self._folder)
            except OSError as error:
                space = " (free some space)" if error.errno == ENOSPC else ""
                raise InputError(
                    f"{self._folder.parent}: the checkpoint cannot be written, "
                    f"{error.strerror or error}{space}; run the same again to go on from the "
                    "parts that were written",
                    parameter="checkpoint",
                ) from error

    def _write(self, folder: Path) -> None:
        """Write the parts that are waiting."""
        self._describe(folder)
        for name in list(self._waiting):
            file = folder / f"{name}.npz"
            file.unlink(missing_ok=True)  # one that could not be read
            # Not flushed to the disk: a file that is damaged by a crash counts as missing.
            write_archive(
                file, _FORMAT, _VERSION, self._waiting[name], overwrite=False, flush=False
            )
            del self._waiting[name]

    def get(self, name: str, compute: Callable[[], State]) -> State:
        """The part of a name, computed and stored if it is not there."""
        state = self.load(name)
        if state is None:
            state = compute()
            self.store(name, state)
        return state

    def _describe(self, folder: Path) -> None:
        file = folder / _DESCRIPTION
        if not file.exists():
            folder.mkdir(parents=True, exist_ok=True)
            with atomic_file(file) as part, part.open("w", encoding="utf-8") as stream:
                stream.write(self._description)
                stream.flush()
                os.fsync(stream.fileno())  # without it all parts are of no use


CheckpointLike = str | os.PathLike[str] | Checkpoint | None


def digest(array: NDArray) -> str:
    """Hash of the type, the shape and the entries of an array."""
    result = sha256(json.dumps([array.dtype.str, array.shape]).encode())
    rows = max(1, _HASHED_BYTES // max(1, array[:1].nbytes))
    for start in range(0, len(array), rows):
        result.update(np.ascontiguousarray(array[start : start + rows]).data)
    return result.hexdigest()


def _check_folder(folder: Path) -> None:
    if not os.path.lexists(folder):
        return
    what = "a file"
    if folder.is_dir():
        others = [entry for entry in folder.iterdir() if not _is_computation(entry)]
        if not others:
            return
        what = f"a folder with {others[0].name}"
        if any(others[0].glob("*.npz")):
            what += f", whose {_DESCRIPTION} is missing or damaged (remove it to start anew)"
    raise InputError(
        f"{folder}: must be a new or empty folder, or that of a checkpoint, got {what}",
        parameter="checkpoint",
    )


def _remove(folder: Path) -> None:
    """Remove a computation, its description last: parts without one would be refused."""
    for part in folder.glob("*.npz"):
        part.unlink()
    shutil.rmtree(folder)


def _is_computation(folder: Path) -> bool:
    """Whether a folder is that of a computation, which may have been killed at its very start."""
    if _read_description(folder) is not None:
        return True
    return folder.is_dir() and all(entry.suffix == ".tmp" for entry in folder.iterdir())


def _read_description(folder: Path) -> dict[str, Any] | None:
    """The description of a computation; None if the folder does not have any."""
    file = folder / _DESCRIPTION
    with suppress(OSError, ValueError, RecursionError):
        stored = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None
        if not isinstance(stored, dict) or stored.get("format") != _FORMAT:
            return None
        if all(isinstance(stored.get(part), dict) for part in ("parameters", "arrays")):
            return stored
    return None


def _difference(own: dict[str, Any], stored: dict[str, Any]) -> str:
    """What is not the same in two descriptions, in words."""
    if stored.get("version") != own["version"]:
        return f"another version of the format ({stored.get('version')})"
    if stored.get("enhg") != own["enhg"]:
        return f"enhg {stored.get('enhg')}, while this is {own['enhg']}"
    for name, value in own["arrays"].items():
        if stored["arrays"].get(name) != value:
            return f"other {name}"
    theirs = stored["parameters"]
    for name, value in own["parameters"].items():
        if theirs.get(name) != value:
            return f"{name} = {theirs.get(name)}, not {value}"
    return "something else"
