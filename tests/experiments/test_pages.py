"""The generated pages."""

import re
from dataclasses import replace

import pytest

import enhg
from enhg import InputError
from experiments import pages, protocol, quality, reproduction_page, tables
from experiments.methods import METHODS
from experiments.paths import TEMPLATES
from experiments.reproduction_page import page
from experiments.tabular import MARK, write_csv


def run_folder(folder, gain=0.0):
    """Write the files of a full run with the paper's scores, those of ENHG higher by `gain`."""
    paper = tables.paper_numbers()
    for name, table in tables.TABLES.items():
        rows = {
            tables.row_name(draw, table.task, share)
            for draw in table.draws
            for share in (0, *protocol.SHARES)
        }
        cells = [
            tables.Cell(
                setting, row, metric, method, number + gain * (method == "ENHG"), 0.01, 10, 1.0,
                0, number,
            )
            for setting in tables.SETTINGS
            for (row, metric, method), number in paper.items()
            if row in rows and (setting != "default" or method == tables.OURS)
        ]  # fmt: skip
        tables.write_cells(folder / f"{name}.csv", cells)
    template = (TEMPLATES / "reproduction.md").read_text(encoding="utf-8")
    for piece, _ in MARK.findall(template):
        if piece.startswith("claims-"):
            write_csv(folder / f"{piece}.csv", [f"table of {piece}"], [])
        if piece.endswith("-png"):
            (folder / f"{piece.removesuffix('-png')}.png").touch()
    for name, rows in ANALYSES.items():
        write_csv(folder / f"{name}.csv", *rows)
    return folder


VERSION = re.compile("Matplotlib v[^,]*")  # drawings differ slightly between versions
ANALYSES = {
    "claims-choices": (
        ["change", "Extended Yale B, K = 10", "USPS, K = 10"],
        [["none", "0.9 / 0.9", "0.9 / 0.9"], ["all", "0.25 / 0.1", "0.6 / 0.6"]],
    ),
    "claims-independent": (
        ["PIE", "AC", "NMI"],
        [["SSC, other", "0.3", "0.4"], ["LRR, other", "0.35", "0.3"], ["SSC, enhg", "0.5", "0.5"]],
    ),
    "figure-affinity": (["model", "entries", "share"], [["LASSO", "180", "0.456"]]),
}


def test_the_page_is_made_from_the_files(tmp_path):
    text = page(run_folder(tmp_path), tmp_path)
    assert "{{" not in text
    assert "| table of claims-usps |" in text
    alternative = "Coefficients along the paths of the lasso and of the elastic net"
    assert f"![{alternative}]({tmp_path.name}/figure-paths.png)" in text
    assert "<details><summary>Accuracy on PIE</summary>\n\n| table of claims-pie |" in text
    assert "- 40 of 40 cells, and one within 0.01 of the best in 40, if all are tuned" in text
    assert "| lasso | 180 | 46% |" in text


def test_the_text_states_numbers_of_the_analyses(tmp_path):
    statements = reproduction_page._analysis_statements(run_folder(tmp_path))
    assert statements["choices-here"] == "0.250 to 0.250"
    assert statements["choices-paper"] == "0.928 to 0.928"
    assert (statements["independent-best"], statements["package-best"]) == ("0.350", "0.500")


def test_the_page_counts_cells(tmp_path):
    text = page(run_folder(tmp_path, gain=-0.1), tmp_path)
    assert "| PIE, K = 15 | AC | 0.821 | 0.721 | 0.721 | 0.721 | 0.721 |" in text
    gaps = "0 of 4 (−0.100 to −0.100)"
    assert f"| PIE, clustering | {gaps} | {gaps} | {gaps} | {gaps} |" in text
    assert "−0.100 to −0.100" in text


def test_the_cells_that_reach_the_paper_are_listed():
    def cell(setting, row, method, mean):
        return tables.Cell(setting, row, "ac", method, mean, 0.0, 1, 1.0, 0, 0.8)

    cells = [
        cell("paper", "PIE, K = 15", "ENHG", 0.81),
        cell("paper", "PIE, K = 25", "ENHG", 0.79),
        cell("shared", "PIE, K = 25", "ENHG", 0.9),
        cell("paper", "PIE, K = 25", "SSC", 0.9),
    ]
    assert reproduction_page._reached_cells(cells) == (
        "1 of 2 cells (PIE, K = 15, AC: 0.810 (0.800))"
    )
    assert reproduction_page._reached_cells(cells[1:]) == "none of 1 cells"
    near = [*cells, cell("paper", "PIE, K = 15", "SSC", 0.82)]
    texts = [reproduction_page._best(own, "paper") for own in (cells, near)]
    assert texts == [
        f"{count} of 2 cells, and one within 0.01 of the best in 1" for count in (1, 0)
    ]


@pytest.mark.parametrize("setting", ["shared", "paper"])
def test_the_settings_are_python(setting):
    for line in reproduction_page._settings(setting).splitlines()[2:]:
        method, call, clustering, classification = line.strip("| ").split(" | ")
        structure = eval(call.strip("`"), vars(enhg).copy())
        assert isinstance(structure, METHODS[method].structure)
        for text in (clustering, classification):
            assert len(eval(f"dict({text.strip('`')})")) >= (2 if setting == "paper" else 1)


def test_the_page_needs_every_file(tmp_path):
    with pytest.raises(InputError, match=r"must hold every table.*, got no table1.csv"):
        page(tmp_path, tmp_path)
    cells = tables.read_cells(run_folder(tmp_path) / "table4.csv")
    tables.write_cells(tmp_path / "table4.csv", [c for c in cells if c.setting != "paper"])
    with pytest.raises(InputError, match=r"table4.csv must have every setting, got no paper"):
        page(tmp_path, tmp_path)
    (run_folder(tmp_path) / "claims-pie.csv").unlink()
    with pytest.raises(InputError, match="got no claims-pie"):
        page(tmp_path, tmp_path)


def test_the_pages_in_the_repository_are_those_of_the_stored_results():
    texts = pages.stored_pages()
    names = ["reproduction.md", "practice.md", "photos.md", "labeling.md"]
    names += ["quality.md", "which_tool.md"] * quality.is_complete()
    assert [file.name for file in texts] == names
    for file, text in texts.items():
        assert file.read_text(encoding="utf-8") == text


def test_the_charts_in_the_repository_are_those_of_the_stored_results(tmp_path):
    charts = pages.stored_charts()
    assert {file.stem for file in charts} == {file.stem for file in pages.stored_pages()}
    for file, chart in charts.items():
        chart.write(tmp_path / file.name)
        made, kept = ((folder / file.name).read_text() for folder in (tmp_path, file.parent))
        assert len(kept) < 150_000
        if VERSION.search(made)[0] == VERSION.search(kept)[0]:
            assert made == kept


def test_a_chart_has_the_differences_from_the_paper(tmp_path):
    ((_, panel),) = reproduction_page.chart(run_folder(tmp_path, gain=-0.1)).panels.items()
    assert panel.rows["PIE, clustering"]["default"] == pytest.approx([-0.1] * 4)
    assert panel.line == 0


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(InputError, match="OUT must be a folder of a run of reproduce"):
        pages.store(tmp_path)


def test_a_run_is_stored(tmp_path, monkeypatch):
    run, results, pictures = tmp_path / "run", tmp_path / "results", tmp_path / "pictures"
    for folder in (run, results, pictures):
        folder.mkdir()
    monkeypatch.setattr(pages, "REPRODUCTION", results)
    monkeypatch.setattr(pages, "_PICTURES", pictures)
    (run_folder(run) / "cells.csv").touch()
    pages.store(run)
    assert (results / "table1.csv").read_bytes() == (run / "table1.csv").read_bytes()
    assert not (results / "cells.csv").exists()
    assert (pictures / "table1.png").exists()
    assert page(results, pictures) == page(run, run).replace("](run/", "](pictures/")


def test_a_run_of_one_setting_keeps_the_others(tmp_path, monkeypatch):
    run, stored = tmp_path / "run", tmp_path / "stored"
    run.mkdir()
    stored.mkdir()
    monkeypatch.setattr(pages, "REPRODUCTION", stored)
    monkeypatch.setattr(pages, "_PICTURES", stored)
    run_folder(stored)
    before = tables.read_cells(stored / "table2.csv")
    made = [cell for cell in before if cell.setting == "paper"]
    (run / "cells.csv").touch()
    tables.write_cells(run / "table2.csv", [replace(cell, mean=0.125) for cell in made])
    others = {name: (stored / f"{name}.csv").read_text() for name in ("table1", "claims-pie")}
    pages.store(run)
    merged = tables.read_cells(stored / "table2.csv")
    assert len(merged) == len(before)
    assert all((cell.mean == 0.125) == (cell.setting == "paper") for cell in merged)
    for name, text in others.items():
        assert (stored / f"{name}.csv").read_text() == text


def test_a_run_that_does_not_complete_the_page_is_not_stored(tmp_path, monkeypatch):
    stored = tmp_path / "stored"
    stored.mkdir()
    monkeypatch.setattr(pages, "REPRODUCTION", stored)
    monkeypatch.setattr(pages, "_PICTURES", stored)
    (run_folder(tmp_path) / "table3.csv").unlink()
    (tmp_path / "cells.csv").touch()
    with pytest.raises(InputError, match=r"got no table3.csv"):
        pages.store(tmp_path)
    assert not list(stored.iterdir())
