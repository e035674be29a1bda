"""The log of actions."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys

import pytest

from enhg.exceptions import InputError
from enhg.labeling.log import ActionLog

SUBJECT, START = {"images": 3}, {"classes": []}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "actions.jsonl"


def lines(path):
    log = ActionLog(path, SUBJECT, START)
    first, *present = log
    assert first == START
    log.close()
    return present


def test_lines_are_there_again(path):
    log = ActionLog(path, SUBJECT, START)
    log.append({"name": "é\n"})
    log.append({"b": 2})
    log.close()
    assert lines(path) == [{"name": "é\n"}, {"b": 2}]


@pytest.mark.skipif(sys.platform == "win32", reason="open files cannot be removed there")
def test_a_log_that_is_gone_takes_no_action(path):
    """What would be written is in a file that nobody finds again."""
    log = ActionLog(path, SUBJECT, START)
    path.rename(path.with_name("moved"))
    for _ in range(2):
        with pytest.raises(InputError, match="moved or deleted"):
            log.append({"a": 1})
        path.write_bytes(b"another file")
    path.with_name("moved").replace(path)
    log.append({"b": 2})
    log.close()
    assert lines(path) == [{"b": 2}]


def test_a_line_that_was_cut_off_is_dropped(path):
    """At every byte at which the writing of the last line could have been interrupted."""
    log = ActionLog(path, SUBJECT, START)
    log.append({"a": 1})
    complete = path.stat().st_size
    log.append({"b": "some text"})
    log.close()
    content = path.read_bytes()
    for size in range(complete, len(content)):
        path.write_bytes(content[:size])
        assert lines(path) == [{"a": 1}]
        assert path.read_bytes() == content[:complete]
    path.write_bytes(content)
    assert lines(path) == [{"a": 1}, {"b": "some text"}]


@pytest.mark.parametrize("line", ["{broken", "[" * 100_000], ids=["cut", "nested"])
def test_other_images_and_damage_are_refused(path, line):
    ActionLog(path, SUBJECT, START).close()
    with pytest.raises(InputError, match="other images"):
        ActionLog(path, {"images": 4}, START)
    with path.open("a") as stream:
        stream.write(f"{line}\n")
    with pytest.raises(InputError, match="line 3 is damaged"):
        ActionLog(path, SUBJECT, START)


def test_two_processes_do_not_share_it(path):
    log = ActionLog(path, SUBJECT, START)
    code = (
        "from pathlib import Path; from enhg.labeling.log import ActionLog; "
        f"ActionLog(Path({str(path)!r}), {SUBJECT!r}, {START!r})"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "is in use by another enhg label" in other.stderr
    log.close()
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_a_full_disk_leaves_no_part_of_a_line(path, monkeypatch):
    log = ActionLog(path, SUBJECT, START)
    write = os.write

    def full(file, content):
        write(file, content[:5])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(InputError, match="No space left"):
        log.append({"a": 1})
    monkeypatch.undo()
    log.append({"b": 2})
    log.close()
    assert [json.loads(line) for line in path.read_text().splitlines()][2:] == [{"b": 2}]


def test_a_folder_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        ActionLog(tmp_path / "missing" / "actions.jsonl", SUBJECT, START)


def test_a_file_system_without_locks(tmp_path, monkeypatch):
    fcntl = pytest.importorskip("fcntl")

    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    ActionLog(tmp_path / "log", {}, {"a": 1}).close()
    log = ActionLog(tmp_path / "log", {}, {"a": 2})
    assert list(log) == [{"a": 1}]
    log.close()
