"""The paper's tables from the scores of single runs."""

from itertools import product

from experiments import tables
from experiments.cells import Cells, run_jobs
from experiments.methods import METHODS
from experiments.protocol import SHARES, Draw


def test_a_table_shows_the_papers_numbers(small, tmp_path, monkeypatch):
    cells = Cells(tmp_path / "cells.csv")
    table = tables.Table("small", "clustering", (Draw("usps", 4, 30),))
    monkeypatch.setitem(tables.TABLES, "small", table)
    run_jobs(tables.jobs("small", 2), tmp_path, cells, n_jobs=1)
    made = tables.make("small", cells, 2)
    by_place = {(c.setting, c.metric, c.method): c for c in made}
    compared = product(("shared", "tuned", "paper"), ("ac", "nmi"), METHODS)
    assert set(by_place) == {*compared, ("default", "ac", "ENHG"), ("default", "nmi", "ENHG")}
    assert by_place["shared", "ac", "ENHG"].paper == 0.996  # table III, K = 4
    assert all(cell.runs == 2 for cell in made)
    text = tables.as_markdown("small", made)
    lines = [line for line in text.splitlines() if line.startswith("| USPS, K = 4 | AC")]
    assert len(lines) == 4
    assert "**" not in lines[0]  # the defaults are not compared with other structures
    best = max(round(c.mean, 3) for c in made if c.setting == "shared" and c.metric == "ac")
    assert f"**{best:.3f}**" in lines[1]
    assert all("(0.996)" in line for line in lines)
    tables.write("small", tmp_path, cells, 2)
    assert (tmp_path / "small.png").stat().st_size > 10_000
    assert (tmp_path / "small.md").read_text() == text
    assert [c.method for c in tables.read_cells(tmp_path / "small.csv")] == [c.method for c in made]


def test_a_table_of_one_setting(small, tmp_path, monkeypatch):
    cells = Cells(tmp_path / "cells.csv")
    table = tables.Table("small", "classification", (Draw("usps", 4, 20),))
    monkeypatch.setitem(tables.TABLES, "small", table)
    run_jobs(tables.jobs("small", 1, ["paper"]), tmp_path, cells, n_jobs=1)
    tables.write("small", tmp_path, cells, 1)
    made = tables.read_cells(tmp_path / "small.csv")
    assert {cell.setting for cell in made} == {"paper"}
    assert len(made) == len(METHODS) * len(SHARES)
    assert not (tmp_path / "small.png").exists()
    assert "<summary>As in the paper: one setting" in (tmp_path / "small.md").read_text()


def test_cells_that_are_made_anew_replace_the_stored_ones():
    def cells(mean, *settings, row="PIE, K = 15"):
        return [tables.Cell(s, row, "ac", "ENHG", mean, 0, 1, 1, 0, None) for s in settings]

    stored = [*cells(0.5, "shared", "paper"), *cells(0.6, "paper", row="PIE, K = 25")]
    merged = tables.merge(stored, cells(0.7, "tuned", "paper"))
    assert [(cell.setting, cell.row[-2:], cell.mean) for cell in merged] == [
        ("shared", "15", 0.5), ("tuned", "15", 0.7), ("paper", "15", 0.7), ("paper", "25", 0.6)
    ]  # fmt: skip


def test_every_number_of_the_paper_is_used():
    numbers = tables.paper_numbers()
    rows = {
        tables.row_name(draw, table.task, share)
        for name, table in tables.TABLES.items()
        for draw in table.draws
        for share in (SHARES if name == "table4" else (0.0,))
    }
    assert {row for row, _, _ in numbers} == rows
    assert {method for _, _, method in numbers} <= set(METHODS)
    assert len(numbers) == (5 + 2 + 4) * 2 * 9 + 18 * 7


def test_cells_are_read_as_they_were_written(tmp_path):
    cells = [
        tables.Cell("shared", "PIE, K = 15", "ac", "ENHG", 0.5, 0.25, 2, 1.5, 1, 0.821),
        tables.Cell("tuned", "PIE, K = 15", "ac", "SSC", 0.75, 0.0, 1, 0.5, 0, None),
    ]
    tables.write_cells(tmp_path / "table.csv", cells)
    assert tables.read_cells(tmp_path / "table.csv") == cells
