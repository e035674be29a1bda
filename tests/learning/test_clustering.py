"""Clustering on hypergraphs."""

import re
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.utils.estimator_checks import check_estimator

from enhg import (
    ElasticNetHypergraph,
    GaussianGraph,
    Graph,
    HyperedgeRule,
    Hypergraph,
    HypergraphClassifier,
    HypergraphClustering,
    KNNHypergraph,
    L1Graph,
    LaplacianEigenmapGraph,
    Representation,
    clustering_accuracy,
)
from enhg.exceptions import InputError
from enhg.learning import clustering
from enhg.learning.partitions import Partition, choose_partition
from enhg.modularity import partition_by_modularity

OF_GRAPHS = ("auto", "spectral", "resolvent", "modularity", "merging")
METHODS = (*OF_GRAPHS, "small_hyperedges")
FIVE_COMPONENTS = Hypergraph.from_edges(
    [[0, 1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11], [12, 13], [0, 1], [4, 5]]
)


@pytest.fixture(scope="module")
def subspaces(union_of_subspaces):
    return union_of_subspaces(0)


@pytest.fixture(scope="module")
def fitted(subspaces):
    return HypergraphClustering(4, random_state=0).fit(subspaces[0])


def test_scikit_learn_accepts_the_estimator():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks feed it constant samples and the like
        results = check_estimator(HypergraphClustering(n_clusters=3), on_skip=None)
    assert {result["status"] for result in results} <= {"passed", "skipped"}
    assert sum(result["status"] == "passed" for result in results) > 30


# --- partitions -----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("method", METHODS)
def test_independent_subspaces_are_separated(union_of_subspaces, seed, method):
    X, y = union_of_subspaces(seed, n_subspaces=2 + seed)
    labels = HypergraphClustering(2 + seed, method=method, random_state=0).fit_predict(X)
    assert clustering_accuracy(y, labels) == 1


@pytest.mark.parametrize("method", METHODS)
def test_noise_joins_the_subspaces_and_does_not_mix_them(union_of_subspaces, method):
    X, y = union_of_subspaces(9, per_subspace=60)
    X += 0.2 * np.random.default_rng(9).normal(size=X.shape)
    model = HypergraphClustering(4, method=method, random_state=0).fit(X)
    assert model.graph_.connected_components()[0] < 4
    assert clustering_accuracy(y, model.labels_) > 0.98


def test_duplicated_samples_stay_together(union_of_subspaces):
    X, y = union_of_subspaces(8)
    twice = np.r_[np.arange(len(y)), np.arange(0, len(y), 3)]
    labels = HypergraphClustering(4, random_state=0).fit_predict(X[twice])
    assert clustering_accuracy(y[twice], labels) == 1
    np.testing.assert_array_equal(labels[len(y) :], labels[: len(y) : 3])


@pytest.mark.parametrize("copies", [2, 8, 12, 20, 30])
@pytest.mark.parametrize("value", [None, 7.0])
def test_copies_of_one_sample_are_one_cluster(copies, value):
    sample = np.random.default_rng(0).normal(size=16) if value is None else np.full(16, value)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="the estimate")
        warnings.filterwarnings("ignore", message=f"{copies} of {copies} samples are")  # constant
        model = HypergraphClustering(random_state=0).fit(np.tile(sample, (copies, 1)))
    assert (model.n_clusters_, set(model.labels_)) == (1, {0})
    assert model.cluster_count_.reliable
    assert model.cluster_count_.describe().endswith("is reliable: 1; all samples are equal")


@pytest.mark.parametrize("method", ["spectral", "modularity"])
def test_copies_are_in_one_cluster_whatever_the_partition(method, monkeypatch):
    """Labels of a partition that splits copies are those of most copies."""
    X = np.repeat(np.random.default_rng(1).normal(size=(6, 10)), 5, axis=0)
    clusters = np.arange(30) // 10
    split = np.roll(clusters, 1)  # the first copy of every other sample is in another cluster
    monkeypatch.setattr(
        clustering, "find_partition", lambda *_, **__: Partition(split, method, {}, {})
    )
    model = HypergraphClustering(3, method=method, random_state=0).fit(X)
    np.testing.assert_array_equal(model.labels_, clusters)
    centers = [model.embedding_[clusters == k].mean(axis=0) for k in range(3)]
    np.testing.assert_allclose(model.cluster_centers_, centers)


def test_more_clusters_than_different_samples():
    X = np.repeat(np.random.default_rng(0).normal(size=(2, 10)), 6, axis=0)
    with pytest.warns(UserWarning, match="all samples are copies of 2 of them: .*; reduce"):
        model = HypergraphClustering(3, random_state=0).fit(X)
    assert model.n_clusters_ == 3
    assert len(set(model.labels_[:6])) == len(set(model.labels_[6:])) == 1


def test_equal_rows_beside_a_given_graph_are_no_copies():
    model = HypergraphClustering(structure=FIVE_COMPONENTS, random_state=0)
    n = FIVE_COMPONENTS.n_vertices
    assert model.fit(np.zeros((n, 1))).n_clusters_ > 1


@pytest.mark.parametrize("method", OF_GRAPHS)
def test_components_are_the_clusters(method):
    """With as many components as clusters, the partition is determined."""
    model = HypergraphClustering(5, structure=FIVE_COMPONENTS, method=method, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = model.fit_predict(np.zeros((14, 1)))
    truth = FIVE_COMPONENTS.connected_components()[1]
    assert clustering_accuracy(truth, labels) == 1


@pytest.mark.parametrize("method", OF_GRAPHS)
@pytest.mark.parametrize("k", [2, 3, 4])
def test_more_components_than_clusters(method, k):
    model = HypergraphClustering(k, structure=FIVE_COMPONENTS, method=method, random_state=0)
    with pytest.warns(
        UserWarning, match=f"5 connected components, more than the {k} clusters"
    ) as caught:
        labels = model.fit_predict(np.zeros((14, 1)))
    assert str(caught[0].message).endswith("of them; raise n_clusters to at most 5")
    assert set(labels) == set(range(k))
    components = FIVE_COMPONENTS.connected_components()[1]
    for component in range(5):
        assert len(set(labels[components == component])) == 1


LINK = "link every sample to more others"


@pytest.mark.parametrize(
    ("structure", "kind", "advice"),
    [
        (
            ElasticNetHypergraph(),
            "hypergraph",
            f"{LINK} (threshold of hyperedges of structure), raise gamma of structure, or ",
        ),
        (KNNHypergraph(4), "hypergraph", f"{LINK} (n_neighbors of structure) or "),
        (LaplacianEigenmapGraph(4), "graph", f"{LINK} (n_neighbors of structure) or "),
        (L1Graph(), "graph", "raise gamma of structure or "),
        (GaussianGraph(0.01), "graph", ""),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else None,
)
def test_advice_names_parameters_that_the_structure_has(structure, kind, advice):
    X = np.kron(np.eye(3), np.ones((6, 4))) + 0.1 * np.random.default_rng(0).random((18, 12))
    X[np.kron(np.eye(3), np.ones((6, 4))) == 0] = 0
    structure.set_params(preprocessing="none")
    expected = rf"^the {kind} has \d+ connected .*; {re.escape(advice)}raise n_clusters to at most"
    with pytest.warns(UserWarning, match=expected):
        HypergraphClustering(2, structure=structure, random_state=0).fit(X)
    given = np.full(18, -1)
    given[[0, 6]] = 0, 1
    first = advice.split(", raise")[0].removesuffix(" or ")
    expected = rf"; label some of them{re.escape(f' or {first}' if first else '')}$"
    with pytest.warns(UserWarning, match=expected):
        HypergraphClassifier(structure=structure).fit(X, given)


@pytest.mark.parametrize("method", OF_GRAPHS)
def test_fragments_do_not_take_the_place_of_clusters(method):
    """Two blocks with a weak link, and nine pairs apart: the blocks are the two clusters."""
    blocks = [[i, (i + step) % 30] for i in range(30) for step in (1, 2, 3)]
    edges = [*blocks, *([30 + i, 30 + j] for i, j in blocks), [0, 30]]
    pairs = [[60 + 2 * i, 61 + 2 * i] for i in range(9)]
    graph = Hypergraph.from_edges([*edges, *pairs])
    model = HypergraphClustering(2, structure=graph, method=method, random_state=0)
    with pytest.warns(
        UserWarning,
        match=r"10 connected components, .* too small for a cluster \(18 of 78\)",
    ):
        model.fit(np.zeros((78, 1)))
    assert clustering_accuracy(np.repeat([0, 1], 30), model.labels_[:60]) == 1
    assert not model.confidence_[60:].any()
    assert model.confidence_[5:25].min() > 0
    residuals = graph.theta @ model.spectrum_.eigenvectors
    residuals -= model.spectrum_.eigenvectors * model.spectrum_.eigenvalues
    assert np.linalg.norm(residuals, axis=0).max() < 1e-6


@pytest.mark.parametrize("blanks", [1, 4, 9])
def test_blank_images_do_not_take_the_place_of_clusters(union_of_subspaces, blanks):
    X, y = union_of_subspaces(0, n_subspaces=4, per_subspace=40)
    model = HypergraphClustering(4, random_state=0)
    text = rf"too small for a cluster \({blanks} of {len(y) + blanks}\)"
    with pytest.warns(UserWarning, match=text):
        model.fit(np.vstack([X, np.zeros((blanks, X.shape[1]))]))
    assert clustering_accuracy(y, model.labels_[: len(y)]) == 1
    assert not model.confidence_[len(y) :].any()


def test_samples_without_links_have_no_confidence():
    X = np.random.default_rng(0).normal(size=(60, 20))
    model = HypergraphClustering(3, structure=ElasticNetHypergraph(gamma=0.5), random_state=0)
    with pytest.warns(UserWarning, match=r"raise gamma \(on the relative scale, above 1\)"):
        model.fit(X)
    assert not model.confidence_.any()


def test_one_cluster():
    X = np.random.default_rng(6).normal(size=(40, 20))
    model = HypergraphClustering(1, random_state=0).fit(X)
    assert set(model.labels_) == {0}
    np.testing.assert_array_equal(model.confidence_, 1)


@pytest.mark.parametrize("method", METHODS)
def test_as_many_clusters_as_samples(method):
    X = np.random.default_rng(0).normal(size=(25, 30))
    model = HypergraphClustering(25, method=method, random_state=0)
    assert len(set(model.fit_predict(X))) == 25
    assert model.spectrum_.residuals.max() < 1e-10


@pytest.mark.parametrize("seed", range(3))
def test_one_of_the_partitions_is_chosen(seed):
    X = np.random.default_rng(seed).normal(size=(120, 20))
    models = {m: HypergraphClustering(6, method=m, random_state=0).fit(X) for m in METHODS}
    automatic = models.pop("auto")
    choice = choose_partition(automatic.graph_, {m: own.labels_ for m, own in models.items()})
    assert automatic.method_ == choice.method
    assert automatic.method_scores_ == pytest.approx(choice.scores)
    assert automatic.method_information_ == pytest.approx(choice.information)
    for method, model in models.items():
        assert model.method_ == method
        assert model.method_scores_ == pytest.approx({method: choice.scores[method]})
        assert not model.refined_
    if not automatic.refined_:
        chosen = models[automatic.method_]
        assert clustering_accuracy(chosen.labels_, automatic.labels_) == 1


def test_small_hyperedges_are_those_below_the_median():
    X = np.random.default_rng(0).normal(size=(120, 20))
    structure = ElasticNetHypergraph(hyperedges=HyperedgeRule("top", (3, 8, 9)))
    small = ElasticNetHypergraph(hyperedges=HyperedgeRule("top", 3)).fit(X)
    model = HypergraphClustering(4, structure=structure, method="small_hyperedges", random_state=0)
    model.fit(X)
    seed = np.random.RandomState(0).randint(np.iinfo(np.int32).max)
    labels = partition_by_modularity(small.graph_, 4, vary_resolution=True, random_state=seed)
    assert clustering_accuracy(labels, model.labels_) > 0.95


@pytest.mark.parametrize(
    "graph",
    [
        Hypergraph.from_edges([[0, 1, 2], [3, 4, 5], [2, 3, 4]]),  # of one size
        Hypergraph.from_edges([[0, 1, 2], [3, 4, 5], [2, 3, 4], [0, 1]]),  # only some vertices
        Graph(np.ones((6, 6)) - np.eye(6)),
    ],
)
def test_without_small_hyperedges(graph):
    X = np.zeros((6, 2))
    with pytest.raises(InputError, match="hyperedges of several sizes"):
        HypergraphClustering(2, structure=graph, method="small_hyperedges").fit(X)
    model = HypergraphClustering(2, structure=graph, random_state=0).fit(X)
    assert "small_hyperedges" not in model.method_scores_


def test_of_a_dense_graph_the_spectral_methods_are_tried():
    X = np.random.default_rng(0).normal(size=(60, 20))
    model = HypergraphClustering(3, structure=GaussianGraph(0.5), random_state=0).fit(X)
    assert list(model.method_scores_) == ["spectral", "resolvent"]


def test_clusters_of_very_different_sizes():
    X, y = make_blobs([200, 60, 20, 20], 30, cluster_std=1.0, random_state=0)
    model = HypergraphClustering(4, random_state=0).fit(X)
    assert clustering_accuracy(y, model.labels_) > 0.95


# --- fitted attributes ---------------------------------------------------------------------------


def test_attributes(fitted, subspaces):
    n = len(subspaces[0])
    assert fitted.labels_.shape == (n,)
    assert fitted.embedding_.shape[0] == n
    np.testing.assert_allclose(np.linalg.norm(fitted.embedding_, axis=1), 1)
    assert isinstance(fitted.graph_, Hypergraph)
    assert isinstance(fitted.representation_, Representation)
    assert fitted.representation_.coefficients.shape == (n, n)
    assert fitted.spectrum_.residuals.max() <= 1e-6
    assert fitted.n_features_in_ == 50


def test_rows_may_be_left_as_they_are(subspaces):
    model = HypergraphClustering(4, method="spectral", normalize_rows=False, random_state=0)
    model.fit(subspaces[0])
    np.testing.assert_array_equal(model.embedding_, model.spectrum_.eigenvectors[:, :4])


def test_confidence_is_one_minus_the_ratio_of_distances():
    X = np.random.default_rng(4).normal(size=(60, 20))
    model = HypergraphClustering(3, random_state=0).fit(X)
    assert model.confidence_.min() >= 0
    assert model.confidence_.max() <= 1
    points = model.embedding_
    centers = [points[model.labels_ == c].mean(axis=0) for c in range(3)]
    for i, label in enumerate(model.labels_):
        distances = [np.linalg.norm(points[i] - center) for center in centers]
        own = distances.pop(label)
        expected = max(1 - own / min(distances), 0)
        assert model.confidence_[i] == pytest.approx(expected, abs=1e-9)


def test_subspaces_give_more_confidence_than_noise(fitted):
    X = np.random.default_rng(5).normal(size=(120, 50))
    noise = HypergraphClustering(4, random_state=0).fit(X)
    assert fitted.confidence_.mean() > noise.confidence_.mean()


# --- input -----------------------------------------------------------------------------


def test_threads_do_not_change_the_result(subspaces):
    fits = [
        HypergraphClustering(4, structure=ElasticNetHypergraph(n_jobs=jobs), random_state=0)
        for jobs in (1, 2)
    ]
    one, two = (model.fit(subspaces[0]) for model in fits)
    assert one.graph_ == two.graph_
    np.testing.assert_array_equal(one.labels_, two.labels_)


@pytest.mark.parametrize("n", [120, 450])
def test_a_seed_repeats_the_result(n):
    X = np.random.default_rng(1).normal(size=(n, 30))
    one, two = (HypergraphClustering(5, random_state=7).fit(X) for _ in range(2))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    np.testing.assert_array_equal(one.embedding_, two.embedding_)


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, int, bool])
def test_pixels_of_any_type(dtype):
    rng = np.random.default_rng(2)
    faces = rng.integers(0, 2, size=(3, 64))
    X = np.abs(np.repeat(faces, 20, axis=0) - (rng.uniform(size=(60, 64)) < 0.1))
    X = X.astype(dtype) if dtype is bool else (200 * X).astype(dtype)
    before = X.copy()
    labels = HypergraphClustering(3, random_state=0).fit_predict(X)
    assert clustering_accuracy(np.repeat([0, 1, 2], 20), labels) == 1
    np.testing.assert_array_equal(X, before)


def test_unknown_method(subspaces):
    with pytest.raises(InputError, match=r"method must be one of .*, got 'flat'"):
        HypergraphClustering(2, method="flat").fit(subspaces[0])


def test_impossible_numbers_are_refused_before_the_long_work():
    class Slow(ElasticNetHypergraph):
        def fit(self, X, y=None, *, progress=None):
            raise AssertionError("the structure was built")

    for k in (0, 31, 2.0, True):
        with pytest.raises(
            InputError, match=r"n_clusters must be a whole number from 1 to 30 .*, got"
        ):
            HypergraphClustering(k, structure=Slow()).fit(np.ones((30, 2)))


# --- new samples, and scores ----------------------------------------------------------------------


def test_samples_of_fit_keep_their_cluster(fitted, subspaces):
    prediction = fitted.predict_with_scores(subspaces[0])
    assert (prediction.labels == fitted.labels_).mean() > 0.97
    np.testing.assert_array_equal(fitted.predict(subspaces[0]), prediction.labels)
    np.testing.assert_array_less(prediction.outlier_scores, 1e-3)  # each is its own copy


def test_new_samples_of_the_same_subspaces(union_of_subspaces):
    X, y = union_of_subspaces(3, per_subspace=60)
    half = np.random.default_rng(0).permutation(len(X)) < len(X) // 2
    model = HypergraphClustering(4, random_state=0).fit(X[half])
    assert clustering_accuracy(y[~half], model.predict(X[~half])) == 1


def test_a_sample_without_members_has_no_cluster(fitted, subspaces):
    blank = np.full((1, subspaces[0].shape[1]), 3.0)
    with pytest.warns(UserWarning, match="constant"):
        prediction = fitted.predict_with_scores(np.vstack([blank, subspaces[0][:1]]))
    assert prediction.labels.tolist() == [-1, fitted.labels_[0]]
    assert (prediction.confidence[0], prediction.outlier_scores[0]) == (0, 1)


def test_boundary_scores_are_the_step_to_other_clusters(union_of_subspaces):
    X, _ = union_of_subspaces(9, per_subspace=60)
    X += 0.2 * np.random.default_rng(9).normal(size=X.shape)
    model = HypergraphClustering(4, random_state=0).fit(X)
    graph = model.graph_
    H = graph.incidence.toarray()
    to_edge = H * graph.weights / graph.vertex_degrees[:, None]
    to_vertex = (H / graph.edge_degrees).T
    other = model.labels_[:, None] != model.labels_
    expected = ((to_edge @ to_vertex) * other).sum(axis=1)
    np.testing.assert_allclose(model.boundary_scores_, expected, atol=1e-12)
    assert expected.max() > 0.1


def test_noise_has_the_largest_outlier_scores(union_of_subspaces):
    X, _ = union_of_subspaces(2, per_subspace=60)
    X[::10] = np.random.default_rng(0).normal(size=X[::10].shape)
    scores = HypergraphClustering(4, random_state=0).fit(X).outlier_scores_
    noise = np.arange(len(X)) % 10 == 0
    assert scores[noise].min() > scores[~noise].max()
    assert scores.min() >= 0
    assert scores.max() <= 1


@pytest.mark.parametrize("wrong", [-1, "a", 1.5])
def test_wrong_random_state_is_refused_before_anything_is_fitted(wrong):
    model = HypergraphClustering(2, random_state=wrong)
    with pytest.raises(InputError, match="random_state must be None, a whole number") as caught:
        model.fit(np.eye(5))
    assert caught.value.parameter == "random_state"
    assert not hasattr(model, "structure_")
