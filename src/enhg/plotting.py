"""Pictures of samples and results; the only room that imports matplotlib.

Every function draws on the axes it is given, or on new ones, and returns them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics.cluster import contingency_matrix

from enhg.representation.problem import Representation

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Ten colours that people with any kind of colour vision tell apart (Petroff, 2021).
_COLORS = (
    "#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6",
    "#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd",
)  # fmt: skip
_MARKERS = "osD^vP*X"
_GAP = 0.12  # between thumbnails, as a part of their width
_MOST_WRITTEN = 20  # classes up to which a count is written into every cell


def figure(rows: int = 1, columns: int = 1, *, size: tuple[float, float]) -> tuple[Figure, Any]:
    """A figure to be saved and never shown, of `size` inches, and its array of axes."""
    from matplotlib.figure import Figure

    made = Figure(figsize=size, dpi=150, layout="constrained")
    return made, made.subplots(rows, columns, squeeze=False).ravel()


def plot_embedding(
    embedding: ArrayLike, labels: ArrayLike | None = None, *, ax: Axes | None = None
) -> Axes:
    """Samples as points in the plane of the embedding's two main directions.

    Parameters
    ----------
    embedding : array of shape (n_samples, n_dimensions)
        For example `HypergraphClustering.embedding_`.
    labels : array of shape (n_samples,), optional
        Colour and marker of every sample; the label is written at the middle of its samples.
    ax : Axes, optional
    """
    points, kept = _plane(np.asarray(embedding, dtype=float))
    ax = _axes(ax, (6, 6))
    labels = np.zeros(len(points)) if labels is None else np.asarray(labels)
    kinds = np.unique(labels)
    for at, kind in enumerate(kinds):
        mine = points[labels == kind]
        marker = _MARKERS[at // len(_COLORS) % len(_MARKERS)]
        color = _COLORS[at % len(_COLORS)]
        ax.scatter(*mine.T, s=9, marker=marker, color=color, alpha=0.7, linewidths=0)
    if len(kinds) > 1:
        for kind in kinds:
            _write(ax, *np.median(points[labels == kind], axis=0), str(kind))
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(
        title="Embedding of the samples",
        xlabel=f"first principal direction ({kept[0]:.0%})",
        ylabel=f"second principal direction ({kept[1]:.0%})",
        xticks=[],
        yticks=[],
    )
    return ax


def _plane(embedding: NDArray) -> tuple[NDArray, NDArray]:
    """The rows on their two main axes, and the share of the variance that each carries."""
    centred = embedding - embedding.mean(axis=0)
    _, lengths, directions = np.linalg.svd(centred, full_matrices=False)
    if len(lengths) < 2:
        centred, lengths, directions = np.c_[centred, 0 * centred], np.r_[lengths, 0], np.eye(2)
    share = lengths**2 / max((lengths**2).sum(), np.finfo(float).tiny)
    return centred @ directions[:2].T, share[:2]
