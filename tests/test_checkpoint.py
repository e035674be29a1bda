"""Checkpoints: what is refused, what counts as missing, and fits that are killed and go on."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from enhg import ElasticNetHypergraph, HypergraphClassifier, HypergraphClustering
from enhg._checkpoint import Checkpoint, digest
from enhg.exceptions import InputError
from enhg.representation import scheduling
from enhg.representation.solver import self_representation

X = load_digits().data[:300].astype(np.float32)
SMALL_BLOCKS = 40


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(scheduling, "_MAX_BLOCK_ROWS", SMALL_BLOCKS)


def equal(a, b):
    return (a.coefficients != b.coefficients).nnz == 0 and np.array_equal(
        a.certificate, b.certificate
    )


def block_files(folder):
    files = (folder / "representation").glob("float32-*.npz")
    return sorted(file for file in files if "layout" not in file.name)


def count_solved(monkeypatch):
    """Return a list that receives the number of samples of every block that is solved."""
    solved, solve = [], scheduling.solve_block

    def counted(samples, *args, **options):
        solved.append(len(samples))
        return solve(samples, *args, **options)

    monkeypatch.setattr(scheduling, "solve_block", counted)
    return solved


def test_representation_equals_that_without_a_checkpoint(tmp_path, monkeypatch):
    plain = self_representation(X)
    assert equal(plain, self_representation(X, checkpoint=tmp_path / "c"))
    assert len(block_files(tmp_path / "c")) == 8
    solved = count_solved(monkeypatch)
    assert equal(plain, self_representation(X, checkpoint=tmp_path / "c"))
    assert solved == []


def test_only_missing_and_damaged_blocks_are_solved(tmp_path, monkeypatch):
    plain = self_representation(X, checkpoint=tmp_path)
    files = block_files(tmp_path)
    files[0].unlink()
    os.truncate(files[1], 300)
    flipped = bytearray(files[2].read_bytes())
    flipped[len(flipped) // 2] ^= 1
    files[2].write_bytes(flipped)
    files[3].write_bytes(b"")
    files[4].unlink()
    os.mkfifo(files[4])
    np.savez(files[5], other=np.zeros(3))
    solved = count_solved(monkeypatch)
    assert equal(plain, self_representation(X, checkpoint=tmp_path))
    assert len(solved) == 6


def test_blocks_of_another_layout_are_solved_again(tmp_path, monkeypatch):
    self_representation(X, checkpoint=tmp_path)
    (tmp_path / "representation" / "float32-layout.npz").unlink()
    monkeypatch.setattr(scheduling, "_MAX_BLOCK_ROWS", SMALL_BLOCKS // 2)
    plain = self_representation(X)
    solved = count_solved(monkeypatch)
    assert equal(plain, self_representation(X, checkpoint=tmp_path))
    assert len(solved) == 15


def test_layout_is_that_of_the_checkpoint(tmp_path, monkeypatch):
    plain = self_representation(X, checkpoint=tmp_path)
    block_files(tmp_path)[3].unlink()
    monkeypatch.setattr(scheduling, "_MAX_BLOCK_ROWS", 7)
    assert equal(plain, self_representation(X, checkpoint=tmp_path, memory_budget=1))


def test_rows_in_float64_are_kept(tmp_path, monkeypatch):
    options = {"gamma": 3000.0, "lam": 0.01, "tol": 1e-6}
    plain = self_representation(X, **options)
    assert equal(plain, self_representation(X, **options, checkpoint=tmp_path))
    assert list((tmp_path / "representation").glob("float32-*-0.npz"))
    solved = count_solved(monkeypatch)
    assert equal(plain, self_representation(X, **options, checkpoint=tmp_path))
    assert solved == []


def test_sparse_errors_are_kept(tmp_path, monkeypatch):
    plain = self_representation(X, error_weight=0.5, checkpoint=tmp_path)
    solved = count_solved(monkeypatch)
    again = self_representation(X, error_weight=0.5, checkpoint=tmp_path)
    assert solved == []
    assert (plain.sparse_errors != again.sparse_errors).nnz == 0


@pytest.mark.parametrize(
    ("samples", "options", "reason"),
    [
        (X[:-1], {}, "other samples"),
        (X + np.float32(1e-3), {}, "other samples"),
        (X.astype(np.float64), {}, "other samples"),
        (X, {"gamma": 5.0}, r"gamma = 10\.0, not 5\.0"),
        (X, {"lam": 1.0}, r"lam = 5\.0, not 1\.0"),
        (X, {"loss": "norm"}, "loss = squared, not norm"),
        (X, {"tol": 1e-3}, "tol"),
        (X, {"error_weight": 1.0}, "error_weight = None, not"),
        (X, {"dictionary": X[:50]}, "other atoms"),
    ],
)
def test_other_samples_or_parameters_are_refused(tmp_path, samples, options, reason):
    self_representation(X, checkpoint=tmp_path)
    files = block_files(tmp_path)
    before = [file.stat().st_mtime_ns for file in files]
    with pytest.raises(InputError, match=f"{tmp_path}: must be a checkpoint.*{reason}") as error:
        self_representation(samples, checkpoint=tmp_path, **options)
    assert error.value.parameter == "checkpoint"
    assert [file.stat().st_mtime_ns for file in files] == before


def test_other_versions_are_refused(tmp_path):
    self_representation(X, checkpoint=tmp_path)
    file = tmp_path / "representation" / "computation.json"
    description = json.loads(file.read_text())
    file.write_text(json.dumps(description | {"enhg": "0.0.1"}))
    with pytest.raises(InputError, match=r"got one of enhg 0\.0\.1, while this is"):
        self_representation(X, checkpoint=tmp_path)
    file.write_text(json.dumps(description | {"version": 99}))
    with pytest.raises(InputError, match="another version of the format"):
        self_representation(X, checkpoint=tmp_path)


def test_replace_removes_another_computation(tmp_path):
    self_representation(X, gamma=5, checkpoint=tmp_path)
    plain = self_representation(X)
    assert equal(plain, self_representation(X, checkpoint=Checkpoint(tmp_path, replace=True)))
    assert equal(plain, self_representation(X, checkpoint=tmp_path))


def test_checkpoints_are_paths():
    for compute in (
        lambda: self_representation(X, checkpoint=3),
        lambda: HypergraphClustering(2, checkpoint=3).fit(X),
    ):
        with pytest.raises(InputError, match="checkpoint must be a path, got 3") as caught:
            compute()
        assert caught.value.parameter == "checkpoint"


def test_folder_that_is_no_checkpoint(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"new or empty folder.*got a folder with notes\.txt"):
        self_representation(X, checkpoint=tmp_path)
    with pytest.raises(InputError, match="got a file"):
        self_representation(X, checkpoint=tmp_path / "notes.txt")
    assert [file.name for file in tmp_path.iterdir()] == ["notes.txt"]


@pytest.mark.parametrize("leftovers", [[], [".0123.tmp"]])
def test_killed_before_the_description_was_written(tmp_path, leftovers):
    (tmp_path / "c" / "representation").mkdir(parents=True)
    for name in leftovers:
        (tmp_path / "c" / "representation" / name).write_bytes(b"{")
    plain = self_representation(X)
    assert equal(plain, self_representation(X, checkpoint=tmp_path / "c"))
    assert len(block_files(tmp_path / "c")) == 8


def test_leftovers_of_a_killed_process_are_removed(tmp_path):
    self_representation(X, checkpoint=tmp_path)
    leftover = tmp_path / "representation" / f".{'0123' * 8}.tmp"
    leftover.write_bytes(b"part")
    self_representation(X, checkpoint=tmp_path)
    assert not leftover.exists()


def test_nothing_is_written_before_the_delay(tmp_path, monkeypatch):
    self_representation(X, checkpoint=Checkpoint(tmp_path / "late", delay=3600))
    assert not (tmp_path / "late").exists()
    checkpoint = Checkpoint(tmp_path / "soon", delay=0.0)
    checkpoint.starts = time.monotonic() + 0.05
    parts = checkpoint.computation("sums", {})
    parts.store("first", {"sum": 1})
    time.sleep(0.06)
    parts.store("second", {"sum": 2})
    stored = Checkpoint(tmp_path / "soon").computation("sums", {})
    assert [stored.load(name) for name in ("first", "second")] == [{"sum": 1}, {"sum": 2}]


def test_remove_leaves_other_files(tmp_path):
    checkpoint = Checkpoint(tmp_path / "c")
    self_representation(X, checkpoint=checkpoint)
    (tmp_path / "c" / "mine").mkdir()
    (tmp_path / "c" / "mine" / "notes.txt").write_text("mine")
    checkpoint.remove()
    assert [entry.name for entry in (tmp_path / "c").iterdir()] == ["mine"]


def test_killed_while_a_computation_is_removed(tmp_path, monkeypatch):
    """The next run starts anew, in whichever order a folder is removed."""

    def killed(folder):
        (folder / "computation.json").unlink()
        raise KeyboardInterrupt

    self_representation(X, checkpoint=tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("shutil.rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            Checkpoint(tmp_path).remove()
    Checkpoint(tmp_path).remove()
    assert not tmp_path.exists()


def test_digest_depends_on_type_shape_and_entries(monkeypatch):
    arrays = [X, X.T, X[1:], X.astype(np.float64), X.ravel(), X[:, ::-1]]
    assert len({digest(array) for array in arrays}) == len(arrays)
    whole = digest(X)
    monkeypatch.setattr("enhg._checkpoint._HASHED_BYTES", 1000)
    assert digest(X) == digest(np.asfortranarray(X)) == whole


@pytest.mark.parametrize("n_clusters", [4, "auto"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_clustering_goes_on(tmp_path, n_clusters):
    def fit(checkpoint):
        model = HypergraphClustering(n_clusters, random_state=0, checkpoint=checkpoint)
        return model.fit(X)

    plain = fit(None)
    fit(tmp_path)
    parts = sorted((tmp_path / "clustering").glob("*.npz"))
    assert len(parts) >= 7
    for removed in parts:
        removed.unlink()
        again = fit(tmp_path)
        assert removed.exists()
        for name in ("labels_", "confidence_", "embedding_", "cluster_centers_"):
            np.testing.assert_array_equal(getattr(plain, name), getattr(again, name))
        assert plain.method_ == again.method_


def test_clustering_without_a_seed_goes_on_with_its_own(tmp_path):
    first = HypergraphClustering(4, checkpoint=tmp_path).fit(X)
    for part in (tmp_path / "clustering").glob("*.npz"):
        if part.stem != "seed":
            part.unlink()
    second = HypergraphClustering(4, checkpoint=tmp_path).fit(X)
    np.testing.assert_array_equal(first.embedding_, second.embedding_)


@pytest.mark.parametrize("changed", [{"n_clusters": 5}, {"n_init": 3}, {"random_state": 1}])
def test_other_parameters_of_a_clustering_are_refused(tmp_path, changed):
    parameters = {"n_clusters": 4, "random_state": 0}
    HypergraphClustering(**parameters, checkpoint=tmp_path).fit(X)
    with pytest.raises(InputError, match=next(iter(changed))):
        HypergraphClustering(**(parameters | changed), checkpoint=tmp_path).fit(X)


def test_another_hypergraph_is_refused(tmp_path):
    structure = ElasticNetHypergraph(preprocessing="zero_mean").fit(X)
    other = ElasticNetHypergraph(preprocessing="zero_mean", gamma=5).fit(X)
    HypergraphClustering(4, structure=structure.graph_, checkpoint=tmp_path).fit(X)
    with pytest.raises(InputError, match="got one of other hypergraph"):
        HypergraphClustering(4, structure=other.graph_, checkpoint=tmp_path).fit(X)


def test_classification_goes_on(tmp_path):
    y = load_digits().target[:300]
    given = np.where(np.arange(300) < 60, y, -1)
    plain = HypergraphClassifier().fit(X, given)
    HypergraphClassifier(checkpoint=tmp_path).fit(X, given)
    again = HypergraphClassifier(checkpoint=tmp_path).fit(X, given)
    np.testing.assert_array_equal(plain.label_distributions_, again.label_distributions_)
    assert plain.method_weights_ == again.method_weights_
    given[:2] = given[1::-1]
    with pytest.raises(InputError, match="got one of other labels"):
        HypergraphClassifier(checkpoint=tmp_path).fit(X, given)


def test_prediction_goes_on(tmp_path, monkeypatch):
    model = HypergraphClustering(4, random_state=0).fit(X[:200])
    plain = model.predict_with_scores(X[200:], checkpoint=tmp_path)
    solved = count_solved(monkeypatch)
    again = model.predict_with_scores(X[200:], checkpoint=tmp_path)
    np.testing.assert_array_equal(plain.labels, again.labels)
    assert solved == []


FIT = f"""
import sys, warnings
import numpy as np
from sklearn.datasets import load_digits
from enhg import HypergraphClustering
from enhg.representation import scheduling

warnings.simplefilter("ignore")
scheduling._MAX_BLOCK_ROWS = {SMALL_BLOCKS}
X = load_digits().data[:900].astype(np.float32)
print("ready", flush=True)
model = HypergraphClustering(random_state=0, checkpoint=sys.argv[1]).fit(X)
np.savez(sys.argv[2], labels=model.labels_, confidence=model.confidence_,
         coefficients=model.representation_.coefficients.data)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no limits of the size of files")
def test_no_space_left(tmp_path):
    limited = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))\n{FIT}"
    arguments = [str(tmp_path / "c"), str(tmp_path / "r.npz")]
    failed = subprocess.run(
        [sys.executable, "-c", limited, *arguments], capture_output=True, text=True, check=False
    )
    assert failed.returncode != 0
    assert "the checkpoint cannot be written, File too large; run the same again" in failed.stderr
    written = [path for path in Path(tmp_path, "c").rglob("*") if path.is_file()]
    assert not [path for path in written if path.suffix == ".tmp"]
    assert subprocess.run([sys.executable, "-c", FIT, *arguments], check=False).returncode == 0


LISTS = '{"format": "enhg.Checkpoint", "version": 1, "enhg": "0", "arrays": [], "parameters": []}'


@pytest.mark.parametrize(
    "content", [None, "", "{", "[" * 100_000, LISTS], ids=lambda c: len(c or "")
)
def test_a_description_that_is_lost_is_named(tmp_path, content):
    self_representation(X, checkpoint=tmp_path)
    description = tmp_path / "representation" / "computation.json"
    description.unlink()
    if content is not None:
        description.write_text(content)
    with pytest.raises(InputError, match=r"computation.json is missing or damaged"):
        self_representation(X, checkpoint=tmp_path)
