"""What the pages of a Parquet file promise, read from their headers.

Headers are structs of Thrift's compact protocol. The library that reads the file does not show
them, and ends the process where the metadata of a column are damaged.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import IO, Any

_MARK = b"PAR1"
_HEADER_BYTES = (256, 1 << 20)  # of the header of a page, mostly and at most
_MAX_SHIFT = 63  # of the bits of an integer
_MAX_DEPTH = 32  # of structs in structs

# Numbers of the types in Thrift's compact protocol, and of fields in Parquet's definition.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64 = range(1, 7)
_DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 7, 8, 9, 10, 12
_ROW_GROUPS, _COLUMNS, _COLUMN_METADATA = 4, 1, 3
_PATH, _N_VALUES, _COMPRESSED_SIZE, _DATA_OFFSET, _DICTIONARY_OFFSET = 3, 5, 7, 9, 11
_PAGE_SIZE, _PAGE_COMPRESSED_SIZE, _PAGE_N_VALUES = 2, 3, 1
_DATA_PAGES = (5, 8)  # versions 1 and 2


@dataclass(frozen=True)
class Page:
    """A page of a column: a dictionary, which has no values, or data."""

    column: str
    n_bytes: int
    n_values: int


def column_pages(stream: IO[bytes], columns: Collection[str]) -> Iterator[Page]:
    """Yield what the pages of some columns say of themselves.

    Parameters
    ----------
    stream : binary file
    columns : collection of str
        Headings, of columns in others those of the outermost level.

    Raises
    ------
    ValueError
        If the file is damaged.
    """
    end = stream.seek(-8, os.SEEK_END)
    length = int.from_bytes(stream.read(4), "little")
    if stream.read(4) != _MARK or length > end:
        raise ValueError("no Parquet file")
    stream.seek(end - length)
    footer = _Thrift(stream.read(length)).struct()
    heads = {column.encode(): column for column in columns}
    for group in footer.get(_ROW_GROUPS, ()):
        for chunk in group.get(_COLUMNS, ()):
            metadata = chunk[_COLUMN_METADATA]
            if (head := metadata[_PATH][0]) in heads:
                yield from _chunk_pages(stream, heads[head], metadata)


def _chunk_pages(stream: IO[bytes], column: str, metadata: dict[int, Any]) -> Iterator[Page]:
    start = metadata[_DATA_OFFSET]
    # A dictionary comes before the data.
    if 0 < metadata.get(_DICTIONARY_OFFSET, 0) < start:
        start = metadata[_DICTIONARY_OFFSET]
    stop = start + metadata[_COMPRESSED_SIZE]
    n_missing = metadata[_N_VALUES]
    while n_missing > 0 and start < stop:
        header, length = _page_header(stream, start)
        data: dict[int, Any] = next((header[kind] for kind in _DATA_PAGES if kind in header), {})
        page = Page(column, header[_PAGE_SIZE], data.get(_PAGE_N_VALUES, 0))
        compressed = header[_PAGE_COMPRESSED_SIZE]
        if min(compressed, page.n_bytes, page.n_values) < 0:
            raise ValueError("a page of negative size")
        yield page
        n_missing -= page.n_values
        start += length + compressed


def _page_header(stream: IO[bytes], start: int) -> tuple[dict[int, Any], int]:
    """A header and its bytes in the file; statistics in it may make it long."""
    for most in _HEADER_BYTES:
        stream.seek(start)
        thrift = _Thrift(stream.read(most))
        try:
            return thrift.struct(), thrift.at
        except _CutOffError:
            if most == _HEADER_BYTES[-1]:
                raise
    raise AssertionError


class _CutOffError(ValueError):
    pass


class _Thrift:
    """Reader of structs, as dicts from the numbers of their fields to values."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def struct(self, depth: int = 0) -> dict[int, Any]:
        if depth > _MAX_DEPTH:
            raise ValueError("structs in too many structs")
        fields: dict[int, Any] = {}
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._integer()
            is_bool = kind in (_TRUE, _FALSE)  # its value is the type
            fields[number] = kind == _TRUE if is_bool else self._value(kind, depth + 1)
        return fields

    def _value(self, kind: int, depth: int) -> Any:
        if _I16 <= kind <= _I64:
            return self._integer()
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind == _STRUCT:
            return self.struct(depth)
        if kind in (_LIST, _SET):
            head = self._byte()
            n_values = head >> 4 if head >> 4 < 15 else self._varint()
            return [self._value(head & 15, depth) for _ in range(n_values)]
        if kind in (_TRUE, _FALSE, _BYTE):  # in a list, the value of a bool is a byte
            return self._byte()
        if kind == _DOUBLE:
            return self._bytes(8)
        # Parquet has no maps.
        raise ValueError(f"a value of the type {kind}")

    def _byte(self) -> int:
        if self.at >= len(self._data):
            raise _CutOffError("a header that is cut off")
        self.at += 1
        return self._data[self.at - 1]

    def _bytes(self, length: int) -> bytes:
        if length > len(self._data) - self.at:
            raise _CutOffError("a header that is cut off")
        self.at += length
        return self._data[self.at - length : self.at]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, _MAX_SHIFT + 1, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a number of too many bytes")

    def _integer(self) -> int:
        value = self._varint()
        return value >> 1 ^ -(value & 1)
