"""Base class of the hypergraphs of sparse coefficients that accept new samples and can be saved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from enhg._checkpoint import CheckpointLike
from enhg._npz import (
    State,
    require,
    require_array,
    require_parameters,
    require_scores,
    require_state,
    require_value,
    saved_parameters,
)
from enhg._progress import Progress
from enhg._validation import check_features, check_positive, check_samples, validated
from enhg.exceptions import InputError
from enhg.hypergraph import Hypergraph
from enhg.preprocessing._arrays import normalized, power_of_two
from enhg.preprocessing.naming import (
    preprocessing_from_state,
    preprocessing_name,
    preprocessing_to_state,
)
from enhg.preprocessing.whitening import Whitening
from enhg.representation.problem import Loss, Representation
from enhg.structures._base import preprocess
from enhg.structures._outliers import (
    copies_without_direction,
    largest_cosines,
    largest_entries,
)
from enhg.structures._representation import RepresentationStructure
from enhg.structures.choice import sparse_error_weight
from enhg.structures.hyperedges import HyperedgeRule, member_coefficients

ErrorWeight = float | Literal["auto"] | None


@dataclass(frozen=True)
class Attachment:
    """New samples, represented by the samples that a structure was fitted to.

    Attributes
    ----------
    representation : Representation
        Z of the new samples, with the samples of `fit` as the dictionary.
    memberships : csr_array of shape (n_new, n_samples)
        h(j, e) of the members j of the hyperedges that each new sample would have, their mean.
    outlier_scores : ndarray of shape (n_new,)
        As `outlier_scores_` of the structure.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from enhg import ElasticNetHypergraph
    >>> X = load_digits(n_class=3).data
    >>> attachment = ElasticNetHypergraph().fit(X[::2]).attach(X[1::2])
    >>> attachment.memberships.shape
    (268, 269)
    """

    representation: Representation
    memberships: sparse.csr_array
    outlier_scores: NDArray


class RepresentationHypergraph(RepresentationStructure):
    """Base class: hyperedges of every sample, made of its coefficients by a `HyperedgeRule`."""

    loss: Loss
    _defaults: ClassVar[dict[str, type[BaseEstimator]]] = {"hyperedges": HyperedgeRule}
    hyperedges: HyperedgeRule | None
    graph_: Hypergraph
    error_weight_: float | None
    member_coefficients_: sparse.csr_array
    outlier_scores_: NDArray

    @property
    def relative_residuals_(self) -> NDArray:
        """‖xᵢ − Σⱼ zᵢⱼxⱼ‖/‖xᵢ‖ of the preprocessed samples."""
        return self.representation_.relative_residuals

    @property
    def _rule(self) -> HyperedgeRule:
        return HyperedgeRule() if self.hyperedges is None else self.hyperedges

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self._rule, HyperedgeRule):
            raise InputError(
                f"hyperedges must be a HyperedgeRule or None, got {self.hyperedges!r}",
                parameter="hyperedges",
            )
        self._rule.check_parameters()

    def _check_error_weight(self) -> None:
        if not isinstance(self.error_weight, str):
            super()._check_error_weight()
        elif self.error_weight != "auto":
            raise InputError(
                'error_weight must be "auto", a positive number or None, got '
                f"{self.error_weight!r}",
                parameter="error_weight",
            )

    def _objective(self) -> dict[str, Any]:
        return super()._objective() | {"loss": self.loss}

    def _sparse_error_weight(self) -> float | None:
        return self.error_weight_

    def _prepare(self, samples: NDArray) -> None:
        self.error_weight_ = self.error_weight
        if isinstance(self.error_weight, str):
            self.error_weight_ = sparse_error_weight(self.preprocessing_)

    def _connect(self, coefficients: sparse.csr_array) -> None:
        self.graph_ = self._rule.build(coefficients)
        self.member_coefficients_ = member_coefficients(coefficients, self.graph_)
        self.outlier_scores_ = self._outlier_scores(
            self.representation_, self.member_coefficients_, self.samples_, held_out=True
        )

    def attach(
        self,
        X: ArrayLike,
        *,
        progress: Progress = None,
        checkpoint: CheckpointLike = None,
    ) -> Attachment:
        """Represent new samples by those of `fit`.

        Every new sample is represented by all samples of `fit` and gets the members, memberships
        and outlier score of its hyperedge; the hypergraph itself does not change.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
        progress : bool or callable, optional
            True for a progress bar on standard error; a function is called with (done, total).
        checkpoint : path, optional
            As in `fit`; of these samples only.

        Returns
        -------
        Attachment
        """
        check_is_fitted(self)
        samples = check_samples(X)
        check_features(self, X, reset=False)
        preprocessed = preprocess(self.preprocessing_, samples)
        with validated():
            atoms = self.representation_.samples
            representation = self._represent(preprocessed, progress, checkpoint, atoms)
        coefficients = representation.coefficients
        members = self._rule.select(coefficients)
        scores = self._outlier_scores(representation, members, samples, held_out=False)
        return Attachment(representation, self._rule.memberships(coefficients), scores)

    def reconstruct(self, rows: ArrayLike | None = None) -> NDArray:
        """Reconstructions of samples of `fit` in the units of the samples.

            x̂ᵢ = x̄ᵢ + c(yᵢ − ȳᵢ),   yᵢ = Σⱼ zᵢⱼxⱼ

        with the samples x before preprocessing. Means are over the features, and c is the
        least-squares factor: x̂ᵢ is the best affine fit of yᵢ to xᵢ, and has its mean. Z is fitted
        to the preprocessed samples.

        Parameters
        ----------
        rows : array-like of int or bool, optional
            Indices or mask of the samples; all by default.

        Returns
        -------
        ndarray of shape (n_rows, n_features)
        """
        check_is_fitted(self)
        indices = _checked_rows(rows, len(self.samples_))
        targets = self.samples_[indices].astype(np.float64)
        sums = self.representation_.coefficients[indices] @ self.samples_
        sums -= sums.mean(axis=1, keepdims=True)
        # Keeps huge and tiny squares in range.
        sums /= power_of_two(np.abs(sums).max(axis=1, keepdims=True))
        squares = (sums**2).sum(axis=1, keepdims=True)
        products = (sums * targets).sum(axis=1, keepdims=True)
        contrast = np.divide(products, squares, out=np.zeros_like(squares), where=squares > 0)
        return targets.mean(axis=1, keepdims=True) + contrast * sums

    def _outlier_scores(
        self,
        representation: Representation,
        members: sparse.csr_array,
        X: NDArray,
        *,
        held_out: bool,
    ) -> NDArray:
        """`outlier_scores_` of represented samples; X are the samples before preprocessing."""
        samples, atoms = representation.samples, representation.dictionary
        others = None if held_out else (self.samples_, atoms)
        copies = copies_without_direction(X, samples, others)
        similarity = largest_cosines(samples, atoms, members, held_out=held_out)
        if self.error_weight_ is not None:
            entries = largest_entries(samples) / self.error_weight_
            similarity = np.maximum(similarity, np.minimum(entries, 1))
        if isinstance(self.preprocessing_, Whitening):
            samples = normalized(X)[0]
            atoms = samples if held_out else normalized(self.samples_)[0]
            plain = largest_cosines(samples, atoms, members, held_out=held_out)
            similarity = (similarity + plain) / 2
        return np.where(copies, 0, 1 - similarity)

    def to_state(self) -> State:
        """Everything that `from_state` needs to make an equal fitted structure.

        Raises
        ------
        InputError
            If a parameter is wrong, or `preprocessing` is a transformer of another package.
        """
        check_is_fitted(self)
        self._check_parameters()  # they may have been set after fit
        preprocessing = preprocessing_to_state(self.preprocessing_)
        name = self.preprocessing
        if not isinstance(name, str):
            name = preprocessing_name(name)
        plain = clone(self).set_params(preprocessing=name, hyperedges=None)
        return {
            "parameters": saved_parameters(plain),
            "hyperedges": None if self.hyperedges is None else self.hyperedges.to_state(),
            "preprocessing": preprocessing,
            "error_weight": self.error_weight_,
            "samples": _as_bytes(self.samples_),
            "samples_dtype": self.samples_.dtype.name,
            "representation": self.representation_.to_state(),
            "graph": self.graph_.to_state(),
            "outlier_scores": self.outlier_scores_,
        }

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a fitted structure of the state of another."""
        structure = cls(**require_parameters(state, cls().get_params(deep=False)))
        if require_value(state, "hyperedges") is not None:
            rule = HyperedgeRule.from_state(require_state(state, "hyperedges"))
            structure.hyperedges = rule
        structure._check_parameters()
        structure._set_samples(state)
        structure._set_graph(state)
        return structure

    def _set_samples(self, state: State) -> None:
        """Set the samples, the preprocessing and the representation of a state."""
        dtype = require_value(state, "samples_dtype", str)
        require(dtype in ("float32", "float64"), "samples_dtype")
        samples = require_array(state, "samples", (None, None)).astype(dtype)
        self.samples_, self.n_features_in_ = check_samples(samples, min_samples=2), samples.shape[1]
        self.samples_.setflags(write=False)
        self.preprocessing_ = preprocessing_from_state(require_state(state, "preprocessing"))
        require(self.preprocessing_.n_features_in_ == self.n_features_in_, "preprocessing")
        preprocessed = check_samples(self.preprocessing_.transform(self.samples_))
        part = require_state(state, "representation")
        self.representation_ = Representation.from_state(part, preprocessed)

    def _set_graph(self, state: State) -> None:
        """Set what follows from the representation: hypergraph, members and scores of a state."""
        n = len(self.samples_)
        self.error_weight_ = require_value(state, "error_weight")
        check_positive("error_weight", self.error_weight_, optional=True)
        self.graph_ = Hypergraph.from_state(require_state(state, "graph"))
        require(self.graph_.n_vertices == n and self.graph_.n_edges % n == 0, "graph")
        self.member_coefficients_ = member_coefficients(
            self.representation_.coefficients, self.graph_
        )
        self.outlier_scores_ = require_scores(state, "outlier_scores", n)


def _checked_rows(rows: ArrayLike | None, n_samples: int) -> NDArray:
    """Return the indices of rows given by index or mask; negative ones count from the end."""
    if rows is None:
        return np.arange(n_samples)
    chosen = np.atleast_1d(np.asarray(rows) if np.size(rows) else np.array([], dtype=int))
    fits, value = False, f"shape {chosen.shape} and dtype {chosen.dtype}"
    if chosen.dtype == bool:
        fits = chosen.shape == (n_samples,)
    elif chosen.ndim == 1 and chosen.dtype.kind in "iu":
        outside = chosen[(chosen < -n_samples) | (chosen >= n_samples)]
        fits, value = not outside.size, f"{outside[:1].tolist()}"
    if not fits:
        raise InputError(
            f"rows must be indices of the {n_samples} samples or a mask of as many booleans, got "
            f"{value}",
            parameter="rows",
        )
    return np.arange(n_samples)[chosen]


def _as_bytes(X: NDArray) -> NDArray:
    """X as uint8 if that is exact, as it is for most images; else X itself."""
    with np.errstate(invalid="ignore"):
        small = X.astype(np.uint8)
    return small if np.array_equal(small, X) else X
