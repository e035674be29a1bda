"""Approximate representations: the exact problem on the candidates, and honest checks."""

import numpy as np
import pytest
from elastic_net_oracle import TOL, samples
from scipy import sparse
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score

from enhg import ElasticNetHypergraph, HypergraphClustering, clustering_accuracy
from enhg.exceptions import InputError, MissingDependencyError
from enhg.preprocessing import SampleNormalizer
from enhg.representation import _groups
from enhg.representation import candidates as candidates_module
from enhg.representation._groups import Groups, stack_in_order
from enhg.representation._order_kernels import order_by_links
from enhg.representation._rows import SolvedRows
from enhg.representation._threads import ThreadTeam
from enhg.representation.candidates import GROUP_ROWS, Candidates, find_candidates
from enhg.representation.scheduling import BlockProblem, Problem
from enhg.representation.solver import self_representation
from enhg.structures import elastic_net

pytest.importorskip("pynndescent")

X = SampleNormalizer().fit_transform(load_digits().data).astype(np.float32)
y = load_digits().target
OWN = np.arange(len(X))


@pytest.fixture(scope="module")
def nearest():
    with ThreadTeam(2) as team:
        return find_candidates(X, X, OWN, 20, team)


def brute_force(samples, atoms, count, excluded=None):
    similarity = samples.astype(np.float64) @ atoms.T.astype(np.float64)
    if excluded is not None:
        similarity[np.arange(len(samples)), excluded] = -np.inf
    return np.argsort(-similarity, axis=1)[:, :count]


def test_candidates_are_the_nearest_atoms(nearest):
    exact = brute_force(X, X, 20, OWN)
    shared = [np.isin(a, b).mean() for a, b in zip(exact, nearest.nearest, strict=True)]
    assert np.mean(shared) > 0.97
    assert nearest.nearest.shape == (len(X), 20)
    assert not (nearest.nearest == OWN[:, None]).any()
    assert sorted(nearest.order) == list(range(len(X)))


def test_candidates_do_not_depend_on_lengths(nearest):
    scaled = X * np.random.default_rng(0).uniform(0.5, 2, (len(X), 1)).astype(np.float32)
    with ThreadTeam(2) as team:
        others = find_candidates(scaled, scaled, OWN, 20, team)
    shared = [np.isin(a, b).mean() for a, b in zip(nearest.nearest, others.nearest, strict=True)]
    assert np.mean(shared) > 0.95


def test_groups_hold_similar_samples(nearest):
    """Samples of a group share candidates: fewer than those of as many random samples."""
    grouped = Groups.of_nearest(nearest.nearest[nearest.order], GROUP_ROWS)
    mixed = np.random.default_rng(0).permutation(nearest.nearest)
    assert len(grouped.columns) < 0.7 * len(Groups.of_nearest(mixed, GROUP_ROWS).columns)


def test_groups_have_the_atoms_of_their_samples(nearest):
    some = nearest.nearest[:75].copy()
    some[3, 5:] = -1
    groups = Groups.of_nearest(some, 32)
    assert list(groups.rows) == [0, 32, 64, 75]
    for rows, atoms in groups:
        assert list(groups.columns[atoms]) == sorted(set(some[rows].ravel()) - {-1})
    wanted = np.where(OWN[:75] % 3 == 0, some[:, 0], np.where(OWN[:75] % 3 == 1, len(X) - 1, -1))
    places = groups.places(wanted, len(X))
    for (rows, atoms), number in zip(groups, range(3), strict=True):
        assert (groups.of_samples[rows] == number).all()
        columns = list(groups.columns[atoms])
        expected = [columns.index(atom) if atom in columns else -1 for atom in wanted[rows]]
        assert list(places[rows]) == expected


def test_order_fills_groups_along_links():
    """Two sets of samples that link only within themselves; a sample without links ends a set."""
    nearest = np.array([[2, 4], [3, 5], [4, 0], [5, 1], [0, 2], [1, 3], [-1, -1]], np.int32)
    assert list(order_by_links(nearest, 3)) == [0, 2, 4, 1, 3, 5, 6]
    # Two samples of the group {0, 1} link to 3, one to 2, which comes first otherwise.
    nearest = np.array([[1, 2, 3], [3, 0, 4], [4, 0, 1], [0, 1, 2], [0, 1, 2]], np.int32)
    assert list(order_by_links(nearest, 5))[:3] == [0, 1, 3]


@pytest.mark.parametrize("loss", ["squared", "norm"])
@pytest.mark.parametrize("error_weight", [0.0, 2.0])
def test_groups_are_exact_problems_on_their_candidates(nearest, loss, error_weight):
    if loss == "norm" and error_weight:
        pytest.skip("its atoms are stored, and candidates refused")
    parameters = {"loss": loss, "error_weight": error_weight or None}
    problem = BlockProblem(
        X,
        X,
        OWN,
        np.ones(len(X)),
        Problem(10.0, 5.0, loss, "relative"),
        1e-6,
        error_weight,
        nearest,
    ).of_rows(OWN)  # in float64
    with ThreadTeam(1) as team:
        solved = problem.solve_on_candidates(slice(300, 400), team)
    rows = problem.candidates.order[300:400]
    groups = Groups.of_nearest(nearest.nearest[rows], GROUP_ROWS)
    assert solved.coefficients.shape == (100, len(X))
    assert (solved.certificate <= 1e-6).all()
    for number, (part, atoms) in enumerate(groups):
        place, columns = int(part.start) + number, groups.columns[atoms]
        own = columns[columns != rows[place]]
        exact = self_representation(
            problem.samples[rows[place : place + 1]], dictionary=problem.atoms[own], tol=1e-6,
            **parameters,
        )  # fmt: skip
        row = solved.coefficients[[place]].toarray().ravel()
        np.testing.assert_allclose(row[own], exact.coefficients.toarray().ravel(), atol=1e-4)
        assert np.count_nonzero(row) == np.count_nonzero(row[own])
        if error_weight:
            errors = solved.errors[[place]].toarray()
            np.testing.assert_allclose(errors, exact.sparse_errors.toarray(), atol=1e-4)


def test_samples_with_large_supports_are_solved_as_blocks(nearest, monkeypatch):
    """The result does not depend on which samples are solved with the Gram matrix alone."""
    problem = BlockProblem(
        X, X, OWN, np.ones(len(X)), Problem(10.0, 5.0, "squared", "relative"), 1e-6,
        candidates=nearest,
    ).of_rows(OWN)  # fmt: skip
    with ThreadTeam(1) as team:
        expected = problem.solve_on_candidates(slice(0, 128), team)
        monkeypatch.setattr(_groups, "_CAPACITY", 40)
        solved = problem.solve_on_candidates(slice(0, 128), team)
    assert np.diff(expected.coefficients.indptr).max() > 40
    assert (solved.certificate <= 1e-6).all()
    assert abs(solved.coefficients - expected.coefficients).max() < 1e-5


def test_samples_that_correlate_with_no_candidate():
    """A zero, and one that is orthogonal to its candidates but for rounding, have no non-zeros."""
    samples, atoms = X[:64].copy(), X[:4]
    basis = np.linalg.qr(atoms.T.astype(np.float64))[0]
    samples[5], samples[40] = 0, samples[40] - basis @ (basis.T @ samples[40])
    assert 0 < np.abs(samples[40] @ atoms.T).max() < 1e-6 * np.linalg.norm(samples[40])
    candidates = Candidates(np.arange(64), np.tile(np.arange(4, dtype=np.int32), (64, 1)))
    problem = BlockProblem(
        samples, atoms, np.full(64, -1), np.ones(len(atoms)),
        Problem(10.0, 5.0, "squared", "relative"), 1e-4, candidates=candidates,
    )  # fmt: skip
    with ThreadTeam(1) as team:
        solved = problem.solve_on_candidates(slice(0, 64), team)
    assert list(np.flatnonzero(np.diff(solved.coefficients.indptr) == 0)) == [5, 40]
    assert (solved.certificate <= 1e-4).all()


@pytest.mark.parametrize("with_errors", [False, True])
def test_blocks_are_stacked_in_the_order_of_the_samples(with_errors):
    rng = np.random.default_rng(0)
    Z, errors = (sparse.random_array((30, n), density=0.2, rng=rng, format="csr") for n in (50, 4))
    numbers = np.arange(30.0)
    own = errors if with_errors else None
    whole = SolvedRows(Z, numbers, numbers + 100, numbers + 200, numbers % 2 == 0, own)
    order = rng.permutation(30)
    stacked = stack_in_order([whole.take(part) for part in np.split(order, [7, 8, 20])], order)
    assert (stacked.coefficients != Z).nnz == 0
    assert stacked.coefficients.has_sorted_indices
    np.testing.assert_array_equal(stacked.certificate, numbers)
    np.testing.assert_array_equal(stacked.l1, numbers + 100)
    np.testing.assert_array_equal(stacked.ridge, numbers + 200)
    assert (stacked.errors is not None) == with_errors
    if with_errors:
        assert (stacked.errors != errors).nnz == 0


def test_check_is_that_of_the_optimality_conditions():
    representation = self_representation(X, n_candidates=15)
    checked = representation.approximation
    assert len(checked.rows) == len(np.unique(checked.rows)) == 1000
    Z, a, b = (
        part[checked.rows]
        for part in (
            representation.coefficients.toarray(),
            representation.l1_penalty,
            representation.ridge_penalty,
        )
    )
    correlations = (X[checked.rows] - Z @ X).astype(np.float64) @ X.T
    for place in range(0, 1000, 50):
        z, g = Z[place], correlations[place]
        violation = np.where(
            z == 0, np.abs(g) - a[place], np.abs(g - b[place] * z - a[place] * np.sign(z))
        )
        violation[checked.rows[place]] = 0
        expected = max(violation.max(), 0) / a[place]
        assert checked.certificate[place] == pytest.approx(expected, abs=2e-4)
    assert checked.share_within(np.inf) == 1
    assert checked.share_within(1e-3) == (checked.certificate <= 1e-3).mean()


def test_check_of_exact_rows_is_their_certificate(monkeypatch):
    """With all atoms as candidates the check agrees with the certificate of the solver."""
    monkeypatch.setattr(candidates_module, "_ATOMS_AT_ONCE", 100)
    few = X[:300]
    representation = self_representation(few, n_candidates=299)
    exact = self_representation(few)
    np.testing.assert_allclose(
        representation.coefficients.toarray(), exact.coefficients.toarray(), atol=1e-4
    )
    checked = representation.approximation
    assert checked.certificate.max() <= 2e-4
    assert checked.share_within(1e-3) == 1


@pytest.mark.parametrize("options", [{}, {"error_weight": 0.5}, {"loss": "norm", "gamma": 5.0}])
def test_more_candidates_are_closer_to_the_solution(options):
    medians = [
        np.median(
            self_representation(X[:900], n_candidates=count, **options).approximation.certificate
        )
        for count in (5, 30, 200)
    ]
    assert medians[0] > medians[1] > medians[2]


def test_new_samples():
    representation = self_representation(X[:300], dictionary=X[300:], n_candidates=30)
    assert representation.coefficients.shape == (300, len(X) - 300)
    assert representation.certificate.max() <= 1e-4
    exact = self_representation(X[:300], dictionary=X[300:])
    largest = [np.argmax(np.abs(Z.toarray()), axis=1) for Z in (
        representation.coefficients, exact.coefficients
    )]  # fmt: skip
    assert (largest[0] == largest[1]).mean() > 0.8


def test_rows_in_float64():
    options = {"gamma": 3000.0, "lam": 0.01, "tol": 1e-6}
    representation = self_representation(X[:600], n_candidates=20, **options)
    assert representation.certificate.max() <= 1e-6


def test_candidates_of_rows(nearest):
    rows = np.array([5, 900, 17, 1200])
    part = nearest.of_rows(rows)
    np.testing.assert_array_equal(part.nearest, nearest.nearest[rows])
    position = np.argsort(nearest.order)
    np.testing.assert_array_equal(np.argsort(position[rows]), part.order)


def test_result_does_not_depend_on_threads_and_goes_on(tmp_path):
    one = self_representation(X, n_candidates=30, n_jobs=1, checkpoint=tmp_path)
    next((tmp_path / "representation").glob("float32-*-0.npz")).unlink()
    two = self_representation(X, n_candidates=30, n_jobs=2, checkpoint=tmp_path)
    assert (one.coefficients != two.coefficients).nnz == 0
    with pytest.raises(InputError, match="n_candidates = 30, not 20"):
        self_representation(X, n_candidates=20, checkpoint=tmp_path)


def test_dask_workers():
    distributed = pytest.importorskip("distributed")
    threads = self_representation(X, n_candidates=30)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster:
        ours = self_representation(X, n_candidates=30, scheduler=cluster.get_client())
    assert (ours.coefficients != threads.coefficients).nnz == 0


def test_clusters_of_an_approximate_hypergraph():
    exact, near = (
        HypergraphClustering(
            10, structure=ElasticNetHypergraph(n_candidates=count), random_state=0
        ).fit(load_digits().data)
        for count in (None, 30)
    )
    assert near.representation_.approximation is not None
    assert clustering_accuracy(y, near.labels_) > clustering_accuracy(y, exact.labels_) - 0.01
    assert adjusted_rand_score(exact.labels_, near.labels_) > 0.9
    assert len(near.predict(load_digits().data[:20])) == 20


def test_automatic_above_a_number_of_samples(monkeypatch):
    monkeypatch.setattr(elastic_net, "_MAX_EXACT_ATOMS", 500)
    small, large = (ElasticNetHypergraph(preprocessing="zero_mean").fit(X[:n]) for n in (500, 501))
    assert small.representation_.approximation is None
    assert large.representation_.approximation is not None
    state = large.to_state()
    again = ElasticNetHypergraph.from_state(state).representation_.approximation
    np.testing.assert_array_equal(
        again.certificate, large.representation_.approximation.certificate
    )


def test_separate_clusters_stay_separate():
    points, labels = make_blobs(1500, 40, centers=6, cluster_std=0.5, random_state=0)
    structure = ElasticNetHypergraph(n_candidates=10).fit(points)
    predicted = HypergraphClustering(6, structure=structure.graph_, random_state=0).fit_predict(
        points
    )
    assert clustering_accuracy(labels, predicted) == 1


@pytest.mark.parametrize("count", [0, -3, 2.5, "many"])
def test_wrong_number(count):
    with pytest.raises(InputError, match="n_candidates must be"):
        ElasticNetHypergraph(n_candidates=count).fit(X[:50])
    with pytest.raises(InputError, match="n_candidates must be"):
        self_representation(X[:50], n_candidates=count)


def test_stored_errors_need_all_atoms():
    with pytest.raises(InputError, match=r"n_candidates must be None with loss=.norm."):
        self_representation(X[:50], n_candidates=5, loss="norm", error_weight=1.0)


def test_missing_index(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pynndescent", None)
    with pytest.raises(MissingDependencyError, match=r"needs pynndescent \(extra large\)"):
        self_representation(X[:50], n_candidates=5)


def test_samples_of_zeros_and_copies():
    samples = np.vstack([X[:100], np.zeros((3, 64), np.float32), X[:5], X[:5]])
    representation = self_representation(samples, n_candidates=10)
    assert representation.coefficients[[100, 101, 102]].nnz == 0
    assert np.isfinite(representation.approximation.certificate).all()


def test_fewer_atoms_than_candidates():
    representation = self_representation(X[:4], n_candidates=50)
    assert representation.certificate.max() <= 1e-4
    assert representation.approximation.share_within(1e-3) == 1


def test_damaged_state():
    order, some = np.arange(3), np.zeros((3, 2), np.int32)
    assert Candidates.from_state({"order": order, "nearest": some}, 3, 3).nearest is some
    for state in (
        {"order": np.zeros(3, int), "nearest": some},
        {"order": order, "nearest": some + 3},
        {"order": order, "nearest": some[:2]},
    ):
        with pytest.raises(InputError):
            Candidates.from_state(state, 3, 3)


def test_zeros_are_no_candidates():
    """The direction of a zero is none, but it would be nearer than samples of small cosines."""
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(600, 128))
    with_zeros = np.insert(samples, [5, 100, 600], 0, axis=0)
    zero = np.flatnonzero(~with_zeros.any(axis=1))
    plain = self_representation(samples, n_candidates=15)
    Z = self_representation(with_zeros, n_candidates=15).coefficients
    assert not np.isin(Z.indices, zero).any()
    assert list(np.flatnonzero(np.diff(Z.indptr) == 0)) == list(zero)
    assert Z.nnz > 0.95 * plain.coefficients.nnz


def test_all_zeros():
    representation = self_representation(np.zeros((40, 3)), n_candidates=5)
    assert representation.coefficients.nnz == 0
    but_one = np.zeros((40, 3))
    but_one[7] = 1
    assert self_representation(but_one, n_candidates=5).coefficients.nnz == 0


@pytest.mark.parametrize("n_atoms", [1, 2, 10])
def test_few_atoms_of_a_dictionary(n_atoms):
    """All of them are candidates, and the check over all atoms agrees."""
    atoms = X[300 : 300 + n_atoms]
    representation = self_representation(X[:50], dictionary=atoms, n_candidates=15)
    exact = self_representation(X[:50], dictionary=atoms)
    assert abs(representation.coefficients - exact.coefficients).max() < 1e-3
    assert representation.approximation.certificate.max() < 1e-3


def test_more_threads_than_cores():
    representation = self_representation(X[:200], n_candidates=5, n_jobs=64)
    assert representation.coefficients.shape == (200, 200)


def test_blocks_of_other_candidates_are_not_used(tmp_path):
    """Where the candidates are lost, and found anew with another number of threads."""
    self_representation(X[:600], n_candidates=15, n_jobs=2, checkpoint=tmp_path)
    (tmp_path / "representation" / "candidates.npz").write_bytes(b"damaged")
    resumed = self_representation(X[:600], n_candidates=15, n_jobs=1, checkpoint=tmp_path)
    expected = self_representation(X[:600], n_candidates=15, n_jobs=1)
    assert (resumed.coefficients != expected.coefficients).nnz == 0


def test_a_block_in_the_place_of_another_is_computed_again(tmp_path):
    expected = self_representation(X[:1500], n_candidates=15, checkpoint=tmp_path).coefficients
    first, second, *_ = sorted((tmp_path / "representation").glob("float32-*-[0-9].npz"))
    second.write_bytes(first.read_bytes())
    again = self_representation(X[:1500], n_candidates=15, checkpoint=tmp_path).coefficients
    assert (again != expected).nnz == 0


def test_candidates_are_distinct_atoms():
    X = np.repeat(samples(60, 10), 20, axis=0)
    result = self_representation(X, gamma=10, lam=1, n_candidates=15, n_jobs=1)
    assert result.certificate.max() <= TOL
    assert np.isfinite(result.approximation.certificate).all()
    # Fifteen atoms would all be copies of the sample.
    places = np.arange(len(X)) // 20
    row = result.coefficients[[0]].tocoo()
    assert len(set(places[row.coords[1]])) > 1
    # Its copies are candidates of a sample even where no other sample of its group has them.
    alone = np.vstack([samples(60, 10), -5 * np.eye(10)[[0, 0]]])
    coefficients = self_representation(alone, gamma=10, lam=1, n_candidates=1).coefficients
    assert coefficients[60, 61] == coefficients[61, 60] > 0.5
    assert result.approximation.share_within(TOL) > 0.9
