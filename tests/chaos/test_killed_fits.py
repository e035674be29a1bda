"""Fits that are killed at random moments and go on from their checkpoints, to the same bits."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from threading import Timer

import numpy as np
import pytest
from program import LONG

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes to fork")

N_SAMPLES, N_KILLED = (900, 20) if LONG else (300, 2)

# Imports once and forks a process for every fit, whose number it prints.
SERVE = f"""
import os, sys, warnings
import numpy as np
from sklearn.datasets import load_digits
from enhg import HypergraphClustering, self_representation
from enhg.representation import scheduling

warnings.simplefilter("ignore")
scheduling._MAX_BLOCK_ROWS = 64
X = load_digits().data[:{N_SAMPLES}].astype(np.float32)
self_representation(X[:50])
for line in sys.stdin:
    folder, result = line.split()
    child = os.fork()
    if child == 0:
        model = HypergraphClustering(random_state=0, checkpoint=folder).fit(X)
        np.savez(result, labels=model.labels_, confidence=model.confidence_,
                 coefficients=model.representation_.coefficients.data)
        os._exit(0)
    print(child, flush=True)
    print(os.waitpid(child, 0)[1], flush=True)
"""


def kill(process):
    with suppress(ProcessLookupError):  # it has just ended
        os.kill(process, signal.SIGKILL)


def test_killed_at_random_moments(tmp_path):
    rng, n_killed, n_fits = np.random.RandomState(0), 0, 0
    with subprocess.Popen(
        [sys.executable, "-c", SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:

        def fit(name, seconds=np.inf):
            """Fit for some seconds at most; return whether the process was killed."""
            print(tmp_path / name, tmp_path / f"{name}.npz", file=server.stdin, flush=True)
            child = int(server.stdout.readline())
            timer = Timer(seconds, kill, (child,))
            if seconds < np.inf:
                timer.start()
            status = int(server.stdout.readline())
            timer.cancel()
            return status == signal.SIGKILL

        begin = time.monotonic()
        fit("whole")
        seconds = time.monotonic() - begin
        while n_killed < N_KILLED:
            # Every few kills a fit is completed, so that the kills fall on all stages.
            name = f"fit{n_fits}"
            n_killed += sum(fit(name, rng.uniform(0, seconds)) for _ in range(rng.randint(1, 6)))
            assert not fit(name)
            with np.load(tmp_path / f"{name}.npz") as ours, np.load(tmp_path / "whole.npz") as one:
                for part in one.files:
                    np.testing.assert_array_equal(ours[part], one[part])
            n_fits += 1
        server.stdin.close()
