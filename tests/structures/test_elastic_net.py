"""`ElasticNetHypergraph`: representation, hyperedges, preprocessing and conventions."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from enhg import ElasticNetHypergraph, HyperedgeRule, self_representation
from enhg.preprocessing import SampleNormalizer
from enhg.structures.choice import choose_preprocessing

# --- representation -------------------------------------------------------------------------------


def test_representation_is_that_of_the_preprocessed_samples(samples):
    structure = ElasticNetHypergraph(gamma=4, lam=2, preprocessing="unit", tol=1e-6).fit(samples)
    unit = samples / np.linalg.norm(samples, axis=1, keepdims=True)
    expected = self_representation(unit, gamma=4, lam=2, tol=1e-6).coefficients
    coefficients = structure.representation_.coefficients
    np.testing.assert_allclose(coefficients.toarray(), expected.toarray(), atol=1e-9)


def test_sparse_errors_are_those_of_the_representation(samples):
    structure = ElasticNetHypergraph(gamma=4, lam=2, error_weight=0.5, preprocessing="unit")
    representation = structure.fit(samples).representation_
    unit = samples / np.linalg.norm(samples, axis=1, keepdims=True)
    expected = self_representation(unit, gamma=4, lam=2, error_weight=0.5)
    np.testing.assert_allclose(
        representation.coefficients.toarray(), expected.coefficients.toarray()
    )
    assert representation.sparse_errors.nnz
    assert structure.attach(samples[:3]).memberships.shape == (3, len(samples))


@pytest.mark.parametrize(("preprocessing", "weight"), [("whiten", 0.5), ("zero_mean", None)])
def test_automatic_error_weight(samples, preprocessing, weight):
    automatic = ElasticNetHypergraph(preprocessing=preprocessing).fit(samples)
    same = ElasticNetHypergraph(preprocessing=preprocessing, error_weight=weight).fit(samples)
    other = ElasticNetHypergraph(preprocessing=preprocessing, error_weight=None if weight else 0.5)
    assert automatic.error_weight_ == weight
    assert automatic.graph_ == same.graph_ != other.fit(samples).graph_


@pytest.mark.parametrize("weight", [0, -1.0, "none", np.inf])
def test_wrong_error_weight(samples, weight):
    with pytest.raises(ValueError, match="error_weight must be"):
        ElasticNetHypergraph(error_weight=weight).fit(samples)


@pytest.mark.parametrize("name", ["preprocessing", "loss", "gamma_scale"])
def test_unknown_choices(name):
    with pytest.raises(ValueError, match=rf"{name} must be one of .*, got 'nonsense'"):
        ElasticNetHypergraph(**{name: "nonsense"}).fit(np.eye(3))


@pytest.mark.parametrize("rule", ["top", 10, HyperedgeRule])
def test_hyperedges_must_be_a_rule(rule):
    with pytest.raises(ValueError, match="hyperedges must be a HyperedgeRule or None, got"):
        ElasticNetHypergraph(hyperedges=rule).fit(np.eye(3))


def test_a_wrong_rule_is_refused_before_any_work():
    structure = ElasticNetHypergraph(hyperedges=HyperedgeRule("top", 0))
    with pytest.raises(ValueError, match="threshold must be"):
        structure.fit("no samples")


# --- hyperedges -----------------------------------------------------------------------------------


@pytest.mark.parametrize("loss", ["norm", "squared"])
@pytest.mark.parametrize(
    "rule",
    [
        HyperedgeRule("top", 3),
        HyperedgeRule("largest", 0.5, positive=True, weighting="cosine"),
        HyperedgeRule("mean", symmetrize=True, membership="binary", weighting="uniform"),
    ],
    ids=str,
)
def test_the_rule_builds_the_hypergraph(samples, loss, rule):
    structure = ElasticNetHypergraph(gamma=5, lam=1, loss=loss, hyperedges=rule).fit(samples)
    assert structure.graph_ == rule.build(structure.representation_.coefficients)


def test_the_default_rule(samples):
    default = ElasticNetHypergraph().fit(samples).graph_
    assert default == ElasticNetHypergraph(hyperedges=HyperedgeRule()).fit(samples).graph_


@pytest.mark.parametrize("symmetrize", [False, True])
def test_member_coefficients_are_those_of_the_members(samples, symmetrize):
    rule = HyperedgeRule("top", 4, symmetrize=symmetrize)
    structure = ElasticNetHypergraph(hyperedges=rule).fit(samples)
    Z = structure.representation_.coefficients.toarray()
    entries = structure.member_coefficients_
    assert isinstance(entries, sparse.csr_array)
    for i, edge in enumerate(structure.graph_.edges()):
        members = [j for j in edge if j != i]
        stored = slice(entries.indptr[i], entries.indptr[i + 1])
        assert entries.indices[stored].tolist() == members
        assert entries.data[stored].tolist() == [Z[i, j] for j in members]


@pytest.mark.parametrize("membership", ["soft", "binary"])
def test_centroids_and_memberships(samples, membership):
    rule = HyperedgeRule("top", 5, membership=membership)
    H = ElasticNetHypergraph(hyperedges=rule).fit(samples).graph_.incidence.toarray()
    np.testing.assert_array_equal(np.diag(H), 1)
    if membership == "soft":  # the members together count as much as the centroid
        assert np.any((H > 0) & (H < 1))
        np.testing.assert_allclose(H.sum(axis=0), 2)
    else:
        assert set(np.unique(H)) == {0, 1}
        np.testing.assert_array_equal(H.sum(axis=0), 6)


@pytest.mark.parametrize("weighting", ["cosine", "product", "uniform", "coefficient_sum"])
@pytest.mark.parametrize("membership", ["soft", "binary"])
def test_samples_without_representation_are_alone(samples, weighting, membership):
    X = np.zeros((len(samples) + 2, samples.shape[1] + 1))
    X[:-2, :-1] = samples
    X[-2, -1] = 1  # orthogonal to all; the last is zero
    rule = HyperedgeRule("top", 10, weighting=weighting, membership=membership)
    structure = ElasticNetHypergraph(hyperedges=rule, preprocessing="none")
    with pytest.warns(
        UserWarning, match="2 of 38 samples are not represented by any other"
    ) as caught:
        edges = structure.fit(X).graph_.edges()
    assert caught[0].filename == __file__
    for alone in (len(X) - 2, len(X) - 1):
        assert edges[alone].tolist() == [alone]
        assert sum(alone in edge for edge in edges) == 1
    w = structure.graph_.weights
    assert w[-1] == w[-2] == w[:-2].min()
    assert structure.graph_.vertex_degrees.min() > 0


def test_weights_of_zero_take_the_smallest_one():
    """Twins represent only each other: their z share no entry, and ⟨zᵢ, zⱼ⟩ = 0."""
    twins = np.eye(4)[[0, 0, 1, 1]]
    structure = ElasticNetHypergraph(preprocessing="none", hyperedges=HyperedgeRule("top", 10))
    graph = structure.fit(twins).graph_
    assert [edge.tolist() for edge in graph.edges()] == [[0, 1], [0, 1], [2, 3], [2, 3]]
    assert graph.weights.tolist() == [1, 1, 1, 1]
    triplets = np.eye(4)[[0, 0, 1, 1, 2, 2, 2]]
    w = structure.fit(triplets).graph_.weights
    assert w[4:].max() < 1
    assert (w[:4] == w[4:].min()).all()


@pytest.mark.parametrize(
    "options", [{}, {"loss": "norm", "gamma": 2, "hyperedges": HyperedgeRule("largest")}]
)
def test_permuting_the_samples_permutes_the_hypergraph(samples, options):
    order = np.random.default_rng(3).permutation(len(samples))
    structure = ElasticNetHypergraph(tol=1e-8, **options)
    plain = structure.fit(samples).graph_
    permuted = structure.fit(samples[order]).graph_
    blocks = np.arange(plain.n_edges).reshape(-1, len(samples))
    edges = blocks[:, order].ravel()
    H = plain.incidence.toarray()[np.ix_(order, edges)]
    np.testing.assert_allclose(permuted.incidence.toarray(), H, atol=1e-5)
    np.testing.assert_allclose(permuted.weights, plain.weights[edges], rtol=1e-5)


def test_the_result_does_not_depend_on_the_number_of_threads(samples):
    one = ElasticNetHypergraph(n_jobs=1).fit(samples).graph_
    two = ElasticNetHypergraph(n_jobs=2).fit(samples).graph_
    assert one == two


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.int64])
def test_samples_of_other_types(samples, dtype):
    whole = np.minimum(np.round(20 * (samples - samples.min())), 255)
    expected = ElasticNetHypergraph(tol=1e-6).fit(whole).graph_.incidence.toarray()
    given = whole.astype(dtype)
    before = given.copy()
    H = ElasticNetHypergraph(tol=1e-6).fit(given).graph_.incidence.toarray()
    np.testing.assert_allclose(H, expected, atol=1e-3)
    np.testing.assert_array_equal(given, before)


def test_the_setting_of_the_paper():
    """Norm loss, θ = the mean of |z|, binary incidence, weights |⟨zᵢ, zⱼ⟩|, unit length."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 40)) + 3 * np.repeat(rng.normal(size=(2, 40)), 15, axis=0)
    structure = ElasticNetHypergraph(
        gamma=3, lam=0.5, loss="norm", preprocessing="unit",
        hyperedges=HyperedgeRule("mean", membership="binary", weighting="product"),
    ).fit(X)  # fmt: skip
    Z = np.abs(structure.representation_.coefficients.toarray())
    theta = Z.mean(axis=1, keepdims=True)
    H = (theta < Z).T | np.eye(30, dtype=bool)
    np.testing.assert_array_equal(structure.graph_.incidence.toarray(), H)
    assert structure.representation_.certificate.max() <= structure.tol


# --- preprocessing --------------------------------------------------------------------------------


def same_hypergraph(one, other):
    np.testing.assert_allclose(one.incidence.toarray(), other.incidence.toarray(), atol=1e-6)
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-6)


@pytest.mark.parametrize("center", [True, False])
def test_preprocessing_is_the_first_step(samples, center):
    name = "zero_mean" if center else "unit"
    shifted = samples + np.arange(len(samples))[:, None] / 10
    ready = SampleNormalizer(center=center).fit_transform(shifted)
    same_hypergraph(
        ElasticNetHypergraph(preprocessing=name, tol=1e-8).fit(shifted).graph_,
        ElasticNetHypergraph(preprocessing="none", tol=1e-8).fit(ready).graph_,
    )


@pytest.mark.parametrize("name", ["zero_mean", "unit", "smooth", "lift"])
def test_invariances_of_preprocessing(samples, name):
    factors = np.linspace(0.5, 2, len(samples))[:, None]
    points = samples[:, :3]
    X, changed = {
        "zero_mean": (samples, factors * samples + 5 * factors),
        "unit": (samples, factors * samples),
        "smooth": (samples, factors * samples),
        "lift": (points, 7 * points + [1, 2, 3]),
    }[name]
    structure = ElasticNetHypergraph(preprocessing=name, tol=1e-8)
    plain = structure.fit(X).graph_
    same_hypergraph(plain, structure.fit(changed).graph_)
    bent = structure.fit(X**3).graph_
    assert abs(plain.incidence - bent.incidence).max() > 0.1  # not invariant to everything


@pytest.mark.parametrize("n_features", [15, 16])
def test_automatic_preprocessing(samples, n_features):
    X = samples[:, :n_features]
    name = choose_preprocessing(X)
    automatic = ElasticNetHypergraph(preprocessing="auto").fit(X).graph_
    assert automatic == ElasticNetHypergraph(preprocessing=name).fit(X).graph_


# --- scikit-learn's conventions -------------------------------------------------------------------


def test_parameters_go_round():
    given = {
        "gamma": 3.0, "lam": 0.25, "loss": "norm", "gamma_scale": "absolute", "error_weight": 0.7,
        "preprocessing": "unit", "hyperedges": None, "tol": 1e-3, "memory_budget": 10**6,
        "n_jobs": 1, "n_candidates": 20,
    }  # fmt: skip
    structure = ElasticNetHypergraph(**given)
    assert structure.get_params(deep=False) == given
    assert clone(structure).get_params(deep=False) == given
    assert ElasticNetHypergraph().set_params(**given).get_params(deep=False) == given


def test_parameters_of_the_rule_can_be_set():
    structure = ElasticNetHypergraph(hyperedges=HyperedgeRule("largest", 0.5))
    copy = clone(structure).set_params(hyperedges__threshold=0.2)
    assert (structure.hyperedges.threshold, copy.hyperedges.threshold) == (0.5, 0.2)
    assert copy.hyperedges.selection == "largest"


def test_progress_is_reported_to_the_end(samples):
    calls = []
    ElasticNetHypergraph().fit(samples, progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (len(samples), len(samples))
