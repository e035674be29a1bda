"""What practitioners ask, measured: new images, how many groups, outliers, few labels, which next.

    python -m experiments.practice --data DIR

Labels are used for scoring, and for the few that are given. Every figure goes to a CSV file in
`docs/practice`, the learning curves to a picture beside them, and `docs/practice.md` is written
from these, in the words of `practice.md` beside this file. graphlearning, of the extra `dev`, is
needed as a peer.
"""

from __future__ import annotations

import csv
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import typer
from joblib import Parallel, cpu_count, delayed
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import average_precision_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.semi_supervised import LabelSpreading

from enhg import plotting
from enhg._progress import reporting
from enhg.datasets import Dataset
from enhg.learning.classification import HypergraphClassifier
from enhg.learning.cluster_count import count_clusters
from enhg.learning.clustering import HypergraphClustering
from enhg.metrics import clustering_accuracy
from enhg.structures.elastic_net import ElasticNetHypergraph
from experiments.protocol import Draw, draw_labels, loaded, markdown, write_csv

Row = dict[str, Any]

_WORDS = Path(__file__).with_name("practice.md")
_SETS = {
    "digits": Draw("digits", 10),
    "Yale B 10": Draw("yale-b", 10),
    "Yale B 38": Draw("yale-b", 38),
    "PIE 15": Draw("pie", 15),
    "USPS": Draw("usps", 10, 200),
    "MNIST": Draw("mnist", 10, 300),
}
_COUNTED = _SETS | {
    "5 digits": Draw("digits", 5),
    "Yale B 5": Draw("yale-b", 5),
    "Yale B 20": Draw("yale-b", 20),
    "PIE 5": Draw("pie", 5),
    "USPS, 4 digits": Draw("usps", 4, 200),
    "USPS, 6 digits": Draw("usps", 6, 200),
}
_CORRUPTED = ("Yale B 10", "Yale B 38", "digits", "USPS")
_RUNS = 5
_NEIGHBORS = 10  # of the peers' graphs, as many as a hyperedge has members
_LABELS_A_CLASS = (1, 2, 3, 5)
_BUDGETS = (1, 2, 3, 5, 8)  # labels a class on average


def _given(y: NDArray, rows: NDArray | Sequence[int]) -> NDArray:
    """Labels of the rows, −1 elsewhere."""
    given = np.full(len(y), -1)
    given[rows] = y[rows]
    return given


def _unlabeled(y: NDArray, given: NDArray, found: NDArray) -> float:
    return float((found == y)[given == -1].mean())


# --- new images ------------------------------------------------------------------------------


def new_images(data: Dataset, run: int) -> Iterator[Row]:
    """Half of the images placed among the other half, and fitted together with it."""
    random_state = np.random.RandomState(run)
    known = np.zeros(len(data.y), bool)
    for label in np.unique(data.y):
        members = random_state.permutation(np.flatnonzero(data.y == label))
        known[members[: len(members) // 2]] = True
    k = len(np.unique(data.y))
    half, both = (ElasticNetHypergraph(n_jobs=1).fit(X) for X in (data.X[known], data.X))
    clusters = HypergraphClustering(k, structure=FrozenEstimator(half), random_state=run)
    clusters.fit(data.X[known])
    together = HypergraphClustering(k, structure=both.graph_, random_state=run).fit(data.X)
    new = data.y[~known]
    yield {
        "task": "clustering",
        "all fitted": clustering_accuracy(new, together.labels_[~known]),
        "half fitted": clustering_accuracy(data.y[known], clusters.labels_),
        "the other half placed": clustering_accuracy(new, clusters.predict(data.X[~known])),
        "agreement": float((clusters.predict(data.X[known]) == clusters.labels_).mean()),
    }
    labeled = known.copy()
    labeled[known] = draw_labels(data.y[known], 0.1, random_state)
    given = np.where(labeled, data.y, -1)
    classes = HypergraphClassifier(structure=FrozenEstimator(half)).fit(data.X[known], given[known])
    together = HypergraphClassifier(structure=both.graph_).fit(data.X, given)
    yield {
        "task": "classification",
        "all fitted": float((together.transduction_[~known] == new).mean()),
        "half fitted": _unlabeled(data.y[known], given[known], classes.transduction_),
        "the other half placed": float((classes.predict(data.X[~known]) == new).mean()),
        "agreement": float((classes.predict(data.X[known]) == classes.transduction_).mean()),
    }


# --- how many groups -------------------------------------------------------------------------


def groups(data: Dataset, run: int) -> Iterator[Row]:
    """The estimate for one draw of classes and images."""
    graph = ElasticNetHypergraph(n_jobs=1).fit(data.X).graph_
    found = count_clusters(graph, random_state=run)
    yield {
        "true": len(np.unique(data.y)),
        "estimate": found.n_clusters,
        "runner-up": found.runner_up,
        "sure": "yes" if found.reliable else "no",
        "score": found.scores[found.n_clusters - 1],
        "score of the runner-up": found.scores[found.runner_up - 1],
    }


# --- outliers --------------------------------------------------------------------------------


def _replaced(image: NDArray, noise: NDArray, corner: NDArray, kind: str) -> NDArray:
    """The image as noise, or with a square of half its sides of noise, of one gray, or black."""
    if kind == "noise":
        return noise
    side = np.array(image.shape) // 2
    top, left = (corner * (np.array(image.shape) - side + 1)).astype(int)
    square = (slice(top, top + side[0]), slice(left, left + side[1]))
    changed = image.copy()
    changed[square] = {"block": noise[square], "gray": noise[0, 0], "black": 0.0}[kind]
    return changed


def outliers(data: Dataset, run: int) -> Iterator[Row]:
    """A tenth of the images corrupted, and how well scores find them."""
    for kind in ("noise", "block", "gray", "black"):
        rng = np.random.default_rng(run)
        X = np.array(data.X, dtype=np.float64)
        corrupted = rng.permutation(len(X)) < len(X) // 10
        for row in np.flatnonzero(corrupted):
            noise = rng.uniform(X.min(), X.max(), data.image_shape)
            image = X[row].reshape(data.image_shape)
            X[row] = _replaced(image, noise, rng.uniform(size=2), kind).ravel()
        structure = ElasticNetHypergraph(n_jobs=1).fit(X)
        scores = {
            "ours": structure.outlier_scores_,
            "LOF": -LocalOutlierFactor().fit(X).negative_outlier_factor_,
            "LOF, our features": -LocalOutlierFactor()
            .fit(structure.representation_.samples)
            .negative_outlier_factor_,
            "IsolationForest": -IsolationForest(random_state=run).fit(X).score_samples(X),
        }
        yield {"corrupted by": kind} | {
            method: average_precision_score(corrupted, found) for method, found in scores.items()
        }


# --- few labels ------------------------------------------------------------------------------


def few_labels(data: Dataset, run: int) -> Iterator[Row]:
    """One to five labels a class; the peers have k nearest neighbors of the same features."""
    from graphlearning import ssl, weightmatrix

    structure = ElasticNetHypergraph(n_jobs=1).fit(data.X)
    features = structure.representation_.samples.astype(np.float64)
    codes = np.unique(data.y, return_inverse=True)[1]
    neighbors = weightmatrix.knnsearch(features, _NEIGHBORS + 1, method="brute")  # and itself
    weights = weightmatrix.knn(features, _NEIGHBORS, knn_data=neighbors)
    for count in _LABELS_A_CLASS:
        rng = np.random.default_rng(run)
        rows = np.concatenate(
            [rng.permutation(np.flatnonzero(codes == c))[:count] for c in range(codes.max() + 1)]
        )
        given = _given(codes, rows)

        def ours(given: NDArray = given, **options: Any) -> NDArray:
            model = HypergraphClassifier(structure=structure.graph_, **options)
            return model.fit(data.X, given).transduction_

        def spread(alpha: float, given: NDArray = given) -> NDArray:
            peer = LabelSpreading(kernel="knn", n_neighbors=_NEIGHBORS, alpha=alpha)
            return peer.fit(features, given).transduction_

        found = {
            "ours": ours(),
            "ours, diffusion": ours(method="diffusion"),
            "ours, Poisson": ours(method="poisson"),
            "the paper's, α 0.998": ours(method="diffusion", class_balance="none", alpha=0.998),
            "LabelSpreading, α 0.2": spread(0.2),
            "LabelSpreading, α 0.98": spread(0.98),
            "graphlearning, Poisson": ssl.poisson(weights).fit_predict(rows, codes[rows]),
        }
        yield {"labels a class": count} | {
            method: _unlabeled(codes, given, labels) for method, labels in found.items()
        }


# --- which to label next ---------------------------------------------------------------------


def suggestions(data: Dataset, run: int) -> Iterator[Row]:
    """Labels asked for by `suggest`, beside as many random ones; none is given at first."""
    graph = ElasticNetHypergraph(n_jobs=1).fit(data.X).graph_
    k, y = len(np.unique(data.y)), data.y
    rng = np.random.default_rng(run)
    shuffled = rng.permutation(len(y))
    start = HypergraphClustering(k, structure=graph, random_state=run).fit(data.X)
    asked: list[int] = []
    for budget in _BUDGETS:
        more = budget * k - len(asked)
        model = (
            HypergraphClassifier(structure=graph).fit(data.X, _given(y, asked)) if asked else start
        )
        asked += model.suggest(more).tolist()
        row: Row = {"labels a class": budget}
        for method, rows in (("asked for", asked), ("random", shuffled[: budget * k])):
            given = _given(y, rows)
            found = HypergraphClassifier(structure=graph).fit(data.X, given).transduction_
            row[method] = _unlabeled(y, given, found)
        yield row


# --- all of it ---------------------------------------------------------------------------------

Measure = Callable[[Dataset, int], Iterator[Row]]
_MEASURES: dict[str, tuple[Measure, Sequence[str], int]] = {
    "new-images": (new_images, tuple(_SETS), _RUNS),
    "groups": (groups, tuple(_COUNTED), _RUNS),
    "outliers": (outliers, _CORRUPTED, _RUNS),
    "few-labels": (few_labels, tuple(_SETS), 2 * _RUNS),
    "suggestions": (suggestions, tuple(_SETS), _RUNS),
}


def _measured(measure: Measure, name: str, folder: Path, run: int) -> list[Row]:
    draw = _COUNTED[name]
    data = Draw(draw.dataset, draw.classes, draw.per_class, run).images(folder)
    if measure is groups and run > 0:  # other classes, where there are more
        whole = loaded(draw.dataset, folder)
        random_state = np.random.RandomState(run)
        classes = random_state.permutation(np.unique(whole.y))[: draw.classes]
        data = whole.taken(np.flatnonzero(np.isin(whole.y, classes)))
        data = data.sampled(draw.per_class, random_state) if draw.per_class else data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of samples that stay alone; the figures tell
        return [{"set": name, "run": run} | row for row in measure(data, run)]


def carry_out(name: str, folder: Path, out: Path) -> None:
    """Measure one of them, and write its file."""
    measure, sets, runs = _MEASURES[name]
    todo = [(dataset, run) for dataset in sets for run in range(runs)]
    rows: list[Row] = []
    with reporting(True, name) as report:
        jobs = Parallel(cpu_count(), return_as="generator")
        found = jobs(delayed(_measured)(measure, dataset, folder, run) for dataset, run in todo)
        for done, some in enumerate(found, 1):
            rows += some
            report(done, len(todo))
    out.mkdir(parents=True, exist_ok=True)
    write_csv(out / f"{name}.csv", rows[0], ([_written(v) for v in row.values()] for row in rows))


def _written(value: Any) -> str:
    return f"{value:.5f}" if isinstance(value, float) else str(value)


def _read(file: Path) -> list[dict[str, str]]:
    with file.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def table(file: Path, by: Sequence[str]) -> str:
    """The means over the runs, a line for every set and value of `by`; the best bold where the
    columns are methods."""
    groups: dict[tuple[str, ...], list[dict[str, str]]] = defaultdict(list)
    rows = _read(file)
    for row in rows:
        groups[tuple(row[name] for name in ("set", *by))].append(row)
    heads = [name for name in rows[0] if name not in ("set", "run", *by)]
    lines = []
    for key, members in groups.items():
        means = [np.mean([float(row[head]) for row in members]) for head in heads]
        best = np.inf if file.stem == "new-images" else max(means)
        texts = [f"**{mean:.3f}**" if mean >= best - 5e-4 else f"{mean:.3f}" for mean in means]
        lines.append([*key, *texts])
    return markdown(["set", *by, *heads], lines)


def _table_of_groups(file: Path) -> str:
    """A line a set: the estimates of the draws, with a question mark where one is not sure."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for row in _read(file):
        doubt = "" if row["sure"] == "yes" else f" or {row['runner-up']}?"
        found[row["set"], row["true"]].append(f"{row['estimate']}{doubt}")
    lines = ([*key, ", ".join(dict.fromkeys(texts))] for key, texts in found.items())
    return markdown(["set", "true", "estimates"], lines)


def draw_curves(file: Path, picture: Path) -> None:
    """Accuracy against the labels a class, asked for and random, a panel a set."""
    rows = _read(file)
    names = list(dict.fromkeys(row["set"] for row in rows))
    figure, axes = plotting.new_figure(2, 3, (12, 7))
    for name, ax in zip(names, axes, strict=True):
        curves = {}
        for method in ("asked for", "random"):
            found = [
                np.mean(
                    [
                        float(row[method])
                        for row in rows
                        if row["set"] == name and row["labels a class"] == str(budget)
                    ]
                )
                for budget in _BUDGETS
            ]
            curves[method] = (_BUDGETS, found)
        plotting.plot_curves(curves, "labels a class", "accuracy", ax=ax)
        ax.set_title(name)
        ax.set_xticks(_BUDGETS, [str(budget) for budget in _BUDGETS])
    figure.savefig(picture, dpi=100)


def page(out: Path) -> str:
    """The page, from the files of the folder."""
    return _WORDS.read_text(encoding="utf-8").format(
        runs=_RUNS,
        more_runs=2 * _RUNS,
        neighbors=_NEIGHBORS,
        new_images=table(out / "new-images.csv", ("task",)),
        groups=_table_of_groups(out / "groups.csv"),
        outliers=table(out / "outliers.csv", ("corrupted by",)),
        few_labels=table(out / "few-labels.csv", ("labels a class",)),
        suggestions=table(out / "suggestions.csv", ("labels a class",)),
    )


def measure(names: Iterable[str], folder: Path, out: Path) -> None:
    for name in names:
        carry_out(name, folder, out)
    draw_curves(out / "suggestions.csv", out / "suggestions.png")
    out.with_suffix(".md").write_text(page(out), encoding="utf-8")


if __name__ == "__main__":

    def _main(
        names: list[str] = typer.Argument(None, help="Of the measurements; all."),  # noqa: B008
        data: Path = typer.Option(..., help="Folder of the image sets."),  # noqa: B008
        out: Path = typer.Option("docs/practice", help="Folder of the figures."),  # noqa: B008
    ) -> None:
        """Measure what practitioners ask."""
        measure(names or _MEASURES, data, out)

    typer.run(_main)
