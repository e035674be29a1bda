"""Tables and figures by name, and folders that are continued."""

from contextlib import contextmanager

import pytest

from enhg import InputError
from experiments import reproduce, tables
from experiments.tabular import read_csv


def test_names_are_put_in_order():
    assert reproduce.select(["figure-paths", "table2"]) == ["table2", "figure-paths"]
    assert reproduce.select(["all"]) == list(reproduce.NAMES)
    with pytest.raises(InputError, match=r"names must be among table1.* and all, got 'table9'"):
        reproduce.select(["table9"])


def test_settings_are_put_in_order():
    assert reproduce.select_settings(["paper", "shared"]) == ["shared", "paper"]
    assert reproduce.select_settings([]) == list(tables.SETTINGS)
    with pytest.raises(InputError, match=r"settings must be among default, .*, got 'all'"):
        reproduce.select_settings(["all"])


def test_folders_with_other_files_are_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match=r"cells.csv of an earlier call, got .* such as mine.txt"):
        reproduce.check_folder(tmp_path)
    with pytest.raises(InputError, match="out must be a folder, got the file"):
        reproduce.check_folder(tmp_path / "mine.txt")
    reproduce.check_folder(tmp_path / "new")
    (tmp_path / "cells.csv").write_text("")
    reproduce.check_folder(tmp_path)


def test_a_folder_of_tables_alone_is_accepted(tmp_path):
    for name in ("table1.csv", "figure-paths-images.png", "claims-gamma.md"):
        (tmp_path / name).write_text("")
    reproduce.check_folder(tmp_path)
    assert len(list(tmp_path.iterdir())) == 3


def test_a_second_call_continues_from_the_first(small_draws, tmp_path):
    names = []

    @contextmanager
    def stage(name):
        names.append(name)
        yield None

    out = tmp_path / "out"
    files = reproduce.reproduce(["figure-lambda"], tmp_path, out, 2, stage)
    assert names == ["runs", "figure-lambda"]
    assert [file.name for file in files] == ["figure-lambda.csv", "figure-lambda.png"]
    header, lines = read_csv(out / "figure-lambda.csv")
    assert header == ["gamma", "lam", "ac", "nmi", "accuracy"]
    assert len(lines) == 4
    kept = (out / "cells.csv").read_text()
    assert kept.count("\n") == 1 + 4 * 2 * 2  # settings, tasks, runs
    with pytest.warns(UserWarning, match="16 scores of an earlier call are read from"):
        reproduce.reproduce(["figure-lambda"], tmp_path, out, 2, stage)
    assert (out / "cells.csv").read_text() == kept
