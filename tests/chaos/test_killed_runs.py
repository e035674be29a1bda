"""Runs that are killed, interrupted or terminated at random moments.

After each, OUT is as it was or complete, where a checkpoint in it does not count: it is what the
same command goes on from. Only a run that was killed (SIGKILL) leaves temporary files, which the
next run with the same OUT removes.
"""

from __future__ import annotations

import os
import random
import re
import signal
import sys
import time
from contextlib import suppress

import numpy as np
import pytest
from program import LONG, SIGNALS, Program, descendants, snapshot
from sklearn.datasets import load_digits

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied as in Linux")

MOMENTS = 12 if LONG else 1
_PROMPT_SECONDS = 20.0  # on a machine with ten times as much to do as it has cores
_TEMPORARY = re.compile(r"\.out\.([0-9a-f]{8}\.(tmp|moving)|lock)|\.lock")


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    """A folder with samples, some labels and a model."""
    folder = tmp_path_factory.mktemp("work")
    X, y = load_digits(n_class=3, return_X_y=True)
    np.savez(folder / "digits.npz", X=X[:200].reshape(-1, 8, 8).astype(np.uint8))
    np.save(folder / "some.npy", np.where(np.arange(200) % 10 == 0, y[:200], -1))
    return folder


@pytest.fixture(scope="module")
def program(work):
    with Program(work) as running:
        assert running.run("cluster", work / "digits.npz", "-k", 3, "-o", work / "model") == 0
        yield running


def words(command, work, out):
    if command == "predict":
        first = (work / "model" / "model.npz", work / "digits.npz")
    elif command == "classify":
        first = (work / "digits.npz", "--labels", work / "some.npy")
    else:
        first = (work / "digits.npz", "-k", 3)
    return (command, *first, "-o", out, "--no-cache", "--overwrite")


@pytest.fixture(scope="module")
def whole(program, work):
    """Seconds and files of whole runs, by command."""

    def measure(command):
        if command not in known:
            out = work / f"whole-{command}"
            began = time.monotonic()
            assert program.run(*words(command, work, out)) == 0, program.printed
            known[command] = time.monotonic() - began, snapshot(out)
        return known[command]

    known = {}
    return measure


def prepare(out, before):
    """OUT is missing, empty, or has the results of an earlier run."""
    out.parent.mkdir()
    if before != "missing":
        out.mkdir()
    if before == "results":
        for name in ("labels.csv", "model.npz", "duplicates.csv", "notes.txt"):
            (out / name).write_text("earlier")


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("command", ["cluster", "classify", "predict"])
def test_out_is_as_it_was_or_complete(tmp_path, program, work, whole, command, number):
    rng = random.Random(f"{command} {number.name}")
    seconds, complete = whole(command)
    for moment in range(MOMENTS):
        out = tmp_path / str(moment) / "out"
        before = rng.choice(["missing", "empty", "results"])
        prepare(out, before)
        earlier = snapshot(out)
        results = {k: v for k, v in earlier.items() if k != "duplicates.csv"} | complete
        line = words(command, work, out)
        status, waited = program.kill(*line, after=rng.uniform(0, seconds), by=number)
        left = [name for name in os.listdir(out.parent) if name != "out"]
        if out.exists():
            left += [name for name in os.listdir(out) if _TEMPORARY.fullmatch(name)]
        if number == signal.SIGKILL:
            assert all(_TEMPORARY.fullmatch(name) for name in left)
        else:
            assert not left
            assert waited < _PROMPT_SECONDS
            # Before the program starts, and once it has ended, Python does not handle signals.
            assert status in (0, 128 + number, -number), program.printed
            check_message(program.printed, status, number)
            if "the results are complete" in program.printed:
                earlier = results
        if not any(name.endswith(".moving") for name in left):
            files = {k: v for k, v in snapshot(out).items() if not _TEMPORARY.match(k)}
            assert files in ([results] if status == 0 else [earlier, results]), before
        assert program.run(*line) == 0, program.printed
        assert snapshot(out) == results
        assert os.listdir(out.parent) == ["out"]
        assert not (out / ".checkpoint").exists()


def check_message(printed, status, number):
    """One line, with the place of the checkpoint if there is any; never a traceback."""
    assert "Traceback" not in printed
    if status > 0:
        word = "interrupted" if number == signal.SIGINT else "terminated"
        outcomes = ("no results were written", "the results are complete", "progress is kept; the")
        last = printed.splitlines()[-1]
        assert last.startswith(tuple(f"{word}: {outcome}" for outcome in outcomes))


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
def test_label(tmp_path, program, work, number):
    """The page can be opened after it, with the clusters of the first run or of another one."""
    pytest.importorskip("uvicorn")
    rng = random.Random(f"label {number.name}")
    for moment in range(MOMENTS):
        out = tmp_path / str(moment) / "out"
        out.parent.mkdir()
        line = (*words("label", work, out)[:-1], "--no-browser")
        _, waited = program.kill(*line, after=rng.uniform(0, 4), by=number)
        assert waited < _PROMPT_SECONDS
        assert "Traceback" not in program.printed
        process = program.start(*line)
        assert program.wait_for("http://"), program.printed
        os.kill(process, signal.SIGINT)
        assert program.wait() == 0, program.printed
        assert sorted(snapshot(out)) == [
            "actions.jsonl", "answers.csv", "labels.csv", "labels.jsonl", "model.npz",
        ]  # fmt: skip
        assert os.listdir(out.parent) == ["out"]


@pytest.mark.parametrize("number", SIGNALS if LONG else SIGNALS[:1], ids=lambda n: n.name)
def test_dask(tmp_path, program, work, number):
    """No worker outlives the run."""
    pytest.importorskip("distributed")
    rng = random.Random(f"dask {number.name}")
    for moment in range(MOMENTS):
        out = tmp_path / str(moment) / "out"
        out.parent.mkdir()
        line = (*words("cluster", work, out), "--dask", "local")
        process = program.start(*line)
        end, workers = time.monotonic() + rng.uniform(3, 8), []
        while time.monotonic() < end or (moment == 0 and not workers):
            workers = descendants(process) or workers
            time.sleep(0.05)
        with suppress(ProcessLookupError):  # it may have ended
            os.kill(process, number)
        program.wait()
        assert "Traceback" not in program.printed, program.printed
        end = time.monotonic() + 30
        while (alive := [one for one in workers if is_running(one)]) and time.monotonic() < end:
            time.sleep(0.1)
        assert not alive
        assert program.run(*line) == 0, program.printed
        assert os.listdir(out.parent) == ["out"]


def is_running(process):
    """Not one that has ended and whose status nobody has asked for."""
    try:
        with open(f"/proc/{process}/stat") as stream:
            return stream.read().rsplit(")")[-1].split()[0] != "Z"
    except OSError:
        return False
