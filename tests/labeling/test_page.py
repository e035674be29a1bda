"""The page of a labeling session in a browser, labeling digits as a person would."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from person import Person, Server
from sklearn.datasets import load_digits

from enhg.demo import make_photos

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
    assert person.text(".sheet h3") == "Cluster 0"  # as in labels.csv
    person.view("questions")
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


@pytest.fixture
def mislabeled(tmp_path):
    """Photographs, of which two have a copy with another label."""
    classes = make_photos(tmp_path / "photos", 0)
    pairs = [[name for name in classes if classes[name] == kind][:2] for kind in ("cat", "temple")]
    labels = classes | {pair[0]: "rocket" for pair in pairs}
    lines = ["name,label", *(f"{name},{label}" for name, label in labels.items())]
    (tmp_path / "labels.csv").write_text("\n".join(lines))
    words = ("--labels", tmp_path / "labels.csv", "--features", "pixels")
    server = Server(tmp_path / "photos", tmp_path / "out", *words)
    yield server, pairs
    server.kill()


def test_copies_are_listed_by_themselves_until_their_labels_agree(browser, keys, mislabeled):
    server, pairs = mislabeled
    person = Person(browser, None)
    person.open(server.address)
    assert person.js("return current") == "clusters"
    person.until("return steps.copies === 2")
    person.view("contradictions")
    listed = person.js("return steps.linked.slice(0, 2).map((sides) => sides.flat())")
    names = person.js("return content.names")
    assert {frozenset(names[row] for row in rows) for rows in listed} == set(map(frozenset, pairs))
    assert int(person.find(".contradiction").get_attribute("data-contradicted")) in listed[0]
    labels = "return arguments[0].map((row) => state.classes[state.labels[row]])"
    for key, different in (("y", 1), ("k", 2)):  # label both alike; keep different labels
        rows = listed.pop(0)
        person.press(key)
        person.until("return steps.copies === arguments[0]", len(listed))
        assert len(set(person.js(labels, rows))) == different
    person.chord(keys.CONTROL, "z")
    person.until("return steps.copies === 1")
    browser.get("about:blank")  # before the server ends
    assert browser.get_log("browser") == []
