"""The largest eigenpairs of Θ, and the embedding by them."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from enhg import Graph, Hypergraph
from enhg.exceptions import InputError
from enhg.learning import spectral
from enhg.learning.spectral import Spectrum, eigenpairs_on, embed, fragments, top_eigenpairs


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
    """Check eigenvalues, subspaces between gaps, orthonormality and residuals."""
    spectrum = top_eigenpairs(hypergraph, count, **options)
    values, vectors, theta = dense_top(hypergraph, count + 1)
    np.testing.assert_allclose(spectrum.eigenvalues, values[:count], atol=1e-9)
    np.testing.assert_allclose(
        spectrum.eigenvectors.T @ spectrum.eigenvectors, np.eye(count), atol=1e-9
    )
    true = np.linalg.norm(
        theta @ spectrum.eigenvectors - spectrum.eigenvectors * spectrum.eigenvalues, axis=0
    )
    np.testing.assert_allclose(spectrum.residuals, true, atol=1e-12)
    assert spectrum.residuals.max() <= 1e-6
    gaps = np.flatnonzero(-np.diff(values) > 1e-4) + 1
    for cut in gaps[gaps <= count]:
        ours, theirs = spectrum.eigenvectors[:, :cut], vectors[:, :cut]
        assert np.linalg.norm(ours - theirs @ (theirs.T @ ours), 2) < 1e-4
    return spectrum


DENSE = spectral._MAX_DENSE_VERTICES


@pytest.mark.parametrize(
    ("n", "count"),
    [
        (2, 1),
        *((n, count) for n in (50, DENSE, DENSE + 1, 700) for count in (1, 2, 7, 40)),
    ],
)
def test_random_hypergraphs(n, count):
    check(random_hypergraph(n, seed=n), count, random_state=0)


@pytest.mark.parametrize("count", [3, 12, 20, 60])
def test_many_components(count):
    """Fewer eigenpairs than components, as many, and more."""
    parts = [random_hypergraph(20 + 5 * i, seed=i, edges=40 + 10 * i) for i in range(12)]
    hypergraph = side_by_side(*parts)
    components, _ = hypergraph.connected_components()
    assert components == 12
    assert hypergraph.n_vertices > DENSE
    spectrum = check(hypergraph, count, random_state=0)
    np.testing.assert_array_equal(spectrum.eigenvalues[:12], 1)


def test_the_largest_components_come_first():
    hypergraph = Hypergraph.from_edges([[0], [1, 2], [3, 4, 5], [6]])
    vectors = top_eigenpairs(hypergraph, 2).eigenvectors
    assert [np.flatnonzero(v).tolist() for v in vectors.T] == [[3, 4, 5], [1, 2]]


@pytest.mark.parametrize(("blocks", "size"), [(3, 5), (30, 40)])
def test_more_eigenvectors_than_the_rank(blocks, size):
    """Θ is a projector of rank `blocks`: all further eigenvalues are 0."""
    edges = [range(i * size, (i + 1) * size) for i in range(blocks)]
    spectrum = check(Hypergraph.from_edges(edges), blocks + 7, random_state=0)
    np.testing.assert_allclose(spectrum.eigenvalues[blocks:], 0, atol=1e-12)


def test_all_eigenpairs():
    hypergraph = random_hypergraph(30, seed=1, edges=10)  # of rank 10 at most
    spectrum = top_eigenpairs(hypergraph, 30)
    product = spectrum.eigenvectors * spectrum.eigenvalues @ spectrum.eigenvectors.T
    np.testing.assert_allclose(product, hypergraph.theta_dense(), atol=1e-12)


@pytest.mark.parametrize("count", [8, 30])
def test_all_eigenvalues_but_one_are_equal(count):
    """On a complete graph LAPACK's solver of some eigenvalues fails."""
    n = 30
    spectrum = top_eigenpairs(Graph(np.ones((n, n)) - np.eye(n)), count)
    expected = [1, *np.full(count - 1, -1 / (n - 1))]
    np.testing.assert_allclose(spectrum.eigenvalues, expected, atol=1e-12)
    assert spectrum.residuals.max() < 1e-12
    products = spectrum.eigenvectors.T @ spectrum.eigenvectors
    np.testing.assert_allclose(products, np.eye(count), atol=1e-12)


@pytest.mark.parametrize("count", [2, 3, 10])
@pytest.mark.parametrize("n", [31, 50, 94, 200])
def test_all_eigenvalues_but_two_are_equal(n, count):
    """On a star LAPACK's solver of some eigenvalues returns fewer than were requested."""
    star = Hypergraph.from_edges([[0, leaf] for leaf in range(1, n)])
    spectrum = top_eigenpairs(star, count)
    np.testing.assert_allclose(spectrum.eigenvalues, [1, *np.full(count - 1, 0.5)], atol=1e-12)
    assert spectrum.residuals.max() < 1e-12
    products = spectrum.eigenvectors.T @ spectrum.eigenvectors
    np.testing.assert_allclose(products, np.eye(count), atol=1e-12)


def test_dense_and_filtered_agree(monkeypatch):
    hypergraph = random_hypergraph(300, seed=2)
    dense = top_eigenpairs(hypergraph, 12)
    monkeypatch.setattr(spectral, "_MAX_DENSE_VERTICES", 0)
    filtered = top_eigenpairs(hypergraph, 12, random_state=0)
    np.testing.assert_allclose(filtered.eigenvalues, dense.eigenvalues, atol=1e-10)
    assert not np.array_equal(filtered.eigenvectors, dense.eigenvectors)  # two solvers


def test_low_eigenvalues(monkeypatch):
    """Most of the eigenvalues are below 0.3, where a steep filter would amplify rounding errors."""
    monkeypatch.setattr(spectral, "_MAX_DENSE_VERTICES", 0)
    hypergraph = random_hypergraph(600, seed=3, size=30)
    spectrum = check(hypergraph, 150, random_state=0)
    assert spectrum.eigenvalues[-1] < 0.2


@pytest.mark.parametrize("count", [2, 15, 40])
def test_eigenvalues_clustered_near_one_on_a_cycle(count):
    """A cycle of n pairs has the eigenvalues cos²(πj/n), each but the first twice."""
    n = 3000
    cycle = Hypergraph.from_edges([[i, (i + 1) % n] for i in range(n)])
    spectrum = top_eigenpairs(cycle, count, random_state=0)
    expected = np.cos(np.pi * ((np.arange(count) + 1) // 2) / n) ** 2
    assert expected[-1] > 0.999
    np.testing.assert_allclose(spectrum.eigenvalues, expected, atol=1e-9)
    assert spectrum.residuals.max() <= 1e-6


def ring_of_blocks(b, m, link):
    """Blocks of m vertices, each vertex joined to the same vertex of the next blocks.

    All degrees are 1 + 2ε, so Θ = (I ⊗ J/m + ε(2I + C)/2 ⊗ I) / (1 + 2ε), C the adjacency of
    the ring: its top b eigenvectors are constant on blocks, with the eigenvalues returned.
    """
    vertex = np.arange(b * m).reshape(b, m)
    following = np.roll(vertex, -1, axis=0)
    edges = [*vertex.tolist(), *np.c_[vertex.ravel(), following.ravel()].tolist()]
    weights = np.r_[np.ones(b), np.full(b * m, link)]
    angles = 2 * np.pi * ((np.arange(b) + 1) // 2) / b
    values = 1 - link * (1 - np.cos(angles)) / (1 + 2 * link)
    return Hypergraph.from_edges(edges, weights=weights), values


@pytest.mark.parametrize("link", [1e-2, 1e-4])
@pytest.mark.parametrize("count", [10, 100])
def test_eigenvalues_clustered_near_one_on_a_ring_of_blocks(link, count):
    b, m = 100, 30
    ring, expected = ring_of_blocks(b, m, link)
    spectrum = top_eigenpairs(ring, count, random_state=0)
    np.testing.assert_allclose(spectrum.eigenvalues, expected[:count], atol=1e-6)
    assert spectrum.residuals.max() <= 1e-6
    spread = spectrum.eigenvectors.reshape(b, m, count).std(axis=1)
    assert spread.max() < 1e-6


def test_a_cluster_wider_than_the_block_takes_few_iterations(monkeypatch):
    """Ten of a hundred eigenvalues within 4·10⁻⁴ of 1: the block has to be widened."""
    monkeypatch.setattr(spectral, "_MAX_ITERATIONS", 15)
    ring, expected = ring_of_blocks(100, 30, 2e-4)
    spectrum = top_eigenpairs(ring, 10, random_state=0, tol=1e-8)
    np.testing.assert_allclose(spectrum.eigenvalues, expected[:10], atol=1e-8)
    assert spectrum.residuals.max() <= 1e-8


def test_links_too_weak_to_separate_eigenvalues_from_one():
    edges = [*(range(10 * i, 10 * i + 10) for i in range(60)), *([10 * i, 0] for i in range(1, 60))]
    hypergraph = Hypergraph.from_edges(edges, weights=[1.0] * 60 + [1e-20] * 59)
    spectrum = top_eigenpairs(hypergraph, 20, random_state=0)
    np.testing.assert_allclose(spectrum.eigenvalues, 1, atol=1e-7)
    np.testing.assert_allclose(
        spectrum.eigenvectors.T @ spectrum.eigenvectors, np.eye(20), atol=1e-9
    )


def test_weights_of_very_different_size():
    rng = np.random.default_rng(4)
    plain = random_hypergraph(450, seed=4)
    wild = Hypergraph(plain.incidence, 10 ** rng.uniform(-12, 12, 450))
    spectrum = top_eigenpairs(wild, 10, random_state=0)
    np.testing.assert_allclose(spectrum.eigenvalues, dense_top(wild, 10)[0], atol=1e-6)


def test_a_seed_repeats_the_result():
    hypergraph = random_hypergraph(500, seed=5)
    one, two = (top_eigenpairs(hypergraph, 5, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one.eigenvectors, two.eigenvectors)
    np.testing.assert_array_equal(one.eigenvalues, two.eigenvalues)


@pytest.mark.parametrize("count", [0, 6, -1])
def test_impossible_counts(count):
    with pytest.raises(InputError, match=rf"from 1 to 5 \(the number of vertices\), got {count}"):
        top_eigenpairs(Hypergraph(np.eye(5)), count)


def test_what_does_not_converge_is_reported_with_its_figure(monkeypatch):
    monkeypatch.setattr(spectral, "_MAX_ITERATIONS", 1)
    path = Hypergraph.from_edges([[i, i + 1] for i in range(999)])
    with pytest.warns(ConvergenceWarning, match="did not reach a residual of 1e-06") as caught:
        spectrum = top_eigenpairs(path, 20, random_state=0)
    theta = path.theta
    true = np.linalg.norm(
        theta @ spectrum.eigenvectors - spectrum.eigenvectors * spectrum.eigenvalues, axis=0
    )
    np.testing.assert_allclose(spectrum.residuals, true, atol=1e-14)
    assert true.max() > 1e-6
    assert f"{true.max():.1e}" in str(caught[0].message)


# --- further eigenpairs ------------------------------------------------------------------------


@pytest.fixture
def solved(monkeypatch):
    """The numbers of eigenpairs that were solved for, in the order of the calls."""
    counts = []
    original = spectral._solve

    def spy(graph, deflation, count, *args):
        counts.append(count)
        return original(graph, deflation, count, *args)

    monkeypatch.setattr(spectral, "_solve", spy)
    return counts


def as_graph(hypergraph):
    """The clique expansion, whose Θ has negative eigenvalues; loops where it has no edge."""
    adjacency = hypergraph.clique_expansion()
    return Graph(adjacency + sparse.diags_array(1.0 * (adjacency.sum(axis=1) == 0)))


def components(count):
    return side_by_side(*(random_hypergraph(150 + 5 * i, seed=i) for i in range(count)))


EXTENDED = {
    "small": random_hypergraph(60, seed=11),
    "large": random_hypergraph(700, seed=12),
    "components": components(5),
    "graph": as_graph(random_hypergraph(500, seed=13)),
    "multiple eigenvalues": ring_of_blocks(20, 30, 1e-2)[0],
}


@pytest.mark.parametrize("name", EXTENDED)
@pytest.mark.parametrize(("first", "count"), [(1, 12), (4, 8), (7, 20), (12, 13), (20, 50)])
def test_extended_spectrum_is_that_of_a_dense_solver(name, first, count, solved):
    graph = EXTENDED[name]
    known = top_eigenpairs(graph, first, random_state=0)
    spectrum = top_eigenpairs(graph, count, known=known, random_state=1)
    values, vectors = np.linalg.eigh(graph.theta_dense())
    values, vectors = values[::-1], vectors[:, ::-1]
    np.testing.assert_allclose(spectrum.eigenvalues, values[:count], atol=1e-9)
    products = spectrum.eigenvectors.T @ spectrum.eigenvectors
    np.testing.assert_allclose(products, np.eye(count), atol=1e-9)
    assert spectrum.residuals.max() <= 1e-6
    assert (np.diff(spectrum.eigenvalues[graph.connected_components()[0] :]) <= 0).all()
    gaps = np.flatnonzero(-np.diff(values[: count + 1]) > 1e-4) + 1
    assert len(gaps)
    for cut in gaps:
        ours, theirs = spectrum.eigenvectors[:, :cut], vectors[:, :cut]
        assert np.linalg.norm(ours - theirs @ (theirs.T @ ours), 2) < 1e-4
    assert sum(solved) == count - graph.connected_components()[0]  # none is solved for twice


def test_known_eigenpairs_are_kept_as_they_are(solved):
    graph = EXTENDED["large"]
    known = top_eigenpairs(graph, 10, random_state=0)
    solved.clear()
    fewer = top_eigenpairs(graph, 6, known=known)
    np.testing.assert_array_equal(fewer.eigenvectors, known.eigenvectors[:, :6])
    np.testing.assert_array_equal(fewer.eigenvalues, known.eigenvalues[:6])
    np.testing.assert_array_equal(fewer.residuals, known.residuals[:6])
    assert solved == []
    more = top_eigenpairs(graph, 15, known=known, random_state=0)
    np.testing.assert_allclose(more.eigenvectors[:, :10], known.eigenvectors, atol=1e-12)
    assert solved == [5]


def test_fewer_known_eigenpairs_than_components(solved):
    graph = EXTENDED["components"]
    known = top_eigenpairs(graph, 2)
    again = top_eigenpairs(graph, 5, known=known)
    np.testing.assert_array_equal(again.eigenvectors, top_eigenpairs(graph, 5).eigenvectors)
    assert solved == []


def test_errors_of_known_eigenvectors_do_not_prevent_convergence():
    """They bound the accuracy of the further ones, which converge among themselves."""
    graph = EXTENDED["large"]
    exact = top_eigenpairs(graph, 30, random_state=0)
    noise = np.random.default_rng(0).normal(size=(700, 10))
    disturbed = np.linalg.qr(exact.eigenvectors[:, :10] + 1e-8 * noise)[0]
    disturbed *= np.sign((disturbed * exact.eigenvectors[:, :10]).sum(axis=0))
    known = Spectrum(exact.eigenvalues[:10], disturbed, np.full(10, 1e-7))
    spectrum = top_eigenpairs(graph, 30, known=known, random_state=0)
    np.testing.assert_allclose(spectrum.eigenvalues, exact.eigenvalues, atol=1e-9)
    assert spectrum.residuals.max() <= 1e-6


# --- components that are left out ----------------------------------------------------------------


def test_eigenpairs_on_some_components_are_zero_on_the_others():
    graph = side_by_side(
        random_hypergraph(40, seed=1), random_hypergraph(60, seed=2), random_hypergraph(5, seed=3)
    )
    mask = np.arange(105) >= 40
    part = graph.subhypergraph(mask)
    known = top_eigenpairs(part, 4)
    for given in (None, known):
        spectrum = eigenpairs_on(graph, mask, 9, 0, known=given)
        assert not spectrum.eigenvectors[:40].any()
        values = np.sort(np.linalg.eigvalsh(part.theta_dense()))[::-1][:9]
        np.testing.assert_allclose(spectrum.eigenvalues, values, atol=1e-9)
        images = graph.theta @ spectrum.eigenvectors
        np.testing.assert_allclose(images, spectrum.eigenvectors * spectrum.eigenvalues, atol=1e-9)
    assert eigenpairs_on(graph, mask, 1000, 0).eigenvectors.shape == (105, 65)


def test_fragments_follow_their_definition():
    graph = Hypergraph.from_edges([range(40), [40, 41, 42], [43, 44], [45]])
    assert fragments(graph, 1).nonzero()[0].tolist() == [*range(40, 46)]  # below 4.6, of 46
    assert fragments(graph, 2).nonzero()[0].tolist() == [43, 44, 45]  # below 2.3
    assert fragments(graph, 3).nonzero()[0].tolist() == [45]  # below 1.53
    assert not fragments(graph, 5).any()  # single, but no more components than clusters
    assert fragments(Hypergraph(np.eye(3)), 2).all()


# --- states --------------------------------------------------------------------------------------


def test_state_of_a_spectrum(whole):
    again = Spectrum.from_state(whole[1].to_state())
    for name in ("eigenvalues", "eigenvectors", "residuals"):
        np.testing.assert_array_equal(getattr(again, name), getattr(whole[1], name))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("eigenvalues", np.ones(24)),
        ("eigenvalues", np.full(25, np.nan)),
        ("eigenvectors", np.eye(24)),
        ("eigenvectors", np.ones((3, 25))),
        ("residuals", np.full(25, "text")),
        ("residuals", np.ones((25, 1))),
    ],
)
def test_states_that_are_no_spectra(whole, name, value):
    state = whole[1].to_state()
    with pytest.raises(InputError, match="does not fit"):
        Spectrum.from_state(state | {name: value})
    del state[name]
    with pytest.raises(InputError, match=f"{name} is missing"):
        Spectrum.from_state(state)


# --- the embedding ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole():
    """A hypergraph with all its eigenpairs."""
    hypergraph = random_hypergraph(25, seed=6)
    return hypergraph, top_eigenpairs(hypergraph, 25)


def test_equal_is_the_top_eigenvectors(whole):
    points = embed(whole[1], 4, "equal", normalize_rows=False)
    np.testing.assert_array_equal(points, whole[1].eigenvectors[:, :4])


def test_resolvent_is_that_of_the_laplacian(whole):
    """V diag(μ/(1 − λ + μ)) Vᵀ = μ(L + μI)⁻¹ with μ = 1 − λ_k."""
    hypergraph, spectrum = whole
    points = embed(spectrum, 4, "resolvent", normalize_rows=False)
    L = hypergraph.laplacian_dense()
    mu = np.linalg.eigvalsh(L)[3]
    expected = mu * np.linalg.inv(L + mu * np.eye(25))
    np.testing.assert_allclose(points @ spectrum.eigenvectors.T, expected, atol=1e-10)


@pytest.mark.parametrize("weighting", ["equal", "resolvent"])
def test_unit_rows_keep_their_direction(whole, weighting):
    plain = embed(whole[1], 4, weighting, normalize_rows=False)
    unit = embed(whole[1], 4, weighting)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1)
    np.testing.assert_allclose(
        unit * np.linalg.norm(plain, axis=1, keepdims=True), plain, atol=1e-12
    )


def test_vertices_that_no_eigenvector_touches_stay_at_the_origin():
    hypergraph = Hypergraph.from_edges([[0, 1], [2, 3, 4], [5]])
    points = embed(top_eigenpairs(hypergraph, 2), 2, "equal")
    np.testing.assert_array_equal(points[5], 0)
    np.testing.assert_allclose(np.linalg.norm(points[:5], axis=1), 1)


THREE_COMPONENTS = Hypergraph.from_edges([[0, 1], [2, 3, 4], [5, 6, 7, 8]])


@pytest.mark.parametrize("weighting", ["equal", "resolvent"])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_components_without_a_gap_at_k(weighting, k):
    points = embed(top_eigenpairs(THREE_COMPONENTS, min(3 * k, 9)), k, weighting)
    assert np.isfinite(points).all()


def test_components_are_orthogonal_points():
    points = embed(top_eigenpairs(THREE_COMPONENTS, 9), 3, "equal")
    truth = np.repeat([0, 1, 2], [2, 3, 4])
    np.testing.assert_allclose(points @ points.T, truth[:, None] == truth, atol=1e-12)


def test_resolvent_without_any_gap():
    only_ones = Spectrum(np.ones(3), np.eye(5, 3), np.zeros(3))
    points = embed(only_ones, 2, "resolvent", normalize_rows=False)
    np.testing.assert_array_equal(points, np.eye(5, 3))
