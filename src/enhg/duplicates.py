"""Copies and near-copies among images.

Copies are files of equal contents. Near-copies show the same picture after resizing, recompression,
a change of brightness or a crop of a few percent; mirrored and rotated pictures are others. Every
image is compared with those nearest to it, and with those of its largest coefficients.

Both pictures are reduced to 32×32 pixels in color and one is shifted and scaled, by at most 6 % of
the side, to fit the other. The pair is accepted when the correlation of the pixels (less the mean
of each channel, without the margin) is at least 0.95, the proportions agree within 12 %, the
contrasts within a factor of 1.5, the mean colors within 32 of 255 levels, and the mirrored picture
does not fit better. Pictures of less than 64 pixels have too little detail for that: different
digits, and different photographs of one face, reach 0.99. Two of them must correlate by 0.995
without any shift. Pictures without contrast are compared by their contents only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from enhg._optional import require
from enhg.io._base import Photos
from enhg.io._decoding import open_thumbnail

_SIDE = 32
_NEIGHBORS = 5  # images compared with each image
_MOST_COMPARED = 100_000  # images up to which the nearest ones are found exactly
_CORRELATION = 0.95
_SMALL = 64  # pixels of the longer side
_SMALL_CORRELATION = 0.995
_COARSE_CORRELATION = 0.6  # of pictures of half the side, before they are fitted
_FITTED_COARSE_CORRELATION = 0.85
_TURNED = 0.01  # by which the correlation of a mirrored picture is better
_PROPORTION = np.log(1.12)
_CONTRAST = np.log(1.5)
_MIN_CONTRAST = 4.0  # levels of 255
_MEAN_COLOR = 32.0  # levels of 255
_MAX_SHIFT = 0.06  # of the side
_STEPS = 5
_BATCH = 256

_Pixels = NDArray[np.float32]


@dataclass(frozen=True)
class DuplicateGroup:
    """Images that show the same picture.

    Attributes
    ----------
    members : tuple of int
        Rows of the images: that of the largest picture, then the others in order.
    copies : tuple of bool
        For every member whether its file has the contents of the first; the first is True.
    similarities : tuple of float
        The similarity of every member with the first, from 0 to 1; 1 for the first and its copies.
    """

    members: tuple[int, ...]
    copies: tuple[bool, ...]
    similarities: tuple[float, ...]


def find_duplicates(photos: Photos, coefficients: csr_array | None = None) -> list[DuplicateGroup]:
    """Groups of copies and near-copies among images.

    Parameters
    ----------
    photos : Photos
        The images. Each is compared with the five that are nearest to it as pictures of 8×8
        pixels; of more than 100 000, with five that are nearest or nearly so (extra `large`).
    coefficients : csr_array of shape (n, n), optional
        Coefficients of the self-representation: each image is also compared with those of its
        five largest coefficients in absolute value.

    Returns
    -------
    list of DuplicateGroup
        Groups of two images or more, which are connected by accepted pairs; in order of their
        first rows.
    """
    n = len(photos.digests)
    first: dict[str, int] = {}
    alike = np.array([first.setdefault(digest, i) for i, digest in enumerate(photos.digests)], int)
    rows = np.unique(alike)  # one of every contents
    pictures = _pictures([photos.thumbnails[i] for i in rows])
    sizes = np.array([photos.sizes[i] for i in rows], dtype=np.float64).reshape(-1, 2)
    pairs = _nearest(_unit(_reduced(pictures, 4)))
    if coefficients is not None:
        position = np.searchsorted(rows, alike)
        pairs = np.vstack([pairs, position[_largest(coefficients)]])
    pairs = _distinct(pairs, len(rows))
    pairs = rows[pairs[_near(pictures, sizes, pairs)]]
    pairs = np.vstack([pairs, np.column_stack([np.arange(n), alike])])
    return _groups(photos, pairs)


def duplicate_table(
    groups: Sequence[DuplicateGroup], names: Sequence[str]
) -> Mapping[str, list[Any]]:
    """Columns of duplicates.csv: group, name, kind, of and similarity.

    Parameters
    ----------
    groups : sequence of DuplicateGroup
    names : sequence of str
        The names of all images.

    Returns
    -------
    mapping of str to list
        One row per member; the kind is "copy" or "near-copy" of the image `of`, the first of the
        group, whose own row has neither.

    Examples
    --------
    >>> groups = [DuplicateGroup((2, 0), (True, False), (1.0, 0.9))]
    >>> duplicate_table(groups, ["a", "b", "c"])["similarity"]
    ['1.0000', '0.9000']
    """
    columns = ("group", "name", "kind", "of", "similarity")
    table: dict[str, list[Any]] = {column: [] for column in columns}
    for number, group in enumerate(groups, 1):
        members = zip(group.members, group.copies, group.similarities, strict=True)
        for i, copy, similarity in members:
            is_first = i == group.members[0]
            table["group"].append(number)
            table["name"].append(names[i])
            table["kind"].append("" if is_first else "copy" if copy else "near-copy")
            table["of"].append("" if is_first else names[group.members[0]])
            table["similarity"].append(f"{similarity:.4f}")
    return table


def conflicting(groups: Sequence[DuplicateGroup], names: Sequence[str]) -> list[DuplicateGroup]:
    """The groups whose images have different class names, which are likely errors of labels.

    Parameters
    ----------
    groups : sequence of DuplicateGroup
    names : sequence of str
        The class names of all images, "" for none.

    Returns
    -------
    list of DuplicateGroup
        In the order of `groups`.

    Examples
    --------
    >>> group = DuplicateGroup((0, 1), (True, True), (1.0, 1.0))
    >>> conflicting([group], ["oak", "elm"]) == [group], conflicting([group], ["oak", ""])
    (True, [])
    """
    return [group for group in groups if len({names[i] for i in group.members} - {""}) > 1]


def _groups(photos: Photos, pairs: NDArray[np.int_]) -> list[DuplicateGroup]:
    n = len(photos.digests)
    graph = coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    component = connected_components(graph, directed=False)[1]
    order = np.argsort(component, kind="stable")
    starts = np.flatnonzero(np.diff(component[order], prepend=-1, append=-1))
    groups = []
    for start, end in pairwise(starts):
        members = order[start:end].tolist()
        if len(members) > 1:
            members.sort(key=lambda i: -photos.sizes[i][0] * photos.sizes[i][1])
            members[1:] = sorted(members[1:])
            digest = photos.digests[members[0]]
            copies = tuple(photos.digests[i] == digest for i in members)
            similarities = tuple(1.0 if copy else _CORRELATION for copy in copies)
            groups.append(DuplicateGroup(tuple(members), copies, similarities))
    return sorted(groups, key=lambda group: min(group.members))


def _pictures(thumbnails: Sequence[bytes]) -> NDArray[np.uint8]:
    """Pixels of thumbnails, all reduced to one size: (n, channels, height, width)."""
    Image = require("PIL.Image", "images")
    pictures = np.empty((len(thumbnails), 3, _SIDE, _SIDE), dtype=np.uint8)
    for picture, thumbnail in zip(pictures, thumbnails, strict=True):
        with open_thumbnail(thumbnail) as image:
            image.draft("RGB", (2 * _SIDE, 2 * _SIDE))  # decoded at reduced scale
            small = image.convert("RGB").resize((_SIDE, _SIDE), Image.Resampling.HAMMING)
        picture[:] = np.asarray(small).transpose(2, 0, 1)
    return pictures


def _reduced(pictures: NDArray[Any], factor: int) -> _Pixels:
    """Means of squares of pixels."""
    n, channels, side = pictures.shape[:3]
    blocks = pictures.reshape(n, channels, side // factor, factor, side // factor, factor)
    return blocks.mean(axis=(3, 5), dtype=np.float32)


def _centered(pictures: NDArray[Any]) -> _Pixels:
    pixels = np.asarray(pictures, dtype=np.float32)
    return pixels - pixels.mean(axis=(2, 3), dtype=np.float32, keepdims=True)


def _unit(pictures: NDArray[Any]) -> _Pixels:
    """Vectors of length 1 of the pixels less the mean of each channel."""
    rows = _rows(_centered(pictures))
    lengths: _Pixels = np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)
    return rows / lengths


def _rows(pictures: _Pixels) -> _Pixels:
    return pictures.reshape(len(pictures), prod(pictures.shape[1:]))


def _nearest(points: NDArray[Any]) -> NDArray[np.int_]:
    """Pairs of every row and the rows nearest to it."""
    from sklearn.neighbors import NearestNeighbors

    n = len(points)
    count = min(_NEIGHBORS, n - 1)
    if count < 1:
        return np.empty((0, 2), dtype=int)
    if n > _MOST_COMPARED:
        index = require("pynndescent", "large").NNDescent(points, random_state=0)
        nearest = index.neighbor_graph[0][:, : count + 1]  # with the row itself
    else:
        model = NearestNeighbors(n_neighbors=count, algorithm="brute").fit(points)
        nearest = model.kneighbors(return_distance=False)
    pairs = np.column_stack([np.repeat(np.arange(n), nearest.shape[1]), nearest.ravel()])
    return pairs[pairs[:, 1] >= 0]  # −1 stands for a neighbor that the index does not know


def _distinct(pairs: NDArray[np.int_], n: int) -> NDArray[np.int_]:
    """The pairs of two different numbers below n, the smaller first, each once and in order."""
    low, high = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1).T
    return np.column_stack(np.divmod(np.unique(low * n + high), n))


def _largest(coefficients: csr_array) -> NDArray[np.int_]:
    """Pairs of every row and the columns of its largest coefficients in absolute value."""
    matrix = csr_array(coefficients)
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((-np.abs(matrix.data), row))
    rank = np.arange(matrix.nnz) - matrix.indptr[row]
    chosen = order[rank < _NEIGHBORS]
    return np.column_stack([row[chosen], matrix.indices[chosen]])


def _near(
    pictures: NDArray[np.uint8], sizes: NDArray[np.float64], pairs: NDArray[np.int_]
) -> NDArray[np.bool_]:
    """Which pairs of pictures are near-copies."""
    contrast = np.empty(len(pictures))
    for start in range(0, len(pictures), _BATCH):
        part = slice(start, start + _BATCH)
        contrast[part] = _centered(pictures[part]).std(axis=(1, 2, 3))
    color = pictures.mean(axis=(2, 3))
    proportion = np.log(sizes[:, 0] / sizes[:, 1])
    small = sizes.max(axis=1, initial=0) < _SMALL
    a, b = pairs.T
    tone = np.log(np.maximum(contrast, 1e-6))
    near = (
        (np.minimum(contrast[a], contrast[b]) >= _MIN_CONTRAST)
        & (np.abs(tone[a] - tone[b]) <= _CONTRAST)
        & (np.abs(proportion[a] - proportion[b]) <= _PROPORTION)
        & (np.abs(color[a] - color[b]).max(axis=1, initial=0) <= _MEAN_COLOR)
    )
    likely = np.flatnonzero(near)
    for start in range(0, len(likely), _BATCH):
        batch = likely[start : start + _BATCH]
        p, q = pictures[a[batch]], pictures[b[batch]]
        both_small = small[a[batch]] & small[b[batch]]
        same = np.einsum("ij,ij->i", _unit(p), _unit(q)) >= _SMALL_CORRELATION
        same[~both_small] = _fit_each_other(p[~both_small], q[~both_small])
        near[batch] = same
    return near


def _fit_each_other(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether pictures correlate after fitting one to the other: coarsely first, then in detail."""
    near = np.zeros(len(a), dtype=bool)
    if not len(a):
        return near
    coarse_a, coarse_b = _reduced(a, 2), _reduced(b, 2)
    rows = np.flatnonzero(
        np.einsum("ij,ij->i", _unit(coarse_a), _unit(coarse_b)) >= _COARSE_CORRELATION
    )
    window = np.zeros((len(rows), 2, 2), dtype=np.float32)
    correlation, window = _fit(coarse_a[rows], coarse_b[rows], window)
    close = correlation >= _FITTED_COARSE_CORRELATION
    rows, window = rows[close], window[close]
    fine_a, fine_b = a[rows].astype(np.float32), b[rows].astype(np.float32)
    correlation, _ = _fit(fine_a, fine_b, window)
    same = correlation >= _CORRELATION
    for axes in ((2,), (3,), (2, 3)):
        turned, _ = _fit(fine_a[same], np.flip(fine_b[same], axes), np.zeros_like(window[same]))
        same[same] = turned <= correlation[same] + _TURNED
    near[rows] = same
    return near


def _fit(
    a: _Pixels, b: _Pixels, window: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Shift and scale `b` to fit `a` by Gauss–Newton steps.

    `window` holds for every pair, for height and width, the shift and the change of scale to start
    with. Returns the largest correlation of every pair and its window.
    """
    n, _, side = a.shape[:3]
    margin = max(1, round(_MAX_SHIFT * side))
    inner = slice(margin, side - margin)
    place = _places(side)[inner]
    target = _unit(a[..., inner, inner])
    limit = np.array([_MAX_SHIFT, 2 * _MAX_SHIFT], dtype=np.float32)
    best = np.full(n, -1, dtype=np.float32)
    best_window = window.copy()
    for _ in range(_STEPS):
        moved = _window(b, window)
        down, right = (side * np.gradient(moved, axis=k)[..., inner, inner] for k in (2, 3))
        centered = _rows(_centered(moved[..., inner, inner]))
        length = np.maximum(np.linalg.norm(centered, axis=1, keepdims=True), 1e-6)
        correlation = np.einsum("ij,ij->i", target, centered / length)
        better = correlation > best
        best[better], best_window[better] = correlation[better], window[better]
        slopes = [down, down * place[:, None], right, right * place]
        J = np.stack([_rows(_centered(slope)) / length for slope in slopes], axis=1)
        normal = J @ J.transpose(0, 2, 1)
        damping = 1e-3 * np.einsum("ijj->i", normal) / 4 + 1e-9
        step = np.linalg.solve(
            normal + damping[:, None, None] * np.eye(4), J @ (target - centered / length)[..., None]
        )
        window = np.clip(window + step.reshape(n, 2, 2), -limit, limit).astype(np.float32)
    return best, best_window


def _places(side: int) -> NDArray[np.float32]:
    """Centers of pixels, from −½ to ½."""
    return (np.arange(side) / side + (0.5 / side - 0.5)).astype(np.float32)


def _window(pictures: _Pixels, window: NDArray[np.float32]) -> _Pixels:
    """Pixels at shifted and scaled places, by linear interpolation along height and width."""
    side = pictures.shape[2]
    at = _places(side) * (1 + window[..., 1:]) + window[..., :1]
    at = np.clip((at + 0.5) * side - 0.5, 0, side - 1)
    weights = np.maximum(0, 1 - np.abs(at[..., None] - np.arange(side, dtype=np.float32)))
    return weights[:, None, 0] @ pictures @ weights[:, None, 1].transpose(0, 1, 3, 2)
