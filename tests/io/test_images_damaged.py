"""Files that cannot be read as images: skipped, with a reason, and without waiting."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from enhg.io import read_samples
from enhg.io.images import list_images, read_images, survey

RNG = np.random.default_rng(0)
NOISE = RNG.integers(0, 256, size=(40, 40, 3), dtype=np.uint8)
FORMATS = ["png", "jpg", "webp", "tif", "bmp", "gif", "ppm"]


def reason(path):
    """Why a file is skipped."""
    (result,) = read_images([path], lambda image: image, min_side=8)
    assert result.name == str(path)
    assert "\n" not in result.reason
    return result.reason


@pytest.mark.parametrize("suffix", FORMATS)
@pytest.mark.parametrize("keep", [0.1, 0.6, 0.95])
def test_truncated(tmp_path, save_image, cut, suffix, keep):
    path = cut(save_image(tmp_path / f"a.{suffix}", NOISE), keep)
    assert reason(path)


@pytest.mark.parametrize("kind", ["heic", "avif"])
def test_truncated_heif(tmp_path, save_image, cut, kind):
    pillow_heif = pytest.importorskip("pillow_heif", reason="needs the extra heic")
    path = tmp_path / f"a.{kind}"
    if kind == "heic":
        pillow_heif.from_pillow(Image.fromarray(NOISE)).save(path)
    else:
        pytest.importorskip("PIL._avif", reason="Pillow without AVIF")
        save_image(path, NOISE)
    assert reason(cut(path, 0.6))


@pytest.mark.parametrize("suffix", FORMATS)
def test_random_damage_never_raises(tmp_path, save_image, suffix):
    path = save_image(tmp_path / f"a.{suffix}", NOISE)
    whole = path.read_bytes()
    files = []
    for at in range(60):
        damaged = bytearray(whole)
        for place in RNG.integers(0, min(len(whole), 200 + at * 50), size=5):
            damaged[place] = RNG.integers(256)
        files.append(tmp_path / f"{at}.{suffix}")
        files[-1].write_bytes(damaged)
    assert len(list(read_images(files, lambda image: image.size, min_side=8))) == 60
    path.write_bytes(whole)
    assert len(survey(list_images(tmp_path)).names) >= 1


def test_no_image(tmp_path):
    (tmp_path / "a.jpg").write_text("dear diary")
    assert reason(tmp_path / "a.jpg") == "not an image"
    (tmp_path / "a.heic").write_bytes(b"\x00\x00\x00\x14ftypqt  \x00\x00\x00\x00qt  " * 9)
    assert reason(tmp_path / "a.heic") == "not an image"


def test_empty(tmp_path):
    (tmp_path / "a.jpg").touch()
    assert reason(tmp_path / "a.jpg") == "empty file"


def test_missing(tmp_path):
    assert reason(tmp_path / "a.jpg") == "No such file or directory"


def test_no_permission(tmp_path, save_image):
    path = save_image(tmp_path / "a.png", NOISE)
    path.chmod(0)
    if os.access(path, os.R_OK):
        pytest.skip("root may read all")
    assert reason(path) == "Permission denied"


def test_postscript_starts_no_program(tmp_path, monkeypatch):
    def forbidden(*args, **options):
        raise AssertionError("a program was started")

    monkeypatch.setattr(subprocess, "Popen", forbidden)
    monkeypatch.setattr(os, "system", forbidden)
    code = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n%%EOF\n"
    for name in ("a.png", "a.jpg", "a.tif"):
        (tmp_path / name).write_bytes(code)
        assert reason(tmp_path / name) == "not an image"


def test_other_formats_of_pillow_are_not_opened(tmp_path):
    image = Image.fromarray(NOISE)
    for kind in ("TGA", "PCX", "ICO", "SGI"):
        image.save(tmp_path / "a.png", format=kind)
        assert reason(tmp_path / "a.png") == "not an image"


# --- too large --------------------------------------------------------------------------------


def png(width, height):
    """A PNG file whose header says `width` × `height` and that holds one row."""

    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    rows = zlib.compress(bytes(width + 1))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows)


def test_decompression_bombs(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(png(30_000, 30_000))
    assert reason(path) == "too large to decode safely: more than 179 megapixels; shrink it"
    path.write_bytes(png(10_000, 10_000))
    assert reason(path) == "too large to decode safely: more than 89.5 megapixels; shrink it"


@pytest.mark.parametrize("progressive", [False, True])
def test_progressive_files_are_decoded_as_a_whole(tmp_path, monkeypatch, progressive):
    image = Image.fromarray(np.zeros((1600, 1600), np.uint8))
    image.save(tmp_path / "a.jpg", progressive=progressive)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1_500_000)
    (read,) = read_images([tmp_path / "a.jpg"], lambda image: image.size, min_side=8)
    if progressive:
        assert read.reason == "too large to decode safely: more than 1.5 megapixels; shrink it"
    else:
        assert max(read.value) < 1600


def tiff(tile_type, tile_count, side):
    """A TIFF file of 16×16 pixels in one tile of so many pixels in width and height."""
    entries = [(256, 4, 16), (257, 4, 16), (258, 3, 8), (259, 3, 8), (262, 3, 1), (277, 3, 1)]
    data = zlib.compress(bytes(256))
    place = 8 + 2 + 12 * (len(entries) + 4) + 4
    parts = [struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in entries]
    parts += [struct.pack("<HHII", tag, tile_type, tile_count, side) for tag in (322, 323)]
    parts += [struct.pack("<HHII", 324, 4, 1, place), struct.pack("<HHII", 325, 4, 1, len(data))]
    head = b"II*\0" + struct.pack("<IH", 8, len(parts))
    return head + b"".join(parts) + bytes(4) + data


def test_tiles_that_are_larger_than_the_image(tmp_path):
    path = tmp_path / "a.tif"
    path.write_bytes(tiff(4, 1, 16))
    (image,) = read_images([path], lambda image: image.size, min_side=8)
    assert image.value == (16, 16)
    path.write_bytes(tiff(4, 1, 40_000))
    assert "too large to decode safely" in reason(path)
    path.write_bytes(tiff(3, 2, 40_000 * 65_537))  # two numbers in place of one
    assert reason(path)


def test_limit_of_pixels_is_that_of_pillow(tmp_path, save_image, monkeypatch):
    path = save_image(tmp_path / "a.png", NOISE)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1600)
    assert read_samples(tmp_path).skipped == ()
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1599)
    assert reason(path).startswith("too large to decode safely: more than 0.0016 megapixels")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    assert read_samples(tmp_path).skipped == ()


def test_limit_of_pixels_holds_for_what_is_decoded(tmp_path, monkeypatch):
    Image.new("RGB", (1600, 1200)).save(tmp_path / "a.jpg")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 1_000_000)
    (image,) = read_images([tmp_path / "a.jpg"], lambda image: image.size, min_side=100)
    assert image.value == (200, 150)
    (image,) = read_images([tmp_path / "a.jpg"], lambda image: image.size, min_side=1200)
    assert "more than 1 megapixels" in image.reason


def test_large_files(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(png(4, 4))
    os.truncate(path, 1_000_000_001)  # a sparse file
    assert reason(path) == "file larger than 1 GB"


# --- what is no file --------------------------------------------------------------------------

READ = """
import sys
from pathlib import Path
from enhg.io.images import read_images
for result in read_images([Path(name) for name in sys.argv[1:]], lambda image: image, min_side=8):
    print(result.reason)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="FIFOs of POSIX")
def test_fifo_that_takes_the_place_of_a_file(tmp_path):
    os.mkfifo(tmp_path / "x.jpg")
    (tmp_path / "zero.jpg").symlink_to("/dev/zero")
    (tmp_path / "folder.jpg").mkdir()
    names = ["x.jpg", "zero.jpg", "folder.jpg"]
    done = subprocess.run(
        [sys.executable, "-c", READ, *names],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.splitlines() == ["not a regular file"] * 3


# --- folders ----------------------------------------------------------------------------------


@pytest.fixture
def album(tmp_path, save_image, cut):
    """Two images, and four files that cannot be read."""
    save_image(tmp_path / "a.png", NOISE)
    cut(save_image(tmp_path / "b.png", NOISE))
    cut(save_image(tmp_path / "c.jpg", NOISE))
    (tmp_path / "d.png").write_text("no image at all")
    (tmp_path / "e.gif").touch()
    (tmp_path / "notes.txt").touch()
    save_image(tmp_path / "sub" / "f.png", 255 - NOISE)
    return tmp_path


@pytest.mark.parametrize("size", [None, (40, 40)])
def test_unreadable_images_are_skipped(album, size):
    calls = []
    samples = read_samples(album, size=size, progress=lambda *call: calls.append(call))
    assert samples.names == ["a.png", "sub/f.png"]
    gray = [
        np.asarray(Image.fromarray(image).convert("L")).ravel() for image in (NOISE, 255 - NOISE)
    ]
    np.testing.assert_array_equal(samples.X, gray)
    assert [image.name for image in samples.skipped] == ["b.png", "c.jpg", "d.png", "e.gif"]
    assert samples.skipped[2].reason == "not an image"
    assert samples.n_ignored == 1
    assert [done for done, _ in calls] == list(range(len(calls)))
    assert {total for _, total in calls} == {len(calls) - 1}
    assert samples.photos.files == [album / "a.png", album / "sub" / "f.png"]


def test_unreadable_images_are_named(album, refuses):
    message = refuses(
        lambda: read_samples(album, on_unreadable="raise"),
        str(album),
        "4 images cannot be read: b.png (",
        "d.png (not an image), e.gif (empty file); repair",
        parameter="on_unreadable",
    )
    assert "more" not in message
    for at in range(11):
        (album / f"x{at}.png").write_text("?")
    message = refuses(
        lambda: read_samples(album, on_unreadable="raise"), "15 images cannot be read"
    )
    assert "x5.png (not an image) and 5 more; repair" in message
    assert "x6.png" not in message


def test_nothing_can_be_read(tmp_path, refuses, monkeypatch):
    for at in range(3):
        Path(tmp_path, f"{at}.heic").write_bytes(
            b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"
        )
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    for size in (None, (8, 8)):
        refuses(
            lambda size=size: read_samples(tmp_path, size=size),
            "3 images, of which none can be read: this needs pillow_heif",
            "pip install 'pillow-heif",
        )
    (tmp_path / "4.png").write_text("?")
    refuses(lambda: read_samples(tmp_path), "4 images, of which none", "4.png (not an image)")


def test_on_unreadable_is_checked(tmp_path, refuses):
    refuses(
        lambda: read_samples(tmp_path, on_unreadable="ignore"),
        "on_unreadable must be 'skip' or 'raise', got 'ignore'",
        parameter="on_unreadable",
    )
