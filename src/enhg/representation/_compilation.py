"""Machine code of the kernel, the same in every process."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from threading import Lock, Thread
from time import sleep
from typing import Any

import numpy as np
from numba.core.event import Listener, install_listener

from enhg._atomic import LockedError, locked
from enhg.representation import _kernels
from enhg.representation._blocks import Dictionary, row_norms, solve_block
from enhg.representation._threads import ThreadTeam
from enhg.representation.problem import Problem

_PAUSE = 0.1  # seconds until the next look for what another process compiles
_loaded: set[str] = set()
_loading = Lock()


def load_kernel(dtype: np.dtype) -> None:
    """Load the machine code of the kernel, after another process has compiled it if need be.

    The functions that the kernel calls are compiled on their own and together with it, which rounds
    differently. A process that compiles runs the former, one that loads what was compiled runs the
    latter. So that results do not depend on it, a process that solves does not compile.
    """
    with _loading:
        if not _kernels.solve.is_kept or dtype.name in _loaded:
            return
        _loaded.add(dtype.name)
        while not _is_compiled(dtype.name):
            try:
                with locked(_kernels.solve.lock):
                    if not _is_compiled(dtype.name):
                        _compile_elsewhere(dtype.name)
                return
            except LockedError:  # of several processes that start at once, one compiles
                sleep(_PAUSE)


def _is_compiled(dtype: str) -> bool:
    """Whether there is machine code on disk, which is loaded."""
    try:
        with install_listener("numba:compile", _Refusal()):
            compile_kernel(dtype)
    except _NotCompiledError:
        return False
    return True


def compile_kernel(dtype: str) -> None:
    """Compile the kernel for samples of a type by solving a small problem."""
    X = np.random.default_rng(0).random((8, 5)).astype(dtype)
    dictionary = Dictionary(X, X @ X.T, row_norms(X), np.ones(8))
    problem = Problem(10.0, 5.0, "squared", "relative")
    with ThreadTeam(1) as team:
        solve_block(X, np.arange(8), dictionary, problem, 1e-4, np.empty((16, 8), dtype), team)


def _compile_elsewhere(dtype: str) -> None:
    """Compile in another process; where that is not possible, the first use compiles."""
    if not sys.executable or getattr(sys, "frozen", False):
        return
    code = f"from {__name__} import compile_for_parent; compile_for_parent({dtype!r})"
    with suppress(OSError), subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        try:
            process.wait()
        except BaseException:
            process.kill()
            raise


def compile_for_parent(dtype: str) -> None:
    """Compile in a process that ends with its parent, which holds the other end of its input."""

    def end_with_parent() -> None:
        sys.stdin.buffer.read()
        os._exit(1)

    Thread(target=end_with_parent, daemon=True).start()
    compile_kernel(dtype)


class _NotCompiledError(Exception):
    """There is no machine code of the kernel on disk."""


class _Refusal(Listener):
    """Stops the kernel from being compiled."""

    def on_start(self, event: Any) -> None:
        if event.data["dispatcher"] is _kernels.solve.dispatcher:
            raise _NotCompiledError

    def on_end(self, event: Any) -> None:
        pass
