import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils.estimator_checks import check_estimator
from sklearn.utils.validation import check_is_fitted

from enhg import (
    ElasticNetHypergraph,
    Hypergraph,
    HypergraphClustering,
    Representation,
    clustering_accuracy,
)
from enhg.learning.scores import outlying

SPECTRA = ("auto", "equal", "resolvent")
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


# --- what it finds ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("spectrum", SPECTRA)
def test_independent_subspaces_are_told_apart(union_of_subspaces, seed, spectrum):
    X, y = union_of_subspaces(seed, n_subspaces=2 + seed)
    labels = HypergraphClustering(
        2 + seed, eigenvector_weighting=spectrum, random_state=0
    ).fit_predict(X)
    assert clustering_accuracy(y, labels) == 1


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_noise_joins_the_subspaces_and_does_not_mix_them(union_of_subspaces, spectrum):
    X, y = union_of_subspaces(9, per_subspace=60)
    X += 0.2 * np.random.default_rng(9).normal(size=X.shape)
    model = HypergraphClustering(4, eigenvector_weighting=spectrum, random_state=0).fit(X)
    assert model.graph_.connected_components()[0] < 4
    assert clustering_accuracy(y, model.labels_) > 0.98


def test_duplicated_samples_stay_together(union_of_subspaces):
    X, y = union_of_subspaces(8)
    twice = np.r_[np.arange(len(y)), np.arange(0, len(y), 3)]
    labels = HypergraphClustering(4, random_state=0).fit_predict(X[twice])
    assert clustering_accuracy(y[twice], labels) == 1
    np.testing.assert_array_equal(labels[len(y) :], labels[: len(y) : 3])


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_components_are_the_clusters(spectrum):
    """As many components as clusters: nothing is left to choose."""
    model = HypergraphClustering(
        5, structure=FIVE_COMPONENTS, eigenvector_weighting=spectrum, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        labels = model.fit_predict(np.zeros((14, 1)))
    truth = FIVE_COMPONENTS.connected_components()[1]
    assert clustering_accuracy(truth, labels) == 1


@pytest.mark.parametrize("spectrum", SPECTRA)
@pytest.mark.parametrize("k", [2, 3, 4])
def test_more_components_than_clusters(spectrum, k):
    model = HypergraphClustering(
        k, structure=FIVE_COMPONENTS, eigenvector_weighting=spectrum, random_state=0
    )
    with pytest.warns(UserWarning, match=f"5 components, more than the {k} clusters") as caught:
        labels = model.fit_predict(np.zeros((14, 1)))
    advice = str(caught[0].message)
    assert "hyperedges larger" in advice
    assert "ask for up to 5 clusters" in advice
    assert set(labels) == set(range(k))
    components = FIVE_COMPONENTS.connected_components()[1]
    for component in range(5):
        assert len(set(labels[components == component])) == 1


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_fragments_do_not_take_the_place_of_clusters(spectrum):
    """Two blocks with a weak link, and nine pairs apart: the blocks are the two clusters."""
    blocks = [[i, (i + step) % 30] for i in range(30) for step in (1, 2, 3)]
    edges = [*blocks, *([30 + i, 30 + j] for i, j in blocks), [0, 30]]
    pairs = [[60 + 2 * i, 61 + 2 * i] for i in range(9)]
    graph = Hypergraph.from_edges([*edges, *pairs])
    model = HypergraphClustering(2, structure=graph, eigenvector_weighting=spectrum, random_state=0)
    with pytest.warns(UserWarning, match=r"10 components, .* 18 samples in ones too small"):
        model.fit(np.zeros((78, 1)))
    assert clustering_accuracy(np.repeat([0, 1], 30), model.labels_[:60]) == 1
    assert not model.confidence_[60:].any()
    assert model.confidence_[5:25].min() > 0
    residuals = graph.theta @ model.spectrum_.vectors
    residuals -= model.spectrum_.vectors * model.spectrum_.values
    assert np.linalg.norm(residuals, axis=0).max() < 1e-6


@pytest.mark.parametrize("blanks", [1, 4, 9])
def test_blank_images_do_not_take_the_place_of_clusters(union_of_subspaces, blanks):
    X, y = union_of_subspaces(0, n_subspaces=4, per_subspace=40)
    model = HypergraphClustering(4, random_state=0)
    with pytest.warns(UserWarning, match="too small for a cluster"):
        model.fit(np.vstack([X, np.zeros((blanks, X.shape[1]))]))
    assert clustering_accuracy(y, model.labels_[: len(y)]) == 1
    assert not model.confidence_[len(y) :].any()


def test_nothing_is_sure_where_nothing_is_linked():
    X = np.random.default_rng(0).normal(size=(60, 20))
    model = HypergraphClustering(3, structure=ElasticNetHypergraph(gamma=0.5), random_state=0)
    with pytest.warns(UserWarning, match=r"raise gamma \(on the relative scale, above 1\)"):
        model.fit(X)
    assert not model.confidence_.any()


class PlainStructure(BaseEstimator):
    """The least that a learner asks of a structure."""

    def fit(self, X, y=None):
        self.graph_ = Hypergraph.from_edges([[i, (i + 1) % len(X)] for i in range(len(X))])
        return self


def test_any_structure_will_do():
    model = HypergraphClustering(2, structure=PlainStructure(), random_state=0).fit(np.eye(12))
    assert sorted(np.bincount(model.labels_)) == [6, 6]
    assert not hasattr(model, "representation_")


@pytest.mark.parametrize("graph", ["enhg", ElasticNetHypergraph, np.eye(3)], ids=repr)
def test_what_is_no_structure_is_refused(graph):
    with pytest.raises(ValueError, match="graph must be a structure, a Hypergraph or a Graph, got"):
        HypergraphClustering(2, structure=graph).fit(np.eye(12))


def test_one_cluster():
    X = np.random.default_rng(6).normal(size=(40, 20))
    model = HypergraphClustering(1, random_state=0).fit(X)
    assert set(model.labels_) == {0}
    np.testing.assert_array_equal(model.confidence_, 1)


@pytest.mark.parametrize("spectrum", SPECTRA)
def test_as_many_clusters_as_samples(spectrum):
    X = np.random.default_rng(0).normal(size=(25, 30))
    model = HypergraphClustering(25, eigenvector_weighting=spectrum, random_state=0)
    assert len(set(model.fit_predict(X))) == 25
    assert model.spectrum_.residuals.max() < 1e-10


def test_even_sizes_decide_between_the_spectra():
    """ "auto" is one of the two others, the one of larger entropy of sizes."""
    X = np.random.default_rng(3).normal(size=(80, 20))

    def evenness(labels):
        share = np.bincount(labels) / len(labels)
        return -(share * np.log(share)).sum()

    found = {s: HypergraphClustering(6, spectrum=s, random_state=0).fit(X) for s in SPECTRA}
    sizes = {s: evenness(found[s].labels_) for s in SPECTRA}
    assert sizes["equal"] != pytest.approx(sizes["resolvent"])
    best = max(("equal", "resolvent"), key=sizes.get)
    assert sizes["auto"] == pytest.approx(sizes[best])
    assert clustering_accuracy(found[best].labels_, found["auto"].labels_) == 1
    assert found["auto"].embedding_.shape == found[best].embedding_.shape


# --- what it tells ---------------------------------------------------------------------------


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
    model = HypergraphClustering(
        4, eigenvector_weighting="equal", normalize_rows=False, random_state=0
    )
    model.fit(subspaces[0])
    np.testing.assert_array_equal(model.embedding_, model.spectrum_.vectors[:, :4])


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
        assert model.confidence_[i] == pytest.approx(1 - own / min(distances), abs=1e-2)


def test_subspaces_apart_give_more_confidence_than_noise(fitted):
    X = np.random.default_rng(5).normal(size=(120, 50))
    noise = HypergraphClustering(4, random_state=0).fit(X)
    assert fitted.confidence_.mean() > noise.confidence_.mean()


# --- what it takes ---------------------------------------------------------------------------


def test_ready_hypergraph_is_taken_as_it_is(fitted, subspaces):
    ready = HypergraphClustering(4, structure=fitted.graph_, random_state=0).fit(subspaces[0])
    assert ready.graph_ is fitted.graph_
    np.testing.assert_array_equal(ready.labels_, fitted.labels_)
    assert not hasattr(ready, "representation_")


def test_hypergraph_of_other_samples(fitted):
    with pytest.raises(ValueError, match="graph has 120 vertices, but X has 7 samples"):
        HypergraphClustering(2, structure=fitted.graph_).fit(np.eye(7))


def test_nothing_of_an_earlier_fit_stays(subspaces):
    X = subspaces[0][:14]
    model = HypergraphClustering(2, random_state=0).fit(X)
    model.set_params(n_clusters=5, structure=FIVE_COMPONENTS).fit(X)
    assert not hasattr(model, "representation_")


def test_structure_given_is_not_touched(subspaces):
    structure = ElasticNetHypergraph(gamma=5)
    HypergraphClustering(4, structure=structure, random_state=0).fit(subspaces[0])
    with pytest.raises(NotFittedError):
        check_is_fitted(structure)


def test_parameters_reach_the_structure(subspaces):
    model = HypergraphClustering(4, structure=ElasticNetHypergraph(), random_state=0)
    assert "graph__gamma" in model.get_params()
    copy = clone(model).set_params(graph__gamma=3.0, graph__level=9)
    assert (copy.graph.gamma, copy.graph.level) == (3.0, 9)
    assert model.graph.level is None
    copy.fit(subspaces[0])
    assert max(map(len, copy.graph_.edges())) == 10  # nine and the centroid


def test_clone_of_a_model_with_a_ready_hypergraph():
    model = HypergraphClustering(5, structure=FIVE_COMPONENTS, random_state=0)
    assert clone(model).graph == FIVE_COMPONENTS


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


def test_unknown_spectrum(subspaces):
    with pytest.raises(ValueError, match=r"spectrum must be .*, got 'flat'"):
        HypergraphClustering(2, eigenvector_weighting="flat").fit(subspaces[0])


def test_impossible_numbers_are_refused_before_the_long_work():
    class Slow(ElasticNetHypergraph):
        def fit(self, X, y=None, *, progress=None):
            raise AssertionError("the structure was built")

    for k in (0, 31, 2.0, True):
        with pytest.raises(ValueError, match=r"n_clusters must be .*\(30\), got"):
            HypergraphClustering(k, structure=Slow()).fit(np.ones((30, 2)))


# --- new samples, and doubt ----------------------------------------------------------------------


def test_samples_of_fit_are_placed_where_they_were(fitted, subspaces):
    placed = fitted.place(subspaces[0])
    assert (placed.labels == fitted.labels_).mean() > 0.97
    np.testing.assert_array_equal(fitted.predict(subspaces[0]), placed.labels)
    np.testing.assert_array_less(placed.outlier_scores, 1e-3)  # each is its own copy


def test_new_samples_of_the_same_subspaces(union_of_subspaces):
    X, y = union_of_subspaces(3, per_subspace=60)
    half = np.random.default_rng(0).permutation(len(X)) < len(X) // 2
    model = HypergraphClustering(4, random_state=0).fit(X[half])
    assert clustering_accuracy(y[~half], model.predict(X[~half])) == 1


def test_what_nothing_rebuilds_belongs_nowhere(fitted, subspaces):
    blank = np.full((1, subspaces[0].shape[1]), 3.0)
    with pytest.warns(UserWarning, match="constant"):
        placed = fitted.place(np.vstack([blank, subspaces[0][:1]]))
    assert placed.labels.tolist() == [-1, fitted.labels_[0]]
    assert (placed.confidence[0], placed.outlier_scores[0]) == (0, 1)


def test_new_samples_of_another_width(fitted):
    with pytest.raises(ValueError, match="features"):
        fitted.predict(np.ones((2, 3)))


def test_ready_hypergraph_knows_no_new_samples(fitted, subspaces):
    model = HypergraphClustering(4, structure=fitted.graph_, random_state=0).fit(subspaces[0])
    assert not hasattr(model, "outlier_scores_")
    with pytest.raises(ValueError, match=r"attach new samples.*got a Hypergraph"):
        model.predict(subspaces[0])


def test_frozen_structure_is_not_built_again_and_knows_new_samples(fitted, subspaces):
    frozen = FrozenEstimator(fitted.structure_)
    model = HypergraphClustering(4, structure=frozen, random_state=0).fit(subspaces[0])
    assert model.graph_ is fitted.graph_
    np.testing.assert_array_equal(model.labels_, fitted.labels_)
    np.testing.assert_array_equal(model.predict(subspaces[0]), fitted.predict(subspaces[0]))
    with pytest.raises(ValueError, match="vertices, but X has 5 samples"):
        HypergraphClustering(4, structure=frozen).fit(subspaces[0][:5])


def test_foreign_membership_is_the_step_to_other_clusters(union_of_subspaces):
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


def test_copies_do_not_make_outliers_of_others(union_of_subspaces):
    X, _ = union_of_subspaces(2, per_subspace=60)
    X += 0.3 * np.random.default_rng(0).normal(size=X.shape)
    alone = outlying(HypergraphClustering(4, random_state=0).fit(X).outlier_scores_)
    twice = np.vstack([X, X[:150]])
    scores = HypergraphClustering(4, random_state=0).fit(twice).outlier_scores_
    assert outlying(scores).sum() <= alone.sum() + 5
    assert scores[:150].max() < 1e-3


def test_corrected_samples(fitted, subspaces):
    X = subspaces[0]
    all_of_them = fitted.structure_.reconstruct()
    assert all_of_them.shape == X.shape
    np.testing.assert_allclose(fitted.structure_.reconstruct([3, 5]), all_of_them[[3, 5]])
    np.testing.assert_allclose(fitted.structure_.reconstruct(3), all_of_them[[3]])
    assert fitted.structure_.reconstruct([]).shape == (0, X.shape[1])
    # Subspaces rebuild their samples, whose mean and scale are kept.
    np.testing.assert_allclose(all_of_them.mean(axis=1), X.mean(axis=1))
    cosines = [np.corrcoef(a, b)[0, 1] for a, b in zip(all_of_them, X, strict=True)]
    assert np.mean(cosines) > 0.95


def test_noise_has_the_largest_outlier_scores(union_of_subspaces):
    X, _ = union_of_subspaces(2, per_subspace=60)
    X[::10] = np.random.default_rng(0).normal(size=X[::10].shape)
    scores = HypergraphClustering(4, random_state=0).fit(X).outlier_scores_
    noise = np.arange(len(X)) % 10 == 0
    assert scores[noise].min() > scores[~noise].max()
    assert scores.min() >= 0
    assert scores.max() <= 1
