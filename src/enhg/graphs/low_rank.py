"""LRR: samples joined by their low-rank representation (see `low_rank_representation`)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from enhg._progress import Progress
from enhg.graphs._structure import Structure, require_one_of, symmetric_graph
from enhg.preprocessing import Normalization
from enhg.representation.low_rank import low_rank_representation


class LowRankGraph(Structure):
    """The graph of a low-rank representation Z.

    - "subspace", after the source: with Z = U S Vᵀ, a(i, j) = ⟨mᵢ, mⱼ⟩², where mᵢ is row i of
      U S^½ made unit length.
    - "coefficients": a(i, j) = |zᵢⱼ| + |zⱼᵢ|.

    n×n numbers are stored, so it is for a few thousand samples.

    Parameters
    ----------
    lam, tol, max_iter
        As in `low_rank_representation`.
    affinity : {"subspace", "coefficients"}
    normalize : {"auto", "zero_mean", "unit", "whiten", "lift", "none"}
        What is done to the samples first, as in `ElasticNetHypergraph`.

    Attributes
    ----------
    graph_ : Graph
    low_rank_ : LowRankRepresentation

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> LowRankGraph().fit(load_digits().data[:100]).graph_
    Graph(n_vertices=100, n_edges=4950)
    """

    def __init__(
        self,
        *,
        lam: float = 0.2,
        affinity: Literal["subspace", "coefficients"] = "subspace",
        normalize: Normalization = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
    ) -> None:
        self.lam = lam
        self.affinity = affinity
        self.normalize = normalize
        self.tol = tol
        self.max_iter = max_iter

    def _check_choices(self) -> None:
        require_one_of("affinity", self.affinity, ("subspace", "coefficients"))

    def _build(self, samples: NDArray, progress: Progress) -> None:
        found = low_rank_representation(
            samples, lam=self.lam, tol=self.tol, max_iter=self.max_iter, progress=progress
        )
        self.low_rank_ = found
        if self.affinity == "coefficients":
            weights = 2 * np.abs(found.coefficients)
        else:
            places = found.left * np.sqrt(found.values)
            lengths = np.linalg.norm(places, axis=1, keepdims=True)
            places /= np.where(lengths > 0, lengths, 1)
            weights = (places @ places.T) ** 2
        np.fill_diagonal(weights, 0)
        self.graph_ = symmetric_graph(weights)
