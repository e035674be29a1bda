"""The benchmark's peers must solve our problem, or its ratios mean nothing; and its pages must say
what its results hold."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

import enhg
from benchmarks.peers import PEERS, run_accurately
from benchmarks.problems import Problem, optimality
from benchmarks.report import write_report
from benchmarks.suite import BENCHMARKS

PROBLEM = Problem("digits", 200, a=0.1, b=0.1)
ROWS = np.array([0, 50, 199])


@pytest.fixture(scope="module")
def X():
    images = load_digits().data[: PROBLEM.count].astype(np.float32)
    return enhg.normalize_samples(images, center=False)


@pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.name)
def test_a_peer_finds_our_solution(X, peer):
    pytest.importorskip(peer.module)
    _, theirs = run_accurately(peer, X, ROWS, PROBLEM)
    ours = PROBLEM.solver(X)().coefficients[ROWS].toarray()
    _, violation = optimality(X, ROWS, theirs.Z, PROBLEM.a, PROBLEM.b)
    assert theirs.seconds > 0
    assert violation.max() <= 1e-4
    np.testing.assert_allclose(theirs.Z, ours, atol=1e-3)


def test_the_judge_agrees_with_the_certificate(X):
    found = PROBLEM.solver(X)()
    rows = np.arange(len(X))
    _, violation = optimality(X, rows, found.coefficients.toarray(), PROBLEM.a, PROBLEM.b)
    np.testing.assert_allclose(violation, found.certificate, atol=2e-5)
    worse = found.coefficients.toarray() * 1.01
    assert optimality(X, rows, worse, PROBLEM.a, PROBLEM.b)[1].min() > violation.max()


# --- the pages ---------------------------------------------------------------------------------

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"


def test_the_pages_are_those_of_the_results(tmp_path):
    for file in RESULTS.glob("*.json"):
        (tmp_path / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    docs = tmp_path / "speed.md"
    docs.write_text((ROOT / "docs" / "speed.md").read_text(encoding="utf-8"), encoding="utf-8")
    write_report(tmp_path, BENCHMARKS, docs)
    for made, kept in (
        (tmp_path / "README.md", RESULTS / "README.md"),
        (docs, ROOT / "docs" / "speed.md"),
    ):
        assert made.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8")
    assert {file.name for file in tmp_path.glob("*.png")} == {
        file.name for file in RESULTS.glob("*.png")
    }


def test_every_benchmark_has_a_result_of_a_whole_run():
    for name in BENCHMARKS:
        result = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
        assert result["limit"] is None


def run(*words):
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *map(str, words)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["spares"], "no benchmark is named spares"),
        (["sparse", "--limit", "100"], "name another folder"),
        (["sparse", "--limit", "0"], "not a whole number above 0"),
        (["sparse", "--peer-rows", "-1"], "not a whole number above 0"),
    ],
)
def test_wrong_words(words, message):
    done = run(*words)
    assert done.returncode == 2
    assert message in done.stderr


def test_the_list_names_every_benchmark():
    assert [line.split()[0] for line in run("--list").stdout.splitlines()] == list(BENCHMARKS)


def test_a_trial(data_folder, tmp_path):
    for module in {peer.module for peer in PEERS}:
        pytest.importorskip(module)
    done = run(
        "faces", "threads", "--limit", 150, "--peer-rows", 2, "--data", data_folder,
        "--output", tmp_path,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "## faces (a trial, n ≤ 150)" in page
    assert "two threads against one" in page
    assert "skglm" in page
