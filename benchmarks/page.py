"""The page docs/speed.md and its chart, from the results: its text is in speed.md beside this file.

Marks are as in the templates of the experiments; every measured number of the text is one.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from benchmarks.report import (
    THREADS,
    Record,
    Result,
    cores,
    figure,
    has_baselines,
    read_results,
    table,
    verdict,
    write_atomically,
)
from experiments import charts
from experiments.tabular import filled

_TEMPLATE = Path(__file__).with_name("speed.md")
_PUBLISHED, _TUNED, _GRAM = "EnSC (SPAMS)", "EnSC, tuned by us", "Gram: one X @ X.T"


def write_page(folder: Path, order: Iterable[str], page: Path) -> None:
    """Write the page from the results in a folder, which must have all benchmarks."""
    order = list(order)
    results = read_results(folder, order)
    missing = set(order) - {result["name"] for result in results}
    if missing:
        raise ValueError(f"{folder} must have a result of every benchmark, got no {min(missing)}")
    write_atomically(page, filled(_TEMPLATE, **_pieces(results)))
    (page.parent / "images").mkdir(exist_ok=True)
    chart(results).write(page.parent / "images" / "speed.svg")


def chart(results: list[Result]) -> charts.Chart:
    """Return the seconds of all solvers on the problems with one size."""
    fastest, others = "fastest published solver", "other published solvers"
    rows = {}
    for result in _compared(results):
        record = result["records"][0]
        published = sorted(s["seconds"] for s in record["solvers"][1:] if s["published"])
        rows[f"{result['name']}, {record['nonzeros']:.0f} non-zeros"] = {
            others: published[1:],
            fastest: published[:1],
            _TUNED: [_seconds(record, _TUNED)],
            _GRAM: [record["gram_seconds"]],
            "enhg": [record["seconds"]],
        }
    looks = {
        others: charts.REST, fastest: charts.OTHER, _GRAM: charts.LIMIT,
        _TUNED: ("#009E73", "s", 40, 0.0), "enhg": charts.OURS,
    }  # fmt: skip
    return charts.Chart({"seconds for all samples": charts.Panel(rows, log=True)}, looks)


def _compared(results: list[Result]) -> list[Result]:
    """The benchmarks of one problem with baselines."""
    return [result for result in results if has_baselines(result) and len(result["records"]) == 1]


def _problems_table(results: list[Result]) -> str:
    """Times of the benchmarks of one problem, with the ratios to baselines where there are some."""
    rows = []
    for result in results:
        record = result["records"][0]
        ratios = ["", ""]
        if result in _compared(results):
            fastest, times = record["fastest_baseline"], record["times_fastest_baseline"]
            tuned = _seconds(record, _TUNED) / record["seconds"]
            ratios = [f"{figure(times)} ({fastest})", figure(tuned)]
        elif result["name"] not in ("large", "full"):
            continue
        figures = record["nonzeros"], record["seconds"], _times_gram(record)
        rows.append([f"*{result['name']}*: {result['title']}", *map(figure, figures), *ratios])
    ours = ["benchmark", "non-zeros per sample", "s", "times Gram"]
    return table([*ours, "speed-up over the fastest published baseline", f"over {_TUNED}"], rows)


def _full(records: list[Record]) -> dict[str, str]:
    """Seconds of the clustering of all images, and of its representation."""
    clustering = records[1]
    return {
        "full-clustering": figure(clustering["seconds"]),
        "full-representation": figure(clustering["stages"]["representation"]),
    }


def _pieces(results: list[Result]) -> dict[str, str]:
    records = {result["name"]: result["records"] for result in results}
    sparse = records["sparse"][0]
    return {
        "threads": THREADS.format(cores=cores(results)),
        "problems": _problems_table(results),
        "verdict": verdict(results),
        "cold": figure(max(record["first_call_seconds"] for record in records["cold"])),
        **_full(records["full"]),
        **_sparse_and_dense(records),
        "published-ratio": figure(_seconds(sparse, _PUBLISHED) / sparse["seconds"]),
        **_growth(records["growth"]),
        **_memory(records["memory"]),
        **_dense(records["dense"]),
        "choice-table": _choice(records["choice"]),
        **_photos(records["photos"][0]),
    }


def _times_gram(record: Record) -> float:
    return record["seconds"] / record["gram_seconds"]


def _sparse_and_dense(records: dict[str, list[Record]]) -> dict[str, str]:
    """Times of problems with few and with many non-zeros, and the operations of the latter."""
    few = [*records["sparse"], *records["large"], *records["growth"]]
    times = [_times_gram(record) for record in few]
    counts = [record["nonzeros"] for record in few]
    dense = records["faces"][0]
    support = dense["nonzeros"]
    return {
        "few-nonzeros": f"{min(counts):.0f} to {max(counts):.0f}",
        "few-times": f"{min(times):.1f} to {max(times):.1f}",
        "many-nonzeros": f"{support:.0f}",
        "many-times": f"{_times_gram(dense):.0f}",
        "factorization": f"{support**3 / 6 / 1e6:.1f}",
        "gram-row": f"{dense['samples'] * dense['features'] / 1e6:.1f}",
    }


def _dense(records: list[Record]) -> dict[str, str]:
    """Times against the non-zeros under a strong ridge."""
    first = records[0]
    rows = [
        [figure(record[key]) for key in ("nonzeros", "lam", "seconds", "times_first")]
        for record in records
    ]
    heads = ["non-zeros per sample", "λ", "s", f"times that at {figure(first['nonzeros'])}"]
    return {
        "dense-data": f"{first['dataset']}, n = {first['samples']}, d = {first['features']}",
        "dense-table": table(heads, rows),
    }


def _choice(records: list[Record]) -> str:
    """Seconds of the defaults and of what they choose, for both tasks and every n."""
    rows = []
    for record in records:
        seconds = record["seconds_by_task"]
        for task in ("clustering", "classification"):
            chosen = f"{record['preprocessing']}, {record[f'{task} method']}"
            times = seconds[task], seconds[f"{task}, fixed"]
            figures = *map(figure, times), figure(times[0] / times[1])
            rows.append([str(record["samples"]), task, chosen, *figures])
    heads = ["n", "task", "chosen", "s, by default", "s, if it is given", "ratio"]
    return table(heads, rows)


def _photos(record: Record) -> dict[str, str]:
    """Images per second of features from files, and of onnxruntime alone."""
    speed = record["images_per_second"]
    return {
        "photo-count": str(record["images"]),
        "photo-speed": f"{speed['files']:.0f}",
        "photo-alone": f"{speed['onnxruntime']:.0f}",
    }


def _seconds(record: Record, name: str) -> float:
    return next(solver["seconds"] for solver in record["solvers"] if solver["name"] == name)


def _growth(records: list[Record]) -> dict[str, str]:
    """The baselines whose times enhg decrease from the first to the last n."""
    first, last = records[0], records[-1]
    names = [solver["name"] for solver in first["solvers"][1:]]
    falling = [
        name
        for name in names
        if _seconds(last, name) / last["seconds"] < _seconds(first, name) / first["seconds"]
    ]
    return {"falling": ", ".join(falling) if falling else "none"}


def _memory(records: list[Record]) -> dict[str, str]:
    """Times of the largest n with the Gram matrix stored and in blocks."""
    largest = max(record["samples"] for record in records)
    seconds = {
        record["budget"] is None: record["seconds"]
        for record in records
        if record["samples"] == largest
    }
    return {
        "memory-samples": str(largest),
        "stored-seconds": figure(seconds[True]),
        "block-seconds": figure(seconds[False]),
        "block-ratio": f"{seconds[False] / seconds[True]:.1f}",
    }
