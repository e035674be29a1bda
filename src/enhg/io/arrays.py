"""Samples from array files: .npy, .npz, .mat (v4 to v7.3), .h5, .hdf5 and .zarr."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray

from enhg._optional import require
from enhg.exceptions import InputError
from enhg.io._base import (
    Samples,
    as_matrix,
    check_numeric,
    kept_dtype,
    readable,
    row_blocks,
    shape_text,
    tidy_labels,
)
from enhg.io._entry import Entries, Entry
from enhg.io._zarr import ZARR_SUFFIX, zarr_entries

ARRAY_SUFFIXES = (".npy", ".npz", ".mat", ".h5", ".hdf5", ZARR_SUFFIX)
DATA_NAMES = ("X", "x", "data", "fea", "features", "images", "embeddings", "embedding")
LABEL_NAMES = ("y", "Y", "labels", "Label", "label", "gnd", "target", "targets")

_HDF5_MARK = b"\x89HDF\r\n\x1a\n"
_HDF5_PLACES = (0, 512)  # MATLAB writes a text header of 512 bytes before the mark


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
    where = f"{path}: array {chosen[0]}" if chosen[0] else f"{path}"
    array = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
    X, image_shape = as_matrix(array, where)
    known = [labels for _, labels in parts if labels is not None]
    labels = np.concatenate(known) if len(known) == len(parts) else None
    return Samples(X, names, image_shape, labels, path, recipe=recipe)


def _beside(path: Path, entries: Entries, count: int) -> tuple[list[str], dict[str, Any] | None]:
    """Names of the samples, and the recipe of their features, as `enhg features` writes them."""
    names, recipe = [str(row) for row in range(count)], None
    with readable(path):
        entry = entries.get("names")
        if entry is not None and entry.kind == "U" and entry.shape == (count,):
            names = entry.load().tolist()
        entry = entries.get("recipe")
        if entry is not None and entry.kind == "U" and entry.shape == ():
            recipe = json.loads(str(entry.load()))
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
    entry = entries[name]
    check_numeric(entry.kind, entry.dtype, f"{path}: array {name}" if name else f"{path}")
    label_entry, axis = _find_labels(entries, name)
    with readable(path):
        array = entry.load()
        labels = None if label_entry is None else tidy_labels(label_entry.load())
    return (np.moveaxis(array, axis, 0) if axis else array), labels


def _find_labels(entries: Entries, name: str) -> tuple[Entry | None, int]:
    """The labels of an array's samples, and the axis of the array that holds the samples."""
    shape = entries[name].shape
    group = name.rpartition("/")[0]
    beside = [entries.get(f"{group}/{leaf}".lstrip("/")) for leaf in LABEL_NAMES]
    vectors = [e for e in beside if e is not None and e.is_vector and e.kind in "buifU"]
    for axis in (0, -1) if len(shape) > 1 else ():
        for entry in vectors:
            if entry.size == shape[axis]:
                return entry, axis
    return None, 0


def _listing(entries: Entries) -> str:
    shown = [f"{name} ({shape_text(e.shape)} {e.dtype})" for name, e in list(entries.items())[:8]]
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
                stream = stack.enter_context(path.open("rb"))
                entries = _LISTERS[path.suffix.lower()](stream, stack)
        yield entries


def _npy_entries(stream: IO[bytes], stack: ExitStack) -> Entries:
    return {"": _npy_entry(stream, lambda: _map_npy(stream))}


def _npz_entries(stream: IO[bytes], stack: ExitStack) -> Entries:
    archive = stack.enter_context(ZipFile(stream))

    def entry(member: str) -> Entry:
        def load() -> NDArray[Any]:
            with archive.open(member) as opened:
                return _read_npy(opened)

        with archive.open(member) as opened:
            return _npy_entry(opened, load)

    members = [member for member in archive.namelist() if member.endswith(".npy")]
    return {member.removesuffix(".npy"): entry(member) for member in members}


def _npy_entry(stream: IO[bytes], load: Callable[[], NDArray[Any]]) -> Entry:
    """Read the header alone: an array that is not chosen is neither decoded nor checked."""
    version = np.lib.format.read_magic(stream)
    if version == (1, 0):
        shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
    elif version == (2, 0):
        shape, _, dtype = np.lib.format.read_array_header_2_0(stream)
    else:  # only records with names outside Latin-1 need a later version
        return Entry((), "V", "record", load)
    return Entry(shape, "O" if dtype.hasobject else dtype.kind, str(dtype), load)


def _map_npy(stream: IO[bytes]) -> NDArray[Any]:
    """The array of a file as a memory map, or converted block by block where its type changes."""
    stream.seek(0)
    reader = np.lib.format.read_array_header_1_0
    if np.lib.format.read_magic(stream) != (1, 0):
        reader = np.lib.format.read_array_header_2_0
    shape, is_fortran, dtype = reader(stream)
    offset = stream.tell()
    if 0 in shape or not shape:  # nothing that could be mapped
        return np.fromfile(stream, dtype, 1 if not shape else 0).reshape(shape)
    mapped = np.memmap(stream, dtype, "r", offset, shape, "F" if is_fortran else "C")
    per_row = int(np.prod(shape[1:]))
    if is_fortran or per_row == 1 or dtype.kind not in "buif" or dtype == kept_dtype(dtype):
        return np.asarray(mapped)
    stream.seek(offset)
    array = np.empty(shape, kept_dtype(dtype))  # not from the map: its pages would stay in memory
    for rows in row_blocks(shape[0], per_row * dtype.itemsize):
        values = np.fromfile(stream, dtype, (rows.stop - rows.start) * per_row)
        array[rows] = values.reshape(-1, *shape[1:])
    return array


def _read_npy(stream: IO[bytes]) -> NDArray[Any]:
    return np.lib.format.read_array(stream, allow_pickle=False)


def _mat_entries(stream: IO[bytes], stack: ExitStack) -> Entries:
    from scipy.io import loadmat, whosmat

    if _is_hdf5(stream):
        return _hdf5_entries(stream, stack)

    def entry(name: str, shape: tuple[int, ...], dtype: str) -> Entry:
        plain = {"double", "single", "logical"}
        numeric = dtype in plain or dtype.startswith(("int", "uint"))
        kind = np.dtype({"logical": "bool"}.get(dtype, dtype)).kind if numeric else "O"
        return Entry(shape, kind, dtype, lambda: loadmat(stream, variable_names=[name])[name])

    return {name: entry(name, shape, dtype) for name, shape, dtype in whosmat(stream)}


def _is_hdf5(stream: IO[bytes]) -> bool:
    """Whether the file is HDF5 (MATLAB v7.3), without h5py, which older files do not need."""
    marks = []
    for place in _HDF5_PLACES:
        stream.seek(place)
        marks.append(stream.read(len(_HDF5_MARK)))
    stream.seek(0)
    return _HDF5_MARK in marks


def _hdf5_entries(stream: IO[bytes], stack: ExitStack) -> Entries:
    """Datasets of an HDF5 file; links to other files are not followed.

    MATLAB (v7.3) writes its arrays column by column, so their axes come out reversed.
    """
    h5py = require("h5py", "hdf5")
    file = stack.enter_context(h5py.File(stream.name, "r"))
    entries: Entries = {}

    def visit(name: str, item: Any) -> None:
        if not isinstance(item, h5py.Dataset) or name.startswith("#"):
            return
        shape = item.shape or ()
        matlab = item.attrs.get("MATLAB_class")
        if matlab is None:
            entries[name] = Entry(shape, item.dtype.kind, str(item.dtype), lambda: item[()])
        else:
            kind = "U" if matlab == b"char" else item.dtype.kind
            entries[name] = Entry(shape[::-1], kind, str(item.dtype), lambda: item[()].T)

    file.visititems(visit)
    return entries


_LISTERS: dict[str, Callable[[IO[bytes], ExitStack], Entries]] = {
    ".npy": _npy_entries,
    ".npz": _npz_entries,
    ".mat": _mat_entries,
    ".h5": _hdf5_entries,
    ".hdf5": _hdf5_entries,
}
