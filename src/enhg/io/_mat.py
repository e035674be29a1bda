"""Variables of MATLAB files, versions 4 to 7.2; those of version 7.3 are HDF5 files.

Arrays of numbers of version 5 (MATLAB 5 to 7.2) are read here. SciPy's reader takes the sizes and
types of a damaged file as they are: it reads outside of its tables, and inflates what it is given.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray

from enhg._files import file_size
from enhg.io._entry import Entries, Entry

_HEADER = 128  # bytes before the elements of a file
_MATRIX, _COMPRESSED = 14, 15  # types of elements
_START = 1 << 16  # bytes of an element that hold its flags, shape and name
_LOGICAL, _COMPLEX = 0x200, 0x800  # flags of a variable
# NumPy's types of values by their number in a file.
_VALUES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8"}
_VALUES |= {13: "u8"}
_OPAQUE = 17
_CLASSES = {1: "cell", 2: "struct", 3: "object", 4: "char", 5: "sparse", 6: "double", 7: "single"}
_CLASSES |= {8: "int8", 9: "uint8", 10: "int16", 11: "uint16", 12: "int32", 13: "uint32"}
_CLASSES |= {14: "int64", 15: "uint64", 16: "function", _OPAQUE: "object"}
_NUMBERS = {"double": "f8", "single": "f4", "logical": "b1"}
_NUMBERS |= {f"{sign}int{8 * n}": f"{sign or 'i'}{n}" for sign in ("", "u") for n in (1, 2, 4, 8)}

Order = Literal["little", "big"]


def mat_entries(stream: IO[bytes]) -> Entries:
    """Variables by name; cells, structures, objects and functions are listed and never loaded."""
    stream.seek(0)
    header = stream.read(_HEADER)
    orders: dict[bytes, Order] = {b"IM": "little", b"MI": "big"}
    if len(header) < _HEADER or header[126:] not in orders:
        return _mat4_entries(stream)
    variables = _variables(stream, orders[header[126:]])
    return {variable.name: _entry(stream, variable) for variable in variables if variable.name}


def _entry(stream: IO[bytes], variable: _Variable) -> Entry:
    dtype = np.dtype(_NUMBERS.get(variable.kind, object))
    kind = "c" if variable.is_complex and dtype.kind in "uif" else dtype.kind
    name = f"complex {variable.kind}" if kind == "c" else variable.kind
    read = partial(_read, stream, variable)
    return Entry(variable.shape, kind, name, read, dtype.itemsize, variable.size)


# --- version 4 ----------------------------------------------------------------------------------


def _mat4_entries(stream: IO[bytes]) -> Entries:
    from scipy.io import whosmat
    from scipy.io.matlab import matfile_version

    if matfile_version(stream)[0] != 0:  # it would be read by SciPy's reader of version 5
        raise ValueError("neither of version 4, nor marked as one of version 5")
    return {name: _mat4_entry(stream, name, *rest) for name, *rest in whosmat(stream)}


def _mat4_entry(stream: IO[bytes], name: str, shape: tuple[int, ...], kind: str) -> Entry:
    dtype = np.dtype(_NUMBERS.get(kind, object))
    if min(shape, default=0) < 0:
        raise ValueError(f"{name} of shape {shape}")
    read = partial(_read_mat4, stream, name)
    return Entry(shape, dtype.kind, kind, read, dtype.itemsize, file_size(stream))


def _read_mat4(stream: IO[bytes], name: str) -> NDArray[Any]:
    from scipy.io import loadmat

    stream.seek(0)
    return np.asarray(loadmat(stream, variable_names=[name])[name])


# --- version 5 ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Variable:
    """A variable by the start of its element.

    `place` and `size` are those of the element in the file, without its tag; `start` is the number
    of bytes, inflated if the element is compressed, before the tag of the values.
    """

    name: str
    shape: tuple[int, ...]
    kind: str
    is_complex: bool
    place: int
    size: int
    start: int
    is_compressed: bool
    order: Order


def _variables(stream: IO[bytes], order: Order) -> list[_Variable]:
    """Read the start of every element that is a variable."""
    variables = []
    length, place = file_size(stream), _HEADER
    while place < length:
        stream.seek(place)
        kind, size = _numbers(stream.read(8), order, 2)
        place += 8
        if size > length - place:
            raise ValueError("an element is longer than the file")
        start = stream.read(min(size, _START))
        skipped = 0
        if kind == _COMPRESSED:
            start = zlib.decompressobj().decompress(start, _START)
            (inner,) = _numbers(start, order, 1)
            start, skipped = (start[8:], 8) if inner == _MATRIX else (b"", 0)
        if start and kind in (_MATRIX, _COMPRESSED):
            variables.append(_variable(start, order, kind == _COMPRESSED, place, size, skipped))
        place += size
    return variables


def _variable(
    start: bytes, order: Order, is_compressed: bool, place: int, size: int, skipped: int
) -> _Variable:
    _, flags, at = _element(start, 0, order)
    (bits,) = _numbers(flags, order, 1)
    shape: tuple[int, ...] = ()
    if bits & 0xFF != _OPAQUE:  # which has no shape
        _, lengths, at = _element(start, at, order)
        shape = _numbers(lengths, order, len(lengths) // 4)
        if max(shape, default=0) >= 2**31:  # they have a sign
            raise ValueError(f"a variable of shape {shape}")
    _, name, at = _element(start, at, order)
    kind = _CLASSES.get(bits & 0xFF, "unknown")
    if bits & _LOGICAL and kind in _NUMBERS:
        kind = "logical"
    return _Variable(
        name.decode("latin1"), shape, kind, bool(bits & _COMPLEX), place, size, skipped + at,
        is_compressed, order,
    )  # fmt: skip


def _element(data: bytes, at: int, order: Order) -> tuple[int, bytes, int]:
    """Type and contents of an element, and the place of the next."""
    kind, size, begin = _tag(data, at, order)
    if begin + size > len(data):
        raise ValueError("an element is longer than the variable")
    end = begin + size
    return kind, data[begin:end], end + -end % 8


def _tag(data: bytes, at: int, order: Order) -> tuple[int, int, int]:
    """Type and number of bytes of an element, and their place; up to four are inside the tag."""
    kind, size = _numbers(data[at : at + 8], order, 2)
    return (kind & 0xFFFF, kind >> 16, at + 4) if kind >> 16 else (kind, size, at + 8)


def _numbers(data: bytes, order: Order, count: int) -> tuple[int, ...]:
    if len(data) < 4 * count:
        raise ValueError("the file ends too early")
    return tuple(int.from_bytes(data[4 * i : 4 * i + 4], order) for i in range(count))


def _read(stream: IO[bytes], variable: _Variable) -> NDArray[Any]:
    """The values of a variable, in the type that they are stored as."""
    start, count = variable.start, prod(variable.shape)
    stream.seek(variable.place)
    inflater = zlib.decompressobj()

    def inflated(n_bytes: int) -> bytes:
        if not variable.is_compressed:
            return stream.read(n_bytes)
        return inflater.decompress(inflater.unconsumed_tail or packed, n_bytes)

    packed = stream.read(variable.size) if variable.is_compressed else b""
    head = inflated(start + 8)
    kind, size, begin = _tag(head, start, variable.order)
    if kind not in _VALUES:
        raise ValueError(f"values of the unknown type {kind}")
    dtype = np.dtype(_VALUES[kind]).newbyteorder("<" if variable.order == "little" else ">")
    if size != count * dtype.itemsize or (not variable.is_compressed and size > variable.size):
        raise ValueError(f"{size} bytes for {count} values")
    values = head[begin:] + inflated(begin + size - len(head)) if size > 4 else head[begin:]
    if variable.is_compressed:
        _check_end(inflater)
    return np.frombuffer(values[:size], dtype).reshape(variable.shape, order="F")


def _check_end(inflater: Any) -> None:
    """Inflate what follows the values, at most padding, up to the checksum."""
    inflater.decompress(inflater.unconsumed_tail, _START)
    if not inflater.eof:
        raise ValueError("a variable is longer than its values")
