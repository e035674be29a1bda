"""Threads of the solver: the Gram matrix and the distribution of rows."""

from __future__ import annotations

import numpy as np
import pytest
from elastic_net_oracle import samples

from enhg.exceptions import InputError
from enhg.representation._threads import ThreadTeam
from enhg.representation.solver import self_representation


def test_no_gram_matrix_is_made_beyond_the_budget(monkeypatch):
    X = samples(150, 40)
    made = []
    gram = ThreadTeam.gram
    monkeypatch.setattr(ThreadTeam, "gram", lambda self, A: made.append(len(A)) or gram(self, A))
    self_representation(X, memory_budget=150 * 150 * 8 // 2)
    assert not made
    self_representation(X, memory_budget=2**30)
    assert made == [150]


def test_gram_matrix_is_symmetric_and_exact():
    X = samples(1500, 7)  # more than a tile
    with ThreadTeam(2) as team:
        G = team.gram(X)
    np.testing.assert_array_equal(G, G.T)
    np.testing.assert_allclose(G, X @ X.T, atol=1e-12)


@pytest.mark.parametrize("n_rows", [1, 3, 4, 100])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_every_row_is_processed_once(n_rows, n_jobs):
    processed, workspaces = [], []

    def kernel(rows, workspace, factor):
        processed.extend((factor * rows).tolist())

    with ThreadTeam(n_jobs) as team:
        team.run_kernel(kernel, np.arange(n_rows), lambda: workspaces.append(1), 10)
    assert sorted(processed) == list(range(0, 10 * n_rows, 10))
    assert len(workspaces) == min(n_jobs, n_rows)


def test_an_error_in_a_thread_is_raised():
    def kernel(rows, workspace):
        raise ZeroDivisionError("in a thread")

    with ThreadTeam(2) as team, pytest.raises(ZeroDivisionError, match="in a thread"):
        team.run_kernel(kernel, np.arange(10), lambda: None)


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2"])
def test_wrong_number_of_threads(n_jobs):
    with pytest.raises(InputError, match=f"n_jobs must be .* got {n_jobs!r}"):
        ThreadTeam(n_jobs)
