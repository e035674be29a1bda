"""Warnings of clusterings."""

from __future__ import annotations

import warnings

import numpy as np
from numpy.typing import NDArray

from enhg._protocol import GraphLike
from enhg.exceptions import Advised
from enhg.graph import Graph
from enhg.learning._advice import connecting_advice
from enhg.learning.cluster_count import ClusterCount


def warn_if_not_reliable(count: ClusterCount) -> None:
    """Warn of an estimate of the number of clusters that is not reliable."""
    if not count.reliable:
        warnings.warn(
            Advised(
                count.describe(),
                "compare the clusters of several numbers ({n_clusters})",
                "give the number if it is known",
            ),
            stacklevel=4,
        )


def warn_of_few_samples(n_different: int, n_clusters: int) -> None:
    """Warn of fewer different samples than clusters."""
    if n_different < n_clusters:
        fact = f"all samples are copies of {n_different} of them: some clusters are empty"
        warnings.warn(Advised(fact, "reduce {n_clusters}"), stacklevel=4)


def warn_of_components(
    graph: GraphLike, structure: object, n_clusters: int, small: NDArray[np.bool_]
) -> None:
    """Warn of fragments (`small`), and of more connected components than clusters."""
    components, _ = graph.connected_components()
    if n_clusters == 1 or not (small.any() or components > n_clusters):
        return
    consequence, more, advice = "some clusters join several of them", "", []
    if small.any():
        consequence = (
            f"samples in components too small for a cluster ({int(small.sum())} of {len(small)}) "
            "are assigned to the nearest center with confidence 0"
        )
    if components > n_clusters:
        more = f", more than the {n_clusters} clusters"
        advice.append(f"raise {{n_clusters}} to at most {components}")
    kind = "graph" if isinstance(graph, Graph) else "hypergraph"
    fact = f"the {kind} has {components} connected components{more}: {consequence}"
    warnings.warn(Advised(fact, *connecting_advice(structure), *advice), stacklevel=4)
