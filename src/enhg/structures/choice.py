"""Preprocessing chosen from the samples, by the modularity of the hypergraphs it leads to."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from enhg._validation import check_samples, validated
from enhg.hypergraph import Hypergraph
from enhg.modularity import maximize_modularity, modularity_of_clusters
from enhg.preprocessing._arrays import evenly_spaced
from enhg.preprocessing.naming import MIN_DIRECTIONAL_FEATURES, make_preprocessing
from enhg.preprocessing.smoothing import Smoothing
from enhg.preprocessing.whitening import Whitening
from enhg.representation.solver import self_representation
from enhg.structures.hyperedges import HyperedgeRule

_CANDIDATES = ("zero_mean", "smooth", "whiten")
_MIN_SAMPLES, _MAX_SAMPLES = 100, 1500
# The sparse errors that go with whitening take the square of the number of features.
_MAX_WHITENED_FEATURES = 8192
# γₑ of whitened samples, chosen on faces (docs/defaults.md).
_WHITENED_ERROR_WEIGHT = 0.5
# Members of the hyperedges compared. With 5 the hypergraphs of whitened samples fall into small
# pieces, and whitened samples have few more than 10 coefficients.
_MEMBERS = 10
_RESTARTS = 5  # of the maximization of modularity, whose results differ a little


def choose_preprocessing(X: ArrayLike) -> str:
    """The name of the preprocessing that "auto" stands for; no labels are needed.

    Of "zero_mean", "smooth" and "whiten" it is the one whose elastic net hypergraph, of the 10
    largest coefficients, has partitions of the largest modularity (see `preprocessing_scores`).
    Samples of fewer than 16 features, whose mean and length are a large part of their information,
    are lifted ("lift"). Fewer than 100 samples, whose modularity is mostly chance, get zero mean.
    Samples of more than 8192 features are not whitened.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)

    Returns
    -------
    str

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> choose_preprocessing(load_digits().data)
    'smooth'
    """
    samples = check_samples(X)
    if samples.shape[1] < MIN_DIRECTIONAL_FEATURES:
        return "lift"
    if len(samples) < _MIN_SAMPLES:
        return "zero_mean"
    scores = preprocessing_scores(samples)
    return max(scores, key=lambda name: scores[name])


def preprocessing_scores(X: ArrayLike) -> dict[str, float]:
    """The modularity of each preprocessing that `choose_preprocessing` compares.

    The partition of the largest modularity is sought from five random starts, for any number of
    clusters. Clusters of less than half a hyperedge are left out of the sum: a hypergraph that
    falls into pieces has a large modularity and no clusters. At most 1500 samples, evenly spaced,
    are used.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)

    Returns
    -------
    dict of str to float
        In the order "zero_mean", "smooth", "whiten". "smooth" is missing if no features are
        correlated (see `Smoothing`), "whiten" if there are more than 8192 features.
    """
    samples = evenly_spaced(check_samples(X), _MAX_SAMPLES)
    scores = {}
    with validated(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those that matter are issued by the fit that follows
        for name in _CANDIDATES:
            if name == "whiten" and samples.shape[1] > _MAX_WHITENED_FEATURES:
                continue
            transformer = make_preprocessing(name, samples)
            if not (isinstance(transformer, Smoothing) and transformer.n_steps_ == 0):
                scores[name] = _largest_modularity(_hypergraph(transformer, samples))
    return scores


def sparse_error_weight(transformer: Any) -> float | None:
    """γₑ that goes with a preprocessing: 0.5 for `Whitening`, which amplifies errors, else None."""
    return _WHITENED_ERROR_WEIGHT if isinstance(transformer, Whitening) else None


def _hypergraph(transformer: Any, samples: NDArray) -> Hypergraph:
    representation = self_representation(
        transformer.transform(samples), error_weight=sparse_error_weight(transformer)
    )
    return HyperedgeRule("top", _MEMBERS).build(representation.coefficients)


def _largest_modularity(hypergraph: Hypergraph) -> float:
    """The largest modularity found, summed over clusters of at least half a hyperedge."""
    best, largest = 0.0, -np.inf
    for seed in range(_RESTARTS):
        labels = maximize_modularity(hypergraph, random_state=seed)
        summands = modularity_of_clusters(hypergraph, labels)
        if summands.sum() > largest:
            largest = float(summands.sum())
            best = float(summands[np.bincount(labels) > (_MEMBERS + 1) / 2].sum())
    return best
