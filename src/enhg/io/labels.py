"""Labels that are given for some of the samples."""

from __future__ import annotations

import difflib
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from enhg.exceptions import InputError
from enhg.io._base import readable, tidy_labels
from enhg.io.arrays import open_entries
from enhg.io.images import IMAGE_SUFFIXES
from enhg.io.tables import LABEL_HEADS, NAME_HEADS, read_rows

_UNLABELED = frozenset({"", "-1", "-1.0", "nan", "?"})


def read_labels(
    path: str | os.PathLike[str], names: Sequence[str], truth: ArrayLike | None = None
) -> NDArray[np.str_]:
    """Read labels for some of the samples.

    Parameters
    ----------
    path : path
        A ``.csv`` with two columns, name and label (or more, when headings say which is which);
        a ``.csv`` with one column, one row per sample in order, which may be headed ``label``; or
        a ``.npy`` with one entry per sample. An empty entry, -1, nan and ? mean unlabeled.
    names : sequence of str
        The names of the samples. A name in the file may lack leading folders or the extension of
        an image, as long as it matches one sample only.
    truth : array-like, optional
        The true labels that results are scored against: labels that do not occur there are
        refused, since no sample could agree with them.

    Returns
    -------
    ndarray of str, shape (n,)
        The label of every sample, "" for unlabeled.

    Raises
    ------
    InputError
        When the file cannot be read, its rows do not match the samples, a name is unknown or has
        two labels, or there is no label at all.
    """
    source = Path(path)
    if source.suffix.lower() == ".npy":
        given = _read_array(source, len(names))
    elif source.suffix.lower() == ".csv":
        given = _read_csv(source, names)
    else:
        raise InputError(f"{source}: labels must be a .csv or .npy file")
    if not any(given):
        raise InputError(f"{source}: must hold labels of at least two classes, got no label")
    if truth is not None:
        unknown = sorted(set(given) - set(label_texts(np.asarray(truth))) - {""})
        if unknown:
            raise InputError(
                f"{source}: labels must occur among the true labels of the input, got "
                f"{_some(unknown)}"
            )
    return np.array(given, dtype=np.str_)


def _read_array(path: Path, count: int) -> list[str]:
    with open_entries(path) as entries:
        entry = entries[""]
        if entry.kind not in "buifU":
            raise InputError(f"{path}: labels must be numbers or text, got {entry.dtype}")
        with readable(path):
            array = entry.load()
    if array.size != max(array.shape, default=1) or array.size != count:
        raise InputError(
            f"{path}: must hold one label for each of {count} samples (-1 for unlabeled), got "
            f"{array.size} labels of shape {array.shape}"
        )
    return label_texts(array)


def label_texts(labels: NDArray[Any]) -> list[str]:
    """Labels of any type as `read_labels` gives them: text, "" for unlabeled.

    Parameters
    ----------
    labels : ndarray of shape (n_samples,)

    Returns
    -------
    list of str

    Examples
    --------
    >>> label_texts(np.array([7.0, -1.0]))
    ['7', '']
    """
    return [_normalized(str(label)) for label in tidy_labels(labels).tolist()]


def _normalized(label: str) -> str:
    label = label.strip()
    return "" if label.lower() in _UNLABELED else label


def _read_csv(path: Path, names: Sequence[str]) -> list[str]:
    rows = list(read_rows(path))
    if max((len(cells) for _, cells in rows), default=0) > 1:
        return _by_name(path, [row for row in rows if row[1]], names)
    column = ["".join(cells) for _, cells in rows]
    if len(column) > len(names) and column[0].strip().lower() in LABEL_HEADS:
        column = column[1:]
    while len(column) > len(names) and not column[-1].strip():
        column.pop()
    if len(column) != len(names):
        raise InputError(
            f"{path}: must hold one row for each of {len(names)} samples, or two columns, name and "
            f"label, got {len(column)} rows"
        )
    return [_normalized(label) for label in column]


def _by_name(path: Path, rows: list[tuple[int, list[str]]], names: Sequence[str]) -> list[str]:
    """Labels of the samples from rows of name and label."""
    finder = _Finder(names)
    name_at, label_at, headed = _columns(path, rows[0][1], finder)
    width = len(rows[0][1])
    labels: list[tuple[int, str]] = []
    unknown: list[str] = []
    for line, cells in rows[headed:]:
        if len(cells) != width:
            raise InputError(
                f"{path}: row {line} must have the {width} cells of the first row, got {len(cells)}"
            )
        name = cells[name_at].strip()
        matches = finder.find(name)
        if len(matches) > 1:
            raise InputError(
                f"{path}: row {line}: a name must match one sample, got '{name}', which matches "
                f"{_some([names[i] for i in matches])}"
            )
        if matches:
            labels.append((matches[0], _normalized(cells[label_at])))
        else:
            unknown.append(name)
    if unknown:
        close = difflib.get_close_matches(unknown[0], names, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"the first name is '{names[0]}'"
        raise InputError(
            f"{path}: names must occur among those of the input, got {_some(unknown)}; {hint}"
        )
    return _merge(path, labels, names)


def _columns(path: Path, first: list[str], finder: _Finder) -> tuple[int, int, bool]:
    """Columns of the name and the label, and whether the first row holds headings."""
    heads = [cell.strip().lower() for cell in first]
    name_at = [i for i, head in enumerate(heads) if head in NAME_HEADS]
    label_at = [i for i, head in enumerate(heads) if head in LABEL_HEADS]
    if name_at and label_at:
        return name_at[0], label_at[0], True
    if len(heads) == 2:
        # "y" is no heading here: it is as often a label, for yes.
        headed = name_at == [0] or heads[1] in LABEL_HEADS - {"y"}
        return 0, 1, headed and not finder.find(first[0].strip())
    raise InputError(
        f"{path}: must have two columns, or columns headed 'name' and 'label', got {len(heads)} "
        "columns"
    )


def _merge(path: Path, given: Iterable[tuple[int, str]], names: Sequence[str]) -> list[str]:
    labels = [""] * len(names)
    for i, label in given:
        if label and labels[i] and labels[i] != label:
            raise InputError(
                f"{path}: a sample must have one label, got '{labels[i]}' and '{label}' for "
                f"{names[i]}"
            )
        labels[i] = label or labels[i]
    return labels


def _some(items: Sequence[str]) -> str:
    """The first few of a list, quoted.

    >>> _some(["a", "b", "c", "d", "e"])
    "'a', 'b', 'c' and 2 more"
    """
    shown = ", ".join(f"'{item}'" for item in items[:3])
    return shown if len(items) <= 3 else f"{shown} and {len(items) - 3} more"


class _Finder:
    """Samples by whole name, else by file name, else by file name without extension."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = [PurePosixPath(name) for name in names]
        self._whole: dict[str, list[int]] = defaultdict(list)
        self._base: dict[str, list[int]] = defaultdict(list)
        self._stem: dict[str, list[int]] = defaultdict(list)
        for i, name in enumerate(names):
            self._whole[name].append(i)
            self._base[self._names[i].name].append(i)
            self._stem[_stem(self._names[i].name)].append(i)

    def find(self, name: str) -> list[int]:
        """Every sample that `name` matches, by the first of the three ways that matches any."""
        if name in self._whole:
            return self._whole[name]
        path = PurePosixPath(name.replace("\\", "/"))
        for table, base in (
            (self._base, path.name),
            (self._stem, path.name),
            (self._stem, _stem(path.name)),
        ):
            matches = [i for i in table.get(base, []) if self._folders_agree(i, path)]
            if matches:
                return matches
        return []

    def _folders_agree(self, i: int, path: PurePosixPath) -> bool:
        """Whether the folders of one path end with those of the other."""
        ours, theirs = self._names[i].parts[-2::-1], path.parts[-2::-1]
        return all(a == b for a, b in zip(ours, theirs, strict=False))


def _stem(name: str) -> str:
    path = PurePosixPath(name)
    return path.stem if path.suffix.lower() in IMAGE_SUFFIXES else name
