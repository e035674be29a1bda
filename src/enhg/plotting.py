"""Pictures of samples and results; the only room that imports matplotlib.

Every `plot_…` draws on the axes it is given, or on new ones of pyplot's, and returns them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import confusion_matrix
from sklearn.metrics.cluster import contingency_matrix

from enhg.graphs.elastic_net import ElasticNetHypergraph
from enhg.learning.classification import HypergraphClassifier
from enhg.learning.clustering import HypergraphClustering
from enhg.representation.path import ElasticNetPath
from enhg.representation.problem import Representation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Ten colours that people with any kind of colour vision can tell apart (Petroff, 2021).
_COLORS = (
    "#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6",
    "#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd",
)  # fmt: skip
_MARKERS = "osD^vPX*"  # the next one whenever the colours are used up
_MOST_WRITTEN = 20  # classes up to which counts are written into the cells
_MOST_NAMED = 50  # classes up to which each has a tick of its own


def plot_embedding(
    embedding: ArrayLike, labels: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Samples as points in the plane of the embedding's two main directions.

    Parameters
    ----------
    embedding : array of shape (n_samples, n_dimensions)
        For example `HypergraphClustering.embedding_`.
    labels : array of shape (n_samples,), optional
        Decide colours and markers, and are written in the middle of their samples.
    ax : Axes, optional
        Where to draw.
    """
    points, share = _main_plane(np.asarray(embedding, dtype=float))
    labels = np.full(len(points), "") if labels is None else np.asarray(labels)
    ax = _axes(ax, (6, 6))
    kinds = np.unique(labels)
    for at, kind in enumerate(kinds):
        turn, color = divmod(at, len(_COLORS))
        across, up = points[labels == kind].T
        ax.scatter(
            across,
            up,
            s=14,
            marker=_MARKERS[turn % len(_MARKERS)],
            color=_COLORS[color],
            alpha=0.7,
            linewidths=0,
        )
    for kind in kinds:
        across, up = np.median(points[labels == kind], axis=0)
        _write(ax, across, up, str(kind))
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_title("Embedding of the samples")
    ax.set_xlabel(f"first main direction ({share[0]:.0%} of the variance)")
    ax.set_ylabel(f"second main direction ({share[1]:.0%})")
    ax.set(xticks=[], yticks=[])
    return ax


def plot_spectrum(
    eigenvalues: ArrayLike, n_clusters: int | None = None, *, ax: Axes | None = None
) -> Axes:
    """The largest eigenvalues of Θ, falling, with a line after the `n_clusters` first.

    Parameters
    ----------
    eigenvalues : array
        For example `HypergraphClustering.spectrum_.values`.
    n_clusters : int, optional
    ax : Axes, optional
        Where to draw.
    """
    values = np.asarray(eigenvalues, dtype=float)
    ax = _axes(ax, (6, 4))
    ax.plot(np.arange(1, len(values) + 1), values, "o-", color=_COLORS[0], ms=4, lw=1)
    if n_clusters is not None:
        ax.axvline(n_clusters + 0.5, color=_COLORS[8], ls="--", lw=1)
        ax.annotate(
            f" {n_clusters} clusters", (n_clusters + 0.5, 0.97), xycoords=("data", "axes fraction"),
            va="top", color=_COLORS[8],
        )  # fmt: skip
    ax.set(title="Spectrum of the hypergraph", xlabel="eigenvalue number", ylabel="eigenvalue of Θ")
    ax.spines[["top", "right"]].set_visible(False)
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
    images, labels, confidence = np.asarray(images), np.asarray(labels), np.asarray(confidence)
    pictures = _rgb(images, float(images.min()), float(images.max()))
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
    ax = _axes(ax, (0.5 * (most + least) + 1, 0.5 * len(kinds) * down / across + 0.8))
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
    representation: Representation,
    sample: int,
    image_shape: tuple[int, ...],
    *,
    members: int = 5,
    ax: Axes | None = None,
) -> Axes:
    """A sample x, its main rebuilders with their coefficients, and x = x₀ + s.

    Parameters
    ----------
    representation : Representation
        For example `ElasticNetHypergraph.representation_`, of normalised samples.
    sample : int
        Its row.
    image_shape : tuple of int
        (height, width) or (height, width, 3) of a sample.
    members : int
        How many rebuilders to show, those of the largest coefficients.
    ax : Axes, optional
        Where to draw.
    """
    row = representation.coefficients[[sample]].tocoo()
    order = np.argsort(-np.abs(row.data), kind="stable")[:members]
    atoms, values = row.coords[1][order], row.data[order]
    x, error = representation.samples[sample], representation.errors[sample]
    images = np.stack([x, *representation.dictionary[atoms], representation.clean[sample]])
    pictures = list(_rgb(images.reshape(-1, *image_shape), float(x.min()), float(x.max())))
    pictures.append(_signed_rgb(error.reshape(image_shape), float(np.abs(x).max())))
    length = float(np.linalg.norm(x))
    missed = f" ({np.linalg.norm(error) / length:.0%})" if length > 0 else ""
    texts = [f"sample {sample}", *(f"{value:+.3f}".replace("-", "−") for value in values)]
    texts += ["corrected", f"error{missed}"]

    ax = _axes(ax, (1.1 * len(texts) + 1, 1.6))
    width = image_shape[1] / image_shape[0]
    lefts = np.arange(len(texts)) * (width + 0.12)
    lefts[1:] += 0.5  # apart: the sample, its rebuilders, and what they make of it
    lefts[-2:] += 0.5
    for left, picture, text in zip(lefts, pictures, texts, strict=True):
        ax.imshow(picture, extent=(left, left + width, 0, 1), interpolation="nearest")
        ax.text(left + width / 2, 1.06, text, ha="center", va="bottom", fontsize="small")
    more = f"{row.nnz - len(atoms)}\nmore" if row.nnz > len(atoms) else ""
    ax.text(lefts[-2] - 0.31, 0.5, more, ha="center", va="center", fontsize="small")
    ax.set(xlim=(-0.05, lefts[-1] + width + 0.05), ylim=(-0.05, 1.3))
    ax.set_axis_off()
    return ax


def plot_confusion(
    labels_true: ArrayLike,
    labels_pred: ArrayLike,
    *,
    match: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """How many samples of each class (row) got each label (column).

    Parameters
    ----------
    labels_true, labels_pred : arrays of shape (n_samples,)
    match : bool
        The predicted labels are clusters, whose numbers mean nothing: each is put under the
        class it fits best, one to one, and what finds no partner comes last.
    ax : Axes, optional
        Where to draw.
    """
    table, rows, columns = _confusion(labels_true, labels_pred, match)
    share = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    ax = _axes(ax, (6, 6))
    ax.imshow(share, cmap="Blues", vmin=0, vmax=1)
    if max(table.shape) <= _MOST_WRITTEN:
        for (i, j), count in np.ndenumerate(table):
            if count > 0:
                color = "white" if share[i, j] > 0.5 else "black"
                ax.text(j, i, str(count), ha="center", va="center", color=color, fontsize="small")
    if max(table.shape) <= _MOST_NAMED:
        ax.set_xticks(np.arange(len(columns)), columns)
        ax.set_yticks(np.arange(len(rows)), rows)
    ax.set_title("Classes and clusters, best matching" if match else "Classes and predictions")
    ax.set(xlabel="cluster" if match else "predicted", ylabel="truth")
    return ax


def plot_path(
    path: ElasticNetPath, atoms: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Coefficients along a solution path, against s = ‖z‖₁ / max ‖z‖₁.

    Parameters
    ----------
    path : ElasticNetPath
    atoms : array of int, optional
        Which coefficients; by default all that are ever used.
    ax : Axes, optional
        Where to draw.
    """
    lengths = abs(path.coefficients).sum(axis=1)
    if atoms is None:
        atoms = np.unique(path.coefficients.indices)
    values = path.coefficients[:, np.asarray(atoms, dtype=int)].toarray()
    ax = _axes(ax, (6, 4))
    ax.axhline(0, color=_COLORS[8], lw=0.8)
    for at, coefficients in enumerate(values.T):
        ax.plot(lengths / (lengths.max() or 1), coefficients, color=_COLORS[at % 10], lw=1.2)
    ax.set(
        title=f"Path of sample {path.index}, ridge {path.lam:g}", xlabel="s = ‖z‖₁ / max ‖z‖₁",
        ylabel="coefficient", xlim=(0, 1),
    )  # fmt: skip
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_coefficients(
    coefficients: ArrayLike,
    threshold: float | None = None,
    group: slice | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """The coefficients of one sample as lines over the samples that rebuild it.

    Parameters
    ----------
    coefficients : array of shape (n_samples,)
    threshold : float, optional
        Drawn at ±threshold: what lies beyond is prominent.
    group : slice, optional
        Samples to put on a darker ground: the sample's own class.
    ax : Axes, optional
        Where to draw.
    """
    z = np.asarray(coefficients, dtype=float)
    ax = _axes(ax, (8, 2.6))
    if group is not None:
        ax.axvspan(group.start - 0.5, group.stop - 0.5, color="#eeeeee", lw=0)
    ax.vlines(np.flatnonzero(z), 0, z[z != 0], color=_COLORS[0], lw=1)
    ax.axhline(0, color=_COLORS[8], lw=0.8)
    if threshold is not None:
        for side in (-threshold, threshold):
            ax.axhline(side, color=_COLORS[2], lw=0.9, ls="--")
    ax.set(xlabel="sample", ylabel="coefficient", xlim=(-0.5, len(z) - 0.5))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_coefficient_matrix(
    coefficients: sparse.sparray | ArrayLike, *, ax: Axes | None = None
) -> Axes:
    """|Z| as a picture, the darker the larger; every row in parts of its largest entry."""
    Z = np.abs(sparse.csr_array(coefficients).toarray())
    ax = _axes(ax, (5, 5))
    largest = Z.max(axis=1, keepdims=True)
    ax.imshow(Z / np.where(largest > 0, largest, 1), cmap="Greys", vmin=0, vmax=1)
    ax.set(xlabel="sample", ylabel="sample")
    return ax


def plot_recovery(
    representation: Representation,
    samples: ArrayLike,
    image_shape: tuple[int, ...],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Samples, what others make of them, and the error between: a row of three images each.

    Parameters
    ----------
    representation : Representation
    samples : array of int
        Which ones, from left to right.
    image_shape : tuple of int
        Height and width.
    ax : Axes, optional
        Where to draw.
    """
    chosen = np.asarray(samples, dtype=int)
    columns = []
    for sample in chosen:
        image, clean = representation.samples[sample], representation.clean[sample]
        low, high = float(image.min()), float(image.max())
        error = (image - clean).reshape(image_shape)
        shown = _rgb(np.stack([image, clean]).reshape(2, *image_shape), low, high)
        columns.append(np.concatenate([*shown, _signed_rgb(error, float(abs(error).max()))]))
    height = image_shape[0]
    ax = _axes(ax, (1.1 * len(chosen) + 1, 3.6))
    gap = np.ones((3 * height, 2, 3))
    parts = [part for column in columns for part in (column, gap)][:-1]
    ax.imshow(np.concatenate(parts, axis=1))
    ax.set_yticks(height * (np.arange(3) + 0.5), ["original", "corrected", "error"])
    ax.set_xticks([])
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    return ax


def plot_comparison(
    curves: Mapping[str, Sequence[tuple[str, float]]],
    main: str,
    ylabel: str,
    *,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Scores of several methods over a few cases; the main one heavy, those that begin with its
    name dashed. The legend stands to the right of the axes."""
    ax = _axes(ax, (6, 4.4))
    for at, (name, points) in enumerate(curves.items()):
        across, up = zip(*points, strict=True) if points else ((), ())
        related = name.startswith(main)
        ax.plot(
            across, up, marker=_MARKERS[at % len(_MARKERS)], ms=5, label=name,
            color="black" if related else _COLORS[at % 10], lw=2.2 if related else 1.2,
            ls="--" if related and name != main else "-",
        )  # fmt: skip
    ax.set(ylabel=ylabel)
    ax.grid(axis="y", color="#e3e3e3")
    ax.set_axisbelow(True)
    if legend:
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_image(image: ArrayLike, *, ax: Axes | None = None) -> Axes:
    """One gray image, black at its least value and white at its largest."""
    ax = _axes(ax, (2, 2))
    ax.imshow(np.asarray(image), cmap="gray")
    ax.set_axis_off()
    return ax


def plot_curves(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
    xlabel: str,
    ylabel: str,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Scores against a parameter, one line a name, on a logarithmic scale that holds zero."""
    ax = _axes(ax, (6, 4))
    smallest = min(float(x) for across, _ in curves.values() for x in np.asarray(across) if x > 0)
    for at, (name, (across, up)) in enumerate(curves.items()):
        ax.plot(
            across,
            up,
            marker=_MARKERS[at % len(_MARKERS)],
            color=_COLORS[at % 10],
            ms=5,
            label=name,
        )
    ax.set_xscale("symlog", linthresh=smallest)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.grid(color="#e3e3e3")
    ax.set_axisbelow(True)
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def save_pictures(
    folder: Path,
    images: NDArray,
    truth: NDArray,
    structure: ElasticNetHypergraph,
    clusters: HypergraphClustering,
    classes: HypergraphClassifier,
) -> None:
    """Write clusters.png, embedding.png, confusion.png and hyperedges.png into a folder.

    Parameters
    ----------
    folder : Path
    images : array of shape (n_samples, height, width)
    truth : array of shape (n_samples,)
    structure, clusters, classes
        Fitted on the images; `classes` knows the classes as text.
    """
    figure, (ax,) = new_figure(1, 1, (8, 5.9))
    plot_clusters(images, clusters.labels_, clusters.confidence_, ax=ax)
    figure.savefig(folder / "clusters.png")

    figure, (left, right) = new_figure(1, 2, (12, 6))
    plot_embedding(clusters.embedding_, clusters.labels_, ax=left)
    plot_spectrum(clusters.spectrum_.values, clusters.n_clusters_, ax=right)
    figure.savefig(folder / "embedding.png")

    figure, (left, right) = new_figure(1, 2, (12, 6))
    plot_confusion(truth, clusters.labels_, match=True, ax=left)
    plot_confusion(truth.astype(str), classes.transduction_, ax=right)
    figure.savefig(folder / "confusion.png")

    figure, axes = new_figure(5, 1, (9, 6.9))
    figure.suptitle("Samples, their main rebuilders with coefficients, and what these make of them")
    by_error = np.argsort(np.linalg.norm(structure.representation_.errors, axis=1))
    from_best_to_worst = by_error[np.linspace(0, len(by_error) - 1, len(axes)).astype(int)]
    for ax, sample in zip(axes, from_best_to_worst, strict=True):
        plot_hyperedge(structure.representation_, sample, images.shape[1:], ax=ax)
    figure.savefig(folder / "hyperedges.png")


def new_figure(
    rows: int, columns: int, size: tuple[float, float], widths: Sequence[float] | None = None
) -> tuple[Figure, list[Axes]]:
    """A figure of `size` inches that is saved and never shown, and its axes, row by row."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=150, layout="compressed")
    axes = figure.subplots(rows, columns, squeeze=False, width_ratios=widths)
    return figure, axes.ravel().tolist()


def _confusion(
    labels_true: ArrayLike, labels_pred: ArrayLike, match: bool
) -> tuple[NDArray, NDArray, NDArray]:
    """Counts of (class, predicted), and the names of rows and columns."""
    classes, predicted = np.unique(labels_true), np.unique(labels_pred)
    if not match:
        both = np.union1d(classes, predicted)
        return confusion_matrix(labels_true, labels_pred, labels=both), both, both
    table = contingency_matrix(labels_true, labels_pred)
    rows, columns = linear_sum_assignment(table, maximize=True)
    rows = np.r_[rows, np.setdiff1d(np.arange(len(classes)), rows)]
    columns = np.r_[columns, np.setdiff1d(np.arange(len(predicted)), columns)]
    return table[rows][:, columns], classes[rows], predicted[columns]


def _axes(ax: Axes | None, size: tuple[float, float]) -> Axes:
    """The axes given, or those of a new figure."""
    if ax is not None:
        return ax
    from matplotlib import pyplot

    return pyplot.subplots(figsize=size, layout="constrained")[1]


def _main_plane(points: NDArray) -> tuple[NDArray, NDArray]:
    """The rows on their two main axes, and the share of the variance that each carries."""
    left, lengths, _ = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    found = min(2, len(lengths))
    plane, share = np.zeros((len(points), 2)), np.zeros(2)
    plane[:, :found] = left[:, :found] * lengths[:found]
    share[:found] = lengths[:found] ** 2 / max((lengths**2).sum(), np.finfo(float).tiny)
    return plane, share


def _write(ax: Axes, across: float, up: float, text: str) -> None:
    """Text that can be read on top of points."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=3, foreground="white")]
    ax.text(across, up, text, ha="center", va="center", weight="bold", path_effects=halo)


def _rgb(images: NDArray, low: float, high: float) -> NDArray:
    """Images (n, height, width) or (n, height, width, 3) in colours from 0 (low) to 1 (high)."""
    scaled = np.clip((images - low) / (high - low if high > low else 1.0), 0, 1)
    return np.repeat(scaled[..., None], 3, axis=3) if scaled.ndim == 3 else scaled


def _signed_rgb(image: NDArray, span: float) -> NDArray:
    """An image of positive and negative values in colours: white at 0, the ends at ±span."""
    from matplotlib import colormaps

    flat = image.reshape(*image.shape[:2], -1).mean(axis=2)
    return colormaps["PuOr"](0.5 + 0.5 * flat / (span if span > 0 else 1.0))[..., :3]
