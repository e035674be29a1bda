"""Pictures of samples, reconstructions and residuals, as sheets of small tiles."""

from __future__ import annotations

import io
from base64 import b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from math import ceil, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import randomized_svd

from enhg._optional import require
from enhg.io import Samples
from enhg.structures.elastic_net import ElasticNetHypergraph

_LARGEST_TILE = 64  # pixels of the longer side
_MOST_PIXELS = 2_600_000  # of a sheet of reconstructions or residuals
_LOSSLESS_UP_TO = 3_000_000  # bytes of pixels
_QUALITY = 85
_STRIPES = 20  # main directions that a sample without image shape is drawn by
_STRIPE_SPAN = 2.5  # standard deviations with the full color
_RESIDUAL_SPAN = 99.5  # percentile of the residuals with the full color
_BLOCK = 2**23  # values processed at once
_NEGATIVE, _POSITIVE = (38, 122, 214), (224, 101, 0)

Drawer = Callable[[NDArray], NDArray]


@dataclass(frozen=True)
class Pictures:
    """Sheets of tiles, one tile per sample, row by row.

    Attributes
    ----------
    sheets : dict of str to str
        "sample", "reconstruction" and "residual" as data URIs; new samples have only the first.
    tile, small_tile : tuple of int
        Height and width of a tile of the samples, and of the other two sheets.
    columns, small_columns : int
        Tiles in a row of the sheets.
    residual_span : float or None
        The residual with the full color, in the units of the samples; None for stripes.
    """

    sheets: dict[str, str]
    tile: tuple[int, int]
    small_tile: tuple[int, int]
    columns: int
    small_columns: int
    residual_span: float | None


def draw_pictures(
    samples: Samples, structure: ElasticNetHypergraph | None, rows: NDArray
) -> Pictures:
    """Draw samples as images, or as stripes where they have no image shape.

    Parameters
    ----------
    samples : Samples
    structure : ElasticNetHypergraph or None
        Fitted to the samples; None for new samples, which have no reconstruction.
    rows : ndarray of int
        The samples to draw.
    """
    if samples.image_shape is None:
        pictures = _drawn_as_stripes(samples.X, structure, rows)
    else:
        pictures = _drawn_as_images(samples.X, samples.image_shape, structure, rows)
    if structure is None:
        return replace(pictures, sheets={"sample": pictures.sheets["sample"]})
    return pictures


def _drawn_as_images(
    X: NDArray, shape: tuple[int, ...], structure: ElasticNetHypergraph | None, rows: NDArray
) -> Pictures:
    large, small = _shrinker(shape, _LARGEST_TILE**2), _shrinker(shape, _MOST_PIXELS / len(rows))
    parts: list[list[NDArray]] = [[], [], []]
    for x, reconstruction in _blocks(X, structure, rows):
        tiles = (large(x), small(reconstruction), small(x - reconstruction))
        for part, tile in zip(parts, tiles, strict=True):
            part.append(tile)
    image, reconstructed, residual = (np.concatenate(part) for part in parts)
    if residual.ndim == 4:
        residual = residual.mean(axis=3)
    low, high = float(X.min()), float(X.max())
    span = float(np.percentile(np.abs(residual), _RESIDUAL_SPAN)) or 1.0
    return Pictures(
        {
            "sample": _uri(_sheet(_to_bytes(image, low, high))),
            "reconstruction": _uri(_sheet(_to_bytes(reconstructed, low, high))),
            "residual": _signed_uri(_sheet(_to_signed(residual, span))),
        },
        image.shape[1:3],
        residual.shape[1:3],
        _columns(image),
        _columns(residual),
        span,
    )


def _drawn_as_stripes(
    X: NDArray, structure: ElasticNetHypergraph | None, rows: NDArray
) -> Pictures:
    """Draw samples by their coordinates in the main directions, or by their few features."""
    scale = float(np.abs(X[rows]).max()) or 1.0  # keeps huge sums in range
    shown = X[rows] / scale
    mean = shown.mean(axis=0, dtype=np.float64)
    if X.shape[1] > _STRIPES:
        _, _, rotation = randomized_svd(shown - mean, min(_STRIPES, len(rows)), random_state=0)
        directions = rotation.T
    else:
        directions = np.eye(X.shape[1])
    spread = ((shown - mean) @ directions).std(axis=0)
    if X.shape[1] > _STRIPES:
        spread[:] = spread.max()  # weak directions, mostly noise, stay pale
    directions = directions / np.where(spread > 0, spread, 1)
    parts: dict[str, list[NDArray]] = {"sample": [], "reconstruction": [], "residual": []}
    for x, reconstruction in _blocks(X, structure, rows):
        x, reconstruction = x / scale, reconstruction / scale
        parts["sample"].append((x - mean) @ directions)
        parts["reconstruction"].append((reconstruction - mean) @ directions)
        parts["residual"].append((x - reconstruction) @ directions)
    tiles = {
        name: _to_signed(np.concatenate(part)[:, None], _STRIPE_SPAN)
        for name, part in parts.items()
    }
    size, columns = tiles["sample"].shape[1:3], _columns(tiles["sample"])
    sheets = {name: _signed_uri(_sheet(part)) for name, part in tiles.items()}
    return Pictures(sheets, size, size, columns, columns, None)


def jpeg_size(data: bytes) -> tuple[int, int]:
    """Width and height of a JPEG file; OSError for anything else."""
    Image = require("PIL.Image", "images")
    try:
        width, height = Image.open(io.BytesIO(data), formats=("JPEG",)).size
    except Image.DecompressionBombError as error:
        raise OSError(str(error)) from error
    return width, height


def _blocks(
    X: NDArray, structure: ElasticNetHypergraph | None, rows: NDArray
) -> Iterator[tuple[NDArray, NDArray]]:
    """Samples and their reconstructions in the units of the samples, some rows at a time.

    Without a structure, samples are their own reconstructions.
    """
    for block in np.array_split(rows, ceil(len(rows) * X.shape[1] / _BLOCK)):
        x = X[block].astype(np.float64)
        yield x, x if structure is None else structure.reconstruct(block)


def _shrinker(shape: tuple[int, ...], most_pixels: float) -> Drawer:
    """A function from rows of pixels to tiles of at most `most_pixels`, gray or of three colors."""
    height, width, *channels = shape
    scale = min(1.0, _LARGEST_TILE / max(height, width), sqrt(most_pixels / (height * width)))
    down = _averaging(height, max(1, round(scale * height)))
    across = _averaging(width, max(1, round(scale * width)))

    def shrink(rows: NDArray) -> NDArray:
        images = rows.reshape(len(rows), *shape)
        if channels and channels[0] < 3:
            images = images.mean(axis=3)
        elif channels:
            images = images[..., :3]  # a fourth channel is opacity or no color
        return np.einsum("ih,nhw...,jw->nij...", down, images, across, optimize=True)

    return shrink


def _averaging(size: int, to: int) -> NDArray:
    """Matrix that shrinks `size` pixels to `to`, each the mean of those that it covers.

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
    """Signed values as bytes: 127 for zero, 0 and 254 for ±span and beyond."""
    return np.rint(127 + 127 * np.clip(tiles / span, -1, 1)).astype(np.uint8)


def _columns(tiles: NDArray) -> int:
    """Number of tiles in a row of a nearly square sheet."""
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


def _image(sheet: NDArray) -> Any:
    return require("PIL.Image", "images").fromarray(sheet)


def _uri(sheet: NDArray) -> str:
    if sheet.nbytes <= _LOSSLESS_UP_TO:
        return _encoded(_image(sheet), "png", optimize=True)
    return _encoded(_image(sheet), "webp", quality=_QUALITY)


def _signed_uri(sheet: NDArray) -> str:
    """Encode signed values as two colors, the more opaque the larger, for any background."""
    image = _image(sheet)
    image.putpalette([*_NEGATIVE * 127, *_POSITIVE * 129])
    opacity = bytes(min(255, 2 * abs(level - 127)) for level in range(256))
    return _encoded(image, "png", optimize=False, transparency=opacity)


def _encoded(image: Any, kind: str, **options: object) -> str:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return f"data:image/{kind};base64,{b64encode(stream.getvalue()).decode()}"
