"""Hypergraphs that are refused, with the reason."""

import numpy as np
import pytest
from scipy import sparse

from enhg.exceptions import InputError
from enhg.graph import Graph
from enhg.hypergraph import Hypergraph
from enhg.interchange import from_scipy


class TestValidation:
    @pytest.mark.parametrize(
        ("incidence", "message"),
        [
            ([[1, np.nan]], "incidence must hold finite, non-negative numbers, got nan"),
            ([[1, np.inf]], "incidence must hold finite, non-negative numbers, got inf"),
            ([[1, -0.5]], "incidence must hold finite, non-negative numbers, got -0.5"),
            (sparse.csr_array([[1, -2]]), "incidence must hold .* got -2"),
            ([1, 1], r"incidence must be 2-dimensional, got shape \(2,\)"),
            (sparse.coo_array([1, 1]), r"incidence must be 2-dimensional, got shape \(2,\)"),
            (np.ones((2, 2, 2)), r"incidence must be 2-dimensional, got shape \(2, 2, 2\)"),
            (3.0, r"incidence must be 2-dimensional, got shape \(\)"),
            ([[1, 0], [1]], "incidence must be an array of real numbers, got .*inhomogeneous"),
            ([[1j]], "incidence must hold real numbers, got dtype complex128"),
            ([["a"]], "incidence must hold real numbers, got dtype <U1"),
            ([[None]], "incidence must hold real numbers, got dtype object"),
            (np.empty((0, 0)), r"incidence must have a vertex \(row\), got shape \(0, 0\)"),
            (np.empty((0, 3)), r"incidence must have a vertex \(row\), got shape \(0, 3\)"),
            ([[1, 0], [1, 0]], "every hyperedge must hold a vertex.*, got 0.0 at hyperedge 1"),
            ([[1e308], [1e308]], "every hyperedge must .* < ∞, got inf at hyperedge 0"),
        ],
    )
    def test_incidence(self, incidence, message):
        with pytest.raises(InputError, match=message):
            Hypergraph(incidence)

    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            ([1, 0], "weights must be finite and positive, got 0.0 at hyperedge 1"),
            ([-1, 1], "weights must be finite and positive, got -1.0 at hyperedge 0"),
            ([1, np.nan], "weights must be finite and positive, got nan at hyperedge 1"),
            ([np.inf, 1], "weights must be finite and positive, got inf at hyperedge 0"),
            ([1], r"weights must have shape \(2,\), got shape \(1,\)"),
            ([[1, 1]], r"weights must have shape \(2,\), got shape \(1, 2\)"),
            (1.0, r"weights must have shape \(2,\), got shape \(\)"),
            (["a", "b"], "weights must hold real numbers, got dtype <U1"),
            ([1j, 1], "weights must hold real numbers, got dtype complex128"),
            ([1e-200, 1], "every vertex in a hyperedge must have .*, got 0.0 at vertex 0"),
        ],
    )
    def test_weights(self, weights, message):
        with pytest.raises(InputError, match=message):
            Hypergraph([[1e-200, 0], [1, 1]], weights)

    @pytest.mark.parametrize(
        ("edges", "n_vertices", "message"),
        [
            ([], None, "incidence must have a vertex"),
            ([[]], None, "incidence must have a vertex"),
            ([[0], []], None, "every hyperedge must hold a vertex.* at hyperedge 1"),
            ([[0, 3]], 2, "edges must list vertices in 0 .* = 1, got 3"),
            ([[-1, 0]], None, "edges must list vertices in 0 .* = 0, got -1"),
            ([[0, 0.5]], None, "edges must list vertices as integers, got dtype float64"),
            (["ab"], None, "edges must list vertices as integers, got dtype <U1"),
            ([{0: 1.0, 1: -1.0}], None, "incidence must hold finite, non-negative numbers"),
            ([{0: np.nan}], None, "incidence must hold finite, non-negative numbers"),
            ([{0: "a"}], None, "edges must hold real numbers, got dtype <U1"),
            (3, None, "edges must be a list of lists or mappings of vertices, got 'int' object"),
            ([0, 1], None, "edges must be a list of lists or mappings of vertices, got 'int'"),
            ([[[0, 1]]], None, "edges must be a list of lists or mappings of vertices, got"),
            ([[(0, 1), 2]], None, "edges must list vertices as integers, got"),
            ([[0]], "a", "n_vertices must be a whole number of at least 0, got 'a'"),
            ([[0]], 1.0, "n_vertices must be a whole number of at least 0, got 1.0"),
            ([[0]], -1, "n_vertices must be a whole number of at least 0, got -1"),
        ],
    )
    def test_edges(self, edges, n_vertices, message):
        with pytest.raises(InputError, match=message):
            Hypergraph.from_edges(edges, n_vertices)

    @pytest.mark.parametrize(
        ("adjacency", "message"),
        [
            ([[0, 1]], r"adjacency must be square, got shape \(1, 2\)"),
            ([[0, 1], [2, 0]], r"adjacency must be exactly symmetric.* got 1.0 at \(0, 1\)"),
            ([[0, -1], [-1, 0]], "adjacency must hold finite, non-negative numbers, got -1"),
            ([[0, np.nan], [np.nan, 0]], "adjacency must hold finite.*, got nan"),
            (
                [[0, 1], [1, 4]],
                "adjacency must be zero on the diagonal.*, got 4.0 at vertex 1",
            ),
            (np.empty((0, 0)), "incidence must have a vertex"),
            ([0, 1], "adjacency must be 2-dimensional"),
        ],
    )
    def test_clique_expansion(self, adjacency, message):
        with pytest.raises(InputError, match=message):
            Hypergraph.from_clique_expansion(adjacency)

    @pytest.mark.parametrize(
        ("adjacency", "n_vertices", "message"),
        [
            ([[0, 1]], 1, "adjacency must be square"),
            ([[0, 1], [2, 0]], 1, "adjacency must be exactly symmetric"),
            ([[0, 1], [1, 0]], 0, "n_vertices must be a whole number from 1 to 1, got 0"),
            ([[0, 1], [1, 0]], 2, "n_vertices must be a whole number from 1 to 1, got 2"),
            ([[1, 1], [1, 0]], 1, "adjacency must join the first 1 rows .* only"),
            ([[0, 1], [1, 1]], 1, "adjacency must join the first 1 rows .* only"),
            ([[0, 1, 0], [1, 0, 0], [0, 0, 0]], 1, "every hyperedge must hold.* at hyperedge 1"),
        ],
    )
    def test_star_expansion(self, adjacency, n_vertices, message):
        with pytest.raises(InputError, match=message):
            Hypergraph.from_star_expansion(adjacency, n_vertices)


class TestFewEntries:
    """Shapes that no memory holds."""

    @pytest.mark.parametrize(
        ("edges", "n_vertices"), [([[0, 10**13]], None), ([[0, 1]], 10**13), ([[0]], 10**30)]
    )
    def test_vertices_of_edges(self, edges, n_vertices):
        with pytest.raises(InputError, match=r"incidence of shape .* does not fit in memory"):
            Hypergraph.from_edges(edges, n_vertices=n_vertices)

    @pytest.mark.parametrize(
        ("shape", "form"),
        [((10**13, 1), "coo"), ((10**13, 1), "csc"), ((1, 10**13), "coo"), ((1, 10**13), "csr")],
    )
    def test_rows_and_columns(self, shape, form):
        place = tuple([size // 2] for size in shape)
        matrix = sparse.coo_array(([1.0], place), shape=shape).asformat(form)
        for make in (Hypergraph, from_scipy):
            with pytest.raises(InputError, match=r"incidence of shape .* does not fit in memory"):
                make(matrix)


def test_memberships_of_edges_are_numbers():
    with pytest.raises(
        InputError, match=r"edges must map every member to a number.* shape"
    ) as info:
        Hypergraph.from_edges([{0: [1], 1: [1]}])
    assert info.value.parameter == "edges"


@pytest.mark.parametrize("weights", [sparse.csr_array([[1.0]]), sparse.coo_array([1.0])])
def test_sparse_weights(weights):
    with pytest.raises(InputError, match="weights must be a dense array, got a sparse one"):
        Hypergraph([[1.0]], weights=weights)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.float32])
def test_sums_of_duplicates_do_not_overflow_their_type(dtype):
    thrice = sparse.coo_array((np.array([100] * 3, dtype), ([0] * 3, [0] * 3)), shape=(1, 1))
    expected = np.array([[300.0]])
    assert Hypergraph(thrice) == Hypergraph(expected)
    assert from_scipy(thrice).hypergraph == Hypergraph(expected)
    assert Graph(thrice) == Graph(sparse.csr_array(expected))
