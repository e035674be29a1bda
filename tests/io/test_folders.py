"""Folders of images, one per cluster or class."""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path

import numpy as np
import pytest

from enhg.io.folders import group_names, safe_name, write_folders
from enhg.io.images import list_images

HOSTILE = [
    "../../x", "/etc/passwd", "..", ".", ".hidden", "a/b", "a\\b", "a_b", "C:\\x", "=cmd", "a,b",
    'say "hi"', "two\nlines", "nul\0byte", "🌸", "שלום", "\u202egpj.exe", "CON", "con.txt", "COM1",
    "CONSOLE", "dots...", "space ", " space", "x" * 400, "ä" * 200, "Rose", "rose", "caf\u00e9",
    "cafe\u0301", "manifest.csv", "unlabeled", "cluster-00", "~", "-rf", "*?|<>", "bad\udcff",
    "half\ud800",
]  # fmt: skip


def manifest(folder):
    with open(folder / "manifest.csv", newline="", encoding="utf-8-sig") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def images(tmp_path):
    """Files of different contents; two have one name."""
    names = ["a/1.jpg", "b/1.jpg", "2.jpg", "A/1.JPG", "3.jpg"]
    for name in names:
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    return names, [tmp_path / "in" / name for name in names]


def snapshot(folder):
    return {path: path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("copy", [False, True])
def test_write_folders(tmp_path, images, copy):
    names, files = images
    before = snapshot(tmp_path / "in")
    out = tmp_path / "new" / "out"
    write_folders(out, names, files, np.array([0, 0, 11, 0, -1]), copy=copy)
    assert snapshot(tmp_path / "in") == before
    assert sorted(os.listdir(out)) == ["cluster-00", "cluster-11", "manifest.csv", "unlabeled"]
    written = ["1.jpg", "1 (2).jpg", "2.jpg", "1 (3).JPG", "3.jpg"]
    parents = ["cluster-00", "cluster-00", "cluster-11", "cluster-00", "unlabeled"]
    rows = manifest(out)
    for row, name, file, parent, item in zip(rows, names, files, parents, written, strict=True):
        assert row["name"] == name
        assert row["original"] == str(file)
        assert row["written"] == f"{parent}/{item}"
        path = out / row["written"]
        assert path.is_symlink() is not copy
        assert path.read_text() == name
    assert [row["label"] for row in rows] == ["0", "0", "11", "0", "-1"]


def test_links_stay_valid_when_the_folder_is_moved(tmp_path, images, monkeypatch):
    names, files = images
    monkeypatch.chdir(tmp_path)
    relative = [file.relative_to(tmp_path) for file in files]
    write_folders(Path("out"), names, relative, np.array(["x"] * 5))
    (tmp_path / "far" / "away").mkdir(parents=True)
    (tmp_path / "out").rename(tmp_path / "far" / "away" / "out")
    assert (tmp_path / "far" / "away" / "out" / "x" / "2.jpg").read_text() == "2.jpg"


@pytest.mark.parametrize("error", [OSError("no right to make links"), NotImplementedError()])
def test_copies_where_links_cannot_be_made(tmp_path, images, monkeypatch, error):
    def refuse(*args, **options):
        raise error

    monkeypatch.setattr(Path, "symlink_to", refuse)
    names, files = images
    with pytest.warns(UserWarning, match="links cannot be made") as caught:
        write_folders(tmp_path / "out", names, files, np.zeros(5, int))
    assert len(caught) == 1
    for row in manifest(tmp_path / "out"):
        path = tmp_path / "out" / row["written"]
        assert path.read_text() == row["name"]
        assert not path.is_symlink()


def test_hostile_classes_stay_inside(tmp_path):
    (tmp_path / "in.jpg").write_text("image")
    out = tmp_path / "deep" / "er" / "out"
    labels = np.array([*HOSTILE[:-1], ""])  # the last cannot be written into a table
    count = len(labels)
    write_folders(out, ["in.jpg"] * count, [tmp_path / "in.jpg"] * count, labels)
    assert sorted(os.listdir(tmp_path)) == ["deep", "in.jpg"]
    assert os.listdir(tmp_path / "deep") == ["er"]
    assert os.listdir(tmp_path / "deep" / "er") == ["out"]
    folders = [name for name in os.listdir(out) if name != "manifest.csv"]
    assert len(folders) == count
    assert len({name.casefold() for name in folders}) == count
    for name in folders:
        assert os.listdir(out / name) == ["in.jpg"]
        assert not name.startswith((".", " "))
        assert not name.endswith((".", " "))
        assert len(os.fsencode(name)) <= 130
        assert name.partition(".")[0].upper() not in {"CON", "COM1", "NUL"}
        assert not set(name) & set('/\\:*?"<>|\n\0\u202e')
    names = group_names(labels)
    kept = ["a_b", "=cmd", "a,b", "🌸", "שלום", "CONSOLE", "Rose", "unlabeled", "~", "-rf"]
    assert [names[name] for name in kept] == kept
    assert names["rose"] == "rose (2)"
    assert names["manifest.csv"] == "manifest (2).csv"
    assert names[""] == "unlabeled (2)"


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_file_names(tmp_path, name):
    """The names of links are safe also where those of the files are not."""
    text = safe_name(f"{name}.jpg")
    assert safe_name(text) == text
    assert text.endswith((".jpg", "jpg"))
    assert Path(text).name == text
    assert (tmp_path / text).resolve().parent == tmp_path.resolve()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names of bytes, as on Linux")
def test_names_that_are_not_utf8_are_escaped_in_the_manifest(tmp_path):
    folder = tmp_path / os.fsdecode(b"f\xe9")
    folder.mkdir()
    file = folder / os.fsdecode(b"bad\xff.jpg")
    file.write_text("image")
    listing = list_images(tmp_path)
    write_folders(tmp_path / "out", listing.names, listing.files, np.array([0]))
    (tmp_path / "out" / "manifest.csv").read_text(encoding="utf-8-sig")
    assert manifest(tmp_path / "out") == [
        {
            "name": r"f\xe9/bad\xff.jpg",
            "label": "0",
            "original": rf"{tmp_path}/f\xe9/bad\xff.jpg",
            "written": r"cluster-00/bad\xff.jpg",
        }
    ]
    assert (tmp_path / "out" / "cluster-00" / file.name).read_text() == "image"


def test_many_files_of_one_name(tmp_path):
    count = 300
    files = []
    for i in range(count):
        path = tmp_path / "in" / str(i) / "image.jpg"
        path.parent.mkdir(parents=True)
        path.write_text(str(i))
        files.append(path)
    write_folders(tmp_path / "out", [str(i) for i in range(count)], files, np.zeros(count, int))
    rows = manifest(tmp_path / "out")
    assert len({row["written"] for row in rows}) == count
    assert all((tmp_path / "out" / row["written"]).read_text() == row["name"] for row in rows)


def test_numbers_of_clusters_have_one_length():
    names = group_names(np.arange(101))
    assert list(names.values())[::50] == ["cluster-000", "cluster-050", "cluster-100"]


def test_folders_that_cannot_be_written(tmp_path, images, refuses):
    names, files = images
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("keep")
    labels = np.zeros(5, int)
    refuses(lambda: write_folders(tmp_path / "out", names, files, labels), "must be new or empty")
    below = tmp_path / "out" / "mine" / "below"
    refuses(lambda: write_folders(below, names, files, labels), "cannot be written")
    files[2].unlink()
    missing = tmp_path / "other"
    refuses(
        lambda: write_folders(missing, names, files, labels, copy=True), "2.jpg", "No such file"
    )
