"""Linear discriminants with a shrunk covariance (extension)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import softmax

from enhg._protocol import GraphLike
from enhg.preprocessing._arrays import evenly_spaced, normalized
from enhg.preprocessing.naming import MIN_DIRECTIONAL_FEATURES

# α of the diffusion of class probabilities, for discriminants fitted to predictions: a sample's own
# have a share of about 1 − α. With 0.98, small clusters dissolve in large ones.
SHORT_ALPHA = 0.9
# Of the labels in cross-validation, and of the samples in self-training and in the refinement.
FOLDS = 3
# Samples to which discriminants of predicted classes are fitted; limits the cost.
_MAX_FITTED = 20_000


@dataclass(frozen=True)
class Discriminants:
    """Linear functions of the features, one per class; see `fit_discriminants`.

    Attributes
    ----------
    scale : float
        Features are divided by it.
    center : ndarray of shape (n_features,)
        It is subtracted from the features divided by the scale.
    coefficients : ndarray of shape (n_features, n_classes)
    intercepts : ndarray of shape (n_classes,)
        −∞ for a class without samples.
    shrinkage : float
        The shrinkage intensity of the covariance, in [0, 1].
    """

    scale: float
    center: NDArray
    coefficients: NDArray
    intercepts: NDArray
    shrinkage: float

    def probabilities(self, features: NDArray) -> NDArray:
        """Return the class probabilities of samples.

        Parameters
        ----------
        features : ndarray of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Rows of sum 1; 0 for a class without samples.
        """
        kind = _float_type(features)
        centered = features / kind(self.scale) - self.center.astype(kind)
        scores = (centered @ self.coefficients.astype(kind)).astype(np.float64) + self.intercepts
        return softmax(scores, axis=1)


def fit_discriminants(
    features: NDArray, codes: NDArray, n_classes: int, *, shrinkage: float | None = None
) -> Discriminants:
    """Fit linear discriminants: Gaussian classes of one covariance Σ and equal probability.

        p(c | x) ∝ exp(−½ (x − m_c)ᵀ Σ⁻¹ (x − m_c)),   Σ = D ((1 − s) C + s (tr C / d) I) D

    m_c is the mean of class c and d the number of features. C is the within-class covariance of
    the features divided by D, with f = n_samples − n_classes degrees of freedom (classes with
    samples are counted). D² holds the within-class variances vⱼ of the features, shrunk to
    their mean by the intensity min(1, 2/(f + 2) · Σ vⱼ² / Σ (vⱼ − v̄)²), an estimate of the one
    with least expected squared error for Gaussian features. If no class has two different
    samples, all samples are taken as one class in C and D, but not in the means.

    s is the mean of the intensities of the single classes, weighted by their numbers of samples.
    The intensity of a class is the Rao–Blackwell Ledoit–Wolf estimate of Chen, Wiesel, Eldar and
    Hero (2010); for a class of one or two samples, it is the one of the pooled covariance C.

    Takes the time of a linear system of min(n_samples, n_features) unknowns. Covariances of float32
    features are computed in float32, the system is solved in float64.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features)
    codes : ndarray of int of shape (n_samples,)
        Classes, in 0 … n_classes − 1. A class may have one sample or none.
    n_classes : int
    shrinkage : float, optional
        s, in [0, 1]; estimated by default.

    Returns
    -------
    Discriminants

    References
    ----------
    Y. Chen, A. Wiesel, Y. C. Eldar and A. O. Hero, "Shrinkage algorithms for MMSE covariance
    estimation", IEEE Transactions on Signal Processing 58(10), 2010 (equation 17).

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [0.2, 0.1], [2.0, 2.1], [2.1, 2.0]])
    >>> model = fit_discriminants(X, np.array([0, 0, 1, 1]), 2)
    >>> model.probabilities(np.array([[0.1, 0.0], [2.0, 2.0]])).round(2)
    array([[1., 0.],
           [0., 1.]])
    """
    samples: NDArray = features.astype(_float_type(features))
    largest = float(np.abs(samples).max(initial=0)) or 1.0  # keeps squares in range
    samples /= samples.dtype.type(largest)
    center = samples.mean(axis=0, dtype=np.float64)
    samples -= center.astype(samples.dtype)
    counts = np.bincount(codes, minlength=n_classes)
    means = class_means(samples, codes, counts)
    groups, residuals = codes, samples - means.astype(samples.dtype)[codes]
    if _is_rounding(residuals, samples):
        groups, residuals = np.zeros_like(codes), samples
    dof = max(len(codes) - len(np.unique(groups)), 1)
    variances = np.einsum("ij,ij->j", residuals, residuals, dtype=np.float64) / dof
    deviations = np.sqrt(_shrunk_variances(variances, dof))
    residuals = residuals / deviations.astype(residuals.dtype)
    s = _mean_intensity(residuals, groups, dof) if shrinkage is None else shrinkage
    scaled = (means / deviations).T
    solution = _solve_shrunk(residuals / residuals.dtype.type(np.sqrt(dof)), s, scaled)
    intercepts = np.where(counts > 0, -0.5 * (scaled * solution).sum(axis=0), -np.inf)
    coefficients = solution / deviations[:, None]
    return Discriminants(largest, center, coefficients, intercepts, float(s))


def discriminant_features(samples: NDArray) -> NDArray:
    """Return each sample minus the mean of its own features, scaled to unit length.

    Samples of fewer than 16 features are returned as they are.
    """
    return normalized(samples)[0] if samples.shape[1] >= MIN_DIRECTIONAL_FEATURES else samples


def discriminant_distributions(features: NDArray, Y: NDArray) -> NDArray:
    """Return P: the given labels, and class probabilities of linear discriminants elsewhere.

    Linear discriminants separate classes also along directions of small variance, which distances
    and a graph of neighbors hardly reflect.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_classes)
        1 where a label is given, else 0.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
    """
    labeled = Y.sum(axis=1) > 0
    model = fit_discriminants(features[labeled], Y[labeled].argmax(axis=1), Y.shape[1])
    P = model.probabilities(features)
    P[labeled] = Y[labeled]
    return P


def out_of_fold_probabilities(
    features: NDArray,
    codes: NDArray,
    n_classes: int,
    rng: np.random.RandomState,
    *,
    certain: NDArray[np.bool_] | None = None,
) -> NDArray:
    """Return class probabilities by discriminants that are fitted without the sample itself.

    The samples of every class are divided into three folds at random. The discriminants of a fold
    are fitted to the others; if these are more than 20 000, to at most so many, equally many of
    every class, or all of a smaller one, and to the certain samples. For classes that are
    predictions: discriminants fitted to a sample whose class is wrong would tend to confirm it.

    Parameters
    ----------
    features : ndarray of shape (n_samples, n_features)
    codes : ndarray of int of shape (n_samples,)
        Classes, in 0 … n_classes − 1.
    n_classes : int
    rng : RandomState
    certain : ndarray of bool of shape (n_samples,), optional
        Samples to which all discriminants are fitted; none by default.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)
    """
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    fold = np.empty(len(codes), np.intp)
    fold[order] = np.arange(len(codes)) % FOLDS
    certain = np.zeros(len(codes), bool) if certain is None else certain
    P = np.zeros((len(codes), n_classes))
    for number in range(min(FOLDS, len(codes))):
        held_out = fold == number
        fitted = np.flatnonzero(~held_out & ~certain)
        if len(fitted) > _MAX_FITTED:
            fitted = _evenly_from_classes(fitted, codes[fitted], _MAX_FITTED // n_classes)
        fitted = np.union1d(fitted, np.flatnonzero(certain))
        model = fit_discriminants(features[fitted], codes[fitted], n_classes)
        P[held_out] = model.probabilities(features[held_out])
    return P


def linked_only(graph: GraphLike, P: NDArray, codes: NDArray) -> NDArray:
    """Return class probabilities, restricted to the classes that a sample is linked to.

    A sample is linked to its own class and to those of the samples that share a hyperedge with it.
    Discriminants then decide between the classes around a sample, and do not assign it to a class
    that is nowhere near it on the graph.

    Parameters
    ----------
    graph : Hypergraph or Graph
    P : ndarray of shape (n_vertices, n_classes)
    codes : ndarray of int of shape (n_vertices,)
        The class of every vertex; −1 for none.

    Returns
    -------
    ndarray of shape (n_vertices, n_classes)
        Rows of sum 1; 1 for the own class where P is zero for all others.
    """
    own = np.zeros_like(P)
    known = np.flatnonzero(codes >= 0)
    own[known, codes[known]] = 1
    links = graph.theta @ own
    restricted = np.where((links > 0) | (own > 0), P, 0)
    total = restricted.sum(axis=1, keepdims=True)
    return np.where(total > 0, restricted / np.where(total > 0, total, 1), own)


def _evenly_from_classes(rows: NDArray, codes: NDArray, count: int) -> NDArray:
    """At most `count` rows of every class, and at least one, evenly spaced."""
    parts = np.split(rows[np.argsort(codes, kind="stable")], np.cumsum(np.bincount(codes))[:-1])
    return np.sort(np.concatenate([evenly_spaced(part, max(count, 1)) for part in parts]))


def _float_type(features: NDArray) -> type:
    return np.float32 if features.dtype == np.float32 else np.float64


def class_means(samples: NDArray, codes: NDArray, counts: NDArray) -> NDArray:
    """Return the means of the samples of each class; zeros for a class without samples.

    Parameters
    ----------
    samples : ndarray of shape (n_samples, n_features)
    codes : ndarray of int of shape (n_samples,)
        The class of every sample.
    counts : ndarray of int of shape (n_classes,)
        The number of samples of every class.
    """
    entries = (np.ones(len(codes)), codes, np.arange(len(codes) + 1))
    indicator = sparse.csc_array(entries, shape=(len(counts), len(codes)))
    return np.asarray(indicator @ samples / np.maximum(counts, 1)[:, None])


def _is_rounding(residuals: NDArray, samples: NDArray) -> bool:
    """Whether residuals are rounding of the samples that they were computed from."""
    bound = 8 * np.finfo(samples.dtype).eps * np.linalg.norm(samples)
    return bool(np.linalg.norm(residuals) <= bound)


def _shrunk_variances(variances: NDArray, dof: int) -> NDArray:
    """Shrink variances of features to their mean; ones if all are zero."""
    mean = variances.mean()
    if mean == 0:
        return np.ones_like(variances)
    spread = ((variances - mean) ** 2).sum()
    error = 2 / (dof + 2) * (variances**2).sum()
    intensity = error / spread if error < spread else 1.0
    return (1 - intensity) * variances + intensity * mean


def _mean_intensity(residuals: NDArray, groups: NDArray, dof: int) -> float:
    """Mean of the shrinkage intensities of the classes, weighted by their numbers of samples."""
    counts = np.bincount(groups)
    total = 0.0
    for code in np.flatnonzero(counts > 2):
        total += counts[code] * _intensity(residuals[groups == code], counts[code] - 1)
    rest = counts[counts <= 2].sum()
    if rest:
        total += rest * _intensity(residuals, dof)
    return total / len(groups)


def _intensity(residuals: NDArray, dof: int) -> float:
    """Shrinkage intensity of a covariance of Gaussian residuals with `dof` degrees of freedom."""
    n, d = residuals.shape
    gram = residuals @ residuals.T if n < d else residuals.T @ residuals
    trace, squares = np.trace(gram, dtype=np.float64), (gram**2).sum(dtype=np.float64)
    if dof < 2 or trace == 0:
        return 1.0
    numerator = (dof - 2) / dof * squares + trace**2
    denominator = (dof + 2) * (squares - trace**2 / d)
    return float(numerator / denominator) if numerator < denominator else 1.0


def _solve_shrunk(factor: NDArray, shrinkage: float, right: NDArray) -> NDArray:
    """Solve ((1 − s) C + s (tr C / d) I) X = B with C = RᵀR, in min(n, d) unknowns.

    A singular matrix, of s = 0, has the ridge of rounding.
    """
    n, d = factor.shape
    trace = (factor**2).sum()
    ridge = max(shrinkage, d * np.finfo(factor.dtype).eps) * float(trace) / d
    if ridge == 0:
        return np.zeros_like(right)
    # NumPy's solver: the threads of SciPy's BLAS and of NumPy's, used for the products, would wait
    # for each other.
    if n >= d:
        matrix = (1 - shrinkage) * (factor.T @ factor).astype(np.float64)
        matrix.flat[:: d + 1] += ridge
        return np.linalg.solve(matrix, right)
    # Woodbury's identity
    matrix = (1 - shrinkage) * (factor @ factor.T).astype(np.float64)
    matrix.flat[:: n + 1] += ridge
    inner = np.linalg.solve(matrix, factor @ right)
    return (right - (1 - shrinkage) * (factor.T @ inner)) / ridge
