"""Files with the labels of a session."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from digit_labels import NAMES, TRUTH, N, act, name_clusters
from sklearn.frozen import FrozenEstimator

from enhg import ElasticNetHypergraph, HypergraphClustering, load_model
from enhg.exceptions import InputError
from enhg.io import read_labels
from enhg.io._base import Photos, Samples
from enhg.labeling.export import Exporter
from enhg.labeling.session import LabelingSession


@pytest.fixture
def exporter(session, samples, tmp_path):
    return Exporter(session, samples, tmp_path)


def table(path):
    with path.open(encoding="utf-8-sig", newline="") as stream:
        return list(csv.DictReader(stream))


def test_tables(session, exporter, tmp_path):
    act(session, "name", range(30), '=cmd, "x"')
    act(session, "name", range(30, 60), "é")
    act(session, "mark", [60], "none of these")
    assert exporter.write_tables() == ["labels.csv", "labels.jsonl", "answers.csv"]
    rows = table(tmp_path / "labels.csv")
    assert [row["name"] for row in rows] == NAMES
    assert rows[0]["label"] == '\'=cmd, "x"'  # which a spreadsheet does not run
    assert {row["decided"] for row in rows[:61]} == {"person"}
    assert {row["decided"] for row in rows[61:]} == {"model"}
    assert (rows[60]["label"], rows[60]["mark"]) == ("", "none of these")
    lines = [json.loads(line) for line in (tmp_path / "labels.jsonl").read_text().splitlines()]
    assert [line["label"] for line in lines[:60]] == ['=cmd, "x"'] * 30 + ["é"] * 30
    assert all(0 <= line["confidence"] <= 1 for line in lines)


def test_answers_are_what_classify_takes(session, exporter, tmp_path):
    act(session, "name", [3, 5], "a")
    act(session, "name", [7], "b")
    exporter.write_tables()
    labels = read_labels(tmp_path / "answers.csv", NAMES)
    assert dict(zip(np.flatnonzero(labels != ""), labels[labels != ""], strict=True)) == {
        3: "a", 5: "a", 7: "b",
    }  # fmt: skip


def test_classifier_is_what_predict_takes(session, exporter, samples, tmp_path):
    with pytest.raises(InputError, match="two classes"):
        exporter.write_classifier()
    name_clusters(session)
    exporter.write_classifier()
    loaded = load_model(tmp_path / "classifier.npz")
    assert (loaded.predict(samples.X[:50]) == TRUTH[:50]).mean() > 0.9
    exporter.write_classifier()  # again


def test_folders_are_new_and_originals_stay(session, samples, tmp_path):
    originals = tmp_path / "originals"
    originals.mkdir()
    files = [originals / name for name in NAMES]
    for file in files:
        file.write_bytes(b"image")
    photos = Photos(files, [b""] * N, [""] * N, [(8, 8)] * N)
    out = tmp_path / "out"
    exporter = Exporter(session, Samples(samples.X, NAMES, None, None, originals, photos), out)
    act(session, "name", range(200), "../up")
    act(session, "name", range(200, N), "b")
    assert exporter.write_folders("links") == ("folders", 0)
    assert exporter.write_folders("copies") == ("folders-2", 0)
    for name in ("folders", "folders-2"):
        inside = [path for path in (out / name).iterdir() if path.is_dir()]
        assert sorted(len(list(path.iterdir())) for path in inside) == [200, 200]
    assert all(file.read_bytes() == b"image" for file in files)
    assert not (tmp_path / "up").exists()
    files[3].unlink()
    assert exporter.write_folders("links") == ("folders-3", 1)
    assert all(path.exists() for path in (out / "folders-3").rglob("*"))  # no link to nothing


def test_folders_appear_whole_or_not_at_all(session, samples, tmp_path, monkeypatch):
    file = tmp_path / "a.png"
    file.write_bytes(b"image")
    photos = Photos([file] * N, [b""] * N, [""] * N, [(8, 8)] * N)
    out = tmp_path / "out"
    exporter = Exporter(session, Samples(samples.X, NAMES, None, None, tmp_path, photos), out)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("shutil.copy2", full)
    with pytest.raises(InputError, match="No space"):
        exporter.write_folders("copies")
    assert not out.exists() or not list(out.iterdir())


def test_folders_of_samples_in_a_file_are_refused(exporter):
    with pytest.raises(InputError, match="image files"):
        exporter.write_folders("links")


def test_accepted_predictions_are_not_answers(session, exporter, tmp_path):
    act(session, "name", session.cores[0], "a")
    act(session, "name", session.cores[1], "b")
    codes = session.snapshot.predictions.codes
    rows = np.flatnonzero((codes >= 0) & ~session.answers.settled)[:5]
    names = tuple(session.answers.classes[code] for code in codes[rows])
    act(session, "accept", rows, predicted=names, origin="predictions")
    exporter.write_tables()
    decided = [row["decided"] for row in table(tmp_path / "labels.csv")]
    assert [decided[row] for row in rows] == ["accepted"] * 5
    answers = {row["name"] for row in table(tmp_path / "answers.csv")}
    assert not answers & {NAMES[row] for row in rows}


def test_a_clustering_of_the_program_is_exported(samples, tmp_path):
    """Whose structure was fitted before."""
    structure = ElasticNetHypergraph().fit(samples.X)
    model = HypergraphClustering(10, structure=FrozenEstimator(structure), random_state=0)
    session = LabelingSession(model.fit(samples.X), NAMES, tmp_path)
    name_clusters(session)
    Exporter(session, samples, tmp_path).write_classifier()
    session.close()
    predicted = load_model(tmp_path / "classifier.npz").predict(samples.X[:100])
    assert (predicted == TRUTH[:100]).mean() > 0.85
