"""The paper's nine structures by their names in its tables, and the settings searched for each."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

from enhg import (
    ElasticNetHypergraph,
    GaussianGraph,
    HyperedgeRule,
    KNNHypergraph,
    L1Graph,
    L1Hypergraph,
    LaplacianEigenmapGraph,
    LowRankGraph,
    SemanticCorrelationHypergraph,
    SparseSubspaceGraph,
)

Options = Literal["extended", "paper"]
Grids = tuple[dict[str, tuple[Any, ...]], ...]

_RULE = frozenset(HyperedgeRule().get_params())


@dataclass(frozen=True)
class Method:
    """A structure of the paper's tables.

    Attributes
    ----------
    structure : type
        Its class.
    grids : tuple of dict
        Values of its parameters that the search tries: all combinations within each grid.
    paper_grids : tuple of dict
        The same with the options of the paper: no extensions.
    cost : int
        Estimated duration relative to the fastest structure.
    """

    structure: type[Any]
    grids: Grids
    paper_grids: Grids
    cost: int = 1

    def settings(self, options: Options) -> list[dict[str, Any]]:
        """Return all combinations of the grids with extensions, or with the paper's options."""
        return [
            dict(zip(grid, values, strict=True))
            for grid in (self.paper_grids if options == "paper" else self.grids)
            for values in product(*grid.values())
        ]

    def build(self, parameters: dict[str, Any]) -> Any:
        """Return the structure with one thread, since experiments run several at a time.

        Parameters that the structure does not have itself are those of its `HyperedgeRule`.
        """
        options, rule = self._split(parameters)
        if rule:
            options["hyperedges"] = HyperedgeRule(**rule)
        if "n_jobs" in self.structure().get_params(deep=False):
            options["n_jobs"] = 1
        return self.structure(**options)

    def arguments(self, parameters: dict[str, Any]) -> str:
        """Return the parameters as arguments of the class in Python."""
        options, rule = self._split(parameters)
        texts = [as_arguments(options)] if options else []
        if rule:
            texts.append(f"hyperedges=HyperedgeRule({as_arguments(rule)})")
        return ", ".join(texts)

    def _split(self, parameters: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The parameters of the structure itself, and those of its `HyperedgeRule`."""
        own = self.structure().get_params(deep=False)
        rule = {name: parameters[name] for name in parameters if name not in own and name in _RULE}
        return {name: parameters[name] for name in parameters if name not in rule}, rule


def as_arguments(parameters: dict[str, Any]) -> str:
    """Write parameters as arguments in Python, texts in double quotes."""
    return ", ".join(
        f'{name}="{value}"' if isinstance(value, str) else f"{name}={value!r}"
        for name, value in parameters.items()
    )


# Eighteen settings in each pair of parentheses.
_PREPROCESSING = ("auto", "zero_mean", "unit")
_PAPER = {"preprocessing": ("zero_mean",)}
_PAPER_HYPEREDGES = _PAPER | {
    "error_weight": (None,),
    "loss": ("norm",),
    "membership": ("binary",),
    "weighting": ("product",),
}
METHODS = {
    "G-graph": Method(
        GaussianGraph,
        ({"bandwidth": (0.1, 0.15, 0.2, 0.3, 0.5, 1.0), "preprocessing": _PREPROCESSING},),
        (
            {
                "bandwidth": (
                    *(0.05, 0.06, 0.07, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25),
                    *(0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.5),
                ),
                **_PAPER,
            },
        ),
        cost=2,
    ),
    "LE-graph": Method(
        LaplacianEigenmapGraph,
        ({"n_neighbors": (3, 5, 8, 12, 16, 24), "preprocessing": _PREPROCESSING},),
        (
            {"n_neighbors": (3, 5, 8, 12, 16, 24), "bandwidth": (0.5, 1.0), **_PAPER},
            {"n_neighbors": (3, 5, 8, 12, 16, 24), "weighting": ("binary",), **_PAPER},
        ),
    ),
    "l1-graph": Method(
        L1Graph,
        ({"gamma": (5, 10, 50), "error_weight": (None, 0.3), "preprocessing": _PREPROCESSING},),
        ({"gamma": (2, 3, 5, 7, 10, 15, 20, 30, 50), "error_weight": (None, 1.0), **_PAPER},),
        cost=12,
    ),
    # Whitened faces are reconstructed nearly exactly at a smaller alpha_z.
    "SSC": Method(
        SparseSubspaceGraph,
        (
            {"alpha_z": (1.2, 1.5, 2, 3), "alpha_e": (10,), "preprocessing": ("auto",)},
            {"alpha_z": (1.5, 3), "alpha_e": (None,), "preprocessing": ("auto",)},
            {"alpha_z": (10, 50, 200, 800), "alpha_e": (None, 10, 20), "preprocessing": ("unit",)},
        ),
        ({"alpha_z": (1.5, 2, 5, 10, 20, 50), "alpha_e": (None, 10, 20), **_PAPER},),
        cost=3,
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
        (
            {
                "error_weight": (0.05, 0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 2.0),
                "power": (2, 4),
                **_PAPER,
            },
        ),
        cost=25,
    ),
    "KNN-HG": Method(
        KNNHypergraph,
        (
            {
                "n_neighbors": (3, 5, 8, 12, 16, 24),
                "membership": ("soft",),
                "preprocessing": _PREPROCESSING,
            },
        ),
        (
            {
                "n_neighbors": (3, 5, 8, 12, 16, 24),
                "bandwidth": (0.5, 1.0),
                "membership": ("binary",),
                **_PAPER,
            },
            {
                "n_neighbors": (3, 5, 8, 12, 16, 24),
                "weighting": ("uniform",),
                "membership": ("binary",),
                **_PAPER,
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
        ({"gamma": (2, 3, 5, 10, 15, 30), "n_members": (3, 5, 8), **_PAPER},),
        cost=3,
    ),
    # Without λ the supports are smaller: fewer members and larger γ than ENHG. Sparse errors are
    # on for every data set, since they help this structure on digits too.
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
        (
            {
                "gamma": (1.5, 3, 6),
                "selection": ("mean",),
                "threshold": (1, 10),
                **_PAPER_HYPEREDGES,
            },
            {
                "gamma": (1.5, 3, 6),
                "selection": ("largest",),
                "threshold": (0.05, 0.1, 0.2, 0.3),
                **_PAPER_HYPEREDGES,
            },
        ),
        cost=12,
    ),
    "ENHG": Method(
        ElasticNetHypergraph,
        ({"gamma": (3, 10, 30), "lam": (5, 20), "threshold": (5, 7, 10)},),
        (
            {
                "gamma": (3, 10),
                "lam": (0.01, 5, 20),
                "selection": ("mean",),
                "threshold": (1,),
                **_PAPER_HYPEREDGES,
            },
            {
                "gamma": (3, 10),
                "lam": (0.01, 5, 20),
                "selection": ("largest",),
                "threshold": (0.3, 0.5),
                **_PAPER_HYPEREDGES,
            },
        ),
        cost=4,
    ),
}
