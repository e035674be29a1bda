"""Parts of files that become far larger than they are: refused before they are decoded."""

from __future__ import annotations

import json
import os
import zlib
from contextlib import suppress
from unittest.mock import Mock

import h5py
import numcodecs
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zarr

from enhg.exceptions import InputError
from enhg.io import read_labels, read_samples
from enhg.io._inflation import inflates_to
from enhg.io.labels import labels_from_folders

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


ZSTD = b"\x28\xb5\x2f\xfd\x00\x58"  # a frame of 2 MB at most that does not say its size


def zstd_block(kind, size, content, is_last=False):
    return (is_last + 2 * kind + 8 * size).to_bytes(3, "little") + content


def test_zstandard_without_a_size():
    raw, repeated = zstd_block(0, 5, b"hello"), zstd_block(1, 3000, b"x", is_last=True)
    assert CODECS["zstd"].decode(ZSTD + raw + repeated) == b"hello" + 3000 * b"x"
    assert inflates_to(ZSTD + raw + repeated, 3005, "zstd")
    assert not inflates_to(ZSTD + raw + repeated, 3004, "zstd")
    compressed = zstd_block(2, 20, bytes(20))
    assert inflates_to(ZSTD + compressed + repeated, 3000, "zstd")
    assert not inflates_to(ZSTD + 3 * compressed + repeated, 3000 + 2**18 - 1, "zstd")
    assert inflates_to(ZSTD + 3 * compressed + repeated, 3000 + 2**18, "zstd")
    for damaged in (raw, raw + repeated[:-1], zstd_block(3, 1, b"x", is_last=True)):
        with pytest.raises(ValueError, match="cut off"):
            inflates_to(ZSTD + damaged, 10**9, "zstd")
    with pytest.raises(ValueError, match="not Zstandard"):
        inflates_to(b"something else", 10, "zstd")


# --- labels -------------------------------------------------------------------------------------


LONG = "x" * 130_000  # 520 KB in each of the cells of an array


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_one_long_label(tmp_path, refuses, suffix):
    path, labels = tmp_path / f"a{suffix}", [LONG, *4000 * ["c"]]
    if suffix == ".csv":
        path.write_text("a,label\n" + "".join(f"1,{label}\n" for label in labels))
    else:
        pq.write_table(pa.table({"a": np.arange(4001.0), "label": labels}), path)
    refuses(lambda: read_samples(path), str(path), "at most 500 letters, got one of 130000", "xxx")


@pytest.mark.parametrize("text", [f"0,{LONG}\n1,b\n", f"{LONG}\nb\n"])
def test_one_long_label_of_some(tmp_path, refuses, write_csv, text):
    path = write_csv(tmp_path, text)
    refuses(lambda: read_labels(path, ["0", "1"]), str(path), "at most 500 letters")


def test_one_long_folder(refuses):
    refuses(lambda: labels_from_folders([f"{LONG}/a", "b/c"]), "folders", "at most 500 letters")


def test_labels_that_do_not_fit_in_memory(tmp_path, monkeypatch, refuses, write_csv):
    path = write_csv(tmp_path, f"a,label\n1,{'x' * 500}\n" + "1,c\n" * 10_000)
    assert read_samples(path).labels.itemsize == 2000
    monkeypatch.setattr("enhg._files.free_memory", lambda: 15_000_000)
    refuses(lambda: read_samples(path), str(path), "its labels does not fit in memory")


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
    is_once = sum(number in (1, 32000) for number, *_ in filters) == 1
    text = "cannot be read" if is_once else "compressed at most once"
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
    refuses(lambda: read_samples(path), "compressed at most once")


@pytest.mark.parametrize("name", ["zarr.json", ".zarray"])
def test_zarr_metadata_are_those_of_their_format(tmp_path, refuses, name):
    """The library would open the other file, in which other codecs are."""
    path = tmp_path / "a.zarr"
    write_zarr(path, bytes(CODECS["bz2"].encode(ZEROS)), CODECS["bz2"].get_config())
    metadata = json.loads((path / ".zarray").read_text()) | {"compressor": None}
    (path / name).write_text(json.dumps(metadata | {"zarr_format": 2 + (name == ".zarray")}))
    refuses(lambda: read_samples(path), str(path), f"{name} is no table", "of format")


def test_zarr_keys_of_the_other_format(tmp_path, refuses):
    path = tmp_path / "a.zarr"
    write_zarr(path, bytes(CODECS["bz2"].encode(ZEROS)), CODECS["bz2"].get_config())
    given = {"chunk_shape": [10, 10], "codecs": [], "index_codecs": [{"name": "bytes"}]}
    shards = {"codecs": [{"name": "sharding_indexed", "configuration": given}]}
    metadata = json.loads((path / ".zarray").read_text())
    (path / ".zarray").write_text(json.dumps(metadata | shards))
    (path / "0.0").write_bytes((path / "0.0").read_bytes() + b"\xff" * 16)
    refuses(lambda: read_samples(path), "a chunk that is larger than it should be")


def test_zarr_codecs_are_called_by_their_name(tmp_path, refuses):
    path = tmp_path / "a.zarr"
    zarr.create_array(str(path), data=TABLE, compressors=None)
    metadata = json.loads((path / "zarr.json").read_text())
    metadata["codecs"] = [{"id": "bytes", "name": "numcodecs.pickle"}]
    (path / "zarr.json").write_text(json.dumps(metadata))
    refuses(lambda: read_samples(path), "codecs must be known to hold only numbers, got pickle")


@pytest.mark.parametrize(
    "options",
    [
        *({"zarr_format": 2, "compressors": codec} for codec in (*CODECS.values(), None)),
        {"zarr_format": 2, "compressors": CODECS["zlib"], "filters": [numcodecs.Delta("<f8")]},
        {"compressors": [zarr.codecs.GzipCodec(), zarr.codecs.Crc32cCodec()]},
        {"compressors": zarr.codecs.BloscCodec()},
        {"shards": (40, 40)},
        {"shards": {"shape": (40, 40), "index_location": "start"}},
        {"shards": (60, 40), "compressors": zarr.codecs.GzipCodec()},
        {},
    ],
    ids=[
        *(*CODECS, "none", "filtered", "checksum", "version 3"),
        *("shards", "index first", "compressed shards", "default"),
    ],
)
def test_zarr_codecs(tmp_path, monkeypatch, options):
    monkeypatch.setattr("enhg.io._zarr.MOST_UNCHECKED", 0)
    path = tmp_path / "a.zarr"
    zarr.create_array(str(path), data=TABLE, chunks=(20, 40), **options)
    np.testing.assert_allclose(read_samples(path).X, TABLE)


@pytest.mark.parametrize("location", ["start", "end"])
@pytest.mark.parametrize("codec", ["zstd", "gzip"])
def test_zarr_shards(tmp_path, refuses, codec, location):
    """One of the three chunks of a shard is a bomb, or not, and one is not stored."""
    path = tmp_path / "a.zarr"
    compressor = {"zstd": zarr.codecs.ZstdCodec(), "gzip": zarr.codecs.GzipCodec()}[codec]
    shards = {"shape": (60, 40), "index_location": location}
    zarr.create_array(str(path), data=TABLE, chunks=(20, 40), shards=shards, compressors=compressor)
    first, fair, bomb = (
        bytes(CODECS[codec].encode(data)) for data in (TABLE[:20], TABLE[20:40], ZEROS)
    )
    metadata = json.loads((path / "zarr.json").read_text())
    metadata["codecs"][0]["configuration"]["index_codecs"] = [
        {"name": "bytes", "configuration": {"endian": "little"}}  # and no checksum
    ]
    (path / "zarr.json").write_text(json.dumps(metadata))
    start = 48 if location == "start" else 0

    def write(second):
        index = [start, len(first), start + len(first), len(second), *2 * [2**64 - 1]]
        parts = [np.array(index, "<u8").tobytes(), first + second]
        (path / "c/0/0").write_bytes(b"".join(parts if location == "start" else parts[::-1]))

    write(fair)
    np.testing.assert_array_equal(read_samples(path).X, np.vstack([TABLE[:40], 0 * TABLE[40:]]))
    write(bomb)
    refuses(lambda: read_samples(path), "a chunk that is larger than it should be")
    (path / "c/0/0").write_bytes(bytes(30))
    refuses(lambda: read_samples(path), "a shard that is cut off")


def test_zarr_shards_of_other_forms(tmp_path, refuses):
    path = tmp_path / "a.zarr"
    zarr.create_array(str(path), data=TABLE, chunks=(20, 40), shards=(60, 40))
    metadata = json.loads((path / "zarr.json").read_text())
    (outer,) = metadata["codecs"]
    given = outer["configuration"]
    inner = outer | {"configuration": given | {"chunk_shape": [10, 40]}}
    forms = {
        "shards in shards": [outer | {"configuration": given | {"codecs": [inner]}}],
        "a codec beside them": [outer, {"name": "crc32c"}],
        "whose index": [outer | {"configuration": given | {"index_codecs": [{"name": "crc32c"}]}}],
        "in shards of shape": [outer | {"configuration": given | {"chunk_shape": [0, 40]}}],
    }
    for message, codecs in forms.items():
        (path / "zarr.json").write_text(json.dumps(metadata | {"codecs": codecs}))
        refuses(lambda: read_samples(path), message)


def test_zarr_of_zstandard_without_a_size(tmp_path, refuses):
    codec = CODECS["zstd"].get_config()
    values = np.random.default_rng(0).random((10, 10))
    write_zarr(tmp_path / "a.zarr", ZSTD + zstd_block(0, 800, values.tobytes(), True), codec)
    np.testing.assert_array_equal(read_samples(tmp_path / "a.zarr").X, values)
    blocks = zstd_block(1, 2**17, b"x") * 1000 + zstd_block(1, 1, b"x", True)
    write_zarr(tmp_path / "b.zarr", ZSTD + blocks, codec)
    refuses(lambda: read_samples(tmp_path / "b.zarr"), "a chunk that is larger than it should be")


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


def list_bomb(path):
    """One list of 30 million zeros, in less than 1 KB."""
    values = pa.array(np.zeros(30_000_000, np.float32))
    lists = pa.ListArray.from_arrays(pa.array([0, len(values)], pa.int32()), values)
    options = {"compression": "zstd", "data_page_size": 1 << 30, "write_batch_size": 1 << 30}
    pq.write_table(pa.table({"embedding": lists}), path, **options)
    assert path.stat().st_size < 5000


def test_parquet_lists(tmp_path, monkeypatch, refuses):
    path = tmp_path / "a.parquet"
    list_bomb(path)
    reading = Mock()
    monkeypatch.setattr("enhg.io.parquet._read_lists", reading)
    refuses(lambda: read_samples(path), "embedding must not be over 500 times as large")
    reading.assert_not_called()


def test_parquet_lists_of_more_values_than_their_chunk_says(tmp_path, refuses):
    """Pages are read until there are as many values as the chunk says, the last one as a whole."""
    path = tmp_path / "a.parquet"
    list_bomb(path)
    data = path.read_bytes()
    number = 60_000_000  # twice the number of values, as Thrift writes integers
    said = bytes(number >> shift & 127 | 128 * (shift < 21) for shift in (0, 7, 14, 21))
    place = data.index(said, len(data) - 8 - pq.read_metadata(path).serialized_size)
    path.write_bytes(data[:place] + b"\x82\x80\x80\x00" + data[place + 4 :])
    assert pq.read_metadata(path).row_group(0).column(0).num_values == 1
    refuses(lambda: read_samples(path), "must not be over 500 times as large")


@pytest.mark.parametrize("place", range(1, 40))
def test_parquet_lists_with_damaged_headers(tmp_path, place):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"X": [[1.0, 2.0]] * 3}), path, use_dictionary=False)
    data = bytearray(path.read_bytes())
    data[4:44] = bytes(255 if at == place else value for at, value in enumerate(data[4:44]))
    path.write_bytes(data)
    with suppress(InputError):
        assert read_samples(path).X.shape == (3, 2)  # a part that nothing depends on


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


def test_parquet_text_that_repeats_the_one_before(tmp_path, refuses):
    """DELTA_BYTE_ARRAY stores what is new in each text."""
    path = tmp_path / "a.parquet"
    options = {"use_dictionary": False, "column_encoding": {"label": "DELTA_BYTE_ARRAY"}}
    pq.write_table(pa.table({"label": one_text("text"), "a": np.zeros(10_000)}), path, **options)
    assert path.stat().st_size < 200_000
    before = pa.default_memory_pool().max_memory()
    refuses(lambda: read_samples(path), "column label", "without dictionary encoding")
    assert pa.default_memory_pool().max_memory() - before < 150_000_000


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.dictionary("int8", "string")])
def test_parquet_names_and_labels(tmp_path, kind):
    path = tmp_path / "a.parquet"
    texts = pa.array(["a", None, "b", "a"]).cast(kind)
    table = {"name": texts, "label": texts, "a.b": np.arange(4.0), "c": np.ones(4)}
    pq.write_table(pa.table(table), path, row_group_size=3)
    samples = read_samples(path)
    assert samples.names == samples.labels.tolist() == ["a", "", "b", "a"]
    np.testing.assert_array_equal(samples.X[:, 0], np.arange(4))
