"""Sizes of compressed data, found without decoding it to any size."""

from __future__ import annotations

import bz2
import lzma
import zlib
from typing import Any

MARGIN = 4096
"""Bytes of headers and checksums beside values."""
MOST_UNCHECKED = 100_000
"""Bytes of deflate that become 100 MB at most, and need no check."""

HEADED = frozenset({"blosc", "lz4", "zstd"})
"""Codecs whose data begin with their size; the decoders allocate what it says."""
HEADER_BYTES = 32

_STEP = 1 << 20
_ANY_HEADER = 47  # zlib and gzip
_DECODERS = {
    "zlib": lambda: zlib.decompressobj(_ANY_HEADER),
    "gzip": lambda: zlib.decompressobj(_ANY_HEADER),
    "bz2": bz2.BZ2Decompressor,
    "lzma": lzma.LZMADecompressor,
}
_JOINED = {"gzip": b"\x1f\x8b", "bz2": b"BZh", "lzma": b"\xfd7zXZ"}  # starts of parts that follow
_ZSTD_MARK = b"\x28\xb5\x2f\xfd"
_ZSTD_BLOCK = 1 << 17  # bytes of a block at most, of which compressed ones do not say how many
_RAW, _REPEATED, _COMPRESSED = range(3)


def inflates_to(data: bytes, most: int, codec: str = "zlib", length: int | None = None) -> bool:
    """Whether compressed data becomes at most so many bytes.

    Parameters
    ----------
    data : bytes
        Of the codecs in `HEADED` the first `HEADER_BYTES`, from which the answer may be no for
        Zstandard that does not say its size.
    most : int
    codec : str, default="zlib"
        Name in Zarr: zlib, gzip, bz2, lzma, blosc, lz4 or zstd; others are not known, and fit.
    length : int, default=None
        Bytes of the whole data; None for those of `data`.

    Raises
    ------
    Exception
        Of the decoder, if the data are damaged.
    """
    if codec in ("blosc", "lz4"):
        at = 4 if codec == "blosc" else 0
        return int.from_bytes(data[at : at + 4], "little") <= most
    if codec == "zstd":
        return _zstd_size(data, len(data) if length is None else length) <= most
    total = 0
    while codec in _DECODERS and data and total <= most:
        decoder: Any = _DECODERS[codec]()
        part = b"first"
        while total <= most and not decoder.eof and part:
            part = decoder.decompress(data, _STEP)
            data = decoder.unconsumed_tail if codec in ("zlib", "gzip") else b""
            total += len(part)
        rest = decoder.unused_data
        data = rest if rest.startswith(_JOINED.get(codec, b"-")) else b""
    return total <= most


def _zstd_size(data: bytes, n_bytes: int) -> int:
    """Bytes that a frame of Zstandard becomes; where it does not say, as many as its blocks may.

    Of the compressed blocks one does not count: small data are a part of a block.
    """
    if data[:4] != _ZSTD_MARK or len(data) < 6:
        raise ValueError("not Zstandard")
    kind, is_single = data[4] >> 6, data[4] >> 5 & 1
    length = (is_single, 2, 4, 8)[kind]
    at = 5 + (not is_single) + (0, 1, 2, 4)[data[4] & 3]
    if length:
        return int.from_bytes(data[at : at + length], "little") + (256 if length == 2 else 0)
    if len(data) < n_bytes:  # a block takes four bytes at least
        return _ZSTD_BLOCK * n_bytes // 4
    total, n_compressed, is_last = 0, 0, 0
    while not is_last:
        header = int.from_bytes(data[at : at + 3], "little")
        is_last, block, size = header & 1, header >> 1 & 3, header >> 3
        at += 3 + (1 if block == _REPEATED else size)
        if at > len(data) or block > _COMPRESSED:
            raise ValueError("Zstandard that is cut off")
        n_compressed += block == _COMPRESSED
        total += 0 if block == _COMPRESSED else size
    return total + _ZSTD_BLOCK * max(0, n_compressed - 1)
