"""Every reader with its corpus, the changes of its files, and what must hold of a result."""

from __future__ import annotations

import pickle
import shutil
import struct
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import fuzz_corpus as corpus
import numpy as np
from fuzz_mutations import mutated, mutated_folder, mutated_image, mutated_zip

from enhg import Graph, Hypergraph, InputError
from enhg.features import ImageFeatures
from enhg.features._torch_file import read_tensors
from enhg.io import read_labels, read_samples
from enhg.io.models import read_model

# What a reader may raise. Images that cannot be read are an error where there is no other.
EXPECTED = (InputError,)


@dataclass(frozen=True)
class Reader:
    """A reader under test.

    Attributes
    ----------
    files : callable
        Makes the contents of the corpus.
    names : tuple of str
        Name of the file; the one of a content is by its number, modulo theirs.
    read : callable
        Reads the path and checks the result.
    change : callable
        Changes a content.
    """

    files: Callable[[Path], list[Any]]
    names: tuple[str, ...]
    read: Callable[[Path], None]
    change: Callable[[Any, np.random.Generator, list[Any]], Any] = mutated


def check_message(message):
    """A message is one line of some words."""
    assert message.isprintable()
    assert 10 < len(message) < 3000


def check_samples(path):
    samples = read_samples(path)
    n, d = samples.X.shape
    assert n > 0
    assert d > 0
    assert samples.X.dtype in (np.uint8, np.float32, np.float64)
    assert np.isfinite(samples.X).all()
    assert len(samples.names) == n
    assert all(isinstance(name, str) for name in samples.names)
    assert samples.labels is None or samples.labels.shape == (n,)
    assert samples.image_shape is None or np.prod(samples.image_shape) == d
    assert samples.recipe is None or isinstance(samples.recipe, dict)


def check_labels(path):
    labels = read_labels(path, corpus.NAMES)
    assert labels.shape == (12,)
    assert len(set(labels) - {""}) >= 2


def check_model(path):
    """A model that is accepted can be used; its results are labels and scores."""
    saved = read_model(path)
    model = saved.model
    samples = model.structure_.samples_
    new = np.vstack([samples[:2] * 1.01, np.ones((1, samples.shape[1]))]).astype(samples.dtype)
    prediction = model.predict_with_scores(new)
    assert len(prediction.labels) == 3
    for scores in (prediction.confidence, prediction.outlier_scores):
        assert ((scores >= 0) & (scores <= 1)).all()
    if hasattr(model, "n_clusters_"):
        assert ((prediction.labels >= -1) & (prediction.labels < model.n_clusters_)).all()


def check_graph(graph):
    assert np.isfinite(graph.vertex_degrees).all()
    assert np.isfinite(graph.theta @ np.ones(graph.n_vertices)).all()
    count, labels = graph.connected_components()
    assert count == labels.max() + 1


def check_image(path):
    for gray in (True, False):
        samples = read_samples(path.parent, size=(6, 5), gray=gray, n_jobs=1)
        assert samples.X.shape == (1, 30 if gray else 90)
        assert np.isfinite(samples.X).all()


def check_network(path):
    features = ImageFeatures(path, n_jobs=1).fit()
    assert features.n_features_out_ > 0


def check_tensors(path):
    for name, tensor in read_tensors(path.read_bytes(), path).items():
        assert isinstance(name, str)
        assert tensor.nbytes <= path.stat().st_size


def torch_files(folder):
    """A dictionary of one tensor in the format of torch before version 1.6."""

    def opcodes(value):
        return pickle.dumps(value, protocol=2)[2:-1]

    storage = opcodes("storage") + b"ctorch\nFloatStorage\n" + opcodes("0") + opcodes("cpu")
    shapes = opcodes(0) + opcodes((2, 3)) + opcodes((3, 1))
    empty = b"ccollections\nOrderedDict\n)R"
    tensor = b"ctorch._utils\n_rebuild_tensor_v2\n((" + storage + opcodes(6) + b"NtQ"
    tensor += shapes + b"\x89" + empty + b"tR"
    machine = b"}(" + opcodes("little_endian") + b"\x88u"
    tensors = empty + b"(" + opcodes("w") + tensor + b"u"
    keys = b"](" + opcodes("0") + b"e"
    parts = [opcodes(0x1950A86A20F9469CFC6C), opcodes(1001), machine, tensors, keys]
    pickles = b"".join(b"\x80\x02" + part + b"." for part in parts)
    return [pickles + struct.pack("<q6f", 6, *range(6))]


READERS = {
    "npy": Reader(corpus.npy_files, ("a.npy",), check_samples),
    "npz": Reader(corpus.npz_files, ("a.npz",), check_samples, mutated_zip),
    "mat": Reader(corpus.mat_files, ("a.mat",), check_samples),
    "hdf5": Reader(corpus.hdf5_files, ("a.h5", "a.hdf5", "a.mat"), check_samples),
    "csv": Reader(corpus.csv_files, ("a.csv",), check_samples),
    "tsv": Reader(corpus.tsv_files, ("a.tsv",), check_samples),
    "parquet": Reader(corpus.parquet_files, ("a.parquet",), check_samples),
    "zarr": Reader(corpus.zarr_folders, ("a.zarr",), check_samples, mutated_folder),
    "images": Reader(corpus.image_files, ("a.png",), check_image, mutated_image),
    "labels": Reader(
        corpus.label_files,
        ("a.csv", "a.txt", "a.tsv", "a.npy", "b.npy"),
        check_labels,
    ),
    "model": Reader(corpus.model_files, ("a.npz",), check_model, mutated_zip),
    "hypergraph": Reader(
        corpus.hypergraph_files, ("a.npz",), lambda p: check_graph(Hypergraph.load(p)), mutated_zip
    ),
    "graph": Reader(
        corpus.graph_files, ("a.npz",), lambda p: check_graph(Graph.load(p)), mutated_zip
    ),
    "onnx": Reader(corpus.onnx_files, ("a.onnx",), check_network),
    "torch": Reader(torch_files, ("a.bin",), check_tensors),
}


class Fuzzer:
    """Inputs of a reader by their numbers.

    Parameters
    ----------
    name : str
        Of `READERS`.
    folder : Path
        An empty folder for the files.
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.reader, self.folder = name, READERS[name], folder
        self.contents = self.reader.files(folder)
        self.input_folder = folder / "input"

    def write(self, number: int) -> Path:
        """Write the input of a number; the first are the files of the corpus, unchanged."""
        if self.input_folder.exists():
            shutil.rmtree(self.input_folder)
        self.input_folder.mkdir()
        rng = np.random.default_rng([crc32(self.name.encode()), number])
        which = number % len(self.contents)
        content = self.contents[which]
        if number >= len(self.contents):
            content = self.reader.change(content, rng, self.contents)
        path = self.input_folder / self.reader.names[which % len(self.reader.names)]
        if isinstance(content, bytes):
            path.write_bytes(content)
            return path
        for inner, data in content.items():
            (path / inner).parent.mkdir(parents=True, exist_ok=True)
            (path / inner).write_bytes(data)
        path.mkdir(exist_ok=True)
        return path

    def run(self, number: int) -> bool:
        """Read an input; True if it was accepted. A failure raises."""
        path = self.write(number)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                self.reader.read(path)
            except EXPECTED as error:
                check_message(str(error))
                return False
        return True
