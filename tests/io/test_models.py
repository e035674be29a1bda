"""Saving and loading of fitted learners."""

import copy
import json
import zlib

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import StandardScaler

from enhg import (
    ElasticNetHypergraph,
    HyperedgeRule,
    HypergraphClassifier,
    HypergraphClustering,
    InputError,
    KNNHypergraph,
    L1Hypergraph,
    load_model,
    save_model,
)
from enhg._npz import read_archive, write_archive
from enhg.io.models import read_model

X, Y = load_digits(n_class=4, return_X_y=True)
HALF = len(X) // 2
FEW = np.where(np.arange(HALF) % 10 == 0, Y[:HALF], -1)
WRONG = np.where(np.arange(HALF) == 10, (FEW + 1) % 4, FEW)  # one given label is wrong
FORMAT = ("enhg.Model", 2)
NAMES = ["é/日本.jpg", "not-\udcffunicode.jpg", "", *(f"{i}.jpg" for i in range(3, HALF))]
THUMBNAILS = [bytes([i % 256]) * 3 for i in range(HALF)]


def clusters(structure=None, **options):
    return HypergraphClustering(4, structure=structure, random_state=0, **options).fit(X[:HALF])


MODELS = {
    "clusters": clusters,
    "counted": lambda: HypergraphClustering("auto", random_state=0).fit(X[:HALF]),
    "plain": lambda: clusters(method="spectral", normalize_rows=False),
    "lasso": lambda: clusters(L1Hypergraph()),
    "whitened": lambda: clusters(ElasticNetHypergraph(preprocessing="whiten")),
    "lifted": lambda: clusters(ElasticNetHypergraph(preprocessing="lift", gamma=np.float32(8))),
    "as they are": lambda: clusters(
        ElasticNetHypergraph(preprocessing="none", hyperedges=HyperedgeRule(threshold=5))
    ),
    "frozen": lambda: clusters(FrozenEstimator(ElasticNetHypergraph().fit(X[:HALF]))),
    "classes": lambda: HypergraphClassifier().fit(X[:HALF], FEW),
    "one method": lambda: HypergraphClassifier(method="poisson").fit(X[:HALF], FEW),
    "disputed": lambda: HypergraphClassifier().fit(X[:HALF], WRONG),
    "names": lambda: HypergraphClassifier().fit(X[:HALF], np.array(["é", "b", "c", "d", ""])[FEW]),
    "yes or no": lambda: HypergraphClassifier().fit(X[:HALF], Y[:HALF] > 1),
    "floats": lambda: HypergraphClassifier().fit((X[:HALF] / 7).astype(np.float32), FEW),
}


def same(one, other):
    """Whether two fitted attributes are equal, of whatever type."""
    if sparse.issparse(one):
        return one.shape == other.shape and not (one != other).nnz
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if hasattr(one, "__dataclass_fields__"):
        names = one.__dataclass_fields__
        return all(same(getattr(one, name), getattr(other, name)) for name in names)
    return one == other


@pytest.mark.filterwarnings("ignore:the estimate of the number of clusters")
@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_equals_the_saved_one(tmp_path, name):
    model = MODELS[name]()
    save_model(model, tmp_path / "model.npz")
    loaded = load_model(tmp_path / "model.npz")
    assert type(loaded) is type(model)
    compared = 0
    for attribute, value in vars(model).items():
        if attribute.endswith("_") and attribute != "structure_":
            assert same(value, getattr(loaded, attribute)), attribute
            compared += 1
    assert compared >= 10
    for parameter, value in model.get_params(deep=False).items():
        assert parameter in ("structure", "random_state") or getattr(loaded, parameter) == value
    new = X[HALF:] if name != "floats" else (X[HALF:] / 7).astype(np.float32)
    first, second = model.predict_with_scores(new), loaded.predict_with_scores(new)
    for part in ("labels", "confidence", "outlier_scores"):
        np.testing.assert_array_equal(getattr(first, part), getattr(second, part))


def test_a_disputed_label_is_kept(tmp_path):
    model = MODELS["disputed"]()
    assert 10 in model.disputed_indices_
    assert model.transduction_[10] == WRONG[10]
    save_model(model, tmp_path / "model.npz")
    loaded = load_model(tmp_path / "model.npz")
    np.testing.assert_array_equal(loaded.transduction_, model.transduction_)
    np.testing.assert_array_equal(loaded.disputed_indices_, model.disputed_indices_)


def test_figures_of_the_structure_are_kept(tmp_path):
    model = clusters()
    save_model(model, tmp_path / "model.npz")
    loaded = load_model(tmp_path / "model.npz").structure_
    structure = model.structure_
    np.testing.assert_allclose(loaded.relative_residuals_, structure.relative_residuals_)
    assert not (loaded.member_coefficients_ != structure.member_coefficients_).nnz


def test_a_loaded_model_can_be_fitted_again(tmp_path):
    rule = HyperedgeRule(threshold=6, positive=np.True_)
    structure = ElasticNetHypergraph(hyperedges=rule, n_jobs=1, memory_budget=10**8)
    save_model(clusters(structure), tmp_path / "model.npz")
    loaded = load_model(tmp_path / "model.npz")
    assert loaded.structure.hyperedges.threshold == 6
    assert loaded.structure.hyperedges.positive is True
    # These depend on the machine.
    assert loaded.structure.n_jobs is loaded.structure.memory_budget is None
    again = clone(loaded).set_params(random_state=0).fit(X[:HALF])
    np.testing.assert_array_equal(again.labels_, loaded.labels_)


def test_image_shape(tmp_path):
    model = clusters()
    save_model(model, tmp_path / "a.npz", image_shape=(8, 8))
    save_model(model, tmp_path / "b.npz")
    assert read_model(tmp_path / "a.npz").image_shape == (8, 8)
    assert read_model(tmp_path / "b.npz").image_shape is None


def test_recipe(tmp_path):
    recipe = {"model": "hog", "version": 1, "name": "é"}
    save_model(clusters(), tmp_path / "a.npz", recipe=recipe)
    assert read_model(tmp_path / "a.npz").recipe == recipe
    save_model(clusters(), tmp_path / "b.npz")
    assert read_model(tmp_path / "b.npz").recipe is None


def test_names_and_checksums_of_thumbnails(saved, tmp_path):
    model = read_model(saved)
    assert model.names == NAMES
    assert model.checksums.tolist() == [zlib.crc32(data) for data in THUMBNAILS]
    assert model.folder == saved.parent
    save_model(clusters(), tmp_path / "plain.npz")
    plain = read_model(tmp_path / "plain.npz")
    assert (plain.names, plain.checksums) == (None, None)
    added = saved.stat().st_size - (tmp_path / "plain.npz").stat().st_size
    assert added < 20 * HALF  # of the names, about ten letters each, and four bytes of checksum


def test_names_of_features(saved, tmp_path, refuses):
    heads = [f"f{i}" for i in range(X.shape[1])]
    save_model(clusters(), tmp_path / "heads.npz", feature_names=heads)
    assert read_model(tmp_path / "heads.npz").feature_names == tuple(heads)
    save_model(clusters(), tmp_path / "plain.npz")
    assert read_model(tmp_path / "plain.npz").feature_names is None
    with pytest.raises(InputError, match=f"one for each of the {len(heads)} features, got 1"):
        save_model(clusters(), tmp_path / "more.npz", feature_names=["f"])


@pytest.mark.parametrize("parameter", ["names", "thumbnails"])
def test_names_and_thumbnails_are_one_for_each_sample(tmp_path, parameter):
    with pytest.raises(InputError, match=f"{parameter} must be one for each of the {HALF} samples"):
        save_model(clusters(), tmp_path / "a.npz", **{parameter: NAMES[1:]})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("shape", [(3, 3), "ab", (64,), (8.5, 8), (-8, -8)])
def test_wrong_image_shape_is_refused_before_writing(tmp_path, shape):
    with pytest.raises(InputError, match=r"image_shape must be .* of 64 features, got"):
        save_model(clusters(), tmp_path / "a.npz", image_shape=shape)
    assert not list(tmp_path.iterdir())


def test_images_of_bytes_are_saved_as_bytes(tmp_path):
    save_model(clusters(), tmp_path / "model.npz")
    with np.load(tmp_path / "model.npz") as archive:
        matrices = [
            archive[name] for name in archive.files if archive[name].shape == X[:HALF].shape
        ]
    assert [matrix.dtype for matrix in matrices] == [np.uint8]


def test_existing_files_are_kept_without_overwrite(tmp_path):
    model, file = clusters(), tmp_path / "model.npz"
    file.write_text("mine")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        save_model(model, file)
    assert file.read_text() == "mine"
    save_model(model, file, overwrite=True)
    assert list(tmp_path.iterdir()) == [file]
    assert isinstance(load_model(file), HypergraphClustering)


@pytest.mark.parametrize(
    "structure", [KNNHypergraph(), ElasticNetHypergraph().fit(X[:HALF]).graph_]
)
def test_structures_that_cannot_attach_samples_are_not_saved(tmp_path, structure):
    model = HypergraphClustering(4, structure=structure, random_state=0).fit(X[:HALF])
    with pytest.raises(InputError, match=rf"got {type(structure).__name__}"):
        save_model(model, tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_preprocessing_of_other_libraries_is_not_saved(tmp_path):
    model = clusters(ElasticNetHypergraph(preprocessing=StandardScaler()))
    with pytest.raises(InputError, match="StandardScaler"):
        save_model(model, tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


def test_parameters_that_are_no_json_values_are_not_saved(tmp_path):
    model = clusters().set_params(method={"spectral"})
    with pytest.raises(InputError, match="method"):
        save_model(model, tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "parameter", "value", "message"),
    [
        ("clusters", "n_clusters", 10**6, "n_clusters must be a whole number from 1 to"),
        ("clusters", "n_init", 0, "n_init must be a whole number of at least 1"),
        ("classes", "alpha", 7, "alpha must be a number between 0 and 1"),
        ("lasso", "gamma", -1, "gamma must be"),
    ],
)
def test_parameters_that_could_not_be_read_are_not_saved(tmp_path, name, parameter, value, message):
    model = MODELS[name]()
    (model.structure_ if parameter == "gamma" else model).set_params(**{parameter: value})
    with pytest.raises(InputError, match=message) as caught:
        save_model(model, tmp_path / "model.npz")
    assert caught.value.parameter == parameter
    assert not list(tmp_path.iterdir())


def test_only_learners_are_saved(tmp_path):
    with pytest.raises(NotFittedError):
        save_model(HypergraphClustering(4), tmp_path / "model.npz")
    with pytest.raises(InputError, match=r"model must be a .*, got a ElasticNetHypergraph"):
        save_model(ElasticNetHypergraph().fit(X[:HALF]), tmp_path / "model.npz")


# --- files that are not models --------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    file = tmp_path_factory.mktemp("models") / "model.npz"
    save_model(clusters(), file, names=NAMES, thumbnails=THUMBNAILS)
    return file


@pytest.fixture(scope="module")
def state(saved):
    with open(saved, "rb") as stream:
        return read_archive(stream, *FORMAT)


def assert_refused(file, match="not a model of this enhg"):
    with pytest.raises(InputError, match=match):
        load_model(file)


def test_missing_file(tmp_path):
    assert_refused(tmp_path / "none.npz", "no such file")


def test_folder_in_place_of_the_file(tmp_path):
    assert_refused(tmp_path, "must be a model file, got a folder")


@pytest.mark.parametrize("part", [0, 0.1, 0.5, 0.99])
def test_truncated_file(saved, tmp_path, part):
    whole = saved.read_bytes()
    (tmp_path / "cut.npz").write_bytes(whole[: int(part * len(whole))])
    assert_refused(tmp_path / "cut.npz", r"cut\.npz: not a model of this enhg")


def test_damaged_file(saved, tmp_path):
    whole = bytearray(saved.read_bytes())
    whole[len(whole) // 2] ^= 0xFF
    (tmp_path / "bad.npz").write_bytes(whole)
    assert_refused(tmp_path / "bad.npz")


def test_hypergraph_file_is_not_a_model(tmp_path):
    clusters().graph_.save(tmp_path / "graph.npz")
    assert_refused(tmp_path / "graph.npz", r"'enhg\.Model'")


def test_newer_version(state, tmp_path):
    write_archive(tmp_path / "newer.npz", FORMAT[0], 3, state, overwrite=False)
    assert_refused(tmp_path / "newer.npz", "version 3 and this enhg reads version 2")


def test_compressed_files_are_refused(saved, tmp_path):
    """Their size in memory is not bounded by that of the file."""
    with np.load(saved) as archive:
        np.savez_compressed(tmp_path / "small.npz", **dict(archive))
    assert_refused(tmp_path / "small.npz", "compressed")


def test_pickles_are_refused(saved, tmp_path):
    with np.load(saved) as archive:
        arrays = dict(archive)
    name = next(name for name, array in arrays.items() if array.shape == (HALF,))
    np.savez(tmp_path / "pickle.npz", **(arrays | {name: np.array([{}], dtype=object)}))
    assert_refused(tmp_path / "pickle.npz", "objects, which are never loaded")


def test_types_that_are_not_those_of_a_model(state, tmp_path):
    """Each of these would take memory, or be seen when the model is used."""
    for path, value in (
        ("state.structure.state.samples_dtype", "f8," * 100_000),
        ("state.structure.state.parameters.tol", 0.0),
        ("state.structure.state.parameters.tol", "small"),
        ("state.parameters.n_clusters", 10**12),
        ("state.parameters.n_clusters", "many"),
        ("state.embedding", state["state"]["embedding"].astype(np.float16)),
        ("state.embedding", state["state"]["embedding"].astype(np.longdouble)),
        ("state.embedding", np.zeros((10**9, 0))),
    ):
        odd = changed(state, path, value)
        write_archive(tmp_path / "odd.npz", *FORMAT, odd, overwrite=True)
        with pytest.raises(InputError, match="not a model of this enhg") as caught:
            load_model(tmp_path / "odd.npz")
        assert len(str(caught.value)) < 500


def test_distributions_that_are_none(tmp_path):
    file = tmp_path / "model.npz"
    save_model(MODELS["classes"](), file)
    with open(file, "rb") as stream:
        state = read_archive(stream, *FORMAT)
    right = state["state"]["label_distributions"]
    for value in (
        right.astype(np.float32),
        right.astype(np.float16),
        right / 2,
        np.ones((HALF, 4)),
    ):
        odd = changed(state, "state.label_distributions", value)
        write_archive(file, *FORMAT, odd, overwrite=True)
        assert_refused(file)


def test_the_byte_order_of_another_machine(saved, tmp_path):
    with np.load(saved) as archive:
        arrays = {
            name: array.astype(array.dtype.newbyteorder(">")) for name, array in archive.items()
        }
    np.savez(tmp_path / "big.npz", **arrays)
    loaded = load_model(tmp_path / "big.npz")
    np.testing.assert_array_equal(loaded.predict(X[HALF:]), load_model(saved).predict(X[HALF:]))


def changed(state, path, value):
    """A copy of a state with another entry at a path, or without it for the value `REMOVED`."""
    copied = copy.deepcopy(state)
    *parents, key = path.split(".")
    place = copied
    for parent in parents:
        place = place[parent]
    place.pop(key) if value is REMOVED else place.update({key: value})
    return copied


REMOVED = object()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("learner", "os.system"),
        ("learner", REMOVED),
        ("image_shape", "large"),
        ("image_shape", [60000, 60000]),
        ("image_shape", [64]),
        ("recipe", "[1]"),
        ("recipe", "{"),
        ("names", np.frombuffer(b'["a", "b"]', np.uint8)),
        ("names", np.frombuffer(json.dumps([1] * HALF).encode(), np.uint8)),
        ("names", np.frombuffer(b"[", np.uint8)),
        ("names", ["a"] * HALF),
        ("checksums", np.zeros(HALF - 1, np.uint32)),
        ("checksums", np.zeros(HALF)),
        ("state.structure.kind", "KNNHypergraph"),
        ("state.structure.state", {}),
        ("state.structure", {"kind": "ElasticNetHypergraph"}),
        ("state.embedding", np.full((HALF, 4), "text")),
        ("state.cluster_centers", np.full((4, 20), np.nan)),
        ("state.labels", np.full(HALF, 4)),
        ("state.labels", np.full(HALF, -1)),
        ("state.confidence", np.full(HALF, 1j)),
        ("state.spectrum", {}),
        ("state.cluster_count", {"n_clusters": 1}),
        ("state.feature_names", ["a", "b"]),
        ("state.parameters", {"evil": 1}),
        ("state.structure.state.outlier_scores", np.full(HALF, "text")),
        ("state.structure.state.error_weight", "much"),
        ("state.structure.state.preprocessing", 3),
        ("state.structure.state.preprocessing", {"kind": "evil", "state": {}}),
        ("state.structure.state.preprocessing", {"kind": "Whitening", "state": {}}),
        ("state.structure.state.preprocessing", {"kind": "Smoothing", "state": {}}),
    ],
)
def test_states_that_are_not_those_of_a_model(state, tmp_path, path, value):
    write_archive(tmp_path / "odd.npz", *FORMAT, changed(state, path, value), overwrite=False)
    assert_refused(tmp_path / "odd.npz")


@pytest.mark.parametrize(
    "weights",
    [
        REMOVED,
        {},
        {"diffusion": 0.5, "evil": 0.5},
        {"diffusion": 0.5, "poisson": 0.6},
        {"diffusion": 1.5, "poisson": -0.5},
        {"diffusion": 0.5, "poisson": "half"},
    ],
)
def test_weights_that_are_not_those_of_the_methods(tmp_path, weights):
    save_model(MODELS["classes"](), tmp_path / "model.npz")
    with open(tmp_path / "model.npz", "rb") as stream:
        odd = changed(read_archive(stream, *FORMAT), "state.method_weights", weights)
    write_archive(tmp_path / "odd.npz", *FORMAT, odd, overwrite=False)
    assert_refused(tmp_path / "odd.npz")


def array_paths(state, prefix=""):
    for key, value in state.items():
        if isinstance(value, dict):
            yield from array_paths(value, f"{prefix}{key}.")
        elif isinstance(value, np.ndarray) or sparse.issparse(value):
            yield prefix + key


def test_every_array_must_be_there_and_fit_the_others(state, tmp_path):
    paths = list(array_paths(state))
    assert len(paths) >= 14
    for number, path in enumerate(paths):
        array = state
        for key in path.split("."):
            array = array[key]
        shortened = sparse.csr_array(array[:-3]) if sparse.issparse(array) else array[:-3]
        optional = path in ("names", "checksums")
        for kind, value in (("without", REMOVED), ("short", shortened))[optional:]:
            file = tmp_path / f"{kind}-{number}.npz"
            write_archive(file, *FORMAT, changed(state, path, value), overwrite=False)
            with pytest.raises(InputError, match="not a model of this enhg"):
                pytest.fail(f"{path} {kind}: {load_model(file)}")


@pytest.mark.parametrize("dtype", [np.float16, "M8[D]"])
def test_classes_that_could_not_be_read_are_not_saved(tmp_path, dtype):
    y = np.where(np.arange(HALF) % 2, 3, 8).astype(dtype)
    model = HypergraphClassifier(method="diffusion").fit(X[:HALF], y)
    with pytest.raises(InputError, match=r"classes_ must be text, integers .* to be saved, got dt"):
        save_model(model, tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())
