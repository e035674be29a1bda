"""Data, labels and pictures of ``enhg demo``: digits, or photographs."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from enhg import plotting
from enhg._optional import require
from enhg.datasets import load
from enhg.io import Samples
from enhg.learning.classification import HypergraphClassifier
from enhg.learning.clustering import HypergraphClustering
from enhg.run import Run
from enhg.run import label_table as label_table_of_run
from enhg.structures.elastic_net import ElasticNetHypergraph

_LABELED = 0.05
_VARIANTS = 24  # photographs that are made of every picture
_LABELED_PHOTOS = 2  # of every class
# Pictures that are part of scikit-image and scikit-learn, by class.
_FORMATS = ("JPEG", "PNG")
_PICTURES = {
    "cat": ("skimage.data", "chelsea.png"),
    "coffee": ("skimage.data", "coffee.png"),
    "flower": ("sklearn.datasets.images", "flower.jpg"),
    "galaxies": ("skimage.data", "hubble_deep_field.jpg"),
    "motorcycle": ("skimage.data", "motorcycle_left.png"),
    "portrait": ("skimage.data", "astronaut.png"),
    "rocket": ("skimage.data", "rocket.jpg"),
    "temple": ("sklearn.datasets.images", "china.jpg"),
}


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


def make_photos(folder: Path, seed: int) -> dict[str, str]:
    """Write photographs of eight classes as JPEG files of different sizes into a folder.

    They are cropped, mirrored, brightened or darkened parts of pictures that come with scikit-image
    and scikit-learn; one photograph of every class is there twice.

    Parameters
    ----------
    folder : Path
        Made here.
    seed : int

    Returns
    -------
    dict of str to str
        The class of every file name.
    """
    Image = require("PIL.Image", "images")
    rng = np.random.default_rng(seed)
    folder.mkdir()
    classes = np.repeat(sorted(_PICTURES), _VARIANTS)
    numbers = rng.permutation(len(classes))
    names = {f"photo-{number:03d}.jpg": str(classes[at]) for at, number in enumerate(numbers)}
    for kind, (package, file) in _PICTURES.items():
        with files(package).joinpath(file).open("rb") as stream:
            picture = Image.open(stream, formats=_FORMATS).convert("RGB")
        own = [name for name, its_kind in names.items() if its_kind == kind]
        for name in own[1:]:
            _vary(picture, rng).save(folder / name, quality=int(rng.integers(70, 95)))
        with Image.open(folder / own[1], formats=_FORMATS) as copied:
            copied.save(folder / own[0], quality=60)
    return names


def _vary(picture: Any, rng: np.random.Generator) -> Any:
    """A random part of a picture, perhaps mirrored, and a little lighter or darker."""
    share = rng.uniform(0.35, 0.75)
    width, height = (int(share * side) for side in picture.size)
    left, top = (
        int(rng.integers(0, whole - part + 1))
        for whole, part in zip(picture.size, (width, height), strict=True)
    )
    part = picture.crop((left, top, left + width, top + height))
    if rng.random() < 0.5:
        part = require("PIL.ImageOps", "images").mirror(part)
    part.thumbnail((int(rng.integers(200, 400)),) * 2)
    return require("PIL.ImageEnhance", "images").Brightness(part).enhance(rng.uniform(0.8, 1.2))


def choose_photo_labels(classes: NDArray, seed: int) -> NDArray:
    """The classes of two photographs each, "" for the others."""
    rng = np.random.default_rng(seed)
    given = np.full(len(classes), "", dtype=classes.dtype)
    for kind in np.unique(classes):
        rows = rng.permutation(np.flatnonzero(classes == kind))[:_LABELED_PHOTOS]
        given[rows] = kind
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
