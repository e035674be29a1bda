"""Photographs: the cache beside the results, files of features, models and networks of users."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from PIL import Image

from enhg import InputError
from enhg.io.models import read_model

onnx = pytest.importorskip("onnx", reason="the extra photos is not installed")
pytest.importorskip("onnxruntime", reason="the extra photos is not installed")
pytest.importorskip("skimage", reason="the extra photos is not installed")

HOG = ("--features", "hog")


@pytest.fixture
def counted(monkeypatch):
    """Number of images that are decoded, and of representations that are solved."""
    from enhg.io import images
    from enhg.structures import _representation

    counts = {"decoded": 0, "solved": 0}
    read, solve = images.read_image, _representation.self_representation

    def read_image(path, convert, min_side):
        counts["decoded"] += 1
        return read(path, convert=convert, min_side=min_side)

    def self_representation(X, **options):
        counts["solved"] += len(X) == 12 or len(X) == 14
        return solve(X, **options)

    monkeypatch.setattr(images, "read_image", read_image)
    monkeypatch.setattr(_representation, "self_representation", self_representation)

    def take():
        taken = dict(counts)
        counts.update(decoded=0, solved=0)
        return taken["decoded"], taken["solved"]

    return take


@pytest.fixture
def labels(table):
    """Labels by name in a folder of results."""
    return lambda out: {row["name"]: row["label"] for row in table(out / "labels.csv")}


@pytest.fixture
def tiny(tmp_path):
    """An ONNX model of the mean colors in the four quarters of an image, of any size."""
    helper = onnx.helper
    kind = onnx.TensorProto.FLOAT

    def write(name="tiny.onnx", side="side", scale=1.0):
        window = {"kernel_shape": [4, 4], "strides": [4, 4]}
        nodes = [
            helper.make_node("Mul", ["image", "scale"], ["scaled"]),
            helper.make_node("AveragePool", ["scaled"], ["maps"], **window),
            helper.make_node("Flatten", ["maps"], ["features"]),
        ]  # fmt: skip
        graph = helper.make_graph(
            nodes,
            "tiny",
            [helper.make_tensor_value_info("image", kind, ["n", 3, side, side])],
            [helper.make_tensor_value_info("features", kind, ["n", "features"])],
            [onnx.numpy_helper.from_array(np.float32(scale), "scale")],
        )
        opset = [helper.make_opsetid("", 13)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=8)
        onnx.save_model(model, tmp_path / name)
        return tmp_path / name

    return write


# --- the cache -------------------------------------------------------------------------------


@pytest.mark.parametrize("features", ["auto", "network", "hog", "pixels"])
def test_a_second_run_neither_decodes_nor_solves(tmp_path, pictures, run, counted, features):
    words = ["cluster", pictures, "--features", features]
    first = run(*words, "-k", 3, "-o", tmp_path / "a")
    assert first.exit_code == 0, first.output
    assert (tmp_path / ".enhg-cache").is_dir()
    assert counted() == (12, 1)
    second = run(*words, "-k", 2, "-o", tmp_path / "b")
    assert second.exit_code == 0, second.output
    assert counted() == (0, 0)
    assert len(list((tmp_path / "b" / "thumbnails").iterdir())) == 12
    assert sorted(os.listdir(tmp_path / "a")) == sorted(os.listdir(tmp_path / "b"))


@pytest.mark.parametrize("features", ["hog", "pixels"])
def test_a_cached_run_gives_the_same_results(tmp_path, pictures, run, features):
    words = ["cluster", pictures, "-k", 3, "--features", features]
    for name in "ab":
        run(*words, "-o", tmp_path / name)
    run(*words, "-o", tmp_path / "c", "--no-cache")
    first, *others = [(tmp_path / name / "labels.csv").read_bytes() for name in "abc"]
    assert others == [first, first]


def test_only_new_images_are_computed(tmp_path, pictures, run, counted, paint):
    words = ["cluster", pictures, "-k", 3, *HOG]
    run(*words, "-o", tmp_path / "a")
    counted()
    for i in (4, 5):
        paint(0, i).save(pictures / f"a{i}.jpg")
    (pictures / "b0.jpg").rename(pictures / "moved.jpg")
    run(*words, "-o", tmp_path / "b")
    assert counted() == (2, 1)
    paint(0, 6).save(pictures / "a0.jpg")  # other contents under the old name
    run(*words, "-o", tmp_path / "c")
    assert counted() == (1, 1)


def test_pixels_of_another_size_or_in_color_are_read_again(tmp_path, pictures, run, counted):
    words = ["cluster", pictures, "-k", 3, "--size", "12x10"]
    run(*words, "-o", tmp_path / "a")
    counted()
    run(*words, "-o", tmp_path / "b", "--color")
    assert counted() == (12, 1)
    run("cluster", pictures, "-k", 3, "--size", "10x12", "-o", tmp_path / "c")
    assert counted() == (12, 1)
    result = run("predict", tmp_path / "a/model.npz", pictures, "-o", tmp_path / "d")
    assert result.exit_code == 0, result.output
    assert counted()[0] == 0


def test_other_options_of_the_structure_are_solved_again(tmp_path, pictures, run, counted):
    run("cluster", pictures, "-k", 3, "-o", tmp_path / "a", *HOG)
    run("cluster", pictures, "-k", 3, "-o", tmp_path / "b", *HOG, "--gamma", 7)
    assert counted() == (12, 2)


def test_classify_uses_what_cluster_has_kept(tmp_path, pictures, run, counted):
    run("cluster", pictures, "-k", 3, "-o", tmp_path / "a", *HOG)
    counted()
    (tmp_path / "some.csv").write_text("a0,x\nb0,y\nc0,z\n")
    words = ["--labels", tmp_path / "some.csv", "-o", tmp_path / "b", *HOG]
    assert run("classify", pictures, *words).exit_code == 0
    assert counted() == (0, 0)


def test_no_cache(tmp_path, pictures, run, counted):
    for name in "ab":
        run("cluster", pictures, "-k", 3, "-o", tmp_path / name, *HOG, "--no-cache")
        assert counted() == (12, 1)
    run("features", pictures, "-o", tmp_path / "f.npz", *HOG, "--no-cache")
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "f.npz", "pictures"]


@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: data[:-40], lambda data: b"x" * 99]
)
def test_a_damaged_cache_is_computed_again(tmp_path, pictures, run, counted, labels, damage):
    run("cluster", pictures, "-k", 3, "-o", tmp_path / "a", *HOG)
    counted()
    for file in (tmp_path / ".enhg-cache").iterdir():
        file.write_bytes(damage(file.read_bytes()))
    result = run("cluster", pictures, "-k", 3, "-o", tmp_path / "b", *HOG)
    assert (result.exit_code, result.stderr) == (0, "")
    assert counted() == (12, 1)
    assert labels(tmp_path / "a") == labels(tmp_path / "b")


def test_a_cache_that_cannot_be_written_gives_one_warning(tmp_path, pictures, run, labels):
    (tmp_path / ".enhg-cache").write_text("a file")
    result = run("cluster", pictures, "-k", 3, "-o", tmp_path / "out", *HOG)
    assert result.exit_code == 0, result.output
    assert result.stderr.count("\n") == 1
    assert "features cannot be kept there" in result.stderr
    assert len(labels(tmp_path / "out")) == 12
    assert (tmp_path / ".enhg-cache").read_text() == "a file"


# --- files of features, and models -----------------------------------------------------------


def test_features_then_cluster_then_predict_a_folder(
    tmp_path, pictures, run, table, labels, paint, page_data
):
    (pictures / "empty.jpg").touch()
    (pictures / "notes.txt").touch()
    file = tmp_path / "features.npz"
    result = run("features", pictures, "-o", file, *HOG)
    assert result.exit_code == 0, result.output
    assert "1 image could not be read; 1 file is no image\n" in result.stdout
    assert "skipped     empty.jpg (empty file)\n" in result.stdout
    assert "features.skipped.csv  images that could not be read" in result.stdout
    with np.load(file) as arrays:
        assert arrays["X"].shape == (12, 1892)
        assert arrays["X"].dtype == np.float32
        assert json.loads(str(arrays["recipe"]))["model"] == "hog"

    out = tmp_path / "out"
    words = ["--images", pictures, "--folders", "links", "--contact-sheets"]
    result = run("cluster", file, "-k", 3, "-o", out, *words)
    assert result.exit_code == 0, result.output
    assert list(labels(out)) == [f"{letter}{i}.jpg" for letter in "abc" for i in range(4)]
    assert len(list((out / "thumbnails").iterdir())) == 12
    assert page_data(out / "report.html")["sizes"]
    assert len(table(out / "folders" / "manifest.csv")) == 12

    (tmp_path / "new").mkdir()
    for kind, letter in enumerate("abc"):
        paint(kind, 9).save(tmp_path / "new" / f"{letter}9.jpg")
    (tmp_path / "new" / "empty.jpg").touch()
    words = ["--folders", "copies", "--contact-sheets"]
    predicted = tmp_path / "predicted"
    result = run("predict", out / "model.npz", tmp_path / "new", "-o", predicted, *words)
    assert result.exit_code == 0, result.output
    fitted = labels(out)
    assert labels(predicted) == {f"{letter}9.jpg": fitted[f"{letter}0.jpg"] for letter in "abc"}
    assert sorted(os.listdir(predicted)) == [
        "contact-sheets", "folders", "labels.csv", "report.html", "skipped.csv", "thumbnails",
    ]  # fmt: skip
    data = page_data(predicted / "report.html")
    assert data["run"] == "predict"
    assert data["samples"]["name"] == ["a9.jpg", "b9.jpg", "c9.jpg"]


def test_features_list_all_images_that_are_skipped(tmp_path, pictures, run, fails, table):
    file, listed = tmp_path / "my.features.npz", tmp_path / "my.features.skipped.csv"
    words = ["features", pictures, "-o", file, *HOG]
    assert run(*words).exit_code == 0
    assert not listed.exists()

    bad = [pictures / f"bad{i}.jpg" for i in range(15)]
    for path in bad:
        path.touch()
    result = run(*words, "--overwrite")
    assert "and 5 more" in result.stdout
    assert f"{listed.name}  images that could not be read\n" in result.stdout
    rows = [{"name": path.name, "reason": "empty file"} for path in bad]
    assert table(listed) == rows

    file.unlink()
    assert f"{listed}: already exists" in fails(*words)
    assert table(listed) == rows
    for path in bad:
        path.unlink()
    result = run(*words, "--overwrite")
    assert result.exit_code == 0, result.output
    assert "skipped" not in result.stdout
    assert not listed.exists()


def test_features_are_not_written_without_the_list_of_skipped_images(
    tmp_path, pictures, fails, monkeypatch
):
    def refuse(*_):
        raise InputError("the disk is full")

    monkeypatch.setattr("enhg.io.results.write_table", refuse)
    (pictures / "bad.jpg").touch()
    file = tmp_path / "features.npz"
    assert "the disk is full" in fails("features", pictures, "-o", file, *HOG, "--no-cache")
    assert os.listdir(tmp_path) == ["pictures"]


def test_a_model_of_pixels_predicts_a_folder(tmp_path, pictures, run, labels):
    words = ["--size", "12x12", "--color", "-o", tmp_path / "a"]
    assert run("cluster", pictures, "-k", 3, *words).exit_code == 0
    saved = read_model(tmp_path / "a" / "model.npz")
    assert (saved.image_shape, saved.recipe) == ((12, 12, 3), None)
    result = run("predict", tmp_path / "a/model.npz", pictures, "-o", tmp_path / "b", "--json")
    assert result.exit_code == 0, result.output
    assert labels(tmp_path / "a") == labels(tmp_path / "b")


def test_a_file_of_pixels_keeps_their_shape(tmp_path, pictures, run, labels):
    file, out = tmp_path / "pixels.npz", tmp_path / "a"
    assert run("features", pictures, "-o", file, "--features", "pixels").exit_code == 0
    result = run("cluster", file, "-k", 3, "-o", out, "--images", pictures)
    assert result.exit_code == 0, result.output
    shape = read_model(out / "model.npz").image_shape
    assert shape is not None
    (tmp_path / "one").mkdir()
    with Image.open(pictures / "b0.jpg") as image:  # whose own working size is another
        image.resize((300, 40)).save(tmp_path / "one" / "b0.png")
    result = run("predict", out / "model.npz", tmp_path / "one", "-o", tmp_path / "b")
    assert result.exit_code == 0, result.output
    assert list(labels(tmp_path / "b")) == ["b0.png"]


def test_a_model_of_numbers_cannot_predict_a_folder(tmp_path, pictures, run, fails):
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(12, 5)))
    run("cluster", tmp_path / "rows.npy", "-k", 2, "-o", tmp_path / "a")
    message = fails("predict", tmp_path / "a" / "model.npz", pictures, "-o", tmp_path / "b")
    assert "must be a file, since the model was made from a file of" in message


def test_images_of_embeddings_in_order_and_by_name(tmp_path, pictures, run, labels, fails):
    rows = np.random.default_rng(0).normal(size=(12, 6))
    np.save(tmp_path / "rows.npy", rows)
    words = ["-k", 2, "--images", pictures, "-o"]
    assert run("cluster", tmp_path / "rows.npy", *words, tmp_path / "a").exit_code == 0
    assert list(labels(tmp_path / "a"))[:5] == ["a0.jpg", "a1.jpg", "a2.jpg", "a3.jpg", "b0.jpg"]

    names = [f"{letter}{i}" for i in range(4) for letter in "cab"]
    lines = [f"{name},{','.join(map(str, row))}\n" for name, row in zip(names, rows, strict=True)]
    (tmp_path / "rows.csv").write_text("".join(lines))
    assert run("cluster", tmp_path / "rows.csv", *words, tmp_path / "b").exit_code == 0
    assert list(labels(tmp_path / "b")) == [f"{name}.jpg" for name in names]

    np.save(tmp_path / "fewer.npy", rows[:11])
    message = fails("cluster", tmp_path / "fewer.npy", *words, tmp_path / "c")
    assert "got 12 images of which 0 have the name of a sample" in message


def test_samples_with_names_never_get_images_in_order(tmp_path, pictures, run, fails):
    run("features", pictures, "-o", tmp_path / "features.npz", *HOG)
    (pictures / "a0.jpg").rename(pictures / "z.jpg")
    words = ["-k", 3, "-o", tmp_path / "out", "--images", pictures]
    message = fails("cluster", tmp_path / "features.npz", *words)
    assert "must have the names of the 12 samples, got 12 images of which 11" in message


# --- networks of the user's own --------------------------------------------------------------


def test_a_network_of_the_user(tmp_path, pictures, run, tiny, fails):
    model = tiny()
    file = tmp_path / "f.npz"
    assert "size" in fails("features", pictures, "-o", file, "--model", model)
    options = ["--model-size", "8x8", "--model-mean", "0.5", "--model-std", "0.5,0.25,0.25"]
    result = run("features", pictures, "-o", file, "--model", model, *options)
    assert result.exit_code == 0, result.output
    assert "compared by features of a network, as requested" in result.stdout
    with np.load(file) as arrays:
        X = arrays["X"]
        recipe = json.loads(str(arrays["recipe"]))
    assert recipe["size"] == [8, 8]
    assert recipe["mean"] == [0.5] * 3
    assert recipe["std"] == [0.5, 0.25, 0.25]

    options[3:] = ["0", "--model-std", "1", "--no-cache", "--overwrite"]
    assert run("features", pictures, "-o", file, "--model", model, *options).exit_code == 0
    with np.load(file) as arrays:
        plain = arrays["X"].reshape(12, 3, 4)
    std = np.array([0.5, 0.25, 0.25])[:, None]
    np.testing.assert_allclose(X.reshape(12, 3, 4), (plain - 0.5) / std, atol=1e-4)
    assert plain.min() >= 0
    assert plain.max() <= 1


def test_the_network_must_be_the_one_of_the_model(tmp_path, pictures, run, tiny, labels, fails):
    network = tiny(side=8)
    out = tmp_path / "out"
    result = run("cluster", pictures, "-k", 3, "-o", out, "--model", network)
    assert result.exit_code == 0, result.output
    words = ["predict", out / "model.npz", pictures, "-o"]
    assert run(*words, tmp_path / "a").exit_code == 0
    assert labels(tmp_path / "a") == labels(out)
    tiny(side=8, scale=2)
    assert "sha256 differs" in fails(*words, tmp_path / "b")
    network.write_bytes(b"no model")
    assert "tiny.onnx" in fails(*words, tmp_path / "b")
    network.unlink()
    assert "tiny.onnx: the network of the features is not there" in fails(*words, tmp_path / "b")
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": 3}, "model"),
        ({"model": None}, "model"),
        ({"model": "/etc/passwd"}, "model must be"),
        ({"model": "onnx", "file": "/etc/passwd"}, "model must be"),
        ({"model": "onnx", "file": ["x.onnx"]}, "file"),
        ({"model": "onnx", "file": "a\0b.onnx"}, "not there"),
        ({"size": 8.5}, "size must be"),
        ({"size": "eight"}, "size must be"),
        ({"size": {"height": 8}}, "size must be"),
        ({"mean": [10**400, 0, 0]}, "mean must be"),
        ({"mean": "abc"}, "mean must be"),
        ({"std": [0, 0, 0]}, "std must be"),
        ({"output": 5}, "has no output or tensor"),
        ({"sha256": "0"}, "sha256 differs"),
        ({"more": [1]}, "more differs"),
    ],
)
def test_a_hostile_recipe_is_one_line(tmp_path, pictures, run, fails, tiny, change, message):
    words = ["--model", tiny(side=8), "--no-cache"]
    run("features", pictures, "-o", tmp_path / "f.npz", *words)
    with np.load(tmp_path / "f.npz") as arrays:
        recipe = json.loads(str(arrays["recipe"])) | change
        np.savez(
            tmp_path / "bad.npz", X=arrays["X"], names=arrays["names"],
            recipe=np.array(json.dumps(recipe)),
        )  # fmt: skip
    out = tmp_path / "out"
    assert run("cluster", tmp_path / "bad.npz", "-k", 3, "-o", out).exit_code == 0
    line = fails("predict", out / "model.npz", pictures, "-o", tmp_path / "b")
    assert line.startswith("error: the features of the model cannot be made: ")
    assert message in line


def test_a_column_of_paths_gives_pictures(tmp_path, run, pictures):
    rng = np.random.default_rng(0)
    names = sorted(path.relative_to(tmp_path).as_posix() for path in pictures.rglob("*.jpg"))
    rows = [f"{name},{','.join(map(str, rng.random(20)))}" for name in names]
    heads = ",".join(["path", *(f"f{i}" for i in range(20))])
    (tmp_path / "table.csv").write_text("\n".join([heads, *rows]))
    result = run("cluster", tmp_path / "table.csv", "-k", 2, "-o", tmp_path / "out", "--no-cache")
    assert result.exit_code == 0, result.output
    assert len(list((tmp_path / "out" / "thumbnails").iterdir())) == len(names)
    assert f"images      {len(names)} of 20 features" in result.stdout


def test_the_size_of_a_network_is_an_option_of_its_own(tmp_path, fails, pictures):
    from onnx import TensorProto, helper

    shapes = ([1, 3, "h", "w"], [1, 3, "h", "w"])
    ends = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in zip("xy", shapes, strict=True)
    ]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", ends[:1], ends[1:])
    opset = [helper.make_opsetid("", 17)]
    onnx.save(helper.make_model(graph, opset_imports=opset, ir_version=8), tmp_path / "own.onnx")
    words = ["cluster", pictures, "-o", tmp_path / "out", "--model", tmp_path / "own.onnx"]
    assert "(option --model-size)" in fails(*words)
