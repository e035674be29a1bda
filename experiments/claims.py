"""Analyses behind the discussion of the reproduction.

They measure what each difference from the paper changes, and why some of its numbers cannot be
reached here. What `jobs` lists is kept in the file of single runs; the rest is computed by `write`.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, cpu_count, delayed
from numpy.typing import NDArray
from sklearn.cluster import SpectralClustering
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from threadpoolctl import threadpool_limits

from enhg import (
    HypergraphClustering,
    L1Graph,
    LowRankGraph,
    SparseSubspaceGraph,
    self_representation,
)
from enhg.preprocessing import SampleNormalizer
from enhg.structures.choice import choose_preprocessing, preprocessing_scores
from experiments.cells import Cells
from experiments.protocol import (
    SHARES,
    Draw,
    Job,
    Row,
    clustering_scores,
    draw_labels,
    to_json,
)
from experiments.search import Setting, setting_for
from experiments.selection import PREPROCESSINGS
from experiments.tables import OURS, TITLES, paper_numbers, row_name
from experiments.tabular import markdown, write_csv

Line = list[str]

_PAPER_GAMMA, _PAPER_LAM = 0.18, 0.01

_DIGITS = (Draw("usps", 10, 200), Draw("usps", 10))
_FACES = Draw("pie", 15, 50)
_DRAWS = (Draw("yale-b", 10), Draw("yale-b", 38), Draw("pie", 15), Draw("usps", 10, 200))
_PAPER_RULE = {"selection": "mean", "threshold": None, "membership": "binary"}
_PAPER_LEARNER = {"normalize_rows": False, "method": "spectral"}
_TEN_MEMBERS = {"selection": "top", "threshold": 10}
# Changed parameters of the structure and of the learner, of the shared setting.
_CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "none: the shared setting of the tables": ({}, {}),
    "θ is the mean of all |z|": ({"selection": "mean", "threshold": None}, {}),
    "rows of the embedding not normalized": ({}, {"normalize_rows": False}),
    "k top eigenvectors with equal weights": ({}, {"method": "spectral"}),
    "binary memberships": ({"membership": "binary"}, {}),
    "hyperedge weights from cosines of z": ({"weighting": "cosine"}, {}),
    "symmetrized coefficients": ({"symmetrize": True}, {}),
    "no sparse errors": ({"error_weight": None}, {}),
    # The norm loss with sparse errors fits nearly exactly, which takes very long.
    "no sparse errors, norm loss": ({"error_weight": None, "loss": "norm"}, {}),
    "neither whitened nor smoothed, sparse errors": (
        {"preprocessing": "zero_mean", "error_weight": 0.5},
        {},
    ),
    "neither whitened nor smoothed, no sparse errors": ({"preprocessing": "zero_mean"}, {}),
    "λ = 0": ({"lam": 0}, {}),
    "the paper's θ, rows, eigenvectors and memberships": (_PAPER_RULE, _PAPER_LEARNER),
    "the same, neither whitened nor smoothed, no sparse errors": (
        _PAPER_RULE | {"preprocessing": "zero_mean"},
        _PAPER_LEARNER,
    ),
}
# The same, of the paper setting.
_EXTENSIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "none: as in the paper": ({}, {}),
    "rows of the embedding normalized": ({}, {"normalize_rows": True}),
    "the ten largest |z| of every sample make members": (_TEN_MEMBERS, {}),
    "soft memberships": ({"membership": "soft"}, {}),
    "faces whitened, digits smoothed": ({"preprocessing": "auto"}, {}),
    "all of these": (
        _TEN_MEMBERS | {"membership": "soft", "preprocessing": "auto"},
        {"normalize_rows": True},
    ),
}
_CHANGED: dict[Setting, dict[str, tuple[dict[str, Any], dict[str, Any]]]] = {
    "shared": _CHANGES,
    "paper": _EXTENSIONS,
}
_PREPROCESSED = (
    *(Draw("yale-b", count) for count in (1, 2, 4, 10, 38)),
    *(Draw("yale-b", 38, count) for count in (4, 8, 20, 50)),
    *(Draw("pie", count) for count in (2, 15, 68)),
    *(Draw("pie", 15, count) for count in (5, 20, 50)),
    *(Draw("usps", count, 200) for count in (1, 2, 4, 10)),
    *(Draw("usps", 10, count) for count in (20, 0)),
)
_ALPHA_Z = 20.0
_RANKS = (15, 60, 135)
_ERROR_WEIGHTS = (0.1, 0.3, 1.0)
_FEW_RUNS = 3
_FAST = ("LE-graph", "KNN-HG", OURS)  # structures that all images of USPS do not slow down


def jobs(runs: int) -> list[Job]:
    """Return the jobs whose rows the analyses need."""
    changed = [
        job
        for setting in _CHANGED
        for group in _changed_jobs(setting, runs).values()
        for part in group
        for job in part
    ]
    digits = [job for group in _digit_jobs(runs).values() for job in group]
    return changed + digits + _face_jobs(runs)


def _changed_jobs(setting: Setting, runs: int) -> dict[str, list[list[Job]]]:
    """For every change of a setting, the jobs of each draw."""
    chosen, learned = (json.loads(text) for text in setting_for(OURS, "clustering", setting))
    return {
        name: [
            [
                Job(
                    "clustering", by_run, OURS, to_json(chosen | structure),
                    (to_json(learned | learner),), numbers,
                )
                for by_run, numbers in draw.by_run(runs)
            ]
            for draw in _DRAWS
        ]
        for name, (structure, learner) in _CHANGED[setting].items()
    }  # fmt: skip


def _digit_jobs(runs: int) -> dict[tuple[str, Draw], list[Job]]:
    return {
        (method, draw): _classification_jobs(method, draw, "tuned", runs)
        for method, draw in product(_FAST, _DIGITS)
    }


def _face_jobs(runs: int) -> list[Job]:
    """The jobs of ENHG on PIE in table IV."""
    return _classification_jobs(OURS, _FACES, "default", runs)


def _classification_jobs(method: str, draw: Draw, setting: Setting, runs: int) -> list[Job]:
    structure, learner = setting_for(method, "classification", setting, draw.dataset)
    return [
        Job("classification", by_run, method, structure, (learner,), numbers, SHARES)
        for by_run, numbers in draw.by_run(runs)
    ]


def write(folder: Path, out: Path, cells: Cells, runs: int) -> None:
    """Write every analysis as CSV and Markdown."""
    draws = [row_name(draw, "clustering") for draw in _DRAWS]
    shares = [f"{share:.0%} labeled" for share in SHARES]
    faces = [
        _discriminants(folder, runs),
        *_accuracy_lines(OURS, _rows(_face_jobs(runs), cells)),
        _paper_line(OURS, _FACES),
    ]
    _write(out / "claims-choices", ["change", *draws], _changed_lines("shared", cells, runs))
    _write(out / "claims-extensions", ["change", *draws], _changed_lines("paper", cells, runs))
    _write(out / "claims-usps", ["structure, images", *shares], _digit_lines(cells, runs))
    _write(out / "claims-pie", ["", *shares], faces)
    header = ["data set", "loss", "largest γ·|xⱼᵀxᵢ|", "non-zeros of Z"]
    _write(out / "claims-gamma", header, _paper_gamma(folder))
    header = ["PIE, 750 images", "AC", "NMI"]
    _write(out / "claims-independent", header, _independent(folder, runs))
    header = ["images", "zero mean", "smoothed", "whitened", 'chosen by "auto"']
    _write(out / "claims-whitening", header, _preprocessing_choices(folder))


def _write(file: Path, header: Line, lines: Sequence[Line]) -> None:
    write_csv(file.with_suffix(".csv"), header, lines)
    file.with_suffix(".md").write_text(markdown(header, lines), encoding="utf-8")


def _rows(jobs: Iterable[Job], cells: Cells) -> list[Row]:
    return [row for job in jobs for row in cells.rows(job)]


def _mean_clustering(rows: list[Row]) -> str:
    means = (float(np.mean([float(row[metric]) for row in rows])) for metric in ("ac", "nmi"))
    return " / ".join(_texts(means))


def _texts(scores: Iterable[float]) -> Line:
    return [f"{score:.3f}" for score in scores]


def _changed_lines(setting: Setting, cells: Cells, runs: int) -> list[Line]:
    return [
        [name, *(_mean_clustering(_rows(part, cells)) for part in group)]
        for name, group in _changed_jobs(setting, runs).items()
    ]


def _digit_lines(cells: Cells, runs: int) -> list[Line]:
    by_place = _digit_jobs(runs)
    lines = []
    for method in _FAST:
        for draw in _DIGITS:
            images = f"{draw.per_class} per digit" if draw.per_class else "all 9298"
            lines += _accuracy_lines(f"{method}, {images}", _rows(by_place[method, draw], cells))
        lines.append(_paper_line(method, _DIGITS[0]))
    return lines


def _accuracy_lines(name: str, rows: list[Row]) -> list[Line]:
    """Mean accuracy on the unlabeled samples, and on all if the given labels count as correct."""
    means = [
        float(np.mean([float(row["accuracy"]) for row in rows if float(row["share"]) == share]))
        for share in SHARES
    ]
    on_all = [share + (1 - share) * mean for share, mean in zip(SHARES, means, strict=True)]
    return [[name, *_texts(means)], [f"{name}, labeled images included", *_texts(on_all)]]


def _paper_line(method: str, draw: Draw) -> Line:
    paper = paper_numbers()
    names = [row_name(draw, "classification", share) for share in SHARES]
    return [f"{method}, paper", *_texts(paper[name, "accuracy", method] for name in names)]


def _map_runs(score: Callable[[Any], Any], runs: Iterable[Any]) -> list[Any]:
    """Apply a function to every run, one per core at a time."""

    def in_one_thread(run: Any) -> Any:
        with threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("default", ConvergenceWarning)
            return score(run)

    return Parallel(cpu_count())(delayed(in_one_thread)(run) for run in runs)


def _discriminants(folder: Path, runs: int) -> Line:
    """Accuracy of linear discriminant analysis on the images and labels of PIE in table IV."""

    def scores(run: int) -> list[float]:
        data = replace(_FACES, seed=run).load(folder)
        X = SampleNormalizer().fit_transform(data.X)
        accuracies = []
        for share in SHARES:
            labeled = draw_labels(data.y, share, np.random.RandomState(run))
            model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
            model.fit(X[labeled], data.y[labeled])
            accuracies.append(model.score(X[~labeled], data.y[~labeled]))
        return accuracies

    return [
        "linear discriminant analysis",
        *_texts(np.mean(_map_runs(scores, range(runs)), axis=0)),
    ]


def _paper_gamma(folder: Path) -> list[Line]:
    """Non-zeros of the representation at the paper's γ and λ, for both losses."""
    lines = []
    for draw in _DRAWS:
        X = SampleNormalizer().fit_transform(draw.load(folder).X)
        product_bound = f"{_PAPER_GAMMA * _largest_products(X).max():.3f}"
        for loss in ("norm", "squared"):
            Z = self_representation(
                X, gamma=_PAPER_GAMMA, lam=_PAPER_LAM, loss=loss, gamma_scale="absolute"
            ).coefficients
            lines.append([row_name(draw, "clustering"), loss, product_bound, str(Z.nnz)])
    return lines


def _largest_products(X: NDArray) -> NDArray:
    """maxⱼ |xⱼᵀxᵢ| of every sample over the others."""
    products = np.abs(X @ X.T)
    np.fill_diagonal(products, 0)
    return products.max(axis=1)


def _independent(folder: Path, runs: int) -> list[Line]:
    """The l1-graph, SSC and LRR of PIE from scikit-learn and NumPy, and from this package.

    The independent l1-graph and SSC have no sparse errors; the independent LRR has no errors,
    where it is known in closed form, at several ranks. They are clustered by scikit-learn's
    `SpectralClustering`; the structures of this package by the k top eigenvectors.
    """

    def scores(run: int) -> dict[str, tuple[float, float]]:
        data = replace(_FACES, seed=run).load(folder)
        X = SampleNormalizer().fit_transform(data.X).astype(np.float64)
        gamma = _ALPHA_Z / _largest_products(X).min()  # SSC's α_z / μ_z
        return {
            name: clustering_scores(data.y, labels)
            for name, labels in (
                *_baseline_labels(X, gamma, run).items(),
                *_package_labels(X, gamma, run).items(),
            )
        }

    by_run = _map_runs(scores, range(min(runs, _FEW_RUNS)))
    return [
        [name, *_texts(np.mean([scores[name] for scores in by_run], axis=0))] for name in by_run[0]
    ]


def _baseline_labels(X: NDArray, gamma: float, run: int) -> dict[str, NDArray]:
    C = _lasso_coefficients(X, gamma)
    U, _, _ = np.linalg.svd(X, full_matrices=False)
    weights = {"l1-graph, scikit-learn": C, "SSC, scikit-learn": _scale_rows(C)}
    weights |= {f"LRR, closed form, rank {r}": (U[:, :r] @ U[:, :r].T) ** 2 for r in _RANKS}
    labels = {}
    for name, W in weights.items():
        np.fill_diagonal(W, 0)
        baseline = SpectralClustering(
            _FACES.classes,
            affinity="precomputed",
            assign_labels="kmeans",
            n_init=30,
            random_state=run,
        )
        labels[name] = baseline.fit_predict((W + W.T) / 2)
    return labels


def _package_labels(X: NDArray, gamma: float, run: int) -> dict[str, NDArray]:
    structures: dict[str, Any] = {
        "l1-graph, enhg": L1Graph(gamma=gamma, gamma_scale="absolute"),
        "SSC, enhg": SparseSubspaceGraph(alpha_z=_ALPHA_Z, alpha_e=None),
    }
    for weight in _ERROR_WEIGHTS:
        structures[f"LRR, enhg, error_weight={weight}"] = LowRankGraph(error_weight=weight)
    return {
        name: HypergraphClustering(
            _FACES.classes,
            structure=structure.set_params(preprocessing="zero_mean"),
            method="spectral",
            random_state=run,
        ).fit_predict(X)
        for name, structure in structures.items()
    }


def _scale_rows(C: NDArray) -> NDArray:
    """Divide every row by its largest entry."""
    return C / np.maximum(C.max(axis=1, keepdims=True), np.finfo(float).tiny)


def _lasso_coefficients(X: NDArray, gamma: float) -> NDArray:
    """|C| of scikit-learn's lasso at an absolute γ, one sample at a time."""
    n, d = X.shape
    C = np.zeros((n, n))
    for i in range(n):
        others = np.delete(np.arange(n), i)
        lasso = Lasso(1 / gamma / d, fit_intercept=False, max_iter=5000)
        C[i, others] = np.abs(lasso.fit(X[others].T, X[i]).coef_)
    return C


def _preprocessing_choices(folder: Path) -> list[Line]:
    """The modularities by which `preprocessing="auto"` chooses, on large and small draws."""
    lines = []
    for draw in _PREPROCESSED:
        X = draw.load(folder).X
        scores = preprocessing_scores(X)
        shown = [f"{scores[name]:.3f}" if name in scores else "" for name in PREPROCESSINGS]
        lines.append([_images_name(draw, len(X)), *shown, choose_preprocessing(X)])
    return lines


def _images_name(draw: Draw, n_images: int) -> str:
    """The name of a draw with its numbers of classes and images."""
    kind = "digit" if draw.dataset == "usps" else "subject"
    classes = f"{draw.classes} {kind}{'s' if draw.classes > 1 else ''}"
    images = f" × {draw.per_class} images" if draw.per_class else f", all {n_images} images"
    return f"{TITLES[draw.dataset]}, {classes}{images}"
