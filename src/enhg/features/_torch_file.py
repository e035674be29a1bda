"""Tensors in files of torch's older format, read without torch.

Such a file is five pickles (a number that marks the format, its version, sizes of the machine that
wrote it, the tensors by name, and the keys of the storages in order), followed by the storages: the
number of elements as int64, then the elements. The pickles are never loaded: `pickletools` takes
them apart, and the few opcodes that a dictionary of tensors consists of are followed here with
plain values. Any other opcode or name is an error.
"""

from __future__ import annotations

import io
import pickletools
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from enhg.exceptions import InputError
from enhg.io._base import readable

_MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001
_STORAGES = {
    "torch FloatStorage": "<f4",
    "torch DoubleStorage": "<f8",
    "torch HalfStorage": "<f2",
    "torch LongStorage": "<i8",
    "torch IntStorage": "<i4",
    "torch ShortStorage": "<i2",
    "torch CharStorage": "<i1",
    "torch ByteStorage": "<u1",
    "torch BoolStorage": "?",
}
_TENSOR = "torch._utils _rebuild_tensor_v2"
_DICTIONARY = "collections OrderedDict"
_NAMES = {*_STORAGES, _TENSOR, _DICTIONARY}


@dataclass(frozen=True)
class _Name:
    """A name that a pickle imports; one of `_NAMES`."""

    name: str


@dataclass(frozen=True)
class _Storage:
    """Reference to a storage by its key."""

    dtype: np.dtype
    key: str
    count: int


@dataclass(frozen=True)
class _Tensor:
    """View of a storage; offset and strides count elements."""

    storage: _Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


_MARK = object()


def read_tensors(data: bytes, path: Path) -> dict[str, NDArray[Any]]:
    """Return the tensors in the contents of a file by name, as read-only views of `data`.

    Parameters
    ----------
    data : bytes
        The contents of the file: a dictionary of tensors that ``torch.save`` wrote in the format
        before version 1.6.
    path : Path
        The file, for messages.

    Raises
    ------
    InputError
        If the file is damaged or holds anything but tensors by name.
    """
    with readable(path):
        stream = io.BytesIO(data)
        if _read_object(stream) != _MAGIC or _read_object(stream) != _PROTOCOL:
            raise InputError(f"{path}: not a file of torch's older format")
        machine = _read_object(stream)
        _check(isinstance(machine, dict) and machine.get("little_endian") is True, "byte order")
        tensors = _read_object(stream)
        keys = _read_object(stream)
        _check(isinstance(tensors, dict), "dictionary of tensors")
        _check(isinstance(keys, list) and _all_text(keys), "list of storages")
        parts = _storages(tensors, keys, memoryview(data)[stream.tell() :])
        return {name: _view(tensor, parts) for name, tensor in tensors.items()}


def _check(fits: bool, part: str) -> None:
    if not fits:
        raise ValueError(f"its {part} cannot be used")


def _storages(
    tensors: dict[str, Any], keys: list[str], data: memoryview
) -> dict[str, tuple[_Storage, memoryview]]:
    """The bytes of every storage by its key."""
    _check(all(isinstance(tensor, _Tensor) for tensor in tensors.values()), "tensors")
    storages = {tensor.storage.key: tensor.storage for tensor in tensors.values()}
    _check(len(set(keys)) == len(keys) and set(keys) == set(storages), "list of storages")
    parts = {}
    for key in keys:
        storage = storages[key]
        count = int.from_bytes(data[:8], "little", signed=True)
        end = 8 + count * storage.dtype.itemsize
        _check(count == storage.count and 8 <= end <= len(data), f"storage {key}")
        parts[key] = storage, data[8:end]
        data = data[end:]
    _check(not data, "length")
    return parts


def _view(tensor: _Tensor, parts: dict[str, tuple[_Storage, memoryview]]) -> NDArray[Any]:
    storage, part = parts[tensor.storage.key]
    _check(tensor.storage == storage, f"storage {storage.key}")
    _check(len(tensor.strides) == len(tensor.shape), "strides")
    _check(min((tensor.offset, *tensor.shape, *tensor.strides)) >= 0, "shapes")
    # With strides of 0 a tensor of any size would fit a storage.
    _check(prod(tensor.shape) <= storage.count, "shapes")
    size = storage.dtype.itemsize
    strides = tuple(size * stride for stride in tensor.strides)
    # NumPy checks that the view stays inside the buffer.
    view: NDArray[Any] = np.ndarray(
        tensor.shape, storage.dtype, part, offset=size * tensor.offset, strides=strides
    )
    return view


# --- pickles, without loading them ---------------------------------------------------------------


def _read_object(stream: io.BytesIO) -> Any:
    """Follow one pickle up to its end; the result is made of plain values, names and tensors."""
    stack: list[Any] = []
    memo: dict[int, Any] = {}
    argument: Any
    for opcode, argument, _ in pickletools.genops(stream):
        name = opcode.name
        if name in _CONSTANTS:
            stack.append(_CONSTANTS[name]())
        elif name in _WITH_VALUE:
            stack.append(argument)
        elif name == "GLOBAL":
            _check(argument in _NAMES, f"name {argument!r}, which is not of a tensor,")
            stack.append(_Name(argument))
        elif name in {"BINPUT", "LONG_BINPUT"}:
            memo[argument] = stack[-1]
        elif name in {"BINGET", "LONG_BINGET"}:
            stack.append(memo[argument])
        elif name in _ACTIONS:
            _ACTIONS[name](stack)
        else:
            _check(name in {"PROTO", "STOP"}, f"opcode {name}, which is not of a tensor,")
    (value,) = stack
    return value


def _since_mark(stack: list[Any]) -> list[Any]:
    values: list[Any] = []
    while (value := stack.pop()) is not _MARK:
        values.append(value)
    return values[::-1]


def _make_tuple(stack: list[Any]) -> None:
    stack.append(tuple(_since_mark(stack)))


def _make_tuple_of(count: int) -> Callable[[list[Any]], None]:
    def make(stack: list[Any]) -> None:
        values = tuple(stack.pop() for _ in range(count))
        stack.append(values[::-1])

    return make


def _set_items(stack: list[Any]) -> None:
    values = _since_mark(stack)
    _check(isinstance(stack[-1], dict) and _all_text(values[::2]), "dictionary")
    stack[-1].update(zip(values[::2], values[1::2], strict=True))


def _set_item(stack: list[Any]) -> None:
    value, key = stack.pop(), stack.pop()
    _check(isinstance(stack[-1], dict) and _all_text([key]), "dictionary")
    stack[-1][key] = value


def _all_text(values: list[Any]) -> bool:
    return all(type(value) is str for value in values)


def _append_items(stack: list[Any]) -> None:
    values = _since_mark(stack)
    _check(isinstance(stack[-1], list), "list")
    stack[-1].extend(values)


def _reference_storage(stack: list[Any]) -> None:
    kind, storage, key, _, count, view = stack.pop()
    fits = kind == "storage" and isinstance(storage, _Name) and storage.name in _STORAGES
    _check(fits and isinstance(key, str) and type(count) is int and view is None, "storages")
    stack.append(_Storage(np.dtype(_STORAGES[storage.name]), key, count))


def _call(stack: list[Any]) -> None:
    """What REDUCE stands for: a tensor or an empty dictionary."""
    arguments, function = stack.pop(), stack.pop()
    _check(isinstance(function, _Name), "call")
    if function.name == _DICTIONARY:
        _check(arguments == (), "dictionary")
        stack.append({})
        return
    _check(function.name == _TENSOR, "call")
    storage, offset, shape, strides, *_ = arguments
    _check(isinstance(storage, _Storage) and type(offset) is int, "tensors")
    _check(all(type(value) is int for value in (*shape, *strides)), "shapes")
    stack.append(_Tensor(storage, offset, tuple(shape), tuple(strides)))


_CONSTANTS: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
    "MARK": lambda: _MARK,
}
_WITH_VALUE = {"BININT", "BININT1", "BININT2", "LONG1", "BINUNICODE"}
_ACTIONS: dict[str, Callable[[list[Any]], object]] = {
    "TUPLE": _make_tuple,
    "TUPLE1": _make_tuple_of(1),
    "TUPLE2": _make_tuple_of(2),
    "TUPLE3": _make_tuple_of(3),
    "SETITEM": _set_item,
    "SETITEMS": _set_items,
    "APPENDS": _append_items,
    "BINPERSID": _reference_storage,
    "REDUCE": _call,
    "BUILD": lambda stack: stack.pop(),  # attributes of the dictionary, which hold no tensors
}
