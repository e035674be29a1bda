"""Writing of results: whole or not at all."""

from __future__ import annotations

import csv
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from uuid import uuid4

from enhg._atomic import atomic_file
from enhg.exceptions import InputError
from enhg.io._base import Skipped, reason
from enhg.io.tables import guarded

CHECKPOINT = ".checkpoint"
"""Folder in that of the results, with what a run has computed until it is complete."""


def write_table(path: str | os.PathLike[str], table: Mapping[str, Sequence[Any]]) -> None:
    """Write a table as .csv, whole or not at all.

    Spreadsheets open it right: it is UTF-8 with a byte order mark, and text that they would run
    as a formula gets an apostrophe in front, which `read_labels` and `read_samples` take away.

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
            part.open("w", newline="", encoding="utf-8-sig", errors="surrogateescape") as stream,
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
        others are left alone. The checkpoint of a run that was interrupted is always allowed.
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
        folder is removed, with any parents that were made for it.

    Raises
    ------
    InputError
        On entry, when `path` is a file, holds files and `overwrite` is not set, holds one of `new`,
        or cannot be written. At the end, when the results cannot be moved; they stay in the
        temporary folder, which the message names.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     with output_folder(Path(home, "out")) as folder:
    ...         _ = (folder / "report.txt").write_text("done")
    ...     print(Path(home, "out", "report.txt").read_text())
    done
    """
    target = Path(path).resolve()
    with _writable(target):
        _check_target(target, overwrite, new)
        existed = target.exists()
        parents = [] if existed else [p for p in target.parents if not p.exists()]
        target.parent.mkdir(parents=True, exist_ok=True)
        home = target if existed else target.parent
        folder = home / f".{target.name}.{uuid4().hex[:8]}.tmp"
        folder.mkdir()
    try:
        yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        for parent in parents:
            with suppress(OSError):  # another process may use it by then
                parent.rmdir()
        raise
    try:
        _move(folder, target, overwrite, optional)
    except OSError as error:
        raise InputError(
            f"{target}: the results cannot be moved there ({reason(error)}); they are in {folder}"
        ) from error


def _check_target(target: Path, overwrite: bool, new: Sequence[str]) -> None:
    if target.exists() and not target.is_dir():
        raise InputError(f"{target}: must be a folder, got a file")
    held = target.iterdir() if target.exists() else ()
    if not overwrite and any(entry.name != CHECKPOINT for entry in held):
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


def _move(folder: Path, target: Path, overwrite: bool, optional: Sequence[str]) -> None:
    """Move the contents of `folder` into `target`, or rename it if there is no `target`."""
    if not target.exists():
        folder.rename(target)
        return
    moves = [(item, target / item.relative_to(folder)) for item in sorted(folder.rglob("*"))]
    for item, there in moves:
        if there.is_dir() != item.is_dir() and there.exists():
            raise FileExistsError(f"{there.name} is a file on one side and a folder on the other")
        if there.is_file() and not overwrite:
            raise FileExistsError(f"{there.name} has been written there meanwhile")
    for item, there in moves:
        if item.is_dir():
            there.mkdir(exist_ok=True)
        else:
            item.replace(there)
    written = {there for _, there in moves}
    for pattern in optional if overwrite else ():
        for file in set(target.glob(pattern)) - written:
            file.unlink()
    shutil.rmtree(folder)


@contextmanager
def _writable(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({reason(error)})") from error
