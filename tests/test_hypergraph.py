import copy
import os
import pickle
from contextlib import suppress
from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csgraph

from enhg.hypergraph import Hypergraph

fast = settings(max_examples=40, deadline=None)
SOFT = [[1, 0, 0], [0.5, 1, 0], [0, 0.25, 0], [0, 0, 1]]


@st.composite
def hypergraphs(draw, soft=None):
    """Any small hypergraph; the largest membership of every hyperedge is 1, as in ours."""
    n, m = draw(st.integers(1, 7)), draw(st.integers(1, 6))
    soft = draw(st.booleans()) if soft is None else soft
    entry = st.sampled_from([0, 0, 0.1, 0.5, 1] if soft else [0, 0, 1])
    h = np.array(draw(st.lists(entry, min_size=n * m, max_size=n * m)), dtype=float).reshape(n, m)
    for vertex in np.flatnonzero(h.sum(axis=1) == 0):
        h[vertex, draw(st.integers(0, m - 1))] = 1
    for edge in np.flatnonzero(h.max(axis=0) < 1):
        h[draw(st.integers(0, n - 1)), edge] = 1
    weights = draw(st.lists(st.floats(0.1, 10), min_size=m, max_size=m))
    return Hypergraph(h, weights)


def theta_by_loops(hypergraph):
    """Θ straight from the definitions of degrees and Θ, entry by entry."""
    h, w = hypergraph.incidence.toarray(), hypergraph.weights
    n, m = h.shape
    d = [sum(w[e] * h[v, e] for e in range(m)) for v in range(n)]
    delta = [sum(h[v, e] for v in range(n)) for e in range(m)]
    theta = np.zeros((n, n))
    for u in range(n):
        for v in range(n):
            for e in range(m):
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
        assert np.sum(values > 1 - 1e-9) == hypergraph.connected_components()[0]
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
        assert hypergraph != "hypergraph"
        with pytest.raises(TypeError, match="unhashable"):
            hash(hypergraph)


class TestRoundTrips:
    @fast
    @given(hypergraphs(soft=False))
    def test_edges(self, hypergraph):
        again = Hypergraph.from_edges(hypergraph.edges(), weights=hypergraph.weights)
        assert again == hypergraph

    @fast
    @given(hypergraphs())
    def test_memberships_as_mappings(self, hypergraph):
        h = hypergraph.incidence.toarray()
        edges = ({v: h[v, e] for v in members} for e, members in enumerate(hypergraph.edges()))
        assert Hypergraph.from_edges(edges, weights=hypergraph.weights) == hypergraph

    def test_edges_of_any_iterable(self):
        expected = Hypergraph([[1, 0], [1, 1]])
        assert Hypergraph.from_edges([{0, 1}, (1,)]) == expected
        assert Hypergraph.from_edges(iter([range(2), np.array([1])]), n_vertices=2) == expected
        assert Hypergraph.from_edges([[1, 0, 1], [1]]) == expected

    @fast
    @given(hypergraphs())
    def test_clique_expansion(self, hypergraph):
        adjacency = hypergraph.clique_expansion()
        joined = np.flatnonzero(adjacency.sum(axis=0))
        if joined.size:
            adjacency = adjacency[joined][:, joined]
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

    @pytest.mark.parametrize(
        "duplicate", [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))]
    )
    def test_copies_and_pickles_are_equal_and_immutable(self, duplicate):
        hypergraph = Hypergraph(SOFT, [1, 2, 3])
        again = duplicate(hypergraph)
        assert again == hypergraph
        assert not again.weights.flags.writeable
        assert not again.incidence.data.flags.writeable


class TestImmutability:
    @pytest.mark.parametrize("name", ["weights", "incidence", "factor", "_weights", "anything"])
    def test_no_attribute_can_be_set_or_deleted(self, name):
        hypergraph = Hypergraph(SOFT)
        with pytest.raises(AttributeError, match=f"immutable.*{name}"):
            setattr(hypergraph, name, 1)
        with pytest.raises(AttributeError, match=f"immutable.*{name}"):
            delattr(hypergraph, name)

    def test_no_array_can_be_written(self):
        hypergraph = Hypergraph(SOFT)
        arrays = [hypergraph.weights, hypergraph.vertex_degrees, hypergraph.edge_degrees]
        for matrix in (hypergraph.incidence, hypergraph.theta_factor):
            arrays += [matrix.data, matrix.indices, matrix.indptr]
        for array in arrays:
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 2

    def test_matrices_handed_out_do_not_lead_back(self):
        hypergraph = Hypergraph(SOFT)
        for name in ("incidence", "factor"):
            before = getattr(hypergraph, name).toarray()
            handed_out = getattr(hypergraph, name)
            handed_out.data = np.zeros(5)
            handed_out.resize((1, 1))
            assert (getattr(hypergraph, name).toarray() == before).all()

    @pytest.mark.parametrize("form", [np.array, sparse.csr_array])
    def test_input_is_copied_and_left_alone(self, form):
        incidence, weights = form(np.eye(3)), np.ones(3)
        hypergraph = Hypergraph(incidence, weights)
        incidence[0, 0] = 5
        weights[0] = 5
        assert hypergraph == Hypergraph(np.eye(3))

    def test_explicit_zeros_of_the_input_stay(self):
        incidence = sparse.csr_array(([1.0, 0.0], ([0, 0], [0, 1])), shape=(1, 2))
        with pytest.raises(ValueError, match="hyperedge 1"):
            Hypergraph(incidence)
        assert incidence.nnz == 2

    def test_factor_is_computed_once(self):
        hypergraph = Hypergraph(SOFT)
        assert hypergraph.theta_factor.data is hypergraph.theta_factor.data


class Payload:
    """Creates the file ``path`` when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def stored_arrays(folder):
    path = folder / "good.npz"
    Hypergraph(SOFT).save(path)
    with np.load(path) as archive:
        return dict(archive)


class TestFiles:
    def test_existing_file_is_refused_unless_overwrite(self, tmp_path):
        path = tmp_path / "hypergraph.npz"
        first, second = Hypergraph(SOFT), Hypergraph(np.eye(2))
        first.save(path)
        with pytest.raises(
            FileExistsError, match=r"hypergraph\.npz already exists.*overwrite=True"
        ):
            second.save(path)
        assert Hypergraph.load(path) == first
        second.save(str(path), overwrite=True)
        assert Hypergraph.load(str(path)) == second
        assert os.listdir(tmp_path) == ["hypergraph.npz"]

    def test_file_has_the_name_and_the_permissions_asked_for(self, tmp_path):
        (tmp_path / "plain").touch()
        Hypergraph(SOFT).save(tmp_path / "no_suffix")
        assert sorted(os.listdir(tmp_path)) == ["no_suffix", "plain"]
        assert (tmp_path / "no_suffix").stat().st_mode == (tmp_path / "plain").stat().st_mode

    @pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
    def test_failed_write_leaves_the_old_file_and_nothing_else(self, tmp_path, monkeypatch, error):
        path = tmp_path / "hypergraph.npz"
        old = Hypergraph(SOFT)
        old.save(path)

        def fail_half_way(stream, **arrays):
            stream.write(b"half")
            raise error

        monkeypatch.setattr(np, "savez", fail_half_way)
        with pytest.raises(type(error)):
            Hypergraph(np.eye(2)).save(path, overwrite=True)
        assert os.listdir(tmp_path) == ["hypergraph.npz"]
        assert Hypergraph.load(path) == old

    def test_failed_replace_leaves_nothing(self, tmp_path):
        (tmp_path / "folder").mkdir()
        with pytest.raises(OSError, match="folder"):
            Hypergraph(SOFT).save(tmp_path / "folder", overwrite=True)
        assert os.listdir(tmp_path) == ["folder"]

    def test_missing_file(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="absent"):
            Hypergraph.load(tmp_path / "absent.npz")

    @fast
    @given(data=st.data())
    def test_truncated_file(self, data, tmp_path_factory):
        path = tmp_path_factory.mktemp("cut") / "cut.npz"
        Hypergraph(SOFT).save(path)
        content = path.read_bytes()
        path.write_bytes(content[: data.draw(st.integers(0, len(content) - 1))])
        with pytest.raises(ValueError, match=r"cut\.npz must be a hypergraph file"):
            Hypergraph.load(path)

    @settings(max_examples=150, deadline=None)
    @given(data=st.data())
    def test_changed_byte_is_noticed_or_harmless(self, data, tmp_path_factory):
        path = tmp_path_factory.mktemp("flip") / "flip.npz"
        hypergraph = Hypergraph(SOFT)
        hypergraph.save(path)
        content = bytearray(path.read_bytes())
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
        path.write_bytes(content)
        with suppress(ValueError):
            assert Hypergraph.load(path) == hypergraph

    def test_damage_that_numpy_would_not_notice(self, tmp_path):
        path = tmp_path / "damaged.npz"
        Hypergraph(SOFT).save(path)
        path.write_bytes(path.read_bytes().replace(b"'<f8'", b"'<f4'", 1))
        with pytest.raises(ValueError, match=r"damaged\.npz must be.*received a damaged weights"):
            Hypergraph.load(path)

    def test_foreign_npz(self, tmp_path):
        np.savez(tmp_path / "foreign.npz", data=np.ones(3))
        with pytest.raises(ValueError, match=r"foreign\.npz must be.*without the mark"):
            Hypergraph.load(tmp_path / "foreign.npz")
        np.savez(tmp_path / "other.npz", format="other.Thing", version=1)
        with pytest.raises(ValueError, match=r"other\.npz must be.*without the mark"):
            Hypergraph.load(tmp_path / "other.npz")

    def test_single_array_and_text(self, tmp_path):
        np.save(tmp_path / "array.npy", np.ones(3))
        (tmp_path / "text.npz").write_text("hypergraph")
        for name in ("array.npy", "text.npz"):
            with pytest.raises(ValueError, match=f"{name} must be a hypergraph file"):
                Hypergraph.load(tmp_path / name)

    @pytest.mark.parametrize("name", ["format", "version", "shape", "data", "weights"])
    def test_pickled_object_is_not_executed(self, tmp_path, name):
        arrays = stored_arrays(tmp_path)
        arrays[name] = np.array([Payload(tmp_path / "executed")], dtype=object)
        np.savez(tmp_path / "pickle.npz", **arrays)
        with pytest.raises(ValueError, match=r"pickle\.npz must be.*allow_pickle=False"):
            Hypergraph.load(tmp_path / "pickle.npz")
        assert not (tmp_path / "executed").exists()

    def test_newer_version(self, tmp_path):
        newer = {"format": "enhg.Hypergraph", "version": 2, "laid_out": "otherwise"}
        np.savez(tmp_path / "newer.npz", **newer)
        with pytest.raises(ValueError, match=r"newer\.npz must be.*version 2 and .* version 1"):
            Hypergraph.load(tmp_path / "newer.npz")

    @pytest.mark.parametrize("name", ["version", "shape", "data", "indices", "indptr", "weights"])
    def test_missing_array(self, tmp_path, name):
        arrays = stored_arrays(tmp_path)
        del arrays[name]
        np.savez(tmp_path / "partial.npz", **arrays)
        with pytest.raises(ValueError, match=rf"partial\.npz must be.*{name}"):
            Hypergraph.load(tmp_path / "partial.npz")

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("indices", [0, 0, 1, 99, 2]),
            ("indices", [0, 0, 1, -1, 2]),
            ("indptr", [0, 5, 1, 4, 5]),
            ("shape", [4, 2]),
            ("shape", [4000, 3]),
            ("data", [1, 1, 1, np.nan, 1]),
            ("weights", [1, 1]),
        ],
    )
    def test_inconsistent_arrays(self, tmp_path, name, value):
        arrays = stored_arrays(tmp_path) | {name: np.array(value)}
        np.savez(tmp_path / "inconsistent.npz", **arrays)
        with pytest.raises(ValueError, match=r"inconsistent\.npz must be a hypergraph file"):
            Hypergraph.load(tmp_path / "inconsistent.npz")


class TestValidation:
    @pytest.mark.parametrize(
        ("incidence", "message"),
        [
            ([[1, np.nan]], "incidence must hold finite, non-negative numbers; received nan"),
            ([[1, np.inf]], "incidence must hold finite, non-negative numbers; received inf"),
            ([[1, -0.5]], "incidence must hold finite, non-negative numbers; received -0.5"),
            (sparse.csr_array([[1, -2]]), "incidence must hold .* received -2"),
            ([1, 1], r"incidence must be 2-dimensional; received shape \(2,\)"),
            (sparse.coo_array([1, 1]), r"incidence must be 2-dimensional; received shape \(2,\)"),
            (np.ones((2, 2, 2)), r"incidence must be 2-dimensional; received shape \(2, 2, 2\)"),
            (3.0, r"incidence must be 2-dimensional; received shape \(\)"),
            ([[1, 0], [1]], "incidence must be an array of real numbers; received .*inhomogeneous"),
            ([[1j]], "incidence must hold real numbers; received dtype complex128"),
            ([["a"]], "incidence must hold real numbers; received dtype <U1"),
            ([[None]], "incidence must hold real numbers; received dtype object"),
            (np.empty((0, 0)), r"incidence must have a vertex \(row\); received shape \(0, 0\)"),
            (np.empty((0, 3)), r"incidence must have a vertex \(row\); received shape \(0, 3\)"),
            ([[1, 0], [1, 0]], "every hyperedge must hold a vertex.*; received 0.0 at hyperedge 1"),
            ([[1, 1], [0, 0]], "every vertex must be in a hyperedge.*; received 0.0 at vertex 1"),
            (np.empty((2, 0)), "every vertex must be in a hyperedge.*; received 0.0 at vertex 0"),
            ([[1e308], [1e308]], "every hyperedge must .* < ∞; received inf at hyperedge 0"),
        ],
    )
    def test_incidence(self, incidence, message):
        with pytest.raises(ValueError, match=message):
            Hypergraph(incidence)

    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            ([1, 0], "weights must be finite and positive; received 0.0 at hyperedge 1"),
            ([-1, 1], "weights must be finite and positive; received -1.0 at hyperedge 0"),
            ([1, np.nan], "weights must be finite and positive; received nan at hyperedge 1"),
            ([np.inf, 1], "weights must be finite and positive; received inf at hyperedge 0"),
            ([1], r"weights must have shape \(2,\); received shape \(1,\)"),
            ([[1, 1]], r"weights must have shape \(2,\); received shape \(1, 2\)"),
            (1.0, r"weights must have shape \(2,\); received shape \(\)"),
            (["a", "b"], "weights must hold real numbers; received dtype <U1"),
            ([1j, 1], "weights must hold real numbers; received dtype complex128"),
            ([1e-200, 1], "every vertex must be in a hyperedge.*; received 0.0 at vertex 0"),
        ],
    )
    def test_weights(self, weights, message):
        with pytest.raises(ValueError, match=message):
            Hypergraph([[1e-200, 0], [1, 1]], weights)

    @pytest.mark.parametrize(
        ("edges", "n_vertices", "message"),
        [
            ([], None, "incidence must have a vertex"),
            ([[]], None, "incidence must have a vertex"),
            ([[0], []], None, "every hyperedge must hold a vertex.* at hyperedge 1"),
            ([[0, 2]], None, "every vertex must be in a hyperedge.* at vertex 1"),
            ([[0]], 2, "every vertex must be in a hyperedge.* at vertex 1"),
            ([[0, 3]], 2, "edges must list vertices in 0 .* = 1; received 3"),
            ([[-1, 0]], None, "edges must list vertices in 0 .* = 0; received -1"),
            ([[0, 0.5]], None, "edges must list vertices as integers; received dtype float64"),
            (["ab"], None, "edges must list vertices as integers; received dtype <U1"),
            ([{0: 1.0, 1: -1.0}], None, "incidence must hold finite, non-negative numbers"),
            ([{0: np.nan}], None, "incidence must hold finite, non-negative numbers"),
        ],
    )
    def test_edges(self, edges, n_vertices, message):
        with pytest.raises(ValueError, match=message):
            Hypergraph.from_edges(edges, n_vertices)

    @pytest.mark.parametrize(
        ("adjacency", "message"),
        [
            ([[0, 1]], r"adjacency must be square; received shape \(1, 2\)"),
            ([[0, 1], [2, 0]], r"adjacency must be exactly symmetric.* received 1.0 at \(0, 1\)"),
            ([[0, -1], [-1, 0]], "adjacency must hold finite, non-negative numbers; received -1"),
            ([[0, np.nan], [np.nan, 0]], "adjacency must hold finite.*; received nan"),
            (
                [[0, 1], [1, 4]],
                "adjacency must be zero on the diagonal.*; received 4.0 at vertex 1",
            ),
            ([[0, 1, 0], [1, 0, 0], [0, 0, 0]], "every vertex must be in a hyperedge.* vertex 2"),
            (np.empty((0, 0)), "incidence must have a vertex"),
            ([0, 1], "adjacency must be 2-dimensional"),
        ],
    )
    def test_clique_expansion(self, adjacency, message):
        with pytest.raises(ValueError, match=message):
            Hypergraph.from_clique_expansion(adjacency)

    @pytest.mark.parametrize(
        ("adjacency", "n_vertices", "message"),
        [
            ([[0, 1]], 1, "adjacency must be square"),
            ([[0, 1], [2, 0]], 1, "adjacency must be exactly symmetric"),
            ([[0, 1], [1, 0]], 0, "n_vertices must be in 1 … 1; received 0"),
            ([[0, 1], [1, 0]], 2, "n_vertices must be in 1 … 1; received 2"),
            ([[1, 1], [1, 0]], 1, "adjacency must join the first 1 rows .* only"),
            ([[0, 1], [1, 1]], 1, "adjacency must join the first 1 rows .* only"),
            ([[0, 1, 0], [1, 0, 0], [0, 0, 0]], 1, "every hyperedge must hold.* at hyperedge 1"),
            ([[0, 0, 1], [0, 0, 0], [1, 0, 0]], 2, "every vertex must be in.* at vertex 1"),
        ],
    )
    def test_star_expansion(self, adjacency, n_vertices, message):
        with pytest.raises(ValueError, match=message):
            Hypergraph.from_star_expansion(adjacency, n_vertices)
