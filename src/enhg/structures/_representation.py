"""Base class of the structures that are made of sparse coefficients."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from enhg._checkpoint import CheckpointLike
from enhg._progress import Progress
from enhg._validation import check_positive
from enhg.representation.problem import GammaScale, Problem, Representation
from enhg.representation.solver import self_representation
from enhg.structures._base import Structure
from enhg.structures.hyperedges import warn_of_empty_rows


class RepresentationStructure(Structure):
    """Base class: `fit` represents every sample by the others and builds a structure of Z.

    By default the problem is the lasso,

        minimize over z, ε:   ‖z‖₁ + γₑ‖ε‖₁ + (γᵢ/2)‖xᵢ − Σⱼ zⱼxⱼ − ε‖²,   zᵢ = 0

    Attributes
    ----------
    representation_ : Representation
        Z and the certificates of its rows, of the preprocessed samples.
    """

    gamma: float
    gamma_scale: GammaScale
    error_weight: Any
    tol: float
    memory_budget: int | None
    n_jobs: int | None
    representation_: Representation

    def _check_parameters(self) -> None:
        problem = self._objective()
        Problem(problem["gamma"], problem["lam"], problem["loss"], problem["gamma_scale"])
        check_positive("tol", self.tol)
        self._check_error_weight()

    def _check_error_weight(self) -> None:
        check_positive("error_weight", self.error_weight, optional=True)

    def _objective(self) -> dict[str, Any]:
        """Parameters of the objective but for the weight of sparse errors."""
        scale = self.gamma_scale
        return {"gamma": self.gamma, "lam": 0.0, "loss": "squared", "gamma_scale": scale}

    def _sparse_error_weight(self) -> float | None:
        """γₑ, or None for no sparse errors."""
        return self.error_weight

    def _n_candidates(self, n_atoms: int) -> int | None:
        """Number of candidates of a sample among so many atoms; None for all of them."""
        return None

    def _prepare(self, samples: NDArray) -> None:
        """Set the fitted attributes that the objective depends on."""

    def fit(
        self,
        X: ArrayLike,
        y: object = None,
        *,
        progress: Progress = None,
        checkpoint: CheckpointLike = None,
    ) -> Self:
        """Build the hypergraph or graph of samples.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        progress : bool or callable, optional
            True for a progress bar on standard error; a function is called with (done, total).
        checkpoint : path, optional
            Folder that receives the rows of Z as they are computed. After an interruption, the same
            call goes on from there, to the same result (see `self_representation`).

        Returns
        -------
        self
        """
        return self._fit(X, lambda samples: self._build(samples, progress, checkpoint))

    def _build(
        self,
        samples: NDArray,
        progress: Progress,
        checkpoint: CheckpointLike = None,
    ) -> None:
        self._prepare(samples)
        self.representation_ = self._represent(samples, progress, checkpoint)
        warn_of_empty_rows(self.representation_.coefficients)
        self._connect(self.representation_.coefficients)

    def _represent(
        self,
        samples: NDArray,
        progress: Progress,
        checkpoint: CheckpointLike,
        dictionary: NDArray | None = None,
    ) -> Representation:
        return self_representation(
            samples,
            **self._objective(),
            dictionary=dictionary,
            error_weight=self._sparse_error_weight(),
            n_candidates=self._n_candidates(len(samples if dictionary is None else dictionary)),
            tol=self.tol,
            memory_budget=self.memory_budget,
            n_jobs=self.n_jobs,
            checkpoint=checkpoint,
            progress=progress,
        )

    @abstractmethod
    def _connect(self, coefficients: sparse.csr_array) -> None:
        """Set `graph_` from the coefficients."""
