"""Estimators within scikit-learn and joblib: pipelines, searches, copies, threads, tables."""

import io
import pickle
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from every_structure import STRUCTURES
from sklearn import config_context
from sklearn.base import clone
from sklearn.cluster import SpectralClustering
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_digits, make_blobs
from sklearn.frozen import FrozenEstimator
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from threadpoolctl import threadpool_info, threadpool_limits

from enhg import (
    ElasticNetHypergraph,
    Graph,
    HypergraphClassifier,
    HypergraphClustering,
    KNNHypergraph,
    clustering_accuracy,
)
from enhg.exceptions import InputError
from enhg.learning import partitions
from enhg.preprocessing import Lifting, SampleNormalizer, Smoothing, Whitening

X, Y = load_digits(n_class=3, return_X_y=True)
X, NEW, Y, NEW_Y = X[:150], X[150:180], Y[:150], Y[150:180]
GIVEN = np.where(np.arange(len(X)) < 30, Y, -1)


def learner(name, structure=None, **options):
    if name == "clustering":
        return HypergraphClustering(
            3, structure=structure, n_init=2, random_state=0, method="spectral", **options
        )
    return HypergraphClassifier(structure=structure, method="diffusion", **options)


def results(model):
    return model.labels_ if isinstance(model, HypergraphClustering) else model.transduction_


each_learner = pytest.mark.parametrize("name", ["clustering", "classifier"])
each_structure = pytest.mark.parametrize("structure", STRUCTURES)


# --- copies ---------------------------------------------------------------------------------------


def through_joblib(model):
    stream = io.BytesIO()
    joblib.dump(model, stream)
    stream.seek(0)
    return joblib.load(stream)


COPIES = [lambda model: pickle.loads(pickle.dumps(model)), through_joblib]


@pytest.mark.parametrize("copy", COPIES, ids=["pickle", "joblib"])
@each_structure
def test_copies_of_fitted_structures(structure, copy):
    fitted = structure(preprocessing="smooth").fit(X[:60])
    again = copy(fitted)
    assert again.graph_ == fitted.graph_
    np.testing.assert_array_equal(again.samples_, fitted.samples_)
    if hasattr(fitted, "attach"):
        one, other = (each.attach(NEW).memberships for each in (fitted, again))
        assert (one != other).nnz == 0


@pytest.mark.parametrize("copy", COPIES, ids=["pickle", "joblib"])
@each_learner
def test_copies_of_fitted_learners(name, copy):
    model = learner(name).fit(X, GIVEN)
    again = copy(model)
    np.testing.assert_array_equal(results(again), results(model))
    np.testing.assert_array_equal(again.predict(NEW), model.predict(NEW))
    np.testing.assert_array_equal(again.suggest(3), model.suggest(3))


@each_learner
def test_a_frozen_learner_predicts_and_is_not_fitted_again(name):
    frozen = FrozenEstimator(learner(name).fit(X, GIVEN))
    before = frozen.predict(NEW)
    np.testing.assert_array_equal(clone(frozen).fit(NEW, NEW_Y).predict(NEW), before)
    assert not hasattr(FrozenEstimator(learner(name, KNNHypergraph()).fit(X, GIVEN)), "predict")


# --- processes and threads ------------------------------------------------------------------------


def test_grid_search_in_processes():
    grid = {"structure__gamma": [2.0, 10.0], "alpha": [0.9]}
    model = learner("classifier", ElasticNetHypergraph(preprocessing="unit"))
    searches = [GridSearchCV(model, grid, cv=2, n_jobs=jobs).fit(X, Y) for jobs in (1, 2)]
    scores = [search.cv_results_["mean_test_score"] for search in searches]
    np.testing.assert_array_equal(*scores)
    assert searches[1].score(NEW, NEW_Y) > 0.7


@each_learner
def test_fits_in_threads_at_the_same_time(name):
    models = [learner(name, ElasticNetHypergraph(gamma=gamma)) for gamma in (3.0, 10.0) * 3]
    alone = [results(clone(model).fit(X, GIVEN)) for model in models[:2]]
    with ThreadPoolExecutor(4) as threads:
        fitted = list(threads.map(lambda model: model.fit(X, GIVEN), models))
    for model, expected in zip(fitted, alone * 3, strict=True):
        np.testing.assert_array_equal(results(model), expected)


def fitted_arrays(model):
    arrays = {name: value for name, value in vars(model).items() if isinstance(value, np.ndarray)}
    return arrays | {"eigenvectors": model.spectrum_.eigenvectors}


@pytest.mark.parametrize(
    "model",
    [
        HypergraphClustering(10, method="resolvent", n_init=2, random_state=0),
        HypergraphClassifier(method="discriminant"),
    ],
    ids=["clustering", "classifier"],
)
def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(model):
    """So many samples that the products of the eigensolver are computed in threads of BLAS."""
    digits, y = load_digits(return_X_y=True)
    graph = KNNHypergraph(preprocessing="smooth").fit(digits).graph_
    given = np.where(np.arange(len(y)) % 10 == 0, y, -1)
    runs = []
    for n_threads in (1, 2, 2):
        with threadpool_limits(n_threads), joblib.parallel_config(n_jobs=n_threads):
            fitted = clone(model).set_params(structure=graph).fit(digits, given)
            runs.append(fitted_arrays(fitted))
    assert runs[0].keys() >= {"confidence_", "boundary_scores_", "eigenvectors"}
    for run in runs[1:]:
        for name, values in runs[0].items():
            assert values.tobytes() == run[name].tobytes(), name


def test_k_means_runs_in_one_thread(monkeypatch):
    """The order in which threads of OpenMP add to the centers is another in every run."""
    counts = []

    class KMeans(partitions.KMeans):
        def fit(self, X, y=None, sample_weight=None):
            counts.extend(
                library["num_threads"]
                for library in threadpool_info()
                if library["user_api"] == "openmp"
            )
            return super().fit(X, y, sample_weight)

    monkeypatch.setattr(partitions, "KMeans", KMeans)
    monkeypatch.setattr(partitions, "_MIN_INITIAL_POINTS", 20)
    with threadpool_limits(3):
        learner("clustering").fit(X)
    assert len(counts) >= 2
    assert set(counts) == {1}


# --- composition ----------------------------------------------------------------------------------


@each_learner
def test_learner_in_a_pipeline(name):
    model = make_pipeline(FunctionTransformer(np.sqrt), learner(name)).fit(X, GIVEN)
    alone = learner(name).fit(np.sqrt(X), GIVEN)
    np.testing.assert_array_equal(model.predict(NEW), alone.predict(np.sqrt(NEW)))
    np.testing.assert_array_equal(results(model[-1]), results(alone))
    assert not hasattr(make_pipeline(StandardScaler(), learner(name, KNNHypergraph())), "predict")


@each_structure
def test_structure_in_a_pipeline(structure):
    model = make_pipeline(FunctionTransformer(np.sqrt), structure(preprocessing="unit"))
    assert model.fit(X)[-1].graph_ == structure(preprocessing="unit").fit(np.sqrt(X)).graph_


@each_learner
def test_transformers_of_columns(name):
    top, bottom = slice(0, 32), slice(32, 64)
    columns = ColumnTransformer([("top", SampleNormalizer(), top), ("bottom", Lifting(), bottom)])
    model = make_pipeline(columns, learner(name)).fit(X, GIVEN)
    parts = [SampleNormalizer().fit_transform(X[:, top]), Lifting().fit_transform(X[:, bottom])]
    np.testing.assert_array_equal(
        results(model[-1]), results(learner(name).fit(np.hstack(parts), GIVEN))
    )
    assert model.predict(NEW).shape == (30,)


def test_metadata_is_routed_to_structures():
    calls = []

    def progress(done, total):
        calls.append((done, total))

    with config_context(enable_metadata_routing=True):
        requested = ElasticNetHypergraph().set_fit_request(progress=True, checkpoint=False)
        make_pipeline(StandardScaler(), requested).fit(X, progress=progress)
        assert calls[-1] == (len(X), len(X))
        with pytest.raises(TypeError, match="progress"):
            make_pipeline(
                StandardScaler(), ElasticNetHypergraph().set_fit_request(progress=False)
            ).fit(X, progress=progress)
        search = GridSearchCV(
            learner("classifier").set_score_request(sample_weight=True), {"alpha": [0.9]}, cv=2
        )
        assert search.fit(X, Y, sample_weight=np.ones(len(X))).best_score_ > 0.7


# --- affinities -----------------------------------------------------------------------------------


@each_structure
def test_a_graph_is_an_affinity_of_spectral_clustering(structure):
    points, labels = make_blobs(120, 5, centers=3, cluster_std=0.5, random_state=0)
    affinity = structure().fit(points).graph_.clique_expansion()
    model = SpectralClustering(
        3, affinity="precomputed", assign_labels="cluster_qr", random_state=0
    )
    # In separate components, the eigenvectors are those of components.
    joined = affinity + np.full(affinity.shape, 1e-6)
    np.fill_diagonal(joined, 0)
    assert clustering_accuracy(labels, model.fit_predict(joined)) == 1
    assert (affinity != affinity.T).nnz == 0


def test_a_sparse_affinity_of_spectral_clustering():
    affinity = KNNHypergraph(preprocessing="smooth").fit(X).graph_.clique_expansion()
    model = SpectralClustering(3, affinity="precomputed", random_state=0).fit(affinity)
    assert clustering_accuracy(Y, model.labels_) > 0.9


@pytest.mark.parametrize("form", ["dense", "sparse"])
@each_learner
def test_a_precomputed_affinity_is_a_graph(name, form):
    points, labels = make_blobs(120, 5, centers=3, random_state=0)
    if form == "dense":
        affinity = rbf_kernel(points, gamma=0.1)  # symmetric to rounding
    else:
        affinity = kneighbors_graph(points, 10, include_self=True)
    affinity = (affinity + affinity.T) / 2
    graph = Graph(affinity)
    model = learner(name, graph).fit(points, np.where(np.arange(120) < 15, labels, -1))
    assert clustering_accuracy(labels, results(model)) == 1
    # Θ is D^-½ A D^-½ of the affinity, whose eigenvectors scikit-learn clusters too.
    dense = np.asarray(affinity.todense()) if form == "sparse" else affinity
    roots = np.sqrt(dense.sum(axis=1))
    expected = np.linalg.eigvalsh(dense / roots / roots[:, None])[::-1][:3]
    np.testing.assert_allclose(model.spectrum_.eigenvalues[:3], expected, atol=1e-9)


# --- tables ---------------------------------------------------------------------------------------


def frame_of(package, values, names):
    module = pytest.importorskip(package)
    if package == "polars":
        return module.DataFrame(values, schema=list(names))
    return module.DataFrame(values, columns=list(names))


NAMES = [f"pixel {i}" for i in range(64)]
each_package = pytest.mark.parametrize("package", ["pandas", "polars"])


@each_package
@each_learner
def test_learners_of_tables(name, package):
    model = learner(name).fit(frame_of(package, X, NAMES), GIVEN)
    assert model.feature_names_in_.tolist() == NAMES
    np.testing.assert_array_equal(results(model), results(learner(name).fit(X, GIVEN)))
    labels = model.predict(frame_of(package, NEW, NAMES))
    np.testing.assert_array_equal(labels, learner(name).fit(X, GIVEN).predict(NEW))
    with pytest.raises(InputError, match="feature names should match"):
        model.predict(frame_of(package, NEW, NAMES[::-1]))


@each_package
@each_structure
def test_structures_of_tables(structure, package):
    fitted = structure(preprocessing="unit").fit(frame_of(package, X[:60], NAMES))
    assert fitted.feature_names_in_.tolist() == NAMES
    assert fitted.graph_ == structure(preprocessing="unit").fit(X[:60]).graph_


@each_package
def test_precision_of_tables(package):
    frame = frame_of(package, X.astype(np.float32), NAMES)
    assert ElasticNetHypergraph(preprocessing="unit").fit(frame).samples_.dtype == np.float32


@pytest.mark.parametrize("dtype", ["Float64", "Int64", "float64[pyarrow]"])
def test_nullable_columns_of_pandas(dtype):
    if dtype.endswith("[pyarrow]"):
        pytest.importorskip("pyarrow")
    frame = frame_of("pandas", X, NAMES).astype(dtype)
    model = learner("clustering").fit(frame)
    np.testing.assert_array_equal(model.labels_, learner("clustering").fit(X).labels_)
    with pytest.raises(InputError, match="X must hold finite numbers, got NaN"):
        learner("clustering").fit(frame.mask(frame == 3))


@each_package
@pytest.mark.parametrize(
    "transformer", [SampleNormalizer(), Smoothing(), Whitening(), Lifting()], ids=str
)
def test_tables_of_transformers(package, transformer):
    frame = frame_of(package, X, NAMES)
    plain = clone(transformer).fit(X).transform(X)
    out = clone(transformer).set_output(transform=package).fit(frame).transform(frame)
    assert type(out) is type(frame)
    assert list(out.columns) == list(clone(transformer).fit(frame).get_feature_names_out())
    np.testing.assert_array_equal(out.to_numpy(), plain)


@pytest.mark.parametrize("preprocessing", ["auto", StandardScaler()])
@each_package
@each_learner
def test_tables_as_the_output_of_all_transformers(name, package, preprocessing):
    """The setting for all transformers holds for those within structures too."""
    pytest.importorskip(package)
    made = learner(name, ElasticNetHypergraph(preprocessing=preprocessing))
    expected = clone(made).fit(X, GIVEN)
    with config_context(transform_output=package):
        model = made.fit(X, GIVEN)
        prediction = model.predict(NEW)
    np.testing.assert_array_equal(results(model), results(expected))
    np.testing.assert_array_equal(prediction, expected.predict(NEW))


# --- tensors and masks ----------------------------------------------------------------------------


class DLPackOnly:
    """An array of another package, as the standard of array interfaces describes it."""

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_arrays_by_dlpack():
    samples = X.astype(np.float32)
    fitted = ElasticNetHypergraph(preprocessing="none").fit(DLPackOnly(samples))
    assert fitted.samples_.dtype == np.float32
    samples[:] = 0  # the same memory
    np.testing.assert_array_equal(fitted.samples_, X)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "uint8", "int64"])
@each_learner
def test_tensors(name, dtype):
    torch = pytest.importorskip("torch")
    samples, given = torch.tensor(X, dtype=getattr(torch, dtype)), torch.tensor(GIVEN)
    model = learner(name).fit(samples, given)
    expected = learner(name).fit(X.astype(dtype), GIVEN)
    assert model.structure_.samples_.dtype == expected.structure_.samples_.dtype
    np.testing.assert_array_equal(results(model), results(expected))
    new = torch.tensor(NEW, dtype=getattr(torch, dtype))
    np.testing.assert_array_equal(model.predict(new), expected.predict(NEW.astype(dtype)))


def test_tensors_that_numpy_cannot_read():
    torch = pytest.importorskip("torch")
    message = r"X must be an array that NumPy can read, got a Tensor \(.*{}.*\); convert it first"
    for samples, reason in (
        (torch.tensor(X, requires_grad=True), "requires grad"),
        (torch.tensor(X, dtype=torch.bfloat16), "BFloat16"),
    ):
        with pytest.raises(InputError, match=message.format(reason)) as caught:
            learner("clustering").fit(samples)
        assert caught.value.parameter == "X"


def test_masked_samples():
    masked = np.ma.MaskedArray(X, X == 16)
    count = (X == 16).sum()
    for fit in (learner("clustering").fit, KNNHypergraph().fit, SampleNormalizer().fit):
        message = f"X must hold a number everywhere, got {count} masked entries"
        with pytest.raises(InputError, match=message) as caught:
            fit(masked)
        assert caught.value.parameter == "X"
    model = learner("clustering").fit(np.ma.MaskedArray(X))
    np.testing.assert_array_equal(model.labels_, learner("clustering").fit(X).labels_)
    with pytest.raises(InputError, match="masked entries"):
        model.predict(masked)
    with pytest.raises(
        InputError, match="adjacency must hold a number everywhere, got 2 masked entries"
    ):
        Graph(np.ma.MaskedArray(np.ones((2, 2)), [[0, 1], [1, 0]]))
