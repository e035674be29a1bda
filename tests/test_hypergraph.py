"""The Laplacian, the expansions and the conversions of hypergraphs."""

from math import sqrt

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csgraph

from enhg.exceptions import InputError
from enhg.hypergraph import Hypergraph

fast = settings(max_examples=40, deadline=None)
SOFT = [[1, 0, 0], [0.5, 1, 0], [0, 0.25, 0], [0, 0, 1]]


@st.composite
def hypergraphs(draw, soft=None):
    """Draw a small hypergraph; the largest membership of every hyperedge is 1.

    Some vertices may be isolated.
    """
    n, m = draw(st.integers(1, 7)), draw(st.integers(1, 6))
    soft = draw(st.booleans()) if soft is None else soft
    entry = st.sampled_from([0, 0, 0.1, 0.5, 1] if soft else [0, 0, 1])
    h = np.array(draw(st.lists(entry, min_size=n * m, max_size=n * m)), dtype=float).reshape(n, m)
    for edge in np.flatnonzero(h.max(axis=0) < 1):
        h[draw(st.integers(0, n - 1)), edge] = 1
    weights = draw(st.lists(st.floats(0.1, 10), min_size=m, max_size=m))
    return Hypergraph(h, weights)


def theta_by_loops(hypergraph):
    """Return Θ from the definitions of degrees and Θ, entry by entry."""
    h, w = hypergraph.incidence.toarray(), hypergraph.weights
    n, m = h.shape
    d = [sum(w[e] * h[v, e] for e in range(m)) for v in range(n)]
    delta = [sum(h[v, e] for v in range(n)) for e in range(m)]
    theta = np.zeros((n, n))
    for u in range(n):
        for v in range(n):
            for e in np.flatnonzero(h[u] * h[v]):
                theta[u, v] += h[u, e] * w[e] / delta[e] * h[v, e] / sqrt(d[u]) / sqrt(d[v])
    return theta


def components_by_flooding(hypergraph):
    labels, count = [-1] * hypergraph.n_vertices, 0
    for start in range(hypergraph.n_vertices):
        if labels[start] >= 0:
            continue
        reached = {start}
        while (
            grown := {
                v for e in hypergraph.edges() if reached & set(e.tolist()) for v in e.tolist()
            }
            - reached
        ):
            reached |= grown
        for v in reached:
            labels[v] = count
        count += 1
    return count, labels


class TestLaplacian:
    @fast
    @given(hypergraphs())
    def test_operator_dense_and_definition_agree(self, hypergraph):
        expected = theta_by_loops(hypergraph)
        n = hypergraph.n_vertices
        identity = np.eye(n)
        close = {"rtol": 0, "atol": 1e-13}
        np.testing.assert_allclose(hypergraph.theta_dense(), expected, **close)
        np.testing.assert_allclose(hypergraph.theta @ identity, expected, **close)
        np.testing.assert_allclose(hypergraph.theta.T @ identity, expected, **close)
        np.testing.assert_allclose(hypergraph.laplacian_dense(), identity - expected, **close)
        np.testing.assert_allclose(hypergraph.laplacian @ identity, identity - expected, **close)
        np.testing.assert_allclose(hypergraph.laplacian.H @ identity, identity - expected, **close)
        x = np.arange(1.0, n + 1)
        np.testing.assert_allclose(hypergraph.theta @ x, expected @ x, atol=1e-12)
        np.testing.assert_allclose(hypergraph.laplacian.rmatvec(x), x - expected @ x, atol=1e-12)
        a = hypergraph.theta_factor.toarray()
        np.testing.assert_allclose(a @ a.T, expected, **close)
        assert (hypergraph.theta_dense() == hypergraph.theta_dense().T).all()

    @fast
    @given(hypergraphs())
    def test_spectrum(self, hypergraph):
        values = np.linalg.eigvalsh(hypergraph.theta_dense())
        assert values.min() > -1e-12
        assert values.max() < 1 + 1e-12
        linked = hypergraph.connected_components()[0] - np.sum(hypergraph.vertex_degrees == 0)
        assert np.sum(values > 1 - 1e-9) == linked
        assert np.linalg.eigvalsh(hypergraph.laplacian_dense()).min() > -1e-12
        top = np.sqrt(hypergraph.vertex_degrees)
        np.testing.assert_allclose(hypergraph.theta @ top, top, rtol=1e-12)

    @pytest.mark.parametrize("soft", [False, True])
    @fast
    @given(data=st.data())
    def test_quadratic_form_is_the_paper_s_regularizer(self, soft, data):
        hypergraph = data.draw(hypergraphs(soft=soft))
        h, w = hypergraph.incidence.toarray(), hypergraph.weights
        d, delta = hypergraph.vertex_degrees, hypergraph.edge_degrees
        f = np.random.default_rng(0).normal(size=(hypergraph.n_vertices, 3))
        f[d == 0], d = 0, np.where(d > 0, d, 1)
        omega = 0.0
        for e in range(hypergraph.n_edges):
            for u in range(hypergraph.n_vertices):
                for v in range(hypergraph.n_vertices):
                    difference = f[u] / sqrt(d[u]) - f[v] / sqrt(d[v])
                    omega += 0.5 * w[e] * h[u, e] * h[v, e] / delta[e] * (difference @ difference)
        assert np.trace(f.T @ (hypergraph.laplacian @ f)) == pytest.approx(omega, abs=1e-11)

    @fast
    @given(hypergraphs(), st.floats(1e-3, 1e3))
    def test_scaling_all_weights_changes_nothing(self, hypergraph, scale):
        scaled = Hypergraph(hypergraph.incidence, scale * hypergraph.weights)
        np.testing.assert_allclose(scaled.theta_dense(), hypergraph.theta_dense(), atol=1e-13)

    @pytest.mark.parametrize("scale", [1e-200, 1e200])
    def test_extreme_scales_neither_overflow_nor_vanish(self, scale):
        moderate = Hypergraph(SOFT)
        np.testing.assert_allclose(
            Hypergraph(SOFT, np.full(3, scale)).theta_dense(), moderate.theta_dense(), atol=1e-13
        )
        np.testing.assert_allclose(
            Hypergraph(scale * np.array(SOFT)).theta_dense(), moderate.theta_dense(), atol=1e-13
        )

    @fast
    @given(hypergraphs(), st.randoms(use_true_random=False))
    def test_permuting_vertices_permutes_theta(self, hypergraph, random):
        order = list(range(hypergraph.n_vertices))
        random.shuffle(order)
        permuted = Hypergraph(hypergraph.incidence[order], hypergraph.weights)
        expected = hypergraph.theta_dense()[np.ix_(order, order)]
        np.testing.assert_allclose(permuted.theta_dense(), expected, atol=1e-13)

    @fast
    @given(hypergraphs(), st.randoms(use_true_random=False))
    def test_order_of_hyperedges_does_not_matter(self, hypergraph, random):
        order = list(range(hypergraph.n_edges))
        random.shuffle(order)
        permuted = Hypergraph(hypergraph.incidence[:, order], hypergraph.weights[order])
        np.testing.assert_allclose(permuted.theta_dense(), hypergraph.theta_dense(), atol=1e-13)

    def test_two_uniform_laplacian_is_half_the_graph_s(self):
        rng = np.random.default_rng(3)
        upper = np.triu(rng.random((8, 8)) * (rng.random((8, 8)) < 0.6), k=1)
        upper[0, 1:] += 0.1
        adjacency = upper + upper.T
        expected = csgraph.laplacian(adjacency, normed=True) / 2
        hypergraph = Hypergraph.from_clique_expansion(adjacency)
        np.testing.assert_allclose(hypergraph.laplacian_dense(), expected, atol=1e-14)

    def test_one_hyperedge_of_all_averages(self):
        theta = Hypergraph(np.ones((5, 1)), [7]).theta_dense()
        np.testing.assert_allclose(theta, np.full((5, 5), 1 / 5))

    def test_hyperedges_of_one_vertex_give_a_zero_laplacian(self):
        np.testing.assert_allclose(Hypergraph(np.eye(4)).laplacian_dense(), 0, atol=1e-15)


class TestStructure:
    @fast
    @given(hypergraphs())
    def test_connected_components(self, hypergraph):
        count, labels = hypergraph.connected_components()
        assert (count, labels.tolist()) == components_by_flooding(hypergraph)

    @fast
    @given(hypergraphs())
    def test_clique_expansion_by_loops(self, hypergraph):
        h, w, delta = hypergraph.incidence.toarray(), hypergraph.weights, hypergraph.edge_degrees
        n, m = h.shape
        expected = np.zeros((n, n))
        for u in range(n):
            for v in range(n):
                if u != v:
                    expected[u, v] = sum(w[e] * h[u, e] * h[v, e] / delta[e] for e in range(m))
        clique = hypergraph.clique_expansion()
        np.testing.assert_allclose(clique.toarray(), expected, atol=1e-14)
        assert clique.format == "csr"
        assert (clique != clique.T).nnz == 0

    @fast
    @given(hypergraphs())
    def test_star_expansion_by_loops(self, hypergraph):
        h, w, delta = hypergraph.incidence.toarray(), hypergraph.weights, hypergraph.edge_degrees
        n, m = h.shape
        expected = np.zeros((n + m, n + m))
        for v in range(n):
            for e in range(m):
                expected[v, n + e] = expected[n + e, v] = w[e] * h[v, e] / delta[e]
        star = hypergraph.star_expansion()
        np.testing.assert_allclose(star.toarray(), expected, atol=1e-14)
        assert star.format == "csr"

    @pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
    def test_any_sparse_format_gives_the_same(self, kind):
        for form in (sparse.coo_array, sparse.coo_matrix):
            assert Hypergraph(form(SOFT).asformat(kind)) == Hypergraph(SOFT)

    @pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.float32, np.int64])
    def test_any_real_dtype_becomes_float64(self, dtype):
        hypergraph = Hypergraph(np.eye(3, dtype=dtype), np.ones(3, dtype=dtype))
        matrices = (hypergraph.incidence, hypergraph.theta_factor, hypergraph.theta_dense())
        arrays = (hypergraph.weights, hypergraph.vertex_degrees, hypergraph.edge_degrees)
        assert {array.dtype for array in matrices + arrays} == {np.dtype(np.float64)}
        assert hypergraph.theta.dtype == hypergraph.laplacian.dtype == np.float64

    def test_incidence_is_canonical(self):
        data = ([0.5, 0.5, 1.0, 0.0], ([1, 1, 0, 0], [0, 0, 1, 0]))
        incidence = Hypergraph(sparse.coo_array(data, shape=(2, 2))).incidence
        assert incidence.has_canonical_format
        assert incidence.data.tolist() == [1.0, 1.0]
        assert incidence.indices.tolist() == [1, 0]

    def test_unsorted_csr_with_duplicates_becomes_canonical(self):
        parts = (np.array([0.5, 1.0, 0.5]), np.array([1, 0, 1]), np.array([0, 3]))
        incidence = Hypergraph(sparse.csr_array(parts, shape=(1, 2))).incidence
        assert incidence.indices.tolist() == [0, 1]
        assert incidence.data.tolist() == [1.0, 1.0]

    def test_repr_and_sizes(self):
        hypergraph = Hypergraph(SOFT)
        assert repr(hypergraph) == "Hypergraph(n_vertices=4, n_edges=3, memberships=5)"
        assert (hypergraph.n_vertices, hypergraph.n_edges) == (4, 3)
        assert hypergraph.weights.tolist() == [1, 1, 1]

    def test_equality_is_by_content(self):
        hypergraph = Hypergraph(SOFT)
        assert hypergraph == Hypergraph(sparse.csc_array(SOFT), [1, 1, 1])
        assert hypergraph != Hypergraph(SOFT, [1, 1, 2])
        assert hypergraph != Hypergraph(np.array(SOFT) > 0)
        assert hypergraph != Hypergraph(SOFT[:2] + SOFT[3:])


class TestRoundTrips:
    @fast
    @given(hypergraphs(soft=False))
    def test_edges(self, hypergraph):
        n, weights = hypergraph.n_vertices, hypergraph.weights
        assert Hypergraph.from_edges(hypergraph.edges(), n, weights) == hypergraph

    @fast
    @given(hypergraphs())
    def test_memberships_as_mappings(self, hypergraph):
        h = hypergraph.incidence.toarray()
        edges = ({v: h[v, e] for v in members} for e, members in enumerate(hypergraph.edges()))
        n, weights = hypergraph.n_vertices, hypergraph.weights
        assert Hypergraph.from_edges(edges, n, weights) == hypergraph

    def test_edges_of_any_iterable(self):
        expected = Hypergraph([[1, 0], [1, 1]])
        assert Hypergraph.from_edges([{0, 1}, (1,)]) == expected
        assert Hypergraph.from_edges(iter([range(2), np.array([1])]), n_vertices=2) == expected
        assert Hypergraph.from_edges([[1, 0, 1], [1]]) == expected

    @fast
    @given(hypergraphs())
    def test_clique_expansion(self, hypergraph):
        adjacency = hypergraph.clique_expansion()
        assume(adjacency.nnz > 0)
        pairwise = Hypergraph.from_clique_expansion(adjacency)
        assert set(pairwise.edge_degrees) == {2.0}
        assert (pairwise.clique_expansion() != adjacency).nnz == 0

    @fast
    @given(hypergraphs())
    def test_star_expansion(self, hypergraph):
        star = hypergraph.star_expansion()
        again = Hypergraph.from_star_expansion(star, hypergraph.n_vertices)
        np.testing.assert_allclose(
            again.incidence.toarray(), hypergraph.incidence.toarray(), rtol=1e-14
        )
        np.testing.assert_allclose(again.weights, hypergraph.weights, rtol=1e-14)

    @fast
    @given(hypergraph=hypergraphs())
    def test_file(self, hypergraph, tmp_path_factory):
        path = tmp_path_factory.mktemp("file") / "hypergraph.npz"
        hypergraph.save(path)
        again = Hypergraph.load(path)
        assert again == hypergraph
        assert not again.weights.flags.writeable

    def test_no_hyperedge(self):
        hypergraph = Hypergraph.from_edges([], n_vertices=2)
        assert hypergraph == Hypergraph(np.empty((2, 0)))
        assert hypergraph.edges() == []
        assert hypergraph.connected_components()[0] == 2
        assert not hypergraph.theta_dense().any()
        assert not hypergraph.clique_expansion().nnz

    def test_subhypergraph(self):
        part = Hypergraph(SOFT, [1, 2, 3]).subhypergraph(np.array([False, True, True, False]))
        assert part == Hypergraph([[0.5, 1], [0, 0.25]], [1, 2])

    def test_theta_factor_is_computed_once(self):
        hypergraph = Hypergraph(SOFT)
        assert hypergraph.theta_factor.data is hypergraph.theta_factor.data

    def test_explicit_zeros_of_the_input_stay(self):
        incidence = sparse.csr_array(([1.0, 0.0], ([0, 0], [0, 1])), shape=(1, 2))
        with pytest.raises(InputError, match="hyperedge 1"):
            Hypergraph(incidence)
        assert incidence.nnz == 2
