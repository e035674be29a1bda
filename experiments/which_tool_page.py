"""The page docs/which_tool.md: when another tool is the better choice, from the stored scores."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import fmean

from experiments import charts
from experiments.paths import TEMPLATES
from experiments.photos import NETWORK
from experiments.quality import OURS, SHARE, WHOLE
from experiments.quality_page import records_by_part, seconds_table
from experiments.tabular import filled, read_records

Record = dict[str, str]
Means = dict[str, dict[str, float]]  # by data set, then by method

_HDBSCAN = "UMAP + HDBSCAN"
_UNEVEN = "1:30"
_TENTH = f"{SHARE:.0%}"
_COUNT_NEAR = 0.1
_GAINS = 4  # data sets that are shown


def page(quality: Path, photos: Path) -> str:
    """Return the page from the scores of the quality and of the photographs."""
    parts = records_by_part(quality)
    clustering, classification = parts["clustering"], parts["classification"]
    uneven = [record for record in parts["uneven"] if record["thinned"] == _UNEVEN]
    ac = _means(clustering, "ac")
    uneven_ac = _means(uneven, "ac")
    one = _means(_with(classification, labels="1 per class"), "accuracy")
    tenth = _means(_with(classification, labels=_TENTH), "accuracy")
    uneven_tenth = _means(_with(uneven, labels=_TENTH), "accuracy")
    whole_counts = _with(parts["count"], thinned=WHOLE)
    ahead = {name: row for name, row in uneven_ac.items() if row[_HDBSCAN] > row[OURS]}
    behind = {name: row for name, row in uneven_tenth.items() if _best(row)[0] != OURS}
    return filled(
        TEMPLATES / "which_tool.md",
        gains=_lines(dict(sorted(ac.items(), key=_gain, reverse=True)[:_GAINS]), _beside),
        embeddings=_lines(_kind(clustering, "embeddings", ac), _beside),
        photos=_photos(read_records(photos)),
        hdbscan_ahead=len(ahead),
        uneven_sets=len(uneven_ac),
        hdbscan=_lines(ahead, lambda row: f"{row[_HDBSCAN]:.2f}, `enhg` {row[OURS]:.2f}"),
        uneven_first=_first(uneven_ac),
        count_near=sum(_is_near(record) for record in whole_counts),
        count_all=len(whole_counts),
        one_first=_first(one),
        one_sets=len(one),
        tenth_first=_first(tenth),
        tenth_sets=len(tenth),
        uneven_behind=len(behind),
        uneven_label_sets=len(uneven_tenth),
        uneven_labels=_lines(
            behind, lambda row: f"{_named(_best(row))}, `enhg` {row[OURS]:.2f}"
        ),
        seconds=seconds_table(clustering),
    )  # fmt: skip


_BETTER, _WORSE = "enhg has the higher score", "another method has"


def chart(quality: Path, photos: Path) -> charts.Chart:
    """Return our score minus the best other one of every data set, by task and class sizes."""
    parts = records_by_part(quality)
    clustered, labeled, uneven = (
        parts[name] for name in ("clustering", "classification", "uneven")
    )
    pictures = _with(read_records(photos), features=NETWORK, task="clustering")
    means = {
        "clustering": _means(clustered, "ac"),
        "clustering, class sizes 1:10": _means(_with(uneven, thinned="1:10"), "ac"),
        "clustering, class sizes 1:30": _means(_with(uneven, thinned=_UNEVEN), "ac"),
        "photographs, AC": _means(pictures, "ac", "folder"),
        "photographs, NMI": _means(pictures, "nmi", "folder"),
        "1 label per class": _means(_with(labeled, labels="1 per class"), "accuracy"),
        "5 labels per class": _means(_with(labeled, labels="5 per class"), "accuracy"),
        "10% of the labels": _means(_with(labeled, labels=_TENTH), "accuracy"),
        "10% of labels, sizes 1:30": _means(
            _with(uneven, thinned=_UNEVEN, labels=_TENTH), "accuracy"
        ),
    }
    rows = {}
    for name, by_set in means.items():
        gains = [_gain(item) for item in by_set.items()]
        rows[name] = {_BETTER: [g for g in gains if g >= 0], _WORSE: [g for g in gains if g < 0]}
    looks = {_WORSE: charts.OTHER, _BETTER: charts.OURS}
    return charts.Chart({"enhg minus the best other method": charts.Panel(rows, 0)}, looks)


def _with(records: Iterable[Record], **fixed: str) -> list[Record]:
    return [row for row in records if all(row[name] == value for name, value in fixed.items())]


def _means(records: Iterable[Record], metric: str, place: str = "data set") -> Means:
    """Mean scores over the runs; a data set without scores of ours is left out."""
    values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        if record[metric]:
            values[record[place]][record["method"]].append(float(record[metric]))
    return {
        name: {method: fmean(scores) for method, scores in row.items()}
        for name, row in values.items()
        if OURS in row
    }


def _best(row: dict[str, float], methods: Iterable[str] | None = None) -> tuple[str, float]:
    return max(((method, row[method]) for method in methods or row), key=lambda item: item[1])


def _first(means: Means) -> int:
    """On how many data sets ours is the best mean."""
    return sum(_best(row)[0] == OURS for row in means.values())


def _others(row: dict[str, float]) -> list[str]:
    return [method for method in row if method != OURS]


def _gain(item: tuple[str, dict[str, float]]) -> float:
    row = item[1]
    return row[OURS] - _best(row, _others(row))[1]


def _named(best: tuple[str, float]) -> str:
    return f"{best[0]} {best[1]:.2f}"


def _kind(records: list[Record], kind: str, means: Means) -> Means:
    names = dict.fromkeys(row["data set"] for row in records if row["kind"] == kind)
    return {name: means[name] for name in names}


def _beside(row: dict[str, float]) -> str:
    return (
        f"`enhg` {row[OURS]:.2f}, {_named(_best(row, _others(row)))}, k-means {row['k-means']:.2f}"
    )


def _photos(records: list[Record]) -> str:
    own = _with(records, features=NETWORK, task="clustering")
    means = _means(own, "nmi", "folder")
    return _lines(means, lambda row: f"{_named(_best(row))}; `enhg` has {row[OURS]:.2f}")


def _lines(means: Means, text: Callable[[dict[str, float]], str]) -> str:
    return "\n".join(f"- {name}: {text(row)}" for name, row in means.items())


def _is_near(record: Record) -> bool:
    classes = int(record["classes"])
    return abs(int(record["estimate"]) - classes) <= _COUNT_NEAR * classes
