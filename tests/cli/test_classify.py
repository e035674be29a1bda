"""The command `classify`."""

from __future__ import annotations

import numpy as np
from PIL import Image
from sklearn.datasets import load_digits

from enhg import Hypergraph

X, Y = load_digits(n_class=3, return_X_y=True)
X, Y = X[:90].astype(np.uint8), Y[:90]


def test_classify(tmp_path, digits, some_labels, run, table):
    out = tmp_path / "out"
    result = run("classify", digits, "--labels", some_labels, "-o", out)
    assert result.exit_code == 0, result.output
    rows = table(out / "labels.csv")
    assert list(rows[0]) == [
        "name", "label", "confidence", "outlier", "boundary", "residual", "given",
    ]  # fmt: skip
    assert [row["given"] for row in rows] == ["no" if i % 10 else "yes" for i in range(90)]
    hits = [row["label"] == str(y) for row, y in zip(rows, Y, strict=True) if row["given"] == "no"]
    score = f"accuracy {np.mean(hits):.3f} on the 81 unlabeled images"
    assert f"{score}, against the labels in digits.npz" in result.stdout
    assert np.mean(hits) > 0.9
    assert "digits.npz" in result.stdout
    assert "3, from 9 labels (10.0%)" in result.stdout
    assert Hypergraph.load(out / "hypergraph.npz").n_vertices == 90


def test_classify_with_words_as_labels(tmp_path, photos, run, table):
    words = np.array(["nought", "one", "two"])[Y]
    labels = tmp_path / "some.csv"
    labels.write_text("".join(f"{i},{words[i]}\n" for i in range(0, 90, 10)))
    out = tmp_path / "out"
    result = run("classify", photos, "--labels", labels, "-o", out, "--alpha", 0.9)
    assert result.exit_code == 0, result.output
    labels = np.array([row["label"] for row in table(out / "labels.csv")])
    assert (labels == words).mean() > 0.9
    assert "score" not in result.stdout


def test_classify_repeats_itself(tmp_path, digits, some_labels, run):
    for name in "ab":
        run("classify", digits, "--labels", some_labels, "-o", tmp_path / name)
    first, second = ((tmp_path / name / "labels.csv").read_bytes() for name in "ab")
    assert first == second


def test_samples_that_no_label_reaches(tmp_path, run, table, islands):
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
    assert "warning: no label reaches 8 of 24 samples, which are not connected" in result.stderr
    assert result.stderr.endswith(
        ": rows 16, 17, 18 and 5 more; label some of them or link every sample to more others "
        "(--members)\n"
    )


def test_files_that_no_label_reaches_are_named(tmp_path, run, islands):
    folder = tmp_path / "islands"
    folder.mkdir()
    for i, row in enumerate(islands(3)):
        Image.fromarray((128 + 10 * row).astype(np.uint8).reshape(6, 10)).save(folder / f"{i}.png")
    (tmp_path / "some.csv").write_text("name,label\n0.png,five\n8.png,six\n")
    words = ["--labels", tmp_path / "some.csv", "-o", tmp_path / "out", "--members", 3]
    result = run("classify", folder, *words)
    assert result.exit_code == 0, result.output
    assert ": 16.png, 17.png, 18.png and 5 more; label some of them" in result.stderr


def test_labels_of_every_sample_leave_nothing_to_score(tmp_path, digits, run):
    np.save(tmp_path / "all.npy", Y)
    result = run("classify", digits, "--labels", tmp_path / "all.npy", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "score" not in result.stdout


def test_results_do_not_replace_what_is_read(tmp_path, digits, some_labels, fails):
    (tmp_path / "out").mkdir()
    labels = some_labels.rename(tmp_path / "out" / "labels.csv")
    text = labels.read_text()
    words = ["--labels", labels, "-o", tmp_path / "out", "--overwrite"]
    assert "would replace labels.csv in it" in fails("classify", digits, *words)
    assert labels.read_text() == text
    samples = digits.rename(tmp_path / "out" / "model.npz")
    message = fails("cluster", samples, "-k", 3, "-o", tmp_path / "out", "--overwrite")
    assert "would replace model.npz in it" in message
    assert samples.exists()
    assert "would replace labels.csv" in fails("label", samples, "--images", tmp_path, *words)
    assert labels.read_text() == text
