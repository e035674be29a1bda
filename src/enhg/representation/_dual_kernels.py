"""Compiled loops of the dual iterations in `_dual`, over all atoms of some samples.

They are in a file of their own, with all that they call: Numba's cache on disk detects changes only
in the file of the kernel that is called from Python.
"""

# mypy: disable-error-code="no-untyped-def,assignment"

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from enhg._numba import kernel

_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"reassoc", "contract", "nsz", "arcp"},
}
# Functions that are called are inlined: compiled on their own they may round differently, and
# which of both runs depends on whether this process has compiled them (see `_compilation`).
_MAX_LENGTHS = 8  # trials of a line search
_EXACT = 0.02  # part of the first slope at which a line search ends


@njit(**_OPTIONS, forceinline=True)
def _slope_and_curvature(g, q, counts, l1, length):
    """Derivatives of ½ Σ k(|g + length·q| − a)₊² by the length."""
    own, slope, curvature = g.dtype.type, 0.0, 0.0
    threshold, part, zero = own(l1), own(length), own(0.0)
    for j in range(g.shape[0]):
        value = g[j] + part * q[j]
        excess = max(value - threshold, zero) + min(value + threshold, zero)
        weighted = np.float64(counts[j]) * q[j]
        slope += weighted * excess
        curvature += weighted * q[j] if excess != zero else 0.0
    return slope, curvature


@njit(**_OPTIONS, forceinline=True)
def _search(g, q, counts, l1, ridge, slope, square):
    """The length of the step that minimizes the dual objective along a direction, to _EXACT.

    The slope along it is continuous, piecewise linear and increasing: Newton steps between the
    lengths known to be too short and too long.
    """
    short, long, length = 0.0, np.inf, 0.0
    start, curvature = _slope_and_curvature(g, q, counts, l1, length)
    constant = slope - start / ridge  # of the quadratic part
    present = slope
    for _ in range(_MAX_LENGTHS):
        length -= present / (square + curvature / ridge)
        if not short < length < long:
            length = 0.5 * (short + long)
        bent, curvature = _slope_and_curvature(g, q, counts, l1, length)
        present = constant + length * square + bent / ridge
        if abs(present) <= _EXACT * abs(slope):
            break
        if present < 0.0:
            short = length
        else:
            long = length
    return length


@njit(**_OPTIONS, forceinline=True)
def _threshold(g, l1, ridge, counts, z):
    """z = soft-thresholded g, times k and divided by b; returns its number of non-zeros."""
    own, count = g.dtype.type, 0
    threshold, scale, zero = own(l1), own(1.0 / ridge), own(0.0)
    for j in range(g.shape[0]):
        excess = max(g[j] - threshold, zero) + min(g[j] + threshold, zero)
        count += excess != zero
        z[j] = scale * counts[j] * excess
    return count


@njit(**_OPTIONS, forceinline=True)
def _shift(counts, atom, by):
    """Change the count of an atom, if there is one."""
    if atom >= 0:
        counts[atom] += counts.dtype.type(by)


@kernel(**_OPTIONS)
def threshold(g, l1, ridge, counts, own, z, sizes):
    """Compute the coefficients z of every row and their number, given correlations g.

    `counts` are the equal atoms that each atom stands for, one less in a row for its atom `own`.
    """
    for i in range(g.shape[0]):
        _shift(counts, own[i], -1.0)
        sizes[i] = _threshold(g[i], l1[i], ridge[i], counts, z[i])
        _shift(counts, own[i], 1.0)


@kernel(**_OPTIONS)
def advance(g, q, l1, ridge, counts, own, slopes, squares, lengths, sizes):
    """Search the length of the step of every row, take it in g, and replace q by the coefficients.

    q are the correlations of the direction, `slopes` the dual objective's derivative along it and
    `squares` its squared norm.
    """
    for i in range(g.shape[0]):
        _shift(counts, own[i], -1.0)
        lengths[i] = _search(g[i], q[i], counts, l1[i], ridge[i], slopes[i], squares[i])
        length = g.dtype.type(lengths[i])
        for j in range(g.shape[1]):
            g[i, j] += length * q[i, j]
        sizes[i] = _threshold(g[i], l1[i], ridge[i], counts, q[i])
        _shift(counts, own[i], 1.0)
