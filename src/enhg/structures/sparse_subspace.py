"""SSC: the graph of sparse subspace clustering."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg._validation import check_positive, check_range
from enhg.preprocessing.naming import Preprocessing
from enhg.structures._base import symmetric_graph
from enhg.structures._representation import RepresentationStructure

_ROWS_AT_ONCE = 512


class SparseSubspaceGraph(RepresentationStructure):
    """The graph with a(i, j) = |zᵢⱼ|/maxₖ|zᵢₖ| + |zⱼᵢ|/maxₖ|zⱼₖ|.

    Row i of Z is the solution of

        minimize over z, ε:   ‖z‖₁ + γₑ‖ε‖₁ + (γ/2)‖xᵢ − Σⱼ zⱼxⱼ − ε‖²,   zᵢ = 0

        γ = α_z/μ_z,   μ_z = minᵢ max_{j≠i} |xⱼᵀxᵢ|
        γₑ = α_e/μ_e,   μ_e = minᵢ max_{j≠i} ‖xⱼ‖₁

    If α_z ≤ 1, or α_e ≤ 1, z = 0 for some sample.

    Parameters
    ----------
    alpha_z : float, default=20.0
        α_z, the relative weight of the loss. In the source 800 for motion; its program has 20
        for faces.
    alpha_e : float or None, default=20.0
        α_e, the relative weight of sparse errors, 20 for faces in the source; None for ε = 0.
    preprocessing : str or transformer, default="auto"
        Applied to the samples first: "auto" (chosen from them), a name of
        `enhg.preprocessing.make_preprocessing` or a scikit-learn transformer (of arrays).
    tol : float, default=1e-4
        Bound on the certificate of a row of Z.
    memory_budget : int, optional
        Bytes for the solver; half of the free memory by default.
    n_jobs : int, optional
        Number of threads; all cores by default.

    Attributes
    ----------
    graph_ : Graph
    representation_ : Representation
        Z in `coefficients` and, in `sparse_errors`, the errors ε.
    gamma_ : float
        γ.
    error_weight_ : float or None
        γₑ.
    preprocessing_ : transformer
        Fitted to the samples.
    samples_ : ndarray of shape (n_samples, n_features)
        The samples of `fit`, read-only. A copy, unless X cannot be written to.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X is a table whose column names are strings.

    References
    ----------
    Elhamifar, Vidal, *Sparse subspace clustering: algorithm, theory, and applications*, IEEE
    Transactions on Pattern Analysis and Machine Intelligence 35, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> SparseSubspaceGraph().fit(load_digits().data[:200]).graph_
    Graph(n_vertices=200, n_edges=...)
    """

    gamma_: float
    error_weight_: float | None

    def __init__(
        self,
        *,
        alpha_z: float = 20.0,
        alpha_e: float | None = 20.0,
        preprocessing: Preprocessing = "auto",
        tol: float = 1e-4,
        memory_budget: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha_z = alpha_z
        self.alpha_e = alpha_e
        self.preprocessing = preprocessing
        self.tol = tol
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        check_positive("alpha_z", self.alpha_z)
        check_positive("alpha_e", self.alpha_e, optional=True)

    def _objective(self) -> dict[str, Any]:
        return {"gamma": self.gamma_, "lam": 0.0, "loss": "squared", "gamma_scale": "absolute"}

    def _sparse_error_weight(self) -> float | None:
        return self.error_weight_

    def _prepare(self, samples: NDArray) -> None:
        wide = samples.astype(np.float64, copy=False)
        check_range(wide, "X")
        self.gamma_ = self.alpha_z / _least_largest_product(wide, np.finfo(samples.dtype).eps)
        self.error_weight_ = None
        if self.alpha_e is not None:
            self.error_weight_ = self.alpha_e / _least_largest_length(wide)

    def _connect(self, coefficients: sparse.csr_array) -> None:
        C = coefficients.copy()
        largest = abs(C).max(axis=1).toarray().ravel()
        C.data = abs(C.data) / np.repeat(largest, np.diff(C.indptr))
        self.graph_ = symmetric_graph(2 * C)


def _least_largest_product(X: NDArray, eps: float) -> float:
    """minᵢ max_{j≠i} |xⱼᵀxᵢ| over the i where it is above rounding; 1 if there is none.

    `eps` is that of the samples, of which X may be a copy in another precision.
    """
    largest = []
    lengths = np.linalg.norm(X, axis=1)
    rounding = 4 * eps * lengths.max(initial=0)
    for start in range(0, len(X), _ROWS_AT_ONCE):
        block = slice(start, start + _ROWS_AT_ONCE)
        products = np.abs(X[block] @ X.T)
        row = np.arange(len(products))
        products[row, start + row] = 0
        most = products.max(axis=1)
        largest.append(np.where(most > rounding * lengths[block], most, 0))
    return _least_positive(np.concatenate(largest))


def _least_largest_length(X: NDArray) -> float:
    """minᵢ max_{j≠i} ‖xⱼ‖₁, the second largest of all lengths; 1 if there is none."""
    return _least_positive(np.sort(np.abs(X).sum(axis=1))[-2:])


def _least_positive(values: NDArray) -> float:
    positive = values[values > 0]
    return float(positive.min()) if len(positive) else 1.0
