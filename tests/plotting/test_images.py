"""Plots of samples that are images."""

from __future__ import annotations

import numpy as np
import pytest

from enhg import ElasticNetHypergraph, HyperedgeRule
from enhg.exceptions import InputError
from enhg.plotting import plot_clusters, plot_hyperedge, plot_memberships, plot_reconstructions

RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, size=(30, 6, 4), dtype=np.uint8)
LABELS = np.repeat([0, 1, 2], [20, 7, 3])
CONFIDENCE = RNG.permutation(30) / 30
STRUCTURE = ElasticNetHypergraph().fit(IMAGES.reshape(30, -1))


def texts(ax):
    return [text.get_text() for text in ax.texts]


def ticks(axis):
    return [label.get_text() for label in axis.get_ticklabels()]


def thumbnail(sheet, row, left):
    """The 6×4 pixels at a place of the sheet, back on the scale of the images."""
    low, high = float(IMAGES.min()), float(IMAGES.max())
    part = sheet[row * 7 : row * 7 + 6, left : left + 4, 0]
    return np.rint(part * (high - low) + low)


def test_clusters_show_the_most_confident_first_and_the_least_last():
    ax = plot_clusters(IMAGES, LABELS, CONFIDENCE, n_most=5, n_least=2)
    sheet = ax.images[0].get_array()
    order = np.argsort(-CONFIDENCE[:20])
    for place, member in enumerate([*order[:5], *order[-2:]]):
        left = 5 * place + (place >= 5)
        np.testing.assert_array_equal(thumbnail(sheet, 0, left), IMAGES[member])
    assert ticks(ax.yaxis) == ["0 (20)", "1 (7)", "2 (3)"]
    assert ticks(ax.xaxis) == ["most confident", "least confident"]


def test_small_clusters_show_every_member_once():
    ax = plot_clusters(IMAGES, LABELS, CONFIDENCE, n_most=5, n_least=3)
    sheet = ax.images[0].get_array()
    lefts = [5 * place + (place >= 5) for place in range(8)]
    shown = [thumbnail(sheet, 1, left) for left in lefts]  # 7 members: 5 and 2
    members = {tuple(image.ravel()) for image in IMAGES[20:27].astype(float)}
    assert {tuple(image.ravel()) for image in shown[:7]} == members
    assert (sheet[7:13, lefts[7] : lefts[7] + 4] == 1).all()
    assert (sheet[14:20, lefts[3] :] == 1).all()  # 3 members, then white


def test_clusters_without_the_least_confident():
    ax = plot_clusters(IMAGES, LABELS, CONFIDENCE, n_most=5, n_least=0)
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


def assert_colors(picture, residual):
    """Violet where the residual is positive, brown where it is negative, paler near zero."""
    redder = (picture[..., 0] - picture[..., 2]).ravel()
    clear = np.abs(residual) > 0.2 * np.abs(residual).max()
    np.testing.assert_array_equal(np.sign(redder[clear]), -np.sign(residual[clear]))
    order = np.argsort(np.abs(residual))
    assert (
        picture.mean(axis=2).ravel()[order[:3]].min()
        > picture.mean(axis=2).ravel()[order[-3:]].max()
    )


def test_hyperedge_shows_its_members_as_they_were_given():
    ax = plot_hyperedge(STRUCTURE, 3, (6, 4), n_members=4)
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


def test_hyperedge_ends_with_reconstruction_and_residual():
    ax = plot_hyperedge(STRUCTURE, 3, (6, 4), n_members=0)
    sample, reconstruction, residual = (np.asarray(image.get_array()) for image in ax.images)
    x, expected = STRUCTURE.samples_[3], STRUCTURE.reconstruct([3])[0]
    np.testing.assert_allclose(sample[..., 0], shown(x, x), atol=1e-6)
    np.testing.assert_allclose(reconstruction[..., 0], shown(x, expected), atol=1e-6)
    part = STRUCTURE.relative_residuals_[3]
    assert texts(ax)[2:6:2] == ["reconstruction", f"residual ({part:.0%})"]
    assert_colors(residual, x - expected)


def test_hyperedge_has_only_members_by_the_rule():
    structure = ElasticNetHypergraph(hyperedges=HyperedgeRule("top", 3)).fit(STRUCTURE.samples_)
    assert len(plot_hyperedge(structure, 3, (6, 4)).images) == 1 + 3 + 2


@pytest.mark.parametrize("draw", [plot_hyperedge, plot_memberships])
def test_other_labels_are_framed(draw):
    ax = draw(STRUCTURE, 3, (6, 4), np.array(["a", "b", "c"])[LABELS])
    below = [text.split("\n") for text in texts(ax)[1::2] if text]
    names = [f"label {'abc'[LABELS[int(row)]]}" for row, _ in below]
    assert [name for _, name in below] == names
    framed = [image.get_extent()[0] for image, name in zip(ax.images, names, strict=False)
               if name != "label a"]  # fmt: skip
    assert [line.get_xdata()[0] for line in ax.lines] == framed
    assert 0 < len(framed) < len(names)


def test_memberships_are_those_in_hyperedges_of_others():
    ax = plot_memberships(STRUCTURE, 3, (6, 4), LABELS, n_hyperedges=2)
    row = STRUCTURE.graph_.incidence[[3]].toarray().reshape(3, -1).max(axis=0)
    row[3] = 0
    others = np.argsort(-row)[: np.count_nonzero(row)]
    assert texts(ax)[2::2] == [f"{row[other]:.3f}" for other in others[:2]]
    assert [int(text.split("\n")[0]) for text in texts(ax)[1::2]] == [3, *others[:2]]
    differing = (LABELS[others] != LABELS[3]).sum()
    assert ax.get_title() == (
        f"Sample 3 is in {len(others)} other hyperedges, {differing} with another label "
        "(the first 2 shown)"
    )


def test_hyperedge_in_color():
    structure = ElasticNetHypergraph().fit(RNG.random((30, 6 * 4 * 3)))
    ax = plot_hyperedge(structure, 3, (6, 4, 3), n_members=2)
    assert [image.get_array().shape for image in ax.images] == [(6, 4, 3)] * 5


def test_hyperedge_of_a_sample_without_coefficients():
    samples = IMAGES.reshape(30, -1).astype(float)
    samples[3] = 0
    with pytest.warns(UserWarning, match="constant"):
        structure = ElasticNetHypergraph().fit(samples)
    ax = plot_hyperedge(structure, 3, (6, 4))
    assert [text for text in texts(ax) if text] == [
        "sample",
        "3",
        "reconstruction",
        "residual (0%)",
    ]
    assert ax.get_title() == "Hyperedge of sample 3: 0 members"
    assert plot_memberships(structure, 3, (6, 4)).get_title() == "Sample 3 is in 0 other hyperedges"


@pytest.mark.parametrize("source", [STRUCTURE, STRUCTURE.representation_], ids=["given", "solved"])
def test_reconstructions_show_sample_reconstruction_and_residual(source):
    ax = plot_reconstructions(source, [3, 5], (6, 4))
    picture = ax.images[0].get_array()
    assert picture.shape == (3 * 7 - 1, 2 * 5 - 1, 3)
    if source is STRUCTURE:
        x, expected = STRUCTURE.samples_[5], STRUCTURE.reconstruct([5])[0]
    else:
        x, expected = source.samples[5], source.reconstruction[5]
    np.testing.assert_allclose(picture[:6, 5:, 0], shown(x, x), atol=1e-6)
    np.testing.assert_allclose(picture[7:13, 5:, 0], shown(x, expected), atol=1e-6)
    assert_colors(picture[14:, 5:], x - expected)
    assert ticks(ax.yaxis) == ["sample", "reconstruction", "residual"]
    assert ticks(ax.xaxis)[1] == f"5\n({STRUCTURE.relative_residuals_[5]:.0%})"


def test_clusters_that_are_refused():
    with pytest.raises(InputError, match="images must be of shape"):
        plot_clusters(IMAGES[:0], [], [])
    with pytest.raises(InputError, match="n_least must be a whole number of at least 1, got 0"):
        plot_clusters(IMAGES, LABELS, CONFIDENCE, n_most=0, n_least=0)
