"""A few random inputs for every reader, the learners and the solver; ``make fuzz`` gives more."""

from __future__ import annotations

import resource
import sys

import fuzz_learners
import fuzz_running
import pytest
from fuzz_readers import READERS, Fuzzer

N_INPUTS = 100
LEARNERS = fuzz_learners.checks(N_INPUTS)


@pytest.mark.parametrize("name", READERS)
def test_readers_give_a_result_or_an_error(tmp_path, monkeypatch, name):
    monkeypatch.setattr("enhg._files.free_memory", lambda: fuzz_running.FREE_MEMORY)
    fuzzer = Fuzzer(name, tmp_path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    accepted = [fuzzer.run(number) for number in range(N_INPUTS)]
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    assert grown < fuzz_running.GROWTH
    assert all(accepted[: len(fuzzer.contents)])  # the corpus, unchanged
    assert not all(accepted)


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_give_a_result_or_an_error(name):
    fuzz_learners.RESULTS.clear()
    LEARNERS[name]()
    assert fuzz_learners.RESULTS["inputs"] >= 40
    assert fuzz_learners.RESULTS["accepted"] > 5


def test_failures_are_seen(tmp_path, monkeypatch):
    """Inputs that hang, crash, raise, and one between them that does not."""
    monkeypatch.setattr(fuzz_running, "SECONDS", 1)
    program = tmp_path / "program.py"
    program.write_text(
        "import json, os, sys, time\n"
        "for number in range(int(sys.argv[2]), int(sys.argv[3])):\n"
        "    print(json.dumps({'number': number, 'state': 'next'}), flush=True)\n"
        "    if number == 1: time.sleep(60)\n"
        "    if number == 3: os.abort()\n"
        "    state = 'failed' if number == 4 else 'accepted'\n"
        "    print(json.dumps({'number': number, 'state': state, 'text': 'wrong'}), flush=True)\n"
    )
    outcome = fuzz_running.run_reader("any", 0, 6, str(program))
    assert [number for number, _ in outcome.failures] == [1, 3, 4]
    texts = [text for _, text in outcome.failures]
    assert texts[0] == "no end after 1 s"
    assert texts[1].startswith("exit -6")
    assert texts[2] == "wrong"
    assert (outcome.n_inputs, outcome.n_accepted) == (4, 3)


@pytest.mark.skipif(sys.platform != "linux", reason="needs the limits of Linux")
def test_inputs_run_in_a_process_with_limits():
    outcome = fuzz_running.run_reader("csv", 0, 30)
    assert outcome.n_inputs == 30
    assert not outcome.failures
