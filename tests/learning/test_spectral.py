import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from enhg import Hypergraph
from enhg.learning import spectral
from enhg.learning.spectral import Spectrum, embed, top_eigenpairs


def random_hypergraph(n, seed, edges=None, size=4):
    """Soft, weighted, of random hyperedges, each vertex in one at least."""
    rng = np.random.default_rng(seed)
    edges = edges or n
    rows = rng.integers(n, size=(edges, size)).ravel()
    columns = np.repeat(np.arange(edges), size)
    h = sparse.coo_array((rng.uniform(0.1, 1, rows.size), (rows, columns)), shape=(n, edges))
    own = sparse.coo_array((np.ones(n), (np.arange(n), np.arange(n) % edges)), shape=(n, edges))
    return Hypergraph(sparse.csr_array(h + own), rng.uniform(0.5, 2, edges))


def side_by_side(*hypergraphs):
    incidence = sparse.block_diag([h.incidence for h in hypergraphs], format="csr")
    return Hypergraph(incidence, np.concatenate([h.weights for h in hypergraphs]))


def dense_top(hypergraph, count):
    """Reference: eigenpairs by LAPACK of Θ from its definition."""
    H, w = hypergraph.incidence.toarray(), hypergraph.weights
    d, delta = H @ w, H.sum(axis=0)
    theta = H / np.sqrt(d)[:, None] * (w / delta) @ (H / np.sqrt(d)[:, None]).T
    values, vectors = np.linalg.eigh((theta + theta.T) / 2)
    return values[::-1][:count], vectors[:, ::-1][:, :count], theta


def check(hypergraph, count, **options):
    """Values, subspaces where a gap tells them apart, orthonormality, honest residuals."""
    found = top_eigenpairs(hypergraph, count, **options)
    values, vectors, theta = dense_top(hypergraph, count + 1)
    np.testing.assert_allclose(found.values, values[:count], atol=1e-9)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(count), atol=1e-9)
    true = np.linalg.norm(theta @ found.vectors - found.vectors * found.values, axis=0)
    np.testing.assert_allclose(found.residuals, true, atol=1e-12)
    assert found.residuals.max() <= 1e-6
    gaps = np.flatnonzero(-np.diff(values) > 1e-4) + 1
    for cut in gaps[gaps <= count]:
        ours, theirs = found.vectors[:, :cut], vectors[:, :cut]
        assert np.linalg.norm(ours - theirs @ (theirs.T @ ours), 2) < 1e-4
    return found


DENSE = spectral._DENSE_UP_TO


@pytest.mark.parametrize("n", [2, 50, DENSE, DENSE + 1, 700])
@pytest.mark.parametrize("count", [1, 2, 7, 40])
def test_random_hypergraphs(n, count):
    if count <= n:
        check(random_hypergraph(n, seed=n), min(count, n - 1), random_state=0)


@pytest.mark.parametrize("count", [3, 12, 20, 60])
def test_many_components(count):
    """Twelve of them, of different sizes: fewer, as many and more than asked for."""
    parts = [random_hypergraph(20 + 5 * i, seed=i, edges=40 + 10 * i) for i in range(12)]
    hypergraph = side_by_side(*parts)
    components, _ = hypergraph.connected_components()
    assert components == 12
    assert hypergraph.n_vertices > DENSE
    found = check(hypergraph, count, random_state=0)
    np.testing.assert_array_equal(found.values[:12], 1)


def test_the_largest_components_come_first():
    hypergraph = Hypergraph.from_edges([[0], [1, 2], [3, 4, 5], [6]])
    vectors = top_eigenpairs(hypergraph, 2).vectors
    assert [np.flatnonzero(v).tolist() for v in vectors.T] == [[3, 4, 5], [1, 2]]


@pytest.mark.parametrize(("blocks", "size"), [(3, 5), (30, 40)])
def test_more_eigenvectors_than_the_rank(blocks, size):
    """Θ is a projector of rank `blocks`: what comes after has eigenvalue 0, and is no mixture."""
    edges = [range(i * size, (i + 1) * size) for i in range(blocks)]
    found = check(Hypergraph.from_edges(edges), blocks + 7, random_state=0)
    np.testing.assert_allclose(found.values[blocks:], 0, atol=1e-12)


def test_all_eigenpairs():
    hypergraph = random_hypergraph(30, seed=1, edges=10)  # of rank 10 at most
    found = top_eigenpairs(hypergraph, 30)
    rebuilt = found.vectors * found.values @ found.vectors.T
    np.testing.assert_allclose(rebuilt, hypergraph.theta_dense(), atol=1e-12)


def test_dense_and_filtered_agree(monkeypatch):
    hypergraph = random_hypergraph(300, seed=2)
    dense = top_eigenpairs(hypergraph, 12)
    monkeypatch.setattr(spectral, "_DENSE_UP_TO", 0)
    filtered = top_eigenpairs(hypergraph, 12, random_state=0)
    np.testing.assert_allclose(filtered.values, dense.values, atol=1e-10)
    assert not np.array_equal(filtered.vectors, dense.vectors)  # or nothing was compared


def test_low_eigenvalues_are_found_as_well(monkeypatch):
    """Most of this spectrum lies below 0.3, where a steep filter would drown in rounding."""
    monkeypatch.setattr(spectral, "_DENSE_UP_TO", 0)
    hypergraph = random_hypergraph(600, seed=3, size=30)
    found = check(hypergraph, 150, random_state=0)
    assert found.values[-1] < 0.2


@pytest.mark.parametrize("count", [2, 15, 40])
def test_eigenvalues_crowded_at_one_on_a_cycle(count):
    """A cycle of n pairs has the eigenvalues cos²(πj/n), each but the first twice."""
    n = 3000
    cycle = Hypergraph.from_edges([[i, (i + 1) % n] for i in range(n)])
    found = top_eigenpairs(cycle, count, random_state=0)
    expected = np.cos(np.pi * ((np.arange(count) + 1) // 2) / n) ** 2
    assert expected[-1] > 0.999
    np.testing.assert_allclose(found.values, expected, atol=1e-9)
    assert found.residuals.max() <= 1e-6


def ring_of_blocks(b, m, link):
    """Blocks of m vertices, each vertex linked with its namesakes in the next blocks.

    All degrees are 1 + 2ε, so Θ = (I ⊗ J/m + ε(2I + C)/2 ⊗ I) / (1 + 2ε), C the adjacency of
    the ring: its top b eigenvectors are constant on blocks, with the eigenvalues returned.
    """
    vertex = np.arange(b * m).reshape(b, m)
    following = np.roll(vertex, -1, axis=0)
    edges = [*vertex.tolist(), *np.c_[vertex.ravel(), following.ravel()].tolist()]
    weights = np.r_[np.ones(b), np.full(b * m, link)]
    angles = 2 * np.pi * ((np.arange(b) + 1) // 2) / b
    values = 1 - link * (1 - np.cos(angles)) / (1 + 2 * link)
    return Hypergraph.from_edges(edges, weighting=weights), values


@pytest.mark.parametrize("link", [1e-2, 1e-4])
@pytest.mark.parametrize("count", [10, 100])
def test_eigenvalues_crowded_at_one_on_a_ring_of_blocks(link, count):
    b, m = 100, 30
    ring, expected = ring_of_blocks(b, m, link)
    found = top_eigenpairs(ring, count, random_state=0)
    np.testing.assert_allclose(found.values, expected[:count], atol=1e-6)
    assert found.residuals.max() <= 1e-6
    spread = found.vectors.reshape(b, m, count).std(axis=1)
    assert spread.max() < 1e-6


def test_a_crowd_wider_than_the_block_is_overcome_in_a_few_rounds(monkeypatch):
    """A hundred eigenvalues within 4·10⁻⁴ of 1, and ten of them asked for: the block must grow."""
    monkeypatch.setattr(spectral, "_MOST_ITERATIONS", 15)
    ring, expected = ring_of_blocks(100, 30, 2e-4)
    found = top_eigenpairs(ring, 10, random_state=0, tol=1e-8)
    np.testing.assert_allclose(found.values, expected[:10], atol=1e-8)
    assert found.residuals.max() <= 1e-8


def test_links_too_weak_to_be_told_from_none():
    edges = [*(range(10 * i, 10 * i + 10) for i in range(60)), *([10 * i, 0] for i in range(1, 60))]
    hypergraph = Hypergraph.from_edges(edges, weights=[1.0] * 60 + [1e-20] * 59)
    found = top_eigenpairs(hypergraph, 20, random_state=0)
    np.testing.assert_allclose(found.values, 1, atol=1e-7)
    np.testing.assert_allclose(found.vectors.T @ found.vectors, np.eye(20), atol=1e-9)


def test_weights_of_very_different_size():
    rng = np.random.default_rng(4)
    plain = random_hypergraph(450, seed=4)
    wild = Hypergraph(plain.incidence, 10 ** rng.uniform(-12, 12, 450))
    found = top_eigenpairs(wild, 10, random_state=0)
    np.testing.assert_allclose(found.values, dense_top(wild, 10)[0], atol=1e-6)


def test_a_seed_repeats_the_result():
    hypergraph = random_hypergraph(500, seed=5)
    one, two = (top_eigenpairs(hypergraph, 5, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one.vectors, two.vectors)
    np.testing.assert_array_equal(one.values, two.values)


@pytest.mark.parametrize("count", [0, 6, -1])
def test_impossible_counts(count):
    with pytest.raises(ValueError, match=rf"from 1 to the number of vertices \(5\), got {count}"):
        top_eigenpairs(Hypergraph(np.eye(5)), count)


def test_what_does_not_converge_is_reported_with_its_figure(monkeypatch):
    monkeypatch.setattr(spectral, "_MOST_ITERATIONS", 1)
    path = Hypergraph.from_edges([[i, i + 1] for i in range(999)])
    with pytest.warns(ConvergenceWarning, match="did not reach a residual of 1e-06") as caught:
        found = top_eigenpairs(path, 20, random_state=0)
    theta = path.theta
    true = np.linalg.norm(theta @ found.vectors - found.vectors * found.values, axis=0)
    np.testing.assert_allclose(found.residuals, true, atol=1e-14)
    assert true.max() > 1e-6
    assert f"{true.max():.1e}" in str(caught[0].message)


# --- the embedding ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole():
    """A hypergraph with all its eigenpairs."""
    hypergraph = random_hypergraph(25, seed=6)
    return hypergraph, top_eigenpairs(hypergraph, 25)


def test_equal_is_the_top_eigenvectors(whole):
    points = embed(whole[1], 4, "equal", normalize_rows=False)
    np.testing.assert_array_equal(points, whole[1].vectors[:, :4])


def test_resolvent_is_that_of_the_laplacian(whole):
    """V diag(μ/(1 − λ + μ)) Vᵀ = μ(L + μI)⁻¹ with μ = 1 − λ_k."""
    hypergraph, spectrum = whole
    points = embed(spectrum, 4, "resolvent", normalize_rows=False)
    L = hypergraph.laplacian_dense()
    mu = np.linalg.eigvalsh(L)[3]
    expected = mu * np.linalg.inv(L + mu * np.eye(25))
    np.testing.assert_allclose(points @ spectrum.vectors.T, expected, atol=1e-10)


@pytest.mark.parametrize("kind", ["equal", "resolvent"])
def test_unit_rows_keep_their_direction(whole, kind):
    plain = embed(whole[1], 4, kind, normalize_rows=False)
    unit = embed(whole[1], 4, kind)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1)
    np.testing.assert_allclose(
        unit * np.linalg.norm(plain, axis=1, keepdims=True), plain, atol=1e-12
    )


def test_vertices_that_no_eigenvector_touches_stay_at_the_origin():
    hypergraph = Hypergraph.from_edges([[0, 1], [2, 3, 4], [5]])
    points = embed(top_eigenpairs(hypergraph, 2), 2, "equal")
    np.testing.assert_array_equal(points[5], 0)
    np.testing.assert_allclose(np.linalg.norm(points[:5], axis=1), 1)


@pytest.mark.parametrize("kind", ["equal", "resolvent"])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_components_are_points_far_apart(kind, k):
    """With as many components as clusters or more there is no gap at k, and no NaN."""
    hypergraph = Hypergraph.from_edges([[0, 1], [2, 3, 4], [5, 6, 7, 8]])
    points = embed(top_eigenpairs(hypergraph, min(3 * k, 9)), k, kind)
    assert np.isfinite(points).all()
    if kind == "equal" and k == 3:
        truth = np.repeat([0, 1, 2], [2, 3, 4])
        np.testing.assert_allclose(points @ points.T, truth[:, None] == truth, atol=1e-12)


def test_resolvent_without_any_gap():
    only_ones = Spectrum(np.ones(3), np.eye(5, 3), np.zeros(3))
    points = embed(only_ones, 2, "resolvent", normalize_rows=False)
    np.testing.assert_array_equal(points, np.eye(5, 3))
