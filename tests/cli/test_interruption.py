"""Runs that are interrupted and go on, and workers of Dask."""

import gc
import os
import signal
import subprocess
import sys
import time

import pytest
from sklearn.metrics import adjusted_rand_score

from enhg import ElasticNetHypergraph
from enhg.cli import steps

FILES = ["labels.csv", "hypergraph.npz", "model.npz"]


@pytest.fixture
def at_once(monkeypatch):
    """Checkpoints in OUT are written from the start."""
    monkeypatch.setattr(steps, "_UNSAVED_SECONDS", 0)


def interrupt(monkeypatch, error=KeyboardInterrupt):
    """Interrupt the next run after its representation."""

    def stopped(*arguments, **options):
        raise error

    monkeypatch.setattr(steps, "cluster", stopped)


def test_the_same_command_goes_on_from_out(tmp_path, digits, run, monkeypatch, at_once):
    out = tmp_path / "out"
    command = ("cluster", digits, "-k", 3, "-o", out, "--no-cache")
    with monkeypatch.context() as context:
        interrupt(context)
        stopped = run(*command)
    assert stopped.exit_code == 130
    kept = f"progress is kept; the same command goes on from {out}/.checkpoint"
    assert stopped.stderr == f"interrupted: {kept}\n"
    assert sorted(os.listdir(out)) == [".checkpoint"]
    assert sorted(os.listdir(tmp_path)) == ["digits.npz", "out"]
    again = run(*command)
    assert again.exit_code == 0, again.output
    assert f"going on from {out}/.checkpoint" in again.stdout
    assert sorted(os.listdir(out)) == ["hypergraph.npz", "labels.csv", "model.npz", "report.html"]
    plain = tmp_path / "plain"
    assert run("cluster", digits, "-k", 3, "-o", plain, "--no-cache").exit_code == 0
    assert all((out / name).read_bytes() == (plain / name).read_bytes() for name in FILES)


def test_short_runs_leave_nothing(tmp_path, digits, run, monkeypatch):
    interrupt(monkeypatch)
    stopped = run("cluster", digits, "-k", 3, "-o", tmp_path / "out", "--no-cache")
    assert (stopped.exit_code, stopped.stderr) == (130, "interrupted: no results were written\n")
    assert sorted(os.listdir(tmp_path)) == ["digits.npz"]


def test_what_the_cache_keeps(tmp_path, digits, run, monkeypatch):
    """The same command does not represent the samples again."""
    command = ("cluster", digits, "-k", 3, "-o", tmp_path / "out")
    with monkeypatch.context() as context:
        interrupt(context)
        stopped = run(*command)
    cache = tmp_path / ".enhg-cache"
    kept = f"progress is kept; the same command goes on from {cache}"
    assert stopped.stderr == f"interrupted: {kept}\n"
    monkeypatch.setattr("enhg.run.compile_kernels", lambda _: None)
    monkeypatch.setattr(ElasticNetHypergraph, "fit", None)
    assert run(*command).exit_code == 0


def test_a_failure_says_what_is_kept(tmp_path, digits, run, monkeypatch, at_once):
    interrupt(monkeypatch, MemoryError)
    stopped = run("cluster", digits, "-k", 3, "-o", tmp_path / "out", "--no-cache")
    lines = stopped.stderr.splitlines()
    assert (stopped.exit_code, len(lines)) == (1, 2)
    assert lines[0].endswith(f"the same command goes on from {tmp_path}/out/.checkpoint")
    assert lines[1].startswith("error: not enough memory")


def test_checkpoint_of_another_command(tmp_path, digits, run, fails, monkeypatch, at_once):
    out = tmp_path / "out"
    command = ("cluster", digits, "-k", 3, "-o", out, "--no-cache")
    with monkeypatch.context() as context:
        interrupt(context)
        run(*command)
    message = fails(*command, "--gamma", 5)
    assert "gamma = 10.0, not 5.0" in message
    assert (out / ".checkpoint").exists()
    assert run(*command, "--gamma", 5, "--overwrite").exit_code == 0
    assert not (out / ".checkpoint").exists()


def test_checkpoint_folder(tmp_path, digits, run, fails):
    folder = tmp_path / "parts"
    command = ("cluster", digits, "-k", 3, "--no-cache", "--checkpoint", folder, "-o")
    assert run(*command, tmp_path / "one").exit_code == 0
    assert sorted(os.listdir(folder)) == ["clustering", "representation"]
    again = run(*command, tmp_path / "two")
    assert f"going on from {folder}" in again.stdout
    assert (tmp_path / "one" / "labels.csv").read_bytes() == (
        tmp_path / "two" / "labels.csv"
    ).read_bytes()
    (folder / "notes.txt").write_text("mine")
    message = fails(*command, tmp_path / "three")
    assert "got a folder with notes.txt (option --checkpoint)" in message


@pytest.mark.parametrize("place", ["out", "out/parts"])
def test_checkpoint_inside_of_the_results(tmp_path, digits, fails, place):
    """After an interruption, the same command would find a folder of results that holds files."""
    message = fails("cluster", digits, "-o", tmp_path / "out", "--checkpoint", tmp_path / place)
    assert "must be outside of the folder of the results" in message
    assert not (tmp_path / "out").exists()


def test_classify_and_predict(tmp_path, digits, some_labels, run):
    for name in ("one", "two"):
        result = run(
            "classify", digits, "--labels", some_labels, "--no-cache", "-o", tmp_path / name,
            "--checkpoint", tmp_path / "parts",
        )  # fmt: skip
        assert result.exit_code == 0, result.output
        model = tmp_path / "one" / "model.npz"
        result = run(
            "predict", model, digits, "-o", tmp_path / f"new-{name}",
            "--checkpoint", tmp_path / "new",
        )  # fmt: skip
        assert result.exit_code == 0, result.output
    for folder in ("", "new-"):
        one, two = tmp_path / f"{folder}one", tmp_path / f"{folder}two"
        assert (one / "labels.csv").read_bytes() == (two / "labels.csv").read_bytes()
    assert os.listdir(tmp_path / "new") == ["representation"]


def test_killed(tmp_path, digits):
    """The program itself, killed while it solves; its results are those of a whole run."""
    command = [
        sys.executable, "-m", "enhg", "cluster", str(digits), "-k", "3", "--no-cache",
        "--checkpoint", str(tmp_path / "parts"), "-o", str(tmp_path / "out"),
    ]  # fmt: skip
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    while process.poll() is None and not (tmp_path / "parts" / "representation").exists():
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (tmp_path / "out").exists()
    assert subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0
    assert (tmp_path / "out" / "report.html").exists()


def test_dask(tmp_path, digits, run, table):
    pytest.importorskip("distributed")
    out = tmp_path / "out"
    result = run("cluster", digits, "-k", 3, "-o", out, "--no-cache", "--dask", "local")
    assert result.exit_code == 0, result.output
    assert run("cluster", digits, "-k", 3, "-o", tmp_path / "plain").exit_code == 0
    ours, plain = (
        [int(row["label"]) for row in table(folder / "labels.csv")]
        for folder in (out, tmp_path / "plain")
    )
    assert adjusted_rand_score(ours, plain) > 0.9


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere", "tcp://"])
def test_no_dask_scheduler(tmp_path, digits, fails, monkeypatch, address):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr(steps, "_CONNECTION_SECONDS", 1)
    message = fails("cluster", digits, "-o", tmp_path / "out", "--dask", address)
    assert "must be the address of a running Dask scheduler, or local" in message
    assert "(option --dask)" in message
    assert not (tmp_path / "out").exists()
    # Collected while another client is made, one that failed would wait for its lock for ever.
    assert not [thing for thing in gc.get_objects() if type(thing) is distributed.Client]
