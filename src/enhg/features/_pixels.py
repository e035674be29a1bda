"""Images as the extractors of features take them: RGB of one size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from enhg._optional import require

if TYPE_CHECKING:
    from PIL import Image


def resized(image: Image.Image, size: tuple[int, int]) -> Image.Image:
    """Return an image as RGB, squeezed or stretched to a size.

    The whole image is kept, nothing is cut off: what it shows may be at its border.

    Parameters
    ----------
    image : PIL.Image.Image
        Of mode RGB, L or F. Values of mode F that are not on the scale from 0 to 255 (some are
        outside, or all are at most 1) are stretched to it, from the lowest to the highest.
    size : (int, int)
        Height and width.
    """
    Image = require("PIL.Image", "photos")
    if image.mode == "F":
        image = as_image(_on_scale(np.asarray(image)))
    return image.resize((size[1], size[0]), Image.Resampling.BICUBIC).convert("RGB")


def _on_scale(pixels: NDArray[Any]) -> NDArray[np.float64]:
    values = np.nan_to_num(pixels).astype(np.float64)
    low, high = values.min(), values.max()
    if low >= 0 and 1 < high <= 255:
        return values
    return 255 * ((values - low) / ((high - low) or 1))


def as_image(pixels: NDArray[Any]) -> Image.Image:
    """Return pixels (height×width or height×width×3) as RGB; values are rounded to 0, …, 255."""
    Image = require("PIL.Image", "photos")
    if pixels.dtype != np.uint8:
        pixels = np.clip(np.rint(pixels), 0, 255).astype(np.uint8)
    return Image.fromarray(pixels).convert("RGB")
