"""Run benchmarks by name, or all of them; the exit status is 0 if every target is met."""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import measure
from benchmarks.baselines import require_baselines
from benchmarks.outcomes import Options
from benchmarks.page import write_page
from benchmarks.report import describe, is_met, write_atomically, write_report
from benchmarks.suite import BENCHMARKS

_HERE = Path(__file__).resolve().parent
_RESULTS = _HERE / "results"
_DOCS = _HERE.parent / "docs" / "speed.md"
_BESIDE = _HERE.parents[1] / "shared" / "data"


def main() -> int:
    parser = _parser()
    choices = parser.parse_args()
    if choices.list:
        for name, benchmark in BENCHMARKS.items():
            print(f"{name:10} {benchmark.__doc__}")
        return 0
    if choices.pages:
        write_report(_RESULTS, BENCHMARKS)
        write_page(_RESULTS, BENCHMARKS, _DOCS)
        return 0
    unknown = set(choices.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"NAME must be one of --list, got {', '.join(sorted(unknown))}")
    published = choices.output.resolve() == _RESULTS
    if choices.limit and published:
        parser.error("--limit is for trial runs: name another folder with --output")
    require_baselines()
    choices.output.mkdir(parents=True, exist_ok=True)
    options = Options(choices.data, choices.baseline_rows, choices.limit)
    # Every benchmark runs, also after one has failed: together they may take an hour.
    succeeded = [
        _run_and_write(name, options, choices.output) for name in choices.names or BENCHMARKS
    ]
    write_report(choices.output, BENCHMARKS)
    if published:
        write_page(_RESULTS, BENCHMARKS, _DOCS)
    return int(not all(succeeded))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="benchmarks to run; all by default"
    )
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("ENHG_DATA", _BESIDE), metavar="DIR",
        help="folder of the image sets",
    )  # fmt: skip
    parser.add_argument(
        "--output", type=Path, default=_RESULTS, metavar="DIR", help="folder of the results"
    )
    parser.add_argument(
        "--baseline-rows", type=_positive, default=20, metavar="N",
        help="samples that a baseline is timed on",
    )  # fmt: skip
    parser.add_argument(
        "--limit", type=_positive, metavar="N",
        help="largest number of samples, for trial runs; requires an --output of its own",
    )  # fmt: skip
    parser.add_argument("--list", action="store_true", help="list the benchmarks and exit")
    parser.add_argument(
        "--pages", action="store_true",
        help="write the pages from the stored results, without measuring, and exit",
    )  # fmt: skip
    return parser


def _run_and_write(name: str, options: Options, folder: Path) -> bool:
    """Run a benchmark and write its result; returns whether it ran and met its targets."""
    print(f"{name}: {BENCHMARKS[name].__doc__}", flush=True)
    try:
        result = _run(name, options)
    except Exception:
        traceback.print_exc()
        return False
    write_atomically(folder / f"{name}.json", json.dumps(result, indent=1) + "\n")
    for target in result["targets"]:
        print("   ", describe(target), flush=True)
    return all(is_met(target) for target in result["targets"])


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number above 0, got {text}")
    return number


def _run(name: str, options: Options) -> dict[str, Any]:
    return {
        "name": name,
        "title": BENCHMARKS[name].__doc__,
        "date": datetime.now(UTC).isoformat(timespec="minutes"),
        "limit": options.limit,
        "machine": measure.machine(),
        "versions": measure.versions(),
        **BENCHMARKS[name](options).as_json(),
    }


if __name__ == "__main__":
    sys.exit(main())
