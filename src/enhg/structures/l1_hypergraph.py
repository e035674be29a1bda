"""l1-hypergraph: the elastic net hypergraph without ridge (paper, V)."""

from __future__ import annotations

from enhg.preprocessing.naming import Preprocessing
from enhg.representation.problem import GammaScale, Loss
from enhg.structures._representation_hypergraph import ErrorWeight, RepresentationHypergraph
from enhg.structures.hyperedges import HyperedgeRule


class L1Hypergraph(RepresentationHypergraph):
    """Hyperedges of every sample with those of the largest coefficients of its lasso.

        minimize over z, ε:   ‖z‖₁ + γₑ‖ε‖₁ + γᵢ·ℓ(xᵢ − Σⱼ zⱼxⱼ − ε),   zᵢ = 0

    It is `ElasticNetHypergraph` with λ = 0: memberships, weights, attributes and methods are the
    same, and so are the parameters but for `lam` and `n_candidates`, which it does not have.

    Parameters
    ----------
    gamma : float, default=10.0
    loss : {"squared", "norm"}, default="squared"
    gamma_scale : {"relative", "absolute"}, default="relative"
    error_weight : "auto", float or None, default="auto"
    preprocessing : str or transformer, default="auto"
    hyperedges : HyperedgeRule, optional
    tol : float, default=1e-4
    memory_budget : int, optional
    n_jobs : int, optional

    Attributes
    ----------
    graph_ : Hypergraph
    representation_ : Representation
    member_coefficients_ : csr_array of shape (n_samples, n_samples)
    relative_residuals_ : ndarray of shape (n_samples,)
    outlier_scores_ : ndarray of shape (n_samples,)
    error_weight_ : float or None
    preprocessing_ : transformer
    samples_ : ndarray of shape (n_samples, n_features)
        The samples of `fit`, read-only. A copy, unless X cannot be written to.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X is a table whose column names are strings.

    See Also
    --------
    ElasticNetHypergraph : Explains the parameters and attributes.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> L1Hypergraph().fit(load_digits().data[:200]).graph_
    Hypergraph(n_vertices=200, n_edges=600, ...)
    """

    def __init__(
        self,
        *,
        gamma: float = 10.0,
        loss: Loss = "squared",
        gamma_scale: GammaScale = "relative",
        error_weight: ErrorWeight = "auto",
        preprocessing: Preprocessing = "auto",
        hyperedges: HyperedgeRule | None = None,
        tol: float = 1e-4,
        memory_budget: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.loss = loss
        self.gamma_scale = gamma_scale
        self.error_weight = error_weight
        self.preprocessing = preprocessing
        self.hyperedges = hyperedges
        self.tol = tol
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs
