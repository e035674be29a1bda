"""Benchmarks of what large runs need: checkpoints, workers, candidates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from benchmarks import measure
from benchmarks.outcomes import Options, Outcome, Record, at_least, at_most
from benchmarks.problems import TOL, Problem, deformed_images, labeled_images, warm_up

_SAMPLES = Problem("mnist", 20_000, a=0.1, b=0.1)
_BUDGET = 2**29  # bytes: too small for the Gram matrix, as at the sizes that need workers
_TURNS = 3
_WORKERS = {"one worker": 1, "two workers": 2}
_CANDIDATES = (15, 30, 60)  # the default first
_MANY, _INDEXED, _FEATURES = 1_000_000, 200_000, 128


def checkpoints(options: Options) -> Outcome:
    """The cost of a checkpoint, without room for the Gram matrix: 20 000 MNIST images"""
    problem = options.sized(_SAMPLES)
    X = problem.samples(options.data)
    warm_up(X, **problem.parameters)
    with TemporaryDirectory() as home:
        folders = (Path(home) / str(turn) for turn in range(_TURNS))
        works = {
            "without": problem.solver(X, memory_budget=_BUDGET),
            "with": lambda: problem.solver(X, memory_budget=_BUDGET, checkpoint=next(folders))(),
        }
        best = measure.best_of_each(works, _TURNS)
        written = sum(file.stat().st_size for file in Path(home, "0").rglob("*.npz"))
    records: list[Record] = [
        {
            "samples": len(X),
            "checkpoint": name,
            "seconds": best[name],
            "bytes_written": written if name == "with" else 0,
        }
        for name in works
    ]
    share = 100 * (best["with"] / best["without"] - 1)
    return Outcome(records, [at_most("cost of the checkpoint", share, 3, "% of the time")])


def workers(options: Options) -> Outcome:
    """Dask workers against threads, without room for the Gram matrix: 20 000 MNIST images"""
    problem = options.sized(_SAMPLES)
    X = problem.samples(options.data)
    warm_up(X, **problem.parameters)
    with ExitStack() as stack:
        schedulers = {"threads": "threads"} | {
            name: stack.enter_context(_client(count)) for name, count in _WORKERS.items()
        }
        works = {
            name: problem.solver(X, memory_budget=_BUDGET, scheduler=scheduler)
            for name, scheduler in schedulers.items()
        }
        results = {name: work() for name, work in works.items()}  # which compiles on the workers
        best = measure.best_of_each(works, _TURNS)
    one, two = (results[name].coefficients for name in _WORKERS)
    records: list[Record] = [
        {"samples": len(X), "scheduler": name, "seconds": best[name],
         "certificate": float(results[name].certificate.max())}
        for name in works
    ]  # fmt: skip
    speedup, slowdown = (best["two workers"] / best[name] for name in ("one worker", "threads"))
    return Outcome(
        records,
        [
            at_least("two workers against one", 1 / speedup, 1.6, "× as fast"),
            at_most("two workers", slowdown, 1.2, "× two threads"),
            at_most("coefficients that differ between one and two", (one != two).nnz, 0),
            at_most("largest certificate", max(r["certificate"] for r in records), TOL),
        ],
    )


@contextmanager
def _client(count: int) -> Iterator[object]:
    """A client of so many Dask workers of one thread, in processes of this machine."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=count, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


def approximate(options: Options) -> Outcome:
    """Candidates against all samples: clustering of all 70 000 MNIST images by default"""
    count = options.sizes(70_000)[0]
    records: list[Record] = []
    with TemporaryDirectory() as home:
        file = Path(home) / "samples.npz"
        X, labels = labeled_images("mnist", options.data)
        np.savez(file, X=X[:count], y=labels[:count])
        for candidates in (None, *_CANDIDATES):
            record = measure.in_new_process("approximate", samples=file, candidates=candidates)
            records.append({"samples": count} | record)
    exact, default = records[:2]
    return Outcome(
        records,
        [
            at_least(
                "representation by candidates", exact["seconds"] / default["seconds"], 5,
                "× as fast as by all",
            ),
            at_most("loss of clustering accuracy", exact["ac"] - default["ac"], 0.01),
            at_least(
                "checked samples within ten times the tolerance", default["share_within"], 0.99
            ),
        ],
    )  # fmt: skip


def indices(options: Options) -> Outcome:
    """Indices of nearest neighbors: 15 of each of 200 000 deformed MNIST images"""
    count = options.sizes(_INDEXED)[0]
    with TemporaryDirectory() as home:
        file = Path(home) / "samples.npy"
        np.save(file, deformed_images(count, _FEATURES, options.data)[0])
        records: list[Record] = [
            measure.in_new_process(
                "find_neighbors", samples=file, library=library, n_neighbors=15, checked=1000
            )
            for library in ("pynndescent", "faiss", "usearch")
        ]
    return Outcome(records, [])


def million(options: Options) -> Outcome:
    """One million deformed MNIST images on 128 principal components, clustered by default"""
    count = options.sizes(_MANY)[0]
    with TemporaryDirectory() as home:
        files = {name: Path(home) / f"{name}.npy" for name in ("samples", "labels")}
        for file, array in zip(
            files.values(), deformed_images(count, _FEATURES, options.data), strict=True
        ):
            np.save(file, array)
        graph = measure.in_new_process("index", samples=files["samples"])
        ours = measure.in_new_process("cluster_large", **files)
        plain = [
            measure.in_new_process("cluster_plainly", **files, name=name)
            for name in ("KMeans", "MiniBatchKMeans")
        ]
    records: list[Record] = [{"samples": count} | r for r in (graph, ours, *plain)]
    best = max(record["ac"] for record in plain)
    return Outcome(
        records,
        [
            at_most(
                "representation", ours["stages"]["representation"] / graph["program_seconds"], 3,
                "× the graph of pynndescent",
            ),
            at_most(
                "clustering", ours["program_seconds"] / graph["program_seconds"], 5,
                "× the graph of pynndescent",
            ),
            at_most("peak memory", ours["peak_bytes"] / 1e9, 8, "GB"),
            at_least("clustering accuracy above that of k-means", ours["ac"] - best, 0),
        ],
    )  # fmt: skip
