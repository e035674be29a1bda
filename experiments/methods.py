"""The paper's nine structures by the names of its tables, and what the search tries of each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

from enhg.structures._base import Structure
from enhg.structures.elastic_net import ElasticNetHypergraph
from enhg.structures.gaussian import GaussianGraph
from enhg.structures.knn import KNNHypergraph
from enhg.structures.l1_graph import L1Graph
from enhg.structures.l1_hypergraph import L1Hypergraph
from enhg.structures.laplacian_eigenmap import LaplacianEigenmapGraph
from enhg.structures.low_rank import LowRankGraph
from enhg.structures.semantic_correlation import SemanticCorrelationHypergraph
from enhg.structures.sparse_subspace import SparseSubspaceGraph


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
        ({"bandwidth": (0.1, 0.15, 0.2, 0.3, 0.5, 1.0), "preprocessing": _NORMALIZE},),
        slowness=2,
    ),
    "LE-graph": Method(
        LaplacianEigenmapGraph,
        ({"n_neighbors": (3, 5, 8, 12, 16, 24), "preprocessing": _NORMALIZE},),
    ),
    "l1-graph": Method(
        L1Graph,
        ({"gamma": (5, 10, 50), "error_weight": (None, 0.3), "preprocessing": _NORMALIZE},),
        slowness=12,
    ),
    # Whitened faces are fitted nearly exactly by a smaller alpha_z.
    "SSC": Method(
        SparseSubspaceGraph,
        (
            {"alpha_z": (1.2, 1.5, 2, 3), "alpha_e": (10,), "preprocessing": ("auto",)},
            {"alpha_z": (1.5, 3), "alpha_e": (None,), "preprocessing": ("auto",)},
            {"alpha_z": (10, 50, 200, 800), "alpha_e": (None, 10, 20), "preprocessing": ("unit",)},
        ),
        slowness=3,
    ),
    "LRR": Method(
        LowRankGraph,
        (
            {"error_weight": (0.1, 0.3, 1.0), "power": (4, 8), "preprocessing": ("auto",)},
            {
                "error_weight": (0.1, 0.3, 1.0, 2.0, 3.0),
                "power": (8,),
                "preprocessing": ("zero_mean", "unit"),
            },
            {"error_weight": (5.0,), "power": (8,), "preprocessing": ("zero_mean",)},
            {"error_weight": (3.0,), "power": (4,), "preprocessing": ("zero_mean",)},
        ),
        slowness=25,
    ),
    "KNN-HG": Method(
        KNNHypergraph,
        (
            {
                "n_neighbors": (3, 5, 8, 12, 16, 24),
                "membership": ("soft",),
                "preprocessing": _NORMALIZE,
            },
        ),
    ),
    "SCHG": Method(
        SemanticCorrelationHypergraph,
        (
            {
                "gamma": (3, 5, 15),
                "n_members": (3, 5),
                "error_weight": (None, 0.5),
                "preprocessing": ("auto",),
            },
            {"gamma": (5,), "n_members": (3, 5, 8), "preprocessing": ("zero_mean", "unit")},
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
                "threshold": (3, 5, 8),
                "symmetrize": (False, True),
                "error_weight": (0.5,),
            },
        ),
        slowness=12,
    ),
    "ENHG": Method(
        ElasticNetHypergraph,
        ({"gamma": (3, 10, 30), "lam": (5, 20), "threshold": (5, 7, 10)},),
        slowness=4,
    ),
}
