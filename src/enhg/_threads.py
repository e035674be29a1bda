"""Functions called in several threads."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from itertools import pairwise
from threading import RLock, get_ident
from typing import Any, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import ThreadpoolController

_S = TypeVar("_S")
_T = TypeVar("_T")

_ENTRIES_AT_ONCE = 2**20


class _BlasThreads:
    """The number of threads of BLAS, which is one for the process, while any thread limits it.

    The first limit saves the number that was there, and the last to end restores it: threads that
    did so on their own would restore the limits of each other. In between, the number is the least
    of the limits of the threads, of which each has its innermost.
    """

    def __init__(self) -> None:
        # Reentrant: a block that is garbage may end while another begins or ends.
        self._lock = RLock()
        self._limits: dict[object, tuple[int, int]] = {}
        self._libraries: Any = None
        self._first: Any = None

    def forget_other_threads(self) -> None:
        """In a process that was forked, only the thread that has forked goes on."""
        self._lock = RLock()
        own = get_ident()
        self._limits = {key: limit for key, limit in self._limits.items() if limit[0] == own}

    @contextmanager
    def limit(self, count: int, libraries: ThreadpoolController) -> Iterator[None]:
        key = object()
        try:
            with self._lock:
                if not self._limits:
                    self._libraries = libraries
                self._limits[key] = (get_ident(), count)
                self._apply()
            yield
        finally:
            with self._lock:
                self._limits.pop(key, None)
                self._apply()

    def _apply(self) -> None:
        innermost = dict(list(self._limits.values()))
        _let_any_thread_set(self._libraries)
        if innermost:
            latest = self._libraries.limit(limits=min(innermost.values()))
            self._first = self._first or latest
        elif self._first is not None:
            self._first.restore_original_limits()
            self._first = None
        _let_any_thread_set(self._libraries)


def _let_any_thread_set(libraries: ThreadpoolController) -> None:
    """Undo that threadpoolctl, of late, ignores all threads but the first that sets a limit."""
    for library in libraries.lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread(force=True)


_blas_threads = _BlasThreads()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_blas_threads.forget_other_threads)


def blas_libraries() -> ThreadpoolController:
    """The libraries of BLAS of this process; it takes milliseconds to find them."""
    return ThreadpoolController().select(user_api="blas")


def blas_threads(
    count: int, libraries: ThreadpoolController | None = None
) -> AbstractContextManager[None]:
    """Limit BLAS to some threads in a block; within blocks of other threads, to the least of all.

    `libraries` are those of `blas_libraries`, if they are known.
    """
    return _blas_threads.limit(count, blas_libraries() if libraries is None else libraries)


@contextmanager
def one_thread_in_libraries() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread, in a block whose own threads use all cores.

    Threads of several pools wait for each other, actively, and all the longer if other processes
    have the cores: see ``python -m benchmarks.limits load``. They also add numbers in the order in
    which they finish, which rounds differently in every run. BLAS has one limit for the process,
    OpenMP one for every thread: `map_in_threads` sets that of its threads.
    """
    libraries = ThreadpoolController()
    with (
        blas_threads(1, libraries.select(user_api="blas")),
        libraries.select(user_api="openmp").limit(limits=1),
    ):
        yield


def map_in_threads(function: Callable[[_S], _T], items: Iterable[_S]) -> list[_T]:
    """function(item) of all items, in the threads of joblib; of a single one without them.

    Within them, OpenMP has one thread.
    """
    listed = list(items)
    if len(listed) <= 1:
        return [function(x) for x in listed]
    openmp = ThreadpoolController().select(user_api="openmp")

    def call(x: _S) -> _T:
        with openmp.limit(limits=1):
            return function(x)

    return _call_in_threads(call, listed)


def _call_in_threads(function: Callable[[_S], _T], items: list[_S]) -> list[_T]:
    return list(Parallel(n_jobs=-1, prefer="threads")(delayed(function)(x) for x in items))


class ThreadedMatrix:
    """A matrix whose products with dense arrays are computed in threads if it is large.

    Parameters
    ----------
    matrix : csr_array
        Its arrays are not copied.
    """

    def __init__(self, matrix: sparse.csr_array) -> None:
        n_blocks = max(1, matrix.nnz // _ENTRIES_AT_ONCE)
        ends = np.searchsorted(matrix.indptr, matrix.nnz * np.arange(1, n_blocks) / n_blocks)
        edges = np.unique([0, *ends, matrix.shape[0]])
        blocks = [_rows(matrix, *pair) for pair in pairwise(edges)]
        self._blocks = blocks if n_blocks > 1 else [matrix]

    def __matmul__(self, x: NDArray) -> NDArray:
        if len(self._blocks) == 1:
            return np.asarray(self._blocks[0] @ x)
        return np.concatenate(_call_in_threads(lambda block: block @ x, self._blocks))


def _rows(matrix: sparse.csr_array, start: int, stop: int) -> sparse.csr_array:
    """Some consecutive rows, over the arrays of the matrix."""
    first, last = matrix.indptr[start], matrix.indptr[stop]
    return sparse.csr_array(
        (
            matrix.data[first:last],
            matrix.indices[first:last],
            matrix.indptr[start : stop + 1] - first,
        ),
        shape=(stop - start, matrix.shape[1]),
    )
