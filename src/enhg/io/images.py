"""Samples from a folder of images."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from enhg._optional import require
from enhg.exceptions import InputError
from enhg.io._base import Samples, readable, reason, shape_text

if TYPE_CHECKING:
    from PIL import Image

IMAGE_SUFFIXES = frozenset(
    {".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".gif", ".webp", ".pgm", ".ppm", ".pbm"}
)


def read_folder(
    folder: Path,
    size: tuple[int, int] | None,
    gray: bool,
    progress: Callable[[int, int], object] | None = None,
    keep: Callable[[str], bool] = lambda name: True,
) -> Samples:
    """Read every image under `folder` for whose name `keep` is true.

    The other parameters are those of `enhg.io.read_samples`.
    """
    require("PIL.Image", "images")
    names = [name for name in find_images(folder) if keep(name)]
    images: list[NDArray[Any]] = []
    first = ""
    broken: list[str] = []
    for done, name in enumerate(names, 1):
        try:
            image = _decode(folder / name, size, gray)
        except Exception as error:  # a damaged file makes a decoder raise nearly anything
            broken.append(f"{name} ({_fault(error)})")
        else:
            first = first or name
            images.append(image)
            if image.shape != images[0].shape:
                raise InputError(
                    f"{folder}: images must have one size (height×width), got "
                    f"{shape_text(images[0].shape[:2])} ({first}) and "
                    f"{shape_text(image.shape[:2])} ({name}); set size to resize them",
                    parameter="size",
                )
        if progress is not None:
            progress(done, len(names))
    if broken:
        count = "1 image" if len(broken) == 1 else f"{len(broken)} images"
        raise InputError(
            f"{folder}: {count} cannot be read, first: {broken[0]}; repair or remove the damaged"
            " files"
        )
    with readable(folder):
        X = np.stack(images)  # uint8, or float32 as soon as one image is deeper than 8 bits
    return Samples(X.reshape(len(X), -1), names, X.shape[1:], None, folder)


def find_images(folder: Path) -> list[str]:
    """Paths, relative to `folder`, of all images under it in natural order.

    Hidden files and folders, and links to folders, are left out.
    """
    paths: list[Path] = []
    with readable(folder):
        for parent, folders, files in os.walk(folder, onerror=_raise):
            folders[:] = [name for name in folders if not name.startswith(".")]
            paths += [
                Path(parent, name).relative_to(folder)
                for name in files
                if not name.startswith(".") and Path(name).suffix.lower() in IMAGE_SUFFIXES
            ]
    if not paths:
        kinds = " ".join(sorted(suffix[1:] for suffix in IMAGE_SUFFIXES))
        raise InputError(f"{folder}: no images in this folder; known kinds are {kinds}")
    return sorted((path.as_posix() for path in paths), key=natural_key)


def natural_key(name: str) -> tuple[list[list[int | str]], str]:
    """Sorting key that reads digits as numbers and keeps folders together.

    >>> sorted(["img10.png", "img2.png", "b/img1.png", "IMG1.png"], key=natural_key)
    ['b/img1.png', 'IMG1.png', 'img2.png', 'img10.png']
    """
    parts = [re.split(r"(\d+)", part.casefold()) for part in name.split("/")]
    return [[int(t) if i % 2 else t for i, t in enumerate(part)] for part in parts], name


def _raise(error: OSError) -> None:
    raise error


def _decode(path: Path, size: tuple[int, int] | None, gray: bool) -> NDArray[Any]:
    """Pixels of one image: uint8, or float32 when it has more than 8 bits per pixel."""
    Image, ImageOps = require("PIL.Image", "images"), require("PIL.ImageOps", "images")
    with Image.open(path) as opened:
        image = ImageOps.exif_transpose(opened)
        deep = image.mode == "F" or image.mode.startswith("I")
        # 16 bits are scaled to the range of 8: Pillow's conversion to "L" would clip them to white.
        # PNG and PGM of 16 bits may come as mode "I", which elsewhere means 32 bits.
        sixteen = image.mode.startswith("I;16") or (deep and opened.format in {"PNG", "PPM"})
    if deep:
        image = Image.fromarray(np.asarray(image, dtype=np.float32) / (257 if sixteen else 1))
    else:
        image = _on_white(image).convert("L" if gray else "RGB")
    if size is not None:
        image = image.resize((size[1], size[0]), Image.Resampling.LANCZOS)
    pixels = np.array(image)
    return np.repeat(pixels[..., None], 3, axis=2) if deep and not gray else pixels


def _on_white(image: Image.Image) -> Image.Image:
    """Blend with white, as viewers do: invisible pixels are often stored as black."""
    if image.mode not in {"LA", "PA", "RGBA"} and "transparency" not in image.info:
        return image
    image = image.convert("RGBA")
    Image = require("PIL.Image", "images")
    return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)


def _fault(error: Exception) -> str:
    """Why an image cannot be read, in a few words."""
    PIL = require("PIL", "images")
    if isinstance(error, PIL.Image.DecompressionBombError):
        return "too large to open safely, shrink it"
    if isinstance(error, PIL.UnidentifiedImageError):
        return "not an image"
    return reason(error)
