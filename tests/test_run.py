"""The record of a run, and that every output of the program agrees with it."""

import csv
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from typer.testing import CliRunner

from enhg import (
    ElasticNetHypergraph,
    HypergraphClassifier,
    HypergraphClustering,
    InputError,
    KNNHypergraph,
    clustering_accuracy,
    load_model,
)
from enhg.cli.commands import app
from enhg.duplicates import DuplicateGroup
from enhg.io import Samples
from enhg.run import (
    add_duplicates,
    add_suggestions,
    fitted_structure,
    label_table,
    record_classification,
    record_clustering,
    record_prediction,
)

X, Y = load_digits(n_class=3, return_X_y=True)
X, Y = X[:150], Y[:150]
NAMES = [f"digit {i}" for i in range(150)]
GIVEN = np.where(np.arange(150) % 3 == 0, Y.astype(str), "")
GIVEN[0] = str((Y[0] + 1) % 3)  # one given label is wrong


@pytest.fixture(scope="module")
def samples(tmp_path_factory):
    return Samples(X, NAMES, (8, 8), Y, tmp_path_factory.mktemp("run") / "digits.npz")


@pytest.fixture(scope="module")
def structure():
    return FrozenEstimator(ElasticNetHypergraph().fit(X))


@pytest.fixture(scope="module")
def clustering(structure):
    return HypergraphClustering(3, structure=structure, random_state=0).fit(X)


@pytest.fixture(scope="module")
def classifier(structure):
    return HypergraphClassifier(structure=structure).fit(X, GIVEN)


def test_record_of_a_clustering(samples, clustering):
    run = record_clustering(samples, clustering)
    assert (run.kind, run.grouping) == ("cluster", "cluster")
    assert (run.input.n_samples, run.input.n_features, run.input.image_shape) == (150, 64, (8, 8))
    assert [group.size for group in run.groups] == np.bincount(clustering.labels_).tolist()
    assert run.scores.ac == clustering_accuracy(Y, clustering.labels_)
    assert (run.scores.accuracy, run.scores.n_scored) == (None, 150)
    assert run.estimate is run.spreading is run.suggestions is None
    graph = fitted_structure(clustering).graph_
    assert run.structure.n_hyperedges == graph.n_edges == 450
    assert run.structure.n_components == graph.connected_components()[0]
    assert run.samples.low_confidence.sum() == 8
    assert run.samples.low_confidence[clustering.confidence_.argmin()]
    assert run.median_confidence == np.median(clustering.confidence_)


def test_record_of_a_classification(samples, classifier):
    before = {name: value for name, value in vars(classifier).items() if name.endswith("_")}
    run = record_classification(samples, classifier)
    assert (run.kind, run.grouping) == ("classify", "class")
    assert run.spreading.n_given == (GIVEN != "").sum()
    assert run.spreading.n_disputed == len(classifier.disputed_indices_) >= 1
    assert run.samples.labels[0] == GIVEN[0]
    unlabeled = GIVEN == ""
    expected = np.mean((classifier.transduction_ == Y.astype(str))[unlabeled])
    assert run.scores.accuracy == expected
    assert run.scores.n_scored == unlabeled.sum()
    assert run.samples.low_confidence.sum() == 5
    assert not run.samples.low_confidence[~unlabeled].any()
    assert run.median_confidence == np.median(classifier.confidence_[unlabeled])
    after = vars(classifier)
    assert all(after[name] is value for name, value in before.items())  # nothing was assigned


def test_only_samples_with_a_true_label_are_scored(clustering):
    partly = Samples(X, NAMES, None, np.where(np.arange(150) < 60, Y, -1), NAMES[0])
    run = record_clustering(partly, clustering)
    assert run.scores.n_scored == 60
    assert run.scores.ac == clustering_accuracy(Y[:60], clustering.labels_[:60])
    without = Samples(X, NAMES, None, None, NAMES[0])
    assert record_clustering(without, clustering).scores is None


def test_record_of_a_prediction(samples, classifier):
    prediction = classifier.predict_with_scores(X)
    run = record_prediction(samples, classifier, prediction)
    assert run.scores.accuracy == np.mean(prediction.labels == Y.astype(str))
    assert sum(group.size for group in run.groups) == 150 - run.n_unreached
    assert list(label_table(run)) == ["name", "label", "confidence", "outlier"]
    padded = replace(samples, labels=np.char.zfill(Y.astype(str), 2))
    assert record_prediction(padded, classifier, prediction).scores == run.scores


def test_only_samples_without_a_label_are_unreached(samples, clustering):
    """A cluster need not be the one of the nearest center: its confidence can be 0."""
    prediction = clustering.predict_with_scores(X)
    prediction.labels[:3], prediction.confidence[:10] = -1, 0
    run = record_prediction(samples, clustering, prediction)
    assert run.n_unreached == 3
    assert run.samples.low_confidence[:10].tolist() == [False] * 3 + [True] * 7
    assert run.samples.low_confidence.sum() == 8


def test_suggestions(samples, clustering, classifier):
    run = add_suggestions(record_clustering(samples, clustering), clustering, 3)
    assert run.suggestions == tuple(NAMES[row] for row in clustering.suggest(3))
    run = record_classification(samples, classifier)
    with pytest.warns(UserWarning, match="are to be suggested: 100 in place of 101"):
        run = add_suggestions(run, classifier, 101)
    assert set(run.suggestions) == {NAMES[i] for i in np.flatnonzero(GIVEN == "")}


def test_label_table(samples, classifier):
    table = label_table(record_classification(samples, classifier))
    assert list(table) == [
        "name", "label", "confidence", "outlier", "boundary", "residual", "given",
    ]  # fmt: skip
    residuals = fitted_structure(classifier).relative_residuals_
    assert table["residual"] == [f"{value:.4f}" for value in residuals]
    assert table["given"] == ["yes" if label else "no" for label in GIVEN]


def test_other_structures_have_no_record(samples):
    model = HypergraphClustering(3, structure=KNNHypergraph(), random_state=0).fit(X)
    with pytest.raises(InputError, match="must be an ElasticNetHypergraph, got KNNHypergraph"):
        record_clustering(samples, model)


# --- one result in all outputs ---------------------------------------------------------------


def outputs(folder, command, *options):
    """Run the program; returns the table, the data of the report, the model and the JSON."""
    out = folder / "out"
    np.savez(folder / "digits.npz", X=X.reshape(-1, 8, 8), y=Y)
    words = [command, str(folder / "digits.npz"), "-o", str(out), "--json", *options]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, result.output
    with open(out / "labels.csv", newline="", encoding="utf-8-sig") as stream:
        rows = list(csv.DictReader(stream))
    table = {name: [row[name] for row in rows] for name in rows[0]}
    text = (out / "report.html").read_text(encoding="utf-8")
    data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])
    return table, data, load_model(out / "model.npz"), json.loads(result.stdout)


def assert_outputs_agree(table, data, model, figures, labels):
    structure = fitted_structure(model)
    expected = {
        "confidence": model.confidence_,
        "outlier": model.outlier_scores_,
        "boundary": model.boundary_scores_,
        "residual": structure.relative_residuals_,
    }
    assert table["name"] == data["samples"]["name"] == [str(i) for i in range(150)]
    groups = [data["groups"][group]["name"] for group in data["samples"]["group"]]
    assert table["label"] == groups == [str(label) for label in labels]
    for name, values in expected.items():
        assert table[name] == [f"{value:.4f}" for value in values], name
        assert data["samples"][name] == [float(text) for text in table[name]], name
    sizes = {group["name"]: group["count"] for group in data["groups"]}
    assert figures["sizes"] == sizes
    assert (figures["low_confidence"], figures["outliers"]) == (
        data["lowConfidence"], data["outliers"],
    )  # fmt: skip
    assert sum(data["samples"]["lowConfidence"]) == figures["low_confidence"]
    scores = {name.lower(): value for name, value in data["scores"]}
    assert scores == {name: figures[name] for name in ("ac", "nmi", "accuracy") if name in figures}


def test_outputs_of_cluster_agree(tmp_path):
    table, data, model, figures = outputs(tmp_path, "cluster", "-k", "3")
    assert_outputs_agree(table, data, model, figures, model.labels_)


def test_outputs_of_classify_agree_with_a_disputed_label(tmp_path):
    labels = tmp_path / "some.csv"
    labels.write_text("".join(f"{i},{label}\n" for i, label in enumerate(GIVEN) if label))
    table, data, model, figures = outputs(tmp_path, "classify", "--labels", str(labels))
    assert figures["disputed"] == len(model.disputed_indices_) >= 1
    assert table["label"][0] == GIVEN[0] != str(Y[0])
    assert_outputs_agree(table, data, model, figures, model.transduction_)
    given = ["yes" if label else "no" for label in GIVEN]
    assert table["given"] == given
    assert data["samples"]["given"] == [int(word == "yes") for word in given]


def test_images_that_are_like_another_are_not_unusual(samples, clustering, monkeypatch):
    run = record_clustering(samples, clustering)
    unusual = np.zeros(150, bool)
    unusual[[3, 5, 9]] = True
    run = replace(run, samples=replace(run.samples, is_outlier=unusual))
    group = DuplicateGroup((5, 7), (True, False), (1.0, 0.9))
    monkeypatch.setattr("enhg.run.find_duplicates", lambda photos, coefficients: [group])
    pictured = replace(samples, photos=object())
    changed = add_duplicates(run, pictured, None)
    assert np.flatnonzero(changed.samples.is_outlier).tolist() == [3, 9]
    assert changed.duplicates == (group,)
