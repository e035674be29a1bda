"""Contact sheets of clusters and classes."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFont

from enhg.io import contact
from enhg.io._base import Photos
from enhg.io.contact import write_contact_sheets

COLORS = [(200, 30, 30), (30, 160, 30), (30, 30, 200), (200, 160, 30)]


def plain_photos(sizes, colors=COLORS):
    thumbnails = []
    for i, size in enumerate(sizes):
        stream = io.BytesIO()
        Image.new("RGB", size, colors[i % len(colors)]).save(stream, "JPEG", quality=95)
        thumbnails.append(stream.getvalue())
    digests = [hashlib.sha256(thumbnail).hexdigest() for thumbnail in thumbnails]
    return Photos([Path(f"{i}.jpg") for i in range(len(sizes))], thumbnails, digests, list(sizes))


def boxes(sheet):
    """Corners and colors of the plain pictures on a sheet, row by row."""
    pixels = np.asarray(sheet).astype(int)
    colored = pixels.max(axis=2) - pixels.min(axis=2) > 60
    pictures = []
    rows = np.flatnonzero(np.diff(colored.any(axis=1), prepend=False, append=False))
    for top, bottom in zip(rows[::2], rows[1::2], strict=True):
        columns = np.flatnonzero(np.diff(colored[(top + bottom) // 2], prepend=False, append=False))
        for left, right in zip(columns[::2], columns[1::2], strict=True):
            color = pixels[(top + bottom) // 2, (left + right) // 2]
            nearest = np.abs(np.array(COLORS) - color).sum(axis=1).argmin()
            pictures.append((left, top, right, bottom, int(nearest)))
    return pictures


def test_the_most_confident_come_first(tmp_path):
    labels = np.array([0, 1, 0, 0])
    photos = plain_photos([(160, 120)] * 4)
    write_contact_sheets(tmp_path / "new" / "sheets", photos, labels, [0.2, 0.5, 0.9, 0.4])
    folder = tmp_path / "new" / "sheets"
    assert sorted(os.listdir(folder)) == ["cluster-00.jpg", "cluster-01.jpg"]
    with Image.open(folder / "cluster-00.jpg") as sheet:
        assert sheet.format == "JPEG"
        assert [box[-1] for box in boxes(sheet)] == [2, 3, 0]
    with Image.open(folder / "cluster-01.jpg") as sheet:
        assert [box[-1] for box in boxes(sheet)] == [1]


def test_pictures_keep_their_proportions_and_rows_fill_the_sheet(tmp_path):
    rng = np.random.default_rng(0)
    sizes = [(int(w), int(h)) for w, h in rng.integers(40, 160, size=(60, 2))]
    write_contact_sheets(tmp_path, plain_photos(sizes), np.zeros(60, int), -np.arange(60.0))
    with Image.open(tmp_path / "cluster-00.jpg") as sheet:
        pictures = boxes(sheet)
        width = sheet.width
    assert [box[-1] for box in pictures] == [i % 4 for i in range(60)]
    for (left, top, right, bottom, _), (w, h) in zip(pictures, sizes, strict=True):
        assert (right - left) / (bottom - top) == pytest.approx(w / h, rel=0.06)
    last = max(box[1] for box in pictures)
    ends = {box[1]: box[2] for box in pictures if box[1] != last}
    assert len(ends) > 3
    assert max(ends.values()) - min(ends.values()) <= 3
    assert min(box[0] for box in pictures) == pytest.approx(width - max(ends.values()), abs=3)


@pytest.mark.parametrize("size", [(160, 8), (8, 160), (1, 1)])
def test_pictures_of_any_proportions(tmp_path, size):
    write_contact_sheets(tmp_path, plain_photos([size] * 3), np.zeros(3, int), np.ones(3))
    with Image.open(tmp_path / "cluster-00.jpg") as sheet:
        assert len(boxes(sheet)) == 3
        assert sheet.width < 1400


def test_at_most_a_hundred(tmp_path, monkeypatch):
    headings = []
    monkeypatch.setattr(contact, "_draw_heading", lambda draw, *words: headings.append(words))
    labels = np.array(["a b\nc"] * 130 + [""] * 2)
    write_contact_sheets(tmp_path, plain_photos([(32, 32)] * 132), labels, np.ones(132))
    assert headings == [("a b c", 130, 100), ("unlabeled", 2, 2)]
    with Image.open(tmp_path / "a b_c.jpg") as sheet:
        assert len(boxes(sheet)) == 100


def test_hostile_titles(tmp_path, monkeypatch):
    names = [
        "../../x",
        "=cmd",
        "x" * 900,
        "🌸 Größe",
        "שלום",
        "CON",
        "a\0b",
        "\u202egpj",
        "Rose",
        "rose",
    ]
    labels = np.array(names)
    photos = plain_photos([(32, 32)] * len(names))
    out = tmp_path / "deep" / "out"
    write_contact_sheets(out, photos, labels, np.ones(len(names)))
    assert len(os.listdir(out)) == len(names)
    assert os.listdir(tmp_path) == ["deep"]
    for name in os.listdir(out):
        with Image.open(out / name) as sheet:
            assert len(boxes(sheet)) == 1
    # Without a font for the letters they are written without accents.
    monkeypatch.setattr(contact, "_FONTS", ("absent.ttf",))
    assert contact._drawable("Größe é")[0] == "Gro?e e"


def test_long_titles_are_shortened():
    font = ImageFont.load_default(30)
    text = contact._shortened("a long name " * 30, font, 400)
    assert text.startswith("a long name a")
    assert text.endswith("...")
    assert 350 < font.getlength(text) <= 400
    assert contact._shortened("short", font, 400) == "short"


def test_sheets_that_cannot_be_written(tmp_path, refuses):
    (tmp_path / "file").write_text("")
    photos = plain_photos([(32, 32)])
    refuses(
        lambda: write_contact_sheets(tmp_path / "file", photos, np.zeros(1, int), np.ones(1)),
        "cannot be written",
    )
