"""SCHG: every sample with the samples of its largest lasso coefficients."""

from __future__ import annotations

from scipy import sparse

from enhg._validation import check_whole
from enhg.preprocessing.naming import Preprocessing
from enhg.representation.problem import GammaScale
from enhg.structures._representation import RepresentationStructure
from enhg.structures.hyperedges import HyperedgeRule


class SemanticCorrelationHypergraph(RepresentationStructure):
    """One hyperedge per sample, of the sample and its largest coefficients of the lasso.

    Hyperedge eᵢ contains sample i and the samples j of the `n_members` largest |zᵢⱼ|, all with
    membership 1. Its weight is w(eᵢ) = Σⱼ |zᵢⱼ| over these j. Row i of Z is the lasso of sample i:

        minimize over z, ε:   ‖z‖₁ + γₑ‖ε‖₁ + (γᵢ/2)‖xᵢ − Σⱼ zⱼxⱼ − ε‖²,   zᵢ = 0

    Parameters
    ----------
    gamma : float, default=10.0
        γ, the weight of the loss.
    gamma_scale : {"relative", "absolute"}, default="relative"
        Whether γᵢ is `gamma` times the value above which z ≠ 0, or `gamma` itself.
    error_weight : float or None, default=None
        γₑ, the weight of sparse errors (an extension); None for ε = 0.
    n_members : int, default=5
        Members of a hyperedge beside its centroid; 5 in the paper.
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
    graph_ : Hypergraph
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
    Hong, Zhu, *Hypergraph-based multi-example ranking with sparse representation for transductive
    learning image retrieval*, Neurocomputing 101, 2013.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> structure = SemanticCorrelationHypergraph().fit(load_digits().data[:200])
    >>> int(structure.graph_.edge_degrees.max())
    6
    """

    def __init__(
        self,
        *,
        gamma: float = 10.0,
        gamma_scale: GammaScale = "relative",
        error_weight: float | None = None,
        n_members: int = 5,
        preprocessing: Preprocessing = "auto",
        tol: float = 1e-4,
        memory_budget: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.gamma_scale = gamma_scale
        self.error_weight = error_weight
        self.n_members = n_members
        self.preprocessing = preprocessing
        self.tol = tol
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_whole("n_members", self.n_members, 1)

    def _connect(self, coefficients: sparse.csr_array) -> None:
        rule = HyperedgeRule(
            "top", self.n_members, membership="binary", weighting="coefficient_sum"
        )
        self.graph_ = rule.build(coefficients)
