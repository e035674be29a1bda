"""Images that are named together: the cores of clusters, and parts of images that are alike."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray

from enhg._protocol import GraphLike
from enhg.learning.clustering import HypergraphClustering
from enhg.modularity import maximize_modularity

# docs/labeling.md compares the share with whole clusters, and parts with single images.
CORE_SHARE = 0.75
_IMAGES_PER_RESOLUTION = 240  # gives parts of about twenty images


def sorted_clusters(model: HypergraphClustering) -> list[NDArray]:
    """The rows of every cluster, those of the highest confidence first."""
    rows = [np.flatnonzero(model.labels_ == cluster) for cluster in range(model.n_clusters_)]
    return [members[np.argsort(-model.confidence_[members], kind="stable")] for members in rows]


def core_size(n_members: int) -> int:
    """How many images of a cluster, those of the highest confidence, are its core.

    Names of a core spread to the others of the cluster, or are contradicted there by names of
    others: errors of the clustering, which mostly have a low confidence, are not named.
    """
    return ceil(CORE_SHARE * n_members)


def find_parts(graph: GraphLike) -> NDArray[np.intp]:
    """Divide the images into parts that are alike, of a few dozen images at most.

    Returns
    -------
    ndarray of int of shape (n_vertices,)
        The part of every image.
    """
    resolution = max(1.0, graph.n_vertices / _IMAGES_PER_RESOLUTION)
    return maximize_modularity(graph, resolution=resolution, random_state=0)
