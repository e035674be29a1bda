"""The kernel is compiled by a process of its own, so that all processes run the same code."""

import re
from threading import Thread

import numpy as np
import pytest
from numba import TypingError, njit

from enhg._atomic import locked
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


def test_of_several_processes_one_compiles(not_compiled):
    loading = Thread(target=_compilation.load_kernel, args=[np.dtype(np.float32)])
    with locked(_kernels.solve.lock) as is_locked:
        if not is_locked:
            pytest.skip("no locks")
        loading.start()
        loading.join(1)
        assert loading.is_alive()
        assert not not_compiled
    loading.join()
    assert not_compiled == ["float32"]
    assert not _kernels.solve.lock.exists()


def test_what_another_process_has_compiled_is_loaded(not_compiled, monkeypatch):
    answers = iter([False, True])  # the other one ends between both
    monkeypatch.setattr(_compilation, "_is_compiled", lambda dtype: next(answers))
    _compilation.load_kernel(np.dtype(np.float32))
    assert not not_compiled


def test_solving_loads_the_kernel_first(monkeypatch):
    monkeypatch.setattr(_compilation, "_loaded", set())
    self_representation(np.random.default_rng(0).random((12, 5), np.float32))
    assert "float32" in _compilation._loaded


def test_references_to_working_memory_are_not_counted():
    """All of its arrays, and those of a block, are viewed without an owner."""

    def arrays(part, name):
        if isinstance(part, np.ndarray):
            return {name}
        fields = getattr(part, "_fields", ())
        return set().union(*(arrays(getattr(part, field), f"{name}.{field}") for field in fields))

    work = _kernels.workspace(np.ones((5, 3)), 4)
    views = re.findall(r"_view\(([\w.]+)\)", _kernels._views(_kernels.Work, "work"))
    assert set(views) == arrays(work, "work")
    assert "work.factor.U" in views
    assert _kernels._views(_kernels.Block, "block").count("_view(") == len(_kernels.Block._fields)
    shared = _kernels._views(_kernels.Shared, "shared")
    assert re.findall(r"_view\(shared\.(\w+)\)", shared) == ["atoms", "gram", "counts"]


def test_an_array_that_is_not_contiguous_is_refused():
    view = njit(lambda array: _kernels._view(array)[0])
    assert view(np.arange(5.0)) == 0.0
    with pytest.raises(TypingError):
        view(np.arange(5.0)[::2])


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
