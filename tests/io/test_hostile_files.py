"""Files that are made to do harm: that take memory, wait for ever, or reach for other files."""

from __future__ import annotations

import ast
import io
import json
import os
import re
import socket
import struct
import subprocess
import sys
import zipfile
import zlib
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.io
import zarr
from array_writers import write_mat73
from PIL import Image

import enhg
from enhg import Graph, Hypergraph, load_model
from enhg._files import open_regular
from enhg.duplicates import _decoded
from enhg.features import ImageFeatures
from enhg.io import FeatureCache, read_labels, read_samples
from enhg.io._decoding import open_thumbnail

TABLE = np.arange(24.0).reshape(6, 4)
POSTSCRIPT = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\nshowpage\n"
READERS = {
    **{f"a.{suffix}": read_samples for suffix in ("npy", "npz", "mat", "h5", "csv", "parquet")},
    "model.npz": load_model,
    "hypergraph.npz": Hypergraph.load,
    "graph.npz": Graph.load,
    "labels.csv": lambda path: read_labels(path, ["a"]),
    "labels.npy": lambda path: read_labels(path, ["a"]),
    "network.onnx": lambda path: ImageFeatures(path).fit(),
}


@pytest.fixture
def small_memory(monkeypatch):
    """Readers that have 64 MB."""
    monkeypatch.setattr("enhg._files.free_memory", lambda: 64_000_000)


# --- programs ---------------------------------------------------------------------------------


@pytest.fixture
def _no_programs(monkeypatch):
    """Starting another program, as Pillow does for PostScript, fails the test."""

    def refuse(*args, **options):
        pytest.fail(f"starts a program: {args}")

    Image.init()  # all formats, as another package may have it
    for name in ("run", "Popen", "check_call", "check_output", "call"):
        monkeypatch.setattr(subprocess, name, refuse)


@pytest.mark.usefixtures("_no_programs")
@pytest.mark.parametrize("suffix", ["png", "jpg", "tif", "heic"])
def test_postscript_is_no_image(tmp_path, suffix):
    (tmp_path / f"a.{suffix}").write_bytes(POSTSCRIPT)
    Image.fromarray(np.zeros((8, 8), np.uint8)).save(tmp_path / "b.png")
    samples = read_samples(tmp_path)
    assert samples.names == ["b.png"]
    assert samples.skipped[0].reason == "not an image"


@pytest.mark.usefixtures("_no_programs")
def test_postscript_is_no_thumbnail():
    with pytest.raises(OSError, match="cannot identify"):
        open_thumbnail(POSTSCRIPT)
    with pytest.raises(OSError, match="cannot identify"):
        _decoded([POSTSCRIPT], "RGB", 32)


def test_every_call_of_pillow_names_the_formats():
    calls = [
        (path.name, ast.unparse(node))
        for path in Path(enhg.__file__).parent.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and re.search(r"Image\b[^.]*\.open$", ast.unparse(node.func))
    ]
    assert len(calls) >= 5
    assert not [call for call in calls if "formats=" not in call[1]]


# --- other files ------------------------------------------------------------------------------


def write_pointing(path, kind):
    """An HDF5 file whose array X is in another one."""
    secret = path.with_name("secret")
    secret.write_bytes(TABLE.tobytes())
    with h5py.File(path.with_name("other.h5"), "w") as file:
        file["X"] = TABLE
    with h5py.File(path, "w", userblock_size=512 if path.suffix == ".mat" else 0) as file:
        if kind == "external storage":
            file.create_dataset("X", (6, 4), "f8", external=[(str(secret), 0, h5py.h5f.UNLIMITED)])
        elif kind == "virtual dataset":
            layout = h5py.VirtualLayout((6, 4), "f8")
            layout[:] = h5py.VirtualSource(str(path.with_name("other.h5")), "X", (6, 4))
            file.create_virtual_dataset("X", layout)
        elif kind == "link to another file":
            file["X"] = h5py.ExternalLink("other.h5", "/X")
        else:
            file["deep/X"] = TABLE
            file["X"] = h5py.SoftLink("/deep/X")
    return path


@pytest.mark.parametrize("suffix", ["h5", "mat"])
@pytest.mark.parametrize("kind", ["external storage", "virtual dataset", "link to another file"])
def test_hdf5_reads_no_other_file(tmp_path, suffix, kind, refuses):
    path = write_pointing(tmp_path / f"a.{suffix}", kind)
    refuses(lambda: read_samples(path), "array X must hold real numbers", kind, "never followed")
    refuses(lambda: read_samples(path, key="X"), kind)


def test_hdf5_labels_are_from_no_other_file(tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(np.arange(6.0).tobytes())
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["X"] = TABLE
        file.create_dataset("y", (6,), "f8", external=[(str(secret), 0, 48)])
    with pytest.warns(
        UserWarning, match=r"labels: y \(values in another file \(external storage\)"
    ):
        assert read_samples(tmp_path / "a.h5").labels is None


def test_hdf5_soft_links(tmp_path, refuses):
    path = write_pointing(tmp_path / "a.h5", "soft link")
    np.testing.assert_array_equal(read_samples(path, key="deep/X").X, TABLE)
    refuses(lambda: read_samples(path, key="X"), "a soft link, which is never followed")


# --- FIFOs, sockets and devices -----------------------------------------------------------------


def make_fifo(path):
    os.mkfifo(path)


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        here = os.getcwd()
        os.chdir(path.parent)  # names of sockets are short
        try:
            made.bind(path.name)
        finally:
            os.chdir(here)


def link_to_fifo(path):
    os.mkfifo(path.with_name("fifo"))
    path.symlink_to("fifo")


def link_to_device(path):
    path.symlink_to("/dev/zero")


ODD = {"FIFO": make_fifo, "socket": make_socket, "link": link_to_fifo, "device": link_to_device}


@pytest.mark.parametrize("kind", ODD)
@pytest.mark.parametrize("name", READERS)
def test_only_regular_files_are_read(tmp_path, name, kind, refuses):
    ODD[kind](tmp_path / name)
    refuses(lambda: READERS[name](tmp_path / name), name, {"link": "FIFO"}.get(kind, kind))


@pytest.mark.parametrize("kind", ODD)
def test_zarr_holds_only_regular_files(tmp_path, kind, refuses):
    path = tmp_path / "a.zarr"
    zarr.create_array(path, data=TABLE, chunks=(3, 4))
    chunk = path / "c" / "1" / "0"
    chunk.unlink()
    ODD[kind](chunk)
    refuses(lambda: read_samples(path), "a.zarr", "regular file")


def test_a_file_that_becomes_a_fifo(tmp_path, monkeypatch):
    (tmp_path / "a").write_text("")
    status = os.stat(tmp_path / "a")
    make_fifo(tmp_path / "b")
    monkeypatch.setattr(os, "stat", lambda path: status)
    with pytest.raises(OSError, match="not a regular file"):
        open_regular(tmp_path / "b")


# --- memory -------------------------------------------------------------------------------------


def npy_header(shape, descr="<f8"):
    header = io.BytesIO()
    fields = {"descr": descr, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(header, fields)
    return header.getvalue()


def write_npz(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            with archive.open(name, "w") as stream:
                for part in content if isinstance(content, list) else [content]:
                    stream.write(part)
    return path


@pytest.mark.parametrize("suffix", ["npy", "npz"])
@pytest.mark.parametrize(
    ("shape", "descr"),
    [
        ((10**12, 4), "<f8"),
        ((10**12, 0), "<f8"),
        ((10**12, 4), "<U0"),
        ((10**12, 10**12), "<f8"),
        ((-4, 4), "<f8"),
        ((4, 4), "<U500000000"),
    ],
)
def test_numpy_headers_that_promise_much(tmp_path, suffix, shape, descr, refuses):
    content = npy_header(shape, descr) + TABLE.tobytes()
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(content) if suffix == "npy" else write_npz(path, {"X.npy": content})
    refuses(lambda: read_samples(path), str(path))


def test_npy_in_fortran_order(tmp_path, small_memory, refuses):
    """They are copied, unlike others, which stay in the file."""
    X = np.zeros((1000, 20_000), np.uint8)
    np.save(tmp_path / "a.npy", X.astype(np.float32))
    assert read_samples(tmp_path / "a.npy").X.shape == X.shape
    np.save(tmp_path / "a.npy", np.asfortranarray(X.astype(np.float32)))
    refuses(lambda: read_samples(tmp_path / "a.npy"), "does not fit in memory")


def test_npz_that_inflates(tmp_path, small_memory, refuses):
    zeros = [npy_header((10_000, 1000))] + [bytes(80_000)] * 1000
    path = write_npz(tmp_path / "a.npz", {"X.npy": zeros})
    assert path.stat().st_size < 100_000
    refuses(lambda: read_samples(path), "array X does not fit in memory: it needs 0.08 GB, 0.064")


def test_npz_that_is_far_larger_than_its_file(tmp_path, refuses):
    zeros = [npy_header((15_000, 1000))] + [bytes(80_000)] * 1500
    path = write_npz(tmp_path / "a.npz", {"X.npy": zeros})
    refuses(lambda: read_samples(path), "array X must not be over 500 times as large in memory")


def test_npz_of_other_compressions(tmp_path, refuses):
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("X.npy", npy_header((6, 4)) + TABLE.tobytes())
    refuses(lambda: read_samples(tmp_path / "a.npz"), "another method than deflate")


def overlapping(path, kind="X{}.npy", count=50):
    """An archive of many members that are the same bytes of the file."""
    data = npy_header((100, 100)) + bytes(80_000)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("X.npy", data)
    content = buffer.getvalue()
    start = content.index(b"PK\x01\x02")
    entry = content[start : content.index(b"PK\x05\x06")]
    tail = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, count, count, len(entry) * count, start, 0)
    path.write_bytes(content[:start] + entry * count + tail)
    return path


@pytest.mark.parametrize("read", [read_samples, load_model, Hypergraph.load])
def test_zip_members_that_overlap(tmp_path, read, refuses):
    refuses(lambda: read(overlapping(tmp_path / "a.npz")), "members overlap")


def test_hdf5_without_values(tmp_path, refuses):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("X", (10**4, 10**4), "f8", fillvalue=1.0)
    assert (tmp_path / "a.h5").stat().st_size < 2000
    refuses(lambda: read_samples(tmp_path / "a.h5"), "array X must not be over 500 times as large")
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file.create_dataset("X", (10**8, 10**6), "f8", chunks=(1, 100))
    refuses(lambda: read_samples(tmp_path / "b.h5"), "array X does not fit in memory")


def test_hdf5_with_a_huge_chunk(tmp_path, small_memory, refuses):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file.create_dataset("X", (6, 4), "f8", chunks=(10**4, 10**3), maxshape=(None, None))
    refuses(lambda: read_samples(tmp_path / "a.h5"), "array X does not fit in memory")


def test_hdf5_attribute_of_many_texts(tmp_path, refuses):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["X"] = TABLE
        file["X"].attrs.create("MATLAB_class", ["double"] * 5, dtype=h5py.string_dtype())
    np.testing.assert_array_equal(read_samples(tmp_path / "a.h5").X, TABLE)


@pytest.mark.parametrize("write", [write_mat73, scipy.io.savemat])
def test_mat_that_does_not_fit(tmp_path, write, small_memory, refuses):
    write(tmp_path / "a.mat", {"X": np.zeros((3000, 3000))})
    refuses(lambda: read_samples(tmp_path / "a.mat"), "does not fit in memory")


def mat_element(kind, data):
    return struct.pack("<2I", kind, len(data)) + data + bytes(-len(data) % 8)


def write_mat5(path, element):
    path.write_bytes(b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM" + element)
    return path


def test_mat_whose_values_are_more_than_its_shape(tmp_path, small_memory, refuses):
    flags = mat_element(6, struct.pack("<2I", 6, 0))
    parts = flags + mat_element(5, struct.pack("<2i", 2, 2)) + mat_element(1, b"X")
    packed = zlib.compress(mat_element(14, parts + mat_element(9, bytes(100_000_000))))
    path = write_mat5(tmp_path / "a.mat", mat_element(15, packed)[: 8 + len(packed)])
    refuses(lambda: read_samples(path), "100000000 bytes for 4 values")


def test_mat_values_of_an_unknown_type(tmp_path, refuses):
    """SciPy looks for the type outside of its table."""
    flags = mat_element(6, struct.pack("<2I", 6, 0))
    parts = flags + mat_element(5, struct.pack("<2i", 2, 2)) + mat_element(1, b"X")
    path = write_mat5(tmp_path / "a.mat", mat_element(14, parts + mat_element(521, bytes(32))))
    refuses(lambda: read_samples(path), "values of the unknown type 521")


@pytest.mark.parametrize("version", [b"\x01\x00", b"\x00\x01", b"\x02\x00"])
def test_mat_of_another_mark(tmp_path, monkeypatch, version, refuses):
    """SciPy finds the version without the mark, and would read version 5 itself."""
    path = tmp_path / "a.mat"
    scipy.io.savemat(path, {"X": TABLE})
    content = path.read_bytes()
    path.write_bytes(content[:124] + version + b"XX" + content[128:])
    monkeypatch.setattr(scipy.io, "whosmat", lambda stream: pytest.fail("read by SciPy"))
    refuses(lambda: read_samples(path), str(path), "damaged")


@pytest.mark.parametrize("order", ["<", ">"])
def test_text_that_is_none(tmp_path, order, refuses):
    """NumPy has 32 bits for a character, of which Unicode has fewer."""
    content = npy_header((6,), f"{order}U1") + np.array([97, 2**31] * 3, f"{order}u4").tobytes()
    (tmp_path / "a.npy").write_bytes(content)
    refuses(lambda: read_labels(tmp_path / "a.npy", [*"abcdef"]), "characters that are none")
    write_npz(tmp_path / "a.npz", {"X.npy": npy_header((6, 4)) + TABLE.tobytes(), "y.npy": content})
    refuses(lambda: read_samples(tmp_path / "a.npz"), "its labels", "characters that are none")


def test_mat_element_that_is_longer_than_the_file(tmp_path, refuses):
    path = write_mat5(tmp_path / "a.mat", struct.pack("<2I", 14, 4_000_000_000) + bytes(64))
    refuses(lambda: read_samples(path), "an element is longer than the file")


def test_zarr_without_chunks(tmp_path, refuses):
    path = tmp_path / "a.zarr"
    zarr.create_array(path, shape=(10**4, 10**4), chunks=(100, 100), dtype="f8")
    refuses(lambda: read_samples(path), "must not be over 500 times as large")
    metadata = json.loads((path / "zarr.json").read_text())
    (path / "zarr.json").write_text(json.dumps(metadata | {"shape": [10**12, 10**4]}))
    refuses(lambda: read_samples(path), "does not fit in memory")
    (path / "zarr.json").write_text(json.dumps(metadata | {"shape": [-1, 3]}))
    refuses(lambda: read_samples(path), "a.zarr")


def test_parquet_of_one_value(tmp_path, refuses):
    column = pa.array(np.zeros(3_000_000))
    table = pa.table({f"f{i}": column for i in range(8)})
    pq.write_table(table, tmp_path / "a.parquet", compression="zstd")
    assert (tmp_path / "a.parquet").stat().st_size < 400_000
    refuses(lambda: read_samples(tmp_path / "a.parquet"), "must not be over 500 times as large")


def test_a_sparse_file_of_text(tmp_path, refuses):
    for name in ("a.csv", "a.tsv"):
        with open(tmp_path / name, "wb") as stream:
            stream.truncate(10**13)
        refuses(lambda name=name: read_samples(tmp_path / name), "does not fit in memory")
    (tmp_path / "a.csv").rename(tmp_path / "labels.csv")
    refuses(lambda: read_labels(tmp_path / "labels.csv", ["a"]), "does not fit in memory")
    (tmp_path / "labels.csv").rename(tmp_path / "a.onnx")
    refuses(lambda: ImageFeatures(tmp_path / "a.onnx").fit(), "does not fit in memory")


def test_a_picture_of_too_many_pixels(tmp_path, refuses):
    """A PNG file of a few bytes whose header promises 10⁹ pixels."""

    def chunk(kind, data):
        length, checksum = (struct.pack(">I", n) for n in (len(data), zlib.crc32(kind + data)))
        return length + kind + data + checksum

    header = chunk(b"IHDR", struct.pack(">2I5B", 40_000, 25_000, 8, 6, 0, 0, 0))
    data = chunk(b"IDAT", zlib.compress(bytes(10**6)))
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n" + header + data + chunk(b"IEND", b""))
    refuses(lambda: read_samples(tmp_path), "too large to decode safely")


def test_a_cache_of_anything(tmp_path):
    """A damaged archive of a cache, also one that would take memory, is passed over."""
    Image.fromarray(np.zeros((8, 8), np.uint8)).save(tmp_path / "b.png")
    cache = FeatureCache(tmp_path / "cache")
    read_samples(tmp_path, cache=cache)
    for file in (tmp_path / "cache").iterdir():
        overlapping(file)
    make_fifo(tmp_path / "cache" / "index-0.npz")
    assert read_samples(tmp_path, cache=FeatureCache(tmp_path / "cache")).names == ["b.png"]


# --- what the formats hold beside numbers ---------------------------------------------------------


def test_what_matlab_and_hdf5_hold_beside_numbers(tmp_path, refuses):
    cells = np.empty((2, 2), dtype=object)
    cells[:] = [[TABLE, "a"], [1, 2]]
    scipy.io.savemat(tmp_path / "cell.mat", {"X": cells})
    refuses(lambda: read_samples(tmp_path / "cell.mat"), "array X", "objects (cell)")
    scipy.io.savemat(tmp_path / "struct.mat", {"X": {"a": TABLE}})
    refuses(lambda: read_samples(tmp_path / "struct.mat"), "array X", "objects (struct)")
    with h5py.File(tmp_path / "reference.h5", "w") as file:
        group = file.create_group("g")
        file.create_dataset("X", (2, 2), h5py.ref_dtype)[:] = group.ref
    refuses(lambda: read_samples(tmp_path / "reference.h5", key="X"), "array X", "objects")
    with h5py.File(tmp_path / "empty.h5", "w") as file:
        file["X"] = h5py.Empty("f8")
    refuses(lambda: read_samples(tmp_path / "empty.h5"), "array X must hold at least one sample")


def function_handle(class_number):
    """An object (3) or a function (16) of MATLAB, as far as readers see it in the header."""
    flags = mat_element(6, struct.pack("<2I", class_number, 0))
    parts = flags + mat_element(5, struct.pack("<2i", 1, 1)) + mat_element(1, b"X")
    return mat_element(14, parts + mat_element(1, b"inline"))


@pytest.mark.parametrize(("number", "kind"), [(3, "object"), (16, "function")])
def test_matlab_objects_and_functions(tmp_path, number, kind, refuses):
    path = write_mat5(tmp_path / "a.mat", function_handle(number))
    refuses(lambda: read_samples(path), "array X", f"objects ({kind})")


# --- tables -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n_columns", "delimiter"), [(20_000, ","), (20_000, ";"), (20_000, "\t"), (1_000_000, ",")]
)
def test_wide_tables(tmp_path, delimiter, n_columns):
    values = np.arange(2 * n_columns).reshape(2, -1) % 1000 + 0.125  # 8 letters: a line of 160 kB
    text = "\n".join(delimiter.join(map(str, row)) for row in values.tolist())
    (tmp_path / "a.csv").write_text(text)
    np.testing.assert_array_equal(read_samples(tmp_path / "a.csv").X, values)


def test_wide_tables_take_little_memory(tmp_path):
    """Rows in which the separator is looked for are not all in memory."""
    (tmp_path / "a.csv").write_text("\n".join([",".join(["0.5"] * 300_000)] * 20))
    code = (
        "import sys, resource; from enhg.io import read_samples; "
        "base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; "
        "X = read_samples(sys.argv[1]).X; "
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - base, X.shape)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "a.csv")]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    grown, shape = result.stdout.split(maxsplit=1)
    assert shape.strip() == "(20, 300000)"
    assert int(grown) < 250_000  # kB; the samples are 48 MB, their cells as text 320 MB


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"1,2\n3,\x004\n", "NUL bytes"),
        ("1,2\n3,4\n".encode("utf-16-le"), "NUL bytes"),
        ("1,2\n3,4\n".encode("utf-32"), "NUL bytes"),
        (b"\xef\xbb\xbf\xef\xbb\xbf1,2\n3,4\n", "row 1"),
        (b'"' + b"1,2\n" * 50_000, "field larger"),
    ],
)
def test_odd_text(tmp_path, content, part, refuses):
    (tmp_path / "a.csv").write_bytes(content)
    refuses(lambda: read_samples(tmp_path / "a.csv"), "a.csv", part)
