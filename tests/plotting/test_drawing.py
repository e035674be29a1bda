"""Axes, imports and arguments of all plots."""

from __future__ import annotations

import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.exceptions import NotFittedError

from enhg import (
    ClusterCount,
    ElasticNetHypergraph,
    Graph,
    HypergraphClustering,
    InputError,
    KNNHypergraph,
    elastic_net_path,
)
from enhg.learning.spectral import Spectrum
from enhg.plotting import (
    plot_cluster_count,
    plot_clusters,
    plot_coefficient_matrix,
    plot_coefficients,
    plot_comparison,
    plot_confusion,
    plot_curves,
    plot_embedding,
    plot_hyperedge,
    plot_image,
    plot_incidence,
    plot_memberships,
    plot_path,
    plot_reconstructions,
    plot_spectrum,
)

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, size=(30, 6, 4), dtype=np.uint8)
LABELS = np.repeat([0, 1, 2], [20, 7, 3])
CONFIDENCE = RNG.permutation(30) / 30
STRUCTURE = ElasticNetHypergraph().fit(IMAGES.reshape(30, -1))
COUNT = ClusterCount(2, 4, False, np.array([0.1, 2.0, 0.3, 1.9]), np.ones(5))


DRAWN = {
    "embedding": lambda ax: plot_embedding(RNG.normal(size=(30, 5)), LABELS, ax=ax),
    "spectrum": lambda ax: plot_spectrum([1, 0.9, 0.5], 2, ax=ax),
    "clusters": lambda ax: plot_clusters(IMAGES, LABELS, CONFIDENCE, ax=ax),
    "confusion": lambda ax: plot_confusion(LABELS, LABELS, ax=ax),
    "hyperedge": lambda ax: plot_hyperedge(STRUCTURE, 3, (6, 4), LABELS, ax=ax),
    "memberships": lambda ax: plot_memberships(STRUCTURE, 3, (6, 4), LABELS, ax=ax),
    "count": lambda ax: plot_cluster_count(COUNT, ax=ax),
    "membership": lambda ax: plot_incidence(STRUCTURE.graph_, LABELS, ax=ax),
    "path": lambda ax: plot_path(elastic_net_path(RNG.normal(size=(12, 8)), 2, 0.1), ax=ax),
    "coefficients": lambda ax: plot_coefficients([0.0, 0.5, -0.2], 0.3, slice(0, 2), ax=ax),
    "matrix": lambda ax: plot_coefficient_matrix(np.eye(4), ax=ax),
    "reconstructions": lambda ax: plot_reconstructions(STRUCTURE, [3, 5], (6, 4), ax=ax),
    "curves": lambda ax: plot_curves({"a": ([0, 1, 10], [1, 2, 3])}, "x", "y", ax=ax),
    "comparison": lambda ax: plot_comparison({"a": [("K = 1", 0.5)]}, "a", "AC", ax=ax),
    "image": lambda ax: plot_image(IMAGES[0], ax=ax),
    "image of one channel": lambda ax: plot_image(IMAGES[0][:, :, None], ax=ax),
    "image of colors": lambda ax: plot_image(np.ones((6, 4, 3)), ax=ax),
}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN.keys())
def test_axes_are_those_given_or_new(draw):
    ax = draw(None)
    assert isinstance(ax, pyplot.Axes)
    assert len(pyplot.get_fignums()) == 1
    mine = matplotlib.figure.Figure().subplots()
    assert draw(mine) is mine
    assert len(pyplot.get_fignums()) == 1
    mine.figure.canvas.draw()


def test_import_leaves_matplotlib_alone():
    code = "import sys, enhg.plotting; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


WRONG = {
    "image shape": (
        lambda: plot_hyperedge(STRUCTURE, 3, (6, 5)),
        r"image_shape .* the 24 features of a sample, got \(6, 5\)",
    ),
    "image of two channels": (
        lambda: plot_reconstructions(STRUCTURE, [3], (6, 2, 2)),
        r"image_shape must be \(height, width\) or \(height, width, 3\)",
    ),
    "flat image": (lambda: plot_memberships(STRUCTURE, 3, (24,)), "image_shape must be"),
    "sample past the last": (
        lambda: plot_hyperedge(STRUCTURE, 30, (6, 4)),
        "sample must be whole numbers from 0 to 29, got 30",
    ),
    "sample before the first": (lambda: plot_memberships(STRUCTURE, -1, (6, 4)), "from 0 to 29"),
    "half a sample": (
        lambda: plot_reconstructions(STRUCTURE, [0.5], (6, 4)),
        "samples must be whole",
    ),
    "no samples": (lambda: plot_reconstructions(STRUCTURE, [], (6, 4)), "samples must be whole"),
    "atoms": (
        lambda: plot_path(elastic_net_path(RNG.normal(size=(12, 8)), 2), [12]),
        "atoms must be whole numbers from 0 to 11",
    ),
    "names of some atoms": (
        lambda: plot_path(elastic_net_path(RNG.normal(size=(12, 8)), 2), [5], names=["6"]),
        r"names must have an entry for each of 12 samples, got shape \(1,\)",
    ),
    "labels of an embedding": (
        lambda: plot_embedding(np.ones((30, 2)), LABELS[1:]),
        r"labels must have an entry for each of 30 samples, got shape \(29,\)",
    ),
    "labels of a hypergraph": (lambda: plot_incidence(STRUCTURE.graph_, [1]), "labels must have"),
    "labels of a hyperedge": (
        lambda: plot_hyperedge(STRUCTURE, 3, (6, 4), [1]),
        "labels must have",
    ),
    "labels of coefficients": (
        lambda: plot_coefficient_matrix(np.eye(3), [1, 2]),
        "labels must have",
    ),
    "labels of coefficients over other atoms": (
        lambda: plot_coefficient_matrix(np.ones((2, 3)), [1, 2]),
        "labels must have an entry for each of 3",
    ),
    "confidence": (
        lambda: plot_clusters(IMAGES, LABELS, CONFIDENCE[1:]),
        "confidence must have",
    ),
    "images": (
        lambda: plot_clusters(IMAGES.reshape(30, -1), LABELS, CONFIDENCE),
        r"images must be of shape .*, got \(30, 24\)",
    ),
    "graph": (
        lambda: plot_incidence(Graph(np.ones((3, 3)))),
        "hypergraph must be a Hypergraph, got a Graph",
    ),
    "flat image alone": (lambda: plot_image(IMAGES[0].ravel()), r"image must be .*, got \(24,\)"),
    "learner": (
        lambda: plot_hyperedge(HypergraphClustering(structure=STRUCTURE), 3, (6, 4)),
        "structure must be an ElasticNetHypergraph, got a HypergraphClustering; that of a fitted",
    ),
    "structure without coefficients": (
        lambda: plot_reconstructions(KNNHypergraph().fit(IMAGES.reshape(30, -1)), [3], (6, 4)),
        "source must be an ElasticNetHypergraph, got a KNNHypergraph",
    ),
    "no estimate": (
        lambda: plot_cluster_count(HypergraphClustering(3).fit(IMAGES[:, 0]).cluster_count_),
        'count must be a ClusterCount, got None; a clustering has one with n_clusters="auto"',
    ),
    "row of a sparse array": (
        lambda: plot_coefficients(STRUCTURE.representation_.coefficients[[3]]),
        r"coefficients must be a dense array, got a sparse one",
    ),
    "several rows of coefficients": (
        lambda: plot_coefficients(np.eye(3)),
        r"coefficients must have 1 dimension, got shape \(3, 3\)",
    ),
    "spectrum": (
        lambda: plot_spectrum(Spectrum(np.ones(1), np.ones((3, 1)), np.zeros(1))),
        "eigenvalues must hold real numbers, got dtype object",
    ),
    "unfitted": (lambda: plot_reconstructions(ElasticNetHypergraph(), [0], (6, 4)), "not fitted"),
}


@pytest.mark.parametrize(("draw", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_arguments(draw, message):
    with pytest.raises((InputError, NotFittedError), match=message):
        draw()
    assert pyplot.get_fignums() == []
