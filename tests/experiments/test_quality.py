"""Scores of the defaults beside other libraries."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits, make_blobs

from enhg import InputError
from experiments import baselines, quality
from experiments.tabular import read_records

X, Y = load_digits(n_class=3, return_X_y=True)
X, Y = (X[:120] / 16).astype(np.float32), Y[:120]


@pytest.fixture
def no_umap(monkeypatch):
    """Leave out the methods that need an optional package."""
    monkeypatch.setattr(quality, "umap_embedding", lambda X, run: X[:, :10])
    own = {name: f for name, f in baselines.CLUSTERERS.items() if name != "Leiden"}
    monkeypatch.setattr(quality, "CLUSTERERS", own)
    own = {name: f for name, f in baselines.CLASSIFIERS.items() if "graphlearning" not in name}
    monkeypatch.setattr(quality, "CLASSIFIERS", own)


# --- scores --------------------------------------------------------------------------------------


def test_every_clusterer_is_scored(no_umap):
    rows = list(quality.clustering_rows(X, Y, 0))
    names = [quality.OURS, *quality.CLUSTERERS, *baselines.UMAP_CLUSTERERS]
    assert [row["method"] for row in rows] == names
    assert rows[0]["ac"] > 0.9
    assert all(0 < row["ac"] <= 1 and 0 <= row["nmi"] <= 1 and row["seconds"] > 0 for row in rows)


def test_every_classifier_is_scored_on_the_unlabeled_samples(no_umap):
    rows = list(quality.classification_rows(X, Y, 0))
    assert {row["labels"] for row in rows} == {"1 per class", "3 per class", "5 per class", "10%"}
    names = {row["method"] for row in rows if row["labels"] == "5 per class"}
    assert names == {quality.OURS, *quality.CLASSIFIERS}
    first = {row["method"] for row in rows if row["labels"] == "1 per class"}
    assert first == names - set(quality.NEEDS_MORE_LABELS)
    tenth = {row["method"]: row["accuracy"] for row in rows if row["labels"] == "10%"}
    assert set(tenth) == names
    assert tenth[quality.OURS] > 0.9


def test_uneven_classes_are_clustered_and_classified(no_umap):
    rows = quality.thin(Y, 10, 0)
    scored = list(quality.uneven_rows(X[rows], Y[rows], 0))
    assert {row["task"] for row in scored} == {"clustering", "classification"}
    assert {row["labels"] for row in scored if row["task"] == "classification"} == {
        "5 per class",
        "10%",
    }


def test_the_number_of_clusters_is_estimated():
    samples, y = make_blobs(200, 30, centers=4, cluster_std=0.5, random_state=0)
    (row,) = quality.count_rows(samples, y, 0)
    assert (row["classes"], row["estimate"], row["reliable"]) == (4, 4, "yes")


def test_labels_are_drawn_from_every_class():
    for name, labeled in quality.label_draws(Y, 0, quality.LABELS_PER_CLASS):
        counts = np.bincount(Y[labeled], minlength=3)
        if name == "10%":
            np.testing.assert_array_equal(counts, np.round(0.1 * np.bincount(Y)))
        else:
            assert set(counts) == {int(name.split()[0])}


# --- samples -------------------------------------------------------------------------------------


@pytest.mark.parametrize("run", [0, 1])
def test_sizes_of_thinned_classes_fall_geometrically(run):
    y = np.repeat(np.arange(5), 160)
    rows = quality.thin(y, 16, run)
    assert (np.diff(rows) > 0).all()
    sizes = np.bincount(y[rows])
    assert sorted(sizes, reverse=True) == [160, 80, 40, 20, 10]


def test_every_run_thins_in_another_order():
    y = np.repeat(np.arange(5), 50)
    orders = {tuple(np.bincount(y[quality.thin(y, 10, run)])) for run in range(5)}
    assert len(orders) > 1
    np.testing.assert_array_equal(quality.thin(y, 10, 3), quality.thin(y, 10, 3))


def test_small_classes_keep_all_samples():
    y = np.repeat([0, 1, 2], [3, 40, 400])
    for run in range(4):
        sizes = np.bincount(y[quality.thin(y, 10, run)])
        assert sizes[0] == 3
        assert 4 <= sizes[1] <= 40
        assert 4 <= sizes[2] <= 40


def test_every_data_set_is_there(data_folder):
    for name in quality.KINDS:
        samples, y = quality.load_samples(name, data_folder)
        assert len(samples) == len(y)
        assert np.abs(samples).max() == 1
        assert set(y) == set(range(len(np.unique(y))))
        has_two = np.median(np.bincount(y)) / 30 >= 2
        assert has_two == (name not in quality.SMALL)


# --- pieces --------------------------------------------------------------------------------------


def test_pieces_can_be_limited():
    everything = quality.pieces()
    assert len(set(everything)) == len(everything)
    assert {piece.part for piece in everything} == set(quality.PARTS)
    assert {piece.name for piece in everything} == set(quality.KINDS)
    assert not any(piece.thinned == "1:30" and piece.name == "ORL" for piece in everything)
    few = quality.pieces(["uneven"], ["USPS"], 1)
    assert [(piece.part, piece.name, piece.thinned, piece.run) for piece in few] == [
        ("uneven", "USPS", "1:10", 0),
        ("uneven", "USPS", "1:30", 0),
    ]


@pytest.fixture
def stored(tmp_path, monkeypatch):
    """Store the scores of one clustering method in place of every piece."""
    monkeypatch.setattr(quality, "FILE", tmp_path / "quality.csv.gz")
    monkeypatch.setattr(quality, "cpu_count", lambda: 1)

    def compute(piece, folder):
        assert folder == tmp_path
        return [
            {"part": piece.part, "data set": piece.name, "kind": quality.KINDS[piece.name],
             "thinned": piece.thinned, "run": piece.run, "task": "clustering",
             "method": quality.OURS, "ac": 0.5, "nmi": 0.5, "seconds": 1.0}
        ]  # fmt: skip

    monkeypatch.setattr(quality.Piece, "compute", compute)
    return tmp_path


def test_stored_pieces_are_not_computed_again(stored):
    calls = []
    quality.measure(stored, quality.pieces(only=["USPS"]), lambda *call: calls.append(call))
    n_pieces = len(quality.pieces(only=["USPS"]))
    assert calls == [(done, n_pieces) for done in range(1, n_pieces + 1)]
    assert not quality.is_complete()
    before = quality.FILE.read_bytes()
    quality.measure(stored, quality.pieces(only=["USPS"]), lambda *call: pytest.fail("computed"))
    assert quality.FILE.read_bytes() == before
    assert len(read_records(quality.FILE)) == n_pieces


def test_scores_are_complete_when_all_sets_have_as_many_runs(stored):
    assert not quality.is_complete()
    quality.measure(stored, quality.pieces(runs=1))
    assert quality.is_complete()
    quality.measure(stored, quality.pieces(["clustering"], runs=2))
    assert not quality.is_complete()
    quality.measure(stored, quality.pieces(runs=2))
    assert quality.is_complete()
    assert {path.name for path in stored.iterdir()} == {"quality.csv.gz"}


def test_a_file_without_labels_is_refused(tmp_path):
    np.savez(tmp_path / "orl_32x32.npz", X=np.ones((4, 3)))
    with pytest.raises(InputError, match="must hold labels, got none"):
        quality.load_samples("ORL", tmp_path)


def test_a_piece_is_computed(tmp_path):
    (piece,) = quality.pieces(["preprocessing"], ["digits"], 1)[1:]
    rows = piece.compute(tmp_path)  # scikit-learn's digits need no file
    assert {row["thinned"] for row in rows} == {"1:10"}
    assert {row["method"] for row in rows} == {"zero_mean", "smooth", "whiten"}
