"""LRR: the graph of the low-rank representation."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from enhg._progress import Progress
from enhg._validation import check_positive
from enhg.exceptions import Advised
from enhg.preprocessing.naming import Preprocessing
from enhg.representation.low_rank import LowRankRepresentation, low_rank_representation
from enhg.structures._base import Structure, symmetric_graph


class LowRankGraph(Structure):
    """The graph with a(i, j) = |cos(mᵢ, mⱼ)|^power of a low-rank representation Z.

    mᵢ is row i of V S^½ with Z = U S Vᵀ the solution of

        minimize over Z:   ‖Z‖_* + τ Σᵢ ‖xᵢ − Σⱼ zᵢⱼxⱼ‖₂

    Samples are rows here and columns in the source, so V is the source's U. The adjacency is a
    dense n×n array: for a few thousand samples.

    Parameters
    ----------
    error_weight : float, default=0.3
        τ, the weight of the residuals.
    power : float, default=2.0
        2 in the text of the source, 4 in programs that implement it.
    preprocessing : str or transformer, default="auto"
        Applied to the samples first: "auto" (chosen from them), a name of
        `enhg.preprocessing.make_preprocessing` or a scikit-learn transformer (of arrays).
    tol : float, default=1e-3
        Bound on the relative duality gap; a warning is issued if it is not reached.
    max_iter : int, default=1000

    Attributes
    ----------
    graph_ : Graph
    low_rank_ : LowRankRepresentation
    preprocessing_ : transformer
        Fitted to the samples.
    samples_ : ndarray of shape (n_samples, n_features)
        The samples of `fit`, read-only. A copy, unless X cannot be written to.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X is a table whose column names are strings.

    See Also
    --------
    low_rank_representation : The solver.

    References
    ----------
    Liu, Lin, Yan, Sun, Yu, Ma, *Robust recovery of subspace structures by low-rank representation*,
    IEEE Transactions on Pattern Analysis and Machine Intelligence 35, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> LowRankGraph().fit(load_digits().data[:100]).graph_
    Graph(n_vertices=100, n_edges=4950)
    """

    low_rank_: LowRankRepresentation

    def __init__(
        self,
        *,
        error_weight: float = 0.3,
        power: float = 2.0,
        preprocessing: Preprocessing = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
    ) -> None:
        self.error_weight = error_weight
        self.power = power
        self.preprocessing = preprocessing
        self.tol = tol
        self.max_iter = max_iter

    def _check_parameters(self) -> None:
        check_positive("power", self.power)

    def _build(self, samples: NDArray, progress: Progress) -> None:
        self.low_rank_ = low_rank_representation(
            samples,
            error_weight=self.error_weight,
            tol=self.tol,
            max_iter=self.max_iter,
            progress=progress,
        )
        if not self.low_rank_.values.any():
            warnings.warn(
                Advised(
                    "no sample is represented by any other",
                    f"raise {{error_weight}} (it is {self.error_weight:g})",
                    "check that the samples are neither zero nor constant",
                ),
                stacklevel=5,
            )
        rows = self.low_rank_.right.T * np.sqrt(self.low_rank_.values)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.where(lengths > 0, lengths, 1)
        weights = np.abs(rows @ rows.T) ** self.power
        np.fill_diagonal(weights, 0)
        self.graph_ = symmetric_graph(weights)
