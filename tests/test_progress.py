"""Progress: nothing, a callback or a bar."""

from __future__ import annotations

import sys
from time import sleep

import pytest

from enhg._progress import bar, reporting
from enhg.exceptions import MissingDependencyError


@pytest.mark.parametrize("progress", [None, False])
def test_no_progress_ignores_calls(progress, capsys):
    with reporting(progress, "steps") as report:
        assert report(1, 2) is None
    assert capsys.readouterr() == ("", "")


def test_a_callback_receives_the_calls():
    calls = []

    def callback(done, total):
        calls.append((done, total))

    with reporting(callback, "steps") as report:
        report(1, 2)
        report(2, 2)
    assert calls == [(1, 2), (2, 2)]


def test_a_bar_is_written_to_standard_error(capsys):
    with reporting(True, "elastic nets") as report:
        report(3, 3)
    output, errors = capsys.readouterr()
    assert output == ""
    assert "elastic nets" in errors
    assert "100%" in errors


def test_the_time_left_counts_from_the_first_call(capsys):
    """Steps that are reported at once, such as a batch of images, have taken time before."""
    with bar("elastic nets") as report:
        report(0, 100)
        sleep(0.5)
        for done in range(1, 11):
            report(done, 100)
    seconds = int(capsys.readouterr().err.split("0:00:")[1][:2])
    assert 4 <= seconds <= 9  # 90 left at 10 in half a second: 4.5, or more on a busy machine


def test_a_transient_bar_is_removed(capsys):
    with bar("elastic nets", transient=True) as report:
        report(1, 3)
    assert "100%" not in capsys.readouterr().err


def test_a_bar_without_rich_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with (
        pytest.raises(MissingDependencyError, match="extra cli"),
        reporting(True, "elastic nets"),
    ):
        pass
