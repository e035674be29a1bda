"""Formats and modes of image files, against pictures made in NumPy."""

from __future__ import annotations

import hashlib
import sys
from io import BytesIO

import numpy as np
import PIL
import pytest
from PIL import Image

from enhg.io.images import read_images

RNG = np.random.default_rng(0)
RAMP = np.linspace(0, 255, 24).round().astype(np.uint8)
GRAY = np.add.outer(RAMP // 2, np.linspace(0, 120, 32).astype(np.uint8))
COLOR = np.stack([GRAY, GRAY[::-1], GRAY[:, ::-1]], axis=2)
NOISE = RNG.integers(0, 256, size=(24, 32, 3), dtype=np.uint8)


def one(path, min_side=10_000):
    """The only image of a file, as (image, ReadImage)."""
    (result,) = read_images([path], lambda image: image.copy(), min_side=min_side)
    return result.value, result


def written(path, image, **options):
    image.save(path, **options)
    return path


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("a.png", {}),
        ("a.bmp", {}),
        ("a.tif", {}),
        ("a.tiff", {"compression": "tiff_lzw"}),
        ("a.TIF", {"compression": "tiff_deflate"}),
        ("a.ppm", {}),
        ("a.webp", {"lossless": True}),
    ],
)
def test_lossless_color(tmp_path, name, options):
    path = written(tmp_path / name, Image.fromarray(NOISE), **options)
    image, result = one(path)
    assert image.mode == "RGB"
    np.testing.assert_array_equal(np.asarray(image), NOISE)
    assert result.size == (32, 24)
    assert result.digest == hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("name", ["a.png", "a.bmp", "a.tif", "a.pgm", "a.gif"])
def test_lossless_gray(tmp_path, name):
    gray = NOISE[..., 0]
    image, _ = one(written(tmp_path / name, Image.fromarray(gray)))
    assert image.mode in {"L", "RGB"}  # GIF has palettes only
    np.testing.assert_array_equal(np.asarray(image.convert("L")), gray)


@pytest.mark.parametrize("name", ["a.jpg", "a.jpeg", "a.jpe", "a.jfif", "a.webp", "a.avif"])
@pytest.mark.parametrize("pixels", [COLOR, GRAY], ids=["color", "gray"])
def test_lossy(tmp_path, name, pixels):
    if name == "a.avif":
        pytest.importorskip("PIL._avif", reason="Pillow without AVIF")
    options = {} if pixels.ndim == 2 or not name.startswith("a.j") else {"subsampling": 0}
    image, result = one(written(tmp_path / name, Image.fromarray(pixels), quality=95, **options))
    expected = (
        pixels
        if image.mode == "L"
        else np.broadcast_to(pixels if pixels.ndim == 3 else pixels[..., None], (24, 32, 3))
    )
    assert np.abs(np.asarray(image, dtype=float) - expected).mean() < 4
    assert result.size == (32, 24)


def test_format_is_decided_by_contents(tmp_path):
    path = tmp_path / "a.jpg"
    Image.fromarray(NOISE).save(path, format="PNG")
    np.testing.assert_array_equal(np.asarray(one(path)[0]), NOISE)


def test_mpo_is_read_like_jpeg(tmp_path):
    path = tmp_path / "a.jpg"
    first, second = Image.fromarray(COLOR), Image.fromarray(255 - COLOR)
    first.save(path, format="MPO", save_all=True, append_images=[second], quality=95)
    image, _ = one(path)
    assert np.abs(np.asarray(image, dtype=float) - COLOR).mean() < 8


@pytest.mark.parametrize("suffix", ["jpg", "png", "webp", "tif"])
@pytest.mark.parametrize("value", range(1, 9))
def test_exif_orientation(tmp_path, suffix, value):
    upright = np.zeros((16, 24), dtype=np.uint8)
    upright[:8, :8], upright[:8, 8:], upright[8:, :8] = 60, 120, 180
    # What a camera stores, so that a viewer's turn by the orientation shows it upright.
    stored = {
        1: lambda a: a,
        2: lambda a: a[:, ::-1],
        3: lambda a: a[::-1, ::-1],
        4: lambda a: a[::-1],
        5: lambda a: a.T,
        6: lambda a: np.rot90(a),
        7: lambda a: a[::-1, ::-1].T,
        8: lambda a: np.rot90(a, -1),
    }[value](upright)
    exif = Image.Exif()
    exif[0x0112] = value
    path = tmp_path / f"a.{suffix}"
    Image.fromarray(np.ascontiguousarray(stored)).save(path, exif=exif, quality=95)
    image, result = one(path)
    assert result.size == image.size == (24, 16)
    np.testing.assert_allclose(np.asarray(image.convert("L"), dtype=float), upright, atol=12)
    thumbnail = Image.open(BytesIO(result.thumbnail))
    np.testing.assert_allclose(np.asarray(thumbnail.convert("L"), dtype=float), upright, atol=40)


def test_damaged_exif_is_passed_over(tmp_path):
    path = tmp_path / "a.jpg"
    Image.fromarray(COLOR).save(path, exif=b"Exif\x00\x00II*\x00\xff\xff\xff\x7f")
    image, _ = one(path)
    assert image.size == (32, 24)


@pytest.mark.parametrize("suffix", ["png", "tif"])
def test_sixteen_bits(tmp_path, suffix):
    deep = np.array([[0, 65535, 30000], [100, 257, 514]], dtype=np.uint16)
    image, result = one(written(tmp_path / f"a.{suffix}", Image.fromarray(deep)))
    assert image.mode == "F"
    np.testing.assert_allclose(np.asarray(image), deep / 257, rtol=1e-6)
    assert Image.open(BytesIO(result.thumbnail)).mode == "RGB"


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_thirty_two_bits_keep_their_values(tmp_path, dtype):
    values = np.array([[-5, 70000], [3, 1000]], dtype=dtype)
    image, _ = one(written(tmp_path / "a.tif", Image.fromarray(values)))
    np.testing.assert_array_equal(np.asarray(image), values)


def test_thumbnail_of_float_image_shows_its_range(tmp_path):
    ramp = np.linspace(-3, 0.5, 64, dtype=np.float32)[None].repeat(8, axis=0)
    _, result = one(written(tmp_path / "a.tif", Image.fromarray(ramp)))
    shown = np.asarray(Image.open(BytesIO(result.thumbnail)).convert("L"), dtype=float)[4]
    np.testing.assert_allclose(shown, np.linspace(0, 255, 64), atol=8)


@pytest.mark.skipif(int(PIL.__version__.split(".")[0]) < 11, reason="Pillow without PFM")
def test_float_values_of_a_portable_map_are_not_scaled(tmp_path):
    values = np.array([[1.5, 1000]], dtype="<f4")
    (tmp_path / "a.ppm").write_bytes(b"Pf\n2 1\n-1.0\n" + values.tobytes())
    np.testing.assert_array_equal(np.asarray(one(tmp_path / "a.ppm")[0]), values)


def test_cmyk_jpeg(tmp_path):
    image, _ = one(
        written(tmp_path / "a.jpg", Image.new("CMYK", (16, 16), (0, 255, 255, 0)), quality=95)
    )
    assert image.mode == "RGB"
    np.testing.assert_allclose(np.asarray(image, dtype=float)[8, 8], [255, 0, 0], atol=6)


def test_palette_with_transparency(tmp_path):
    image = Image.new("P", (2, 1))
    image.putpalette([10, 20, 30, 200, 100, 50])
    image.putdata([0, 1])
    image.save(tmp_path / "a.png", transparency=0)
    image.save(tmp_path / "b.gif", transparency=0)
    image.save(tmp_path / "c.png", transparency=bytes([0, 255]))
    image.save(tmp_path / "d.png")
    for name in ("a.png", "b.gif", "c.png"):
        read = np.asarray(one(tmp_path / name)[0])
        np.testing.assert_array_equal(read, [[[255, 255, 255], [200, 100, 50]]])
    read = np.asarray(one(tmp_path / "d.png")[0])
    np.testing.assert_array_equal(read, [[[10, 20, 30], [200, 100, 50]]])


def test_alpha_is_blended_with_white(tmp_path):
    rgba = np.array([[[0, 0, 0, 0], [100, 0, 200, 255], [0, 0, 0, 51]]], dtype=np.uint8)
    image, _ = one(written(tmp_path / "a.png", Image.fromarray(rgba)))
    np.testing.assert_array_equal(
        np.asarray(image), [[[255, 255, 255], [100, 0, 200], [204, 204, 204]]]
    )
    gray = np.array([[[0, 0], [100, 255], [0, 51]]], dtype=np.uint8)
    image, _ = one(written(tmp_path / "b.png", Image.fromarray(gray)))
    assert image.mode == "L"
    np.testing.assert_array_equal(np.asarray(image), [[255, 100, 204]])


@pytest.mark.parametrize("name", ["a.png", "a.tif", "a.pbm", "a.bmp"])
def test_one_bit(tmp_path, name):
    image, _ = one(written(tmp_path / name, Image.fromarray(np.eye(9, dtype=bool))))
    assert image.mode == "L"
    np.testing.assert_array_equal(np.asarray(image), 255 * np.eye(9))


@pytest.mark.parametrize(("name", "options"), [("a.gif", {}), ("a.webp", {"lossless": True})])
def test_first_frame_of_animations(tmp_path, name, options):
    frames = [Image.new("RGB", (6, 4), color) for color in ("red", "lime", "blue")]
    frames[0].save(tmp_path / name, save_all=True, append_images=frames[1:], **options)
    image, _ = one(tmp_path / name)
    np.testing.assert_array_equal(np.asarray(image), np.full((4, 6, 3), (255, 0, 0)))


def test_first_page_of_tiff(tmp_path):
    pages = [Image.fromarray(NOISE), Image.fromarray(255 - NOISE)]
    pages[0].save(tmp_path / "a.tif", save_all=True, append_images=pages[1:])
    np.testing.assert_array_equal(np.asarray(one(tmp_path / "a.tif")[0]), NOISE)


# --- HEIC and AVIF ----------------------------------------------------------------------------


def heic(path):
    pillow_heif = pytest.importorskip("pillow_heif", reason="needs the extra heic")
    pillow_heif.from_pillow(Image.fromarray(COLOR)).save(path, quality=95)
    return path


@pytest.mark.parametrize("name", ["a.heic", "a.HEIF", "phone.jpg"])
def test_heic(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(heic(tmp_path / "original.heic").read_bytes())
    image, result = one(path)
    assert image.mode == "RGB"
    assert np.abs(np.asarray(image, dtype=float) - COLOR).mean() < 4
    assert result.size == (32, 24)


def test_heic_without_its_extra(tmp_path, monkeypatch):
    path = heic(tmp_path / "a.heic")
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    (skipped,) = read_images([path], lambda image: image, min_side=8)
    assert skipped.name == str(path)
    assert "(extra heic); install it with: pip install 'pillow-heif" in skipped.reason


def test_avif_without_a_decoder(tmp_path, monkeypatch):
    path = tmp_path / "a.avif"
    path.write_bytes(b"\x00\x00\x00\x18ftypmif1\x00\x00\x00\x00mif1avif" + bytes(100))
    monkeypatch.setattr("enhg.io._decoding.find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    (skipped,) = read_images([path], lambda image: image, min_side=8)
    assert "AVIF" in skipped.reason
    assert "pip install --upgrade pillow" in skipped.reason


# --- reduced scale and thumbnails ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("size", "min_side", "expected"),
    [
        ((1600, 1200), 150, (200, 150)),
        ((1600, 1200), 151, (400, 300)),
        ((1200, 1600), 150, (150, 200)),
        ((1600, 1200), 2000, (1600, 1200)),
        ((1600, 1200), 1, (200, 150)),
        ((300, 200), 8, (300, 200)),  # a half has a longer side of less than 160
        ((320, 200), 8, (160, 100)),
    ],
)
def test_large_jpeg_is_decoded_at_reduced_scale(tmp_path, size, min_side, expected):
    shape = (size[1], size[0])
    pixels = np.add.outer(np.linspace(0, 127, shape[0]), np.linspace(0, 127, shape[1]))
    Image.fromarray(pixels.astype(np.uint8)).save(tmp_path / "a.jpg")
    image, result = one(tmp_path / "a.jpg", min_side)
    assert image.size == expected
    assert result.size == size
    whole = Image.fromarray(pixels.astype(np.uint8)).resize(expected, Image.Resampling.LANCZOS)
    np.testing.assert_allclose(np.asarray(image, float), np.asarray(whole, float), atol=3)


def test_reduced_scale_and_orientation(tmp_path):
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (1600, 800)).save(tmp_path / "a.jpg", exif=exif)
    image, result = one(tmp_path / "a.jpg", 100)
    assert image.size == (100, 200)
    assert result.size == (800, 1600)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        ((640, 480), (160, 120)),
        ((100, 60), (100, 60)),
        ((60, 640), (15, 160)),
        ((2000, 2), (160, 1)),
    ],
)
def test_thumbnail(tmp_path, size, expected):
    Image.new("RGB", size, (200, 40, 90)).save(tmp_path / "a.png")
    thumbnail = Image.open(BytesIO(one(tmp_path / "a.png")[1].thumbnail))
    assert (thumbnail.format, thumbnail.mode, thumbnail.size) == ("JPEG", "RGB", expected)
    np.testing.assert_allclose(np.asarray(thumbnail, float).mean((0, 1)), (200, 40, 90), atol=3)


def test_thumbnail_is_antialiased(tmp_path):
    stripes = np.zeros((480, 640), dtype=np.uint8)
    stripes[:, ::2] = 255
    Image.fromarray(stripes).save(tmp_path / "a.png")
    thumbnail = np.asarray(Image.open(BytesIO(one(tmp_path / "a.png")[1].thumbnail)), float)
    assert np.abs(thumbnail - 127.5).max() < 20  # picking pixels would give 0 or 255


def test_thumbnail_of_gray_image_is_rgb(tmp_path):
    Image.fromarray(GRAY).save(tmp_path / "a.png")
    thumbnail = Image.open(BytesIO(one(tmp_path / "a.png")[1].thumbnail))
    assert thumbnail.mode == "RGB"
    np.testing.assert_allclose(np.asarray(thumbnail, float)[..., 1], GRAY, atol=12)
