"""Pictures of samples, of what others make of them and of the error, as sheets of small tiles."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from sklearn.utils.extmath import randomized_svd

from enhg.io import Samples
from enhg.structures.elastic_net import ElasticNetHypergraph

_LARGEST_TILE = 64  # pixels, of the longer side
_MOST_PIXELS = 2_600_000  # of a sheet of corrections or errors
_LOSSLESS_UP_TO = 3_000_000  # bytes of pixels
_QUALITY = 85
_STRIPES = 20  # main directions that a sample without a shape is drawn by
_STRIPE_SPAN = 2.5  # standard deviations at which a stripe has its full color
_ERROR_SPAN = 99.5  # percentile of the errors that has its full color
_BLOCK = 2**23  # values worked on at once
_NEGATIVE, _POSITIVE = (38, 122, 214), (224, 101, 0)

Drawer = Callable[[NDArray], NDArray]


@dataclass(frozen=True)
class Pictures:
    """Sheets of tiles, one tile a sample, row by row.

    Attributes
    ----------
    sheets : dict of str to str
        "image", "corrected" and "error" as data URIs.
    tile, small_tile : tuple of int
        Height and width of a tile, and of one in the sheets of corrections and errors.
    columns, small_columns : int
        Tiles in a row of the sheets.
    error_span : float or None
        The error that has its full color, in the units of the samples; None for stripes.
    relative_errors : ndarray
        ‖error‖ / ‖sample‖; 0 for a sample of zeros.
    """

    sheets: dict[str, str]
    tile: tuple[int, int]
    small_tile: tuple[int, int]
    columns: int
    small_columns: int
    error_span: float | None
    relative_errors: NDArray


def pictures_of(samples: Samples, structure: ElasticNetHypergraph, rows: NDArray) -> Pictures:
    """Draw the samples of these rows: as images, or as stripes where they have no shape."""
    if samples.image_shape is None:
        return _drawn_as_stripes(samples.X, structure, rows)
    return _drawn_as_images(samples.X, samples.image_shape, structure, rows)


def _drawn_as_images(
    X: NDArray, shape: tuple[int, ...], structure: ElasticNetHypergraph, rows: NDArray
) -> Pictures:
    room = _MOST_PIXELS / len(rows)
    large, small = _shrinker(shape, _LARGEST_TILE**2), _shrinker(shape, room)
    images, corrected, errors, lengths = [], [], [], []
    for x, clean in _blocks(X, structure, rows):
        images.append(large(x))
        corrected.append(small(clean))
        errors.append(small(x - clean))
        lengths.append(_relative(x, clean))
    low, high = float(X.min()), float(X.max())
    image, clean_tiles = np.concatenate(images), np.concatenate(corrected)
    error = np.concatenate(errors)
    if error.ndim == 4:
        error = error.mean(axis=3)
    span = float(np.percentile(np.abs(error), _ERROR_SPAN)) or 1.0
    return Pictures(
        {
            "image": _uri(_sheet(_to_bytes(image, low, high))),
            "corrected": _uri(_sheet(_to_bytes(clean_tiles, low, high))),
            "error": _signed_uri(_sheet(_to_signed(error, span))),
        },
        image.shape[1:3],
        error.shape[1:3],
        _columns(image),
        _columns(error),
        span,
        np.concatenate(lengths),
    )


def _drawn_as_stripes(X: NDArray, structure: ElasticNetHypergraph, rows: NDArray) -> Pictures:
    """Samples by their coordinates in the main directions, or by their few features."""
    shown = X[rows].astype(np.float64)
    mean = shown.mean(axis=0)
    directions = np.eye(X.shape[1])
    if X.shape[1] > _STRIPES:
        _, _, rotation = randomized_svd(shown - mean, min(_STRIPES, len(rows)), random_state=0)
        directions = rotation.T
    spread = ((shown - mean) @ directions).std(axis=0)
    if X.shape[1] > _STRIPES:
        spread[:] = spread.max()  # weak directions, which are mostly noise, stay pale
    directions = directions / np.where(spread > 0, spread, 1)
    parts: list[list[NDArray]] = [[], [], [], []]
    for x, clean in _blocks(X, structure, rows):
        drawn = ((x - mean) @ directions, (clean - mean) @ directions, (x - clean) @ directions)
        for part, new in zip(parts, (*drawn, _relative(x, clean)), strict=True):
            part.append(new)
    image, corrected, error, lengths = (np.concatenate(part) for part in parts)
    tiles = [_to_signed(part[:, None], _STRIPE_SPAN) for part in (image, corrected, error)]
    size, columns = tiles[0].shape[1:3], _columns(tiles[0])
    sheets = [_signed_uri(_sheet(part)) for part in tiles]
    names = ("image", "corrected", "error")
    named = dict(zip(names, sheets, strict=True))
    return Pictures(named, size, size, columns, columns, None, lengths)


def _blocks(
    X: NDArray, structure: ElasticNetHypergraph, rows: NDArray
) -> Iterator[tuple[NDArray, NDArray]]:
    """Samples and what the others make of them, some rows at a time."""
    for block in np.array_split(rows, ceil(len(rows) * X.shape[1] / _BLOCK)):
        yield X[block].astype(np.float64), structure.reconstruct(block)


def _relative(x: NDArray, clean: NDArray) -> NDArray:
    length, missed = np.linalg.norm(x, axis=1), np.linalg.norm(x - clean, axis=1)
    return np.divide(missed, length, out=np.zeros(len(x)), where=length > 0)


def _shrinker(shape: tuple[int, ...], room: float) -> Drawer:
    """From rows of pixels to tiles: gray or of three colors, of a size that is allowed."""
    height, width, *channels = shape
    scale = min(1.0, _LARGEST_TILE / max(height, width), sqrt(room / (height * width)))
    down = _averaging(height, max(1, round(scale * height)))
    across = _averaging(width, max(1, round(scale * width)))

    def shrink(rows: NDArray) -> NDArray:
        images = rows.reshape(len(rows), *shape)
        if channels and channels[0] < 3:
            images = images.mean(axis=3)
        elif channels:
            images = images[..., :3]  # what follows is the opacity, or no color at all
        return np.einsum("ih,nhw...,jw->nij...", down, images, across, optimize=True)

    return shrink


def _averaging(size: int, to: int) -> NDArray:
    """The matrix that takes `size` pixels to `to`, each the mean of those that it covers.

    >>> _averaging(4, 2)
    array([[0.5, 0.5, 0. , 0. ],
           [0. , 0. , 0.5, 0.5]])
    """
    edges = np.arange(to + 1) * (size / to)
    pixel = np.arange(size)
    covered = np.minimum(edges[1:, None], pixel + 1) - np.maximum(edges[:-1, None], pixel)
    return np.maximum(covered, 0) * (to / size)


def _to_bytes(tiles: NDArray, low: float, high: float) -> NDArray:
    scaled = (tiles - low) / (high - low if high > low else 1.0)
    return np.rint(255 * np.clip(scaled, 0, 1)).astype(np.uint8)


def _to_signed(tiles: NDArray, span: float) -> NDArray:
    """127 for zero, 0 and 254 for ±span and beyond."""
    return np.rint(127 + 127 * np.clip(tiles / span, -1, 1)).astype(np.uint8)


def _columns(tiles: NDArray) -> int:
    """Tiles in a row, for a sheet that is about square."""
    count, height, width = tiles.shape[:3]
    return min(count, ceil(sqrt(count * height / width)))


def _sheet(tiles: NDArray) -> NDArray:
    count, height, width = tiles.shape[:3]
    columns = _columns(tiles)
    rows = ceil(count / columns)
    filled = np.zeros((rows * columns, *tiles.shape[1:]), np.uint8)
    filled[:count] = tiles
    parts = filled.reshape(rows, columns, *tiles.shape[1:]).swapaxes(1, 2)
    return parts.reshape(rows * height, columns * width, *tiles.shape[3:])


def _uri(sheet: NDArray) -> str:
    if sheet.nbytes <= _LOSSLESS_UP_TO:
        return _encoded(Image.fromarray(sheet), "png", optimize=True)
    return _encoded(Image.fromarray(sheet), "webp", quality=_QUALITY)


def _signed_uri(sheet: NDArray) -> str:
    """Two colors, the more opaque the larger the value: it suits any background."""
    image = Image.fromarray(sheet)
    image.putpalette([*_NEGATIVE * 127, *_POSITIVE * 129])
    opacity = bytes(min(255, 2 * abs(level - 127)) for level in range(256))
    return _encoded(image, "png", optimize=False, transparency=opacity)


def _encoded(image: Image.Image, kind: str, **options: object) -> str:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return f"data:image/{kind};base64,{b64encode(stream.getvalue()).decode()}"
