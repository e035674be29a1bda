"""Benchmark of files in the Hypergraph Interchange Format."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks import measure
from benchmarks.outcomes import Options, Outcome, Record, at_most
from enhg import Hypergraph

_INCIDENCES = 10_000_000
_PER_EDGE = 10
_MOST_BYTES = 100  # more per incidence than before, of numbers in arrays and of blocks of text


def hif(options: Options) -> Outcome:
    """HIF files of 10⁷ incidences, against Python's json on a tenth of them"""
    count = options.sizes(_INCIDENCES)[0] // _PER_EDGE * _PER_EDGE
    seconds: dict[str, float] = {}
    records: list[Record] = []
    with tempfile.TemporaryDirectory() as folder:
        for size, programs in (
            (count, ("write", "read")),
            (count // 10, ("write", "read", "json")),
        ):
            file = Path(folder) / f"{size}.json"
            for program in programs:
                result = measure.in_new_process(
                    "hif", file=file, program=program, edges=size // _PER_EDGE
                )
                seconds[f"{program} {size}"] = result["program_seconds"]
                records.append({"program": program, "incidences": size} | result)
    more = {record["program"]: record["bytes_more"] / count for record in records[:2]}
    ratio = seconds[f"read {count // 10}"] / seconds[f"json {count // 10}"]
    targets = [
        at_most(f"memory to {program}", more[program], _MOST_BYTES, "bytes per incidence")
        for program in ("write", "read")
    ]
    targets.append(at_most("reading", ratio, 3, "× json.load, which keeps no hypergraph"))
    return Outcome(records, targets)


def time_hif(file: str, program: str, edges: int) -> dict[str, float]:
    """Time the writing or reading of a HIF file, with the memory that it takes beyond the start."""
    works = {
        "read": lambda: Hypergraph.from_hif(file),
        "json": lambda: json.loads(Path(file).read_text()),
    }
    if program == "write":
        hypergraph = _random_hypergraph(edges)
        works["write"] = lambda: hypergraph.to_hif(file)
    before = measure.reset_peak()
    seconds = measure.seconds_of(works[program])
    return {"program_seconds": seconds, "bytes_more": measure.peak_bytes() - before}


def _random_hypergraph(edges: int) -> Hypergraph:
    """As many vertices as edges, and ten members in each edge."""
    rng = np.random.default_rng(0)
    members = rng.integers(edges, size=_PER_EDGE * edges)
    members[::_PER_EDGE] = np.arange(edges)  # every vertex is in an edge
    columns = np.repeat(np.arange(edges), _PER_EDGE)
    memberships = rng.random(len(members)) + 0.1
    incidence = sparse.csr_array((memberships, (members, columns)))
    return Hypergraph(incidence, weights=rng.random(edges) + 0.1)
