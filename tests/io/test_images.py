"""Samples from folders of images."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from enhg.io import read_samples
from enhg.io.images import IMAGE_SUFFIXES, natural_key

RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, size=(6, 5, 3), dtype=np.uint8)


def test_folder_of_images(tmp_path, save_image):
    for i in (10, 2, 1):
        save_image(tmp_path / f"img{i}.png", PIXELS[i % 6])
    save_image(tmp_path / "sub" / "deep" / "a.bmp", PIXELS[0])
    save_image(tmp_path / ".hidden.png", PIXELS[0])
    save_image(tmp_path / ".cache" / "b.png", PIXELS[0])
    (tmp_path / "notes.txt").write_text("not an image")
    calls = []
    samples = read_samples(tmp_path, progress=lambda done, total: calls.append((done, total)))
    # A name is compared folder by folder: "img…" sorts before "sub".
    assert samples.names == ["img1.png", "img2.png", "img10.png", "sub/deep/a.bmp"]
    assert samples.X.dtype == np.uint8
    np.testing.assert_array_equal(samples.X, PIXELS[[1, 2, 4, 0]].reshape(4, -1))
    assert samples.image_shape == (5, 3)
    assert samples.labels is None
    assert samples.source == tmp_path
    assert calls == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_natural_order():
    names = ["b10/a2", "b2/a10", "b2/a9", "A1", "a01", "a1x", "7", "10"]
    ordered = sorted(names, key=natural_key)
    assert ordered == ["7", "10", "A1", "a01", "a1x", "b2/a9", "b2/a10", "b10/a2"]


@pytest.mark.parametrize("suffix", [*sorted(IMAGE_SUFFIXES - {".pbm"}), ".PNG"])
def test_every_image_format(tmp_path, suffix):
    array = np.full((8, 6), 100, dtype=np.uint8)
    Image.fromarray(array).convert("RGB" if suffix == ".ppm" else "L").save(tmp_path / f"a{suffix}")
    samples = read_samples(tmp_path)
    assert samples.image_shape == (8, 6)
    np.testing.assert_allclose(samples.X.astype(float), 100, atol=3)


def test_bitmap_is_black_and_white(tmp_path):
    Image.fromarray(np.eye(4, dtype=bool)).save(tmp_path / "a.pbm")
    np.testing.assert_array_equal(read_samples(tmp_path).X, 255 * np.eye(4).reshape(1, -1))


def test_color(tmp_path, save_image):
    rgb = RNG.integers(0, 256, size=(4, 3, 3), dtype=np.uint8)
    save_image(tmp_path / "a.png", rgb)
    samples = read_samples(tmp_path, gray=False)
    assert samples.image_shape == (4, 3, 3)
    np.testing.assert_array_equal(samples.X[0], rgb.ravel())
    assert read_samples(tmp_path).image_shape == (4, 3)


def test_transparency_is_shown_on_white(tmp_path, save_image):
    rgba = np.zeros((2, 2, 4), dtype=np.uint8)
    rgba[0, 0, 3] = 255  # one opaque black pixel among invisible black ones
    save_image(tmp_path / "a.png", rgba)
    np.testing.assert_array_equal(read_samples(tmp_path).X, [[0, 255, 255, 255]])


@pytest.mark.parametrize("suffix", ["jpg", "png"])
def test_exif_orientation(tmp_path, suffix, save_image):
    array = np.zeros((8, 16), dtype=np.uint8)
    array[:, 8:] = 255  # right half white
    exif = Image.Exif()
    exif[0x0112] = 6  # the viewer turns it clockwise: the white half comes to the bottom
    save_image(tmp_path / f"a.{suffix}", array, exif=exif)
    samples = read_samples(tmp_path)
    assert samples.image_shape == (16, 8)
    upright = samples.X.reshape(16, 8)
    assert upright[:7].max() < 30
    assert upright[9:].min() > 225


DEEP = np.array([[0, 65535, 30000], [100, 257, 514]], dtype=np.uint16)


@pytest.mark.parametrize("suffix", ["png", "tif", "pgm"])
@pytest.mark.parametrize("gray", [True, False])
def test_sixteen_bits_keep_their_detail(tmp_path, suffix, gray, save_image):
    if suffix == "pgm":
        (tmp_path / "a.pgm").write_bytes(b"P5 3 2 65535\n" + DEEP.astype(">u2").tobytes())
    else:
        save_image(tmp_path / f"a.{suffix}", DEEP)
    samples = read_samples(tmp_path, gray=gray)
    assert samples.X.dtype == np.float32
    pixels = samples.X.reshape(2, 3) if gray else samples.X.reshape(2, 3, 3)[..., 1]
    np.testing.assert_allclose(pixels, DEEP / 257, rtol=1e-6)


def test_big_endian_sixteen_bits(tmp_path):
    image = Image.frombytes("I;16B", (3, 2), DEEP.astype(">u2").tobytes())
    image.save(tmp_path / "a.tif")
    np.testing.assert_allclose(read_samples(tmp_path).X[0], DEEP.ravel() / 257, rtol=1e-6)


def test_eight_and_sixteen_bits_share_a_scale(tmp_path, save_image):
    save_image(tmp_path / "a.png", np.full((2, 2), 255, dtype=np.uint8))
    save_image(tmp_path / "b.png", np.full((2, 2), 65535, dtype=np.uint16))
    np.testing.assert_array_equal(read_samples(tmp_path).X, np.full((2, 4), 255, np.float32))


def test_float_images_keep_their_values(tmp_path, refuses, save_image):
    values = np.array([[-1.5, 0.25], [1000, 3]], dtype=np.float32)
    save_image(tmp_path / "a.tif", values)
    np.testing.assert_array_equal(read_samples(tmp_path).X[0], values.ravel())
    values[0, 0] = np.nan
    save_image(tmp_path / "b.tif", values)
    refuses(lambda: read_samples(tmp_path), "1 of 8 values", "row 1", "b.tif")


def test_sizes_must_agree(tmp_path, refuses, save_image):
    save_image(tmp_path / "a.png", np.zeros((4, 5), np.uint8))
    save_image(tmp_path / "b.png", np.zeros((6, 7), np.uint8))
    refuses(lambda: read_samples(tmp_path), "got 4×5 (a.png) and 6×7 (b.png)", parameter="size")
    samples = read_samples(tmp_path, size=(3, 2))
    assert samples.X.shape == (2, 6)
    assert samples.image_shape == (3, 2)


def test_resizing_is_antialiased(tmp_path, save_image):
    stripes = np.zeros((64, 64), dtype=np.uint8)
    stripes[:, ::2] = 255
    save_image(tmp_path / "a.png", stripes)
    small = read_samples(tmp_path, size=(8, 8)).X
    assert np.abs(small.astype(float) - 127.5).max() < 15  # picking pixels would give 0 or 255
    save_image(tmp_path / "a.png", stripes.astype(np.uint16) * 257)
    np.testing.assert_allclose(read_samples(tmp_path, size=(8, 8)).X, small, atol=1)


def test_broken_images_are_collected(tmp_path, refuses, cut, save_image):
    noise = RNG.integers(0, 256, size=(40, 40), dtype=np.uint8)
    save_image(tmp_path / "a.png", noise)
    cut(save_image(tmp_path / "b.png", noise))
    message = refuses(lambda: read_samples(tmp_path), str(tmp_path), "1 image cannot be read")
    assert "b.png" in message
    cut(save_image(tmp_path / "c.jpg", noise))
    (tmp_path / "d.png").write_text("no image at all")
    (tmp_path / "e.gif").write_bytes(b"")
    refuses(lambda: read_samples(tmp_path), "4 images cannot be read, first: b.png")
    (tmp_path / "b.png").unlink()
    (tmp_path / "c.jpg").unlink()
    refuses(lambda: read_samples(tmp_path), "first: d.png (not an image)")


def test_folder_without_images(tmp_path, refuses):
    (tmp_path / "readme.txt").write_text("nothing here")
    refuses(lambda: read_samples(tmp_path), str(tmp_path), "no images", "png")


def test_huge_image(tmp_path, monkeypatch, refuses, save_image):
    save_image(tmp_path / "a.png", np.zeros((40, 40), np.uint8))
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    refuses(lambda: read_samples(tmp_path), "a.png (too large")
