"""Pictures made of the samples' own images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from enhg.plotting._drawing import (
    COLORS,
    counted,
    given_or_new,
    one_each,
    rgb,
    signed_rgb,
    valid_rows,
)
from enhg.representation.problem import Representation
from enhg.structures.elastic_net import ElasticNetHypergraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_image(image: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """One gray image, black at its least value and white at its largest."""
    ax = given_or_new(ax, (2, 2))
    ax.imshow(np.asarray(image), cmap="gray")
    ax.set_axis_off()
    return ax


def plot_clusters(
    images: ArrayLike,
    labels: ArrayLike,
    confidence: ArrayLike,
    *,
    most: int = 10,
    least: int = 4,
    ax: Axes | None = None,
) -> Axes:
    """A sheet of thumbnails: a row a cluster, its most confident members first.

    Parameters
    ----------
    images : array of shape (n_samples, height, width) or (n_samples, height, width, 3)
    labels, confidence : arrays of shape (n_samples,)
        For example `HypergraphClustering.labels_` and `confidence_`.
    most, least : int
        How many of the most and of the least confident members to show.
    ax : Axes, optional
        Where to draw.
    """
    images = np.asarray(images)
    if images.ndim not in (3, 4):
        raise ValueError(
            f"images must be of shape (n_samples, height, width) or (n_samples, height, width, 3), got {images.shape}"
        )
    labels = one_each("labels", labels, len(images))
    confidence = one_each("confidence", confidence, len(images))
    pictures = rgb(images, float(images.min()), float(images.max()))
    height, width = pictures.shape[1:3]
    gap = max(1, round(0.1 * width))
    down, across = height + gap, width + gap
    lefts = [at * across + (gap if at >= most else 0) for at in range(most + least)]
    kinds, sizes = np.unique(labels, return_counts=True)
    sheet = np.ones((len(kinds) * down - gap, lefts[-1] + width, 3))
    for row, kind in enumerate(kinds):
        members = np.flatnonzero(labels == kind)
        members = members[np.argsort(-confidence[members], kind="stable")]
        last = members[max(most, len(members) - least) :]
        for left, member in zip(lefts, [*members[:most], *last], strict=False):
            sheet[row * down : row * down + height, left : left + width] = pictures[member]
    ax = given_or_new(ax, (0.5 * (most + least) + 1, 0.5 * len(kinds) * down / across + 0.8))
    ax.imshow(sheet, interpolation="nearest")
    rows = [f"{kind} ({size})" for kind, size in zip(kinds, sizes, strict=True)]
    ax.set_yticks(np.arange(len(kinds)) * down + (height - 1) / 2, rows)
    names = {0: "most confident", most: "least confident"}
    ends = {lefts[at]: text for at, text in names.items() if at < len(lefts)}
    ax.set_xticks([left - 0.5 for left in ends], list(ends.values()), ha="left")
    ax.tick_params(length=0, labeltop=True, labelbottom=False)
    ax.set(title="Clusters", ylabel="cluster (its size)")
    ax.spines[:].set_visible(False)
    return ax


def plot_hyperedge(
    structure: ElasticNetHypergraph,
    sample: int,
    image_shape: tuple[int, ...],
    labels: ArrayLike | None = None,
    *,
    members: int = 5,
    ax: Axes | None = None,
) -> Axes:
    """The hyperedge of a sample, and what its rebuilders make of it.

    From left to right: the sample; the members of its hyperedge with their coefficients; the
    sample as all its rebuilders make it; the error, violet where the sample is brighter and brown
    where it is darker. The images are those given to `fit`, each from its darkest to its
    brightest pixel.

    Parameters
    ----------
    structure : ElasticNetHypergraph
        Fitted.
    sample : int
        Its row.
    image_shape : tuple of int
        (height, width) or (height, width, 3) of a sample.
    labels : array of shape (n_samples,), optional
        Written below; members of another label than the sample's are framed.
    members : int
        How many members to show, those of the largest memberships.
    ax : Axes, optional
        Where to draw.
    """
    _require_images(structure, sample, image_shape)
    column = structure.graph_.incidence[:, [sample]].toarray().ravel()
    column[sample] = 0
    z = structure.representation_.coefficients[[sample]].toarray().ravel()
    order = np.lexsort((-np.abs(z), -column))[: np.count_nonzero(column)]
    texts = [f"{value:+.3f}".replace("-", "−") for value in z[order[:members]]]
    tiles = _tiles(structure, sample, order[:members], texts, image_shape, labels)

    x, clean = structure.samples_[sample], structure.reconstruct([sample])[0]
    (_, corrected, error), missed = _recovered(x, clean, image_shape)
    results = [_Tile(corrected, "corrected"), _Tile(error, f"error {missed}".strip())]
    ax = given_or_new(ax, (1.1 * (len(tiles) + 2) + 1, 2.1))
    _draw_strip(ax, [tiles[:1], tiles[1:], results])
    found = _others("member", members, order, sample, labels)
    ax.set_title(f"Hyperedge of sample {sample}: {found}", fontsize="medium")
    return ax


def plot_memberships(
    structure: ElasticNetHypergraph,
    sample: int,
    image_shape: tuple[int, ...],
    labels: ArrayLike | None = None,
    *,
    most: int = 7,
    ax: Axes | None = None,
) -> Axes:
    """The hyperedges of other samples that a sample is in: those samples, and its memberships.

    Parameters
    ----------
    structure : ElasticNetHypergraph
        Fitted.
    sample : int
        Its row.
    image_shape : tuple of int
        (height, width) or (height, width, 3) of a sample.
    labels : array of shape (n_samples,), optional
        Written below; hyperedges of samples of another label are framed.
    most : int
        How many hyperedges to show, those of the largest memberships.
    ax : Axes, optional
        Where to draw.
    """
    _require_images(structure, sample, image_shape)
    row = structure.graph_.incidence[[sample]].toarray().ravel()
    row[sample] = 0
    order = np.argsort(-row, kind="stable")[: np.count_nonzero(row)]
    texts = [f"{membership:.3f}" for membership in row[order[:most]]]
    tiles = _tiles(structure, sample, order[:most], texts, image_shape, labels)
    ax = given_or_new(ax, (1.1 * len(tiles) + 1, 2.1))
    _draw_strip(ax, [tiles[:1], tiles[1:]])
    found = _others("other hyperedge", most, order, sample, labels)
    ax.set_title(f"Sample {sample} is in {found}", fontsize="medium")
    return ax


def plot_recovery(
    found: ElasticNetHypergraph | Representation,
    samples: ArrayLike,
    image_shape: tuple[int, ...],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Samples, what others make of them, and the error between: a column of three images each.

    The error is violet where the sample is brighter and brown where it is darker; its full color
    is half of the sample's range.

    Parameters
    ----------
    found : ElasticNetHypergraph or Representation
        Of a fitted structure, samples are shown as they were given to `fit`; of a
        representation, as it has them, normalized.
    samples : array of int
        Their rows, from left to right.
    image_shape : tuple of int
        (height, width) or (height, width, 3) of a sample.
    ax : Axes, optional
        Where to draw.
    """
    if not isinstance(found, Representation):
        check_is_fitted(found)
    X = found.samples if isinstance(found, Representation) else found.samples_
    rows = valid_rows("samples", samples, len(X))
    _require_shape(image_shape, X.shape[1])
    corrected = (
        found.reconstruction[rows] if isinstance(found, Representation) else found.reconstruct(rows)
    )
    height, width = image_shape[:2]
    gap = max(1, round(0.1 * width))
    sheet = np.ones((3, height + gap, len(rows), width + gap, 3))
    names = []
    for at, row in enumerate(rows):
        sheet[:, :height, at, :width], missed = _recovered(X[row], corrected[at], image_shape)
        names.append(f"{row}\n{missed}")
    sheet = sheet.reshape(3 * (height + gap), -1, 3)[:-gap, :-gap]
    ax = given_or_new(ax, (1.1 * len(rows) + 1, 3.6))
    ax.imshow(sheet, interpolation="nearest")
    ax.set_xticks((width + gap) * np.arange(len(rows)) + (width - 1) / 2, names, fontsize="small")
    ax.set_yticks(
        (height + gap) * np.arange(3) + (height - 1) / 2, ["original", "corrected", "error"]
    )
    ax.set_xlabel("sample (‖error‖ / ‖sample‖)")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return ax


def _recovered(x: NDArray, clean: NDArray, image_shape: tuple[int, ...]) -> tuple[NDArray, str]:
    """A sample, what others make of it and the error as pictures, and ‖error‖ / ‖sample‖."""
    low, high, length = float(x.min()), float(x.max()), float(np.linalg.norm(x))
    both = rgb(np.stack([x, clean]).reshape(2, *image_shape), low, high)
    error = signed_rgb((x - clean).reshape(image_shape), (high - low) / 2)
    missed = f"({np.linalg.norm(x - clean) / length:.0%})" if length > 0 else ""
    return np.stack([*both, error]), missed


class _Tile(NamedTuple):
    """An image of a strip, and what is written above and below it."""

    picture: NDArray
    above: str
    below: str = ""
    framed: bool = False


def _tiles(
    structure: ElasticNetHypergraph,
    sample: int,
    others: NDArray,
    texts: Sequence[str],
    image_shape: tuple[int, ...],
    labels: ArrayLike | None,
) -> list[_Tile]:
    """A sample and others with texts above, and below their rows and labels."""
    rows, X = [sample, *others], structure.samples_
    below, framed = [str(row) for row in rows], [False] * len(rows)
    if labels is not None:
        marks = one_each("labels", labels, len(X))
        below = [f"{row}\nlabel {marks[row]}" for row in rows]
        framed = [bool(marks[row] != marks[sample]) for row in rows]
    pictures = [
        rgb(X[row].reshape(1, *image_shape), float(X[row].min()), float(X[row].max()))[0]
        for row in rows
    ]
    return [_Tile(*tile) for tile in zip(pictures, ["sample", *texts], below, framed, strict=True)]


def _draw_strip(ax: Axes, parts: Sequence[Sequence[_Tile]]) -> None:
    """Images side by side, the parts apart from each other."""
    left = 0.0
    for part in parts:
        for tile in part:
            width = tile.picture.shape[1] / tile.picture.shape[0]
            box = (left, left + width, 0, 1)
            ax.imshow(tile.picture, extent=box, interpolation="nearest")
            color = COLORS[2] if tile.framed else "black"
            if tile.framed:
                ax.plot(
                    [left, left + width, left + width, left, left], [0, 0, 1, 1, 0], color=color,
                    lw=2, clip_on=False,
                )  # fmt: skip
            middle = left + width / 2
            ax.text(middle, 1.06, tile.above, ha="center", va="bottom", fontsize="small")
            ax.text(middle, -0.06, tile.below, ha="center", va="top", fontsize="small", color=color)
            left += width + 0.12
        left += 0.38 if part else 0
    lines = max(tile.below.count("\n") + 1 for part in parts for tile in part)
    ax.set(xlim=(-0.05, left - 0.45), ylim=(-0.06 - 0.2 * lines, 1.3))
    ax.set_axis_off()


def _others(noun: str, shown: int, others: NDArray, sample: int, labels: ArrayLike | None) -> str:
    """How many others there are, how many of them are shown, and of another label."""
    text = counted(len(others), noun)
    if labels is not None:
        foreign = int((np.asarray(labels)[others] != np.asarray(labels)[sample]).sum())
        text += f", {foreign} of another label"
    return text + (f" (the first {shown} shown)" if shown < len(others) else "")


def _require_shape(image_shape: tuple[int, ...], n_features: int) -> None:
    shape = tuple(image_shape)
    if not (len(shape) == 2 or shape[2:] == (3,)) or np.prod(shape) != n_features:
        raise ValueError(
            f"image_shape must be (height, width) or (height, width, 3) and hold the {n_features} "
            f"numbers of a sample, got {image_shape}"
        )


def _require_images(
    structure: ElasticNetHypergraph, sample: int, image_shape: tuple[int, ...]
) -> None:
    check_is_fitted(structure)
    valid_rows("sample", sample, len(structure.samples_))
    _require_shape(image_shape, structure.n_features_in_)
