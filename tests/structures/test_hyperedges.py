"""`HyperedgeRule`: selection, memberships and weights against their definitions."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone

from enhg import HyperedgeRule
from enhg._npz import read_archive, write_archive
from enhg.exceptions import InputError
from enhg.structures._kernels import products_on_pattern, ranks
from enhg.structures.hyperedges import (
    incidence_matrix,
    member_coefficients,
    replace_zeros,
    warn_of_empty_rows,
)

fast = settings(max_examples=60, deadline=None)
SELECTIONS = ("top", "largest", "mean")
THRESHOLDS = {"top": 3, "largest": 0.5, "mean": 1}
WEIGHTINGS = ("cosine", "product", "uniform", "coefficient_sum")


# --- selection ------------------------------------------------------------------------------------


def selected_by_definition(row, selection, threshold, positive):
    """Indices of the members of one row, as the documentation defines them."""
    size = [max(z, 0) if positive else abs(z) for z in row]
    support = [j for j, z in enumerate(size) if z > 0]
    if not support:
        return []
    if selection == "top":
        return sorted(sorted(support, key=lambda j: (-size[j], j))[: int(threshold)])
    reference = {"largest": max(size), "mean": sum(size) / len(row)}[selection]
    return [j for j in support if size[j] > threshold * reference]


# Eighths are exact in floating point, so that ties are ties and sums are exact.
eighths = st.integers(-8, 8).map(lambda k: k / 8)
thresholds = {
    "top": st.integers(1, 7),
    "largest": st.integers(0, 8).map(lambda k: k / 8),
    "mean": st.integers(0, 16).map(lambda k: k / 8),
}


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("selection", SELECTIONS)
def test_selection_follows_its_definition(selection, positive):
    @fast
    @given(
        st.lists(st.lists(eighths, min_size=6, max_size=6), min_size=1, max_size=4),
        thresholds[selection],
    )
    def check(rows, threshold):
        rule = HyperedgeRule(selection, threshold, positive=positive)
        members = rule.select(sparse.csr_array(np.array(rows))).toarray()
        for row, kept in zip(rows, members, strict=True):
            expected = np.zeros(len(row))
            for j in selected_by_definition(row, selection, threshold, positive):
                expected[j] = abs(row[j])
            np.testing.assert_array_equal(kept, expected)

    check()


@pytest.mark.parametrize(("selection", "threshold"), [("top", 10), ("largest", 0.3), ("mean", 1)])
def test_default_thresholds(selection, threshold):
    Z = sparse.random_array((30, 60), density=0.5, rng=np.random.default_rng(0), format="csr")
    chosen, default = HyperedgeRule(selection, threshold), HyperedgeRule(selection)
    assert (chosen.select(Z) != default.select(Z)).nnz == 0
    assert 0 < default.select(Z).nnz < Z.nnz


def test_ties_go_to_the_smaller_index():
    Z = sparse.csr_array([[0.25, -0.5, 0.5, 0.5, 0.25]])
    assert HyperedgeRule("top", 2).select(Z).toarray().tolist() == [[0, 0.5, 0.5, 0, 0]]
    assert HyperedgeRule("largest", 1).select(Z).nnz == 0  # none is above the largest


def test_coefficients_are_not_changed():
    Z = sparse.csr_array([[0.0, -0.25, 0.125], [0.5, 0.0, -0.5], [0.1, 0.2, 0.0]])
    before = Z.toarray()
    for selection, weighting in product(SELECTIONS, WEIGHTINGS):
        HyperedgeRule(selection, positive=True, symmetrize=True, weighting=weighting).build(Z)
    np.testing.assert_array_equal(Z.toarray(), before)


@pytest.mark.parametrize(
    ("selection", "threshold", "requirement"),
    [
        ("top", 0, "a whole number of at least 1 with selection='top'"),
        ("top", 2.5, "a whole number of at least 1 with selection='top'"),
        ("top", np.inf, "a whole number of at least 1 with selection='top'"),
        ("top", True, "a whole number of at least 1 with selection='top'"),
        ("largest", 1.5, "a number from 0 to 1"),
        ("largest", -0.1, "a number from 0 to 1"),
        ("mean", -1, "a number of at least 0"),
        ("mean", np.nan, "a number of at least 0"),
        ("mean", "0.1", "a number of at least 0"),
    ],
)
def test_impossible_thresholds(selection, threshold, requirement):
    rule = HyperedgeRule(selection, threshold)
    with pytest.raises(InputError, match=f"threshold must be {requirement}, got") as error:
        rule.select(sparse.csr_array(np.eye(3)))
    assert error.value.parameter == "threshold"


@pytest.mark.parametrize("name", ["selection", "membership", "weighting"])
@pytest.mark.parametrize("value", ["nonsense", None, ["top"]])
def test_unknown_choices(name, value):
    with pytest.raises(InputError, match=rf"{name} must be one of .*, got"):
        HyperedgeRule(**{name: value}).build(sparse.csr_array(np.eye(3)))


def test_whole_floats_are_whole_numbers():
    Z = sparse.csr_array([[0.0, 0.5, 0.25, 0.125]])
    for threshold in (2, 2.0, np.int64(2), np.float32(2)):
        assert HyperedgeRule("top", threshold).select(Z).nnz == 2


# --- hyperedges -----------------------------------------------------------------------------------


def built_by_loops(Z, selection, positive, symmetrize, membership, weighting):
    """H and w from Z, entry by entry from the definitions."""
    n = len(Z)
    size = np.array([[max(z, 0) if positive else abs(z) for z in row] for row in Z])
    if symmetrize:
        size = np.array([[(size[i, j] + size[j, i]) / 2 for j in range(n)] for i in range(n)])
    lengths = [np.sqrt(sum(z * z for z in row)) for row in Z]
    H, w = np.zeros((n, n)), np.zeros(n)
    for i in range(n):
        members = selected_by_definition(size[i], selection, THRESHOLDS[selection], positive)
        H[i, i] = 1
        for j in members:
            H[j, i] = 1
            if membership == "soft":
                H[j, i] = size[i, j] / sum(size[i, m] for m in members)
            if weighting == "coefficient_sum":
                w[i] += abs(Z[i, j])
            else:
                scale = lengths[i] * lengths[j] if weighting == "cosine" else 1
                w[i] += abs(sum(Z[i, m] * Z[j, m] for m in range(n))) / (scale or 1)
    if weighting == "uniform":
        w[:] = 1
    w[w == 0] = w[w > 0].min(initial=np.inf)
    w[np.isinf(w)] = 1
    return H, w


OPTIONS = list(product(SELECTIONS, [False, True], [False, True], ["soft", "binary"], WEIGHTINGS))


@pytest.fixture(scope="module")
def coefficients():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(25, 25)) * (rng.random((25, 25)) < 0.3)
    np.fill_diagonal(Z, 0)
    Z[7] = 0  # a sample that no other represents
    return sparse.csr_array(Z)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_combination_of_options_follows_the_definition(coefficients, options):
    selection, positive, symmetrize, membership, weighting = options
    rule = HyperedgeRule(
        selection, THRESHOLDS[selection], positive=positive, symmetrize=symmetrize,
        membership=membership, weighting=weighting,
    )  # fmt: skip
    graph = rule.build(coefficients)
    H, w = built_by_loops(coefficients.toarray(), *options)
    np.testing.assert_allclose(graph.incidence.toarray(), H, rtol=1e-12)
    np.testing.assert_allclose(graph.weights, w, rtol=1e-9)


@pytest.mark.parametrize("options", OPTIONS[::5], ids=str)
def test_member_coefficients_are_those_of_the_members(coefficients, options):
    selection, positive, symmetrize, membership, weighting = options
    rule = HyperedgeRule(
        selection, positive=positive, symmetrize=symmetrize, membership=membership,
        weighting=weighting,
    )  # fmt: skip
    graph = rule.build(coefficients)
    entries = member_coefficients(coefficients, graph)
    H, Z = graph.incidence.toarray(), coefficients.toarray()
    n = len(Z)
    for i in range(n):
        edges = graph.edges()[i::n]
        members = sorted({j for edge in edges for j in edge if j != i})
        stored = slice(entries.indptr[i], entries.indptr[i + 1])
        assert entries.indices[stored].tolist() == members
        assert entries.data[stored].tolist() == [Z[i, j] for j in members]
    joined = sum((H[:, first : first + n] > 0).T for first in range(0, H.shape[1], n)) > 0
    expected = np.where(joined & ~np.eye(25, dtype=bool), Z, 0)
    np.testing.assert_array_equal(entries.toarray(), expected)


def test_member_coefficients_of_unsorted_rows_and_of_no_coefficients():
    Z = sparse.csr_array(([0.2, 0.1, 0.3], [2, 1, 0], [0, 2, 3, 3]), shape=(3, 3))
    assert not Z.has_sorted_indices
    entries = member_coefficients(Z, HyperedgeRule().build(Z))
    np.testing.assert_array_equal(entries.toarray(), Z.toarray())
    empty = sparse.csr_array((3, 3))
    assert member_coefficients(empty, HyperedgeRule().build(empty)).nnz == 0


def test_products_on_a_pattern_are_those_of_the_dense_product():
    rng = np.random.default_rng(1)
    z = sparse.random_array((40, 25), density=0.2, rng=rng, data_sampler=rng.normal, format="csr")
    pattern = sparse.random_array((40, 40), density=0.1, rng=rng, format="csr")
    products = np.full(pattern.nnz, np.nan)
    for first, last in ((0, 15), (15, 40)):
        products_on_pattern(
            first, last, z.indptr, z.indices, z.data, 25, pattern.indptr, pattern.indices, products
        )  # fmt: skip
    dense = np.abs(z.toarray() @ z.toarray().T)
    np.testing.assert_allclose(products, dense[pattern.nonzero()], atol=1e-14)


def test_ranks_are_those_of_a_stable_sort():
    rng = np.random.default_rng(2)
    z = sparse.random_array((30, 50), density=0.3, rng=rng, format="csr")
    z.data = rng.integers(0, 4, z.nnz).astype(float)  # with ties
    computed, expected = np.full(z.nnz, -1), []
    for first, last in ((0, 11), (11, 30)):
        ranks(first, last, z.indptr, z.data, computed)
    for start, stop in pairwise(z.indptr):
        row = z.data[start:stop]
        expected += [np.sum(row > x) + np.sum(row[:i] == x) for i, x in enumerate(row)]
    np.testing.assert_array_equal(computed, expected)


def test_incidence_matrix_has_the_centroids_on_its_diagonal():
    memberships = sparse.csr_array([[0.0, 0.25, 0.75], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    expected = [[1, 0, 1], [0.25, 1, 0], [0.75, 0, 1]]
    np.testing.assert_array_equal(incidence_matrix(memberships).toarray(), expected)


def test_weights_of_zero_are_replaced():
    np.testing.assert_array_equal(replace_zeros(np.array([0.0, 3.0, 0.5])), [0.5, 3, 0.5])
    np.testing.assert_array_equal(replace_zeros(np.zeros(2)), [1, 1])


def test_warning_counts_empty_rows():
    with pytest.warns(UserWarning, match="2 of 3 samples are not represented by any other"):
        warn_of_empty_rows(sparse.csr_array([[0.0, 1.0, 0.0], [0.0] * 3, [0.0] * 3]))


def test_parameters_go_round():
    given = {
        "selection": "largest", "threshold": 0.5, "positive": True, "symmetrize": True,
        "membership": "binary", "weighting": "cosine",
    }  # fmt: skip
    assert HyperedgeRule(**given).get_params() == given
    assert clone(HyperedgeRule(**given)).get_params() == given


# --- saving ---------------------------------------------------------------------------------------


def test_a_saved_rule_is_the_same(tmp_path):
    rule = HyperedgeRule("largest", np.float32(0.5), positive=np.True_, weighting="uniform")
    write_archive(tmp_path / "rule.npz", "rule", 1, rule.to_state(), overwrite=False)
    with open(tmp_path / "rule.npz", "rb") as stream:
        again = HyperedgeRule.from_state(read_archive(stream, "rule", 1))
    assert again.get_params() == rule.get_params()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"evil": 1}, "parameter evil does not fit"),
        ({"selection": "mass"}, "selection must be one of"),
        ({"threshold": 0}, "threshold must be"),
        ({"membership": 3}, "membership must be one of"),
    ],
)
def test_damaged_states_are_refused(parameters, message):
    with pytest.raises(InputError, match=message):
        HyperedgeRule.from_state({"parameters": parameters})


def test_rules_that_cannot_be_saved():
    with pytest.raises(InputError, match="threshold must be a number or a word to be saved"):
        HyperedgeRule(threshold=np.arange(3)).to_state()


# --- coefficients ---------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [np.asarray, np.ndarray.tolist, sparse.coo_array])
@pytest.mark.parametrize("symmetrize", [False, True])
def test_coefficients_of_any_form(form, symmetrize):
    Z = np.array([[0, 0.9, 0.3], [0.8, 0, 0], [0.5, 0.5, 0]])
    rule = HyperedgeRule("top", 2, symmetrize=symmetrize)
    assert rule.build(form(Z)) == rule.build(sparse.csr_array(Z))
    selected = rule.select(form(Z)).toarray()
    np.testing.assert_array_equal(selected, rule.select(sparse.csr_array(Z)).toarray())


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (np.ones(3), r"must be 2-dimensional, got shape \(3,\)"),
        (np.ones((2, 3)), r"must be square, got shape \(2, 3\)"),
        ([["a"]], "must hold real numbers, got dtype <U1"),
        ([[np.nan]], "must be finite, got NaN or infinity"),
        (3, "must be 2-dimensional"),
    ],
)
def test_unusable_coefficients(wrong, message):
    with pytest.raises(InputError, match=f"coefficients {message}") as caught:
        HyperedgeRule().build(wrong)
    assert caught.value.parameter == "coefficients"


def test_several_thresholds_make_several_hyperedges(coefficients):
    n = coefficients.shape[0]
    both = HyperedgeRule("top", (2, 6)).build(coefficients)
    single = [HyperedgeRule("top", size).build(coefficients) for size in (2, 6)]
    assert both.n_edges == 2 * n
    for block, graph in enumerate(single):
        columns = slice(block * n, (block + 1) * n)
        np.testing.assert_array_equal(
            both.incidence.toarray()[:, columns], graph.incidence.toarray()
        )
        np.testing.assert_allclose(both.weights[columns], graph.weights)
    roots = np.sqrt(both.vertex_degrees)
    walk = sum(
        np.sqrt(np.outer(g.vertex_degrees, g.vertex_degrees)) * g.theta_dense() for g in single
    )
    np.testing.assert_allclose(both.theta_dense(), walk / np.outer(roots, roots), atol=1e-12)


@pytest.mark.parametrize("membership", ["soft", "binary"])
def test_memberships_are_means_over_the_thresholds(coefficients, membership):
    shares = [
        HyperedgeRule("top", size, membership=membership).memberships(coefficients).toarray()
        for size in (2, 6)
    ]
    rule = HyperedgeRule("top", (2, 6), membership=membership)
    np.testing.assert_allclose(rule.memberships(coefficients).toarray(), np.mean(shares, axis=0))
    selected = HyperedgeRule("top", 6).select(coefficients)
    assert (rule.select(coefficients) != selected).nnz == 0


def test_no_threshold_at_all():
    with pytest.raises(InputError, match="threshold must hold at least one number"):
        HyperedgeRule("top", ()).check_parameters()
