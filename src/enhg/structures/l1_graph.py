"""l1-graph: samples joined by the lasso's coefficients (Cheng, Yang, Yan, Fu, Huang, IEEE
Transactions on Image Processing 19, 2010)."""

from __future__ import annotations

from numpy.typing import NDArray

from enhg._progress import Progress
from enhg.preprocessing import Normalization
from enhg.representation.problem import GammaScale
from enhg.representation.solver import self_representation
from enhg.structures._base import Structure, symmetric_graph
from enhg.structures.elastic_net import warn_of_empty_rows


class L1Graph(Structure):
    """a(i, j) = (|zᵢⱼ| + |zⱼᵢ|)/2, with row i of Z the lasso of sample i over the others.

        minimize over z and e:   ‖z‖₁ + γₑ‖e‖₁ + (γᵢ/2)‖xᵢ − Σⱼ zⱼxⱼ − e‖²,   zᵢ = 0

    The source has γₑ = 1 and γ → ∞: then x = Σ zⱼxⱼ + e exactly.

    Parameters
    ----------
    gamma, gamma_scale, tol, memory_budget, n_jobs
        Of the lasso, as in `self_representation` with λ = 0.
    error_weight : float or None
        γₑ, the price of errors of single features; None for no such errors.
    preprocessing : {"auto", "zero_mean", "unit", "whiten", "smooth", "lift", "none"}
        What is done to the samples first, as in `ElasticNetHypergraph`.

    Attributes
    ----------
    graph_ : Graph
    representation_ : Representation

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> L1Graph().fit(load_digits().data[:200]).graph_
    Graph(n_vertices=200, n_edges=...)
    """

    def __init__(
        self,
        *,
        gamma: float = 10.0,
        gamma_scale: GammaScale = "relative",
        error_weight: float | None = None,
        preprocessing: Normalization = "auto",
        tol: float = 1e-4,
        memory_budget: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.gamma_scale = gamma_scale
        self.error_weight = error_weight
        self.preprocessing = preprocessing
        self.tol = tol
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs

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
        self.graph_ = symmetric_graph(abs(Z))
