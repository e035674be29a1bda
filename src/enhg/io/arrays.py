"""Samples from array files: .npy, .npz, .mat (v4 to v7.3), .h5, .hdf5 and .zarr."""

from __future__ import annotations

import json
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
from numpy.typing import NDArray

from enhg._files import file_size, open_regular
from enhg._npz import check_members
from enhg.exceptions import InputError
from enhg.io._base import (
    Samples,
    as_matrix,
    check_numeric,
    decoded,
    kept_dtype,
    label_values,
    no_samples,
    readable,
    row_blocks,
    shape_text,
)
from enhg.io._entry import Entries, Entry
from enhg.io._hdf5 import hdf5_entries, is_hdf5
from enhg.io._mat import mat_entries
from enhg.io._zarr import ZARR_SUFFIX, zarr_entries

ARRAY_SUFFIXES = (".npy", ".npz", ".mat", ".h5", ".hdf5", ZARR_SUFFIX)
DATA_NAMES = ("X", "x", "data", "fea", "features", "images", "embeddings", "embedding")
LABEL_NAMES = ("y", "Y", "labels", "Label", "label", "gnd", "target", "targets")

# Members of a file of SciPy's save_npz: these, and one of those.
_SPARSE_MATRIX = {"format.npy", "shape.npy", "data.npy"}
_SPARSE_INDICES = {"indices.npy", "row.npy", "offsets.npy"}


def read_arrays(path: Path, key: str | None) -> Samples:
    """Read the samples of an array file; see `enhg.io.read_samples`."""
    with open_entries(path) as entries:
        chosen = _choose(path, entries, key)
        parts = [_load(path, entries, name) for name in chosen]
        names, recipe = _beside(
            path, entries, sum(array.shape[0] for array, _ in parts if array.ndim)
        )
    arrays = [array for array, _ in parts]
    if len({array.shape[1:] for array in arrays}) > 1:
        raise InputError(
            f"{path}: arrays must have one shape per sample to be joined, got {_listing(entries)}; "
            f"choose one with key, for example {chosen[0]!r}",
            parameter="key",
        )
    array = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
    with readable(path):
        X, image_shape = as_matrix(array, _where(path, chosen[0]))
    known = [labels for _, labels in parts if labels is not None]
    labels = np.concatenate(known) if len(known) == len(parts) else None
    return Samples(X, names, image_shape, labels, path, recipe=recipe)


def _beside(path: Path, entries: Entries, count: int) -> tuple[list[str], dict[str, Any] | None]:
    """Names of the samples, and the recipe of their features, as `enhg features` writes them."""
    names, recipe = [str(row) for row in range(count)], None
    with readable(path):
        entry = entries.get("names")
        if entry is not None and entry.kind in "US" and entry.shape == (count,):
            names = decoded(entry.load(_where(path, "names")).tolist())
        entry = entries.get("recipe")
        if entry is not None and entry.kind == "U" and entry.shape == ():
            recipe = json.loads(str(entry.load(_where(path, "recipe"))))
    return names, recipe if isinstance(recipe, dict) else None


def _choose(path: Path, entries: Entries, key: str | None) -> list[str]:
    """Names, in order, of the arrays that hold the samples."""
    if key is not None:
        if key.strip("/") in entries:
            return [key.strip("/")]
        if "" in entries:
            raise no_named_arrays(path, key)
        raise InputError(
            f"{path}: key must be one of {_listing(entries)}, got {key!r}", parameter="key"
        )
    if len(entries) == 1:
        return list(entries)
    groups: dict[str, Entries] = defaultdict(dict)
    for name, entry in entries.items():
        group, _, leaf = name.rpartition("/")
        groups[group][leaf] = entry
    picks = {group: pick for group, members in groups.items() if (pick := _pick(members))}
    if picks.get("") in DATA_NAMES:
        return [picks[""]]
    alike = {(leaf, *sorted(groups[group])) for group, leaf in picks.items()}
    if len(alike) == 1:
        ordered = sorted(picks, key=lambda group: (group.split("/")[-1] != "train", group))
        return [f"{group}/{picks[group]}".lstrip("/") for group in ordered]
    raise InputError(
        f"{path}: key must say which array holds the samples, one of {_listing(entries)}",
        parameter="key",
    )


def _where(path: Path, name: str) -> str:
    """File and array, for messages."""
    return f"{path}: array {name}" if name else f"{path}"


def no_named_arrays(path: Path, key: str) -> InputError:
    """Error for a key where there is nothing to choose from."""
    return InputError(
        f"{path}: key must be None where there are no named arrays, got {key!r}", parameter="key"
    )


def _pick(members: Entries) -> str | None:
    """Name of the array of a group that holds the samples: a known name, else the only table."""
    for leaf in DATA_NAMES:
        if leaf in members and len(members[leaf].shape) > 1:
            return leaf
    tables = [
        leaf
        for leaf, entry in members.items()
        if entry.kind in "buif" and not entry.is_vector and leaf not in LABEL_NAMES
    ]
    return tables[0] if len(tables) == 1 else None


def _load(path: Path, entries: Entries, name: str) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """One array with its samples along the first axis, and its labels.

    When the number of labels is the number of columns (last axis) and not that of rows, columns
    are samples, as in many MATLAB files: the last axis is then moved to the front.
    """
    entry, where = entries[name], _where(path, name)
    check_numeric(entry.kind, entry.dtype, where)
    if entry.size == 0:
        raise no_samples(where, entry.shape)
    label_entry, axis = _find_labels(path, entries, name)
    with readable(path):
        array = entry.load(where)
        labels = None
        if label_entry is not None:
            labels = label_values(label_entry.load(f"{where}: its labels"), f"{path}")
    return (np.moveaxis(array, axis, 0) if axis else array), labels


def _find_labels(path: Path, entries: Entries, name: str) -> tuple[Entry | None, int]:
    """The labels of an array's samples, and the axis of the array that holds the samples."""
    shape = entries[name].shape
    group = name.rpartition("/")[0]
    beside = [entries.get(f"{group}/{leaf}".lstrip("/")) for leaf in LABEL_NAMES]
    vectors = [e for e in beside if e is not None and e.is_vector and e.kind in "buifUS"]
    for axis in (0, -1) if len(shape) > 1 else ():
        for entry in vectors:
            # Text for the columns may be their names.
            if entry.size == shape[axis] and (axis == 0 or entry.kind in "buif"):
                return entry, axis
    if unused := {leaf: e for leaf, e in zip(LABEL_NAMES, beside, strict=True) if e is not None}:
        warnings.warn(
            f"{path}: not read as labels: {_listing(unused)}; labels must be one number or text "
            f"for each sample of {name}",
            stacklevel=2,
        )
    return None, 0


def _listing(entries: Entries) -> str:
    shown = [
        f"{name} ({shape_text(entry.shape)} {entry.dtype})" if entry.itemsize  # else never read
        else f"{name} ({entry.dtype})"
        for name, entry in list(entries.items())[:8]
    ]  # fmt: skip
    more = ["…"] if len(entries) > len(shown) else []
    return ", ".join(shown + more) or "no arrays"


@contextmanager
def open_entries(path: Path) -> Iterator[Entries]:
    """Arrays of a file by name; they can be loaded inside the block."""
    with ExitStack() as stack:
        with readable(path):
            if path.suffix.lower() == ZARR_SUFFIX:
                entries = zarr_entries(path)
            else:
                stream = stack.enter_context(open_regular(path))
                entries = _LISTERS[path.suffix.lower()](stream, stack)
        yield entries


def _npy_entries(stream: IO[bytes], stack: ExitStack) -> Entries:
    header = _npy_header(stream)
    is_mapped = _keeps_type(header) and not header.is_fortran  # others are copied
    itemsize = 0 if is_mapped else kept_dtype(header.dtype).itemsize
    return {"": _npy_entry(header, lambda: _map_npy(stream), itemsize, file_size(stream))}


def _npz_entries(stream: IO[bytes], stack: ExitStack) -> Entries:
    archive = stack.enter_context(ZipFile(stream))
    check_members(archive, file_size(stream), (ZIP_STORED, ZIP_DEFLATED))

    def entry(member: ZipInfo) -> Entry:
        def read() -> NDArray[Any]:
            with archive.open(member) as opened:
                return np.lib.format.read_array(opened, allow_pickle=False)

        with archive.open(member) as opened:
            header = _npy_header(opened)
        return _npy_entry(header, read, header.dtype.itemsize, member.compress_size)

    members = [member for member in archive.infolist() if member.filename.endswith(".npy")]
    parts = {member.filename for member in members}
    if parts >= _SPARSE_MATRIX and parts & _SPARSE_INDICES:
        raise InputError(
            f"{stream.name}: must hold arrays, got a sparse matrix of SciPy; save its toarray()"
        )
    return {member.filename.removesuffix(".npy"): entry(member) for member in members}


@dataclass(frozen=True)
class _Header:
    """What the header of an .npy file says."""

    shape: tuple[int, ...]
    is_fortran: bool
    dtype: np.dtype


def _npy_header(stream: IO[bytes]) -> _Header:
    """Read the header alone: an array that is not chosen is neither decoded nor checked."""
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, is_fortran, dtype = np.lib.format.read_array_header_2_0(stream)
    else:  # only records with names outside Latin-1 need a later version
        return _Header((), False, np.dtype([("record", "u1")]))
    if min(shape, default=0) < 0 or not dtype.itemsize:
        raise ValueError(f"values of type {dtype} in shape {shape}")
    return _Header(shape, is_fortran, dtype)


def _npy_entry(
    header: _Header, read: Callable[[], NDArray[Any]], itemsize: int, stored: int
) -> Entry:
    dtype = header.dtype
    kind = "O" if dtype.hasobject else dtype.kind
    return Entry(header.shape, kind, str(dtype), read, itemsize, stored)


def _keeps_type(header: _Header) -> bool:
    """Whether values stay what they are: labels, text and what samples have as their type."""
    dtype = header.dtype
    is_vector = prod(header.shape[1:]) == 1
    return is_vector or dtype.kind not in "buif" or dtype == kept_dtype(dtype)


def _map_npy(stream: IO[bytes]) -> NDArray[Any]:
    """The array of a file as a memory map, or converted block by block where its type changes."""
    stream.seek(0)
    header = _npy_header(stream)
    shape, dtype, offset = header.shape, header.dtype, stream.tell()
    if 0 in shape or not shape:  # nothing that could be mapped
        return np.fromfile(stream, dtype, 1 if not shape else 0).reshape(shape)
    if prod(shape) * dtype.itemsize > file_size(stream) - offset:  # NumPy's product may overflow
        raise ValueError("shorter than its header says")
    mapped = np.memmap(stream, dtype, "r", offset, shape, "F" if header.is_fortran else "C")
    if header.is_fortran or _keeps_type(header):
        return np.asarray(mapped)
    stream.seek(offset)
    per_row = prod(shape[1:])
    array = np.empty(shape, kept_dtype(dtype))  # not from the map: its pages would stay in memory
    for rows in row_blocks(shape[0], per_row * dtype.itemsize):
        values = np.fromfile(stream, dtype, (rows.stop - rows.start) * per_row)
        array[rows] = values.reshape(-1, *shape[1:])
    return array


def _mat_entries(stream: IO[bytes], stack: ExitStack) -> Entries:
    return hdf5_entries(stream, stack) if is_hdf5(stream) else mat_entries(stream)


_LISTERS: dict[str, Callable[[IO[bytes], ExitStack], Entries]] = {
    ".npy": _npy_entries,
    ".npz": _npz_entries,
    ".mat": _mat_entries,
    ".h5": hdf5_entries,
    ".hdf5": hdf5_entries,
}
