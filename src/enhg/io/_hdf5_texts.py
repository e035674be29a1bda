"""Text of any length in an HDF5 file, read without the library.

A dataset of such text holds references to places in heaps. Where these are damaged, the library may
never end, or allocate what they say; and every reference may lead to the same long text.
"""

from __future__ import annotations

import struct
from functools import cache
from math import prod
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from enhg._files import check_size, file_size

MIN_TEXT_BYTES = 64
"""Bytes of memory for a text, at least."""

# Length of the text, place of its heap in the file, and number within the heap.
_REFERENCE = np.dtype([("length", "<u4"), ("heap", "<u8"), ("number", "<u4")])
_HEAP = struct.Struct("<4sB3xQ")  # mark, version, bytes of the whole heap
_OBJECT = struct.Struct("<HHxxxxQ")  # number, references to it, bytes
_MARK, _VERSION = b"GCOL", 1
_NUMBERED_FROM = 1  # 0 is the rest of a heap that is free
_ALIGNMENT = 8
_FIRST_CHECK = 1_000_000  # letters before the free memory is looked up, which takes a while
_REMEDY = "as text of a fixed length"


def is_readable(item: Any) -> bool:
    """Whether a dataset is a vector of text whose references are stored as they are."""
    is_vector = item.shape is not None and prod(item.shape) == max(item.shape, default=0)
    is_plain = item.id.get_create_plist().get_nfilters() == 0 and item.file.userblock_size == 0
    # A compact dataset is in the header of the file, whose place the library does not say.
    is_placed = item.chunks or item.id.get_offset() is not None
    sizes_fit = item.file.id.get_create_plist().get_sizes()[0] == _REFERENCE["heap"].itemsize
    return bool(is_vector and is_plain and is_placed and sizes_fit and not item.fillvalue)


def read_texts(item: Any, stream: IO[bytes]) -> NDArray[Any]:
    """Texts of a dataset, as bytes, from the open file that it is in."""
    texts, largest = [], file_size(stream)
    n_read, n_letters, n_checked = 0, 0, _FIRST_CHECK

    @cache
    def heap(place: int) -> dict[int, bytes]:
        nonlocal n_read
        objects, n_bytes = _heap(stream, place, largest - n_read)
        n_read += n_bytes  # heaps do not overlap
        return objects

    for length, place, number in _references(item, stream).tolist():
        text = heap(place)[number][:length] if length else b""
        n_letters += len(text)
        if n_letters > n_checked:
            check_size(n_letters, largest, f"{stream.name}: {item.name}", _REMEDY)
            n_checked = 2 * n_letters
        texts.append(text.rstrip(b"\0"))
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array.reshape(item.shape)


def _references(item: Any, stream: IO[bytes]) -> NDArray[Any]:
    """References of a dataset, those of chunks that are not stored with a length of 0."""
    references = np.zeros(prod(item.shape), _REFERENCE)
    if not item.chunks:
        stream.seek(item.id.get_offset())
        stored = np.frombuffer(stream.read(references.nbytes), _REFERENCE)
        if len(stored) < len(references):
            raise ValueError("text that is cut off")
        return stored
    axis = item.shape.index(max(item.shape))
    chunks: list[Any] = []
    item.id.chunk_iter(chunks.append)
    for chunk in chunks:
        start = chunk.chunk_offset[axis]
        n_stored = min(item.chunks[axis], len(references) - start)
        if chunk.size != prod(item.chunks) * _REFERENCE.itemsize or n_stored < 1:
            raise ValueError("a chunk of another size than its dataset says")
        stream.seek(chunk.byte_offset)
        stored = np.frombuffer(stream.read(chunk.size), _REFERENCE).reshape(item.chunks)
        first = tuple(slice(None) if at == axis else 0 for at in range(stored.ndim))
        references[start : start + n_stored] = stored[first][:n_stored]
    return references


def _heap(stream: IO[bytes], place: int, most: int) -> tuple[dict[int, bytes], int]:
    """Objects of the heap at a place by their numbers, and its bytes, which are at most so many."""
    stream.seek(place)
    mark, version, n_bytes = _HEAP.unpack(stream.read(_HEAP.size))
    if mark != _MARK or version != _VERSION or n_bytes > most:
        raise ValueError("no heap where text should be")
    content = stream.read(n_bytes - _HEAP.size)
    objects, at = {}, 0
    while at + _OBJECT.size <= len(content):
        number, _, size = _OBJECT.unpack_from(content, at)
        at += _OBJECT.size
        if number < _NUMBERED_FROM or at + size > len(content):
            break
        objects[number] = content[at : at + size]
        at += -(-size // _ALIGNMENT) * _ALIGNMENT
    return objects, n_bytes
