"""ENHG, the elastic net hypergraph (paper, III): every sample and its prominent rebuilders."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Real
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from enhg._progress import Progress
from enhg.hypergraph import Hypergraph
from enhg.preprocessing import Normalization, check_samples, inverse_lengths, normalized
from enhg.representation.problem import GammaScale, Loss, Representation
from enhg.representation.solver import self_representation
from enhg.structures._base import Structure, require_one_of
from enhg.structures.hyperedges import HyperedgeRule
from enhg.structures._kernels import products_on_pattern

Selection = Literal["top", "largest", "support_mean", "mean", "mass", "number"]

_THRESHOLDS = {
    "top": 10,
    "largest": 0.3,
    "support_mean": 1.0,
    "mean": 1.0,
    "mass": 0.9,
    "number": 0.0,
}
_ERROR_WEIGHT = 0.5
_PAIRS_AT_ONCE, _ROWS_AT_ONCE = 10_000, 500


@dataclass(frozen=True)
class Attachment:
    """How new samples belong to the samples that a structure was built of.

    Attributes
    ----------
    representation : Representation
        The new samples rebuilt from those of `fit`.
    memberships : csr_array of shape (n_new, n_samples)
        What the prominent rebuilders of each have in its hyperedge.
    outlier_scores : ndarray of shape (n_new,)
        As `ElasticNetHypergraph.outlier_scores_`.
    """

    representation: Representation
    memberships: sparse.csr_array
    outlier_scores: NDArray


class ElasticNetHypergraph(Structure):
    """The elastic net hypergraph: one hyperedge a sample, of it and its prominent rebuilders.

    1. Samples are given zero mean and unit length, faces are whitened, digits smoothed
       (`normalize`).
    2. Each is rebuilt from the others by the robust matrix elastic net: Z (`gamma`, `lam`,
       `loss`, `scale`; see `self_representation`).
    3. Hyperedge eᵢ holds the centroid i and every j whose |zᵢⱼ| is prominent (`selection`, `threshold`),
       with membership |zᵢⱼ|, in parts of their sum, or 1 (`membership`).
    4. Its weight is w(eᵢ) = Σ over the members j ≠ i of |⟨zᵢ, zⱼ⟩| (`weighting`), computed on the
       hyperedges' own pattern only.

    A sample that nothing rebuilds forms a hyperedge with itself alone. A weight that comes out
    as zero is replaced by the smallest positive one, so that every vertex keeps a degree.

    Parameters
    ----------
    gamma, lam, loss, gamma_scale, tol, memory_budget, n_jobs
        Of the elastic net, as in `self_representation`.
    error_weight : "auto", float or None
        Single pixels may be wrong, at this price (see `self_representation`); None: they may not.
        "auto" is 0.5 where samples are whitened, which raises what is wrong in single pixels, and
        None elsewhere, where it changes little. It stores the square of the number of features,
        and takes many times as long with a `gamma` of 30 and more.
    preprocessing : {"auto", "zero_mean", "unit", "whiten", "smooth", "lift", "none"}
        What is done to the samples first. "zero_mean": zero mean over a sample's own features
        and unit length; "unit": only unit length; "whiten": "zero_mean", with the main
        directions of all samples damped to one spread, which helps where light and pose hide
        what matters (faces) and harms where they do not (digits); "smooth": "zero_mean", with
        features mixed with those most correlated with them, as neighboring pixels are, which
        helps where what matters may lie a little aside (digits); "lift": for points in a few
        dimensions, a constant feature is added so that direction tells their place; "auto":
        "lift" below 16 features, "zero_mean" above 8192, and between them "whiten" if the weak
        directions hold more than noise, if not "smooth" where samples spread over many
        directions, and else "zero_mean" (see docs/method.md).
    selection : {"top", "largest", "support_mean", "mean", "mass", "number"}
        Which coefficients are prominent: the `threshold` largest; those above `threshold` times the
        largest, the mean over the non-zeros, or the mean over all n entries (the paper's θ at
        threshold 1, which keeps nearly every non-zero); the smallest set that carries the fraction
        `threshold` of the l1 mass; those above the number `threshold`.
    threshold : float, optional
        The rule's figure; by default 10, 0.3, 1, 1, 0.9 and 0, in the order above.
    positive : bool
        Take z itself (the paper's algorithm box) instead of |z| (its equation): negative
        coefficients count as zero, in the comparison and in what they are compared with.
    symmetrize : bool
        Take (|zᵢⱼ| + |zⱼᵢ|) / 2 for |zᵢⱼ|, so that samples which rebuild each other come before
        those of which one rebuilds the other. New samples (`attach`) rebuild no one: theirs is
        |zᵢⱼ| alone.
    membership : {"soft", "binary"}
        Memberships in proportion to the coefficients, which together count as much as the
        centroid, or 1 as in the paper.
    weighting : {"product", "cosine", "uniform"}
        |⟨zᵢ, zⱼ⟩| of z as it is (the paper), of unit-length z, or every weight 1.

    Attributes
    ----------
    graph_ : Hypergraph
    representation_ : Representation
        Of the normalized samples.
    error_weight_ : float or None
        The one that was used.
    outlier_scores_ : ndarray of shape (n_samples,)
        From 0, a copy of another sample, to 1, like no other: 1 − the largest |correlation| of a
        sample with one of its prominent rebuilders, single pixels that may be wrong counted as
        rebuilders. Where samples are whitened, the mean of this and the same of the samples as
        they were given, zero mean and unit length.
    samples_ : ndarray of shape (n_samples, n_features)
        The samples of `fit`, as they were given; not a copy, so do not change them.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> structure = ElasticNetHypergraph().fit(load_digits().data[:200])
    >>> structure.graph_
    Hypergraph(n_vertices=200, n_edges=200, ...)
    """

    def __init__(
        self,
        *,
        gamma: float = 10.0,
        lam: float = 5.0,
        loss: Loss = "squared",
        gamma_scale: GammaScale = "relative",
        error_weight: float | Literal["auto"] | None = "auto",
        preprocessing: Normalization = "auto",
        hyperedges: HyperedgeRule | None = None,
        tol: float = 1e-4,
        memory_budget: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.lam = lam
        self.loss = loss
        self.gamma_scale = gamma_scale
        self.error_weight = error_weight
        self.preprocessing = preprocessing
        self.hyperedges = hyperedges
        self.tol = tol
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs

    @property
    def _rule(self):
        return self.hyperedges or HyperedgeRule()

    @property
    def preprocessing_(self):
        return self.normalizer_

    @property
    def relative_residuals_(self):
        r = self.representation_
        lengths = np.linalg.norm(r.samples, axis=1)
        return np.where(lengths > 0, np.linalg.norm(r.residuals, axis=1) / np.where(lengths > 0, lengths, 1), 0)

    def _build(self, samples: NDArray, progress: Progress) -> None:
        self.error_weight_ = self._price_of_errors()
        self.representation_ = self._represent(samples, None, progress)
        Z = self.representation_.coefficients
        warn_of_empty_rows(Z)
        compared = _both_ways(Z, positive=self._rule.positive) if self._rule.symmetrize else Z
        members = prominent(compared, self._rule.selection, self._rule.threshold, positive=self._rule.positive)
        self.graph_ = Hypergraph(
            incidence_of(_memberships(members, soft=self._rule.membership == "soft")),
            _weights(Z, members, self._rule.weighting),
        )
        self.member_coefficients_ = _member_coefficients(self)
        self.outlier_scores_ = self._outlier_scores(
            self.representation_, members, self.samples_, alone=True
        )

    def _price_of_errors(self) -> float | None:
        if isinstance(self.error_weight, str):
            if self.error_weight != "auto":
                raise ValueError(
                    f'error_weight must be "auto", a number or None, got {self.error_weight!r}'
                )
            return _ERROR_WEIGHT if self.normalizer_.how == "whiten" else None
        return self.error_weight

    def attach(self, X: ArrayLike, *, progress: Progress = None) -> Attachment:
        """How new samples belong to those of `fit`.

        Each is rebuilt from the samples of `fit`, none held out, and its prominent rebuilders have
        the membership they would have in its hyperedge.
        """
        check_is_fitted(self)
        samples = check_samples(X)
        if samples.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X must have the {self.n_features_in_} features of fit, got {samples.shape[1]}"
            )
        found = self._represent(self.normalizer_(samples), self.representation_.samples, progress)
        members = prominent(
            found.coefficients, self._rule.selection, self._rule.threshold, positive=self._rule.positive
        )
        return Attachment(
            found,
            _memberships(members, soft=self._rule.membership == "soft"),
            self._outlier_scores(found, members, samples, alone=False),
        )

    def reconstruct(self, rows: ArrayLike | None = None) -> NDArray:
        """X₀ of the samples `rows` of `fit`, all by default, in the units of the samples.

        A sample as its rebuilders make it: their own features, unchanged, added up with its
        coefficients, and the sum brought to its brightness and contrast.
        """
        check_is_fitted(self)
        rows = np.arange(len(self.samples_)) if rows is None else np.atleast_1d(rows).astype(int)
        targets = self.samples_[rows].astype(np.float64)
        rebuilt = self.representation_.coefficients[rows] @ self.samples_
        rebuilt -= rebuilt.mean(axis=1, keepdims=True)
        squares = (rebuilt**2).sum(axis=1, keepdims=True)
        contrast = np.divide(
            (rebuilt * targets).sum(axis=1, keepdims=True),
            squares,
            out=np.zeros_like(squares),
            where=squares > 0,
        )
        return targets.mean(axis=1, keepdims=True) + contrast * rebuilt

    def _represent(
        self, samples: NDArray, dictionary: NDArray | None, progress: Progress
    ) -> Representation:
        return self_representation(
            samples,
            gamma=self.gamma,
            lam=self.lam,
            loss=self.loss,
            gamma_scale=self.gamma_scale,
            dictionary=dictionary,
            error_weight=self.error_weight_,
            tol=self.tol,
            memory_budget=self.memory_budget,
            n_jobs=self.n_jobs,
            progress=progress,
        )

    def _outlier_scores(
        self, found: Representation, members: sparse.csr_array, X: NDArray, *, alone: bool
    ) -> NDArray:
        """`outlier_scores_` of the samples that were found; `alone` where they are the dictionary
        themselves, and each is held out of it."""
        nearest = _nearest(found.samples, found.dictionary, members, alone=alone)
        if self.error_weight_ is not None:
            peaks = np.maximum(found.samples.max(axis=1), -found.samples.min(axis=1))
            single = peaks * inverse_lengths(found.samples) / self.error_weight_
            nearest = np.maximum(nearest, np.minimum(single, 1))
        if self.normalizer_.how == "whiten":
            given = normalized(X)[0]
            others = given if alone else normalized(self.samples_)[0]
            nearest = (nearest + _nearest(given, others, members, alone=alone)) / 2
        return 1 - nearest

    def _check_choices(self) -> None:
        require_one_of("membership", self._rule.membership, ("soft", "binary"))
        require_one_of("weighting", self._rule.weighting, ("product", "cosine", "uniform"))
        _check_threshold(self._rule.selection, self._rule.threshold)


def _nearest(
    samples: NDArray, dictionary: NDArray, members: sparse.csr_array, *, alone: bool
) -> NDArray:
    """The largest |cosine| of every sample with one of its members; of one that has none, with
    any other."""
    per_sample, per_atom = inverse_lengths(samples), inverse_lengths(dictionary)
    nearest = np.zeros(len(samples))
    counts = np.diff(members.indptr)
    for block in np.array_split(np.flatnonzero(counts), members.nnz // _PAIRS_AT_ONCE + 1):
        row = np.repeat(block, counts[block])
        atoms = dictionary[members[block].indices]
        products = np.abs(np.einsum("ij,ij->i", samples[row], atoms))
        np.maximum.at(nearest, row, products * per_sample[row] * per_atom[members[block].indices])
    empty = np.flatnonzero(counts == 0)
    for block in np.array_split(empty, len(empty) // _ROWS_AT_ONCE + 1):
        cosines = np.abs(samples[block] @ dictionary.T) * per_atom * per_sample[block, None]
        if alone:
            cosines[np.arange(len(block)), block] = 0
        nearest[block] = cosines.max(axis=1)
    return np.minimum(nearest, 1)


def warn_of_empty_rows(Z: sparse.csr_array) -> None:
    """Warn of samples that are not rebuilt from any other."""
    empty = int((np.diff(Z.indptr) == 0).sum())
    if empty:
        warnings.warn(
            f"{empty} of {Z.shape[0]} samples are not represented by any other: raise gamma (on "
            "the relative scale, above 1) or error_weight, or check that samples differ from zero "
            "and from constants",
            stacklevel=4,
        )


def prominent(
    Z: sparse.csr_array,
    selection: Selection = "top",
    threshold: float | None = None,
    *,
    positive: bool = False,
) -> sparse.csr_array:
    """The prominent coefficients of every row of Z, by magnitude (see `ElasticNetHypergraph`).

    Examples
    --------
    >>> Z = sparse.csr_array([[0.0, 0.5, -0.3, 0.1]])
    >>> prominent(Z, "largest", 0.5).toarray()
    array([[0. , 0.5, 0.3, 0. ]])
    """
    threshold = _check_threshold(selection, threshold)
    z = _magnitudes(Z, positive=positive)
    row = np.repeat(np.arange(z.shape[0]), np.diff(z.indptr))
    if selection in ("top", "mass"):
        kept = _kept_by_order(z, row, selection, threshold)
    else:
        kept = z.data > threshold * _reference(z, selection)[row]
    return sparse.csr_array((z.data[kept], (row[kept], z.indices[kept])), shape=z.shape)


def _magnitudes(Z: sparse.csr_array, *, positive: bool) -> sparse.csr_array:
    """|z|, or z with nothing in place of what is negative."""
    z = sparse.csr_array(Z, copy=True)
    z.data = np.maximum(z.data, 0) if positive else np.abs(z.data)
    z.eliminate_zeros()
    return z


def _both_ways(Z: sparse.csr_array, *, positive: bool) -> sparse.csr_array:
    """The mean of the magnitudes of zᵢⱼ and zⱼᵢ."""
    z = _magnitudes(Z, positive=positive)
    return sparse.csr_array(z + z.T) / 2


def _check_threshold(selection: Selection, threshold: float | None) -> float:
    """The threshold to use with the selection, or an error."""
    if selection not in _THRESHOLDS:
        raise ValueError(f"selection must be one of {tuple(_THRESHOLDS)}, got {selection!r}")
    if threshold is None:
        return _THRESHOLDS[selection]
    if selection == "top":
        allowed = "a whole number of at least 1"
        fits = (
            isinstance(threshold, Real) and 1 <= threshold < np.inf and threshold == int(threshold)
        )
    elif selection in ("largest", "mass"):
        allowed, fits = (
            "a fraction from 0 to 1",
            isinstance(threshold, Real) and 0 <= threshold <= 1,
        )
    else:
        allowed = "a number of at least 0"
        fits = isinstance(threshold, Real) and 0 <= threshold < np.inf
    if not fits:
        raise ValueError(f"threshold must be {allowed} with rule={selection!r}, got {threshold!r}")
    return float(threshold)


def _reference(z: sparse.csr_array, selection: Selection) -> NDArray:
    """What a coefficient is compared with, one figure a row."""
    if selection == "largest":
        return z.max(axis=1).toarray().ravel()
    total = z.sum(axis=1)
    if selection == "mean":
        return total / z.shape[1]
    if selection == "support_mean":
        return total / np.maximum(np.diff(z.indptr), 1)
    return np.ones(z.shape[0])


def _kept_by_order(
    z: sparse.csr_array, row: NDArray, selection: Selection, threshold: float
) -> NDArray:
    """Which entries are among the first of their row, from the largest down."""
    order = np.lexsort((-z.data, row))
    kept = np.empty(z.nnz, bool)
    if selection == "top":
        kept[order] = np.arange(z.nnz) - z.indptr[row] < threshold
        return kept
    # Row by row: one long sum would drown a light row in the rounding of the heavy ones.
    masses = np.split(z.data[order], z.indptr[1:-1])
    carried = np.concatenate([np.cumsum(mass) - mass for mass in masses])  # by the larger ones
    # A little slack, so that rounding does not let in an entry past the fraction.
    kept[order] = carried < threshold * z.sum(axis=1)[row] * (1 - 1e-12)
    return kept


def _memberships(members: sparse.csr_array, *, soft: bool) -> sparse.csr_array:
    """h of every prominent coefficient: its part of the sum of its row, or 1."""
    rows = members.copy()
    if soft:
        rows.data = members.data / np.repeat(members.sum(axis=1), np.diff(members.indptr))
    else:
        rows.data = np.ones_like(members.data)
    return rows


def incidence_of(memberships: sparse.csr_array) -> sparse.csr_array:
    """H: column i holds the centroid i, with membership 1, and the members of row i."""
    centroids = sparse.eye_array(memberships.shape[0], format="csr")
    return sparse.csr_array((memberships + centroids).T)


def _weights(z: sparse.csr_array, members: sparse.csr_array, kind: str) -> NDArray:
    """w(eᵢ) = Σ over the members j ≠ i of |⟨zᵢ, zⱼ⟩|."""
    n = z.shape[0]
    if kind == "uniform":
        return np.ones(n)
    data = z.data
    if kind == "cosine":
        lengths = np.sqrt(z.multiply(z).sum(axis=1))
        data = data / np.repeat(lengths, np.diff(z.indptr))
    products = np.empty(members.nnz)
    products_on_pattern(
        z.indptr, z.indices, data, z.shape[1], members.indptr, members.indices, products
    )
    weights = sparse.csr_array((products, members.indices, members.indptr), members.shape).sum(
        axis=1
    )
    return without_zeros(weights)


def without_zeros(weights: NDArray) -> NDArray:
    """The weights, the smallest positive one in place of every zero."""
    above = weights > 0
    least = weights[above].min() if above.any() else 1.0
    return np.where(above, weights, least)


def _member_coefficients(structure):
    incidence = structure.graph_.incidence.T.tocoo()
    edge, vertex = incidence.coords
    others = edge != vertex
    edge, vertex = edge[others], vertex[others]
    if len(edge) == 0:
        return sparse.csr_array(incidence.shape)
    values = np.asarray(structure.representation_.coefficients[edge, vertex]).ravel()
    return sparse.csr_array((values, (edge, vertex)), shape=incidence.shape)
