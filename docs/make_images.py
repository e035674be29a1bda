"""Make the images of docs/pictures.md: python docs/make_images.py."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.datasets import load_digits

from enhg import (
    ElasticNetHypergraph,
    HypergraphClustering,
    KNNHypergraph,
    clustering_accuracy,
    elastic_net_path,
    plotting,
)
from enhg.preprocessing import SampleNormalizer

FOLDER = Path(__file__).parent / "images"
IMAGE_SHAPE = (8, 8)
LAMBDAS = [0, 0.1, 0.3, 1, 3, 10, 30]


def plots() -> dict[str, tuple[tuple[float, float], Callable[[Axes], Axes]]]:
    """Size in inches and drawing function of every image, by the name of its file."""
    X, y = load_digits(return_X_y=True)
    model = HypergraphClustering(random_state=0).fit(X)
    structure, labels = model.structure_, model.labels_
    sample = int(model.boundary_scores_.argmax())
    Z = structure.representation_.coefficients
    row = Z[[3]].toarray().ravel()[np.argsort(labels, kind="stable")]
    first = int((labels < labels[3]).sum())
    own = slice(first, first + int((labels == labels[3]).sum()))
    threshold = abs(structure.member_coefficients_[[3]].data).min()
    path = elastic_net_path(SampleNormalizer().fit_transform(X[:300]), 3, ridge=0.5)
    images = X.reshape(-1, *IMAGE_SHAPE)
    return {
        "cluster-count": (
            (6, 3.6),
            lambda ax: plotting.plot_cluster_count(model.cluster_count_, ax=ax),
        ),
        "spectrum": (
            (6, 3.6),
            lambda ax: plotting.plot_spectrum(
                model.spectrum_.eigenvalues, model.n_clusters_, ax=ax
            ),
        ),
        "embedding": (
            (5.2, 5.2),
            lambda ax: plotting.plot_embedding(model.embedding_, labels, ax=ax),
        ),
        "cluster-samples": (
            (7, 5.2),
            lambda ax: plotting.plot_clusters(images, labels, model.confidence_, ax=ax),
        ),
        "confusion": (
            (5.2, 5.2),
            lambda ax: plotting.plot_confusion(y, labels, match=True, ax=ax),
        ),
        "coefficient-matrix": (
            (4.6, 4.6),
            lambda ax: plotting.plot_coefficient_matrix(Z, labels, ax=ax),
        ),
        "coefficients": (
            (8, 2.6),
            lambda ax: plotting.plot_coefficients(row, threshold, own, ax=ax),
        ),
        "incidence": (
            (4.6, 4.6),
            lambda ax: plotting.plot_incidence(structure.graph_, labels, ax=ax),
        ),
        "hyperedge": (
            (9, 2.2),
            lambda ax: plotting.plot_hyperedge(structure, 3, IMAGE_SHAPE, labels, ax=ax),
        ),
        "memberships": (
            (9, 2.2),
            lambda ax: plotting.plot_memberships(structure, sample, IMAGE_SHAPE, labels, ax=ax),
        ),
        "reconstructions": (
            (5.5, 3.8),
            lambda ax: plotting.plot_reconstructions(
                structure, [0, 1, 2, sample], IMAGE_SHAPE, ax=ax
            ),
        ),
        "path": ((7, 4.2), lambda ax: plotting.plot_path(path, ax=ax)),
        "image": ((1.6, 1.6), lambda ax: plotting.plot_image(images[3], ax=ax)),
        "comparison": (
            (6, 3.6),
            lambda ax: plotting.plot_comparison(
                {"ENHG": _accuracies(None), "KNN-HG": _accuracies(KNNHypergraph())},
                "ENHG",
                "AC",
                ax=ax,
            ),
        ),
        "curves": (
            (6, 3.6),
            lambda ax: plotting.plot_curves(
                {f"γ = {gamma}": (LAMBDAS, _accuracies_by_lambda(gamma)) for gamma in (3, 10)},
                "λ",
                "AC",
                ax=ax,
            ),
        ),
    }


def _accuracy(n_classes: int, structure: object) -> float:
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    model = HypergraphClustering(n_classes, structure=structure, random_state=0)
    return clustering_accuracy(y, model.fit_predict(X))


def _accuracies(structure: object) -> list[tuple[str, float]]:
    return [(f"{k} digits", _accuracy(k, structure)) for k in (4, 6, 8, 10)]


def _accuracies_by_lambda(gamma: float) -> list[float]:
    return [_accuracy(10, ElasticNetHypergraph(gamma=gamma, lam=lam)) for lam in LAMBDAS]


def main() -> None:
    """Draw every plot on a figure of its own and save it as a PNG of 100 dpi."""
    FOLDER.mkdir(exist_ok=True)
    for name, (size, draw) in plots().items():
        figure = Figure(figsize=size, dpi=100, layout="constrained")
        draw(figure.subplots())
        figure.savefig(FOLDER / f"{name}.png", metadata={"Software": None})


if __name__ == "__main__":
    main()
