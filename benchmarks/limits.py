"""Limits that are kept: the memory budget, and the share of the cores beside other processes.

    python -m benchmarks.limits budget [--samples N] [--rows N] [--data DIR]
    python -m benchmarks.limits load [--samples N] [--data DIR]

The exit status is 0 if every target is met. Nothing is stored.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks.measure import in_new_process
from benchmarks.outcomes import Target, at_most
from benchmarks.problems import Problem
from benchmarks.report import describe, is_met

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
_BUDGETS = {20_000: (0.1, 0.5, 3.0), 70_000: (0.5, 2.0)}  # GB; 3 GB is enough for the Gram matrix


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.limits", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("name", choices=("budget", "load"))
    parser.add_argument("--samples", type=int, default=20_000, metavar="N")
    parser.add_argument(
        "--rows", type=int, metavar="N", help="samples that are represented by all; all by default"
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("ENHG_DATA", _BESIDE))
    choices = parser.parse_args()
    with TemporaryDirectory() as home:
        file = Path(home) / "samples.npy"
        np.save(file, Problem("mnist", choices.samples, 0.1, 0.1).samples(choices.data))
        targets = (
            budget(file, choices.samples, choices.rows) if choices.name == "budget" else load(file)
        )
    described = [asdict(target) for target in targets]
    for target in described:
        print("   ", describe(target), flush=True)
    return int(not all(map(is_met, described)))


def budget(file: Path, n_samples: int, rows: int | None) -> list[Target]:
    """Peak resident memory above that of a process with the samples and the result."""
    targets = []
    for gigabytes in _BUDGETS[70_000 if n_samples > 20_000 else 20_000]:
        measured = in_new_process(
            "within_budget", samples=file, budget=int(gigabytes * 1e9), rows=rows
        )
        print(gigabytes, "GB", measured, flush=True)
        used = measured["used_bytes"] / 1e9
        targets.append(at_most(f"memory, of {gigabytes} GB", used / gigabytes, 1.2, "× the budget"))
    return targets


def load(file: Path) -> list[Target]:
    """The stages of a clustering with and without two other busy processes, in turns.

    Its fair share of two cores is a half of each, so that it takes twice as long; threads that wait
    for each other would take longer.
    """
    targets = []
    for name, (alone, beside) in in_new_process("under_load", samples=file).items():
        print(f"    {name}: {alone:.2f} s alone, {beside:.2f} s beside", flush=True)
        ratio = beside / alone
        targets.append(at_most(f"{name} beside two busy processes", ratio, 3, "× as long"))
    return targets


if __name__ == "__main__":
    sys.exit(main())
