"""The page docs/labeling.md, from the stored numbers of actions."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from statistics import fmean

from enhg.labeling.sheets import CORE_SHARE
from experiments import charts, labeling
from experiments.labeling import BULK, LEVELS, METHODS, RANDOM, SUGGESTED
from experiments.paths import TEMPLATES
from experiments.tabular import enumerated, filled, markdown, read_records

Record = dict[str, str]

LEVEL = "95%"
FACTOR = 5
"""How many times fewer actions are the target."""

REQUIRED = ("digits", "Extended Yale B, 10 subjects", "Extended Yale B, 38 subjects", "COIL-20")
"""The data sets for which it is the target."""


def page(file: Path) -> str:
    """Return the page from the file of numbers of actions."""
    rows = read_records(file)
    tables = {f"table_{level:.0%}".rstrip("%"): _table(rows, f"{level:.0%}") for level in LEVELS}
    return filled(
        TEMPLATES / "labeling.md",
        runs=_runs(rows),
        most=labeling.MOST_ACTIONS,
        core=f"{CORE_SHARE:.0%}",
        mixed=f"{labeling.MIXED:.0%}",
        taken_out=labeling.MOST_TAKEN_OUT,
        agreed=round(labeling.AGREED * labeling.REMEMBERED),
        remembered=labeling.REMEMBERED,
        sheet=labeling.SHEET,
        statement=_statement(rows),
        last=_last_accuracies(rows),
        **tables,
    )  # fmt: skip


def chart(file: Path) -> charts.Chart:
    """Return the actions to 95 %; a strategy that does not reach them has no point."""
    rows = read_records(file)
    places: dict[str, dict[str, list[float]]] = {}
    for name in _names(rows):
        numbers = {m: mean_actions(rows, name, m, LEVEL) for m in (BULK, SUGGESTED, RANDOM)}
        places[name] = {m: [number] for m, number in numbers.items() if number is not None}
        places[name][_UNAIDED] = [_unaided(rows, name, LEVEL)]
    looks = {
        _UNAIDED: charts.REST, RANDOM: charts.LIMIT, SUGGESTED: charts.OTHER, BULK: charts.OURS,
    }  # fmt: skip
    return charts.Chart({f"actions to {LEVEL} accuracy": charts.Panel(places, log=True)}, looks)


_UNAIDED = "no spreading"


def summary(file: Path) -> str:
    """Return the tables of actions alone."""
    rows = read_records(file)
    return "\n\n".join(f"{level:.0%}\n{_table(rows, f'{level:.0%}')}" for level in LEVELS)


def _names(rows: list[Record]) -> list[str]:
    return list(dict.fromkeys(row["data set"] for row in rows))


def _runs(rows: list[Record]) -> str:
    counts = {name: len({r["run"] for r in rows if r["data set"] == name}) for name in _names(rows)}
    most = max(counts.values())
    fewer = [name for name, count in counts.items() if count < most]
    text = f"{most} runs" if most > 1 else "one run"
    smallest = min(counts.values())
    return text + (f" ({smallest} of {'; '.join(fewer)})" if fewer else "")


def mean_actions(rows: list[Record], name: str, method: str, level: str) -> float | None:
    """The mean over the runs; None where one of them does not reach the accuracy."""
    numbers = [
        row[f"actions {level}"]
        for row in rows
        if row["data set"] == name and row["method"] == method
    ]
    return fmean(map(float, numbers)) if numbers and all(numbers) else None


def _first(rows: list[Record], name: str) -> Record:
    return next(row for row in rows if row["data set"] == name)


def _text(number: float | None) -> str:
    return "" if number is None else f"{number:.0f}"


def _unaided(rows: list[Record], name: str, level: str) -> int:
    """Labels that it takes where none spreads."""
    return ceil(float(level.rstrip("%")) / 100 * int(_first(rows, name)["images"]))


def _table(rows: list[Record], level: str) -> str:
    lines = []
    for name in _names(rows):
        first = _first(rows, name)
        numbers = [mean_actions(rows, name, method, level) for method in METHODS]
        facts = [first["images"], first["classes"], first["clusters"], first[f"least {level}"]]
        unaided = str(_unaided(rows, name, level))
        lines.append([name, *facts, *map(_text, numbers), unaided])
    header = [
        "data set", "images", "classes", "clusters", "fewest", *METHODS, _UNAIDED,
    ]  # fmt: skip
    return markdown(header, lines).strip()


def _last_accuracies(rows: list[Record]) -> str:
    """Accuracy / actions at the end, of the data sets where bulk does not reach 95 %."""
    lines = []
    for name in _names(rows):
        if mean_actions(rows, name, BULK, LEVEL) is None:
            ends = [_last(rows, name, method) for method in METHODS]
            lines.append([name, *ends])
    return markdown(["data set", *METHODS], lines).strip()


def _last(rows: list[Record], name: str, method: str) -> str:
    ends = [
        (float(row["last accuracy"]), float(row["last actions"]))
        for row in rows
        if row["data set"] == name and row["method"] == method
    ]
    accuracy, actions = (fmean(column) for column in zip(*ends, strict=True))
    return f"{accuracy:.3f} / {actions:.0f}"


def factor(rows: list[Record], name: str, method: str) -> float | None:
    """How many times as many actions as in bulk a method takes to 95 %."""
    bulk, other = (mean_actions(rows, name, each, LEVEL) for each in (BULK, method))
    return None if bulk is None or other is None else other / bulk


def _statement(rows: list[Record]) -> str:
    """Where the target is reached and missed."""
    parts = []
    for method in (SUGGESTED, RANDOM):
        factors = {name: factor(rows, name, method) for name in REQUIRED if name in _names(rows)}
        reached = [name for name, value in factors.items() if value and value >= FACTOR]
        missed = [
            f"{name} ({'not measured' if value is None else f'{value:.1f}'})"
            for name, value in factors.items()
            if name not in reached
        ]
        text = f"Against *{method}*, {FACTOR} times fewer actions are "
        text += f"reached on {enumerated(reached)}" if reached else "reached on none of these sets"
        parts.append(text + (f", and missed on {'; '.join(missed)}." if missed else "."))
    return (
        f"The target was {FACTOR} times fewer actions on digits, Extended Yale B and COIL-20. "
        f"{' '.join(parts)} Against labeling without spreading the factor is "
        f"{_unaided_factors(rows)}. {_better(rows)}"
    )


def _unaided_factors(rows: list[Record]) -> str:
    """The range of the factors on the required data sets."""
    bulks = {n: mean_actions(rows, n, BULK, LEVEL) for n in REQUIRED if n in _names(rows)}
    factors = [_unaided(rows, name, LEVEL) / bulk for name, bulk in bulks.items() if bulk]
    return f"{min(factors):.0f} to {max(factors):.0f}" if factors else "not measured"


def _better(rows: list[Record]) -> str:
    """The data sets and methods with fewer actions than bulk."""
    texts = [
        f"*{method}* on {name} ({value:.2f})"
        for name in _names(rows)
        for method in METHODS
        if (value := factor(rows, name, method)) is not None and value < 0.995
    ]
    return f"These take fewer actions than *bulk*: {'; '.join(texts)}." if texts else ""
