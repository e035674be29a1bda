"""A program of a user with type annotations, checked by `mypy --strict` and run by the tests."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import enhg
from enhg import (
    ClusterCount,
    ElasticNetHypergraph,
    Hypergraph,
    HypergraphClassifier,
    HypergraphClustering,
    InputError,
    Representation,
    clustering_accuracy,
    count_clusters,
    load_model,
    save_model,
    self_representation,
)
from enhg.io import Samples, read_samples


def cluster(X: NDArray[np.float64], n_clusters: int) -> HypergraphClustering:
    structure = ElasticNetHypergraph(gamma=20.0)
    return HypergraphClustering(n_clusters, structure=structure, random_state=0).fit(X)


def classify(X: NDArray[np.float64], labels: NDArray[np.int64]) -> HypergraphClassifier:
    return HypergraphClassifier().fit(X, labels)


def represent(X: NDArray[np.float64]) -> float:
    representation: Representation = self_representation(X, gamma=20.0)
    return float(representation.certificate.max())


def estimate(model: HypergraphClustering) -> int:
    count: ClusterCount = count_clusters(model.graph_, random_state=0)
    return count.n_clusters


def refused(X: NDArray[np.float64]) -> str | None:
    try:
        self_representation(X, gamma=-1.0)
    except InputError as error:
        return error.parameter
    return None


def main(folder: Path) -> None:
    rng = np.random.default_rng(0)
    bases = rng.normal(size=(3, 3, 30))
    X = np.vstack([rng.normal(size=(20, 3)) @ basis for basis in bases])
    truth = np.repeat(np.arange(3), 20)

    model = cluster(X, 3)
    accuracy: float = clustering_accuracy(truth, model.labels_)
    new: NDArray[np.int64] = model.predict(X[:5])
    to_label: list[int] = model.suggest(3).tolist()
    classifier = classify(X, np.where(np.arange(60) % 5 == 0, truth, -1))

    save_model(model, folder / "model.npz")
    loaded = load_model(folder / "model.npz")
    np.save(folder / "samples.npy", X)
    samples: Samples = read_samples(folder / "samples.npy")

    hypergraph = Hypergraph.from_edges([[0, 1, 2], [2, 3]])
    degrees: NDArray[np.float64] = hypergraph.vertex_degrees
    version: str = enhg.__version__
    assert accuracy == 1
    assert len(to_label) == 3
    assert len(degrees) == 4
    assert version
    assert (classifier.transduction_ == truth).all()
    assert (loaded.predict(X[:5]) == new).all()
    assert len(samples.names) == 60
    assert represent(X) < 1e-3
    assert refused(X) == "gamma"
    assert estimate(model) == 3


if __name__ == "__main__":
    main(Path.cwd())
