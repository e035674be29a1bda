"""Small valid files of every kind that is read, made anew each time."""

from __future__ import annotations

import shutil
import warnings
from contextlib import nullcontext, suppress
from io import BytesIO

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import scipy.io
import zarr
from PIL import Image

from enhg import Graph, Hypergraph, HypergraphClassifier, HypergraphClustering, save_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 5)).round(3)
Y = np.repeat([1, 2, 3], 4)
NAMES = [f"img{i}.png" for i in range(12)]
PICTURE = RNG.integers(0, 256, size=(12, 9, 3), dtype=np.uint8)


def _npy(array, **options):
    stream = BytesIO()
    np.lib.format.write_array(stream, np.asarray(array, **options))
    return stream.getvalue()


def _written(folder, name, write):
    path = folder / name
    write(path)
    content = path.read_bytes()
    path.unlink()
    return content


def npy_files(folder):
    """Arrays of several types and orders."""
    kinds = ("f8", "f4", "u1", "i2", ">f4", "b1", "f2")
    arrays = [np.abs(10 * X).astype(kind) for kind in kinds]
    arrays += [np.asfortranarray(X), PICTURE]
    return [_npy(array) for array in arrays]


def npz_files(folder):
    arrays = {"X": X, "y": Y, "names": np.array(NAMES), "recipe": np.array('{"model": "hog"}')}
    groups = {"train/data": X, "train/labels": Y, "test/data": X[:3], "test/labels": Y[:3]}
    return [
        _written(folder, "a.npz", lambda path: np.savez(path, **arrays)),
        _written(folder, "a.npz", lambda path: np.savez_compressed(path, **arrays)),
        _written(folder, "a.npz", lambda path: np.savez(path, **groups)),
    ]


def mat_files(folder):
    cells = np.empty((1, 2), dtype=object)
    cells[:] = [[X, "text"]]
    held = {"fea": X, "gnd": Y[:, None], "c": cells, "s": {"a": 1}, "t": "text"}
    plain = {"fea": X, "gnd": Y[:, None]}
    return [
        _written(folder, "a.mat", lambda path: scipy.io.savemat(path, held)),
        _written(folder, "a.mat", lambda path: scipy.io.savemat(path, held, do_compression=True)),
        _written(folder, "a.mat", lambda path: scipy.io.savemat(path, plain, format="4")),
    ]


def hdf5_files(folder):
    def plain(path):
        with h5py.File(path, "w") as file:
            file["X"], file["y"] = X, Y

    def packed(path):
        with h5py.File(path, "w", libver="latest") as file:
            file.create_dataset("train/data", data=X, chunks=(3, 5), compression="gzip")
            file.create_dataset("train/labels", data=Y, chunks=(4,), shuffle=True, fletcher32=True)
            file["train/names"] = NAMES
            file["nothing"] = h5py.Empty("f")
            file["link"] = h5py.SoftLink("/train")

    def text(path):
        with h5py.File(path, "w") as file:
            file["X"], file["y"] = X, Y.astype(str).tolist()

    def matlab(path):
        with h5py.File(path, "w", userblock_size=512) as file:
            file["fea"] = X.T
            file["fea"].attrs["MATLAB_class"] = np.bytes_(b"double")
        with path.open("r+b") as stream:
            stream.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")

    return [_written(folder, "a.h5", write) for write in (plain, packed, text, matlab)]


def _table(delimiter):
    plain = "\n".join(delimiter.join(map(str, row)) for row in X.tolist())
    heads = delimiter.join(["name", *"abcde", "label"])
    rows = [
        delimiter.join([name, *map(str, row), str(label)])
        for name, row, label in zip(NAMES, X.tolist(), Y, strict=True)
    ]
    headed = "\r\n".join([heads, *rows])
    quoted = delimiter.join(['"a ""b"""', r"$'c\nd\xe9'", "'=1+1"]) + "\n" + delimiter.join("123")
    return [
        plain.encode(),
        headed.encode("utf-8-sig"),
        headed.encode("utf-16"),
        quoted.encode(),
        b"caf\xe9" + delimiter.encode() + b"1\n",
    ]


def csv_files(folder):
    return [*_table(","), *_table(";")]


def tsv_files(folder):
    return _table("\t")


def parquet_files(folder):
    lists = pa.array(X.tolist(), pa.list_(pa.float32()))
    tables = [
        pa.table({"embedding": lists, "name": NAMES, "label": Y}),
        pa.table({f"f{i}": column for i, column in enumerate(X.T)} | {"class": Y.astype(str)}),
    ]
    options = ({"compression": "none"}, {"compression": "zstd", "row_group_size": 5})
    return [
        _written(folder, "a", lambda path, t=table, o=option: pq.write_table(t, path, **o))
        for table in tables
        for option in options
    ]


def zarr_folders(folder):
    """Contents by path inside the folder."""
    contents = []
    for version, chunks, shards in ((3, (4, 5), None), (3, (2, 5), (4, 5)), (2, (6, 3), None)):
        path = folder / "a.zarr"
        group = zarr.open_group(path, mode="w", zarr_format=version)
        group.create_array("X", data=X, chunks=chunks, shards=shards)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # text is not in the specification
            group.create_array("y", data=Y if version == 2 else Y.astype(str))
        files = [file for file in sorted(path.rglob("*")) if file.is_file()]
        contents.append({str(file.relative_to(path)): file.read_bytes() for file in files})
        shutil.rmtree(path)
    return contents


def image_files(folder):
    """One or more of every format, some with EXIF, colors of a palette, 16 bits or frames."""
    image = Image.fromarray(PICTURE)
    exif = Image.Exif()
    exif[0x0112] = 6
    deep = Image.fromarray(RNG.integers(0, 2**16, size=(12, 9), dtype=np.uint16))
    clear = image.copy()
    clear.putalpha(100)
    frames = {"save_all": True, "append_images": [image]}
    saves = [
        (image, "JPEG", {"exif": exif}), (image, "JPEG", {"progressive": True}),
        (image, "PNG", {}), (clear, "PNG", {}), (deep, "PNG", {}), (image.convert("P"), "PNG", {}),
        (image, "GIF", frames), (image, "WEBP", {"lossless": True}), (clear, "WEBP", frames),
        (image, "TIFF", {"compression": "tiff_lzw"}), (deep, "TIFF", {}),
        (image, "TIFF", {"compression": "tiff_adobe_deflate"}), (image, "BMP", {}),
        (image, "PPM", {}), (deep, "PPM", {}), (image.convert("1"), "PPM", {}),
    ]  # fmt: skip
    contents = []
    for picture, kind, options in saves:
        stream = BytesIO()
        # Older versions of Pillow do not write this one.
        with suppress(OSError) if (picture is deep and kind == "PPM") else nullcontext():
            picture.save(stream, kind, **options)
            contents.append(stream.getvalue())
    return contents + _heif(image)


def _heif(image):
    """AVIF and HEIC, where the packages that read them are installed and can write them."""
    contents = []
    for kind, module in (("AVIF", "PIL.AvifImagePlugin"), ("HEIF", "pillow_heif")):
        try:
            package = __import__(module, fromlist=["_"])
            if kind == "HEIF":
                package.register_heif_opener()
            stream = BytesIO()
            image.resize((64, 64)).save(stream, kind)
            contents.append(stream.getvalue())
        except Exception:
            continue
    return contents


def label_files(folder):
    rows = [f"{name},{label}" for name, label in zip(NAMES, "abcabcabc???", strict=True)]
    column = "label\n" + "\n".join("abcabcabcabc")
    return [
        "\n".join(["name,label", *rows]).encode("utf-8-sig"),
        "\n".join(row.replace(",", ";") for row in rows).encode(),
        column.encode("utf-16"),
        _npy(Y),
        _npy(np.array([*"abcabcabcabc"])),
    ]


def model_files(folder):
    samples = np.vstack([RNG.normal(size=(8, 6)) @ RNG.normal(size=(6, 6)) for _ in range(3)])
    given = np.where(np.arange(24) % 4 == 0, np.repeat([0, 1, 2], 8), -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        models = [
            HypergraphClustering(3, random_state=0).fit(samples),
            HypergraphClassifier().fit(samples, given),
            HypergraphClassifier(method="poisson").fit(samples, np.array([*"abc", ""])[given]),
        ]
    options = {"names": [f"{i}.png" for i in range(24)], "image_shape": (2, 3)}
    return [
        _written(folder, "m.npz", lambda path, m=model: save_model(m, path, **options))
        for model in models
    ]


def hypergraph_files(folder):
    graphs = [
        Hypergraph.from_edges([[i, (i + 1) % 9, (i + 3) % 9] for i in range(9)]),
        Hypergraph([[1, 0], [1, 0.5], [0, 1]], weights=[2, 3]),
    ]
    return [_written(folder, "h.npz", graph.save) for graph in graphs]


def graph_files(folder):
    dense = np.ones((5, 5)) - np.eye(5)
    ring = np.roll(np.eye(6), 1, axis=1)
    graphs = [Graph(dense), Graph(scipy.sparse.csr_array(ring + ring.T))]
    return [_written(folder, "g.npz", graph.save) for graph in graphs]


def onnx_files(folder):
    from onnx import TensorProto, helper, numpy_helper

    weights = numpy_helper.from_array(RNG.normal(size=(4, 3, 3, 3)).astype(np.float32), "w")
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node("GlobalAveragePool", ["c"], ["p"]),
        helper.make_node("Flatten", ["p"], ["f"]),
    ]
    images = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 3, 8, 8])
    features = helper.make_tensor_value_info("f", TensorProto.FLOAT, ["n", 4])
    graph = helper.make_graph(nodes, "net", [images], [features], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return [model.SerializeToString()]
