"""Features of images without a model: gradients (HOG) and colors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from enhg._optional import require
from enhg.features._pixels import resized

if TYPE_CHECKING:
    from PIL import Image

VERSION = 1  # of the features, part of their recipe
_SIDE = 128
_CELL, _BLOCK, _ORIENTATIONS = 16, 2, 9
_BINS = (8, 4, 4)  # hue, saturation, value


class HOG:
    """Histograms of oriented gradients and a histogram of colors.

    The first block is scikit-image's HOG of the gray image of 128×128 pixels (9 orientations,
    cells of 16×16, blocks of 2×2 cells), scaled to unit length. The second is the square root of
    the share of pixels in each of 8×4×4 bins of hue, saturation and value, which has unit length
    too: distances are Hellinger distances, and both blocks count alike.
    """

    size = (_SIDE, _SIDE)
    _n_gradients = (_SIDE // _CELL - _BLOCK + 1) ** 2 * _BLOCK**2 * _ORIENTATIONS
    n_features = _n_gradients + _BINS[0] * _BINS[1] * _BINS[2]

    def __init__(self) -> None:
        self._hog = require("skimage.feature", "photos").hog

    def prepare(self, image: Image.Image) -> NDArray[Any]:
        """Return the features of one image of mode RGB, L or F."""
        image = resized(image, self.size)
        return np.concatenate([self._gradients(image), _colors(image)]).astype(np.float32)

    def features(self, batch: Sequence[NDArray[Any]]) -> NDArray[np.float32]:
        """Return prepared images, which are their features, as rows."""
        return np.stack(batch)

    def _gradients(self, image: Image.Image) -> NDArray[np.float64]:
        vector: NDArray[np.float64] = self._hog(
            np.asarray(image.convert("L"), dtype=np.float64) / 255,
            orientations=_ORIENTATIONS,
            pixels_per_cell=(_CELL, _CELL),
            cells_per_block=(_BLOCK, _BLOCK),
        )
        length = np.linalg.norm(vector)
        return vector / length if length > 0 else vector  # an image of one color has no gradients


def _colors(image: Image.Image) -> NDArray[np.float64]:
    pixels = np.asarray(image.convert("HSV")).reshape(-1, 3)
    bins = [pixels[:, i].astype(np.intp) * count // 256 for i, count in enumerate(_BINS)]
    counts = np.bincount(np.ravel_multi_index(bins, _BINS), minlength=np.prod(_BINS))
    return np.sqrt(counts / len(pixels))
