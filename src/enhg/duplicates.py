"""Copies and near-copies among images.

Copies are files of equal contents. Near-copies show the same picture after resizing, recompression,
a change of brightness or a crop of a few percent; mirrored and rotated pictures are others. Every
image is compared with those nearest to it, and with those of its largest coefficients.

Pairs whose proportions, contrasts or mean colors differ much are refused. Of others, both pictures
are reduced to 32×32 pixels in color and one is shifted and scaled, by at most 6 % of the side, to
fit the other. Where they correlate, and the mirrored picture does not fit better, they are compared
in detail, at 128 pixels or the size of the smaller: different pictures of one kind agree in what is
large, as sky and horizon or the outline of a leaf, copies also in what is small. The fit is refined
and a band of middle frequencies, which recompression and resizing keep, is correlated in
overlapping blocks. The similarity is the first quartile of the correlations of blocks with texture:
three quarters of them are at least as similar. Where the three least similar blocks with strong
texture correlate little, as where one form is filled in twice, pictures are no copies. Where few
blocks have texture, half the side is taken, and at 32 pixels they are compared by contents only.

Two pictures of less than 64 pixels, or one of less than 48, have too little detail for that:
different photographs of one face are as similar as copies. They must correlate by 0.999, reduced to
8×8 pixels, without shift.

The thresholds of both were chosen by ``python -m experiments copies``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.ndimage import gaussian_filter, uniform_filter
from scipy.sparse import csr_array

from enhg._optional import require
from enhg.io._base import Photos
from enhg.io._decoding import open_thumbnail

_NEIGHBORS = 15  # images compared with each image
_MOST_COMPARED = 100_000  # images up to which the nearest ones are found exactly
_SIDE = 32
_UNFITTED_CORRELATION = 0.6  # of pictures of half the side
_COARSE_CORRELATION = 0.85  # of these, fitted to each other
_CORRELATION = 0.9  # of pictures of the whole side, fitted to each other
_DETAIL_SIDE = 128
_UNIT = 16  # sides are multiples of it
_BAND = (0.8, 2.5)  # standard deviations of the two Gaussian filters, in pixels
_BLOCKS = 8  # along the side, of which the margin takes one
_TEXTURE = 16.0  # variance of the band in a block, in squared levels of 255
_MIN_BLOCKS = 20  # with texture, of 169
_SIMILARITY = 0.88
_STRONG = 8  # times as much texture, which compression and clipping hardly change
_FEWEST = 3  # blocks
_LEAST_CORRELATION = 0.7  # mean of the blocks with strong texture that are least similar
_SMALL = 64  # pixels of the longer side of both pictures
_TINY = 48  # of one
_SMALL_SIMILARITY = 0.999
_TURNED = 0.01  # by which the correlation of a mirrored picture is better
_PROPORTION = np.log(1.12)
_CONTRAST = 2.0
_MIN_CONTRAST = 4.0  # levels of 255
_MEAN_COLOR = 64.0  # levels of 255
_MAX_SHIFT = 0.06  # of the side
_STEPS = 5
_DETAIL_STEPS = 3  # as many as change anything
_BATCH = 256
_DETAIL_BATCH = 32

_Pixels = NDArray[np.float32]
_Rows = NDArray[np.int_]


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
        The images. Each is compared with the 15 that are nearest to it as pictures of 8×8
        pixels; of more than 100 000, with 15 that are nearest or nearly so (extra `large`).
    coefficients : csr_array of shape (n, n), optional
        Coefficients of the self-representation: each image is also compared with those of its
        15 largest coefficients in absolute value.

    Returns
    -------
    list of DuplicateGroup
        Groups of two images or more, in order of their first rows. The largest picture that is in
        no group yet leads the next group, and every other member is similar to it.
    """
    first: dict[str, int] = {}
    alike = np.array([first.setdefault(digest, i) for i, digest in enumerate(photos.digests)], int)
    rows, position = np.unique(alike, return_inverse=True)  # one of every contents
    copies: list[list[int]] = [[] for _ in rows]
    for i, at in enumerate(position.tolist()):
        copies[at].append(i)
    pictures = _Pictures(photos, rows)
    pairs = _nearest(pictures.points)
    if coefficients is not None:
        pairs = np.vstack([pairs, position[_largest(coefficients)]])
    groups = []
    for similar in _groups(pictures, _distinct(pairs, len(rows))):
        leader = next(iter(similar))
        similarity = {i: similar[at] for at in similar for i in copies[at]}
        if len(similarity) > 1:
            members = sorted(similarity, key=lambda i: (i != rows[leader], i))
            is_copy = tuple(i in copies[leader] for i in members)
            similarities = tuple(similarity[i] for i in members)
            groups.append(DuplicateGroup(tuple(members), is_copy, similarities))
    return sorted(groups, key=lambda group: min(group.members))


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


class _Pictures:
    """Pictures of distinct contents, in the sizes that they are compared in."""

    def __init__(self, photos: Photos, rows: _Rows) -> None:
        self.thumbnails = [photos.thumbnails[i] for i in rows]
        self.pixels = _decoded(self.thumbnails, "RGB", _SIDE)
        self.points = _unit(_reduced(self.pixels, 4))
        sizes = np.array([photos.sizes[i] for i in rows], dtype=np.float64).reshape(-1, 2)
        self.area = sizes.prod(axis=1)
        self.longer = sizes.max(axis=1, initial=0)
        self.proportion = np.log(sizes[:, 0] / sizes[:, 1])
        self.color = self.pixels.mean(axis=(2, 3))
        variances = [picture.var(axis=(1, 2)).mean() for picture in self.pixels]
        self.contrast = np.sqrt(variances)

    def similarities(self, pairs: ArrayLike) -> NDArray[np.float64]:
        """Similarities of pairs of pictures, 0 where they are no near-copies."""
        pairs = np.asarray(pairs, dtype=int).reshape(-1, 2)
        similarity = np.zeros(len(pairs))
        likely = np.flatnonzero(self._comparable(*pairs.T))
        longer = self.longer[pairs[likely]]
        small = (longer.max(axis=1, initial=0) < _SMALL) | (longer < _TINY).any(axis=1)
        a, b = pairs[likely[small]].T
        correlation = np.einsum("ij,ij->i", self.points[a], self.points[b])
        similarity[likely[small]] = np.where(correlation >= _SMALL_SIMILARITY, correlation, 0)
        large = likely[~small]
        for start in range(0, len(large), _BATCH):
            batch = large[start : start + _BATCH]
            a, b = pairs[batch].T
            rows, window = _fit_each_other(self.pixels[a], self.pixels[b])
            similarity[batch[rows]] = self._detailed(a[rows], b[rows], window)
        return np.minimum(similarity, 1)  # of rounding

    def linked(self, pairs: _Rows) -> _Rows:
        """The pairs of pictures that may be near-copies, by what takes little time."""
        pairs = pairs[self._comparable(*pairs.T)]
        parts = [pairs[:0]]
        for start in range(0, len(pairs), _BATCH):
            batch = pairs[start : start + _BATCH]
            parts.append(batch[_fit_coarsely(*(self.pixels[rows] for rows in batch.T))[0]])
        return np.concatenate(parts)

    def _comparable(self, a: _Rows, b: _Rows) -> NDArray[np.bool_]:
        """Whether proportions, contrasts and mean colors differ little."""
        low = np.minimum(self.contrast[a], self.contrast[b])
        high = np.maximum(self.contrast[a], self.contrast[b])
        near: NDArray[np.bool_] = (
            (low >= _MIN_CONTRAST)
            & (high <= _CONTRAST * low)
            & (np.abs(self.proportion[a] - self.proportion[b]) <= _PROPORTION)
            & (np.abs(self.color[a] - self.color[b]).max(axis=1, initial=0) <= _MEAN_COLOR)
        )
        return near

    def _detailed(self, a: _Rows, b: _Rows, window: _Pixels) -> NDArray[np.float64]:
        """Similarities in detail, 0 where they are below the threshold.

        The side is that of the smaller picture, at most 128 pixels, in multiples of 16, so that
        the margin and the blocks are of whole pixels; half of it where blocks have no texture.
        """
        similarity, texture = np.full(len(a), np.nan), np.full(len(a), _TEXTURE)
        sides = np.clip(np.minimum(self.longer[a], self.longer[b]), _SIDE, _DETAIL_SIDE) // _UNIT
        for units in range(_DETAIL_SIDE // _UNIT, _SIDE // _UNIT - 1, -1):
            pairs = np.flatnonzero(sides == units)
            for start in range(0, len(pairs), _DETAIL_BATCH):
                batch = pairs[start : start + _DETAIL_BATCH]
                rows, at = np.unique([a[batch], b[batch]], return_inverse=True)
                gray = _decoded([self.thumbnails[i] for i in rows], "L", units * _UNIT)
                p, q = gray[at.reshape(2, -1)].astype(np.float32)
                _, fitted = _fit(p, q, window[batch], _DETAIL_STEPS)
                similarity[batch] = _block_similarity(p, _window(q, fitted), texture[batch])
            smooth = pairs[np.isnan(similarity[pairs])]
            sides[smooth] = max(units // 2, _SIDE // _UNIT)
            texture[smooth] /= 4  # of noise, less is left
        return np.where(similarity >= _SIMILARITY, similarity, 0)


def _groups(pictures: _Pictures, pairs: _Rows) -> Iterator[dict[int, float]]:
    """Every leader and the pictures that are similar to it, with their similarities.

    The largest picture that is in no group yet leads the next one, which may have no other. It is
    compared with the pictures that are linked to it, then with those linked to a similar one, and
    so on: where most pictures are near-copies, few pairs are compared in detail.
    """
    neighbors: dict[int, list[int]] = defaultdict(list)
    for a, b in pictures.linked(pairs).tolist():
        neighbors[a].append(b)
        neighbors[b].append(a)
    grouped: set[int] = set()
    for leader in np.argsort(-pictures.area, kind="stable").tolist():
        if leader not in grouped:
            group, tried, latest = {leader: 1.0}, {leader}, {leader: 1.0}
            while new := {b for a in latest for b in neighbors[a]} - tried - grouped:
                similarity = pictures.similarities([(leader, i) for i in new]).tolist()
                latest = {i: value for i, value in zip(new, similarity, strict=True) if value}
                group |= latest
                tried |= new
            grouped |= group.keys()
            yield group


def _decoded(thumbnails: Sequence[bytes], mode: str, side: int) -> NDArray[np.uint8]:
    """Pixels of thumbnails, all reduced to one size: (n, channels, side, side)."""
    Image = require("PIL.Image", "images")
    pictures = np.empty((len(thumbnails), len(mode), side, side), dtype=np.uint8)
    for picture, thumbnail in zip(pictures, thumbnails, strict=True):
        with open_thumbnail(thumbnail) as image:
            image.draft(mode, (2 * side, 2 * side))  # decoded at reduced scale
            small = image.convert(mode).resize((side, side), Image.Resampling.HAMMING)
        picture[:] = np.asarray(small).reshape(side, side, -1).transpose(2, 0, 1)
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


def _nearest(points: NDArray[Any]) -> _Rows:
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


def _distinct(pairs: _Rows, n: int) -> _Rows:
    """The pairs of two different numbers below n, the smaller first, each once and in order."""
    low, high = np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1).T
    return np.column_stack(np.divmod(np.unique(low * n + high), n))


def _largest(coefficients: csr_array) -> _Rows:
    """Pairs of every row and the columns of its largest coefficients in absolute value."""
    matrix = csr_array(coefficients)
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    order = np.lexsort((-np.abs(matrix.data), row))
    rank = np.arange(matrix.nnz) - matrix.indptr[row]
    chosen = order[rank < _NEIGHBORS]
    return np.column_stack([row[chosen], matrix.indices[chosen]])


def _fit_coarsely(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> tuple[_Rows, NDArray[np.float32]]:
    """Which pictures correlate when half the side is fitted, and their windows of `_fit`."""
    coarse_a, coarse_b = _reduced(a, 2), _reduced(b, 2)
    correlation = np.einsum("ij,ij->i", _unit(coarse_a), _unit(coarse_b))
    rows = np.flatnonzero(correlation >= _UNFITTED_CORRELATION)
    window = np.zeros((len(rows), 2, 2), dtype=np.float32)
    correlation, window = _fit(coarse_a[rows], coarse_b[rows], window)
    close = correlation >= _COARSE_CORRELATION
    return rows[close], window[close]


def _fit_each_other(
    a: NDArray[np.uint8], b: NDArray[np.uint8]
) -> tuple[_Rows, NDArray[np.float32]]:
    """Which pictures correlate after fitting one to the other, and their windows of `_fit`."""
    rows, window = _fit_coarsely(a, b)
    fine_a, fine_b = a[rows].astype(np.float32), b[rows].astype(np.float32)
    correlation, window = _fit(fine_a, fine_b, window)
    same = correlation >= _CORRELATION
    for axes in ((2,), (3,), (2, 3)):
        turned, _ = _fit(fine_a[same], np.flip(fine_b[same], axes), np.zeros_like(window[same]))
        same[same] = turned <= correlation[same] + _TURNED
    return rows[same], window[same]


def _fit(
    a: _Pixels, b: _Pixels, window: NDArray[np.float32], steps: int = _STEPS
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
    for _ in range(steps):
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


def _block_similarity(a: _Pixels, b: _Pixels, texture: NDArray[np.float64]) -> NDArray[np.float64]:
    """First quartile of the correlations of blocks with texture; NaN where they are few."""
    block = a.shape[-1] // _BLOCKS
    inner = slice(block // 2, -block // 2)
    centers = slice(block // 2, None, block // 2)  # of blocks that overlap by half
    low, high = ((0, 0, sigma, sigma) for sigma in _BAND)
    a, b = ((gaussian_filter(x, low) - gaussian_filter(x, high))[..., inner, inner] for x in (a, b))
    means = [uniform_filter(x, (0, 0, block, block)) for x in (a * a, b * b, a * b)]
    variance_a, variance_b, covariance = (_rows(x[..., centers, centers]) for x in means)
    variance = np.maximum(variance_a, variance_b)
    textured, strong = (variance >= share * texture[:, None] for share in (1, _STRONG))
    correlation = covariance / np.sqrt(np.maximum(variance_a * variance_b, 1e-6))
    similarity = np.full(len(a), np.nan)
    for i in np.flatnonzero(textured.sum(axis=1) >= _MIN_BLOCKS):
        similarity[i] = np.quantile(correlation[i, textured[i]], 0.25)
        least = np.sort(correlation[i, strong[i]])[:_FEWEST]
        if least.sum() < _LEAST_CORRELATION * len(least):
            similarity[i] = 0
    return similarity


def _places(side: int) -> NDArray[np.float32]:
    """Centers of pixels, from −½ to ½."""
    return (np.arange(side) / side + (0.5 / side - 0.5)).astype(np.float32)


def _window(pictures: _Pixels, window: NDArray[np.float32]) -> _Pixels:
    """Pixels at shifted and scaled places, by linear interpolation along height and width."""
    side = pictures.shape[2]
    for axis, other in ((2, 3), (3, 2)):
        shift, scale = window[:, axis - 2].T[:, :, None]
        at = np.clip((_places(side) * (1 + scale) + shift + 0.5) * side - 0.5, 0, side - 1)
        low = np.minimum(at.astype(int), side - 2)
        share, low = (np.expand_dims(x, (1, other)) for x in (at - low, low))
        below, above = (np.take_along_axis(pictures, low + step, axis) for step in (0, 1))
        pictures = below + share.astype(np.float32) * (above - below)
    return pictures
