"""From given labels to F: the three methods of classification, and their weights."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

from enhg._protocol import GraphLike
from enhg.learning.diffusion import component_sums, diffuse, poisson
from enhg.learning.discriminants import discriminant_distributions, discriminant_features

Method: TypeAlias = Literal["diffusion", "poisson", "discriminant"]
METHODS: tuple[Method, ...] = get_args(Method)
ClassBalance: TypeAlias = Literal["estimated", "equal", "labels", "none"]
CLASS_BALANCES: tuple[ClassBalance, ...] = get_args(ClassBalance)

_MOST_FOLDS = 5
_FOLD_TOL = 1e-2
_MIN_WEIGHT = 1e-3


@dataclass(frozen=True, eq=False)
class Propagation:
    """Propagation of labels over a hypergraph or graph.

    Parameters
    ----------
    graph : Hypergraph or Graph
    samples : ndarray of shape (n_samples, n_features)
        For "discriminant" only.
    alpha : float
        α in (0, 1).
    class_balance : {"estimated", "equal", "labels", "none"}
        See `HypergraphClassifier`.
    """

    graph: GraphLike
    samples: NDArray
    alpha: float
    class_balance: ClassBalance

    def __call__(self, method: Method, Y: NDArray, *, tol: float = 1e-8) -> NDArray:
        """Return F, non-negative and balanced; rows of zeros where no label arrives.

        Parameters
        ----------
        method : {"diffusion", "poisson", "discriminant"}
        Y : ndarray of shape (n_samples, n_classes)
            1 where a label is given, else 0.
        tol : float, default=1e-8
            As in `diffuse`.
        """
        if method == "poisson":
            return self._poisson(Y, tol)
        P = discriminant_distributions(self._features, Y) if method == "discriminant" else Y
        F = np.maximum(diffuse(self.graph.theta, P, self.alpha, tol=tol), 0)
        if self.class_balance != "none":
            sums = F.sum(axis=0)
            F /= np.where(sums > 0, sums, 1)
        if self.class_balance == "labels":
            F *= Y.sum(axis=0)
        if self.class_balance == "estimated":
            F *= rows_to_sum_one(F).sum(axis=0)
        return F

    def _poisson(self, Y: NDArray, tol: float) -> NDArray:
        F = np.maximum(poisson(self.graph, Y, tol=tol), 0)
        if self.class_balance in ("estimated", "equal"):
            F /= Y.sum(axis=0)
        # F is zero in a component with labels of one class: the classes given there are equal.
        count, component = self.graph.connected_components()
        given = component_sums(Y, component, count)
        zero = F.max(axis=1) == 0
        F[zero] = given[component[zero]] > 0
        return F

    @cached_property
    def _features(self) -> NDArray:
        return discriminant_features(self.samples)


def cross_validate(propagation: Propagation, Y: NDArray) -> dict[Method, NDArray]:
    """Return the reciprocal ranks of hidden labels, one array for every method.

    The labels of a fold are hidden and the others are propagated. The rank of a hidden label is
    that among the entries of its row of F, 1 for the largest. A class with a single label is in no
    fold.

    Parameters
    ----------
    propagation : Propagation
    Y : ndarray of shape (n_samples, n_classes)
        1 where a label is given, else 0.

    Returns
    -------
    dict of str to ndarray of shape (n_hidden,)
        Empty arrays if no class has two labels.
    """
    parts: dict[Method, list[NDArray]] = {method: [np.empty(0)] for method in METHODS}
    codes = Y.argmax(axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the final propagation warns
        for hidden in folds(Y):
            training = Y.copy()
            training[hidden] = 0
            for method in METHODS:
                F = propagation(method, training, tol=_FOLD_TOL)[hidden]
                parts[method].append(1 / _ranks(F, codes[hidden]))
    return {method: np.concatenate(part) for method, part in parts.items()}


def method_weights(reciprocal_ranks: dict[Method, NDArray]) -> dict[Method, float]:
    """Return the weights of the methods, in proportion to exp(S).

    S is the sum of the reciprocal ranks of a method: one more hidden label that is ranked first
    rather than last multiplies its weight by up to e. With few labels, when the sums say little,
    the methods have similar weights; with many labels one of them has nearly all of it. Methods of
    a weight below 0.001 are left out.

    Parameters
    ----------
    reciprocal_ranks : dict of str to ndarray of shape (n_hidden,)

    Returns
    -------
    dict of str to float
        Of sum 1. Without hidden labels, Poisson learning alone.

    References
    ----------
    A. Dalalyan and A. B. Tsybakov, "Aggregation by exponential weighting, sharp PAC-Bayesian bounds
    and sparsity", Machine Learning 72, 2008.
    """
    if not len(reciprocal_ranks["poisson"]):
        return {"poisson": 1.0}
    sums = np.array([reciprocal_ranks[method].sum() for method in METHODS])
    weights = softmax(sums)
    weights[weights < _MIN_WEIGHT] = 0
    weights /= weights.sum()
    return {m: float(w) for m, w in zip(METHODS, weights, strict=True) if w > 0}


def _ranks(F: NDArray, codes: NDArray) -> NDArray:
    """The rank of one entry of every row, 1 for the largest; of equal entries the last."""
    own = F[np.arange(len(F)), codes]
    return np.asarray((own[:, None] <= F).sum(axis=1))


def folds(Y: NDArray, seed: int = 0) -> Iterator[NDArray]:
    """Split the labeled samples into stratified random folds, always the same for the same Y.

    There are five, or as many as labels in the largest class if these are fewer. The labels of a
    class are in as many folds as possible, so that every class keeps a label when one is hidden.
    """
    counts = Y.sum(axis=0).astype(int)
    n_folds = min(_MOST_FOLDS, counts.max())
    rng = np.random.RandomState(seed)
    members = [rng.permutation(np.flatnonzero(Y[:, c])) for c in np.flatnonzero(counts > 1)]
    rows = np.concatenate(members) if members else np.empty(0, np.intp)
    for fold in range(n_folds if len(rows) else 0):
        yield np.sort(rows[fold::n_folds])


def rows_to_sum_one(F: NDArray) -> NDArray:
    """Scale rows to sum 1; rows of zeros stay."""
    total = F.sum(axis=1, keepdims=True)
    return np.divide(F, total, out=np.zeros_like(F), where=total > 0)
