"""Samples from Parquet files: a column of lists of numbers, or a column for each feature."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from enhg._files import check_inflation, check_memory, check_size, file_size, open_regular
from enhg._optional import require
from enhg.exceptions import InputError
from enhg.io._base import (
    Samples,
    check_labels,
    decoded,
    kept_dtype,
    readable,
    row_blocks,
    tidy_labels,
)
from enhg.io._headings import NAME_HEADS, known_heading, label_columns, warn_of_numbering
from enhg.io._parquet_pages import DELTA_TEXTS, DICTIONARIES, column_pages
from enhg.io.arrays import DATA_NAMES

PARQUET_SUFFIXES = (".parquet",)

_UNNAMED_INDEX = "__index_level_"  # how pandas heads row labels
_BUFFER = 1 << 18  # bytes of a column that are read ahead
_MAX_ROWS = 1 << 16  # of a batch
_ROW_BYTES = 64  # of the name of a row, at least
_VALUE_BYTES = 8  # of a number, or of the place of a text
_TEXT_BYTES = 50_000_000  # of texts that are read at a time, at most
_N_COLUMNS = 16  # features that are read at a time
_MAX_NAMED = 8  # columns that a message names
_REMEDY = "without dictionary encoding and compression"


@dataclass(frozen=True)
class _Layout:
    """Roles of the columns: either one of lists, or the features."""

    lists: str | None
    features: list[str]
    name: str | None
    label: str | None
    dtype: np.dtype  # of the samples

    @property
    def columns(self) -> list[str]:
        """Headings of the columns that are read."""
        others = (self.lists, self.name, self.label)
        return [*self.features, *(head for head in others if head is not None)]


def read_parquet(path: Path, key: str | None) -> Samples:
    """Read the samples of a Parquet file, batch by batch; see `enhg.io.read_samples`."""
    arrow, parquet = require("pyarrow", "large"), require("pyarrow.parquet", "large")
    with readable(path), open_regular(path) as stream:
        metadata, stored = parquet.read_metadata(stream), file_size(stream)
        n_rows, schema = metadata.num_rows, metadata.schema.to_arrow_schema()
        if not n_rows:
            raise InputError(f"{path}: the table must hold at least one sample, got no rows")
        layout = _layout(path, arrow, schema, key)
        row_bytes = _ROW_BYTES + layout.dtype.itemsize * len(layout.features)
        check_size(n_rows * row_bytes, stored, str(path), _REMEDY)
        written_out = _check_pages(path, stream, metadata.schema, layout)
        # Text as numbers of distinct texts: of these, many rows could be one.
        texts = [
            field.name for field in schema
            if _is_text(arrow, _plain_type(arrow, field.type)) and field.name not in written_out
        ]  # fmt: skip
        file = parquet.ParquetFile(
            stream, metadata=metadata, buffer_size=_BUFFER, pre_buffer=False,
            page_checksum_verification=True, read_dictionary=texts,
        )  # fmt: skip
        names = [str(row) for row in range(n_rows)]
        if (head := layout.name) is not None:
            cells = _cells(path, file, head, stored, written_out.get(head, _MAX_ROWS))
            names = ["" if name is None else str(name) for name in cells]
        labels = None
        if (head := layout.label) is not None:
            cells = _cells(path, file, head, stored, written_out.get(head, _MAX_ROWS))
            labels = _as_labels(path, cells)
        if layout.lists is not None:
            X = _read_lists(path, arrow, file, layout, layout.lists, stored)
        else:
            X = _read_features(path, arrow, file, layout)
    feature_names = tuple(layout.features) or None
    return Samples(X, names, None, labels, path, feature_names=feature_names)


def _layout(path: Path, arrow: Any, schema: Any, key: str | None) -> _Layout:
    """Roles of the columns by their headings and types."""
    heads = list(schema.names)
    if len(set(heads)) < len(heads):
        raise InputError(f"{path}: columns must have different headings, got {_listing(heads)}")
    types = {head: _plain_type(arrow, schema.field(head).type) for head in heads}
    lists = [head for head in heads if _list_of_numbers(arrow, types[head])]
    labels = [heads[i] for i in label_columns(path, heads) if heads[i] not in lists]
    if len(labels) > 1:
        raise InputError(f"{path}: must have at most one column of labels, got {', '.join(labels)}")
    label = labels[0] if labels else None
    rest = [head for head in heads if head != label]
    index = _pandas_index(schema)
    name = _name_column(arrow, rest, types, index)
    if key is not None or lists:
        chosen = _choose(path, lists, types, key)
        return _Layout(chosen, [], name, label, _dtype(arrow, [types[chosen].value_type]))
    features = [head for head in rest if head != name and head not in index]
    warn_of_numbering(path, features)
    if other := [head for head in features if not _is_number(arrow, types[head])]:
        kinds = [f"{head} ({types[head]})" for head in other]
        raise InputError(
            f"{path}: must have one column of lists of numbers, or only columns of numbers beside "
            f"those headed name and label, got {_listing(kinds)}"
        )
    if not features:
        raise InputError(f"{path}: must have a column of numbers for each feature, got none")
    dtype = _dtype(arrow, {types[head] for head in features})
    return _Layout(None, features, name, label, dtype)


def _dtype(arrow: Any, kinds: Iterable[Any]) -> np.dtype:
    """The type of samples whose values are of some types of Arrow."""
    values = (_numbers(arrow, arrow.nulls(0, kind)) for kind in kinds)  # which needs no pandas
    return np.result_type(*(kept_dtype(array.dtype) for array in values))


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


def _pandas_index(schema: Any) -> list[str]:
    """Headings of the columns that are row labels of a pandas table."""
    named: Any = ()
    with suppress(ValueError, KeyError, TypeError):  # what is stored may be anything
        named = list(json.loads(schema.metadata[b"pandas"])["index_columns"])
    return [head for head in schema.names if head in named or head.startswith(_UNNAMED_INDEX)]


def _name_column(
    arrow: Any, heads: Sequence[str], types: dict[str, Any], index: list[str]
) -> str | None:
    """The column of names: text under a known heading, or the first, as in text tables."""

    def is_name(head: str) -> bool:
        return head in index or known_heading(head) in NAME_HEADS | {""}

    texts = [head for head in heads if _is_text(arrow, types[head])]
    named = [head for head in texts if is_name(head)] or [
        head for head in texts[:1] if head == heads[0]
    ]
    whole = [head for head in heads if is_name(head) and arrow.types.is_integer(types[head])]
    named += [head for head in whole if head in (heads[0], *index)]
    return named[0] if named else None


def _batches(
    file: Any, heads: list[str], most_rows: int = _MAX_ROWS
) -> Iterator[tuple[slice, dict[str, Any]]]:
    """Some columns of the file, batch by batch, and the rows of each batch.

    Threads would read no faster here, and keep more memory.
    """
    metadata = file.metadata
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    row_bytes = sum(group.total_byte_size for group in groups) / metadata.num_rows
    n_rows = min(next(row_blocks(metadata.num_rows, row_bytes)).stop, most_rows)
    stop = 0
    for batch in file.iter_batches(n_rows, columns=heads, use_threads=False):
        start, stop = stop, stop + batch.num_rows
        yield slice(start, stop), dict(zip(batch.schema.names, batch.columns, strict=True))
    if stop != metadata.num_rows:
        raise ValueError(f"{stop} rows in place of {metadata.num_rows}")


def _cells(path: Path, file: Any, head: str, stored: int, most_rows: int) -> list[Any]:
    """The cells of a column of names or labels; mostly, cells of equal text are one object."""
    where = f"{path}: column {head}"
    cells: list[Any] = []
    n_letters = 0
    for _, columns in _batches(file, [head], most_rows):
        column = columns[head]
        if hasattr(column, "dictionary"):
            distinct, places = column.dictionary.to_pylist(), column.indices.to_pylist()
            batch = [None if place is None else distinct[place] for place in places]
        else:
            batch = column.to_pylist()
        n_letters += sum(len(cell) for cell in batch if isinstance(cell, str))
        check_size(n_letters, stored, where, _REMEDY)
        cells += batch
    return cells


def _check_pages(path: Path, stream: IO[bytes], schema: Any, layout: _Layout) -> dict[str, int]:
    """Refuse far more values than the file has room for: a page is read as a whole, and a list.

    Returns
    -------
    dict
        Columns of text that are not stored as numbers of distinct texts, and cannot be read as
        such, with the number of rows to read at a time: each text may repeat the one before, so
        that it is as long as its page.
    """
    stored, n_read, n_kept, needed = file_size(stream), 0, 0, 0
    largest: dict[str, int] = defaultdict(lambda: 1)
    encodings: dict[str, set[int | None]] = defaultdict(set)
    for page in column_pages(stream, _places(schema, layout.columns)):
        where, is_text = f"{path}: column {page.column}", page.column in (layout.name, layout.label)
        n_read += max(page.n_bytes, _VALUE_BYTES * page.n_values)
        check_inflation(n_read, stored, where, _REMEDY)
        n_kept += page.n_values * (_VALUE_BYTES if is_text else layout.dtype.itemsize)
        n_kept += page.n_bytes if is_text else 0
        needed = max(needed, n_kept + page.n_bytes)
        largest[page.column] = max(largest[page.column], page.n_bytes)
        encodings[page.column].add(page.encoding)
    check_memory(needed, str(path))  # once: it takes as long as to find a page
    return {
        head: max(1, _TEXT_BYTES // largest[head])
        for head in encodings
        if encodings[head] & DELTA_TEXTS and not encodings[head] & DICTIONARIES
    }


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


def _read_lists(
    path: Path, arrow: Any, file: Any, layout: _Layout, head: str, stored: int
) -> NDArray[Any]:
    X: NDArray[Any] | None = None
    for rows, columns in _batches(file, [head]):
        width = None if X is None else X.shape[1]
        values = _list_rows(path, arrow, head, columns[head], rows.start, width)
        if X is None:
            shape = file.metadata.num_rows, values.shape[1]
            n_bytes = prod(shape) * layout.dtype.itemsize
            check_size(n_bytes, stored, f"{path}: column {head}", _REMEDY)
            X = np.empty(shape, layout.dtype)
        X[rows] = values
    assert X is not None  # there is at least one row
    return X


def _read_features(path: Path, arrow: Any, file: Any, layout: _Layout) -> NDArray[Any]:
    """A few columns at a time: a page of each is in memory, which may be most of its values."""
    heads = layout.features
    X = np.empty((file.metadata.num_rows, len(heads)), layout.dtype)
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
    texts = decoded(["" if cell is None else cell for cell in cells])
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
