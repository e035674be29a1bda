"""Features of images from an ONNX model, run by onnxruntime."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from enhg._optional import require
from enhg.exceptions import InputError
from enhg.features._pixels import resized
from enhg.io._base import readable, reason, shape_text

if TYPE_CHECKING:
    from PIL import Image

# Of the images of ImageNet, by which most published networks standardize.
_IMAGENET_MEAN, _IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
# Entries of the model's own metadata that give the preparation of its images.
_SIZE_KEYS, _MEAN_KEYS, _STD_KEYS = ("size", "imgsz"), ("mean", "image_mean"), ("std", "image_std")
_LARGEST_SIDE = 4096  # pixels of an image for a network: 200 MB as float32
_LARGEST_VALUE = 1e6  # of mean and std; values of images are in 0 to 1
_EXTERNAL_FOLDER = "session.model_external_initializers_file_folder_path"

Values = float | Sequence[float] | None
Size = int | Sequence[int] | None


class Network:
    """A model from images to features.

    Parameters
    ----------
    data : bytes
        The ONNX model.
    path : Path
        Its file: for messages, and for the folder of its external data.
    size, mean, std, output
        As in `enhg.features.ImageFeatures`.
    n_jobs : int or None
        Number of threads; None for all cores.

    Attributes
    ----------
    sha256 : str
        Of the model and of the files of its external data, in hexadecimal.
    size : (int, int)
        Height and width of the images.
    mean, std : tuple of 3 floats
    output : str
    n_features : int
    """

    def __init__(
        self,
        data: bytes,
        path: Path,
        *,
        size: Size = None,
        mean: Values = None,
        std: Values = None,
        output: str | None = None,
        n_jobs: int | None = None,
    ) -> None:
        onnx = require("onnx", "photos")
        self._path = path
        with readable(path):
            model = onnx.load_model_from_string(data)
        self._check_graph(model)
        external = list(self._external_files(model))
        self.sha256 = _digest(data, external)
        metadata = {entry.key: entry.value for entry in model.metadata_props}
        self._read_input(model, size, metadata)
        self.mean = self._values("mean", mean, metadata, _MEAN_KEYS, _IMAGENET_MEAN)
        self.std = self._values("std", std, metadata, _STD_KEYS, _IMAGENET_STD)
        if min(self.std) <= 0:
            raise InputError(f"std must be positive, got {list(self.std)}", parameter="std")
        self.output = self._choose_output(model, output)
        self._session = self._start(model, n_jobs)
        self.n_features = self.features([np.zeros((*self.size, 3), np.uint8)]).shape[1]

    def prepare(self, image: Image.Image) -> NDArray[Any]:
        """Return the pixels of one image (mode RGB, L or F) in the size of the network."""
        return np.asarray(resized(image, self.size))

    def features(self, batch: Sequence[NDArray[Any]]) -> NDArray[np.float32]:
        """Return the features of prepared images, shape (n_images, n_features)."""
        n = len(batch)
        # Some networks take batches of one length only: the last is filled with zeros.
        step = self._batch_size or n
        inputs = np.zeros((-(-n // step) * step, *self._shape), dtype=self._dtype)
        for pixels, values in zip(batch, inputs, strict=False):
            self._standardize(pixels, values)
        parts = [self._run(inputs[i : i + step]) for i in range(0, len(inputs), step)]
        features = np.concatenate(parts)[:n]
        if not np.isfinite(features).all():
            raise InputError(
                f"{self._path}: output {self.output!r} holds NaN or infinite values; check size, "
                "mean and std, or choose another output",
                parameter="output",
            )
        return features

    def _standardize(self, pixels: NDArray[np.uint8], out: NDArray[Any]) -> None:
        """Write (value/255 − mean)/std of one image to `out`."""
        scale = 1 / (255 * np.array(self.std, dtype=np.float32))
        shift = np.array(self.mean, dtype=np.float32) / np.array(self.std, dtype=np.float32)
        if not self._channels_last:
            pixels = pixels.transpose(2, 0, 1)
            scale, shift = scale[:, None, None], shift[:, None, None]
        np.multiply(pixels, scale, out=out, casting="same_kind")
        out -= shift

    def _run(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        try:
            (result,) = self._session.run([self.output], {self._input: batch})
        except Exception as error:  # of onnxruntime, which has no common base class
            raise InputError(
                f"{self._path}: cannot be run on images of {shape_text(self.size)} "
                f"({reason(error)}); check size and output"
            ) from error
        shape = getattr(result, "shape", ())
        if not 2 <= len(shape) <= 4 or len(result) != len(batch) or result.dtype.kind not in "fiu":
            raise InputError(
                f"{self._path}: output {self.output!r} must hold numbers with one row per image, "
                f"got {shape_text(shape)} of {len(batch)} images; choose another output",
                parameter="output",
            )
        spatial = {2: (), 3: (1,), 4: (1, 2) if self._channels_last else (2, 3)}[len(shape)]
        return (
            result.astype(np.float32).mean(axis=spatial) if spatial else result.astype(np.float32)
        )

    # --- what the model says about itself --------------------------------------------------------

    def _check_graph(self, model: Any) -> None:
        if not model.graph.node or not model.graph.output:
            raise InputError(f"{self._path}: not an ONNX model (it holds no graph)")

    def _external_files(self, model: Any) -> Iterator[Path]:
        """Files of weights outside the model; they must be in its folder."""
        folder = self._path.parent.resolve()
        locations = {
            entry.value
            for tensor in _tensors([model.graph, *model.functions])
            for entry in tensor.external_data
            if entry.key == "location"
        }
        for location in sorted(locations):
            file = (folder / location).resolve()
            if not file.is_relative_to(folder):
                raise InputError(
                    f"{self._path}: its weights must be in its own folder, got {location!r}"
                )
            if not file.is_file():
                raise InputError(f"{self._path}: its file of weights {location!r} is missing")
            yield file

    def _read_input(self, model: Any, size: Size, metadata: dict[str, str]) -> None:
        onnx = require("onnx", "photos")
        weights = {tensor.name for tensor in model.graph.initializer}
        inputs = [value for value in model.graph.input if value.name not in weights]
        if len(inputs) != 1:
            names = ", ".join(value.name for value in inputs)
            raise InputError(f"{self._path}: must have one input, got {len(inputs)} ({names})")
        tensor = inputs[0].type.tensor_type
        kinds = {onnx.TensorProto.FLOAT: np.float32, onnx.TensorProto.FLOAT16: np.float16}
        dims = [dim.dim_value or None for dim in tensor.shape.dim]
        if tensor.elem_type not in kinds or len(dims) != 4:
            kind = onnx.TensorProto.DataType.Name(tensor.elem_type).lower()
            raise InputError(
                f"{self._path}: must take images as float32 in four dimensions, got {kind} in "
                f"{len(dims)}"
            )
        n, a, b, c = dims
        # Without a word about the channels they come first, as torch exports them.
        self._channels_last = a != 3 and c == 3
        if not self._channels_last and a not in (3, None):
            raise InputError(f"{self._path}: must take images of 3 channels, got {a}")
        self._input, self._batch_size, self._dtype = inputs[0].name, n, kinds[tensor.elem_type]
        fixed = (a, b) if self._channels_last else (b, c)
        self.size = self._choose_size(fixed, size, metadata)
        height, width = self.size
        self._shape = (height, width, 3) if self._channels_last else (3, height, width)

    def _choose_size(
        self, fixed: tuple[int | None, int | None], size: Size, metadata: dict[str, str]
    ) -> tuple[int, int]:
        given = size if size is not None else _json_entry(metadata, _SIZE_KEYS)
        if given is None and None not in fixed:
            given = fixed
        if given is None:
            raise InputError(
                f"{self._path}: does not say the size of its images; set size", parameter="size"
            )
        sides = list(given) if isinstance(given, Iterable) else [given, given]
        # The last two entries: metadata may hold the channels before them.
        if len(sides) < 2 or not all(
            type(side) is int and 0 < side <= _LARGEST_SIDE for side in sides
        ):
            raise InputError(
                "size must be a positive whole number or (height, width), at most "
                f"{_LARGEST_SIDE}, got {given!r}",
                parameter="size",
            )
        height, width = sides[-2:]
        if fixed[0] not in (None, height) or fixed[1] not in (None, width):
            raise InputError(
                f"{self._path}: takes images of {fixed[0]}×{fixed[1]} only, got size "
                f"{height}×{width}",
                parameter="size",
            )
        return height, width

    def _values(
        self,
        name: str,
        given: Values,
        metadata: dict[str, str],
        keys: tuple[str, ...],
        default: tuple[float, ...],
    ) -> tuple[float, ...]:
        """Mean or std of the channels: as given, of the metadata, or of ImageNet."""
        value = given if given is not None else _json_entry(metadata, keys)
        value = default if value is None else value
        values = list(value) if isinstance(value, Iterable) else [value] * 3
        if len(values) != 3 or not all(
            isinstance(number, int | float) and abs(number) <= _LARGEST_VALUE for number in values
        ):
            raise InputError(
                f"{name} must be a number or three numbers, got {value!r}", parameter=name
            )
        return tuple(float(number) for number in values)

    def _choose_output(self, model: Any, output: str | None) -> str:
        """Name of the output; an intermediate tensor is added to the outputs of the model."""
        outputs = [value.name for value in model.graph.output]
        if output is None:
            return outputs[0]
        if output not in outputs:
            if not any(output in node.output for node in model.graph.node):
                raise InputError(
                    f"{self._path}: has no output or tensor {output!r}; its outputs are "
                    f"{', '.join(outputs)}",
                    parameter="output",
                )
            model.graph.output.append(require("onnx", "photos").ValueInfoProto(name=output))
        return output

    def _start(self, model: Any, n_jobs: int | None) -> Any:
        # Its import collects facts about the machine, keeps them in the home, and may send them.
        os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
        runtime = require("onnxruntime", "photos")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = effective_n_jobs(-1 if n_jobs is None else n_jobs)
        # Threads that wait for work would take the cores from those that read images.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = 4  # errors are raised; its warnings are for authors of models
        options.add_session_config_entry(_EXTERNAL_FOLDER, str(self._path.parent.resolve()))
        with readable(self._path):
            return runtime.InferenceSession(
                model.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )


def _tensors(graphs: Iterable[Any]) -> Iterator[Any]:
    """All tensors of graphs and functions, those of nested graphs too."""
    for graph in graphs:
        yield from getattr(graph, "initializer", ())
        for sparse in getattr(graph, "sparse_initializer", ()):
            yield from (sparse.values, sparse.indices)
        for node in graph.node:
            for attribute in node.attribute:
                yield from (attribute.t, *attribute.tensors)
                yield from _tensors([attribute.g, *attribute.graphs])


def _digest(data: bytes, external: list[Path]) -> str:
    digest = hashlib.sha256(data)
    for file in external:
        with file.open("rb") as stream:
            digest.update(hashlib.file_digest(stream, "sha256").digest())
    return digest.hexdigest()


def _json_entry(metadata: dict[str, str], keys: tuple[str, ...]) -> Any:
    """The first entry that is a number or a list, as JSON has them."""
    for key in keys:
        try:
            value = json.loads(metadata.get(key, ""))
        except ValueError:
            continue
        if isinstance(value, int | float | list):
            return value
    return None
