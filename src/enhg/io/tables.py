"""Tables in text files (.csv, .tsv): their rows, their cells, and samples from them."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from io import TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from enhg._files import check_size, file_size, open_regular
from enhg.exceptions import InputError
from enhg.io._base import Samples, check_labels, readable, tidy_labels
from enhg.io._headings import (
    NAME_HEADS,
    has_headings,
    known_heading,
    label_columns,
    number_in,
    warn_of_numbering,
)

_Row = tuple[int, list[str]]

_DELIMITERS = "\t;,"
SEPARATED = "cells must be separated by commas, semicolons or tabs"
_CELL_BYTES = 250  # of a cell of the line that is read; measured, on one line of 3 000 000 cells
MAX_WHOLE = 2**53  # from here on, different whole numbers are equal in float64
_ADVICE = "a column of labels must be headed 'label', and a decimal mark must be a point"
_NUMBER_BYTES = 16  # of a number, in its row and in the array of all

# What spreadsheets run as a formula: also after spaces, and in full width.
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]")
# What a cell cannot hold as it is: line breaks and other control characters, half characters,
# spaces at the ends, which readers of tables remove, and the quotes themselves.
_CONTROLS = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
_ODD = re.compile(rf"[{_CONTROLS}]|\A\s|\s\Z|\A\$'")
_ESCAPED = re.compile(rf"[{_CONTROLS}'\\]")
_ESCAPE = re.compile(r"\\([nrt'\\]|x([0-9a-f]{2})|u([0-9a-f]{4}))")
_QUOTED = re.compile(rf"\$'((?:[^'\\]|{_ESCAPE.pattern})*)'")
_LONG = {"n": "\n", "r": "\r", "t": "\t", "'": "'", "\\": "\\"}
_SHORT = {mark: letter for letter, mark in _LONG.items()}
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
_CODE = re.compile(r"[+-]?0\d")  # digits that mean more than their number


@dataclass(frozen=True)
class _Layout:
    """Roles of the columns of a table."""

    heads: list[str]
    label: int | None
    lead: int  # the first column that is not the label: the names, or a feature
    named: bool  # whether `lead` is headed as a column of names
    features: list[int]  # the columns after `lead`


def read_table(path: Path) -> Samples:
    """Read the samples of a table; see `enhg.io.read_samples`."""
    rows = ((line, cells) for line, cells in read_rows(path) if cells)
    start = list(islice(rows, 2))
    if not start:
        raise InputError(f"{path}: the table must hold at least one sample, got no rows")
    headed = has_headings(*(cells for _, cells in start))
    if headed:
        require_text(path, *start[0])
    layout = _layout(path, start[0][1], headed)
    columns = list(layout.features)
    lines, leads, labels, values = _read_body(path, chain(start[headed:], rows), layout)
    if not lines:
        raise InputError(f"{path}: the table must hold at least one sample, got only headings")
    X = np.stack(values)
    if layout.named and not leads[0] and all(leads[1:]):
        raise InputError(
            f"{path}: row {lines[0]} must have a name, got an empty cell; if it is a second row of "
            "headings, remove it"
        )
    if layout.named or _are_names(leads):
        names = leads
    else:
        names = [str(row) for row in range(len(X))]
        lead = [
            _numbers(path, line, [cell], [layout.heads[layout.lead]])
            for line, cell in zip(lines, leads, strict=True)
        ]
        X = np.hstack([np.stack(lead), X])
        columns.insert(0, layout.lead)
    if X.shape[1] == 0:
        raise InputError(
            f"{path}: must have a column of numbers for each feature, got none; {SEPARATED}"
        )
    true_labels = None if layout.label is None else cell_labels(path, labels)
    feature_names = tuple(start[0][1][i].strip() for i in columns) if headed else None
    return Samples(X, names, None, true_labels, path, feature_names=feature_names)


def read_rows(path: Path) -> Iterator[_Row]:
    """Lines of a comma, semicolon or tab separated file: line number and cells.

    The text is UTF-8, or UTF-16 when it starts with a byte order mark, as the "Unicode text" of
    spreadsheets does. A blank line has no cells. Bytes that are not UTF-8 are kept as surrogate
    escapes, for names of files; `require_text` refuses them elsewhere. Cells are as they are in the
    file; `unguarded` gives the text of one.
    """
    with readable(path), open_regular(path) as file:
        check_size(file_size(file), file_size(file), str(path))
        wide = file.read(2) in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}
        file.seek(0)
        encoding = "utf-16" if wide else "utf-8-sig"
        stream = TextIOWrapper(file, encoding, errors="surrogateescape", newline="")
        start = list(islice(_lines(path, stream), 20))
        _check_memory(path, start, file_size(file))
        delimiter = _delimiter(start)
        stream.seek(0)
        reader = csv.reader(_lines(path, stream), delimiter=delimiter, strict=True)
        first = 1  # line of a row that may have several
        try:
            for cells in reader:
                yield reader.line_num, cells
                first = reader.line_num + 1
        except csv.Error as error:
            raise InputError(
                f"{path}: line {first}: cannot be split into cells ({error}); {SEPARATED}, and "
                "one that starts with a quotation mark must end with one, and those within be "
                "doubled"
            ) from error


def _check_memory(path: Path, start: list[str], stored: int) -> None:
    """Refuse a table that does not fit in memory, by the cells of its first lines."""
    n_cells = [max(line.count(delimiter) for delimiter in _DELIMITERS) + 1 for line in start]
    letters = sum(map(len, start))
    total = stored * sum(n_cells) // max(letters, 1)
    largest = max(n_cells, default=0)
    check_size(_CELL_BYTES * largest + _NUMBER_BYTES * total, stored, str(path))


def _lines(path: Path, stream: Iterable[str]) -> Iterator[str]:
    for line in stream:
        if "\0" in line:
            raise InputError(
                f"{path}: must be text, got NUL bytes; UTF-16 must start with a byte order mark"
            )
        yield line


def require_text(path: Path, line: int, cells: Iterable[str]) -> None:
    """Refuse cells that are not UTF-8; only names of files may hold other bytes."""
    for cell in cells:
        try:
            cell.encode()
        except UnicodeEncodeError as error:
            stored = cell.encode(errors="surrogateescape")
            raise InputError(
                f"{path}: row {line}: must be UTF-8, got {stored[:40]!r}, in Windows-1252 "
                f"{stored[:40].decode('cp1252', 'replace')!r}; save the file as UTF-8"
            ) from error


def guarded(cell: str) -> str:
    """Text for a cell that is one line, and that a spreadsheet must not run as a formula.

    Most text is left alone. What starts like a formula and is no number gets an apostrophe in
    front. Text with control characters, half characters (bytes of a name that are not UTF-8) or
    spaces at its ends, and text that starts with ``$'``, is quoted as shells do.

    >>> guarded("=1+1"), guarded("-1.5"), guarded("rose")
    ("'=1+1", '-1.5', 'rose')
    >>> print(guarded("two\\nlines"), guarded("caf\\udce9"))
    $'two\\nlines' $'caf\\xe9'
    """
    if _ODD.search(cell):
        return f"$'{_ESCAPED.sub(_escape, cell)}'"
    if _NUMBER.fullmatch(cell) or not _FORMULA.match(cell.lstrip("'")):
        return cell
    return f"'{cell}"


def unguarded(cell: str) -> str:
    """The text that `guarded` made a cell of.

    >>> unguarded("'=1+1"), unguarded("'tis"), unguarded(r"$'two\\nlines'")
    ('=1+1', "'tis", 'two\\nlines')
    """
    if quoted := _QUOTED.fullmatch(cell):
        return _ESCAPE.sub(_unescape, quoted[1])
    return cell[1:] if cell[:1] == "'" and _FORMULA.match(cell.lstrip("'")) else cell


def _escape(match: re.Match[str]) -> str:
    code = ord(match[0])
    if match[0] in _SHORT:
        return f"\\{_SHORT[match[0]]}"
    if code < 0x80 or 0xDC80 <= code <= 0xDCFF:  # a byte
        return f"\\x{code & 0xFF:02x}"
    return f"\\u{code:04x}"


def _unescape(match: re.Match[str]) -> str:
    letter, digits = match[1], match[2] or match[3]
    if not digits:
        return _LONG[letter]
    code = int(digits, 16)
    return chr(code + 0xDC00 if letter.startswith("x") and code >= 0x80 else code)


def _delimiter(lines: list[str]) -> str:
    """First delimiter that splits all lines into one number of cells, else the most frequent."""
    for delimiter in _DELIMITERS:
        with suppress(csv.Error):  # a line that it does not split is too long for a cell
            widths = [len(cells) for cells in csv.reader(lines, delimiter=delimiter) if cells]
            distinct = {*(widths[:-1] or widths)}  # the last may be cut in a cell
            if len(distinct) == 1 and distinct != {1}:
                return delimiter
    return max(",;\t", key="".join(lines).count)


def _layout(path: Path, first: list[str], headed: bool) -> _Layout:
    """Roles of the columns, by their headings if there are any."""
    heads = [f"{i + 1}" for i in range(len(first))]
    known = [known_heading(cell) for cell in first] if headed else heads
    if headed:
        heads = [f"{cell.strip() or i + 1}" for i, cell in enumerate(first)]
    labels = label_columns(path, first) if headed else []
    if len(labels) > 1:
        texts = ", ".join(heads[i] for i in labels)
        raise InputError(f"{path}: must have at most one column of labels, got {texts}")
    rest = [i for i in range(len(heads)) if i not in labels]
    if not rest:
        raise InputError(f"{path}: must have a column of numbers for each feature, got none")
    named = headed and known[rest[0]] in NAME_HEADS | {""}
    if named and first[rest[0]].strip() and not any(known[i] for i in rest):
        named = False  # pandas has read a table without headings
    if headed:
        warn_of_numbering(path, [first[i] for i in rest[1:]])
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
                f"{path}: row {line} must have the {len(layout.heads)} cells of the first row, got "
                f"{len(cells)}"
            )
        lines.append(line)
        leads.append(unguarded(cells[layout.lead].strip()))
        values.append(_numbers(path, line, [cells[i] for i in layout.features], heads))
        if layout.label is not None:
            require_text(path, line, [cells[layout.label]])
            labels.append(unguarded(cells[layout.label].strip()))
    return lines, leads, labels, values


def _numbers(path: Path, line: int, cells: list[str], heads: list[str]) -> NDArray[np.float64]:
    if "_" not in "".join(cells):  # Python reads 1_2 as 12
        try:
            return np.array(list(map(float, cells)), dtype=np.float64)
        except ValueError:
            pass
    column, cell = next(
        (head, cell) for head, cell in zip(heads, cells, strict=True) if number_in(cell) is None
    )
    raise InputError(
        f"{path}: row {line}, column {column}: must be a number, got "
        + (f"'{cell}'; {_ADVICE}" if cell.strip() else "an empty cell")
    )


def _are_names(cells: list[str]) -> bool:
    """Whether all cells are text, and not all numbers with a decimal comma, which are refused."""
    are_texts = all(cell and number_in(cell) is None for cell in cells)
    return are_texts and not all(map(_DECIMAL_COMMA.fullmatch, cells))


def cell_labels(path: Path, cells: list[str]) -> NDArray[Any]:
    """Labels as numbers if all are whole ones, beside empty cells; else as text.

    They are text, too, where numbers would lose something: leading zeros, digits of large numbers.
    """
    numbers = {text: number_in(text) for text in {*cells} - {""}}
    if all(
        number is not None and abs(number) < MAX_WHOLE and number % 1 == 0
        for number in numbers.values()
        if number == number  # not NaN, which is a missing label
    ) and not any(_CODE.match(text) for text in numbers):
        return tidy_labels(np.array([numbers.get(cell, np.nan) for cell in cells]))
    check_labels(cells, str(path))
    return np.array(cells)
