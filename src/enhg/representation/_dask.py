"""Blocks of samples solved by the workers of a Dask cluster."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock, local
from typing import Any
from uuid import uuid4

import numpy as np
from distributed import Client, Future, KilledWorker, as_completed, wait
from numpy.typing import NDArray

from enhg._checkpoint import digest
from enhg._memory import free_memory
from enhg._threads import blas_threads
from enhg._validation import check_unread, is_dask_array, is_unread, sample_dtype
from enhg._version import __version__
from enhg.exceptions import InputError
from enhg.representation._rows import SolvedRows
from enhg.representation._sources import MappedFile, ZarrFolder
from enhg.representation._threads import ThreadTeam
from enhg.representation.candidates import Candidates
from enhg.representation.problem import Problem
from enhg.representation.scheduling import PART_OF_FREE_MEMORY, BlockProblem, Layout

_ATTEMPTS = 3  # to send samples whose last copy was lost with a worker
_WAITING_SECONDS = 60  # for another worker when all are lost


class DaskWorkers:
    """Workers of a Dask cluster, each of whose threads solves one block at a time.

    Parameters
    ----------
    client : distributed.Client
    memory_budget : int or None
        Bytes for each thread; None for half of its share of the memory of its worker.

    Raises
    ------
    InputError
        If there are no workers, or one of them lacks this package or has another version of it.
    """

    def __init__(self, client: Client, memory_budget: int | None = None) -> None:
        self.client = client
        self.memory_budget = memory_budget
        # Arrays of this process, each with what workers get it from.
        self._sources: list[tuple[NDArray, ZarrFolder | Future]] = []
        _check_workers(client)

    def read(self, X: Any, name: str) -> Any:
        """X, or its numbers if it is an array of Dask or Zarr, which workers get on their own."""
        if not is_unread(X):
            return X
        check_unread(X, name)
        stored = self._compute(X, name) if is_dask_array(X) else ZarrFolder.read(X, name)
        if stored is None:
            return X
        self._sources.append(stored)
        return stored[0]

    def _compute(self, X: Any, name: str) -> tuple[NDArray, Future]:
        """Compute a Dask array on workers, and copy it to this process."""
        whole = self.client.compute(X)
        samples = self.client.submit(
            np.ascontiguousarray, whole, dtype=sample_dtype(X.dtype), pure=False
        )
        array = _aligned(samples.result())
        same = self.client.submit(_require_digest, samples, digest(array), name, pure=False)
        with self.client.as_current():
            wait([same])
        return array, same

    def layout(self, problem: BlockProblem) -> Layout:
        budget = self.memory_budget
        if budget is None:
            budget = int(PART_OF_FREE_MEMORY * self._memory_per_thread())
        # The Gram matrix would cost every worker the products of all samples.
        return Layout.fitting(problem, budget, may_store_gram=False)

    def solve(
        self, problem: BlockProblem, layout: Layout, indices: Sequence[int]
    ) -> Iterator[tuple[int, SolvedRows]]:
        missing = list(indices)
        if not missing:
            return
        for _ in range(_ATTEMPTS):
            for index, rows in self._solve_once(problem, layout, tuple(missing)):
                missing.remove(index)
                yield index, rows
            if not missing:
                return
            with suppress(TimeoutError):
                self.client.wait_for_workers(1, timeout=_WAITING_SECONDS)
            if not self.client.ncores():
                break
        raise InputError(
            f"scheduler must have workers that keep running, got {len(self.client.ncores())} "
            f"workers after others were lost; {len(missing)} of {len(indices)} blocks of samples "
            "are not solved",
            parameter="scheduler",
        )

    def _solve_once(
        self, problem: BlockProblem, layout: Layout, indices: Sequence[int]
    ) -> Iterator[tuple[int, SolvedRows]]:
        """Yield the blocks that are solved; those lost with all copies of the samples are not."""
        task = _Task(uuid4().hex, layout, problem.problem, problem.tol, problem.error_weight)
        shared = problem.atoms is problem.samples
        samples = self._send(problem.samples)
        atoms = None if shared else self._send(problem.atoms)
        others = [self._send(problem.excluded), self._send(problem.counts)]
        if problem.candidates is not None:
            others += [self._send(problem.candidates.order), self._send(problem.candidates.nearest)]
        pending = {
            self.client.submit(_solve, task, index, samples, atoms, *others, pure=False): index
            for index in indices
        }
        known = set(self.client.ncores())
        try:
            for future in as_completed(list(pending), loop=self.client.loop):
                index = pending.pop(future)
                if not set(self.client.ncores()) <= known:  # others have joined
                    _check_workers(self.client)
                    known = set(self.client.ncores())
                if future.status == "finished":
                    try:
                        rows = future.result()
                    except CancelledError:  # lost with its worker before it was fetched
                        pass
                    else:
                        yield index, rows
                elif future.status == "error" and not isinstance(future.exception(), KilledWorker):
                    future.result()  # which raises
                future.release()
        finally:
            self.client.cancel(list(pending))
            self.client.run(_forget, task.token)

    def _send(self, array: NDArray) -> MappedFile | ZarrFolder | Future:
        """Make an array known to all workers, once."""
        source = next((source for own, source in self._sources if own is array), None)
        if isinstance(source, Future) and source.status == "finished":
            self.client.replicate([source])
            return source
        file = source if isinstance(source, ZarrFolder) else MappedFile.from_array(array)
        if file is not None and all(self.client.run(file.is_visible).values()):
            return file
        (future,) = self.client.scatter([array], broadcast=True, hash=False)
        return future

    def _memory_per_thread(self) -> float:
        workers = self.client.run(_describe_worker)
        on_host = Counter(host for host, _, _ in workers.values())
        addresses = self.client.scheduler_info(n_workers=-1)["workers"]
        shares = []
        for address, (host, free, n_threads) in workers.items():
            limit = addresses.get(address, {}).get("memory_limit") or free
            shares.append(min(free / on_host[host], limit) / n_threads)
        return min(shares)


@dataclass(frozen=True)
class _Task:
    """What all blocks of a problem have in common but the samples."""

    token: str
    layout: Layout
    problem: Problem
    tol: float
    error_weight: float


class _Open:
    """A problem on a worker: the dictionary once, a buffer for each thread."""

    def __init__(
        self,
        task: _Task,
        samples: NDArray,
        atoms: NDArray | None,
        excluded: NDArray,
        counts: NDArray,
        *candidates: NDArray,
    ) -> None:
        atoms = samples if atoms is None else atoms
        self.problem = BlockProblem(
            samples, atoms, excluded, counts, task.problem, task.tol, task.error_weight,
            Candidates(*candidates) if candidates else None,
        )  # fmt: skip
        self.layout = task.layout
        self.blocks = self.problem.blocks(task.layout)
        self.own = local()
        if not candidates:
            with ThreadTeam(1) as team:
                self.dictionary = self.problem.dictionary(task.layout, team)

    def solve(self, index: int) -> SolvedRows:
        with blas_threads(1), ThreadTeam(1) as team:
            if self.problem.candidates is not None:
                return self.problem.solve_on_candidates(self.blocks[index], team)
            if not hasattr(self.own, "buffer"):
                self.own.buffer = self.problem.buffer(self.layout)
            return self.problem.solve(self.blocks[index], self.dictionary, self.own.buffer, team)


# The problems of this process, while it is a worker.
_open: dict[str, _Open] = {}
_opening = Lock()


def _solve(
    task: _Task,
    index: int,
    samples: NDArray | MappedFile | ZarrFolder,
    atoms: NDArray | MappedFile | ZarrFolder | None,
    *others: NDArray,
) -> SolvedRows:
    """Solve a block on a worker."""
    with _opening:
        if task.token not in _open:
            given = None if atoms is None else _opened(atoms)
            _open[task.token] = _Open(task, _opened(samples), given, *map(_opened, others))
        problem = _open[task.token]
    return problem.solve(index)


def _opened(source: NDArray | MappedFile | ZarrFolder) -> NDArray:
    return _aligned(source) if isinstance(source, np.ndarray) else source.open()


def _aligned(array: NDArray) -> NDArray:
    """Return an array whose numbers are at multiples of their size.

    Those of a message start at any byte. NumPy would copy them in every product, and Numba would
    compile for them, with another rounding.
    """
    return np.require(array, requirements="A")


def _require_digest(samples: NDArray, expected: str, name: str) -> NDArray:
    """Return samples of a Dask array, which may have been computed again on another worker."""
    if digest(samples) != expected:
        raise InputError(
            f"{name} must be the same whenever it is computed, got a Dask array with other values "
            "after a worker was lost; store it first",
            parameter=name,
        )
    return samples


def _forget(token: str) -> None:
    _open.pop(token, None)


def _describe_worker(dask_worker: Any) -> tuple[str, int, int]:
    """The host, the free memory and the number of threads of a worker."""
    host = dask_worker.address.rpartition(":")[0]
    return host, free_memory(), dask_worker.state.nthreads


def _check_workers(client: Client) -> None:
    def get_version() -> str:  # sent as code, since workers may lack this package
        from enhg._version import __version__

        return __version__

    versions = client.run(get_version, on_error="return")
    if not versions:
        raise InputError(
            "scheduler must have workers, got a Dask client without any; start some with: dask "
            "worker ADDRESS",
            parameter="scheduler",
        )
    for address, version in versions.items():
        if version != __version__:
            what = f"enhg {version}" if isinstance(version, str) else f"one without it ({version})"
            raise InputError(
                f"scheduler must have workers with enhg {__version__}, as here, got {what} "
                f"at {address}",
                parameter="scheduler",
            )
