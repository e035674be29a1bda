"""Clusters refined by linear discriminants (an extension)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from enhg._protocol import GraphLike
from enhg.learning.diffusion import diffuse
from enhg.learning.discriminants import discriminant_features, out_of_fold_probabilities
from enhg.modularity import modularity

_FOLDS = 5
# α of the diffusion of class probabilities: a sample's own have a share of about 1 − α. With 0.98,
# small clusters dissolve in large ones.
_ALPHA = 0.9
_TOL = 1e-4
# Modularity that the moves may cost, for each share of the samples that they move. Moves at random
# cost nearly 2.
_MAX_LOSS = 0.15


def refine(
    graph: GraphLike,
    samples: NDArray,
    labels: NDArray,
    n_clusters: int,
    rng: np.random.RandomState,
) -> NDArray | None:
    """Refine a partition by linear discriminants, if the graph hardly opposes.

    Discriminants fitted to four fifths of every cluster give the others distributions over the
    clusters, and so on in turn. These distributions are diffused over the graph, and every sample
    moves to the cluster of its largest entry; a cluster that would lose all its samples keeps them.
    The moves are made if they lower the modularity by at most 0.15 times the share of the samples
    that move, less than a tenth of what moves at random cost: samples on the boundaries of
    clusters, on which the graph has little to say. Where clusters are not linearly separable, the
    discriminants move samples that the graph holds, and the partition stays as it is.

    Parameters
    ----------
    graph : Hypergraph or Graph
    samples : ndarray of shape (n_vertices, n_features)
    labels : ndarray of int of shape (n_vertices,)
    n_clusters : int
    rng : RandomState
        Draws the fifths.

    Returns
    -------
    ndarray of int of shape (n_vertices,), or None
        The refined labels; None if they cost too much modularity.
    """
    features = discriminant_features(samples)
    P = out_of_fold_probabilities(features, labels, n_clusters, rng, n_folds=_FOLDS)
    refined = diffuse(graph.theta, P, _ALPHA, tol=_TOL).argmax(axis=1)
    while (lost := np.bincount(refined, minlength=n_clusters)[labels] == 0).any():
        refined = np.where(lost, labels, refined)
    loss = modularity(graph, labels) - modularity(graph, refined)
    return refined if loss <= _MAX_LOSS * (refined != labels).mean() else None
