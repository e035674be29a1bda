"""Data, labels and pictures of ``enhg demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from enhg import plotting
from enhg.datasets import load
from enhg.io import Samples
from enhg.learning.classification import HypergraphClassifier
from enhg.learning.clustering import HypergraphClustering
from enhg.run import Run
from enhg.run import label_table as label_table_of_run
from enhg.structures.elastic_net import ElasticNetHypergraph

_LABELED = 0.05


def load_samples() -> Samples:
    """The digits of scikit-learn."""
    data = load("digits")
    names = [str(row) for row in range(len(data.y))]
    return Samples(data.X, names, data.image_shape, data.y, Path(data.name))


def choose_labels(samples: Samples, seed: int) -> NDArray:
    """True labels of 5 % of the samples of every class as text, "" for the others."""
    y = np.asarray(samples.labels)
    given = np.full(len(y), "", dtype="U8")
    rows, _ = train_test_split(
        np.arange(len(y)), train_size=_LABELED, stratify=y, random_state=seed
    )
    given[rows] = y[rows]
    return given


def label_table(clustered: Run, classified: Run, samples: Samples) -> dict[str, list[Any]]:
    """Columns of labels.csv: those of the clustering, then predicted, given and true classes."""
    classes = label_table_of_run(classified)
    return label_table_of_run(clustered) | {
        "classified": classes["label"],
        "given": classes["given"],
        "truth": np.asarray(samples.labels).tolist(),
    }


def save_figures(
    folder: Path,
    samples: Samples,
    structure: ElasticNetHypergraph,
    clusters: HypergraphClustering,
    classes: HypergraphClassifier,
) -> None:
    """Write clusters.png, embedding.png, confusion.png and hyperedges.png into a folder.

    Parameters
    ----------
    folder : Path
    samples : Samples
        Images with true labels.
    structure, clusters, classes
        Fitted on the samples; `classes` with labels as text.
    """
    assert samples.image_shape is not None
    assert samples.labels is not None
    figure, (ax,) = plotting.new_figure(1, 1, (8, 5.9))
    images = samples.X.reshape(-1, *samples.image_shape)
    plotting.plot_clusters(images, clusters.labels_, clusters.confidence_, ax=ax)
    figure.savefig(folder / "clusters.png")

    figure, (left, right) = plotting.new_figure(1, 2, (12, 6))
    plotting.plot_embedding(clusters.embedding_, clusters.labels_, ax=left)
    plotting.plot_spectrum(clusters.spectrum_.eigenvalues, clusters.n_clusters_, ax=right)
    figure.savefig(folder / "embedding.png")

    figure, (left, right) = plotting.new_figure(1, 2, (12, 6))
    plotting.plot_confusion(samples.labels, clusters.labels_, match=True, ax=left)
    plotting.plot_confusion(samples.labels.astype(str), classes.transduction_, ax=right)
    figure.savefig(folder / "confusion.png")

    figure, axes = plotting.new_figure(5, 1, (9, 9.6))
    order = np.argsort(structure.relative_residuals_)
    rows = order[np.linspace(0, len(order) - 1, len(axes)).astype(int)]  # from smallest to largest
    for ax, row in zip(axes, rows, strict=True):
        plotting.plot_hyperedge(structure, row, samples.image_shape, clusters.labels_, ax=ax)
    figure.savefig(folder / "hyperedges.png")
