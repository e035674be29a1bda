"""Samples, and objective and optimality conditions of the elastic net from their definitions."""

from __future__ import annotations

import numpy as np

from enhg.representation.problem import SIGMA_FLOOR

TOL = 1e-4


def samples(n=60, d=30, *, rank=None, seed=0, dtype=np.float64):
    """Unit-length samples, positively correlated like images; of low rank if `rank` is given."""
    rng = np.random.default_rng(seed)
    rank = rank or d
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d)) + 0.5 * (rank == d)
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(dtype)


def gammas(X, A, gamma, loss, gamma_scale):
    """γᵢ by the documentation, without the solver's code."""
    X, own = X.astype(np.float64), A is None
    correlations = np.abs(X @ (X if own else A.astype(np.float64)).T)
    if own:
        np.fill_diagonal(correlations, 0)
    if gamma_scale == "absolute":
        return np.full(len(X), float(gamma))
    lengths = np.linalg.norm(X, axis=1) if loss == "norm" else np.ones(len(X))
    return gamma * lengths / correlations.max(axis=1)


def violations(X, Z, gamma, lam, loss, gamma_scale, A=None):
    """The KKT violation of every row relative to a, in float64, straight from the definition."""
    own = A is None
    G = gammas(X, A, gamma, loss, gamma_scale)
    X = X.astype(np.float64)
    A = X if own else A.astype(np.float64)
    Z = Z.toarray()
    R = X - Z @ A
    lengths = np.linalg.norm(X, axis=1)
    sigma = np.maximum(np.linalg.norm(R, axis=1), SIGMA_FLOOR * lengths)
    a = ((sigma if loss == "norm" else 1.0) / G)[:, None]
    C = R @ A.T
    off = np.where(Z != 0, np.abs(C - 2 * lam * a * Z - a * np.sign(Z)), np.abs(C) - a)
    if own:
        assert not np.diagonal(Z).any()
        np.fill_diagonal(off, 0)
    return np.maximum(off, 0).max(axis=1) / a[:, 0]


def objective(X, Z, G, lam, loss):
    R = X - Z @ X
    lengths = np.linalg.norm(R, axis=1)
    fit = lengths if loss == "norm" else lengths**2 / 2
    return np.abs(Z).sum(1) + lam * (Z**2).sum(1) + G * fit
