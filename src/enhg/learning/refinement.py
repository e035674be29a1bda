"""Clusters refined by linear discriminants (an extension)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from enhg._protocol import GraphLike
from enhg.learning.diffusion import diffuse
from enhg.learning.discriminants import discriminant_features, fit_discriminants

# The most confident part of every cluster, to which discriminants are fitted.
_CONFIDENT = 0.8
# α of the diffusion of distributions: a sample's own has a share of about 1 − α. With 0.98, small
# clusters dissolve in large ones.
_ALPHA = 0.9
_HELD_OUT_ALPHA = 0.98  # as in classification
_TOL = 1e-4


def refine(
    graph: GraphLike,
    samples: NDArray,
    labels: NDArray,
    n_clusters: int,
    rng: np.random.RandomState,
) -> NDArray | None:
    """Refine a partition by linear discriminants, if they predict its clusters well.

    Discriminants fitted to half of every cluster, and diffusion of the labels of that half, predict
    the clusters of the other half. If the discriminants make no more errors, they are fitted to the
    most confident 80 % of every cluster, and their distributions over the clusters are diffused
    over the graph. Where clusters are linearly separable, as in embeddings of neural networks, this
    moves samples on the boundaries of clusters to the cluster they belong to; elsewhere the first
    condition does not hold.

    Parameters
    ----------
    graph : Hypergraph or Graph
    samples : ndarray of shape (n_vertices, n_features)
    labels : ndarray of int of shape (n_vertices,)
    n_clusters : int
    rng : RandomState
        Draws the halves.

    Returns
    -------
    ndarray of int of shape (n_vertices,), or None
        The refined labels; None if the discriminants make more errors, or leave a cluster empty.
    """
    features = discriminant_features(samples)
    if _held_out_advantage(graph, features, labels, n_clusters, rng) < 0:
        return None
    confident = _confident(graph, labels, n_clusters)
    model = fit_discriminants(features[confident], labels[confident], n_clusters)
    distributions = diffuse(graph.theta, model.probabilities(features), _ALPHA, tol=_TOL)
    refined = distributions.argmax(axis=1)
    return refined if len(np.unique(refined)) == len(np.unique(labels)) else None


def _held_out_advantage(
    graph: GraphLike,
    features: NDArray,
    labels: NDArray,
    n_clusters: int,
    rng: np.random.RandomState,
) -> int:
    """The errors of diffusion less those of discriminants on held-out halves of the clusters."""
    first = _halves(labels, rng)
    advantage = 0
    for given in (first, ~first):
        indicator = _indicator(np.where(given, labels, -1), n_clusters)
        diffused = np.maximum(diffuse(graph.theta, indicator, _HELD_OUT_ALPHA, tol=_TOL), 0)
        sums = diffused.sum(axis=0)
        diffused /= np.where(sums > 0, sums, 1)
        model = fit_discriminants(features[given], labels[given], n_clusters)
        by_diffusion = (diffused[~given].argmax(axis=1) != labels[~given]).sum()
        probabilities = model.probabilities(features[~given])
        by_discriminants = (probabilities.argmax(axis=1) != labels[~given]).sum()
        advantage += int(by_diffusion) - int(by_discriminants)
    return advantage


def _halves(labels: NDArray, rng: np.random.RandomState) -> NDArray[np.bool_]:
    """A mask of half of the samples of every cluster, drawn at random."""
    order = rng.permutation(len(labels))
    order = order[np.argsort(labels[order], kind="stable")]
    mask = np.zeros(len(labels), bool)
    mask[order[::2]] = True
    return mask


def _confident(graph: GraphLike, labels: NDArray, n_clusters: int) -> NDArray[np.intp]:
    """The most confident part of every cluster, by diffusion of all labels."""
    diffused = diffuse(graph.theta, _indicator(labels, n_clusters), _ALPHA, tol=_TOL)
    confidence = diffused[np.arange(len(labels)), labels] / diffused.sum(axis=1)
    order = np.lexsort((-confidence, labels))
    sizes = np.bincount(labels, minlength=n_clusters)
    rank = np.arange(len(labels)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.sort(order[rank < np.ceil(_CONFIDENT * np.repeat(sizes, sizes))])


def _indicator(labels: NDArray, n_clusters: int) -> NDArray:
    """One column per cluster, 1 for its samples; rows of zeros for the label −1."""
    indicator = np.zeros((len(labels), n_clusters))
    given = np.flatnonzero(labels >= 0)
    indicator[given, labels[given]] = 1
    return indicator
