"""Groups of vertices, the graph of the groups, and clusters found by them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator

from enhg import (
    ElasticNetHypergraph,
    Graph,
    Hypergraph,
    HypergraphClassifier,
    HypergraphClustering,
    clustering_accuracy,
)
from enhg.io.models import load_model, save_model
from enhg.learning import coarsening
from enhg.learning.coarsening import Coarsening, find_groups
from enhg.learning.spectral import top_eigenpairs
from enhg.modularity import modularity, move_vertices, step_information

X, y = load_digits(return_X_y=True)


@pytest.fixture(scope="module")
def structure():
    return ElasticNetHypergraph().fit(X)


@pytest.fixture
def few_vertices(monkeypatch):
    """Graphs of more than 500 vertices count as large."""
    monkeypatch.setattr(coarsening, "_MAX_VERTICES", 500)
    monkeypatch.setattr(coarsening, "_MAX_GROUPS", 300)


def random_graphs():
    rng = np.random.default_rng(0)
    incidence = np.where(rng.random((40, 60)) < 0.15, rng.random((40, 60)), 0)
    incidence[:, :40] += np.eye(40)
    incidence[0] += 0.1
    yield Hypergraph(incidence, rng.random(60) + 0.1)
    adjacency = sparse.random_array((40, 40), density=0.2, rng=rng)
    yield Graph(sparse.csr_array(adjacency + adjacency.T + sparse.eye_array(40)))


GRAPHS = list(random_graphs())


@pytest.mark.parametrize("graph", GRAPHS, ids=["hypergraph", "graph"])
def test_links_of_groups_are_sums_of_links(graph):
    groups = np.random.default_rng(1).permutation(np.arange(40) % 7)
    coarse = Coarsening.of_groups(graph, groups)
    roots = np.sqrt(graph.vertex_degrees)
    links = roots[:, None] * graph.theta_dense() * roots
    indicator = np.eye(7)[groups]
    np.testing.assert_allclose(coarse.graph.adjacency.toarray(), indicator.T @ links @ indicator)
    np.testing.assert_allclose(coarse.graph.vertex_degrees, indicator.T @ graph.vertex_degrees)


@pytest.mark.parametrize("graph", GRAPHS, ids=["hypergraph", "graph"])
def test_partitions_of_groups_have_the_modularity_of_those_of_vertices(graph):
    groups = np.random.default_rng(2).permutation(np.arange(40) % 9)
    coarse, labels = Coarsening.of_groups(graph, groups), np.arange(9) % 3
    for score in (modularity, step_information):
        of_vertices = score(graph, coarse.spread(labels))
        assert score(coarse.graph, labels) == pytest.approx(of_vertices, abs=1e-12)


@pytest.mark.parametrize("graph", GRAPHS, ids=["hypergraph", "graph"])
def test_groups_of_one_vertex_keep_the_spectrum(graph):
    order = np.random.default_rng(3).permutation(40)
    coarse = Coarsening.of_groups(graph, order)
    exact = top_eigenpairs(graph, 5, random_state=0)
    spread = coarse.spread_spectrum(top_eigenpairs(coarse.graph, 5, random_state=0))
    np.testing.assert_allclose(spread.eigenvalues, exact.eigenvalues, atol=1e-9)
    assert spread.residuals.max() < 1e-9
    cosines = np.abs((spread.eigenvectors * exact.eigenvectors).sum(axis=0))
    np.testing.assert_allclose(cosines, 1, atol=1e-5)  # in float32


def test_small_graphs_stay_whole(structure):
    graph = structure.graph_
    assert find_groups(graph, 10, np.random.RandomState(0)) is None
    coarse = Coarsening.of_groups(graph, None)
    assert coarse.graph is graph
    labels = np.arange(len(X))
    assert coarse.spread_partition(labels, np.random.RandomState(0)) is labels


def test_groups_are_small_and_connected(structure, few_vertices):
    graph = structure.graph_
    groups = find_groups(graph, 10, np.random.RandomState(0))
    count = groups.max() + 1
    assert 200 <= count < len(X) / 2
    assert 0 < np.bincount(groups).min() <= np.bincount(groups).max() < len(X) / 100
    links = graph.clique_expansion()
    for group in range(0, count, 20):
        members = np.flatnonzero(groups == group)
        part = sparse.csgraph.connected_components(links[members][:, members])[0]
        assert part == 1
    many = find_groups(graph, 40, np.random.RandomState(0))
    assert many.max() + 1 >= 800  # twenty for each cluster


def test_moves_gain_modularity_and_touch_no_other_vertex(structure):
    graph, rng = structure.graph_, np.random.RandomState(0)
    labels = np.where(rng.rand(len(X)) < 0.1, rng.randint(0, 10, len(X)), y)
    links = graph.clique_expansion()
    visited = rng.permutation(len(X))[:900]
    moved = move_vertices(links, graph.vertex_degrees, labels, visited, rng)
    assert set(np.unique(moved)) <= set(range(10))
    kept = np.setdiff1d(np.arange(len(X)), visited)
    np.testing.assert_array_equal(moved[kept], labels[kept])
    assert modularity(graph, moved) > modularity(graph, labels) + 0.05


def test_links_of_the_boundary_are_those_of_the_graph(structure):
    graph = structure.graph_
    labels = np.where(np.random.RandomState(0).rand(len(X)) < 0.01, 0, y)
    links, boundary = coarsening._links_across(graph, labels)
    assert 0 < len(boundary) < len(X) / 2
    links = links.tolil()
    links.setdiag(0)
    rows = links.tocsr()[boundary]
    np.testing.assert_allclose(
        rows.toarray(), graph.clique_expansion()[boundary].toarray(), atol=1e-12
    )
    # A vertex with a wrong label has most links to another cluster, and so is on the boundary.
    assert np.isin(np.flatnonzero(labels != y), boundary).mean() > 0.9


@pytest.mark.parametrize("method", ["auto", "spectral", "modularity"])
def test_clusters_are_as_modular_as_those_of_the_whole_graph(
    structure, few_vertices, method, monkeypatch
):
    options = {"structure": FrozenEstimator(structure), "method": method, "random_state": 0}
    coarse = HypergraphClustering(10, **options).fit(X)
    assert coarse.spectrum_.eigenvectors.dtype == coarse.embedding_.dtype == np.float32
    assert coarse.spectrum_.eigenvectors.shape[0] == len(X)
    assert ((coarse.confidence_ >= 0) & (coarse.confidence_ <= 1)).all()
    again = HypergraphClustering(10, **options).fit(X)
    np.testing.assert_array_equal(again.labels_, coarse.labels_)
    monkeypatch.undo()
    whole = HypergraphClustering(10, **options).fit(X)
    assert whole.spectrum_.eigenvectors.dtype == np.float64
    by_groups, by_samples = (modularity(structure.graph_, m.labels_) for m in (coarse, whole))
    assert by_groups > by_samples - 0.005
    np.testing.assert_allclose(
        coarse.spectrum_.eigenvalues[:10], whole.spectrum_.eigenvalues[:10], atol=0.02
    )


def test_the_number_of_clusters_is_estimated_on_groups(structure, few_vertices):
    model = HypergraphClustering(structure=FrozenEstimator(structure), random_state=0).fit(X)
    assert 8 <= model.n_clusters_ <= 14
    assert len(model.labels_) == len(X)


def test_eigenvectors_of_a_classifier_are_found_on_groups(structure, few_vertices, monkeypatch):
    given = np.where(np.arange(len(y)) % 50 == 0, y, -1)
    model = HypergraphClassifier(structure=FrozenEstimator(structure)).fit(X, given)
    spectrum, suggested = model.spectrum_, model.suggest(20)
    assert spectrum.eigenvectors.dtype == np.float32
    assert spectrum.eigenvectors.shape == (len(X), 50)
    assert len(set(suggested) - set(model.labeled_indices_)) == 20
    monkeypatch.undo()
    whole = HypergraphClassifier(structure=FrozenEstimator(structure)).fit(X, given)
    assert whole.spectrum_.eigenvectors.dtype == np.float64
    np.testing.assert_allclose(
        spectrum.eigenvalues[:10], whole.spectrum_.eigenvalues[:10], atol=0.02
    )


def test_components_of_their_own(few_vertices):
    """Copies of one set far apart: no group has samples of both."""
    two = np.zeros((1200, 128))
    two[:600, :64], two[600:, 64:] = X[:600], X[:600]
    model = HypergraphClustering(
        2, structure=ElasticNetHypergraph(preprocessing="unit"), random_state=0
    )
    labels = model.fit(two).labels_
    assert len(set(labels[:600])) == len(set(labels[600:])) == 1
    assert labels[0] != labels[-1]


def test_a_clustering_by_groups_is_saved_resumed_and_predicts(few_vertices, tmp_path):
    options = {"n_clusters": 10, "random_state": 0}
    plain = HypergraphClustering(**options).fit(X[:900])
    folder = tmp_path / "parts"
    HypergraphClustering(**options, checkpoint=folder).fit(X[:900])
    assert (folder / "clustering" / "groups.npz").is_file()
    (folder / "clustering" / "refinement.npz").unlink()
    resumed = HypergraphClustering(**options, checkpoint=folder).fit(X[:900])
    np.testing.assert_array_equal(resumed.labels_, plain.labels_)
    np.testing.assert_array_equal(resumed.embedding_, plain.embedding_)
    save_model(plain, tmp_path / "model.npz")
    read = load_model(tmp_path / "model.npz")
    np.testing.assert_array_equal(read.predict(X[900:950]), plain.predict(X[900:950]))
    assert clustering_accuracy(y[900:], plain.predict(X[900:])) > 0.75
