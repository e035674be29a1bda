"""What is solved: samples, penalties, our call, the matrix product to compare with, the judge."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import enhg
from enhg.datasets import load

TOL = 1e-4
_BLOCK_ROWS = 512
# A Gram matrix larger than this is computed in blocks of rows and not kept.
_WHOLE_GRAM_BYTES = 2 * 2**30


@dataclass(frozen=True)
class Problem:
    """½‖x − Σ zⱼxⱼ‖² + a‖z‖₁ + (b/2)‖z‖² for every sample x, own coefficient held at zero."""

    dataset: str
    count: int
    a: float
    b: float
    center: bool = False

    def but(self, **changes: object) -> Problem:
        return replace(self, **changes)

    def samples(self, folder: Path) -> NDArray:
        """The first `count` samples of the set, unit length, float32."""
        X = enhg.normalize_samples(_images(self.dataset, folder)[: self.count], center=self.center)
        return np.ascontiguousarray(X, dtype=np.float32)

    @property
    def parameters(self) -> dict[str, object]:
        """The same objective in our words."""
        return {"gamma": 1 / self.a, "lam": self.b / (2 * self.a), "scale": "absolute", "tol": TOL}

    def solver(self, X: NDArray, **choices: object) -> Callable[[], enhg.Representation]:
        """Our solver, ready to be called without arguments."""
        return lambda: enhg.self_representation(X, **(self.parameters | choices))


@cache
def _images(dataset: str, folder: Path) -> NDArray:
    return load(dataset, folder).X


def warm_up(X: NDArray, **choices: object) -> None:
    """Compile the solver for this kind of array, or load it from disk, outside every timer."""
    enhg.self_representation(X[:200], **choices)


def gram(X: NDArray) -> Callable[[], None]:
    """One X @ X.T, in blocks of rows into one buffer where the whole does not fit.

    The memory is allocated and touched here, so that the call is the product alone.
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
    """The objective of each row, and its worst violation of the KKT conditions relative to a.

    In float64 whatever the solver worked in, by the same formula for everybody.
    """
    atoms = X.astype(np.float64)
    errors = atoms[rows] - Z @ atoms
    objective = (errors**2).sum(1) / 2 + a * np.abs(Z).sum(1) + b / 2 * (Z**2).sum(1)
    slope = errors @ atoms.T - b * Z
    violation = np.where(Z != 0, np.abs(slope - a * np.sign(Z)), np.maximum(np.abs(slope) - a, 0))
    violation[np.arange(len(rows)), rows] = 0
    return objective, violation.max(1) / a
