"""The kernel is compiled by a process of its own, so that all processes run the same code."""

import numpy as np
import pytest
from numba import njit

from enhg._numba import CACHE
from enhg.representation import _compilation, _kernels
from enhg.representation.solver import self_representation

pytestmark = pytest.mark.skipif(not CACHE, reason="machine code is not kept on disk")


@pytest.fixture
def not_compiled(monkeypatch):
    """A kernel without machine code on disk; yields the types compiled elsewhere."""
    elsewhere = []
    dispatcher = njit(**_kernels._OPTIONS)(_kernels.solve.__wrapped__)
    monkeypatch.setattr(_kernels.solve, "dispatcher", dispatcher)
    monkeypatch.setattr(_compilation, "_loaded", set())
    monkeypatch.setattr(_compilation, "_compile_elsewhere", elsewhere.append)
    return elsewhere


def test_a_process_that_solves_does_not_compile(not_compiled):
    _compilation.load_kernel(np.dtype(np.float32))
    assert not_compiled == ["float32"]
    assert not _kernels.solve.dispatcher.signatures
    _compilation.load_kernel(np.dtype(np.float32))
    assert not_compiled == ["float32"]  # not again
    _compilation.load_kernel(np.dtype(np.float64))
    assert not_compiled == ["float32", "float64"]


def test_solving_loads_the_kernel_first(monkeypatch):
    monkeypatch.setattr(_compilation, "_loaded", set())
    self_representation(np.random.default_rng(0).random((12, 5), np.float32))
    assert "float32" in _compilation._loaded


def test_the_other_process_leaves_machine_code(monkeypatch, capfd):
    """It is the same as here: its code is on disk, and it prints nothing."""
    _compilation.load_kernel(np.dtype(np.float32))
    before = sum(_kernels.solve.dispatcher.stats.cache_hits.values())
    assert before > 0
    monkeypatch.setattr(_compilation.sys, "executable", "")
    _compilation._compile_elsewhere("float32")  # not possible, and no error
    monkeypatch.undo()
    _compilation._compile_elsewhere("float32")
    assert capfd.readouterr() == ("", "")
