"""Photographs: labels, and options that are refused before any image is read."""

from __future__ import annotations

import json
import shutil
import sys

import numpy as np
import pytest

pytest.importorskip("skimage", reason="the extra photos is not installed")

HOG = ("--features", "hog")
OTHER = ": must be another folder than the input"


@pytest.fixture
def classify(tmp_path, pictures, run, table):
    """Classify the pictures from labels in a file; gives the result and the labels by name."""

    def invoke(name, text, *words, encoding="utf-8"):
        (tmp_path / name).write_bytes(text.encode(encoding))
        out = tmp_path / "out"
        result = run("classify", pictures, "--labels", tmp_path / name, "-o", out, *HOG, *words)
        assert result.exit_code == 0, result.output
        rows = table(out / "labels.csv")
        given = {row["name"] for row in rows if row["given"] == "yes"}
        return result, {row["name"]: row["label"] for row in rows}, given

    return invoke


def right(labels):
    """Whether every image has the label of its pattern: x, y, z for a, b, c."""
    return all(label == "xyz"["abc".index(name[0])] for name, label in labels.items())


@pytest.mark.parametrize(
    ("name", "text", "encoding"),
    [
        ("some.csv", "name,label\na0.jpg,x\nb0.jpg,y\nc0.jpg,z\n", "utf-8"),
        ("some.csv", "name;label\r\na0.jpg;x\r\nb0.jpg;y\r\nc0.jpg;z\r\n", "utf-8-sig"),
        ("some.tsv", "name\tlabel\na0.jpg\tx\nb0.jpg\ty\nc0.jpg\tz\n", "utf-16"),
        ("some.tsv", "a0.jpg\tx\nb0.jpg\ty\nc0.jpg\tz\n", "utf-8"),
        ("some.csv", "a0,x\nb0,y\nc0,z\n", "utf-8"),
        ("some.txt", "label\nx\n?\n?\n?\ny\n?\n?\n?\nz\n?\n?\n?\n", "utf-8"),
    ],
    ids=["csv", "semicolons-bom", "tsv-utf16", "no-header", "without-extension", "in-order"],
)
def test_labels_of_a_file(classify, name, text, encoding):
    _, labels, given = classify(name, text, encoding=encoding)
    assert given == {"a0.jpg", "b0.jpg", "c0.jpg"}
    assert right(labels)


def test_labels_by_bare_name_in_folders(tmp_path, pictures, classify, fails):
    for letter in "ab":
        (pictures / letter).mkdir()
        for path in list(pictures.glob(f"{letter}*.jpg")):
            path.rename(pictures / letter / path.name)
    _, labels, given = classify("some.csv", "a0.jpg,x\nb0,y\nc0.jpg,z\n")
    assert given == {"a/a0.jpg", "b/b0.jpg", "c0.jpg"}
    assert right(labels)

    (pictures / "b" / "b0.jpg").rename(pictures / "b" / "a0.jpg")
    (tmp_path / "some.csv").write_text("a0.jpg,x\nc0.jpg,z\n")
    message = fails(
        "classify", pictures, "--labels", tmp_path / "some.csv", "-o", tmp_path / "b", *HOG
    )
    assert "a name must match one sample, got 'a0.jpg'" in message
    assert "'a/a0.jpg', 'b/a0.jpg'" in message


def test_labels_from_folders(tmp_path, pictures, run, table):
    for letter, name in zip("abc", "xyz", strict=True):
        (pictures / name).mkdir()
        (pictures / f"{letter}0.jpg").rename(pictures / name / f"{letter}0.jpg")
    (pictures / "Unlabeled").mkdir()
    (pictures / "a1.jpg").rename(pictures / "Unlabeled" / "a1.jpg")
    out = tmp_path / "out"
    result = run("classify", pictures, "--labels-from-folders", "-o", out, *HOG)
    assert result.exit_code == 0, result.output
    assert "classes     3, from 3 labels (25.0%)" in result.stdout
    rows = table(out / "labels.csv")
    assert right({row["name"].split("/")[-1]: row["label"] for row in rows})
    assert {row["name"] for row in rows if row["given"] == "yes"} == {
        "x/a0.jpg", "y/b0.jpg", "z/c0.jpg",
    }  # fmt: skip


def test_folders_that_are_called_like_missing_labels(tmp_path, pictures, run, table):
    classes = ("-1", "?", "nan")
    for letter, name in zip("abc", classes, strict=True):
        (pictures / name).mkdir()
        (pictures / f"{letter}0.jpg").rename(pictures / name / f"{letter}0.jpg")
    out = tmp_path / "out"
    words = ["-o", out, *HOG, "--folders", "links"]
    result = run("classify", pictures, "--labels-from-folders", *words)
    assert result.exit_code == 0, result.output
    assert "classes     3, from 3 labels (25.0%)" in result.stdout
    labels = {row["name"].split("/")[-1]: row["label"] for row in table(out / "labels.csv")}
    wanted = {name: classes["abc".index(name[0])] for name in labels}
    assert labels == wanted
    result = run("predict", out / "model.npz", pictures, "-o", tmp_path / "new")
    assert result.exit_code == 0, result.output
    rows = table(tmp_path / "new" / "labels.csv")
    assert {row["name"].split("/")[-1]: row["label"] for row in rows} == wanted


def test_classes_that_differ_only_in_case_give_a_warning(tmp_path, pictures, run, classify):
    text = "a0.jpg,buildings\na1.jpg,Buildings\nb0.jpg,y\n"
    result, _, _ = classify("some.csv", text, "--json")
    assert "'Buildings' and 'buildings'" in result.stderr
    figures = json.loads(result.stdout)
    assert figures["classes"] == 3
    assert sum("'Buildings' and 'buildings'" in text for text in figures["warnings"]) == 1

    for name in ("buildings", "Buildings", "y"):
        (pictures / name).mkdir()
        shutil.copy(pictures / "a2.jpg", pictures / name)
    result = run("classify", pictures, "--labels-from-folders", "-o", tmp_path / "b", *HOG)
    assert result.exit_code == 0, result.output
    assert "'Buildings' and 'buildings'" in result.stderr


def test_labels_of_images_that_cannot_be_read_are_left_out(tmp_path, pictures, classify, run):
    (pictures / "a3.jpg").write_bytes(b"no image")
    (pictures / "a3.png").write_bytes((pictures / "c3.jpg").read_bytes())
    text = "name,label\na0.jpg,x\na3.jpg,x\nb0.jpg,y\nc0.jpg,z\n"
    result, labels, given = classify("some.csv", text)
    assert "labels of images that could not be read are left out: 'a3.jpg'" in result.stderr
    assert given == {"a0.jpg", "b0.jpg", "c0.jpg"}
    assert labels["a3.png"] == "z"

    (tmp_path / "some.csv").write_text("a3.jpg,x\nb0.jpg,y\n")
    words = ["--labels", tmp_path / "some.csv", "-o", tmp_path / "b", *HOG]
    result = run("classify", pictures, *words)
    assert result.exit_code == 1
    assert "at least two classes, got only 'y'" in result.stderr


@pytest.mark.parametrize("name", ["some.npy", "some.csv"])
def test_labels_in_order_count_images_that_cannot_be_read(tmp_path, pictures, run, table, name):
    (pictures / "a3.jpg").write_bytes(b"no image")
    labels = [letter if i in "03" else "-1" for letter in "xyz" for i in "0123"]
    if name.endswith(".npy"):
        np.save(tmp_path / name, labels)
    else:
        (tmp_path / name).write_text("\n".join(labels))
    out = tmp_path / "out"
    result = run("classify", pictures, "--labels", tmp_path / name, "-o", out, *HOG)
    assert result.exit_code == 0, result.output
    assert "labels of images that could not be read are left out: 'a3.jpg'" in result.stderr
    rows = table(out / "labels.csv")
    assert right({row["name"]: row["label"] for row in rows})
    assert [row["name"] for row in rows if row["given"] == "yes"] == [
        "a0.jpg", "b0.jpg", "b3.jpg", "c0.jpg", "c3.jpg",
    ]  # fmt: skip


# --- refused before any image is read --------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["cluster", "P", "--features", "hog", "--size", "8x8"], "size and color are for pixels"),
        (["cluster", "P", "--features", "network", "--color"], "size and color are for pixels"),
        (["cluster", "P", "--images", "P"], "images are for a file of features, got a folder"),
        (["cluster", "P", "--key", "X"], "key is for a file with named arrays, got a folder"),
        (["cluster", "P", "--model-size", "8x8"], "are for one of --model"),
        (["cluster", "P", "--model", "T/none.onnx"], "none.onnx: no such file"),
        (["cluster", "P", "--model", "T/rows.npy", "--features", "hog"], "is for network features"),
        (["cluster", "P", "--model", "T/rows.npy", "--size", "8x8"], "are for pixels"),
        (["cluster", "T/none"], "none: no such file or folder"),
        (["cluster", "T/rows.npy", "--images", "T/none"], "images must be a folder"),
        (["cluster", "T/rows.npy", "--images", "T/rows.npy"], "images must be a folder"),
        (["cluster", "T/rows.npy", "--features", "hog"], "made of a folder of images, got a file"),
        (["cluster", "T/rows.npy", "--color"], "color is for a folder"),
        (["cluster", "T/rows.npy", "--folders", "links"], "folders are of images"),
        (["cluster", "T/rows.npy", "--contact-sheets"], "contact-sheets are of images"),
        (["cluster", "P", "-o", "P/out"], OTHER),
        (["cluster", "P", "-o", "P"], OTHER),
        (["cluster", "P", "-o", "P/../link", "--overwrite"], OTHER),
        (["cluster", "T/link", "-o", "P/."], OTHER),
        (["cluster", "T/rows.npy", "--images", "P", "-o", "P/out"], OTHER),
        (["cluster", "P", "-k", "13"], "at most the number of samples (12), got 13"),
        (["classify", "P", "--labels-from-folders"], "in at least two sub-folders, one per class"),
        (["classify", "P", "--labels", "T/none.csv"], "none.csv: no such file"),
        (["classify", "P", "--labels", "T/one.csv"], "at least two classes, got only 'x'"),
        (["classify", "P", "--labels", "T/ragged.csv"], "row 2 must have the 2 cells"),
        (["classify", "P", "--labels", "T/some.docx"], "labels must be a .csv, .tsv, .txt or .npy"),
        (["classify", "P", "--labels", "T/one.csv", "--labels-from-folders"], "got both"),
        (["classify", "T/rows.npy", "--labels-from-folders"], "need a folder of images"),
        (["predict", "T/none.npz", "P"], "none.npz: no such file"),
        (["predict", "T/rows.npy", "P"], "not a model of this enhg"),
        (["features", "T/rows.npy", "-o", "T/f.npz"], "made of a folder of images, got a file"),
        (["features", "P", "-o", "T/f.npy"], "must be an .npz file"),
        (["features", "P", "-o", "T/none/f.npz"], "no such folder"),
        (["features", "P", "-o", "T/old.npz"], "already exists"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused_before_reading(
    tmp_path, pictures, fails, unread, words, message
):
    np.save(tmp_path / "rows.npy", np.random.default_rng(0).normal(size=(12, 5)))
    np.savez(tmp_path / "old.npz", X=np.ones((2, 2)))
    (tmp_path / "one.csv").write_text("a0.jpg,x\nb0.jpg,x\n")
    (tmp_path / "ragged.csv").write_text("a0.jpg,x\nb0.jpg\nc0.jpg,y,z\n")
    (tmp_path / "some.docx").write_text("a0.jpg,x\nb0.jpg,y\n")
    (tmp_path / "link").symlink_to(pictures)
    before = sorted(tmp_path.rglob("*"))
    places = {"P": str(pictures), "T": str(tmp_path)}
    given = ["/".join(places.get(part, part) for part in word.split("/")) for word in words]
    if "-o" not in words:
        given += ["-o", tmp_path / "out"]
    assert message in fails(*given)
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="a folder of Linux")
def test_a_folder_that_cannot_be_written_is_refused_before_reading(pictures, fails, unread):
    message = fails("features", pictures, "-o", "/proc/self/f.npz", *HOG)
    assert "/proc/self/f.npz: cannot be written" in message
    assert "out: cannot be written" in fails("cluster", pictures, "-o", "/proc/self/out")


def test_labels_must_be_given(tmp_path, pictures, run, unread):
    result = run("classify", pictures, "-o", tmp_path / "out")
    assert result.exit_code == 2
    assert "give --labels FILE, or --labels-from-folders" in result.stderr


def test_more_clusters_than_images_that_can_be_read(tmp_path, pictures, fails):
    (pictures / "a0.jpg").write_bytes(b"no image")
    message = fails("cluster", pictures, "-k", 12, "-o", tmp_path / "out", *HOG)
    assert "n_clusters must be at most the number of samples (11), got 12; 1 image could" in message
    assert "a0.jpg" in message


def test_folders_of_images_that_cannot_be_read(tmp_path, pictures, fails):
    for name in ("x", "y"):
        (pictures / name).mkdir()
        (pictures / f"{name}/0.jpg").write_bytes(b"no image")
    shutil.copy(pictures / "a0.jpg", pictures / "x")
    words = ["--labels-from-folders", "-o", tmp_path / "out", *HOG]
    assert "at least two sub-folders, one per class, got 'x'" in fails("classify", pictures, *words)


def test_more_suggestions_than_images(tmp_path, pictures, run, table):
    result = run("cluster", pictures, "-k", 3, "-o", tmp_path / "out", *HOG, "--suggest", 99)
    assert result.exit_code == 0, result.output
    assert "12 in place of 99" in result.stderr
    assert len(table(tmp_path / "out" / "suggestions.csv")) == 12


def test_a_label_of_an_image_that_is_no_regular_file_is_left_out(tmp_path, pictures, run):
    (pictures / "gone.jpg").symlink_to(tmp_path / "nothing.jpg")
    (tmp_path / "some.csv").write_text("name,label\na0.jpg,a\nb0.jpg,b\ngone.jpg,b\n")
    words = ["--labels", tmp_path / "some.csv", "--features", "hog", "-o", tmp_path / "out"]
    result = run("classify", pictures, *words)
    assert result.exit_code == 0, result.output
    assert "gone.jpg" in result.stderr
