"""Random inputs for the readers, the learners and the solver: ``make fuzz``.

python tests/fuzz [--count 5000] [--start 0] [NAME ...]
"""

from __future__ import annotations

import argparse
import sys
import traceback
from collections.abc import Callable
from time import perf_counter

import fuzz_learners
import fuzz_readers
import fuzz_running


def main() -> int:
    """Run the inputs; returns the number of failures."""
    parser = argparse.ArgumentParser(prog="python tests/fuzz")
    parser.add_argument("names", nargs="*", help="readers, or what is tested by Hypothesis")
    parser.add_argument("--count", type=int, default=5000, help="inputs for each")
    parser.add_argument("--start", type=int, default=0, help="number of the first input")
    options = parser.parse_args()
    learners = fuzz_learners.checks(options.count, options.start)
    n_failures = 0
    for name in options.names or [*fuzz_readers.READERS, *learners]:
        began = perf_counter()
        if name in learners:
            outcome = run_learner(name, learners[name])
        else:
            outcome = fuzz_running.run_reader(name, options.start, options.start + options.count)
        print(
            f"{name:<20}{outcome.n_inputs:6d} inputs, {outcome.n_accepted:5d} accepted, "
            f"{len(outcome.failures)} failures, {perf_counter() - began:.0f} s",
            flush=True,
        )
        for number, text in outcome.failures:
            print(f"--- {name} {number}\n{text}", flush=True)
        n_failures += len(outcome.failures)
    return n_failures


def run_learner(name: str, check: Callable[[], None]) -> fuzz_running.Outcome:
    """Run a test of Hypothesis, which ends at its first failure."""
    outcome = fuzz_running.Outcome(name)
    fuzz_learners.RESULTS.clear()
    try:
        check()
    except Exception:
        outcome.failures.append((0, traceback.format_exc()[-5000:]))
    outcome.n_inputs = fuzz_learners.RESULTS["inputs"]
    outcome.n_accepted = fuzz_learners.RESULTS["accepted"]
    return outcome


if __name__ == "__main__":
    sys.exit(min(main(), 1))
