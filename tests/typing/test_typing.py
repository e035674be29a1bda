"""The type information of the installed package, as a user's program sees it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "user_program.py"
# Every mistake is marked with the code of the error that must be reported for its line.
MISTAKES = """
import numpy as np

import enhg
from enhg import HypergraphClustering, Hypograph, clustering_accuracy  # wrong: attr-defined

X = np.zeros((10, 4))
enhg.Hypergraf  # wrong: attr-defined
model = HypergraphClustering(2, neighbors=5)  # wrong: call-arg
text: str = clustering_accuracy([0, 1], [1, 0])  # wrong: assignment
model.fit()  # wrong: call-arg
model.suggest("three")  # wrong: arg-type
hypergraph = enhg.Hypergraph.from_edges([[0, 1]])
hypergraph.n_vertices = 3  # wrong: misc
enhg.self_representation(X, gamma="much")  # wrong: arg-type
enhg.load_model(3)  # wrong: arg-type
"""
REPORTED = re.compile(r"^.*:(?P<line>\d+): error: .*\[(?P<code>[\w-]+)\]$", re.MULTILINE)


def check(program, cache):
    """Run mypy on a program outside the checkout, without the settings of the project."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={cache}",
         program],
        cwd=cache,
        capture_output=True,
        text=True,
    )  # fmt: skip


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("mypy")


def test_a_typed_program_is_accepted(cache):
    done = check(PROGRAM, cache)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mistakes_are_reported(cache):
    program = cache / "mistakes.py"
    program.write_text(MISTAKES, encoding="utf-8")
    wrong = {
        (number, code)
        for number, line in enumerate(MISTAKES.splitlines(), 1)
        if (code := line.partition("  # wrong: ")[2])
    }
    done = check(program, cache)
    assert done.returncode == 1, done.stdout + done.stderr
    reported = {(int(match["line"]), match["code"]) for match in REPORTED.finditer(done.stdout)}
    assert reported == wrong


def test_the_typed_program_runs(tmp_path):
    subprocess.run([sys.executable, PROGRAM], cwd=tmp_path, check=True)
