"""Make the pictures of README and start page: python -m docs.make_pictures.

The method, and the doors of the start page. Digits and photographs are clustered with the default
settings; the scores are those of experiments/results. Needs the extra dev.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from matplotlib.patches import Polygon
from numpy.typing import NDArray
from PIL import Image, ImageOps
from scipy.spatial import ConvexHull
from sklearn.datasets import load_digits

from enhg import HypergraphClustering
from enhg.demo import make_photos
from enhg.features import ImageFeatures
from enhg.report._layout import lay_out

IMAGES = Path(__file__).parent / "images"
RESULTS = Path(__file__).parents[1] / "experiments" / "results"
COLORS = plt.color_sequences["petroff10"]
INK, FAINT, FRAME = "#1f2328", "#656d76", "black"
SAMPLE, N_ATOMS = 3, 6  # the sample that is reconstructed, and the atoms that are shown
CELLS = 180  # of the picture of Θ, per side


def draw_image(ax: Axes, image: NDArray, center: tuple[float, float], zoom: float, color=None):
    """Draw a digit, dark on white, with a frame."""
    picture = OffsetImage(16 - image, cmap="gray", zoom=zoom, clim=(0, 16), interpolation="nearest")
    edge = {"edgecolor": color or "#d0d7de", "lw": 1.8 if color else 0.8}
    box = AnnotationBbox(picture, center, pad=0.12, bboxprops=edge)
    ax.add_artist(box)


def new_part(figure: Figure, place: tuple[float, float, float, float], title: str, text: str):
    """Axes without frame, with a title and a line of text above."""
    ax = figure.add_axes(place)
    ax.set_axis_off()
    left, top = place[0], place[1] + place[3]
    figure.text(left, top + 0.052, title, fontsize=11.5, weight="bold", color=INK)
    figure.text(left, top + 0.016, text, fontsize=9, color=FAINT)
    return ax


def draw_reconstruction(ax: Axes, model: HypergraphClustering) -> None:
    """A sample, the atoms of its largest coefficients, and its reconstruction."""
    structure = model.structure_
    z = structure.representation_.coefficients[[SAMPLE]].toarray().ravel()
    atoms = np.argsort(-np.abs(z))[:N_ATOMS]
    pictures = [SAMPLE, *atoms]
    images = [*structure.samples_[pictures], structure.reconstruct([SAMPLE])[0]]
    places = [0.6, *np.arange(2.1, 2.1 + 1.12 * N_ATOMS, 1.12), 10.6]
    ax.set(xlim=(0, 11.2), ylim=(0.1, 1.8))
    for image, x in zip(images, places, strict=True):
        first_or_last = x in (places[0], places[-1])
        draw_image(ax, image.reshape(8, 8), (x, 0.95), 5.6 if first_or_last else 4.6,
                   FRAME if first_or_last else None)  # fmt: skip
    for atom, x in zip(atoms, places[1:-1], strict=True):
        ax.text(x, 1.55, f"{z[atom]:.3f} ·", ha="center", fontsize=9, color=INK)
    for x in places[2:-1]:
        ax.text(x - 0.56, 0.95, "+", ha="center", va="center", fontsize=12, color=FAINT)
    ax.text(1.38, 0.95, "≈", ha="center", va="center", fontsize=16, color=FAINT)
    rest = np.count_nonzero(z) - N_ATOMS
    ax.text(9.0, 0.95, f"+ {rest} smaller  =", ha="center", va="center", fontsize=10, color=FAINT)
    names = {places[0]: "sample", places[-1]: "reconstruction"}
    for x, name in names.items():
        ax.text(x, 0.15, name, ha="center", fontsize=9, color=INK)


def draw_hyperedges(ax: Axes, model: HypergraphClustering, wide: bool = False) -> None:
    """Two hyperedges that overlap, and below or beside them one of another cluster."""
    incidence = model.structure_.graph_.incidence.tocsc()
    sets = [set(incidence[:, [e]].indices.tolist()) for e in range(len(model.labels_))]
    own = sets[SAMPLE]
    near = min(own - {SAMPLE}, key=lambda e: abs(len(sets[e] & own) - 3))
    far = int(np.flatnonzero(model.labels_ != model.labels_[SAMPLE])[0])
    columns = [own - sets[near], own & sets[near], sets[near] - own]
    places = {
        v: (x, 4 - y) for x, column in enumerate(columns) for y, v in enumerate(sorted(column))
    }
    for at, v in enumerate(sorted(sets[far])):
        places[v] = (3.2 + at // 3, 4 - at % 3) if wide else (at % 3, 0.7 - at // 3)
    turn = np.linspace(0, 2 * np.pi, 60)
    circle = 0.44 * np.column_stack([np.cos(turn), np.sin(turn)])
    for scale, e in ((1, SAMPLE), (0.9, near), (1, far)):
        around = np.vstack([scale * circle + places[v] for v in sets[e]])
        color = COLORS[model.labels_[e]]
        hull = around[ConvexHull(around).vertices]
        ax.add_patch(Polygon(hull, fc=(color, 0.13), ec=color, lw=1.6))
    for v, place in places.items():
        draw_image(ax, model.structure_.samples_[v].reshape(8, 8), place, 3.4 if wide else 2.5,
                   FRAME if v == SAMPLE else None)  # fmt: skip
    ax.set(xlim=(-0.5, 4.7 if wide else 2.5), ylim=(1.5 if wide else -0.78, 4.5), aspect="equal")


def draw_theta(ax: Axes, model: HypergraphClustering) -> None:
    """Θ with the samples sorted by cluster, each cell as dark as the mean of its entries."""
    order = np.argsort(model.labels_, kind="stable")
    theta = model.structure_.graph_.theta_dense()[np.ix_(order, order)]
    np.fill_diagonal(theta, 0)
    at = np.arange(len(order)) * CELLS // len(order)
    picture = np.zeros((CELLS, CELLS))
    np.add.at(picture, (at[:, None], at), theta)
    ax.imshow(np.sqrt(picture), cmap="Blues", vmax=np.quantile(np.sqrt(picture), 0.985))
    ends = np.cumsum(np.bincount(model.labels_)) * CELLS / len(order)
    for color, end, start in zip(COLORS, ends, [0, *ends], strict=False):
        for x, y in (((start, end), (-4, -4)), ((-4, -4), (start, end))):
            ax.plot(x, y, color=color, lw=4, solid_capstyle="butt", clip_on=False)


def draw_clusters(ax: Axes, model: HypergraphClustering) -> None:
    """The map of the report: samples in the colors of their clusters, and one of each below."""
    plane = lay_out(model.embedding_)
    ax.scatter(*plane.T, s=3, c=np.array(COLORS)[model.labels_])
    for cluster in range(model.n_clusters_):
        inside = np.flatnonzero(model.labels_ == cluster)
        surest = model.structure_.samples_[inside[model.confidence_[inside].argmax()]]
        place = ((cluster + 0.5) / model.n_clusters_, -0.1)
        draw_image(ax, surest.reshape(8, 8), place, 1.65, COLORS[cluster])
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.14, 1))


def draw_method(model: HypergraphClustering) -> Figure:
    figure = plt.figure(figsize=(8, 5.4), facecolor="white")
    parts = (
        ((0.02, 0.655, 0.96, 0.235), "1  Sample → coefficients",
         "An elastic net reconstructs every sample, preprocessed, from the others.",
         draw_reconstruction),
        ((0.02, 0.02, 0.31, 0.47), "2  Hyperedges",
         "A sample, and its largest coefficients", draw_hyperedges),
        ((0.36, 0.02, 0.31, 0.47), "3  Matrix Θ", "Large where hyperedges are shared", draw_theta),
        ((0.695, 0.02, 0.29, 0.47), "4  Clusters", "From the top eigenvectors of Θ", draw_clusters),
    )  # fmt: skip
    for place, title, text, draw in parts:
        draw(new_part(figure, place, title, text), model)
    return figure


def draw_photos(ax: Axes) -> None:
    """Photographs of enhg demo, a column for each of five of their clusters."""
    with TemporaryDirectory() as home:
        photos = Path(home, "photos")
        make_photos(photos, seed=0)
        files = sorted(photos.iterdir())
        X = ImageFeatures().fit_transform(files)
        labels = HypergraphClustering(8, random_state=0).fit_predict(X)
        for cluster in range(5):
            for row, at in enumerate(np.flatnonzero(labels == cluster)[:4]):
                with Image.open(files[at]) as picture:
                    square = ImageOps.fit(picture, (90, 62))
                left, bottom = cluster * 96 + 3, (3 - row) * 67 + 3
                ax.imshow(square, extent=(left, left + 90, bottom, bottom + 62))
            ax.plot([left, left + 90], [-4, -4], color=COLORS[cluster], lw=5)
    ax.set(xlim=(0, 480), ylim=(-8, 270), aspect="equal")


def draw_digits(ax: Axes, model: HypergraphClustering) -> None:
    """Digits of the highest confidence, a row for each of five clusters."""
    for row in range(5):
        inside = np.flatnonzero(model.labels_ == row)
        for column, at in enumerate(inside[np.argsort(-model.confidence_[inside])][:9]):
            image = model.structure_.samples_[at].reshape(8, 8)
            draw_image(ax, image, (column, -row), 4.1, COLORS[row])
    ax.set(xlim=(-0.5, 8.5), ylim=(-4.5, 0.5))


def draw_scores(ax: Axes) -> None:
    """Mean AC of every method over the data sets of docs/quality.md."""
    table = pd.read_csv(RESULTS / "quality.csv.gz")
    table = table[table["part"] == "clustering"]
    scores = table.groupby(["method", "data set"])["ac"].mean().groupby("method").mean()
    scores = scores.sort_values()
    colors = [COLORS[0] if name == "enhg" else "#d0d7de" for name in scores.index]
    ax.barh(scores.index, scores, color=colors)
    for at, name in enumerate(scores.index):
        ax.text(0.015, at, name, va="center", fontsize=12, color=INK)
    ax.text(1, 0, "mean clustering\naccuracy", ha="right", transform=ax.transAxes, fontsize=12)


def draw_doors(model: HypergraphClustering) -> dict[str, Figure]:
    """A picture for each page that the start page leads to."""
    doors = {
        "start": draw_photos,
        "guide": partial(draw_clusters, model=model),
        "gallery": partial(draw_digits, model=model),
        "tools": draw_scores,
        "method": partial(draw_hyperedges, model=model, wide=True),
        "reference": partial(draw_theta, model=model),
    }
    figures = {}
    for name, draw in doors.items():
        figures[name] = plt.figure(figsize=(4.8, 2.7), facecolor="white")
        ax = figures[name].add_axes((0.03, 0.05, 0.94, 0.9))
        ax.set_axis_off()
        draw(ax)
    return figures


def main() -> None:
    X = load_digits().data
    model = HypergraphClustering(10, random_state=0).fit(X)
    draw_method(model).savefig(IMAGES / "method.png", dpi=200)
    for name, figure in draw_doors(model).items():
        figure.savefig(IMAGES / f"door-{name}.png", dpi=150)


if __name__ == "__main__":
    main()
