"""Models in files."""

import json

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator

from enhg import (
    ElasticNetHypergraph,
    HypergraphClassifier,
    HypergraphClustering,
    KNNHypergraph,
    L1Hypergraph,
    load_model,
    save_model,
)
from enhg.io import InputError
from enhg.io.models import read_model

X, Y = load_digits(n_class=4, return_X_y=True)
HALF = len(X) // 2
FEW = np.where(np.arange(HALF) % 10 == 0, Y[:HALF], -1)


def clusters(structure=None, **options):
    return HypergraphClustering(4, structure=structure, random_state=0, **options).fit(X[:HALF])


MODELS = {
    "clusters": clusters,
    "counted": lambda: HypergraphClustering("auto", random_state=0).fit(X[:HALF]),
    "plain": lambda: clusters(eigenvector_weighting="equal", normalize_rows=False),
    "lasso": lambda: clusters(L1Hypergraph()),
    "whitened": lambda: clusters(ElasticNetHypergraph(preprocessing="whiten")),
    "lifted": lambda: clusters(ElasticNetHypergraph(preprocessing="lift", gamma=np.float32(8))),
    "as they are": lambda: clusters(ElasticNetHypergraph(preprocessing="none", threshold=5)),
    "frozen": lambda: clusters(FrozenEstimator(ElasticNetHypergraph().fit(X[:HALF]))),
    "classes": lambda: HypergraphClassifier().fit(X[:HALF], FEW),
    "names": lambda: HypergraphClassifier().fit(X[:HALF], np.array(["é", "b", "c", "d", ""])[FEW]),
    "yes or no": lambda: HypergraphClassifier().fit(X[:HALF], Y[:HALF] > 1),
    "floats": lambda: HypergraphClassifier().fit((X[:HALF] / 7).astype(np.float32), FEW),
}


def same(one, other):
    """Whether two fitted attributes are alike, whatever they are."""
    if sparse.issparse(one):
        return one.shape == other.shape and not (one != other).nnz
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if hasattr(one, "__dataclass_fields__"):
        return all(same(getattr(one, name), getattr(other, name)) for name in vars(one))
    return one == other


@pytest.mark.parametrize("name", MODELS)
def test_what_is_read_is_what_was_saved(tmp_path, name):
    model = MODELS[name]()
    save_model(model, tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert type(again) is type(model)
    for attribute, value in vars(model).items():
        if attribute.endswith("_") and attribute != "structure_":
            assert same(value, getattr(again, attribute)), attribute
    for parameter, value in model.get_params(deep=False).items():
        assert parameter in ("graph", "random_state") or getattr(again, parameter) == value
    new = X[HALF:] if name != "floats" else (X[HALF:] / 7).astype(np.float32)
    first, second = model.place(new), again.place(new)
    for part in ("labels", "confidence", "outlier_scores"):
        np.testing.assert_array_equal(getattr(first, part), getattr(second, part))


def test_a_model_that_was_read_can_be_fitted_anew(tmp_path):
    structure = ElasticNetHypergraph(threshold=6, positive=np.True_, n_jobs=1, memory_budget=10**8)
    save_model(clusters(structure), tmp_path / "model.npz")
    again = load_model(tmp_path / "model.npz")
    assert (again.graph.level, again.graph.signed) == (6, True)
    assert again.graph.n_jobs is again.graph.memory is None  # they are the machine's
    anew = clone(again).set_params(random_state=0).fit(X[:HALF])
    np.testing.assert_array_equal(anew.labels_, again.labels_)


def test_the_shape_of_images_is_kept(tmp_path):
    model = clusters()
    save_model(model, tmp_path / "a.npz", image_shape=(8, 8))
    save_model(model, tmp_path / "b.npz")
    assert read_model(tmp_path / "a.npz")[1] == (8, 8)
    assert read_model(tmp_path / "b.npz")[1] is None


def test_images_of_bytes_stay_small(tmp_path):
    save_model(clusters(), tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as archive:
        assert archive["samples"].dtype == np.uint8


def test_nothing_is_overwritten_unasked(tmp_path):
    model, file = clusters(), tmp_path / "model.npz"
    file.write_text("mine")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        save_model(model, file)
    assert file.read_text() == "mine"
    save_model(model, file, overwrite=True)
    assert list(tmp_path.iterdir()) == [file]
    load_model(file)


@pytest.mark.parametrize(
    "model",
    [
        HypergraphClustering(4, structure=KNNHypergraph(), random_state=0),
        HypergraphClustering(
            4, structure=ElasticNetHypergraph().fit(X[:HALF]).graph_, random_state=0
        ),
    ],
)
def test_what_cannot_place_new_samples_is_not_saved(tmp_path, model):
    with pytest.raises(ValueError, match=r"can be saved, got HypergraphClustering on \w+"):
        save_model(model.fit(X[:HALF]), tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_unfitted(tmp_path):
    with pytest.raises(NotFittedError):
        save_model(HypergraphClustering(4), tmp_path / "model.npz")


# --- files that are no models ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    file = tmp_path_factory.mktemp("models") / "model.npz"
    save_model(clusters(), file)
    return file


def rewritten(saved, file, **changes):
    with np.load(saved) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays |= changes
    np.savez(file, **{name: array for name, array in arrays.items() if array is not None})
    return file


def header_with(saved, **changes):
    with np.load(saved) as archive:
        return np.array(json.dumps(json.loads(str(archive["header"])) | changes))


def test_missing_file(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        load_model(tmp_path / "none.npz")


@pytest.mark.parametrize("part", [0, 0.1, 0.5, 0.99])
def test_truncated_file(saved, tmp_path, part):
    whole = saved.read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: int(part * len(whole))])
    with pytest.raises(InputError, match=r"cut\.npz: is no model that this enhg can read"):
        load_model(tmp_path / "cut.npz")


def test_damaged_file(saved, tmp_path):
    whole = bytearray(saved.read_bytes())
    whole[len(whole) // 2] ^= 0xFF
    (tmp_path / "bad.npz").write_bytes(whole)
    with pytest.raises(InputError, match="is no model"):
        load_model(tmp_path / "bad.npz")


def test_hypergraph_file_is_no_model(tmp_path):
    clusters().graph_.save(tmp_path / "graph.npz")
    with pytest.raises(InputError, match=r"without the mark 'enhg\.Model'"):
        load_model(tmp_path / "graph.npz")


def test_newer_version(saved, tmp_path):
    file = rewritten(saved, tmp_path / "newer.npz", version=2)
    with pytest.raises(InputError, match="version 2 and this enhg reads version 1"):
        load_model(file)


def test_pickles_are_refused(saved, tmp_path):
    file = rewritten(saved, tmp_path / "pickle.npz", labels_=np.array([{}], dtype=object))
    with pytest.raises(InputError, match="allow_pickle=False"):
        load_model(file)


@pytest.mark.parametrize(
    "change",
    [
        {"learner": {"kind": "os.system", "parameters": {}}},
        {"learner": {"kind": "HypergraphClustering", "parameters": {"evil": 1}}},
        {"structure": {"kind": "KNNHypergraph", "parameters": {}}},
        {"normalizer": 3},
        {"image_shape": "large"},
        {"image_shape": [60000, 60000]},
        {"image_shape": [64]},
        {"normalizer": {"how": "evil", "spread": 1.0}},
        {"normalizer": {"how": "whiten", "spread": 1.0}},
        {"normalizer": {"how": "smooth", "spread": 1.0}},
        {"error_weight": "much"},
        {"feature_names": ["a", "b"]},
        {"count": [1, 2]},
    ],
)
def test_header_that_is_not_known(saved, tmp_path, change):
    file = rewritten(saved, tmp_path / "odd.npz", header=header_with(saved, **change))
    with pytest.raises(InputError, match="is no model"):
        load_model(file)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("embedding_", np.full((359, 4), "text")),
        ("cluster_centers_", np.full((4, 20), np.nan)),
        ("labels_", np.full(359, 4)),
        ("labels_", np.full(359, -1)),
        ("outlier_scores", np.full(359, "text")),
        ("confidence_", np.full(359, 1j)),
        ("spectrum.values", None),
    ],
)
def test_parts_that_are_not_what_they_should_be(saved, tmp_path, name, value):
    with pytest.raises(InputError, match="is no model"):
        load_model(rewritten(saved, tmp_path / "odd.npz", **{name: value}))


def test_compressed_files_are_refused(saved, tmp_path):
    """They could be any number of times as large in memory."""
    with np.load(saved) as archive:
        np.savez_compressed(tmp_path / "small.npz", **dict(archive))
    with pytest.raises(InputError, match="compressed"):
        load_model(tmp_path / "small.npz")


def test_folder_in_place_of_the_file(tmp_path):
    with pytest.raises(InputError, match=r"give the file model\.npz in it"):
        load_model(tmp_path)


def test_what_cannot_be_written_is_refused(tmp_path):
    model = clusters()
    model.spectrum = ["equal"]
    with pytest.raises(ValueError, match="spectrum must be a number or a word to be saved"):
        save_model(model, tmp_path / "model.npz")


@pytest.mark.parametrize("name", ["embedding_", "labels_", "coefficients.indptr", "graph.weights"])
def test_parts_that_do_not_fit(saved, tmp_path, name):
    with np.load(saved) as archive:
        part = archive[name][:-3]
    with pytest.raises(InputError, match="is no model"):
        load_model(rewritten(saved, tmp_path / "short.npz", **{name: part}))
    with pytest.raises(InputError, match="is no model"):
        load_model(rewritten(saved, tmp_path / "without.npz", **{name: None}))
