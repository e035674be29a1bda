"""Blocks of samples: their layout, where they are solved, and those that a checkpoint has."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from threading import local
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from enhg._checkpoint import Computation
from enhg._memory import free_memory
from enhg._npz import State, require_value
from enhg.exceptions import InputError
from enhg.representation._blocks import (
    FIRST_CAPACITY,
    KEPT_PRODUCTS,
    Dictionary,
    row_norms,
    row_slices,
    solve_block,
)
from enhg.representation._compilation import load_kernel
from enhg.representation._groups import GroupProblem, Groups, stack_in_order
from enhg.representation._rows import SolvedRows
from enhg.representation._threads import ThreadTeam
from enhg.representation.candidates import GROUP_ROWS, Candidates
from enhg.representation.problem import Problem

PART_OF_FREE_MEMORY = 0.5  # the default memory budget
_MAX_BLOCK_ROWS = 512
_CANDIDATE_BLOCK_ROWS = 16 * GROUP_ROWS


@dataclass(frozen=True)
class Layout:
    """Division of samples into blocks, on which the rounding of the result depends.

    Attributes
    ----------
    block_rows : int
        Samples of a block; the last one may have fewer.
    buffer_rows : int
        Rows of n_atoms numbers that the solution of a block may use.
    stores_gram : bool
        Whether the Gram matrix of the atoms is computed and stored.
    """

    block_rows: int
    buffer_rows: int
    stores_gram: bool

    @classmethod
    def fitting(cls, problem: BlockProblem, budget: int, *, may_store_gram: bool) -> Layout:
        """The layout for a memory budget in bytes."""
        if problem.candidates is not None:
            return cls(_CANDIDATE_BLOCK_ROWS, 0, False)
        n, (m, d), itemsize = len(problem.samples), problem.atoms.shape, problem.samples.itemsize
        row_bytes = (m + 8 * d) * itemsize + FIRST_CAPACITY * 16
        gram_bytes = m * m * itemsize
        if problem.error_weight:
            may_store_gram = False
            row_bytes += (8 + 2 * itemsize) * d  # errors, weights, coefficients of I/γₑ
        fits = gram_bytes + min(n, _MAX_BLOCK_ROWS) * row_bytes <= budget and m <= 4 * n
        stores_gram = may_store_gram and fits
        if stores_gram:
            budget -= gram_bytes
        else:
            row_bytes += min(m, KEPT_PRODUCTS) ** 2 * itemsize
        n_rows = int(np.clip(budget // row_bytes, 1, _MAX_BLOCK_ROWS))
        # Iterations on the residual use two rows for a sample.
        spare = (budget - n_rows * row_bytes) // (problem.n_columns * itemsize)
        buffer_rows = max(2, min(n, n_rows) + int(np.clip(spare, 0, n_rows)))
        return cls(n_rows, buffer_rows, bool(stores_gram))

    @classmethod
    def from_state(cls, state: State) -> Layout:
        return cls(
            require_value(state, "block_rows", int),
            require_value(state, "buffer_rows", int),
            require_value(state, "stores_gram", bool),
        )


@dataclass(frozen=True, eq=False)
class BlockProblem:
    """The elastic nets of samples over atoms.

    Attributes
    ----------
    samples : ndarray of shape (n_samples, n_features)
    atoms : ndarray of shape (n_atoms, n_features)
        The same object as `samples` where these represent each other.
    excluded : ndarray of shape (n_samples,)
        The atom that is excluded for each sample, or one of those that it stands for; −1 for none.
    counts : ndarray of shape (n_atoms,)
        Equal atoms that each stands for, in float64.
    problem : Problem
    tol : float
    error_weight : float
        γₑ of sparse errors that are eliminated; 0 for none.
    candidates : Candidates or None
        The atoms that are tried for each sample; None for all of them.
    """

    samples: NDArray
    atoms: NDArray
    excluded: NDArray
    counts: NDArray
    problem: Problem
    tol: float
    error_weight: float = 0.0
    candidates: Candidates | None = None

    @property
    def n_columns(self) -> int:
        """Atoms, those of the sparse errors included."""
        return len(self.atoms) + (self.atoms.shape[1] if self.error_weight else 0)

    def blocks(self, layout: Layout) -> list[slice]:
        return row_slices(len(self.samples), layout.block_rows)

    def of_rows(self, rows: NDArray) -> BlockProblem:
        """The problem of some of the samples, in float64."""
        return BlockProblem(
            self.samples[rows].astype(np.float64), self.atoms.astype(np.float64),
            self.excluded[rows], self.counts, self.problem, self.tol, self.error_weight,
            None if self.candidates is None else self.candidates.of_rows(rows),
        )  # fmt: skip

    def stack(self, blocks: list[SolvedRows]) -> SolvedRows:
        """Rows of all blocks in the order of the samples."""
        if self.candidates is None:
            return SolvedRows.stack(blocks)
        return stack_in_order(blocks, self.candidates.order)

    def dictionary(self, layout: Layout, team: ThreadTeam) -> Dictionary:
        """The atoms with what all blocks need of them."""
        load_kernel(self.atoms.dtype)
        gram = np.empty((0, 0), self.atoms.dtype)
        if layout.stores_gram:
            gram = team.gram(self.atoms)
        return Dictionary(self.atoms, gram, row_norms(self.atoms), self.counts, self.error_weight)

    def buffer(self, layout: Layout) -> NDArray:
        """Memory for the solution of one block at a time."""
        return np.empty((layout.buffer_rows, self.n_columns), self.samples.dtype)

    def solve(
        self, block: slice, dictionary: Dictionary, buffer: NDArray, team: ThreadTeam
    ) -> SolvedRows:
        """Solve one block, independently of all others."""
        return solve_block(
            self.samples[block], self.excluded[block], dictionary, self.problem, self.tol, buffer,
            team,
        )  # fmt: skip

    def solve_on_candidates(self, block: slice, team: ThreadTeam) -> SolvedRows:
        """Solve one block of the order of the candidates, in groups that share them."""
        assert self.candidates is not None
        load_kernel(self.atoms.dtype)
        rows = self.candidates.order[block]
        groups = Groups.of_nearest(self.candidates.nearest[rows], GROUP_ROWS)
        problem = GroupProblem(
            self.samples[rows], groups.places(self.excluded[rows], len(self.atoms)),
            self.atoms[groups.columns], self.counts[groups.columns], groups, self.problem, self.tol,
            self.error_weight,
        )  # fmt: skip
        return problem.solve(len(self.atoms), team)


class Scheduler(Protocol):
    """Where blocks are solved."""

    def read(self, X: Any, name: str) -> Any:
        """Samples that `check_samples` accepts here; `name` is that of X, for messages."""

    def layout(self, problem: BlockProblem) -> Layout:
        """The layout that suits the memory there."""

    def solve(
        self, problem: BlockProblem, layout: Layout, indices: Sequence[int]
    ) -> Iterator[tuple[int, SolvedRows]]:
        """Solve the blocks of some indices; yield each with its index as soon as it is solved."""


class Threads:
    """Threads of this process, which solve one block after the other.

    Parameters
    ----------
    team : ThreadTeam
    memory_budget : int or None
        Bytes; None for half of the free memory.
    """

    def __init__(self, team: ThreadTeam, memory_budget: int | None = None) -> None:
        self.team = team
        self.memory_budget = memory_budget

    def read(self, X: Any, name: str) -> Any:
        return X

    def layout(self, problem: BlockProblem) -> Layout:
        budget = self.memory_budget
        if budget is None:
            budget = int(PART_OF_FREE_MEMORY * free_memory())
        return Layout.fitting(problem, budget, may_store_gram=True)

    def solve(
        self, problem: BlockProblem, layout: Layout, indices: Sequence[int]
    ) -> Iterator[tuple[int, SolvedRows]]:
        if not indices:
            return
        if problem.candidates is not None:
            yield from self._solve_on_candidates(problem, layout, indices)
            return
        dictionary, buffer = problem.dictionary(layout, self.team), problem.buffer(layout)
        blocks = problem.blocks(layout)
        for index in indices:
            yield index, problem.solve(blocks[index], dictionary, buffer, self.team)

    def _solve_on_candidates(
        self, problem: BlockProblem, layout: Layout, indices: Sequence[int]
    ) -> Iterator[tuple[int, SolvedRows]]:
        """Solve as many blocks at once as there are threads: they need little memory."""
        blocks, own = problem.blocks(layout), local()

        def solve(index: int) -> tuple[int, SolvedRows]:
            if not hasattr(own, "team"):
                own.team = ThreadTeam(1)
            return index, problem.solve_on_candidates(blocks[index], own.team)

        yield from self.team.in_turn(solve, indices)


def active_client() -> Any:
    """The active Dask client of this process, or None; also None within a task of a worker."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    with suppress(ValueError):  # not within a task
        distributed.get_worker()
        return None
    with suppress(ValueError):  # there is none
        client = distributed.default_client()
        # A client that could not connect, or has lost its scheduler, stays the default one.
        return client if client.status == "running" else None
    return None


def make_scheduler(scheduler: Any, team: ThreadTeam, memory_budget: int | None) -> Scheduler:
    """The scheduler for the parameter `scheduler` of `self_representation`."""
    if isinstance(scheduler, str) and scheduler in ("auto", "threads"):
        scheduler = active_client() if scheduler == "auto" else None
        if scheduler is None:
            return Threads(team, memory_budget)
    distributed = sys.modules.get("distributed")
    if distributed is None or not isinstance(scheduler, distributed.Client):
        raise InputError(
            'scheduler must be "auto", "threads" or a client of dask.distributed, got '
            f"{scheduler!r}",
            parameter="scheduler",
        )
    if scheduler.status != "running":
        raise InputError(
            f"scheduler must be a client that is connected, got one that is {scheduler.status}",
            parameter="scheduler",
        )
    from enhg.representation._dask import DaskWorkers

    return DaskWorkers(scheduler, memory_budget)


def solve_blocks(
    problem: BlockProblem,
    scheduler: Scheduler,
    parts: Computation,
    name: str,
    report: Callable[[int, int], None],
) -> SolvedRows:
    """Solve all blocks that are not among the finished parts, and store each of them there.

    Parameters
    ----------
    problem : BlockProblem
    scheduler : Scheduler
    parts : Computation
        Blocks that were solved before.
    name : str
        The beginning of the names of the blocks among the parts.
    report : callable
        Receives (samples done, samples).
    """
    stored = parts.get(f"{name}-layout", lambda: asdict(scheduler.layout(problem)))
    layout = Layout.from_state(stored)
    blocks = problem.blocks(layout)
    n_atoms, n_rows = len(problem.atoms), [block.stop - block.start for block in blocks]
    solved = {}
    for index in range(len(blocks)):
        state = parts.load(f"{name}-{index}")
        with suppress(InputError):  # a block of other rows: to be solved again
            if state is not None and (state.pop("layout", None), state.pop("index", None)) == (
                stored,
                index,
            ):
                solved[index] = SolvedRows.from_state(state, (n_rows[index], n_atoms))
    missing = [index for index in range(len(blocks)) if index not in solved]
    done = sum(n_rows[index] for index in solved)
    for index, rows in scheduler.solve(problem, layout, missing):
        solved[index] = rows
        parts.store(f"{name}-{index}", {"layout": stored, "index": index, **rows.to_state()})
        done += n_rows[index]
        report(done, len(problem.samples))
    return problem.stack([solved[index] for index in range(len(blocks))])
