"""From the results in a folder to its page of tables; nothing is measured here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks.plots import draw

Result = dict[str, Any]
Record = dict[str, Any]

_OPENING = """\
# Speed and memory, measured

Made by `python -m benchmarks` (`make bench`) from the JSON files of this folder; run it again
rather than edit it.

Everybody solves, for unit-length samples, ½‖x − Σ zⱼxⱼ‖² + a‖z‖₁ + (b/2)‖z‖² with the own
coefficient held at zero. "Gram" is one float32 `X @ X.T` of the same X on the same threads, in
blocks of rows where it does not fit. Ours is timed on all samples, the best of a few runs in turns
with Gram (at 70 000 a single run). Peers solve one sample after the other, are timed on a few rows
spread evenly, the better of two runs of each, and **extrapolated** to all. They work on one core at
a time, ours on all of them: of every ratio, a factor of about the number of cores is owed to that.
Warm-up and compilation are outside the timers, and so is taking the own column out for a peer. Each
peer has its data in the precision that is faster for it, and the loosest stopping tolerance that
brings the violation to 1e-4 on all rows timed. Where none does within 1000 sweeps, as with
scikit-learn on dense problems, the table shows the violation that is left.

The ratios move by a third and more between runs on a shared machine, Gram's own time by a fifth.
Below 2 GiB NumPy makes `X @ X.T` as a symmetric product, which has half the work; above it ours is
blocks of a general one. Compare ratios across that line with care.

Violation: the worst of the KKT conditions over all atoms, relative to a. Suboptimality: how far the
objective is above the best that anyone found for the row, relative to it. Both are the worst of the
rows sampled, computed alike for all in float64.

EnSC is written here after the program its authors published: double precision, supports of 100,
and SPAMS left to choose its threads. Tuned by us it is several times faster: SPAMS held to one
thread, either precision, supports that grow faster. The bars are about solvers as published; how
far ahead of the tuned one we are is in the tables.
"""

# The lines of the documentation's page that hold what is made here.
_BEGIN = "<!-- what follows is made by python -m benchmarks -->"
_END = "<!-- what precedes is made by python -m benchmarks -->"

Column = tuple[str, Callable[[Record], str]]


def write_report(folder: Path, order: Iterable[str], docs: Path | None = None) -> None:
    """The page README.md and its plots, of every result in the folder, and the tables in a page
    of the documentation, between its two marks."""
    files = [folder / f"{name}.json" for name in order]
    results = [json.loads(file.read_text(encoding="utf-8")) for file in files if file.exists()]
    drawn = draw({result["name"]: result["records"] for result in results}, folder)
    parts = [_OPENING, _bars(results)]
    parts += [_section(result, drawn) for result in results]
    parts.append(_machines(results))
    write_whole(folder / "README.md", "\n".join(parts))
    if docs is not None:
        before, _, rest = docs.read_text(encoding="utf-8").partition(_BEGIN)
        _, end, after = rest.partition(_END)
        if not end:
            raise ValueError(f"{docs} must have a line {_BEGIN} and below it a line {_END}")
        alone = [result for result in results if len(result["records"]) == 1]
        compared = [_section(result, drawn) for result in alone if _has_peers(result)]
        tables = "\n".join([*compared, _bars(results)]).rstrip()
        write_whole(docs, f"{before}{_BEGIN}\n{tables}\n{_END}{after}")


def write_whole(file: Path, text: str) -> None:
    """All of it or nothing: a reader never sees half a file."""
    part = file.with_name(file.name + ".part")
    part.write_text(text, encoding="utf-8")
    part.replace(file)


def met(bar: Record) -> bool:
    """Whether a figure is what it has to be."""
    if bar["relation"] == "at most":
        return bar["measured"] <= bar["limit"]
    return bar["measured"] >= bar["limit"]


def in_words(bar: Record) -> str:
    return f"{bar['what']}: {_measured(bar)}, {_limit(bar)}: {_outcome(bar)}"


def _outcome(bar: Record) -> str:
    return "met" if met(bar) else "MISSED"


def _measured(bar: Record) -> str:
    return f"{_figure(bar['measured'])} {bar['unit']}".strip()


def _limit(bar: Record) -> str:
    return f"{bar['relation']} {bar['limit']:g} {bar['unit']}".strip()


def _bars(results: list[Result]) -> str:
    rows = [
        [result["name"] + _trial(result), bar["what"], _measured(bar), _limit(bar), _outcome(bar)]
        for result in results
        for bar in result["bars"]
    ]
    missed = sum(not met(bar) for result in results for bar in result["bars"])
    verdict = f"{missed} of {len(rows)} bars missed." if missed else f"All {len(rows)} bars met."
    return "\n".join(
        ["## Bars", verdict, "", _table(["benchmark", "what", "measured", "bar", ""], rows), ""]
    )


def _trial(result: Result) -> str:
    return f" (a trial, n ≤ {result['limit']})" if result["limit"] else ""


def _section(result: Result, drawn: dict[str, str]) -> str:
    records = result["records"]
    lines = [f"## {result['name']}{_trial(result)}", f"{result['title']}.", ""]
    if result["name"] in drawn:
        lines += [f"![{result['title']}]({drawn[result['name']]})", ""]
    if _has_peers(result):
        tables = _peer_tables(records)
    else:
        tables = [_records_table(alike) for alike in _of_one_kind(records)]
    lines += [line for table in tables for line in (table, "")]
    return "\n".join(lines)


def _has_peers(result: Result) -> bool:
    return "solvers" in result["records"][0]


def _machines(results: list[Result]) -> str:
    """When and where each benchmark ran; those of one machine and the same versions together."""
    groups: dict[str, list[str]] = {}
    for result in results:
        machine = result["machine"]
        packages = ", ".join(f"{name} {number}" for name, number in result["versions"].items())
        where = (
            f"{machine['processor']}, {machine['cores']} cores, {machine['memory_gb']} GB of "
            f"memory, {machine['system']}; {packages}"
        )
        groups.setdefault(where, []).append(f"{result['name']} ({result['date']})")
    lines = [f"- {where}: {', '.join(names)}." for where, names in groups.items()]
    return "\n".join(["## Where and when", *lines, ""])


def _peer_tables(records: list[Record]) -> list[str]:
    """One problem: everything about every solver. A series: its points, then the solvers."""
    if len(records) == 1:
        return [_records_table(records), _solvers_table(records[0])]
    names = [solver["name"] for solver in records[0]["solvers"]]
    columns = [column for column in _COLUMNS if column[0] in _IN_SERIES]
    rows = [
        [show(record) for _, show in columns]
        + [_figure(solver["seconds"]) for solver in record["solvers"]]
        for record in records
    ]
    heads = [head for head, _ in columns]
    seconds = ["enhg, s"] + [f"{name}, s (extrapolated)" for name in names[1:]]
    worst = [
        [
            name,
            str(records[0]["solvers"][at]["rows"]) if at else "all",
            *(
                f"{max(record['solvers'][at][key] for record in records):.1e}"
                for key in ("violation", "suboptimality")
            ),
        ]
        for at, name in enumerate(names)
    ]
    judged = ["solver", "rows timed", "worst violation", "worst suboptimality"]
    return [_table(heads + seconds, rows), _table(judged, worst)]


def _solvers_table(record: Record) -> str:
    heads = [
        "solver", "ms a sample", "all samples, s", "rows timed", "times ours",
        "violation", "suboptimality", "tolerance", "precision",
    ]  # fmt: skip
    rows = []
    for solver in record["solvers"]:
        whole = solver["rows"] == record["samples"]
        rows.append(
            [
                solver["name"],
                _figure(solver["seconds"] / record["samples"] * 1000),
                _figure(solver["seconds"]) + ("" if whole else " (extrapolated)"),
                "all" if whole else str(solver["rows"]),
                _figure(solver["seconds"] / record["seconds"]),
                f"{solver['violation']:.1e}",
                f"{solver['suboptimality']:.1e}",
                f"{solver['tol']:.0e}" if solver["tol"] else "none",
                solver["precision"],
            ]
        )
    return _table(heads, rows)


def _of_one_kind(records: list[Record]) -> list[list[Record]]:
    """Records that say the same things share a table."""
    kinds: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        kinds.setdefault(tuple(record), []).append(record)
    return list(kinds.values())


def _records_table(records: list[Record]) -> str:
    columns = [(head, show) for head, show in _COLUMNS if _knows(records[0], show)]
    return _table(
        [head for head, _ in columns], [[show(record) for _, show in columns] for record in records]
    )


def _knows(record: Record, show: Callable[[Record], str]) -> bool:
    try:
        show(record)
    except KeyError:
        return False
    return True


def _figure(value: float) -> str:
    """Three digits, without an exponent where people do not expect one."""
    return f"{value:.0f}" if 100 <= value < 1e6 else f"{value:.3g}"


def _shares(record: Record) -> str:
    spent = record["stages"]
    whole = sum(spent.values())
    return ", ".join(f"{stage} {100 * part / whole:.0f} %" for stage, part in spent.items())


def _budget(record: Record) -> str:
    budget = record["budget"]
    return "default" if budget is None else f"{budget / 2**20:g} MiB"


_TASKS = {"represent": "representation", "cluster": "clustering"}
_COLUMNS: tuple[Column, ...] = (
    ("task", lambda record: _TASKS[record["task"]]),
    ("cache", lambda record: record["cache"]),
    ("n", lambda record: str(record["samples"])),
    ("d", lambda record: str(record["features"])),
    ("loss", lambda record: record["loss"]),
    ("γ", lambda record: _figure(record["gamma"])),
    ("a", lambda record: f"{record['a']:g}"),
    ("b", lambda record: f"{record['b']:g}"),
    ("precision", lambda record: record["precision"]),
    ("threads", lambda record: str(record["threads"])),
    ("memory budget", _budget),
    ("non-zeros a sample", lambda record: _figure(record["nonzeros"])),
    ("worst certificate", lambda record: f"{record['certificate']:.1e}"),
    ("ours, s", lambda record: _figure(record["seconds"])),
    ("Gram, s", lambda record: _figure(record["gram_seconds"])),
    ("times Gram", lambda record: _figure(record["seconds"] / record["gram_seconds"])),
    ("label diffusion, s", lambda record: _figure(record["diffusion_seconds"])),
    ("largest residual", lambda record: f"{record['residual']:.1e}"),
    ("peak memory, GB", lambda record: _figure(record["peak_bytes"] / 1e9)),
    ("of the stages", _shares),
    ("import, s", lambda record: _figure(record["import_seconds"])),
    ("loading the solver, s", lambda record: _figure(record["loading_seconds"])),
    ("first call, s", lambda record: _figure(record["first_call_seconds"])),
)  # fmt: skip
_IN_SERIES = (
    "n",
    "d",
    "a",
    "b",
    "non-zeros a sample",
    "worst certificate",
    "Gram, s",
    "times Gram",
)


def _table(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)
