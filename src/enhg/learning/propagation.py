"""From given labels to distributions over the classes: three methods, and their combination."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.exceptions import ConvergenceWarning

from enhg._protocol import GraphLike
from enhg.learning.diffusion import ROUGH_TOL, component_sums, diffuse, poisson
from enhg.learning.discriminants import (
    FOLDS,
    SHORT_ALPHA,
    discriminant_distributions,
    linked_only,
    out_of_fold_probabilities,
)

Method: TypeAlias = Literal["diffusion", "poisson", "discriminant"]
METHODS: tuple[Method, ...] = get_args(Method)
Part: TypeAlias = Literal["diffusion", "poisson", "discriminant", "self_training"]
PARTS: tuple[Part, ...] = get_args(Part)
ClassBalance: TypeAlias = Literal["estimated", "equal", "labels", "none"]
CLASS_BALANCES: tuple[ClassBalance, ...] = get_args(ClassBalance)

_MOST_HIDDEN = 1000  # labels: sums over as many hardly depend on chance


@dataclass(frozen=True, eq=False)
class Propagation:
    """Propagation of labels over a hypergraph or graph.

    All distributions have rows of sum 1, and rows of zeros where no label arrives.

    Parameters
    ----------
    graph : Hypergraph or Graph
    features : ndarray of shape (n_samples, n_features)
        Of the discriminants; unused by "diffusion" and "poisson".
    Y : ndarray of shape (n_samples, n_classes)
        1 where a label is given, else 0.
    alpha : float
        α in (0, 1).
    class_balance : {"estimated", "equal", "labels", "none"}
        See `HypergraphClassifier`.
    tol : float, default=1e-8
        As in `diffuse`.
    """

    graph: GraphLike
    features: NDArray
    Y: NDArray
    alpha: float
    class_balance: ClassBalance
    tol: float = 1e-8

    def distributions(self, method: Method) -> NDArray:
        """Return the distributions over the classes of every sample by one method."""
        if method == "poisson":
            return rows_to_sum_one(self._poisson())
        if method == "diffusion":
            return self._balanced(self._diffused)
        return self.diffused(discriminant_distributions(self.features, self.Y), self.alpha)

    def diffused(self, P: NDArray, alpha: float) -> NDArray:
        """Return the distributions (I − αΘ)⁻¹P, balanced."""
        return self._balanced(self._diffuse(P, alpha))

    def self_trained(self, start: NDArray) -> NDArray:
        """Return the given labels, and class probabilities of discriminants fitted to predictions.

        They are fitted to the labeled samples and to two thirds of the others, and predict the last
        third, in turn (see `out_of_fold_probabilities`). Rows of zeros of the start stay.

        Parameters
        ----------
        start : ndarray of shape (n_samples, n_classes)
            Distributions, whose largest entries are the predictions.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        labeled = self.Y.sum(axis=1) > 0
        codes = np.where(labeled, self.Y.argmax(axis=1), start.argmax(axis=1))
        codes[~labeled & (start.max(axis=1) == 0)] = -1
        used = np.flatnonzero(codes >= 0)
        P = np.zeros_like(self.Y)
        P[used] = out_of_fold_probabilities(
            self.features[used],
            codes[used],
            self.Y.shape[1],
            np.random.RandomState(0),
            certain=labeled[used],
        )
        P = linked_only(self.graph, P, codes)
        P[labeled] = self.Y[labeled]
        return P

    @property
    def reached(self) -> NDArray[np.bool_]:
        """The samples in connected components with a label."""
        count, component = self.graph.connected_components()
        return (component_sums(self.Y, component, count).sum(axis=1) > 0)[component]

    def without(self, rows: NDArray) -> Propagation:
        """Return the propagation, of low accuracy, of all labels but those of some rows."""
        Y = self.Y.copy()
        Y[rows] = 0
        return replace(self, Y=Y, tol=ROUGH_TOL)

    def _diffuse(self, P: NDArray, alpha: float) -> NDArray:
        return np.maximum(diffuse(self.graph.theta, P, alpha, tol=self.tol), 0)

    @cached_property
    def _diffused(self) -> NDArray:
        return self._diffuse(self.Y, self.alpha)

    def _balanced(self, F: NDArray) -> NDArray:
        """Scale the columns to the sizes of the classes, then the rows to sum 1."""
        if self.class_balance == "none":
            return rows_to_sum_one(F)
        scaled = _columns_to_sum_one(F)
        if self.class_balance == "estimated":
            scaled *= self._class_sizes[0]
        if self.class_balance == "labels":
            scaled *= self.Y.sum(axis=0)
        return rows_to_sum_one(scaled)

    @cached_property
    def _class_sizes(self) -> tuple[NDArray, float]:
        by_diffusion = rows_to_sum_one(_columns_to_sum_one(self._diffused)).sum(axis=0)
        return estimate_class_sizes(by_diffusion, self.Y.sum(axis=0))

    def _poisson(self) -> NDArray:
        F = np.maximum(poisson(self.graph, self.Y, tol=self.tol), 0)
        if self.class_balance in ("estimated", "equal"):
            weight = self._class_sizes[1] if self.class_balance == "estimated" else 0.0
            F /= self.Y.sum(axis=0) ** (1 - weight)
        # F is zero in a component with labels of one class: the classes given there are equal.
        count, component = self.graph.connected_components()
        given = component_sums(self.Y, component, count)
        zero = F.max(axis=1) == 0
        F[zero] = given[component[zero]] > 0
        return F


def estimate_class_sizes(by_diffusion: NDArray, n_labels: NDArray) -> tuple[NDArray, float]:
    """Estimate relative sizes of the classes from diffusion and from the number of labels.

        sizes = s^(1 − w) · m^w,   w = max(r, 0)

    s are the sizes by diffusion, m the numbers of labels and r is the concordance of log s and
    log m over the classes, 2 ⟨a, b⟩ / (‖a‖² + ‖b‖²) with a and b minus their means: 1 if s and m
    are in proportion, 0 if one of them is the same for all classes. Labels of a random sample have
    numbers in proportion to the sizes; labels that were chosen otherwise say nothing about them.

    Parameters
    ----------
    by_diffusion : ndarray of shape (n_classes,)
        s, positive.
    n_labels : ndarray of shape (n_classes,)
        m, positive.

    Returns
    -------
    sizes : ndarray of shape (n_classes,)
        Up to a factor.
    weight : float
        w.

    Examples
    --------
    >>> estimate_class_sizes(np.array([10.0, 90.0]), np.array([5, 5]))
    (array([10., 90.]), 0.0)
    """
    s, m = np.log(by_diffusion), np.log(n_labels)
    s, m = s - s.mean(), m - m.mean()
    squares = s @ s + m @ m
    weight = max(float(2 * (s @ m) / squares), 0.0) if squares > 0 else 0.0
    return by_diffusion ** (1 - weight) * n_labels**weight, weight


# --- combination -----------------------------------------------------------------------------


def combine(propagation: Propagation) -> tuple[NDArray, dict[Part, float]]:
    """Combine the three methods and self-training, with weights from cross-validation.

    The labels of a fold are hidden and the others are propagated. The mean of the three methods,
    weighted by the ranks of the hidden labels (see `rank_weights`), is the start of self-training,
    whose α is 0.9 or that of the propagation, by these ranks; the mean of all four, weighted
    likewise, is the result. If no class has two labels, none can be hidden: self-training starts
    from the mean of diffusion and Poisson learning, and is the result.

    Parameters
    ----------
    propagation : Propagation

    Returns
    -------
    distributions : ndarray of shape (n_samples, n_classes)
        Of a sample, over the methods that reach it; zeros in components without a label.
    weights : dict of str to float
        Of the methods used; of sum 1.
    """
    hidden = list(folds(propagation.Y))
    first: dict[Part, float] = {"diffusion": 0.5, "poisson": 0.5}
    weights: dict[Part, float] = {"self_training": 1.0}
    alpha = propagation.alpha
    if hidden:
        first, weights, alpha = _cross_validate(propagation, hidden)
    parts: dict[Part, NDArray] = {
        method: propagation.distributions(method) for method in METHODS if method in first
    }
    P = propagation.self_trained(weighted_mean(parts, first))
    parts["self_training"] = propagation.diffused(P, alpha)
    distributions = weighted_mean(parts, weights)
    distributions[~propagation.reached] = 0
    return distributions, weights


def _cross_validate(
    propagation: Propagation, hidden: list[NDArray]
) -> tuple[dict[Part, float], dict[Part, float], float]:
    """The weights of the three methods, those of them and self-training, and its α."""
    codes = propagation.Y.argmax(axis=1)
    sums: dict[Part, float] = dict.fromkeys(METHODS, 0.0)
    by_alpha = {propagation.alpha: 0.0, SHORT_ALPHA: 0.0}
    trained = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the final propagation warns
        for rows in hidden:
            training = propagation.without(rows)
            parts: dict[Part, NDArray] = {}
            for method in METHODS:
                F = training.distributions(method)
                sums[method] += sum_of_reciprocal_ranks(F[rows], codes[rows])
                parts[method] = F.astype(np.float32)
            trained.append((training, parts))
        first = rank_weights(sums)
        for rows, (training, parts) in zip(hidden, trained, strict=True):
            P = training.self_trained(weighted_mean(parts, first))
            for alpha in by_alpha:
                F = training.diffused(P, alpha)[rows]
                by_alpha[alpha] += sum_of_reciprocal_ranks(F, codes[rows])
    alpha = max(by_alpha, key=lambda alpha: by_alpha[alpha])
    return first, rank_weights(sums | {"self_training": by_alpha[alpha]}), alpha


def rank_weights(sums: Mapping[Part, float]) -> dict[Part, float]:
    """Return weights in proportion to exp(S).

    S is the sum of the reciprocal ranks of hidden labels by a method: one more hidden label that is
    ranked first rather than last multiplies its weight by up to e. With few labels, when the sums
    say little, the methods have similar weights; with many labels one of them has nearly all of it.

    Parameters
    ----------
    sums : mapping of str to float
        S of every method.

    Returns
    -------
    dict of str to float
        Of sum 1.

    References
    ----------
    A. Dalalyan and A. B. Tsybakov, "Aggregation by exponential weighting, sharp PAC-Bayesian bounds
    and sparsity", Machine Learning 72, 2008.
    """
    weights = softmax(list(sums.values()))
    return dict(zip(sums, map(float, weights), strict=True))


def weighted_mean(parts: Mapping[Part, NDArray], weights: Mapping[Part, float]) -> NDArray:
    """Return the weighted mean of distributions; of a row, over those that are not zero there."""
    total: NDArray = sum(weight * parts[name] for name, weight in weights.items())  # type: ignore[assignment]
    return rows_to_sum_one(total)


def sum_of_reciprocal_ranks(F: NDArray, codes: NDArray) -> float:
    """Sum 1/rank over rows of F.

    The rank is that of the entry of the given class, 1 for the largest; of equal entries the last.
    """
    own = F[np.arange(len(F)), codes]
    return float((1 / (own[:, None] <= F).sum(axis=1)).sum())


def folds(Y: NDArray) -> Iterator[NDArray]:
    """Split the labeled samples into stratified random folds, always the same for the same Y.

    There are three, or as many as labels in the class of most labels if these are fewer; those that
    come after 1000 labels have been hidden are left out. The labels of a class are in as many folds
    as possible, so that every class keeps a label when one is hidden.
    """
    counts = Y.sum(axis=0).astype(int)
    n_folds = min(FOLDS, counts.max())
    rng = np.random.RandomState(0)
    members = [rng.permutation(np.flatnonzero(Y[:, c])) for c in np.flatnonzero(counts > 1)]
    rows = np.concatenate(members) if members else np.empty(0, np.intp)
    for fold in range(n_folds if len(rows) else 0):
        yield np.sort(rows[fold::n_folds])
        if (fold + 1) * len(rows) >= _MOST_HIDDEN * n_folds:
            return


def rows_to_sum_one(F: NDArray) -> NDArray:
    """Scale rows to sum 1; rows of zeros stay."""
    total = F.sum(axis=1, keepdims=True)
    return np.divide(F, total, out=np.zeros_like(F), where=total > 0)


def _columns_to_sum_one(F: NDArray) -> NDArray:
    """Scale columns to sum 1; columns of zeros stay."""
    total = F.sum(axis=0)
    return np.asarray(F / np.where(total > 0, total, 1))
