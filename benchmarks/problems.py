"""The problems: samples, penalties, calls of the solver, the matrix product, optimality."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy.ndimage import affine_transform
from sklearn.decomposition import PCA

import enhg
from enhg.datasets import load
from enhg.preprocessing import SampleNormalizer

TOL = 1e-4
_BLOCK_ROWS = 512
_MAPPED_AT_ONCE = 10_000
_EMBEDDINGS = "clip_vitb32_caltech101.npz"
_SYNTHETIC = (4096, 512, 100)  # samples, features and classes where there is no such file
# A Gram matrix larger than this is computed in blocks of rows and not kept.
_WHOLE_GRAM_BYTES = 2 * 2**30


@dataclass(frozen=True)
class Problem:
    """½‖x − Σ zⱼxⱼ‖² + a‖z‖₁ + (b/2)‖z‖² for every sample x, own coefficient fixed at zero."""

    dataset: str
    count: int
    a: float
    b: float
    center: bool = False

    def replace(self, **changes: object) -> Problem:
        return dataclasses.replace(self, **changes)

    def samples(self, folder: Path) -> NDArray:
        """The first `count` samples of the set, of unit length, in float32."""
        X = _images(self.dataset, folder)[: self.count]
        X = SampleNormalizer(center=self.center).fit_transform(X)
        return np.ascontiguousarray(X, dtype=np.float32)

    @property
    def parameters(self) -> dict[str, object]:
        """Parameters of `self_representation` for this objective."""
        return {
            "gamma": 1 / self.a,
            "lam": self.b / (2 * self.a),
            "gamma_scale": "absolute",
            "tol": TOL,
        }

    def solver(self, X: NDArray, **choices: object) -> Callable[[], enhg.Representation]:
        """`self_representation` of X as a function without arguments."""
        return lambda: enhg.self_representation(X, **(self.parameters | choices))


@cache
def _images(dataset: str, folder: Path) -> NDArray:
    return load(dataset, folder).X


def labeled_images(dataset: str, folder: Path) -> tuple[NDArray, NDArray]:
    """All samples of a set and their labels."""
    loaded = load(dataset, folder)
    return loaded.X, np.asarray(loaded.y)


def deformed_images(count: int, n_features: int, folder: Path) -> tuple[NDArray, NDArray]:
    """MNIST images under random small affine maps, on their first principal components.

    Image number i is the i-th of MNIST, modulo their number. It is rotated by up to 10°, scaled by
    0.9 to 1.1 along each axis, sheared by up to 0.1 and shifted by up to one pixel. The components
    are those of the images without maps.
    """
    images, labels = labeled_images("mnist", folder)
    images = images.astype(np.float32) / 255
    components = PCA(n_features, random_state=0).fit(images[::7])
    source = np.arange(count) % len(images)
    starts = range(0, count, _MAPPED_AT_ONCE)
    parts = Parallel(n_jobs=-1)(
        delayed(_map_images)(images[source[at : at + _MAPPED_AT_ONCE]], at, components)
        for at in starts
    )
    return np.concatenate(parts), labels[source]


def _map_images(images: NDArray, seed: int, components: PCA) -> NDArray:
    """Images under random affine maps, on principal components."""
    rng = np.random.default_rng(seed)
    side = int(np.sqrt(images.shape[1]))
    middle = np.full(2, (side - 1) / 2)
    mapped = np.empty_like(images)
    for image, out in zip(images, mapped, strict=True):
        angle, shear = rng.uniform(-1, 1, 2) * (np.pi / 18, 0.1)
        cos, sin = np.cos(angle), np.sin(angle)
        matrix = np.array([[cos, -sin], [sin, cos]]) @ np.array([[1, shear], [0, 1]])
        matrix *= rng.uniform(0.9, 1.1, 2)
        offset = middle - matrix @ (middle + rng.uniform(-1, 1, 2))
        square = image.reshape(side, side)
        affine_transform(square, matrix, offset, output=out.reshape(side, side), order=1)
    return np.asarray(components.transform(mapped), dtype=np.float32)


def embeddings(folder: Path, limit: int | None) -> tuple[str, NDArray]:
    """Embeddings of images by CLIP, or synthetic ones, in unit length and float32; with a name."""
    file = Path(folder) / _EMBEDDINGS
    if file.exists():
        name, X = "CLIP, Caltech 101", np.load(file)["X"]
    else:
        name, X = "synthetic embeddings", _synthetic_embeddings(*_SYNTHETIC)
    X = SampleNormalizer().fit_transform(X[:limit].astype(np.float32))
    return name, np.ascontiguousarray(X, dtype=np.float32)


def _synthetic_embeddings(n: int, d: int, n_classes: int) -> NDArray:
    """A common direction, classes, and variation in directions of decreasing weight."""
    rng = np.random.default_rng(0)
    weights = 1 / np.sqrt(1 + np.arange(d))
    classes = rng.standard_normal((n_classes, d))
    within = rng.standard_normal((n, d))
    X = 0.7 * classes[rng.integers(0, n_classes, n)] + 0.5 * within
    return X * weights + 2.0 * (np.arange(d) == 0)


def warm_up(X: NDArray, **choices: object) -> None:
    """Compile the solver for this type of array, or load it from disk, outside every timer."""
    enhg.self_representation(X[:200], **choices)


def gram(X: NDArray) -> Callable[[], None]:
    """One X @ X.T, in blocks of rows into one buffer where the whole does not fit.

    Memory is allocated and touched here, so that the returned function is the product alone.
    """
    n = len(X)
    rows = n if n * n * X.itemsize <= _WHOLE_GRAM_BYTES else _BLOCK_ROWS
    buffer = np.zeros((rows, n), X.dtype)

    def multiply() -> None:
        for at in range(0, n, rows):
            block = X[at : at + rows]
            np.matmul(block, X.T, out=buffer[: len(block)])

    return multiply


def optimality(
    X: NDArray, rows: NDArray, Z: NDArray, a: float, b: float
) -> tuple[NDArray, NDArray]:
    """The objective of each row, and its largest violation of the KKT conditions relative to a.

    Computed in float64, by the same formulas for every solver.
    """
    atoms = X.astype(np.float64)
    residuals = atoms[rows] - Z @ atoms
    objective = (residuals**2).sum(1) / 2 + a * np.abs(Z).sum(1) + b / 2 * (Z**2).sum(1)
    slope = residuals @ atoms.T - b * Z
    violation = np.where(Z != 0, np.abs(slope - a * np.sign(Z)), np.maximum(np.abs(slope) - a, 0))
    violation[np.arange(len(rows)), rows] = 0
    return objective, violation.max(1) / a
