"""Run benchmarks by name, or all of them; the exit status tells whether every bar is met."""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path

from benchmarks import measure
from benchmarks.peers import require_peers
from benchmarks.report import in_words, met, write_report, write_whole
from benchmarks.suite import BENCHMARKS, Options

_HERE = Path(__file__).resolve().parent
_RESULTS = _HERE / "results"
_DOCS = _HERE.parent / "docs" / "speed.md"
_BESIDE = _HERE.parents[1] / "shared" / "data"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="which to run; all by default")
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("ENHG_DATA", _BESIDE), metavar="DIR",
        help="the image sets",
    )  # fmt: skip
    parser.add_argument(
        "--output", type=Path, default=_RESULTS, metavar="DIR", help="where results go"
    )
    parser.add_argument(
        "--peer-rows", type=_positive, default=20, metavar="N", help="samples a peer is timed on"
    )
    parser.add_argument(
        "--limit", type=_positive, metavar="N",
        help="at most so many samples, to try the suite; needs an --output of its own",
    )  # fmt: skip
    parser.add_argument("--list", action="store_true", help="say what there is, and stop")
    choices = parser.parse_args()
    if choices.list:
        for name, work in BENCHMARKS.items():
            print(f"{name:10} {work.__doc__}")
        return 0
    unknown = set(choices.names) - set(BENCHMARKS)
    if unknown:
        parser.error(f"no benchmark is named {', '.join(sorted(unknown))}; see --list")
    ours = choices.output.resolve() == _RESULTS
    if choices.limit and ours:
        parser.error("--limit is for trials: name another folder for their results with --output")
    require_peers()
    choices.output.mkdir(parents=True, exist_ok=True)
    options = Options(choices.data, choices.peer_rows, choices.limit)
    failed = False
    for name in choices.names or BENCHMARKS:
        print(f"{name}: {BENCHMARKS[name].__doc__}", flush=True)
        try:
            result = _run(name, options)
        except Exception:
            # The others may take an hour: they are not given up for this one.
            traceback.print_exc()
            failed = True
            continue
        write_whole(choices.output / f"{name}.json", json.dumps(result, indent=1) + "\n")
        for bar in result["bars"]:
            print("   ", in_words(bar), flush=True)
            failed |= not met(bar)
    write_report(choices.output, BENCHMARKS, _DOCS if ours else None)
    return int(failed)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number above 0")
    return number


def _run(name: str, options: Options) -> dict[str, object]:
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
