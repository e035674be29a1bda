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
    field = field @ _conditioning(field[labeled_indices]).astype(field.dtype)
    available = np.ones(len(ambiguity), bool)
    available[labeled_indices] = False
    return _greedy(field, ambiguity + _MIN_AMBIGUITY, available, n)


def _field(spectrum: Spectrum, n_classes: int) -> NDArray:
    """Return F with covariance C = F Fᵀ, scaled to a mean variance of 1."""
    gaps = np.maximum(1 - spectrum.eigenvalues, 0)
    mu = max(gaps[min(n_classes, len(gaps)) - 1], 1e-6)
    scale = np.sqrt(mu / (gaps + mu))
    squares = (spectrum.eigenvectors**2).mean(axis=0, dtype=np.float64)
    scale /= np.sqrt(squares @ scale**2)
    return spectrum.eigenvectors * scale.astype(spectrum.eigenvectors.dtype)


def _conditioning(rows: NDArray) -> NDArray:
    """Return T such that F T has the covariance given the labels of samples with these rows of F.

    T Tᵀ = (I + RᵀR / s²)⁻¹, R the rows.
    """
    rows = rows.astype(np.float64)
    squares, directions = np.linalg.eigh(rows.T @ rows)
    return directions / np.sqrt(1 + np.maximum(squares, 0) / _LABEL_NOISE)


def _greedy(field: NDArray, weights: NDArray, available: NDArray, n: int) -> NDArray:
    # The labels of the chosen samples make F T of the field F. Σⱼ wⱼ Cᵢⱼ² = fᵢ M fᵢᵀ and
    # Cᵢᵢ = fᵢ fᵢᵀ are updated, not computed anew.
    moment = field.T @ (field * weights[:, None].astype(field.dtype))
    explained = np.einsum("ij,ij->i", field @ moment, field, dtype=np.float64)
    variance = np.einsum("ij,ij->i", field, field, dtype=np.float64)
    moment, transform = moment.astype(np.float64), np.eye(len(moment))
    chosen = []
    for _ in range(n):
        reduction = explained / (variance + _LABEL_NOISE)
        reduction[~available] = -np.inf
        sample = int(np.argmax(reduction))
        chosen.append(sample)
        available[sample] = False
        row = field[sample] @ transform
        along, across = (
            field @ (transform @ vector).astype(field.dtype) for vector in (row, moment @ row)
        )
        part = _shrinkage(float(row @ row))
        transform = _projected(transform, row, part)
        twice = 2 * part - part**2 * float(row @ row)
        explained += along * twice * (twice * along * (row @ moment @ row) - 2 * across)
        variance -= twice * along**2
        moment = _projected(_projected(moment, row, part).T, row, part)
    return np.array(chosen)


def _shrinkage(variance: float) -> float:
    """Return c such that F(I − c fᵀf) has the covariance given the label of a sample.

    f is its row of F, and its variance is f fᵀ.
    """
    if variance == 0:
        return 0.0
    return float((1 - np.sqrt(_LABEL_NOISE / (_LABEL_NOISE + variance))) / variance)


def _projected(matrix: NDArray, row: NDArray, part: float) -> NDArray:
    """Return matrix·(I − part·rowᵀrow)."""
    return matrix - np.outer(matrix @ row, row) * part
