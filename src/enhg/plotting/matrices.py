"""Plots of matrices: coefficients, incidence, confusion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import confusion_matrix
from sklearn.metrics.cluster import contingency_matrix

from enhg._label_arrays import complete_labels, require_comparable
from enhg._validation import real_csr
from enhg.exceptions import InputError
from enhg.hypergraph import Hypergraph
from enhg.plotting._drawing import COLORS, check_one_per_sample, coded, given_or_new

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_WRITTEN = 20  # classes up to which counts are written into the cells
_MOST_NAMED = 50  # classes up to which every class has a tick
_MOST_CELLS = 400  # per side of the picture of a matrix
_BLACK = 0.9  # quantile drawn black: a centroid has about ten times the membership of the others


def plot_coefficient_matrix(
    coefficients: sparse.sparray | ArrayLike,
    labels: ArrayLike | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """|Z| as a picture, the darker the larger; every row is divided by its largest entry.

    Parameters
    ----------
    coefficients : array or sparse array of shape (n_samples, n_samples)
        For example `ElasticNetHypergraph.representation_.coefficients`.
    labels : array of shape (n_samples,), optional
        Rows and columns are sorted by them.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from enhg import ElasticNetHypergraph
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> structure = ElasticNetHypergraph().fit(X)
    >>> ax = plot_coefficient_matrix(structure.representation_.coefficients, y)
    """
    Z = abs(real_csr(coefficients, "coefficients"))
    largest = Z.max(axis=1).toarray().ravel()
    Z = sparse.diags_array(1 / np.where(largest > 0, largest, 1)) @ Z
    if labels is not None:
        for size in Z.shape:
            labels = check_one_per_sample("labels", labels, size)
    ax = given_or_new(ax, (5.5, 5.5))
    if labels is None:
        _draw_matrix(ax, Z)
    else:
        kinds, codes = coded(labels)
        _draw_blocks(ax, Z, kinds, codes, codes)
    ax.set(title="Coefficients", xlabel="atom", ylabel="sample")
    return ax


def plot_incidence(
    hypergraph: Hypergraph, labels: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """The incidence matrix H, the darker the larger the membership; a tenth of them is black.

    Parameters
    ----------
    hypergraph : Hypergraph
        For example `ElasticNetHypergraph.graph_`.
    labels : array of shape (n_vertices,), optional
        Vertices are sorted by them, and hyperedges by the label with the largest total
        membership: members of another label lie outside the diagonal blocks.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> from enhg import Hypergraph
    >>> hypergraph = Hypergraph.from_edges([[0, 1, 2], [3, 4, 5], [2, 3]])
    >>> ax = plot_incidence(hypergraph, labels=[0, 0, 0, 1, 1, 1])
    """
    if not isinstance(hypergraph, Hypergraph):
        raise InputError(
            f"hypergraph must be a Hypergraph, got a {type(hypergraph).__name__}",
            parameter="hypergraph",
        )
    H = hypergraph.incidence
    if labels is not None:
        labels = check_one_per_sample("labels", labels, hypergraph.n_vertices)
    ax = given_or_new(ax, (5.5, 5.5))
    if labels is None:
        _draw_matrix(ax, H)
    else:
        kinds, codes = coded(labels)
        one_hot = sparse.csr_array((np.ones(len(codes)), (codes, np.arange(len(codes)))))
        owners = np.asarray((one_hot @ H).argmax(axis=0)).ravel()
        _draw_blocks(ax, H, kinds, codes, owners)
    ax.images[-1].set_clim(0, np.quantile(H.data, _BLACK))
    ax.set(title="Incidence", xlabel="hyperedge", ylabel="vertex")
    return ax


def plot_confusion(
    labels_true: ArrayLike,
    labels_pred: ArrayLike,
    *,
    match: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Number of samples of each true class (row) with each predicted label (column).

    Parameters
    ----------
    labels_true, labels_pred : arrays of shape (n_samples,)
    match : bool, default=False
        The predicted labels are clusters: each column is placed under the class that it matches
        best, one to one; clusters and classes without a partner come last.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> ax = plot_confusion(["a", "a", "b", "b"], [1, 1, 0, 1], match=True)
    """
    truth = complete_labels(labels_true, "labels_true")
    predicted = complete_labels(labels_pred, "labels_pred")
    if truth.ndim != 1 or truth.shape != predicted.shape or not len(truth):
        raise InputError(
            "labels_true and labels_pred must hold one label per sample, got shapes "
            f"{truth.shape} and {predicted.shape}"
        )
    try:
        if not match:
            require_comparable(truth, predicted)
        table, rows, columns = confusion(truth, predicted, match)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"labels_true and labels_pred must hold labels that can be compared, got {error}"
        ) from error
    share = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
    ax = given_or_new(ax, (6, 6))
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
    ax.set(xlabel="cluster" if match else "predicted class", ylabel="true class")
    return ax


def confusion(
    labels_true: ArrayLike, labels_pred: ArrayLike, match: bool
) -> tuple[NDArray, NDArray, NDArray]:
    """Counts of (true, predicted), and the labels of rows and columns; see `plot_confusion`."""
    classes, predicted = np.unique(labels_true), np.unique(labels_pred)
    if not match:
        both = np.union1d(classes, predicted)
        return confusion_matrix(labels_true, labels_pred, labels=both), both, both
    table = contingency_matrix(labels_true, labels_pred)
    rows, columns = linear_sum_assignment(table, maximize=True)
    rows = np.r_[rows, np.setdiff1d(np.arange(len(classes)), rows)]
    columns = np.r_[columns, np.setdiff1d(np.arange(len(predicted)), columns)]
    return table[rows][:, columns], classes[rows], predicted[columns]


def _draw_matrix(ax: Axes, matrix: sparse.csr_array) -> None:
    """Draw a matrix in at most 400×400 cells, each as dark as its largest entry."""
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
    """Draw a matrix with rows and columns sorted by their codes, with the names of the codes."""
    by_rows, by_columns = (np.argsort(codes, kind="stable") for codes in (rows, columns))
    _draw_matrix(ax, matrix[by_rows][:, by_columns])
    for axis, line, codes in ((ax.yaxis, ax.axhline, rows), (ax.xaxis, ax.axvline, columns)):
        present, sizes = np.unique(codes, return_counts=True)
        ends = np.cumsum(sizes)
        for end in ends[:-1]:
            line(end - 0.5, color=COLORS[0], lw=0.8, alpha=0.4)
        named = len(present) <= _MOST_NAMED
        axis.set_ticks(ends - (sizes + 1) / 2 if named else [], kinds[present] if named else [])
    if len(kinds) > _MOST_WRITTEN:
        ax.tick_params(labelsize="x-small")
        ax.tick_params(axis="x", rotation=90)
