"""Datasets of an HDF5 file (.h5, .hdf5, MATLAB v7.3), from that file alone.

A dataset can have its values in other files (external storage, virtual datasets), and a link can
lead to another file: these are listed but refused, as another file is not part of the input.
"""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from math import prod
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from enhg._files import file_size
from enhg._optional import require
from enhg.exceptions import InputError
from enhg.io._entry import Entries, Entry
from enhg.io._hdf5_texts import MIN_TEXT_BYTES, is_readable, read_texts
from enhg.io._inflation import MARGIN, MOST_UNCHECKED, inflates_to

_MARK = b"\x89HDF\r\n\x1a\n"
_PLACES = (0, 512)  # MATLAB writes a text header of 512 bytes before the mark
_MATLAB_CLASS = "MATLAB_class"

# Numbers of filters that chunks pass on their way into a file.
_DEFLATE, _SHUFFLE, _FLETCHER32, _SZIP, _NBIT, _SCALE_OFFSET = range(1, 7)
_PACKERS = (_NBIT, _SCALE_OFFSET)


def is_hdf5(stream: IO[bytes]) -> bool:
    """Whether the file is HDF5 (MATLAB v7.3), without h5py, which older files do not need."""
    marks = []
    for place in _PLACES:
        stream.seek(place)
        marks.append(stream.read(len(_MARK)))
    stream.seek(0)
    return _MARK in marks


def hdf5_entries(stream: IO[bytes], stack: ExitStack) -> Entries:
    """Datasets and links of an HDF5 file by name; links are not followed.

    MATLAB (v7.3) writes its arrays column by column, so their axes come out reversed.
    """
    h5py = require("h5py", "hdf5")
    file = stack.enter_context(h5py.File(stream.name, "r"))
    entries: Entries = {}

    def visit_link(name: str, link: Any) -> None:
        if isinstance(link, h5py.ExternalLink):
            entries[name] = _refused("a link to another file")
        elif isinstance(link, h5py.SoftLink):
            entries[name] = _refused("a soft link")

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and not name.startswith("#"):
            entries[name] = _entry(h5py, item, stream)

    file.visititems_links(visit_link)
    file.visititems(visit)
    return entries


def _refused(what: str) -> Entry:
    def read() -> NDArray[Any]:
        raise InputError(f"{what} is never followed")

    return Entry((), "V", f"{what}, which is never followed", read)


def _entry(h5py: Any, item: Any, stream: IO[bytes]) -> Entry:
    if item.external:
        return _refused("values in another file (external storage)")
    if item.is_virtual:
        return _refused("values in other files (a virtual dataset)")
    shape = (0,) if item.shape is None else item.shape  # None: a dataset that holds nothing
    matlab = _matlab_class(h5py, item)
    kind, name = "U" if matlab == b"char" else item.dtype.kind, str(item.dtype)
    itemsize = item.dtype.itemsize
    read = partial(_read, item, matlab is not None)
    if kind == "O" and h5py.check_string_dtype(item.dtype) is not None:
        name = "text, stored in a way that is not read"
        if is_readable(item):
            kind, name, itemsize = "S", "text", MIN_TEXT_BYTES
            read = partial(read_texts, item, stream)
    return Entry(
        shape if matlab is None else shape[::-1],
        kind,
        name,
        read,
        itemsize,
        min(int(item.id.get_storage_size()), file_size(stream)),
        prod(item.chunks or ()) * item.dtype.itemsize if item.chunks else 0,
    )


def _read(item: Any, is_matlab: bool) -> NDArray[Any]:
    _check_chunks(item)
    array = np.asarray(item[()])
    return array.T if is_matlab else array


def _matlab_class(h5py: Any, item: Any) -> bytes | None:
    """MATLAB's name of the type; None for a dataset that MATLAB has not written.

    Only a text in the header of the dataset is read: of texts elsewhere, many could be one.
    """
    if _MATLAB_CLASS not in item.attrs:
        return None
    attribute = item.attrs.get_id(_MATLAB_CLASS)
    if attribute.shape != () or attribute.dtype.kind != "S":
        return None
    return bytes(item.attrs[_MATLAB_CLASS])


# --- chunks ---------------------------------------------------------------------------------------


def _check_chunks(item: Any) -> None:
    """Require chunks that become no more than a chunk: the library decodes them to any size."""
    if not item.chunks:
        return
    n_values, itemsize = prod(item.chunks), item.id.get_type().get_size()
    filters = _filters(item)
    for number, values in filters:
        if number in _PACKERS and values[2:5:2] != (n_values, itemsize):
            raise ValueError("a filter of other chunks")
    sizes_change = [number not in (_SHUFFLE, _FLETCHER32, *_PACKERS) for number, _ in filters]
    place = sizes_change.index(True) if any(sizes_change) else len(filters)
    if any(number != _FLETCHER32 for number, _ in filters[place + 1 :]):
        raise InputError(
            f"{item.file.filename}: values must be compressed at most once, and not changed "
            f"afterwards, got other filters of {item.name}; store it with one, as the last"
        )
    chunks: list[Any] = []
    item.id.chunk_iter(chunks.append)
    for chunk in chunks:
        is_skipped = place == len(filters) or chunk.filter_mask >> place & 1
        kind = 0 if is_skipped else filters[place][0]
        if not _fits(item, chunk, kind, n_values * itemsize):
            raise ValueError("a chunk that is larger than it should be")


def _filters(item: Any) -> list[tuple[int, tuple[int, ...]]]:
    """Numbers and parameters of the filters of a dataset, in their order."""
    properties = item.id.get_create_plist()
    filters = map(properties.get_filter, range(properties.get_nfilters()))
    return [(number, tuple(values)) for number, _, values, _ in filters]


def _fits(item: Any, chunk: Any, kind: int, n_bytes: int) -> bool:
    """Whether a chunk that a filter of a kind has compressed becomes at most so many bytes."""
    if chunk.size > 2 * n_bytes + MARGIN:
        return False
    if kind == _SZIP:
        _, data = item.id.read_direct_chunk(chunk.chunk_offset)
        return int.from_bytes(data[:4], "little") <= n_bytes + MARGIN
    if kind == _DEFLATE and chunk.size > MOST_UNCHECKED:
        _, data = item.id.read_direct_chunk(chunk.chunk_offset)
        return inflates_to(data, n_bytes + MARGIN)
    return True
