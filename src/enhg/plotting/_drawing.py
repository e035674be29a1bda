"""Colors, figures, axes and checks that all plots share; the only import of matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from enhg._label_arrays import is_unknown
from enhg._optional import require
from enhg.exceptions import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Ten colors that are distinct under any kind of color vision (Petroff, 2021, arXiv:2107.02270).
COLORS = (
    "#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6",
    "#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd",
)  # fmt: skip
MARKERS = "osD^vPX*"  # the next one each time all colors have been used


def check_installed() -> None:
    """Raise MissingDependencyError, before anything is computed, if nothing can be drawn."""
    _matplotlib("figure")


def _matplotlib(module: str) -> Any:
    return require(f"matplotlib.{module}", "plot")


def new_figure(
    rows: int, columns: int, size: tuple[float, float], widths: Sequence[float] | None = None
) -> tuple[Figure, list[Axes]]:
    """Make a figure to be saved, which is never shown, and its axes.

    Parameters
    ----------
    rows, columns : int
        Of the grid of axes.
    size : (float, float)
        Width and height of the figure in inches.
    widths : sequence of float, optional
        Relative widths of the columns.

    Returns
    -------
    figure : Figure
    axes : list of Axes
        Row by row.

    Examples
    --------
    >>> figure, axes = new_figure(1, 2, (8, 4))
    >>> len(axes)
    2
    """
    figure = _matplotlib("figure").Figure(figsize=size, dpi=150, layout="compressed")
    axes = figure.subplots(rows, columns, squeeze=False, width_ratios=widths)
    return figure, axes.ravel().tolist()


def given_or_new(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The axes given, or those of a new figure of pyplot."""
    if ax is not None:
        return ax
    return _matplotlib("pyplot").subplots(figsize=size, layout="constrained")[1]


def outline(color: str, width: float) -> list[Any]:
    """Path effects that draw a line around text."""
    return [_matplotlib("patheffects").withStroke(linewidth=width, foreground=color)]


def check_one_per_sample(name: str, values: ArrayLike, n_samples: int) -> NDArray:
    """The values as an array with one entry per sample."""
    array = np.asarray(values)
    if array.shape != (n_samples,):
        raise InputError(
            f"{name} must have an entry for each of {n_samples} samples, got shape {array.shape}",
            parameter=name,
        )
    return array


def coded(values: ArrayLike) -> tuple[NDArray, NDArray]:
    """The different labels in order, and their places for all; missing ones are last, as "None".

    Labels of different types are in the order of their texts.
    """
    labels = np.asarray(values)
    if labels.dtype.kind != "O":
        return np.unique(labels, return_inverse=True)
    known = {label for label in labels if not is_unknown(label)}
    try:
        order = sorted(known)
    except TypeError:
        order = sorted(known, key=str)
    places = {label: place for place, label in enumerate(order)}
    codes = np.array([len(order) if is_unknown(x) else places[x] for x in labels], int)
    kinds = np.full(codes.max(initial=-1) + 1, "None", object)
    kinds[: len(order)] = order
    return kinds, codes


def check_rows(name: str, rows: ArrayLike, n_rows: int) -> NDArray:
    """The rows as an array of indices below `n_rows`."""
    array = np.atleast_1d(rows)
    whole = array.ndim == 1 and array.size > 0 and array.dtype.kind in "iu"
    if not whole or array.min() < 0 or array.max() >= n_rows:
        raise InputError(
            f"{name} must be whole numbers from 0 to {n_rows - 1}, got {rows!r}", parameter=name
        )
    return array


def counted(number: int, noun: str) -> str:
    """A number and its noun: "1 cluster", "2 clusters"."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def rgb(images: NDArray, low: float, high: float) -> NDArray:
    """Images (n, height, width) or (n, height, width, 3) as colors from 0 (low) to 1 (high)."""
    scaled = np.clip((images - low) / (high - low if high > low else 1.0), 0, 1)
    return np.repeat(scaled[..., None], 3, axis=3) if scaled.ndim == 3 else scaled


def signed_rgb(image: NDArray, span: float) -> NDArray:
    """An image of positive and negative values as colors: white at 0, full colors at ±span."""
    flat = image.reshape(*image.shape[:2], -1).mean(axis=2)
    colormap = require("matplotlib", "plot").colormaps["PuOr"]
    return colormap(0.5 + 0.5 * flat / (span if span > 0 else 1.0))[..., :3]
