"""What all structures share: from samples as they come to what a structure is built of."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Integral, Real
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.neighbors import kneighbors_graph

from enhg._progress import Progress
from enhg.graph import Graph
from enhg.preprocessing import Normalization, Normalizer, check_samples


class Structure(BaseEstimator, ABC):
    """From samples to a hypergraph or a graph, which `fit` leaves in `graph_`."""

    preprocessing: Normalization

    def fit(self, X: ArrayLike, y: object = None, *, progress: Progress = None) -> Self:
        """Build the structure of the samples; `progress` is called with (done, in all)."""
        self._check_choices()
        samples = check_samples(X, min_samples=2)
        self.n_features_in_ = samples.shape[1]
        self.samples_ = samples
        self.normalizer_ = Normalizer.of(samples, self.preprocessing)
        self._build(self.normalizer_(samples), progress)
        return self

    def _check_choices(self) -> None:
        """Raise ValueError where a parameter is wrong."""

    @abstractmethod
    def _build(self, samples: NDArray, progress: Progress) -> None:
        """Set `graph_` from samples that are checked and normalized."""


def require_positive(**numbers: object) -> None:
    for name, value in numbers.items():
        number = isinstance(value, Real) and not isinstance(value, bool)
        if not number or not 0 < float(value) < np.inf:  # type: ignore[arg-type]
            raise ValueError(f"{name} must be a positive number, got {value!r}")


def require_one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {allowed}, got {value!r}")


def neighbor_distances(X: NDArray, n_neighbors: int) -> sparse.csr_array:
    """Row i holds the distances of sample i to its k nearest others."""
    if (
        not isinstance(n_neighbors, Integral)
        or isinstance(n_neighbors, bool)
        or not 1 <= n_neighbors < len(X)
    ):
        raise ValueError(
            f"n_neighbors must be a whole number from 1 to the number of samples less one ({len(X) - 1}), got {n_neighbors!r}"
        )
    return sparse.csr_array(
        kneighbors_graph(X, int(n_neighbors), mode="distance", include_self=False)
    )


def heat_of_neighbors(distances: NDArray, bandwidth: float) -> NDArray:
    """`heat`, and a trace where it is too small for a number, so that neighbors stay joined."""
    return np.maximum(heat(distances, bandwidth), np.finfo(float).tiny)


def heat(distances: NDArray, bandwidth: float) -> NDArray:
    """exp(−d²/t) with √t = bandwidth times the median of the distances."""
    scale = np.median(distances) or distances.mean() or 1.0  # of samples that are mostly equal
    return np.exp(-((distances / (bandwidth * scale)) ** 2))


def symmetric_graph(weights: NDArray | sparse.csr_array) -> Graph:
    """(W + Wᵀ)/2 as a graph; what nothing is joined to has a loop of weight 1."""
    adjacency = (weights + weights.T) / 2
    alone = np.asarray(adjacency.sum(axis=1)) == 0
    if alone.any():
        adjacency = adjacency + (
            sparse.diags_array(alone.astype(float)) if sparse.issparse(weights) else np.diag(alone)
        )
    return Graph(sparse.csr_array(adjacency) if sparse.issparse(weights) else adjacency)
