"""Base class of all structures, and functions that several of them use."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.neighbors import kneighbors_graph

from enhg._progress import Progress
from enhg._validation import (
    check_choice,
    check_features,
    check_range,
    check_samples,
    check_whole,
    kept_samples,
    not_validated,
    validated,
)
from enhg.exceptions import InputError
from enhg.graph import Graph
from enhg.hypergraph import Hypergraph
from enhg.preprocessing.naming import (
    PREPROCESSING_NAMES,
    Preprocessing,
    is_own,
    make_preprocessing,
)
from enhg.structures.choice import choose_preprocessing


class NestedDefaults(BaseEstimator):
    """Base class of estimators with parameters for which None means a default estimator.

    Parameters of the default can be read and set, as ``structure__gamma``, like those of one given.
    """

    _defaults: ClassVar[dict[str, type[BaseEstimator]]] = {}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; if `deep`, also those of the estimators among them."""
        params = super().get_params(deep)
        for name, kind in self._defaults.items() if deep else ():
            if params[name] is None:
                default = kind().get_params()
                params |= {f"{name}__{own}": value for own, value in default.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters, ``name__parameter`` of the estimator of that name."""
        for name, kind in self._defaults.items():
            nested = any(key.startswith(f"{name}__") for key in params)
            if nested and params.get(name, getattr(self, name)) is None:
                params[name] = kind()
        return super().set_params(**params)


class Structure(NestedDefaults, ABC):
    """Base class: `fit` turns samples into a hypergraph or a graph.

    Attributes
    ----------
    graph_ : Hypergraph or Graph
    preprocessing_ : transformer
        Fitted to the samples.
    samples_ : ndarray of shape (n_samples, n_features)
        The samples of `fit` before preprocessing, read-only. A copy, so that the structure stays
        the same if X is changed, unless X cannot be written to: of an array of floats that is
        memory-mapped by mode "r", or made read-only by ``X.setflags(write=False)``, none is made.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X is a table whose column names are strings.
    """

    preprocessing: Preprocessing
    preprocessing_: Any
    graph_: Hypergraph | Graph
    samples_: NDArray
    n_features_in_: int

    def fit(self, X: ArrayLike, y: object = None, *, progress: Progress = None) -> Self:
        """Build the hypergraph or graph of samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        progress : bool or callable, optional
            True for a progress bar on standard error; a function is called with (done, total).

        Returns
        -------
        self
        """
        return self._fit(X, lambda samples: self._build(samples, progress))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Set the attributes of a pickle, in which no array is read-only."""
        super().__setstate__(state)
        if hasattr(self, "samples_"):
            self.samples_.setflags(write=False)

    def _fit(self, X: ArrayLike, build: Callable[[NDArray], None]) -> Self:
        """Check and preprocess the samples, and call `build` with them."""
        self._check_parameters()
        samples = kept_samples(check_samples(X, min_samples=2), X)
        check_features(self, X, reset=True)
        with validated():
            self.preprocessing_ = self._fit_preprocessing(samples)
        self.samples_ = samples
        preprocessed = preprocess(self.preprocessing_, samples)
        with validated():
            build(preprocessed)
        return self

    def _fit_preprocessing(self, samples: NDArray) -> Any:
        given = self.preprocessing
        if isinstance(given, str):
            check_choice("preprocessing", given, ("auto", *PREPROCESSING_NAMES))
            given = choose_preprocessing(samples) if given == "auto" else given
        return make_preprocessing(given, samples)

    def _check_parameters(self) -> None:
        """Raise InputError if a parameter of the constructor is wrong."""

    @abstractmethod
    def _build(self, samples: NDArray, progress: Progress) -> None:
        """Set `graph_` from preprocessed samples."""


def preprocess(transformer: Any, samples: NDArray) -> NDArray:
    """Transform validated samples; those of a transformer of another package are validated."""
    if is_own(transformer):
        with validated():
            return check_samples(transformer.transform(samples))
    with not_validated():
        # A copy, since the transformer may work in place.
        transformed = _dense_output(transformer.transform(samples.copy()))
    if len(transformed) != len(samples):
        raise InputError(
            f"preprocessing must keep the number of samples ({len(samples)}), got a transformer "
            f"that returns {len(transformed)}",
            parameter="preprocessing",
        )
    return transformed


def _dense_output(output: Any) -> NDArray:
    if sparse.issparse(output):
        raise InputError(
            f"preprocessing must return an array, got a sparse {type(output).__name__}",
            parameter="preprocessing",
        )
    name = "the output of preprocessing"
    return check_samples(output, name=name, parameter="preprocessing")


def neighbor_distances(X: NDArray, n_neighbors: int) -> sparse.csr_array:
    """Distances of every sample to its `n_neighbors` nearest others, a sample a row."""
    others = len(X) - 1
    hint = "(the number of samples less one)"
    check_whole("n_neighbors", n_neighbors, 1, others, hint=hint)
    if X.dtype == np.float64:  # scikit-learn squares float32 in float64, which has room for it
        check_range(X, "X")
    distances = kneighbors_graph(X, int(n_neighbors), mode="distance", include_self=False)
    return sparse.csr_array(distances)


def heat(distances: NDArray, bandwidth: float) -> NDArray:
    """exp(−d²/t) with √t = bandwidth · median(d)."""
    # The median is 0 if most samples are equal.
    scale = np.median(distances) or distances.mean() or 1.0
    return np.exp(-((distances / (bandwidth * scale)) ** 2))


def heat_of_neighbors(distances: NDArray, bandwidth: float) -> NDArray:
    """`heat`, at least the smallest positive number, so that neighbors stay connected."""
    return np.maximum(heat(distances, bandwidth), np.finfo(float).tiny)


def symmetric_graph(weights: NDArray | sparse.csr_array) -> Graph:
    """The graph with adjacency (W + Wᵀ)/2; a vertex without edges gets a loop of weight 1."""
    adjacency = (weights + weights.T) / 2
    isolated = np.asarray(adjacency.sum(axis=1)) == 0
    if not sparse.issparse(weights):
        return Graph(adjacency + np.diag(isolated))
    if isolated.any():
        adjacency = adjacency + sparse.diags_array(isolated.astype(float))
    return Graph(sparse.csr_array(adjacency))
