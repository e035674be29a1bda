"""The choice of samples to be labeled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from enhg._validation import check_whole
from enhg.exceptions import InputError
from enhg.learning.spectral import Spectrum

_LABEL_NOISE = 0.03  # variance of a label, relative to the mean variance of the field
_MIN_AMBIGUITY = 0.05


def select_queries(
    spectrum: Spectrum, n_classes: int, labeled_indices: NDArray, ambiguity: NDArray, n: int
) -> NDArray:
    """Choose samples to be labeled by V-optimal design, best first.

    The labels of a class are modeled as a Gaussian field over the hypergraph with covariance
    C = μ(L + μI)⁻¹, restricted to the given eigenvectors, and μ = 1 − λ_k. A label of sample i
    reduces the variance of sample j by C_ij² / (C_ii + s²). Samples are chosen greedily, each the
    one that maximizes the reduction Σ_j a_j C_ij² / (C_ii + s²), with weights a_j that grow with
    the ambiguity of the current labels.

    Parameters
    ----------
    spectrum : Spectrum
        Eigenpairs of Θ, a few times `n_classes`.
    n_classes : int
        k.
    labeled_indices : ndarray of int
        The samples that have a label.
    ambiguity : ndarray of shape (n_samples,)
        From 0 to 1, of the current label of every sample.
    n : int
        The number of samples to choose.

    Returns
    -------
    ndarray of int of shape (n,)

    References
    ----------
    M. Ji and J. Han, "A variance minimization criterion to active learning on graphs",
    International Conference on Artificial Intelligence and Statistics, 2012.
    """
    n_unlabeled = len(ambiguity) - len(labeled_indices)
    if n_unlabeled == 0:
        raise InputError("there must be an unlabeled sample to choose, got labels of all samples")
    check_whole("n", n, 1, n_unlabeled, hint="(the number of unlabeled samples)")
    field = _field(spectrum, n_classes)
    for sample in labeled_indices:
        field = _conditioned(field, sample)[0]
    available = np.ones(len(ambiguity), bool)
    available[labeled_indices] = False
    return _greedy(field, ambiguity + _MIN_AMBIGUITY, available, n)


def _field(spectrum: Spectrum, n_classes: int) -> NDArray:
    """Return F with covariance C = F Fᵀ, scaled to a mean variance of 1."""
    gaps = np.maximum(1 - spectrum.eigenvalues, 0)
    mu = max(gaps[min(n_classes, len(gaps)) - 1], 1e-6)
    field = spectrum.eigenvectors * np.sqrt(mu / (gaps + mu))
    return field / np.sqrt((field**2).sum(axis=1).mean())


def _greedy(field: NDArray, weights: NDArray, available: NDArray, n: int) -> NDArray:
    # Σⱼ wⱼ Cᵢⱼ² = fᵢ M fᵢᵀ and Cᵢᵢ = fᵢ fᵢᵀ are updated with the field, not computed anew.
    moment = field.T @ (field * weights[:, None])
    explained, variance = ((field @ moment) * field).sum(axis=1), (field**2).sum(axis=1)
    chosen = []
    for _ in range(n):
        reduction = explained / (variance + _LABEL_NOISE)
        reduction[~available] = -np.inf
        sample = int(np.argmax(reduction))
        chosen.append(sample)
        available[sample] = False
        row = field[sample].copy()
        along, across = field @ row, field @ (moment @ row)
        field, part = _conditioned(field, sample)
        twice = 2 * part - part**2 * float(row @ row)
        explained += along * twice * (twice * along * (row @ moment @ row) - 2 * across)
        variance -= twice * along**2
        moment = _projected(_projected(moment, row, part).T, row, part)
    return np.array(chosen)


def _conditioned(field: NDArray, sample: int) -> tuple[NDArray, float]:
    """Return F(I − c fᵀf), f the row of the sample, with the covariance given its label; and c."""
    row = field[sample]
    variance = float(row @ row)
    if variance == 0:
        return field, 0.0
    part = (1 - np.sqrt(_LABEL_NOISE / (_LABEL_NOISE + variance))) / variance
    return _projected(field, row, part), part


def _projected(matrix: NDArray, row: NDArray, part: float) -> NDArray:
    """Return matrix·(I − part·rowᵀrow)."""
    return matrix - np.outer(matrix @ row, row) * part
