"""SSC: sparse subspace clustering's graph (Elhamifar and Vidal, IEEE Transactions on Pattern
Analysis and Machine Intelligence 35, 2013)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from enhg._progress import Progress
from enhg.preprocessing import Normalization
from enhg.representation.solver import self_representation
from enhg.structures._base import Structure, require_positive, symmetric_graph
from enhg.structures.elastic_net import warn_of_empty_rows

_ROWS_AT_ONCE = 512


class SparseSubspaceGraph(Structure):
    """a(i, j) = |cᵢⱼ| + |cⱼᵢ|, every row of C first divided by its largest entry.

        minimize over c and e:   ‖c‖₁ + γₑ‖e‖₁ + (γ/2)‖xᵢ − Σⱼ cⱼxⱼ − e‖²,   cᵢ = 0

    with γ = α_z/μ_z, μ_z = minᵢ max_{j≠i} |xⱼᵀxᵢ| and γₑ = α_e/μ_e, μ_e = minᵢ max_{j≠i} ‖xⱼ‖₁:
    for α_z ≤ 1, or α_e ≤ 1, some sample is all error, dense or sparse, and not rebuilt at all.

    Parameters
    ----------
    alpha_z : float
        The weight of the dense error; 800 in the source for motion, 20 in its program for faces.
    alpha_e : float or None
        The weight of the sparse error, 20 in the source for faces; None for no sparse error.
    preprocessing : {"auto", "zero_mean", "unit", "whiten", "smooth", "lift", "none"}
        What is done to the samples first, as in `ElasticNetHypergraph`.
    tol, memory_budget, n_jobs
        As in `self_representation`.

    Attributes
    ----------
    graph_ : Graph
    representation_ : Representation
        C and, in `sparse_errors`, E.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> SparseSubspaceGraph().fit(load_digits().data[:200]).graph_
    Graph(n_vertices=200, n_edges=...)
    """

    def __init__(
        self,
        *,
        alpha_z: float = 20.0,
        alpha_e: float | None = 20.0,
        preprocessing: Normalization = "auto",
        tol: float = 1e-4,
        memory_budget: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha_z = alpha_z
        self.alpha_e = alpha_e
        self.preprocessing = preprocessing
        self.tol = tol
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs

    def _check_choices(self) -> None:
        require_positive(alpha_z=self.alpha_z)
        if self.alpha_e is not None:
            require_positive(alpha_e=self.alpha_e)

    def _build(self, samples: NDArray, progress: Progress) -> None:
        error_weight = None
        if self.alpha_e is not None:
            error_weight = self.alpha_e / _least_largest_length(samples)
        self.representation_ = self_representation(
            samples,
            lam=0.0,
            gamma=self.alpha_z / _least_largest_product(samples),
            gamma_scale="absolute",
            error_weight=error_weight,
            tol=self.tol,
            memory_budget=self.memory_budget,
            n_jobs=self.n_jobs,
            progress=progress,
        )
        C = self.representation_.coefficients.copy()
        warn_of_empty_rows(C)
        largest = abs(C).max(axis=1).toarray().ravel()
        C.data = abs(C.data) / np.repeat(largest, np.diff(C.indptr))
        self.graph_ = symmetric_graph(2 * C)


def _least_largest_product(X: NDArray) -> float:
    """minᵢ max_{j≠i} |xⱼᵀxᵢ| over the samples that correlate with any by more than rounding, or
    1."""
    largest = []
    lengths = np.linalg.norm(X, axis=1)
    rounding = 4 * np.finfo(X.dtype).eps * lengths.max(initial=0)
    for at in range(0, len(X), _ROWS_AT_ONCE):
        products = np.abs(X[at : at + _ROWS_AT_ONCE] @ X.T)
        own = np.arange(len(products))
        products[own, at + own] = 0
        most = products.max(axis=1)
        largest.append(np.where(most > rounding * lengths[at : at + _ROWS_AT_ONCE], most, 0))
    return _least_positive(np.concatenate(largest))


def _least_largest_length(X: NDArray) -> float:
    """minᵢ max_{j≠i} ‖xⱼ‖₁: the second largest of all, or 1."""
    return _least_positive(np.sort(np.abs(X).sum(axis=1))[-2:])


def _least_positive(values: NDArray) -> float:
    positive = values[values > 0]
    return float(positive.min()) if len(positive) else 1.0
