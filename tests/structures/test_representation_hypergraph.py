"""New samples, reconstruction, residuals and outlier scores of `ElasticNetHypergraph`."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from enhg import ElasticNetHypergraph, HyperedgeRule
from enhg.exceptions import InputError
from enhg.preprocessing import SampleNormalizer
from enhg.structures import _outliers
from enhg.structures._outliers import largest_cosines

# --- new samples ----------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["soft", "binary"])
def fitted(request, samples):
    rule = HyperedgeRule(membership=request.param)
    return ElasticNetHypergraph(hyperedges=rule).fit(samples)


def test_new_samples_belong_to_their_subspace(fitted, union_of_subspaces):
    X, y = union_of_subspaces(7, n_subspaces=3, per_subspace=20)
    structure = clone(fitted).fit(X[:40])
    memberships = structure.attach(X[40:]).memberships
    assert memberships.shape == (20, 40)
    assert memberships.data.min() > 0
    assert memberships.data.max() <= 1
    right = memberships.toarray() * (y[40:, None] == y[:40])
    assert right.sum() > 0.9 * memberships.sum()
    if structure.hyperedges.membership == "binary":
        # the mean over three hyperedges
        assert set((3 * memberships.data).round(9)) == {1, 2, 3}
    else:
        np.testing.assert_allclose(memberships.sum(axis=1), 1)


def test_a_sample_of_fit_is_a_member_of_its_own_hyperedge(fitted):
    X = np.random.default_rng(5).normal(size=(60, 50))
    memberships = clone(fitted).fit(X).attach(X).memberships.toarray()
    assert np.diag(memberships).min() > 0
    if fitted.hyperedges.membership == "soft":
        np.testing.assert_array_equal(memberships.argmax(axis=1), np.arange(60))


def test_the_lasso_represents_a_sample_of_fit_by_itself_alone(fitted):
    """At λ = 0, z = (1 − a)·eᵢ is optimal: its residual a·xᵢ correlates less with all others."""
    X = np.random.default_rng(5).normal(size=(60, 50))
    structure = clone(fitted).set_params(lam=0, tol=1e-6).fit(X)
    np.testing.assert_array_equal(structure.attach(X).memberships.toarray(), np.eye(60))


def test_new_samples_are_preprocessed_like_those_of_fit(samples):
    structure = ElasticNetHypergraph(preprocessing="lift", tol=1e-8).fit(samples[:, :4])
    many = structure.attach(samples[:10, :4]).memberships.toarray()
    one = structure.attach(samples[3:4, :4]).memberships.toarray()
    np.testing.assert_allclose(one[0], many[3], atol=1e-6)


def test_symmetrize_does_not_apply_to_new_samples(samples):
    plain = ElasticNetHypergraph().fit(samples[:30])
    both = ElasticNetHypergraph(hyperedges=HyperedgeRule(symmetrize=True)).fit(samples[:30])
    expected = plain.attach(samples[30:]).memberships.toarray()
    np.testing.assert_array_equal(both.attach(samples[30:]).memberships.toarray(), expected)


def test_a_new_sample_without_direction_has_no_members(fitted, samples):
    with pytest.warns(UserWarning, match="1 of 1 samples are constant"):
        memberships = fitted.attach(np.full((1, samples.shape[1]), 2.0)).memberships
    assert memberships.nnz == 0


def test_new_samples_of_another_width(fitted):
    with pytest.raises(ValueError, match="X must have the 50 features of fit, got 49"):
        fitted.attach(np.ones((2, 49)))


@pytest.mark.parametrize("method", ["attach", "reconstruct", "to_state"])
def test_methods_need_fit(samples, method):
    arguments = () if method == "to_state" else ([0],)
    with pytest.raises(NotFittedError):
        getattr(ElasticNetHypergraph(), method)(*arguments)


# --- reconstruction and residuals -----------------------------------------------------------------


@pytest.mark.parametrize("preprocessing", ["zero_mean", "whiten", "none"])
def test_relative_residuals(samples, preprocessing):
    X = np.vstack([samples, np.zeros(samples.shape[1])])
    with pytest.warns(UserWarning, match="1 of 37 samples are"):
        structure = ElasticNetHypergraph(gamma=3, preprocessing=preprocessing).fit(X)
    ready = structure.preprocessing_.transform(X[:-1])
    Z = structure.representation_.coefficients.toarray()[:-1, :-1]
    expected = np.linalg.norm(ready - Z @ ready, axis=1) / np.linalg.norm(ready, axis=1)
    residuals = structure.relative_residuals_
    np.testing.assert_allclose(residuals[:-1], expected, rtol=1e-9)
    assert residuals[-1] == 0
    np.testing.assert_array_equal(residuals, structure.representation_.relative_residuals)
    assert not hasattr(ElasticNetHypergraph(), "relative_residuals_")


def test_reconstructions_are_in_the_units_of_the_samples(samples):
    X = 40 * samples + 300
    structure = ElasticNetHypergraph(gamma=5).fit(X)
    Z = structure.representation_.coefficients.toarray()
    everything = structure.reconstruct()
    assert everything.shape == X.shape
    for i in range(len(X)):
        y = Z[i] @ X
        design = np.column_stack([np.ones_like(y), y - y.mean()])
        expected = design @ np.linalg.lstsq(design, X[i], rcond=None)[0]
        np.testing.assert_allclose(everything[i], expected, rtol=1e-9)


@pytest.mark.parametrize("exponent", [-1000, -540, 540, 1000])
def test_reconstructions_have_the_scale_of_the_samples(samples, exponent):
    X = np.vstack([samples, np.zeros_like(samples[:1])])
    expected = ElasticNetHypergraph().fit(X).reconstruct()
    scaled = ElasticNetHypergraph().fit(np.ldexp(X, exponent)).reconstruct()
    np.testing.assert_allclose(np.ldexp(scaled, -exponent), expected, atol=1e-8)


def test_rows_to_reconstruct(samples):
    structure = ElasticNetHypergraph().fit(samples)
    everything = structure.reconstruct()
    np.testing.assert_array_equal(structure.reconstruct([5, 2]), everything[[5, 2]])
    np.testing.assert_array_equal(structure.reconstruct(3), everything[[3]])
    mask = np.arange(len(samples)) % 3 == 0
    np.testing.assert_array_equal(structure.reconstruct(mask), everything[mask])
    assert structure.reconstruct([]).shape == (0, samples.shape[1])
    np.testing.assert_array_equal(structure.reconstruct([-1]), everything[-1:])


@pytest.mark.parametrize(
    ("rows", "value"),
    [
        ([36], r"\[36\]"),
        ([0, -37], r"\[-37\]"),
        ([1.0], r"shape \(1,\) and dtype float64"),
        (["a"], r"shape \(1,\) and dtype <U1"),
        ([True, False], r"shape \(2,\) and dtype bool"),
        ([[1, 2]], r"shape \(1, 2\) and dtype int64"),
    ],
)
def test_rows_that_cannot_be_reconstructed(samples, rows, value):
    structure = ElasticNetHypergraph().fit(samples)
    message = f"rows must be indices of the 36 samples or a mask of as many booleans, got {value}"
    with pytest.raises(InputError, match=message) as caught:
        structure.reconstruct(rows)
    assert caught.value.parameter == "rows"


def test_a_sample_without_representation_is_reconstructed_as_its_mean(samples):
    X = np.vstack([samples, np.full(samples.shape[1], 7.0)])
    with pytest.warns(UserWarning, match="constant"):
        structure = ElasticNetHypergraph().fit(X)
    np.testing.assert_allclose(structure.reconstruct([-1]), 7)


# --- outlier scores -------------------------------------------------------------------------------


def cosines(one, other):
    lengths = np.outer(np.linalg.norm(one, axis=1), np.linalg.norm(other, axis=1))
    return np.abs(one @ other.T) / np.where(lengths > 0, lengths, 1)


def scores_by_definition(structure, members, X, *, held_out):
    """`outlier_scores_`, sample by sample from its formula."""
    spaces = [structure.preprocessing_]
    if type(structure.preprocessing_).__name__ == "Whitening":
        spaces.append(SampleNormalizer().fit(X))
    scores = []
    for number, space in enumerate(spaces):
        ready, atoms = space.transform(X), space.transform(structure.samples_)
        similarity = cosines(ready, atoms)
        if held_out:
            np.fill_diagonal(similarity, 0)
        pairs = zip(similarity, members, strict=True)
        chosen = [row[list(m)].max() if m else row.max() for row, m in pairs]
        if structure.error_weight_ is not None and number == 0:
            lengths = np.linalg.norm(ready, axis=1)
            single = np.abs(ready).max(axis=1) / np.where(lengths > 0, lengths, 1)
            chosen = np.maximum(chosen, np.minimum(single / structure.error_weight_, 1))
        scores.append(1 - np.array(chosen))
    return np.mean(scores, axis=0)


@pytest.mark.parametrize(
    "options",
    [
        {"preprocessing": "zero_mean"},
        {"preprocessing": "zero_mean", "error_weight": 0.4},
        {"preprocessing": "whiten"},
        {"preprocessing": "whiten", "error_weight": None},
        {"preprocessing": "none"},
    ],
    ids=str,
)
def test_outlier_scores_follow_their_formula(samples, options):
    rng = np.random.default_rng(99)
    X = np.vstack([samples, rng.normal(size=(2, samples.shape[1]))])
    structure = ElasticNetHypergraph(hyperedges=HyperedgeRule("top", 4), **options).fit(X)
    members = [set(edge) - {i} for i, edge in enumerate(structure.graph_.edges())]
    expected = scores_by_definition(structure, members, X, held_out=True)
    np.testing.assert_allclose(structure.outlier_scores_, expected, atol=1e-9)
    new = np.vstack([samples[:5] + 0.1 * rng.normal(size=samples[:5].shape), X[-1:]])
    attachment = structure.attach(new)
    members = [set(row.indices) for row in attachment.memberships]
    expected = scores_by_definition(structure, members, new, held_out=False)
    np.testing.assert_allclose(attachment.outlier_scores, expected, atol=1e-9)


def test_copies_score_zero_and_strangers_high(samples):
    rng = np.random.default_rng(99)
    X = np.vstack([samples, samples[:1], rng.normal(size=(1, samples.shape[1]))])
    scores = ElasticNetHypergraph(preprocessing="zero_mean").fit(X).outlier_scores_
    np.testing.assert_allclose(scores[[0, -2]], 0, atol=1e-12)
    assert scores.argmax() == len(X) - 1
    assert scores[-1] > 0.5


@pytest.mark.filterwarnings("ignore:.*samples are (constant|not represented)")
@pytest.mark.parametrize("preprocessing", ["zero_mean", "whiten"])
def test_constant_copies_score_zero_and_other_constant_samples_one(samples, preprocessing):
    constant = np.repeat([[7.0], [7.0], [3.0], [-2.0]], samples.shape[1], axis=1)
    X = np.vstack([samples, constant])
    structure = ElasticNetHypergraph(preprocessing=preprocessing).fit(X)
    np.testing.assert_array_equal(structure.outlier_scores_[-4:], [0, 0, 1, 1])
    new = np.vstack([constant[1:], constant[1:] + 1])
    np.testing.assert_array_equal(structure.attach(new).outlier_scores, [0, 0, 0, 1, 1, 1])


def test_samples_without_members_are_compared_with_all():
    X = np.array([[1.0, 0.0], [0.6, 0.8], [0.0, 0.0]])
    members = sparse.csr_array((3, 3))
    np.testing.assert_allclose(largest_cosines(X, X, members, held_out=True), [0.6, 0.6, 0])
    np.testing.assert_allclose(largest_cosines(X, X, members, held_out=False), [1, 1, 0])


def test_samples_without_members_are_compared_with_many_in_blocks(monkeypatch):
    X = np.random.default_rng(0).normal(size=(50, 6))
    members = sparse.csr_array((50, 50))
    expected = largest_cosines(X, X, members, held_out=True)
    monkeypatch.setattr(_outliers, "_COSINES_AT_ONCE", 20)  # fewer than samples
    np.testing.assert_allclose(largest_cosines(X, X, members, held_out=True), expected)
    cosines = np.abs(X @ X.T)
    lengths = np.linalg.norm(X, axis=1)
    cosines /= np.outer(lengths, lengths)
    np.fill_diagonal(cosines, 0)
    np.testing.assert_allclose(expected, cosines.max(axis=1))
