"""What the pictures share: colors, figures and axes, checks of what is to be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Ten colors that people with any kind of color vision can tell apart (Petroff, 2021).
COLORS = (
    "#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6",
    "#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd",
)  # fmt: skip
MARKERS = "osD^vPX*"  # the next one whenever the colors are used up


def new_figure(
    rows: int, columns: int, size: tuple[float, float], widths: Sequence[float] | None = None
) -> tuple[Figure, list[Axes]]:
    """A figure of `size` inches that is saved and never shown, and its axes, row by row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=150, layout="compressed")
    axes = figure.subplots(rows, columns, squeeze=False, width_ratios=widths)
    return figure, axes.ravel().tolist()


def given_or_new(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1]


def one_each(name: str, values: ArrayLike, count: int) -> NDArray:
    """The values as an array, one a sample."""
    found = np.asarray(values)
    if found.shape != (count,):
        raise ValueError(
            f"{name} must have an entry for each of {count} samples, got shape {found.shape}"
        )
    return found


def valid_rows(name: str, rows: ArrayLike, count: int) -> NDArray:
    """The rows as an array, if they are rows of a matrix that has `count`."""
    found = np.atleast_1d(rows)
    whole = found.ndim == 1 and found.size > 0 and found.dtype.kind in "iu"
    if not whole or found.min() < 0 or found.max() >= count:
        raise ValueError(f"{name} must be whole numbers from 0 to {count - 1}, got {rows!r}")
    return found


def counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def rgb(images: NDArray, low: float, high: float) -> NDArray:
    """Images (n, height, width) or (n, height, width, 3) in colors from 0 (low) to 1 (high)."""
    scaled = np.clip((images - low) / (high - low if high > low else 1.0), 0, 1)
    return np.repeat(scaled[..., None], 3, axis=3) if scaled.ndim == 3 else scaled


def signed_rgb(image: NDArray, span: float) -> NDArray:
    """An image of positive and negative values in colors: white at 0, the ends at ±span."""
    from matplotlib import colormaps

    flat = image.reshape(*image.shape[:2], -1).mean(axis=2)
    return colormaps["PuOr"](0.5 + 0.5 * flat / (span if span > 0 else 1.0))[..., :3]
