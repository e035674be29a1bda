"""Tables as CSV files and as Markdown."""

import gzip
import time

import pytest

from experiments.tabular import markdown, mean_cells, read_csv, read_records, write_csv

HEADER, ROWS = ["name", "θ"], [["a, b", "0.5"], ['"quoted"', ""]]


@pytest.mark.parametrize("name", ["table.csv", "table.csv.gz"])
def test_tables_are_read_as_they_were_written(tmp_path, name):
    write_csv(tmp_path / name, HEADER, ROWS)
    assert read_csv(tmp_path / name) == (HEADER, ROWS)
    assert read_records(tmp_path / name)[0] == {"name": "a, b", "θ": "0.5"}


def test_compressed_files_have_no_time_stamp(tmp_path, monkeypatch):
    write_csv(tmp_path / "one.csv.gz", HEADER, ROWS)
    monkeypatch.setattr(time, "time", lambda: 2e9)
    write_csv(tmp_path / "two.csv.gz", HEADER, ROWS)
    assert (tmp_path / "one.csv.gz").read_bytes() == (tmp_path / "two.csv.gz").read_bytes()
    assert gzip.decompress((tmp_path / "one.csv.gz").read_bytes()).startswith("name,θ".encode())


def test_markdown_escapes_bars():
    assert markdown(["|z|"], [["a | b"]]) == "| \\|z\\| |\n| --- |\n| a \\| b |\n"


def test_cells_have_mean_and_deviation():
    columns = [[0.5, 0.7], [0.7, 0.7], [0.6996], []]
    assert mean_cells(columns) == ["0.60 ± 0.14", "**0.70** ± 0.00", "**0.70**", ""]
    assert mean_cells([[1.0]], mark_best=False) == ["1.00"]
