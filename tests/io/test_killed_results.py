"""Results of runs that were killed, or interrupted as they were moved, and two runs at once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from enhg._checkpoint import Checkpoint
from enhg.io import output_folder
from enhg.io.results import complete_results

RUN = """
import os, sys, time
from enhg.io import results
target, kill_at = sys.argv[1:]
replace, count = os.replace, 0
def stop(self, there):
    global count
    count += 1
    if count == int(kill_at):
        os._exit(9)
    return replace(self, there)
results.Path.replace = stop
with results.output_folder(target, overwrite=True, optional=("old*.txt",)) as folder:
    for name in ("a", "b", "c"):
        (folder / f"{name}.txt").write_text("new")
    print(folder.name, flush=True)
    if kill_at == "0":
        time.sleep(600)
"""


def start(target, kill_at=0):
    return subprocess.Popen(
        [sys.executable, "-c", RUN, str(target), str(kill_at)], stdout=subprocess.PIPE, text=True
    )


@pytest.mark.parametrize("existing", [False, True])
def test_leftovers_of_a_killed_run_are_removed_by_the_next_one(tmp_path, refuses, existing):
    target = tmp_path / "out"
    home = target if existing else tmp_path
    if existing:
        target.mkdir()
    with start(target) as process:
        name = process.stdout.readline().strip()
        refuses(lambda: entered(target), "another run writes into this folder")
        assert (home / name).is_dir()  # of a run that is alive
        process.kill()
    assert (home / name).is_dir()
    (home / ".other.01234567.tmp").mkdir()  # of another OUT
    (home / ".out.01234567.tmp").write_text("a file")
    with output_folder(target, overwrite=True) as folder:
        (folder / "labels.csv").write_text("")
        assert not (home / name).exists()
    assert sorted(os.listdir(home)) == sorted(
        [".other.01234567.tmp", ".out.01234567.tmp", "labels.csv" if existing else "out"]
    )


def entered(target):
    with output_folder(target):
        pass


@pytest.mark.parametrize("kill_at", [1, 2, 3])
def test_results_that_were_being_moved_are_completed_by_the_next_run(tmp_path, refuses, kill_at):
    target = tmp_path / "out"
    target.mkdir()
    for name in ("a.txt", "old1.txt", "mine.txt"):
        (target / name).write_text("old")
    with start(target, kill_at) as process:
        assert process.wait() == 9
    refuses(lambda: entered(target), "must be new or empty")
    with pytest.raises(KeyError), output_folder(target, overwrite=True):
        raise KeyError  # this run fails, but the one before it had succeeded
    assert {file.name: file.read_text() for file in target.iterdir()} == {
        "a.txt": "new", "b.txt": "new", "c.txt": "new", "mine.txt": "old",
    }  # fmt: skip


def test_an_interruption_while_results_are_moved_comes_too_late(tmp_path, monkeypatch):
    target, replace, calls = tmp_path / "out", Path.replace, []

    def interrupted(self, there):
        calls.append(there)
        if len(calls) in (2, 3):
            raise KeyboardInterrupt
        return replace(self, there)

    target.mkdir()
    monkeypatch.setattr(Path, "replace", interrupted)
    with output_folder(target) as folder:
        for name in ("a", "b", "c"):
            (folder / name).write_text("new")
    assert sorted(os.listdir(target)) == ["a", "b", "c"]


def write_moving(out, content):
    """The folder of a run that was killed while its results were moved, with a list of files."""
    moving = out / ".out.01234567.moving"
    moving.mkdir(parents=True)
    (moving / "a.txt").write_text("new")
    (moving / ".stale.json").write_text(content)


def test_only_files_of_the_results_are_removed(tmp_path):
    """Whatever a folder of another origin names."""
    out, mine = tmp_path / "out", tmp_path / "mine"
    mine.mkdir()
    for name in ("1", "2", "3"):
        (mine / name).write_text("mine")
    write_moving(out, json.dumps([str(mine / "1"), "../mine/2", "link/3", "old", "no", "\0", 4]))
    (out / "link").symlink_to(mine)
    (out / "old").write_text("old")
    with output_folder(out, overwrite=True):
        pass
    assert sorted(os.listdir(mine)) == ["1", "2", "3"]
    assert sorted(os.listdir(out)) == ["a.txt", "link"]


@pytest.mark.parametrize("content", ["", "[", "5", '"a"', "[" * 100_000], ids=len)
def test_a_damaged_list_of_files(tmp_path, content):
    out = tmp_path / "out"
    write_moving(out, content)
    with output_folder(out, overwrite=True):
        pass
    assert os.listdir(out) == ["a.txt"]


def test_results_that_were_being_moved_are_completed(tmp_path, refuses):
    """Also without `overwrite`, which is refused then: the results are there."""
    out = tmp_path / "out"
    write_moving(out, "[]")
    (out / "b.txt").write_text("new")  # moved before the run was killed
    refuses(lambda: entered(out), "must be new or empty", parameter="overwrite")
    assert sorted(os.listdir(out)) == ["a.txt", "b.txt"]
    write_moving(out / "c", "[]")
    (out / "c" / ".out.01234567.moving").rename(tmp_path / ".out.01234567.moving")
    complete_results(out)
    assert sorted(os.listdir(tmp_path)) == ["out"]
    complete_results(tmp_path / "none")
    assert sorted(os.listdir(tmp_path)) == ["out"]


def test_the_checkpoint_of_results_that_are_complete(tmp_path, refuses):
    """It is removed with the last of a run, and by the next one unless that goes on from it."""
    out = tmp_path / "out"

    def kill():
        write_moving(out, "[]")
        Checkpoint(out / ".checkpoint").computation("sums", {}).store("first", {"sum": 1})

    kill()
    with output_folder(out, overwrite=True):
        assert (out / ".checkpoint").exists()
    assert os.listdir(out) == ["a.txt"]
    kill()
    refuses(lambda: entered(out), "must be new or empty")
    assert os.listdir(out) == ["a.txt"]
    kill()

    def again():
        with output_folder(out, overwrite=True, new=["a.txt"]):
            pass

    refuses(again, "must not exist")
    assert os.listdir(out) == ["a.txt"]
    (out / ".checkpoint").mkdir()
    (out / ".checkpoint" / "mine").write_text("")
    with output_folder(out, overwrite=True):
        pass
    assert sorted(os.listdir(out)) == [".checkpoint", "a.txt"]
    assert os.listdir(out / ".checkpoint") == ["mine"]


def test_a_checkpoint_that_cannot_be_removed(tmp_path, monkeypatch):
    """The results are complete all the same."""
    out = tmp_path / "out"
    out.mkdir()

    def denied(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Checkpoint, "remove", denied)
    entered(out)
    assert os.listdir(out) == []


def test_results_whose_folder_was_removed_while_they_were_being_moved(tmp_path):
    write_moving(tmp_path / "out", "[]")
    (tmp_path / "out" / ".out.01234567.moving").rename(tmp_path / ".out.01234567.moving")
    (tmp_path / "out").rmdir()
    entered(tmp_path / "out")
    assert os.listdir(tmp_path) == ["out"]
    assert os.listdir(tmp_path / "out") == []
