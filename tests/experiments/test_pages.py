"""The generated pages."""

import re

import pytest

from enhg import InputError
from experiments import pages, protocol, tables
from experiments.paths import TEMPLATES
from experiments.tabular import write_csv


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
            if row in rows
        ]  # fmt: skip
        tables.write_cells(folder / f"{name}.csv", cells)
    template = (TEMPLATES / "reproduction.md").read_text(encoding="utf-8")
    for piece in pages._PIECE.findall(template):
        if piece.startswith("claims-"):
            write_csv(folder / f"{piece}.csv", [f"table of {piece}"], [])
        if piece.endswith("-png"):
            (folder / f"{piece.removesuffix('-png')}.png").touch()
    return folder


def test_the_page_is_made_from_the_files(tmp_path):
    text = pages.page(run_folder(tmp_path), tmp_path)
    assert "{{" not in text
    assert "| table of claims-usps |" in text
    assert f"![figure-paths]({tmp_path.name}/figure-paths.png)" in text
    assert "PIE, 10% labeled | accuracy | shared | 0.883 | 0.883 | yes" in text
    # Table I of the paper: ENHG is below its targets here, which are higher.
    assert "Extended Yale B, K = 10 | AC | shared | 0.950 | 0.928 | **no**, -0.022" in text
    assert "| Clustering of Extended Yale B | 10, 10 of 10 (100%) | 10, 10 of 10 (100%) |" in text


def test_the_page_counts_cells(tmp_path):
    text = pages.page(run_folder(tmp_path, gain=-0.1), tmp_path)
    assert "| Clustering of PIE | 0, 0 of 4 (0%) | 0, 0 of 4 (0%) |" in text
    assert re.search(r"\| all tables \| cells within 0.01 \| shared \| 80% \| \d+% \| \*\*no", text)
    assert "K = 15: -0.100, K = 25: -0.100" in text


def test_the_page_needs_every_file(tmp_path):
    with pytest.raises(InputError, match=r"must hold every table.*, got no table1.csv"):
        pages.page(tmp_path, tmp_path)
    (run_folder(tmp_path) / "claims-pie.csv").unlink()
    with pytest.raises(InputError, match="got no claims-pie"):
        pages.page(tmp_path, tmp_path)


def test_the_pages_in_the_repository_are_those_of_the_stored_results():
    texts = pages.stored_pages()
    assert [file.name for file in texts] == ["reproduction.md", "defaults.md", "practice.md"]
    for file, text in texts.items():
        assert file.read_text(encoding="utf-8") == text


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
    assert pages.page(results, pictures) == pages.page(run, run).replace("](run/", "](pictures/")
