"""Clusters refined by linear discriminants (an extension)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from enhg._protocol import GraphLike
from enhg.learning.diffusion import ROUGH_TOL, diffuse
from enhg.learning.discriminants import (
    SHORT_ALPHA,
    discriminant_features,
    linked_only,
    out_of_fold_probabilities,
)
from enhg.modularity import modularity

# Relative loss of modularity that is allowed, divided by the share of the samples that move. Moves
# to random clusters lose about 2.
_MAX_LOSS = 0.18


def refine(
    graph: GraphLike,
    samples: NDArray,
    labels: NDArray,
    n_clusters: int,
    rng: np.random.RandomState,
) -> NDArray | None:
    """Refine a partition by linear discriminants, if this costs little modularity.

    Discriminants fitted to two thirds of every cluster give the others distributions over the
    clusters that they are linked to (see `linked_only`), and so on in turn. These distributions are
    diffused over the graph, and every sample moves to the cluster of its largest entry; a cluster
    that would lose all its samples keeps them. The refined partition is kept if it lowers the
    modularity Q by at most 0.18 Q·p, where p is the share of the samples that moved. Moving a small
    share p to random clusters lowers Q by about 2Q·p; samples whose moves cost much less lie on the
    boundaries of clusters, where the graph says little.

    Parameters
    ----------
    graph : Hypergraph or Graph
    samples : ndarray of shape (n_vertices, n_features)
    labels : ndarray of int of shape (n_vertices,)
    n_clusters : int
    rng : RandomState
        Draws the thirds.

    Returns
    -------
    ndarray of int of shape (n_vertices,), or None
        The refined labels; None if no sample moves or they cost too much modularity.
    """
    features = discriminant_features(samples)
    P = out_of_fold_probabilities(features, labels, n_clusters, rng)
    P = linked_only(graph, P, labels)
    diffused = diffuse(graph.theta, P, SHORT_ALPHA, tol=ROUGH_TOL)
    refined = _renamed(diffused.argmax(axis=1), labels, n_clusters)
    while (lost := np.bincount(refined, minlength=n_clusters)[labels] == 0).any():
        refined = np.where(lost, labels, refined)
    share = (refined != labels).mean()
    before, after = modularity(graph, labels), modularity(graph, refined)
    return refined if share > 0 and before - after <= _MAX_LOSS * share * before else None


def _renamed(refined: NDArray, labels: NDArray, n_clusters: int) -> NDArray:
    """The refined labels, with the names under which most samples keep their label."""
    table = np.zeros((n_clusters, n_clusters))
    np.add.at(table, (refined, labels), 1)
    return np.asarray(linear_sum_assignment(table, maximize=True)[1][refined])
