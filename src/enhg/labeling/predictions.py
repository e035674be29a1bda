"""Labels spread over the hypergraph again after every action."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning

from enhg._protocol import GraphLike
from enhg.learning.diffusion import ROUGH_TOL, diffuse
from enhg.learning.propagation import estimate_class_sizes, rows_to_sum_one

_ALPHA = 0.98  # of `HypergraphClassifier`
_MAJORITY = 0.5


@dataclass(frozen=True, eq=False)
class Predictions:
    """Predicted classes of all images.

    Attributes
    ----------
    codes : ndarray of int of shape (n_rows,)
        The class of the largest probability; −1 where no label arrives.
    confidence : ndarray of shape (n_rows,)
        The largest probability; 0 where no label arrives.
    ambiguity : ndarray of shape (n_rows,)
        1 − (p₁ − p₂), with p₁ and p₂ the two largest probabilities.
    """

    codes: NDArray
    confidence: NDArray
    ambiguity: NDArray


class Spreading:
    """The diffusion of labels, of which only the classes that changed are computed again.

    Parameters
    ----------
    graph : Hypergraph or Graph
    """

    def __init__(self, graph: GraphLike) -> None:
        self.graph = graph
        self._columns: dict[bytes, NDArray] = {}
        self._lock = Lock()

    def predict(self, labels: NDArray, n_classes: int, unnamed: NDArray) -> Predictions:
        """Predict from the labels that a person gave, −1 for none.

        `unnamed` are images of clusters that nobody has looked at, which may be of a class that has
        no name yet: they count as one more class, which is predicted as none.
        """
        labels = labels.copy()
        labels[unnamed] = n_classes
        predictions = self._predict(labels, n_classes + 1)
        is_unnamed = predictions.codes == n_classes
        return Predictions(
            np.where(is_unnamed, -1, predictions.codes),
            np.where(is_unnamed, 0, predictions.confidence),
            np.where(is_unnamed, 1, predictions.ambiguity),
        )

    def _predict(self, labels: NDArray, n_classes: int) -> Predictions:
        """With labels of fewer than two classes there is nothing to decide: none is predicted."""
        n = len(labels)
        counts = np.bincount(labels[labels >= 0], minlength=n_classes)
        used = np.flatnonzero(counts)
        if len(used) < 2:
            return Predictions(np.full(n, -1), np.zeros(n), np.ones(n))
        with self._lock:
            diffused = self._diffused(labels, used)
        totals = diffused.sum(axis=0)
        scaled = diffused / np.where(totals > 0, totals, 1)
        sizes = rows_to_sum_one(scaled).sum(axis=0)
        shares = rows_to_sum_one(scaled * estimate_class_sizes(sizes, counts[used])[0])
        second, largest = np.partition(shares, -2, axis=1)[:, -2:].T
        codes = np.where(largest > 0, used[shares.argmax(axis=1)], -1)
        return Predictions(codes, largest, 1 - (largest - second))

    def _diffused(self, labels: NDArray, used: NDArray) -> NDArray:
        """One column for every class that has labels."""
        members = [labels == code for code in used]
        keys = [np.packbits(rows).tobytes() for rows in members]
        missing = [place for place, key in enumerate(keys) if key not in self._columns]
        if missing:
            Y = np.column_stack([members[place] for place in missing]).astype(np.float64)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                F = np.maximum(diffuse(self.graph.theta, Y, _ALPHA, tol=ROUGH_TOL), 0)
            fresh = {keys[place]: F[:, at] for at, place in enumerate(missing)}
        else:
            fresh = {}
        # Of earlier labels only those that are still used are kept.
        known = self._columns | fresh
        self._columns = {key: known[key] for key in keys}
        return np.column_stack([self._columns[key] for key in keys])


def find_contradictions(
    links: csr_array, labels: NDArray, n_classes: int
) -> tuple[NDArray, NDArray]:
    """Find the images whose label is contradicted by the labels around them.

    More than half of the weight of its links to other images with labels leads to one other class.

    Parameters
    ----------
    links : CSR array of shape (n_rows, n_rows)
        The clique expansion of the graph.
    labels : ndarray of int of shape (n_rows,)
        −1 for none.
    n_classes : int

    Returns
    -------
    rows : ndarray of int
        The most contradicted first.
    classes : ndarray of int
        The class that their links lead to.
    """
    given = np.flatnonzero(labels >= 0)
    if len(given) == 0:
        return given, given
    Y = np.zeros((len(labels), n_classes))
    Y[given, labels[given]] = 1
    sums = links[given] @ Y
    shares = sums / np.maximum(sums.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    others, share = shares.argmax(axis=1), shares.max(axis=1)
    is_other = (others != labels[given]) & (share > _MAJORITY)
    order = np.flatnonzero(is_other)[np.argsort(-share[is_other], kind="stable")]
    return given[order], others[order]


def strongest_links(links: csr_array, row: int, candidates: NDArray, count: int) -> NDArray:
    """Return the images among candidates, a mask, that a row is linked to most, at most `count`."""
    start, end = links.indptr[row : row + 2]
    others, weights = links.indices[start:end], links.data[start:end]
    kept = candidates[others]
    order = np.argsort(-weights[kept], kind="stable")[:count]
    return np.asarray(others[kept][order])
