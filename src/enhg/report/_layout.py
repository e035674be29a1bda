"""Points of many dimensions as a map: neighbors stay neighbors, groups stand apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

_NEIGHBORS = 30
_ROUNDS = 600
_REPELLED = 4  # random others that push a point away, each time a neighbor draws it
_PUSH = 0.25
_PULL = 0.02  # of its distance, towards the middle
_START = 10.0  # the width of the map that the moves begin from
_LONGEST_MOVE = 4.0


def lay_out(points: NDArray) -> NDArray:
    """A place in the plane for every point, within [0, 1]².

    From the plane of the two main directions, every point is drawn again and again towards one
    of its nearest neighbors and pushed away from a few random points, by the forces of the
    kernel 1/(1 + d²) and ever shorter moves (as in LargeVis and UMAP); a slight pull to the
    middle keeps groups together. Near is near, but how far groups are apart means little.
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
    """The nearest others of every point, a row each."""
    count = min(_NEIGHBORS, len(points) - 1)
    # Equal points would otherwise be neighbors of each other alone, in knots.
    jitter = np.random.default_rng(1).normal(scale=1e-4 * (points.std() or 1), size=points.shape)
    model = NearestNeighbors(n_neighbors=count).fit(points + jitter)
    return model.kneighbors(return_distance=False)


def _main_plane(points: NDArray) -> NDArray:
    centerd = points - points.mean(axis=0)
    _, directions = np.linalg.eigh(centerd.T @ centerd)
    plane = centerd @ directions[:, : -min(2, points.shape[1]) - 1 : -1]
    plane = np.hstack([plane, np.zeros((len(points), 2 - plane.shape[1]))])
    return _START * plane / (np.abs(plane).max() or 1)


def _within_unit_square(place: NDArray) -> NDArray:
    low, high = place.min(axis=0), place.max(axis=0)
    span = float((high - low).max()) or 1.0
    return 0.5 + (place - (low + high) / 2) / span
