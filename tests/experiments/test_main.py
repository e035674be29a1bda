"""The command line of the experiments."""

import os

import pytest
from typer.testing import CliRunner

from experiments import (
    baselines,
    labeling,
    labeling_page,
    pages,
    practice,
    quality,
    search,
)
from experiments.__main__ import app


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def fails(*words):
    """Run a command that must end with code 1 and one line on standard error."""
    result = run(*words)
    assert result.exit_code == 1, result.output
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_reproduce_makes_figures_and_continues_in_its_folder(tmp_path, data_folder):
    out = tmp_path / "made"
    result = run("reproduce", "figure-coefficients", "--data", data_folder, "-o", out)
    assert result.exit_code == 0, result.output
    assert "figure-coefficients.png" in result.stdout
    assert sorted(os.listdir(out)) == [
        "cells.csv",
        "figure-coefficients.csv",
        "figure-coefficients.png",
    ]
    result = run("reproduce", "figure-recovery", "--data", data_folder, "-o", out)
    assert result.exit_code == 0, result.output
    assert (out / "figure-recovery.png").stat().st_size > 10_000


def test_reproduce_refuses_bad_input(tmp_path):
    assert "got 'table7'" in fails("reproduce", "table7", "--data", tmp_path)
    stderr = fails("reproduce", "table1", "--setting", "all", "--data", tmp_path)
    assert "settings must be among default, shared, tuned, paper, got 'all'" in stderr
    (tmp_path / "mine.txt").write_text("mine")
    stderr = fails("reproduce", "table1", "--data", tmp_path, "-o", tmp_path)
    assert "cells.csv of an earlier call" in stderr
    stderr = fails("reproduce", "figure-paths", "--data", tmp_path, "-o", tmp_path / "new")
    assert "Extended Yale B" in stderr
    assert "YaleB_32x32.mat" in stderr


def test_an_interrupted_command_says_how_to_continue(tmp_path, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("experiments.reproduce.reproduce", interrupt)
    result = run("reproduce", "table1", "--data", tmp_path)
    assert result.exit_code == 130
    assert "cells.csv; run the same command to continue" in result.stderr


def test_search_passes_its_files_on(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(
        search, "search", lambda data, cells, _, names: calls.append((data, cells.file, names))
    )
    words = ("--data", tmp_path, "--cells", tmp_path / "c.csv", "--quiet")
    for names in ((), ("paper",)):
        result = run("search", *names, *words)
        assert result.exit_code == 0, result.output
    assert calls == [
        (tmp_path, tmp_path / "c.csv", ["extended", "paper"]),
        (tmp_path, tmp_path / "c.csv", ["paper"]),
    ]
    assert "got 'shared'" in fails("search", "shared", *words)
    missing = ("--cells", tmp_path / "none" / "c.csv")
    assert "--cells must be in a folder" in fails("search", "--data", tmp_path, *missing)


def test_practice_refuses_unknown_names(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "write_pages", lambda: pytest.fail("written"))
    stderr = fails("practice", "speed", "--data", tmp_path)
    assert all(name in stderr for name in practice.MEASUREMENTS)
    assert "got 'speed'" in stderr


def test_practice_measures_what_is_named(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(practice, "measure", lambda name, data, _: calls.append((name, data)))
    monkeypatch.setattr(pages, "write_pages", lambda: calls.append("pages"))
    result = run("practice", "outliers", "suggestions", "--data", tmp_path)
    assert result.exit_code == 0, result.output
    assert calls == [("outliers", tmp_path), ("suggestions", tmp_path), "pages"]


@pytest.fixture
def measured(tmp_path, monkeypatch):
    """The pieces that `quality` measures and the pages that it writes, in place of doing so."""
    calls = []
    monkeypatch.setattr(pages, "write_pages", lambda: calls.append("pages"))
    monkeypatch.setattr(quality, "FILE", tmp_path / "quality.csv.gz")
    monkeypatch.setattr(quality, "measure", lambda data, wanted, progress: calls.extend(wanted))
    monkeypatch.setattr(baselines, "require_all", lambda: None)
    return calls


def test_quality_is_limited_to_parts_data_sets_and_runs(tmp_path, measured):
    words = ("clustering", "--only", "USPS", "--only", "ORL", "--runs", 2, "--data", tmp_path)
    result = run("quality", *words)
    assert result.exit_code == 0, result.output
    assert sorted((piece.part, piece.name, piece.run) for piece in measured) == [
        ("clustering", name, number) for name in ("ORL", "USPS") for number in (0, 1)
    ]
    assert "docs/quality.md is not written" in result.stdout


def test_quality_writes_its_page_when_all_scores_are_there(tmp_path, measured, monkeypatch):
    monkeypatch.setattr(quality, "is_complete", lambda: True)
    result = run("quality", "--data", tmp_path, "--quiet")
    assert result.exit_code == 0, result.output
    assert measured == [*quality.pieces(), "pages"]


def test_quality_refuses_unknown_names(tmp_path, measured):
    assert "parts must be among settings; " in fails("quality", "speed", "--data", tmp_path)
    assert "got 'usps'" in fails("quality", "--only", "usps", "--data", tmp_path)
    assert not measured


def test_labeling_writes_its_page_or_another_file(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(
        labeling, "measure", lambda data, only, runs, file, _: calls.append((only, runs, file))
    )
    monkeypatch.setattr(pages, "write_pages", lambda: calls.append("pages"))
    monkeypatch.setattr(labeling_page, "summary", lambda file: "table")
    other = tmp_path / "other.csv"
    words = ("--data", tmp_path, "--only", "ORL", "--runs", 1, "--output", other)
    result = run("labeling", *words)
    assert result.exit_code == 0, result.output
    assert "table" in result.stdout
    assert "pages" not in calls
    result = run("labeling", "--data", tmp_path, "--quiet")
    assert result.exit_code == 0, result.output
    assert "table" not in result.stdout
    assert calls == [(["ORL"], 1, other), (labeling.DATASETS, 3, labeling.FILE), "pages"]
    assert "got 'orl'" in fails("labeling", "--data", tmp_path, "--only", "orl")


def test_report_stores_a_run_first(tmp_path, monkeypatch):
    calls = []
    monkeypatch.setattr(pages, "store", calls.append)
    monkeypatch.setattr(pages, "write_pages", lambda: calls.append("pages") or [tmp_path / "p"])
    result = run("report", tmp_path)
    assert result.exit_code == 0, result.output
    assert calls == [tmp_path, "pages"]
    assert result.stdout.strip() == str(tmp_path / "p")
