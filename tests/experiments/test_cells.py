"""Scores of single runs: kept, read again, and continued from."""

import csv
import os
from dataclasses import replace

import pytest

from enhg import InputError
from experiments import cells as cells_module
from experiments import protocol
from experiments.cells import Cells, run_jobs
from experiments.protocol import Draw


def test_kept_scores_are_not_computed_again(
    small, clustering_job, classification_job, tmp_path, monkeypatch
):
    file, calls = tmp_path / "cells.csv", []
    jobs = [clustering_job(), classification_job]
    run_jobs(jobs, tmp_path, Cells(file), lambda *call: calls.append(call), n_jobs=1)
    total = calls[0][1]
    assert total > 0
    assert len(calls) == 3
    assert [calls[0][0], calls[2][0]] == [0, total]
    assert 0 < calls[1][0] < total
    before = file.read_text()
    monkeypatch.setattr(cells_module, "evaluate", lambda *_: pytest.fail("computed again"))
    calls.clear()
    cells = Cells(file)
    run_jobs(jobs, tmp_path, cells, lambda *call: calls.append(call), n_jobs=1)
    assert calls == [(0, 0)]
    assert file.read_text() == before
    assert len(cells.rows(clustering_job())) == 2


def test_only_missing_runs_are_added(small, clustering_job, tmp_path):
    file = tmp_path / "cells.csv"
    run_jobs([clustering_job(runs=(0, 1))], tmp_path, Cells(file), n_jobs=1)
    cells = Cells(file)
    assert cells.missing(clustering_job(runs=(0, 1, 2))).runs == (2,)
    run_jobs([clustering_job(runs=(0, 1, 2))], tmp_path, cells, n_jobs=1)
    assert [row["run"] for row in csv.DictReader(file.open())] == ["0", "1", "2"]


def test_a_truncated_file_loses_only_its_last_line(small, clustering_job, tmp_path):
    file = tmp_path / "cells.csv"
    run_jobs([clustering_job()], tmp_path, Cells(file), n_jobs=1)
    text = file.read_text()
    file.write_text(text[: text.rindex('"{')])
    cells = Cells(file)
    assert cells.missing(clustering_job()).runs == (1,)
    run_jobs([clustering_job()], tmp_path, cells, n_jobs=1)
    assert Cells(file).missing(clustering_job()) is None


@pytest.mark.parametrize("cut", [1, 2, 3, 5])
def test_a_file_without_its_last_characters_is_repaired(small, clustering_job, tmp_path, cut):
    file = tmp_path / "cells.csv"
    run_jobs([clustering_job()], tmp_path, Cells(file), n_jobs=1)
    file.write_bytes(file.read_bytes()[:-cut])
    run_jobs([clustering_job()], tmp_path, Cells(file), n_jobs=1)
    rows = Cells(file).rows(clustering_job())
    assert len(rows) == 2
    assert all(0.8 < float(row["ac"]) <= 1 for row in rows)


def test_an_empty_file_is_used(small, clustering_job, tmp_path):
    file = tmp_path / "cells.csv"
    file.touch()
    run_jobs([clustering_job()], tmp_path, Cells(file), n_jobs=1)
    assert len(Cells(file).rows(clustering_job())) == 2


def test_a_file_with_other_columns_is_refused(tmp_path):
    file = tmp_path / "cells.csv"
    file.write_text("task,ac,nmi\nclustering,0.9,0.5\n")
    with pytest.raises(InputError, match=r"cells.csv must have the columns version, task"):
        Cells(file)


def test_scores_of_an_older_version_are_not_used(small, clustering_job, tmp_path, monkeypatch):
    file = tmp_path / "cells.csv"
    run_jobs([clustering_job()], tmp_path, Cells(file), n_jobs=1)
    monkeypatch.setattr(protocol, "VERSION", protocol.VERSION + 1)
    assert Cells(file).missing(clustering_job()).runs == (0, 1)


def test_a_killed_process_is_reported(small, clustering_job, tmp_path, monkeypatch):
    monkeypatch.setattr(cells_module, "_run", lambda *_: os._exit(1))
    cells = Cells(tmp_path / "cells.csv")
    with pytest.raises(ChildProcessError, match=r"again to continue from .*cells.csv"):
        run_jobs([clustering_job()], tmp_path, cells, n_jobs=2)


def test_expensive_jobs_come_first(small, clustering_job, tmp_path):
    jobs = [
        clustering_job(Draw("usps", 2, 20)),
        clustering_job(Draw("usps", 4, 20)),
        replace(clustering_job(Draw("usps", 2, 20)), method="LRR", structure="{}"),
    ]
    file = tmp_path / "cells.csv"
    run_jobs(jobs, tmp_path, Cells(file), n_jobs=1)
    kept = [(row["method"], row["classes"]) for row in csv.DictReader(file.open())]
    assert kept[0] == ("LRR", "2")
