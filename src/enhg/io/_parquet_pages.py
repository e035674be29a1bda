"""What the pages of a Parquet file promise, read from their headers.

Headers are structs of Thrift's compact protocol. The library that reads the file does not show
them, and ends the process where the metadata of a column are damaged.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

DICTIONARIES = frozenset({2, 8})
"""Encodings of values as their numbers in a dictionary."""
DELTA_TEXTS = frozenset({6, 7})
"""Encodings of texts, one by one, as lengths and as what differs from the one before."""

_MARK = b"PAR1"
_HEADER_BYTES, _MAX_HEADER_BYTES = 256, 1 << 20  # of the header of a page, mostly and at most
_MAX_SHIFT = 63  # of the bits of an integer
_MAX_DEPTH = 32  # of structs in structs

# Numbers of the types in Thrift's compact protocol.
_TRUE, _FALSE, _BYTE, _I16, _I32, _I64 = range(1, 7)
_DOUBLE, _BINARY, _LIST, _SET, _STRUCT = 7, 8, 9, 10, 12
_BITS = {_I16: 15, _I32: 31, _I64: 63}  # beside the sign
_MAX_NUMBER = 2**15 - 1  # of a field

# Fields in Parquet's definition: number and type. The library passes over one of another type.
_ROW_GROUPS, _COLUMNS, _COLUMN_METADATA = (4, _LIST), (1, _LIST), (3, _STRUCT)
_N_VALUES, _DATA_OFFSET, _DICTIONARY_OFFSET = (5, _I64), (9, _I64), (11, _I64)
_PAGE_KIND, _PAGE_SIZE, _PAGE_COMPRESSED_SIZE = (1, _I32), (2, _I32), (3, _I32)
_PAGE_N_VALUES = (1, _I32)
# The header of a page inside its header, by its kind: data, index, dictionary, data of version 2.
_PAGE_HEADERS = {0: (5, _STRUCT), 1: (6, _STRUCT), 2: (7, _STRUCT), 3: (8, _STRUCT)}
_ENCODINGS = {0: (2, _I32), 3: (4, _I32)}  # fields of the headers of data
# Types of the values of lists by the numbers of the fields that lead there: the library takes them
# as they are defined, whatever the list says.
_VALUES: dict[tuple[int, ...], int] = {
    **dict.fromkeys([(2,), (4,), (5,), (7,), (4, 1), (4, 4), (4, 1, 3, 8), (4, 1, 3, 13)], _STRUCT),
    **dict.fromkeys([(4, 1, 3, 3), (4, 1, 8, 2, 1)], _BINARY),
    **dict.fromkeys([(4, 1, 3, 2), (4, 1, 3, 17, 2)], _I32),
    **dict.fromkeys([(4, 1, 3, 16, 2), (4, 1, 3, 16, 3)], _I64),
}

_Fields = dict[tuple[int, int], Any]


@dataclass(frozen=True)
class Page:
    """A page of a column: a dictionary, which has no values and no encoding, or data."""

    column: str
    n_bytes: int
    n_values: int
    encoding: int | None


def column_pages(stream: IO[bytes], columns: Mapping[int, str]) -> Iterator[Page]:
    """Yield what the pages of some columns say of themselves.

    Parameters
    ----------
    stream : binary file
    columns : mapping from int to str
        Names of columns by their number in the schema, by which the library finds their pages; of
        columns in others the innermost count.

    Raises
    ------
    ValueError, KeyError
        If the file is damaged.
    """
    end = stream.seek(-8, os.SEEK_END)
    length = int.from_bytes(stream.read(4), "little")
    if stream.read(4) != _MARK or length > end:
        raise ValueError("no Parquet file")
    stream.seek(end - length)
    footer = _Thrift(stream.read(length)).struct()
    for group in footer[_ROW_GROUPS]:
        for place, chunk in enumerate(group[_COLUMNS]):
            if place in columns:
                yield from _chunk_pages(stream, columns[place], chunk[_COLUMN_METADATA])


def _chunk_pages(stream: IO[bytes], column: str, metadata: _Fields) -> Iterator[Page]:
    start = metadata[_DATA_OFFSET]
    # A dictionary comes before the data.
    if 0 < metadata.get(_DICTIONARY_OFFSET, 0) < start:
        start = metadata[_DICTIONARY_OFFSET]
    n_missing = metadata[_N_VALUES]
    while n_missing > 0:
        header, length = _page_header(stream, start)
        page, compressed = _page(column, header), header[_PAGE_COMPRESSED_SIZE]
        if min(compressed, page.n_bytes, page.n_values) < 0:
            raise ValueError("a page of negative size")
        yield page
        n_missing -= page.n_values
        start += length + compressed


def _page(column: str, header: _Fields) -> Page:
    kind = header[_PAGE_KIND]
    if set(_PAGE_HEADERS.values()) & set(header) - {_PAGE_HEADERS[kind]}:
        raise ValueError("a page of more than one kind")
    if kind not in _ENCODINGS:
        return Page(column, header[_PAGE_SIZE], 0, None)
    data = header[_PAGE_HEADERS[kind]]
    return Page(column, header[_PAGE_SIZE], data[_PAGE_N_VALUES], data[_ENCODINGS[kind]])


def _page_header(stream: IO[bytes], start: int) -> tuple[_Fields, int]:
    """A header and its bytes in the file; statistics in it may make it long."""
    stream.seek(start)
    thrift = _Thrift(stream.read(_HEADER_BYTES))
    try:
        return thrift.struct(), thrift.at
    except _CutOffError:
        stream.seek(start)
        thrift = _Thrift(stream.read(_MAX_HEADER_BYTES))
        return thrift.struct(), thrift.at


class _CutOffError(ValueError):
    pass


class _Thrift:
    """Reader of structs, as dicts from the numbers and types of their fields to values."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def struct(self, path: tuple[int, ...] = ()) -> _Fields:
        """Read a struct; `path` are the numbers of the fields that lead to it."""
        if len(path) > _MAX_DEPTH:
            raise ValueError("structs in too many structs")
        fields: _Fields = {}
        numbers: set[int] = set()
        number = 0
        while head := self._byte():
            step, kind = head >> 4, head & 15
            number = number + step if step else self._integer(_I16)
            if not 0 < number <= _MAX_NUMBER or number in numbers:
                raise ValueError("a field of a wrong number, or one that is there twice")
            numbers.add(number)
            is_bool = kind in (_TRUE, _FALSE)  # its value is the type
            fields[number, kind] = kind == _TRUE if is_bool else self._value(kind, (*path, number))
        return fields

    def _value(self, kind: int, path: tuple[int, ...]) -> Any:
        if kind in _BITS:
            return self._integer(kind)
        if kind == _BINARY:
            return self._bytes(self._varint())
        if kind == _STRUCT:
            return self.struct(path)
        if kind in (_LIST, _SET):
            return self._list(path)
        if kind in (_TRUE, _FALSE, _BYTE):  # in a list, the value of a bool is a byte
            return self._byte()
        if kind == _DOUBLE:
            return self._bytes(8)
        # Parquet has no maps.
        raise ValueError(f"a value of the type {kind}")

    def _list(self, path: tuple[int, ...]) -> list[Any]:
        head = self._byte()
        n_values, kind = head >> 4 if head >> 4 < 15 else self._varint(), head & 15
        if n_values and kind != _VALUES.get(path, kind):
            raise ValueError(f"a list of values of the type {kind}")
        return [self._value(kind, path) for _ in range(n_values)]

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

    def _integer(self, kind: int) -> int:
        value = self._varint()
        value = value >> 1 ^ -(value & 1)
        if value >> _BITS[kind] not in (0, -1):  # the library would cut it off
            raise ValueError("a number of too many bits")
        return value
