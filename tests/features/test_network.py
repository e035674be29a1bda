"""ONNX models of the user: layout, size, mean, std, output, and files that cannot be used."""

import hashlib
import os
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from PIL import Image

from enhg import InputError
from enhg.features import ImageFeatures

WEIGHT = np.arange(12, dtype=np.float32).reshape(4, 3) / 10
IMAGENET = np.array([[0.485, 0.456, 0.406], [0.229, 0.224, 0.225]])


@pytest.fixture
def images():
    return np.random.default_rng(0).integers(0, 256, (3, 8, 8, 3), dtype=np.uint8)


def expected(images, mean=IMAGENET[0], std=IMAGENET[1]):
    """A convolution of 1×1 and the mean of all pixels."""
    standardized = (images / 255 - np.asarray(mean)) / np.asarray(std)
    return standardized.mean(axis=(1, 2)) @ WEIGHT.T


def features(path, images, **options):
    return ImageFeatures(path, n_jobs=1, **options).fit().transform(images)


@pytest.mark.parametrize(
    ("dims", "last"),
    [
        (("n", 3, 8, 8), False),
        (("n", 8, 8, 3), True),
        ((1, 3, 8, 8), False),
        ((2, 3, 8, 8), False),
        ((5, 8, 8, 3), True),
    ],
)
def test_layouts_and_fixed_batches(small_model, tmp_path, images, dims, last):
    path = small_model(tmp_path / "m.onnx", WEIGHT, dims=dims, last=last)
    result = features(path, images, batch_size=2)
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, expected(images), rtol=1e-4, atol=1e-5)


def test_onnxruntime_collects_nothing_about_the_machine(small_model, tmp_path):
    """It keeps what it collects in the home, until it is sent."""
    path = small_model(tmp_path / "m.onnx", WEIGHT)
    program = (
        "import sys; from enhg.features import ImageFeatures; ImageFeatures(sys.argv[1]).fit()"
    )
    home = tmp_path / "home"
    home.mkdir()
    environment = {k: v for k, v in os.environ.items() if k != "ORT_DISABLE_TELEMETRY"}
    subprocess.run(
        [sys.executable, "-c", program, str(path)], check=True,
        env=environment | {"HOME": str(home), "XDG_CACHE_HOME": str(home)},
    )  # fmt: skip
    assert not [file for file in home.rglob("*") if "onnx" in file.name or "Microsoft" in file.name]


def test_half_precision(small_model, tmp_path, images):
    path = small_model(tmp_path / "m.onnx", WEIGHT, kind=TensorProto.FLOAT16)
    np.testing.assert_allclose(features(path, images), expected(images), atol=0.02)


def test_mean_and_std_as_options(small_model, tmp_path, images):
    path = small_model(tmp_path / "m.onnx", WEIGHT)
    result = features(path, images, mean=0.5, std=(0.1, 0.2, 0.3))
    np.testing.assert_allclose(result, expected(images, 0.5, (0.1, 0.2, 0.3)), rtol=1e-4)


def test_metadata_of_the_file(small_model, tmp_path, images):
    metadata = {"imgsz": "[8, 8]", "image_mean": "[0.1, 0.2, 0.3]", "std": "0.5", "author": "["}
    dims = ("n", "channels", "height", "width")
    path = small_model(tmp_path / "m.onnx", WEIGHT, dims=dims, metadata=metadata)
    model = ImageFeatures(path).fit()
    assert model.recipe()["size"] == [8, 8]
    np.testing.assert_allclose(
        model.transform(images), expected(images, (0.1, 0.2, 0.3), 0.5), rtol=1e-4
    )
    given = ImageFeatures(path, mean=0, std=1, size=(4, 6)).fit().recipe()
    assert (given["mean"], given["std"], given["size"]) == ([0] * 3, [1] * 3, [4, 6])


def test_size_must_be_known(small_model, tmp_path, images):
    path = small_model(tmp_path / "m.onnx", WEIGHT, dims=("n", 3, "height", "width"))
    with pytest.raises(InputError, match="does not say the size of its images; set size"):
        ImageFeatures(path).fit()
    np.testing.assert_allclose(features(path, images, size=8), expected(images), atol=1e-4)


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"size": "8.5"}, "size must be a positive whole number"),
        ({"size": "100000"}, "at most 4096, got 100000"),
        ({"size": "[8.0, 8.0]"}, "size must be a positive whole number"),
        ({"size": "8", "mean": f"[{10**400}, 0, 0]"}, "mean must be a number or three numbers"),
        ({"size": "8", "std": "[1e300, 1, 1]"}, "std must be a number or three numbers"),
    ],
)
def test_metadata_that_make_no_sense(small_model, tmp_path, metadata, message):
    dims = ("n", 3, "height", "width")
    path = small_model(tmp_path / "m.onnx", WEIGHT, dims=dims, metadata=metadata)
    with pytest.raises(InputError, match=message):
        ImageFeatures(path).fit()


def test_images_are_resized_to_the_size(small_model, tmp_path):
    path = small_model(tmp_path / "m.onnx", WEIGHT)
    image = np.random.default_rng(1).integers(0, 256, (40, 20, 3), dtype=np.uint8)
    small = np.asarray(Image.fromarray(image).resize((8, 8), Image.Resampling.BICUBIC))
    np.testing.assert_allclose(features(path, [image]), expected(small[None]), atol=1e-4)


@pytest.mark.parametrize(
    ("output", "last"),
    [
        *((name, False) for name in ("logits", "maps", "tokens", "pooled")),
        *((name, True) for name in ("logits", "tokens")),
    ],
)
def test_outputs_inside_are_averaged_over_pixels_and_tokens(
    small_model, tmp_path, images, output, last
):
    dims = ("n", 8, 8, 3) if last else ("n", 3, 8, 8)
    path = small_model(tmp_path / "m.onnx", WEIGHT, dims=dims, last=last)
    np.testing.assert_allclose(
        features(path, images, output=output), expected(images), rtol=1e-4, atol=1e-5
    )


def test_recipe_and_return(small_model, tmp_path, images):
    path = small_model(tmp_path / "m.onnx", WEIGHT)
    model = ImageFeatures(path, output="maps").fit()
    recipe = model.recipe()
    assert recipe["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    again = ImageFeatures.from_recipe(recipe)
    np.testing.assert_array_equal(again.transform(images), model.transform(images))
    small_model(path, WEIGHT + 1)
    with pytest.raises(InputError, match="another version of this network \\(sha256 differs"):
        ImageFeatures.from_recipe(recipe)
    path.unlink()
    with pytest.raises(InputError, match="not there any more"):
        ImageFeatures.from_recipe(recipe)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": 16}, "takes images of 8×8 only, got size 16×16"),
        ({"size": 0}, "size must be"),
        ({"size": (8.5, 8)}, "size must be"),
        ({"size": "8"}, "size must be"),
        ({"mean": (1, 2)}, "mean must be a number or three numbers"),
        ({"mean": "abc"}, "mean must be a number or three numbers"),
        ({"std": np.inf}, "std must be a number or three numbers"),
        ({"std": (1, 0, 1)}, "std must be positive"),
        ({"output": "absent"}, "no output or tensor 'absent'; its outputs are logits"),
        ({"output": "weight"}, "no output or tensor 'weight'"),
    ],
)
def test_options_that_do_not_fit(small_model, tmp_path, options, message):
    path = small_model(tmp_path / "m.onnx", WEIGHT)
    with pytest.raises(InputError, match=message) as caught:
        ImageFeatures(path, **options).fit()
    assert caught.value.parameter in options


@pytest.mark.parametrize(
    ("dims", "kind", "message"),
    [
        (("n", 1, 8, 8), TensorProto.FLOAT, "images of 3 channels, got 1"),
        (("n", 192), TensorProto.FLOAT, "in four dimensions, got float in 2"),
        (("n", 3, 8, 8), TensorProto.UINT8, "in four dimensions, got uint8 in 4"),
    ],
)
def test_inputs_that_do_not_fit(tmp_path, dims, kind, message):
    graph = helper.make_graph(
        [helper.make_node("Identity", ["image"], ["out"])],
        "other",
        [helper.make_tensor_value_info("image", kind, dims)],
        [helper.make_tensor_value_info("out", kind, dims)],
    )
    onnx.save_model(helper.make_model(graph), tmp_path / "m.onnx")
    with pytest.raises(InputError, match=message):
        ImageFeatures(tmp_path / "m.onnx").fit()


def test_two_inputs_are_refused(tmp_path):
    values = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", 3, 8, 8]) for name in "abc"
    ]
    graph = helper.make_graph(
        [helper.make_node("Add", ["a", "b"], ["c"])], "two", values[:2], values[2:]
    )
    onnx.save_model(helper.make_model(graph), tmp_path / "m.onnx")
    with pytest.raises(InputError, match=r"must have one input, got 2 \(a, b\)"):
        ImageFeatures(tmp_path / "m.onnx").fit()


def test_nan_is_refused(small_model, tmp_path):
    path = small_model(tmp_path / "m.onnx", np.where(WEIGHT > 1, np.nan, WEIGHT))
    with pytest.raises(InputError, match="holds NaN or infinite values"):
        ImageFeatures(path).fit()


@pytest.mark.parametrize("content", [b"", b"not a model", bytes(100), b"\x89PNG\r\n", b"\x08\x07"])
def test_files_that_are_no_models(tmp_path, content):
    path = tmp_path / "m.onnx"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"m\.onnx"):
        ImageFeatures(path).fit()


def test_truncated_models(small_model, tmp_path):
    path = small_model(tmp_path / "m.onnx", WEIGHT)
    data = path.read_bytes()
    for end in range(0, len(data) - 20, 23):
        path.write_bytes(data[:end])
        with pytest.raises(InputError, match=r"m\.onnx"):
            ImageFeatures(path).fit()


def test_missing_file(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        ImageFeatures(tmp_path / "m.onnx").fit()


def with_external_weights(small_model, folder, location):
    path = small_model(folder / "m.onnx", WEIGHT)
    model = onnx.load(path)
    tensor = model.graph.initializer[0]
    data = numpy_helper.to_array(tensor).tobytes()
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value=location)
    path.write_bytes(model.SerializeToString())
    return path, data


def test_weights_beside_the_model(small_model, tmp_path, images):
    path, data = with_external_weights(small_model, tmp_path, "weights.bin")
    with pytest.raises(InputError, match=r"file of weights 'weights\.bin' is missing"):
        ImageFeatures(path).fit()
    (tmp_path / "weights.bin").write_bytes(data)
    model = ImageFeatures(path).fit()
    np.testing.assert_allclose(model.transform(images), expected(images), atol=1e-4)
    (tmp_path / "weights.bin").write_bytes(data[::-1])
    with pytest.raises(InputError):
        ImageFeatures.from_recipe(model.recipe())


@pytest.mark.parametrize("location", ["../weights.bin", "{outside}/weights.bin", "link.bin"])
def test_weights_outside_the_folder_are_refused(small_model, tmp_path, location):
    folder = tmp_path / "model"
    folder.mkdir()
    location = location.format(outside=tmp_path)
    path, data = with_external_weights(small_model, folder, location)
    (tmp_path / "weights.bin").write_bytes(data)
    (folder / "link.bin").symlink_to(tmp_path / "weights.bin")
    with pytest.raises(InputError, match="must be in its own folder"):
        ImageFeatures(path).fit()
