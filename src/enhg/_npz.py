"""States of objects in ``.npz`` archives: arrays and JSON, nothing compressed, nothing executed.

A state is a dictionary with string keys, whose values are JSON values, NumPy arrays, sparse arrays
or states. `require`, `require_array` and the functions beside them check a state that was read.
"""

from __future__ import annotations

import json
import os
import sys
import zipfile
from collections.abc import Iterable, Iterator
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg._atomic import atomic_file
from enhg._files import file_size, require_path
from enhg._sparse import check_indices
from enhg.exceptions import InputError

State = dict[str, Any]


class OtherKindError(InputError):
    """An archive of another kind than the one to read."""


# Members of an archive beside the arrays of its state, which are named by their path in it.
_RESERVED = ("format", "version", "header")
_SPARSE_PARTS = ("data", "indices", "indptr", "shape")
# Parameters of the machine or of one run, which a state leaves out.
_NOT_SAVED = ("structure", "random_state", "verbose", "n_jobs", "memory_budget", "checkpoint")


def write_archive(
    path: str | os.PathLike[str],
    kind: str,
    version: int,
    state: State,
    *,
    overwrite: bool,
    flush: bool = True,
) -> None:
    """Write a state to a file: the whole file or, on failure, nothing.

    Parameters
    ----------
    path : str or path
        Used as given; no suffix is added.
    kind : str
        The mark by which `read_archive` recognizes the file.
    version : int
        Version of the format of this kind.
    state : State
    overwrite : bool
        Replace an existing file; otherwise FileExistsError is raised.
    flush : bool, default=True
        Wait until the file is on the disk, so that a crash of the machine cannot damage it.
    """
    require_path(path)
    target = Path(path)
    if target.exists() and not overwrite:
        raise FileExistsError(f"{target} already exists; pass overwrite=True to replace it")
    arrays: dict[str, NDArray] = {}
    sparse_names: list[str] = []
    values = _flattened(state, "", arrays, sparse_names)
    header = json.dumps({"values": values, "sparse": sparse_names}, allow_nan=False)
    members: dict[str, Any] = {"format": kind, "version": version, "header": header, **arrays}
    with atomic_file(target) as part, open(part, "wb") as stream:
        write_arrays(stream, members)
        if flush:
            stream.flush()
            os.fsync(stream.fileno())


def write_arrays(stream: IO[bytes], members: dict[str, Any]) -> None:
    """Write an ``.npz`` file, as `numpy.savez` does; that of NumPy 1 leaves it open on a full disk.

    Parameters
    ----------
    stream : binary file
    members : dict of str to array-like
    """
    with zipfile.ZipFile(stream, "w") as archive:
        for name, values in members.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(values), allow_pickle=False)


def _flattened(
    state: State, prefix: str, arrays: dict[str, NDArray], sparse_names: list[str]
) -> State:
    """Return the JSON values of a state, nested as it is; collect its arrays by their paths."""
    values: State = {}
    for key, value in state.items():
        name = prefix + key
        if "." in key or name in _RESERVED:
            raise ValueError(f"a key of a state must be a plain, unreserved name, got {name!r}")
        if isinstance(value, dict):
            values[key] = _flattened(value, f"{name}.", arrays, sparse_names)
        elif isinstance(value, np.ndarray):
            arrays[name] = _without_objects(value, name)
        elif sparse.issparse(value):
            sparse_names.append(name)
            arrays |= _sparse_parts(sparse.csr_array(value), name)
        else:
            values[key] = json_value(name, value)
    return values


def _without_objects(array: NDArray, name: str) -> NDArray:
    if array.dtype.hasobject:
        raise InputError(f"{name} must hold numbers or text to be saved, got dtype {array.dtype}")
    return array


def _sparse_parts(matrix: sparse.csr_array, name: str) -> dict[str, NDArray]:
    parts = (matrix.data, matrix.indices, matrix.indptr, np.array(matrix.shape))
    return {f"{name}.{part}": array for part, array in zip(_SPARSE_PARTS, parts, strict=True)}


def json_value(name: str, value: object) -> Any:
    """Return a number, string, boolean, None or list of these as JSON has it, or raise."""
    if isinstance(value, list | tuple):
        return [json_value(name, item) for item in value]
    plain = value.item() if isinstance(value, np.generic) else value
    if not isinstance(plain, int | float | str | bool | None):
        raise InputError(f"{name} must be a number or a word to be saved, got {value!r}")
    return plain


def read_archive(stream: IO[bytes], kind: str, version: int) -> State:
    """Return the state in a file of `write_archive`; raise an error with the reason otherwise."""
    # NumPy reads as far as an array's header says, which can be short of the checksum.
    with zipfile.ZipFile(stream) as members:
        # `write_archive` does not compress: a compressed member can be of any size in memory.
        check_members(members, file_size(stream), (zipfile.ZIP_STORED,))
        damaged = members.testzip()
        if damaged is not None:
            raise InputError(f"got a damaged {damaged}")
        _check_arrays(members, file_size(stream))
    stream.seek(0)
    with np.load(stream, allow_pickle=False) as archive:
        _check_mark(archive, kind, version)
        header = json.loads(str(archive["header"]), parse_constant=_refuse_constant)
        arrays = {name: archive[name] for name in archive.files if name not in _RESERVED}
    for array in arrays.values():
        check_text(array)
    return _nested(header, arrays)


def check_members(archive: zipfile.ZipFile, length: int, methods: tuple[int, ...]) -> None:
    """Require members compressed by these methods that do not share bytes of the file.

    Members that overlap can be of any size together, as those of a method that NumPy does not
    write can be alone.

    Parameters
    ----------
    archive : ZipFile
    length : int
        Bytes of the file.
    methods : tuple of int
        Numbers of the methods in ZIP files.
    """
    members = archive.infolist()
    if any(member.compress_type not in methods for member in members):
        stored = methods == (zipfile.ZIP_STORED,)
        raise InputError(
            "got a compressed archive"
            if stored
            else "got an archive compressed by another method than deflate"
        )
    if sum(member.compress_size for member in members) > length:
        raise InputError("got an archive whose members overlap")


def _check_arrays(archive: zipfile.ZipFile, length: int) -> None:
    """Require members that are arrays of plain values, as large as they say."""
    for member in archive.infolist():
        with archive.open(member) as stream:
            version = np.lib.format.read_magic(stream)
            require(version == (1, 0), f"member {member.filename}")
            shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
            size = member.file_size - stream.tell()
        if dtype.hasobject:
            raise InputError(f"{member.filename} holds objects, which are never loaded")
        plain = dtype.kind in "buifU" and dtype.itemsize > 0 and min(shape, default=0) >= 0
        plain = plain and (dtype.kind != "f" or dtype.itemsize in (4, 8))
        # An array without values could have any number of rows, for which others are made.
        plain = plain and max(shape, default=0) <= length
        fits = member.file_size == member.compress_size and prod(shape) * dtype.itemsize == size
        require(plain and fits, f"member {member.filename}")


def _check_mark(archive: Any, kind: str, version: int) -> None:
    if "format" not in archive or str(archive["format"]) != kind:
        raise OtherKindError(f"got an archive without the mark {kind!r}")
    if archive["version"] != version:
        raise InputError(
            f"got format version {archive['version']} and this enhg reads version {version}: a "
            "newer enhg may have written it"
        )


def check_text(array: NDArray) -> None:
    """Require characters of Unicode in an array of text, which has 32 bits of a file for each."""
    if array.dtype.kind == "U" and array.size:
        order = array.dtype.str[0]  # "<" or ">"
        codes = np.ascontiguousarray(array).reshape(-1).view(f"{order}u4")
        if int(codes.max()) > sys.maxunicode:
            raise InputError("got text with characters that are none")


def _refuse_constant(constant: str) -> None:
    raise InputError(f"the header must hold finite numbers, got {constant}")


def _nested(header: Any, arrays: dict[str, NDArray]) -> State:
    """Undo `_flattened`: put every array where its path says."""
    require(isinstance(header, dict) and isinstance(header.get("values"), dict), "header")
    state: State = header["values"]
    for name in header.get("sparse", []):
        parts = [arrays.pop(part) for part in _part_names(name, arrays)]
        matrix = sparse.csr_array(tuple(parts[:3]), shape=tuple(parts[3].tolist()))
        check_indices(matrix)
        _put(state, name, matrix)
    for name, array in arrays.items():
        _put(state, name, array)
    return state


def _part_names(name: str, arrays: dict[str, NDArray]) -> Iterator[str]:
    for part in _SPARSE_PARTS:
        if f"{name}.{part}" not in arrays:
            raise InputError(f"{name}.{part} is missing")
        yield f"{name}.{part}"


def _put(state: State, path: str, value: Any) -> None:
    *parents, key = path.split(".")
    for parent in parents:
        state = require_state(state, parent)
    require(key not in state, path)
    state[key] = value


# --- checks of states that were read ------------------------------------------------------------


def require(fits: bool, name: str) -> None:
    """Raise InputError unless the entry `name` of a state fits the rest of it."""
    if not fits:
        raise InputError(f"its {name} does not fit the rest of it")


def require_value(state: State, name: str, kind: type | tuple[type, ...] = object) -> Any:
    """Return the entry `name` of a state, of a type of `kind`; booleans are no numbers."""
    if name not in state:
        raise InputError(f"{name} is missing")
    value = state[name]
    kinds = kind if isinstance(kind, tuple) else (kind,)
    allowed = isinstance(value, kinds)
    if isinstance(value, bool):
        allowed = bool in kinds or object in kinds
    require(allowed, name)
    return value


def require_state(state: State, name: str) -> State:
    """Return the state that is the entry `name` of another."""
    return require_value(state, name, dict)


def require_array(
    state: State,
    name: str,
    shape: tuple[int | None, ...],
    kinds: str = "buif",
    *,
    finite: bool = True,
) -> NDArray:
    """Return an array of a shape (None: any length) and of a kind of dtype, finite by default."""
    array: NDArray = require_value(state, name, np.ndarray)
    fits = array.ndim == len(shape) and array.dtype.kind in kinds
    fits = fits and all(b in (None, a) for a, b in zip(array.shape, shape, strict=True))
    require(fits, name)
    require(not finite or array.dtype.kind not in "fc" or bool(np.isfinite(array).all()), name)
    return array


def require_indices(state: State, name: str, count: int) -> NDArray:
    """Return a one-dimensional array of integers from 0 to `count` − 1."""
    indices = require_array(state, name, (None,), "iu")
    require(not indices.size or 0 <= indices.min() <= indices.max() < count, name)
    return indices


def require_scores(state: State, name: str, count: int) -> NDArray:
    """Return an array of `count` numbers from 0 to 1."""
    scores = require_array(state, name, (count,), "f")
    require(bool(((scores >= 0) & (scores <= 1)).all()), name)
    return scores


def require_sparse(state: State, name: str, shape: tuple[int | None, ...]) -> sparse.csr_array:
    """Return a sparse array of finite real numbers of a shape (None: any length)."""
    matrix = require_value(state, name, sparse.csr_array)
    fits = matrix.dtype.kind in "buif" and len(matrix.shape) == len(shape)
    fits = fits and all(b in (None, a) for a, b in zip(matrix.shape, shape, strict=True))
    require(fits and bool(np.isfinite(matrix.data).all()), name)
    return matrix


def saved_parameters(estimator: Any) -> State:
    """Return the constructor parameters of an estimator that a state keeps: numbers and words.

    Nested estimators, `random_state` and parameters of the machine (`n_jobs`, `memory_budget`,
    `verbose`) are left out.
    """
    return {
        name: json_value(name, value)
        for name, value in estimator.get_params(deep=False).items()
        if name not in _NOT_SAVED
    }


def require_parameters(state: State, allowed: Iterable[str]) -> State:
    """Return the entry "parameters" of a state, with constructor parameters among `allowed`."""
    parameters = require_state(state, "parameters")
    unknown = set(parameters) - (set(allowed) - set(_NOT_SAVED))
    require(not unknown, f"parameter {min(unknown, default='')}")
    return parameters
