"""Files that appear whole, locks, and what processes that were killed have left."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from enhg import _atomic
from enhg._atomic import LockedError, atomic_file, locked, remove_unfinished, sweep, temporary

pytestmark = pytest.mark.skipif(_atomic.fcntl is None, reason="there are no such locks here")

# Opens what a line of the input names, says so, and waits until it is killed.
HOLDER = """
import sys, time
from pathlib import Path
from enhg._atomic import atomic_file, locked
with {context} as part:
    print(getattr(part, "name", part), flush=True)
    time.sleep(600)
"""


@pytest.fixture
def hold():
    """Start a process within a context of this module; returns it and what the context yields."""
    processes = []

    def start(context):
        processes.append(
            subprocess.Popen(
                [sys.executable, "-c", HOLDER.format(context=context)],
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        return processes[-1], processes[-1].stdout.readline().strip()

    yield start
    for process in processes:
        process.kill()
        process.wait()
        process.stdout.close()


def test_only_files_are_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        with pytest.raises(OSError, match="not a regular file"), atomic_file(tmp_path / name):
            pass
    assert (tmp_path / "pipe").is_fifo()
    assert sorted(os.listdir(tmp_path)) == ["link", "pipe"]


def test_errors_of_writing_name_the_file(tmp_path):
    """A full disk is found when a file is written, where Python does not name it."""
    with pytest.raises(OSError, match="No space") as caught, atomic_file(tmp_path / "a"):
        raise OSError(28, "No space left on device")
    assert caught.value.filename == str(tmp_path / "a")
    assert os.listdir(tmp_path) == []


def test_only_files_of_processes_that_were_killed_are_removed(tmp_path, hold):
    process, name = hold(f"atomic_file(Path({str(tmp_path / 'target')!r}))")
    others = [".0123.tmp", ".x.tmp", "0" * 32 + ".tmp"]
    for other in others:
        (tmp_path / other).write_text("of someone else")
    sweep(tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted([name, *others])
    process.kill()
    process.wait()
    sweep(tmp_path)
    assert sorted(os.listdir(tmp_path)) == sorted(others)


def test_what_cannot_be_removed_stops_nothing(tmp_path, monkeypatch):
    names = [f".{digit * 32}.tmp" for digit in "012"]
    (tmp_path / names[1]).mkdir()
    for name in (names[0], names[2]):
        (tmp_path / name).write_text("half")
    with monkeypatch.context() as patch:
        patch.setattr(os, "listdir", lambda _: names)
        sweep(tmp_path)
    assert os.listdir(tmp_path) == [names[1]]


def test_the_first_file_in_a_folder_removes_what_was_left(tmp_path):
    left = tmp_path / f".{'0' * 32}.tmp"
    left.write_text("half")
    with atomic_file(tmp_path / "target") as part:
        part.write_text("whole")
        assert not left.exists()
    assert os.listdir(tmp_path) == ["target"]
    assert (tmp_path / "target").read_text() == "whole"


def test_a_lock_is_held_by_one_process_and_ends_with_it(tmp_path, hold):
    file = tmp_path / ".lock"
    process, is_locked = hold(f"locked(Path({str(file)!r}))")
    assert is_locked == "True"
    with pytest.raises(LockedError), locked(file):
        pass
    assert file.exists()
    process.kill()
    process.wait()
    with locked(file) as is_locked:
        assert is_locked
        with pytest.raises(LockedError), locked(file):
            pass
    assert not file.exists()


def test_a_lock_file_of_someone_else_stays(tmp_path):
    mine, link = tmp_path / ".lock", tmp_path / ".link.lock"
    mine.write_text("mine")
    link.symlink_to(mine)
    for file in (mine, link):
        with locked(file) as is_locked:
            assert is_locked
    assert sorted(os.listdir(tmp_path)) == [".link.lock", ".lock"]
    assert mine.read_text() == "mine"


def test_a_lock_that_another_process_takes_meanwhile(tmp_path, hold, monkeypatch):
    """Its file was removed, and a third process has made a new one."""
    file = tmp_path / ".lock"
    hold(f"locked(Path({str(file)!r}))")
    open_locked, removed = _atomic.open_locked, [(os.open(os.devnull, os.O_RDWR), True)]
    monkeypatch.setattr(
        _atomic, "open_locked", lambda *given: removed.pop() if removed else open_locked(*given)
    )
    with pytest.raises(LockedError), locked(file):
        pass


def test_without_locks_nothing_is_refused_and_nothing_removed(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(_atomic.fcntl, "flock", refuse)
    left = tmp_path / f".{'0' * 32}.tmp"
    left.write_text("perhaps of a process that runs")
    with locked(tmp_path / ".lock") as is_locked:
        assert not is_locked
    with atomic_file(tmp_path / "target") as part:
        part.write_text("whole")
    sweep(tmp_path)
    assert sorted(os.listdir(tmp_path)) == [left.name, "target"]


def test_what_is_unfinished_can_be_removed_at_once(tmp_path):
    parent, folder = tmp_path / "parent", tmp_path / "parent" / "folder"
    with temporary(parent, os.rmdir), temporary(folder), atomic_file(tmp_path / "target") as part:
        (folder / "inside").mkdir(parents=True)
        part.write_text("half")
        remove_unfinished()
        assert os.listdir(tmp_path) == []
        part.write_text("again")
