"""The page docs/practice.md, from the stored scores of the extensions.

What its text says about the scores is computed from them as well.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from enhg import plotting
from experiments import charts
from experiments.paths import TEMPLATES
from experiments.practice import BUDGETS, RUNS
from experiments.tabular import enumerated, filled, markdown, mean_cells, read_records, signed

Record = dict[str, str]
Means = dict[tuple[str, str], dict[str, float]]  # by data set and another column, then by method


def page(folder: Path) -> str:
    """Return the page from the files of scores in a folder."""
    files = {file.stem: read_records(file) for file in folder.glob("*.csv")}
    counts = files["cluster-count"]
    return filled(
        TEMPLATES / "practice.md",
        runs=RUNS,
        new_samples=mean_table(files["new-samples"], "task", mark_best=False),
        cluster_count=_estimate_table(counts),
        outliers=mean_table(files["outliers"], "corrupted by"),
        suggestions=mean_table(files["suggestions"], "labels per class"),
        reliable_estimates=_reliable_estimates(counts),
        **_prediction_gaps(files["new-samples"]),
        **_first_suggestions(files["suggestions"]),
        **_outlier_statements(files["outliers"]),
    )  # fmt: skip


# --- the chart -----------------------------------------------------------------------------------

_GAIN, _RELIABLE, _OTHER = "difference", "reliable estimate", "other estimate"


def chart(folder: Path) -> charts.Chart:
    """Return differences of scores on every data set, and errors of the numbers of clusters."""
    files = {file.stem: read_records(file) for file in folder.glob("*.csv")}
    halves = _means(files["new-samples"], "task").values()
    outliers = _means(files["outliers"], "corrupted by").values()
    labeled = _means(files["suggestions"], "labels per class")
    gains = {
        "new samples": [row["other half predicted"] - row["half fitted"] for row in halves],
        "outliers": [
            row["enhg"] - max(score for method, score in row.items() if method != "enhg")
            for row in outliers
        ],
    }
    for budget in BUDGETS[:3]:
        gains[f"suggestions, {budget} per class"] = [
            row["suggested"] - row["random"]
            for (_, count), row in labeled.items()
            if count == str(budget)
        ]
    estimates: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in files["cluster-count"]:
        series = _RELIABLE if row["reliable"] == "yes" else _OTHER
        name = row["data set"].split(",")[0].rstrip(" 0123456789")
        estimates[f"clusters of {name}"][series].append(int(row["estimate"]) / int(row["classes"]))
    return charts.Chart(
        {
            "difference of the scores": charts.Panel(
                {name: {_GAIN: values} for name, values in gains.items()}, 0
            ),
            "estimated number of clusters / number of classes": charts.Panel(
                estimates, 1, log=True
            ),
        },
        {_OTHER: charts.REST, _RELIABLE: charts.OTHER, _GAIN: charts.OURS},
    )


# --- tables --------------------------------------------------------------------------------------


def _groups(rows: Iterable[Record], by: str) -> dict[tuple[str, str], list[Record]]:
    groups: dict[tuple[str, str], list[Record]] = defaultdict(list)
    for row in rows:
        groups[row["data set"], row[by]].append(row)
    return groups


def _methods(rows: list[Record], by: str) -> list[str]:
    return [name for name in rows[0] if name not in ("data set", "run", by)]


def _means(rows: list[Record], by: str) -> Means:
    return {
        key: {
            method: float(np.mean([float(row[method]) for row in group]))
            for method in _methods(rows, by)
        }
        for key, group in _groups(rows, by).items()
    }


def mean_table(rows: list[Record], by: str, *, mark_best: bool = True) -> str:
    """Format mean ± standard deviation over the runs, by data set and the column `by`."""
    methods = _methods(rows, by)
    lines = []
    for key, group in _groups(rows, by).items():
        columns = ([float(row[method]) for row in group] for method in methods)
        lines.append([*key, *mean_cells(columns, mark_best=mark_best)])
    return markdown(["data set", by, *methods], lines).strip()


def _estimate_table(rows: list[Record]) -> str:
    """One line per data set: reliable estimates, and the others with their runner-up."""
    lines = []
    for key, group in _groups(rows, "classes").items():
        reliable = [row["estimate"] for row in group if row["reliable"] == "yes"]
        others = [
            f"{row['estimate']} ({row['runner-up']})" for row in group if row["reliable"] != "yes"
        ]
        lines.append([*key, _counted(reliable), _counted(others)])
    header = ["data set", "classes", "reliable estimates", "not reliable (runner-up)"]
    return markdown(header, lines).strip()


def _counted(texts: list[str]) -> str:
    """Join different texts, each with its number where it occurs more than once."""
    return ", ".join(
        f"{text} ({count}×)" if count > 1 else text for text, count in Counter(texts).items()
    )


# --- statements of the text ----------------------------------------------------------------------


def _prediction_gaps(rows: list[Record]) -> dict[str, str]:
    """Differences of the columns of the table of new samples: mean, smallest and largest."""
    means = _means(rows, "task").values()
    predicted = [row["other half predicted"] - row["half fitted"] for row in means]
    fewer = [row["half fitted"] - row["all fitted"] for row in means]
    return {
        "predicted_mean": signed(float(np.mean(predicted))),
        "predicted_least": signed(min(predicted)),
        "predicted_most": signed(max(predicted)),
        "fewer_mean": signed(float(np.mean(fewer))),
    }


def _reliable_estimates(rows: list[Record]) -> str:
    """How many estimates are reliable and correct, and all that are reliable and wrong."""
    reliable = [row for row in rows if row["reliable"] == "yes"]
    wrong = [row for row in reliable if row["estimate"] != row["classes"]]
    texts = [
        f"{_counted([row['estimate'] for row in group])} on {name} ({classes} classes)"
        for (name, classes), group in _groups(wrong, "classes").items()
    ]
    n_correct = len(reliable) - len(wrong)
    n_others = len(rows) - len(reliable)
    others_correct = sum(row["estimate"] == row["classes"] for row in rows) - n_correct
    return (
        f"{len(reliable)} of the {len(rows)} estimates are reliable, and {n_correct} of these "
        f"equal the number of classes; of the {n_others} others, {others_correct} do. The reliable "
        f"estimates that differ from the number of classes are: {'; '.join(texts)}."
    )


def _first_suggestions(suggested: list[Record]) -> dict[str, str]:
    """Data sets where one suggestion per class scores below and above one label of every class."""
    below: list[str] = []
    above: list[str] = []
    for (name, count), means in _means(suggested, "labels per class").items():
        if count == "1":
            is_below = means["suggested"] < means["random, of every class"]
            (below if is_below else above).append(name)
    return {
        "first_below": enumerated(below) if below else "no data set",
        "first_above": enumerated(above) if above else "no data set",
    }


def _outlier_statements(rows: list[Record]) -> dict[str, str]:
    means = _means(rows, "corrupted by")

    def lowest(chosen: Callable[[str, str], bool]) -> str:
        return f"{min(row['enhg'] for key, row in means.items() if chosen(*key)):.2f}"

    covered = [
        max(row.values())
        for (name, kind), row in means.items()
        if name == "USPS" and kind != "noise"
    ]
    return {
        "noise": lowest(lambda name, kind: kind == "noise"),
        "blocks_on_faces": lowest(lambda name, kind: kind == "block" and "Yale" in name),
        "covered_usps": f"{max(covered):.2f}",
    }


# --- the plot ------------------------------------------------------------------------------------


def draw_curves(file: Path, picture: Path) -> None:
    """Plot accuracy against labels per class, one panel per data set."""
    rows = read_records(file)
    means = _means(rows, "labels per class")
    names = list(dict.fromkeys(name for name, _ in means))
    figure, axes = plotting.new_figure(2, 3, (12, 7))
    for name, ax in zip(names, axes, strict=True):
        curves = {
            method: (BUDGETS, [means[name, str(budget)][method] for budget in BUDGETS])
            for method in _methods(rows, "labels per class")
        }
        plotting.plot_curves(curves, "labels per class", "accuracy", ax=ax)
        ax.set_title(name)
        ax.set_xticks(BUDGETS, [str(budget) for budget in BUDGETS])
    figure.savefig(picture, dpi=100)
