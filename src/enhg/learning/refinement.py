"""Clusters refined by linear discriminants (an extension)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from enhg._protocol import GraphLike
from enhg.learning.diffusion import diffuse
from enhg.learning.discriminants import (
    discriminant_features,
    fit_discriminants,
    most_confident,
)
from enhg.learning.propagation import Propagation

# α of the diffusion of distributions: a sample's own has a share of about 1 − α. With 0.98, small
# clusters dissolve in large ones.
_ALPHA = 0.9
_HELD_OUT_ALPHA = 0.98  # as in classification
# Errors of the discriminants for one of diffusion. Diffusion is over the graph in which the
# partition was found, so it makes fewer errors than on true classes.
_MAX_ERROR_RATIO = 1.75
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
    the clusters of the other half. If the discriminants make at most 1.75 times the errors of
    diffusion, they are fitted to the most confident 80 % of every cluster, and their distributions
    over the clusters are diffused over the graph. A cluster that would lose all its samples keeps
    them. Where clusters are linearly separable, as in embeddings of neural networks, this moves
    samples on the boundaries of clusters to the cluster they belong to; elsewhere the discriminants
    make several times the errors.

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
        The refined labels; None if the discriminants make too many errors.
    """
    features = discriminant_features(samples)
    by_discriminants, by_diffusion = _held_out_errors(graph, features, labels, n_clusters, rng)
    if by_discriminants > _MAX_ERROR_RATIO * by_diffusion:
        return None
    confident = _confident(graph, labels, n_clusters)
    model = fit_discriminants(features[confident], labels[confident], n_clusters)
    distributions = diffuse(graph.theta, model.probabilities(features), _ALPHA, tol=_TOL)
    refined = distributions.argmax(axis=1)
    while (lost := np.bincount(refined, minlength=n_clusters)[labels] == 0).any():
        refined = np.where(lost, labels, refined)
    return np.asarray(refined)


def _held_out_errors(
    graph: GraphLike,
    features: NDArray,
    labels: NDArray,
    n_clusters: int,
    rng: np.random.RandomState,
) -> tuple[int, int]:
    """The errors of discriminants and of diffusion on held-out halves of the clusters."""
    first = _halves(labels, rng)
    by_discriminants = by_diffusion = 0
    for given in (first, ~first):
        indicator = _indicator(np.where(given, labels, -1), n_clusters)
        propagation = Propagation(graph, features, indicator, _HELD_OUT_ALPHA, "equal", _TOL)
        diffused = propagation.distributions("diffusion")
        model = fit_discriminants(features[given], labels[given], n_clusters)
        probabilities = model.probabilities(features[~given])
        by_discriminants += int((probabilities.argmax(axis=1) != labels[~given]).sum())
        by_diffusion += int((diffused[~given].argmax(axis=1) != labels[~given]).sum())
    return by_discriminants, by_diffusion


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
    return most_confident(labels, confidence)


def _indicator(labels: NDArray, n_clusters: int) -> NDArray:
    """One column per cluster, 1 for its samples; rows of zeros for the label −1."""
    indicator = np.zeros((len(labels), n_clusters))
    given = np.flatnonzero(labels >= 0)
    indicator[given, labels[given]] = 1
    return indicator
