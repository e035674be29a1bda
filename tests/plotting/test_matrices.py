"""Plots of matrices."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from enhg import Hypergraph
from enhg.exceptions import InputError
from enhg.plotting import plot_coefficient_matrix, plot_confusion, plot_incidence


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def test_confusion_matches_clusters_with_classes():
    truth = ["a"] * 5 + ["b"] * 4 + ["c"] * 3
    clusters = [2, 2, 2, 2, 0, 0, 0, 0, 0, 1, 1, 3]
    ax = plot_confusion(truth, clusters, match=True)
    assert ticks(ax.yaxis) == ["a", "b", "c"]
    assert ticks(ax.xaxis) == ["2", "0", "1", "3"]
    counts = {text.get_position()[::-1]: int(text.get_text()) for text in ax.texts}
    assert counts == {(0, 0): 4, (0, 1): 1, (1, 1): 4, (2, 2): 2, (2, 3): 1}
    np.testing.assert_allclose(ax.images[0].get_array()[0], [0.8, 0.2, 0, 0])


def test_confusion_with_fewer_clusters_than_classes():
    ax = plot_confusion([0, 1, 1, 2, 2, 2], [5, 7, 7, 5, 5, 5], match=True)
    assert ticks(ax.yaxis) == ["1", "2", "0"]
    assert ticks(ax.xaxis) == ["7", "5"]


def test_confusion_of_predictions_keeps_names():
    ax = plot_confusion(["a", "b", "b"], ["b", "b", "z"])
    assert ticks(ax.xaxis) == ticks(ax.yaxis) == ["a", "b", "z"]
    counts = {text.get_position()[::-1]: int(text.get_text()) for text in ax.texts}
    assert counts == {(0, 1): 1, (1, 1): 1, (1, 2): 1}


def test_confusion_of_many_classes_writes_no_counts():
    ax = plot_confusion(np.arange(60), np.arange(60))
    assert len(ax.texts) == 0
    assert len(ax.images) == 1


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
def test_rows_of_a_coefficient_matrix_are_in_parts_of_their_largest(kind):
    shown = plot_coefficient_matrix(kind([[0.0, -2.0], [1.0, 4.0]])).images[0].get_array()
    np.testing.assert_allclose(shown, [[0, 1], [0.25, 1]])


def test_a_coefficient_matrix_is_ordered_by_labels():
    Z = np.diag([1.0, 2.0], 2) + np.diag([3.0, 4.0], -2)  # 0 with 2, 1 with 3
    ax = plot_coefficient_matrix(Z, ["b", "a", "b", "a"])
    blocks = np.kron(np.eye(2), [[0, 1], [1, 0]])
    np.testing.assert_array_equal(ax.images[0].get_array(), blocks)
    assert ticks(ax.xaxis) == ticks(ax.yaxis) == ["a", "b"]
    assert ax.get_xticks().tolist() == [0.5, 2.5]


def test_incidence_is_drawn_as_it_is():
    ax = plot_incidence(Hypergraph([[1, 0], [0.5, 1], [0, 1]]))
    np.testing.assert_array_equal(ax.images[0].get_array(), [[1, 0], [0.5, 1], [0, 1]])
    assert ax.images[0].get_extent() == [-0.5, 1.5, 2.5, -0.5]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("hyperedge", "vertex")


def test_incidence_puts_hyperedges_with_the_label_that_has_most_of_them():
    edges = [[0, 2, 1], [1, 3], [2, 0]]
    ax = plot_incidence(Hypergraph.from_edges(edges), ["b", "a", "b", "a"])
    expected = [[1, 1, 0], [1, 0, 0], [0, 1, 1], [0, 1, 1]]  # vertices 1 3 0 2, hyperedges 1 0 2
    np.testing.assert_array_equal(ax.images[0].get_array(), expected)
    assert ticks(ax.xaxis) == ticks(ax.yaxis) == ["a", "b"]
    assert [line.get_ydata()[0] for line in ax.lines] == [1.5, 0]
    assert [line.get_xdata()[0] for line in ax.lines] == [0, 0.5]


def test_incidence_of_many_vertices_keeps_every_membership_in_few_cells():
    n = 10_000
    far = sparse.coo_array(([1.0], ([7000], [3])), shape=(n, n))
    ax = plot_incidence(Hypergraph(sparse.eye_array(n) + far))
    picture = ax.images[0].get_array()
    assert picture.shape == (400, 400)
    expected = np.eye(400)
    expected[280, 0] = 1
    np.testing.assert_array_equal(picture, expected)
    assert ax.images[0].get_extent() == [-0.5, n - 0.5, n - 0.5, -0.5]


@pytest.mark.parametrize("match", [False, True])
@pytest.mark.parametrize("labels", [([], []), ([0, 1], [0]), ([None], [1])])
def test_confusions_that_are_refused(labels, match):
    with pytest.raises(InputError, match="labels_true"):
        plot_confusion(*labels, match=match)


def test_confusion_of_text_and_numbers():
    with pytest.raises(InputError, match="labels that can be compared"):
        plot_confusion(["a"], [1])


def test_missing_labels_of_matrices_are_the_last_class():
    labels = np.array(["b", None, "a"], object)
    for ax in (
        plot_incidence(Hypergraph(np.eye(3)), labels),
        plot_coefficient_matrix(np.eye(3), labels),
    ):
        assert ticks(ax.yaxis) == ["a", "b", "None"]
