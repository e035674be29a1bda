"""l1-graph: samples connected by the coefficients of the lasso."""

from __future__ import annotations

from scipy import sparse

from enhg.preprocessing.naming import Preprocessing
from enhg.representation.problem import GammaScale
from enhg.structures._base import symmetric_graph
from enhg.structures._representation import RepresentationStructure


class L1Graph(RepresentationStructure):
    """The graph with a(i, j) = (|zᵢⱼ| + |zⱼᵢ|)/2, where row i of Z is the lasso of sample i.

        minimize over z, ε:   ‖z‖₁ + γₑ‖ε‖₁ + (γᵢ/2)‖xᵢ − Σⱼ zⱼxⱼ − ε‖²,   zᵢ = 0

    The source solves this for γ → ∞ and γₑ = 1, where xᵢ = Σⱼ zⱼxⱼ + ε exactly.

    Parameters
    ----------
    gamma : float, default=10.0
        γ, the weight of the loss.
    gamma_scale : {"relative", "absolute"}, default="relative"
        Whether γᵢ is `gamma` times the value above which z ≠ 0, or `gamma` itself.
    error_weight : float or None, default=None
        γₑ, the weight of sparse errors; None for ε = 0.
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
        Z and, in `sparse_errors`, the errors ε.
    preprocessing_ : transformer
        Fitted to the samples.
    samples_ : ndarray of shape (n_samples, n_features)
        The samples of `fit`, read-only. A copy, unless X cannot be written to.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X is a table whose column names are strings.

    See Also
    --------
    self_representation : The solver; explains its parameters.

    References
    ----------
    Cheng, Yang, Yan, Fu, Huang, *Learning with l1-graph for image analysis*, IEEE Transactions on
    Image Processing 19, 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> L1Graph().fit(load_digits().data[:200]).graph_
    Graph(n_vertices=200, n_edges=...)
    """

    def __init__(
        self,
        *,
        gamma: float = 10.0,
        gamma_scale: GammaScale = "relative",
        error_weight: float | None = None,
        preprocessing: Preprocessing = "auto",
        tol: float = 1e-4,
        memory_budget: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.gamma_scale = gamma_scale
        self.error_weight = error_weight
        self.preprocessing = preprocessing
        self.tol = tol
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs

    def _connect(self, coefficients: sparse.csr_array) -> None:
        self.graph_ = symmetric_graph(abs(coefficients))
