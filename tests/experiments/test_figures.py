"""The figures, on the faces of Extended Yale B where they are available."""

import pytest

from experiments import figures
from experiments.cells import Cells
from experiments.pages import REPRODUCTION
from experiments.tabular import read_csv


@pytest.mark.parametrize("name", ["affinity", "paths", "coefficients", "robustness", "recovery"])
def test_figures_of_single_samples_have_the_stored_numbers(name, data_folder, tmp_path):
    name = f"figure-{name}"
    figures.FIGURES[name](data_folder, tmp_path, Cells(tmp_path / "cells.csv"), 1)
    assert all(file.stat().st_size > 10_000 for file in tmp_path.glob("*.png"))
    assert list(tmp_path.glob("*.png"))
    header, rows = read_csv(tmp_path / f"{name}.csv")
    stored_header, stored = read_csv(REPRODUCTION / f"{name}.csv")
    assert header == stored_header
    assert [row[0] for row in rows] == [row[0] for row in stored]
    for row, expected in zip(rows, stored, strict=True):
        assert row[:-1] == expected[:-1]
        assert float(row[-1]) == pytest.approx(float(expected[-1]), rel=1e-3, abs=2e-3)
