"""The command of the page on which a person labels images."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from http.client import HTTPException
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import numpy as np
import pytest
from sklearn.datasets import load_digits

pytest.importorskip("starlette", reason="needs starlette")
pytest.importorskip("uvicorn", reason="needs uvicorn")

COUNT = 120


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    path = tmp_path_factory.mktemp("digits") / "digits.npz"
    np.savez(path, X=load_digits().images[:COUNT].astype(np.uint8))
    return path


def command(digits, out, *options):
    return [
        sys.executable, "-m", "enhg", "label", str(digits), "-o", str(out), "-k", "10",
        "--no-browser", *options,
    ]  # fmt: skip


@contextmanager
def running(digits, out, *options, warnings=0):
    """The process of a server, with its first lines of warnings, and its address."""
    process = subprocess.Popen(
        command(digits, out, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        process.warnings = [process.stderr.readline() for _ in range(warnings)]
        line = process.stderr.readline()
        yield process, re.search(r"http://127\.0\.0\.1:\d+/[\w-]+/", line)[0]
    finally:
        process.kill()
        process.communicate()


def ask(address, path, content=None):
    origin = address.rsplit("/", 2)[0]
    headers = {"Origin": origin, "Content-Type": "application/json"}
    body = None if content is None else json.dumps(content).encode()
    with urlopen(Request(address + path, body, headers), timeout=30) as answer:
        return json.load(answer)


def name(key, *rows, label="a"):
    return {"key": key, "kind": "name", "rows": rows, "label": label}


def test_ends_with_the_labels_and_goes_on(digits, tmp_path):
    out = tmp_path / "out"
    with running(digits, out, "--classes", "x, y") as (process, address):
        assert ask(address, "state")["classes"] == ["x", "y"]
        ask(address, "act", name("1", 0, 1, 2, label="x"))
        process.send_signal(signal.SIGINT)
        stdout, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert f"3 of {COUNT} images" in stdout
    assert "x,person" in (out / "labels.csv").read_text()
    with running(digits, out) as (process, address):
        state = ask(address, "state")
        assert state["version"] == 1
        assert ask(address, "act", {"key": "2", "kind": "undo"})["redo"] == "3 images labeled x"
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)


@pytest.mark.parametrize("moved", ["", "actions.jsonl", "actions.jsonl model.npz"])
def test_killed_while_the_clusters_were_moved(digits, tmp_path, moved):
    out = tmp_path / "out"
    with running(digits, out) as (process, _):
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    moving = out / ".out.01234567.moving"
    moving.mkdir()
    (moving / ".stale.json").write_text("[]")
    for file in ("actions.jsonl", "model.npz"):
        if file not in moved:
            (out / file).rename(moving / file)
    (tmp_path / ".out.lock").touch()
    with running(digits, out) as (process, address):
        assert ask(address, "state")["version"] == 0
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert process.returncode == 0
    assert not (tmp_path / ".out.lock").exists()
    assert not moving.exists()


def test_killed_at_random_moments_nothing_confirmed_is_lost(digits, tmp_path):
    """While actions are sent one after the other; at most the one under way is lost or there."""
    out, confirmed, rng = tmp_path / "out", 0, random.Random(0)
    for _ in range(4):
        with running(digits, out) as (process, address):
            assert ask(address, "state")["version"] - confirmed in (0, 1)
            confirmed = ask(address, "state")["version"]
            end = time.monotonic() + rng.uniform(0, 0.3)
            while time.monotonic() < end:
                key = f"{confirmed}"
                confirmed = ask(address, "act", name(key, confirmed % COUNT))["version"]
            pid = os.fork() if hasattr(os, "fork") else None
            if pid == 0:
                time.sleep(rng.uniform(0, 0.01))
                os.kill(process.pid, signal.SIGKILL)
                os._exit(0)
            try:
                while True:
                    confirmed = ask(address, "act", name(f"{confirmed}", confirmed % COUNT))[
                        "version"
                    ]
            except (URLError, ConnectionError, HTTPException):
                os.waitpid(pid, 0)
    assert confirmed > 4
    lines = (out / "actions.jsonl").read_bytes().splitlines()
    assert len(lines) - 2 - confirmed in (0, 1)


def test_two_servers_do_not_share_a_folder(digits, tmp_path):
    out = tmp_path / "out"
    with running(digits, out):
        other = subprocess.run(command(digits, out), capture_output=True, text=True)
        assert other.returncode == 1
        assert "is in use by another enhg label" in other.stderr


def test_no_run_writes_into_the_folder_while_the_page_is_open(digits, tmp_path):
    out = tmp_path / "out"
    cluster = [sys.executable, "-m", "enhg", "cluster", str(digits), "-o", str(out), "--overwrite"]
    with running(digits, out) as (process, address):
        assert ask(address, "state")["version"] == 0
        other = subprocess.run(cluster, capture_output=True, text=True)
        assert other.returncode == 1
        assert "another run writes into this folder" in other.stderr
        assert not {"report.html", "hypergraph.npz", "thumbnails"} & set(os.listdir(out))
        assert not list(out.glob(".out.*"))
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
    assert not (out / ".lock").exists()
    assert not (tmp_path / ".out.lock").exists()


def test_a_port_that_is_taken(digits, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        ended = subprocess.run(
            command(digits, tmp_path / "out", "--port", port), capture_output=True, text=True
        )
    assert ended.returncode == 1
    assert f"port {port} is in use" in ended.stderr
    assert "--port" in ended.stderr
    assert not (tmp_path / "out").exists()  # before anything is computed


def test_samples_that_cannot_be_seen(tmp_path):
    path = tmp_path / "X.npy"
    np.save(path, np.random.default_rng(0).random((30, 5)))
    ended = subprocess.run(command(path, tmp_path / "out"), capture_output=True, text=True)
    assert ended.returncode == 1
    assert "--images" in ended.stderr


def test_other_images(digits, tmp_path):
    out = tmp_path / "out"
    with running(digits, out):
        pass
    other = tmp_path / "other.npz"
    np.savez(other, X=load_digits().images[: COUNT - 1].astype(np.uint8))
    ended = subprocess.run(command(other, out), capture_output=True, text=True)
    assert ended.returncode == 1
    assert "other images" in ended.stderr


def test_too_many_classes_are_refused_before_anything_is_computed(digits, tmp_path):
    classes = ",".join(f"class {number}" for number in range(1001))
    ended = subprocess.run(
        command(digits, tmp_path / "out", "--classes", classes), capture_output=True, text=True
    )
    assert ended.returncode == 1
    assert "at most 1000 classes" in ended.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="a script of the shell")
def test_a_browser_that_runs_in_the_terminal(digits, tmp_path):
    """It returns when it is closed: the page is served meanwhile."""
    script, loaded = tmp_path / "browser", tmp_path / "loaded"
    script.write_text(
        f"#!{sys.executable}\nimport sys, urllib.request\n"
        f"open({str(loaded)!r}, 'wb').write(urllib.request.urlopen(sys.argv[1]).read())\n"
    )
    script.chmod(0o755)
    words = [word for word in command(digits, tmp_path / "out") if word != "--no-browser"]
    with subprocess.Popen(
        words, env=os.environ | {"BROWSER": str(script)}, stderr=subprocess.PIPE, text=True
    ) as process:
        assert "http://127.0.0.1" in process.stderr.readline()
        end = time.monotonic() + 30
        while not (loaded.exists() and loaded.stat().st_size) and time.monotonic() < end:
            time.sleep(0.05)
        process.send_signal(signal.SIGHUP)  # its terminal is closed
        process.communicate(timeout=30)
    assert b"<!DOCTYPE html>" in loaded.read_bytes()
    assert (tmp_path / "out" / "labels.csv").is_file()


@pytest.fixture
def pictures(tmp_path):
    """A folder of digits as images of their own."""
    from PIL import Image

    folder = tmp_path / "pictures"
    folder.mkdir()
    for row, image in enumerate(load_digits().images[:40]):
        Image.fromarray((15 * image).astype(np.uint8)).save(folder / f"{row}.png")
    return folder


def status(address, path):
    try:
        with urlopen(address + path, timeout=30) as answer:
            return answer.status
    except HTTPError as error:
        return error.code


def test_images_that_are_gone_or_new(pictures, tmp_path):
    """A session goes on: images that are gone keep their labels, and new ones are left out."""
    out = tmp_path / "out"
    with running(pictures, out) as (_, address):
        content = ask(address, "content")
        row = content["names"].index("7.png")
        ask(address, "act", name("1", row, label="seven"))
    (pictures / "7.png").rename(pictures / "other.png")
    with running(pictures, out, warnings=2) as (process, address):
        assert ask(address, "content")["names"] == content["names"]
        assert ask(address, "state")["history"][-1][0] == 1
        assert status(address, f"picture/{row}") == status(address, f"preview/{row}") == 404
        assert status(address, f"picture/{(row + 1) % 40}") == 200
        process.send_signal(signal.SIGINT)
        _, _ = process.communicate(timeout=30)
    assert "7.png is gone" in process.warnings[0]
    assert "other.png is new" in process.warnings[1]
    assert "7.png,seven,person" in (out / "labels.csv").read_text()


def test_images_that_have_changed(pictures, tmp_path):
    out = tmp_path / "out"
    with running(pictures, out):
        pass
    (pictures / "3.png").write_bytes((pictures / "4.png").read_bytes())
    ended = subprocess.run(command(pictures, out), capture_output=True, text=True)
    assert ended.returncode == 1
    assert "3.png is of another content now" in ended.stderr
    assert "answers.csv" in ended.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")
def test_nothing_outside_of_the_folder_is_shown(pictures, tmp_path):
    (pictures / "secret.png").symlink_to(tmp_path / "secret.png")
    (tmp_path / "secret.png").write_bytes((pictures / "5.png").read_bytes())
    out = tmp_path / "out"
    with running(pictures, out, warnings=1) as (process, address):
        names = ask(address, "content")["names"]
        assert len(names) == 40
        assert "secret.png (link to a file outside of the folder)" in process.warnings[0]
        row = names.index("5.png")
        assert status(address, f"preview/{row}") == 200
        (pictures / "5.png").unlink()  # replaced while the page is open
        (pictures / "5.png").symlink_to(tmp_path / "secret.png")
        assert status(address, f"preview/{row}") == 404
    assert "secret.png" in (out / "skipped.csv").read_text()


def test_options_that_only_the_start_takes(digits, tmp_path):
    out = tmp_path / "out"
    with running(digits, out):
        pass
    with running(digits, out, "--classes", "a,b", "--overwrite", warnings=1) as (process, address):
        assert "warning: --classes, --overwrite: without effect" in process.warnings[0]
        assert ask(address, "state")["classes"] == []


def test_labels_that_are_known(digits, tmp_path):
    labels = tmp_path / "some.npy"
    np.save(labels, np.where(np.arange(COUNT) < 10, load_digits().target[:COUNT], -1))
    with running(digits, tmp_path / "out", "--labels", str(labels)) as (_, address):
        assert ask(address, "state")["history"][-1][0] == 10
