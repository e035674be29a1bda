"""Plots of points, bars and lines."""

from __future__ import annotations

import numpy as np
import pytest

from enhg import ClusterCount, elastic_net_path
from enhg.exceptions import InputError
from enhg.plotting import (
    plot_cluster_count,
    plot_coefficients,
    plot_curves,
    plot_embedding,
    plot_path,
    plot_spectrum,
)

RNG = np.random.default_rng(0)
LABELS = np.repeat([0, 1, 2], [20, 7, 3])
COUNT = ClusterCount(2, 4, False, np.array([0.1, 2.0, 0.3, 1.9]), np.ones(5))


def texts(ax):
    return [text.get_text() for text in ax.texts]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_embedding_keeps_distances_of_flat_points():
    flat = RNG.normal(size=(30, 2)) @ RNG.normal(size=(2, 7)) + 5
    ax = plot_embedding(flat, LABELS)
    drawn = np.vstack([points.get_offsets() for points in ax.collections])
    apart = np.linalg.norm(flat[:, None] - flat, axis=2)
    np.testing.assert_allclose(np.linalg.norm(drawn[:, None] - drawn, axis=2), apart, atol=1e-9)


def test_embedding_has_a_color_and_a_name_for_every_label():
    ax = plot_embedding(RNG.normal(size=(30, 5)), np.array(["a", "b", "c"])[LABELS])
    assert [len(points.get_offsets()) for points in ax.collections] == [20, 7, 3]
    assert len({tuple(points.get_facecolor()[0]) for points in ax.collections}) == 3
    assert texts(ax) == ["a", "b", "c"]


def test_embedding_of_many_labels_changes_marker_with_the_colors_used_up():
    ax = plot_embedding(RNG.normal(size=(30, 5)), np.arange(30))
    looks = {
        (tuple(points.get_facecolor()[0]), points.get_paths()[0].vertices.tobytes())
        for points in ax.collections
    }
    assert len(looks) == 30


@pytest.mark.parametrize("shape", [(30, 1), (1, 5), (2, 2)])
def test_embedding_of_few_dimensions_or_samples(shape):
    ax = plot_embedding(RNG.normal(size=shape))
    assert len(ax.collections[0].get_offsets()) == shape[0]


def test_spectrum():
    ax = plot_spectrum([1.0, 0.9, 0.5], 2)
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), [[1, 1.0], [2, 0.9], [3, 0.5]])
    assert ax.lines[1].get_xdata()[0] == 2.5
    assert "2 clusters" in texts(ax)[0]
    assert len(plot_spectrum([1.0, 0.9]).lines) == 1


def bars(ax):
    """The bars in each color: their places and heights."""
    groups = {}
    for bar in ax.patches:
        at = round(bar.get_x() + bar.get_width() / 2)
        groups.setdefault(bar.get_facecolor(), {})[at] = bar.get_height()
    return list(groups.values())


def test_cluster_count_marks_the_estimate_and_the_runner_up():
    ax = plot_cluster_count(COUNT)
    assert bars(ax) == [{1: 0.1, 2: 2.0, 3: 0.3, 4: 1.9}, {2: 2.0}, {4: 1.9}]
    assert legend(ax) == ["estimate: 2", "runner-up: 4"]
    assert ax.get_title() == "2 clusters (not reliable)"


def test_reliable_cluster_count():
    ax = plot_cluster_count(ClusterCount(3, 1, True, np.array([1.0, 0.2, 4.0]), np.ones(4)))
    assert ax.get_title() == "3 clusters"


@pytest.mark.parametrize("scores", [[], [0.5]])
def test_cluster_count_of_one_number(scores):
    ax = plot_cluster_count(ClusterCount(1, 1, False, np.array(scores), np.ones(1)))
    assert legend(ax) == ["estimate: 1"]
    assert ax.get_title() == "1 cluster (not reliable)"


def test_a_path_is_drawn_by_its_breakpoints():
    path = elastic_net_path(RNG.normal(size=(12, 8)), 2, 0.1)
    ax = plot_path(path, [0, 5])
    lines = [line for line in ax.lines if len(line.get_xdata()) == len(path.alphas)]
    assert len(lines) == 2
    np.testing.assert_allclose(lines[1].get_ydata(), path.coefficients[:, [5]].toarray().ravel())
    assert lines[0].get_xdata().max() == 1
    assert legend(ax) == ["0", "5"]


def test_the_largest_of_a_path_are_named():
    path = elastic_net_path(RNG.normal(size=(20, 30)), 2, 0.1)
    ax = plot_path(path)
    largest = abs(path.coefficients).max(axis=0).toarray().ravel()
    assert legend(ax) == [str(atom) for atom in np.sort(np.argsort(-largest)[:10])]
    assert len(ax.lines) == 1 + np.count_nonzero(largest)


def test_atoms_of_a_path_have_the_names_given():
    path = elastic_net_path(RNG.normal(size=(12, 8)), 2, 0.1)
    ax = plot_path(path, [5, 0], names=[f"image {number}" for number in range(1, 13)])
    assert legend(ax) == ["image 6", "image 1"]


def test_a_path_without_coefficients():
    path = elastic_net_path(np.eye(3), 0)
    assert plot_path(path).get_legend() is None


def test_coefficients_have_their_threshold_and_group():
    ax = plot_coefficients([0.0, 0.5, -0.2, 0.0], 0.3, slice(0, 2))
    (lines,) = ax.collections
    assert [segment[1].tolist() for segment in lines.get_segments()] == [[1, 0.5], [2, -0.2]]
    assert {0.3, -0.3} <= {line.get_ydata()[0] for line in ax.lines}
    assert len(ax.patches) == 1


def test_scale_of_curves_includes_zero():
    ax = plot_curves({"γ = 1": ([0, 0.01, 1], [1, 2, 3])}, "λ", "AC")
    assert ax.get_xscale() == "symlog"
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [0, 0.01, 1])
    assert legend(ax) == ["γ = 1"]


@pytest.mark.parametrize(
    "points", [np.zeros(3), np.zeros((0, 2)), np.full((3, 2), np.nan), [["a", "b"]]]
)
def test_embeddings_that_are_refused(points):
    with pytest.raises(InputError, match="embedding must"):
        plot_embedding(points)


def test_missing_labels_of_an_embedding_are_the_last_class():
    labels = np.array(["b", None, "a", np.nan, 1], object)
    ax = plot_embedding(RNG.normal(size=(5, 2)), labels)
    assert texts(ax) == ["1", "a", "b", "None"]


@pytest.mark.parametrize(
    "curves", [{}, {"a": ([], [])}, {"a": ([1], [1, 2])}, {"a": (["x"], [1])}, {"a": ([0], [1])}]
)
def test_curves_that_are_refused(curves):
    with pytest.raises(InputError, match="curves must"):
        plot_curves(curves, "x", "y")
