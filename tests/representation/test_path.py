"""LARS-EN paths against hand calculation, optimality conditions, and scikit-learn."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.io import loadmat
from sklearn.linear_model import ElasticNet, Lasso, lars_path

from enhg.exceptions import InputError
from enhg.representation.path import ElasticNetPath, PathEvent, elastic_net_path

# Entry, exit, and entry again with the other sign, all of it worked out by hand: the sample
# (−3, 0) over the atoms (−2, 1) and (−3, 2).
EXIT_EXAMPLE = np.array([[-3.0, 0.0], [-2.0, 1.0], [-3.0, 2.0]])


def gaussian(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(n, d))


def without(X: np.ndarray, i: int) -> np.ndarray:
    return np.delete(X, i, axis=0)


def points(path: ElasticNetPath) -> tuple[np.ndarray, np.ndarray]:
    """Penalties and solutions at all breakpoints and at the middles between them."""
    a = path.alphas
    z = path.coefficients.toarray()
    middles = (a[:-1] + a[1:]) / 2
    return np.append(a, middles), np.vstack([z, *(path.at(middle) for middle in middles)])


def violation(atoms: np.ndarray, target: np.ndarray, path: ElasticNetPath) -> float:
    """Largest violation of the optimality conditions by any atom at any point of the path.

    Relative to the largest product of lengths, the scale of the correlations' rounding errors.
    """
    a, z = points(path)
    slack = (target - z @ atoms) @ atoms.T - path.ridge * z
    at_zero = np.abs(slack) - a[:, None]
    elsewhere = np.abs(slack - a[:, None] * np.sign(z))
    scale = np.linalg.norm(target) * np.linalg.norm(atoms, axis=1).max()
    return float(np.where(z == 0, at_zero, elsewhere).max() / scale)


def own_violation(X: np.ndarray, path: ElasticNetPath) -> float:
    """`violation` of a path that represents a sample by the others."""
    i = path.index
    assert not path.coefficients[:, [i]].nnz
    others = ElasticNetPath(
        path.alphas, path.coefficients[:, np.arange(len(X)) != i], path.events, i, path.ridge
    )
    return violation(without(X, i), X[i], others)


def assert_events_match_supports(path: ElasticNetPath) -> None:
    support: set[int] = set()
    for step, (upper, lower) in enumerate(pairwise(path.alphas)):
        for event in path.events:
            if event.step == step:
                # Entering twice or leaving from outside would be a contradiction in itself.
                assert (event.atom in support) == (event.kind == "leave")
                support ^= {event.atom}
        inside = np.flatnonzero(path.at((upper + lower) / 2))
        assert set(inside.tolist()) == support
    assert max(event.step for event in path.events) < len(path.alphas) - 1


def left(path: ElasticNetPath) -> list[PathEvent]:
    return [event for event in path.events if event.kind == "leave"]


# Hand calculation


def test_exit_and_entry_with_the_other_sign_by_hand() -> None:
    path = elastic_net_path(EXIT_EXAMPLE, 0)
    np.testing.assert_allclose(path.alphas, [9, 6 / 5, 1, 3 / 13, 0], rtol=1e-13)
    expected = [[0, 0, 0], [0, 0, 3 / 5], [0, 1, 0], [0, 15 / 13, 0], [0, 6, -3]]
    np.testing.assert_allclose(path.coefficients.toarray(), expected, rtol=1e-12, atol=1e-13)
    assert path.events == (
        PathEvent(0, 2, "enter"),
        PathEvent(1, 1, "enter"),
        PathEvent(2, 2, "leave"),
        PathEvent(3, 2, "enter"),
    )
    np.testing.assert_allclose(path.fraction, np.array([0, 3 / 5, 1, 15 / 13, 9]) / 9)


def test_orthonormal_atoms_are_soft_thresholded() -> None:
    atoms, ridge = np.eye(4), 0.5
    target = np.array([3.0, -2.0, 1.0, 0.0])
    path = elastic_net_path(target[None], 0, ridge, dictionary=atoms)
    np.testing.assert_allclose(path.alphas, [3, 2, 1, 0])
    for a in (2.5, 1.3, 0.4, 0.0):
        soft = np.sign(target) * np.maximum(np.abs(target) - a, 0) / (1 + ridge)
        np.testing.assert_allclose(path.at(a), soft, atol=1e-14)


# scikit-learn


@pytest.mark.parametrize(("n", "d"), [(40, 15), (15, 40), (25, 25)])
def test_lasso_equals_lars_path(n: int, d: int) -> None:
    X = gaussian(n, d)
    path = elastic_net_path(X, 3)
    alphas, _, coefficients = lars_path(without(X, 3).T, X[3], method="lasso")
    a = alphas * d
    np.testing.assert_allclose(path.alphas, a, atol=1e-9)
    middles = (a[:-1] + a[1:]) / 2
    between = (coefficients[:, :-1] + coefficients[:, 1:]) / 2
    for at, reference in zip([*a, *middles], [*coefficients.T, *between.T], strict=True):
        np.testing.assert_allclose(np.delete(path.at(at), 3), reference, atol=1e-9)


@pytest.mark.parametrize("ridge", [1e-2, 1.0, 30.0])
@pytest.mark.parametrize(("n", "d"), [(40, 15), (15, 40)])
def test_elastic_net_equals_lars_path_on_augmented_data(n: int, d: int, ridge: float) -> None:
    X = gaussian(n, d, seed=1)
    path = elastic_net_path(X, 0, ridge)
    design = np.vstack([X[1:].T, np.sqrt(ridge) * np.eye(n - 1)])
    target = np.append(X[0], np.zeros(n - 1))
    alphas, _, coefficients = lars_path(design, target, method="lasso")
    assert len(path.alphas) == len(alphas)
    np.testing.assert_allclose(path.alphas, alphas * len(target), atol=1e-9)
    np.testing.assert_allclose(path.coefficients.toarray()[:, 1:], coefficients.T, atol=1e-9)


@pytest.mark.parametrize("ridge", [0.0, 0.5, 10.0])
@pytest.mark.parametrize(("n", "d"), [(40, 15), (15, 40)])
def test_equals_coordinate_descent(n: int, d: int, ridge: float) -> None:
    X = gaussian(n, d, seed=2)
    path = elastic_net_path(X, n - 1, ridge)
    for a in path.alphas[0] * np.array([0.9, 0.5, 0.1]):
        options = {"fit_intercept": False, "tol": 1e-14, "max_iter": 10**6}
        if ridge == 0:
            model = Lasso(alpha=a / d, **options)
        else:
            model = ElasticNet(alpha=(a + ridge) / d, l1_ratio=a / (a + ridge), **options)
        reference = model.fit(X[:-1].T, X[-1]).coef_
        assert np.count_nonzero(reference)
        np.testing.assert_allclose(path.at(a)[:-1], reference, atol=1e-7)


# Optimality of every point, by the conditions themselves


@pytest.mark.parametrize("ridge", [0.0, 1e-3, 2.0])
@pytest.mark.parametrize(("n", "d"), [(60, 20), (20, 60)])
def test_optimal_everywhere_and_events_match(n: int, d: int, ridge: float) -> None:
    X = gaussian(n, d, seed=3)
    path = elastic_net_path(X, 5, ridge)
    assert path.alphas[-1] == 0
    assert np.all(np.diff(path.alphas) < 0)
    assert own_violation(X, path) < 1e-12
    assert_events_match_supports(path)


def test_errors_do_not_build_up_over_hundreds_of_steps() -> None:
    X = gaussian(800, 300, seed=4) + 30  # nearly parallel samples, many exits
    path = elastic_net_path(X, 0)
    assert len(left(path)) > 50
    assert any(
        event.kind == "enter" and event.atom == gone.atom and event.step > gone.step
        for gone in left(path)
        for event in path.events
    )
    assert own_violation(X, path) < 3e-15
    assert_events_match_supports(path)


@given(
    X=st.tuples(st.integers(2, 9), st.integers(1, 6)).flatmap(
        lambda shape: hnp.arrays(np.float64, shape, elements=st.integers(-2, 2).map(float))
    ),
    ridge=st.sampled_from([0.0, 0.25, 3.0]),
)
@settings(deadline=None, max_examples=150)
def test_small_integers_full_of_ties_and_duplicates(X: np.ndarray, ridge: float) -> None:
    path = elastic_net_path(X, 0, ridge)
    assert path.alphas[0] == np.abs(X[1:] @ X[0]).max()
    assert path.alphas[-1] == 0
    if path.alphas[0] == 0:
        assert path.events == ()
    else:
        assert own_violation(X, path) < 1e-12
        assert_events_match_supports(path)
    if ridge == 0:  # the end is a least squares fit
        best = np.linalg.lstsq(X[1:].T, X[0])[0]
        np.testing.assert_allclose(path.at(0.0) @ X, best @ X[1:], atol=1e-9)


# Degenerate data


@pytest.mark.parametrize("i", [0, 12])
def test_second_duplicate_stays_out_of_the_lasso(i: int) -> None:
    X = gaussian(10, 6, seed=5)
    doubled = np.vstack([X, X[1:5], -X[5:8]])  # rows 10 to 13 and 14 to 16
    path = elastic_net_path(doubled, i)
    z = path.coefficients.toarray()
    twins = [(1 + k, 10 + k) for k in range(4)] + [(5 + k, 14 + k) for k in range(3)]
    assert not any(np.any(z[:, j] * z[:, twin]) for j, twin in twins)
    assert own_violation(doubled, path) < 1e-12
    assert_events_match_supports(path)
    if i == 0:
        single = elastic_net_path(X, 0)
        np.testing.assert_allclose(path.alphas, single.alphas, atol=1e-11)
        for a in points(single)[0]:
            merged = path.at(a)[:10]
            merged[1:5] += path.at(a)[10:14]
            merged[5:8] -= path.at(a)[14:]
            np.testing.assert_allclose(merged, single.at(a), atol=1e-10)


@pytest.mark.parametrize("seed", [24, 40, 60, 68, 75, 139, 189, 290])
def test_binary_samples_with_many_atoms_tied_at_once(seed: int) -> None:
    # From a search over seeds: where leaving out one part of the handling of ties shows.
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(rng.integers(3, 40), rng.integers(2, 20))).astype(float)
    path = elastic_net_path(X, 0)
    assert own_violation(X, path) < 1e-12
    assert_events_match_supports(path)


@pytest.mark.parametrize("seed", [139, 366, 422, 782, 845, 1164, 1403, 3510])
def test_near_duplicates_at_the_limit_of_float64(seed: int) -> None:
    # From a search over seeds, like the one above: distances from 1e-14 to 1e-4.
    rng = np.random.default_rng(seed)
    n, d = rng.integers(3, 40), rng.integers(2, 20)
    X = rng.normal(size=(n, d))[rng.integers(0, max(1, n // 2), size=n)]
    X += 10.0 ** rng.integers(-14, -3) * rng.normal(size=(n, d))
    path = elastic_net_path(X, 0)
    assert path.alphas[-1] == 0
    assert np.all(np.diff(path.alphas) < 0)
    assert own_violation(X, path) < 1e-5


def test_duplicates_share_their_weight_under_a_ridge() -> None:
    X = gaussian(10, 6, seed=6)
    X = np.vstack([X, X[4], -X[4]])
    path = elastic_net_path(X, 0, ridge=0.3)
    z = path.coefficients.toarray()
    assert np.abs(z[:, 4]).max() > 0.01
    np.testing.assert_allclose(z[:, 10], z[:, 4], atol=1e-13)
    np.testing.assert_allclose(z[:, 11], -z[:, 4], atol=1e-13)
    entries = {event.step for event in path.events if event.atom in (4, 10, 11)}
    assert len(entries) == 1
    assert own_violation(X, path) < 1e-12


def test_a_copy_of_the_sample_is_used_alone() -> None:
    X = np.vstack([gaussian(8, 5, seed=7), gaussian(8, 5, seed=7)])
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    path = elastic_net_path(X, 2)
    np.testing.assert_allclose(path.alphas, [1, 0])
    np.testing.assert_allclose(path.at(0.25), 0.75 * (np.arange(16) == 10), atol=1e-13)


@pytest.mark.parametrize("extra", [0, 10])
def test_exact_combination_ends_without_residual(extra: int) -> None:
    X = gaussian(6 + extra, 12, seed=8)  # in all fewer and more samples than features
    X[0] = 2 * X[1] - X[2] + 0.5 * X[3]
    path = elastic_net_path(X, 0)
    assert path.alphas[-1] == 0
    np.testing.assert_allclose(path.at(0.0) @ X, X[0], atol=1e-11)
    if not extra:  # independent atoms: the combination is the only one
        np.testing.assert_allclose(path.at(0.0), [0, 2, -1, 0.5, 0, 0], atol=1e-11)
        # Another atom was active until the end: no rounding error of it may stay behind.
        assert {event.atom for event in path.events} == {1, 2, 3, 4}
        assert np.flatnonzero(path.at(0.0)).tolist() == [1, 2, 3]
    assert own_violation(X, path) < 1e-12


def test_lasso_ends_when_the_active_atoms_span_the_data() -> None:
    X = gaussian(50, 4, seed=9) @ gaussian(4, 20, seed=10)  # rank 4
    path = elastic_net_path(X, 0)
    assert np.diff(path.coefficients.indptr).max() == 4
    assert own_violation(X, path) < 1e-12
    np.testing.assert_allclose(path.at(0.0) @ X, X[0], atol=1e-9)


@pytest.mark.parametrize("ridge", [0.0, 1.0])
@pytest.mark.parametrize("target", [[0.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
def test_zero_sample_and_orthogonal_sample_stay_zero(target: list[float], ridge: float) -> None:
    X = np.array([target, [1.0, 2.0, 0.0], [3.0, -1.0, 0.0], [0.0, 0.0, 0.0]])
    path = elastic_net_path(X, 0, ridge)
    assert path.alphas.tolist() == [0.0]
    assert path.events == ()
    assert not path.at(0.0).any()
    assert path.fraction.tolist() == [0.0]


def test_sample_orthogonal_up_to_rounding_stays_zero() -> None:
    basis = np.linalg.qr(gaussian(20, 20, seed=11))[0]
    X = np.vstack([basis[0], gaussian(15, 19, seed=12) @ basis[1:]])
    assert np.abs(X[1:] @ X[0]).max() > 0
    path = elastic_net_path(X, 0)
    assert path.alphas.tolist() == [0.0]
    assert not path.at(0.0).any()


# Equivalences


def test_dictionary_of_the_other_samples_gives_the_same_path() -> None:
    X = gaussian(20, 10, seed=13)
    whole = elastic_net_path(X, 4, 0.1)
    over = elastic_net_path(X[[4]], 0, 0.1, dictionary=without(X, 4))
    np.testing.assert_allclose(over.alphas, whole.alphas, atol=1e-12)
    np.testing.assert_allclose(over.at(0.5), np.delete(whole.at(0.5), 4), atol=1e-12)


def test_dictionary_excludes_nothing() -> None:
    X = gaussian(5, 3, seed=14)
    path = elastic_net_path(X, 1, dictionary=X)
    assert violation(X, X[1], path) < 1e-12
    np.testing.assert_allclose(path.at(0.0) @ X, X[1], atol=1e-12)
    assert path.coefficients[:, [1]].nnz


@given(st.integers(0, 10**6), st.sampled_from([1e-5, 0.1, 255.0, 1e6]))
@settings(deadline=None, max_examples=15)
def test_scaling_the_data_scales_the_penalties(seed: int, c: float) -> None:
    X = gaussian(12, 8, seed)
    path = elastic_net_path(X, 0, 0.2)
    scaled = elastic_net_path(c * X, 0, 0.2 * c**2)
    np.testing.assert_allclose(scaled.alphas, c**2 * path.alphas, atol=1e-9 * c**2)
    np.testing.assert_allclose(scaled.at(c**2 * 0.3), path.at(0.3), atol=1e-9)


def test_stopping_early_gives_the_beginning_of_the_path() -> None:
    X = gaussian(30, 12, seed=15)
    whole = elastic_net_path(X, 0)
    alpha_min = float(whole.alphas[4:6].mean())
    to_penalty = elastic_net_path(X, 0, alpha_min=alpha_min)
    after_steps = elastic_net_path(X, 0, max_steps=4)
    for short in (to_penalty, after_steps):
        np.testing.assert_array_equal(short.alphas[:5], whole.alphas[:5])
        np.testing.assert_array_equal(
            short.coefficients[:5].toarray(), whole.coefficients[:5].toarray()
        )
    assert len(after_steps.alphas) == 5
    assert to_penalty.alphas[-1] == alpha_min
    np.testing.assert_allclose(to_penalty.at(alpha_min), whole.at(alpha_min), atol=1e-13)
    none = elastic_net_path(X, 0, alpha_min=whole.alphas[0] + 1)
    assert not none.at(whole.alphas[0] + 1).any()


def test_input_is_not_changed_and_integers_are_accepted() -> None:
    X = np.array([[2, 1], [1, 3], [0, 1]])
    before = X.copy()
    path = elastic_net_path(X, 0, 0.5)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(path.at(0.1), elastic_net_path(X.astype(float), 0, 0.5).at(0.1))


# The result object


def test_at_above_and_below_the_path() -> None:
    path = elastic_net_path(EXIT_EXAMPLE, 0, alpha_min=1.0)
    assert not path.at(9.0).any()
    assert not path.at(1e9).any()
    np.testing.assert_allclose(path.at(1.1), [0, 0.5, 0.3], atol=1e-14)  # 6 − 5a and 3a − 3
    with pytest.raises(
        InputError, match=r"alpha must be at least 1\.0, where the path ends, got 0\.5"
    ):
        path.at(0.5)
    with pytest.raises(InputError, match="got nan"):
        path.at(float("nan"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"index": 3}, r"index must be a whole number from 0 to 2 \(rows of X\), got 3"),
        ({"index": -1}, r"index must be a whole number from 0 to 2 \(rows of X\), got -1"),
        ({"index": 0.5}, "index must be a whole number .* got 0.5"),
        ({"ridge": "a"}, "ridge must be a number of at least 0, got 'a'"),
        ({"ridge": -0.5}, "ridge must be a number of at least 0, got -0.5"),
        ({"ridge": float("nan")}, "ridge must be .* got nan"),
        ({"alpha_min": -1.0}, "alpha_min must be a number of at least 0, got -1.0"),
        ({"max_steps": 0}, "max_steps must be a whole number of at least 1, got 0"),
        (
            {"dictionary": np.ones((4, 3))},
            r"dictionary must have as many features as X \(2\), got 3",
        ),
        ({"dictionary": np.full((4, 2), np.inf)}, "dictionary contains infinity"),
        ({"X": [1.0, 2.0]}, "2D array, got 1D"),
        ({"X": [[1.0, 2.0]]}, "minimum of 2"),
        ({"X": np.empty((3, 0))}, "0 feature"),
        ({"X": [[1.0, 2.0], [3.0, np.nan]]}, "X contains NaN"),
        ({"X": np.full((3, 2), 1e200)}, "X must have products within .* entry of 1e.200 in row 0"),
        ({"X": EXIT_EXAMPLE * 1e-160}, "X must have products within .*scale the samples first"),
        ({"X": EXIT_EXAMPLE * 1e-200}, "X must have products within .*scale the samples first"),
        ({"dictionary": np.full((4, 2), 1e-200)}, "dictionary must have products within"),
    ],
)
def test_bad_arguments_are_named(arguments: dict, message: str) -> None:
    call = {"X": EXIT_EXAMPLE, "index": 0, **arguments}
    with pytest.raises(InputError, match=message):
        elastic_net_path(**call)


# Real faces


@pytest.fixture(scope="module")
def faces() -> np.ndarray:
    """Extended Yale B, the first four subjects, unit length."""
    beside = Path(__file__).parents[3] / "shared" / "data"
    file = Path(os.environ.get("ENHG_DATA", beside)) / "YaleB_32x32.mat"
    if not file.exists():
        pytest.skip(f"no {file.name} in ENHG_DATA or in shared/data beside the repository")
    content = loadmat(file)
    X = content["features"].T[content["Label"].ravel() <= 4].astype(np.float64)
    assert X.shape == (256, 1024)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("ridge", [0.0, 0.1])
def test_faces(faces: np.ndarray, ridge: float) -> None:
    path = elastic_net_path(faces, 4, ridge)
    assert own_violation(faces, path) < 1e-12
    assert_events_match_supports(path)
    assert left(path)
    design = np.vstack([without(faces, 4).T, np.sqrt(ridge) * np.eye(255)])
    target = np.append(faces[4], np.zeros(255))
    alphas, _, coefficients = lars_path(design, target, method="lasso")
    for alpha, reference in zip(alphas, coefficients.T, strict=True):
        np.testing.assert_allclose(np.delete(path.at(alpha * len(target)), 4), reference, atol=1e-8)
