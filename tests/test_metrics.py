"""Accuracy of clusterings."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enhg import clustering_accuracy
from enhg.exceptions import InputError

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


def test_a_number_and_its_text_are_two_classes():
    assert clustering_accuracy([1, "1"], [0, 0]) == 0.5
    assert clustering_accuracy(np.array([1, "1"], object), ["a", "b"]) == 1
    assert clustering_accuracy([0, 0], [1, "1"]) == 0.5


MISSING = {
    "mask": np.ma.MaskedArray([0, 1, 1], [False, True, False]),
    "nan": [0.0, np.nan, 1.0],
    "none": [0, None, 1],
    "words": np.array(["a", None, "b"], object),
    "list of words": ["a", float("nan"), "b"],
    "date": np.array(["2020", "NaT", "2021"], "M8[Y]"),
}


@pytest.mark.parametrize("labels", MISSING.values(), ids=MISSING)
def test_missing_labels_are_refused(labels):
    for pair, name in (((labels, [0, 1, 1]), "true"), (([0, 1, 1], labels), "pred")):
        with pytest.raises(InputError, match=f"labels_{name} must hold .* got 1 missing"):
            clustering_accuracy(*pair)


def test_missing_labels_of_pandas_are_refused():
    pandas = pytest.importorskip("pandas")
    for dtype in ("string", "category"):
        with pytest.raises(InputError, match=r"labels_true must hold .* got 1 missing"):
            clustering_accuracy(pandas.Series(["a", None, "b"], dtype=dtype), [0, 1, 1])


def test_labels_that_do_not_belong_together():
    with pytest.raises(InputError, match=r"\(2,\) and \(3,\)"):
        clustering_accuracy([0, 1], [0, 1, 1])
    with pytest.raises(InputError, match="one label per sample"):
        clustering_accuracy([[0, 1]], [[0, 1]])
    with pytest.raises(InputError, match="at least one label"):
        clustering_accuracy([], [])
    with pytest.raises(InputError, match="labels_true must hold one label per sample"):
        clustering_accuracy([[0], [0, 1]], [0, 1])
    with pytest.raises(InputError, match=r"labels_pred must hold numbers or text, got .* 'dict'"):
        clustering_accuracy([0, 1], [{}, {}])


def test_large_integers_beside_a_float_are_different_labels():
    large = 2**53  # above it float64 does not hold every integer
    labels = [large, large + 1, large, large + 1, 0.5]
    assert clustering_accuracy(labels, [0, 1, 0, 1, 2]) == 1
    assert clustering_accuracy([large, large + 1, large, large + 1], [0, 1, 0, 1]) == 1
