from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from enhg import ElasticNetHypergraph, normalize_samples, self_representation
from enhg.structures._kernels import products_on_pattern
from enhg.structures.elastic_net import prominent

fast = settings(max_examples=60, deadline=None)
RULES = ("top", "largest", "support_mean", "mean", "mass", "number")
LEVELS = {"top": 3, "largest": 0.5, "support_mean": 0.75, "mean": 1, "mass": 0.75, "number": 0.01}


# --- which coefficients are prominent ---------------------------------------------------------


def chosen_by_definition(row, rule, level, signed):
    """Indices of the prominent entries of one row, straight from the documentation."""
    size = [max(z, 0) if signed else abs(z) for z in row]
    support = [j for j, z in enumerate(size) if z > 0]
    total = sum(size)
    if not support:
        return []
    if rule == "top":
        return sorted(sorted(support, key=lambda j: (-size[j], j))[: int(level)])
    if rule == "mass":
        return sorted(smallest_set(size, support, level * total))
    threshold = (
        level
        * {
            "largest": max(size),
            "support_mean": total / len(support),
            "mean": total / len(row),
            "number": 1,
        }[rule]
    )
    return [j for j in support if size[j] > threshold]


def smallest_set(size, support, mass):
    """Fewest entries that carry the mass; of those sets the heaviest, then the first."""
    for count in range(len(support) + 1):
        sets = [c for c in combinations(support, count) if sum(size[j] for j in c) >= mass]
        if sets:
            return max(sets, key=lambda c: (sum(size[j] for j in c), [-j for j in c]))
    raise AssertionError("no set carries the mass")


# Eighths are exact in floating point, so that ties are ties and sums are exact.
eighths = st.integers(-8, 8).map(lambda k: k / 8)
fractions = st.integers(0, 8).map(lambda k: k / 8)
levels = {
    "top": st.integers(1, 7),
    "largest": fractions,
    "support_mean": st.integers(0, 16).map(lambda k: k / 8),
    "mean": st.integers(0, 16).map(lambda k: k / 8),
    "mass": fractions,
    "number": fractions,
}


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("rule", RULES)
def test_prominent_follows_its_definition(rule, signed):
    @fast
    @given(
        st.lists(st.lists(eighths, min_size=6, max_size=6), min_size=1, max_size=4), levels[rule]
    )
    def check(rows, level):
        found = prominent(sparse.csr_array(np.array(rows)), rule, level, positive=signed).toarray()
        for row, kept in zip(rows, found, strict=True):
            expected = np.zeros(len(row))
            for j in chosen_by_definition(row, rule, level, signed):
                expected[j] = abs(row[j])
            np.testing.assert_array_equal(kept, expected)

    check()


def test_ties_go_to_the_sample_that_comes_first():
    Z = sparse.csr_array([[0.25, -0.5, 0.5, 0.5, 0.25]])
    assert prominent(Z, "top", 2).toarray().tolist() == [[0, 0.5, 0.5, 0, 0]]
    assert prominent(Z, "mass", 0.5).toarray().tolist() == [[0, 0.5, 0.5, 0, 0]]
    assert prominent(Z, "largest", 1).nnz == 0  # above the largest there is nothing


def test_whole_mass_is_every_coefficient():
    Z = sparse.random_array((200, 60), density=0.3, rng=np.random.default_rng(0), format="csr")
    assert prominent(Z, "mass", 1.0).nnz == Z.nnz


def test_mass_of_a_light_row_after_heavy_ones():
    """Rows are summed apart: 10⁹ in one does not hide 10⁻⁹ in the next."""
    Z = sparse.csr_array([[1e9, 3e8, 1e8], [4e-9, 2e-9, 1e-9], [1e9, 3e8, 1e8]])
    kept = prominent(Z, "mass", 0.8).toarray() > 0
    np.testing.assert_array_equal(kept, [[True, True, False]] * 3)


def test_prominent_leaves_its_input_alone():
    Z = sparse.csr_array([[0.5, -0.25, 0.125]])
    before = Z.toarray()
    for rule in RULES:
        prominent(Z, rule, positive=True)
    np.testing.assert_array_equal(Z.toarray(), before)


@pytest.mark.parametrize(
    ("rule", "level", "words"),
    [
        ("top", 0, "a whole number of at least 1"),
        ("top", 2.5, "a whole number of at least 1"),
        ("top", np.inf, "a whole number of at least 1"),
        ("largest", 1.5, "a fraction from 0 to 1"),
        ("mass", -0.1, "a fraction from 0 to 1"),
        ("mean", -1, "a number of at least 0"),
        ("support_mean", np.nan, "a number of at least 0"),
        ("number", "0.1", "a number of at least 0"),
    ],
)
def test_impossible_levels(rule, level, words):
    with pytest.raises(ValueError, match=f"level must be {words} with selection='{rule}', got"):
        prominent(sparse.csr_array(np.eye(3)), rule, level)
    with pytest.raises(ValueError, match="level must be"):
        ElasticNetHypergraph(selection=rule, threshold=level).fit(np.eye(3))


@pytest.mark.parametrize("name", ["rule", "incidence", "weights", "normalize", "loss", "scale"])
def test_unknown_choices(name):
    with pytest.raises(ValueError, match=f"{name} must be one of .*, got 'nonsense'"):
        ElasticNetHypergraph(**{name: "nonsense"}).fit(np.eye(3))


# --- the hypergraph of a representation ------------------------------------------------------


@pytest.fixture(scope="module")
def samples(union_of_subspaces):
    return union_of_subspaces(0, n_subspaces=3, per_subspace=12)[0]


def built_by_loops(Z, rule, level, signed, symmetric, incidence, weights):
    """H and w from Z, entry by entry from the definitions."""
    n = len(Z)
    size = np.array([[max(z, 0) if signed else abs(z) for z in row] for row in Z])
    if symmetric:
        size = np.array([[(size[i, j] + size[j, i]) / 2 for j in range(n)] for i in range(n)])
    lengths = [np.sqrt(sum(z * z for z in row)) for row in Z]
    H, w = np.zeros((n, n)), np.zeros(n)
    for i in range(n):
        members = chosen_by_definition(size[i], rule, level, signed)
        H[i, i] = 1
        for j in members:
            H[j, i] = size[i, j] / sum(size[i, m] for m in members)
            if incidence == "binary":
                H[j, i] = 1
            cosine = lengths[i] * lengths[j] if weights == "cosine" else 1
            w[i] += abs(sum(Z[i, m] * Z[j, m] for m in range(n))) / (cosine or 1)
    if weights == "uniform":
        w[:] = 1
    w[w == 0] = w[w > 0].min(initial=np.inf)
    w[np.isinf(w)] = 1
    return H, w


@pytest.mark.parametrize("loss", ["norm", "squared"])
def test_every_combination_of_options_follows_the_definition(samples, loss):
    choices = product(
        RULES, [False, True], [False, True], ["soft", "binary"], ["cosine", "product", "uniform"]
    )
    for rule, signed, symmetric, incidence, weights in choices:
        structure = ElasticNetHypergraph(
            gamma=5, lam=1, loss=loss, selection=rule, threshold=LEVELS[rule], positive=signed,
            symmetrize=symmetric, membership=incidence, weighting=weights,
        ).fit(samples)  # fmt: skip
        Z = structure.representation_.coefficients.toarray()
        H, w = built_by_loops(Z, rule, LEVELS[rule], signed, symmetric, incidence, weights)
        np.testing.assert_allclose(structure.graph_.incidence.toarray(), H, rtol=1e-12)
        np.testing.assert_allclose(structure.graph_.weights, w, rtol=1e-9)


def test_representation_is_that_of_the_normalized_samples(samples):
    structure = ElasticNetHypergraph(gamma=4, lam=2, preprocessing="unit", tol=1e-6).fit(samples)
    unit = samples / np.linalg.norm(samples, axis=1, keepdims=True)
    expected = self_representation(unit, gamma=4, lam=2, tol=1e-6).coefficients
    found = structure.representation_.coefficients
    np.testing.assert_allclose(found.toarray(), expected.toarray(), atol=1e-9)


def test_sparse_errors_are_those_of_the_representation(samples):
    structure = ElasticNetHypergraph(gamma=4, lam=2, error_weight=0.5, preprocessing="unit")
    found = structure.fit(samples).representation_
    unit = samples / np.linalg.norm(samples, axis=1, keepdims=True)
    expected = self_representation(unit, gamma=4, lam=2, error_weight=0.5)
    np.testing.assert_allclose(found.coefficients.toarray(), expected.coefficients.toarray())
    assert found.sparse_errors.nnz
    assert structure.attach(samples[:3]).memberships.shape == (3, len(samples))


@pytest.mark.parametrize(("preprocessing", "weight"), [("whiten", 0.5), ("zero_mean", None)])
def test_single_pixels_may_be_wrong_where_samples_are_whitened(samples, preprocessing, weight):
    by_itself = ElasticNetHypergraph(preprocessing=preprocessing).fit(samples)
    asked = ElasticNetHypergraph(preprocessing=preprocessing, error_weight=weight).fit(samples)
    other = ElasticNetHypergraph(preprocessing=preprocessing, error_weight=None if weight else 0.5)
    assert by_itself.error_weight_ == weight
    assert by_itself.graph_ == asked.graph_ != other.fit(samples).graph_


@pytest.mark.parametrize("weight", [0, -1.0, "none", np.inf])
def test_a_wrong_price_of_errors(samples, weight):
    with pytest.raises(ValueError, match="error_weight must be"):
        ElasticNetHypergraph(error_weight=weight).fit(samples)


def test_products_on_a_pattern_are_those_of_the_dense_product():
    rng = np.random.default_rng(1)
    z = sparse.random_array((40, 25), density=0.2, rng=rng, data_sampler=rng.normal, format="csr")
    pattern = sparse.random_array((40, 40), density=0.1, rng=rng, format="csr")
    out = np.full(pattern.nnz, np.nan)
    products_on_pattern(
        z.indptr, z.indices, z.data, 25, pattern.indptr, pattern.indices, out
    )  # fmt: skip
    dense = np.abs(z.toarray() @ z.toarray().T)
    np.testing.assert_allclose(out, dense[pattern.nonzero()], atol=1e-14)


@pytest.mark.parametrize("incidence", ["soft", "binary"])
def test_centroids_and_memberships(samples, incidence):
    structure = ElasticNetHypergraph(threshold=5, membership=incidence).fit(samples)
    H = structure.graph_.incidence.toarray()
    np.testing.assert_array_equal(np.diag(H), 1)
    assert set(np.unique(H)) == {0, 1} if incidence == "binary" else np.any((H > 0) & (H < 1))
    # All members together count as much as the centroid, or each of them does.
    if incidence == "soft":
        np.testing.assert_allclose(H.sum(axis=0), 2)
    else:
        np.testing.assert_array_equal(H.sum(axis=0), 6)


@pytest.mark.parametrize("weights", ["cosine", "product", "uniform"])
@pytest.mark.parametrize("incidence", ["soft", "binary"])
def test_sample_that_nothing_rebuilds_is_alone(samples, weights, incidence):
    X = np.zeros((len(samples) + 2, samples.shape[1] + 1))
    X[:-2, :-1] = samples
    X[-2, -1] = 1  # orthogonal to all; the last is zero
    structure = ElasticNetHypergraph(weighting=weights, membership=incidence, preprocessing="none")
    with pytest.warns(UserWarning, match="2 of 38 samples are not represented by any other"):
        edges = structure.fit(X).graph_.edges()
    for alone in (len(X) - 2, len(X) - 1):
        assert edges[alone].tolist() == [alone]
        assert sum(alone in edge for edge in edges) == 1
    w = structure.graph_.weights
    assert w[-1] == w[-2] == w[:-2].min()
    assert structure.graph_.vertex_degrees.min() > 0


def test_weights_that_are_zero_take_the_smallest_one():
    """Twins rebuild only each other: their z share no entry, and ⟨zᵢ, zⱼ⟩ = 0."""
    twins = np.eye(4)[[0, 0, 1, 1]]
    alone = ElasticNetHypergraph(preprocessing="none").fit(twins).graph_
    assert [edge.tolist() for edge in alone.edges()] == [[0, 1], [0, 1], [2, 3], [2, 3]]
    assert alone.weights.tolist() == [1, 1, 1, 1]
    triplets = np.eye(4)[[0, 0, 1, 1, 2, 2, 2]]
    w = ElasticNetHypergraph(preprocessing="none", weighting="product").fit(triplets).graph_.weights
    assert w[4:].max() < 1
    assert (w[:4] == w[4:].min()).all()


def test_permuting_the_samples_permutes_the_hypergraph(samples):
    order = np.random.default_rng(3).permutation(len(samples))
    for options in ({}, {"loss": "norm", "gamma": 2, "selection": "mass", "weighting": "product"}):
        structure = ElasticNetHypergraph(tol=1e-8, **options)
        plain = structure.fit(samples).graph_
        moved = structure.fit(samples[order]).graph_
        H = plain.incidence.toarray()[np.ix_(order, order)]
        np.testing.assert_allclose(moved.incidence.toarray(), H, atol=1e-5)
        np.testing.assert_allclose(moved.weights, plain.weights[order], rtol=1e-5)


def test_the_result_does_not_depend_on_the_number_of_threads(samples):
    one = ElasticNetHypergraph(n_jobs=1).fit(samples).graph_
    two = ElasticNetHypergraph(n_jobs=2).fit(samples).graph_
    assert one == two


@pytest.mark.parametrize("dtype", [np.float32, np.uint8, np.int64])
def test_samples_of_other_types(samples, dtype):
    whole = np.round(20 * (samples - samples.min()))
    whole = np.minimum(whole, 255)
    expected = ElasticNetHypergraph(tol=1e-6).fit(whole).graph_.incidence.toarray()
    given = whole.astype(dtype)
    before = given.copy()
    found = ElasticNetHypergraph(tol=1e-6).fit(given).graph_.incidence.toarray()
    np.testing.assert_allclose(found, expected, atol=1e-3)
    np.testing.assert_array_equal(given, before)


def test_the_setting_of_the_paper():
    """Norm loss, θ = the mean of |z|, binary incidence, weights |⟨zᵢ, zⱼ⟩|, unit length."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 40)) + 3 * np.repeat(rng.normal(size=(2, 40)), 15, axis=0)
    structure = ElasticNetHypergraph(
        gamma=3, lam=0.5, loss="norm", selection="mean", weighting="product", membership="binary",
        preprocessing="unit",
    ).fit(X)  # fmt: skip
    Z = np.abs(structure.representation_.coefficients.toarray())
    theta = Z.mean(axis=1, keepdims=True)
    H = (theta < Z).T | np.eye(30, dtype=bool)
    np.testing.assert_array_equal(structure.graph_.incidence.toarray(), H)
    assert structure.representation_.certificate.max() <= structure.tol


# --- normalization ---------------------------------------------------------------------------


def same_hypergraph(one, other):
    np.testing.assert_allclose(one.incidence.toarray(), other.incidence.toarray(), atol=1e-6)
    np.testing.assert_allclose(one.weights, other.weights, rtol=1e-6)


@pytest.mark.parametrize("center", [True, False])
def test_normalizing_is_the_first_step(samples, center):
    how = "zero_mean" if center else "unit"
    shifted = samples + np.arange(len(samples))[:, None] / 10
    ready = normalize_samples(shifted, center=center)
    same_hypergraph(
        ElasticNetHypergraph(preprocessing=how, tol=1e-8).fit(shifted).graph_,
        ElasticNetHypergraph(preprocessing="none", tol=1e-8).fit(ready).graph_,
    )


def test_what_each_normalization_does_not_see(samples):
    factors = np.linspace(0.5, 2, len(samples))[:, None]
    points = samples[:, :3]
    for how, X, changed in (
        ("zero_mean", samples, factors * samples + 5 * factors),
        ("unit", samples, factors * samples),
        ("smooth", samples, factors * samples),
        ("lift", points, 7 * points + [1, 2, 3]),
    ):
        structure = ElasticNetHypergraph(preprocessing=how, tol=1e-8)
        plain = structure.fit(X).graph_
        same_hypergraph(plain, structure.fit(changed).graph_)
        bent = structure.fit(X**3).graph_
        assert abs(plain.incidence - bent.incidence).max() > 0.1  # and is not blind to all


@pytest.mark.parametrize(("width", "how"), [(15, "lift"), (16, "zero_mean")])
def test_auto_lifts_points_of_few_dimensions(samples, width, how):
    X = samples[:, :width]
    auto = ElasticNetHypergraph(preprocessing="auto").fit(X).graph_
    assert auto == ElasticNetHypergraph(preprocessing=how).fit(X).graph_


# --- new samples -----------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["soft", "binary"])
def fitted(request, samples):
    return ElasticNetHypergraph(incidence=request.param).fit(samples)


def test_new_samples_belong_to_their_subspace(fitted, union_of_subspaces):
    X, y = union_of_subspaces(7, n_subspaces=3, per_subspace=20)
    structure = clone(fitted).fit(X[:40])
    memberships = structure.attach(X[40:]).memberships
    assert memberships.shape == (20, 40)
    assert memberships.data.min() > 0
    assert memberships.data.max() <= 1
    right = memberships.toarray() * (y[40:, None] == y[:40])
    assert right.sum() > 0.9 * memberships.sum()
    if structure.incidence == "binary":
        assert set(memberships.data) == {1}
    else:
        np.testing.assert_allclose(memberships.sum(axis=1), 1)


def test_sample_of_fit_belongs_most_to_itself(fitted):
    X = np.random.default_rng(5).normal(size=(60, 50))
    memberships = clone(fitted).fit(X).attach(X).memberships.toarray()
    assert np.diag(memberships).min() > 0
    if fitted.incidence == "soft":
        np.testing.assert_array_equal(memberships.argmax(axis=1), np.arange(60))


def test_lasso_rebuilds_a_sample_of_fit_from_itself_alone(fitted):
    """At λ = 0, z = (1 − a)·eᵢ is optimal: its residual a·xᵢ correlates less with all others."""
    X = np.random.default_rng(5).normal(size=(60, 50))
    structure = clone(fitted).set_params(lam=0, tol=1e-6).fit(X)
    np.testing.assert_array_equal(structure.attach(X).memberships.toarray(), np.eye(60))


def test_new_samples_are_normalized_like_those_of_fit(samples):
    structure = ElasticNetHypergraph(preprocessing="lift", tol=1e-8).fit(samples[:, :4])
    both = structure.attach(samples[:10, :4]).memberships.toarray()
    one = structure.attach(samples[3:4, :4]).memberships.toarray()
    np.testing.assert_allclose(one[0], both[3], atol=1e-6)


def test_new_sample_that_nothing_rebuilds_belongs_nowhere(fitted, samples):
    with pytest.warns(UserWarning, match="1 of 1 samples are constant"):
        memberships = fitted.attach(np.full((1, samples.shape[1]), 2.0)).memberships
    assert memberships.nnz == 0


def test_new_samples_of_another_width(fitted):
    with pytest.raises(ValueError, match="the 50 features of fit, got 49"):
        fitted.attach(np.ones((2, 49)))


def test_attach_needs_fit(samples):
    with pytest.raises(NotFittedError):
        ElasticNetHypergraph().attach(samples)


# --- scikit-learn's conventions ---------------------------------------------------------------


def test_parameters_go_round():
    given = {
        "gamma": 3.0, "lam": 0.25, "loss": "norm", "scale": "absolute",
        "error_weight": 0.7, "preprocessing": "unit",
        "selection": "mass", "threshold": 0.5, "positive": True, "symmetrize": True,
        "membership": "binary", "weighting": "product", "tol": 1e-3, "memory_budget": 10**6, "n_jobs": 1,
    }  # fmt: skip
    structure = ElasticNetHypergraph(**given)
    assert structure.get_params() == given
    assert clone(structure).get_params() == given
    assert ElasticNetHypergraph().set_params(**given).get_params() == given


def test_progress_is_told_up_to_the_end(samples):
    told = []
    ElasticNetHypergraph().fit(samples, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (len(samples), len(samples))
