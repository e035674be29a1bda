"""The paper's nine structures by the names of its tables, and what the search tries of each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from enhg.graphs._structure import Structure
from enhg.graphs.elastic_net import ElasticNetHypergraph
from enhg.graphs.gaussian import GaussianGraph
from enhg.graphs.knn import KNNHypergraph
from enhg.graphs.l1_graph import L1Graph
from enhg.graphs.l1_hypergraph import L1Hypergraph
from enhg.graphs.laplacian_eigenmap import LaplacianEigenmapGraph
from enhg.graphs.low_rank import LowRankGraph
from enhg.graphs.semantic_correlation import SemanticCorrelationHypergraph
from enhg.graphs.sparse_subspace import SparseSubspaceGraph


@dataclass(frozen=True)
class Method:
    """A structure, the values of its parameters that are tried (in each grid all combinations), and
    about how many times as long as the quickest it takes."""

    structure: type[Structure]
    grids: tuple[dict[str, tuple[Any, ...]], ...]
    slowness: int = 1

    def settings(self) -> list[dict[str, Any]]:
        return [
            dict(zip(grid, values, strict=True))
            for grid in self.grids
            for values in product(*grid.values())
        ]

    def build(self, parameters: dict[str, Any]) -> Structure:
        """The structure, in one thread: experiments run several at a time."""
        alone = {"n_jobs": 1} if "n_jobs" in self.structure().get_params() else {}
        return self.structure(**parameters, **alone)


# Eighteen settings each.
_NORMALIZE = ("auto", "zero_mean", "unit")
METHODS = {
    "G-graph": Method(
        GaussianGraph,
        ({"width": (0.1, 0.15, 0.2, 0.3, 0.5, 1.0), "normalize": _NORMALIZE},),
        slowness=2,
    ),
    "LE-graph": Method(
        LaplacianEigenmapGraph, ({"k": (3, 5, 8, 12, 16, 24), "normalize": _NORMALIZE},)
    ),
    "l1-graph": Method(
        L1Graph,
        ({"gamma": (5, 10, 50), "error_weight": (None, 0.3), "normalize": _NORMALIZE},),
        slowness=12,
    ),
    # Whitened faces are fitted nearly exactly by a smaller alpha_z.
    "SSC": Method(
        SparseSubspaceGraph,
        (
            {"alpha_z": (1.2, 1.5, 2, 3), "alpha_e": (10,), "normalize": ("auto",)},
            {"alpha_z": (1.5, 3), "alpha_e": (None,), "normalize": ("auto",)},
            {"alpha_z": (10, 50, 200, 800), "alpha_e": (None, 10, 20), "normalize": ("unit",)},
        ),
        slowness=3,
    ),
    "LRR": Method(
        LowRankGraph,
        (
            {"lam": (0.1, 0.3, 1.0), "power": (4, 8), "normalize": ("auto",)},
            {"lam": (0.1, 0.3, 1.0, 2.0, 3.0), "power": (8,), "normalize": ("zero_mean", "unit")},
            {"lam": (5.0,), "power": (8,), "normalize": ("zero_mean",)},
            {"lam": (3.0,), "power": (4,), "normalize": ("zero_mean",)},
        ),
        slowness=25,
    ),
    "KNN-HG": Method(
        KNNHypergraph,
        ({"k": (3, 5, 8, 12, 16, 24), "incidence": ("soft",), "normalize": _NORMALIZE},),
    ),
    "SCHG": Method(
        SemanticCorrelationHypergraph,
        (
            {
                "gamma": (3, 5, 15),
                "level": (3, 5),
                "error_weight": (None, 0.5),
                "normalize": ("auto",),
            },
            {"gamma": (5,), "level": (3, 5, 8), "normalize": ("zero_mean", "unit")},
        ),
        slowness=3,
    ),
    # The grid of ENHG, with smaller hyperedges and larger γ for want of λ, and errors of single
    # pixels on digits as well, which help it there.
    "l1-hypergraph": Method(
        L1Hypergraph,
        (
            {
                "gamma": (5, 15, 50),
                "level": (3, 5, 8),
                "symmetric": (False, True),
                "error_weight": (0.5,),
            },
        ),
        slowness=12,
    ),
    "ENHG": Method(
        ElasticNetHypergraph,
        ({"gamma": (3, 10, 30), "lam": (5, 20), "level": (5, 7, 10)},),
        slowness=4,
    ),
}
