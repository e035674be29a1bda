"""l1-hypergraph: the elastic net hypergraph without its ridge (paper, V)."""

from __future__ import annotations

from typing import Literal

from enhg.graphs.elastic_net import ElasticNetHypergraph, Rule
from enhg.preprocessing import Normalization
from enhg.representation.problem import Loss, Scale


class L1Hypergraph(ElasticNetHypergraph):
    """`ElasticNetHypergraph` with λ = 0: hyperedges of the lasso's prominent coefficients.

    Parameters
    ----------
    gamma, loss, scale, error_weight, normalize, rule, level, signed, symmetric, incidence,
    weights, tol, memory, n_jobs
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
        scale: Scale = "relative",
        error_weight: float | Literal["auto"] | None = "auto",
        normalize: Normalization = "auto",
        rule: Rule = "top",
        level: float | None = None,
        signed: bool = False,
        symmetric: bool = False,
        incidence: Literal["soft", "binary"] = "soft",
        weights: Literal["product", "cosine", "uniform"] = "product",
        tol: float = 1e-4,
        memory: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            gamma=gamma,
            lam=0.0,
            loss=loss,
            scale=scale,
            error_weight=error_weight,
            normalize=normalize,
            rule=rule,
            level=level,
            signed=signed,
            symmetric=symmetric,
            incidence=incidence,
            weights=weights,
            tol=tol,
            memory=memory,
            n_jobs=n_jobs,
        )
