"""The page docs/quality.md, from the stored scores of the defaults and of other libraries.

What its text says about the scores is computed from them as well.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from experiments import baselines, charts
from experiments.paths import TEMPLATES
from experiments.quality import OURS, SHARE, WHOLE
from experiments.selection import (
    CLASSIFICATION,
    CLUSTERING,
    COUNT,
    DEFAULT,
    PREPROCESSINGS,
    LeftOut,
    leave_one_kind_out,
)
from experiments.tabular import enumerated, filled, markdown, mean_cells, read_records, signed
from experiments.variations import VARIATIONS, as_text

Record = dict[str, str]
Scores = dict[tuple[str, ...], dict[str, list[float]]]  # by place, then by method
KindScores = dict[str, dict[str, float]]  # by method, then by kind of data

_NEAR = {"ac": 0.01, "nmi": 0.01, "accuracy": 0.005}
_COUNT_NEAR, _COUNT_FAR = 0.1, 0.2
_FLAT = 0.005  # difference of two means that the text calls small
_METRICS = {"ac": "AC", "nmi": "NMI", "accuracy": "accuracy"}
_TENTH, _FEW = f"{SHARE:.0%}", "5 per class"
_PLACE = ("data set", "labels")
_UNEVEN_PLACE = ("data set", "thinned")


def page(file: Path) -> str:
    """Return the page from the file of scores."""
    parts = records_by_part(file)
    clustering, classification, uneven = (
        parts[name] for name in ("clustering", "classification", "uneven")
    )
    varied = [record for record in parts["variations"] if record["thinned"] == WHOLE]
    settings = parts["settings"] + [r for r in varied if r["method"] != DEFAULT]
    return filled(
        TEMPLATES / "quality.md",
        runs=1 + max(int(record["run"]) for record in clustering),
        neighbors=baselines.NEIGHBORS,
        leiden_neighbors=baselines.LEIDEN_NEIGHBORS,
        mixing=baselines.ENSC_MIXING,
        scale=f"{baselines.ENSC_SCALE:g}",
        summary=summary_table(clustering, classification),
        clustering=_standings(clustering, ("ac", "nmi"), ()),
        ac=_table(clustering, "ac", ("data set",)),
        nmi=_table(clustering, "nmi", ("data set",)),
        clustering_seconds=seconds_table(clustering),
        classification=_standings(classification, ("accuracy",), ("labels",)),
        accuracy=_table(classification, "accuracy", _PLACE),
        classification_seconds=seconds_table(classification),
        uneven=_standings(uneven, ("ac", "nmi", "accuracy"), ("thinned", "labels")),
        uneven_ac=_table(uneven, "ac", _UNEVEN_PLACE),
        uneven_nmi=_table(uneven, "nmi", _UNEVEN_PLACE),
        uneven_accuracy=_table(uneven, "accuracy", (*_UNEVEN_PLACE, "labels")),
        count=_count_table(parts["count"]),
        count_statement=_count_statement(parts["count"]),
        **_left_out_statements(settings, clustering, CLUSTERING),
        **_left_out_statements(settings, classification, CLASSIFICATION),
        **_variation_statements(parts["variations"]),
        preprocessing=_preprocessing_table(parts["preprocessing"]),
        preprocessing_statement=_preprocessing_statement(parts["preprocessing"]),
    )  # fmt: skip


def records_by_part(file: Path) -> dict[str, list[Record]]:
    parts: dict[str, list[Record]] = defaultdict(list)
    for record in read_records(file):
        parts[record["part"]].append(record)
    return parts


# --- the chart ---------------------------------------------------------------------------------


def chart(file: Path) -> charts.Chart:
    """Return the scores of all methods, ours and the best other one marked."""
    parts = records_by_part(file)
    few = [record for record in parts["classification"] if record["labels"] == _FEW]
    panels = {
        "clustering: AC": _scores(parts["clustering"], "ac", ("data set",)),
        f"accuracy, {_FEW}": _scores(few, "accuracy", ("data set",)),
    }
    return charts.Chart(
        {
            title: charts.Panel({name: charts.marked(row) for (name,), row in scores.items()})
            for title, scores in panels.items()
        },
        charts.MARKED,
    )


# --- tables --------------------------------------------------------------------------------------


def _scores(records: Iterable[Record], metric: str, place: tuple[str, ...]) -> Scores:
    scores: Scores = defaultdict(lambda: defaultdict(list))
    for record in records:
        if record[metric]:
            key = tuple(record[name] for name in place)
            scores[key][record["method"]].append(float(record[metric]))
    return scores


def _methods(scores: Scores) -> list[str]:
    return list(dict.fromkeys(method for row in scores.values() for method in row))


def _table(records: list[Record], metric: str, place: tuple[str, ...]) -> str:
    """Mean ± deviation over the runs by place and method; means over data sets at the end."""
    scores = _scores(records, metric, place)
    methods = _methods(scores)
    rows = [
        [*key, *mean_cells([row.get(method, []) for method in methods])]
        for key, row in scores.items()
    ]
    for rest in dict.fromkeys(key[1:] for key in scores):
        group = [row for key, row in scores.items() if key[1:] == rest]
        means = [
            [float(np.mean([np.mean(row[method]) for row in group]))]
            if all(method in row for row in group)
            else []
            for method in methods
        ]
        rows.append(["mean", *rest, *mean_cells(means)])
    return markdown([*_named(place), *methods], rows).strip()


def _named(place: tuple[str, ...]) -> list[str]:
    return ["class sizes" if name == "thinned" else name for name in place]


def seconds_table(records: list[Record]) -> str:
    """Seconds of every method: the mean over the data sets, and the largest of their means."""
    seconds = _scores(records, "seconds", ("data set",))
    methods = _methods(seconds)
    rows = [
        [
            name,
            *(f"{statistic([np.mean(row[m]) for row in seconds.values()]):.2g}" for m in methods),
        ]
        for name, statistic in (("mean of the data sets", np.mean), ("largest", np.max))
    ]
    return markdown(["", *methods], rows).strip()


# --- ours and the best other method ------------------------------------------------------------


def summary_table(clustering: list[Record], classification: list[Record]) -> str:
    """Our score and the best of the other methods by data set; the larger in bold."""
    columns = [
        (_METRICS[metric], _scores(clustering, metric, ("data set",))) for metric in ("ac", "nmi")
    ]
    for labels in (_FEW, _TENTH):
        own = [record for record in classification if record["labels"] == labels]
        columns.append((f"accuracy, {labels}", _scores(own, "accuracy", ("data set",))))
    names = [key[0] for key in columns[0][1]]
    lines = [[name, *(_own_and_best(scores[name,]) for _, scores in columns)] for name in names]
    return markdown(["data set", *(title for title, _ in columns)], lines).strip()


def _own_and_best(row: dict[str, list[float]]) -> str:
    own, score, best = _ours_and_best(row)
    largest = max(own, score)
    return f"{_bold(own, largest)} / {_bold(score, largest)} {best.split(',')[0]}"


def _ours_and_best(row: dict[str, list[float]]) -> tuple[float, float, str]:
    """Our mean, the largest mean of another method, and its name."""
    means = {method: float(np.mean(values)) for method, values in row.items()}
    own = means.pop(OURS)
    best = max(means, key=lambda method: means[method])
    return own, means[best], best


def _standings(records: list[Record], metrics: tuple[str, ...], by: tuple[str, ...]) -> str:
    """One line per metric and value of the columns `by`, over the data sets."""
    lines = []
    for metric in metrics:
        scores = _scores(records, metric, (*by, "data set"))
        for rest in dict.fromkeys(key[:-1] for key in scores):
            own = {key[-1]: row for key, row in scores.items() if key[:-1] == rest}
            name = ", ".join([_METRICS[metric], *filter(None, rest)])
            lines.append(f"- {name}: {standing(own, _NEAR[metric])}")
    return "\n".join(lines)


def standing(scores: dict[str, dict[str, list[float]]], near: float) -> str:
    """Say on how many data sets our mean is the largest, near the largest, and smaller.

    Parameters
    ----------
    scores : dict
        From data sets to dicts from methods to the scores of the runs.
    near : float
        Difference that counts as near.

    Returns
    -------
    str
        With the data sets where our mean is smaller, the difference and the best method there.
    """
    gaps = {}
    for name, row in scores.items():
        own, score, best = _ours_and_best(row)
        gaps[name] = own - score, best
    ahead = sum(gap >= 0 for gap, _ in gaps.values())
    if ahead == len(gaps):
        return f"highest on all {ahead} data sets."
    behind = sorted((gap, name, best) for name, (gap, best) in gaps.items() if gap < -near)
    text = (
        f"highest on {ahead} of {len(gaps)} data sets, at most {near:g} below the best other "
        f"method on {len(gaps) - ahead - len(behind)}, more than {near:g} below on {len(behind)}"
    )
    if not behind:
        return f"{text}."
    return f"{text}: {enumerated([f'{n} ({signed(gap)}, {best})' for gap, n, best in behind])}."


# --- number of clusters ------------------------------------------------------------------------


def _count_table(records: list[Record]) -> str:
    """The estimates of all runs by data set and class sizes; reliable ones in bold."""
    rows: dict[tuple[str, ...], list[Record]] = defaultdict(list)
    for record in records:
        rows[*(record[name] for name in (*_UNEVEN_PLACE, "classes")),].append(record)
    lines = [[*place, ", ".join(map(_estimate, own))] for place, own in rows.items()]
    return markdown([*_named(_UNEVEN_PLACE), "classes", "estimates"], lines).strip()


def _estimate(record: Record) -> str:
    return f"**{record['estimate']}**" if record["reliable"] == "yes" else record["estimate"]


def _deviation(record: Record) -> float:
    """The relative difference of an estimate and the number of classes."""
    classes = int(record["classes"])
    return abs(int(record["estimate"]) - classes) / classes


def _count_numbers(records: list[Record]) -> tuple[int, int, int]:
    """How many estimates are near the number of classes, reliable, and reliable but far."""
    reliable = [record for record in records if record["reliable"] == "yes"]
    near = sum(_deviation(record) <= _COUNT_NEAR for record in records)
    return near, len(reliable), sum(_deviation(record) > _COUNT_FAR for record in reliable)


def _count_statement(records: list[Record]) -> str:
    """How many estimates are near the number of classes, and how many reliable ones are not."""
    texts = []
    for sizes in dict.fromkeys(record["thinned"] for record in records):
        own = [record for record in records if record["thinned"] == sizes]
        by_set: dict[str, list[bool]] = defaultdict(list)
        for record in own:
            by_set[record["data set"]].append(_deviation(record) <= _COUNT_NEAR)
        most = sum(np.mean(are_near) > 1 / 2 for are_near in by_set.values())
        near, reliable, wrong = _count_numbers(own)
        name = "On the whole data sets" if sizes == WHOLE else f"With class sizes {sizes}"
        texts.append(
            f"{name}, {near} of {len(own)} estimates are within "
            f"{_COUNT_NEAR:.0%} of the number of classes; on {most} of {len(by_set)} data sets "
            f"those of most runs are. {reliable} estimates are reported as reliable, {wrong} "
            f"of these are more than {_COUNT_FAR:.0%} off."
        )
    return " ".join(texts)


# --- a kind of data left out -------------------------------------------------------------------


def _score(record: Record) -> float:
    """(AC + NMI)/2 of a clustering, or the accuracy of a classification."""
    return float(np.mean([float(record[metric]) for metric in _METRICS if record[metric]]))


def _by_kind(records: Iterable[Record]) -> KindScores:
    """The mean over the data sets of a kind, of methods that are scored on all of them."""
    sets: dict[str, set[str]] = defaultdict(set)
    scores: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for record in records:
        sets[record["kind"]].add(record["data set"])
        by_set = scores[record["method"], record["kind"]]
        by_set[record["data set"]].append(_score(record))
    result: KindScores = defaultdict(dict)
    for (method, kind), by_set in scores.items():
        if by_set.keys() == sets[kind]:
            result[method][kind] = float(np.mean([np.mean(own) for own in by_set.values()]))
    return result


def _means_over_kinds(scores: KindScores) -> dict[str, float]:
    return {name: float(np.mean(list(by_kind.values()))) for name, by_kind in scores.items()}


def _left_out_statements(settings: list[Record], others: list[Record], task: str) -> dict[str, str]:
    """The table of kinds left out and what it shows."""
    own = _by_kind(record for record in settings if record["task"] == task)
    n_kinds = len(own[DEFAULT])
    own = {name: scores for name, scores in own.items() if len(scores) == n_kinds}
    runs = {record["run"] for record in settings}
    alternatives = _by_kind(
        record
        for record in others
        if record["method"] != OURS and record["run"] in runs and record["labels"] in ("", _TENTH)
    )
    rows = leave_one_kind_out(own, alternatives)
    return {
        f"left_out_{task}": _left_out_table(rows),
        f"left_out_{task}_statement": f"{_rank(own)} {_left_out_statement(rows)}",
        f"n_settings_{task}": str(len(own)),
    }


def _left_out_table(rows: list[LeftOut]) -> str:
    header = [
        "left out", "chosen on the others", "its score", "score of the defaults",
        "best setting in hindsight", "its score", "best other method", "its score",
    ]  # fmt: skip
    lines = [
        [
            row.kind, _setting(row.chosen), f"{row.score:.2f}", f"{row.default:.2f}",
            _setting(row.best), f"{row.best_score:.2f}",
            row.alternative, f"{row.alternative_score:.2f}",
        ]
        for row in rows
    ]  # fmt: skip
    scores = [(row.score, row.default, row.best_score, row.alternative_score) for row in rows]
    chosen, default, best, alternative = (f"{mean:.2f}" for mean in np.mean(scores, axis=0))
    lines.append(["mean", "", chosen, default, "", best, "", alternative])
    return markdown(header, lines).strip()


def _setting(name: str) -> str:
    return name if name == DEFAULT else f"`{name}`"


def _rank(settings: KindScores) -> str:
    """The place of the defaults among all settings, by the mean over all kinds."""
    means = _means_over_kinds(settings)
    best = max(means, key=lambda name: means[name])
    rank = 1 + sum(mean > means[DEFAULT] for mean in means.values())
    text = f"By the mean over all kinds, the defaults are number {rank} of {len(means)} settings"
    if best == DEFAULT:
        return f"{text}."
    return f"{text}, {means[best] - means[DEFAULT]:.3f} below the best ({_setting(best)})."


def _left_out_statement(rows: list[LeftOut]) -> str:
    same = sum(row.chosen == DEFAULT for row in rows)
    above = sum(row.default >= row.alternative_score for row in rows)
    chosen_above = sum(row.score >= row.alternative_score for row in rows)
    difference = np.mean([row.score - row.default for row in rows])
    hindsight = np.mean([row.best_score - row.score for row in rows])
    return (
        f"The setting chosen without a kind is that of the defaults for {same} of {len(rows)} "
        f"kinds. On the kinds left out, the score of the chosen settings minus that of the "
        f"defaults is {signed(float(difference))} on average, and that of the best settings in "
        f"hindsight minus that of the chosen ones {signed(float(hindsight))}. The chosen setting "
        f"is at least as good as the best other method on {chosen_above} of the kinds, the "
        f"defaults on {above}."
    )


# --- one parameter or constant at a time -------------------------------------------------------


def _variation_statements(records: list[Record]) -> dict[str, str]:
    """The tables of variations and what they show."""
    texts = {}
    for task in (CLUSTERING, CLASSIFICATION):
        own = [record for record in records if record["task"] == task]
        whole = _by_kind(record for record in own if record["thinned"] == WHOLE)
        thinned = _by_kind(record for record in own if record["thinned"] != WHOLE)
        texts[f"variations_{task}"] = _variation_table(whole, thinned, task)
        texts[f"variations_{task}_statement"] = _variation_statement(whole)
    counts = [record for record in records if record["task"] == COUNT]
    return texts | {"variations_count": _variation_counts(counts)}


def _variations(task: str) -> list[tuple[list[str], str]]:
    """The first columns of a table and the name of every variation, the defaults first."""
    shown = [(v, str(v)) for v in VARIATIONS if task in v.tasks]
    rows = [([f"`{v.name}`", as_text(v.default), as_text(v.value)], name) for v, name in shown]
    return [([DEFAULT, "", ""], DEFAULT), *rows]


def _variation_table(whole: KindScores, thinned: KindScores, task: str) -> str:
    """Scores of the defaults, and differences from them."""
    kinds = list(whole[DEFAULT])
    lines = []
    for cells, name in _variations(task):
        scores = [whole[name][kind] for kind in kinds]
        scores += [float(np.mean(scores)), float(np.mean(list(thinned[name].values())))]
        if name == DEFAULT:
            own = scores
            lines.append([*cells, *(f"{score:.3f}" for score in scores)])
        else:
            pairs = zip(scores, own, strict=True)
            lines.append([*cells, *(signed(score - base) for score, base in pairs)])
    header = ["parameter or constant", "default", "value", *kinds, "mean", "mean, 1:10"]
    return markdown(header, lines).strip()


def _variation_statement(whole: KindScores) -> str:
    means = _means_over_kinds(whole)
    gains = {name: means[name] - means[DEFAULT] for name in means if name != DEFAULT}
    best = max(gains, key=lambda name: gains[name])
    near = sum(abs(gain) <= _FLAT for gain in gains.values())
    return (
        f"{near} of {len(gains)} variations change the mean by at most {_FLAT:g}; the largest gain "
        f"is {signed(gains[best])} (`{best}`), the largest loss {signed(min(gains.values()))}."
    )


def _variation_counts(records: list[Record]) -> str:
    """Of the estimates of every variation: how many are near, reliable, and reliable but far."""
    by_name: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        by_name[record["method"]].append(record)
    lines = []
    for cells, name in _variations(COUNT):
        own = by_name[name]
        lines.append([*cells, *(f"{number} of {len(own)}" for number in _count_numbers(own))])
    header = [
        "constant", "default", "value", f"within {_COUNT_NEAR:.0%}", "reliable",
        f"reliable, but more than {_COUNT_FAR:.0%} off",
    ]  # fmt: skip
    return markdown(header, lines).strip()


# --- preprocessing -----------------------------------------------------------------------------

_Choices = dict[tuple[str, ...], dict[str, tuple[float, float]]]


def _choices(records: list[Record]) -> _Choices:
    """Modularity and mean of AC and NMI, by data set and class sizes, then by preprocessing."""
    choices: _Choices = defaultdict(dict)
    for record in records:
        place = tuple(record[name] for name in _UNEVEN_PLACE)
        choices[place][record["method"]] = float(record["modularity"]), _score(record)
    return choices


def _loss(row: dict[str, tuple[float, float]]) -> float:
    """The best score minus that of the preprocessing that its modularity chooses."""
    chosen = max(row, key=lambda name: row[name][0])
    return max(score for _, score in row.values()) - row[chosen][1]


def _preprocessing_table(records: list[Record]) -> str:
    lines = []
    for place, row in _choices(records).items():
        largest, best = (max(values) for values in zip(*row.values(), strict=True))
        cells = [
            f"{_bold(row[name][0], largest, 2)} / {_bold(row[name][1], best, 2)}"
            if name in row
            else ""
            for name in PREPROCESSINGS
        ]
        lines.append([*place, *cells, f"{_loss(row):.2f}"])
    return markdown([*_named(_UNEVEN_PLACE), *PREPROCESSINGS, "lost"], lines).strip()


def _bold(value: float, largest: float, digits: int = 3) -> str:
    return f"**{value:.{digits}f}**" if value == largest else f"{value:.{digits}f}"


def _preprocessing_statement(records: list[Record]) -> str:
    texts = []
    by_sizes: dict[str, list[float]] = defaultdict(list)
    for (_, sizes), row in _choices(records).items():
        by_sizes[sizes].append(_loss(row))
    for sizes, losses in by_sizes.items():
        near = sum(loss <= _NEAR["ac"] for loss in losses)
        name = "the whole data sets" if sizes == WHOLE else f"class sizes {sizes}"
        texts.append(
            f"{near} of {len(losses)} choices lose at most {_NEAR['ac']:g} on {name} "
            f"({np.mean(losses):.3f} on average, {max(losses):.3f} at most)"
        )
    return f"{enumerated(texts)}."
