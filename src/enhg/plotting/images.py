"""Plots of samples that are images."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from enhg._validation import check_whole
from enhg.exceptions import InputError
from enhg.plotting._drawing import (
    COLORS,
    check_one_per_sample,
    check_rows,
    coded,
    counted,
    given_or_new,
    rgb,
    signed_rgb,
)
from enhg.representation.problem import Representation
from enhg.structures.elastic_net import ElasticNetHypergraph

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def plot_image(image: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """A gray image, black at its smallest value and white at its largest.

    Parameters
    ----------
    image : array of shape (height, width)
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> ax = plot_image([[0, 1], [1, 0]])
    """
    pixels = np.asarray(image)
    if pixels.ndim != 2 and pixels.shape[2:] not in ((1,), (3,), (4,)):
        raise InputError(
            f"image must be of shape (height, width), got {pixels.shape}", parameter="image"
        )
    ax = given_or_new(ax, (2, 2))
    ax.imshow(pixels, cmap="gray")
    ax.set_axis_off()
    return ax


def plot_clusters(
    images: ArrayLike,
    labels: ArrayLike,
    confidence: ArrayLike,
    *,
    n_most: int = 10,
    n_least: int = 4,
    ax: Axes | None = None,
) -> Axes:
    """Thumbnails of every cluster, one row each, in order of decreasing confidence.

    Parameters
    ----------
    images : array of shape (n_samples, height, width) or (n_samples, height, width, 3)
    labels, confidence : arrays of shape (n_samples,)
        For example `HypergraphClustering.labels_` and `confidence_`.
    n_most, n_least : int
        Numbers of samples of largest and of smallest confidence that are shown.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from enhg import HypergraphClustering
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> model = HypergraphClustering(3, random_state=0).fit(X)
    >>> ax = plot_clusters(X.reshape(-1, 8, 8), model.labels_, model.confidence_)
    """
    images = _checked_images(images)
    check_whole("n_most", n_most, 0)
    check_whole("n_least", n_least, 0 if n_most else 1)
    labels = check_one_per_sample("labels", labels, len(images))
    confidence = check_one_per_sample("confidence", confidence, len(images))
    pictures = rgb(images, float(images.min()), float(images.max()))
    height, width = pictures.shape[1:3]
    gap = max(1, round(0.1 * width))
    down, across = height + gap, width + gap
    lefts = [at * across + (gap if at >= n_most else 0) for at in range(n_most + n_least)]
    clusters, codes = coded(labels)
    sizes = np.bincount(codes)
    sheet = np.ones((len(clusters) * down - gap, lefts[-1] + width, 3))
    for row in range(len(clusters)):
        inside = np.flatnonzero(codes == row)
        inside = inside[np.argsort(-confidence[inside], kind="stable")]
        last = inside[max(n_most, len(inside) - n_least) :]
        for left, sample in zip(lefts, [*inside[:n_most], *last], strict=False):
            sheet[row * down : row * down + height, left : left + width] = pictures[sample]
    ax = given_or_new(ax, (0.5 * (n_most + n_least) + 1, 0.5 * len(clusters) * down / across + 0.8))
    ax.imshow(sheet, interpolation="nearest")
    names = [f"{cluster} ({size})" for cluster, size in zip(clusters, sizes, strict=True)]
    ax.set_yticks(np.arange(len(clusters)) * down + (height - 1) / 2, names)
    _name_columns(ax, lefts, n_most)
    ax.set(title="Clusters", ylabel="cluster (size)")
    ax.spines[:].set_visible(False)
    return ax


def _checked_images(images: ArrayLike) -> NDArray:
    """The images as an array; require one at least."""
    array = np.asarray(images)
    if array.ndim not in (3, 4) or not array.size:
        raise InputError(
            "images must be of shape (n_samples, height, width) or (n_samples, height, width, 3), "
            f"got {array.shape}",
            parameter="images",
        )
    return array


def _name_columns(ax: Axes, lefts: Sequence[int], n_most: int) -> None:
    names = {0: "most confident", n_most: "least confident"}
    ends = {lefts[at]: text for at, text in names.items() if at < len(lefts)}
    ax.set_xticks([left - 0.5 for left in ends], list(ends.values()), ha="left")
    ax.tick_params(length=0, labeltop=True, labelbottom=False)


def plot_hyperedge(
    structure: ElasticNetHypergraph,
    sample: int,
    image_shape: tuple[int, ...],
    labels: ArrayLike | None = None,
    *,
    n_members: int = 5,
    ax: Axes | None = None,
) -> Axes:
    """The members of a sample's hyperedges, its reconstruction and its residual.

    From left to right: the sample; the members of its hyperedges with their coefficients; the
    reconstruction from all coefficients; the residual, violet where the sample is brighter than
    its reconstruction and brown where it is darker, with the relative residual
    (`relative_residuals_` of the structure). Images are in the units of the samples given to
    `fit`, each from its darkest to its brightest pixel.

    Parameters
    ----------
    structure : ElasticNetHypergraph
        Fitted.
    sample : int
        Row of the sample.
    image_shape : tuple of int
        (height, width) or (height, width, 3) of a sample.
    labels : array of shape (n_samples,), optional
        Written below the images; members with another label than the sample are framed.
    n_members : int
        Number of members that are shown, those of the largest memberships.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from enhg import ElasticNetHypergraph
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> structure = ElasticNetHypergraph().fit(X)
    >>> ax = plot_hyperedge(structure, 3, (8, 8), y)
    """
    _check_images(structure, sample, image_shape)
    column = _largest_memberships(structure)[:, [sample]].toarray().ravel()
    column[sample] = 0
    z = structure.representation_.coefficients[[sample]].toarray().ravel()
    order = np.lexsort((-np.abs(z), -column))[: np.count_nonzero(column)]
    texts = [f"{value:+.3f}".replace("-", "−") for value in z[order[:n_members]]]
    tiles = _tiles(structure, sample, order[:n_members], texts, image_shape, labels)
    _, reconstruction, residual = _reconstruction_images(
        structure.samples_[sample], structure.reconstruct([sample])[0], image_shape
    )
    relative = structure.relative_residuals_[sample]
    results = [
        _Tile(reconstruction, "reconstruction"),
        _Tile(residual, f"residual ({relative:.0%})"),
    ]
    ax = given_or_new(ax, (1.1 * (len(tiles) + 2) + 1, 2.1))
    _draw_strip(ax, [tiles[:1], tiles[1:], results])
    members = _others_text("member", n_members, order, sample, labels)
    ax.set_title(f"Hyperedge of sample {sample}: {members}", fontsize="medium")
    return ax


def plot_memberships(
    structure: ElasticNetHypergraph,
    sample: int,
    image_shape: tuple[int, ...],
    labels: ArrayLike | None = None,
    *,
    n_hyperedges: int = 7,
    ax: Axes | None = None,
) -> Axes:
    """The hyperedges of other samples that a sample is a member of, and its memberships.

    Of several hyperedges of the same sample, the one with the largest membership is shown.

    Parameters
    ----------
    structure : ElasticNetHypergraph
        Fitted.
    sample : int
        Row of the sample.
    image_shape : tuple of int
        (height, width) or (height, width, 3) of a sample.
    labels : array of shape (n_samples,), optional
        Written below the images; hyperedges of samples with another label are framed.
    n_hyperedges : int
        Number of hyperedges that are shown, those of the largest memberships.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from enhg import ElasticNetHypergraph
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> structure = ElasticNetHypergraph().fit(X)
    >>> ax = plot_memberships(structure, 3, (8, 8), y)
    """
    _check_images(structure, sample, image_shape)
    row = _largest_memberships(structure)[[sample]].toarray().ravel()
    row[sample] = 0
    order = np.argsort(-row, kind="stable")[: np.count_nonzero(row)]
    texts = [f"{membership:.3f}" for membership in row[order[:n_hyperedges]]]
    tiles = _tiles(structure, sample, order[:n_hyperedges], texts, image_shape, labels)
    ax = given_or_new(ax, (1.1 * len(tiles) + 1, 2.1))
    _draw_strip(ax, [tiles[:1], tiles[1:]])
    others = _others_text("other hyperedge", n_hyperedges, order, sample, labels)
    ax.set_title(f"Sample {sample} is in {others}", fontsize="medium")
    return ax


def _largest_memberships(structure: ElasticNetHypergraph) -> sparse.csr_array:
    """h(i, eⱼ), the largest over the hyperedges of sample j."""
    incidence = structure.graph_.incidence
    n = structure.graph_.n_vertices
    blocks = [incidence[:, first : first + n] for first in range(0, incidence.shape[1], n)]
    return reduce(lambda A, B: A.maximum(B), blocks)


def plot_reconstructions(
    source: ElasticNetHypergraph | Representation,
    samples: ArrayLike,
    image_shape: tuple[int, ...],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Samples, their reconstructions and their residuals: a column of three images each.

    Residuals are violet where the sample is brighter than its reconstruction and brown where it
    is darker; full colors are half of the sample's range. Below each column is the relative
    residual ‖xᵢ − Σⱼ zᵢⱼ xⱼ‖/‖xᵢ‖ of the preprocessed sample.

    Parameters
    ----------
    source : ElasticNetHypergraph or Representation
        Of a fitted structure, samples are shown in the units given to `fit`; of a
        representation, as preprocessed.
    samples : array of int
        Rows of the samples, from left to right.
    image_shape : tuple of int
        (height, width) or (height, width, 3) of a sample.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from enhg import ElasticNetHypergraph
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> structure = ElasticNetHypergraph().fit(X)
    >>> ax = plot_reconstructions(structure, [0, 1, 2], (8, 8))
    """
    if isinstance(source, Representation):
        X, relative = source.samples, source.relative_residuals
    else:
        _check_structure("source", source)
        X, relative = source.samples_, source.relative_residuals_
    rows = check_rows("samples", samples, len(X))
    _check_shape(image_shape, X.shape[1])
    if isinstance(source, Representation):
        reconstructions = source.reconstruction[rows]
    else:
        reconstructions = source.reconstruct(rows)
    height, width = image_shape[:2]
    gap = max(1, round(0.1 * width))
    sheet = np.ones((3, height + gap, len(rows), width + gap, 3))
    for at, row in enumerate(rows):
        sheet[:, :height, at, :width] = _reconstruction_images(
            X[row], reconstructions[at], image_shape
        )
    names = [f"{row}\n({relative[row]:.0%})" for row in rows]
    sheet = sheet.reshape(3 * (height + gap), -1, 3)[:-gap, :-gap]
    ax = given_or_new(ax, (1.1 * len(rows) + 1, 3.6))
    ax.imshow(sheet, interpolation="nearest")
    ax.set_xticks((width + gap) * np.arange(len(rows)) + (width - 1) / 2, names, fontsize="small")
    ax.set_yticks(
        (height + gap) * np.arange(3) + (height - 1) / 2, ["sample", "reconstruction", "residual"]
    )
    ax.set_xlabel("sample (relative residual)")
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return ax


def _reconstruction_images(
    x: NDArray, reconstruction: NDArray, image_shape: tuple[int, ...]
) -> NDArray:
    """A sample, its reconstruction and its residual as pictures."""
    low, high = float(x.min()), float(x.max())
    both = rgb(np.stack([x, reconstruction]).reshape(2, *image_shape), low, high)
    residual = signed_rgb((x - reconstruction).reshape(image_shape), (high - low) / 2)
    return np.stack([*both, residual])


class _Tile(NamedTuple):
    """An image of a strip, and the texts above and below it."""

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
    """Tiles of a sample and of others: texts above, rows and labels below."""
    rows, X = [sample, *others], structure.samples_
    below, framed = [str(row) for row in rows], [False] * len(rows)
    if labels is not None:
        marks = check_one_per_sample("labels", labels, len(X))
        below = [f"{row}\nlabel {marks[row]}" for row in rows]
        framed = [bool(marks[row] != marks[sample]) for row in rows]
    pictures = [
        rgb(X[row].reshape(1, *image_shape), float(X[row].min()), float(X[row].max()))[0]
        for row in rows
    ]
    return [_Tile(*tile) for tile in zip(pictures, ["sample", *texts], below, framed, strict=True)]


def _draw_strip(ax: Axes, parts: Sequence[Sequence[_Tile]]) -> None:
    """Draw images side by side, with gaps between the parts."""
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


def _others_text(
    noun: str, shown: int, others: NDArray, sample: int, labels: ArrayLike | None
) -> str:
    """The number of others, of those with another label, and of those that are shown."""
    text = counted(len(others), noun)
    if labels is not None:
        differing = int((np.asarray(labels)[others] != np.asarray(labels)[sample]).sum())
        text += f", {differing} with another label"
    return text + (f" (the first {shown} shown)" if shown < len(others) else "")


def _check_shape(image_shape: tuple[int, ...], n_features: int) -> None:
    shape = tuple(image_shape)
    if not (len(shape) == 2 or shape[2:] == (3,)) or np.prod(shape) != n_features:
        raise InputError(
            "image_shape must be (height, width) or (height, width, 3) of an image with the "
            f"{n_features} features of a sample, got {image_shape}",
            parameter="image_shape",
        )


def _check_images(
    structure: ElasticNetHypergraph, sample: int, image_shape: tuple[int, ...]
) -> None:
    _check_structure("structure", structure)
    check_rows("sample", sample, len(structure.samples_))
    _check_shape(image_shape, structure.n_features_in_)


def _check_structure(name: str, structure: ElasticNetHypergraph) -> None:
    if not hasattr(structure, "reconstruct"):
        raise InputError(
            f"{name} must be an ElasticNetHypergraph, got a {type(structure).__name__}; that of a "
            "fitted learner is its structure_",
            parameter=name,
        )
    check_is_fitted(structure)
