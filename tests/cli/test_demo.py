"""The command `demo`."""

from __future__ import annotations

import os
import sys

import numpy as np
import pytest
from PIL import Image


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory, run):
    out = tmp_path_factory.mktemp("demo") / "out"
    return run("demo", "-o", out, "--seed", 0), out


def test_demo(demonstration):
    result, out = demonstration
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    text = result.stdout
    assert all(f"{stage} " in text for stage in ("compile", "represent", "cluster", "classify"))
    assert float(text.split("AC ")[1][:5]) > 0.9
    assert float(text.split("NMI ")[1][:5]) > 0.85
    assert float(text.split("accuracy ")[1][:5]) > 0.93
    assert "enhg cluster --help" in text
    assert all(name in text for name in os.listdir(out))


def test_demo_without_matplotlib_ends_before_it_computes(tmp_path, fails, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)  # cannot be imported
    message = fails("demo", "-o", tmp_path / "out")
    assert "pip install 'matplotlib" in message
    assert "represent" not in run("demo", "-o", tmp_path / "out").stdout
    assert os.listdir(tmp_path) == []


def test_demo_writes_pictures_and_labels(demonstration, table):
    _, out = demonstration
    pictures = {"clusters.png", "embedding.png", "confusion.png", "hyperedges.png"}
    assert set(os.listdir(out)) == pictures | {"labels.csv", "hypergraph.npz", "report.html"}
    for name in pictures:
        with Image.open(out / name) as image:
            assert min(image.size) > 500
    rows = table(out / "labels.csv")
    assert len(rows) == 1797
    per_class = np.bincount([int(row["truth"]) for row in rows if row["given"] == "yes"])
    assert per_class.min() >= 8
    assert per_class.max() <= 10
