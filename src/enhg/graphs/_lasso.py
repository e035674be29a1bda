"""The lasso of every sample over the others and, if asked for, over errors of single features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg._progress import Progress
from enhg.representation.problem import Representation, Scale
from enhg.representation.solver import self_representation


def lasso(
    X: NDArray,
    *,
    gamma: float,
    scale: Scale,
    error_weight: float | None,
    tol: float,
    memory: int | None,
    n_jobs: int | None,
    progress: Progress,
) -> tuple[Representation, sparse.csr_array, sparse.csr_array]:
    """minimise ‖z‖₁ + γₑ‖e‖₁ + (γ/2)‖x − Σ zⱼxⱼ − e‖², z of the own sample held at zero.

    Returns the whole solution over the dictionary [X, I/γₑ], Z and the errors E; without γₑ
    there are no errors.
    """
    n, d = X.shape
    options: dict[str, Any] = {
        "gamma": gamma, "lam": 0.0, "scale": scale, "tol": tol, "memory": memory,
        "n_jobs": n_jobs, "progress": progress,
    }  # fmt: skip
    if error_weight is None:
        whole = self_representation(X, **options)
        return whole, whole.coefficients, sparse.csr_array((n, d))
    units = np.eye(d, dtype=X.dtype) / X.dtype.type(error_weight)
    whole = self_representation(
        X, dictionary=np.vstack([X, units]), excluded=np.arange(n), **options
    )
    Z = sparse.csr_array(whole.coefficients[:, :n])
    return whole, Z, sparse.csr_array(whole.coefficients[:, n:] / error_weight)
