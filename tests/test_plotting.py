"""Pictures: what is drawn, not how it looks."""

from __future__ import annotations

import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from scipy import sparse

from enhg import ElasticNetHypergraph, elastic_net_path
from enhg.plotting import (
    plot_clusters,
    plot_coefficient_matrix,
    plot_coefficients,
    plot_comparison,
    plot_confusion,
    plot_curves,
    plot_embedding,
    plot_hyperedge,
    plot_image,
    plot_path,
    plot_recovery,
    plot_spectrum,
)

matplotlib.use("Agg")

from matplotlib import pyplot

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, size=(30, 6, 4), dtype=np.uint8)
LABELS = np.repeat([0, 1, 2], [20, 7, 3])
CONFIDENCE = RNG.permutation(30) / 30


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def representation():
    return ElasticNetHypergraph().fit(IMAGES.reshape(30, -1)).representation_


def texts(ax):
    return [text.get_text() for text in ax.texts]


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


DRAWN = {
    "embedding": lambda ax: plot_embedding(RNG.normal(size=(30, 5)), LABELS, ax=ax),
    "spectrum": lambda ax: plot_spectrum([1, 0.9, 0.5], 2, ax=ax),
    "clusters": lambda ax: plot_clusters(IMAGES, LABELS, CONFIDENCE, ax=ax),
    "confusion": lambda ax: plot_confusion(LABELS, LABELS, ax=ax),
    "hyperedge": lambda ax: plot_hyperedge(
        ElasticNetHypergraph().fit(IMAGES.reshape(30, -1)).representation_, 3, (6, 4), ax=ax
    ),
    "path": lambda ax: plot_path(elastic_net_path(RNG.normal(size=(12, 8)), 2, 0.1), ax=ax),
    "coefficients": lambda ax: plot_coefficients([0.0, 0.5, -0.2], 0.3, slice(0, 2), ax=ax),
    "matrix": lambda ax: plot_coefficient_matrix(np.eye(4), ax=ax),
    "recovery": lambda ax: plot_recovery(
        ElasticNetHypergraph().fit(IMAGES.reshape(30, -1)).representation_, [3, 5], (6, 4), ax=ax
    ),
    "curves": lambda ax: plot_curves({"a": ([0, 1, 10], [1, 2, 3])}, "x", "y", ax=ax),
    "comparison": lambda ax: plot_comparison({"a": [("K = 1", 0.5)]}, "a", "AC", ax=ax),
    "image": lambda ax: plot_image(IMAGES[0], ax=ax),
}


@pytest.mark.parametrize("draw", DRAWN.values(), ids=DRAWN.keys())
def test_axes_are_used_or_made(draw):
    ax = draw(None)
    assert isinstance(ax, pyplot.Axes)
    assert len(pyplot.get_fignums()) == 1
    mine = matplotlib.figure.Figure().subplots()
    assert draw(mine) is mine
    assert len(pyplot.get_fignums()) == 1
    mine.figure.canvas.draw()


def test_import_leaves_matplotlib_alone():
    code = "import sys, enhg.plotting; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


# --- embedding and spectrum ------------------------------------------------------------------


def test_embedding_keeps_distances_of_flat_points():
    flat = RNG.normal(size=(30, 2)) @ RNG.normal(size=(2, 7)) + 5
    ax = plot_embedding(flat, LABELS)
    drawn = np.vstack([points.get_offsets() for points in ax.collections])
    apart = np.linalg.norm(flat[:, None] - flat, axis=2)
    np.testing.assert_allclose(np.linalg.norm(drawn[:, None] - drawn, axis=2), apart, atol=1e-9)


def test_embedding_has_a_colour_and_a_name_for_every_label():
    ax = plot_embedding(RNG.normal(size=(30, 5)), np.array(["a", "b", "c"])[LABELS])
    assert [len(points.get_offsets()) for points in ax.collections] == [20, 7, 3]
    assert len({tuple(points.get_facecolor()[0]) for points in ax.collections}) == 3
    assert texts(ax) == ["a", "b", "c"]


def test_embedding_of_many_labels_changes_marker_with_the_colours_used_up():
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


# --- thumbnails ------------------------------------------------------------------------------


def thumbnail(sheet, row, left):
    """The 6×4 pixels at a place of the sheet, back on the scale of the images."""
    low, high = float(IMAGES.min()), float(IMAGES.max())
    part = sheet[row * 7 : row * 7 + 6, left : left + 4, 0]
    return np.rint(part * (high - low) + low)


def test_clusters_show_the_most_confident_first_and_the_least_last():
    ax = plot_clusters(IMAGES, LABELS, CONFIDENCE, most=5, least=2)
    sheet = ax.images[0].get_array()
    order = np.argsort(-CONFIDENCE[:20])
    for place, member in enumerate([*order[:5], *order[-2:]]):
        left = 5 * place + (place >= 5)
        np.testing.assert_array_equal(thumbnail(sheet, 0, left), IMAGES[member])
    assert ticks(ax.yaxis) == ["0 (20)", "1 (7)", "2 (3)"]
    assert ticks(ax.xaxis) == ["most confident", "least confident"]


def test_small_clusters_show_every_member_once():
    ax = plot_clusters(IMAGES, LABELS, CONFIDENCE, most=5, least=3)
    sheet = ax.images[0].get_array()
    lefts = [5 * place + (place >= 5) for place in range(8)]
    shown = [thumbnail(sheet, 1, left) for left in lefts]  # 7 members: 5 and 2
    members = {tuple(image.ravel()) for image in IMAGES[20:27].astype(float)}
    assert {tuple(image.ravel()) for image in shown[:7]} == members
    assert (sheet[7:13, lefts[7] : lefts[7] + 4] == 1).all()
    assert (sheet[14:20, lefts[3] :] == 1).all()  # 3 members, then white


def test_clusters_without_the_least_confident():
    ax = plot_clusters(IMAGES, LABELS, CONFIDENCE, most=5, least=0)
    assert ticks(ax.xaxis) == ["most confident"]
    assert ax.images[0].get_array().shape == (3 * 7 - 1, 5 * 5 - 1, 3)


def test_clusters_in_colour():
    colours = RNG.random((30, 6, 4, 3))
    colours[0, 0, 0], colours[0, 0, 1] = 0, 1  # so that the scale is the identity
    ax = plot_clusters(colours, np.zeros(30), -np.arange(30))
    np.testing.assert_allclose(ax.images[0].get_array()[:6, :4], colours[0])


def test_hyperedge_shows_rebuilders_with_their_coefficients(representation):
    ax = plot_hyperedge(representation, 3, (6, 4), members=4)
    row = representation.coefficients[[3]].toarray().ravel()
    largest = np.argsort(-np.abs(row))[:4]
    shown = texts(ax)
    assert shown[0] == "sample 3"
    assert [float(text.replace("−", "-")) for text in shown[1:5]] == row[largest].round(3).tolist()
    part = np.linalg.norm(representation.errors[3]) / np.linalg.norm(representation.samples[3])
    assert shown[5:7] == ["corrected", f"error ({part:.0%})"]
    assert shown[7] == f"{np.count_nonzero(row) - 4}\nmore"
    assert len(ax.images) == 7
    lefts = [image.get_extent()[0] for image in ax.images]
    assert lefts == sorted(lefts)


def test_hyperedge_pictures_add_up(representation):
    """Sample and corrected image are on one scale, and the error is what lies between."""
    ax = plot_hyperedge(representation, 3, (6, 4), members=0)
    sample, corrected, error = (np.asarray(image.get_array()) for image in ax.images)
    assert (sample.min(), sample.max()) == (0, 1)
    missing = representation.errors[3].reshape(6, 4)
    inside = (corrected[..., 0] > 0) & (corrected[..., 0] < 1)
    spread = np.ptp(representation.samples[3])
    np.testing.assert_allclose(
        ((sample - corrected)[..., 0] * spread)[inside], missing[inside], atol=1e-6
    )
    redder = error[..., 0] - error[..., 2]  # orange and violet on the two sides of white
    assert np.corrcoef(redder.ravel(), missing.ravel())[0, 1] < -0.9


def test_hyperedge_in_colour():
    representation = ElasticNetHypergraph().fit(RNG.random((30, 6 * 4 * 3))).representation_
    ax = plot_hyperedge(representation, 3, (6, 4, 3), members=2)
    assert [image.get_array().shape for image in ax.images] == [(6, 4, 3)] * 5


def test_hyperedge_of_a_sample_that_nothing_rebuilds():
    samples = IMAGES.reshape(30, -1).astype(float)
    samples[3] = 9
    with pytest.warns(UserWarning, match="constant"):
        representation = ElasticNetHypergraph().fit(samples).representation_
    ax = plot_hyperedge(representation, 3, (6, 4))
    assert texts(ax)[:3] == ["sample 3", "corrected", "error"]
    ax.figure.canvas.draw()


# --- confusion -------------------------------------------------------------------------------


def test_confusion_matches_clusters_with_classes():
    truth = ["a"] * 5 + ["b"] * 4 + ["c"] * 3
    found = [2, 2, 2, 2, 0, 0, 0, 0, 0, 1, 1, 3]
    ax = plot_confusion(truth, found, match=True)
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


def test_a_path_is_drawn_by_its_breakpoints():
    path = elastic_net_path(RNG.normal(size=(12, 8)), 2, 0.1)
    ax = plot_path(path, [0, 5])
    lines = [line for line in ax.lines if len(line.get_xdata()) == len(path.penalties)]
    assert len(lines) == 2
    np.testing.assert_allclose(lines[1].get_ydata(), path.coefficients[:, [5]].toarray().ravel())
    assert lines[0].get_xdata().max() == 1


def test_coefficients_have_their_threshold_and_group():
    ax = plot_coefficients([0.0, 0.5, -0.2, 0.0], 0.3, slice(0, 2))
    (lines,) = ax.collections
    assert [segment[1].tolist() for segment in lines.get_segments()] == [[1, 0.5], [2, -0.2]]
    assert {0.3, -0.3} <= {line.get_ydata()[0] for line in ax.lines}
    assert len(ax.patches) == 1


@pytest.mark.parametrize("kind", [np.array, sparse.csr_array])
def test_rows_of_a_coefficient_matrix_are_in_parts_of_their_largest(kind):
    shown = plot_coefficient_matrix(kind([[0.0, -2.0], [1.0, 4.0]])).images[0].get_array()
    np.testing.assert_allclose(shown, [[0, 1], [0.25, 1]])


def test_recovery_shows_sample_correction_and_error(representation):
    ax = plot_recovery(representation, [3, 5], (6, 4))
    picture = ax.images[0].get_array()
    assert picture.shape == (18, 2 * 4 + 2, 3)
    sample = representation.samples[3].reshape(6, 4)
    expected = (sample - sample.min()) / (sample.max() - sample.min())
    np.testing.assert_allclose(picture[:6, :4, 0], expected, atol=1e-6)
    assert ticks(ax.yaxis) == ["original", "corrected", "error"]


def test_curves_have_room_for_zero():
    ax = plot_curves({"γ = 1": ([0, 0.01, 1], [1, 2, 3])}, "λ", "AC")
    assert ax.get_xscale() == "symlog"
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [0, 0.01, 1])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["γ = 1"]
