"""The experiments behind the account of the reproduction: what each departure from the paper
changes, and why some of its numbers cannot be met here."""

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
from scipy import sparse
from sklearn.cluster import SpectralClustering
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Lasso
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from enhg.hypergraph import Hypergraph
from enhg.learning.clustering import HypergraphClustering
from enhg.metrics import clustering_accuracy, normalized_mutual_information
from enhg.preprocessing import (
    Normalizer,
    check_samples,
    directions_spread_over,
    normalize_samples,
    weak_contrast,
)
from enhg.representation.solver import self_representation
from enhg.structures._base import Structure
from enhg.structures.elastic_net import incidence_of, prominent
from enhg.structures.l1_graph import L1Graph
from enhg.structures.low_rank import LowRankGraph
from enhg.structures.sparse_subspace import SparseSubspaceGraph
from experiments.methods import METHODS
from experiments.protocol import (
    SHARES,
    Cells,
    Draw,
    Row,
    Work,
    draw_labels,
    markdown,
    write_csv,
    written,
)
from experiments.search import setting_for
from experiments.tables import paper_numbers, row_name

Line = list[str]

_GAMMA, _LAM = 0.18, 0.01  # the paper's

_DIGITS = (Draw("usps", 10, 200), Draw("usps", 10))
_FACES = Draw("pie", 15, 50)
_SETS = (Draw("yale-b", 10), Draw("yale-b", 38), Draw("pie", 15), Draw("usps", 10, 200))
_LITERAL = {"selection": "mean", "threshold": None, "membership": "binary"}
_CHANGES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "nothing: the one setting of the tables": ({}, {}),
    "θ is the mean of all \\|z\\|": ({"selection": "mean", "threshold": None}, {}),
    "rows of the embedding not scaled": ({}, {"normalize_rows": False}),
    "k top eigenvectors, all alike": ({}, {"eigenvector_weighting": "equal"}),
    "incidence 0 or 1": ({"membership": "binary"}, {}),
    "weights from cosines of z": ({"weighting": "cosine"}, {}),
    "samples that rebuild each other first": ({"symmetrize": True}, {}),
    "no errors of single pixels": ({"error_weight": None}, {}),
    # With errors of single pixels the norm fits nearly exactly, which takes very long.
    "no errors of single pixels, the norm for the loss": (
        {"error_weight": None, "loss": "norm"},
        {},
    ),
    "neither whitened nor smoothed, errors of single pixels": (
        {"preprocessing": "zero_mean", "error_weight": 0.5},
        {},
    ),
    "neither whitened nor smoothed, no errors of single pixels": (
        {"preprocessing": "zero_mean"},
        {},
    ),
    "λ = 0": ({"lam": 0}, {}),
    "the paper's θ, rows, eigenvectors and incidence": (
        _LITERAL,
        {"normalize_rows": False, "eigenvector_weighting": "equal"},
    ),
    "the same, neither whitened nor smoothed, no errors of single pixels: as the paper": (
        _LITERAL | {"preprocessing": "zero_mean"},
        {"normalize_rows": False, "eigenvector_weighting": "equal"},
    ),
}
_WHITENED_OR_NOT = (
    *(Draw("yale-b", count) for count in (1, 2, 4, 10, 38)),
    *(Draw("yale-b", 38, count) for count in (4, 8, 20, 50)),
    *(Draw("pie", count) for count in (2, 15, 68)),
    *(Draw("pie", 15, count) for count in (5, 20, 50)),
    *(Draw("usps", count, 200) for count in (1, 2, 4, 10)),
    *(Draw("usps", 10, count) for count in (20, 0)),
)
_ALPHA_Z = 20.0
_RANKS = (15, 60, 135)
_FEW_RUNS = 3
_SECOND_ORDER = (0, 0.5, 1)
_COMPLETE = ("LE-graph", "KNN-HG", "ENHG")  # what a few thousand more images do not slow down


def works(runs: int) -> list[Work]:
    """All that the tables are made of and that is kept."""
    changed = [
        work for by_draw in _all_changed(runs).values() for w in by_draw.values() for work in w
    ]
    digits = [work for found in _all_digits(runs).values() for work in found]
    return changed + digits + _faces(runs)


def _all_changed(runs: int) -> dict[str, dict[Draw, list[Work]]]:
    """By change and set."""
    one, learned = (json.loads(text) for text in setting_for("ENHG", "clustering", None))
    return {
        name: {
            draw: [
                Work(
                    "clustering", drawn, "ENHG", written(one | structure),
                    (written(learned | learner),), numbers,
                )
                for drawn, numbers in draw.by_run(runs)
            ]
            for draw in _SETS
        }
        for name, (structure, learner) in _CHANGES.items()
    }  # fmt: skip


def _all_digits(runs: int) -> dict[tuple[str, Draw], list[Work]]:
    """By method and images."""
    return {
        (method, draw): _classified(method, draw, "usps", runs)
        for method, draw in product(_COMPLETE, _DIGITS)
    }


def _faces(runs: int) -> list[Work]:
    """ENHG on PIE, as in table 4."""
    return _classified("ENHG", _FACES, None, runs)


def _classified(method: str, draw: Draw, tuned_for: str | None, runs: int) -> list[Work]:
    structure, learner = setting_for(method, "classification", tuned_for)
    return [
        Work("classification", drawn, method, structure, (learner,), numbers, SHARES)
        for drawn, numbers in draw.by_run(runs)
    ]


def write(folder: Path, out: Path, cells: Cells, runs: int) -> None:
    """Tables of the paper's γ, its choices, its USPS column, PIE supervised, and whitening."""
    _write(
        out / "claims-choices",
        ["changed", *(row_name(draw, "clustering") for draw in _SETS)],
        [[name, *_clustered(works, cells)] for name, works in _all_changed(runs).items()],
    )
    _write(
        out / "claims-second-order",
        ["weight of the members' members", *(row_name(draw, "clustering") for draw in _SETS)],
        _second_order(folder, runs),
    )
    _write(
        out / "claims-usps",
        ["method, images", *(f"{share:.0%} labeled" for share in SHARES)],
        _beside_the_paper(_all_digits(runs), cells),
    )
    _write(
        out / "claims-pie",
        ["", *(f"{share:.0%} labeled" for share in SHARES)],
        [
            _supervised(folder, runs),
            *_and_counted("ENHG", _rows(_faces(runs), cells)),
            _of_the_paper("ENHG", _FACES),
        ],
    )
    _write(
        out / "claims-gamma",
        ["set", "loss", "largest γ·\\|xⱼᵀxᵢ\\|", "non-zeros of Z"],
        _empty(folder),
    )
    _write(out / "claims-independent", ["PIE, 750 images", "AC", "NMI"], _independent(folder, runs))
    _write(
        out / "claims-whitening",
        ["images", "contrast of the weak directions", "directions", 'what "auto" takes'],
        _told_apart(folder),
    )


def _clustered(works: dict[Draw, list[Work]], cells: Cells) -> Iterable[str]:
    for of_set in works.values():
        rows = _rows(of_set, cells)
        yield " / ".join(
            f"{np.mean([float(row[metric]) for row in rows]):.3f}" for metric in ("ac", "nmi")
        )


def _second_order(folder: Path, runs: int) -> list[Line]:
    """ENHG's hyperedges from its |z|, rows of sum 1, and some of their square: members of members.

    Ten members are kept, by what they have of both.
    """
    structure, learner = (json.loads(text) for text in setting_for("ENHG", "clustering", None))

    def scores(task: tuple[Draw, int]) -> list[list[float]]:
        draw, run = task
        data = next(drawn for drawn, numbers in draw.by_run(runs) if run in numbers).images(folder)
        fitted = METHODS["ENHG"].build(structure).fit(data.X)
        Z = normalize(abs(fitted.representation_.coefficients), norm="l1")
        found = []
        for weight in _SECOND_ORDER:
            both = sparse.csr_array(Z + weight * (Z @ Z))
            both.setdiag(0)
            members = normalize(prominent(both, "top", structure["level"]), norm="l1")
            graph = Hypergraph(incidence_of(members), fitted.graph_.weights)
            model = HypergraphClustering(draw.classes, structure=graph, random_state=run, **learner)
            found.append(_scores(data.y, model.fit_predict(data.X)))
        return found

    tasks = list(product(_SETS, range(min(runs, _FEW_RUNS))))
    by_task = dict(zip(tasks, _of_runs(scores, tasks), strict=True))
    lines = []
    for at, weight in enumerate(_SECOND_ORDER):
        cells = (
            np.mean([found[at] for (draw, _), found in by_task.items() if draw == of], axis=0)
            for of in _SETS
        )
        lines.append([f"{weight:g}", *(" / ".join(_in_words(cell)) for cell in cells)])
    return lines


def _beside_the_paper(works: dict[tuple[str, Draw], list[Work]], cells: Cells) -> list[Line]:
    lines = []
    for method in _COMPLETE:
        for draw in _DIGITS:
            images = f"{draw.per_class} a digit" if draw.per_class else "all 9298"
            lines += _and_counted(f"{method}, {images}", _rows(works[method, draw], cells))
        lines.append(_of_the_paper(method, _DIGITS[0]))
    return lines


def _rows(works: Iterable[Work], cells: Cells) -> list[Row]:
    return [row for work in works for row in cells.of(work)]


def _and_counted(name: str, rows: list[Row]) -> list[Line]:
    """Mean accuracy on the unlabeled at every share, and if the given labels are counted too."""
    means = [_mean_at(rows, share) for share in SHARES]
    over_all = [share + (1 - share) * m for share, m in zip(SHARES, means, strict=True)]
    return [
        [name, *_in_words(means)],
        [f"{name}, given labels counted", *_in_words(over_all)],
    ]


def _of_the_paper(method: str, draw: Draw) -> Line:
    paper = paper_numbers()
    names = (row_name(draw, "classification", share) for share in SHARES)
    return [f"{method}, the paper's", *_in_words(paper[n, "accuracy", method] for n in names)]


def _in_words(figures: Iterable[float]) -> Line:
    return [f"{figure:.3f}" for figure in figures]


def _mean_at(rows: Iterable[Row], share: float) -> float:
    return float(np.mean([float(row["accuracy"]) for row in rows if float(row["share"]) == share]))


def _supervised(folder: Path, runs: int) -> Line:
    """Linear discriminants with a shrunk covariance, learned from the labeled images alone: PIE,
    the images and labels of table 4."""

    def scores(run: int) -> list[float]:
        data = replace(_FACES, seed=run).images(folder)
        X = normalize_samples(data.X)
        found = []
        for share in SHARES:
            given = draw_labels(data.y, share, np.random.RandomState(run))
            model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
            model.fit(X[given], data.y[given])
            found.append(model.score(X[~given], data.y[~given]))
        return found

    means = np.mean(_of_runs(scores, range(runs)), axis=0)
    return ["linear discriminants", *_in_words(means)]


def _of_runs(score: Callable[[Any], Any], runs: Iterable[Any]) -> list[Any]:
    """What every run gives, one a core at a time."""

    def alone(run: Any) -> Any:
        with threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            warnings.simplefilter("default", ConvergenceWarning)
            return score(run)

    return Parallel(cpu_count())(delayed(alone)(run) for run in runs)


def _empty(folder: Path) -> list[Line]:
    """What the paper's γ = 0.18 and λ = 0.01 leave of the representation, for either loss."""
    lines = []
    for draw in _SETS:
        X = normalize_samples(draw.images(folder).X)
        products = np.abs(X @ X.T)
        np.fill_diagonal(products, 0)
        for loss in ("norm", "squared"):
            Z = self_representation(
                X, gamma=_GAMMA, lam=_LAM, loss=loss, gamma_scale="absolute"
            ).coefficients
            lines.append(
                [
                    row_name(draw, "clustering"),
                    loss,
                    f"{_GAMMA * products.max():.3f}",
                    str(Z.nnz),
                ]
            )
    return lines


def _independent(folder: Path, runs: int) -> list[Line]:
    """l1-graph, SSC and LRR on PIE, 50 images each of 15 people, with scikit-learn and NumPy alone.

    l1-graph and SSC without sparse errors: scikit-learn's lasso, one sample at a time. LRR without
    errors: the closed form at several ranks. All are clustered by scikit-learn's
    SpectralClustering; beside them ours, with the k top eigenvectors alike.
    """

    def scores(run: int) -> dict[str, list[float]]:
        data = replace(_FACES, seed=run).images(folder)
        X = normalize_samples(data.X).astype(np.float64)
        found = {}
        U, _, _ = np.linalg.svd(X, full_matrices=False)
        gamma = _ALPHA_Z / _least_largest_product(X)
        C = _lasso_by_sample(X, gamma)
        weights = {"l1-graph, scikit-learn": C, "SSC, scikit-learn": _by_largest(C)}
        weights |= {f"LRR, closed form, rank {r}": (U[:, :r] @ U[:, :r].T) ** 2 for r in _RANKS}
        for name, W in weights.items():
            np.fill_diagonal(W, 0)
            peer = SpectralClustering(
                _FACES.classes,
                affinity="precomputed",
                assign_labels="kmeans",
                n_init=30,
                random_state=run,
            )
            found[name] = _scores(data.y, peer.fit_predict((W + W.T) / 2))
        ours: dict[str, Structure] = {
            "l1-graph, ours": L1Graph(gamma=gamma, gamma_scale="absolute"),
            "SSC, ours": SparseSubspaceGraph(alpha_z=_ALPHA_Z, alpha_e=None),
        }
        ours |= {f"LRR, ours, lam {lam}": LowRankGraph(error_weight=lam) for lam in (0.1, 0.3, 1.0)}
        for name, structure in ours.items():
            structure.set_params(preprocessing="zero_mean")
            model = HypergraphClustering(
                _FACES.classes,
                structure=structure.fit(X).graph_,
                eigenvector_weighting="equal",
                random_state=run,
            )
            found[name] = _scores(data.y, model.fit_predict(X))
        return found

    by_run = _of_runs(scores, range(min(runs, _FEW_RUNS)))
    return [
        [name, *_in_words(np.mean([found[name] for found in by_run], axis=0))] for name in by_run[0]
    ]


def _least_largest_product(X: NDArray) -> float:
    """SSC's μ_z."""
    products = np.abs(X @ X.T)
    np.fill_diagonal(products, 0)
    return float(products.max(axis=1).min())


def _by_largest(C: NDArray) -> NDArray:
    """Every row divided by its largest entry."""
    return C / np.maximum(C.max(axis=1, keepdims=True), np.finfo(float).tiny)


def _lasso_by_sample(X: NDArray, gamma: float) -> NDArray:
    """|C| of the lasso at an absolute γ."""
    n, d = X.shape
    C = np.zeros((n, n))
    for i in range(n):
        others = np.delete(np.arange(n), i)
        lasso = Lasso(1 / gamma / d, fit_intercept=False, max_iter=5000)
        C[i, others] = np.abs(lasso.fit(X[others].T, X[i]).coef_)
    return C


def _scores(y: NDArray, labels: NDArray) -> list[float]:
    return [clustering_accuracy(y, labels), normalized_mutual_information(y, labels)]


def _told_apart(folder: Path) -> list[Line]:
    """What preprocessing="auto" decides by (see `Normalizer`), on draws large and small."""
    lines = []
    for draw in _WHITENED_OR_NOT:
        X = check_samples(draw.images(folder).X)
        how = Normalizer.of(X, "auto").how
        samples = normalize_samples(X)
        name = f"{draw.dataset}, first {draw.classes} classes, {len(X)} images"
        told = (f"{weak_contrast(samples):.2f}", f"{directions_spread_over(samples):.1f}")
        lines.append([name, *told, how])
    return lines


def _write(file: Path, heads: Line, lines: Sequence[Line]) -> None:
    """The same table as CSV and as Markdown."""
    write_csv(file.with_suffix(".csv"), heads, lines)
    file.with_suffix(".md").write_text(markdown(heads, lines), encoding="utf-8")
