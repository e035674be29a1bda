"""Scores on folders of photographs, and their page."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from enhg import InputError
from experiments import baselines, copies, photos, photos_page, quality
from experiments.tabular import read_records


@pytest.fixture
def data(tmp_path, monkeypatch):
    """Two folders of red and blue pictures with a little noise; no optional packages."""
    monkeypatch.setattr(quality, "umap_embedding", lambda X, run: X[:, :10])
    monkeypatch.setattr(quality, "CLUSTERERS", {"k-means": baselines.CLUSTERERS["k-means"]})
    monkeypatch.setattr(
        quality, "CLASSIFIERS", {"nearest mean": baselines.CLASSIFIERS["nearest mean"]}
    )
    monkeypatch.setattr(photos, "FILE", tmp_path / "photos.csv")
    monkeypatch.setattr(photos, "RUNS", 2)
    rng = np.random.default_rng(0)
    for folder in ("b", "a"):
        for at, kind in enumerate(("blue", "red")):
            place = tmp_path / "data" / "photos" / folder / kind
            place.mkdir(parents=True)
            for number in range(12):
                pixels = rng.integers(0, 60, (16, 20, 3), dtype=np.uint8)
                pixels[..., 2 - 2 * at] += 150
                pixels[: 1 + number % 3] = rng.integers(0, 255, 3)
                Image.fromarray(pixels).save(place / f"{number}.png")
    return tmp_path / "data"


@pytest.mark.parametrize("features", photos.FEATURES)
def test_features_have_their_classes(data, features):
    X, y = photos.load(data / "photos" / "a", features)
    assert X.dtype == np.float32
    assert np.abs(X).max() == 1
    assert y.tolist() == [0] * 12 + [1] * 12


def test_scores_are_stored_and_shown(data, monkeypatch):
    monkeypatch.setattr(photos, "_READERS", dict.fromkeys(photos.FEATURES, photos._READERS["hog"]))
    steps = []
    photos.measure(data, lambda done, total: steps.append((done, total)))
    assert steps == [(done, 6) for done in range(1, 7)]
    rows = read_records(photos.FILE)
    assert {row["folder"] for row in rows} == {"a", "b"}
    scored = [row for row in rows if row["task"] == "clustering"]
    assert {row["run"] for row in scored} == {"0", "1"}
    others = [row for row in scored if row["features"] != photos.NETWORK]
    assert {row["method"] for row in others} == {quality.OURS}
    page = photos_page.page(photos.FILE, copies.FILE)
    assert "{" not in page
    for row in scored:
        assert f"| {row['folder']} |" in page
    own = [float(row["ac"]) for row in scored if row["folder"] == "a" and row in others[:2]]
    assert f"{np.mean(own):.2f}" in page


def test_data_without_photographs_are_refused(tmp_path):
    with pytest.raises(InputError, match="must hold a folder photos"):
        photos.folders(tmp_path)
