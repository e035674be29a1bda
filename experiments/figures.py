"""The paper's figures, made again; each is a picture, and its numbers or a summary as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from enhg import plotting
from enhg.datasets import Dataset
from enhg.preprocessing import normalize_samples
from enhg.representation.path import elastic_net_path
from enhg.representation.solver import self_representation
from enhg.structures._base import heat, neighbor_distances
from enhg.structures.elastic_net import prominent
from experiments.protocol import Cells, Draw, Task, Work, write_csv, written
from experiments.tables import METRICS

_RIDGE = 0.5  # of the elastic nets in figures of one sample; the paper's 0.02 is per γ unsaid
_RESPONSE = 4  # the fifth face of the first person
_PREDICTORS = np.arange(5, 15)
_KEPT = 45  # coefficients of a sample in the matrices
_MATRICES = (("Elastic net", 5000, 500), ("LASSO", 5000, 0), ("LASSO, fewer entries", 30, 0))
_GAMMAS = (2, 10, 50)
_LAMS = (0, 0.01, 0.1, 0.5, 1, 5, 10, 50, 100, 1000)
_MANY_GAMMAS = (1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200)
_FEW_LAMS = (0.01, 1, 10)
_SHARE = 0.3  # of the labels, in the curves of classification


def _faces(folder: Path, people: int) -> tuple[Dataset, NDArray]:
    """Images of the first people, and the same as samples of unit length."""
    data = Draw("yale-b", people).images(folder)
    return data, normalize_samples(data.X, center=False)


def paths(folder: Path, out: Path, cells: Cells, runs: int) -> None:
    """LASSO and elastic net path of the fifth face of the first person, predictors 6 to 15."""
    data, X = _faces(folder, 4)
    figure, axes = plotting.new_figure(1, 1 + len(_PREDICTORS), (11, 1.4))
    for ax, image in zip(axes, (_RESPONSE, *_PREDICTORS), strict=True):
        plotting.plot_image(data.X[image].reshape(data.image_shape), ax=ax)
        ax.set_title("response" if image == _RESPONSE else str(image + 1), fontsize=9)
    figure.savefig(out / "figure-paths-images.png")
    figure, axes = plotting.new_figure(1, 2, (11, 4.2))
    rows: list[list[Any]] = []
    for ax, (name, ridge) in zip(axes, (("LASSO", 0.0), ("Elastic net", _RIDGE)), strict=True):
        path = elastic_net_path(X, _RESPONSE, ridge)
        plotting.plot_path(path, _PREDICTORS, names=np.arange(1, len(X) + 1), ax=ax)
        lengths = abs(path.coefficients).sum(axis=1)
        places = lengths / lengths.max()
        values = path.coefficients[:, _PREDICTORS].toarray()
        ax.set_title(f"{name}: {_agreement(places, values, X):.2f} mean correlation of the paths")
        rows += [
            [name, f"{a:.6g}", f"{s:.6g}", *(f"{z:.6g}" for z in point)]
            for a, s, point in zip(path.alphas, places, values, strict=True)
        ]
    figure.savefig(out / "figure-paths.png")
    predictors = [f"z{predictor + 1}" for predictor in _PREDICTORS]
    write_csv(out / "figure-paths.csv", ["model", "a", "s", *predictors], rows)


def _agreement(places: NDArray, values: NDArray, X: NDArray) -> float:
    """Mean correlation of the paths of the predictors that are most alike, in pairs."""
    s = np.linspace(0, 1, 200)
    on_grid = np.array([np.interp(s, places, z) for z in values.T])
    alike = np.triu(X[_PREDICTORS] @ X[_PREDICTORS].T > 0.9, 1)
    moving = on_grid.std(axis=1) > 0
    alike &= moving[:, None] & moving
    with np.errstate(invalid="ignore"):
        correlations = np.corrcoef(on_grid)
    return float(correlations[alike].mean()) if alike.any() else float("nan")


def coefficients(folder: Path, out: Path, cells: Cells, runs: int) -> None:
    """Coefficients of the fifth face of the first person, LASSO and elastic net, equally many."""
    data, X = _faces(folder, 4)
    figure, axes = plotting.new_figure(2, 1, (9, 5))
    own = slice(0, int((data.y == data.y[_RESPONSE]).sum()))
    rows = []
    for ax, (name, ridge) in zip(axes, (("LASSO", 0.0), ("Elastic net", _RIDGE)), strict=True):
        path = elastic_net_path(X, _RESPONSE, ridge)
        counts = np.diff(path.coefficients.indptr)
        z = path.coefficients[int(np.argmin(np.abs(counts - _KEPT)))].toarray().ravel()
        inside = np.abs(z[own]).sum() / np.abs(z).sum()
        plotting.plot_coefficients(z, group=own, ax=ax)
        ax.set_title(
            f"{name}: {np.count_nonzero(z)} coefficients, {inside:.0%} of ‖z‖₁ on the own person"
        )
        rows += [[name, sample, f"{z[sample]:.6g}"] for sample in np.flatnonzero(z)]
    figure.savefig(out / "figure-coefficients.png")
    write_csv(out / "figure-coefficients.csv", ["model", "sample", "coefficient"], rows)


def affinity(folder: Path, out: Path, cells: Cells, runs: int) -> None:
    """Coefficient matrices of the first four people, 45 entries a row."""
    data, X = _faces(folder, 4)
    near = neighbor_distances(X, _KEPT)
    near.data = heat(near.data, 1.0)
    matrices = {"KNN": near} | {
        name: prominent(self_representation(X, gamma=gamma, lam=lam).coefficients, "top", _KEPT)
        for name, gamma, lam in _MATRICES
    }
    figure, axes = plotting.new_figure(1, 4, (15, 4.4))
    rows = []
    for ax, (name, Z) in zip(axes, matrices.items(), strict=True):
        entries = sparse.coo_array(Z)
        inside = entries.data[data.y[entries.row] == data.y[entries.col]].sum()
        share = inside / entries.data.sum()
        plotting.plot_coefficient_matrix(Z, ax=ax)
        ax.set_title(f"{name}\n{Z.nnz / len(X):.0f} entries a row\n{share:.0%} on the own person")
        rows.append([name, Z.nnz, f"{share:.4f}"])
    figure.savefig(out / "figure-affinity.png")
    write_csv(out / "figure-affinity.csv", ["model", "entries", "share on the own person"], rows)


def robustness(folder: Path, out: Path, cells: Cells, runs: int) -> None:
    """The hyperedge of a face under growing sparse noise, and under growing loss of pixels."""
    data, _ = _faces(folder, 10)
    images = data.X / data.X.max()
    others = np.delete(np.arange(len(images)), _RESPONSE)
    dictionary = normalize_samples(images[others], center=False)
    own = slice(0, int((data.y == data.y[_RESPONSE]).sum()) - 1)
    shares = (0.0, 0.1, 0.2, 0.3, 0.4)
    rows = []
    for name, spoil in (("sparse noise", _with_sparse_noise), ("missing pixels", _without_pixels)):
        figure, axes = plotting.new_figure(len(shares), 2, (10, 8.5), widths=(6, 1))
        first: set[int] = set()
        for at, share in enumerate(shares):
            image = spoil(images[_RESPONSE], share, np.random.RandomState(0))
            z = self_representation(
                normalize_samples(image[None], center=False), gamma=10, lam=5,
                loss="norm", dictionary=dictionary,
            ).coefficients  # fmt: skip
            members = prominent(z, "largest", 0.3)
            threshold = 0.3 * float(abs(z).max())
            chosen = set(members.indices.tolist())
            first = first or chosen
            kept = len(chosen & first) / len(first)
            on_own = sum(own.start <= member < own.stop for member in chosen)
            ax = plotting.plot_coefficients(z.toarray().ravel(), threshold, own, ax=axes[2 * at])
            ax.set_title(
                f"{share:.0%} {name}: {len(chosen)} members, {on_own} of the own person, {kept:.0%} of the first hyperedge",
                fontsize=9,
            )
            if at < len(shares) - 1:
                ax.set_xlabel("")
            plotting.plot_image(image.reshape(data.image_shape), ax=axes[2 * at + 1])
            rows.append([name, share, len(chosen), on_own, f"{kept:.4f}"])
        figure.savefig(out / f"figure-robustness-{name.replace(' ', '-')}.png")
    heads = ["corruption", "share of pixels", "members", "of the own person", "of the first kept"]
    write_csv(out / "figure-robustness.csv", heads, rows)


def _with_sparse_noise(image: NDArray, share: float, random_state: Any) -> NDArray:
    hit = random_state.permutation(image.size)[: round(share * image.size)]
    spoilt = image.copy()
    spoilt[hit] = random_state.random_sample(len(hit))
    return spoilt


def _without_pixels(image: NDArray, share: float, random_state: Any) -> NDArray:
    spoilt = image.copy()
    spoilt[random_state.permutation(image.size)[: round(share * image.size)]] = 0
    return spoilt


def recovery(folder: Path, out: Path, cells: Cells, runs: int) -> None:
    """Faces with shadows, what the others make of them, and the error."""
    data, X = _faces(folder, 10)
    found = self_representation(X, gamma=10, lam=5, loss="norm")
    lengths = np.linalg.norm(found.residuals, axis=1)
    order = np.argsort(lengths)
    chosen = order[np.linspace(len(order) // 2, len(order) - 1, 10).astype(int)]
    figure, (ax,) = plotting.new_figure(1, 1, (11, 3.8))
    plotting.plot_recovery(found, chosen, data.image_shape, ax=ax)
    figure.savefig(out / "figure-recovery.png")
    write_csv(
        out / "figure-recovery.csv",
        ["sample", "person", "‖error‖ / ‖sample‖"],
        [[int(i), int(data.y[i]), f"{lengths[i]:.4f}"] for i in chosen],
    )


def curve_lambda(folder: Path, out: Path, cells: Cells, runs: int) -> None:
    """AC, NMI and accuracy against λ for three γ: ten people of Extended Yale B."""
    _draw_curves(
        _scores("figure-lambda", cells, runs), "lam", "gamma", "λ", "γ", out / "figure-lambda"
    )


def curve_gamma(folder: Path, out: Path, cells: Cells, runs: int) -> None:
    """AC, NMI and accuracy against γ for three λ, a quarter of the samples corrupted."""
    _draw_curves(
        _scores("figure-gamma", cells, runs), "gamma", "lam", "γ", "λ", out / "figure-gamma"
    )


_CURVES: dict[str, tuple[Draw, list[tuple[float, float]]]] = {
    "figure-lambda": (Draw("yale-b", 10), [(gamma, lam) for gamma in _GAMMAS for lam in _LAMS]),
    "figure-gamma": (
        Draw("yale-b", 10, corrupted=0.25),
        [(gamma, lam) for lam in _FEW_LAMS for gamma in _MANY_GAMMAS],
    ),
}


def works(name: str, runs: int) -> list[Work]:
    """All that a figure is made of and that is kept."""
    if name not in _CURVES:
        return []
    draw, settings = _CURVES[name]
    return [work for setting in settings for work in _works(draw, *setting, runs)]


def _works(draw: Draw, gamma: float, lam: float, runs: int) -> list[Work]:
    # As in the paper: not whitened, and so no errors of single pixels.
    structure = written({"gamma": gamma, "lam": lam, "preprocessing": "zero_mean"})
    learner = (written({}),)
    tasks: dict[Task, tuple[float, ...]] = {"clustering": (0.0,), "classification": (_SHARE,)}
    return [
        Work(task, drawn, "ENHG", structure, learner, numbers, shares)
        for task, shares in tasks.items()
        for drawn, numbers in draw.by_run(runs)
    ]


def _scores(name: str, cells: Cells, runs: int) -> list[dict[str, float]]:
    """Means over the runs of AC, NMI and accuracy of every (γ, λ)."""
    draw, settings = _CURVES[name]
    scores = []
    for gamma, lam in settings:
        rows = [row for work in _works(draw, gamma, lam, runs) for row in cells.of(work)]
        means = {
            metric: float(np.mean([float(row[metric]) for row in rows if row[metric] != ""]))
            for metric in METRICS
        }
        scores.append({"gamma": gamma, "lam": lam, **means})
    return scores


def _draw_curves(
    scores: list[dict[str, float]], across: str, name: str, symbol: str, other: str, file: Path
) -> None:
    figure, axes = plotting.new_figure(1, 3, (14, 4.2))
    for ax, metric in zip(axes, METRICS, strict=True):
        curves = {
            f"{other} = {value:g}": (
                [one[across] for one in scores if one[name] == value],
                [one[metric] for one in scores if one[name] == value],
            )
            for value in dict.fromkeys(one[name] for one in scores)
        }
        label = METRICS[metric] if metric != "accuracy" else f"accuracy, {_SHARE:.0%} labeled"
        plotting.plot_curves(curves, symbol, label, ax=ax)
    figure.savefig(file.with_suffix(".png"))
    heads = list(scores[0])
    write_csv(file.with_suffix(".csv"), heads, [[f"{one[k]:.5g}" for k in heads] for one in scores])


FIGURES = {
    "figure-paths": paths,
    "figure-coefficients": coefficients,
    "figure-affinity": affinity,
    "figure-robustness": robustness,
    "figure-recovery": recovery,
    "figure-lambda": curve_lambda,
    "figure-gamma": curve_gamma,
}
