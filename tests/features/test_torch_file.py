"""The reader of torch's older files: tensors only, nothing executed, no surprise in memory."""

import io
import os
import pickle
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enhg import InputError
from enhg.features._torch_file import read_tensors

STORAGES = {
    "f4": b"FloatStorage",
    "f8": b"DoubleStorage",
    "i8": b"LongStorage",
    "u1": b"ByteStorage",
}
DICTIONARY = b"ccollections\nOrderedDict\n)R"


def value(plain):
    """Opcodes that push a number, a text or a tuple of numbers."""
    return pickle.dumps(plain, 2)[2:-1]


def pickled(opcodes):
    return b"\x80\x02" + opcodes + b"."


def tensor(array, key, *, count=None, offset=0, shape=None, strides=None, view=b"N"):
    """Opcodes that push a tensor, by default a whole contiguous array."""
    count = array.size if count is None else count
    shape = array.shape if shape is None else shape
    strides = tuple(s // array.itemsize for s in array.strides) if strides is None else strides
    storage = b"ctorch\n" + STORAGES[array.dtype.str[1:]] + b"\n"
    return (
        b"ctorch._utils\n_rebuild_tensor_v2\n(("
        + value("storage") + storage + value(key) + value("cpu") + value(count) + view + b"tQ"
        + value(offset) + value(shape) + value(strides) + b"\x89" + DICTIONARY + b"tR"
    )  # fmt: skip


def dictionary(entries):
    return DICTIONARY + b"(" + b"".join(value(k) + v for k, v in entries.items()) + b"u"


def storage_bytes(array, *, count=None):
    return struct.pack("<q", array.size if count is None else count) + array.tobytes()


def torch_file(contents, arrays, *, magic=0x1950A86A20F9469CFC6C, little_endian=b"\x88"):
    """A file: `contents` are the opcodes of the object, `arrays` the storages by key."""
    machine = b"}(" + value("little_endian") + little_endian + b"u"
    keys = b"](" + b"".join(value(key) for key in arrays) + b"e"
    head = [value(magic), value(1001), machine, contents, keys]
    return b"".join(map(pickled, head)) + b"".join(map(storage_bytes, arrays.values()))


def plain_file():
    """A file of three tensors, two of one storage, and what they hold."""
    weights = np.arange(24, dtype="f4")
    counts = np.array([7], dtype="i8")
    entries = {
        "a": tensor(weights, "k0", shape=(3, 4), strides=(4, 1)),
        "b": tensor(weights, "k0", offset=12, shape=(3, 4), strides=(1, 3)),
        "n": tensor(counts, "k1", shape=(), strides=()),
    }
    expected = {
        "a": weights[:12].reshape(3, 4),
        "b": weights[12:].reshape(4, 3).T,
        "n": np.array(7),
    }
    return torch_file(dictionary(entries), {"k0": weights, "k1": counts}), expected


WEIGHTS = np.arange(24, dtype="f4")


def read(data):
    return read_tensors(data, Path("weights.pth"))


def one_tensor(**changes):
    return torch_file(dictionary({"a": tensor(WEIGHTS, "k0", **changes)}), {"k0": WEIGHTS})


def test_tensors_with_shapes_strides_and_offsets():
    data, expected = plain_file()
    tensors = read(data)
    assert list(tensors) == list(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(tensors[name], array)
        assert tensors[name].dtype == array.dtype


def test_equals_what_torch_wrote():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    base = torch.arange(60, dtype=torch.float64).reshape(3, 4, 5)
    tensors = {
        "whole": base,
        "part": base[1:, :, 2],
        "turned": base.permute(2, 1, 0),
        "count": torch.tensor(3),
    }
    stream = io.BytesIO()
    torch.save(tensors, stream, _use_new_zipfile_serialization=False)
    result = read(stream.getvalue())
    for name, original in tensors.items():
        np.testing.assert_array_equal(result[name], original.numpy())


class Attack:
    """Its pickle runs a command when it is loaded."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.system, (f"touch {self.marker}",)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("place", ["magic", "object"])
def test_commands_are_not_run(tmp_path, protocol, place):
    marker = tmp_path / "marker"
    attack = pickle.dumps({"a": Attack(marker)}, protocol)
    if place == "object":
        head = [
            value(0x1950A86A20F9469CFC6C),
            value(1001),
            b"}(" + value("little_endian") + b"\x88u",
        ]
        attack = b"".join(map(pickled, head)) + attack
    with pytest.raises(InputError, match="not of a tensor"):
        read(attack)
    assert not marker.exists()


@pytest.mark.parametrize(
    "opcodes",
    [
        b"cbuiltins\neval\n(" + value("1/0") + b"tR",
        b"cos\nsystem\n(" + value("exit 1") + b"tR",
        b"(" + value("exit 1") + b"ios\nsystem\n",  # INST
        b"(cbuiltins\neval\n" + value("1/0") + b"o",  # OBJ
        b"ccollections\nOrderedDict\n)\x81",  # NEWOBJ
        b"ctorch\nFloatStorage\n)R",
        b"ccollections\nOrderedDict\n(" + value("a") + b"tR",
        b"ctorch.hub\nload\n(" + value("a") + b"tR",
        b"ctorch._utils\n_rebuild_tensor_v2.__globals__\n",
        b"\x82\x01",  # EXT1
        value("os") + value("system") + b"\x93",  # STACK_GLOBAL
        value("a") + b")R",
        b"](" + value(1) + b"e",
        dictionary({"a": value(1)}),
        b"}(" + b"K\x01" * 2 + b"u",
        b"K\x01" + b"\x85" * 100_000 + b"}q\x00h\x000K\x01s",
        b"}" + b")" + b"\x85" * 200_000 + b"K\x01s",  # a key whose hash would need a deep stack
        b"0" * 3,
        b"h\x05",
        b"r\xff\xff\xff\xff",
    ],
)
def test_anything_but_tensors_is_refused(opcodes):
    with pytest.raises(InputError, match=r"weights\.pth"):
        read(torch_file(opcodes, {}))


@pytest.mark.parametrize(
    "changes",
    [
        {"count": 25},
        {"count": 2**62},
        {"count": -1},
        {"shape": (25,), "strides": (1,)},
        {"shape": (24,), "strides": (2,)},
        {"shape": (24,), "strides": (-1,)},
        {"shape": (-24,), "strides": (1,)},
        {"shape": (2**40,), "strides": (0,)},
        {"shape": (2**40, 2**40, 2**40), "strides": (0, 0, 0)},
        {"shape": (24,), "strides": (1, 1)},
        {"shape": (24,), "strides": (2**70,)},
        {"shape": (1,) * 100, "strides": (1,) * 100},
        {"offset": 1},
        {"offset": -1},
        {"offset": 2**70},
        {"view": b")"},
    ],
)
def test_tensors_outside_their_storage_are_refused(changes):
    tracemalloc.start()
    with pytest.raises(InputError, match=r"weights\.pth"):
        read(one_tensor(**changes))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000


def test_storages_must_match_their_list():
    contents = dictionary({"a": tensor(WEIGHTS, "k0")})
    for arrays in ({}, {"k1": WEIGHTS}, {"k0": WEIGHTS, "k1": WEIGHTS}, {"k0": WEIGHTS[:23]}):
        with pytest.raises(InputError, match=r"weights\.pth"):
            read(torch_file(contents, arrays))
    twice = dictionary({"a": tensor(WEIGHTS, "k0"), "b": tensor(WEIGHTS.astype("f8"), "k0")})
    with pytest.raises(InputError, match="storage k0"):
        read(torch_file(twice, {"k0": WEIGHTS}))


def test_other_files_are_refused():
    with pytest.raises(InputError, match="not a file of torch's older format"):
        read(torch_file(dictionary({}), {}, magic=1))
    with pytest.raises(InputError, match="byte order"):
        read(torch_file(dictionary({}), {}, little_endian=b"\x89"))
    for data in (b"", b"PK\x03\x04", b"\x89PNG", bytes(1000)):
        with pytest.raises(InputError, match=r"weights\.pth"):
            read(data)


def test_truncated_files_are_refused():
    data, _ = plain_file()
    for end in range(len(data)):
        with pytest.raises(InputError, match=r"weights\.pth"):
            read(data[:end])
    with pytest.raises(InputError, match="length"):
        read(data + b"\0")


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damaged_files_give_tensors_or_an_error(data):
    original, _ = plain_file()
    damaged = bytearray(original)
    for _ in range(data.draw(st.integers(1, 4))):
        damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    try:
        tensors = read(bytes(damaged))
    except InputError:
        return
    assert sum(array.size for array in tensors.values()) <= 3 * 24
