"""Degenerate and damaged input: a documented result, or an error that names the cause.

Through the library first, then through the program for files.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from enhg import (
    ElasticNetHypergraph,
    Hypergraph,
    HypergraphClassifier,
    HypergraphClustering,
    InputError,
    load_model,
    self_representation,
)
from enhg.cli.commands import app

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 20))
Y = np.repeat([0, 1, -1], 10)

FITS = {
    "self_representation": self_representation,
    "ElasticNetHypergraph": lambda X: ElasticNetHypergraph().fit(X),
    "HypergraphClustering": lambda X: HypergraphClustering(2, random_state=0).fit(X),
    "HypergraphClassifier": lambda X: HypergraphClassifier().fit(X, Y[: len(X)]),
}


@pytest.fixture(params=FITS)
def fit(request):
    """Each way into the library, called with samples alone."""
    return FITS[request.param]


def with_entry(value, row=3, column=4):
    samples = X.copy()
    samples[row, column] = value
    return samples


def with_row(value, row=3):
    samples = X.copy()
    samples[row] = value
    return samples


# --- values --------------------------------------------------------------------------------


def test_nan(fit):
    with pytest.raises(ValueError, match="X contains NaN"):
        fit(with_entry(np.nan))


@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_infinities(fit, value, dtype):
    with pytest.raises(ValueError, match="X contains infinity"):
        fit(with_entry(value).astype(dtype))


def test_text_and_complex_numbers(fit):
    with pytest.raises(ValueError, match="could not convert string to float"):
        fit(np.full((30, 20), "gray"))
    with pytest.raises(ValueError, match="Complex data not supported"):
        fit(X + 1j)


def test_huge_and_tiny_values_are_only_a_matter_of_scale():
    expected = ElasticNetHypergraph().fit(X).graph_.incidence.toarray()
    for scale in (1e-200, 1e200):
        incidence = ElasticNetHypergraph().fit(X * scale).graph_.incidence.toarray()
        np.testing.assert_allclose(incidence, expected, rtol=1e-4, atol=1e-6)


# --- shapes --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("samples", "words"),
    [
        (X[0], "Expected 2D array, got 1D array"),
        (X.reshape(30, 4, 5), "dim 3"),
        (X[:, :0], "0 feature"),
    ],
)
def test_wrong_shapes(fit, samples, words):
    with pytest.raises(ValueError, match=words):
        fit(samples)


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_samples(count):
    for name in ("self_representation", "ElasticNetHypergraph", "HypergraphClustering"):
        with pytest.raises(ValueError, match=rf"{count} sample.* minimum of 2 is required"):
            FITS[name](X[:count])


def test_one_sample_has_not_two_classes():
    with pytest.raises(ValueError, match=r"1 sample.*minimum of 2"):
        HypergraphClassifier().fit(X[:1], [0])


def test_labels_of_another_length():
    with pytest.raises(ValueError, match=r"inconsistent numbers of samples.*30, 5"):
        HypergraphClassifier().fit(X, Y[:5])


def test_labels_of_two_dimensions():
    with pytest.raises(ValueError, match="y should be a 1d array"):
        HypergraphClassifier().fit(X, np.c_[Y, Y])


def test_dictionary_of_other_features():
    with pytest.raises(ValueError, match=r"as many features as X \(20\), got 3"):
        self_representation(X, dictionary=X[:, :3])
    with pytest.raises(ValueError, match="dictionary contains NaN"):
        self_representation(X, dictionary=with_entry(np.nan))


def test_new_samples_of_other_features():
    model = HypergraphClassifier().fit(X, Y)
    with pytest.raises(ValueError, match=r"3 features.*expecting 20"):
        model.predict(X[:, :3])


def test_ready_hypergraph_of_other_samples():
    with pytest.raises(ValueError, match=r"one vertex for each sample of X \(30\), got 3 vertices"):
        HypergraphClustering(2, structure=Hypergraph(np.eye(3))).fit(X)


# --- samples without a direction -----------------------------------------------------------


@pytest.mark.parametrize("value", [0.0, 7.0])
def test_constant_sample_is_alone_in_its_hyperedge(value):
    with pytest.warns(UserWarning, match=r"1 of 30 samples are constant \(the first is row 3\)"):
        structure = ElasticNetHypergraph().fit(with_row(value))
    edges = structure.graph_.edges()
    assert edges[3].tolist() == [3]
    assert not any(3 in edge for i, edge in enumerate(edges) if i % 30 != 3)
    assert structure.representation_.coefficients[[3]].nnz == 0
    assert structure.graph_.vertex_degrees.min() > 0


@pytest.mark.parametrize("value", [0.0, 7.0])
def test_learners_work_around_a_constant_sample(value):
    with pytest.warns(UserWarning, match="constant"):
        labels = HypergraphClustering(2, random_state=0).fit_predict(with_row(value))
    assert set(labels) == {0, 1}
    given = Y.copy()
    given[3] = -1
    with (
        pytest.warns(UserWarning, match="constant"),
        pytest.warns(UserWarning, match=r"no label reaches 1 of 30 samples.*row 3"),
    ):
        model = HypergraphClassifier().fit(with_row(value), given)
    assert model.transduction_[3] == -1
    assert model.unreached_.tolist() == [i == 3 for i in range(30)]


def test_zero_sample_has_a_zero_representation():
    representation = self_representation(with_row(0.0))
    assert representation.coefficients[[3]].nnz == 0
    assert representation.coefficients[:, [3]].nnz == 0
    assert representation.certificate.max() <= 1e-4


def test_all_samples_constant():
    with (
        pytest.warns(UserWarning, match="30 of 30 samples are constant"),
        pytest.warns(UserWarning, match="30 connected components, more than the 2 clusters"),
    ):
        model = HypergraphClustering(2, random_state=0).fit(np.full((30, 20), 5.0))
    assert len(model.labels_) == 30


def test_equal_samples():
    """All samples equal: one group, and no failure."""
    model = HypergraphClustering(1, random_state=0).fit(np.repeat(X[:1], 30, axis=0))
    assert set(model.labels_) == {0}


# --- the number of clusters ------------------------------------------------------------------


@pytest.mark.parametrize("k", [31, 0, -1, 2.5, "3", None])
def test_impossible_numbers_of_clusters(k):
    with pytest.raises(
        ValueError, match=r"n_clusters must be .* from 1 to 30 \(.*\) or \"auto\", got"
    ):
        HypergraphClustering(k).fit(X)


def test_as_many_clusters_as_samples():
    labels = HypergraphClustering(30, random_state=0).fit_predict(X)
    assert len(set(labels)) == 30


@pytest.mark.parametrize("k", [1, 2])
def test_two_samples(k):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = HypergraphClustering(k, random_state=0).fit_predict(X[:2])
    assert len(set(labels)) == k


# --- labels --------------------------------------------------------------------------------


ALL_MISSING = {
    "-1": np.full(30, -1),
    "nan": np.full(30, np.nan),
    "empty": np.full(30, ""),
    "None": np.full(30, None),
}


@pytest.mark.parametrize("labels", ALL_MISSING.values(), ids=ALL_MISSING.keys())
def test_labels_all_missing(labels):
    with pytest.raises(ValueError, match="at least two classes, got no label"):
        HypergraphClassifier().fit(X, labels)


@pytest.mark.parametrize(
    "labels", [np.where(Y == 0, 0, -1), np.where(Y == 0, "cat", ""), np.full(30, 3)]
)
def test_labels_of_one_class(labels):
    with pytest.raises(ValueError, match="at least two classes, got only one class"):
        HypergraphClassifier().fit(X, labels)


@pytest.mark.parametrize("missing", ["", None])
def test_words_as_labels(missing):
    words = np.where(Y == 0, "cat", np.where(Y == 1, "dog", missing))
    model = HypergraphClassifier().fit(X, words)
    assert model.classes_.tolist() == ["cat", "dog"]
    numbers = HypergraphClassifier().fit(X, Y)
    expected = np.array(["cat", "dog"])[numbers.transduction_]
    assert model.transduction_.tolist() == expected.tolist()
    assert set(model.predict(X)) <= {"cat", "dog", ""}


def test_words_and_numbers_together():
    mixed = np.array(["cat", 1, None] * 10, dtype=object)
    with pytest.raises(ValueError, match="one type, got both text and numbers"):
        HypergraphClassifier().fit(X, mixed)


def test_measurements_are_no_labels():
    with pytest.raises(ValueError, match="continuous"):
        HypergraphClassifier().fit(X, X[:, 0])


def test_no_labels_given():
    with pytest.raises(ValueError, match="requires y to be passed"):
        HypergraphClassifier().fit(X, None)


# --- the program and files -----------------------------------------------------------------


@pytest.fixture
def home(tmp_path):
    """Where results would go: still empty after every failure."""
    folder = tmp_path / "home"
    folder.mkdir()
    yield folder
    assert list(folder.iterdir()) == []


def refused(home, source, *options):
    """Cluster `source`; the program must refuse it in one line, which is returned."""
    words = options or ("-k", 3)
    command = "classify" if "--labels" in words else "cluster"
    result = CliRunner().invoke(
        app, [command, str(source), "-o", str(home / "out"), *map(str, words)]
    )
    assert result.exit_code == 1, result.output
    assert isinstance(result.exception, SystemExit)
    assert "represent" not in result.stdout  # refused before the long work
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


def saved(path, array):
    np.save(path, array)
    return path


def photo(path, height=8, width=8):
    Image.fromarray(RNG.integers(0, 256, size=(height, width), dtype=np.uint8)).save(path)
    return path


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_file_with_values_that_are_not_finite(tmp_path, home, value):
    message = refused(home, saved(tmp_path / "a.npy", with_entry(value)))
    assert (
        "a.npy: values must be finite, got 1 of 600 values that are NaN or infinite, first in row 3"
        in message
    )


@pytest.mark.parametrize("array", [X[0], X.reshape(2, 3, 5, 4, 5)])
def test_file_of_the_wrong_shape(tmp_path, home, array):
    assert f"got {array.ndim} dimension" in refused(home, saved(tmp_path / "a.npy", array))


def test_file_of_one_sample(tmp_path, home):
    message = refused(home, saved(tmp_path / "a.npy", X[:1]), "-k", 1)
    assert "a.npy: must hold at least two samples, got one" in message


def test_file_of_fewer_samples_than_clusters(tmp_path, home):
    message = refused(home, saved(tmp_path / "a.npy", X), "-k", 31)
    assert "at most the number of samples (30), got 31 (option --clusters)" in message


def test_file_of_constant_samples(tmp_path):
    source = saved(tmp_path / "a.npy", with_row(7.0))
    result = CliRunner().invoke(app, ["cluster", str(source), "-k", "2", "-o", str(tmp_path / "o")])
    assert result.exit_code == 0
    assert "warning: 1 of 30 samples are constant (the first is row 3)" in result.stderr
    assert len((tmp_path / "o" / "labels.csv").read_text().splitlines()) == 31


def test_folder_of_broken_images(tmp_path, home):
    folder = tmp_path / "photos"
    folder.mkdir()
    files = [photo(folder / f"broken{i}.png") for i in range(3)]
    for broken in files:
        broken.write_bytes(broken.read_bytes()[:60])
    assert "3 images, of which none can be read" in refused(home, folder)
    for broken in files:
        broken.write_text("no image at all")
    assert "can be read: not an image" in refused(home, folder)


def test_empty_folder(tmp_path, home):
    (tmp_path / "empty").mkdir()
    assert "empty: no images in this folder" in refused(home, tmp_path / "empty")


def test_missing_input(tmp_path, home):
    assert "nowhere: no such file or folder" in refused(home, tmp_path / "nowhere")


def test_unknown_kind_of_file(tmp_path, home):
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    assert "a.xlsx: must be a folder of images or a file of kind" in refused(
        home, tmp_path / "a.xlsx"
    )


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.99])
def test_truncated_npz(tmp_path, home, keep):
    path = tmp_path / "a.npz"
    np.savez(path, X=X)
    content = path.read_bytes()
    path.write_bytes(content[: int(keep * len(content)) if keep < 1 else keep])
    assert "a.npz: cannot be read: damaged" in refused(home, path)


def test_size_for_a_file_and_key_for_a_folder(tmp_path, home):
    source = saved(tmp_path / "a.npy", X)
    message = refused(home, source, "-k", 3, "--size", "4x4")
    assert message.endswith("got 4×4 (option --size)\n")
    (tmp_path / "photos").mkdir()
    photo(tmp_path / "photos" / "a.png")
    message = refused(home, tmp_path / "photos", "-k", 3, "--key", "X")
    assert message.endswith("(option --key)\n")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("name,label\n0,\n1,-1\n", "got no label"),
        ("name,label\n0,cat\n1,cat\n", "got only 'cat'"),
        ("name,label\n0,cat\n99,dog\n", "among those of the input, got '99'"),
        ("name,label\n0,cat\n0,dog\n", "got 'cat' and 'dog' for 0"),
        ("cat\ndog\n", "each of 30 samples, or two columns, name and label, got 2 rows"),
        ("", "got no label"),
    ],
)
def test_label_files(tmp_path, home, text, part):
    source = saved(tmp_path / "a.npy", X)
    labels = tmp_path / "some.csv"
    labels.write_text(text)
    message = refused(home, source, "--labels", labels)
    assert part in message
    assert "some.csv" in message


def test_missing_label_file(tmp_path, home):
    source = saved(tmp_path / "a.npy", X)
    assert "no such file" in refused(home, source, "--labels", tmp_path / "none.csv")
    kinds = "labels must be a .csv, .tsv, .txt or .npy file"
    assert kinds in refused(home, source, "--labels", source.parent)


def test_a_model_is_loaded_from_a_path():
    with pytest.raises(InputError, match="path must be a path, got None") as caught:
        load_model(None)
    assert caught.value.parameter == "path"


def test_labels_that_are_not_among_the_true_labels(tmp_path, home):
    np.savez(tmp_path / "a.npz", X=X, y=Y)
    (tmp_path / "some.csv").write_text("0,cat\n1,dog\n")
    message = refused(home, tmp_path / "a.npz", "--labels", tmp_path / "some.csv")
    assert "among the true labels of the input, got 'cat', 'dog'" in message
