"""The command `cluster`."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn import get_config
from sklearn.datasets import load_digits
from sklearn.utils import check_array

import enhg.io
from enhg import ElasticNetHypergraph, HyperedgeRule, Hypergraph

X, Y = load_digits(n_class=3, return_X_y=True)
X, Y = X[:90].astype(np.uint8), Y[:90]


def test_cluster(tmp_path, digits, run, table):
    out = tmp_path / "out"
    result = run("cluster", digits, "-k", 3, "-o", out)
    assert result.exit_code == 0, result.output
    rows = table(out / "labels.csv")
    assert list(rows[0]) == ["name", "label", "confidence", "outlier", "boundary", "residual"]
    assert all(0 <= float(row[name]) <= 1 for row in rows for name in ("outlier", "boundary"))
    assert [row["name"] for row in rows] == [str(i) for i in range(90)]
    assert {row["label"] for row in rows} == {"0", "1", "2"}
    assert all(0 <= float(row["confidence"]) <= 1 for row in rows)
    assert Hypergraph.load(out / "hypergraph.npz").n_vertices == 90
    assert sorted(os.listdir(out)) == [
        "hypergraph.npz", "labels.csv", "model.npz", "report.html",
    ]  # fmt: skip
    text = result.stdout
    assert all(f"{stage} " in text for stage in ("read", "compile", "represent", "cluster"))
    assert "images      90 of 8×8, from" in text
    assert "against the labels in digits.npz" in text
    score = text[text.index("AC ") :]
    assert float(score[3:8]) > 0.9
    assert "labels.csv" in text
    assert "certificate" not in text
    assert result.stderr == ""


@pytest.mark.parametrize(
    ("words", "size"),
    [
        ("2GB", 2 * 10**9),
        ("1.5 MiB", 3 * 2**19),
        ("100k", 100_000),
        ("4096", 4096),
        ("1tb", 10**12),
    ],
)
def test_memory_budget_is_that_of_the_solver(tmp_path, digits, monkeypatch, words, size, run):
    budgets = []

    def represent(X, *, memory_budget, **options):
        budgets.append(memory_budget)
        return enhg.self_representation(X, memory_budget=memory_budget, **options)

    monkeypatch.setattr("enhg.structures._representation.self_representation", represent)
    result = run("cluster", digits, "-k", 3, "-o", tmp_path / "out", "--memory-budget", words)
    assert result.exit_code == 0, result.output
    assert budgets == [None, size]  # the first is that of compiling


def test_cluster_sizes_add_up(tmp_path, digits, run, table):
    text = run("cluster", digits, "-k", 3, "-o", tmp_path / "out").stdout
    line = next(line for line in text.splitlines() if line.endswith(" images"))
    sizes = [size.split(": ") for size in line.strip().removesuffix(" images").split(", ")]
    labels = [row["label"] for row in table(tmp_path / "out" / "labels.csv")]
    assert {name: int(size) for name, size in sizes} == Counter(labels)


def test_cluster_a_folder_without_truth(tmp_path, photos, run, table):
    out = tmp_path / "out"
    result = run("cluster", photos, "-k", 3, "-o", out, "--size", "6x5")
    assert result.exit_code == 0, result.output
    assert [row["name"] for row in table(out / "labels.csv")] == [f"{i}.png" for i in range(90)]
    assert "compared by pixels (6×5), as requested" in result.stdout
    assert "score" not in result.stdout


def test_cluster_in_color(tmp_path, photos, run):
    text = run("cluster", photos, "-k", 3, "-o", tmp_path / "out", "--color").stdout
    assert "compared by pixels (8×8, in color), as requested" in text


def test_key_chooses_the_array(tmp_path, run):
    np.savez(tmp_path / "two.npz", first=X, second=X[:60])
    text = run(
        "cluster", tmp_path / "two.npz", "-k", 3, "-o", tmp_path / "out", "--key", "second"
    ).stdout
    assert "60 of 64 features" in text


def test_only_samples_with_a_true_label_are_scored(tmp_path, run, table):
    np.savez(tmp_path / "digits.npz", X=X, y=np.where(np.arange(90) < 60, Y, -1))
    out = tmp_path / "out"
    text = run("cluster", tmp_path / "digits.npz", "-k", 3, "-o", out).stdout
    labels = np.array([int(row["label"]) for row in table(out / "labels.csv")])
    score = enhg.clustering_accuracy(Y[:60], labels[:60])
    assert f"AC {score:.3f}" in text


def test_the_same_seed_gives_the_same_bytes(tmp_path, digits, run):
    def written(name, *words):
        assert run("cluster", digits, "-k", 4, "-o", tmp_path / name, *words).exit_code == 0
        return (tmp_path / name / "labels.csv").read_bytes()

    first = written("a", "--seed", 7)
    assert written("b", "--seed", 7) == first
    assert written("c", "--seed", 7, "--jobs", 1) == first


def test_options_reach_the_structure(tmp_path, digits, run):
    out = tmp_path / "out"
    run("cluster", digits, "-k", 3, "-o", out, "--gamma", 5, "--lam", 0.5, "--members", 2)
    rule = HyperedgeRule(threshold=2)
    structure = ElasticNetHypergraph(gamma=5, lam=0.5, hyperedges=rule).fit(X)
    assert Hypergraph.load(out / "hypergraph.npz") == structure.graph_


def test_quiet(tmp_path, digits, run):
    result = run("cluster", digits, "-k", 3, "-o", tmp_path / "out", "--quiet")
    assert (result.exit_code, result.output) == (0, "")


def test_warnings_take_one_line_and_name_options(tmp_path, run, islands, page_data):
    np.save(tmp_path / "islands.npy", islands(3))
    result = run("cluster", tmp_path / "islands.npy", "-k", 2, "-o", tmp_path / "out", "--quiet")
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("warning: the hypergraph has 3 connected components")
    assert result.stderr.endswith(
        "; link every sample to more others (--members), raise --gamma, or raise --clusters to at "
        "most 3\n"
    )
    assert result.stderr.count("\n") == 1
    (shown,) = page_data(tmp_path / "out" / "report.html")["warnings"]
    assert f"warning: {shown}\n" == result.stderr
    assert result.stdout == ""


def test_the_number_of_clusters_is_estimated(tmp_path, run):
    everything, y = load_digits(return_X_y=True)
    np.savez(tmp_path / "all.npz", X=everything, y=y)
    result = run("cluster", tmp_path / "all.npz", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "10 (estimated; next peak " in result.stdout


def test_an_estimate_that_is_not_reliable(tmp_path, run):
    np.save(tmp_path / "cloud.npy", np.random.default_rng(0).uniform(size=(300, 2)))
    result = run("cluster", tmp_path / "cloud.npy", "-o", tmp_path / "out", "-k", "auto")
    assert result.exit_code == 0, result.output
    assert "(estimated, not reliable; next peak " in result.stdout
    assert "warning: the estimate of the number of clusters is not reliable" in result.stderr
    assert "compare the clusters of several numbers (--clusters)" in result.stderr


def test_json_is_the_only_output(tmp_path, digits, some_labels, run, table):
    out = tmp_path / "out"
    result = run("cluster", digits, "-k", 3, "-o", out, "--json")
    figures = json.loads(result.stdout)
    rows = table(out / "labels.csv")
    sizes = np.bincount([int(row["label"]) for row in rows])
    assert (figures["samples"], figures["clusters"]) == (90, 3)
    assert list(figures["sizes"].values()) == sizes.tolist()
    assert figures["ac"] > 0.9
    assert sorted(os.listdir(out)) == sorted(Path(file).name for file in figures["files"])
    assert set(figures["seconds"]) >= {"read", "represent", "cluster", "write", "report"}
    assert figures["warnings"] == []

    result = run("classify", digits, "--labels", some_labels, "-o", tmp_path / "named", "--json")
    figures = json.loads(result.stdout)
    assert (figures["classes"], figures["given"]) == (3, 9)
    weights = figures["method_weights"]
    assert set(weights) <= {"diffusion", "poisson", "discriminant", "self_training"}
    assert sum(weights.values()) == pytest.approx(1)
    assert figures["accuracy"] > 0.9


def test_given_labels_are_kept_and_disputed_ones_counted(tmp_path, digits, run, table):
    labels = tmp_path / "wrong.csv"
    wrong = {0: (Y[0] + 1) % 3}
    labels.write_text("".join(f"{i},{wrong.get(i, Y[i])}\n" for i in range(0, 90, 2)))
    result = run("classify", digits, "--labels", labels, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    rows = table(tmp_path / "out" / "labels.csv")
    assert rows[0]["label"] == str(wrong[0])
    assert all(rows[i]["label"] == str(wrong.get(i, Y[i])) for i in range(0, 90, 2))
    assert "disputed    1 given label that contradicts similar images; kept" in result.stdout


def test_samples_without_coefficients(tmp_path, run):
    np.save(tmp_path / "orthogonal.npy", np.eye(30))
    words = ("-k", 3, "--preprocessing", "none", "-o", tmp_path / "out")
    result = run("cluster", tmp_path / "orthogonal.npy", *words)
    assert result.exit_code == 0, result.output
    assert "30 of 30 samples are not represented" in result.stderr
    assert (tmp_path / "out" / "report.html").exists()


def test_nothing_is_printed_before_the_results_are_in_place(tmp_path, digits, run):
    out = tmp_path / "out"
    (out / "labels.csv").mkdir(parents=True)
    result = run("cluster", digits, "-k", 3, "-o", out, "--overwrite", "--json")
    assert result.exit_code == 1
    assert result.stdout == ""


def test_suggestions(tmp_path, digits, some_labels, run, table):
    out = tmp_path / "out"
    assert run("cluster", digits, "-k", 3, "-o", out, "--suggest", 3).exit_code == 0
    rows = table(out / "suggestions.csv")
    assert {Y[int(row["name"])] for row in rows} == {0, 1, 2}  # one of each digit
    result = run("classify", digits, "--labels", some_labels, "-o", tmp_path / "b", "--suggest", 99)
    assert result.exit_code == 0, result.output
    rows = table(tmp_path / "b" / "suggestions.csv")
    assert len(rows) == 81  # all that have no label
    assert "are unlabeled than are to be suggested: 81 in place of 99" in result.stderr
    assert all(int(row["name"]) % 10 for row in rows)


def test_samples_are_scanned_by_the_reader_alone(run, tmp_path, monkeypatch):
    """The finite check of read_samples is the only one; the library neither scans nor copies."""
    samples = np.random.default_rng(0).normal(size=(40, 30))
    np.save(tmp_path / "X.npy", samples)
    calls = []

    def spy(array, **options):
        result = check_array(array, **options)
        if result.shape == samples.shape:
            calls.append((get_config()["assume_finite"], result is array))
        return result

    monkeypatch.setattr("enhg._validation.check_array", spy)
    result = run("cluster", tmp_path / "X.npy", "-k", 3, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert calls
    assert set(calls) == {(True, True)}


def test_images_of_the_user_among_the_thumbnails_stay(photos, run, fails):
    """Also where OUT is the folder around them, and may be overwritten."""
    mine = photos / "thumbnails"
    mine.mkdir()
    for number in range(12):
        os.rename(photos / f"{number}.png", mine / f"{number}.png")
    (mine / "mine.jpg").write_bytes((mine / "0.png").read_bytes())
    line = ("-k", 2, "-o", photos, "--overwrite", "--no-cache")
    assert "must not have the images in its folder thumbnails" in fails("cluster", mine, *line)
    others = photos.with_name("others")
    shutil.copytree(mine, others)
    (mine / "000099.jpg").write_bytes(b"of an earlier run")
    result = run("cluster", others, *line)
    assert result.exit_code == 0, result.output
    names = {file.name for file in mine.iterdir()}
    assert {"mine.jpg", "0.png", "000000.jpg"} <= names
    assert "000099.jpg" not in names
