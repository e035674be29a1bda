"""Headings of tables: whether there are any, and what they say of their columns."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from enhg.io._texts import folded

# Headings of labels: of those in a later group only where there is none of an earlier.
LABEL_PREFERENCE = (("label", "labels"), ("class", "target"), ("y",))
LABEL_HEADS = frozenset(head for heads in LABEL_PREFERENCE for head in heads)
# Headings of names, the clearest first: beside a column "name", "id" only numbers the rows.
NAME_PREFERENCE = ("name", "names", "path", "file", "filename", "image", "id", "index")
NAME_HEADS = frozenset(NAME_PREFERENCE)

_COORDINATES = frozenset({"x", "y", "z"})
_UNNAMED = re.compile(r"unnamed: \d+(\.\d+)*")  # how pandas heads a column that has no heading
_WHOLE = re.compile(r"\s*[+-]?\d+\s*")
_FEW, _MANY = 3, 6  # numbers that may be headings, with and without other evidence


def known_heading(cell: str) -> str:
    """A heading as it is compared with known ones; "" for none.

    >>> known_heading(" Label"), known_heading("Unnamed: 0")
    ('label', '')
    """
    head = cell.strip().lower()
    return "" if _UNNAMED.fullmatch(head) else head


def is_known(cell: str) -> bool:
    """Whether a cell is a known heading of labels or names."""
    return known_heading(cell) in LABEL_HEADS | NAME_HEADS


def has_headings(first: Sequence[str], second: Sequence[str] = ()) -> bool:
    """Whether the first row of a table holds headings, by the second row.

    A known heading decides where no sample could have it: beyond the first column, or above a
    number. Otherwise text above numbers is a heading. Numbers are headings below which there is
    other evidence: see `_are_headings`.

    >>> has_headings(["name", "a"], ["rose", "1"]), has_headings(["rose", "1"], ["iris", "2"])
    (True, False)
    """
    below = [second[i] if i < len(second) else "" for i in range(len(first))]
    if any(is_known(head) and (i or is_number(below[i])) for i, head in enumerate(first)):
        return True
    if not first or all(map(is_number, first)):
        return len(first) >= _FEW and _are_positions(first, below)
    if not is_number(first[0]) and len(first) > 1 and all(map(is_number, first[1:])):
        return _are_headings(first, below)
    if is_known(first[0]):
        return True
    pairs = [(head.strip(), cell) for head, cell in zip(first, below, strict=True)]
    over = [(i, head) for i, (head, cell) in enumerate(pairs) if is_number(cell)]
    return bool(over) and all(not is_number(head) and (head or i == 0) for i, head in over)


def _are_headings(first: Sequence[str], below: Sequence[str]) -> bool:
    """Whether a row of text, or an empty cell, and numbers holds headings.

    It does if text is below an empty cell. Else three or more numbers that rise or fall are
    headings beside an empty cell or a known heading, and so are numbers of the columns beside the
    one and whole numbers beside the other. Beside other text they must number the columns, or rise
    or fall above all numbers of the second row, as years and wavelengths do.
    """
    numbers = [float(cell) for cell in first[1:]]
    steps = [after - before for before, after in pairwise(numbers)]
    is_monotone = all(step > 0 for step in steps) or all(step < 0 for step in steps)
    if not known_heading(first[0]):
        if is_monotone and len(numbers) >= _FEW:
            return True
        is_name = bool(below[0].strip()) and not is_number(below[0])
        return is_name or _are_positions(first[1:], below[1:], 1)
    if is_known(first[0]):
        is_whole = all(_WHOLE.fullmatch(cell) for cell in first[1:])
        return is_whole or (is_monotone and len(numbers) >= _FEW)
    if _are_positions(first[1:], below[1:]):
        return True
    values = [float(cell) for cell in below[1:] if is_number(cell)]
    is_above = bool(values) and min(numbers) > max(values)
    return is_monotone and is_above and len(numbers) >= _MANY


def _are_positions(heads: Sequence[str], below: Sequence[str], least: int = _MANY) -> bool:
    """Whether cells are 0, 1, 2, … or 1, 2, 3, …, which a sample could be as well.

    They are taken for headings if they are many, or if only they are written as whole numbers.
    """
    texts = [cell.strip() for cell in heads]
    if texts not in ([str(i + start) for i in range(len(texts))] for start in (0, 1)):
        return False
    next_texts = [str(int(text) + len(texts)) for text in texts]
    goes_on = [cell.strip() for cell in below] in (texts, next_texts)
    is_other = any(is_number(cell) and not _WHOLE.fullmatch(cell) for cell in below)
    return (len(texts) >= least and not goes_on) or (len(texts) >= _FEW and is_other)


def number_in(cell: str) -> float | None:
    """The number in a cell, which may be NaN or infinite; Python alone reads 1_2 as 12.

    >>> number_in(" 1e3"), number_in("1_2"), number_in("")
    (1000.0, None, None)
    """
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def is_number(cell: str) -> bool:
    """Whether a cell holds a finite number."""
    number = number_in(cell)
    return number is not None and math.isfinite(number)


def label_columns(path: Path, heads: Sequence[str]) -> list[int]:
    """Columns headed as labels; y is a feature where all features are coordinates."""
    known = [known_heading(head) for head in heads]
    labels = [i for i, head in enumerate(known) if head in LABEL_HEADS]
    if not _are_coordinates(heads):
        return labels
    others = [i for i in labels if known[i] not in _COORDINATES]
    if not others:
        warnings.warn(
            f"{path}: both coordinates are used as features; labels must be headed 'label'",
            stacklevel=2,
        )
    return others


def _are_coordinates(heads: Sequence[str]) -> bool:
    """Whether the features of a table are headed x and y, and z or nothing else."""
    known = {known_heading(head) for head in heads}
    features = known - (LABEL_HEADS | NAME_HEADS | {""}) | known & _COORDINATES
    return "x" in heads and {"x", "y"} <= features <= _COORDINATES


def warn_of_numbering(path: Path, heads: Sequence[str]) -> None:
    """Warn of features that are headed as columns which number the samples."""
    suspects = [head for head in heads if head.strip() and known_heading(head) in {"", "id"}]
    if suspects:
        warnings.warn(
            f"{path}: used as features: {', '.join(suspects)}; what only numbers the samples must "
            "be removed, or be the first column",
            stacklevel=2,
        )


def same_headings(one: str, other: str) -> bool:
    """Whether two headings are the same but for case, spaces and how a number is written.

    Columns without a heading are the same.

    >>> same_headings("400", "400.0"), same_headings("", "Unnamed: 3"), same_headings("a", "b")
    (True, True, False)
    """
    if is_number(one) and is_number(other):
        return float(one) == float(other)
    return folded(known_heading(one)) == folded(known_heading(other))
