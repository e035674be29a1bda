"""Which samples to label next."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from enhg.learning.spectral import Spectrum

_LABEL_NOISE = 0.03  # variance of a label, in parts of the mean variance of what it tells
_LEAST_DOUBT = 0.05  # of samples whose label looks sure


def most_telling(
    spectrum: Spectrum, n_classes: int, labeled: NDArray, doubt: NDArray, count: int
) -> NDArray:
    """The samples whose labels would leave least doubt about all others, best first.

    The label of a class is taken as a Gaussian field over the hypergraph, with covariance
    μ(L + μI)⁻¹ of its top eigenvectors and μ = 1 − λ_k. A label at i lowers the variance at j by
    C_ij²/(C_ii + noise), whatever it says; the samples are chosen one by one, each to lower the sum
    over all samples most, weighted by how doubtful they are now (V-optimal design; Ji and Han,
    International Conference on Artificial Intelligence and Statistics, 2012).

    Parameters
    ----------
    spectrum : Spectrum
        Of Θ, of a few times `n_classes` eigenpairs.
    n_classes : int
        k.
    labeled : ndarray of int
        Samples that have a label already.
    doubt : ndarray of shape (n_samples,)
        From 0, sure, to 1.
    count : int
        How many to choose.
    """
    n = len(doubt)
    left = n - len(labeled)
    if not isinstance(count, Integral) or isinstance(count, bool) or not 1 <= count <= left:
        raise ValueError(
            f"n must be a whole number from 1 to the number of samples without a label ({left}), got {count!r}"
        )
    gaps = np.maximum(1 - spectrum.eigenvalues, 0)
    mu = max(gaps[min(n_classes, len(gaps)) - 1], 1e-6)
    field = spectrum.eigenvectors * np.sqrt(mu / (gaps + mu))  # the covariance is its square
    field = field / np.sqrt((field**2).sum(axis=1).mean())
    weights = doubt + _LEAST_DOUBT
    for sample in labeled:
        field = _knowing(field, sample)[0]
    taken = np.zeros(n, bool)
    taken[labeled] = True
    # Σⱼ wⱼ Cᵢⱼ² = fᵢ M fᵢᵀ and Cᵢᵢ = fᵢ fᵢᵀ, kept up to date as the field changes.
    moment = field.T @ (field * weights[:, None])
    explained, variance = ((field @ moment) * field).sum(axis=1), (field**2).sum(axis=1)
    chosen = []
    for _ in range(count):
        told = explained / (variance + _LABEL_NOISE)
        told[taken] = -np.inf
        sample = int(np.argmax(told))
        chosen.append(sample)
        taken[sample] = True
        row = field[sample].copy()
        along, across = field @ row, field @ (moment @ row)
        field, part = _knowing(field, sample)
        twice = 2 * part - part**2 * float(row @ row)
        explained += along * twice * (twice * along * (row @ moment @ row) - 2 * across)
        variance -= twice * along**2
        moment = _projected(_projected(moment, row, part).T, row, part)
    return np.array(chosen)


def _knowing(field: NDArray, sample: int) -> tuple[NDArray, float]:
    """The field once a label is known, its covariance less what the label explains; and the part
    of its row that it is freed of."""
    row = field[sample]
    variance = float(row @ row)
    if variance == 0:
        return field, 0.0
    part = (1 - np.sqrt(_LABEL_NOISE / (_LABEL_NOISE + variance))) / variance
    return _projected(field, row, part), part


def _projected(matrix: NDArray, row: NDArray, part: float) -> NDArray:
    """matrix·(I − part·rowᵀrow)."""
    return matrix - np.outer(matrix @ row, row) * part
