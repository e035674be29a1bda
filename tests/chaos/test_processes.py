"""Many fits in one process, copies of a process that has computed, and workers without a parent."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from program import LONG, descendants

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/proc of Linux is read")

_FITS = """
import gc, sys, warnings
import numpy as np
from enhg import HypergraphClassifier, HypergraphClustering
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
def resident():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1]) * 4096
sizes = []
for i in range(int(sys.argv[1])):
    n = 300 + i % 7
    X = rng.random((n, 30), np.float32) + 3 * np.eye(4, 30, dtype="f4")[rng.integers(4, size=n)]
    HypergraphClustering(4, random_state=0).fit(X).predict(X[:20])
    y = np.where(np.arange(len(X)) % 10 == 0, np.arange(len(X)) % 3, -1)
    HypergraphClassifier().fit(X, y)
    sizes.append(resident())
half = len(sizes) // 2
print(max(sizes[half:]) - max(sizes[:half]))
"""


def test_memory_does_not_grow():
    """The second half of many fits needs no more than the first one, within two megabytes."""
    count = 200 if LONG else 40  # of which the first dozen fill caches
    done = subprocess.run(
        [sys.executable, "-c", _FITS, str(count)], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) < 2 * 2**20


_FORKS = """
import faulthandler, os, sys, warnings
import numpy as np
from enhg import HypergraphClustering
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.random((400, 30), np.float32)
def labels():
    return HypergraphClustering(4, random_state=0).fit(X).labels_
expected = labels() if sys.argv[1] == "used" else None
children = []
for _ in range(2):
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(120, exit=True)
        own = labels()
        os._exit(0 if expected is None or (own == expected).all() else 1)
    children.append(child)
print([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children])
"""


@pytest.mark.parametrize("state", ["imported", "used"])
def test_a_copied_process_computes_the_same(state):
    """After the import, and after a fit that has used threads of BLAS, OpenMP and Python."""
    done = subprocess.run(
        [sys.executable, "-c", _FORKS, state], capture_output=True, text=True, check=True,
        timeout=300,
    )  # fmt: skip
    assert done.stdout.strip() == "[0, 0]"


_WORKERS = """
import os, time
from joblib import Parallel, delayed
from experiments.cells import end_with
def work(parent):
    end_with(parent)
    time.sleep(600)
Parallel(2)(delayed(work)(os.getpid()) for _ in range(2))
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=lambda n: n.name)
def test_workers_of_an_experiment_end_with_it(number):
    root = Path(__file__).parents[2]
    process = subprocess.Popen([sys.executable, "-c", _WORKERS], cwd=root)
    while sum(map(is_worker, workers := descendants(process.pid))) < 2:
        time.sleep(0.1)
    time.sleep(2)  # until both are at work
    process.send_signal(number)
    process.wait()
    end = time.monotonic() + 60
    while (alive := [one for one in workers if is_worker(one)]) and time.monotonic() < end:
        time.sleep(0.1)
    assert not alive


def is_worker(process):
    """Whether it runs and is a worker of joblib, not one of its helpers."""
    try:
        return "LokyProcess" in Path(f"/proc/{process}/cmdline").read_text()
    except OSError:
        return False
