"""Structures of both learners, validation of samples, and saved states."""

import copy
import warnings
from collections import Counter

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from sklearn.utils.validation import check_is_fitted

from enhg import (
    ElasticNetHypergraph,
    Graph,
    Hypergraph,
    HypergraphClassifier,
    HypergraphClustering,
    KNNHypergraph,
    L1Hypergraph,
    _validation,
)
from enhg._npz import read_archive, write_archive
from enhg.exceptions import InputError

X, Y = load_digits(n_class=4, return_X_y=True)
X, NEW, Y = X[:360], X[360:], Y[:360]
GIVEN = np.where(np.arange(len(X)) % 10 == 0, Y, -1)
BOOLEANS = np.array([y > 1 if i % 3 == 0 else None for i, y in enumerate(Y)])
LEARNERS = ["clustering", "classifier"]


def learner(name, structure=None, **options):
    if name == "clustering":
        return HypergraphClustering(4, structure=structure, random_state=0, **options)
    return HypergraphClassifier(structure=structure, **options)


def results(model):
    return model.labels_ if isinstance(model, HypergraphClustering) else model.transduction_


@pytest.fixture(scope="module")
def structure():
    return ElasticNetHypergraph().fit(X)


@pytest.fixture(scope="module")
def fitted(structure):
    frozen = FrozenEstimator(structure)
    return {name: learner(name, frozen).fit(X, GIVEN) for name in LEARNERS}


# --- structures -----------------------------------------------------------------------------------


class PlainStructure(BaseEstimator):
    """The least that a learner needs of a structure."""

    def fit(self, X, y=None):
        self.assumed_finite_ = sklearn.get_config()["assume_finite"]
        self.graph_ = Hypergraph.from_edges([[i, (i + 1) % len(X)] for i in range(len(X))])
        return self


@pytest.mark.parametrize("name", LEARNERS)
def test_any_estimator_with_a_graph_is_a_structure(name):
    with _validation.validated():
        model = learner(name, PlainStructure()).fit(X, GIVEN)
    assert isinstance(model.structure_, PlainStructure)
    assert model.structure_ is not model.structure
    assert model.structure_.assumed_finite_ is False
    assert model.graph_ is model.structure_.graph_
    assert not hasattr(model, "representation_")


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(
    "wrong", ["enhg", ElasticNetHypergraph, np.eye(3), 3, LinearRegression()], ids=repr
)
def test_what_is_no_structure_is_refused(name, wrong):
    message = "structure must be a structure, a Hypergraph or a Graph, got"
    with pytest.raises(InputError, match=message) as caught:
        learner(name, wrong).fit(X, GIVEN)
    assert caught.value.parameter == "structure"


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("wrong", [PCA(2), FrozenEstimator(PCA(2).fit(X))], ids=repr)
@pytest.mark.parametrize("verbose", [False, True])
def test_an_estimator_without_a_graph_is_refused(name, wrong, verbose):
    message = r"structure must be an estimator whose fit sets graph_, .*, got .*PCA\("
    with pytest.raises(InputError, match=message) as caught:
        learner(name, wrong, verbose=verbose).fit(X, GIVEN)
    assert caught.value.parameter == "structure"


@pytest.mark.parametrize("name", LEARNERS)
def test_default_structure(name, structure):
    model = learner(name).fit(X, GIVEN)
    assert model.structure is None
    assert isinstance(model.structure_, ElasticNetHypergraph)
    assert model.graph_ == structure.graph_
    assert model.representation_ is model.structure_.representation_
    assert model.outlier_scores_ is model.structure_.outlier_scores_


@pytest.mark.parametrize("name", LEARNERS)
def test_given_hypergraph_is_the_structure(name, fitted, structure):
    model = learner(name, structure.graph_).fit(X, GIVEN)
    assert model.structure_ is model.graph_ is structure.graph_
    np.testing.assert_array_equal(results(model), results(fitted[name]))
    assert not hasattr(model, "representation_")
    assert not hasattr(model, "outlier_scores_")
    assert not hasattr(model, "predict")


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", LEARNERS)
def test_given_graph_is_the_structure(name, form, structure):
    clique = structure.graph_.clique_expansion().toarray() + np.eye(len(X))
    graph = Graph(form(clique))
    model = learner(name, graph).fit(X, GIVEN)
    assert model.structure_ is model.graph_ is graph
    assert (results(model) >= 0).all()
    assert not hasattr(model, "predict_with_scores")


@pytest.mark.parametrize("name", LEARNERS)
def test_graph_of_other_samples(name, structure):
    for given in (structure.graph_, FrozenEstimator(structure)):
        with pytest.raises(InputError, match=r"each sample of X \(7\), got 360 vertices"):
            learner(name, given).fit(X[:7], GIVEN[:7] * 0 + np.arange(7) % 2)


@pytest.mark.parametrize("name", LEARNERS)
def test_frozen_structure_is_not_fitted_again_and_attaches_new_samples(name, structure):
    model = learner(name, FrozenEstimator(structure)).fit(X, GIVEN)
    assert model.graph_ is structure.graph_
    assert model.representation_ is structure.representation_
    own = learner(name).fit(X, GIVEN)
    np.testing.assert_array_equal(results(model), results(own))
    np.testing.assert_array_equal(model.predict(NEW), own.predict(NEW))


@pytest.mark.parametrize("name", LEARNERS)
def test_frozen_structure_must_be_fitted(name):
    with pytest.raises(NotFittedError):
        learner(name, FrozenEstimator(ElasticNetHypergraph())).fit(X, GIVEN)


@pytest.mark.parametrize("name", LEARNERS)
def test_frozen_structure_of_other_features(name, structure):
    pandas = pytest.importorskip("pandas")
    message = "structure must be fitted to the 20 features of X, got one fitted to 64"
    with pytest.raises(InputError, match=message) as caught:
        learner(name, FrozenEstimator(structure)).fit(X[:, :20], GIVEN)
    assert caught.value.parameter == "structure"
    frame = pandas.DataFrame(X).add_prefix("pixel ")
    named = learner(name, FrozenEstimator(ElasticNetHypergraph().fit(frame)))
    with pytest.raises(InputError, match="structure must be fitted to the feature names of X"):
        named.fit(frame.add_prefix("other "), GIVEN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = named.fit(frame, GIVEN).predict(pandas.DataFrame(NEW).add_prefix("pixel "))
    own = learner(name, FrozenEstimator(structure)).fit(X, GIVEN)
    np.testing.assert_array_equal(labels, own.predict(NEW))


@pytest.mark.parametrize("name", LEARNERS)
def test_nothing_of_an_earlier_fit_remains(name, structure):
    model = learner(name).fit(X, GIVEN)
    assert hasattr(model, "representation_")
    model.set_params(structure=structure.graph_).fit(X, GIVEN)
    assert not hasattr(model, "representation_")
    assert not hasattr(model, "outlier_scores_")


@pytest.mark.parametrize("name", LEARNERS)
def test_given_structure_is_not_changed(name):
    given = ElasticNetHypergraph(gamma=5)
    learner(name, given).fit(X, GIVEN)
    with pytest.raises(NotFittedError):
        check_is_fitted(given)


@pytest.mark.parametrize("name", LEARNERS)
def test_parameters_of_the_structure(name):
    model = learner(name, ElasticNetHypergraph())
    assert "structure__gamma" in model.get_params()
    other = clone(model).set_params(structure__gamma=3.0, structure__tol=1e-3)
    assert (other.structure.gamma, other.structure.tol) == (3.0, 1e-3)
    assert (model.structure.gamma, model.structure.tol) == (10.0, 1e-4)
    assert other.fit(X, GIVEN).structure_.gamma == 3.0


@pytest.mark.parametrize("name", LEARNERS)
def test_clone_with_a_given_hypergraph(name, structure):
    assert clone(learner(name, structure.graph_)).structure == structure.graph_


# --- validation -----------------------------------------------------------------------------------


@pytest.fixture
def scans(monkeypatch):
    """Counts the checks that scan samples, and the types of arrays that are checked."""
    counts = Counter()
    original = _validation.check_array

    def spy(array, *args, **kwargs):
        if not sklearn.get_config()["assume_finite"]:
            counts["scans"] += 1
        result = original(array, *args, **kwargs)
        counts["copies"] += result is not array
        return result

    monkeypatch.setattr(_validation, "check_array", spy)
    return counts


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_samples_are_validated_once(name, dtype, scans):
    samples = X.astype(dtype)
    samples.setflags(write=False)
    model = learner(name).fit(samples, GIVEN)
    assert scans == {"scans": 1, "copies": 0}
    assert model.structure_.samples_ is samples
    for predict in (model.predict, model.predict_with_scores):
        scans.clear()
        predict(NEW.astype(dtype))
        assert scans == {"scans": 1, "copies": 0}


@pytest.mark.parametrize("name", LEARNERS)
def test_integer_images_are_converted_once(name, scans, monkeypatch):
    """One float32 array is made of them, which the structure keeps."""
    made = []
    original = np.asarray

    def spy(array, *args, **kwargs):
        result = original(array, *args, **kwargs)
        converted = getattr(array, "dtype", None) == np.uint8 and result.dtype != np.uint8
        made.extend([result] if converted else [])
        return result

    monkeypatch.setattr(_validation.np, "asarray", spy)
    model = learner(name).fit(X.astype(np.uint8), GIVEN)
    assert [array.dtype for array in made] == [np.float32]
    assert model.structure_.samples_ is made[0]
    assert scans == {"scans": 1, "copies": 0}
    made.clear()
    model.predict(NEW.astype(np.uint8))
    assert [array.dtype for array in made] == [np.float32]


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.where(np.arange(64) == 3, np.nan, X), "contains NaN"),
        (X[:1], "minimum of 2"),
        (X[0], "2D"),
    ],
)
def test_unusable_samples(name, bad, message):
    with pytest.raises(InputError, match=message) as caught:
        learner(name).fit(bad, GIVEN)
    assert caught.value.parameter == "X"


@pytest.mark.parametrize("name", LEARNERS)
def test_new_samples_of_another_width(name, fitted):
    with pytest.raises(InputError, match=r"3 features.*64 features") as caught:
        fitted[name].predict(np.ones((2, 3)))
    assert caught.value.parameter == "X"


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_that_are_not_fitted(name):
    for use in ("predict", "predict_with_scores", "suggest"):
        with pytest.raises(NotFittedError):
            getattr(learner(name), use)(NEW)
    with pytest.raises(NotFittedError):
        learner(name).to_state()
    with pytest.raises(NotFittedError):
        _ = learner(name).fragments_ if name == "clustering" else learner(name).spectrum_


@pytest.mark.parametrize("name", LEARNERS)
def test_progress_of_predictions(name, fitted):
    calls = []
    fitted[name].predict_with_scores(NEW, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (len(NEW), len(NEW))


# --- states ---------------------------------------------------------------------------------------


MODELS = {
    "clustering": lambda: learner("clustering").fit(X),
    "automatic": lambda: HypergraphClustering(random_state=0).fit(X),
    "paper": lambda: learner("clustering", method="spectral", normalize_rows=False).fit(X),
    "lasso": lambda: learner("clustering", L1Hypergraph()).fit(X),
    "whitened": lambda: learner("clustering", ElasticNetHypergraph(preprocessing="whiten")).fit(X),
    "frozen": lambda: learner("clustering", FrozenEstimator(ElasticNetHypergraph().fit(X))).fit(X),
    "classifier": lambda: learner("classifier").fit(X, GIVEN),
    "names": lambda: learner("classifier").fit(X, np.array(["é", "b", "c", "d", ""])[GIVEN]),
    "booleans": lambda: learner("classifier").fit(X, BOOLEANS),
    "disputed": lambda: learner("classifier").fit(X, np.where(np.arange(len(X)) == 0, 3, GIVEN)),
    "float32": lambda: learner("classifier").fit((X / 7).astype(np.float32), GIVEN),
}


def same(one, other):
    """Whether two fitted attributes are equal."""
    if sparse.issparse(one):
        return one.shape == other.shape and not (one != other).nnz
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and np.array_equal(one, other)
    if hasattr(one, "__dataclass_fields__"):
        return all(
            same(getattr(one, name), getattr(other, name)) for name in one.__dataclass_fields__
        )
    return one == other


def through_a_file(model, path):
    write_archive(path, "test", 1, model.to_state(), overwrite=False)
    with open(path, "rb") as stream:
        return type(model).from_state(read_archive(stream, "test", 1))


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_equal_to_the_one_of_its_state(name, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MODELS[name]()
    again = through_a_file(model, tmp_path / "model.npz")
    attributes = [name for name in vars(model) if name.endswith("_")]
    assert len(attributes) >= 12
    for attribute in attributes:
        if attribute != "structure_":
            assert same(getattr(model, attribute), getattr(again, attribute)), attribute
    for parameter, value in model.get_params(deep=False).items():
        if parameter not in ("structure", "random_state"):
            assert getattr(again, parameter) == value
    new = NEW if name != "float32" else (NEW / 7).astype(np.float32)
    before, after = model.predict_with_scores(new), again.predict_with_scores(new)
    for part in ("labels", "confidence", "outlier_scores"):
        np.testing.assert_array_equal(getattr(before, part), getattr(after, part))
    np.testing.assert_array_equal(model.suggest(5), again.suggest(5))


def test_a_model_of_a_state_can_be_fitted_again(fitted):
    again = HypergraphClustering.from_state(fitted["clustering"].to_state())
    anew = clone(again).set_params(random_state=0).fit(X)
    np.testing.assert_array_equal(anew.labels_, fitted["clustering"].labels_)


@pytest.mark.parametrize("given", [KNNHypergraph(), Hypergraph(np.eye(360))])
@pytest.mark.parametrize("name", LEARNERS)
def test_structures_that_cannot_be_saved(name, given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = learner(name, given).fit(X, GIVEN)
    message = rf"structure must be one of .* to be saved, got {type(given).__name__}"
    with pytest.raises(InputError, match=message):
        model.to_state()


def test_feature_names_are_kept(fitted):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"pixel {i}" for i in range(64)])
    model = learner("clustering").fit(frame)
    again = HypergraphClustering.from_state(model.to_state())
    assert again.feature_names_in_.tolist() == frame.columns.tolist()
    assert not hasattr(HypergraphClustering.from_state(fitted["clustering"].to_state()),
                       "feature_names_in_")  # fmt: skip


def changed(state, path, value):
    """A copy of a state with one entry replaced, or left out where Ellipsis."""
    result = part = copy.deepcopy(state)
    *parents, key = path.split(".")
    for parent in parents:
        part = part[parent]
    if value is ...:
        del part[key]
    else:
        part[key] = value
    return result


N = len(X)
WRONG = {
    "clustering": [
        ("parameters", 3),
        ("parameters", {"evil": 1}),
        ("parameters", {"structure": "evil"}),
        ("parameters", {"n_init": "many"}),
        ("parameters", {"method": "evil"}),
        ("structure", "evil"),
        ("structure.kind", "os.system"),
        ("structure.kind", "KNNHypergraph"),
        ("structure.kind", 3),
        ("structure.state", 3),
        ("feature_names", ["a", "b"]),
        ("feature_names", [3] * 64),
        ("labels", np.full(N, 4)),
        ("labels", np.full(N, -1)),
        ("labels", np.zeros(N - 3, int)),
        ("labels", np.zeros(N)),
        ("embedding", np.full((N, 4), "text")),
        ("embedding", np.zeros((N - 3, 20))),
        ("embedding", np.zeros((N, 19))),
        ("cluster_centers", np.full((4, 20), np.nan)),
        ("cluster_centers", np.zeros((0, 20))),
        ("confidence", np.full(N, 1j)),
        ("confidence", np.zeros(N - 1)),
        ("confidence", np.full(N, 1.5)),
        ("boundary_scores", np.full(N, "text")),
        ("boundary_scores", np.full(N, -0.1)),
        ("structure.state.parameters", {"tol": 0}),
        ("method", "auto"),
        ("method_scores", {"evil": 1}),
        ("method_scores", {"spectral": 1.5}),
        ("method_information", {"spectral": 1.5}),
        ("method_information", {"spectral": np.nan}),
        ("refined", 2),
        ("spectrum", 3),
        ("spectrum.eigenvectors", np.zeros((N - 1, 20))),
        ("cluster_count", [1, 2]),
        ("cluster_count", {"n_clusters": 4}),
    ],
    "classifier": [
        ("parameters", {"alpha": 2}),
        ("parameters", {"method": "evil"}),
        ("classes", np.array([0, 1, 2, 2])),
        ("classes", np.array([3, 2, 1, 0])),
        ("classes", np.array([0])),
        ("classes", np.array([[0, 1, 2, 3]])),
        ("classes", np.array([0, 1, 2, np.nan])),
        ("label_distributions", np.zeros((N, 3))),
        ("label_distributions", np.zeros((N - 1, 4))),
        ("label_distributions", np.full((N, 4), -1.0)),
        ("label_distributions", np.full((N, 4), 1.5)),
        ("label_distributions", np.full((N, 4), np.inf)),
        ("labeled_indices", np.array([N])),
        ("labeled_indices", np.array([0, 0])),
        ("labeled_indices", np.array([0.0])),
        ("given_codes", np.array([4])),
        ("given_codes", np.array([0])),
        ("method_weights", {"auto": 1.0}),
        ("method_weights", {"diffusion": 1}),
    ],
}


@pytest.mark.parametrize(("name", "path", "value"), [(n, *row) for n in WRONG for row in WRONG[n]])
def test_states_that_do_not_fit(fitted, name, path, value):
    model = fitted[name]
    with pytest.raises(ValueError, match=r"does not fit|is missing|must be"):
        type(model).from_state(changed(model.to_state(), path, value))


@pytest.mark.parametrize(
    ("name", "path"),
    [
        *(("clustering", path) for path, _ in WRONG["clustering"] if path != "cluster_count"),
        ("clustering", "cluster_count"),
        *(("classifier", path) for path, _ in WRONG["classifier"]),
    ],
)
def test_states_with_a_missing_entry(fitted, name, path):
    model = fitted[name]
    with pytest.raises(InputError, match=f"{path.split('.')[-1]} is missing"):
        type(model).from_state(changed(model.to_state(), path, ...))


@pytest.mark.parametrize("name", LEARNERS)
def test_structure_of_other_samples_in_a_state(name, fitted):
    state = fitted[name].to_state()
    state["structure"]["state"] = ElasticNetHypergraph().fit(X[:100]).to_state()
    with pytest.raises(InputError, match="does not fit the rest of it"):
        type(fitted[name]).from_state(state)
