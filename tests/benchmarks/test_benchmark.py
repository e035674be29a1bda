"""Baselines solve the same problem as enhg, and the pages agree with the results."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from benchmarks import __main__ as main
from benchmarks import page
from benchmarks.baselines import BASELINES, run_accurately
from benchmarks.measure import in_new_process
from benchmarks.page import write_page
from benchmarks.problems import Problem, optimality
from benchmarks.report import section, write_report
from benchmarks.suite import BENCHMARKS
from enhg.preprocessing import SampleNormalizer

PROBLEM = Problem("digits", 200, a=0.1, b=0.1)
ROWS = np.array([0, 50, 199])


@pytest.fixture(scope="module")
def X():
    images = load_digits().data[: PROBLEM.count].astype(np.float32)
    return SampleNormalizer(center=False).fit_transform(images)


@pytest.mark.parametrize("baseline", BASELINES, ids=lambda baseline: baseline.name)
def test_a_baseline_has_the_same_solution(X, baseline):
    pytest.importorskip(baseline.module)
    _, run = run_accurately(baseline, X, ROWS, PROBLEM)
    Z = PROBLEM.solver(X)().coefficients[ROWS].toarray()
    _, violation = optimality(X, ROWS, run.Z, PROBLEM.a, PROBLEM.b)
    assert run.seconds > 0
    assert violation.max() <= 1e-4
    np.testing.assert_allclose(run.Z, Z, atol=1e-3)


def test_violation_agrees_with_the_certificate(X):
    result = PROBLEM.solver(X)()
    rows = np.arange(len(X))
    _, violation = optimality(X, rows, result.coefficients.toarray(), PROBLEM.a, PROBLEM.b)
    np.testing.assert_allclose(violation, result.certificate, atol=2e-5)
    worse = result.coefficients.toarray() * 1.01
    assert optimality(X, rows, worse, PROBLEM.a, PROBLEM.b)[1].min() > violation.max()


# --- the pages ---------------------------------------------------------------------------------

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"


def test_pages_agree_with_the_results(tmp_path):
    for file in RESULTS.glob("*.json"):
        (tmp_path / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")
    docs = tmp_path / "speed.md"
    write_report(tmp_path, BENCHMARKS)
    write_page(tmp_path, BENCHMARKS, docs)
    for made, kept in (
        (tmp_path / "README.md", RESULTS / "README.md"),
        (docs, ROOT / "docs" / "speed.md"),
    ):
        assert made.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8")
    drawn = [(folder / "images" / "speed.svg").read_text() for folder in (tmp_path, ROOT / "docs")]
    versions = {re.search("Matplotlib v[^,]*", text)[0] for text in drawn}
    assert len(set(drawn)) == len(versions)  # drawings differ slightly between versions
    assert {file.name for file in tmp_path.glob("*.png")} == {
        file.name for file in RESULTS.glob("*.png")
    }


def test_every_benchmark_has_a_result_of_a_whole_run():
    for name in BENCHMARKS:
        result = json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))
        assert result["limit"] is None
        assert result["title"] == BENCHMARKS[name].__doc__


def test_pages_are_written_without_measuring(monkeypatch):
    monkeypatch.setattr("sys.argv", ["benchmarks", "--pages"])
    calls = []
    monkeypatch.setattr(main, "write_report", lambda folder, order: calls.append(folder))
    monkeypatch.setattr(main, "write_page", lambda folder, order, page: calls.append(page))
    assert main.main() == 0
    assert calls == [RESULTS, ROOT / "docs" / "speed.md"]


def test_the_page_needs_every_result(tmp_path):
    with pytest.raises(ValueError, match="a result of every benchmark, got no answer"):
        write_page(tmp_path, BENCHMARKS, tmp_path / "speed.md")


def run_benchmarks(*words):
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *map(str, words)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["spares"], "NAME must be one of --list, got spares"),
        (["sparse", "--limit", "100"], "name another folder"),
        (["sparse", "--limit", "0"], "must be a whole number above 0, got 0"),
        (["sparse", "--baseline-rows", "-1"], "must be a whole number above 0, got -1"),
    ],
)
def test_wrong_arguments(words, message):
    done = run_benchmarks(*words)
    assert done.returncode == 2
    assert message in done.stderr


def test_the_list_names_every_benchmark():
    assert [line.split()[0] for line in run_benchmarks("--list").stdout.splitlines()] == list(
        BENCHMARKS
    )


def test_a_trial_run(data_folder, tmp_path):
    for module in {baseline.module for baseline in BASELINES}:
        pytest.importorskip(module)
    done = run_benchmarks(
        "faces", "threads", "--limit", 150, "--baseline-rows", 2, "--data", data_folder,
        "--output", tmp_path,
    )  # fmt: skip
    assert "Traceback" not in done.stderr
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "## faces (trial run, n ≤ 150)" in page
    assert "two threads against one" in page
    assert "skglm" in page


@pytest.fixture
def samples_file(X, tmp_path):
    np.save(tmp_path / "samples.npy", X)
    return str(tmp_path / "samples.npy")


def test_stages_of_a_clustering_add_up(samples_file):
    """Every stage is timed where it is called, whichever module calls it."""
    result = in_new_process("cluster", samples=samples_file, parameters=PROBLEM.parameters)
    stages = result["stages"]
    names = "representation", "hypergraph", "groups", "eigenvectors", "partition", "refinement"
    assert set(stages) == {*names, "other"}
    assert min(stages.values()) > 0
    assert sum(stages.values()) == pytest.approx(result["seconds"])


def test_a_representation_in_a_new_process(samples_file):
    result = in_new_process(
        "represent", samples=samples_file, parameters=PROBLEM.parameters, gram_runs=1
    )
    assert result["certificate"] <= 1e-4
    assert result["peak_bytes"] >= result["bytes_before"] > 0
    assert min(result["seconds"], result["gram_seconds"], result["nonzeros"]) > 0


def test_the_defaults_beside_what_they_choose(samples_file):
    """A record of its task has its figures in the report and on the page."""
    record = in_new_process("choose", samples=samples_file, runs=1)
    seconds = record["seconds_by_task"]
    tasks = ("clustering", "classification")
    assert all(seconds[task] > 0 and seconds[f"{task}, fixed"] > 0 for task in tasks)
    lines = page._choice([record]).splitlines()[2:]
    assert [line.split(" | ")[1] for line in lines] == list(tasks)
    result = {"name": "choice", "title": "", "limit": None, "records": [record]}
    shown = section(result, {})
    assert record["preprocessing"] in shown
    assert shown.count("if given") == 2
