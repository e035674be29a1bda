"""Photographs as a clumsy or hostile user may have them, and runs that are disturbed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest
from PIL import Image

from enhg.io.tables import unguarded

pytest.importorskip("skimage", reason="the extra photos is not installed")

HOG = ("--features", "hog")
NAMES = [
    "two\nlines.jpg",
    "quo\"te's.jpg",
    "=cmd|' C calc'!A0.jpg",
    "-rf.jpg",
    "@sum.jpg",
    "\u202egpj.exe.jpg",
    "<img src=x onerror=alert(1)>.jpg",
    " spaces .jpg",
    "\x1b[31mred.jpg",
    "b\u0308aume \U0001f338.jpg",
]


def start(*words, **options):
    """Run the program in a process of its own."""
    command = [sys.executable, "-m", "enhg", *map(os.fspath, words)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


# --- few, equal and odd images -----------------------------------------------------------------


@pytest.mark.parametrize("features", ["network", "hog", "pixels"])
@pytest.mark.parametrize("count", [2, 3])
def test_two_or_three_images(tmp_path, run, table, paint, count, features):
    if features == "network":
        pytest.importorskip("onnxruntime", reason="the extra photos is not installed")
    (tmp_path / "few").mkdir()
    for kind in range(count):
        paint(kind, 0).save(tmp_path / "few" / f"{kind}.jpg")
    words = ["--features", features, "--suggest", 2, "--contact-sheets"]
    for k in ("auto", "2"):
        out = tmp_path / k
        result = run("cluster", tmp_path / "few", "-k", k, "-o", out, *words)
        assert result.exit_code == 0, result.output
        assert len(table(out / "labels.csv")) == count


@pytest.mark.parametrize("features", ["hog", "pixels"])
def test_one_image_many_times(tmp_path, run, paint, features):
    (tmp_path / "same").mkdir()
    for i in range(8):
        paint(0, 0).save(tmp_path / "same" / f"{i}.jpg")
    words = ["-o", tmp_path / "out", "--features", features, "--json"]
    result = run("cluster", tmp_path / "same", *words)
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["duplicates"] == [[f"{i}.jpg" for i in range(8)]]


@pytest.mark.parametrize("features", ["hog", "pixels"])
def test_extreme_sizes(tmp_path, pictures, run, table, features):
    Image.new("RGB", (5000, 1), "red").save(pictures / "wide.png")
    Image.new("RGB", (1, 5000), "blue").save(pictures / "high.png")
    Image.new("RGB", (5000, 2), "green").save(pictures / "wide.jpg")
    Image.new("L", (1, 1), 7).save(pictures / "dot.png")
    words = ["--features", features, "--contact-sheets", "--folders", "links"]
    result = run("cluster", pictures, "-k", 3, "-o", tmp_path / "out", *words)
    assert result.exit_code == 0, result.output
    assert len(table(tmp_path / "out" / "labels.csv")) == 16


# --- names -----------------------------------------------------------------------------------


@pytest.fixture
def odd_names(pictures):
    names = [*NAMES, os.fsdecode(b"caf\xe9.jpg")]
    for path, name in zip(sorted(pictures.iterdir()), names, strict=False):
        path.rename(pictures / name)
    return pictures


def test_odd_names(tmp_path, odd_names, run, table, page_data):
    out = tmp_path / "out"
    words = ["--folders", "copies", "--contact-sheets", "--suggest", 12]
    result = run("cluster", odd_names, "-k", 3, "-o", out, *HOG, *words)
    assert result.exit_code == 0, result.output
    names = {unguarded(row["name"]) for row in table(out / "labels.csv")}
    assert names == {*NAMES, r"caf\xe9.jpg", "c3.jpg"}
    assert {unguarded(row["name"]) for row in table(out / "suggestions.csv")} == names
    copies = list((out / "folders").rglob("*.jpg"))
    assert len(copies) == 12
    assert all(path.name.isprintable() or b"\xe9" in os.fsencode(path) for path in copies)
    text = (out / "report.html").read_text(encoding="utf-8")
    assert "<img src=x" not in text
    shown = page_data(out / "report.html")["samples"]["name"]
    assert set(shown) - names == {"\ufffd[31mred.jpg", "\ufffdgpj.exe.jpg"}

    run("features", odd_names, "-o", tmp_path / "f.npz", *HOG)
    words = ["-k", 3, "-o", tmp_path / "b", "--images", odd_names]
    assert run("cluster", tmp_path / "f.npz", *words).exit_code == 0
    words = ["--labels", out / "labels.csv", "-o", tmp_path / "c", *HOG]
    result = run("classify", odd_names, *words)  # every label is of a name in that table
    assert result.exit_code == 0, result.output


def test_names_cannot_give_orders_to_the_terminal(tmp_path, pictures, run, fails):
    (pictures / "\x1b[2J\u202eout\n.jpg").touch()
    message = fails("cluster", pictures, "-k", 3, "-o", tmp_path / "out", *HOG, "--strict")
    assert r"\x1b[2J\u202eout .jpg (empty file)" in message
    result = run("cluster", pictures, "-k", 3, "-o", tmp_path / "out", *HOG)
    assert r"skipped     \x1b[2J\u202eout .jpg (empty file)" in result.stdout
    assert "\x1b" not in result.output


def test_folders_that_are_not_utf8_in_an_old_locale(tmp_path, pictures):
    source = tmp_path / os.fsdecode(b"caf\xe9")
    pictures.rename(source)
    old = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    out = tmp_path / os.fsdecode(b"out\xe9")
    words = ["-k", "3", "-o", out, *HOG, "--folders", "links", "--contact-sheets"]
    process = start("cluster", source, *words, env=os.environ | old, stdin=subprocess.DEVNULL)
    output, errors = process.communicate(timeout=300)
    assert (process.returncode, errors) == (0, "")
    assert "images      12, from" in output
    assert (out / "report.html").is_file()
    assert all(path.exists() for path in (out / "folders").rglob("*"))


# --- disturbed runs ----------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="the signal is one of POSIX")
def test_an_interrupted_run_leaves_the_cache_alone(tmp_path, pictures):
    program = (
        "import os, signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in a background job\n"
        "from enhg.features import _hog\n"
        "prepare, calls = _hog.HOG.prepare, []\n"
        "def interrupted(self, image):\n"
        "    calls.append(image)\n"
        "    if len(calls) == 68:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    return prepare(self, image)\n"
        "_hog.HOG.prepare = interrupted\n"
        "from enhg.cli import main\n"
        "main()\n"
    )
    for i in range(60):
        shutil.copy(pictures / "a0.jpg", pictures / f"more{i}.jpg")
    words = [
        "cluster",
        pictures,
        "-k",
        "3",
        "-o",
        tmp_path / "results" / "out",
        *HOG,
        "--jobs",
        "1",
    ]
    result = subprocess.run(
        [sys.executable, "-c", program, *words], capture_output=True, text=True, timeout=300
    )
    assert result.returncode == 130, result.stderr
    assert result.stderr.startswith("interrupted: progress is kept; the same command goes on")
    assert os.listdir(tmp_path / "results") == [".enhg-cache"]


@pytest.mark.skipif(sys.platform == "win32", reason="the signal is one of POSIX")
def test_a_terminated_run_leaves_no_part_of_the_results(tmp_path, photos):
    (tmp_path / "results").mkdir()
    process = start("cluster", photos, "-k", "3", "-o", tmp_path / "results" / "out")
    process.stdout.readline()  # the first stage has ended
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=300)
    assert process.returncode in (0, 143)
    names = set(os.listdir(tmp_path / "results"))
    assert names <= ({".enhg-cache"} if process.returncode else {".enhg-cache", "out"})


def test_two_runs_at_once_on_one_cache(tmp_path, pictures):
    words = ["cluster", pictures, *HOG, "--quiet", "-k", "3", "-o"]
    processes = [start(*words, tmp_path / name) for name in "ab"]
    for process in processes:
        assert process.communicate(timeout=300) == ("", "")
        assert process.returncode == 0
    first, second = [(tmp_path / name / "labels.csv").read_bytes() for name in "ab"]
    assert first == second
    assert not list((tmp_path / ".enhg-cache").glob("*.tmp"))


@pytest.mark.skipif(sys.platform == "win32", reason="a shell of POSIX closes the streams")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams(tmp_path, pictures, closed):
    command = f'exec "$0" -m enhg "$@" {closed}'
    words = ["cluster", pictures, "-k", "3", "-o", tmp_path / "out", *HOG]
    result = subprocess.run(["sh", "-c", command, sys.executable, *words], timeout=300)
    assert result.returncode == 0
    assert (tmp_path / "out" / "report.html").is_file()


def test_images_that_vanish_while_they_are_read(tmp_path, pictures, run, table, monkeypatch):
    from enhg.io import images

    read = images.read_image

    def read_image(path, convert, min_side):
        (pictures / "c3.jpg").unlink(missing_ok=True)
        return read(path, convert=convert, min_side=min_side)

    monkeypatch.setattr(images, "read_image", read_image)
    for features in ("hog", "pixels"):
        shutil.copy(pictures / "c2.jpg", pictures / "c3.jpg")
        words = ["--features", features, "--jobs", 1]
        result = run("cluster", pictures, "-k", 3, "-o", tmp_path / features, *words)
        assert result.exit_code == 0, result.output
        (row,) = table(tmp_path / features / "skipped.csv")
        assert row["name"] == "c3.jpg"


def test_input_in_the_folder_of_the_cache(tmp_path, pictures, run, fails):
    cache = tmp_path / ".enhg-cache"
    pictures.rename(cache)
    result = run("cluster", cache, "-k", 3, "-o", tmp_path / "out", *HOG)
    assert result.exit_code == 0, result.output
    assert sum(path.suffix == ".jpg" for path in cache.iterdir()) == 12
    for path in cache.glob("*.jpg"):
        path.unlink()
    message = fails("cluster", cache, "-k", 3, "-o", tmp_path / "b", *HOG)
    assert "no images in this folder, but 4 other files (4 .npz)" in message
