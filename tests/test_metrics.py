from itertools import permutations
from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enhg import clustering_accuracy, normalized_mutual_information, unlabeled_accuracy

fast = settings(max_examples=60, deadline=None)


def pairs(largest_true=3, largest_pred=3):
    """Two labelings of the same samples."""
    label = st.tuples(st.integers(0, largest_true), st.integers(0, largest_pred))
    return st.lists(label, min_size=1, max_size=12)


def best_by_trying_all(truth, labels):
    """The best share of agreement over every one-to-one renaming of the clusters."""
    names = range(max([*truth, *labels]) + 1)
    return max(
        sum(t == renaming[c] for t, c in zip(truth, labels, strict=True))
        for renaming in permutations(names)
    ) / len(truth)


def entropy(*labelings):
    outcomes = list(zip(*labelings, strict=True))
    shares = [outcomes.count(outcome) / len(outcomes) for outcome in set(outcomes)]
    return -sum(share * log(share) for share in shares)


@fast
@given(st.one_of(pairs(), pairs(largest_pred=5), pairs(largest_true=5)))
def test_accuracy_is_the_best_of_all_matchings(outcomes):
    truth, labels = map(list, zip(*outcomes, strict=True))
    assert clustering_accuracy(truth, labels) == pytest.approx(best_by_trying_all(truth, labels))


def test_accuracy_with_more_clusters_than_classes_and_the_reverse():
    assert clustering_accuracy([0, 0, 0, 1], [5, 5, 6, 7]) == 0.75
    assert clustering_accuracy([0, 1, 2, 2], [0, 0, 0, 0]) == 0.5


def test_labels_may_be_words():
    words = np.array(["cat", "cat", "dog", "dog", "dog"])
    assert clustering_accuracy(words, [1, 1, 0, 0, 1]) == 0.8
    assert clustering_accuracy([1, 1, 0, 0, 1], words) == 0.8
    assert normalized_mutual_information(words, ["b", "b", "a", "a", "a"]) == pytest.approx(1)
    assert unlabeled_accuracy(words, words, [True, False, False, False, False]) == 1


@fast
@given(pairs())
def test_nmi_is_mutual_information_over_the_geometric_mean_of_entropies(outcomes):
    truth, labels = zip(*outcomes, strict=True)
    h, g = entropy(truth), entropy(labels)
    expected = (h + g - entropy(truth, labels)) / sqrt(h * g) if h * g > 0 else float(h == g)
    assert normalized_mutual_information(truth, labels) == pytest.approx(expected, abs=1e-9)


def test_nmi_takes_the_geometric_mean():
    """Arithmetic, least and largest would give other figures here."""
    h, g = log(2), log(4)
    found = normalized_mutual_information([0, 0, 1, 1], [0, 1, 2, 3])
    assert found == pytest.approx(h / sqrt(h * g))


def test_only_samples_without_a_given_label_are_scored():
    assert unlabeled_accuracy([0, 1, 2, 3], [9, 1, 9, 3], [True, False, False, False]) == 2 / 3


@pytest.mark.parametrize("missing", [None, ""])
def test_a_sample_without_an_answer_is_wrong(missing):
    answers = np.array([missing, "b"], dtype=object)
    assert unlabeled_accuracy(["a", "b"], answers, [False, False]) == 0.5


@pytest.mark.parametrize("score", [clustering_accuracy, normalized_mutual_information])
def test_labels_that_do_not_belong_together(score):
    with pytest.raises(ValueError, match=r"\(2,\) and \(3,\)"):
        score([0, 1], [0, 1, 1])
    with pytest.raises(ValueError, match="one label a sample"):
        score([[0, 1]], [[0, 1]])
    with pytest.raises(ValueError, match="empty"):
        score([], [])


def test_masks_that_cannot_be_scored():
    with pytest.raises(ValueError, match=r"\(2,\) and \(1,\)"):
        unlabeled_accuracy([0, 1], [0], [False, False])
    with pytest.raises(ValueError, match=r"mask of shape \(2,\), got shape \(3,\)"):
        unlabeled_accuracy([0, 1], [0, 1], [False, False, True])
    with pytest.raises(ValueError, match=r"boolean mask.*int"):
        unlabeled_accuracy([0, 1], [0, 1], [-1, 1])  # labels, not a mask
    with pytest.raises(ValueError, match="no sample is unlabeled"):
        unlabeled_accuracy([0, 1], [0, 1], [True, True])
    with pytest.raises(ValueError, match="empty"):
        unlabeled_accuracy([], [], np.zeros(0, bool))
