"""A small data set in place of the paper's."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from enhg.datasets import Dataset
from experiments import claims, figures, protocol, reproduce
from experiments.protocol import Draw, Job, to_json

SETTING = to_json({"n_neighbors": 4})


@pytest.fixture
def small(monkeypatch):
    """Digits 0 to 3 under the name of every data set."""
    digits = load_digits(n_class=4)
    data = Dataset("small", digits.data[:160].astype(np.float32), digits.target[:160], (8, 8))
    monkeypatch.setattr(protocol, "load_dataset", lambda name, folder: data)
    return data


@pytest.fixture
def one_process(monkeypatch):
    """Keep all work in this process: others would load the real data sets."""
    monkeypatch.setattr("experiments.cells.cpu_count", lambda: 1)
    monkeypatch.setattr(claims, "cpu_count", lambda: 1)


@pytest.fixture
def small_draws(small, one_process, monkeypatch):
    """Small draws in place of the paper's."""
    monkeypatch.setattr(claims, "_DRAWS", (Draw("yale-b", 3), Draw("usps", 4, 20)))
    monkeypatch.setattr(claims, "_DIGITS", (Draw("usps", 4, 20), Draw("usps", 4)))
    monkeypatch.setattr(claims, "_FACES", Draw("pie", 3, 20))
    monkeypatch.setattr(claims, "_RANKS", (3, 6))
    monkeypatch.setattr(claims, "_PREPROCESSED", (Draw("yale-b", 3), Draw("usps", 4, 20)))
    curve = (Draw("yale-b", 3, corrupted=0.25), [(5, 1), (5, 10), (20, 1), (20, 10)])
    monkeypatch.setattr(figures, "_CURVES", {"figure-lambda": curve, "figure-gamma": curve})
    monkeypatch.setattr(reproduce, "load_dataset", lambda name, folder: small)


@pytest.fixture
def clustering_job():
    """Make a job that clusters three digits."""

    def make(draw=None, runs=(0, 1)):
        return Job("clustering", draw or Draw("usps", 3), "KNN-HG", SETTING, (to_json({}),), runs)

    return make


@pytest.fixture
def classification_job():
    """A job that classifies three digits, with two shares of labels."""
    draw, learners = Draw("usps", 3, 20), (to_json({}),)
    return Job("classification", draw, "KNN-HG", SETTING, learners, (0,), (0.1, 0.5))
