"""Runs without space on the disk, without memory, without a home, and two at once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time

import numpy as np
import pytest
from program import LONG, Program, snapshot
from sklearn.datasets import load_digits

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied as in Linux")

_MB = 2**20


@pytest.fixture(scope="module")
def work(tmp_path_factory):
    folder = tmp_path_factory.mktemp("work")
    images = load_digits().images.astype(np.uint8)
    np.savez(folder / "digits.npz", X=images[:200])
    np.savez(folder / "many.npz", X=images)
    return folder


@pytest.fixture(scope="module")
def program(work):
    with Program(work) as running:
        yield running


def words(work, out, samples="digits.npz"):
    return ("cluster", work / samples, "-k", 3, "-o", out, "--no-cache")


def check_failure(program, status, text):
    """One line that says what is wrong, without a traceback."""
    assert status == 1, program.printed
    assert "Traceback" not in program.printed
    assert text in program.printed.splitlines()[-1]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={_MB}", "enhg-test", str(folder)]
    if shutil.which("mount") is None or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a file system of its own needs root")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.mark.parametrize("kind", ["missing", "empty"])
def test_full_disk(small_disk, program, work, kind):
    out = small_disk / "out"
    if kind == "empty":
        out.mkdir()
    with open(small_disk / "other", "wb") as stream:
        stream.write(bytes(_MB - 64 * 1024))
    check_failure(program, program.run(*words(work, out)), "No space left on device")
    left = [name for name in os.listdir(small_disk) if name != "other"]
    assert left == (["out"] if kind == "empty" else []) or os.listdir(out) == [".checkpoint"]
    os.remove(small_disk / "other")
    assert program.run(*words(work, out)) == 0, program.printed
    assert os.listdir(small_disk) == ["out"]
    assert (out / "report.html").exists()


@pytest.mark.parametrize("size", [500, 3000, 20_000, 100_000] if LONG else [20_000])
def test_files_that_may_not_grow(tmp_path, program, work, size):
    """As on a full disk, where a quota ends a file, at any of the files that are written.

    What is printed must not grow, either.
    """
    out = tmp_path / "out"
    check_failure(program, program.run(*words(work, out), RLIMIT_FSIZE=size), "File too large")
    assert not snapshot(out)
    assert program.run(*words(work, out)) == 0, program.printed
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize(
    "megabytes", [*(1, 16, 64, 128, 256, 384), *range(512, 800, 16)] if LONG else [1, 500]
)
def test_little_memory(tmp_path, program, work, megabytes):
    """The run ends with results or without any; with one line where libraries have theirs.

    With too little for the libraries it ends before they are called: LLVM would end the process,
    and OpenBLAS would try for ever.
    """
    out = tmp_path / "out"
    line = words(work, out, "many.npz")
    status = program.run(*line, RLIMIT_AS=megabytes * _MB)
    if status == 0:
        assert (out / "report.html").exists()
        return
    check_failure(program, status, "not enough memory")
    assert not snapshot(out)
    assert program.run(*line) == 0, program.printed
    assert os.listdir(tmp_path) == ["out"]


def test_two_runs_on_one_folder(tmp_path, program, work):
    out = tmp_path / "out"
    with Program(tmp_path) as second:
        for existing in (False, True):
            if existing:
                shutil.rmtree(out)
                out.mkdir()
            program.start(*words(work, out, "many.npz"))
            while not list(tmp_path.rglob("*.lock")):
                time.sleep(0.001)
            began = snapshot(out)
            check_failure(second, second.run(*words(work, out)), "another run writes into this")
            assert snapshot(out).keys() >= began.keys()
            assert program.wait() == 0, program.printed
            assert (out / "report.html").exists()
    assert sorted(os.listdir(tmp_path)) == ["out", "printed.txt"]


def test_out_inside_of_input(tmp_path, program):
    image = pytest.importorskip("PIL.Image")
    folder = tmp_path / "images"
    folder.mkdir()
    for i, digit in enumerate(load_digits().images[:20]):
        image.fromarray((16 * digit).clip(0, 255).astype(np.uint8)).save(folder / f"{i}.png")
    before = snapshot(tmp_path)
    for out in (folder, folder / "out", folder / "some" / "out"):
        status = program.run("cluster", folder, "-k", 3, "-o", out, "--no-cache", "--overwrite")
        check_failure(program, status, "must be another folder than the input")
    assert snapshot(tmp_path) == before
    assert os.listdir(tmp_path) == ["images"]


@pytest.mark.parametrize("kind", ["missing", "a file"])
def test_home(tmp_path, work, kind):
    """Neither the home nor its cache can be written to, by root, too."""
    home = tmp_path / "home"
    if kind == "a file":
        home.write_text("")
    inside = str(home / "inside")
    environment = os.environ | {"HOME": inside, "XDG_CACHE_HOME": inside, "ENHG_CACHE": inside}
    if kind == "missing":
        environment = os.environ | {"HOME": "/proc/none", "XDG_CACHE_HOME": "/proc/none"}
    done = subprocess.run(
        [sys.executable, "-m", "enhg", *map(str, words(work, tmp_path / "out"))],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
