"""Hyperedges from coefficients: selection of members, memberships, incidence and weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from enhg._npz import State, require_parameters, saved_parameters
from enhg._threads import map_in_threads
from enhg._validation import (
    check_choice,
    check_fraction,
    check_nonnegative,
    check_whole,
    real_csr,
    with_data,
)
from enhg.exceptions import Advised, InputError
from enhg.hypergraph import Hypergraph
from enhg.structures._kernels import products_on_pattern, ranks

Selection = Literal["top", "largest", "mean"]
Membership = Literal["soft", "binary"]
Weighting = Literal["product", "cosine", "uniform", "coefficient_sum"]

_ROWS_AT_ONCE = 100_000
# Which number of members is best depends on the samples (docs/quality.md): three, in equal steps
# of the logarithm.
_THRESHOLDS = {"top": (5.0, 7.0, 10.0), "largest": (0.3,), "mean": (1.0,)}


class HyperedgeRule(BaseEstimator):
    """Rule that makes hyperedges of every row of coefficients, one for each threshold.

    Hyperedge eᵢ contains its centroid i, with membership 1, and every sample j whose coefficient
    zᵢⱼ is selected. With Eᵢ the set of these members j ≠ i:

        h(j, eᵢ) = |zᵢⱼ| / Σ_{k∈Eᵢ} |zᵢₖ|,   w(eᵢ) = Σ_{j∈Eᵢ} |⟨zᵢ, zⱼ⟩|

    A row without coefficients becomes a hyperedge of its centroid alone. A weight of 0 is replaced
    by the smallest positive weight of a threshold, so that every vertex has a positive degree.

    Parameters
    ----------
    selection : {"top", "largest", "mean"}, default="top"
        Which coefficients of a row make a sample a member:

        - "top": the `threshold` largest |zᵢⱼ|; ties go to the smaller index;
        - "largest": |zᵢⱼ| > `threshold` · maxₖ |zᵢₖ|;
        - "mean": |zᵢⱼ| > `threshold` · (1/n) Σₖ |zᵢₖ|, the paper's θ if `threshold` is 1.
    threshold : float or tuple of float, optional
        By default (5, 7, 10), 0.3 and 1, in the order above. With several thresholds every sample
        has a hyperedge for each (an extension): (5, 10) joins it with its 5 and with its 10 largest
        coefficients. The columns of H are in the order of the samples for the first threshold, then
        for the next.
    positive : bool, default=False
        Select by max(zᵢⱼ, 0) (the paper's algorithm) instead of |zᵢⱼ| (its equation).
    symmetrize : bool, default=False
        Select by (|zᵢⱼ| + |zⱼᵢ|)/2 instead of |zᵢⱼ|. New samples have no zⱼᵢ; theirs is |zᵢⱼ|.
    membership : {"soft", "binary"}, default="soft"
        h(j, eᵢ) as above (an extension), or 1 (the paper).
    weighting : {"product", "cosine", "uniform", "coefficient_sum"}, default="product"
        w(eᵢ) as above (the paper), the same with all zᵢ at unit length, 1, or Σ_{j∈Eᵢ} |zᵢⱼ|.

    Examples
    --------
    >>> Z = sparse.csr_array([[0, 0.9, 0.3], [0.8, 0, 0], [0.5, 0.5, 0]])
    >>> HyperedgeRule("top", 2).build(Z).incidence.toarray()
    array([[1.  , 1.  , 0.5 ],
           [0.75, 1.  , 0.5 ],
           [0.25, 0.  , 1.  ]])
    """

    def __init__(
        self,
        selection: Selection = "top",
        threshold: float | tuple[float, ...] | None = None,
        *,
        positive: bool = False,
        symmetrize: bool = False,
        membership: Membership = "soft",
        weighting: Weighting = "product",
    ) -> None:
        self.selection = selection
        self.threshold = threshold
        self.positive = positive
        self.symmetrize = symmetrize
        self.membership = membership
        self.weighting = weighting

    def check_parameters(self) -> None:
        """Raise InputError if a parameter is wrong."""
        check_choice("selection", self.selection, _THRESHOLDS)
        check_choice("membership", self.membership, ("soft", "binary"))
        weightings = ("product", "cosine", "uniform", "coefficient_sum")
        check_choice("weighting", self.weighting, weightings)
        for value in self.thresholds:
            self._check_threshold(value)

    @property
    def thresholds(self) -> tuple[float, ...]:
        """`threshold` as a tuple, the default of the selection if it is None."""
        if self.threshold is None:
            return _THRESHOLDS[self.selection]
        if not isinstance(self.threshold, tuple | list):
            return (self.threshold,)
        if not self.threshold:
            raise InputError(
                f"threshold must hold at least one number, got {self.threshold!r}",
                parameter="threshold",
            )
        return tuple(self.threshold)

    def _check_threshold(self, value: float) -> None:
        if self.selection == "top":
            if isinstance(value, float | np.floating) and value.is_integer():
                value = int(value)
            check_whole("threshold", value, 1, hint="with selection='top'")
        elif self.selection == "largest":
            check_fraction("threshold", value, open_interval=False)
        else:
            check_nonnegative("threshold", value)

    def build(self, coefficients: ArrayLike | sparse.csr_array) -> Hypergraph:
        """The hypergraph of a square matrix of coefficients.

        Parameters
        ----------
        coefficients : array-like or sparse matrix of shape (n_samples, n_samples)
            Z; row i represents sample i.

        Returns
        -------
        Hypergraph
            With n_samples vertices and n_samples hyperedges for each threshold.
        """
        self.check_parameters()
        z = _checked_coefficients(coefficients)
        if z.shape[0] != z.shape[1]:
            raise InputError(
                f"coefficients must be square, got shape {z.shape}", parameter="coefficients"
            )
        magnitudes = _magnitudes(z, positive=self.positive)
        if self.symmetrize:
            magnitudes = sparse.csr_array(magnitudes + magnitudes.T) / 2
        kept = self._kept(magnitudes, self.thresholds)
        in_any = np.logical_or.reduce(kept)
        members = _masked(magnitudes, in_any)
        summands = self._weight_summands(z, members)
        incidence, weights = [], []
        for mask in (mask[in_any] for mask in kept):
            memberships = self._memberships(_masked(members, mask))
            incidence.append(incidence_matrix(memberships))
            weights.append(replace_zeros(self._weights(_masked(summands, mask))))
        return Hypergraph(sparse.hstack(incidence, format="csr"), np.concatenate(weights))

    def select(self, coefficients: ArrayLike | sparse.csr_array) -> sparse.csr_array:
        """The magnitudes of the coefficients that make samples members, row by row.

        Parameters
        ----------
        coefficients : array-like or sparse matrix of shape (n_rows, n_samples)

        Returns
        -------
        csr_array of shape (n_rows, n_samples)
            Of the threshold that selects most, if there are several.

        Examples
        --------
        >>> Z = sparse.csr_array([[0.0, 0.5, -0.3, 0.1]])
        >>> HyperedgeRule("largest", 0.5).select(Z).toarray()
        array([[0. , 0.5, 0.3, 0. ]])
        """
        most = max if self.selection == "top" else min
        return self._select(self._compared(coefficients), most(self.thresholds))

    def memberships(self, coefficients: ArrayLike | sparse.csr_array) -> sparse.csr_array:
        """h(j, eᵢ) of the members j of row i, without the centroid, the mean over the thresholds.

        Parameters
        ----------
        coefficients : array-like or sparse matrix of shape (n_rows, n_samples)

        Returns
        -------
        csr_array of shape (n_rows, n_samples)
        """
        z = self._compared(coefficients)
        shares = [self._memberships(self._select(z, value)) for value in self.thresholds]
        return sparse.csr_array(sum(shares[1:], start=shares[0]) / len(shares))

    def _compared(self, coefficients: ArrayLike | sparse.csr_array) -> sparse.csr_array:
        """The non-negative numbers that thresholds are compared with, after all checks."""
        self.check_parameters()
        return _magnitudes(_checked_coefficients(coefficients), positive=self.positive)

    def _select(self, z: sparse.csr_array, threshold: float) -> sparse.csr_array:
        """The entries of non-negative z that one threshold selects."""
        return _masked(z, self._kept(z, (threshold,))[0])

    def _kept(self, z: sparse.csr_array, thresholds: tuple[float, ...]) -> list[NDArray[np.bool_]]:
        """Masks of the entries of non-negative z that thresholds select, one for each."""
        if self.selection == "top":
            rank = np.empty(z.nnz, z.indices.dtype)
            _over_rows(ranks, z.shape[0], z.indptr, z.data, rank)
            return [rank < threshold for threshold in thresholds]
        largest = self.selection == "largest"
        scale = z.max(axis=1).toarray().ravel() if largest else z.sum(axis=1) / z.shape[1]
        of_entry = np.repeat(scale, np.diff(z.indptr))
        return [z.data > threshold * of_entry for threshold in thresholds]

    def _memberships(self, members: sparse.csr_array) -> sparse.csr_array:
        """h(j, eᵢ) of the members j that one threshold selected for row i."""
        values = np.ones_like(members.data)
        if self.membership == "soft":
            values = members.data / np.repeat(members.sum(axis=1), np.diff(members.indptr))
        return with_data(members, values)

    def _weight_summands(self, z: sparse.csr_array, members: sparse.csr_array) -> sparse.csr_array:
        """What every member adds to the weight of its hyperedge."""
        if self.weighting == "uniform":
            return members
        if self.weighting == "coefficient_sum":
            return abs(_entries(z, members))
        data = z.data
        if self.weighting == "cosine":
            lengths = np.sqrt(z.multiply(z).sum(axis=1))
            data = data / np.repeat(lengths, np.diff(z.indptr))
        products = np.empty(members.nnz)
        _over_rows(
            products_on_pattern, z.shape[0], z.indptr, z.indices, data, z.shape[1],
            members.indptr, members.indices, products,
        )  # fmt: skip
        return with_data(members, products)

    def _weights(self, summands: sparse.csr_array) -> NDArray:
        """The weights of the hyperedges whose members add these numbers to them."""
        return np.ones(summands.shape[0]) if self.weighting == "uniform" else summands.sum(axis=1)

    def to_state(self) -> State:
        """The constructor's parameters."""
        return {"parameters": saved_parameters(self)}

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a rule of the state of another."""
        rule = cls(**require_parameters(state, cls().get_params()))
        rule.check_parameters()
        return rule


def member_coefficients(coefficients: sparse.csr_array, hypergraph: Hypergraph) -> sparse.csr_array:
    """zᵢⱼ of every member j ≠ i of the hyperedges of sample i.

    Parameters
    ----------
    coefficients : csr_array of shape (n_samples, n_samples)
        Z, of which a `HyperedgeRule` built the hypergraph.
    hypergraph : Hypergraph

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
        Row i stores an entry for every member of the hyperedges of sample i but their centroid i.
        An entry is an explicit 0 if `symmetrize` selected a member by zⱼᵢ alone.
    """
    n = hypergraph.n_vertices
    vertex, edge = hypergraph.incidence.tocoo().coords
    sample = edge % n
    members = sample != vertex
    ones = np.ones(np.count_nonzero(members))
    pattern = sparse.csr_array((ones, (sample[members], vertex[members])), shape=(n, n))
    return _entries(coefficients, pattern)


def incidence_matrix(memberships: sparse.csr_array) -> sparse.csr_array:
    """H: column i contains the centroid i, with membership 1, and row i of the memberships.

    Parameters
    ----------
    memberships : csr_array of shape (n_samples, n_samples)

    Returns
    -------
    csr_array of shape (n_samples, n_samples)
    """
    centroids = sparse.eye_array(memberships.shape[0], format="csr")
    return sparse.csr_array((memberships + centroids).T)


def replace_zeros(weights: NDArray) -> NDArray:
    """The weights with the smallest positive one (1 if there is none) in place of every 0."""
    positive = weights > 0
    least = weights[positive].min() if positive.any() else 1.0
    return np.where(positive, weights, least)


def warn_of_empty_rows(coefficients: sparse.csr_array) -> None:
    """Warn of samples that no other sample represents."""
    empty = int((np.diff(coefficients.indptr) == 0).sum())
    if empty:
        warnings.warn(
            Advised(
                f"{empty} of {coefficients.shape[0]} samples are not represented by any other",
                "raise {gamma} (on the relative scale, above 1)",
                "raise {error_weight}",
                "check that the samples are neither zero nor constant",
            ),
            stacklevel=6,
        )


def _checked_coefficients(coefficients: ArrayLike | sparse.csr_array) -> sparse.csr_array:
    z = real_csr(coefficients, "coefficients")
    if not np.isfinite(z.data).all():
        raise InputError(
            "coefficients must be finite, got NaN or infinity", parameter="coefficients"
        )
    return z


def _magnitudes(Z: sparse.csr_array, *, positive: bool) -> sparse.csr_array:
    """|z|, or max(z, 0) if `positive`, without explicit zeros."""
    z = sparse.csr_array(Z, copy=True)
    z.data = np.maximum(z.data, 0) if positive else np.abs(z.data)
    z.eliminate_zeros()
    return z


def _masked(z: sparse.csr_array, mask: NDArray[np.bool_]) -> sparse.csr_array:
    """The entries of a mask only."""
    before = np.zeros(len(mask) + 1, z.indptr.dtype)
    np.cumsum(mask, out=before[1:])
    return sparse.csr_array((z.data[mask], z.indices[mask], before[z.indptr]), shape=z.shape)


def _over_rows(kernel: Callable, n_rows: int, *arguments: object) -> None:
    """Call kernel(first, last, *arguments) for blocks of rows, in all threads."""
    bounds = pairwise([*range(0, n_rows, _ROWS_AT_ONCE), n_rows])
    map_in_threads(lambda rows: kernel(*rows, *arguments), bounds)


def _entries(z: sparse.csr_array, pattern: sparse.csr_array) -> sparse.csr_array:
    """The entries of z at the places of a pattern, 0 where z has none."""
    z = z if z.has_sorted_indices else z.sorted_indices()
    keys, wanted = _entry_keys(z), _entry_keys(pattern)
    position = np.searchsorted(keys, wanted)
    present = np.append(keys, -1)[position] == wanted
    return with_data(pattern, np.where(present, np.append(z.data, 0)[position], 0))


def _entry_keys(matrix: sparse.csr_array) -> NDArray:
    """row · n_columns + column of every entry."""
    row = np.repeat(np.arange(matrix.shape[0], dtype=np.int64), np.diff(matrix.indptr))
    return row * matrix.shape[1] + matrix.indices
