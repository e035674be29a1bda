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
from urllib.error import URLError
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
def running(digits, out, *options):
    """The process of a server, and its address."""
    process = subprocess.Popen(
        command(digits, out, *options), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
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
        assert ask(address, "act", {"key": "2", "kind": "undo"})["redo"] == "x: 3 images"
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)


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
        assert "another enhg label works on it" in other.stderr


def test_a_port_that_is_taken(digits, tmp_path):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        ended = subprocess.run(
            command(digits, tmp_path / "out", "--port", port), capture_output=True, text=True
        )
    assert ended.returncode == 1
    assert f"port {port} is taken" in ended.stderr
    assert "--port" in ended.stderr


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


def test_labels_that_are_known(digits, tmp_path):
    labels = tmp_path / "some.npy"
    np.save(labels, np.where(np.arange(COUNT) < 10, load_digits().target[:COUNT], -1))
    with running(digits, tmp_path / "out", "--labels", str(labels)) as (_, address):
        assert ask(address, "state")["history"][-1][0] == 10
