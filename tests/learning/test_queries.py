"""The choice of samples to be labeled."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from enhg import ElasticNetHypergraph, HypergraphClassifier, HypergraphClustering
from enhg.exceptions import InputError
from enhg.learning.queries import _LABEL_NOISE, _MIN_AMBIGUITY, select_queries
from enhg.learning.spectral import Spectrum, top_eigenpairs


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X, y, ElasticNetHypergraph().fit(X).graph_


def test_choice_is_the_one_that_lowers_the_variance_most(digits):
    """Against the full covariance and the textbook formula of a Gaussian's posterior."""
    _, _, graph = digits
    spectrum = top_eigenpairs(graph, 20, random_state=0)
    gaps = 1 - spectrum.eigenvalues
    mu = gaps[3]
    C = (spectrum.eigenvectors * (mu / (gaps + mu))) @ spectrum.eigenvectors.T
    C /= np.trace(C) / len(C)
    ambiguity = np.random.default_rng(0).uniform(size=len(C))
    labeled = np.array([3, 700])

    def conditioned(C, rows):
        block = C[np.ix_(rows, rows)] + _LABEL_NOISE * np.eye(len(rows))
        return C - C[:, rows] @ np.linalg.solve(block, C[rows])

    chosen = select_queries(spectrum, 4, labeled, ambiguity, 3)
    for at, sample in enumerate(chosen):
        known = [*labeled, *chosen[:at]]
        posterior = conditioned(C, known)
        reduction = (ambiguity + _MIN_AMBIGUITY) @ posterior**2
        reduction /= np.diag(posterior) + _LABEL_NOISE
        reduction[known] = -1
        assert sample == reduction.argmax()


def test_eigenvectors_in_float32_give_the_same_choice(digits):
    _, y, graph = digits
    exact = top_eigenpairs(graph, 30, random_state=0)
    narrow = Spectrum(exact.eigenvalues, exact.eigenvectors.astype(np.float32), exact.residuals)
    rng = np.random.default_rng(0)
    labeled, ambiguity = np.sort(rng.choice(len(y), 200, replace=False)), rng.random(len(y))
    np.testing.assert_array_equal(
        *(select_queries(spectrum, 10, labeled, ambiguity, 40) for spectrum in (exact, narrow))
    )


def test_selected_labels_give_more_accuracy_than_random_ones(digits):
    X, y, graph = digits
    selected = HypergraphClustering(10, structure=graph, random_state=0).fit(X).suggest(20)
    assert len(set(selected)) == 20

    def accuracy(rows):
        given = np.full(len(y), -1)
        given[rows] = y[rows]
        model = HypergraphClassifier(structure=graph).fit(X, given)
        return (model.transduction_ == y)[given == -1].mean(), model

    rng = np.random.default_rng(0)
    random = [accuracy(rng.choice(len(y), 20, replace=False))[0] for _ in range(10)]
    reached, model = accuracy(selected)
    assert reached > max(random)
    more = [*selected, *model.suggest(10)]
    assert len(set(more)) == 30
    assert accuracy(more)[0] > np.mean(random) + 0.1


@pytest.mark.parametrize("n", [0, -1, 1.5, True, 1797])
def test_impossible_numbers(digits, n):
    X, y, graph = digits
    given = np.where(np.arange(len(y)) < 50, y, -1)
    model = HypergraphClassifier(structure=graph).fit(X, given)
    with pytest.raises(InputError, match=r"n must be a whole number from 1 to 1747 \(.*\), got"):
        model.suggest(n)


def test_all_samples_labeled(digits):
    X, y, graph = digits
    model = HypergraphClassifier(structure=graph).fit(X, y)
    with pytest.raises(InputError, match="unlabeled sample to choose, got labels of all"):
        model.suggest(1)
