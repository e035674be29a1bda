"""Timers, peak memory, new processes, and the machine."""

from __future__ import annotations

import json
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
_PACKAGES = (
    "enhg", "numpy", "scipy", "numba", "scikit-learn", "celer", "skglm", "spams-bin",
)  # fmt: skip


def seconds_of(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def best_of_each(functions: dict[str, Callable[[], object]], times: int) -> dict[str, float]:
    """The shortest of several runs of each function, in turns so that all see the same load."""
    rounds = [
        {name: seconds_of(function) for name, function in functions.items()} for _ in range(times)
    ]
    return {name: min(seconds[name] for seconds in rounds) for name in functions}


def peak_bytes() -> int:
    """Peak resident memory of this process.

    On Linux ru_maxrss of a child includes what its parent had resident before exec, so VmHWM of
    the process itself is read where it exists.
    """
    try:
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024
    except (OSError, IndexError):
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


def reset_peak() -> int:
    """Make the resident memory of this process the peak, and return it (Linux)."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_bytes()


def in_new_process(
    task: str, environment: dict[str, str] | None = None, **arguments: object
) -> dict[str, object]:
    """Run a task of `fresh.py` in a new interpreter and return its result."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.fresh", task, json.dumps(arguments, default=str)],
        env=os.environ | (environment or {}),
        cwd=_ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def machine() -> dict[str, object]:
    """Processor, cores and memory, without the name of the host."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0))
        if hasattr(os, "sched_getaffinity")
        else os.cpu_count(),
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
        "system": f"{platform.system()} {platform.machine()}",
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    named = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


def versions() -> dict[str, str]:
    return {"python": platform.python_version()} | {name: version(name) for name in _PACKAGES}
