"""What the summary says can be done next: its commands are those of the program, as printed."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest
import typer.main

from enhg.cli.commands import app

FOLDER = "it's  mine"
HOG = ("--features", "hog")


def commands(result):
    """The words of the commands that the output ends with."""
    assert result.exit_code == 0, result.output
    lines = result.stdout.partition("\nnext ")[2].splitlines()
    assert len(lines) <= 2
    return [shlex.split(line[line.index("enhg ") :]) for line in lines if "enhg " in line]


def parsed(words):
    """The parameters of a command."""
    assert words[0] == "enhg"
    command = typer.main.get_command(app).commands[words[1]]
    return command.make_context(words[1], words[2:]).params


@pytest.fixture
def folder(tmp_path, pictures, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pictures.rename(tmp_path / FOLDER)
    np.save("rows.npy", np.random.default_rng(0).uniform(size=(40, 3)))
    (tmp_path / "some.csv").write_text("name,label\na0.jpg,x\nb0.jpg,y\n")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["cluster", FOLDER, "-o", "a b", *HOG], ["label", "cluster"]),
        (["cluster", FOLDER, "-k", "3", "-o", "a", "--size", "6x5"], ["label", "cluster"]),
        (["cluster", FOLDER, "-k3", "-o", "a", *HOG, "--folders=links"], ["label", "predict"]),
        (["cluster", "rows.npy", "-k", "3", "-o", "a", "--jobs", "1"], ["predict"]),
        (["cluster", "rows.npy", "-o", "a", "--checkpoint", "c"], ["cluster", "predict"]),
        (["classify", FOLDER, "--labels", "some.csv", "-o", "a", *HOG], ["predict"]),
        (["features", FOLDER, "-o", "a.npz", *HOG], ["cluster"]),
    ],
)
def test_commands_can_be_run_as_printed(folder, run, words, expected):
    shown = commands(run(*words))
    assert [line[1] for line in shown] == expected
    for line in shown:
        given = parsed(line)
        if line[1] == "cluster":
            again = commands(run(*line[1:]))
            assert [other[1] for other in again] != expected  # this has been done
        elif line[1] == "label":
            own = parsed(["enhg", *words])
            assert given["source"] == own["source"]
            assert all(given[name] == own[name] for name in ("n_clusters", "features", "size"))
            assert given["out"] != own["out"]
        else:
            model, new = str(given["model_file"]), ("rows.npy" if "rows.npy" in words else FOLDER)
            predicted = run("predict", model, new, "-o", "new")
            for other in commands(predicted):
                assert run(*other[1:]).exit_code == 0


def test_commands_of_odd_names(folder, run, tmp_path):
    (tmp_path / FOLDER).rename(tmp_path / "-v")
    for line in commands(run("cluster", "./-v", "-k", "3", "-o", "a", *HOG)):
        assert Path(parsed(line)["source"]).samefile(tmp_path / "-v")
    (tmp_path / "-v").rename(tmp_path / "two\nlines")
    shown = commands(run("cluster", "two\nlines", "-k", "3", "-o", "b", *HOG))
    assert [line[1] for line in shown] == ["predict"]  # the others could not be copied


def test_nothing_to_check_where_all_labels_were_given(folder, run, tmp_path):
    rows = [f"{file.name},{file.name[0]}" for file in (tmp_path / FOLDER).iterdir()]
    (tmp_path / "all.csv").write_text("\n".join(["name,label", *rows]))
    result = run("classify", FOLDER, "--labels", "all.csv", "-o", "a", *HOG)
    assert [line[1] for line in commands(result)] == ["predict"]
    assert "lowest confidence" not in result.stdout
