"""Functions called in several threads."""

from __future__ import annotations

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Event

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from threadpoolctl import threadpool_info, threadpool_limits

from enhg import Hypergraph, HypergraphClustering, _threads
from enhg._threads import ThreadedMatrix, blas_threads, map_in_threads, one_thread_in_libraries


def test_results_are_in_the_order_of_the_items():
    assert map_in_threads(lambda x: x**2, range(50)) == [x**2 for x in range(50)]
    assert map_in_threads(str, [1]) == ["1"]
    assert map_in_threads(str, []) == []


@pytest.mark.parametrize("shape", [(40,), (40, 3)])
@pytest.mark.parametrize("entries", [1, 7, 50, 10**6])
def test_product_in_blocks_has_the_same_bits(monkeypatch, shape, entries):
    """However the rows are divided, among them empty ones and one longer than a block."""
    rng = np.random.default_rng(0)
    dense = rng.random((60, 40)) * (rng.random((60, 40)) < 0.1)
    dense[10:25], dense[30] = 0, rng.random(40)
    matrix, x = sparse.csr_array(dense), rng.random(shape)
    monkeypatch.setattr(_threads, "_ENTRIES_AT_ONCE", entries)
    product = ThreadedMatrix(matrix) @ x
    np.testing.assert_array_equal(product, matrix @ x)
    np.testing.assert_allclose(product, dense @ x)


def test_theta_does_not_depend_on_blocks(monkeypatch):
    incidence, x = np.random.default_rng(0).random((50, 70)), np.eye(50)
    whole = Hypergraph(incidence).theta @ x
    monkeypatch.setattr(_threads, "_ENTRIES_AT_ONCE", 100)
    divided = Hypergraph(incidence)
    np.testing.assert_array_equal(divided.theta @ x, whole)
    np.testing.assert_allclose(whole, divided.theta_dense(), atol=1e-12)


# --- limits of libraries --------------------------------------------------------------------------


@pytest.fixture
def three_threads():
    with threadpool_limits(3, user_api="blas"):
        yield


def blas_counts():
    """Of the libraries that can be set: other tests may have loaded one of a single thread."""
    counts = {lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"}
    return counts - {1} or {1}


def test_limits_are_those_of_the_innermost_block(three_threads):
    with one_thread_in_libraries():
        assert blas_counts() == {1}
        with blas_threads(2):
            assert blas_counts() == {2}
        assert blas_counts() == {1}
    assert blas_counts() == {3}


def test_blocks_may_end_in_any_order(three_threads):
    first, second = one_thread_in_libraries(), blas_threads(2)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas_counts() == {2}
    second.__exit__(None, None, None)
    assert blas_counts() == {3}


def test_the_least_limit_of_several_threads_holds(three_threads):
    both = Barrier(2, timeout=60)

    def work(count):
        with blas_threads(count):
            both.wait()
            seen = blas_counts()
            both.wait()
        return seen

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, [1, 2])) == [{1}, {1}]
    assert blas_counts() == {3}


def test_fits_in_several_threads_leave_the_limits_as_they_were(three_threads):
    X = load_digits(n_class=3).data[:60]
    with ThreadPoolExecutor(4) as pool:
        fits = [
            pool.submit(HypergraphClustering(3, n_init=2, random_state=0).fit, X) for _ in range(8)
        ]
        labels = [fit.result().labels_ for fit in fits]
    assert blas_counts() == {3}
    assert all((other == labels[0]).all() for other in labels)


def test_an_error_ends_the_limit(three_threads):
    with pytest.raises(ZeroDivisionError), one_thread_in_libraries():
        _ = 1 / 0
    assert blas_counts() == {3}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_does_not_wait_for_threads_that_it_does_not_have(three_threads):
    """Another thread holds a limit, and the lock, in the moment of the fork."""
    held, forked = Event(), Event()

    def hold():
        with blas_threads(1), _threads._blas_threads._lock:
            held.set()
            forked.wait(60)

    with ThreadPoolExecutor() as pool:
        holding = pool.submit(hold)
        held.wait(60)
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            with blas_threads(2):
                os._exit(0 if blas_counts() == {2} else 1)
        forked.set()
        holding.result()
    assert os.waitpid(child, 0)[1] == 0
