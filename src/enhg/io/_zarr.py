"""Arrays in a Zarr folder, formats 2 and 3.

The metadata are read here, before the library opens an array: only arrays of numbers, compressed by
well-known codecs, are opened. Others could unpickle what the folder holds.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from enhg._optional import require
from enhg.exceptions import InputError
from enhg.io._base import kept_dtype, row_blocks
from enhg.io._entry import Entries, Entry

ZARR_SUFFIX = ".zarr"

_ARRAY, _GROUP = ".zarray", ".zgroup"  # the metadata of format 2
_NODE = "zarr.json"  # those of format 3
_MAX_DEPTH = 8  # of groups in groups

# Codecs whose decoding yields numbers and nothing else; those of format 3 may have a prefix.
_CODECS = frozenset(
    {
        *("blosc", "zstd", "gzip", "zlib", "bz2", "lzma", "lz4", "snappy", "shuffle", "delta"),
        *("bytes", "endian", "transpose", "crc32c", "crc32", "adler32", "fletcher32"),
        *("sharding_indexed", "packbits", "bitround", "quantize", "fixedscaleoffset", "astype"),
    }
)
_PREFIX = "numcodecs."


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
        if inner.is_dir() and not inner.name.startswith("."):
            _collect(zarr, inner, f"{name}/{inner.name}".lstrip("/"), entries)
    return True


def _metadata(folder: Path) -> dict[str, Any] | None:
    """Metadata of an array or group; None for a folder that is neither."""
    for file in (folder / _NODE, folder / _ARRAY, folder / _GROUP):
        if file.is_file():
            metadata = json.loads(file.read_bytes())
            if not isinstance(metadata, dict):
                raise ValueError(f"{file.name} is no table of names and values")
            return metadata
    return None


def _entry(zarr: Any, folder: Path, metadata: dict[str, Any]) -> Entry:
    shape = tuple(int(length) for length in metadata["shape"])
    given = metadata.get("data_type", metadata.get("dtype"))
    try:
        dtype = np.dtype(given) if isinstance(given, str) else np.dtype(object)
    except TypeError:  # a type that NumPy has no name for
        dtype = np.dtype(object)
    version = int(metadata["zarr_format"])
    load = partial(_load, zarr, folder, version, dtype, _codecs(metadata))
    return Entry(shape, dtype.kind, str(given), load)


def _codecs(metadata: Any) -> set[str]:
    """Names of all codecs, also of those inside others."""
    names = set()
    codecs = [metadata.get("compressor"), *(metadata.get("filters") or ())]
    for part in ("codecs", "index_codecs"):
        codecs += metadata.get(part) or ()
    for codec in codecs:
        if isinstance(codec, str):
            names.add(codec.removeprefix(_PREFIX))
        elif codec is not None:
            name = str(codec.get("id", codec.get("name")))
            names.add(name.removeprefix(_PREFIX))
            names |= _codecs(codec.get("configuration") or {})
    return names


def _load(zarr: Any, folder: Path, version: int, dtype: np.dtype, codecs: set[str]) -> NDArray[Any]:
    """Read whole chunks, some rows at a time, into one array of the type that samples have."""
    if unsafe := codecs - _CODECS:
        raise InputError(
            f"{folder}: codecs must be known to hold only numbers, got {', '.join(sorted(unsafe))}"
        )
    if dtype.kind not in "buifU":
        raise InputError(f"{folder}: must hold numbers or text, got {dtype}, which is never loaded")
    stored = zarr.open_array(store=str(folder), mode="r", zarr_format=version)
    if stored.dtype != dtype:
        raise ValueError(f"values of type {stored.dtype} in place of {dtype}")
    if stored.ndim == 0:
        return np.asarray(stored[()])
    is_vector = stored.ndim == 1  # labels keep their type
    array = np.empty(stored.shape, stored.dtype if is_vector else kept_dtype(dtype))
    per_row = dtype.itemsize * int(np.prod(stored.shape[1:]))
    chunk = (getattr(stored, "shards", None) or stored.chunks)[0]
    for rows in row_blocks(len(array), per_row, max(1, chunk)):
        array[rows] = stored[rows]
    return array
