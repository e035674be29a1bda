"""The page docs/quality.md, from the stored scores of the defaults and of other libraries."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from experiments.paths import TEMPLATES
from experiments.quality import DISCRIMINANT, KINDS, NEIGHBORS, OURS, RUNS
from experiments.tabular import enumerated, markdown, read_records

Record = dict[str, str]
Scores = dict[tuple[str, ...], dict[str, list[float]]]  # by place, then by method

_NEAR = {"ac": 0.01, "nmi": 0.01, "accuracy": 0.005}


def page(file: Path) -> str:
    """Return the page from the file of scores."""
    records = read_records(file)
    accuracy = _scores(records, "accuracy", ("data set", "labels"))
    ac, nmi = (_scores(records, metric, ("data set",)) for metric in ("ac", "nmi"))
    return (TEMPLATES / "quality.md").read_text(encoding="utf-8").format(
        runs=RUNS,
        neighbors=NEIGHBORS,
        ac=_table(ac, ("data set",)),
        nmi=_table(nmi, ("data set",)),
        accuracy=_table(accuracy, ("data set", "labels")),
        seconds=_seconds(records),
        ac_reached=_reached(ac, "ac", (OURS,)),
        nmi_reached=_reached(nmi, "nmi", (OURS,)),
        accuracy_reached=_reached(accuracy, "accuracy", (OURS,)),
        either_reached=_reached(accuracy, "accuracy", (OURS, DISCRIMINANT)),
        ac_below=_below(ac, "ac"),
        nmi_below=_below(nmi, "nmi"),
    )  # fmt: skip


def _scores(records: Iterable[Record], metric: str, place: tuple[str, ...]) -> Scores:
    scores: Scores = defaultdict(lambda: defaultdict(list))
    for record in records:
        if record[metric]:
            key = tuple(record[name] for name in place)
            scores[key][record["method"]].append(float(record[metric]))
    return scores


def _methods(scores: Scores) -> list[str]:
    return list(dict.fromkeys(method for row in scores.values() for method in row))


def _table(scores: Scores, place: tuple[str, ...]) -> str:
    """Mean ± standard deviation over the runs, the largest mean of a row in bold."""
    methods = _methods(scores)
    rows = []
    for key, row in scores.items():
        best = max(round(float(np.mean(values)), 3) for values in row.values())
        rows.append([*key, *(_cell(row.get(method), best) for method in methods)])
    return markdown([*place, *methods], rows)


def _cell(values: list[float] | None, best: float) -> str:
    if values is None:
        return ""
    mean = round(float(np.mean(values)), 3)
    text = f"**{mean:.3f}**" if mean == best else f"{mean:.3f}"
    return f"{text} ± {np.std(values, ddof=1):.3f}"


def _seconds(records: Iterable[Record]) -> str:
    """Mean seconds of every method by data set and task."""
    seconds = _scores(records, "seconds", ("task", "data set"))
    methods = _methods(seconds)
    rows = [
        [*key, *(f"{np.mean(row[m]):.2g}" if m in row else "" for m in methods)]
        for key, row in seconds.items()
    ]
    return markdown(["task", "data set", *methods], rows)


def _gaps(scores: Scores, ours: tuple[str, ...]) -> dict[tuple[str, ...], float]:
    """The best of our means minus the best mean of the other libraries."""
    gaps = {}
    for key, row in scores.items():
        means = {method: float(np.mean(values)) for method, values in row.items()}
        own = max(means[method] for method in ours if method in means)
        others = (m for method, m in means.items() if method not in (OURS, DISCRIMINANT))
        gaps[key] = own - max(others)
    return gaps


def _reached(scores: Scores, metric: str, ours: tuple[str, ...]) -> str:
    gaps = _gaps(scores, ours).values()
    near = sum(gap >= -_NEAR[metric] for gap in gaps)
    return f"{near} of {len(gaps)}"


def _below(scores: Scores, metric: str) -> str:
    """The data sets whose score is below the best of the other libraries, less the tolerance."""
    names = [key[0] for key, gap in _gaps(scores, (OURS,)).items() if gap < -_NEAR[metric]]
    return enumerated(sorted(names, key=list(KINDS).index)) if names else "none"
