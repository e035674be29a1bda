"""Made copies in folders of images, and what is counted of them."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_sample_images

from experiments import copies
from experiments.tabular import read_records


def photographs(data):
    """Parts of a photograph of houses that do not overlap."""
    houses = Image.fromarray(load_sample_images().images[0])
    return [houses.crop((x, y, x + 160, y + 120)) for x in (0, 160, 320, 480) for y in (150, 280)]


@pytest.fixture
def measured(tmp_path, monkeypatch):
    monkeypatch.setattr(copies, "FILE", tmp_path / "copies.csv")
    monkeypatch.setattr(copies, "SAMPLE", 4)
    twice = copies.Folder("twice", lambda data: 2 * photographs(data)[:3], per_object=6)
    monkeypatch.setattr(copies, "FOLDERS", (copies.Folder("houses", photographs), twice))
    steps = []
    copies.measure(tmp_path, lambda done, total: steps.append((done, total)))
    assert steps == [(1, 2), (2, 2)]
    return {(row["folder"], row["pairs"]): row for row in read_records(copies.FILE)}


def test_copies_are_counted(measured):
    for change in copies.CHANGES:
        row = measured["houses", change]
        assert (row["images"], row["number"]) == ("8", "4")
        assert int(row["reported"]) >= (3 if change.startswith("cropped, brighter") else 4)
        assert 0.8 < float(row["similarity"]) <= 1
    different = measured["houses", copies.DIFFERENT]
    assert different["reported"] == "0"
    assert float(different["similarity"]) < 0.8


def test_copies_that_a_folder_has_are_counted_apart(measured):
    assert int(measured["twice", copies.OWN]["reported"]) >= 3
    assert ("twice", copies.DIFFERENT) not in measured


def test_leaves_differ():
    leaves = [np.asarray(leaf) for leaf in copies.leaves(24)]
    assert {leaf.shape for leaf in leaves} == {(320, 240, 3)}
    for leaf in leaves:
        assert (leaf[:2] == 255).all()  # on white
        assert 0.05 < (leaf < 250).any(axis=2).mean() < 0.8
    same_kind = [np.abs(leaves[i].astype(int) - leaves[i + 12]).mean() for i in range(12)]
    assert min(same_kind) > 1


@pytest.mark.parametrize("folder", copies.FOLDERS, ids=lambda folder: folder.name)
def test_images_of_folders(folder, data_folder):
    images = folder.images(data_folder)
    assert len(images) % folder.per_object == 0
    assert len({image.tobytes() for image in images}) > 0.9 * len(images)
