"""Learners on a hypergraph with isolated vertices: vertices in no hyperedge, of degree 0."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from enhg import (
    ElasticNetHypergraph,
    Hypergraph,
    HypergraphClassifier,
    HypergraphClustering,
    clustering_accuracy,
    count_clusters,
)
from enhg.exceptions import InputError
from enhg.learning import coarsening
from enhg.learning.diffusion import poisson
from enhg.learning.scores import boundary_scores
from enhg.learning.spectral import top_eigenpairs
from enhg.modularity import maximize_modularity

X, Y = (part[:200] for part in load_digits(n_class=3, return_X_y=True))
ISOLATED = [3, 50, 120]
LINKED = np.setdiff1d(np.arange(200), ISOLATED)
GIVEN = np.where(np.arange(200) % 10 == 0, Y, -1)  # also of two that are isolated
pytestmark = [
    pytest.mark.filterwarnings("error::RuntimeWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]


@pytest.fixture(scope="module")
def hypergraph():
    graph = ElasticNetHypergraph().fit(X).graph_
    incidence = graph.incidence.toarray()
    incidence[ISOLATED] = 0
    filled = incidence.any(axis=0)
    return Hypergraph(incidence[:, filled], graph.weights[filled])


@pytest.fixture(scope="module")
def part(hypergraph):
    """The same without isolated vertices."""
    return hypergraph.subhypergraph(np.isin(np.arange(200), LINKED))


@pytest.mark.parametrize("method", ["auto", "spectral"])
@pytest.mark.parametrize("n_clusters", [1, 3, "auto"])
def test_clusters_are_those_without_them(hypergraph, part, method, n_clusters):
    options = {"method": method, "random_state": 0}
    model = HypergraphClustering(n_clusters, structure=hypergraph, **options).fit(X)
    alone = HypergraphClustering(n_clusters, structure=part, **options).fit(X[LINKED])
    assert model.n_clusters_ == alone.n_clusters_
    if n_clusters == 3:
        np.testing.assert_array_equal(model.labels_[LINKED], alone.labels_)
        np.testing.assert_allclose(model.confidence_[LINKED], alone.confidence_, atol=1e-5)
    if model.n_clusters_ > 1:
        assert model.fragments_[ISOLATED].all()
        assert not model.confidence_[ISOLATED].any()
    np.testing.assert_allclose(model.boundary_scores_[ISOLATED], 0, atol=1e-12)
    assert np.isfinite(model.embedding_).all()
    assert np.isin(model.suggest(5), LINKED).all()


@pytest.mark.parametrize("method", ["auto", "spectral"])
def test_more_clusters_than_linked_vertices(hypergraph, method):
    model = HypergraphClustering(199, structure=hypergraph, method=method, random_state=0).fit(X)
    assert np.isfinite(model.embedding_).all()
    assert not model.confidence_[ISOLATED].any()


def test_clusters_of_many_vertices(hypergraph, monkeypatch):
    monkeypatch.setattr(coarsening, "_MAX_VERTICES", 100)
    monkeypatch.setattr(coarsening, "_MAX_GROUPS", 80)
    for n_clusters in (3, "auto"):
        model = HypergraphClustering(n_clusters, structure=hypergraph, random_state=0).fit(X)
        assert not model.confidence_[ISOLATED].any()
        assert np.isfinite(model.embedding_).all()
    model = HypergraphClustering(3, structure=hypergraph, random_state=0).fit(X)
    assert clustering_accuracy(Y[LINKED], model.labels_[LINKED]) > 0.8
    spectrum = HypergraphClassifier(structure=hypergraph).fit(X, GIVEN).spectrum_
    assert not spectrum.eigenvectors[ISOLATED].any()


@pytest.mark.parametrize("method", ["auto", "diffusion", "poisson"])
def test_no_label_reaches_them(hypergraph, method):
    with pytest.warns(UserWarning, match="no label reaches 1 of 200 samples"):
        model = HypergraphClassifier(structure=hypergraph, method=method).fit(X, GIVEN)
    assert np.flatnonzero(model.unreached_).tolist() == [3]
    assert model.transduction_[ISOLATED].tolist() == [-1, Y[50], Y[120]]
    assert model.label_distributions_[50, Y[50]] == 1
    assert (model.transduction_ == Y)[LINKED].mean() > 0.9


def test_their_labels_do_not_spread(hypergraph, part):
    labels = np.eye(3)[Y] * (GIVEN >= 0)[:, None]
    U = poisson(hypergraph, labels)
    np.testing.assert_allclose(U[LINKED], poisson(part, labels[LINKED]), atol=1e-9)
    assert not U[ISOLATED].any()


def test_eigenpairs_are_those_of_theta(hypergraph):
    spectrum = top_eigenpairs(hypergraph, 8, random_state=0)
    expected = np.linalg.eigvalsh(hypergraph.theta_dense())[::-1][:8]
    np.testing.assert_allclose(spectrum.eigenvalues, expected, atol=1e-9)
    assert count_clusters(hypergraph, random_state=0).n_clusters > 1
    scores = boundary_scores(Hypergraph([[1], [1], [0]]), np.array([0, 1, 1]), 2)
    np.testing.assert_allclose(scores, [0.5, 0.5, 0])


def test_nothing_but_isolated_vertices_is_refused():
    alone = Hypergraph(np.empty((200, 0)))
    for name, fit in (
        ("structure", lambda: HypergraphClustering(2, structure=alone).fit(X)),
        ("structure", lambda: HypergraphClassifier(structure=alone).fit(X, GIVEN)),
        ("graph", lambda: count_clusters(alone)),
        ("graph", lambda: maximize_modularity(alone)),
    ):
        with pytest.raises(InputError, match=f"{name} must have an edge") as caught:
            fit()
        assert caught.value.parameter == name
