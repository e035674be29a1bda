"""The paper's figures: each function writes pictures, and their numbers or a summary as CSV."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

from enhg import elastic_net_path, plotting, self_representation
from enhg.datasets import Dataset
from enhg.preprocessing import SampleNormalizer
from experiments.cells import Cells
from experiments.coefficients import largest_per_row
from experiments.protocol import Draw, Job, Task, to_json
from experiments.tables import METRICS, OURS
from experiments.tabular import write_csv

_RIDGE = 0.5  # of the paths; the paper's 0.02 depends on a scale of γ that it does not state
_MODELS = (("LASSO", 0.0), ("Elastic net", _RIDGE))
_SAMPLE = 4  # the fifth face of the first person
_PREDICTORS = np.arange(5, 15)
_KEPT = 45  # coefficients per sample in the matrices
_MATRICES = (("Elastic net", 5000, 500), ("LASSO", 5000, 0), ("LASSO, fewer entries", 30, 0))
_CORRUPTED_SHARES = (0.0, 0.1, 0.2, 0.3, 0.4)
_MEMBER_THRESHOLD = 0.3
_GAMMAS = (2, 10, 50)
_LAMS = (0, 0.01, 0.1, 0.5, 1, 5, 10, 50, 100, 1000)
_MANY_GAMMAS = (1.2, 1.5, 2, 3, 5, 10, 20, 50, 100, 200)
_FEW_LAMS = (0.01, 1, 10)
_SHARE = 0.3  # labeled, in the curves of classification
_CURVES: dict[str, tuple[Draw, list[tuple[float, float]]]] = {
    "figure-lambda": (Draw("yale-b", 10), [(gamma, lam) for gamma in _GAMMAS for lam in _LAMS]),
    "figure-gamma": (
        Draw("yale-b", 10, corrupted=0.25),
        [(gamma, lam) for lam in _FEW_LAMS for gamma in _MANY_GAMMAS],
    ),
}


def _faces(folder: Path, people: int) -> tuple[Dataset, NDArray]:
    """Images of the first people, and the same as samples of unit length."""
    data = Draw("yale-b", people).load(folder)
    return data, _unit_length(data.X)


def _unit_length(X: NDArray) -> NDArray:
    return SampleNormalizer(center=False).fit_transform(X)


def _same_person(data: Dataset) -> slice:
    """The images of the person in the sample that is shown."""
    return slice(0, int((data.y == data.y[_SAMPLE]).sum()))


def plot_paths(folder: Path, out: Path, cells: Cells, runs: int) -> None:
    """LASSO and elastic net path of the fifth face of the first person, predictors 6 to 15."""
    data, X = _faces(folder, 4)
    figure, axes = plotting.new_figure(1, 1 + len(_PREDICTORS), (11, 1.4))
    for ax, image in zip(axes, (_SAMPLE, *_PREDICTORS), strict=True):
        plotting.plot_image(data.X[image].reshape(data.image_shape), ax=ax)
        ax.set_title("response" if image == _SAMPLE else str(image + 1), fontsize=9)
    figure.savefig(out / "figure-paths-images.png")
    figure, axes = plotting.new_figure(1, 2, (11, 4.2))
    rows = []
    for ax, (name, ridge) in zip(axes, _MODELS, strict=True):
        path = elastic_net_path(X, _SAMPLE, ridge)
        plotting.plot_path(path, _PREDICTORS, names=np.arange(1, len(X) + 1), ax=ax)
        correlation = _path_correlation(path.coefficients, X)
        ax.set_title(f"{name}: {correlation:.2f} mean correlation of the paths")
        rows.append([name, len(path.alphas), f"{correlation:.2f}"])
    figure.savefig(out / "figure-paths.png")
    write_csv(out / "figure-paths.csv", ["model", "steps", "mean correlation of the paths"], rows)


def _path_correlation(coefficients: sparse.csr_array, X: NDArray) -> float:
    """Mean correlation of the paths of two predictors, over pairs with a cosine above 0.9."""
    lengths = abs(coefficients).sum(axis=1)
    values = coefficients[:, _PREDICTORS].toarray()
    grid = np.linspace(0, 1, 200)
    paths = np.array([np.interp(grid, lengths / lengths.max(), z) for z in values.T])
    similar = np.triu(X[_PREDICTORS] @ X[_PREDICTORS].T > 0.9, 1)
    varying = paths.std(axis=1) > 0
    similar &= varying[:, None] & varying
    with np.errstate(invalid="ignore"):
        correlations = np.corrcoef(paths)
    return float(correlations[similar].mean()) if similar.any() else float("nan")


def plot_coefficients(folder: Path, out: Path, cells: Cells, runs: int) -> None:
    """Coefficients of the fifth face of the first person, LASSO and elastic net, equally many."""
    data, X = _faces(folder, 4)
    same = _same_person(data)
    figure, axes = plotting.new_figure(2, 1, (9, 5))
    rows = []
    for ax, (name, ridge) in zip(axes, _MODELS, strict=True):
        path = elastic_net_path(X, _SAMPLE, ridge)
        counts = np.diff(path.coefficients.indptr)
        z = path.coefficients[int(np.argmin(np.abs(counts - _KEPT)))].toarray().ravel()
        share = np.abs(z[same]).sum() / np.abs(z).sum()
        plotting.plot_coefficients(z, group=same, ax=ax)
        ax.set_title(
            f"{name}: {np.count_nonzero(z)} coefficients, {share:.0%} of ‖z‖₁ on the same person"
        )
        rows += [[name, sample, f"{z[sample]:.6g}"] for sample in np.flatnonzero(z)]
    figure.savefig(out / "figure-coefficients.png")
    write_csv(out / "figure-coefficients.csv", ["model", "sample", "coefficient"], rows)


def plot_affinity(folder: Path, out: Path, cells: Cells, runs: int) -> None:
    """Coefficient matrices of the first four people, 45 entries per row."""
    data, X = _faces(folder, 4)
    matrices = {"KNN": _heat_kernel(X, _KEPT)} | {
        name: largest_per_row(self_representation(X, gamma=gamma, lam=lam).coefficients, _KEPT)
        for name, gamma, lam in _MATRICES
    }
    figure, axes = plotting.new_figure(1, 4, (15, 4.4))
    rows = []
    for ax, (name, Z) in zip(axes, matrices.items(), strict=True):
        entries = sparse.coo_array(Z)
        within = entries.data[data.y[entries.row] == data.y[entries.col]].sum()
        share = within / entries.data.sum()
        plotting.plot_coefficient_matrix(Z, ax=ax)
        ax.set_title(
            f"{name}\n{Z.nnz / len(X):.0f} entries per row\n{share:.0%} on the same person"
        )
        rows.append([name, Z.nnz, f"{share:.4f}"])
    figure.savefig(out / "figure-affinity.png")
    write_csv(out / "figure-affinity.csv", ["model", "entries", "share on the same person"], rows)


def _heat_kernel(X: NDArray, n_neighbors: int) -> sparse.csr_array:
    """exp(−d²/m²) of the nearest neighbors, m the median distance."""
    weights = sparse.csr_array(kneighbors_graph(X, n_neighbors, mode="distance"))
    weights.data = np.exp(-((weights.data / np.median(weights.data)) ** 2))
    return weights


def plot_robustness(folder: Path, out: Path, cells: Cells, runs: int) -> None:
    """The hyperedge of a face under growing sparse noise, and with growing loss of pixels."""
    data = Draw("yale-b", 10).load(folder)
    corruptions = {"sparse noise": _add_sparse_noise, "missing pixels": _remove_pixels}
    rows: list[list[Any]] = []
    for name, corrupt in corruptions.items():
        figure, axes = plotting.new_figure(len(_CORRUPTED_SHARES), 2, (10, 8.5), widths=(6, 1))
        rows += _plot_corruptions(
            data, name, corrupt, list(zip(axes[::2], axes[1::2], strict=True))
        )
        figure.savefig(out / f"figure-robustness-{name.replace(' ', '-')}.png")
    header = ["corruption", "share of pixels", "members", "of the same person", "kept of the first"]
    write_csv(out / "figure-robustness.csv", header, rows)


def _plot_corruptions(
    data: Dataset, name: str, corrupt: Callable[..., NDArray], axes: list[tuple[Any, Any]]
) -> list[list[Any]]:
    """One row of axes per share of corrupted pixels: the coefficients and the image."""
    images = data.X / data.X.max()
    dictionary = _unit_length(np.delete(images, _SAMPLE, axis=0))
    same = slice(0, _same_person(data).stop - 1)
    first: set[int] = set()
    rows = []
    for share, (left, right) in zip(_CORRUPTED_SHARES, axes, strict=True):
        image = corrupt(images[_SAMPLE], share, np.random.RandomState(0))
        z = self_representation(
            _unit_length(image[None]), gamma=10, lam=5, loss="norm", dictionary=dictionary
        ).coefficients.toarray().ravel()  # fmt: skip
        threshold = _MEMBER_THRESHOLD * float(np.abs(z).max())
        members = set(np.flatnonzero(np.abs(z) > threshold).tolist())
        first = first or members
        kept = len(members & first) / len(first)
        n_same = sum(same.start <= member < same.stop for member in members)
        plotting.plot_coefficients(z, threshold, same, ax=left)
        left.set_title(
            f"{share:.0%} {name}: {len(members)} members, {n_same} of the same person, "
            f"{kept:.0%} of the first hyperedge",
            fontsize=9,
        )
        if share != _CORRUPTED_SHARES[-1]:
            left.set_xlabel("")
        plotting.plot_image(image.reshape(data.image_shape), ax=right)
        rows.append([name, share, len(members), n_same, f"{kept:.4f}"])
    return rows


def _add_sparse_noise(image: NDArray, share: float, random_state: np.random.RandomState) -> NDArray:
    pixels = random_state.permutation(image.size)[: round(share * image.size)]
    corrupted = image.copy()
    corrupted[pixels] = random_state.random_sample(len(pixels))
    return corrupted


def _remove_pixels(image: NDArray, share: float, random_state: np.random.RandomState) -> NDArray:
    corrupted = image.copy()
    corrupted[random_state.permutation(image.size)[: round(share * image.size)]] = 0
    return corrupted


def plot_reconstructions(folder: Path, out: Path, cells: Cells, runs: int) -> None:
    """Faces, their reconstructions and their residuals."""
    data, X = _faces(folder, 10)
    representation = self_representation(X, gamma=10, lam=5, loss="norm")
    residuals = representation.relative_residuals
    order = np.argsort(residuals)
    chosen = order[np.linspace(len(order) // 2, len(order) - 1, 10).astype(int)]
    figure, (ax,) = plotting.new_figure(1, 1, (11, 3.8))
    plotting.plot_reconstructions(representation, chosen, data.image_shape, ax=ax)
    figure.savefig(out / "figure-recovery.png")
    write_csv(
        out / "figure-recovery.csv",
        ["sample", "person", "relative residual"],
        [[int(i), int(data.y[i]), f"{residuals[i]:.4f}"] for i in chosen],
    )


def plot_lambda(folder: Path, out: Path, cells: Cells, runs: int) -> None:
    """AC, NMI and accuracy against λ for three γ, on ten people of Extended Yale B."""
    scores = _scores("figure-lambda", cells, runs)
    write_curves(scores, out / "figure-lambda.csv")
    draw_curves("figure-lambda", scores, out / "figure-lambda.png")


def plot_gamma(folder: Path, out: Path, cells: Cells, runs: int) -> None:
    """AC, NMI and accuracy against γ for three λ, with a quarter of the samples corrupted."""
    scores = _scores("figure-gamma", cells, runs)
    write_curves(scores, out / "figure-gamma.csv")
    draw_curves("figure-gamma", scores, out / "figure-gamma.png")


def jobs(name: str, runs: int) -> list[Job]:
    """Return the jobs whose rows a figure needs."""
    if name not in _CURVES:
        return []
    draw, settings = _CURVES[name]
    return [job for setting in settings for job in _curve_jobs(draw, *setting, runs)]


def _curve_jobs(draw: Draw, gamma: float, lam: float, runs: int) -> list[Job]:
    # As in the paper: not whitened, and therefore without sparse errors.
    structure = to_json({"gamma": gamma, "lam": lam, "preprocessing": "zero_mean"})
    tasks: dict[Task, tuple[float, ...]] = {"clustering": (0.0,), "classification": (_SHARE,)}
    return [
        Job(task, by_run, OURS, structure, (to_json({}),), numbers, shares)
        for task, shares in tasks.items()
        for by_run, numbers in draw.by_run(runs)
    ]


def _scores(name: str, cells: Cells, runs: int) -> list[dict[str, float]]:
    """Mean AC, NMI and accuracy of every (γ, λ)."""
    draw, settings = _CURVES[name]
    scores = []
    for gamma, lam in settings:
        rows = [row for job in _curve_jobs(draw, gamma, lam, runs) for row in cells.rows(job)]
        means = {
            metric: float(np.mean([float(row[metric]) for row in rows if row[metric] != ""]))
            for metric in METRICS
        }
        scores.append({"gamma": gamma, "lam": lam, **means})
    return scores


def write_curves(scores: list[dict[str, float]], file: Path) -> None:
    """Write the scores of every (γ, λ) as CSV."""
    header = list(scores[0])
    write_csv(file, header, [[f"{row[name]:.5g}" for name in header] for row in scores])


def draw_curves(name: str, scores: list[dict[str, float]], file: Path) -> None:
    """Plot the scores of every (γ, λ), one panel per metric."""
    x, label, curve, symbol = ("lam", "λ", "gamma", "γ")
    if name == "figure-gamma":
        x, label, curve, symbol = ("gamma", "γ", "lam", "λ")
    figure, axes = plotting.new_figure(1, 3, (14, 4.2))
    for ax, (metric, title) in zip(axes, METRICS.items(), strict=True):
        curves = {
            f"{symbol} = {value:g}": (
                [row[x] for row in scores if row[curve] == value],
                [row[metric] for row in scores if row[curve] == value],
            )
            for value in dict.fromkeys(row[curve] for row in scores)
        }
        if metric == "accuracy":
            title = f"accuracy, {_SHARE:.0%} labeled"
        plotting.plot_curves(curves, label, title, ax=ax)
    figure.savefig(file)


FIGURES = {
    "figure-paths": plot_paths,
    "figure-coefficients": plot_coefficients,
    "figure-affinity": plot_affinity,
    "figure-robustness": plot_robustness,
    "figure-recovery": plot_reconstructions,
    "figure-lambda": plot_lambda,
    "figure-gamma": plot_gamma,
}
