"""The program `enhg` in processes that start at once, to be killed at any moment."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from threading import Timer

SIGNALS = [signal.SIGKILL, signal.SIGINT, signal.SIGTERM]
LONG = os.environ.get("ENHG_CHAOS") == "1"
"""Whether this is `make chaos`, which takes many minutes, not `make test`."""

_MOST_SECONDS = 300  # of a run

# A process that has imported everything, and becomes the program in a copy of itself.
_SERVER = """
import json, os, resource, signal, sys
import numpy as np
import enhg.cli, enhg.cli.commands, enhg.io.models, enhg.report, enhg.run, enhg.duplicates
from enhg.cli import steps
from sklearn.frozen import FrozenEstimator
from enhg.learning.classification import HypergraphClassifier
from enhg.learning.clustering import HypergraphClustering
steps._UNSAVED_SECONDS = 0  # checkpoints from the start, so that runs are killed with them
started = os.dup(1)
for line in sys.stdin:
    words, output, limits = json.loads(line)
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # as before Python has started
        for name, value in limits.items():
            used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
            value += used if name == "RLIMIT_AS" else 0
            resource.setrlimit(getattr(resource, name), (value, value))
        files = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0), os.dup2(files, 1), os.dup2(files, 2)
        sys.argv = ["enhg", *words]
        os.write(started, b"%d\\n" % os.getpid())
        signal.signal(signal.SIGINT, signal.default_int_handler)
        enhg.cli.main()
        raise SystemExit
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Program:
    """Runs of the program, one at a time.

    Parameters
    ----------
    folder : Path
        For what is printed.
    """

    def __init__(self, folder: Path) -> None:
        self._output = folder / "printed.txt"
        self._process: int | None = None  # of a run that is not waited for yet
        self._server = subprocess.Popen(
            [sys.executable, "-c", _SERVER], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True,
        )  # fmt: skip

    def __enter__(self) -> Program:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.stdin.close()
        self._server.wait()

    @property
    def printed(self) -> str:
        """What the last run has printed."""
        return self._output.read_text()

    def start(self, *words: object, **limits: int) -> int:
        """Start a run, with limits of ``resource.setrlimit``; returns the number of its process.

        The run before is killed if a test has failed before it waited for that.
        """
        if self._process is not None:
            self._kill()
            self.wait()
        self._output.write_text("")
        line = json.dumps(([str(word) for word in words], str(self._output), limits))
        print(line, file=self._server.stdin, flush=True)
        self._process = int(self._server.stdout.readline())
        return self._process

    def wait(self) -> int:
        """The exit status of the run, or minus the signal that has killed it.

        A run that does not end is killed, and its test fails.
        """
        timer = Timer(_MOST_SECONDS, self._kill)
        timer.start()
        try:
            return int(self._server.stdout.readline())
        finally:
            timer.cancel()
            self._process = None

    def _kill(self) -> None:
        with suppress(ProcessLookupError):  # it has ended
            os.kill(self._process, signal.SIGKILL)

    def wait_for(self, text: str) -> bool:
        """Wait until the run has printed a text, or ended; returns whether it has printed it."""
        end = time.monotonic() + 120
        while text not in self.printed:
            if time.monotonic() > end or not Path(f"/proc/{self._process}").exists():
                return text in self.printed
            time.sleep(0.05)
        return True

    def run(self, *words: object, **limits: int) -> int:
        """Run to the end."""
        self.start(*words, **limits)
        return self.wait()

    def kill(self, *words: object, after: float, by: int) -> tuple[int, float]:
        """Run and send a signal after some seconds; returns status, and seconds until the end."""
        process = self.start(*words)
        time.sleep(after)
        began = time.monotonic()
        with suppress(ProcessLookupError):  # it may have ended
            os.kill(process, by)
        return self.wait(), time.monotonic() - began


def snapshot(folder: Path) -> dict[str, bytes]:
    """Contents of all files under a folder but those of a checkpoint; empty if there is none.

    The report holds times of the run and is listed without its contents.
    """
    return {
        str(file.relative_to(folder)): b"" if file.name == "report.html" else file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and ".checkpoint" not in file.parts
    }


def descendants(process: int) -> list[int]:
    """The processes that a process has started, and those that they have started."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            stat = (entry / "stat").read_text().rsplit(")")[-1].split()
            parents[int(entry.name)] = int(stat[1])
    family = [process]
    for one in family:
        family += [child for child, parent in parents.items() if parent == one]
    return family[1:]
