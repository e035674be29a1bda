"""Writing of results: whole or not at all."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from enhg._atomic import LockedError, atomic_file, completing, locked, temporary
from enhg._checkpoint import Checkpoint
from enhg._files import resolved
from enhg.exceptions import InputError
from enhg.io._base import Skipped, reason
from enhg.io._listing import is_inside
from enhg.io.tables import guarded

CHECKPOINT = ".checkpoint"
"""Folder in that of the results, with what a run has computed until it is complete."""
_LOCK, _MOVING, _STALE = ".lock", ".moving", ".stale.json"


def write_table(path: str | os.PathLike[str], table: Mapping[str, Sequence[Any]]) -> None:
    """Write a table as .csv, whole or not at all.

    Spreadsheets open it right: it is UTF-8 with a byte order mark, every row is one line, and no
    cell is a formula. Text that would be one (it starts with ``=``, ``+``, ``-`` or ``@`` and is
    no number) gets an apostrophe in front. Text with line breaks, other control characters, bytes
    that are not UTF-8, or spaces at its ends is written as shells quote it, ``$'two\\nlines'``.
    `read_labels` and `read_samples` undo both.

    Parameters
    ----------
    path : path
        The file; missing folders are made, and a file of that name is replaced.
    table : mapping of str to sequence
        Columns of one length under their headings.

    Raises
    ------
    InputError
        When the columns differ in length or the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> file = tempfile.mkdtemp() + "/labels.csv"
    >>> write_table(file, {"name": ["a.png", "b.png"], "label": [0, 1]})
    >>> open(file, encoding="utf-8-sig").read().splitlines()
    ['name,label', 'a.png,0', 'b.png,1']
    """
    lengths = {head: len(values) for head, values in table.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(f"columns of table must have one length, got {lengths}")
    target = Path(path)
    with _writable(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with (
            atomic_file(target) as part,
            part.open("w", newline="", encoding="utf-8-sig") as stream,
        ):
            writer = csv.writer(stream)
            for row in (tuple(table), *zip(*table.values(), strict=True)):
                writer.writerow([guarded(cell) if isinstance(cell, str) else cell for cell in row])


def write_skipped(path: str | os.PathLike[str], skipped: Sequence[Skipped]) -> None:
    """Write the names of the images that could not be read, and why, as `write_table` does."""
    names, reasons = [image.name for image in skipped], [image.reason for image in skipped]
    write_table(path, {"name": names, "reason": reasons})


@contextmanager
def output_folder(
    path: str | os.PathLike[str],
    overwrite: bool = False,
    new: Sequence[str] = (),
    optional: Sequence[str] = (),
) -> Iterator[Path]:
    """Folder to write results into, which becomes `path` only when the block succeeds.

    Parameters
    ----------
    path : path
        The folder of the results; missing parents are made.
    overwrite : bool, default=False
        Allow `path` to hold files: those of the same names are replaced, each in one step, and all
        others are left alone. The checkpoint of a run that was interrupted is always allowed, and
        removed once there are results.
    new : sequence of str, default=()
        Names of folders in `path` that must not exist, also with `overwrite`: what another run
        left there, such as the folders of its clusters, would be taken for results of this one.
    optional : sequence of str, default=()
        Names of files that not every run writes, and patterns such as ``thumbnails/*.jpg``: with
        `overwrite`, files that an earlier run wrote and this one does not are removed.

    Yields
    ------
    Path
        A temporary folder beside `path`, or inside it when `path` exists (it may be on another
        disk, and its parent need not be writable). When the block raises, also on Ctrl-C, the
        folder is removed, with any parents that were made for it; after a process that was killed,
        the next one with the same `path` removes it.

    Raises
    ------
    InputError
        On entry, when `path` is a file, holds files and `overwrite` is not set, holds one of `new`,
        is written to by another process, or cannot be written. At the end, when the results cannot
        be moved; they stay in a folder that the message names.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     with output_folder(Path(home, "out")) as folder:
    ...         _ = (folder / "report.txt").write_text("done")
    ...     print(Path(home, "out", "report.txt").read_text())
    done
    """
    target = resolved(path)
    with ExitStack() as stack:
        with _writable(target):
            # What a killed run was moving there is completed first, under the lock.
            if not _leftovers(target) and not any(file.exists() for file in _lock_files(target)):
                _check_target(target, overwrite, new)
            for parent in reversed([p for p in target.parents if not p.exists()]):
                stack.enter_context(temporary(parent, Path.rmdir))  # as long as it is empty
                parent.mkdir(exist_ok=True)
            if _lock(stack, target):
                # With `new`, the same run is refused below: its new folders are there then.
                _recover(target, resumes=overwrite and not new)
            _check_target(target, overwrite, new)  # another run may have ended meanwhile
            home = target if target.exists() else target.parent
            folder = home / f".{target.name}.{uuid4().hex[:8]}.tmp"
            stack.enter_context(temporary(folder))
            folder.mkdir()
        yield folder
        try:
            _place(folder, target, overwrite, optional)
        except OSError as error:
            kept = folder.with_suffix(".kept")  # which the next run does not remove
            with suppress(OSError):
                folder.rename(kept)
            raise InputError(
                f"{target}: the results cannot be moved there ({reason(error)}); they are in {kept}"
            ) from error


def complete_results(path: str | os.PathLike[str]) -> None:
    """Complete the results in a folder if a run was killed as it moved them there.

    What else killed runs have left is removed. Nothing is done where a run writes into the folder.

    Raises
    ------
    InputError
        If the folder cannot be written.
    """
    target = resolved(path)
    with _writable(target), suppress(LockedError), ExitStack() as stack:
        if target.is_dir() and _lock(stack, target):
            _recover(target)


@contextmanager
def held_folder(path: str | os.PathLike[str]) -> Iterator[None]:
    """Hold a folder that exists: until the end of the block no run writes results into it.

    Raises
    ------
    InputError
        On entry, if a run writes into the folder, or it cannot be written.
    """
    target = resolved(path)
    with ExitStack() as stack:
        with _writable(target):
            _lock(stack, target)
        yield


def _lock(stack: ExitStack, target: Path) -> bool:
    """Lock the folder of the results for one run; whether locks are held on all that exist.

    The lock is beside the folder, where it is found before the folder is made, and in the folder,
    if it exists, since others may see it under another path.
    """
    held, failure = [], None
    for file in _lock_files(target):
        try:
            held.append(stack.enter_context(locked(file)))
        except LockedError:
            raise
        except OSError as error:  # one of both folders need not be writable
            failure = error
    if not held and failure is not None:
        raise failure
    return all(held)


def _lock_files(target: Path) -> list[Path]:
    files = [target.with_name(f".{target.name}.lock")] if target.name else []
    return [*files, target / _LOCK] if target.exists() else files


def _recover(target: Path, resumes: bool = False) -> None:
    """Remove what killed runs have left, and complete results that were being moved.

    Their checkpoint is of no use then, unless this run is the same once more and `resumes`. Where
    the folder is gone, with the results that had been moved there, the others are removed, too.
    """
    for folder in _leftovers(target):
        if folder.name.endswith(_MOVING) and target.exists():
            _complete(folder, target, resumes)
        else:
            shutil.rmtree(folder)


def _leftovers(target: Path) -> list[Path]:
    """Temporary folders of runs that are under way or were killed."""
    return [
        home / name
        for home in filter(Path.is_dir, (target.parent, target))
        for name in filter(_leftover(target).fullmatch, _listed(home))
        if (home / name).is_dir() and not (home / name).is_symlink()
    ]


def _listed(folder: Path) -> list[str]:
    """Names in a folder; none if it may be passed through only, as others' folders often are."""
    with suppress(PermissionError):
        return os.listdir(folder)
    return []


def _leftover(target: Path) -> re.Pattern[str]:
    return re.compile(rf"\.{re.escape(target.name)}\.[0-9a-f]{{8}}(\.tmp|{re.escape(_MOVING)})")


def _check_target(target: Path, overwrite: bool, new: Sequence[str]) -> None:
    if not target.name:
        raise InputError(
            f"{target}: must be a folder in another one, got the root", parameter="out"
        )
    if target.exists() and not target.is_dir():
        raise InputError(f"{target}: must be a folder, got a file")
    held = os.listdir(target) if target.exists() else ()
    own, leftover = (CHECKPOINT, _LOCK), _leftover(target)
    if not overwrite and any(name not in own and not leftover.fullmatch(name) for name in held):
        raise InputError(
            f"{target}: must be new or empty, got a folder that holds files; set overwrite to "
            "replace files of the same names",
            parameter="overwrite",
        )
    for name in new:
        if os.path.lexists(target / name):
            raise InputError(
                f"{target / name}: must not exist, got one of an earlier run, which is never "
                "deleted; move it away, or write into another folder"
            )


def _place(folder: Path, target: Path, overwrite: bool, optional: Sequence[str]) -> None:
    """Move the contents of `folder` into `target`, or rename it if there is no `target`."""
    if not target.exists():
        folder.rename(target)
        return
    items = sorted(item.relative_to(folder) for item in folder.rglob("*"))
    for item in items:
        there = target / item
        if there.is_dir() != (folder / item).is_dir() and os.path.lexists(there):
            raise FileExistsError(f"{there.name} is a file on one side and a folder on the other")
        if there.is_file() and not overwrite:
            raise FileExistsError(f"{there.name} has been written there meanwhile")
        if there.is_dir() and there.stat().st_dev != folder.stat().st_dev:
            raise OSError(f"{there.name} is on another disk")
        if there.is_dir() and not os.access(there, os.W_OK | os.X_OK):
            raise PermissionError(f"{there.name} cannot be written")
    patterns = optional if overwrite else ()
    stale = {file.relative_to(target) for pattern in patterns for file in target.glob(pattern)}
    names = sorted(os.fspath(name) for name in stale - set(items))
    (folder / _STALE).write_text(json.dumps(names), encoding="ascii")
    moving = folder.with_suffix(_MOVING)
    with completing():
        while True:
            with suppress(KeyboardInterrupt):  # too late: half of them would be of no use
                if folder.exists():
                    folder.rename(moving)
                if moving.exists():
                    _complete(moving, target)
                return


def _complete(folder: Path, target: Path, resumes: bool = False) -> None:
    """Move all files into `target`; say where they are if that is not possible."""
    try:
        _move(folder, target, resumes)
    except OSError as error:
        raise InputError(
            f"{target}: not all results can be moved there ({reason(error)}); the others are in "
            f"{folder}, and the next run into {target} moves them"
        ) from error


def _move(folder: Path, target: Path, resumes: bool) -> None:
    """Move all files into `target` and remove those that they replace; to be repeated until done.

    The checkpoint is removed, too, unless a run `resumes` from it.

    A process that is killed before the end has written everything, and the next one goes on.
    """
    if not (folder / _STALE).exists():  # all is done but the removal of the folder
        shutil.rmtree(folder)
        return
    _move_entries(folder, target)
    for file in _stale_files(folder, target):
        file.unlink(missing_ok=True)
    if not resumes:
        with suppress(InputError, OSError):  # one that is no checkpoint, or of another user
            Checkpoint(target / CHECKPOINT).remove()
    shutil.rmtree(folder)


def _move_entries(folder: Path, target: Path) -> None:
    """Move files, and folders that `target` does not have, in one step each."""
    for entry in sorted(folder.iterdir()):
        there = target / entry.name
        if entry.is_dir() and not entry.is_symlink() and there.exists():
            _move_entries(entry, there)
        elif entry.name != _STALE:
            entry.replace(there)


def _stale_files(folder: Path, target: Path) -> list[Path]:
    """Files that the list in `folder` names, as far as they are in `target`.

    After a crash of the machine the list may be damaged, and a folder of another origin may name
    any file in it.
    """
    names: Any = None
    with suppress(ValueError, RecursionError):
        names = json.loads((folder / _STALE).read_text(encoding="ascii"))
    if not isinstance(names, list):
        return []
    files = [target / name for name in names if isinstance(name, str)]
    return [file for file in files if file.is_file() and is_inside(file.parent, target)]


@contextmanager
def _writable(path: Path) -> Iterator[None]:
    try:
        yield
    except LockedError as error:
        raise InputError(
            f"{path}: another run writes into this folder, or enhg label is open there; wait for "
            "its end, or choose another folder",
            parameter="out",
        ) from error
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({reason(error)})") from error
