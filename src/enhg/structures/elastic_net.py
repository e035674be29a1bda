"""ENHG: the elastic net hypergraph (paper, III)."""

from __future__ import annotations

from typing import Any, Literal

from enhg._validation import check_choice, check_whole
from enhg.preprocessing.naming import Preprocessing
from enhg.representation.problem import GammaScale, Loss
from enhg.structures._representation_hypergraph import ErrorWeight, RepresentationHypergraph
from enhg.structures.hyperedges import HyperedgeRule

# The time of comparing all samples is of order n²; at 70 000 see the benchmark "approximate".
_MAX_EXACT_ATOMS = 100_000
_CANDIDATES = 15


class ElasticNetHypergraph(RepresentationHypergraph):
    """Hyperedges of every sample with those of the largest coefficients of its elastic net.

    Every sample is represented by the others:

        minimize over z, ε:   ‖z‖₁ + λ‖z‖₂² + γₑ‖ε‖₁ + λγₑ²‖ε‖₂² + γᵢ·ℓ(xᵢ − Σⱼ zⱼxⱼ − ε),   zᵢ = 0

    Hyperedge eᵢ contains sample i, its centroid, and the members Eᵢ, the samples j with the largest
    |zᵢⱼ|. By default (`hyperedges`) sample i has three hyperedges, of 5, 7 and 10 members, and

        h(i, eᵢ) = 1,   h(j, eᵢ) = |zᵢⱼ| / Σ_{k∈Eᵢ} |zᵢₖ|,   w(eᵢ) = Σ_{j∈Eᵢ} |⟨zᵢ, zⱼ⟩|

    Parameters
    ----------
    gamma : float, default=10.0
        γ, the weight of the loss.
    lam : float, default=5.0
        λ, the weight of the ridge. The larger, the more samples share the weight; 0 is the lasso.
    loss : {"squared", "norm"}, default="squared"
        ℓ(r) = ½‖r‖₂², or ‖r‖₂ (the paper's equation).
    gamma_scale : {"relative", "absolute"}, default="relative"
        Whether γᵢ is `gamma` times the value above which z ≠ 0, or `gamma` itself.
    error_weight : "auto", float or None, default="auto"
        γₑ, the weight of sparse errors (errors of single features, an extension); None for ε = 0.
        "auto": 0.5 if `preprocessing_` is a `Whitening`, which amplifies errors of single features,
        else None. With the norm loss, sparse errors take the square of the number of features in
        memory.
    preprocessing : str or transformer, default="auto"
        Applied to the samples first: "zero_mean", "unit", "whiten", "smooth", "lift", "none",
        "auto" (chosen from the samples, see `enhg.structures.choice.choose_preprocessing`) or a
        scikit-learn transformer, which receives an array (without feature names).
    hyperedges : HyperedgeRule, optional
        Which coefficients make a sample a member, memberships and hyperedge weights;
        `HyperedgeRule()` by default: three hyperedges, of the 5, 7 and 10 largest |zᵢⱼ|.
    n_candidates : int, "auto" or None, default="auto"
        Represent every sample by this many similar ones at least, approximately, in place of all
        (see `self_representation`); None for all. "auto": 15 for more than 100 000 samples, as
        the time of all grows with the square of their number, else None.
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
        Z, the certificates of its rows and, in `sparse_errors`, the errors ε, of the preprocessed
        samples.
    member_coefficients_ : csr_array of shape (n_samples, n_samples)
        Row i stores zᵢⱼ of every member j ≠ i of the hyperedges of sample i.
    relative_residuals_ : ndarray of shape (n_samples,)
        ‖xᵢ − Σⱼ zᵢⱼxⱼ‖/‖xᵢ‖ of the preprocessed samples.
    outlier_scores_ : ndarray of shape (n_samples,)
        sᵢ = 1 − max(cᵢ, min(1, maxₖ |xᵢₖ|/(γₑ‖xᵢ‖))),   cᵢ = max_{j∈Eᵢ} |cos(xᵢ, xⱼ)|

        of the preprocessed samples, from 0 (a copy of another sample) to 1 (orthogonal to all
        members). If Eᵢ is empty, cᵢ is over all j ≠ i; if `error_weight_` is None, sᵢ = 1 − cᵢ. If
        `preprocessing_` is a `Whitening`, sᵢ is the mean of this and of 1 − cᵢ of the samples with
        zero mean and unit length in place of the whitened ones.
    error_weight_ : float or None
        γₑ.
    preprocessing_ : transformer
        Fitted to the samples.
    samples_ : ndarray of shape (n_samples, n_features)
        The samples of `fit` before preprocessing, read-only. A copy, so that the structure stays
        the same if X is changed, unless X cannot be written to: of an array of floats that is
        memory-mapped by mode "r", or made read-only by ``X.setflags(write=False)``, none is made.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X is a table whose column names are strings.

    See Also
    --------
    self_representation : The solver; explains its parameters.
    L1Hypergraph : The same with λ = 0.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from enhg import HyperedgeRule
    >>> X = load_digits().data
    >>> structure = ElasticNetHypergraph(hyperedges=HyperedgeRule("top", 5)).fit(X[:200])
    >>> structure.graph_
    Hypergraph(n_vertices=200, n_edges=200, memberships=1200)
    >>> structure.attach(X[200:203]).memberships.shape
    (3, 200)
    """

    def __init__(
        self,
        *,
        gamma: float = 10.0,
        lam: float = 5.0,
        loss: Loss = "squared",
        gamma_scale: GammaScale = "relative",
        error_weight: ErrorWeight = "auto",
        preprocessing: Preprocessing = "auto",
        hyperedges: HyperedgeRule | None = None,
        n_candidates: int | Literal["auto"] | None = "auto",
        tol: float = 1e-4,
        memory_budget: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.gamma = gamma
        self.lam = lam
        self.loss = loss
        self.gamma_scale = gamma_scale
        self.error_weight = error_weight
        self.preprocessing = preprocessing
        self.hyperedges = hyperedges
        self.n_candidates = n_candidates
        self.tol = tol
        self.memory_budget = memory_budget
        self.n_jobs = n_jobs

    def _objective(self) -> dict[str, Any]:
        return super()._objective() | {"lam": self.lam}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if isinstance(self.n_candidates, str):
            check_choice("n_candidates", self.n_candidates, ("auto",))
        elif self.n_candidates is not None:
            check_whole("n_candidates", self.n_candidates, 1, hint='or "auto" or None')

    def _n_candidates(self, n_atoms: int) -> int | None:
        if not isinstance(self.n_candidates, str):
            return self.n_candidates
        return _CANDIDATES if n_atoms > _MAX_EXACT_ATOMS else None
