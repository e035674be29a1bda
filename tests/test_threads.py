"""Functions called in several threads."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from enhg import Hypergraph, _threads
from enhg._threads import ThreadedMatrix, map_in_threads


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
