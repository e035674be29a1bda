"""The choice of settings from the scores of all that were tried."""

import json

import pytest

from enhg import InputError
from experiments import search
from experiments.cells import Cells
from experiments.methods import METHODS
from experiments.paths import SETTINGS
from experiments.protocol import VERSION, Draw, to_json
from experiments.tabular import read_csv


def row(task, dataset, structure, learner, **scores):
    key = {"task": task, "dataset": dataset, "structure": structure, "learner": learner}
    return {"version": 1, "method": "any", "ac": "", "nmi": "", "accuracy": ""} | key | scores


def test_the_choice_is_the_best_mean_and_the_best_of_each_data_set():
    a, b = to_json({"k": 1}), to_json({"k": 2})
    low, high = to_json({"alpha": 0.9}), to_json({"alpha": 0.99})
    plain = to_json({})
    rows = [
        row("clustering", "x", a, plain, ac="0.9", nmi="0.9"),
        row("clustering", "x", b, plain, ac="0.5", nmi="0.5"),
        row("clustering", "y", a, plain, ac="0.6", nmi="0.6"),
        row("clustering", "y", b, plain, ac="0.7", nmi="0.7"),
        row("classification", "x", a, low, accuracy="0.8"),
        row("classification", "x", a, high, accuracy="0.7"),
        row("classification", "x", b, low, accuracy="0.75"),
        row("classification", "x", b, high, accuracy="0.9"),
    ]
    chosen = search.choose(rows)
    # a: 0.75 + 0.8, b: 0.6 + 0.9
    assert chosen["all"] == {
        "structure": {"k": 1}, "clustering": {}, "classification": {"alpha": 0.9}
    }  # fmt: skip
    assert chosen["x clustering"]["structure"] == {"k": 1}
    assert chosen["y clustering"]["structure"] == {"k": 2}
    assert chosen["x classification"] == {"structure": {"k": 2}, "classification": {"alpha": 0.99}}


def test_runs_are_averaged_before_the_choice():
    steady, varying, plain = to_json({"k": 1}), to_json({"k": 2}), to_json({})
    rows = [
        row("clustering", "x", setting, plain, ac=score, nmi=score)
        for setting, scores in ((steady, ("0.7", "0.7")), (varying, ("0.4", "0.9")))
        for score in scores
    ]
    rows += [row("classification", "x", k, plain, accuracy="0.5") for k in (steady, varying)]
    chosen = search.choose(search.means(rows))
    assert chosen["x clustering"]["structure"] == {"k": 1}
    assert chosen["all"]["structure"] == {"k": 1}


def test_the_settings_are_chosen_from_the_stored_scores():
    for options, file in search.MEANS.items():
        expected = {
            (str(VERSION), job.task, job.draw.dataset, method, job.structure, learner)
            for method in METHODS
            for job in search.jobs(method, options)
            for learner in job.learners
        }
        tried = [tuple(line[:6]) for line in read_csv(file)[1]]
        assert len(tried) == len(expected)
        assert set(tried) == expected
    assert search.choices() == json.loads(SETTINGS.read_text())


@pytest.mark.parametrize("options", search.MEANS)
@pytest.mark.parametrize("method", METHODS)
def test_every_setting_is_tried_on_every_data_set(method, options):
    jobs = search.jobs(method, options)
    assert len(jobs) == 6 * 18
    assert len({(job.task, job.draw.dataset, job.structure) for job in jobs}) == 6 * 18


def test_both_searches_use_the_same_draws():
    draws = [
        {(job.task, job.draw, job.runs, job.shares) for job in search.jobs("KNN-HG", options)}
        for options in search.MEANS
    ]
    assert draws[0] == draws[1]


@pytest.mark.parametrize("options", search.MEANS)
def test_random_draws_of_the_search_differ_from_those_of_the_tables(options):
    seeds = [job.draw.seed for job in search.jobs("KNN-HG", options) if job.draw.per_class]
    assert len(seeds) == 4 * 18
    assert min(seeds) >= 1000


def test_learners_of_the_paper_have_no_extensions():
    for job in search.jobs("KNN-HG", "paper"):
        for learner in map(json.loads, job.learners):
            if job.task == "clustering":
                assert learner == {"method": "spectral", "normalize_rows": False}
            else:
                assert learner.pop("alpha") < 1
                assert learner == {"class_balance": "none", "method": "diffusion"}


def test_searches_are_selected_by_name():
    assert search.select([]) == ["extended", "paper"]
    assert search.select(["paper"]) == ["paper"]
    with pytest.raises(InputError, match="names must be among extended, paper, got 'shared'"):
        search.select(["shared"])


def test_a_search_stores_means_and_settings(small, one_process, tmp_path, monkeypatch):
    monkeypatch.setattr(search, "METHODS", {"KNN-HG": METHODS["KNN-HG"]})
    monkeypatch.setattr(search, "_CLUSTERED", ((Draw("usps", 3), (0, 1)),))
    monkeypatch.setattr(search, "_CLASSIFIED", (Draw("usps", 3, 20),))
    files = {"extended": tmp_path / "means.csv.gz", "paper": tmp_path / "paper.csv.gz"}
    monkeypatch.setattr(search, "MEANS", files)
    monkeypatch.setattr(search, "SETTINGS", tmp_path / "settings.json")
    cells = Cells(tmp_path / "cells.csv")
    search.search(tmp_path, cells, None, files)
    assert len(read_csv(files["extended"])[1]) == 18 * (2 + 3)
    assert len(read_csv(files["paper"])[1]) == 18 * (1 + 3)
    chosen = json.loads((tmp_path / "settings.json").read_text())
    assert chosen == search.choices()
    assert set(chosen["KNN-HG"]) == {"all", "usps clustering", "usps classification", "paper"}
    assert set(chosen["KNN-HG"]["paper"]) == {"structure", "clustering", "classification"}
    times = {options: file.stat().st_mtime_ns for options, file in files.items()}
    search.search(tmp_path, cells, None, ["paper"])
    assert files["extended"].stat().st_mtime_ns == times["extended"]
    assert files["paper"].stat().st_mtime_ns > times["paper"]
