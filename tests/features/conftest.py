"""Helpers of the tests of features, as fixtures."""

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("onnx", reason="the extra photos is not installed")
pytest.importorskip("onnxruntime", reason="the extra photos is not installed")
pytest.importorskip("skimage", reason="the extra photos is not installed")

import onnx
from onnx import TensorProto, helper, numpy_helper

from enhg.features import ImageFeatures


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory):
    """The network is made once per run, in a folder of the run."""
    folder = tmp_path_factory.mktemp("network")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ENHG_CACHE", str(folder))
        yield folder


@pytest.fixture(scope="session")
def network(cache_folder):
    return ImageFeatures(n_jobs=1).fit()


@pytest.fixture
def pictures(tmp_path):
    """A folder of 7 PNG images of different sizes."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for i in range(7):
        pixels = rng.integers(0, 256, (20 + i, 30, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{i}.png")
    return folder


@pytest.fixture(scope="session")
def small_model():
    """Write an ONNX model of one convolution (to 4 channels, kernel 1×1) and a global mean.

    Outputs "logits" (n×4) and, on demand, "tokens" (n×pixels×4); "maps" is a tensor inside.
    """

    def write(
        path, weight, *, dims=("n", 3, 8, 8), kind=TensorProto.FLOAT, metadata=None, last=False
    ):
        dtype = helper.tensor_dtype_to_np_dtype(kind)
        nodes = [
            helper.make_node("Conv", ["planes", "weight"], ["maps"]),
            helper.make_node("GlobalAveragePool", ["maps"], ["pooled"]),
            helper.make_node("Flatten", ["pooled"], ["logits"]),
            helper.make_node("Reshape", ["maps", "shape"], ["columns"]),
            helper.make_node("Transpose", ["columns"], ["tokens"], perm=[0, 2, 1]),
        ]
        move = {"perm": [0, 3, 1, 2]} if last else {"perm": [0, 1, 2, 3]}
        nodes.insert(0, helper.make_node("Transpose", ["image"], ["planes"], **move))
        graph = helper.make_graph(
            nodes,
            "small",
            [helper.make_tensor_value_info("image", kind, dims)],
            [helper.make_tensor_value_info("logits", kind, [dims[0], 4])],
            [
                numpy_helper.from_array(weight.reshape(4, 3, 1, 1).astype(dtype), "weight"),
                numpy_helper.from_array(np.array([0, 4, -1]), "shape"),
            ],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
        helper.set_model_props(model, metadata or {})
        onnx.save_model(model, path)
        return path

    return write
