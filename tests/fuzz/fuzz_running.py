"""Inputs in a process of their own, with limits of time and memory for each.

A reader that hangs, crashes, or takes memory ends that process alone: the failure is recorded, and
another process goes on with the next input.
"""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import select
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass, field
from pathlib import Path

MOST_FAILURES = 20
SECONDS = 60  # for one input, on a busy machine
FREE_MEMORY = 256_000_000  # that readers see as free
GROWTH = 800_000_000  # of the resident memory that one input may cause
ADDRESS_SPACE = 3_000_000_000  # beside what is mapped at the start


@dataclass
class Outcome:
    """What came of the inputs of a reader."""

    name: str
    n_inputs: int = 0
    n_accepted: int = 0
    failures: list[tuple[int, str]] = field(default_factory=list)


def run_reader(name: str, start: int, stop: int, program: str = __file__) -> Outcome:
    """Give a reader the inputs of the numbers from `start` to `stop` − 1, up to some failures."""
    outcome = Outcome(name)
    while start < stop and len(outcome.failures) < MOST_FAILURES:
        start = _run_process(outcome, start, stop, program)
    return outcome


def _run_process(outcome: Outcome, start: int, stop: int, program: str) -> int:
    """Run inputs in a process until it ends; returns the number of the next input."""
    command = [sys.executable, program, outcome.name, str(start), str(stop)]
    with tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, bufsize=0, stdout=subprocess.PIPE, stderr=errors)
        assert process.stdout is not None
        number, is_over = start, False
        limit = 10 * SECONDS  # to import and to make the corpus
        while not is_over:
            line = _line(process.stdout, limit)
            if line is None:
                process.kill()
                outcome.failures.append((number, f"no end after {limit} s"))
                is_over, number = True, number + 1
            elif not line:
                is_over, number = True, number + (process.wait() != 0)
                if process.returncode:
                    errors.seek(0)
                    end = errors.read().decode(errors="replace")[:2000]
                    outcome.failures.append((number - 1, f"exit {process.returncode}: {end}"))
            else:
                limit = SECONDS
                number = _note(outcome, json.loads(line))
        process.wait()
        process.stdout.close()
    return number


def _line(stream, seconds):
    """The next line; b"" at the end, None if there is none in time."""
    readable, _, _ = select.select([stream], [], [], seconds)
    return stream.readline() if readable else None


def _note(outcome: Outcome, record: dict) -> int:
    number = record["number"]
    if record["state"] == "next":
        return number
    outcome.n_inputs += 1
    outcome.n_accepted += record["state"] == "accepted"
    if record["state"] == "failed":
        outcome.failures.append((number, record["text"]))
    return number + 1


def _limit_memory() -> None:
    mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (mapped + ADDRESS_SPACE,) * 2)


def _serve(name: str, start: int, stop: int) -> None:
    """Read inputs in this process, with a line of JSON for each on standard output."""
    import fuzz_readers

    from enhg import _files

    faulthandler.enable()
    output = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print

    def say(**record):
        output.write(json.dumps(record) + "\n")
        output.flush()

    with tempfile.TemporaryDirectory() as folder:
        fuzzer = fuzz_readers.Fuzzer(name, Path(folder))
        for number in range(len(fuzzer.contents)):  # which also imports what the reader needs
            assert fuzzer.run(number), f"file {number} of the corpus is refused"
        _files.free_memory = lambda: FREE_MEMORY
        if sys.platform == "linux":
            _limit_memory()
        for number in range(start, stop):
            say(number=number, state="next")
            before = _peak()
            try:
                state, text = "accepted" if fuzzer.run(number) else "refused", ""
            except BaseException:
                state, text = "failed", traceback.format_exc()[-3000:]
            if (grown := _peak() - before) > GROWTH:
                state, text = "failed", f"memory grew by {grown / 1e9:.2g} GB"
            say(number=number, state=state, text=text)


def _peak() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


if __name__ == "__main__":
    _serve(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
