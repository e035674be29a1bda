"""The end of a process in compiled code, which Python cannot interrupt."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the signals are those of POSIX")

# The last line of the command takes an hour, in a function that is not interrupted.
PROGRAM = """
import hashlib, sys
from contextlib import nullcontext
import typer
from enhg.cli.interruption import set_outcome, unhurried, watch_signals
from enhg.cli.terminal import errors_in_one_line
from enhg.io import output_folder

@errors_in_one_line
def command():
    set_outcome(lambda: "a checkpoint")
    with output_folder(sys.argv[1]) as folder:
        (folder / "part").write_text("")
        print("started", flush=True)
        with unhurried() if sys.argv[2] == "unhurried" else nullcontext():
            hashlib.pbkdf2_hmac("sha256", b"", b"", int(sys.argv[3]))

app = typer.Typer()
app.command()(command)
watch_signals()
app([])
"""


def start(out, kind="hurried", count=2**31 - 1):
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(out), kind, str(count)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "started\n"
    time.sleep(0.2)
    return process


@pytest.mark.parametrize(
    ("number", "word"),
    [("SIGINT", "interrupted"), ("SIGTERM", "terminated"), ("SIGHUP", "terminated")],
)
def test_compiled_code_does_not_delay_the_end(tmp_path, number, word):
    number = getattr(signal, number)  # Windows has no SIGHUP
    process = start(tmp_path / "some" / "out")
    began = time.monotonic()
    process.send_signal(number)
    _, stderr = process.communicate(timeout=60)
    assert time.monotonic() - began < 15  # two seconds and the start of a busy machine
    assert process.returncode == 128 + number
    assert stderr == f"{word}: a checkpoint\n"
    assert os.listdir(tmp_path) == []


def test_nohup(tmp_path):
    """What ignores the signal from the start goes on when the terminal is closed."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # which processes inherit
    try:
        process = start(tmp_path / "out", count=1_000_000)
    finally:
        signal.signal(signal.SIGHUP, before)
    process.send_signal(signal.SIGHUP)
    process.communicate(timeout=300)
    assert process.returncode == 0
    assert os.listdir(tmp_path) == ["out"]


def test_a_process_that_may_take_its_time(tmp_path):
    """It ends by the handler of Python, when the function returns."""
    process = start(tmp_path / "out", "unhurried", 20_000_000)
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=300)
    assert stderr.count("\n") == 1
    assert process.returncode == 143
    assert os.listdir(tmp_path) == []


# Every file takes a second to be moved.
MOVE = """
import sys, time
from pathlib import Path
import typer
from enhg.cli.interruption import say_results_are_complete, watch_signals
from enhg.cli.terminal import errors_in_one_line
from enhg.io import output_folder

def slow(self, there):
    print("moving", flush=True)
    time.sleep(1)
    return replace(self, there)

@errors_in_one_line
def command():
    with output_folder(sys.argv[1]) as folder:
        for name in "abcd":
            (folder / name).write_text("new")
    say_results_are_complete()

replace, Path.replace = Path.replace, slow
app = typer.Typer()
app.command()(command)
watch_signals()
app([])
"""


def test_results_that_are_moved_for_longer(tmp_path):
    """They are moved to the end: half of them would be of no use."""
    process = subprocess.Popen(
        [sys.executable, "-c", MOVE, str(tmp_path)], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout.readline() == "moving\n"
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=60)
    assert stderr == ""
    assert process.returncode == 0
    assert sorted(os.listdir(tmp_path)) == ["a", "b", "c", "d"]


# The signal comes while typer reads the words of the command line.
EARLY = """
import os, sys
from typer.core import TyperGroup
import enhg.cli, enhg.cli.commands

def make_context(*args, **options):
    os.kill(os.getpid(), int(number))

number, sys.argv = sys.argv[1], ["enhg", "cluster"]
TyperGroup.make_context = make_context
enhg.cli.main()
"""


@pytest.mark.parametrize(("name", "word"), [("SIGINT", "interrupted"), ("SIGTERM", "terminated")])
def test_before_a_command_has_started(name, word):
    number = getattr(signal, name)
    done = subprocess.run(
        [sys.executable, "-c", EARLY, str(int(number))], capture_output=True, text=True, check=False
    )
    assert done.stderr == f"{word}: no results were written\n"
    assert done.returncode == 128 + number


# The signal comes where Python can only print what is raised.
UNRAISABLE = """
import os, signal, sys, time
from enhg.cli.interruption import message_of, watch_signals

class Object:
    def __del__(self):
        os.kill(os.getpid(), int(sys.argv[1]))
        time.sleep(0.01)

watch_signals()
try:
    Object()
    for _ in range(1000):
        time.sleep(0.001)
except KeyboardInterrupt as error:
    print(*message_of(error))
"""


@pytest.mark.parametrize(("name", "word"), [("SIGINT", "interrupted"), ("SIGTERM", "terminated")])
def test_within_a_finalizer(name, word):
    number = getattr(signal, name)
    done = subprocess.run(
        [sys.executable, "-c", UNRAISABLE, str(int(number))], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.stderr == ""
    assert done.stdout == f"{word}: no results were written {128 + number}\n"


# What a library logs at once, of what the signal has cut off.
LOGGED = """
import logging, os, signal, sys
from enhg.cli.interruption import watch_signals

watch_signals()
sys.setswitchinterval(10)  # so that the thread that watches is late
for _ in range(20):
    try:
        os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        logging.error("cut off")
    logging.disable(logging.NOTSET)
print("done", flush=True)
os._exit(0)
"""


def test_libraries_that_are_cut_off_log_nothing():
    done = subprocess.run(
        [sys.executable, "-c", LOGGED], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("done\n", "")
