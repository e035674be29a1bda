"""SCHG: every sample and the five that rebuild it most, weighted by their coefficients
(Hong, Zhu, Neurocomputing 2013, as the paper describes it)."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from enhg._progress import Progress
from enhg.hypergraph import Hypergraph
from enhg.preprocessing import Normalization
from enhg.representation.problem import GammaScale
from enhg.representation.solver import self_representation
from enhg.structures._base import Structure
from enhg.structures.elastic_net import incidence_of, prominent, warn_of_empty_rows, without_zeros


class SemanticCorrelationHypergraph(Structure):
    """One hyperedge a sample, of it and the `n_members` largest |zᵢⱼ| of the lasso.

    Membership is 1, and w(eᵢ) = Σ over the members j of |zᵢⱼ|.

    Parameters
    ----------
    gamma, gamma_scale, tol, memory_budget, n_jobs
        Of the lasso, as in `self_representation` with λ = 0.
    error_weight : float or None
        The price of errors of single features, past the paper; None for no such errors.
    n_members : int
        Members beside the centroid; five in the paper.
    preprocessing : {"auto", "zero_mean", "unit", "whiten", "smooth", "lift", "none"}
        What is done to the samples first, as in `ElasticNetHypergraph`.

    Attributes
    ----------
    graph_ : Hypergraph
    representation_ : Representation

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> structure = SemanticCorrelationHypergraph().fit(load_digits().data[:200])
    >>> int(structure.graph_.edge_degrees.max())
    6
    """

    def __init__(
        self,
        *,
        gamma: float = 10.0,
        gamma_scale: GammaScale = "relative",
        error_weight: float | None = None,
        n_members: int = 5,
        preprocessing: Normalization = "auto",
        tol: float = 1e-4,
        memory_budget: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.gamma_scale = gamma_scale
        self.error_weight = error_weight
        self.n_members = n_members
        self.preprocessing = preprocessing
        self.tol = tol
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs

    def _check_choices(self) -> None:
        if (
            not isinstance(self.n_members, Integral)
            or isinstance(self.n_members, bool)
            or self.n_members < 1
        ):
            raise ValueError(
                f"n_members must be a whole number of at least 1, got {self.n_members!r}"
            )

    def _build(self, samples: NDArray, progress: Progress) -> None:
        self.representation_ = self_representation(
            samples,
            lam=0.0,
            gamma=self.gamma,
            gamma_scale=self.gamma_scale,
            error_weight=self.error_weight,
            tol=self.tol,
            memory_budget=self.memory_budget,
            n_jobs=self.n_jobs,
            progress=progress,
        )
        Z = self.representation_.coefficients
        warn_of_empty_rows(Z)
        members = prominent(Z, "top", self.n_members)
        weights = without_zeros(np.asarray(members.sum(axis=1)))
        members.data[:] = 1
        self.graph_ = Hypergraph(incidence_of(members), weights)
