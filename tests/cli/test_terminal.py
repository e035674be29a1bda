"""Failures, and the program as a process."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import enhg.datasets
import enhg.io
from enhg import ElasticNetHypergraph, InputError, _progress
from enhg.cli import terminal
from enhg.cli.terminal import Stages
from enhg.exceptions import MissingDependencyError

PROGRAM = Path(sys.executable).with_name("enhg")


def test_existing_results_are_refused_before_the_input_is_read(
    tmp_path, digits, monkeypatch, fails
):
    out = tmp_path / "out"
    out.mkdir()
    (out / "labels.csv").write_text("precious")

    def never(*_, **__):
        raise AssertionError("the input was read")

    monkeypatch.setattr(enhg.io, "read_samples", never)
    monkeypatch.setattr(enhg.datasets, "load", never, raising=False)
    for words in (
        ["cluster", digits, "-k", 3],
        ["classify", digits, "--labels", "labels.csv"],
        ["demo"],
    ):
        message = fails(*words, "-o", out)
        assert message.startswith("error: ")
        assert "(option --overwrite)" in message
    assert (out / "labels.csv").read_text() == "precious"
    assert "must be a folder, got a file" in fails(
        "cluster", digits, "-k", 3, "-o", out / "labels.csv"
    )


def test_overwrite_replaces_and_keeps_the_rest(tmp_path, digits, run, table):
    out = tmp_path / "out"
    out.mkdir()
    (out / "labels.csv").write_text("old")
    (out / "notes.txt").write_text("mine")
    assert run("cluster", digits, "-k", 3, "-o", out, "--overwrite").exit_code == 0
    assert len(table(out / "labels.csv")) == 90
    assert (out / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("error", "code", "part"),
    [
        (KeyboardInterrupt(), 130, "interrupted: no results were written"),
        (MemoryError("Unable to allocate 9 TiB"), 1, "error: not enough memory (Unable"),
        (OSError(28, "No space left on device", "/full/disk"), 1, "error: /full/disk: No space"),
        (InputError("two\nlines"), 1, "error: two lines"),
        (
            InputError("gamma is wrong", parameter="gamma"),
            1,
            "error: gamma is wrong (option --gamma)\n",
        ),
        (InputError("tol is wrong", parameter="tol"), 1, "error: tol is wrong\n"),
        (MissingDependencyError("this needs x"), 1, "error: this needs x\n"),
    ],
)
def test_failures_leave_nothing_behind(tmp_path, digits, monkeypatch, error, code, part, fails):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(ElasticNetHypergraph, "fit", fail)
    home = tmp_path / "home"
    home.mkdir()
    assert part in fails("cluster", digits, "-k", 3, "-o", home / "a" / "b", code=code)
    assert list(home.iterdir()) == []


def test_interrupted_when_the_results_are_complete(
    tmp_path, digits, photos, monkeypatch, run, fails
):
    """What is printed at the end may take a while, such as what it imports."""

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    out = tmp_path / "out"
    complete = "interrupted: the results are complete\n"
    monkeypatch.setattr("enhg.cli.summary.rows", lambda _: [])
    monkeypatch.setattr("enhg.cli.summary.files_row", interrupt)
    result = run("cluster", digits, "-k", 3, "-o", out, "--quiet")
    assert (result.exit_code, result.stderr) == (130, complete)
    assert (out / "report.html").exists()
    words = ("features", photos, "-o", tmp_path / "features.npz", "--features", "pixels")
    assert fails(*words, code=130) == complete
    assert (tmp_path / "features.npz").exists()
    monkeypatch.setattr(Stages, "print_rows", interrupt)
    words = ("convert", out / "hypergraph.npz", tmp_path / "a.json")
    assert fails(*words, code=130) == complete
    assert (tmp_path / "a.json").exists()
    monkeypatch.setattr("enhg.cli.conversion.check_new_file", interrupt)
    assert fails(*words, code=130) == "interrupted: no results were written\n"


def test_warnings_of_what_is_imported_last_are_one_line(tmp_path, photos, monkeypatch, run):
    """Such as that machine code cannot be kept, when the summary of `enhg features` is made."""

    def warn(_):
        warnings.warn("careful", stacklevel=2)
        return []

    monkeypatch.setattr("enhg.cli.summary.feature_rows", warn)
    result = run("features", photos, "-o", tmp_path / "a.npz", "--features", "pixels")
    assert (result.exit_code, result.stderr) == (0, "warning: careful\n")


def test_advice_on_memory_names_options_of_the_command(tmp_path, digits, monkeypatch, run, fails):
    def fail(*_, **__):
        raise MemoryError("Unable to allocate 9 TiB")

    run("cluster", digits, "-k", 3, "-o", tmp_path / "a")
    monkeypatch.setattr(ElasticNetHypergraph, "attach", fail)
    monkeypatch.setattr(ElasticNetHypergraph, "fit", fail)
    words = ("cluster", digits, "-k", 3, "-o", tmp_path / "b")
    assert "; lower --memory-budget, or use fewer samples" in fails(*words)
    words = ("predict", tmp_path / "a/model.npz", digits, "-o", tmp_path / "c")
    assert "(Unable to allocate 9 TiB); use fewer samples" in fails(*words)


@pytest.mark.parametrize("kind", [ZeroDivisionError, ValueError, TypeError])
def test_a_bug_keeps_its_traceback(tmp_path, digits, monkeypatch, run, kind):
    def fail(*_, **__):
        raise kind("a bug")

    monkeypatch.setattr(ElasticNetHypergraph, "fit", fail)
    result = run("cluster", digits, "-k", 3, "-o", tmp_path / "out")
    assert type(result.exception) is kind
    assert not (tmp_path / "out").exists()


def test_as_a_process_with_pipes(tmp_path, digits):
    words = [PROGRAM, "cluster", digits.name, "-k", "3", "-o", "out"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=True)
    assert done.stderr == b""
    assert b"\x1b" not in done.stdout
    assert b"labels.csv" in done.stdout
    again = subprocess.run(words, cwd=tmp_path, capture_output=True)
    assert (again.returncode, again.stdout) == (1, b"")
    assert again.stderr.startswith(b"error: ")
    assert again.stderr.count(b"\n") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_file_names_that_are_not_valid_text(tmp_path, digits):
    renamed = digits.rename(tmp_path / os.fsdecode(b"d\xff.npz"))
    done = subprocess.run(
        [PROGRAM, "cluster", renamed, "-k", "3", "-o", tmp_path / "out"],
        capture_output=True,
        check=True,
    )
    assert b"against the labels in d\\udcff.npz" in done.stdout
    done = subprocess.run(
        [PROGRAM, "cluster", tmp_path / os.fsdecode(b"e\xff.npz"), "-k", "3", "-o", "out"],
        capture_output=True,
    )
    assert done.returncode == 1
    assert b"e\\udcff.npz: no such file" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="such names cannot be there")
def test_names_do_not_reach_the_terminal_as_they_are(tmp_path, digits, run):
    """In the lines of a run, its warnings and its errors; also in names of the output."""
    evil = "\x1b]0;title\x07\x1b[31mred\r\nline\x9b2J"
    renamed = digits.rename(tmp_path / f"{evil}.npz")
    out = tmp_path / f"{evil}out"
    result = run("cluster", renamed, "-k", 3, "-o", out)
    again = run("cluster", renamed, "-k", 3, "-o", out)
    missing = run("cluster", tmp_path / f"{evil}.npy", "-k", 3, "-o", out)
    assert (result.exit_code, again.exit_code, missing.exit_code) == (0, 1, 1)
    for output in (result.output, again.output, missing.output):
        assert "\\x1b[31mred" in output
        assert not {mark for mark in output if not mark.isprintable()} - {"\n"}
    assert not [line for line in result.output.splitlines() if line.startswith("line")]


def test_out_is_a_link_to_itself(tmp_path, digits, run):
    (tmp_path / "out").symlink_to("out")
    result = run("cluster", digits, "-k", 3, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "link to itself" in result.output


def test_out_has_a_name_that_is_too_long(tmp_path, digits, fails):
    message = fails("cluster", digits, "-k", 3, "-o", tmp_path / ("a" * 300))
    assert message.endswith("aaa: File name too long\n")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_lines_of_progress_give_the_time_left(monkeypatch, capsys):
    seconds = 0.0
    for module in (terminal, _progress):
        monkeypatch.setattr(module, "perf_counter", lambda: seconds)
    with Stages(quiet=False).stage("represent", "reading") as progress:
        seconds = 600.0  # of preparations
        progress(0, 100)
        seconds += 60
        progress(10, 100)
        seconds += 30
        progress(20, 100)
        seconds += 30
        progress(40, 100)
    assert capsys.readouterr().err.splitlines() == [
        "reading: 0%",
        "reading: 10%, about 9 min left",
        "reading: 40%, about 3 min left",
    ]


def test_every_bar_counts_one_thing(tmp_path, pictures, digits, run, monkeypatch):
    """Its count never goes back, and its total is what it reaches."""
    bars = []

    def recorder(description):
        bars.append((description, calls := []))
        return lambda *call: calls.append(call)

    monkeypatch.setattr(terminal, "_line_per_minute", recorder)
    rows = tmp_path / "rows.npz"
    for words in (
        ("features", pictures, "-o", rows, "--features", "hog"),
        ("cluster", rows, "-k", 3, "-o", tmp_path / "a", "--images", pictures),
        ("cluster", pictures, "-k", 3, "-o", tmp_path / "b"),
        ("cluster", pictures, "-k", 3, "-o", tmp_path / "c", "--features", "pixels"),
        ("predict", tmp_path / "b/model.npz", pictures, "-o", tmp_path / "d", "--no-cache"),
        ("convert", tmp_path / "b/hypergraph.npz", tmp_path / "e.json"),
    ):
        assert run(*words).exit_code == 0
    names = {name for name, calls in bars if calls}
    assert {"reading sizes of images", "computing features", "reading images"} <= names
    for name, calls in bars:
        done, totals = zip(*calls, strict=True) if calls else ((), ())
        assert list(done) == sorted(done), name
        assert len({*totals}) <= 1, name
        assert done[-1:] == totals[-1:], name


def on_terminal(*words, **options):
    """What the program shows on a terminal, as text, and its status."""
    import pty

    ours, theirs = pty.openpty()
    options = {"stdout": theirs, "stderr": theirs, **options}
    with subprocess.Popen([PROGRAM, *map(str, words)], **options) as process:
        os.close(theirs)
        shown = b""
        try:
            while more := os.read(ours, 65536):
                shown += more
        except OSError:  # Linux: the other end has closed
            pass
    os.close(ours)
    return shown.decode().replace("\r\n", "\n"), process.returncode


def test_progress_bars_on_a_terminal(tmp_path, photos):
    words, pipe = ("cluster", photos, "-k", 3, "-o"), {"stdout": subprocess.DEVNULL}
    shown, status = on_terminal(*words, tmp_path / "a", **pipe)
    assert status == 0
    assert all(word in shown for word in ("listing", "reading", "reconstructing", "100%"))
    assert on_terminal(*words, tmp_path / "b", "--quiet") == ("", 0)


@pytest.mark.parametrize(
    ("options", "stream"),
    [
        ("--verbose", "stdout"),
        ("--quiet", "stderr"),
        ("--preprocessing=x", "stderr"),
        ("", "stderr"),
    ],
)
def test_no_word_is_split_on_a_terminal(tmp_path, monkeypatch, options, stream):
    """Neither in the summary nor in warnings and errors; pipes receive the same in whole lines."""
    np.save(tmp_path / "cloud.npy", np.random.default_rng(0).uniform(size=(60, 2)))
    out = tmp_path / "out"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "60")
    if not options:
        (out / "results").mkdir(parents=True)  # which are not replaced
    words = ("cluster", "cloud.npy", "-o", "out", *options.split())
    other = "stdout" if stream == "stderr" else "stderr"
    shown, _ = on_terminal(*words, **{other: subprocess.DEVNULL})
    if options:
        shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    piped = getattr(done, stream)
    assert max(map(len, piped.splitlines())) > 60
    lines = [line for line in shown.splitlines() if " " in line and "enhg " not in line]
    assert max(map(len, lines)) <= 60  # other lines are a path or a command
    shown, piped = (re.sub(r"\d+\.\d s", "", text).split() for text in (shown, piped))
    assert shown == piped


def test_warnings_of_pillow_are_not_shown(capsys):
    stages = Stages(quiet=True)
    with stages.warnings_shown():
        warnings.warn_explicit("Corrupt EXIF data", UserWarning, "site-packages/PIL/Tiff.py", 1)
        warnings.warn("careful", stacklevel=1)
    assert stages.warnings == ["careful"]
    assert "EXIF" not in capsys.readouterr().err
