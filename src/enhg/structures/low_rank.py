"""LRR: samples joined by their low-rank representation (see `low_rank_representation`)."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from enhg._progress import Progress
from enhg.preprocessing import Normalization
from enhg.representation.low_rank import low_rank_representation
from enhg.structures._base import Structure, require_positive, symmetric_graph


class LowRankGraph(Structure):
    """The graph of a low-rank representation Z.

    With Z = U S Vᵀ, a(i, j) = |⟨mᵢ, mⱼ⟩|^power, where mᵢ is row i of V S^½ made unit length: what
    sample i gives to others (rows of Z are what they are given; the source has columns, and U).

    n×n numbers are stored, so it is for a few thousand samples.

    Parameters
    ----------
    error_weight, tol, max_iter
        As in `low_rank_representation`.
    power : float
        2 in the source's text, 4 in programs that go with it; more parts near from far more
        sharply.
    preprocessing : {"auto", "zero_mean", "unit", "whiten", "smooth", "lift", "none"}
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
        error_weight: float = 0.3,
        power: float = 2.0,
        preprocessing: Normalization = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
    ) -> None:
        self.error_weight = error_weight
        self.power = power
        self.preprocessing = preprocessing
        self.tol = tol
        self.max_iter = max_iter

    def _check_choices(self) -> None:
        require_positive(power=self.power)

    def _build(self, samples: NDArray, progress: Progress) -> None:
        found = low_rank_representation(
            samples,
            error_weight=self.error_weight,
            tol=self.tol,
            max_iter=self.max_iter,
            progress=progress,
        )
        self.low_rank_ = found
        if not found.values.any():
            warnings.warn(
                "no sample is represented by any other, so each is alone: raise error_weight (now "
                f"{self.error_weight:g}), or check that samples differ from zero and from constants",
                stacklevel=3,
            )
        places = found.right.T * np.sqrt(found.values)
        lengths = np.linalg.norm(places, axis=1, keepdims=True)
        places /= np.where(lengths > 0, lengths, 1)
        weights = np.abs(places @ places.T) ** self.power
        np.fill_diagonal(weights, 0)
        self.graph_ = symmetric_graph(weights)
