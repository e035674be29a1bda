"""Pictures: what is drawn, not how it looks."""

from __future__ import annotations

import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from scipy import sparse

from enhg import ClusterCount, ElasticNetHypergraph, Graph, Hypergraph, elastic_net_path
from enhg.plotting import (
    plot_cluster_count,
    plot_clusters,
    plot_coefficient_matrix,
    plot_coefficients,
    plot_comparison,
    plot_confusion,
    plot_curves,
    plot_embedding,
    plot_hyperedge,
    plot_image,
    plot_incidence,
    plot_memberships,
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


STRUCTURE = ElasticNetHypergraph().fit(IMAGES.reshape(30, -1))
COUNT = ClusterCount(2, 4, False, np.array([0.1, 2.0, 0.3, 1.9]), np.ones(5))


def texts(ax):
    return [text.get_text() for text in ax.texts]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


DRAWN = {
    "embedding": lambda ax: plot_embedding(RNG.normal(size=(30, 5)), LABELS, ax=ax),
    "spectrum": lambda ax: plot_spectrum([1, 0.9, 0.5], 2, ax=ax),
    "clusters": lambda ax: plot_clusters(IMAGES, LABELS, CONFIDENCE, ax=ax),
    "confusion": lambda ax: plot_confusion(LABELS, LABELS, ax=ax),
    "hyperedge": lambda ax: plot_hyperedge(STRUCTURE, 3, (6, 4), LABELS, ax=ax),
    "memberships": lambda ax: plot_memberships(STRUCTURE, 3, (6, 4), LABELS, ax=ax),
    "count": lambda ax: plot_cluster_count(COUNT, ax=ax),
    "membership": lambda ax: plot_incidence(STRUCTURE.graph_, LABELS, ax=ax),
    "path": lambda ax: plot_path(elastic_net_path(RNG.normal(size=(12, 8)), 2, 0.1), ax=ax),
    "coefficients": lambda ax: plot_coefficients([0.0, 0.5, -0.2], 0.3, slice(0, 2), ax=ax),
    "matrix": lambda ax: plot_coefficient_matrix(np.eye(4), ax=ax),
    "recovery": lambda ax: plot_recovery(STRUCTURE, [3, 5], (6, 4), ax=ax),
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
    found = {}
    for bar in ax.patches:
        at = round(bar.get_x() + bar.get_width() / 2)
        found.setdefault(bar.get_facecolor(), {})[at] = bar.get_height()
    return list(found.values())


def test_cluster_count_marks_the_best_and_the_runner_up():
    ax = plot_cluster_count(COUNT)
    assert bars(ax) == [{1: 0.1, 2: 2.0, 3: 0.3, 4: 1.9}, {2: 2.0}, {4: 1.9}]
    assert legend(ax) == ["best: 2", "runner-up: 4"]
    assert ax.get_title() == "Not sure: perhaps 2 clusters"


def test_cluster_count_that_is_sure():
    ax = plot_cluster_count(ClusterCount(3, 1, True, np.array([1.0, 0.2, 4.0]), np.ones(4)))
    assert ax.get_title() == "3 clusters"


@pytest.mark.parametrize("scores", [[], [0.5]])
def test_cluster_count_without_a_choice(scores):
    ax = plot_cluster_count(ClusterCount(1, 1, False, np.array(scores), np.ones(1)))
    assert legend(ax) == ["best: 1"]
    assert ax.get_title() == "Not sure: perhaps 1 cluster"


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


def test_clusters_in_color():
    colors = RNG.random((30, 6, 4, 3))
    colors[0, 0, 0], colors[0, 0, 1] = 0, 1  # so that the scale is the identity
    ax = plot_clusters(colors, np.zeros(30), -np.arange(30))
    np.testing.assert_allclose(ax.images[0].get_array()[:6, :4], colors[0])


def shown(sample, values):
    """A sample in black and white."""
    low, high = sample.min(), sample.max()
    return np.clip((values - low) / (high - low), 0, 1).reshape(6, 4)


def assert_colors(picture, error):
    """Violet where the error is above zero, brown where it is below, paler where it is less."""
    redder = (picture[..., 0] - picture[..., 2]).ravel()
    clear = np.abs(error) > 0.2 * np.abs(error).max()
    np.testing.assert_array_equal(np.sign(redder[clear]), -np.sign(error[clear]))
    order = np.argsort(np.abs(error))
    assert (
        picture.mean(axis=2).ravel()[order[:3]].min()
        > picture.mean(axis=2).ravel()[order[-3:]].max()
    )


def test_hyperedge_shows_its_members_as_they_were_given():
    ax = plot_hyperedge(STRUCTURE, 3, (6, 4), members=4)
    z = STRUCTURE.representation_.coefficients[[3]].toarray().ravel()
    members = np.argsort(-np.abs(z))[:4]
    X = STRUCTURE.samples_
    for image, row in zip(ax.images, [3, *members], strict=False):
        np.testing.assert_allclose(image.get_array()[..., 0], shown(X[row], X[row]), atol=1e-6)
    assert [float(text.replace("−", "-")) for text in texts(ax)[2:10:2]] == z[members].round(
        3
    ).tolist()
    assert texts(ax)[1:10:2] == [str(row) for row in (3, *members)]
    assert ax.get_title() == "Hyperedge of sample 3: 10 members (the first 4 shown)"
    lefts = [image.get_extent()[0] for image in ax.images]
    assert lefts == sorted(lefts)
    assert not ax.lines


def test_hyperedge_ends_with_the_corrected_image_and_the_error():
    ax = plot_hyperedge(STRUCTURE, 3, (6, 4), members=0)
    sample, corrected, error = (np.asarray(image.get_array()) for image in ax.images)
    x, clean = STRUCTURE.samples_[3], STRUCTURE.reconstruct([3])[0]
    np.testing.assert_allclose(sample[..., 0], shown(x, x), atol=1e-6)
    np.testing.assert_allclose(corrected[..., 0], shown(x, clean), atol=1e-6)
    part = np.linalg.norm(x - clean) / np.linalg.norm(x)
    assert texts(ax)[2:6:2] == ["corrected", f"error ({part:.0%})"]
    assert_colors(error, x - clean)


def test_hyperedge_has_only_members_by_the_rule():
    structure = ElasticNetHypergraph(selection="top", threshold=3).fit(STRUCTURE.samples_)
    assert len(plot_hyperedge(structure, 3, (6, 4)).images) == 1 + 3 + 2


@pytest.mark.parametrize("draw", [plot_hyperedge, plot_memberships])
def test_other_labels_are_framed(draw):
    ax = draw(STRUCTURE, 3, (6, 4), np.array(["a", "b", "c"])[LABELS])
    below = [text.split("\n") for text in texts(ax)[1::2] if text]
    names = [f"label {'abc'[LABELS[int(row)]]}" for row, _ in below]
    assert [name for _, name in below] == names
    foreign = [image.get_extent()[0] for image, name in zip(ax.images, names, strict=False)
               if name != "label a"]  # fmt: skip
    assert [line.get_xdata()[0] for line in ax.lines] == foreign
    assert 0 < len(foreign) < len(names)


def test_memberships_are_those_in_hyperedges_of_others():
    ax = plot_memberships(STRUCTURE, 3, (6, 4), LABELS, most=2)
    row = STRUCTURE.graph_.incidence[[3]].toarray().ravel()
    row[3] = 0
    others = np.argsort(-row)[: np.count_nonzero(row)]
    assert texts(ax)[2::2] == [f"{row[other]:.3f}" for other in others[:2]]
    assert [int(text.split("\n")[0]) for text in texts(ax)[1::2]] == [3, *others[:2]]
    foreign = (LABELS[others] != LABELS[3]).sum()
    assert ax.get_title() == (
        f"Sample 3 is in {len(others)} other hyperedges, {foreign} of another label (the first 2 shown)"
    )


def test_hyperedge_in_color():
    structure = ElasticNetHypergraph().fit(RNG.random((30, 6 * 4 * 3)))
    ax = plot_hyperedge(structure, 3, (6, 4, 3), members=2)
    assert [image.get_array().shape for image in ax.images] == [(6, 4, 3)] * 5


def test_hyperedge_of_a_sample_that_nothing_rebuilds():
    samples = IMAGES.reshape(30, -1).astype(float)
    samples[3] = 0
    with pytest.warns(UserWarning, match="constant"):
        structure = ElasticNetHypergraph().fit(samples)
    ax = plot_hyperedge(structure, 3, (6, 4))
    assert [text for text in texts(ax) if text] == ["sample", "3", "corrected", "error"]
    assert ax.get_title() == "Hyperedge of sample 3: 0 members"
    assert plot_memberships(structure, 3, (6, 4)).get_title() == "Sample 3 is in 0 other hyperedges"


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


@pytest.mark.parametrize("found", [STRUCTURE, STRUCTURE.representation_], ids=["given", "solved"])
def test_recovery_shows_sample_correction_and_error(found):
    ax = plot_recovery(found, [3, 5], (6, 4))
    picture = ax.images[0].get_array()
    assert picture.shape == (3 * 7 - 1, 2 * 5 - 1, 3)
    if found is STRUCTURE:
        x, clean = STRUCTURE.samples_[5], STRUCTURE.reconstruct([5])[0]
    else:
        x, clean = found.samples[5], found.reconstruction[5]
    np.testing.assert_allclose(picture[:6, 5:, 0], shown(x, x), atol=1e-6)
    np.testing.assert_allclose(picture[7:13, 5:, 0], shown(x, clean), atol=1e-6)
    assert_colors(picture[14:, 5:], x - clean)
    assert ticks(ax.yaxis) == ["original", "corrected", "error"]
    assert ticks(ax.xaxis)[1] == f"5\n({np.linalg.norm(x - clean) / np.linalg.norm(x):.0%})"


def test_curves_have_room_for_zero():
    ax = plot_curves({"γ = 1": ([0, 0.01, 1], [1, 2, 3])}, "λ", "AC")
    assert ax.get_xscale() == "symlog"
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), [0, 0.01, 1])
    assert legend(ax) == ["γ = 1"]


# --- what cannot be drawn --------------------------------------------------------------------

WRONG = {
    "image shape": (
        lambda: plot_hyperedge(STRUCTURE, 3, (6, 5)),
        r"image_shape .* the 24 numbers of a sample, got \(6, 5\)",
    ),
    "image of two channels": (
        lambda: plot_recovery(STRUCTURE, [3], (6, 2, 2)),
        r"image_shape must be \(height, width\) or \(height, width, 3\)",
    ),
    "flat image": (lambda: plot_memberships(STRUCTURE, 3, (24,)), "image_shape must be"),
    "sample past the last": (
        lambda: plot_hyperedge(STRUCTURE, 30, (6, 4)),
        "sample must be whole numbers from 0 to 29, got 30",
    ),
    "sample before the first": (lambda: plot_memberships(STRUCTURE, -1, (6, 4)), "from 0 to 29"),
    "half a sample": (lambda: plot_recovery(STRUCTURE, [0.5], (6, 4)), "samples must be whole"),
    "no samples": (lambda: plot_recovery(STRUCTURE, [], (6, 4)), "samples must be whole"),
    "atoms": (
        lambda: plot_path(elastic_net_path(RNG.normal(size=(12, 8)), 2), [12]),
        "atoms must be whole numbers from 0 to 11",
    ),
    "names of some atoms": (
        lambda: plot_path(elastic_net_path(RNG.normal(size=(12, 8)), 2), [5], names=["6"]),
        r"names must have an entry for each of 12 samples, got shape \(1,\)",
    ),
    "labels of an embedding": (
        lambda: plot_embedding(np.ones((30, 2)), LABELS[1:]),
        r"labels must have an entry for each of 30 samples, got shape \(29,\)",
    ),
    "labels of a hypergraph": (lambda: plot_incidence(STRUCTURE.graph_, [1]), "labels must have"),
    "labels of a hyperedge": (
        lambda: plot_hyperedge(STRUCTURE, 3, (6, 4), [1]),
        "labels must have",
    ),
    "labels of coefficients": (
        lambda: plot_coefficient_matrix(np.eye(3), [1, 2]),
        "labels must have",
    ),
    "labels of coefficients over other atoms": (
        lambda: plot_coefficient_matrix(np.ones((2, 3)), [1, 2]),
        "labels must have an entry for each of 3",
    ),
    "confidence": (
        lambda: plot_clusters(IMAGES, LABELS, CONFIDENCE[1:]),
        "confidence must have",
    ),
    "images": (
        lambda: plot_clusters(IMAGES.reshape(30, -1), LABELS, CONFIDENCE),
        r"images must be of shape .*, got \(30, 24\)",
    ),
    "graph": (
        lambda: plot_incidence(Graph(np.ones((3, 3)))),
        "hypergraph must be a Hypergraph, got a Graph",
    ),
    "unfitted": (lambda: plot_recovery(ElasticNetHypergraph(), [0], (6, 4)), "not fitted"),
}


@pytest.mark.parametrize(("draw", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_cannot_be_drawn_is_said(draw, message):
    with pytest.raises(ValueError, match=message):
        draw()
    assert pyplot.get_fignums() == []
