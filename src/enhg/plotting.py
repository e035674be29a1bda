"""Pictures of samples and results; the only room that imports matplotlib.

Every `plot_…` takes what it draws first and options by name, draws on the axes it is given, or on
new ones of pyplot's, and returns them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import confusion_matrix
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils.validation import check_is_fitted

from enhg.graphs.elastic_net import ElasticNetHypergraph
from enhg.hypergraph import Hypergraph
from enhg.learning.classification import HypergraphClassifier
from enhg.learning.clustering import HypergraphClustering
from enhg.learning.count import ClusterCount
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
_MOST_CELLS = 400  # a side of the picture of a matrix
_BLACK = 0.9  # quantile: a centroid has ten times the membership of the others
_MOST_LINES = 10  # of a path that have a colour and a name


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
    labels = (
        np.full(len(points), "") if labels is None else _one_each("labels", labels, len(points))
    )
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
        inwards = "left" if n_clusters < len(values) / 2 else "right"
        ax.annotate(
            f" {n_clusters} clusters ", (n_clusters + 0.5, 0.97),
            xycoords=("data", "axes fraction"), va="top", ha=inwards, color=_COLORS[8],
        )  # fmt: skip
    ax.set(title="Spectrum of the hypergraph", xlabel="eigenvalue number", ylabel="eigenvalue of Θ")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_cluster_count(count: ClusterCount, *, ax: Axes | None = None) -> Axes:
    """The score of every number of clusters, the best and the runner-up in colour.

    Parameters
    ----------
    count : ClusterCount
        For example `HypergraphClustering.cluster_count_`.
    ax : Axes, optional
        Where to draw.
    """
    ax = _axes(ax, (6, 4))
    ax.bar(np.arange(1, len(count.scores) + 1), count.scores, color="#d0d4d8")
    named = {"best": (count.best, _COLORS[0]), "runner-up": (count.runner_up, _COLORS[1])}
    if count.best == count.runner_up:  # there is no other
        del named["runner-up"]
    for name, (k, color) in named.items():
        ax.bar(k, count.scores[k - 1 : k], color=color, label=f"{name}: {k}")
    ax.legend(frameon=False)
    guess = _counted(count.best, "cluster")
    ax.set(
        title=guess if count.sure else f"Not sure: perhaps {guess}", xlabel="number of clusters",
        ylabel="score: the gap after that many eigenvalues",
    )  # fmt: skip
    ax.locator_params(axis="x", integer=True)
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
    images = np.asarray(images)
    if images.ndim not in (3, 4):
        raise ValueError(
            "images must be of shape (n_samples, height, width) or (n_samples, height, width, 3), "
            f"got {images.shape}"
        )
    labels = _one_each("labels", labels, len(images))
    confidence = _one_each("confidence", confidence, len(images))
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

    x, clean = structure.samples_[sample], structure.corrected([sample])[0]
    (_, corrected, error), missed = _recovered(x, clean, image_shape)
    results = [_Tile(corrected, "corrected"), _Tile(error, f"error {missed}".strip())]
    ax = _axes(ax, (1.1 * (len(tiles) + 2) + 1, 2.1))
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
    ax = _axes(ax, (1.1 * len(tiles) + 1, 2.1))
    _draw_strip(ax, [tiles[:1], tiles[1:]])
    found = _others("other hyperedge", most, order, sample, labels)
    ax.set_title(f"Sample {sample} is in {found}", fontsize="medium")
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
        Which coefficients; by default all that are ever used. The ten that grow largest are named.
    ax : Axes, optional
        Where to draw.
    """
    Z = path.coefficients
    shown = np.unique(Z.indices) if atoms is None else _rows("atoms", atoms, Z.shape[1])
    values = Z[:, shown].toarray()
    named = np.argsort(-np.abs(values).max(axis=0), kind="stable")[:_MOST_LINES]
    ax = _axes(ax, (6, 4))
    ax.axhline(0, color=_COLORS[8], lw=0.8)
    ax.plot(path.fraction, np.delete(values, named, axis=1), color="#c8ccd0", lw=0.8)
    for color, at in zip(_COLORS, np.sort(named), strict=False):
        ax.plot(path.fraction, values[:, at], color=color, lw=1.4, label=str(shown[at]))
    if len(shown):
        ax.legend(title="sample", fontsize="small", loc="upper left", bbox_to_anchor=(1, 1.02))
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
    coefficients: sparse.sparray | ArrayLike,
    labels: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """|Z| as a picture, the darker the larger; every row in parts of its largest entry.

    Parameters
    ----------
    coefficients : array or sparse array of shape (n_samples, n_samples)
        For example `ElasticNetHypergraph.representation_.coefficients`.
    labels : array of shape (n_samples,), optional
        Samples are ordered by them.
    ax : Axes, optional
        Where to draw.
    """
    Z = abs(sparse.csr_array(coefficients))
    largest = Z.max(axis=1).toarray().ravel()
    Z = sparse.diags_array(1 / np.where(largest > 0, largest, 1)) @ Z
    if labels is not None:
        for size in Z.shape:
            labels = _one_each("labels", labels, size)
    ax = _axes(ax, (5.5, 5.5))
    if labels is None:
        _draw_matrix(ax, Z)
    else:
        kinds, codes = np.unique(labels, return_inverse=True)
        _draw_blocks(ax, Z, kinds, codes, codes)
    ax.set(title="Coefficients", xlabel="rebuilding sample", ylabel="sample")
    return ax


def plot_incidence(
    hypergraph: Hypergraph, labels: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """The incidence matrix H, the darker the larger the membership; a tenth of them are black.

    Parameters
    ----------
    hypergraph : Hypergraph
        For example `ElasticNetHypergraph.graph_`.
    labels : array of shape (n_vertices,), optional
        Vertices are ordered by them, and hyperedges by the label that has most of each: outside
        of the blocks on the diagonal are members of another label.
    ax : Axes, optional
        Where to draw.
    """
    if not isinstance(hypergraph, Hypergraph):
        raise ValueError(f"hypergraph must be a Hypergraph, got a {type(hypergraph).__name__}")
    H = hypergraph.incidence
    if labels is not None:
        labels = _one_each("labels", labels, hypergraph.n_vertices)
    ax = _axes(ax, (5.5, 5.5))
    if labels is None:
        _draw_matrix(ax, H)
    else:
        kinds, codes = np.unique(labels, return_inverse=True)
        one_hot = sparse.csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))))
        owners = np.asarray((one_hot @ H).argmax(axis=0)).ravel()
        _draw_blocks(ax, H, kinds, codes, owners)
    ax.images[-1].set_clim(0, np.quantile(H.data, _BLACK))
    ax.set(title="Incidence", xlabel="hyperedge", ylabel="vertex")
    return ax


def plot_recovery(
    found: ElasticNetHypergraph | Representation,
    samples: ArrayLike,
    image_shape: tuple[int, ...],
    *,
    ax: Axes | None = None,
) -> Axes:
    """Samples, what others make of them, and the error between: a column of three images each.

    The error is violet where the sample is brighter and brown where it is darker; its full colour
    is half of the sample's range.

    Parameters
    ----------
    found : ElasticNetHypergraph or Representation
        Of a fitted structure, samples are shown as they were given to `fit`; of a
        representation, as it has them, normalised.
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
    rows = _rows("samples", samples, len(X))
    _require_shape(image_shape, X.shape[1])
    corrected = found.clean[rows] if isinstance(found, Representation) else found.corrected(rows)
    height, width = image_shape[:2]
    gap = max(1, round(0.1 * width))
    sheet = np.ones((3, height + gap, len(rows), width + gap, 3))
    names = []
    for at, row in enumerate(rows):
        sheet[:, :height, at, :width], missed = _recovered(X[row], corrected[at], image_shape)
        names.append(f"{row}\n{missed}")
    sheet = sheet.reshape(3 * (height + gap), -1, 3)[:-gap, :-gap]
    ax = _axes(ax, (1.1 * len(rows) + 1, 3.6))
    ax.imshow(sheet, interpolation="nearest")
    ax.set_xticks((width + gap) * np.arange(len(rows)) + (width - 1) / 2, names, fontsize="small")
    ax.set_yticks(
        (height + gap) * np.arange(3) + (height - 1) / 2, ["original", "corrected", "error"]
    )
    ax.set_xlabel("sample (‖error‖ / ‖sample‖)")
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

    figure, axes = new_figure(5, 1, (9, 9.6))
    by_error = np.argsort(np.linalg.norm(structure.representation_.errors, axis=1))
    from_best_to_worst = by_error[np.linspace(0, len(by_error) - 1, len(axes)).astype(int)]
    for ax, sample in zip(axes, from_best_to_worst, strict=True):
        plot_hyperedge(structure, sample, images.shape[1:], clusters.labels_, ax=ax)
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


def _recovered(x: NDArray, clean: NDArray, image_shape: tuple[int, ...]) -> tuple[NDArray, str]:
    """A sample, what others make of it and the error as pictures, and ‖error‖ / ‖sample‖."""
    low, high, length = float(x.min()), float(x.max()), float(np.linalg.norm(x))
    both = _rgb(np.stack([x, clean]).reshape(2, *image_shape), low, high)
    error = _signed_rgb((x - clean).reshape(image_shape), (high - low) / 2)
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
        marks = _one_each("labels", labels, len(X))
        below = [f"{row}\nlabel {marks[row]}" for row in rows]
        framed = [bool(marks[row] != marks[sample]) for row in rows]
    pictures = [
        _rgb(X[row].reshape(1, *image_shape), float(X[row].min()), float(X[row].max()))[0]
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
            color = _COLORS[2] if tile.framed else "black"
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


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _others(noun: str, shown: int, others: NDArray, sample: int, labels: ArrayLike | None) -> str:
    """How many others there are, how many of them are shown, and of another label."""
    text = _counted(len(others), noun)
    if labels is not None:
        foreign = int((np.asarray(labels)[others] != np.asarray(labels)[sample]).sum())
        text += f", {foreign} of another label"
    return text + (f" (the first {shown} shown)" if shown < len(others) else "")


def _draw_matrix(ax: Axes, matrix: sparse.csr_array) -> None:
    """The matrix in few enough cells, each of the gray of its largest entry."""
    entries = matrix.tocoo()
    cells = np.minimum(matrix.shape, _MOST_CELLS)
    picture = np.zeros(cells)
    row, column = (
        at * most // size
        for at, most, size in zip(entries.coords, cells, matrix.shape, strict=True)
    )
    np.maximum.at(picture, (row, column), entries.data)
    height, width = matrix.shape
    ax.imshow(
        picture, cmap="Greys", vmin=0, vmax=1,
        extent=(-0.5, width - 0.5, height - 0.5, -0.5),
    )  # fmt: skip


def _draw_blocks(
    ax: Axes, matrix: sparse.csr_array, kinds: NDArray, rows: NDArray, columns: NDArray
) -> None:
    """The matrix, rows and columns ordered by their codes, with the names of these."""
    by_rows, by_columns = (np.argsort(codes, kind="stable") for codes in (rows, columns))
    _draw_matrix(ax, matrix[by_rows][:, by_columns])
    for axis, line, codes in ((ax.yaxis, ax.axhline, rows), (ax.xaxis, ax.axvline, columns)):
        present, sizes = np.unique(codes, return_counts=True)
        ends = np.cumsum(sizes)
        for end in ends[:-1]:
            line(end - 0.5, color=_COLORS[0], lw=0.8, alpha=0.4)
        named = len(present) <= _MOST_NAMED
        axis.set_ticks(ends - (sizes + 1) / 2 if named else [], kinds[present] if named else [])
    if len(kinds) > _MOST_WRITTEN:
        ax.tick_params(labelsize="x-small")
        ax.tick_params(axis="x", rotation=90)


def _one_each(name: str, values: ArrayLike, count: int) -> NDArray:
    """The values as an array, one a sample."""
    found = np.asarray(values)
    if found.shape != (count,):
        raise ValueError(
            f"{name} must have an entry for each of {count} samples, got shape {found.shape}"
        )
    return found


def _rows(name: str, rows: ArrayLike, count: int) -> NDArray:
    """The rows as an array, if they are rows of a matrix that has `count`."""
    found = np.atleast_1d(rows)
    whole = found.ndim == 1 and found.size > 0 and found.dtype.kind in "iu"
    if not whole or found.min() < 0 or found.max() >= count:
        raise ValueError(f"{name} must be whole numbers from 0 to {count - 1}, got {rows!r}")
    return found


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
    _rows("sample", sample, len(structure.samples_))
    _require_shape(image_shape, structure.n_features_in_)


def _rgb(images: NDArray, low: float, high: float) -> NDArray:
    """Images (n, height, width) or (n, height, width, 3) in colours from 0 (low) to 1 (high)."""
    scaled = np.clip((images - low) / (high - low if high > low else 1.0), 0, 1)
    return np.repeat(scaled[..., None], 3, axis=3) if scaled.ndim == 3 else scaled


def _signed_rgb(image: NDArray, span: float) -> NDArray:
    """An image of positive and negative values in colours: white at 0, the ends at ±span."""
    from matplotlib import colormaps

    flat = image.reshape(*image.shape[:2], -1).mean(axis=2)
    return colormaps["PuOr"](0.5 + 0.5 * flat / (span if span > 0 else 1.0))[..., :3]
