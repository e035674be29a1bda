"""The page of a labeling session in a browser, labeling digits as a person would."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from person import Person, Server
from sklearn.datasets import load_digits

pytest.importorskip("starlette", reason="needs starlette")
pytest.importorskip("uvicorn", reason="needs uvicorn")

TRUTH = load_digits().target.astype(str)
ACTIONS = 30


@pytest.fixture
def server(tmp_path):
    np.savez(tmp_path / "digits.npz", X=load_digits().images.astype(np.uint8))
    server = Server(tmp_path / "digits.npz", tmp_path / "out")
    yield server
    server.kill()


@pytest.fixture
def person(browser, server):
    """A person at the page; in the end nothing may be in the console."""
    yield Person(browser, TRUTH)
    browser.get("about:blank")  # before the server ends
    assert browser.get_log("browser") == []


@pytest.fixture
def keys():
    return pytest.importorskip("selenium.webdriver.common.keys").Keys


def accuracy(path):
    with path.open(encoding="utf-8", newline="") as stream:
        labels = np.array([row["label"] for row in csv.DictReader(stream)])
    return (labels == TRUTH).mean()


def test_digits_are_labeled_in_a_few_actions(person, browser, server, keys, tmp_path):
    person.open(server.address)
    assert "No classes yet" in person.text("#classes")
    for _ in range(12):
        person.answer()
    before = person.counts
    person.answer()
    person.chord(keys.CONTROL, "z")
    person.ready()
    assert person.counts == before
    person.chord(keys.CONTROL, keys.SHIFT, "z")
    person.ready()
    assert sum(person.counts.values()) == 13

    person.view("clusters")
    for cluster in range(5):
        person.name_cluster(cluster)
    named = person.counts
    person.open(server.address + "#clusters")
    assert person.counts == named
    assert browser.get_log("browser") == []

    server.kill()
    person.until("return !document.getElementById('trouble').hidden")
    assert "No confirmed action is lost" in person.text("#trouble")
    browser.get("about:blank")
    browser.get_log("browser")  # the requests without an answer
    server.start()
    person.open(server.address + "#clusters")
    assert person.counts == named
    for cluster in range(5, 10):
        person.name_cluster(cluster)
    person.view("questions")
    while person.actions < ACTIONS:
        person.answer()

    person.find("#open-export").click()
    person.find(".export .solid").click()
    person.until("return document.querySelector('.export .files') !== null", seconds=60)
    assert "labels.csv" in person.text(".export .files")
    assert accuracy(tmp_path / "out" / "labels.csv") >= 0.95
