"""Tables in text files (.csv) as samples."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from enhg.io._base import InputError, Samples, readable, tidy_labels

LABEL_HEADS = frozenset({"label", "labels", "class", "target", "y"})
NAME_HEADS = frozenset({"name", "names", "file", "filename", "path", "image", "id", "index"})

_Row = tuple[int, list[str]]


@dataclass(frozen=True)
class _Layout:
    """What the columns of a table are: their headings and the places of two of them."""

    heads: list[str]
    label: int | None
    lead: int  # the first column that is not the label: the names, or a feature
    named: bool  # the heading says that `lead` holds names
    features: list[int]  # the columns after `lead`


def read_table(path: Path) -> Samples:
    """Read the samples of a table; see `enhg.io.read_samples`."""
    rows = ((line, cells) for line, cells in read_rows(path) if cells)
    start = list(islice(rows, 2))
    if not start:
        raise InputError(f"{path}: the table is empty; give at least one sample")
    headed = _has_header(*(cells for _, cells in start))
    layout = _layout(path, start[0][1], headed)
    lines, leads, labels, values = _read_body(path, chain(start[headed:], rows), layout)
    if not lines:
        raise InputError(f"{path}: the table has a header and no rows; give at least one sample")
    X = np.stack(values)
    if layout.named or all(cell and _number(cell) is None for cell in leads):
        names = leads
    else:
        names = [str(row) for row in range(len(X))]
        lead = [
            _numbers(path, line, [cell], [layout.heads[layout.lead]])
            for line, cell in zip(lines, leads, strict=True)
        ]
        X = np.hstack([np.stack(lead), X])
    if X.shape[1] == 0:
        raise InputError(f"{path}: no column of numbers; give one column for each feature")
    truth = None if layout.label is None else _as_labels(labels)
    return Samples(X, names, None, truth, path)


def read_rows(path: Path) -> Iterator[_Row]:
    """Lines of a comma, semicolon or tab separated file: line number and cells.

    A blank line has no cells. Names of any encoding survive as surrogate escapes.
    """
    with (
        readable(path),
        path.open(newline="", encoding="utf-8-sig", errors="surrogateescape") as stream,
    ):
        delimiter = _delimiter(list(islice(stream, 20)))
        stream.seek(0)
        reader = csv.reader(stream, delimiter=delimiter)
        for cells in reader:
            yield reader.line_num, cells


def _delimiter(lines: list[str]) -> str:
    """The first delimiter that cuts all lines into as many cells, else the most frequent one."""
    for delimiter in "\t;,":
        widths = {len(cells) for cells in csv.reader(lines, delimiter=delimiter) if cells}
        if len(widths) == 1 and widths != {1}:
            return delimiter
    return max(",;\t", key="".join(lines).count)


def _has_header(first: list[str], second: Sequence[str] = ()) -> bool:
    """Whether the first row is headings.

    It is when a cell is one of the known headings, when the numbers of the second row all stand
    under text (the first of them perhaps under nothing, as pandas writes its row numbers), or
    when it is what pandas writes for unnamed columns: nothing, 0, 1, 2, …
    """
    heads = [cell.strip().lower() for cell in first]
    if any(head in LABEL_HEADS or head in NAME_HEADS for head in heads):
        return True
    if heads == ["", *map(str, range(len(heads) - 1))]:
        return len(heads) > 1
    pairs = list(zip(heads, second, strict=False))
    over = [(i, head) for i, (head, cell) in enumerate(pairs) if _number(cell) is not None]
    return bool(over) and all(_number(head) is None and (head or i == 0) for i, head in over)


def _layout(path: Path, first: list[str], headed: bool) -> _Layout:
    """Read the roles of the columns off the headings; without them, off nothing."""
    heads = [f"{i + 1}" for i in range(len(first))]
    known = [cell.strip().lower() for cell in first] if headed else heads
    if headed:
        heads = [f"{cell.strip() or i + 1}" for i, cell in enumerate(first)]
    labels = [i for i, head in enumerate(known) if head in LABEL_HEADS]
    if len(labels) > 1:
        found = ", ".join(heads[i] for i in labels)
        raise InputError(f"{path}: more than one column of labels ({found}); keep one")
    rest = [i for i in range(len(heads)) if i not in labels]
    if not rest:
        raise InputError(f"{path}: no column of numbers; give one column for each feature")
    named = headed and known[rest[0]] in NAME_HEADS | {""}
    return _Layout(heads, labels[0] if labels else None, rest[0], named, rest[1:])


def _read_body(
    path: Path, rows: Iterable[_Row], layout: _Layout
) -> tuple[list[int], list[str], list[str], list[NDArray[np.float64]]]:
    """Line numbers, leading cells, labels and features of all rows."""
    lines: list[int] = []
    leads: list[str] = []
    labels: list[str] = []
    values: list[NDArray[np.float64]] = []
    heads = [layout.heads[i] for i in layout.features]
    for line, cells in rows:
        if len(cells) != len(layout.heads):
            raise InputError(
                f"{path}: row {line} has {len(cells)} cells, the first row {len(layout.heads)}; give every row the same columns"
            )
        lines.append(line)
        leads.append(cells[layout.lead].strip())
        values.append(_numbers(path, line, [cells[i] for i in layout.features], heads))
        if layout.label is not None:
            labels.append(cells[layout.label].strip())
    return lines, leads, labels, values


def _numbers(path: Path, line: int, cells: list[str], heads: list[str]) -> NDArray[np.float64]:
    if "_" not in "".join(cells):  # Python reads 1_2 as 12
        try:
            return np.array(list(map(float, cells)), dtype=np.float64)
        except ValueError:
            pass
    column, cell = next(
        (head, cell) for head, cell in zip(heads, cells, strict=True) if _number(cell) is None
    )
    fault = f"'{cell}' is not a number" if cell.strip() else "the cell is empty"
    raise InputError(
        f"{path}: row {line}, column {column}: {fault}; correct it, or head the column 'label' if it holds labels"
    )


def _number(cell: str) -> float | None:
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


def _as_labels(cells: list[str]) -> NDArray[Any]:
    numbers = [_number(cell) for cell in cells]
    if None in numbers:
        return np.array(cells)
    return tidy_labels(np.array(numbers, dtype=np.float64))
