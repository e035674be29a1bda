"""Candidates: the few atoms that may represent a sample where there are too many to try all."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import get_num_threads
from numpy.typing import NDArray

from enhg._checkpoint import digest
from enhg._npz import State, require, require_array, require_indices
from enhg._optional import require as require_module
from enhg.preprocessing._arrays import inverse_lengths
from enhg.representation._order_kernels import order_by_links
from enhg.representation._threads import ThreadTeam
from enhg.representation.problem import Approximation, Representation

GROUP_ROWS = 32  # samples that share their candidates, and the Gram matrix of these
_ATOMS_AT_ONCE = 4096
_CHECKED = 1000  # samples whose certificate is computed over all atoms
_LEAST_NEIGHBORS = 10  # of the graph that is the index: with fewer it misses too many


@dataclass(frozen=True, eq=False)
class Candidates:
    """Nearest atoms of every sample, and samples in an order in which similar ones are neighbors.

    Consecutive samples of the order, `GROUP_ROWS` of them, form a group. The candidates of a sample
    are the nearest atoms of all samples of its group.

    Attributes
    ----------
    order : ndarray of int of shape (n_samples,)
        The samples, sorted such that a group has many nearest atoms in common.
    nearest : ndarray of int32 of shape (n_samples, n_nearest)
        The atoms nearest to every sample; −1 where fewer were seen.
    """

    order: NDArray
    nearest: NDArray

    def to_state(self) -> State:
        """The arrays."""
        return {"order": self.order, "nearest": self.nearest}

    @classmethod
    def from_state(cls, state: State, n_samples: int, n_atoms: int) -> Candidates:
        """Make candidates from their state; raise InputError if the state is not one."""
        order = require_indices(state, "order", n_samples)
        nearest = require_array(state, "nearest", (n_samples, None), "i")
        require(len(np.unique(order)) == n_samples, "order")
        require(bool((nearest >= -1).all() and (nearest < n_atoms).all()), "nearest")
        return cls(order, nearest)

    @property
    def fingerprint(self) -> str:
        """A few characters by which others are recognized."""
        return digest(self.order)[:8] + digest(self.nearest)[:8]

    def of_rows(self, rows: NDArray) -> Candidates:
        """The candidates of some of the samples, which form groups of their own."""
        position = np.argsort(self.order)
        return Candidates(np.argsort(position[rows]), self.nearest[rows])


def find_candidates(
    samples: NDArray, atoms: NDArray, excluded: NDArray, n_nearest: int, team: ThreadTeam
) -> Candidates:
    """Find the nearest atoms of every sample, approximately, by cosine.

    The index is a graph of nearest neighbors (of pynndescent), along which groups are formed.
    Samples that are not among the atoms are sorted by their nearest atoms.

    Parameters
    ----------
    samples, atoms : ndarray
    excluded : ndarray of int of shape (n_samples,)
        The atom of each sample that is the sample itself; −1 for none.
    n_nearest : int
    team : ThreadTeam
    """
    own = bool((excluded >= 0).any())
    # A zero has no direction: it is a candidate for nothing, and any atoms are those of a zero.
    usable = np.flatnonzero(inverse_lengths(atoms) > 0)
    usable = usable if len(usable) else np.arange(len(atoms))
    directions = _unit_rows(atoms[usable])
    # One more than wanted, since a sample may be its own nearest atom.
    count = min(n_nearest + own, len(usable))
    index = _make_index(directions, count, team)
    nearest = index.neighbor_graph[0]
    if samples is atoms:
        all_nearest = np.tile(np.arange(count, dtype=nearest.dtype), (len(samples), 1))
        all_nearest[usable] = nearest[:, :count]
        nearest = all_nearest
    else:
        place_of_atom = np.argsort(order_by_links(nearest, GROUP_ROWS))
        nearest = index.query(_unit_rows(samples), k=count)[0]
    atoms_of = np.where(nearest >= 0, usable[nearest], -1).astype(np.int32)
    if own:
        atoms_of = _without(atoms_of, excluded)
    if atoms_of.shape[1] == 0:  # the only atom that is not zero is a sample, excluded for itself
        atoms_of = ((np.arange(len(samples)) + 1) % len(atoms)).astype(np.int32)[:, None]
    if samples is atoms:
        return Candidates(order_by_links(atoms_of, GROUP_ROWS), atoms_of)
    return Candidates(np.argsort(place_of_atom[nearest[:, 0]], kind="stable"), atoms_of)


def _make_index(directions: NDArray, n_neighbors: int, team: ThreadTeam) -> Any:
    """The graph of nearest neighbors of pynndescent."""
    module = require_module("pynndescent", "large")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few atoms may have fewer neighbors than wanted
        return module.NNDescent(
            directions,
            n_neighbors=max(n_neighbors, _LEAST_NEIGHBORS),
            random_state=0,
            n_jobs=min(team.size, get_num_threads()),
        )


def _without(nearest: NDArray, excluded: NDArray) -> NDArray:
    """The nearest atoms without the excluded one, or without the farthest where it is not there."""
    own = (nearest == excluded[:, None]) & (excluded >= 0)[:, None]
    own[~own.any(axis=1), -1] = True
    return nearest[~own].reshape(len(nearest), -1)


def _unit_rows(X: NDArray) -> NDArray:
    """The samples in float32 and of unit length; zeros stay zero."""
    return np.ascontiguousarray(X * inverse_lengths(X)[:, None], dtype=np.float32)


def check_against_all(representation: Representation, excluded: NDArray) -> Approximation:
    """Check some rows of an approximate representation against all atoms.

    Parameters
    ----------
    representation : Representation
    excluded : ndarray of int of shape (n_samples,)
    """
    n = len(representation.samples)
    rows = np.sort(np.random.RandomState(0).permutation(n)[:_CHECKED])
    return Approximation(rows, _certificates(representation, excluded, rows))


def _certificates(representation: Representation, excluded: NDArray, rows: NDArray) -> NDArray:
    """The largest violation of the optimality conditions over all atoms, relative to a.

    Products of float32 samples are in float32: their rounding is far below a.
    """
    Z, atoms = representation.coefficients[rows], representation.dictionary
    residuals = representation.samples[rows].astype(np.float64) - Z @ atoms
    if representation.sparse_errors is not None:
        residuals -= representation.sparse_errors[rows].toarray()
    l1, ridge = representation.l1_penalty[rows], representation.ridge_penalty[rows]
    left = residuals.astype(atoms.dtype)
    largest, by_column = np.zeros(len(rows)), Z.tocsc()
    for start in range(0, len(atoms), _ATOMS_AT_ONCE):
        part = slice(start, min(start + _ATOMS_AT_ONCE, len(atoms)))
        correlations = left @ atoms[part].T
        own = excluded[rows]
        inside = (own >= part.start) & (own < part.stop)
        correlations[np.flatnonzero(inside), own[inside] - start] = 0
        support = by_column[:, part].tocoo()
        at_support = correlations[support.coords]
        correlations[support.coords] = 0
        violation = np.abs(correlations).max(axis=1) - l1
        which = support.coords[0]
        expected = ridge[which] * support.data + l1[which] * np.sign(support.data)
        np.maximum.at(violation, which, np.abs(at_support - expected))
        largest = np.maximum(largest, violation)
    return largest / l1
