"""Semi-supervised classification on a hypergraph (paper, IV.B)."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from enhg._progress import Progress
from enhg.graph import Graph
from enhg.hypergraph import Hypergraph
from enhg.learning._base import Prediction, attach, fit_structure
from enhg.learning.diffusion import check_alpha, component_sums, diffuse, poisson
from enhg.learning.queries import most_telling
from enhg.learning.scores import boundary_scores
from enhg.learning.spectral import eigenpairs_among, fragments
from enhg.preprocessing import check_samples

_FEW_LABELS = 5  # a class on average, below which Poisson learning is better
_EIGENVECTORS_PER_CLASS = 5


class HypergraphClassifier(ClassifierMixin, BaseEstimator):
    """Label all samples from the labels of a few, spread over their hypergraph.

    F = (I − αΘ)⁻¹ Y, with Y one column a class, 1 where the label is given; the label of a
    sample is the largest entry of its row of F. From very few labels, F is the positive part of
    what Poisson learning gives.

    Parameters
    ----------
    structure : structure, Hypergraph or Graph, optional
        What turns samples into a hypergraph or a graph; `ElasticNetHypergraph()` by default. Any
        estimator will do whose `fit(X)` sets `graph_`. A ready `Hypergraph` or `Graph` is taken
        as it is, and so is what a structure in scikit-learn's `FrozenEstimator` was fitted to.
    method : {"auto", "diffusion", "poisson"}
        How labels spread. "diffusion" is the paper's; away from few labels what it brings is
        faint and flat, and "poisson" better (docs/practice.md). "auto": "poisson" with fewer than
        five labels a class on average.
    alpha : float
        α in (0, 1), of diffusion: the nearer to 1, the further labels reach.
    class_balance : {"equal", "labels", "none"}
        The columns of F are scaled so that all classes have equal mass, or masses in proportion
        to the labels given, or not at all (the paper). Without it the class with most labels
        swallows the others as α nears 1, and proportions of a few labels are mostly chance. In
        Poisson learning every label is a source of the same strength; "equal" divides by the
        number of labels of the class, "labels" and "none" do not.
    verbose : bool
        Show a progress bar on standard error.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    transduction_ : ndarray of shape (n_samples,)
        The label of every sample of `fit`; the mark of a missing label where none arrived.
    label_distributions_ : ndarray of shape (n_samples, n_classes)
        Rows of F scaled to sum 1; zero where no label arrived.
    confidence_ : ndarray of shape (n_samples,)
        The largest entry of each row of `label_distributions_`.
    unreached_ : ndarray of bool of shape (n_samples,)
        Samples that no label reaches: in a component of the hypergraph that holds none, or so
        far from one that nothing of it arrives.
    method_ : {"diffusion", "poisson"}
        The one that was used.
    labeled_indices_ : ndarray of int
        The samples that had a label.
    structure_ : structure or None
        What built `graph_`, fitted; None where a ready one was given.
    boundary_scores_ : ndarray of shape (n_samples,)
        From 0 to 1: the part of a sample's hyperedges that belongs to samples of other labels.
    outlier_scores_ : ndarray of shape (n_samples,)
        From 0 to 1: how far a sample is from all that could rebuild it (see
        `ElasticNetHypergraph`). Where the structure has them.
    graph_ : Hypergraph or Graph
    representation_ : Representation
        Where the structure has one.

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
    unreached_: NDArray
    graph_: Hypergraph | Graph
    structure_: Any
    method_: Literal["diffusion", "poisson"]
    boundary_scores_: NDArray
    outlier_scores_: NDArray

    def __init__(
        self,
        *,
        structure: BaseEstimator | Hypergraph | Graph | None = None,
        method: Literal["auto", "diffusion", "poisson"] = "auto",
        alpha: float = 0.98,
        class_balance: Literal["equal", "labels", "none"] = "equal",
        verbose: bool = False,
    ) -> None:
        self.structure = structure
        self.method = method
        self.alpha = alpha
        self.class_balance = class_balance
        self.verbose = verbose

    def fit(self, X: ArrayLike, y: ArrayLike) -> HypergraphClassifier:
        """Spread the labels y over the samples.

        A missing label is −1 (also as text), an empty string, None or NaN. Only where y holds
        nothing but the numbers −1 and 1 are these the two classes, and every sample labeled; a
        warning says so.
        """
        if self.class_balance not in ("equal", "labels", "none"):
            raise ValueError(
                f'class_balance must be "equal", "labels" or "none", got {self.class_balance!r}'
            )
        if self.method not in ("auto", "diffusion", "poisson"):
            raise ValueError(
                f'method must be "auto", "diffusion" or "poisson", got {self.method!r}'
            )
        check_alpha(self.alpha)
        if y is None:
            raise ValueError("requires y to be passed, but the target y is None")
        labels, missing = _check_labels(y)
        samples = check_samples(X, min_samples=2)
        check_consistent_length(samples, labels)
        self.classes_, codes = np.unique(labels[~missing], return_inverse=True)
        if len(self.classes_) < 2:
            have = "no label" if missing.all() else f"only one class, {self.classes_.tolist()[0]!r}"
            raise ValueError(f"y must hold labels of at least two classes, got {have}")
        fit_structure(self, X)
        Y = np.zeros((len(labels), len(self.classes_)))
        Y[np.flatnonzero(~missing), codes] = 1
        self.labeled_indices_ = np.flatnonzero(~missing)
        F = self._spread(Y)
        self.unreached_ = F.max(axis=1) == 0
        self.label_distributions_ = _rows_to_sum_one(F)
        self.confidence_ = self.label_distributions_.max(axis=1)
        self.transduction_ = self._labels(self.label_distributions_)
        given = self.labeled_indices_
        self.disputed_indices_ = given[self.transduction_[given] != labels[given]]
        self.transduction_[given] = labels[given]
        codes = np.where(self.unreached_, len(self.classes_), F.argmax(axis=1))
        self.boundary_scores_ = boundary_scores(self.graph_, codes, len(self.classes_) + 1)
        if self.unreached_.any():
            warnings.warn(
                f"no label reaches {int(self.unreached_.sum())} of {len(Y)} samples (the first is "
                f"row {int(np.argmax(self.unreached_))}): they keep no label; see unreached_. "
                "Label one of them, or make hyperedges larger"
                + (", or raise alpha" if self.method_ == "diffusion" else ""),
                stacklevel=2,
            )
        return self

    def _spread(self, Y: NDArray) -> NDArray:
        """F: non-negative, a row of zeros where no label arrives."""
        few = len(self.labeled_indices_) < _FEW_LABELS * len(self.classes_)
        automatic: Literal["diffusion", "poisson"] = "poisson" if few else "diffusion"
        self.method_ = automatic if self.method == "auto" else self.method
        if self.method_ == "diffusion":
            F = np.maximum(diffuse(self.graph_.theta, Y, self.alpha), 0)
            if self.class_balance != "none":
                F /= F.sum(axis=0)
            if self.class_balance == "labels":
                F *= Y.sum(axis=0)
            return F
        F = np.maximum(poisson(self.graph_, Y), 0)
        if self.class_balance == "equal":
            F /= Y.sum(axis=0)
        # Where nothing flows, as beside labels of one class only, the classes there are alike.
        count, component = self.graph_.connected_components()
        given = component_sums(Y, component, count)
        still = F.max(axis=1) == 0
        F[still] = given[component[still]] > 0
        return F

    def predict(self, X: ArrayLike) -> NDArray:
        """Labels of samples, seen in `fit` or not, by `predict_proba`."""
        return self._labels(self.predict_proba(X))

    def predict_proba(self, X: ArrayLike) -> NDArray:
        """Distribution over `classes_` of samples, seen in `fit` or not.

        Each is rebuilt from the samples of `fit`, and takes the average of its prominent
        rebuilders' distributions, weighted by their memberships. A row of zeros means that no
        label reaches the sample.
        """
        return _rows_to_sum_one(attach(self, X, None).memberships @ self.label_distributions_)

    def predict_with_scores(self, X: ArrayLike, *, progress: Progress = None) -> Prediction:
        """Label, confidence and outlier score of samples, seen in `fit` or not."""
        found = attach(self, X, progress)
        distributions = _rows_to_sum_one(found.memberships @ self.label_distributions_)
        return Prediction(
            self._labels(distributions), distributions.max(axis=1), found.outlier_scores
        )

    def to_state(self):
        import pickle
        return {"pickle": np.frombuffer(pickle.dumps(self), np.uint8), "structure": {"kind": "x", "state": {}}}

    @classmethod
    def from_state(cls, state):
        import pickle
        return pickle.loads(state["pickle"].tobytes())

    def suggest(self, n: int) -> NDArray:
        """The n samples without a label to label next, best first.

        Those whose labels would tell most of all the others', of doubtful ones above all; the
        doubt about a sample is 1 less the lead of its likeliest class over the next.
        """
        check_is_fitted(self)
        k = len(self.classes_)
        next_best, best = np.partition(self.label_distributions_, -2, axis=1)[:, -2:].T
        return most_telling(self.spectrum_, k, self.labeled_indices_, 1 - (best - next_best), n)

    @property
    def spectrum_(self):
        k = len(self.classes_)
        linked = ~fragments(self.graph_, k)
        if not linked.any():
            linked[:] = True
        return eigenpairs_among(self.graph_, linked, _EIGENVECTORS_PER_CLASS * k, 0)

    def _labels(self, distributions: NDArray) -> NDArray:
        labels = self.classes_[distributions.argmax(axis=1)]
        lost = distributions.max(axis=1) == 0
        if lost.any():
            mark = _missing_mark(self.classes_.dtype)
            labels = labels.astype(object) if mark is None else labels
            labels[lost] = mark
        return labels


def _missing_mark(dtype: np.dtype) -> int | str | None:
    """What stands for a missing label beside labels of this type."""
    if dtype.kind in "if":
        return -1
    return "" if dtype.kind == "U" else None


def _check_labels(y: ArrayLike) -> tuple[NDArray, NDArray]:
    """y as a one-dimensional array of one type, and where labels are missing."""
    labels: NDArray = column_or_1d(y, warn=True)
    if labels.dtype.kind == "O" and all(label in (-1, 1) for label in labels):
        labels = labels.astype(int)
    if labels.dtype.kind == "O":
        labels, missing = _check_mixed_labels(labels)
    elif labels.dtype.kind == "U":
        missing = (labels == "") | (labels == "-1")  # NumPy makes text of ["cat", -1]
    else:
        missing = labels == -1
        if labels.dtype.kind == "f":
            missing |= np.isnan(labels)
        if missing.any() and set(np.unique(labels)) == {-1, 1}:
            warnings.warn(
                "y holds only -1 and 1: these are taken as two classes with every sample "
                "labeled, not as one class and missing labels",
                stacklevel=3,
            )
            missing = np.zeros(len(labels), bool)
    if not missing.all():
        check_classification_targets(labels[~missing])
    return labels, missing


def _check_mixed_labels(y: NDArray) -> tuple[NDArray, NDArray]:
    """The same for an array of objects: strings or numbers, None or NaN for missing ones."""
    missing = np.array([label is None or label != label or label in ("", "-1", -1) for label in y])
    known = y[~missing].tolist()
    if len({isinstance(label, str) for label in known}) > 1:
        raise ValueError("y must hold labels of one type, got both text and numbers")
    # The places of missing labels are filled with any label: they are never read.
    labels = np.array(known or [""])
    if labels.ndim != 1 or labels.dtype.kind == "O":
        raise ValueError(f"y must hold one string or number a sample, got {known[0]!r}")
    filled = np.full(len(y), labels[0], dtype=labels.dtype)
    filled[~missing] = labels[: len(known)]
    return filled, missing


def _rows_to_sum_one(F: NDArray) -> NDArray:
    total = F.sum(axis=1, keepdims=True)
    return np.divide(F, total, out=np.zeros_like(F), where=total > 0)
