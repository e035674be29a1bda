"""Random changes of files, by a generator with a seed, so that each can be made again."""

from __future__ import annotations

import io
import json
import re
import struct
import zipfile
import zlib

import numpy as np

_NUMBERS = (0, 1, 2, 7, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 10**12)
_NUMBERS += (2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
_TEXTS = (
    b"1000000000000", b"-1", b"1e999", b"nan", b"NaN", b"inf", b"0", b"''", b"{}", b"[]", b"null",
    b"true", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b",", b"\n", b"\r", b"\x1b[31m", b"|O8",
    b"<U0", b"<f2", b">f8", b"<c16", b"|V0", b"<M8[D]", b"(", b")", b"1" * 5000, b"[" * 3000,
)  # fmt: skip


def mutated(content: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """A content with one to four changes."""
    data = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        change = _CHANGES[int(rng.integers(len(_CHANGES)))]
        data = change(data, rng, others)
    return bytes(data)


def _place(data, rng):
    """A place in the data; half of the time near its start, where the headers are."""
    length = max(len(data), 1)
    return int(rng.integers(length if rng.random() < 0.5 else min(length, 200)))


def _flip_bits(data, rng, others):
    for _ in range(int(rng.integers(1, 9))):
        if data:
            data[_place(data, rng)] ^= 1 << int(rng.integers(8))
    return data


def _overwrite_number(data, rng, others):
    size = int(rng.choice([1, 2, 4, 8]))
    number = _NUMBERS[int(rng.integers(len(_NUMBERS)))] % 2 ** (8 * size)
    at = _place(data, rng)
    data[at : at + size] = number.to_bytes(size, "big" if rng.random() < 0.3 else "little")
    return data


def _overwrite_noise(data, rng, others):
    at, size = _place(data, rng), int(rng.integers(1, 33))
    data[at : at + size] = rng.bytes(size)
    return data


def _insert_text(data, rng, others):
    at = _place(data, rng)
    text = _TEXTS[int(rng.integers(len(_TEXTS)))]
    data[at : at + int(rng.integers(0, 1 + len(text)))] = text
    return data


def _change_digits(data, rng, others):
    """Replace one number that is written in digits."""
    numbers = list(re.finditer(rb"\d+", data))
    if numbers:
        number = numbers[int(rng.integers(len(numbers)))]
        data[number.start() : number.end()] = _TEXTS[int(rng.integers(8))]
    return data


def _cut(data, rng, others):
    return data[: int(rng.integers(len(data) + 1))]


def _remove(data, rng, others):
    at, size = _place(data, rng), int(rng.integers(1, 65))
    del data[at : at + size]
    return data


def _repeat(data, rng, others):
    at, size = _place(data, rng), int(rng.integers(1, 129))
    data[at:at] = data[at : at + size] * int(rng.integers(1, 5))
    return data


def _splice(data, rng, others):
    other = others[int(rng.integers(len(others)))]
    at = int(rng.integers(len(data) + 1))
    return data[:at] + bytearray(other[int(rng.integers(len(other) + 1)) :])


_CHANGES = (
    *(_flip_bits, _flip_bits, _overwrite_number, _overwrite_number, _overwrite_noise),
    *(_insert_text, _change_digits, _cut, _remove, _repeat, _splice),
)


# --- changes behind a checksum ------------------------------------------------------------------


def mutated_zip(content: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """Changed members of an archive, packed again with right checksums; or changed bytes."""
    if rng.random() < 0.25:
        return mutated(content, rng, others)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
        method = archive.infolist()[0].compress_type
    names = list(members)
    for _ in range(int(rng.integers(1, 4))):
        name = names[int(rng.integers(len(names)))]
        kind = rng.random()
        if kind < 0.1:
            members.pop(name, None)
        elif kind < 0.25:
            members[name] = members.get(names[int(rng.integers(len(names)))], b"")
        elif kind < 0.5:
            members[name] = _changed_array(members.get(name, b""), rng)
        else:
            members[name] = mutated(members.get(name, b""), rng, others)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def _changed_array(content: bytes, rng: np.random.Generator) -> bytes:
    """An array of another type, of another shape, with odd values, or a JSON text with others."""
    try:
        array = np.load(io.BytesIO(content), allow_pickle=False)
    except Exception:  # it was changed before
        return content
    if array.dtype.kind == "U" and not array.shape:
        array = np.array(_changed_json(str(array), rng))
    else:
        array = _odd_array(array, rng)
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def _odd_array(array, rng):
    kind = int(rng.integers(6))
    if kind == 0:
        types = ("f4", "f2", ">f8", "i1", "u8", "?", "U3", "c16", "g")
        with np.errstate(all="ignore"):
            return (
                np.nan_to_num(array.real if array.dtype.kind == "c" else array).astype(
                    types[int(rng.integers(len(types)))]
                )
                if array.dtype.kind != "U"
                else array.astype("U1")
            )
    if kind == 1:
        return array.reshape(-1)[: int(rng.integers(array.size + 1))]
    if kind == 2:
        return array[..., None] if rng.random() < 0.5 else array.T.copy()
    if kind == 3:
        return np.zeros((int(rng.integers(3)), int(rng.integers(10**9)), 0))
    if array.size and array.dtype.kind in "iuf":
        array = array.copy()
        odd = (0, -1, 1, 2**31 - 1, 10**12) if array.dtype.kind in "iu" else _ODD_FLOATS
        at = int(rng.integers(array.size))
        value = np.array(odd[int(rng.integers(len(odd)))])
        array.reshape(-1)[at : at + int(rng.choice([1, 10**6]))] = value.astype(array.dtype)
    return array


_ODD_FLOATS = (0.0, -1.0, np.nan, np.inf, -np.inf, 1e308, 5e-324, 2.5)
_ODD_VALUES = (None, True, -1, 0, 10**12, 10**400, 1e300, "", "x" * 1000, [], {}, [[]], "auto")


def _changed_json(text: str, rng: np.random.Generator) -> str:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    places: list = []

    def collect(item):
        if isinstance(item, (dict, list)):
            for key in item if isinstance(item, dict) else range(len(item)):
                places.append((item, key))
                collect(item[key])

    collect(value)
    if places:
        holder, key = places[int(rng.integers(len(places)))]
        holder[key] = _ODD_VALUES[int(rng.integers(len(_ODD_VALUES)))]
    return json.dumps(value)


def mutated_image(content: bytes, rng: np.random.Generator, others: list[bytes]) -> bytes:
    """A changed image; the checksums of a PNG are right three times out of four."""
    data = mutated(content, rng, others)
    if data.startswith(b"\x89PNG\r\n\x1a\n") and rng.random() < 0.75:
        return _with_checksums(data)
    return data


def _with_checksums(data: bytes) -> bytes:
    parts, at = [data[:8]], 8
    while at + 12 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        end = at + 8 + length
        if end + 4 > len(data):
            break
        parts += [data[at:end], struct.pack(">I", zlib.crc32(data[at + 4 : end]))]
        at = end + 4
    return b"".join([*parts, data[at:]])


def mutated_folder(files: dict, rng: np.random.Generator, others: list[dict]) -> dict:
    """A folder with one or two of its files changed, or without one of them."""
    files = dict(files)
    contents = [content for other in others for content in other.values()]
    for _ in range(int(rng.integers(1, 3))):
        name = sorted(files)[int(rng.integers(len(files)))]
        if rng.random() < 0.1:
            del files[name]
        elif rng.random() < 0.4 and name.endswith(("json", ".zarray")):
            files[name] = _changed_json(files[name].decode(errors="replace"), rng).encode()
        else:
            files[name] = mutated(files[name], rng, contents)
        if not files:
            break
    return files
