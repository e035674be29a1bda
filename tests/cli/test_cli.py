"""The program: what it reads, writes, prints and answers to mistakes."""

from __future__ import annotations

import csv
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits
from typer.testing import CliRunner

import enhg.io
from enhg import ElasticNetHypergraph, Hypergraph, HypergraphClassifier
from enhg import __version__ as version
from enhg.cli import app, classify, cluster
from enhg.cli.options import NORMALIZATIONS
from enhg.preprocessing import Normalization

X, Y = load_digits(n_class=3, return_X_y=True)
X, Y = X[:90].astype(np.uint8), Y[:90]
PROGRAM = Path(sys.executable).with_name("enhg")


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def fails(*words, code=1):
    """Run; it must end with the code, one line on standard error and nothing more."""
    result = run(*words)
    assert result.exit_code == code, result.output
    assert isinstance(result.exception, SystemExit)
    assert result.stderr.count("\n") == 1
    return result.stderr


def table(path):
    with open(path, newline="") as stream:
        return list(csv.DictReader(stream))


@pytest.fixture
def digits(tmp_path):
    """Ninety digits of three classes with their truth."""
    np.savez(tmp_path / "digits.npz", X=X.reshape(-1, 8, 8), y=Y)
    return tmp_path / "digits.npz"


@pytest.fixture
def some_labels(tmp_path):
    """The truth of every tenth of them, as words."""
    path = tmp_path / "some.csv"
    path.write_text("name,label\n" + "".join(f"{i},{Y[i]}\n" for i in range(0, 90, 10)))
    return path


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "photos"
    folder.mkdir()
    for i, image in enumerate(X.reshape(-1, 8, 8)):
        Image.fromarray(16 * image.clip(0, 15)).save(folder / f"{i}.png")
    return folder


# --- words ---------------------------------------------------------------------------------


def test_help_and_mistakes_need_no_heavy_library():
    code = (
        "import sys, enhg.cli\n"
        "heavy = {'numpy', 'sklearn', 'numba', 'matplotlib', 'rich', 'scipy'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize("command", ["cluster", "classify", "predict", "demo"])
def test_help_teaches(command):
    help = run(command, "--help").stdout
    assert help.count(f"enhg {command}") >= 3  # usage and two examples
    assert "labels" in help
    assert command == "predict" or "[default: 0" in help
    assert max(map(len, help.splitlines())) <= 80


def test_program_without_words_shows_its_help():
    shown = run().output
    assert all(word in shown for word in ("cluster", "classify", "demo", "--version"))
    assert run("--help").exit_code == 0


def test_version():
    assert run("--version").stdout == f"enhg {version}\n"


@pytest.mark.parametrize("command", [cluster, classify])
def test_defaults_are_those_of_the_library(command):
    """They stand in cli.py, so that the help shows them without loading the library."""
    given = {name: p.default for name, p in inspect.signature(command).parameters.items()}
    structure = ElasticNetHypergraph()
    assert structure.rule == "top"  # what the help says of --level holds for it alone
    assert (given["gamma"], given["lam"]) == (structure.gamma, structure.lam)
    assert given["normalize"] == structure.normalize
    assert get_args(Normalization) == NORMALIZATIONS
    assert given.get("alpha", HypergraphClassifier().alpha) == HypergraphClassifier().alpha
    explicit = ElasticNetHypergraph(threshold=given["level"]).fit(X)
    assert explicit.graph_ == structure.fit(X).graph_


def test_what_is_done_to_the_samples_first(tmp_path):
    np.save(tmp_path / "x.npy", X)
    result = run(
        "cluster", tmp_path / "x.npy", "-k", 3, "-o", tmp_path / "o", "--normalize", "unit"
    )
    assert result.exit_code == 0
    found = Hypergraph.load(tmp_path / "o" / "hypergraph.npz")
    assert found == ElasticNetHypergraph(preprocessing="unit").fit(X).graph_
    assert found != ElasticNetHypergraph().fit(X).graph_
    result = run("cluster", tmp_path / "x.npy", "-k", 3, "-o", tmp_path / "p", "--normalize", "x")
    assert result.exit_code == 2
    assert "zero_mean" in result.output


def test_single_pixels_may_be_wrong(tmp_path):
    np.save(tmp_path / "x.npy", X)
    both = {}
    for name, more in (("plain", []), ("never", ["0"]), ("robust", ["0.5"])):
        out = tmp_path / name
        more = ["--error-weight", *more] if more else []
        assert run("cluster", tmp_path / "x.npy", "-k", 3, "-o", out, *more).exit_code == 0
        both[name] = Hypergraph.load(out / "hypergraph.npz")
    assert both["plain"] == both["never"] != both["robust"]
    result = run("cluster", tmp_path / "x.npy", "-k", 3, "-o", out, "--error-weight", "-1")
    assert result.exit_code == 2
    assert "-1 is not a positive number" in result.output


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["cluster", "x.npy", "-k", "3"], "-o"),
        (["cluster", "x.npy", "-k", "0", "-o", "out"], "-k"),
        (["cluster", "x.npy", "-k", "two", "-o", "out"], "-k"),
        (["cluster", "x", "-k", "2", "-o", "out", "--size", "32"], "HEIGHTxWIDTH"),
        (["cluster", "x", "-k", "2", "-o", "out", "--size", "0x8"], "HEIGHTxWIDTH"),
        (["cluster", "x", "-k", "2", "-o", "out", "--gamma", "0"], "positive"),
        (["cluster", "x", "-k", "2", "-o", "out", "--gamma", "inf"], "positive"),
        (["cluster", "x", "-k", "2", "-o", "out", "--lam", "-1"], "--lam"),
        (["cluster", "x", "-k", "2", "-o", "out", "--memory-budget", "much"], "such as 500MB"),
        (["cluster", "x", "-k", "2", "-o", "out", "--memory-budget", "0GB"], "such as 500MB"),
        (["cluster", "x", "-k", "2", "-o", "out", "--memory-budget", "-2GB"], "such as 500MB"),
        (["classify", "x", "--labels", "y", "-o", "out", "--alpha", "1"], "between 0 and 1"),
        (["classify", "x", "-o", "out"], "--labels"),
        (["classify", "x", "--labels", "y", "-o", "out", "--method", "fish"], "poisson"),
        (["cluster", "x", "-o", "out", "--suggest", "0"], "--suggest"),
        (["predict", "model.npz", "-o", "out"], "INPUT"),
        (["paint"], "paint"),
    ],
)
def test_usage(words, part):
    result = run(*words)
    assert result.exit_code == 2
    assert part in result.stderr
    assert "Traceback" not in result.output


# --- cluster -------------------------------------------------------------------------------


def test_cluster(tmp_path, digits):
    out = tmp_path / "out"
    result = run("cluster", digits, "-k", 3, "-o", out)
    assert result.exit_code == 0, result.output
    rows = table(out / "labels.csv")
    assert list(rows[0]) == ["name", "label", "confidence", "outlier", "foreign", "error"]
    assert all(0 <= float(row[name]) <= 1 for row in rows for name in ("outlier", "foreign"))
    assert [row["name"] for row in rows] == [str(i) for i in range(90)]
    assert {row["label"] for row in rows} == {"0", "1", "2"}
    assert all(0 <= float(row["confidence"]) <= 1 for row in rows)
    assert Hypergraph.load(out / "hypergraph.npz").n_vertices == 90
    assert sorted(os.listdir(out)) == [
        "hypergraph.npz", "labels.csv", "model.npz", "report.html",
    ]  # fmt: skip
    said = result.stdout
    assert all(f"{stage} " in said for stage in ("read", "compile", "represent", "cluster"))
    assert "90 images of 8×8" in said
    assert "against the labels in digits.npz" in said
    score = said[said.index("AC ") :]
    assert float(score[3:8]) > 0.9
    assert str(out / "labels.csv") in said
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
def test_memory_is_the_solvers_budget(tmp_path, digits, monkeypatch, words, size):
    budgets = []

    def represent(X, *, memory_budget, **options):
        budgets.append(memory_budget)
        return enhg.self_representation(X, memory_budget=memory_budget, **options)

    monkeypatch.setattr("enhg.structures.elastic_net.self_representation", represent)
    result = run("cluster", digits, "-k", 3, "-o", tmp_path / "out", "--memory-budget", words)
    assert result.exit_code == 0, result.output
    assert budgets == [None, size]  # the first is that of compiling


def test_cluster_sizes_add_up(tmp_path, digits):
    said = run("cluster", digits, "-k", 3, "-o", tmp_path / "out").stdout
    line = next(line for line in said.splitlines() if line.startswith("clusters"))
    sizes = [int(size) for size in line.split("of ")[1].removesuffix(" samples").split(", ")]
    labels = [int(row["label"]) for row in table(tmp_path / "out" / "labels.csv")]
    assert sizes == np.bincount(labels).tolist()


def test_many_clusters_are_told_by_their_range(tmp_path, digits):
    said = run("cluster", digits, "-k", 12, "-o", tmp_path / "out").stdout
    labels = [int(row["label"]) for row in table(tmp_path / "out" / "labels.csv")]
    sizes = np.bincount(labels)
    assert f"12, of {sizes.min()} to {sizes.max()} samples" in said


def test_cluster_a_folder_without_truth(tmp_path, photos):
    out = tmp_path / "out"
    result = run("cluster", photos, "-k", 3, "-o", out, "--size", "6x5")
    assert result.exit_code == 0, result.output
    assert [row["name"] for row in table(out / "labels.csv")] == [f"{i}.png" for i in range(90)]
    assert "90 images of 6×5" in result.stdout
    assert "score" not in result.stdout


def test_cluster_in_color(tmp_path, photos):
    said = run("cluster", photos, "-k", 3, "-o", tmp_path / "out", "--color").stdout
    assert "8×8×3" in said


def test_key_chooses_the_array(tmp_path):
    np.savez(tmp_path / "two.npz", first=X, second=X[:60])
    said = run(
        "cluster", tmp_path / "two.npz", "-k", 3, "-o", tmp_path / "out", "--key", "second"
    ).stdout
    assert "60, of 64 values" in said


def test_a_partly_known_truth_scores_what_it_knows(tmp_path):
    np.savez(tmp_path / "digits.npz", X=X, y=np.where(np.arange(90) < 60, Y, -1))
    out = tmp_path / "out"
    said = run("cluster", tmp_path / "digits.npz", "-k", 3, "-o", out).stdout
    labels = np.array([int(row["label"]) for row in table(out / "labels.csv")])
    score = enhg.clustering_accuracy(Y[:60], labels[:60])
    assert f"AC {score:.3f}" in said


def test_the_same_seed_gives_the_same_bytes(tmp_path, digits):
    def written(name, *words):
        assert run("cluster", digits, "-k", 4, "-o", tmp_path / name, *words).exit_code == 0
        return (tmp_path / name / "labels.csv").read_bytes()

    first = written("a", "--seed", 7)
    assert written("b", "--seed", 7) == first
    assert written("c", "--seed", 7, "--jobs", 1) == first


def test_options_reach_the_structure(tmp_path, digits):
    out = tmp_path / "out"
    run("cluster", digits, "-k", 3, "-o", out, "--gamma", 5, "--lam", 0.5, "--level", 2)
    structure = ElasticNetHypergraph(gamma=5, lam=0.5, threshold=2).fit(X)
    assert Hypergraph.load(out / "hypergraph.npz") == structure.graph_


def test_quiet(tmp_path, digits):
    result = run("cluster", digits, "-k", 3, "-o", tmp_path / "out", "--quiet")
    assert (result.exit_code, result.output) == (0, "")


def islands(count, members=8):
    """Samples in groups that have nothing in common: zero mean, and orthogonal across groups."""
    rng = np.random.default_rng(0)
    rows = np.zeros((count, members, count, 20))
    for i in range(count):
        half = rng.integers(1, 9, size=(members, 10))
        rows[i, :, i] = np.hstack([half, -half])
    return rows.reshape(count * members, -1)


def test_warnings_take_one_line(tmp_path):
    np.save(tmp_path / "islands.npy", islands(3))
    result = run("cluster", tmp_path / "islands.npy", "-k", 2, "-o", tmp_path / "out", "--quiet")
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("warning: the hypergraph falls into 3 components")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""


# --- classify ------------------------------------------------------------------------------


def test_classify(tmp_path, digits, some_labels):
    out = tmp_path / "out"
    result = run("classify", digits, "--labels", some_labels, "-o", out)
    assert result.exit_code == 0, result.output
    rows = table(out / "labels.csv")
    assert list(rows[0]) == [
        "name", "label", "confidence", "outlier", "foreign", "error", "given",
    ]  # fmt: skip
    assert [row["given"] for row in rows] == ["no" if i % 10 else "yes" for i in range(90)]
    hits = [row["label"] == str(y) for row, y in zip(rows, Y, strict=True) if row["given"] == "no"]
    assert f"accuracy {np.mean(hits):.3f} on the 81 unlabeled" in result.stdout
    assert np.mean(hits) > 0.9
    assert "digits.npz" in result.stdout
    assert "3, from 9 labels (10.0%)" in result.stdout
    assert Hypergraph.load(out / "hypergraph.npz").n_vertices == 90


def test_classify_with_words_as_labels(tmp_path, photos):
    words = np.array(["nought", "one", "two"])[Y]
    labels = tmp_path / "some.csv"
    labels.write_text("".join(f"{i},{words[i]}\n" for i in range(0, 90, 10)))
    out = tmp_path / "out"
    result = run("classify", photos, "--labels", labels, "-o", out, "--alpha", 0.9)
    assert result.exit_code == 0, result.output
    found = np.array([row["label"] for row in table(out / "labels.csv")])
    assert (found == words).mean() > 0.9
    assert "score" not in result.stdout


def test_classify_repeats_itself(tmp_path, digits, some_labels):
    for name in "ab":
        run("classify", digits, "--labels", some_labels, "-o", tmp_path / name, "--seed", 3)
    first, second = ((tmp_path / name / "labels.csv").read_bytes() for name in "ab")
    assert first == second


def test_samples_that_no_label_reaches(tmp_path):
    np.save(tmp_path / "islands.npy", islands(3))
    given = np.full(24, -1)
    given[[0, 8]] = [5, 6]
    np.save(tmp_path / "some.npy", given)
    out = tmp_path / "out"
    result = run("classify", tmp_path / "islands.npy", "--labels", tmp_path / "some.npy", "-o", out)
    assert result.exit_code == 0, result.output
    rows = table(out / "labels.csv")
    assert [row["label"] for row in rows] == ["5"] * 8 + ["6"] * 8 + [""] * 8
    assert {row["confidence"] for row in rows[16:]} == {"0.0000"}
    assert "unreached   8 samples" in result.stdout
    assert "warning: no label reaches 8 of 24 samples" in result.stderr


def test_labels_of_every_sample_leave_nothing_to_score(tmp_path, digits):
    np.save(tmp_path / "all.npy", Y)
    result = run("classify", digits, "--labels", tmp_path / "all.npy", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "score" not in result.stdout


# --- demo ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def demonstration(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo") / "out"
    return run("demo", "-o", out, "--seed", 1), out


def test_demo(demonstration):
    result, out = demonstration
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    said = result.stdout
    assert all(f"{stage} " in said for stage in ("compile", "represent", "cluster", "classify"))
    assert float(said.split("AC ")[1][:5]) > 0.9
    assert float(said.split("NMI ")[1][:5]) > 0.85
    assert float(said.split("accuracy ")[1][:5]) > 0.93
    assert "enhg cluster --help" in said
    assert all(str(out / name) in said for name in os.listdir(out))


def test_demo_writes_pictures_and_labels(demonstration):
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


# --- how many, which next, and new samples -------------------------------------------------


def test_the_number_of_clusters_is_estimated(tmp_path):
    everything, y = load_digits(return_X_y=True)
    np.savez(tmp_path / "all.npz", X=everything, y=y)
    result = run("cluster", tmp_path / "all.npz", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "10 (estimated: next best " in result.stdout


def test_an_estimate_that_is_not_sure_says_so(tmp_path):
    np.save(tmp_path / "cloud.npy", np.random.default_rng(0).uniform(size=(300, 2)))
    result = run("cluster", tmp_path / "cloud.npy", "-o", tmp_path / "out", "-k", "auto")
    assert result.exit_code == 0, result.output
    assert "(estimated: not sure, next best" in result.stdout
    assert "warning: the spectrum does not tell the number of clusters" in result.stderr


def test_json_is_all_that_is_printed(tmp_path, digits, some_labels):
    out = tmp_path / "out"
    result = run("cluster", digits, "-k", 3, "-o", out, "--json")
    found = json.loads(result.stdout)
    rows = table(out / "labels.csv")
    sizes = np.bincount([int(row["label"]) for row in rows])
    assert (found["samples"], found["clusters"]) == (90, 3)
    assert found["sizes"] == sizes.tolist()
    assert found["ac"] > 0.9
    assert sorted(os.listdir(out)) == sorted(Path(file).name for file in found["files"])
    assert set(found["seconds"]) >= {"read", "represent", "cluster", "write", "report"}
    assert found["warnings"] == []

    result = run("classify", digits, "--labels", some_labels, "-o", tmp_path / "named", "--json")
    found = json.loads(result.stdout)
    assert (found["classes"], found["given"], found["method"]) == (3, 9, "poisson")
    assert found["accuracy"] > 0.9


def test_given_labels_are_kept_and_disputed_ones_counted(tmp_path, digits):
    labels = tmp_path / "wrong.csv"
    wrong = {0: (Y[0] + 1) % 3}
    labels.write_text("".join(f"{i},{wrong.get(i, Y[i])}\n" for i in range(0, 90, 2)))
    result = run("classify", digits, "--labels", labels, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    rows = table(tmp_path / "out" / "labels.csv")
    assert rows[0]["label"] == str(wrong[0])
    assert all(rows[i]["label"] == str(wrong.get(i, Y[i])) for i in range(0, 90, 2))
    assert "disputed    1 given label that the others speak against" in result.stdout


def test_samples_that_nothing_rebuilds(tmp_path, digits):
    result = run("cluster", digits, "-k", 3, "-o", tmp_path / "out", "--gamma", 0.5)
    assert result.exit_code == 0, result.output
    assert "90 of 90 samples are not represented" in result.stderr
    assert (tmp_path / "out" / "report.html").exists()


def test_nothing_is_said_before_the_results_are_in_place(tmp_path, digits):
    out = tmp_path / "out"
    (out / "labels.csv").mkdir(parents=True)
    result = run("cluster", digits, "-k", 3, "-o", out, "--overwrite", "--json")
    assert result.exit_code == 1
    assert result.stdout == ""


def test_suggestions(tmp_path, digits, some_labels):
    out = tmp_path / "out"
    assert run("cluster", digits, "-k", 3, "-o", out, "--suggest", 3).exit_code == 0
    rows = table(out / "suggestions.csv")
    assert {Y[int(row["name"])] for row in rows} == {0, 1, 2}  # one of each digit
    result = run("classify", digits, "--labels", some_labels, "-o", tmp_path / "b", "--suggest", 99)
    assert result.exit_code == 0, result.output
    rows = table(tmp_path / "b" / "suggestions.csv")
    assert len(rows) == 81  # all that have no label
    assert "--suggest 99: only 81 samples have no label" in result.stderr
    assert all(int(row["name"]) % 10 for row in rows)


def test_predict(tmp_path, digits, some_labels):
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
    found = json.loads(result.stdout)
    assert found["accuracy"] > 0.9
    assert sum(found["placed"].values()) == 90


def test_predict_brings_images_to_the_models_size(tmp_path, photos):
    run("cluster", photos, "-k", 3, "-o", tmp_path / "a", "--size", "6x5")
    result = run("predict", tmp_path / "a/model.npz", photos, "-o", tmp_path / "b")
    assert result.exit_code == 0, result.output
    labels = [[row["label"] for row in table(tmp_path / name / "labels.csv")] for name in "ab"]
    assert np.mean(np.array(labels[0]) == labels[1]) > 0.95


def test_predict_one_sample(tmp_path, digits):
    run("cluster", digits, "-k", 3, "-o", tmp_path / "a")
    np.save(tmp_path / "one.npy", X[:1])
    result = run("predict", tmp_path / "a/model.npz", tmp_path / "one.npy", "-o", tmp_path / "b")
    assert result.exit_code == 0, result.output
    assert len(table(tmp_path / "b" / "labels.csv")) == 1


def test_predict_refuses_what_does_not_fit(tmp_path, digits):
    run("cluster", digits, "-k", 3, "-o", tmp_path / "a")
    np.save(tmp_path / "wide.npy", np.ones((3, 9)))
    model, out = tmp_path / "a/model.npz", tmp_path / "b"
    assert "have 9 values, those of" in fails("predict", model, tmp_path / "wide.npy", "-o", out)
    graph = tmp_path / "a/hypergraph.npz"
    assert "is no model that this enhg can read" in fails("predict", graph, digits, "-o", out)
    assert "no such file" in fails("predict", tmp_path / "none.npz", digits, "-o", out)
    assert not out.exists()


# --- what goes wrong -----------------------------------------------------------------------


def test_existing_results_are_refused_before_anything_is_read(tmp_path, digits, monkeypatch):
    out = tmp_path / "out"
    out.mkdir()
    (out / "labels.csv").write_text("precious")

    def never(*_, **__):
        raise AssertionError("the input was read")

    monkeypatch.setattr(enhg.io, "read_samples", never)
    monkeypatch.setattr(enhg.datasets, "load", never, raising=False)
    for words in (
        ["cluster", digits, "-k", 3],
        ["classify", digits, "--labels", "labels.csv"],
        ["demo"],
    ):
        message = fails(*words, "-o", out)
        assert message.startswith("error: ")
        assert "--overwrite" in message
    assert (out / "labels.csv").read_text() == "precious"
    assert "is a file" in fails("cluster", digits, "-k", 3, "-o", out / "labels.csv")


def test_overwrite_replaces_and_keeps_the_rest(tmp_path, digits):
    out = tmp_path / "out"
    out.mkdir()
    (out / "labels.csv").write_text("old")
    (out / "notes.txt").write_text("mine")
    assert run("cluster", digits, "-k", 3, "-o", out, "--overwrite").exit_code == 0
    assert len(table(out / "labels.csv")) == 90
    assert (out / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("error", "code", "part"),
    [
        (KeyboardInterrupt(), 130, "interrupted: nothing was written"),
        (MemoryError("Unable to allocate 9 TiB"), 1, "error: not enough memory (Unable"),
        (OSError(28, "No space left on device", "/full/disk"), 1, "error: /full/disk: No space"),
        (ValueError("two\nlines"), 1, "error: two lines"),
    ],
)
def test_failures_leave_nothing_behind(tmp_path, digits, monkeypatch, error, code, part):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(ElasticNetHypergraph, "fit", fail)
    home = tmp_path / "home"
    home.mkdir()
    assert part in fails("cluster", digits, "-k", 3, "-o", home / "a" / "b", code=code)
    assert list(home.iterdir()) == []


def test_a_bug_keeps_its_traceback(tmp_path, digits, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(ElasticNetHypergraph, "fit", fail)
    result = run("cluster", digits, "-k", 3, "-o", tmp_path / "out")
    assert isinstance(result.exception, ZeroDivisionError)
    assert not (tmp_path / "out").exists()


# --- as a process --------------------------------------------------------------------------


def test_as_a_process_with_pipes(tmp_path, digits):
    words = [PROGRAM, "cluster", digits.name, "-k", "3", "-o", "out"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=True)
    assert done.stderr == b""
    assert b"\x1b" not in done.stdout
    assert b"out/labels.csv" in done.stdout
    again = subprocess.run(words, cwd=tmp_path, capture_output=True)
    assert (again.returncode, again.stdout) == (1, b"")
    assert again.stderr.startswith(b"error: ")
    assert again.stderr.count(b"\n") == 1


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_that_no_encoding_can_write(tmp_path, digits):
    strange = digits.rename(tmp_path / os.fsdecode(b"d\xff.npz"))
    done = subprocess.run(
        [PROGRAM, "cluster", strange, "-k", "3", "-o", tmp_path / "out"],
        capture_output=True,
        check=True,
    )
    assert b"against the labels in d\\udcff.npz" in done.stdout
    done = subprocess.run(
        [PROGRAM, "cluster", tmp_path / os.fsdecode(b"e\xff.npz"), "-k", "3", "-o", "out"],
        capture_output=True,
    )
    assert done.returncode == 1
    assert b"e\\udcff.npz: no such file" in done.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_terminal_gets_bars(tmp_path, photos):
    import pty

    def on_terminal(*words):
        ours, theirs = pty.openpty()
        with subprocess.Popen(
            [PROGRAM, "cluster", photos, "-k", "3", *words], stdout=subprocess.PIPE, stderr=theirs
        ) as process:
            os.close(theirs)
            shown = b""
            try:
                while more := os.read(ours, 65536):
                    shown += more
            except OSError:  # Linux: the other end has closed
                pass
            said = process.stdout.read()
        os.close(ours)
        assert process.returncode == 0
        return shown, said

    shown, said = on_terminal("-o", tmp_path / "a")
    assert all(word in shown for word in (b"reading", b"rebuilding", b"100%"))
    assert b"labels.csv" in said
    assert on_terminal("-o", tmp_path / "b", "--quiet") == (b"", b"")


# --- reproduce -----------------------------------------------------------------------------


def test_reproduce_makes_figures_and_goes_on_in_its_folder(tmp_path, data_folder):
    out = tmp_path / "made"
    result = run("reproduce", "figure-affinity", "--data", data_folder, "-o", out)
    assert result.exit_code == 0, result.output
    assert "figure-affinity.png" in result.stdout
    assert sorted(os.listdir(out)) == ["cells.csv", "figure-affinity.csv", "figure-affinity.png"]
    result = run("reproduce", "figure-recovery", "--data", data_folder, "-o", out)
    assert result.exit_code == 0, result.output
    assert (out / "figure-recovery.png").stat().st_size > 10_000


def test_reproduce_refuses_what_it_does_not_know(tmp_path):
    result = run("reproduce", "table7", "--data", tmp_path)
    assert result.exit_code == 1
    assert "'table7' is none of table1" in result.stderr
    (tmp_path / "mine.txt").write_text("mine")
    result = run("reproduce", "table1", "--data", tmp_path, "-o", tmp_path)
    assert result.exit_code == 1
    assert "no cells.csv of an earlier run" in result.stderr
    result = run("reproduce", "figure-paths", "--data", tmp_path, "-o", tmp_path / "new")
    assert result.exit_code == 1
    assert "Extended Yale B is not shipped" in result.stderr
