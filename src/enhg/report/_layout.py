"""Map of points of many dimensions in the plane, which keeps neighbors together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

_NEIGHBORS = 30
_ROUNDS = 600
_REPELLED = 4  # random points that repel a point in every round
_PUSH = 0.25
_PULL = 0.02  # towards the center, relative to the distance from it
_START = 10.0  # half width of the initial map
_LONGEST_MOVE = 4.0


def lay_out(points: NDArray) -> NDArray:
    """Places in [0, 1]² for points of many dimensions.

    Starting from the two main directions, each round moves every point towards one of its nearest
    neighbors and away from a few random points, by the forces of the kernel 1/(1 + d²) with
    decreasing step (as in LargeVis and UMAP); a small pull to the center keeps groups together.
    Neighbors are near each other; distances between groups mean little.

    Parameters
    ----------
    points : ndarray of shape (n_samples, n_dimensions)
    """
    n = len(points)
    rng = np.random.default_rng(0)
    place = _main_plane(points) + rng.normal(scale=0.05, size=(n, 2))
    near = _neighbors(points)
    for step in np.linspace(1, 0, _ROUNDS, endpoint=False) if n > 3 else []:
        to = place[near[np.arange(n), rng.integers(near.shape[1], size=n)]] - place
        move = to * (1 / (1 + (to**2).sum(axis=1, keepdims=True))) - _PULL * place
        for _ in range(_REPELLED):
            away = place - place[rng.integers(n, size=n)]
            square = (away**2).sum(axis=1, keepdims=True)
            move += away * (_PUSH / ((0.01 + square) * (1 + square)))
        place += step * np.clip(move, -_LONGEST_MOVE, _LONGEST_MOVE)
    return _within_unit_square(place)


def _neighbors(points: NDArray) -> NDArray:
    """Nearest neighbors of every point, one row each."""
    count = min(_NEIGHBORS, len(points) - 1)
    # Without noise, equal points would have only each other as neighbors.
    jitter = np.random.default_rng(1).normal(scale=1e-4 * (points.std() or 1), size=points.shape)
    model = NearestNeighbors(n_neighbors=count).fit(points + jitter)
    return model.kneighbors(return_distance=False)


def _main_plane(points: NDArray) -> NDArray:
    centered = points - points.mean(axis=0)
    _, directions = np.linalg.eigh(centered.T @ centered)
    plane = centered @ directions[:, : -min(2, points.shape[1]) - 1 : -1]
    plane = np.hstack([plane, np.zeros((len(points), 2 - plane.shape[1]))])
    return _START * plane / (np.abs(plane).max() or 1)


def _within_unit_square(place: NDArray) -> NDArray:
    low, high = place.min(axis=0), place.max(axis=0)
    span = float((high - low).max()) or 1.0
    return 0.5 + (place - (low + high) / 2) / span
