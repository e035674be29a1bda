"""Labels that are given for some of the samples."""

from __future__ import annotations

import difflib
import os
import warnings
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from enhg._label_arrays import means_unlabeled
from enhg.exceptions import InputError
from enhg.io._base import check_labels, label_values, readable, shape_text, tidy_labels
from enhg.io._headings import (
    LABEL_HEADS,
    LABEL_PREFERENCE,
    NAME_HEADS,
    NAME_PREFERENCE,
    number_in,
)
from enhg.io._name_finder import NameFinder, begin_with_names
from enhg.io._texts import folded
from enhg.io.arrays import open_entries
from enhg.io.tables import MAX_WHOLE, SEPARATED, cell_labels, read_rows, require_text, unguarded

_TABLES = frozenset({".csv", ".tsv", ".txt"})


@dataclass(frozen=True, eq=False)
class GivenLabels:
    """Labels of a file, checked as far as it can be done without the samples.

    Attributes
    ----------
    source : Path
        The file.
    labels : list of str
        The labels, "" for unlabeled.
    names : list of str or None
        The names that the labels are for; None when there is one label per sample, in order.
    lines : list of int
        The line of every label in the file; empty when it has no lines.
    maybe_headed : bool
        Whether the first entry is a heading, unless it fits a sample.
    min_classes : int
        Number of classes that there must be.
    """

    source: Path
    labels: list[str]
    names: list[str] | None = None
    lines: list[int] = field(default_factory=list)
    maybe_headed: bool = False
    min_classes: int = 2

    def match(
        self,
        names: Sequence[str],
        truth: ArrayLike | None = None,
        skipped: Sequence[str] = (),
    ) -> NDArray[np.str_]:
        """Labels of the samples.

        Parameters
        ----------
        names : sequence of str
            The names of the samples. A name in the file may lack leading folders or the extension
            of an image, as long as it matches one sample only.
        truth : array-like, optional
            The true labels that results are scored against: labels that do not occur there are
            refused, since no sample could agree with them.
        skipped : sequence of str, default=()
            The names of images that could not be read: their labels are left out with a warning.

        Returns
        -------
        ndarray of str, shape (n,)
            The label of every sample, "" for unlabeled.

        Raises
        ------
        InputError
            When the rows do not match the samples, a name is unknown or has two labels, or there
            are too few classes.
        """
        labels = self._by_order(names) if self.names is None else self._by_name(names, skipped)
        _check_classes(str(self.source), labels, self.min_classes)
        if truth is not None:
            true_labels = label_texts(np.asarray(truth))
            labels = spelled_alike(labels, true_labels)
            unknown = sorted(set(labels) - {*true_labels, ""})
            if unknown:
                raise InputError(
                    f"{self.source}: labels must occur among the true labels of the input, got "
                    f"{_some(unknown)}"
                )
        return np.array(labels, dtype=np.str_)

    def named(self, names: Sequence[str], labels: list[str]) -> GivenLabels:
        """The same with a label for each of some names, in place of labels in an order."""
        lines = list(range(1, len(names) + 1))
        return replace(self, labels=labels, names=[*names], lines=lines, maybe_headed=False)

    def _by_order(self, names: Sequence[str]) -> list[str]:
        count = len(names)
        labels = self.labels[self.maybe_headed and len(self.labels) > count :]
        while len(labels) > count and not labels[-1]:
            labels = labels[:-1]
        if len(labels) != count:
            raise InputError(
                f"{self.source}: must hold one row for each of {count} samples, or two columns, "
                f"name and label, got {len(labels)} rows; {SEPARATED}"
                if self.lines
                else f"{self.source}: must hold one label for each of {count} samples (-1 for "
                f"unlabeled), got {len(labels)} labels"
            )
        if begin_with_names([label for label in labels if label], names):
            raise InputError(
                f"{self.source}: must hold one label for each sample, got names and labels in one "
                f"cell, such as '{next(filter(None, labels))}'; {SEPARATED}"
            )
        return labels

    def _by_name(self, names: Sequence[str], skipped: Sequence[str]) -> list[str]:
        assert self.names is not None
        everything = [*names, *skipped]
        finder = NameFinder(everything)
        headed = self.maybe_headed and not finder.find(self.names[0])
        labels: list[tuple[int, str]] = []
        unknown: list[str] = []
        outside: dict[str, str] = {}
        entries = zip(self.lines, self.names, self.labels, strict=True)
        for line, name, label in islice(entries, int(headed), None):
            matches = finder.find(name)
            if len(matches) > 1:
                raise InputError(
                    f"{self.source}: row {line}: a name must match one sample, got '{name}', which "
                    f"matches {_some([everything[i] for i in matches])}"
                )
            if matches:
                labels.append((matches[0], label))
                if label and (folder := finder.outside(matches[0], name)):
                    outside[folder] = name
            else:
                unknown.append(name.strip())
        if len(outside) > 1:
            warnings.warn(
                f"{self.source}: lists several folders that the input does not have, for example "
                f"{_some(list(outside.values()))}; check that all are of the input",
                stacklevel=4,
            )
        if unknown:
            strange = set(unknown)
            for line, name in zip(self.lines, self.names, strict=True):
                if name.strip() in strange:
                    require_text(self.source, line, [name])
            close = difflib.get_close_matches(unknown[0], names, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"the first name is '{names[0]}'"
            raise InputError(
                f"{self.source}: names must occur among those of the input, got {_some(unknown)}; "
                f"{hint}"
            )
        unread = [everything[row] for row, label in labels if row >= len(names) and label]
        if unread:
            warnings.warn(
                f"{self.source}: labels of images that could not be read are left out: "
                f"{_some(unread)}",
                stacklevel=4,
            )
        return _merge(self.source, [entry for entry in labels if entry[0] < len(names)], names)


def open_labels(path: str | os.PathLike[str], min_classes: int = 2) -> GivenLabels:
    """Read a file of labels, and check all that does not need the samples.

    Parameters
    ----------
    path : path
        As in `read_labels`.
    min_classes : int, default=2
        Number of classes that there must be.

    Returns
    -------
    GivenLabels

    Raises
    ------
    InputError
        When the file is missing, of an unknown kind or cannot be read, its rows differ in length,
        or it holds too few classes.

    Warns
    -----
    UserWarning
        When classes differ only in case, spaces, Unicode form or ways to write a number.
    """
    source = Path(path)
    suffix = source.suffix.lower()
    if suffix == ".npy":
        given = GivenLabels(source, _read_array(source))
    elif suffix in _TABLES:
        given = _read_text(source)
    else:
        raise InputError(f"{source}: labels must be a .csv, .tsv, .txt or .npy file")
    check_labels(given.labels, str(source))
    _check_classes(str(source), given.labels, min_classes)
    _warn_alike(str(source), given.labels[given.maybe_headed :])
    return replace(given, min_classes=min_classes)


def read_labels(
    path: str | os.PathLike[str], names: Sequence[str], truth: ArrayLike | None = None
) -> NDArray[np.str_]:
    """Read labels for some of the samples.

    Parameters
    ----------
    path : path
        A ``.csv``, ``.tsv`` or ``.txt`` (comma, semicolon or tab separated; UTF-8, or UTF-16 with
        a byte order mark) with two columns, name and label, or more, when headings say which is
        which (label or labels, else class or target, else y); one with one column, one row per
        sample in order, which may be headed ``label``; or a ``.npy`` with one entry per sample. An
        empty entry, -1, nan, NA, <NA> and ? mean unlabeled.
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
        two labels, or there are fewer than two classes.

    Warns
    -----
    UserWarning
        When classes differ only in case, spaces, Unicode form or ways to write a number.

    Examples
    --------
    >>> import tempfile
    >>> file = tempfile.mkdtemp() + "/some.csv"
    >>> with open(file, "w") as stream:
    ...     written = stream.write("name,label\\na.png,cat\\nb.png,dog\\n")
    >>> read_labels(file, ["a.png", "b.png", "c.png"]).tolist()
    ['cat', 'dog', '']
    """
    return open_labels(path).match(names, truth)


def labels_from_folders(names: Sequence[str]) -> NDArray[np.str_]:
    """Labels of images from the folders that they are in.

    The first folder of a name is the class, whatever it is called: nan and -1 are classes here.
    Images outside of all folders, and those in a folder called ``unlabeled``, are to be labeled.

    Parameters
    ----------
    names : sequence of str
        The paths of the images inside the input folder, with forward slashes.

    Returns
    -------
    ndarray of str, shape (n,)
        The label of every image, "" for unlabeled.

    Raises
    ------
    InputError
        When the folders name fewer than two classes.

    Warns
    -----
    UserWarning
        When no image is left to be labeled, or when classes differ only in case, spaces, Unicode
        form or ways to write a number.

    Examples
    --------
    >>> labels_from_folders(["cats/1.jpg", "dogs/old/1.jpg", "2.jpg"]).tolist()
    ['cats', 'dogs', '']
    """
    folders = [name.partition("/")[0] if "/" in name else "" for name in names]
    labels = ["" if _same(folder) == "unlabeled" else folder for folder in folders]
    check_labels(labels, "folders")
    if len(set(labels) - {""}) < 2:
        raise InputError(
            "labels from folders need images in at least two sub-folders, one per class, got "
            f"{_some(sorted(set(labels) - {''})) or 'none'}"
        )
    _warn_alike("folders", labels)
    if all(labels):
        warnings.warn(
            "every image is in the folder of a class: none is left to be labeled; put those "
            "outside of the sub-folders or in one called 'unlabeled'",
            stacklevel=2,
        )
    return np.array(labels, dtype=np.str_)


def _check_classes(source: str, labels: Iterable[str], least: int) -> None:
    classes = sorted(set(labels) - {""})
    if len(classes) < least:
        raise InputError(
            f"{source}: must hold labels of at least {'one class' if least == 1 else 'two classes'}"
            ", got " + (f"only '{classes[0]}'; -1 means unlabeled" if classes else "no label")
        )


def _warn_alike(source: str, labels: Iterable[str]) -> None:
    """Warn of classes that are likely meant to be one."""
    alike = defaultdict(list)
    for label in sorted(set(labels) - {""}):
        alike[_same(label)].append(label)
    groups = [" and ".join(map(repr, group)) for group in alike.values() if len(group) > 1]
    if groups:
        warnings.warn(
            f"{source}: classes differ only in case, spaces, Unicode form or ways to write a "
            f"number and are kept as different classes: {'; '.join(groups)}",
            stacklevel=3,
        )


def _same(text: str) -> str:
    """Text without differences of case, spaces, Unicode form and ways to write a number."""
    number = _exact_number(text)
    return "".join(folded(text).split()) if number is None else str(number)


def _exact_number(text: str) -> float | None:
    """The number in a text, unless other numbers are equal to it in float64."""
    number = number_in(text)
    return number if number is not None and abs(number) < MAX_WHOLE else None


def _read_array(path: Path) -> list[str]:
    with open_entries(path) as entries:
        entry = entries[""]
        if entry.kind not in "buifUS":
            raise InputError(f"{path}: labels must be numbers or text, got {entry.dtype}")
        with readable(path):
            array = entry.load(str(path))
    if array.size != max(array.shape, default=1):
        raise InputError(
            f"{path}: must hold one label per sample, got {array.size} labels of shape "
            f"{shape_text(array.shape)}"
        )
    with readable(path):
        return label_texts(label_values(array, str(path)))


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


def spelled_alike(labels: Iterable[str], others: Iterable[str]) -> list[str]:
    """Labels as others are written, if they are the same number as one of these.

    >>> spelled_alike(["1", "2.0", "a", "3"], ["01", "2.0", "2", "A"])
    ['01', '2.0', 'a', '3']
    """
    known = {*others}
    spellings: dict[float | None, list[str]] = defaultdict(list)
    for other in known:
        if (number := _exact_number(other)) is not None:
            spellings[number].append(other)
    result = []
    for label in labels:
        same = [] if label in known else spellings.get(_exact_number(label), [])
        result.append(same[0] if len(same) == 1 else label)
    return result


def _normalized(label: str) -> str:
    return "" if means_unlabeled(label) else label.strip()


def _read_text(path: Path) -> GivenLabels:
    rows = list(read_rows(path))
    if max((len(cells) for _, cells in rows), default=0) > 1:
        return _named_labels(path, [row for row in rows if any(cell.strip() for cell in row[1])])
    for line, cells in rows:
        require_text(path, line, cells)
    column = ["".join(cells).strip() for _, cells in rows]
    maybe_headed = bool(column) and column[0].lower() in LABEL_HEADS
    if maybe_headed and column[0].lower() != "y" and column.count(column[0]) == 1:
        rows, column, maybe_headed = rows[1:], column[1:], False
    return GivenLabels(
        path,
        _cell_texts(path, column, maybe_headed),
        lines=[line for line, _ in rows],
        maybe_headed=maybe_headed,
    )


def _named_labels(path: Path, rows: list[tuple[int, list[str]]]) -> GivenLabels:
    """Labels from rows of name and label."""
    width = len(rows[0][1]) if rows else 2
    for line, cells in rows:
        if len(cells) != width:
            raise InputError(
                f"{path}: row {line} must have the {width} cells of the first row, got {len(cells)}"
            )
    name_at, label_at, headed, maybe_headed = _columns(path, rows[0][1] if rows else ["", ""])
    for line, cells in rows:
        require_text(path, line, cells[:name_at] + cells[name_at + 1 :])
    body = rows[headed:]
    return GivenLabels(
        path,
        _cell_texts(path, [cells[label_at] for _, cells in body], maybe_headed),
        [unguarded(cells[name_at]) for _, cells in body],
        [line for line, _ in body],
        maybe_headed,
    )


def _cell_texts(path: Path, cells: list[str], maybe_headed: bool) -> list[str]:
    """Labels of cells, numbers as in other files: pandas writes 1.0 where some are missing."""
    texts = [_normalized(unguarded(cell)) for cell in cells]
    return texts[:maybe_headed] + label_texts(cell_labels(path, texts[maybe_headed:]))


def _columns(path: Path, first: list[str]) -> tuple[int, int, bool, bool]:
    """Columns of the name and the label, and whether the first row holds headings, or may."""
    heads = [cell.strip().lower() for cell in first]
    name_at = [i for i, head in enumerate(heads) if head in NAME_HEADS]
    groups = [[i for i, head in enumerate(heads) if head in group] for group in LABEL_PREFERENCE]
    label_at = next(filter(None, groups), [])
    if name_at and len(label_at) > 1:
        texts = ", ".join(first[i].strip() for i in label_at)
        raise InputError(f"{path}: must have one column of labels, got {texts}")
    if name_at and label_at:
        clearest = min(name_at, key=lambda i: NAME_PREFERENCE.index(heads[i]))
        return clearest, label_at[0], True, False
    if len(heads) == 2:
        # "y" is no heading here: it is as often a label, for yes.
        return 0, 1, False, name_at == [0] or heads[1] in LABEL_HEADS - {"y"}
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
