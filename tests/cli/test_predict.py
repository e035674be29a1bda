"""The command `predict`."""

from __future__ import annotations

import json
import shutil

import numpy as np
from sklearn.datasets import load_digits

X, Y = load_digits(n_class=3, return_X_y=True)
X, Y = X[:90].astype(np.uint8), Y[:90]


def test_predict(tmp_path, digits, some_labels, run, table):
    np.savez(tmp_path / "new.npz", X=X.reshape(-1, 8, 8), y=Y)
    run("cluster", digits, "-k", 3, "-o", tmp_path / "a")
    fitted = table(tmp_path / "a" / "labels.csv")
    result = run("predict", tmp_path / "a/model.npz", tmp_path / "new.npz", "-o", tmp_path / "b")
    assert result.exit_code == 0, result.output
    rows = table(tmp_path / "b" / "labels.csv")
    assert list(rows[0]) == ["name", "label", "confidence", "outlier"]
    same = [one["label"] == two["label"] for one, two in zip(fitted, rows, strict=True)]
    assert np.mean(same) > 0.95
    assert float(result.stdout.split("AC ")[1][:5]) > 0.9

    run("classify", digits, "--labels", some_labels, "-o", tmp_path / "c")
    result = run(
        "predict", tmp_path / "c/model.npz", tmp_path / "new.npz", "-o", tmp_path / "d", "--json"
    )
    figures = json.loads(result.stdout)
    assert figures["accuracy"] > 0.9
    assert sum(figures["sizes"].values()) == 90


def test_images_are_resized_to_those_of_the_model(tmp_path, photos, run, table):
    run("cluster", photos, "-k", 3, "-o", tmp_path / "a", "--size", "6x5")
    result = run("predict", tmp_path / "a/model.npz", photos, "-o", tmp_path / "b")
    assert result.exit_code == 0, result.output
    labels = [[row["label"] for row in table(tmp_path / name / "labels.csv")] for name in "ab"]
    assert np.mean(np.array(labels[0]) == labels[1]) > 0.95


def test_the_report_shows_similar_images_of_the_model(tmp_path, photos, run, page_data):
    run("cluster", photos, "-k", 3, "-o", tmp_path / "a")
    new = tmp_path / "new"
    new.mkdir()
    for i in (7, 40):
        shutil.copy(photos / f"{i}.png", new / f"copy of {i}.png")
    result = run("predict", tmp_path / "a/model.npz", new, "-o", tmp_path / "b")
    assert result.exit_code == 0, result.output
    fitted = page_data(tmp_path / "b" / "report.html")["fitted"]
    assert [fitted["name"][similar[0]] for similar in fitted["similar"]] == ["7.png", "40.png"]
    for at in (similar[0] for similar in fitted["similar"]):
        row = page_data(tmp_path / "a" / "report.html")["samples"]["name"].index(fitted["name"][at])
        pictures = [
            (tmp_path / folder / "thumbnails" / name).read_bytes()
            for folder, name in (("a", f"{row:06}.jpg"), ("b", f"fitted-{at:06}.jpg"))
        ]
        assert pictures[0] == pictures[1]

    (tmp_path / "moved.npz").write_bytes((tmp_path / "a/model.npz").read_bytes())
    result = run("predict", tmp_path / "moved.npz", new, "-o", tmp_path / "c")
    assert result.exit_code == 0, result.output
    moved = page_data(tmp_path / "c" / "report.html")["fitted"]
    assert (moved["name"], moved["similar"]) == (fitted["name"], fitted["similar"])
    assert moved["sizes"] is None
    assert moved["tiles"]["size"] == [8, 8]


def test_predict_one_sample(tmp_path, digits, run, table):
    run("cluster", digits, "-k", 3, "-o", tmp_path / "a")
    np.save(tmp_path / "one.npy", X[:1])
    result = run("predict", tmp_path / "a/model.npz", tmp_path / "one.npy", "-o", tmp_path / "b")
    assert result.exit_code == 0, result.output
    assert len(table(tmp_path / "b" / "labels.csv")) == 1


def test_inputs_that_do_not_match_the_model_are_refused(tmp_path, digits, run, fails):
    run("cluster", digits, "-k", 3, "-o", tmp_path / "a")
    np.save(tmp_path / "wide.npy", np.ones((3, 9)))
    model, out = tmp_path / "a/model.npz", tmp_path / "b"
    assert "must have the 64 features of" in fails(
        "predict", model, tmp_path / "wide.npy", "-o", out
    )
    graph = tmp_path / "a/hypergraph.npz"
    assert "not a model of this enhg" in fails("predict", graph, digits, "-o", out)
    assert "no such file" in fails("predict", tmp_path / "none.npz", digits, "-o", out)
    assert not out.exists()


def test_columns_must_be_those_of_the_model(tmp_path, run, fails):
    features = X[:, 10:20]
    heads = [f"pixel{i}" for i in range(10)]
    orders = {"a": range(10), "b": [1, 0, *range(2, 10)]}
    for name, order in orders.items():
        rows = [[heads[i] for i in order], *features[:, list(order)].tolist()]
        text = "\n".join(",".join(map(str, row)) for row in rows)
        (tmp_path / f"{name}.csv").write_text(text)
    assert run("cluster", tmp_path / "a.csv", "-k", 3, "-o", tmp_path / "out").exit_code == 0
    model = tmp_path / "out" / "model.npz"
    message = fails("predict", model, tmp_path / "b.csv", "-o", tmp_path / "new")
    assert "feature 1 must be headed 'pixel0', as in the table of the model, got" in message
    assert run("predict", model, tmp_path / "a.csv", "-o", tmp_path / "new").exit_code == 0
    np.save(tmp_path / "a.npy", features)  # which has no headings
    assert run("predict", model, tmp_path / "a.npy", "-o", tmp_path / "newer").exit_code == 0
