"""Plots of points, bars and lines: embedding, eigenvalues, coefficients, scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from enhg._validation import check_samples, real_array, real_vector
from enhg.exceptions import InputError
from enhg.learning.cluster_count import ClusterCount
from enhg.plotting._drawing import (
    COLORS,
    MARKERS,
    check_one_per_sample,
    check_rows,
    coded,
    counted,
    given_or_new,
    outline,
)
from enhg.representation.path import ElasticNetPath

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_LINES = 10  # lines of a path with a color and a name


def plot_embedding(
    embedding: ArrayLike, labels: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Samples as points, in the plane of the two main directions of the embedding.

    Parameters
    ----------
    embedding : array of shape (n_samples, n_dimensions)
        For example `HypergraphClustering.embedding_`.
    labels : array of shape (n_samples,), optional
        Determine colors and markers; each is written at the median of its samples.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from enhg import HypergraphClustering
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> model = HypergraphClustering(3, random_state=0).fit(X)
    >>> ax = plot_embedding(model.embedding_, model.labels_)
    """
    points, share = _main_plane(check_samples(embedding, name="embedding").astype(float))
    labels = (
        np.full(len(points), "")
        if labels is None
        else check_one_per_sample("labels", labels, len(points))
    )
    ax = given_or_new(ax, (6, 6))
    kinds, codes = coded(labels)
    for at in range(len(kinds)):
        turn, color = divmod(at, len(COLORS))
        across, up = points[codes == at].T
        ax.scatter(
            across,
            up,
            s=14,
            marker=MARKERS[turn % len(MARKERS)],
            color=COLORS[color],
            alpha=0.7,
            linewidths=0,
        )
    for at, kind in enumerate(kinds):
        across, up = np.median(points[codes == at], axis=0)
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
    """The largest eigenvalues of Θ in decreasing order.

    Parameters
    ----------
    eigenvalues : array
        For example `HypergraphClustering.spectrum_.eigenvalues`.
    n_clusters : int, optional
        A line is drawn after this many eigenvalues.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from enhg import HypergraphClustering
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> model = HypergraphClustering(3, random_state=0).fit(X)
    >>> ax = plot_spectrum(model.spectrum_.eigenvalues, model.n_clusters_)
    """
    values = real_vector(eigenvalues, "eigenvalues").astype(float)
    ax = given_or_new(ax, (6, 4))
    ax.plot(np.arange(1, len(values) + 1), values, "o-", color=COLORS[0], ms=4, lw=1)
    if n_clusters is not None:
        ax.axvline(n_clusters + 0.5, color=COLORS[8], ls="--", lw=1)
        inwards = "left" if n_clusters < len(values) / 2 else "right"
        ax.annotate(
            f" {counted(n_clusters, 'cluster')} ", (n_clusters + 0.5, 0.97),
            xycoords=("data", "axes fraction"), va="top", ha=inwards, color=COLORS[8],
        )  # fmt: skip
    ax.set(
        title="Spectrum of the hypergraph",
        xlabel="number of the eigenvalue",
        ylabel="eigenvalue of Θ",
    )
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_cluster_count(count: ClusterCount, *, ax: Axes | None = None) -> Axes:
    """The score of every number of clusters, the estimate and the runner-up in color.

    Parameters
    ----------
    count : ClusterCount
        For example `HypergraphClustering.cluster_count_`, with ``n_clusters="auto"``.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> from enhg import GaussianGraph, count_clusters
    >>> X = [[1, 0], [1.1, 0], [1, 0.1], [1.1, 0.1], [0, 5], [0, 5.1], [0.1, 5], [0.1, 5.1]]
    >>> graph = GaussianGraph(bandwidth=0.1, preprocessing="none").fit(X).graph_
    >>> ax = plot_cluster_count(count_clusters(graph, random_state=0))
    """
    if not isinstance(count, ClusterCount):
        raise InputError(
            f"count must be a ClusterCount, got {count!r}; a clustering has one with "
            'n_clusters="auto"',
            parameter="count",
        )
    ax = given_or_new(ax, (6, 4))
    ax.bar(np.arange(1, len(count.scores) + 1), count.scores, color="#d0d4d8")
    named = {"estimate": (count.n_clusters, COLORS[0]), "runner-up": (count.runner_up, COLORS[1])}
    if count.n_clusters == count.runner_up:  # no other number was scored
        del named["runner-up"]
    for name, (k, color) in named.items():
        ax.bar(k, count.scores[k - 1 : k], color=color, label=f"{name}: {k}")
    ax.legend(frameon=False)
    title = counted(count.n_clusters, "cluster")
    ax.set(
        title=title if count.reliable else f"{title} (not reliable)", xlabel="number of clusters",
        ylabel="score",
    )  # fmt: skip
    ax.locator_params(axis="x", integer=True)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_path(
    path: ElasticNetPath,
    atoms: ArrayLike | None = None,
    *,
    names: ArrayLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Coefficients along a solution path, against s = ‖z‖₁ / max ‖z‖₁.

    Parameters
    ----------
    path : ElasticNetPath
        Result of `elastic_net_path`.
    atoms : array of int, optional
        Atoms whose coefficients are drawn; by default all that are non-zero anywhere on the path.
        The ten with the largest coefficients have a color and a name.
    names : array of shape (n_atoms,), optional
        Names of all atoms for the legend; by default their numbers, from 0.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from enhg import elastic_net_path
    >>> from enhg.preprocessing import SampleNormalizer
    >>> X = SampleNormalizer().fit_transform(load_digits().data[:100])
    >>> ax = plot_path(elastic_net_path(X, 3, ridge=0.5))
    """
    Z = path.coefficients
    shown = np.unique(Z.indices) if atoms is None else check_rows("atoms", atoms, Z.shape[1])
    texts = (
        np.arange(Z.shape[1]) if names is None else check_one_per_sample("names", names, Z.shape[1])
    )
    values = Z[:, shown].toarray()
    named = np.argsort(-np.abs(values).max(axis=0), kind="stable")[:_MOST_LINES]
    ax = given_or_new(ax, (6, 4))
    ax.axhline(0, color=COLORS[8], lw=0.8)
    ax.plot(path.fraction, np.delete(values, named, axis=1), color="#c8ccd0", lw=0.8)
    for color, at in zip(COLORS, np.sort(named), strict=False):
        ax.plot(path.fraction, values[:, at], color=color, lw=1.4, label=str(texts[shown[at]]))
    if len(shown):
        ax.legend(title="atom", fontsize="small", loc="upper left", bbox_to_anchor=(1, 1.02))
    ax.set(
        title=f"Path of sample {path.index}, ridge {path.ridge:g}", xlabel="s = ‖z‖₁ / max ‖z‖₁",
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
    """The coefficients of one sample as vertical lines over the atoms.

    Parameters
    ----------
    coefficients : array of shape (n_atoms,)
    threshold : float, optional
        Drawn at ±threshold.
    group : slice, optional
        Atoms with a darker background, for example those of the sample's own class.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> ax = plot_coefficients([0, 0.5, 0.1, 0, -0.2], threshold=0.15, group=slice(1, 3))
    """
    z = real_vector(coefficients, "coefficients").astype(float)
    ax = given_or_new(ax, (8, 2.6))
    if group is not None:
        ax.axvspan(group.start - 0.5, group.stop - 0.5, color="#eeeeee", lw=0)
    ax.vlines(np.flatnonzero(z), 0, z[z != 0], color=COLORS[0], lw=1)
    ax.axhline(0, color=COLORS[8], lw=0.8)
    if threshold is not None:
        for side in (-threshold, threshold):
            ax.axhline(side, color=COLORS[2], lw=0.9, ls="--")
    ax.set(xlabel="atom", ylabel="coefficient", xlim=(-0.5, len(z) - 0.5))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_comparison(
    curves: Mapping[str, Sequence[tuple[str, float]]],
    main: str,
    ylabel: str,
    *,
    legend: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """Scores of several methods over a few cases.

    Parameters
    ----------
    curves : mapping of str to sequence of (str, float)
        Cases and scores of every method.
    main : str
        The method with a heavy line; those whose names begin with it are dashed.
    ylabel : str
    legend : bool, default=True
        Draw a legend to the right of the axes.
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> curves = {"a": [("digits", 0.95), ("USPS", 0.9)], "b": [("digits", 0.8), ("USPS", 0.6)]}
    >>> ax = plot_comparison(curves, main="a", ylabel="AC")
    """
    ax = given_or_new(ax, (6, 4.4))
    for at, (name, points) in enumerate(curves.items()):
        across, up = zip(*points, strict=True) if points else ((), ())
        related = name.startswith(main)
        ax.plot(
            across, up, marker=MARKERS[at % len(MARKERS)], ms=5, label=name,
            color="black" if related else COLORS[at % 10], lw=2.2 if related else 1.2,
            ls="--" if related and name != main else "-",
        )  # fmt: skip
    ax.set(ylabel=ylabel)
    ax.grid(axis="y", color="#e3e3e3")
    ax.set_axisbelow(True)
    if legend:
        ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def plot_curves(
    curves: Mapping[str, tuple[ArrayLike, ArrayLike]],
    xlabel: str,
    ylabel: str,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Scores against a parameter, on a logarithmic scale that includes zero.

    Parameters
    ----------
    curves : mapping of str to (array, array)
        Values of the parameter and scores, one line per name.
    xlabel, ylabel : str
    ax : Axes, optional
        Axes to draw on; by default those of a new figure.

    Examples
    --------
    >>> curves = {"γ = 10": ([0, 1, 10], [0.94, 0.95, 0.95])}
    >>> ax = plot_curves(curves, xlabel="λ", ylabel="AC")
    """
    lines = {
        name: (real_array(across, "curves"), real_array(up, "curves"))
        for name, (across, up) in curves.items()
    }
    for name, (across, up) in lines.items():
        if across.ndim != 1 or across.shape != up.shape:
            raise InputError(
                "curves must hold a score for each value of the parameter, got shapes "
                f"{across.shape} and {up.shape} for {name!r}",
                parameter="curves",
            )
    positive = [float(x) for across, _ in lines.values() for x in across if x > 0]
    if not positive:
        raise InputError(
            "curves must have a positive value of the parameter, got none", parameter="curves"
        )
    ax = given_or_new(ax, (6, 4))
    for at, (name, (across, up)) in enumerate(lines.items()):
        ax.plot(
            across,
            up,
            marker=MARKERS[at % len(MARKERS)],
            color=COLORS[at % 10],
            ms=5,
            label=name,
        )
    ax.set_xscale("symlog", linthresh=min(positive))
    ax.set(xlabel=xlabel, ylabel=ylabel)
    ax.grid(color="#e3e3e3")
    ax.set_axisbelow(True)
    ax.legend(frameon=False)
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _main_plane(points: NDArray) -> tuple[NDArray, NDArray]:
    """Coordinates in the two main directions, and the share of the variance of each."""
    left, lengths, _ = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    count = min(2, len(lengths))
    plane, share = np.zeros((len(points), 2)), np.zeros(2)
    plane[:, :count] = left[:, :count] * lengths[:count]
    share[:count] = lengths[:count] ** 2 / max((lengths**2).sum(), np.finfo(float).tiny)
    return plane, share


def _write(ax: Axes, across: float, up: float, text: str) -> None:
    """Write text that is legible on top of points."""
    halo = outline("white", 3)
    ax.text(across, up, text, ha="center", va="center", weight="bold", path_effects=halo)
