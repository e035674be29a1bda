"""Samples from folders of images."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from io import BytesIO

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from enhg.io import image_samples, images, read_samples
from enhg.io.images import IMAGE_SUFFIXES, list_images, survey, working_size

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
    assert calls == [(i, 4) for i in range(5)]


@pytest.mark.parametrize("suffix", [*sorted(IMAGE_SUFFIXES - {".pbm"}), ".PNG"])
def test_every_suffix(tmp_path, suffix):
    array = np.full((8, 6), 100, dtype=np.uint8)
    if suffix in {".heic", ".heif"}:
        pytest.importorskip("pillow_heif", reason="needs the extra heic").register_heif_opener()
    if suffix == ".avif":
        pytest.importorskip("PIL._avif", reason="Pillow without AVIF")
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


def test_photos_of_samples(tmp_path, save_image):
    save_image(tmp_path / "b.png", np.full((30, 400, 3), (250, 0, 0), np.uint8))
    save_image(tmp_path / "sub" / "a.png", np.zeros((20, 10), np.uint8))
    samples = read_samples(tmp_path)
    photos = samples.photos
    assert photos.files == [tmp_path / "b.png", tmp_path / "sub" / "a.png"]
    assert photos.sizes == [(400, 30), (10, 20)]
    digests = [hashlib.sha256(path.read_bytes()).hexdigest() for path in photos.files]
    assert photos.digests == digests
    thumbnails = [Image.open(BytesIO(thumbnail)) for thumbnail in photos.thumbnails]
    assert [image.size for image in thumbnails] == [(160, 12), (10, 20)]
    np.testing.assert_allclose(np.asarray(thumbnails[0], float)[5, 80], (250, 0, 0), atol=4)


# --- working size -------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(64, 64), (3, 64), (64, 40)])
def test_small_images_of_one_size_keep_it(tmp_path, save_image, shape):
    for name in ("a.png", "b.png"):
        save_image(tmp_path / name, np.zeros(shape, np.uint8))
    assert read_samples(tmp_path).image_shape == shape


@pytest.mark.parametrize(
    ("shapes", "expected"),
    [
        ([(65, 65)] * 2, (32, 32)),
        ([(128, 128)] * 2, (32, 32)),
        ([(300, 400)] * 2, (28, 36)),
        ([(300, 400), (300, 400), (400, 300)], (28, 36)),
        ([(8, 8), (6, 6), (8, 8)], (8, 8)),
        ([(1, 3000)] * 2, (1, 1024)),
        ([(3000, 1)] * 2, (1024, 1)),
        ([(2, 200)] * 2, (2, 200)),
    ],
)
def test_working_size(tmp_path, save_image, shapes, expected):
    for at, shape in enumerate(shapes):
        save_image(tmp_path / f"{at}.png", np.full(shape, 70, np.uint8))
    samples = read_samples(tmp_path)
    assert samples.image_shape == expected
    np.testing.assert_array_equal(samples.X, 70)


@given(st.lists(st.tuples(st.integers(1, 20_000), st.integers(1, 20_000)), min_size=1, max_size=9))
def test_working_size_is_bounded(sizes):
    sizes = np.array(sizes)
    height, width = working_size(sizes)
    assert min(height, width) >= 1
    small = len(np.unique(sizes, axis=0)) == 1 and sizes.max() <= 64
    assert height * width <= (64 * 64 if small else 1024)
    proportion = np.median(sizes[:, 0] / sizes[:, 1])
    if min(height, width) >= 8:
        assert width / height == pytest.approx(proportion, rel=0.15)


def test_given_size(tmp_path, save_image):
    save_image(tmp_path / "a.png", np.zeros((4, 5), np.uint8))
    save_image(tmp_path / "b.png", np.zeros((600, 700), np.uint8))
    samples = read_samples(tmp_path, size=(300, 2))
    assert samples.X.shape == (2, 600)
    assert samples.image_shape == (300, 2)


def test_working_size_of_turned_images(tmp_path, save_image):
    exif = Image.Exif()
    exif[0x0112] = 6
    for name in ("a.jpg", "b.png", "c.tif", "d.webp"):
        save_image(tmp_path / name, np.zeros((100, 400), np.uint8), exif=exif)
    headers = survey(list_images(tmp_path))
    np.testing.assert_array_equal(headers.sizes, [[100, 400]] * 4)
    samples = read_samples(tmp_path)
    assert samples.image_shape == (64, 16)
    assert samples.photos.sizes == [(100, 400)] * 4


def test_reduced_decoding_is_close_to_the_whole(tmp_path):
    steps = np.linspace(0, 3 * np.pi, 1600)
    waves = 127 + 60 * np.sin(steps)[:, None] + 60 * np.cos(2 * steps)
    Image.fromarray(waves.astype(np.uint8)).save(tmp_path / "a.jpg", quality=95)
    samples = read_samples(tmp_path)
    assert samples.image_shape == (32, 32)
    whole = Image.fromarray(waves.astype(np.uint8)).resize((32, 32), Image.Resampling.LANCZOS)
    np.testing.assert_allclose(samples.X[0], np.asarray(whole).ravel(), atol=3)


# --- survey -------------------------------------------------------------------------------------


def test_survey(tmp_path, save_image):
    save_image(tmp_path / "a.png", np.zeros((4, 5), np.uint8))
    save_image(tmp_path / "b.tif", np.zeros((7, 6), np.uint16))
    (tmp_path / "c.jpg").write_text("?")
    headers = survey(list_images(tmp_path))
    assert headers.names == ("a.png", "b.tif")
    assert headers.files == (tmp_path / "a.png", tmp_path / "b.tif")
    np.testing.assert_array_equal(headers.sizes, [[5, 4], [6, 7]])
    assert [image.name for image in headers.skipped] == ["c.jpg"]
    assert headers.is_gray is True


def test_survey_sees_colors(tmp_path, save_image):
    gray = RNG.integers(0, 256, size=(40, 40), dtype=np.uint8)
    plain = Image.fromarray(gray).convert("RGB")
    # Pillow's conversion to P has colors among its grays, by errors that it spreads.
    images = {"png": plain, "jpg": plain, "gif": plain.quantize(32), "tif": plain.convert("CMYK")}
    for kind, image in images.items():
        image.save(tmp_path / f"a.{kind}")
    save_image(tmp_path / "b.png", np.eye(9, dtype=bool))
    assert survey(list_images(tmp_path)).is_gray is True
    rgb = np.stack([gray] * 3, axis=2)
    rgb[20, 20] = (90, 99, 90)
    save_image(tmp_path / "c.png", rgb)
    assert survey(list_images(tmp_path)).is_gray is False


def test_survey_decodes_a_sample(tmp_path, save_image, monkeypatch):
    for at in range(50):
        save_image(tmp_path / f"{at}.png", np.full((4, 4, 3), 80, np.uint8))
    decoded = []
    original = images.read_image
    monkeypatch.setattr(
        images,
        "read_image",
        lambda path, **options: decoded.append(path) or original(path, **options),
    )
    headers = survey(list_images(tmp_path))
    assert decoded == []
    assert headers.is_gray
    assert len(set(decoded)) == len(decoded) == 32


# --- memory -------------------------------------------------------------------------------------


def test_memory_is_checked_before_reading(tmp_path, save_image, monkeypatch, refuses):
    for name in ("a.png", "b.png"):
        save_image(tmp_path / name, np.zeros((4, 4), np.uint8))
    monkeypatch.setattr(image_samples, "free_memory", lambda: 6_000_000)
    calls = []
    refuses(
        lambda: read_samples(tmp_path, size=(400, 400), progress=lambda *call: calls.append(call)),
        "2 images as 400×400 pixels need about 0.00898 GB of memory to be sorted",
        "0.006 GB are free",
        "smaller size",
        parameter="size",
    )
    assert calls == []
    assert read_samples(tmp_path, size=(300, 300)).X.shape == (2, 90_000)
    refuses(lambda: read_samples(tmp_path, size=(300, 300), gray=False), "300×300×3 pixels")


def test_memory_of_large_photographs(tmp_path):
    """Twelve megapixels of each of 12 images are 432 MB."""
    Image.new("RGB", (4000, 3000), (90, 60, 30)).save(tmp_path / "0.jpg")
    for at in range(1, 12):
        (tmp_path / f"{at}.jpg").symlink_to("0.jpg")
    code = (
        "import resource, sys\n"
        "from enhg.io import read_samples\n"
        "from enhg.io.images import load_pillow\n"
        "load_pillow()\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "samples = read_samples(sys.argv[1], gray=False)\n"
        "assert samples.X.shape == (12, 28 * 36 * 3)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    pytest.importorskip("resource", reason="measures on POSIX only")
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    kilobytes = int(done.stdout) / (1024 if sys.platform == "darwin" else 1)
    assert kilobytes < 50_000


def test_resizing_is_antialiased(tmp_path, save_image):
    stripes = np.zeros((64, 64), dtype=np.uint8)
    stripes[:, ::2] = 255
    save_image(tmp_path / "a.png", stripes)
    small = read_samples(tmp_path, size=(8, 8)).X
    assert np.abs(small.astype(float) - 127.5).max() < 15  # picking pixels would give 0 or 255
    save_image(tmp_path / "a.png", stripes.astype(np.uint16) * 257)
    np.testing.assert_allclose(read_samples(tmp_path, size=(8, 8)).X, small, atol=1)
