"""Folders of images, one per cluster or class."""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from enhg.exceptions import InputError
from enhg.io._base import reason
from enhg.io._listing import shown_name
from enhg.io.results import write_table

UNLABELED = "unlabeled"
_MANIFEST = "manifest.csv"
_MAX_BYTES = 120  # of a name; file systems allow 255, and whole paths may be limited to 260
# Separators and what Windows forbids, control characters, marks that change the direction of text,
# and halves of characters that stand for no byte.
_UNSAFE = re.compile(
    r'[/\\:*?"<>|\x00-\x1f\x7f-\x9f\u2028\u2029'
    r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udc7f\udd00-\udfff]"
)
_RESERVED = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])(?=\.|$)", re.I)


def write_folders(
    folder: str | os.PathLike[str],
    names: Sequence[str],
    files: Sequence[Path],
    labels: ArrayLike,
    *,
    copy: bool = False,
) -> None:
    """Write one folder per cluster or class that holds links to its images.

    Nothing is moved or deleted. ``manifest.csv`` lists for every image its name, its label, the
    original file and the path written; bytes of these that are not UTF-8 are shown as ``\\xe9``.

    Parameters
    ----------
    folder : path
        Folder to write into, new or empty; missing parents are made.
    names : sequence of str
        The names of the images.
    files : sequence of Path
        Their files.
    labels : array-like of shape (n,)
        Clusters as integers, whose folders are cluster-00, cluster-01, …; or classes as text,
        whose folders have their names, changed where they cannot be names of files. Images without
        a label (-1 or "") are in the folder unlabeled.
    copy : bool, default=False
        Copy the images. By default they are symbolic links with absolute paths, which stay valid
        when `folder` is moved; where links cannot be made, images are copied, with a warning.

    Raises
    ------
    InputError
        When the folder holds files or cannot be written, or an image cannot be copied.
    """
    target = Path(folder)
    labels = np.asarray(labels)
    groups = group_names(labels)
    place = _Placer(copy).place
    originals = [os.path.abspath(file) for file in files]
    written = [""] * len(names)
    try:
        target.mkdir(parents=True, exist_ok=True)
        if any(target.iterdir()):
            raise InputError(f"{target}: must be new or empty, got a folder that holds files")
        for label, name in groups.items():
            (target / name).mkdir()
            used = _Names()
            for i in np.flatnonzero(labels == label):
                written[i] = f"{name}/{used.take(Path(originals[i]).name)}"
                place(originals[i], target / written[i])
    except OSError as error:
        at = f" ({error.filename})" if error.filename else ""
        raise InputError(f"{target}: cannot be written: {reason(error)}{at}") from error
    table = {
        "name": names,
        "label": labels.tolist(),
        "original": [shown_name(path) for path in originals],
        "written": [shown_name(path) for path in written],
    }
    write_table(target / _MANIFEST, table)


def group_names(labels: NDArray[Any]) -> dict[Any, str]:
    """Names for folders and files of clusters or classes.

    Parameters
    ----------
    labels : ndarray of shape (n,)
        Clusters as integers, -1 for none; or classes as text, "" for none.

    Returns
    -------
    dict of label to str
        In order of the labels, those without label last. The names are safe as names of files, and
        differ by more than case.

    Examples
    --------
    >>> group_names(np.array([1, 0, -1]))
    {0: 'cluster-00', 1: 'cluster-01', -1: 'unlabeled'}
    >>> group_names(np.array(["sea/side", "rose", "Rose", "../.."]))
    {'../..': '_', 'Rose': 'Rose', 'rose': 'rose (2)', 'sea/side': 'sea_side'}
    """
    distinct = np.unique(labels).tolist()
    if labels.dtype.kind in "iu":
        width = max(2, len(str(max(distinct, default=0))))
        wanted = {k: f"cluster-{k:0{width}d}" for k in distinct if k >= 0}
        none = [k for k in distinct if k < 0]
    else:
        wanted = {label: str(label) for label in distinct if str(label)}
        none = [label for label in distinct if not str(label)]
    used = _Names([_MANIFEST])
    # Names that are safe as they are come first, so that they are kept.
    first = sorted(wanted, key=lambda label: safe_name(wanted[label]) != wanted[label])
    given = {label: used.take(wanted[label]) for label in first}
    given |= {label: used.take(UNLABELED) for label in none}
    return {label: given[label] for label in [*wanted, *none]}


def safe_name(text: str) -> str:
    """A name of a file that every system accepts and that is in no other folder.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
        Separators, control characters and others that some system forbids become underscores;
        leading dots and spaces, and trailing ones, are left out; reserved names of Windows get an
        underscore; at most 120 bytes, with the extension of a file.

    Examples
    --------
    >>> safe_name("../../etc/passwd"), safe_name("CON.jpg"), safe_name("Bäume 🌸.jpg")
    ('_.._etc_passwd', 'CON_.jpg', 'Bäume 🌸.jpg')
    """
    name = _UNSAFE.sub("_", unicodedata.normalize("NFC", text)).strip(". \t")
    name = _RESERVED.sub(r"\1_", name, count=1) if _RESERVED.match(name) else name
    stem, suffix = _split(name)
    return _cut(stem, _MAX_BYTES - len(os.fsencode(suffix))).rstrip(". ") + suffix or "_"


def _split(name: str) -> tuple[str, str]:
    """Name and extension, which is a dot and a few letters or digits."""
    stem, suffix = os.path.splitext(name)
    return (stem, suffix) if re.fullmatch(r"\.[A-Za-z0-9]{1,8}", suffix) else (name, "")


def _cut(text: str, size: int) -> str:
    """The start of a text that has at most `size` bytes."""
    while len(os.fsencode(text)) > size:
        text = text[: min(size, len(text) - 1)]
    return text


class _Names:
    """Names in one folder, kept apart also where only case or Unicode form differs."""

    def __init__(self, used: Sequence[str] = ()) -> None:
        self._used = {self._key(name) for name in used}
        self._count: dict[str, int] = {}

    def take(self, text: str) -> str:
        """A safe name for `text` that is new: the second gets " (2)"."""
        name = first = safe_name(text)
        stem, suffix = _split(first)
        while self._key(name) in self._used:
            number = self._count[self._key(first)] = self._count.get(self._key(first), 1) + 1
            name = f"{stem} ({number}){suffix}"
        self._used.add(self._key(name))
        return name

    @staticmethod
    def _key(name: str) -> str:
        return unicodedata.normalize("NFKC", name.casefold()).casefold()


class _Placer:
    """Puts images into folders: as links as long as those can be made, else as copies."""

    def __init__(self, copy: bool) -> None:
        self._copy = copy

    def place(self, original: str, written: Path) -> None:
        """Link or copy one image."""
        if not self._copy:
            try:
                written.symlink_to(original)
                return
            except (OSError, NotImplementedError) as error:
                self._copy = True
                warnings.warn(
                    f"{written.parent.parent}: links cannot be made ({reason(error)}): the images "
                    "are copied",
                    stacklevel=3,
                )
        shutil.copy2(original, written)
