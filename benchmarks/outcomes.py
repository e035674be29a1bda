"""What benchmarks have in common: their options, results and targets."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.problems import TOL, Problem

Record = dict[str, object]


@dataclass(frozen=True)
class Options:
    """Folder of the data, rows that a baseline is timed on, and a limit on n for trial runs."""

    data: Path
    baseline_rows: int = 20
    limit: int | None = None

    def sizes(self, *counts: int) -> list[int]:
        """The numbers of samples, reduced in proportion so that the largest is within the limit."""
        shrink = min(1.0, (self.limit or max(counts)) / max(counts))
        return [round(count * shrink) for count in counts]

    def sized(self, problem: Problem) -> Problem:
        return problem.replace(count=self.sizes(problem.count)[0])


@dataclass(frozen=True)
class Target:
    """Requirement on a figure: at most or at least the limit."""

    what: str
    measured: float
    relation: str
    limit: float
    unit: str = ""


@dataclass(frozen=True)
class Outcome:
    """Result of a benchmark: one record per measurement, and the targets."""

    records: list[Record]
    targets: list[Target]

    def as_json(self) -> Record:
        return {"records": self.records, "targets": [asdict(target) for target in self.targets]}


def at_most(what: str, measured: float, limit: float, unit: str = "") -> Target:
    return Target(what, float(measured), "at most", limit, unit)


def at_least(what: str, measured: float, limit: float, unit: str = "") -> Target:
    return Target(what, float(measured), "at least", limit, unit)


def certified(*records: Record) -> Target:
    return at_most("largest certificate", max(record["certificate"] for record in records), TOL)
