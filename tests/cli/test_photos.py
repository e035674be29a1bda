"""Photographs: the choice of features, images that are left out, and what is written."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

import pytest
from PIL import Image

from enhg.io import _listing
from enhg.io.models import read_model
from enhg.io.tables import unguarded

pytest.importorskip("onnxruntime", reason="the extra photos is not installed")
pytest.importorskip("skimage", reason="the extra photos is not installed")

NETWORK = "features of a small network (EfficientNet-Lite0), since they are of different sizes"
HINT = "(extra photos): pip install "


@pytest.fixture
def without_network(monkeypatch):
    monkeypatch.setattr("enhg.features.choice.find_spec", lambda _: None)


@pytest.fixture
def damaged(pictures):
    """The folder of pictures with two broken images, and a file that is none."""
    (pictures / "broken.jpg").write_bytes((pictures / "a0.jpg").read_bytes()[:80])
    (pictures / "empty.png").touch()
    (pictures / "notes.txt").write_text("no image")
    return pictures


def contents(folder):
    """Path, SHA-256 and time of every file below a folder."""
    return {
        str(path.relative_to(folder)): (
            hashlib.sha256(path.read_bytes()).hexdigest(),
            path.stat().st_mtime_ns,
        )
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("features", ["pixels", "hog"])
def test_the_folder_is_listed_once(tmp_path, pictures, run, features, monkeypatch):
    walked = []
    walk = _listing._walk
    monkeypatch.setattr(_listing, "_walk", lambda *given: walked.append(given) or walk(*given))
    result = run("cluster", pictures, "-k", 3, "--features", features, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert len(walked) == 1


# --- features ------------------------------------------------------------------------------


def test_color_images_of_different_sizes_get_features_of_a_network(
    tmp_path, pictures, run, table, page_data
):
    out = tmp_path / "out"
    result = run("cluster", pictures, "-k", 3, "-o", out)
    assert result.exit_code == 0, result.output
    assert f"compared by {NETWORK}\n" in result.stdout
    assert f"images      12, from {pictures}\n" in result.stdout
    assert page_data(out / "report.html")["summary"][0][1].endswith(f"compared by {NETWORK}")
    labels = {row["name"]: row["label"] for row in table(out / "labels.csv")}
    assert list(labels) == [f"{letter}{i}.jpg" for letter in "abc" for i in range(4)]
    assert len({(name[0], label) for name, label in labels.items()}) == 3
    assert result.stderr == ""
    assert read_model(out / "model.npz").recipe["model"] == "efficientnet-lite0"


def test_small_gray_images_of_one_size_keep_their_pixels(tmp_path, photos, run, page_data):
    out = tmp_path / "out"
    text = run("cluster", photos, "-k", 3, "-o", out).stdout
    reason = "pixels (8×8), since they are small, gray and of one size"
    assert f"compared by {reason}\n" in text
    assert page_data(out / "report.html")["summary"][0][1].endswith(f"compared by {reason}")


@pytest.mark.parametrize(
    ("words", "description", "n_features"),
    [
        (["--features", "pixels"], "pixels (", None),
        (["--features", "network"], "features of a small network (EfficientNet-Lite0), ", 1280),
        (["--features", "hog"], "edges and colors (HOG), ", 1892),
        (["--size", "9x10"], "pixels (9×10), ", 90),
        (["--color"], "pixels (", None),
        (["--color", "--size", "9x10"], "pixels (9×10, in color), ", 270),
        (["--features", "pixels", "--color", "--size", "4x5"], "pixels (4×5, in color), ", 60),
    ],
)
def test_options_choose_the_features(tmp_path, pictures, run, words, description, n_features):
    result = run("cluster", pictures, "-k", 3, "-o", tmp_path / "out", "--json", *words)
    figures = json.loads(result.stdout)
    assert figures["compared_by"].startswith(description)
    assert figures["compared_by"].endswith(", as requested")
    assert n_features in (None, figures["features"])
    assert figures["warnings"] == []


def test_a_hint_names_the_extra_once(tmp_path, pictures, run, without_network):
    result = run("cluster", pictures, "-k", 3, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert result.output.count(HINT) == 1
    assert "since features of a network are not installed" in result.stdout
    for words in (["--features", "pixels"], ["--size", "8x8"], ["--features", "hog"]):
        result = run("cluster", pictures, "-k", 3, "-o", tmp_path / words[1], *words)
        assert result.exit_code == 0, result.output
        assert HINT not in result.output


def test_no_hint_for_images_that_pixels_are_right_for(tmp_path, photos, run, without_network):
    assert HINT not in run("cluster", photos, "-k", 3, "-o", tmp_path / "out").output


def test_the_network_without_its_package_is_one_line(tmp_path, pictures, fails, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    words = ["cluster", pictures, "-k", 3, "-o", tmp_path / "out", "--features", "network"]
    assert "(extra photos)" in fails(*words)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("features", "what", "advice"),
    [
        ("network", "12 images as 1280 features", "sort a part of them"),
        ("hog", "12 images as 1892 features", "sort a part of them"),
        ("pixels", "12 images as 34×30 pixels", "use a smaller size"),
    ],
)
def test_memory_is_estimated_before_the_run(
    tmp_path, pictures, fails, monkeypatch, features, what, advice
):
    monkeypatch.setattr("enhg.io.image_samples.free_memory", lambda: 100_000)
    monkeypatch.setattr(
        "enhg.io.images.read_image", lambda *_, **__: pytest.fail("an image was read")
    )
    words = ["cluster", pictures, "--features", features, "-o", tmp_path / "out"]
    line = fails(*words)
    assert what in line
    assert "GB of memory to be sorted, 0.0001 GB are free" in line
    assert advice in line
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("features", ["hog", "pixels"])
def test_every_command_advises_what_it_can_do_about_memory(
    tmp_path, pictures, run, fails, monkeypatch, features
):
    model = tmp_path / "model"
    run("cluster", pictures, "--features", features, "-k", 3, "-o", model)
    monkeypatch.setattr("enhg.io.image_samples.free_memory", lambda: 0)
    words = ["features", pictures, "--features", features, "-o", tmp_path / "features.npz"]
    line = fails(*words)
    assert "GB of memory for their features, 0 GB are free" in line
    assert line.endswith("; make the features of a part of them at a time\n")
    line = fails("predict", model / "model.npz", pictures, "-o", tmp_path / "assigned")
    assert "GB of memory to be assigned, 0 GB are free" in line
    assert line.endswith("; assign a part of them at a time\n")


def test_every_command_estimates_the_memory_that_it_needs(
    tmp_path, pictures, run, fails, monkeypatch
):
    """Twelve images of 34×30 pixels, of which two are predicted."""
    pixels, model = ("--features", "pixels"), tmp_path / "model"
    run("cluster", pictures, *pixels, "-k", 3, "-o", model)
    new = tmp_path / "new"
    new.mkdir()
    for name in ("a0.jpg", "b0.jpg"):
        shutil.copy(pictures / name, new)
    row, image = 4 * 34 * 30, 12_288  # bytes
    sorting = 12 * (7 * row + image)
    of_features = 12 * (2 * row + image)
    prediction = 2 * (4 * row + image) + 12 * (2 * row + image)
    for needed, words in (
        (sorting, ("cluster", pictures, *pixels, "-k", 3, "-o", tmp_path / "clusters")),
        (of_features, ("features", pictures, *pixels, "-o", tmp_path / "features.npz")),
        (prediction, ("predict", model / "model.npz", new, "-o", tmp_path / "assigned")),
    ):
        monkeypatch.setattr("enhg.io.image_samples.free_memory", lambda free=needed - 1: free)
        assert f"need about {needed / 1e9:.3g} GB" in fails(*words)
        monkeypatch.setattr("enhg.io.image_samples.free_memory", lambda free=needed: free)
        assert run(*words).exit_code == 0


# --- copies --------------------------------------------------------------------------------


@pytest.mark.parametrize("features", ["hog", "pixels"])
def test_copies_of_one_image_are_one_cluster(tmp_path, pictures, run, features):
    folder = tmp_path / "copies"
    folder.mkdir()
    for i in range(20):
        shutil.copy(pictures / "a0.jpg", folder / f"{i}.jpg")
    result = run("cluster", folder, "--features", features, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "clusters    1, since no two of the 20 images differ\n" in result.stdout
    assert "copies      20 images in 1 group" in result.stdout
    assert result.stderr == ""


@pytest.mark.parametrize("words", [(), ("-k", 3), ("-k", 8)])
def test_copies_among_others_are_in_one_cluster(tmp_path, pictures, run, table, words):
    for i in range(20):
        shutil.copy(pictures / "a0.jpg", pictures / f"copy{i}.jpg")
    out = tmp_path / "out"
    result = run("cluster", pictures, "--features", "hog", "-o", out, *words)
    assert result.exit_code == 0, result.output
    labels = {row["label"] for row in table(out / "labels.csv") if row["name"][:4] == "copy"}
    assert len(labels) == 1


@pytest.mark.parametrize(("n_copies", "grays"), [(5, ()), (2, (30, 60)), (1, ())])
def test_images_of_one_color_are_copies_or_unusual(
    tmp_path, photos, run, table, page_data, n_copies, grays
):
    plain = [f"plain{i}.png" for i in range(n_copies)]
    for name in plain:
        Image.new("L", (8, 8), 200).save(photos / name)
    for gray in grays:
        Image.new("L", (8, 8), gray).save(photos / f"gray{gray}.png")
    out = tmp_path / "out"
    assert run("cluster", photos, "-k", 3, "-o", out).exit_code == 0
    columns = page_data(out / "report.html")["samples"]
    rows = zip(columns["name"], columns["isOutlier"], strict=True)
    unusual = {name for name, is_outlier in rows if is_outlier and not name[0].isdigit()}
    if n_copies == 1:
        assert unusual == set(plain)
    else:
        assert unusual == {f"gray{gray}.png" for gray in grays}
        assert [row["name"] for row in table(out / "duplicates.csv")] == plain


# --- images that are left out --------------------------------------------------------------


@pytest.mark.parametrize("features", ["network", "hog", "pixels"])
def test_broken_images_are_left_out(tmp_path, damaged, run, table, features):
    out = tmp_path / "out"
    result = run("cluster", damaged, "-k", 3, "-o", out, "--features", features)
    assert result.exit_code == 0, result.output
    assert "2 images could not be read; 1 file is no image\n" in result.stdout
    assert "skipped     broken.jpg (" in result.stdout
    assert "\n            empty.png (empty file)\n" in result.stdout
    rows = table(out / "skipped.csv")
    assert [row["name"] for row in rows] == ["broken.jpg", "empty.png"]
    assert rows[1]["reason"] == "empty file"
    assert "skipped.csv" in result.stdout
    assert len(table(out / "labels.csv")) == 12

    words = ["--features", features, "--json"]
    figures = json.loads(run("cluster", damaged, "-k", 3, "-o", tmp_path / "b", *words).stdout)
    assert (figures["samples"], figures["skipped"], figures["ignored"]) == (12, 2, 1)


@pytest.mark.parametrize("features", ["auto", "network", "hog", "pixels"])
def test_strict_refuses_broken_images_and_names_all(tmp_path, damaged, fails, features):
    words = ["-k", 3, "-o", tmp_path / "out", "--features", features, "--strict"]
    message = fails("cluster", damaged, *words)
    assert "2 images cannot be read" in message
    assert "broken.jpg (" in message
    assert "empty.png (empty file); repair, remove or skip them" in message
    assert message.endswith("(without --strict they are skipped)\n")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("features", ["auto", "network", "hog", "pixels"])
def test_a_folder_of_broken_images_is_one_line(tmp_path, fails, features):
    (tmp_path / "bad").mkdir()
    for i in range(3):
        (tmp_path / "bad" / f"{i}.jpg").write_bytes(b"no image")
    words = ["-k", 1, "-o", tmp_path / "out", "--features", features]
    message = fails("cluster", tmp_path / "bad", *words)
    assert "3 images, of which none can be read: not an image" in message


def test_heic_without_the_extra_is_left_out_and_named(tmp_path, pictures, run, table, monkeypatch):
    start = b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00heicmif1"
    (pictures / "phone.heic").write_bytes(start + bytes(100))
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    out = tmp_path / "out"
    result = run("cluster", pictures, "-k", 3, "-o", out, "--features", "hog")
    assert result.exit_code == 0, result.output
    (row,) = table(out / "skipped.csv")
    assert row["name"] == "phone.heic"
    assert "(extra heic)" in row["reason"]


def test_one_image_that_can_be_read_is_too_few(tmp_path, pictures, fails):
    for path in pictures.glob("*.jpg"):
        if path.name != "a0.jpg":
            path.write_bytes(b"no image")
    words = ["-k", 1, "-o", tmp_path / "out", "--features", "hog"]
    message = fails("cluster", pictures, *words)
    assert "at least two samples, got one" in message
    assert "11 images could not be read, first: a1.jpg (not an image)" in message


# --- what is written -----------------------------------------------------------------------


def test_folders_of_links(tmp_path, pictures, run, table):
    before = contents(pictures)
    out = tmp_path / "out"
    words = ["--features", "hog", "--folders", "links"]
    assert run("cluster", pictures, "-k", 3, "-o", out, *words).exit_code == 0
    assert contents(pictures) == before
    labels = {row["name"]: row["label"] for row in table(out / "labels.csv")}
    rows = table(out / "folders" / "manifest.csv")
    assert [row["name"] for row in rows] == list(labels)
    for row in rows:
        link = out / "folders" / row["written"]
        assert link.is_symlink()
        assert link.resolve() == Path(row["original"]).resolve() == pictures / row["name"]
        assert link.parent.name == f"cluster-0{labels[row['name']]}"


def test_folders_of_copies_of_classes(tmp_path, pictures, run, table):
    before = contents(pictures)
    (tmp_path / "some.csv").write_text("a0,sea/side\nb0,Rose\nc0,=1+1\n")
    out = tmp_path / "out"
    words = ["--labels", tmp_path / "some.csv", "--features", "hog", "--folders", "copies"]
    result = run("classify", pictures, "-o", out, *words)
    assert result.exit_code == 0, result.output
    assert contents(pictures) == before
    assert {path.name for path in (out / "folders").iterdir()} == {
        "sea_side", "Rose", "=1+1", "manifest.csv",
    }  # fmt: skip
    for row in table(out / "folders" / "manifest.csv"):
        copy = out / "folders" / unguarded(row["written"])
        assert not copy.is_symlink()
        assert copy.read_bytes() == (pictures / row["name"]).read_bytes()


def test_contact_sheets(tmp_path, pictures, run):
    out = tmp_path / "out"
    words = ["--features", "hog", "--contact-sheets"]
    result = run("cluster", pictures, "-k", 3, "-o", out, *words)
    assert "contact-sheets" in result.stdout
    sheets = sorted(path.name for path in (out / "contact-sheets").iterdir())
    assert sheets == [f"cluster-0{k}.jpg" for k in range(3)]
    for name in sheets:
        with Image.open(out / "contact-sheets" / name) as sheet:
            assert min(sheet.size) > 100
    again = run("cluster", pictures, "-k", 2, "-o", out, "--features", "hog", "--overwrite")
    assert f"{out / 'contact-sheets'} is of an earlier run and stays as it is" in again.stderr


def test_folders_of_an_earlier_run_are_refused_before_reading(
    tmp_path, pictures, run, fails, unread
):
    out = tmp_path / "out"
    (out / "folders" / "cluster-00").mkdir(parents=True)
    words = ["-k", 3, "-o", out, "--overwrite", "--folders", "links"]
    assert "must not exist" in fails("cluster", pictures, *words)


@pytest.mark.parametrize("features", ["network", "hog", "pixels"])
def test_copies_are_listed(tmp_path, pictures, run, table, page_data, features):
    shutil.copy(pictures / "a1.jpg", pictures / "copy.jpg")
    with Image.open(pictures / "b2.jpg") as image:
        image.save(pictures / "small.jpg", quality=70)
    out = tmp_path / "out"
    result = run("cluster", pictures, "-k", 3, "-o", out, "--features", features)
    assert "copies      4 images in 2 groups of copies or near-copies\n" in result.stdout
    rows = table(out / "duplicates.csv")
    groups = {}
    for row in rows:
        groups.setdefault(row["group"], set()).add(row["name"])
    assert sorted(map(sorted, groups.values())) == [["a1.jpg", "copy.jpg"], ["b2.jpg", "small.jpg"]]
    assert sorted(row["kind"] for row in rows) == ["", "", "copy", "near-copy"]
    data = page_data(out / "report.html")
    shown = [
        {data["samples"]["name"][row] for row, *_ in group["members"]}
        for group in data["duplicates"]
    ]
    assert shown == list(groups.values())


def test_links_lead_to_the_originals(tmp_path, pictures, run, page_data):
    """Also those of a run into a folder that is there, which writes into another one first."""
    out = tmp_path / "some" / "out"
    for words in ([], ["--overwrite"]):
        result = run("cluster", pictures, "-k", 3, "-o", out, "--features", "hog", *words)
        assert result.exit_code == 0, result.output
        originals = page_data(out / "report.html")["originals"]
        names = sorted(path.name for path in pictures.iterdir())
        assert [(out / url).resolve() for url in originals] == [pictures / name for name in names]


def test_suggestions_are_in_the_report(tmp_path, pictures, run, table, page_data):
    out = tmp_path / "out"
    run("cluster", pictures, "-k", 3, "-o", out, "--features", "hog", "--suggest", 3)
    names = [row["name"] for row in table(out / "suggestions.csv")]
    assert {name[0] for name in names} == set("abc")
    data = page_data(out / "report.html")
    assert [data["samples"]["name"][row] for row in data["suggestions"]] == names


def test_everything_that_is_written_is_listed(tmp_path, pictures, run):
    shutil.copy(pictures / "a1.jpg", pictures / "copy.jpg")
    (pictures / "empty.jpg").touch()
    out = tmp_path / "out"
    words = ["--features", "hog", "--folders", "links", "--contact-sheets", "--suggest", 2]
    result = run("cluster", pictures, "-k", 3, "-o", out, "--json", *words)
    written = {Path(file).name for file in json.loads(result.stdout)["files"]}
    assert written == set(os.listdir(out))


def test_demo_of_photographs(tmp_path, run, table):
    out = tmp_path / "demo"
    result = run("demo", "--photos", "-o", out)
    assert result.exit_code == 0, result.output
    assert float(result.stdout.split("AC ")[1][:5]) > 0.9
    assert float(result.stdout.split("accuracy ")[1][:5]) > 0.9
    assert all(name in result.stdout for name in os.listdir(out))
    assert len(list((out / "photos").iterdir())) == 192
    assert len(table(out / "folders" / "manifest.csv")) == 192
    assert {row["kind"] for row in table(out / "duplicates.csv")} >= {"near-copy"}
    assert os.listdir(tmp_path) == ["demo"]
