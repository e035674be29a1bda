"""Preprocessing chosen from the samples, by the modularity of the hypergraphs it leads to."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from enhg._validation import check_samples, validated
from enhg.hypergraph import Hypergraph
from enhg.modularity import maximize_modularity, modularity_of_clusters
from enhg.preprocessing._arrays import evenly_spaced
from enhg.preprocessing.naming import MIN_DIRECTIONAL_FEATURES, make_preprocessing
from enhg.preprocessing.smoothing import Smoothing
from enhg.preprocessing.whitening import Whitening
from enhg.representation.solver import self_representation
from enhg.structures.hyperedges import HyperedgeRule

__all__ = ["choose_preprocessing", "preprocessing_scores"]

_CANDIDATES = ("zero_mean", "smooth", "whiten")
_MIN_SAMPLES, _MAX_SAMPLES = 100, 1500
# The sparse errors that go with whitening may take the square of the number of features.
_MAX_WHITENED_FEATURES = 8192
# γₑ of whitened samples, chosen on faces; varied in docs/quality.md.
_WHITENED_ERROR_WEIGHT = 0.5
# Members of the hyperedges compared. With 5 the hypergraphs of whitened samples fall into small
# pieces, and whitened samples have few more than 10 coefficients.
_MEMBERS = 10
_STARTS = 5  # of the maximization of modularity
# Samples whose errors are counted before all are whitened: where most features have an error, as of
# embeddings of networks, errors are not sparse.
_PROBED = 3


def choose_preprocessing(X: ArrayLike) -> str:
    """The name of the preprocessing that "auto" stands for; no labels are needed.

    Of "zero_mean", "smooth" and "whiten" it is the one whose elastic net hypergraph, of the 10
    largest coefficients, has the largest modularity, adjusted for chance (see
    `preprocessing_scores`).
    Samples of fewer than 16 features, whose mean and length are a large part of their information,
    are lifted ("lift"). Fewer than 100 samples, whose modularity is mostly chance, get zero mean.
    Samples of more than 8192 features are not whitened, nor those whose errors would not be sparse.

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
    return max(scores, key=scores.__getitem__)


def preprocessing_scores(X: ArrayLike) -> dict[str, float]:
    """The adjusted modularity of each preprocessing that `choose_preprocessing` compares.

        (Q − Q₀) / (1 − Q₀)

    Q is the modularity of the best partition found from five random starts, for any number of
    clusters, summed over its clusters of at least half a hyperedge: smaller fragments raise the
    modularity without being clusters. Q₀ is the same after the members of all hyperedges, except
    the centroids, are shuffled among the hyperedges, which hardly changes their sizes and destroys
    clusters. If hyperedges have few members, as those of samples that are whitened without
    need, both Q and Q₀ are large. At most 1500 samples, evenly spaced, are used.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)

    Returns
    -------
    dict of str to float
        In the order "zero_mean", "smooth", "whiten". "smooth" is missing if no features are
        correlated (see `Smoothing`), "whiten" if there are more than 8192 features, or if more than
        half of the features of three whitened samples have an error: it is not sparse then.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> sorted(preprocessing_scores(load_digits().data[:300]))
    ['smooth', 'zero_mean']
    """
    samples = evenly_spaced(check_samples(X), _MAX_SAMPLES)
    scores = {}
    with validated(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those that matter are issued by the fit that follows
        for name in _CANDIDATES:
            if name == "whiten" and samples.shape[1] > _MAX_WHITENED_FEATURES:
                continue
            transformer = make_preprocessing(name, samples)
            if isinstance(transformer, Smoothing) and transformer.n_steps_ == 0:
                continue
            # An array also where scikit-learn is set to make tables of all outputs.
            transformed = check_samples(transformer.transform(samples))
            weight = sparse_error_weight(transformer)
            if weight is None or _errors_are_sparse(transformed, weight):
                scores[name] = _adjusted_modularity(_hypergraph(transformed, weight))
    return scores


def sparse_error_weight(transformer: Any) -> float | None:
    """γₑ that goes with a preprocessing: 0.5 for `Whitening`, which amplifies errors, else None."""
    return _WHITENED_ERROR_WEIGHT if isinstance(transformer, Whitening) else None


def _errors_are_sparse(samples: NDArray, error_weight: float) -> bool:
    """Whether at most half of the features of three samples have an error."""
    probed = evenly_spaced(np.arange(len(samples)), _PROBED)
    representation = self_representation(
        samples[probed],
        dictionary=np.delete(samples, probed, axis=0),
        error_weight=error_weight,
        scheduler="threads",
    )
    assert representation.sparse_errors is not None
    return representation.sparse_errors.nnz <= samples[probed].size / 2


def _hypergraph(samples: NDArray, error_weight: float | None) -> Hypergraph:
    representation = self_representation(samples, error_weight=error_weight, scheduler="threads")
    return HyperedgeRule("top", _MEMBERS).build(representation.coefficients)


def _adjusted_modularity(hypergraph: Hypergraph) -> float:
    """1 for separate clusters, about 0 for a hypergraph without clusters."""
    by_chance = _largest_modularity(_with_random_members(hypergraph))
    return (_largest_modularity(hypergraph) - by_chance) / (1 - by_chance)


def _largest_modularity(hypergraph: Hypergraph) -> float:
    """The largest modularity found, summed over clusters of at least half a hyperedge."""
    labels = maximize_modularity(hypergraph, n_starts=_STARTS, random_state=0)
    summands = modularity_of_clusters(hypergraph, labels)
    return float(summands[np.bincount(labels) > (_MEMBERS + 1) / 2].sum())


def _with_random_members(hypergraph: Hypergraph) -> Hypergraph:
    """The members of all hyperedges, except their centroids, in a random order."""
    incidence = sparse.coo_array(hypergraph.incidence)
    vertices, edges = incidence.coords
    members = np.flatnonzero(vertices != edges)
    shuffled = vertices.copy()
    shuffled[members] = vertices[np.random.RandomState(0).permutation(members)]
    entries = (incidence.data, (shuffled, edges))
    return Hypergraph(sparse.csc_array(entries, shape=incidence.shape), hypergraph.weights)
