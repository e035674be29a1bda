"""One image file: bytes, pixels and thumbnail."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from io import BytesIO
from math import prod
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from enhg._files import file_size, open_regular
from enhg._optional import require
from enhg.exceptions import MissingDependencyError
from enhg.io._base import Skipped, reason

if TYPE_CHECKING:
    from PIL import Image

T = TypeVar("T")

THUMBNAIL_SIDE = 160
MAX_BYTES = 1_000_000_000
_GRAY_MODES = frozenset({"1", "L", "LA", "F"})  # and all that start with I

# Pillow reads other formats by programs (PostScript) or seldom tested code.
_PLUGINS = ("Jpeg", "Mpo", "Png", "WebP", "Tiff", "Bmp", "Gif", "Ppm")
_FORMATS = ("JPEG", "PNG", "WEBP", "TIFF", "BMP", "GIF", "PPM")
_AVIF_BRANDS = {b"avif", b"avis"}
_HEIF_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"}
_TIFF_WIDTH, _TIFF_HEIGHT, _ORIENTATION = 0x0100, 0x0101, 0x0112
_TIFF_TILE = (0x0142, 0x0143)
# By the value of the EXIF orientation: the constants of PIL.Image.Transpose.
_TURNS = {
    2: "FLIP_LEFT_RIGHT",
    3: "ROTATE_180",
    4: "FLIP_TOP_BOTTOM",
    5: "TRANSPOSE",
    6: "ROTATE_270",
    7: "TRANSVERSE",
    8: "ROTATE_90",
}


@dataclass(frozen=True)
class ReadImage(Generic[T]):
    """An image that was read.

    Attributes
    ----------
    value : object
        What `convert` returned.
    thumbnail : bytes
        A JPEG file in color whose longer side has at most 160 pixels.
    digest : str
        SHA-256 of the contents of the file, in hexadecimal.
    size : (int, int)
        Width and height of the whole image, as it is displayed.
    """

    value: T
    thumbnail: bytes
    digest: str
    size: tuple[int, int]


@dataclass(frozen=True)
class Header:
    """What is known of an image without decoding it.

    Attributes
    ----------
    size : (int, int)
        Width and height, as the image is displayed.
    is_gray : bool
        Whether the file has no room for colors.
    """

    size: tuple[int, int]
    is_gray: bool


def load_pillow() -> None:
    """Import Pillow and the formats that are read; before threads, which must not do it at once."""
    for plugin in _PLUGINS:
        require(f"PIL.{plugin}ImagePlugin", "images")
    # What Pillow warns of (damaged metadata, many megapixels) is either harmless or makes an image
    # be skipped with a reason. Appended: a filter that the caller has set comes first.
    warnings.filterwarnings("ignore", module=r"PIL\.", append=True)


def read_image(
    path: Path, convert: Callable[[Image.Image], T], min_side: int
) -> ReadImage[T] | Skipped:
    """Read one image; the parameters are those of `enhg.io.images.read_images`."""
    try:
        with open_file(path) as file:
            contents = file.read()
        image, size = _decode(BytesIO(contents), min_side)
        thumbnail = _thumbnail(image)
    except Exception as error:  # a damaged file makes a decoder raise nearly anything
        return Skipped(str(path), _fault(error))
    return ReadImage(convert(image), thumbnail, sha256(contents).hexdigest(), size)


def read_header(path: Path) -> Header | Skipped:
    """Read the header of an image."""
    try:
        with open_file(path) as file:
            image = _open_image(file)
            size = image.size
            if image.format == "TIFF":  # whose size is turned in some versions of Pillow
                size = (image.tag_v2[_TIFF_WIDTH], image.tag_v2[_TIFF_HEIGHT])
            turned = _orientation(image) >= 5
    except Exception as error:  # as in `read_image`
        return Skipped(str(path), _fault(error))
    return Header(size[::-1] if turned else size, _is_gray(image.mode))


def open_file(path: Path) -> IO[bytes]:
    """Open a file that is neither empty nor of more than `MAX_BYTES`."""
    stream = open_regular(path)
    size = file_size(stream)
    if not 0 < size <= MAX_BYTES:
        stream.close()
        raise OSError(f"file larger than {MAX_BYTES / 1e9:g} GB" if size else "empty file")
    return stream


def _open_image(file: IO[bytes]) -> Any:
    """Read the header of an image, whose format is decided by its contents alone."""
    head = file.read(256)
    return require("PIL.Image", "images").open(file, formats=_formats(head))


def _formats(head: bytes) -> tuple[str, ...]:
    """Formats that Pillow may try on a file that begins with `head`."""
    if head[4:8] != b"ftyp":
        return _FORMATS
    end = min(int.from_bytes(head[:4], "big"), len(head))
    brands = {head[at : at + 4] for at in range(8, end, 4)}
    if brands & _AVIF_BRANDS:
        _load_avif()
        return ("AVIF",)
    if brands & _HEIF_BRANDS:
        require("pillow_heif", "heic").register_heif_opener()
        return ("HEIF",)
    return _FORMATS


def _load_avif() -> None:
    if find_spec("PIL._avif") is not None:
        require("PIL.AvifImagePlugin", "images")
        return
    try:
        require("pillow_heif", "heic").register_avif_opener()  # pillow-heif before version 1
    except (MissingDependencyError, AttributeError) as error:
        raise MissingDependencyError(
            "AVIF images need Pillow 11.3 or later; install it with: pip install --upgrade pillow"
        ) from error


def _orientation(image: Any) -> int:
    """EXIF orientation, 1 to 8; images with damaged metadata are not turned."""
    Image = require("PIL.Image", "images")
    try:
        # Not image.getexif(), which decodes a PNG that has no EXIF.
        value = Image.Image.getexif(image).get(_ORIENTATION, 1)
    except Exception:
        return 1
    return value if value in _TURNS else 1


def _decode(file: IO[bytes], min_side: int) -> tuple[Image.Image, tuple[int, int]]:
    """An image of mode RGB, L or F, and the size of the whole image as it is displayed."""
    Image = require("PIL.Image", "images")
    image = _open_image(file)
    size = image.size
    is_jpeg = image.format in {"JPEG", "MPO"}
    if is_jpeg:
        shorter, longer = min_side, max(min_side, THUMBNAIL_SIDE)
        image.draft(None, (longer, shorter) if size[0] >= size[1] else (shorter, longer))
    limit = Image.MAX_IMAGE_PIXELS
    # A progressive file is decoded as a whole, whatever is drawn of it.
    decoded = prod(size if image.info.get("progressive") else image.size)
    if limit is not None and max(decoded, _tile_pixels(image)) > limit:
        raise OSError(_too_large(limit))
    image.load()
    turn = 1 if image.format == "TIFF" else _orientation(image)  # TIFF is turned by Pillow
    upright = _standard(image)
    if turn > 1:
        upright = upright.transpose(Image.Transpose[_TURNS[turn]])
    if not is_jpeg:
        size = upright.size
    elif turn >= 5:
        size = size[::-1]
    return upright, size


def _tile_pixels(image: Any) -> int:
    """Pixels of a tile of a TIFF file, which are decoded whatever the size of the image."""
    if image.format != "TIFF":
        return 0
    sides = [image.tag_v2.get(side, 0) for side in _TIFF_TILE]
    return prod(sides) if all(isinstance(side, int) for side in sides) else 0


def _is_gray(mode: str) -> bool:
    return mode in _GRAY_MODES or mode.startswith("I")


def _standard(image: Any) -> Image.Image:
    """Mode F for more than 8 bits per pixel, L for gray, else RGB."""
    Image = require("PIL.Image", "images")
    if image.mode == "F" or image.mode.startswith("I"):
        # 16 bits are scaled to the range of 8: Pillow's conversion to "L" would clip them to white.
        # PNG and PGM of 16 bits may come as mode "I", which elsewhere means 32 bits.
        sixteen = image.mode.startswith("I;16") or (
            image.mode == "I" and image.format in {"PNG", "PPM"}
        )
        return Image.fromarray(np.asarray(image, dtype=np.float32) / (257 if sixteen else 1))
    mode = "L" if _is_gray(image.mode) else "RGB"
    if image.mode in {"LA", "PA", "RGBA"} or "transparency" in image.info:
        # Blend with white, as viewers do: invisible pixels are often stored as black.
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    return image if image.mode == mode else image.convert(mode)


def _thumbnail(image: Image.Image) -> bytes:
    Image = require("PIL.Image", "images")
    size = thumbnail_size(image.size)
    return to_jpeg(image.resize(size, Image.Resampling.HAMMING, reducing_gap=2), quality=80)


def thumbnail_size(size: tuple[int, int]) -> tuple[int, int]:
    """Width and height of the thumbnail of an image of some width and height."""
    scale = min(1.0, THUMBNAIL_SIDE / max(size))
    width, height = (max(1, round(side * scale)) for side in size)
    return width, height


def open_thumbnail(data: bytes) -> Image.Image:
    """A thumbnail as an image; what was read from a cache may be anything, and is taken for JPEG.

    Raises
    ------
    OSError
        If it is no JPEG file.
    """
    return require("PIL.Image", "images").open(BytesIO(data), formats=("JPEG",))


def to_jpeg(image: Image.Image, quality: int) -> bytes:
    """The JPEG file of an image; one of mode F, of any values, from the lowest as black."""
    if image.mode == "F":
        values = np.nan_to_num(np.asarray(image, dtype=np.float64))
        values -= values.min()
        levels = np.uint8(255 * values / (values.max() or 1))
        image = require("PIL.Image", "images").fromarray(levels)
    buffer = BytesIO()
    image.convert("RGB").save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def as_pixels(image: Image.Image, size: tuple[int, int], gray: bool) -> NDArray[Any]:
    """Pixels of an image in `size`, height and width, as a row.

    They are uint8, or float32 of an image of mode F.
    """
    Image = require("PIL.Image", "images")
    deep = image.mode == "F"
    if not deep:
        image = image.convert("L" if gray else "RGB")
    if image.size != size[::-1]:
        image = image.resize(size[::-1], Image.Resampling.LANCZOS)
    pixels = np.array(image)
    if deep and not gray:
        pixels = np.repeat(pixels[..., None], 3, axis=2)
    return pixels.ravel()


def _fault(error: Exception) -> str:
    """Why an image cannot be read, in a few words."""
    PIL = require("PIL", "images")
    Image = require("PIL.Image", "images")
    if isinstance(error, (Image.DecompressionBombError, Image.DecompressionBombWarning)):
        return _too_large(2 * Image.MAX_IMAGE_PIXELS)  # where Pillow itself refuses
    if isinstance(error, PIL.UnidentifiedImageError):
        return "not an image"
    if isinstance(error, MemoryError):
        return "does not fit in memory"
    if isinstance(error, (OSError, MissingDependencyError)):
        return reason(error)
    return f"damaged ({reason(error)})"


def _too_large(limit: int) -> str:
    return f"too large to decode safely: more than {limit / 1e6:.3g} megapixels; shrink it"
