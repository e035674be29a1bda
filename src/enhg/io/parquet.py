"""Samples from Parquet files: a column of lists of numbers, or a column for each feature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from enhg._files import check_size, file_size, open_regular
from enhg._optional import require
from enhg.exceptions import InputError
from enhg.io._base import Samples, check_labels, kept_dtype, readable, row_blocks, tidy_labels
from enhg.io._parquet_pages import column_pages
from enhg.io.arrays import DATA_NAMES
from enhg.io.tables import LABEL_HEADS, NAME_HEADS

PARQUET_SUFFIXES = (".parquet",)

_PANDAS_INDEX = "__index_level_0__"  # how pandas heads its row labels
_BUFFER = 1 << 18  # bytes of a column that are read ahead
_MAX_ROWS = 1 << 16  # of a batch
_ROW_BYTES = 64  # of the name of a row, at least
_VALUE_BYTES = 8  # of a number, or of the place of a text
_N_COLUMNS = 16  # features that are read at a time
_MAX_NAMED = 8  # columns that a message names


@dataclass(frozen=True)
class _Layout:
    """Roles of the columns: either one of lists, or the features."""

    lists: str | None
    features: list[str]
    name: str | None
    label: str | None

    @property
    def columns(self) -> list[str]:
        """Headings of the columns that are read."""
        others = (self.lists, self.name, self.label)
        return [*self.features, *(head for head in others if head is not None)]


def read_parquet(path: Path, key: str | None) -> Samples:
    """Read the samples of a Parquet file, batch by batch; see `enhg.io.read_samples`."""
    arrow, parquet = require("pyarrow", "large"), require("pyarrow.parquet", "large")
    with readable(path), open_regular(path) as stream:
        # Text as numbers of distinct texts: of these, many rows could be one.
        texts = [
            field.name for field in parquet.read_schema(stream)
            if _is_text(arrow, _plain_type(arrow, field.type))
        ]  # fmt: skip
        file = parquet.ParquetFile(
            stream, buffer_size=_BUFFER, pre_buffer=False, page_checksum_verification=True,
            read_dictionary=texts,
        )  # fmt: skip
        n_rows = file.metadata.num_rows
        if not n_rows:
            raise InputError(f"{path}: the table must hold at least one sample, got no rows")
        layout = _layout(path, arrow, file.schema_arrow, key)
        check_size(n_rows * (_ROW_BYTES + 8 * len(layout.features)), file_size(stream), str(path))
        _check_pages(path, stream, file.schema, layout)
        names = [str(row) for row in range(n_rows)]
        if layout.name is not None:
            cells = _cells(path, file, layout.name, file_size(stream))
            names = ["" if name is None else str(name) for name in cells]
        labels = None
        if layout.label is not None:
            labels = _as_labels(path, _cells(path, file, layout.label, file_size(stream)))
        if layout.lists is not None:
            X = _read_lists(path, arrow, file, layout.lists, file_size(stream))
        else:
            X = _read_features(path, arrow, file, layout.features)
    return Samples(X, names, None, labels, path)


def _layout(path: Path, arrow: Any, schema: Any, key: str | None) -> _Layout:
    """Roles of the columns by their headings and types."""
    heads = list(schema.names)
    if len(set(heads)) < len(heads):
        raise InputError(f"{path}: columns must have different headings, got {_listing(heads)}")
    types = {head: _plain_type(arrow, schema.field(head).type) for head in heads}
    lists = [head for head in heads if _list_of_numbers(arrow, types[head])]
    labels = [head for head in heads if head.strip().lower() in LABEL_HEADS and head not in lists]
    if len(labels) > 1:
        raise InputError(f"{path}: must have at most one column of labels, got {', '.join(labels)}")
    label = labels[0] if labels else None
    rest = [head for head in heads if head != label]
    name = _name_column(arrow, rest, types)
    if key is not None or lists:
        return _Layout(_choose(path, lists, types, key), [], name, label)
    features = [head for head in rest if head != name]
    if other := [head for head in features if not _is_number(arrow, types[head])]:
        kinds = [f"{head} ({types[head]})" for head in other]
        raise InputError(
            f"{path}: must have one column of lists of numbers, or only columns of numbers beside "
            f"those headed name and label, got {_listing(kinds)}"
        )
    if not features:
        raise InputError(f"{path}: must have a column of numbers for each feature, got none")
    return _Layout(None, features, name, label)


def _choose(path: Path, lists: list[str], types: dict[str, Any], key: str | None) -> str:
    """The column of lists that holds the samples."""
    if key is not None:
        if key in lists:
            return key
        given = f"{key} ({types[key]})" if key in types else repr(key)
        raise InputError(
            f"{path}: key must be a column of lists of numbers, one of "
            f"{_listing(lists) or 'none'}, got {given}",
            parameter="key",
        )
    known = [head for head in DATA_NAMES if head in lists]
    if len(lists) > 1 and not known:
        raise InputError(
            f"{path}: key must say which column holds the samples, one of {_listing(lists)}",
            parameter="key",
        )
    return (known or lists)[0]


def _name_column(arrow: Any, heads: Sequence[str], types: dict[str, Any]) -> str | None:
    """The column of names: text under a known heading, or the first, as in text tables."""

    def is_name(head: str) -> bool:
        return head == _PANDAS_INDEX or head.strip().lower() in NAME_HEADS

    texts = [head for head in heads if _is_text(arrow, types[head])]
    named = [head for head in texts if is_name(head)] or [
        head for head in texts[:1] if head == heads[0]
    ]
    whole = [head for head in heads if is_name(head) and arrow.types.is_integer(types[head])]
    named += [head for head in whole if head in (heads[0], _PANDAS_INDEX)]
    return named[0] if named else None


def _batches(file: Any, heads: list[str]) -> Iterator[tuple[slice, dict[str, Any]]]:
    """Some columns of the file, batch by batch, and the rows of each batch.

    Threads would read no faster here, and keep more memory.
    """
    metadata = file.metadata
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    row_bytes = sum(group.total_byte_size for group in groups) / metadata.num_rows
    n_rows = min(next(row_blocks(metadata.num_rows, row_bytes)).stop, _MAX_ROWS)
    stop = 0
    for batch in file.iter_batches(n_rows, columns=heads, use_threads=False):
        start, stop = stop, stop + batch.num_rows
        yield slice(start, stop), dict(zip(batch.schema.names, batch.columns, strict=True))
    if stop != metadata.num_rows:
        raise ValueError(f"{stop} rows in place of {metadata.num_rows}")


def _cells(path: Path, file: Any, head: str, stored: int) -> list[Any]:
    """The cells of a column of names or labels; cells of equal text are one object."""
    where = f"{path}: column {head}"
    cells: list[Any] = []
    n_letters = 0
    for _, columns in _batches(file, [head]):
        column = columns[head]
        if hasattr(column, "dictionary"):
            distinct, places = column.dictionary.to_pylist(), column.indices.to_pylist()
            batch = [None if place is None else distinct[place] for place in places]
            n_letters += sum(len(cell) for cell in batch if isinstance(cell, str))
            check_size(n_letters, stored, where)
        else:
            batch = column.to_pylist()
        cells += batch
    return cells


def _check_pages(path: Path, stream: IO[bytes], schema: Any, layout: _Layout) -> None:
    """Refuse far more values than the file has room for: a page is read as a whole, and a list."""
    at, stored, n_bytes = stream.tell(), file_size(stream), 0
    for page in column_pages(stream, _places(schema, layout.columns)):
        n_bytes += max(page.n_bytes, _VALUE_BYTES * page.n_values)
        check_size(n_bytes, stored, f"{path}: column {page.column}")
    stream.seek(at)


def _places(schema: Any, heads: Sequence[str]) -> dict[int, str]:
    """Headings by the numbers of the columns that are read for them, in the schema of the file.

    By a heading the library finds the columns whose path begins with it, between any two dots.
    """
    known = set(heads)
    starts = {
        place: accumulate(schema.column(place).path.split("."), "{}.{}".format)
        for place in range(len(schema))
    }
    return {place: head for place, some in starts.items() for head in some if head in known}


def _read_lists(path: Path, arrow: Any, file: Any, head: str, stored: int) -> NDArray[Any]:
    X: NDArray[Any] | None = None
    for rows, columns in _batches(file, [head]):
        width = None if X is None else X.shape[1]
        values = _list_rows(path, arrow, head, columns[head], rows.start, width)
        if X is None:
            shape, dtype = (file.metadata.num_rows, values.shape[1]), kept_dtype(values.dtype)
            check_size(prod(shape) * dtype.itemsize, stored, f"{path}: column {head}")
            X = np.empty(shape, dtype)
        X[rows] = values
    assert X is not None  # there is at least one row
    return X


def _read_features(path: Path, arrow: Any, file: Any, heads: list[str]) -> NDArray[Any]:
    """A few columns at a time: a page of each is in memory, which may be most of its values."""
    schema = file.schema_arrow
    kinds = {_plain_type(arrow, schema.field(head).type) for head in heads}
    dtypes = [_numbers(arrow, arrow.array([], kind)).dtype for kind in kinds]
    dtype = np.result_type(*map(kept_dtype, dtypes))
    X = np.empty((file.metadata.num_rows, len(heads)), dtype)
    for first in range(0, len(heads), _N_COLUMNS):
        some = heads[first : first + _N_COLUMNS]
        for rows, columns in _batches(file, some):
            for place, head in enumerate(some, first):
                X[rows, place] = _values(path, arrow, head, columns[head], rows.start)
    return X


def _list_rows(
    path: Path, arrow: Any, head: str, column: Any, start: int, width: int | None
) -> NDArray[Any]:
    """Lists of one length as rows; `width` is the length of those before, `start` their number."""
    column = getattr(column, "storage", column)
    if column.null_count:
        row = start + _first_null(column)
        raise InputError(
            f"{path}: column {head} must hold a list in every row, got none in row {row}"
        )
    if arrow.types.is_fixed_size_list(column.type):
        size = column.type.list_size
        offsets = size * np.arange(column.offset, column.offset + len(column) + 1)
    else:
        offsets = np.from_dlpack(column.offsets)
    lengths = np.diff(offsets)
    width = int(lengths[0]) if width is None else width
    if (lengths != width).any():
        at = int((lengths != width).argmax())
        raise InputError(
            f"{path}: column {head} must hold lists of one length, got {width} numbers in row 0 "
            f"and {lengths[at]} in row {start + at}"
        )
    if width == 0:
        raise InputError(f"{path}: column {head} must hold numbers, got empty lists")
    values = column.values.slice(int(offsets[0]), len(column) * width)
    if values.null_count:
        at = _first_null(values)
        raise InputError(
            f"{path}: column {head} must hold only numbers, got an empty value in row "
            f"{start + at // width}"
        )
    return _numbers(arrow, values).reshape(-1, width)


def _values(path: Path, arrow: Any, head: str, column: Any, start: int) -> NDArray[Any]:
    if column.null_count:
        row = start + _first_null(column)
        raise InputError(f"{path}: row {row}, column {head}: must be a number, got an empty cell")
    return _numbers(arrow, column)


def _numbers(arrow: Any, values: Any) -> NDArray[Any]:
    """Values without nulls, not copied. `to_numpy` would import pandas, and its 50 MB."""
    if arrow.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if arrow.types.is_boolean(values.type):
        values = values.cast(arrow.uint8())
    return np.from_dlpack(values)


def _first_null(column: Any) -> int:
    return column.is_null().to_pylist().index(True)


def _as_labels(path: Path, cells: list[Any]) -> NDArray[Any]:
    """Labels as those of a text table: numbers, or text where one is missing or no number."""
    kinds = set(map(type, cells))
    if kinds == {int}:
        return tidy_labels(np.array(cells, dtype=np.int64 if min(cells) < 0 else np.uint64))
    if kinds <= {float, type(None)}:
        return tidy_labels(np.array(cells, dtype=np.float64))  # None becomes NaN
    texts = ["" if cell is None else str(cell) for cell in cells]
    check_labels(texts, str(path))
    return np.array(texts)


def _plain_type(arrow: Any, kind: Any) -> Any:
    """The type of the values of an encoded or extension type."""
    if isinstance(kind, arrow.BaseExtensionType):
        kind = kind.storage_type
    return kind.value_type if arrow.types.is_dictionary(kind) else kind


def _list_of_numbers(arrow: Any, kind: Any) -> bool:
    types = arrow.types
    is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
    return is_list and _is_number(arrow, kind.value_type)


def _is_number(arrow: Any, kind: Any) -> bool:
    types = arrow.types
    return types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)


def _is_text(arrow: Any, kind: Any) -> bool:
    return arrow.types.is_string(kind) or arrow.types.is_large_string(kind)


def _listing(heads: Sequence[str]) -> str:
    more = ", …" if len(heads) > _MAX_NAMED else ""
    return ", ".join(heads[:_MAX_NAMED]) + more
