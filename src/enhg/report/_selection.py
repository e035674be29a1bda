"""Which samples a page shows: all of a few, and of many a part that tells the most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg.report._results import Results
from enhg.structures.elastic_net import ElasticNetHypergraph

MOST_PICTURED = 2500
_MOST_NUMBERED = 20_000
_TYPICAL, _DOUBTFUL, _RANDOM = 0.15, 0.15, 0.2  # of the pictures, spread over all groups
_STRANGEST = 100  # outliers, and as many of the most doubtful of all


@dataclass(frozen=True)
class Selection:
    """Rows of the samples on the page: those with pictures come first.

    Attributes
    ----------
    rows : ndarray of int
        The samples that have numbers on the page, which knows a sample by its place here.
    n_pictured : int
        How many of them, from the first, have a picture and a hyperedge too.
    members : csr_array of shape (n_samples, n_samples)
        Row i: the members of hyperedge i but its centroid, with the coefficients that rebuild i.
    """

    rows: NDArray
    n_pictured: int
    members: sparse.csr_array

    @property
    def pictured(self) -> NDArray:
        return self.rows[: self.n_pictured]


def select(results: Results, structure: ElasticNetHypergraph) -> Selection:
    """Choose the samples of a page."""
    members = _members(structure)
    n = len(results.group)
    rng = np.random.default_rng(0)
    pictured = np.arange(n)
    if n > MOST_PICTURED:
        pictured = np.sort(_most_telling(results, members, rng))
    rest = np.setdiff1d(np.arange(n), pictured)
    if n > _MOST_NUMBERED:
        near = np.setdiff1d(members[pictured].indices, pictured)
        rest = _first_unique(near, rng.permutation(rest), most=_MOST_NUMBERED - len(pictured))
    return Selection(np.concatenate([pictured, rest]), len(pictured), members)


def _most_telling(results: Results, members: sparse.csr_array, rng: np.random.Generator) -> NDArray:
    """Of every group typical, doubtful and random samples; the outliers; and what rebuilds them."""
    n = len(results.group)

    def of_every_group(key: NDArray, share: float) -> NDArray:
        return _in_turn(results.group, key)[: int(share * MOST_PICTURED)]

    shown = _first_unique(
        np.argsort(-results.outlying, kind="stable")[:_STRANGEST],
        np.argsort(results.confidence, kind="stable")[:_STRANGEST],
        of_every_group(-results.confidence, _TYPICAL),
        of_every_group(results.confidence, _DOUBTFUL),
        most=MOST_PICTURED,
    )
    chance = of_every_group(rng.random(n), 1.0)
    edges = members[shown]
    by_size = edges.indices[np.argsort(-np.abs(edges.data), kind="stable")]
    some = chance[: int(_RANDOM * MOST_PICTURED)]
    return _first_unique(shown, some, by_size, chance, rng.permutation(n), most=MOST_PICTURED)


def _in_turn(group: NDArray, key: NDArray) -> NDArray:
    """All samples: the first of every group by the key, then all the second ones, and so on."""
    order = np.lexsort((key, group))
    starts = np.searchsorted(group[order], group[order])
    rank = np.arange(len(group)) - starts
    return order[np.argsort(rank, kind="stable")]


def _first_unique(*rows: NDArray, most: int) -> NDArray:
    together = np.concatenate(rows)
    _, first = np.unique(together, return_index=True)
    return together[np.sort(first)[:most]]


def _members(structure: ElasticNetHypergraph) -> sparse.csr_array:
    incidence = structure.graph_.incidence.T.tocoo()
    edge, vertex = incidence.coords
    others = edge != vertex
    edge, vertex = edge[others], vertex[others]
    if len(edge) == 0:
        return sparse.csr_array(incidence.shape)
    values = np.asarray(structure.representation_.coefficients[edge, vertex]).ravel()
    # A member that the coefficient of the other way made one has none of its own.
    values = np.where(values == 0, np.finfo(values.dtype).tiny, values)
    return sparse.csr_array((values, (edge, vertex)), shape=incidence.shape)
