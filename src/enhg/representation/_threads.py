"""Threads of the solver."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from numbers import Integral
from typing import Self, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from enhg._threads import blas_libraries, blas_threads
from enhg.exceptions import InputError

_S = TypeVar("_S")
_T = TypeVar("_T")

_MIN_TASK_ROWS = 4
_GRAM_TILE, _MIRROR_TILE = 1024, 128


class ThreadTeam:
    """Threads that are used either by BLAS or by compiled loops, never by both at once.

    Parameters
    ----------
    n_jobs : int or None, default=None
        Number of threads, negative numbers as in joblib; None for all cores.
    """

    def __init__(self, n_jobs: int | None = None) -> None:
        if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
            raise InputError(
                f"n_jobs must be a whole number other than 0, or None, got {n_jobs!r}",
                parameter="n_jobs",
            )
        self.size = effective_n_jobs(-1 if n_jobs is None else int(n_jobs))
        self._blas = blas_libraries()
        self._pool = ThreadPoolExecutor(self.size)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def multiply(self, A: NDArray, B: NDArray, out: NDArray) -> None:
        """Compute out = ABᵀ with a multi-threaded BLAS."""
        with blas_threads(self.size, self._blas):
            np.matmul(A, B.T, out=out)

    def call(self, function: Callable[[], _T]) -> _T:
        """Return function(), with a multi-threaded BLAS."""
        with blas_threads(self.size, self._blas):
            return function()

    def gram(self, X: NDArray) -> NDArray:
        """Return XXᵀ: one triangle is computed, the other copied."""
        n = len(X)
        G = np.empty((n, n), X.dtype)
        for start in range(0, n, _GRAM_TILE):
            rows = slice(start, start + _GRAM_TILE)
            self.multiply(X[rows], X[start:], G[rows, start:])

        def mirror(start: int) -> None:
            rows = slice(start, start + _GRAM_TILE)
            tile = G[rows, rows]  # BLAS does not promise that it is symmetric
            np.copyto(tile, tile.T, where=np.tri(len(tile), k=-1, dtype=bool))
            for below in range(start + _GRAM_TILE, n, _MIRROR_TILE):
                columns = slice(below, below + _MIRROR_TILE)
                G[columns, rows] = G[rows, columns].T

        self.map(mirror, range(0, n, _GRAM_TILE))
        return G

    def map(self, function: Callable, items: Iterable) -> None:
        """Call function(item) for all items, in all threads; one alone is the calling thread."""
        with blas_threads(1, self._blas):
            for _ in (map if self.size == 1 else self._pool.map)(function, items):
                pass

    def in_turn(self, function: Callable[[_S], _T], items: Sequence[_S]) -> Iterator[_T]:
        """Yield function(item) of all items in their order, computed in all threads.

        At most as many results as there are threads wait to be taken.
        """
        with blas_threads(1, self._blas):
            waiting: deque[Future[_T]] = deque()
            for item in items:
                waiting.append(self._pool.submit(function, item))
                if len(waiting) > self.size:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()

    def run_kernel(
        self,
        kernel: Callable,
        rows: NDArray,
        make_workspace: Callable[[], object],
        *arguments: object,
    ) -> None:
        """Call kernel(part of the rows, workspace, *arguments) until all rows are done.

        Every thread has its own workspace.
        """
        tasks = iter(self._tasks(rows))

        def work(_: int) -> None:
            workspace = make_workspace()
            for task in tasks:
                kernel(task, workspace, *arguments)

        self.map(work, range(min(self.size, len(rows))))

    def _tasks(self, rows: NDArray) -> list[NDArray]:
        """Split the rows into parts of decreasing size, so that all threads end together."""
        if self.size == 1:
            return [rows]
        tasks = []
        while len(rows):
            size = max(_MIN_TASK_ROWS, len(rows) // (3 * self.size))
            tasks.append(rows[:size])
            rows = rows[size:]
        return tasks
