"""The pictures that `enhg demo` saves."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from enhg.learning.classification import HypergraphClassifier
from enhg.learning.clustering import HypergraphClustering
from enhg.plotting._drawing import new_figure
from enhg.plotting.curves import plot_embedding, plot_spectrum
from enhg.plotting.images import plot_clusters, plot_hyperedge
from enhg.plotting.matrices import plot_confusion
from enhg.structures.elastic_net import ElasticNetHypergraph


def save_pictures(
    folder: Path,
    images: NDArray,
    truth: NDArray,
    structure: ElasticNetHypergraph,
    clusters: HypergraphClustering,
    classes: HypergraphClassifier,
) -> None:
    """Write clusters.png, embedding.png, confusion.png and hyperedges.png into a folder.

    Parameters
    ----------
    folder : Path
    images : array of shape (n_samples, height, width)
    truth : array of shape (n_samples,)
    structure, clusters, classes
        Fitted on the images; `classes` knows the classes as text.
    """
    figure, (ax,) = new_figure(1, 1, (8, 5.9))
    plot_clusters(images, clusters.labels_, clusters.confidence_, ax=ax)
    figure.savefig(folder / "clusters.png")

    figure, (left, right) = new_figure(1, 2, (12, 6))
    plot_embedding(clusters.embedding_, clusters.labels_, ax=left)
    plot_spectrum(clusters.spectrum_.values, clusters.n_clusters_, ax=right)
    figure.savefig(folder / "embedding.png")

    figure, (left, right) = new_figure(1, 2, (12, 6))
    plot_confusion(truth, clusters.labels_, match=True, ax=left)
    plot_confusion(truth.astype(str), classes.transduction_, ax=right)
    figure.savefig(folder / "confusion.png")

    figure, axes = new_figure(5, 1, (9, 9.6))
    by_error = np.argsort(np.linalg.norm(structure.representation_.residuals, axis=1))
    from_best_to_worst = by_error[np.linspace(0, len(by_error) - 1, len(axes)).astype(int)]
    for ax, sample in zip(axes, from_best_to_worst, strict=True):
        plot_hyperedge(structure, sample, images.shape[1:], clusters.labels_, ax=ax)
    figure.savefig(folder / "hyperedges.png")
