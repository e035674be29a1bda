"""l1-hypergraph: the elastic net hypergraph without its ridge (paper, V)."""

from __future__ import annotations

from typing import Literal

from enhg.preprocessing import Normalization
from enhg.representation.problem import GammaScale, Loss
from enhg.structures.elastic_net import ElasticNetHypergraph


class L1Hypergraph(ElasticNetHypergraph):
    """`ElasticNetHypergraph` with λ = 0: hyperedges of the lasso's prominent coefficients.

    Parameters
    ----------
    gamma, loss, gamma_scale, error_weight, preprocessing, selection, threshold, positive,
    symmetrize, membership, weighting, tol, memory_budget, n_jobs
        As in `ElasticNetHypergraph`.

    Attributes
    ----------
    graph_ : Hypergraph
    representation_ : Representation

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> L1Hypergraph().fit(load_digits().data[:200]).graph_
    Hypergraph(n_vertices=200, n_edges=200, ...)
    """

    def __init__(
        self,
        *,
        gamma: float = 10.0,
        loss: Loss = "squared",
        gamma_scale: GammaScale = "relative",
        error_weight: float | Literal["auto"] | None = "auto",
        preprocessing: Normalization = "auto",
        hyperedges=None,
        tol: float = 1e-4,
        memory_budget: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            gamma=gamma,
            lam=0.0,
            loss=loss,
            gamma_scale=gamma_scale,
            error_weight=error_weight,
            preprocessing=preprocessing,
            hyperedges=hyperedges,
            tol=tol,
            memory_budget=memory_budget,
            n_jobs=n_jobs,
        )
