"""Arrays in a Zarr folder, formats 2 and 3.

The metadata are read here, before the library opens an array: only arrays of numbers, compressed by
well-known codecs, are opened. Others could unpickle what the folder holds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path
from stat import S_ISREG
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from enhg._files import NotRegularError, file_size, open_regular, read_regular
from enhg._optional import require
from enhg.exceptions import InputError
from enhg.io._base import kept_dtype, row_blocks
from enhg.io._entry import Entries, Entry
from enhg.io._inflation import HEADED, HEADER_BYTES, MARGIN, MOST_UNCHECKED, inflates_to

ZARR_SUFFIX = ".zarr"

_ARRAY, _GROUP = ".zarray", ".zgroup"  # the metadata of format 2
_NODE = "zarr.json"  # those of format 3
_METADATA = (_ARRAY, _GROUP, _NODE, ".zattrs", ".zmetadata")
_VERSIONS = {_NODE: 3, _ARRAY: 2, _GROUP: 2}  # in the order in which they are looked for
# Metadata of an array that the library reads, by format. What else there is says nothing.
_KEYS = {
    2: ("zarr_format", "shape", "dtype", "chunks", "filters", "compressor"),
    3: ("zarr_format", "shape", "data_type", "chunk_grid", "codecs"),
}
# Types of text of format 3: NumPy's letter, and bytes of a character.
_TEXTS = {"fixed_length_utf32": ("U", 4), "null_terminated_bytes": ("S", 1)}
_MAX_DEPTH = 8  # of groups in groups
_SHARDS = "sharding_indexed"
_INDEX_BYTES, _CRC_BYTES = 16, 4  # of a chunk in the index of a shard, and of its checksum
_NO_CHUNK = 2**64 - 1  # start of one that is not stored

# Codecs whose decoding yields numbers and nothing else; those of format 3 may have a prefix.
_CODECS = frozenset(
    {
        *("blosc", "zstd", "gzip", "zlib", "bz2", "lzma", "lz4", "snappy", "shuffle", "delta"),
        *("bytes", "endian", "transpose", "crc32c", "crc32", "adler32", "fletcher32"),
        *(_SHARDS, "packbits", "bitround", "quantize", "fixedscaleoffset", "astype"),
    }
)
_PREFIX = "numcodecs."
_COMPRESSORS = ("blosc", "zstd", "gzip", "zlib", "bz2", "lzma", "lz4", "snappy")
_CHECKSUMS = ("crc32c", "crc32", "adler32", "fletcher32")
_MOST_WIDENED = 8  # times that a codec can make a value larger that is none of the compressors


def zarr_entries(path: Path) -> Entries:
    """Arrays of a Zarr folder by name; "" for a folder that is an array itself."""
    zarr = require("zarr", "large")
    if not path.is_dir():
        raise InputError(f"{path}: must be a Zarr array or group, a folder, got a file")
    entries: Entries = {}
    if not _collect(zarr, path, "", entries):
        raise InputError(
            f"{path}: must be a Zarr array or group, got a folder without {_NODE}, {_ARRAY} or "
            f"{_GROUP}"
        )
    return entries


def _collect(zarr: Any, folder: Path, name: str, entries: Entries) -> bool:
    """Add the arrays of a group, or the one array; False where there is neither."""
    metadata = _metadata(folder)
    if metadata is None or name.count("/") >= _MAX_DEPTH:
        return False
    if "shape" in metadata:
        entries[name] = _entry(zarr, folder, metadata)
        return True
    for inner in sorted(folder.iterdir()):
        # Not links, by which a group could be in itself.
        if inner.is_dir() and not inner.is_symlink() and not inner.name.startswith("."):
            _collect(zarr, inner, f"{name}/{inner.name}".lstrip("/"), entries)
    return True


def _metadata(folder: Path) -> dict[str, Any] | None:
    """Metadata of an array or group; None for a folder that is neither."""
    for name, version in _VERSIONS.items():
        if (folder / name).is_file():
            metadata = json.loads(read_regular(folder / name))
            if not isinstance(metadata, dict) or metadata.get("zarr_format") != version:
                raise ValueError(f"{name} is no table of names and values of format {version}")
            return {key: metadata[key] for key in _KEYS[version] if key in metadata}
    return None


def _entry(zarr: Any, folder: Path, metadata: dict[str, Any]) -> Entry:
    shape = tuple(int(length) for length in metadata["shape"])
    given = metadata.get("data_type", metadata.get("dtype"))
    dtype = _dtype(given)
    if min(shape, default=0) < 0:
        raise ValueError(f"{folder.name} of shape {shape}")
    version = int(metadata["zarr_format"])
    chunk_bytes = dtype.itemsize * prod(_chunk_shape(metadata))
    read = partial(_load, zarr, folder, version, dtype, metadata)
    # Of samples, the type that they are read as.
    itemsize = (kept_dtype(dtype) if len(shape) > 1 and dtype.kind in "buif" else dtype).itemsize
    stored = sum(os.stat(file).st_size for file in _files(folder))
    name = str(given.get("name") if isinstance(given, dict) else given)
    return Entry(shape, dtype.kind, name, read, itemsize, stored, chunk_bytes)


def _dtype(given: Any) -> np.dtype:
    """The type of values; object for what is neither numbers nor text of a fixed length."""
    try:
        if isinstance(given, dict):
            letter, size = _TEXTS[given["name"]]
            return np.dtype(f"{letter}{int(given['configuration']['length_bytes']) // size}")
        return np.dtype(given) if isinstance(given, str) else np.dtype(object)
    except (KeyError, TypeError, ValueError, OverflowError):  # a type that NumPy has no name for
        return np.dtype(object)


def _chunk_shape(metadata: dict[str, Any]) -> tuple[int, ...]:
    """Shape of the parts that are decoded as a whole."""
    if metadata["zarr_format"] == 2:
        given = metadata["chunks"]
    else:
        given = metadata["chunk_grid"]["configuration"]["chunk_shape"]
    shape = tuple(int(length) for length in given)
    if min(shape, default=1) < 1:
        raise ValueError(f"chunks of shape {shape}")
    return shape


def _files(folder: Path) -> Iterator[str]:
    """Files of an array; the library would wait for a FIFO among them, and follow links."""
    for parent, folders, names in os.walk(folder):
        if links := [name for name in folders if os.path.islink(os.path.join(parent, name))]:
            raise ValueError(f"{links[0]} is a link to a folder, which is never followed")
        for name in names:
            mode = os.stat(os.path.join(parent, name)).st_mode
            if not S_ISREG(mode):
                raise NotRegularError(mode)
            yield os.path.join(parent, name)


def _codecs(metadata: dict[str, Any]) -> list[str]:
    """Names of all codecs in the order of encoding, those inside others after these."""
    if metadata["zarr_format"] == 3:
        return _inner_codecs(metadata)
    codecs = [*(metadata.get("filters") or ()), metadata.get("compressor")]
    return [str(codec["id"]) for codec in codecs if codec is not None]


def _inner_codecs(configuration: dict[str, Any]) -> list[str]:
    """Names of the codecs of an array of format 3, or of a codec that has others inside."""
    names = []
    for part in ("codecs", "index_codecs"):
        for codec in configuration.get(part) or ():
            given: dict[str, Any] = {"name": codec} if isinstance(codec, str) else codec
            names.append(str(given["name"]).removeprefix(_PREFIX))
            names += _inner_codecs(given.get("configuration") or {})
    return names


def _check_chunks(folder: Path, metadata: dict[str, Any], itemsize: int) -> None:
    """Require chunks that become no more than a chunk: the library decodes them to any size."""
    codecs = _codecs(metadata)
    places = [place for place, codec in enumerate(codecs) if codec in _COMPRESSORS]
    if not places:
        return
    # The codecs of the index of shards follow those of their chunks.
    after = [] if _SHARDS in codecs else codecs[places[0] + 1 :]
    if len(places) > 1 or not set(after) <= {*_CHECKSUMS}:
        raise InputError(
            f"{folder}: values must be compressed at most once, and not changed afterwards, got "
            f"the codecs {', '.join(codecs)}"
        )
    codec, shape = codecs[places[0]], _chunk_shape(metadata)
    shards = _shards(metadata, shape) if _SHARDS in codecs else None
    most = _MOST_WIDENED * itemsize * prod(shards.chunk_shape if shards else shape) + MARGIN
    for file in _files(folder):
        size = os.path.getsize(file)
        is_small = codec in ("zlib", "gzip") and size <= MOST_UNCHECKED and shards is None
        if is_small or os.path.basename(file) in _METADATA:
            continue
        if size > most * (shards.n_chunks if shards else 1):
            raise ValueError("a chunk that is larger than it should be")
        with open_regular(file) as stream:
            for start, length in shards.chunks(stream) if shards else ((0, size),):
                stream.seek(start)
                data = stream.read(min(length, HEADER_BYTES if codec in HEADED else most))
                fits = length <= most and inflates_to(data, most, codec, length)
                if not fits and len(data) < length <= most:
                    fits = inflates_to(data + stream.read(length - len(data)), most, codec)
                if not fits:
                    raise ValueError("a chunk that is larger than it should be")


@dataclass(frozen=True)
class _Shards:
    """Files that hold many chunks, and an index of them at their start or end."""

    chunk_shape: tuple[int, ...]
    n_chunks: int
    index_bytes: int
    at_end: bool

    def chunks(self, stream: IO[bytes]) -> list[tuple[int, int]]:
        """Start and length of the chunks of a file, which may leave some out."""
        end = file_size(stream)
        stream.seek(max(0, end - self.index_bytes) if self.at_end else 0)
        index = stream.read(self.index_bytes)
        if len(index) < self.index_bytes:
            raise ValueError("a shard that is cut off")
        places = np.frombuffer(index, "<u8", 2 * self.n_chunks).reshape(-1, 2).tolist()
        stored = [(start, length) for start, length in places if start != _NO_CHUNK]
        if any(start + length > end for start, length in stored):
            raise ValueError("a shard that is cut off")
        return stored


def _shards(metadata: dict[str, Any], shape: tuple[int, ...]) -> _Shards:
    """How shards of a shape are divided; only one kind of index, that of all writers, is read."""
    outer = metadata["codecs"]
    if [codec["name"] for codec in outer] != [_SHARDS] or _codecs(metadata).count(_SHARDS) > 1:
        raise ValueError("shards in shards, or with a codec beside them")
    given = outer[0]["configuration"]
    index = [codec["name"] for codec in given["index_codecs"]]
    order = (given["index_codecs"][0].get("configuration") or {}).get("endian", "little")
    if index not in (["bytes"], ["bytes", "crc32c"]) or order != "little":
        raise ValueError("shards whose index is not of little-endian numbers, as they are")
    inner = tuple(int(length) for length in given["chunk_shape"])
    if len(inner) != len(shape) or min(inner, default=1) < 1:
        raise ValueError(f"chunks of shape {inner} in shards of shape {shape}")
    n_chunks = prod(length // part for length, part in zip(shape, inner, strict=True))
    index_bytes = _INDEX_BYTES * n_chunks + _CRC_BYTES * (len(index) - 1)
    return _Shards(inner, n_chunks, index_bytes, given.get("index_location", "end") == "end")


def _load(
    zarr: Any, folder: Path, version: int, dtype: np.dtype, metadata: dict[str, Any]
) -> NDArray[Any]:
    """Read whole chunks, some rows at a time, into one array of the type that samples have."""
    if unsafe := set(_codecs(metadata)) - _CODECS:
        raise InputError(
            f"{folder}: codecs must be known to hold only numbers, got {', '.join(sorted(unsafe))}"
        )
    if dtype.kind not in "buifUS":
        raise InputError(f"{folder}: must hold numbers or text, got {dtype}, which is never loaded")
    _check_chunks(folder, metadata, dtype.itemsize)
    stored = zarr.open_array(store=str(folder), mode="r", zarr_format=version)
    if stored.dtype != dtype:
        raise ValueError(f"values of type {stored.dtype} in place of {dtype}")
    if stored.ndim == 0:
        return np.asarray(stored[()])
    is_vector = stored.ndim == 1  # labels keep their type
    array = np.empty(stored.shape, stored.dtype if is_vector else kept_dtype(dtype))
    per_row = dtype.itemsize * prod(stored.shape[1:])
    chunk = (getattr(stored, "shards", None) or stored.chunks)[0]
    for rows in row_blocks(len(array), per_row, max(1, chunk)):
        array[rows] = stored[rows]
    return array
