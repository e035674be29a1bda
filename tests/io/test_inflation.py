"""Parts of files that become far larger than they are: refused before they are decoded."""

from __future__ import annotations

import json
import os
import zlib

import h5py
import numcodecs
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr

from enhg.io import read_samples
from enhg.io._inflation import inflates_to

CODECS = {
    "zlib": numcodecs.Zlib(),
    "gzip": numcodecs.GZip(),
    "bz2": numcodecs.BZ2(),
    "lzma": numcodecs.LZMA(preset=0),
    "blosc": numcodecs.Blosc(),
    "lz4": numcodecs.LZ4(),
    "zstd": numcodecs.Zstd(),
}
ZEROS = bytes(120_000_000)  # 117 KB by deflate, too much to pass unchecked
TABLE = np.random.default_rng(0).normal(size=(60, 40))


@pytest.mark.parametrize("size", [100, 3000, 3_000_000])
@pytest.mark.parametrize("codec", CODECS)
def test_sizes_are_those_of_the_decoders(codec, size):
    data = bytes(CODECS[codec].encode(bytes(size)))
    assert inflates_to(data, size, codec)
    assert not inflates_to(data, size - 1, codec)


@pytest.mark.parametrize("codec", ["gzip", "bz2", "lzma"])
def test_parts_that_are_joined_count_together(codec):
    data = 2 * bytes(CODECS[codec].encode(bytes(1000)))
    assert len(CODECS[codec].decode(data)) == 2000
    assert inflates_to(data, 2000, codec)
    assert not inflates_to(data, 1999, codec)


def test_zstandard_without_a_size():
    data = b"\x28\xb5\x2f\xfd\x00\x58" + bytes(10)
    assert inflates_to(data, 16 * 32_768, "zstd")
    assert not inflates_to(data, 16 * 32_768 - 1, "zstd")
    with pytest.raises(ValueError, match="not Zstandard"):
        inflates_to(b"something else", 10, "zstd")


# --- HDF5 ---------------------------------------------------------------------------------------


def write_hdf5(path, chunk, filters, data=None):
    """A dataset of one chunk, with bytes of its own if they are given."""
    with h5py.File(path, "w") as file:
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        properties.set_chunk(chunk)
        for number, *values in filters:
            properties.set_filter(number, h5py.h5z.FLAG_OPTIONAL, tuple(values))
        space = h5py.h5s.create_simple(chunk)
        dataset = h5py.h5d.create(file.id, b"X", h5py.h5t.IEEE_F64LE, space, properties)
        dataset.write_direct_chunk((0, 0), zlib.compress(bytes(800)) if data is None else data)


@pytest.mark.parametrize(
    ("chunk", "filters", "data"),
    [
        ((10, 10), [(1, 9)], zlib.compress(ZEROS)),
        ((1000, 10), [(1, 9)], zlib.compress(ZEROS)),
        ((1000, 10), [(2,), (1, 9), (3,)], zlib.compress(ZEROS) + b"abcd"),
        ((10, 10), [(1, 9), (1, 9)], zlib.compress(zlib.compress(ZEROS))),
        ((10, 10), [(1, 9), (2,), (1, 9)], None),
        ((10, 10), [(32000,), (1, 9)], None),
    ],
    ids=["small", "large", "checksum", "twice", "shuffled", "lzf"],
)
def test_hdf5_chunks(tmp_path, refuses, chunk, filters, data):
    write_hdf5(tmp_path / "a.h5", chunk, filters, data)
    text = "compressed more than once" if data is None else "cannot be read"
    refuses(lambda: read_samples(tmp_path / "a.h5"), text)


@pytest.mark.parametrize("number", [5, 6])
def test_hdf5_filters_that_name_their_size(tmp_path, refuses, number):
    """The library makes as many values as the filter says."""
    path = tmp_path / "a.h5"
    write_hdf5(path, (10, 10), [(number, 0, 2)])
    with h5py.File(path) as file:
        values = file["X"].id.get_create_plist().get_filter(0)[2]
    assert values[2:5:2] == (100, 8)
    numbers = np.array(values[:5], "<u4").tobytes()
    content = path.read_bytes()
    assert content.count(numbers) == 1
    huge = np.array([*values[:2], 2**31, *values[3:5]], "<u4").tobytes()
    path.write_bytes(content.replace(numbers, huge))
    refuses(lambda: read_samples(path), "a filter of other chunks")


@pytest.mark.parametrize(
    "options",
    [
        {"compression": "gzip"},
        {"compression": "gzip", "chunks": (60, 40), "shuffle": True, "fletcher32": True},
        {"compression": "lzf"},
        {"compression": "szip"},
        {"scaleoffset": 9, "compression": "gzip"},
        {"fletcher32": True},
    ],
    ids=str,
)
def test_hdf5_filters(tmp_path, monkeypatch, options):
    monkeypatch.setattr("enhg.io._hdf5.MOST_UNCHECKED", 0)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("X", data=TABLE, **options)
    np.testing.assert_allclose(read_samples(tmp_path / "a.h5").X, TABLE, atol=1e-8)


# --- Zarr ---------------------------------------------------------------------------------------


def write_zarr(path, data, codec, filters=()):
    path.mkdir()
    metadata = {"zarr_format": 2, "shape": [10, 10], "chunks": [10, 10], "dtype": "<f8"}
    metadata |= {"compressor": codec, "filters": [*filters], "fill_value": 0, "order": "C"}
    (path / ".zarray").write_text(json.dumps(metadata))
    (path / "0.0").write_bytes(data)


@pytest.mark.parametrize("codec", CODECS)
def test_zarr_chunks(tmp_path, refuses, codec):
    path = tmp_path / "a.zarr"
    write_zarr(path, bytes(CODECS[codec].encode(ZEROS)), CODECS[codec].get_config())
    refuses(lambda: read_samples(path), "a chunk that is larger than it should be")


def test_zarr_values_are_compressed_once(tmp_path, refuses):
    path = tmp_path / "a.zarr"
    codec = numcodecs.Zlib().get_config()
    write_zarr(path, zlib.compress(zlib.compress(bytes(800))), codec, [codec])
    refuses(lambda: read_samples(path), "compressed more than once")


@pytest.mark.parametrize(
    "options",
    [
        *({"zarr_format": 2, "compressors": codec} for codec in (*CODECS.values(), None)),
        {"zarr_format": 2, "compressors": CODECS["zlib"], "filters": [numcodecs.Delta("<f8")]},
        {"compressors": [zarr.codecs.GzipCodec(), zarr.codecs.Crc32cCodec()]},
        {"compressors": zarr.codecs.BloscCodec()},
        {"shards": (40, 40)},
        {},
    ],
    ids=[*CODECS, "none", "filtered", "checksum", "version 3", "shards", "default"],
)
def test_zarr_codecs(tmp_path, monkeypatch, options):
    monkeypatch.setattr("enhg.io._zarr.MOST_UNCHECKED", 0)
    path = tmp_path / "a.zarr"
    zarr.create_array(str(path), data=TABLE, chunks=(20, 40), **options)
    np.testing.assert_allclose(read_samples(path).X, TABLE)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no FIFOs")
def test_zarr_links_to_folders(tmp_path, refuses):
    """A FIFO behind one would be waited for, and groups could be in themselves."""
    path, other = tmp_path / "a.zarr", tmp_path / "other"
    other.mkdir()
    os.mkfifo(other / "0")
    write_zarr(path, b"", None)
    (path / "0").symlink_to(other)
    refuses(lambda: read_samples(path), "0 is a link to a folder")
    group = tmp_path / "group.zarr"
    zarr.open_group(str(group), mode="w").create_array("X", data=TABLE)
    for number in range(20):  # 20⁸ groups
        (group / str(number)).symlink_to(".")
    assert read_samples(group).X.shape == TABLE.shape


# --- Parquet ------------------------------------------------------------------------------------


def one_text(kind):
    """Ten thousand times the same text of 20 000 letters."""
    places = pa.array(np.zeros(10_000, np.int32))
    column = pa.DictionaryArray.from_arrays(places, pa.array(["x" * 20_000]))
    return column if kind == "dictionary" else column.dictionary_decode()


@pytest.mark.parametrize("head", ["name", "label"])
@pytest.mark.parametrize("kind", ["dictionary", "text"])
def test_parquet_text(tmp_path, refuses, kind, head):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({head: one_text(kind), "a": np.zeros(10_000)}), path)
    assert path.stat().st_size < 100_000
    before = pa.default_memory_pool().max_memory()
    refuses(lambda: read_samples(path), f"column {head}", "0.2 GB")
    assert pa.default_memory_pool().max_memory() - before < 50_000_000


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary("int8", "string")])
def test_parquet_names_and_labels(tmp_path, kind):
    path = tmp_path / "a.parquet"
    texts = pa.array(["a", None, "b", "a"]).cast(kind)
    table = {"name": texts, "label": texts, "a.b": np.arange(4.0), "c": np.ones(4)}
    pq.write_table(pa.table(table), path, row_group_size=3)
    samples = read_samples(path)
    assert samples.names == samples.labels.tolist() == ["a", "", "b", "a"]
    np.testing.assert_array_equal(samples.X[:, 0], np.arange(4))
