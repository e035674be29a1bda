"""Pages of Parquet files: what their headers say, and headers that are made to say two things."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from enhg.io import read_samples
from enhg.io._parquet_pages import column_pages

I32, I64, BINARY, LIST, STRUCT = 5, 6, 8, 9, 12


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("use_dictionary", [True, False])
def test_pages_are_those_of_the_library(tmp_path, compression, version, use_dictionary):
    rng = np.random.default_rng(0)
    columns = {
        "embedding": pa.array(rng.integers(0, 9, (500, 7)).astype(float).tolist()),
        "some": pa.array([None if i % 3 else [float(i), None] for i in range(500)]),
        "f": pa.array(rng.normal(size=500)),
        "é": pa.array([f"name {i}" for i in range(500)]),
    }
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table(columns), path, compression=compression, data_page_version=version,
        use_dictionary=use_dictionary, row_group_size=200, data_page_size=300, write_batch_size=10,
    )  # fmt: skip
    metadata = pq.read_metadata(path)
    for leaf, head in enumerate(columns):
        chunks = [metadata.row_group(i).column(leaf) for i in range(3)]
        with open(path, "rb") as stream:
            pages = list(column_pages(stream, {leaf: head}))
        assert {page.column for page in pages} == {head}
        assert sum(page.n_values for page in pages) == sum(chunk.num_values for chunk in chunks)
        # The library counts the headers of the pages, too.
        n_bytes = sum(chunk.total_uncompressed_size for chunk in chunks)
        assert n_bytes - 200 * len(pages) < sum(page.n_bytes for page in pages) < n_bytes
        assert len(pages) > len(chunks)
        has_dictionary = any(chunk.has_dictionary_page for chunk in chunks)
        assert any(page.n_values == 0 for page in pages) == has_dictionary
        names = {0: "PLAIN", 3: "RLE", 8: "RLE_DICTIONARY"}
        encodings = {names[page.encoding] for page in pages if page.encoding is not None}
        assert encodings <= set(chunks[0].encodings)


# --- headers of another form ------------------------------------------------------------------


def varint(number):
    low = [number >> shift & 127 for shift in range(0, max(1, number.bit_length()), 7)]
    return bytes([*(part | 128 for part in low[:-1]), low[-1]])


def integer(number):
    return varint(2 * number if number >= 0 else -2 * number - 1)


def text(value):
    return varint(len(value)) + value


def values(kind, *items):
    return bytes([len(items) << 4 | kind]) + b"".join(items)


def struct(*fields):
    """A struct of Thrift, from number, type and bytes of its fields."""
    return b"".join(bytes([kind]) + integer(number) + data for number, kind, data in fields) + b"\0"


DATA = np.arange(100, dtype="<i4").tobytes()
SIZES = [(2, I32, integer(400)), (3, I32, integer(400))]
PLAIN = (2, I32, integer(0))
LEVELS = [(3, I32, integer(3)), (4, I32, integer(3))]
FIRST = (5, STRUCT, struct((1, I32, integer(100)), PLAIN, *LEVELS))
KIND = (1, I32, integer(0))


def write_page(path, header, groups=STRUCT, **said):
    """A column "a" of 100 integers, in one page under a header of one's own."""
    page = header + DATA
    metadata = struct(
        (1, I32, integer(1)), (2, LIST, values(I32, integer(0), integer(3))),
        (3, LIST, values(BINARY, text(said.get("name", b"a")))), (4, I32, integer(0)),
        (5, I64, integer(100)), (6, I64, integer(len(page))),
        (7, I64, integer(said.get("length", len(page)))), (9, I64, integer(4)),
    )  # fmt: skip
    chunk = struct((2, I64, integer(4)), (3, STRUCT, metadata))
    group = struct(
        (1, LIST, values(STRUCT, chunk)), (2, I64, integer(len(page))), (3, I64, integer(100))
    )
    root = struct((4, BINARY, text(b"schema")), (5, I32, integer(1)))
    column = struct((1, I32, integer(1)), (3, I32, integer(0)), (4, BINARY, text(b"a")))
    schema = values(STRUCT, root, column)
    footer = struct(
        (1, I32, integer(1)), (2, LIST, schema), (3, I64, integer(100)),
        (4, LIST, values(groups, group)),
    )  # fmt: skip
    path.write_bytes(b"PAR1" + page + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    return path


def test_a_written_page(tmp_path):
    path = write_page(tmp_path / "a.parquet", struct(KIND, *SIZES, FIRST))
    np.testing.assert_array_equal(read_samples(path).X[:, 0], np.arange(100))


BIG = integer(1_900_000_000)
SECOND = [(1, I32, integer(100)), (2, I32, integer(0)), (3, I32, integer(100))]
SECOND = (8, STRUCT, struct(*SECOND, *((number, I32, integer(0)) for number in (4, 5, 6))))
HEADERS = {
    "a field twice": [KIND, (2, I32, BIG), (2, I64, integer(400)), SIZES[1], FIRST],
    "a large number": [KIND, *SIZES, (65538, I32, BIG), FIRST],
    "another type": [KIND, (2, I64, integer(400)), SIZES[1], FIRST],
    "more bits": [KIND, SIZES[0], (3, I32, integer(2**32 + 400)), FIRST],
    "two kinds": [(1, I32, integer(3)), *SIZES, FIRST, SECOND],
    "the other kind": [(1, I32, integer(3)), *SIZES, FIRST],
}


@pytest.mark.parametrize("fields", HEADERS.values(), ids=HEADERS)
def test_headers_that_the_library_reads_in_another_way(tmp_path, refuses, fields):
    path = write_page(tmp_path / "a.parquet", struct(*fields))
    with open(path, "rb") as stream, pytest.raises((ValueError, KeyError)):
        list(column_pages(stream, {0: "a"}))
    refuses(lambda: read_samples(path), str(path), "damaged")


def test_lists_that_the_library_reads_in_another_way(tmp_path):
    """It reads structs, whatever the list says."""
    path = write_page(tmp_path / "a.parquet", struct(KIND, *SIZES, FIRST), groups=BINARY)
    assert pq.read_table(path).num_rows == 100
    with open(path, "rb") as stream, pytest.raises(ValueError, match="a list of values"):
        list(column_pages(stream, {0: "a"}))


@pytest.mark.parametrize("said", [{"name": b"b"}, {"length": 3}])
def test_pages_are_found_as_the_library_finds_them(tmp_path, said):
    """By the number of the column, and, as there are files with wrong lengths, behind the end."""
    path = write_page(tmp_path / "a.parquet", struct(KIND, *SIZES, FIRST), **said)
    with open(path, "rb") as stream:
        (page,) = column_pages(stream, {0: "a"})
    assert (page.n_bytes, page.n_values) == (400, 100)


# --- columns that are read ----------------------------------------------------------------------


@pytest.fixture
def checked(monkeypatch):
    """Columns whose pages are looked at, by their number, while samples are read."""
    columns = {}

    def pages(stream, given):
        columns.update(given)
        return column_pages(stream, given)

    monkeypatch.setattr("enhg.io.parquet.column_pages", pages)
    return columns


LISTS = pa.array([[1.0, 2.0], [3.0, 4.0]])


def test_columns_without_a_heading(tmp_path, checked):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"": LISTS, "label": ["a", "b"]}), path)
    np.testing.assert_array_equal(read_samples(path).X, [[1, 2], [3, 4]])
    assert checked == {0: "", 1: "label"}
    checked.clear()
    pq.write_table(pa.table({"": ["a", "b"], "f": [1.0, 2.0]}), path)
    assert read_samples(path).names == ["a", "b"]
    assert checked == {0: "", 1: "f"}


def test_columns_that_are_read_with_others(tmp_path, checked):
    """Beside a column of lists, one may be headed as the library calls the inside of the lists."""
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"a.list": ["u", "v"], "a": LISTS, "embedding": LISTS}), path)
    assert read_samples(path).names == ["u", "v"]
    assert checked == {0: "a.list", 1: "a.list", 2: "embedding"}
