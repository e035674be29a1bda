"""Class probabilities of all samples by linear discriminants of the labeled ones (extension)."""

from __future__ import annotations

from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from enhg.exceptions import InputError
from enhg.preprocessing._arrays import normalized
from enhg.preprocessing.choice import MIN_DIRECTIONAL_FEATURES


def discriminant_distributions(samples: NDArray, Y: NDArray) -> NDArray:
    """Return P: the given labels, and class probabilities of linear discriminants elsewhere.

    The discriminants have the shrunk covariance of Ledoit and Wolf and are fitted to the labeled
    samples, with zero mean and unit length if there are 16 features or more. Linear discriminants
    separate classes also along directions of small variance, which distances and a graph of
    neighbors hardly reflect.

    Parameters
    ----------
    samples : ndarray of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_classes)
        1 where a label is given, else 0.

    Returns
    -------
    ndarray of shape (n_samples, n_classes)

    References
    ----------
    O. Ledoit and M. Wolf. Honey, I shrunk the sample covariance matrix. Journal of Portfolio
    Management 30(4), 2004.
    """
    labeled = Y.sum(axis=1) > 0
    if labeled.sum() <= Y.shape[1]:
        raise InputError(
            'y must hold more labels than classes with method="discriminant", got '
            f"{int(labeled.sum())} labels of {Y.shape[1]} classes",
            parameter="y",
        )
    features = samples
    if samples.shape[1] >= MIN_DIRECTIONAL_FEATURES:
        features = normalized(samples)[0]
    model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    model.fit(features[labeled], Y[labeled].argmax(axis=1))
    P: NDArray = model.predict_proba(features)
    P[labeled] = Y[labeled]
    return P
