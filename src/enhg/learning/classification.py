"""Semi-supervised classification on a hypergraph (paper, IV.B)."""

from __future__ import annotations

import warnings
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.validation import check_is_fitted

from enhg._checkpoint import CheckpointLike
from enhg._label_arrays import require_comparable
from enhg._npz import State, require, require_array, require_indices
from enhg._progress import Progress
from enhg._protocol import GraphLike
from enhg._threads import one_thread_in_libraries
from enhg._validation import check_choice, check_fraction, check_rng, real_array
from enhg.exceptions import Advised, InputError
from enhg.learning._advice import connecting_advice
from enhg.learning._base import (
    Learner,
    Prediction,
    attach,
    finished_parts,
    fit_structure,
    if_attaching,
    learner_from_state,
    learner_to_state,
    require_by_method,
    validate_samples,
)
from enhg.learning._labels import check_labels, check_true_labels, labels_of
from enhg.learning.coarsening import Coarsening, find_groups
from enhg.learning.discriminants import discriminant_features
from enhg.learning.propagation import (
    CLASS_BALANCES,
    METHODS,
    PARTS,
    ClassBalance,
    Part,
    Propagation,
    combine,
    rows_to_sum_one,
)
from enhg.learning.queries import select_queries
from enhg.learning.scores import boundary_scores
from enhg.learning.spectral import Spectrum, eigenpairs_on, fragments, n_eigenvectors


class HypergraphClassifier(ClassifierMixin, Learner):
    """Semi-supervised classification by propagation of labels over a hypergraph.

        F = (I − αΘ)⁻¹ Y

    Y has one column per class, with 1 where the label is given. The label of a sample is the
    class of the largest entry of its row of F. Two extensions: F is the positive part of the
    solution of Poisson learning, or class probabilities of linear discriminants take the place of
    the zero rows of Y. By default, all three are combined, with weights from cross-validation on
    the given labels, and discriminants are fitted once more, to the labels found.

    Parameters
    ----------
    structure : structure, Hypergraph or Graph, default=None
        Makes a hypergraph or graph of the samples; `ElasticNetHypergraph()` by default. Any
        estimator whose `fit(X)` sets `graph_`. A Hypergraph, a Graph, another object with their
        interface, or a fitted structure in scikit-learn's `FrozenEstimator` is used as it is.
    method : {"auto", "diffusion", "poisson", "discriminant"}, default="auto"
        "diffusion" is the method of the paper. "poisson" is more accurate with one or two labels
        per class. "discriminant" diffuses the class probabilities of linear discriminants that are
        fitted to the labeled samples; it suits samples whose classes are linearly separable, such
        as embeddings of neural networks.

        "auto" takes the mean of the distributions of all three and of self-training, with weights
        from stratified cross-validation. The labels of one fold are hidden, the others are
        propagated over the same hypergraph, and the class of every hidden label is ranked in its
        row of F, 1 for the largest entry. The weight of a method is in proportion to exp(S), where
        S is the sum of 1/rank. There are three folds, or as many as labels in the class of most
        labels if these are fewer, always the same for the same labels; folds are used until at
        least 1000 labels have been hidden. The only label of a class is never hidden.

        Self-training fits discriminants again, to the labeled samples and to the labels of the
        others by the mean of the three methods, in three folds so that no sample takes part in its
        own prediction, and diffuses their class probabilities with `alpha` or 0.9, whichever ranks
        the hidden labels higher. If no class has two labels, "auto" is self-training, with `alpha`,
        from the mean of diffusion and Poisson learning.
    alpha : float, default=0.98
        α in (0, 1) of diffusion, of labels or of class probabilities. They reach further with
        larger values.
    class_balance : {"estimated", "equal", "labels", "none"}, default="estimated"
        Scaling of the columns of F, except those of Poisson learning:

        - "estimated": to sums in proportion to estimated sizes of the classes (an extension). These
          are a weighted geometric mean of the sizes that diffusion with "equal" gives and of the
          numbers of given labels, which have a weight between 0 and 1, the larger the better the
          two agree (the method, "Class balance");
        - "equal": to equal sums, for classes that are known to have similar sizes;
        - "labels": to sums in proportion to the number of given labels, for labels of a random
          sample;
        - "none": no scaling (the paper); the class with most labels dominates as α tends to 1.

        With Poisson learning, "equal" divides a column by the number m of labels of its class,
        "estimated" by a power of m between 1 and m, and the others leave it as it is.
    verbose : bool, default=False
        Show a progress bar on standard error.
    checkpoint : path, default=None
        Folder that receives parts of the computation as they are finished. After an interruption,
        the same fit goes on from there, to the same result. The folder is new, empty or that of a
        checkpoint of the same samples, labels and parameters; it is kept at the end.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The distinct labels, sorted.
    transduction_ : ndarray of shape (n_samples,)
        The label of every sample of `fit`: the given one of a labeled sample, otherwise the class
        of the largest entry of its distribution, or the marker of a missing label (−1, an empty
        string, or None if that is a class or there are neither numbers nor strings) if no label
        reaches it.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Rows of F scaled to sum 1; with method "auto", weighted means of those of the methods that
        reach the sample. Zeros for samples that no label reaches.
    confidence_ : ndarray of shape (n_samples,)
        The largest entry of each row of `label_distributions_`.
    disputed_indices_ : ndarray of int
        Labeled samples whose given label is not the class of the largest entry of their
        distribution.
    unreached_ : ndarray of bool of shape (n_samples,)
        Samples that no label reaches: in connected components without a label, except with method
        "discriminant", or, with method "diffusion" or "poisson", too far from all labels for F to
        be positive within the tolerance of its computation.
    method_weights_ : dict of str to float
        The weight of every method that was used in `label_distributions_`; of sum 1. Beside the
        methods there is "self_training".
    labeled_indices_ : ndarray of int
        The samples with a given label.
    structure_ : structure, Hypergraph or Graph
        The fitted structure, or the Hypergraph or Graph that was given.
    graph_ : Hypergraph or Graph
    boundary_scores_ : ndarray of shape (n_samples,)
        In [0, 1]: the probability that a random walk leaves the class of a sample in one step.
    outlier_scores_ : ndarray of shape (n_samples,)
        In [0, 1], of the structure (see `ElasticNetHypergraph`), if it has them.
    representation_ : Representation
        Of the structure, if it has one.
    spectrum_ : Spectrum
        The largest eigenpairs of Θ, computed on first access.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X is a table whose column names are strings.

    Notes
    -----
    `predict`, `predict_proba`, `predict_with_scores` and `score` need a structure that can attach
    new samples, `ElasticNetHypergraph` or `L1Hypergraph`; with others they are not available.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> from enhg import HypergraphClassifier
    >>> X, y = load_digits(n_class=5, return_X_y=True)
    >>> given = np.where(np.arange(len(y)) < 50, y, -1)
    >>> model = HypergraphClassifier().fit(X, given)
    >>> bool((model.transduction_ == y)[50:].mean() > 0.95)
    True
    """

    classes_: NDArray
    transduction_: NDArray
    label_distributions_: NDArray
    confidence_: NDArray
    disputed_indices_: NDArray
    unreached_: NDArray
    labeled_indices_: NDArray
    graph_: GraphLike
    structure_: Any
    method_weights_: dict[Part, float]
    boundary_scores_: NDArray
    outlier_scores_: NDArray
    _spectrum: Spectrum | None

    def __init__(
        self,
        *,
        structure: BaseEstimator | GraphLike | None = None,
        method: Literal["auto", "diffusion", "poisson", "discriminant"] = "auto",
        alpha: float = 0.98,
        class_balance: ClassBalance = "estimated",
        verbose: bool = False,
        checkpoint: CheckpointLike = None,
    ) -> None:
        self.structure = structure
        self.method = method
        self.alpha = alpha
        self.class_balance = class_balance
        self.verbose = verbose
        self.checkpoint = checkpoint

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Label all samples from the given labels.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels. A missing label is −1, None, NaN or the NA of pandas, also in columns of pandas
            and Polars, and as text one of those that files of labels have: an empty string, "-1",
            "nan", "NA", "<NA>" or "?", in any case. If y holds the numbers −1 and 1 only, these are
            two classes and every sample is labeled; a warning says so. Of a masked array, the
            masked labels are missing and all others are classes, whatever they are.
        """
        self._check_parameters()
        samples = validate_samples(self, X)
        self.classes_, codes, self.labeled_indices_ = check_labels(y, samples)
        fit_structure(self, samples)
        Y = np.zeros((len(samples), len(self.classes_)))
        Y[self.labeled_indices_, codes] = 1
        with one_thread_in_libraries():
            self._set_labels(self._distributions_of(samples, Y), codes)
        if self.unreached_.any():
            self._warn_of_unreached()
        return self

    def _check_parameters(self) -> None:
        check_choice("class_balance", self.class_balance, CLASS_BALANCES)
        check_choice("method", self.method, ("auto", *METHODS))
        check_fraction("alpha", self.alpha, open_interval=True)

    def _distributions_of(self, samples: NDArray, Y: NDArray) -> NDArray:
        """Set the weights of the methods and return the distributions of all samples."""
        description = {
            "method": self.method,
            "alpha": float(self.alpha),
            "class_balance": self.class_balance,
        }
        parts = finished_parts(self, "classification", samples, description, labels=Y)
        spread = parts.get("distributions", lambda: self._propagate(samples, Y))
        self.method_weights_ = require_by_method(spread, "method_weights", PARTS)
        return require_array(spread, "distributions", Y.shape, "f")

    def _propagate(self, samples: NDArray, Y: NDArray) -> State:
        """Return the distributions of all samples and the weights of the methods."""
        linear = self.method in ("auto", "discriminant")
        features = discriminant_features(samples) if linear else samples
        propagation = Propagation(self.graph_, features, Y, self.alpha, self.class_balance)
        if self.method == "auto":
            distributions, weights = combine(propagation)
            return {"distributions": distributions, "method_weights": dict(weights)}
        distributions = propagation.distributions(self.method)
        return {"distributions": distributions, "method_weights": {self.method: 1.0}}

    def _set_labels(self, distributions: NDArray, given_codes: NDArray) -> None:
        """Set all attributes that follow from the distributions and the given labels."""
        self._spectrum = None
        self.label_distributions_ = distributions
        self.confidence_ = distributions.max(axis=1)
        self.unreached_ = self.confidence_ == 0
        codes = distributions.argmax(axis=1)
        disputed = codes[self.labeled_indices_] != given_codes
        self.disputed_indices_ = self.labeled_indices_[disputed]
        codes[self.unreached_] = len(self.classes_)
        codes[self.labeled_indices_] = given_codes
        self.transduction_ = labels_of(self.classes_, codes)
        self.boundary_scores_ = boundary_scores(self.graph_, codes, len(self.classes_) + 1)

    def _warn_of_unreached(self) -> None:
        rows = np.flatnonzero(self.unreached_)
        _, component = self.graph_.connected_components()
        separate = ~np.isin(component[rows], component[self.labeled_indices_])
        advice = ["label some of them", *connecting_advice(self.structure_)[:1]]
        if not separate.all() and self.method_weights_.keys() != {"poisson"}:
            advice.append("increase {alpha}")
        why = ", which are not connected with any labeled one" if separate.all() else ""
        warnings.warn(
            Advised(
                f"no label reaches {len(rows)} of {len(self.unreached_)} samples{why}",
                *advice,
                rows=rows.tolist(),
            ),
            stacklevel=3,
        )

    @if_attaching
    def predict(self, X: ArrayLike) -> NDArray:
        """Return the labels of samples, in `fit` or new: the `labels` of `predict_with_scores`."""
        return self.predict_with_scores(X).labels

    @if_attaching
    def predict_proba(self, X: ArrayLike) -> NDArray:
        """Return the distributions over `classes_` of samples, in `fit` or new.

        Samples of `fit` are treated as new ones. The distribution of a sample is the mean of those
        of its members among the samples of `fit`, weighted by their memberships. A row of zeros
        means that no label reaches the sample.
        """
        return self._distributions(attach(self, X, None).memberships)

    @if_attaching
    def predict_with_scores(
        self, X: ArrayLike, *, progress: Progress = None, checkpoint: CheckpointLike = None
    ) -> Prediction:
        """Return label, confidence and outlier score of samples, in `fit` or new.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
        progress : bool or callable, optional
            True for a progress bar on standard error, or a function called with the number of
            samples done and their total.
        checkpoint : path, optional
            Folder from which the same call goes on after an interruption.

        Returns
        -------
        Prediction
        """
        attachment = attach(self, X, progress, checkpoint)
        distributions = self._distributions(attachment.memberships)
        confidence = distributions.max(axis=1)
        codes = np.where(confidence == 0, len(self.classes_), distributions.argmax(axis=1))
        return Prediction(labels_of(self.classes_, codes), confidence, attachment.outlier_scores)

    @if_attaching
    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the accuracy of `predict` on the labeled samples.

        A labeled sample that no label of `fit` reaches counts as wrong.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels. Samples whose label is missing, as in `fit`, are left out; a class of `fit` is
            never a missing label.
        sample_weight : array-like of shape (n_samples,), optional
            Numbers of at least 0, that of some labeled sample positive.
        """
        distributions = self.predict_proba(X)
        truth, given = check_true_labels(y, len(distributions), self.classes_)
        weights = _check_weights(sample_weight, len(distributions)) * given
        if not weights.any():
            raise InputError(
                f"y must hold the label of a sample, of positive weight, got {given.sum()} labels "
                f"of {len(given)} samples",
                parameter="y",
            )
        counted = weights * (distributions.max(axis=1) > 0)
        if not counted.any():  # which scikit-learn refuses
            return 0.0
        labels = self.classes_[distributions.argmax(axis=1)]
        try:
            require_comparable(truth[given], labels)
            correct = accuracy_score(
                truth[given], labels[given], normalize=False, sample_weight=counted[given]
            )
        except (TypeError, ValueError) as error:
            raise InputError(
                "y must hold labels that can be compared with those of fit, of dtype "
                f"{self.classes_.dtype}, got dtype {truth.dtype}: {error}",
                parameter="y",
            ) from error
        return float(correct / weights.sum())

    def _distributions(self, memberships: Any) -> NDArray:
        return rows_to_sum_one(memberships @ self.label_distributions_)

    @property
    def spectrum_(self) -> Spectrum:
        """The largest eigenpairs of Θ, computed on first access.

        They are zero on components that are too small for a class. Of more than 100 000 samples,
        they are approximate ones, as those of `HypergraphClustering`.
        """
        check_is_fitted(self)
        if self._spectrum is None:
            k = len(self.classes_)
            mask = ~fragments(self.graph_, k)
            mask = mask if mask.any() else np.ones_like(mask)
            groups = find_groups(self.graph_, k, check_rng(0))
            coarse = Coarsening.of_groups(self.graph_, groups)
            with one_thread_in_libraries():
                spectrum = eigenpairs_on(
                    coarse.graph, coarse.select(mask), n_eigenvectors(k), 0,
                    tol=coarse.eigenvector_tol,
                )  # fmt: skip
                self._spectrum = coarse.spread_spectrum(spectrum)
        return self._spectrum

    def suggest(self, n: int) -> NDArray:
        """Return the unlabeled samples whose labels are most informative, best first.

        Their labels determine those of ambiguous samples best (the method, "Samples to label
        next"). The ambiguity of a sample is 1 − (p₁ − p₂), with p₁ and p₂ the two largest entries
        of its distribution.

        Parameters
        ----------
        n : int

        Returns
        -------
        ndarray of int, of shape (n,)
            Indices of the samples.
        """
        check_is_fitted(self)
        second, largest = np.partition(self.label_distributions_, -2, axis=1)[:, -2:].T
        ambiguity = 1 - (largest - second)
        k = len(self.classes_)
        return select_queries(self.spectrum_, k, self.labeled_indices_, ambiguity, n)

    def to_state(self) -> State:
        """Return the state of the fitted classifier, from which `from_state` makes it again."""
        check_is_fitted(self)
        dtype = self.classes_.dtype
        if dtype.kind not in "biuU" and dtype not in (np.float32, np.float64):
            raise InputError(
                "classes_ must be text, integers or floats of 32 or 64 bits for the model to be "
                f"saved, got dtype {dtype}; fit it to such labels"
            )
        given = self.transduction_[self.labeled_indices_].astype(self.classes_.dtype)
        return learner_to_state(
            self,
            {
                "classes": self.classes_,
                "label_distributions": self.label_distributions_,
                "labeled_indices": self.labeled_indices_,
                "given_codes": np.searchsorted(self.classes_, given),
                "method_weights": dict(self.method_weights_),
            },
        )

    @classmethod
    def from_state(cls, state: State) -> Self:
        """Make a fitted classifier from its state; raise InputError if the state is not one."""
        model: Self = learner_from_state(cls, state)
        classes = require_array(state, "classes", (None,), "biufU")
        require(len(classes) >= 2 and bool((classes[:-1] < classes[1:]).all()), "classes")
        n, k = model.graph_.n_vertices, len(classes)
        distributions = require_array(state, "label_distributions", (n, k), "f")
        require(distributions.dtype == np.float64, "label_distributions")
        sums = distributions.sum(axis=1)  # of a sample that no label reaches, 0
        fits = bool((distributions >= 0).all()) and bool(np.isclose(sums, sums != 0).all())
        require(fits, "label_distributions")
        labeled = require_indices(state, "labeled_indices", n)
        codes = require_indices(state, "given_codes", k)
        require(len(codes) == len(labeled), "given_codes")
        require(bool((labeled[:-1] < labeled[1:]).all()), "labeled_indices")
        weights = require_by_method(state, "method_weights", PARTS)
        require(all(weight >= 0 for weight in weights.values()), "method_weights")
        require(bool(np.isclose(sum(weights.values()), 1)), "method_weights")
        model.classes_, model.labeled_indices_ = classes, labeled
        model.method_weights_ = weights
        model._set_labels(distributions, codes)
        return model


def _check_weights(sample_weight: ArrayLike | None, n_samples: int) -> NDArray[np.float64]:
    """Return the weights of samples, all 1 by default."""
    if sample_weight is None:
        return np.ones(n_samples)
    weights = np.asarray(real_array(sample_weight, "sample_weight"), dtype=np.float64)
    if weights.shape not in ((n_samples,), (n_samples, 1)):
        raise InputError(
            f"sample_weight must hold a number for each of {n_samples} samples, got shape "
            f"{weights.shape}",
            parameter="sample_weight",
        )
    if not (weights >= 0).all() or not 0 < weights.sum() < np.inf:
        raise InputError(
            "sample_weight must be finite numbers of at least 0, one of them positive, got a least "
            f"of {weights.min()} and a sum of {weights.sum()}",
            parameter="sample_weight",
        )
    return weights.ravel()
