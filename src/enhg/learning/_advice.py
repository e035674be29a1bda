"""Advice that several warnings give."""

from __future__ import annotations

from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator

LINK = "link every sample to more others"

# By the parameter that a structure needs to have.
_CONNECTING = {
    "hyperedges": f"{LINK} ({{structure__hyperedges__threshold}})",
    "n_neighbors": f"{LINK} ({{structure__n_neighbors}})",
    "n_members": f"{LINK} ({{structure__n_members}})",
    "gamma": "raise {structure__gamma}",
}


def connecting_advice(structure: object) -> list[str]:
    """Changes of a structure that connect more samples; none of a given graph or hypergraph."""
    if isinstance(structure, FrozenEstimator):
        structure = structure.estimator
    if not isinstance(structure, BaseEstimator):
        return []
    names = structure.get_params(deep=False)
    return [advice for name, advice in _CONNECTING.items() if name in names]
