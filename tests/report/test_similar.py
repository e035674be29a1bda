"""Nearest images of every image."""

import numpy as np
import pytest
from scipy import sparse

from enhg.report import _similar as similar


def by_hand(samples, members, count):
    """The lists from all cosines at once, sorted."""
    units = samples / np.linalg.norm(samples, axis=1, keepdims=True)
    cosines = units @ units.T
    lists = []
    for i, row in enumerate(cosines):
        known = set(np.flatnonzero(members[i] > 0)) | {i}
        others = [j for j in np.argsort(-row) if j not in known]
        lists.append(others[: max(count - len(known) + 1, 0)])
    return lists


@pytest.mark.parametrize("block", [2**23, 500])
def test_nearest_fill_up_what_the_hyperedge_lacks(block, monkeypatch):
    monkeypatch.setattr(similar, "_BLOCK", block)
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(80, 10)) * rng.uniform(0.1, 10, size=(80, 1))
    members = np.where(rng.random((80, 80)) < 0.1, rng.normal(size=(80, 80)), 0.0)
    members[0, :] = 0
    members[1, 2:40] = 1
    np.fill_diagonal(members, 0)
    lists = similar.nearest(samples, sparse.csr_array(members))
    assert lists == by_hand(samples, members, similar.SIMILAR)
    assert len(lists[0]) == 12
    assert lists[1] == []


def test_few_samples_and_samples_of_zeros():
    nothing = sparse.csr_array((3, 3))
    assert similar.nearest(np.array([[1.0, 0], [0, 1], [2, 1]]), nothing) == [
        [2, 1],
        [2, 0],
        [0, 1],
    ]
    assert {*map(len, similar.nearest(np.zeros((3, 2)), nothing))} == {2}


def test_many_samples_are_not_compared(monkeypatch):
    monkeypatch.setattr(similar, "_MOST_COMPARED", 35)
    assert similar.nearest(np.eye(6), sparse.csr_array((6, 6))) == [[]] * 6
    assert similar.nearest_fitted(np.eye(6), np.eye(6)) == [[]] * 6
    assert similar.nearest_fitted(np.eye(6)[:5], np.eye(6)) != [[]] * 5


@pytest.mark.parametrize("block", [2**23, 500])
@pytest.mark.parametrize("n_fitted", [60, 5])
def test_nearest_samples_of_a_model(block, n_fitted, monkeypatch):
    monkeypatch.setattr(similar, "_BLOCK", block)
    rng = np.random.default_rng(1)
    new = rng.normal(size=(40, 10)) * rng.uniform(0.1, 10, size=(40, 1))
    fitted = rng.normal(size=(n_fitted, 10)) * rng.uniform(0.1, 10, size=(n_fitted, 1))
    fitted[3] = 2 * new[7]
    lists = similar.nearest_fitted(new, fitted)
    cosines = new @ fitted.T / np.outer(*(np.linalg.norm(X, axis=1) for X in (new, fitted)))
    np.testing.assert_array_equal(lists, np.argsort(-cosines, axis=1)[:, :12])
    assert lists[7][0] == 3
