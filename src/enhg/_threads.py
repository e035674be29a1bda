"""Functions called in several threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import ThreadpoolController, threadpool_limits

_S = TypeVar("_S")
_T = TypeVar("_T")

_ENTRIES_AT_ONCE = 2**20


@contextmanager
def one_thread_in_libraries() -> Iterator[None]:
    """Limit BLAS and OpenMP to one thread, in a block whose own threads use all cores.

    Threads of several pools wait for each other, actively, and all the longer if other processes
    have the cores: see ``python -m benchmarks.limits load``. They also add numbers in the order in
    which they finish, which rounds differently in every run. BLAS has one limit for the process,
    OpenMP one for every thread: `map_in_threads` sets that of its threads.
    """
    with threadpool_limits(limits=1):
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
