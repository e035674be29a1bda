"""Variables of MATLAB files, versions 4 to 7.2; those of version 7.3 are HDF5 files."""

from __future__ import annotations

import zlib
from functools import partial
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from enhg._files import check_size, file_size, size_limit
from enhg.io._entry import Entries, Entry

_HEADER = 128  # bytes before the elements of a file of version 5
_COMPRESSED = 15  # the type of an element that is packed by deflate
_LARGEST_RATIO = 1032  # of deflate
_BLOCK = 1 << 20
_NUMBERS = {"double": "f8", "single": "f4", "logical": "b1"}
_NUMBERS |= {f"{sign}int{8 * n}": f"{sign or 'i'}{n}" for sign in ("", "u") for n in (1, 2, 4, 8)}


def mat_entries(stream: IO[bytes]) -> Entries:
    """Variables by name; cells, structures, objects and functions are listed and never loaded."""
    from scipy.io import whosmat

    _check_elements(stream)
    stream.seek(0)
    return {name: _entry(stream, name, shape, kind) for name, shape, kind in whosmat(stream)}


def _entry(stream: IO[bytes], name: str, shape: tuple[int, ...], kind: str) -> Entry:
    dtype = np.dtype(_NUMBERS.get(kind, object))
    read = partial(_read, stream, name)
    # What is stored was compared with the sizes of the elements before.
    return Entry(shape, dtype.kind, kind, read, dtype.itemsize, file_size(stream))


def _read(stream: IO[bytes], name: str) -> NDArray[Any]:
    from scipy.io import loadmat

    stream.seek(0)
    return np.asarray(loadmat(stream, variable_names=[name])[name])


def _check_elements(stream: IO[bytes]) -> None:
    """Refuse elements of version 5 that are longer than the file, or do not fit when inflated.

    SciPy reads as many bytes as an element says, before it compares them with the variable's shape.
    """
    stream.seek(0)
    header = stream.read(_HEADER)
    marks = {b"IM": "little", b"MI": "big"}
    order: Any = marks.get(header[126:128])
    if order is None or len(header) < _HEADER:
        return  # version 4, which stores nothing compressed, or no MATLAB file
    length, place = file_size(stream), _HEADER
    while place < length:
        tag = stream.read(8)
        kind, size = int.from_bytes(tag[:4], order), int.from_bytes(tag[4:], order)
        if len(tag) < 8 or size > length - place - 8:
            raise ValueError("an element is longer than the file")
        if kind == _COMPRESSED:
            _check_inflated(stream, size)
        place += 8 + size
        stream.seek(place)


def _check_inflated(stream: IO[bytes], size: int) -> None:
    """Inflate an element of so many bytes block by block, without keeping it, up to the limit."""
    limit = size_limit(size)
    if _LARGEST_RATIO * size <= limit:
        return  # whatever it holds
    inflater, inflated, left = zlib.decompressobj(), 0, size
    while left > 0 and not inflater.eof:
        data = stream.read(min(_BLOCK, left))
        left -= len(data)
        while data and not inflater.eof:
            inflated += len(inflater.decompress(data, _BLOCK))
            if inflated > limit:
                check_size(inflated, size, f"{stream.name}: a compressed variable")
            data = inflater.unconsumed_tail
