"""ImageFeatures as a transformer: inputs, parameters, recipes."""

import json
import sys

import numpy as np
import pytest
from PIL import Image
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_get_params_invariance,
    check_no_attributes_set_in_init,
    check_parameters_default_constructible,
    check_set_params,
)

from enhg import InputError
from enhg.exceptions import MissingDependencyError
from enhg.features import ImageFeatures


@pytest.mark.parametrize(
    "check",
    [
        check_get_params_invariance,
        check_no_attributes_set_in_init,
        check_parameters_default_constructible,
        check_set_params,
    ],
)
def test_parameters_as_scikit_learn_wants_them(check):
    check("ImageFeatures", ImageFeatures())


def test_clone_of_a_fitted_one_is_not_fitted(network):
    copy = clone(network)
    assert copy.get_params() == network.get_params()
    with pytest.raises(NotFittedError):
        copy.transform(np.zeros((1, 5, 5)))


def test_files_and_arrays_give_the_same(network, pictures):
    files = sorted(pictures.iterdir())
    arrays = [np.asarray(Image.open(file)) for file in files]
    of_files = network.transform(files)
    assert of_files.shape == (7, 1280)
    assert of_files.dtype == np.float32
    np.testing.assert_allclose(network.transform(arrays), of_files, atol=1e-5)
    np.testing.assert_allclose(network.transform(list(map(str, files))), of_files, atol=1e-5)


def test_batches_do_not_matter(network, pictures):
    files = sorted(pictures.iterdir())
    one = ImageFeatures(batch_size=1, n_jobs=1).fit().transform(files)
    np.testing.assert_allclose(network.transform(files), one, atol=1e-5)


def test_gray_and_float_images(network):
    rng = np.random.default_rng(0)
    gray = rng.integers(0, 256, (2, 30, 40), dtype=np.uint8)
    color = np.repeat(gray[..., None], 3, axis=3)
    expected = network.transform(color)
    np.testing.assert_allclose(network.transform(gray), expected, atol=1e-5)
    np.testing.assert_allclose(network.transform(gray[..., None]), expected, atol=1e-5)
    np.testing.assert_allclose(network.transform(gray.astype(np.float64)), expected, atol=1e-5)


def test_deep_images_of_any_scale(network, tmp_path):
    values = np.random.default_rng(0).uniform(0, 1, (30, 40))
    values[0, :2] = 0, 1
    files = []
    for name, scaled in (
        ("8", np.rint(255 * values) / 255),
        ("f", values),
        ("far", 9e3 * values - 4e3),
    ):
        files.append(tmp_path / f"{name}.tif")
        Image.fromarray(
            (255 * scaled).astype(np.uint8) if name == "8" else scaled.astype("f4")
        ).save(files[-1])
    reference, unit, wide = network.transform(files)
    np.testing.assert_allclose(unit, wide, atol=1e-3)
    assert np.linalg.norm(unit - reference) < 0.1 * np.linalg.norm(reference)


def test_in_a_pipeline_with_names(network, pictures):
    files = sorted(pictures.iterdir())
    model = make_pipeline(ImageFeatures("hog"), StandardScaler()).fit(files)
    assert model.transform(files).shape == (7, 1892)
    assert list(network.get_feature_names_out()[[0, -1]]) == ["feature0", "feature1279"]
    assert network.n_features_out_ == 1280


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ([], "at least one image"),
        (np.zeros((2, 5)), "height×width"),
        (np.zeros((2, 5, 5, 4)), "got 5×5×4 in row 0"),
        (np.full((1, 5, 5), 256.0), "values from 0 to 255, got 256.0"),
        (np.full((1, 5, 5), -1), "values from 0 to 255, got -1"),
        (np.full((1, 5, 5), np.nan), "values from 0 to 255, got nan"),
        (np.zeros((1, 0, 5)), "paths or images"),
        ([np.array("a"), np.zeros((5, 5))], "paths or images"),
    ],
)
def test_arrays_that_are_no_images(network, X, message):
    with pytest.raises(InputError, match=message):
        network.transform(X)


def test_file_that_cannot_be_read(network, pictures):
    (pictures / "3.png").write_bytes(b"no image")
    with pytest.raises(InputError, match=r"3\.png: "):
        network.transform(sorted(pictures.iterdir()))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"model": "resnet"}, "path of an .onnx file, got 'resnet'"),
        ({"model": 3}, "path of an .onnx file, got 3"),
        ({"batch_size": 0}, "batch_size must be"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"n_jobs": "two"}, "n_jobs must be"),
        ({"model": "hog", "size": 64}, "'hog' takes no size"),
        ({"model": "hog", "output": "maps"}, "'hog' takes no output"),
    ],
)
def test_parameters_that_do_not_fit(parameters, message):
    with pytest.raises(InputError, match=message):
        ImageFeatures(**parameters).fit()


@pytest.mark.parametrize(
    ("model", "module"), [("hog", "skimage.feature"), ("efficientnet-lite0", "onnxruntime")]
)
def test_missing_packages_name_the_extra(monkeypatch, model, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError, match="extra photos"):
        ImageFeatures(model).fit()


@pytest.mark.parametrize("model", ["efficientnet-lite0", "hog"])
def test_recipe_through_json(model, pictures):
    features = ImageFeatures(model, n_jobs=1).fit()
    recipe = json.loads(json.dumps(features.recipe()))
    again = ImageFeatures.from_recipe(recipe, n_jobs=1)
    files = sorted(pictures.iterdir())[:2]
    np.testing.assert_array_equal(again.transform(files), features.transform(files))


def test_recipe_keeps_other_settings(network):
    other = ImageFeatures(size=(64, 96), mean=0.5, n_jobs=1).fit()
    recipe = other.recipe()
    assert recipe["size"] == [64, 96]
    assert recipe["mean"] == [0.5] * 3
    assert recipe["std"] == network.recipe()["std"] == [0.502] * 3
    assert ImageFeatures.from_recipe(recipe).recipe() == recipe


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 99}, "version differs: 99 then, 1 here"),
        ({"sha256": "0" * 64}, "sha256 differs"),
        ({"model": "resnet"}, "path of an .onnx file"),
        ({"model": None}, "its model does not fit"),
        ({"size": "a"}, "size must be"),
        ({"unknown": 1}, "unknown differs"),
    ],
)
def test_recipes_that_cannot_be_followed(network, change, message):
    with pytest.raises(InputError, match=message):
        ImageFeatures.from_recipe({**network.recipe(), **change})


def test_incomplete_recipe():
    with pytest.raises(InputError, match="size is missing"):
        ImageFeatures.from_recipe({"model": "efficientnet-lite0"})


def test_floats_up_to_one_are_on_the_scale_from_0_to_1():
    image = np.random.default_rng(0).integers(0, 256, (40, 50, 3), dtype=np.uint8)
    features = ImageFeatures("hog").fit()
    expected = features.transform([image])
    np.testing.assert_allclose(features.transform([image / 255]), expected, atol=1e-6)


def test_a_single_path_is_refused():
    with pytest.raises(InputError, match=r"X must be a sequence of images, got the path a\.jpg"):
        ImageFeatures("hog").fit().transform("a.jpg")
