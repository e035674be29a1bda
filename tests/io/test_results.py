"""Writing of results: whole or not at all."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enhg.io import output_folder, read_labels, read_samples, write_table
from enhg.io.labels import open_labels
from enhg.io.results import complete_results

RNG = np.random.default_rng(0)
TABLE = RNG.normal(size=(6, 4))
TRUTH = np.array([1, 1, 2, 2, 3, 3])


NAMES = ["img1.png", "img2.png", "cats/img3.jpg", "dogs/img3.jpg"]


def test_write_table(tmp_path):
    path = tmp_path / "new" / "folder" / "labels.csv"
    write_table(
        path,
        {"name": ["a.png", "b, c.png"], "label": [0, 1], "group": ["x", "y"], "degree": [1.5, 2.0]},
    )
    text = 'name,label,group,degree\r\na.png,0,x,1.5\r\n"b, c.png",1,y,2.0\r\n'
    assert path.read_bytes() == b"\xef\xbb\xbf" + text.encode()
    assert [p.name for p in path.parent.iterdir()] == ["labels.csv"]


def test_labels_round_trip(tmp_path):
    labels = ["cat", "", "dog", "ä;ö", 'q"']
    names = [*NAMES, "bad\udcff.png"]  # a file name that is not UTF-8
    write_table(tmp_path / "a.csv", {"name": names, "label": labels, "confidence": np.ones(5)})
    assert read_labels(tmp_path / "a.csv", names).tolist() == labels


HOSTILE = [
    "=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "\tx", "\r=x", " =x", "＝1+1", "'=x", "''-y",
    "'tis", "../../x", "a,b", "a;b", 'say "hi"', "two\nlines", "two\rlines", "🌸.jpg", "שלום",
    "\u202egpj.exe", "CON", "dots...", "-rf", "=", "bad\udcff",
]  # fmt: skip


def test_hostile_cells_round_trip(tmp_path):
    path = tmp_path / "a.csv"
    labels = [f"={i}{name}" for i, name in enumerate(HOSTILE)]
    write_table(path, {"name": HOSTILE, "label": labels, "f": np.arange(25.0)})
    assert read_labels(path, HOSTILE).tolist() == [label.strip() for label in labels]
    samples = read_samples(path)
    assert samples.names == HOSTILE
    assert samples.labels.tolist() == labels
    write_table(path, {"label": labels})
    assert read_labels(path, HOSTILE).tolist() == [label.strip() for label in labels]


def test_no_cell_is_a_formula(tmp_path):
    path = tmp_path / "a.csv"
    write_table(path, {"=head": HOSTILE, "number": ["-0.5000"] * 25, "value": [-1.5] * 25})
    with path.open(newline="", encoding="utf-8-sig") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["'=head", "number", "value"]
    assert [row[1:] for row in rows[1:]] == [["-0.5000", "-1.5"]] * 25  # numbers are left alone
    cells = [row[0] for row in rows[1:]]
    assert not [cell for cell in cells if cell.lstrip(" ")[0] in "=+-@\t\r＝"]
    assert cells[:2] == ["'" + name for name in HOSTILE[:2]]
    assert cells[4:7] == [r"$'\tx'", r"$'\r=x'", "$' =x'"]
    assert cells[11:15] + cells[17:22] == HOSTILE[11:15] + HOSTILE[17:22]  # others as they are
    assert cells[15:17] == [r"$'two\nlines'", r"$'two\rlines'"]
    assert cells[22:] == ["'-rf", "'=", r"$'bad\xff'"]


# Names that a system can have: any bytes but "/" and NUL, as Python decodes them.
FILE_NAMES = st.one_of(
    st.binary(min_size=1, max_size=40).map(os.fsdecode),
    st.text(min_size=1, max_size=40),
    st.text("=+-@$'\\\"nrtux01 \n\r\t,;", min_size=1, max_size=12),
).filter(lambda name: not set("/\0") & set(name) and name not in {".", ".."})


@settings(max_examples=400, deadline=None)
@given(st.lists(FILE_NAMES, min_size=2, max_size=8, unique=True))
def test_every_name_of_a_file_round_trips(tmp_path_factory, names):
    path = tmp_path_factory.getbasetemp() / "names.csv"
    labels = ["first", *["second"] * (len(names) - 1)]
    write_table(path, {"name": names, "label": labels})
    given = open_labels(path)
    assert given.names == names
    assert given.labels == labels
    assert given.match(names).tolist() == labels
    text = path.read_bytes().decode("utf-8-sig")
    assert text.count("\r\n") == len(text.splitlines()) == len(names) + 1  # a line for each row
    assert len(pd.read_csv(path)) == len(names)
    with path.open(newline="", encoding="utf-8-sig") as stream:
        rows = list(csv.reader(stream))
    assert [row[1] for row in rows] == ["label", *labels]
    assert not any(row[0][0] in "=+-@\t\r" and not is_number(row[0]) for row in rows)
    write_table(path, {"name": names, "f": np.arange(len(names))})
    assert read_samples(path).names == names


def is_number(cell):
    try:
        float(cell)
    except ValueError:
        return False
    return True


def test_infinite_numbers_as_text_are_no_formula(tmp_path):
    write_table(tmp_path / "a.csv", {"name": ["-inf", "-1e5", "+.5", "-1e"]})
    text = (tmp_path / "a.csv").read_text(encoding="utf-8-sig")
    assert text.split() == ["name", "'-inf", "-1e5", "+.5", "'-1e"]


def test_csv_samples_round_trip(tmp_path):
    columns = {f"f{i}": column.tolist() for i, column in enumerate(TABLE.T)}
    table = {"name": list("abcdef"), "label": TRUTH.tolist(), "confidence": np.ones(6)} | columns
    write_table(tmp_path / "a.csv", table)
    samples = read_samples(tmp_path / "a.csv")
    np.testing.assert_array_equal(samples.X[:, 1:], TABLE)
    np.testing.assert_array_equal(samples.labels, TRUTH)
    assert samples.names == list("abcdef")


def test_tables_are_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "labels.csv"
    write_table(path, {"name": ["a"], "label": ["x"]})
    before = path.read_text()

    class Unprintable:
        def __str__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_table(path, {"name": ["a"], "label": [Unprintable()]})
    assert path.read_text() == before
    assert os.listdir(tmp_path) == ["labels.csv"]


def test_tables_that_cannot_be_written(tmp_path, refuses):
    refuses(
        lambda: write_table(tmp_path / "a.csv", {"name": ["a", "b"], "label": [1]}),
        "columns of table must have one length, got",
        "'label': 1",
    )
    (tmp_path / "file").write_text("")
    refuses(
        lambda: write_table(tmp_path / "file" / "a.csv", {"name": ["a"]}),
        "a.csv",
        "cannot be written",
    )
    assert os.listdir(tmp_path) == ["file"]


def contents(folder):
    return {
        p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if p.is_file()
    }


def test_output_folder(tmp_path):
    target = tmp_path / "deep" / "er" / "out"
    with output_folder(target) as folder:
        assert folder.parent == target.parent
        (folder / "plots").mkdir()
        (folder / "plots" / "a.txt").write_text("plot")
        (folder / "b.txt").write_text("text")
        assert not target.exists()
    assert contents(tmp_path / "deep") == {"er/out/plots/a.txt": "plot", "er/out/b.txt": "text"}
    mode = (tmp_path / "plain").mkdir() or (tmp_path / "plain").stat().st_mode
    assert target.stat().st_mode == mode  # and not the 0700 of tempfile


def test_output_into_an_empty_folder(tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    inode = target.stat().st_ino
    with output_folder(target) as folder:
        (folder / "a").write_text("1")
        (folder / "empty").mkdir()
    assert target.stat().st_ino == inode  # a shell that stands in it stays there
    assert contents(tmp_path) == {"out/a": "1"}
    assert sorted(os.listdir(target)) == ["a", "empty"]


def enter(path, **options):
    with output_folder(path, **options):
        pytest.fail("must be refused before any computing")


def test_output_folder_refuses_on_entry(tmp_path, refuses):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").write_text("keep")
    refuses(lambda: enter(tmp_path / "out"), "out", "must be new or empty", parameter="overwrite")
    refuses(lambda: enter(tmp_path / "out" / "mine"), "must be a folder, got a file")
    refuses(
        lambda: enter(tmp_path / "out" / "mine", overwrite=True), "must be a folder, got a file"
    )
    refuses(lambda: enter(tmp_path / "out" / "mine" / "below"), "cannot be written")
    assert contents(tmp_path) == {"out/mine": "keep"}
    assert os.listdir(tmp_path / "out") == ["mine"]


def test_overwriting_replaces_only_the_same_names(tmp_path):
    target = tmp_path / "out"
    (target / "plots").mkdir(parents=True)
    (target / "a").write_text("old")
    (target / "mine").write_text("keep")
    (target / "plots" / "mine").write_text("keep")
    with output_folder(target, overwrite=True) as folder:
        (folder / "a").write_text("new")
        (folder / "plots").mkdir()
        (folder / "plots" / "b").write_text("new")
        assert (target / "a").read_text() == "old"
    assert contents(tmp_path) == {
        "out/a": "new",
        "out/mine": "keep",
        "out/plots/mine": "keep",
        "out/plots/b": "new",
    }
    assert sorted(os.listdir(target)) == ["a", "mine", "plots"]


def test_folders_of_an_earlier_run_are_never_mixed(tmp_path, refuses):
    target = tmp_path / "out"
    (target / "folders" / "cluster-07").mkdir(parents=True)
    (target / "labels.csv").write_text("old")
    message = refuses(
        lambda: enter(target, overwrite=True, new=["sheets", "folders"]), "must not exist"
    )
    assert str(target / "folders") in message
    assert sorted(os.listdir(target)) == ["folders", "labels.csv"]
    with output_folder(target, overwrite=True, new=["sheets"]) as folder:
        (folder / "sheets").mkdir()
        (folder / "sheets" / "link").symlink_to(target / "labels.csv")
    assert (target / "sheets" / "link").is_symlink()
    assert (target / "sheets" / "link").read_text() == "old"


def write_and_raise(path, error, **options):
    with output_folder(path, **options) as folder:
        (folder / "a").write_text("half")
        raise error


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit])
def test_failure_leaves_nothing(tmp_path, error):
    with pytest.raises(error):
        write_and_raise(tmp_path / "deep" / "er" / "out", error)
    assert os.listdir(tmp_path) == []
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_text("old")
    with pytest.raises(error):
        write_and_raise(tmp_path / "out", error, overwrite=True)
    assert contents(tmp_path) == {"out/a": "old"}
    assert os.listdir(tmp_path / "out") == ["a"]


def write_while_another_does(path, **options):
    with output_folder(path, **options) as folder:
        (folder / "a").write_text("ours")
        path.mkdir(exist_ok=True)
        (path / "a").write_text("theirs")


def test_results_that_cannot_be_moved_are_kept(tmp_path, refuses):
    target = tmp_path / "out"
    message = refuses(lambda: write_while_another_does(target), "meanwhile", "they are in")
    assert (target / "a").read_text() == "theirs"
    assert (Path(message.split("they are in ")[1]) / "a").read_text() == "ours"


@pytest.mark.parametrize("fault", ["disk", "permission"])
def test_folders_into_which_nothing_can_be_moved(tmp_path, refuses, monkeypatch, fault):
    """It is found before anything is moved."""
    target = tmp_path / "out"
    (target / "a").mkdir(parents=True)
    if fault == "disk":
        stat = Path.stat

        def on_another_disk(self, **options):
            status = stat(self, **options)
            return os.stat_result((*status[:2], -1, *status[3:])) if self.name == "a" else status

        monkeypatch.setattr(Path, "stat", on_another_disk)
    else:
        monkeypatch.setattr(os, "access", lambda path, mode: path.name != "a")

    def write():
        with output_folder(target, overwrite=True) as folder:
            (folder / "a").mkdir()
            (folder / "a" / "b").write_text("new")
            (folder / "0").write_text("new")

    kept = Path(refuses(write, "cannot be moved").split("they are in ")[1])
    assert (kept / "0").exists()
    assert os.listdir(target / "a") == []
    assert not (target / "0").exists()


def test_a_move_that_fails_is_completed_by_the_next_run(tmp_path, refuses, monkeypatch):
    target, replace = tmp_path / "out", Path.replace
    target.mkdir()

    def full(self, there):
        if self.name == "b":
            raise OSError(28, "No space left on device")
        return replace(self, there)

    def write():
        with output_folder(target) as folder:
            for name in ("a", "b", "c"):
                (folder / name).write_text("new")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", full)
        message = refuses(write, "No space left", "and the next run into")
        assert f"the others are in {next(target.glob('.*.moving'))}, " in message
        refuses(write, "No space left", "and the next run into")
    complete_results(target)
    assert sorted(os.listdir(target)) == ["a", "b", "c"]


def test_a_folder_never_replaces_a_link_to_nothing(tmp_path, refuses):
    target = tmp_path / "out"
    target.mkdir()
    (target / "b").symlink_to(tmp_path / "none")

    def write():
        with output_folder(target, overwrite=True) as folder:
            (folder / "a").write_text("new")
            (folder / "b").mkdir()

    assert "b is a file on one side" in refuses(write, "they are in")
    assert sorted(os.listdir(target))[1:] == ["b"]
    assert not list(target.glob(".*.moving"))


def test_a_file_never_replaces_a_folder(tmp_path, refuses):
    target = tmp_path / "out"
    (target / "a").mkdir(parents=True)
    (target / "a" / "mine").write_text("keep")

    def clash():
        with output_folder(target, overwrite=True) as folder:
            (folder / "a").write_text("new")
            (folder / "0").write_text("new")

    refuses(clash, "a file on one side and a folder on the other")
    assert (target / "a" / "mine").read_text() == "keep"
    assert not (target / "0").exists()


def test_optional_files_of_an_earlier_run_are_removed(tmp_path):
    out = tmp_path / "out"
    for names in (["a.csv", "b.csv", "d/1.jpg", "d/2.jpg"], ["a.csv", "d/1.jpg"]):
        with output_folder(out, overwrite=True, optional=["a.csv", "b.csv", "d/*.jpg"]) as folder:
            (folder / "d").mkdir()
            for name in names:
                (folder / name).write_text("new")
        (out / "c.csv").write_text("mine")
        (out / "d" / "mine.txt").write_text("mine")
    left = sorted(path.relative_to(out).as_posix() for path in out.rglob("*"))
    assert left == ["a.csv", "c.csv", "d", "d/1.jpg", "d/mine.txt"]


def test_a_parent_that_cannot_be_listed(tmp_path, monkeypatch):
    """As the folder of all users often is, in which each has one."""
    target, listdir = tmp_path / "out", os.listdir
    target.mkdir()

    def refuse(folder="."):
        if Path(folder) == tmp_path:
            raise PermissionError(13, "Permission denied")
        return listdir(folder)

    with monkeypatch.context() as patch:
        patch.setattr(os, "listdir", refuse)
        with output_folder(target) as folder:
            (folder / "a").write_text("new")
    assert contents(tmp_path) == {"out/a": "new"}


def test_the_root_of_the_file_system(refuses):
    refuses(lambda: enter("/"), "must be a folder in another one", parameter="out")


def test_a_link_to_itself(tmp_path, refuses):
    (tmp_path / "out").symlink_to("out")

    def write():
        with output_folder(tmp_path / "out"):
            pass

    refuses(write, "out")


def test_folders_that_are_new_are_moved_in_one_step(tmp_path, monkeypatch):
    """They may have a picture of every image."""
    target, replace, moved = tmp_path / "out", Path.replace, []

    def noted(self, there):
        moved.append(there)
        return replace(self, there)

    (target / "old").mkdir(parents=True)
    monkeypatch.setattr(Path, "replace", noted)
    with output_folder(target, overwrite=True) as folder:
        for name in ("new/deep/a", "new/b", "old/c"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("new")
    assert moved == [target / "new", target / "old" / "c"]
    assert contents(target) == {"new/deep/a": "new", "new/b": "new", "old/c": "new"}
