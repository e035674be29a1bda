"""The benchmarks: each measures and states the targets of its figures."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import enhg
from benchmarks import measure
from benchmarks.baselines import BASELINES, run_accurately
from benchmarks.interchange import hif
from benchmarks.labeling import answer
from benchmarks.outcomes import Options, Outcome, Record, at_least, at_most, certified
from benchmarks.problems import TOL, Problem, embeddings, gram, optimality, warm_up
from benchmarks.scaling import approximate, checkpoints, indices, million, workers
from enhg.datasets import load
from enhg.preprocessing import SampleNormalizer

SPARSE = Problem("mnist", 5000, a=0.1, b=0.1)
MEDIUM = Problem("mnist", 5000, a=0.05, b=0.5)
FACES = Problem("yale-b", 2414, a=0.02, b=1.0, center=True)
_GROWING = (5000, 10_000, 20_000, 40_000)
_DIMENSIONS = (49, 98, 196, 392, 784, 1568, 3136)
_PENALTIES = ((0.3, 0.3), (0.2, 0.2), (0.1, 0.1), (0.05, 0.1), (0.05, 0.5), (0.02, 0.5), (0.02, 1))
_ROWS_IN_SERIES = 5
_BUDGET = 2**30  # bytes: a twentieth of the Gram matrix of 70 000 samples
_SMALL_BUDGET = 64 * 2**20  # bytes: too small for any Gram matrix of the series
_SUPPORTS = (100, 400, 800, 1300, 2000)  # non-zeros per sample, of some 4100 samples
_MATCHED = 0.02  # relative difference of the non-zeros of two losses that counts as equal


def solve_all(problem: Problem, X: NDArray, times: int) -> tuple[Record, enhg.Representation]:
    """Time enhg and Gram in turns; the warm-up is a whole run of enhg, whose result is returned."""
    solver = problem.solver(X)
    result = solver()
    best = measure.best_of_each({"ours": solver, "gram": gram(X)}, times)
    record = {
        "samples": len(X),
        "features": X.shape[1],
        "a": problem.a,
        "b": problem.b,
        "nonzeros": result.coefficients.nnz / len(X),
        "certificate": float(result.certificate.max()),
        "seconds": best["ours"],
        "gram_seconds": best["gram"],
        "times_gram": best["ours"] / best["gram"],
    }
    return record, result


def side_by_side(problem: Problem, X: NDArray, times: int, baseline_rows: int) -> Record:
    """Time enhg on all samples and every baseline on some, spread evenly, with their accuracy."""
    record, result = solve_all(problem, X, times)
    rows = np.unique(np.linspace(0, len(X) - 1, baseline_rows).astype(int))
    solvers = [
        {
            "name": "enhg",
            "seconds": record["seconds"],
            "rows": len(X),
            "tol": TOL,
            "precision": str(X.dtype),
        }
    ]
    solutions = [result.coefficients[rows].toarray()]
    for baseline in BASELINES:
        setting, done = run_accurately(baseline, X, rows, problem)
        solvers.append(
            {
                "name": baseline.name,
                "published": baseline.published,
                "seconds": done.seconds * len(X),
                "rows": len(rows),
                "tol": setting.tol,
                "precision": setting.dtype,
            }
        )
        solutions.append(done.Z)
    accuracy = [optimality(X, rows, Z, problem.a, problem.b) for Z in solutions]
    best = np.min([objective for objective, _ in accuracy], axis=0)
    for solver, (objective, violation) in zip(solvers, accuracy, strict=True):
        solver["violation"] = float(violation.max())
        solver["suboptimality"] = float((objective / best - 1).max())
    published = [solver for solver in solvers[1:] if solver["published"]]
    fastest = min(published, key=lambda one: one["seconds"])
    return record | {
        "solvers": solvers,
        "fastest_baseline": fastest["name"],
        "times_fastest_baseline": fastest["seconds"] / record["seconds"],
    }


def _against_baselines(
    problem: Problem, options: Options, gram_limit: float | None, baseline_limit: float
) -> Outcome:
    problem = options.sized(problem)
    record = side_by_side(problem, problem.samples(options.data), 5, options.baseline_rows)
    targets = [
        at_least(
            f"faster than the fastest published baseline, {record['fastest_baseline']}",
            record["times_fastest_baseline"],
            baseline_limit,
            "×",
        ),
        certified(record),
    ]
    if gram_limit is not None:
        targets.insert(0, at_most("time", record["times_gram"], gram_limit, "× Gram"))
    return Outcome([record], targets)


def sparse(options: Options) -> Outcome:
    """enhg and all baselines on the first 5000 MNIST images, a = b = 0.1: few non-zeros"""
    return _against_baselines(SPARSE, options, gram_limit=5, baseline_limit=100)


def medium(options: Options) -> Outcome:
    """enhg and all baselines on the first 5000 MNIST images, a = 0.05, b = 0.5: more non-zeros"""
    return _against_baselines(MEDIUM, options, gram_limit=15, baseline_limit=50)


def faces(options: Options) -> Outcome:
    """enhg and all baselines on Extended Yale B, zero mean, a = 0.02, b = 1: many non-zeros"""
    return _against_baselines(FACES, options, gram_limit=None, baseline_limit=60)


def large(options: Options) -> Outcome:
    """enhg on the first 20 000 MNIST images, a = b = 0.1"""
    problem = options.sized(SPARSE.replace(count=20_000))
    record, _ = solve_all(problem, problem.samples(options.data), 3)
    return Outcome(
        [record], [at_most("time", record["times_gram"], 4, "× Gram"), certified(record)]
    )


def full(options: Options) -> Outcome:
    """All 70 000 MNIST images, a = b = 0.1, and their clustering; enhg and Gram in blocks"""
    problem = options.sized(SPARSE.replace(count=70_000))
    with _on_disk(problem.samples(options.data)) as file:
        ours = _in_new_process("represent", problem, file, gram_runs=2, memory_budget=_BUDGET)
        whole = _in_new_process("cluster", problem, file, gram_runs=2, memory_budget=_BUDGET)
    represented = whole["stages"]["representation"]
    rest = whole["seconds"] - represented + whole["diffusion_seconds"]
    return Outcome(
        [ours, whole],
        [
            at_most("representation", ours["seconds"] / ours["gram_seconds"], 6, "× Gram"),
            at_most("peak memory of the representation", ours["peak_bytes"] / 1e9, 3, "GB"),
            at_most("whole clustering", whole["seconds"] / whole["gram_seconds"], 9, "× Gram"),
            at_most(
                "all but the representation, with label diffusion",
                rest / represented,
                1,
                "× the representation",
            ),
            at_most("largest residual of an eigenvector", whole["residual"], 1e-6),
            certified(ours),
        ],
    )


def threads(options: Options) -> Outcome:
    """enhg with two threads against one, first 20 000 MNIST images, a = b = 0.1"""
    problem = options.sized(SPARSE.replace(count=20_000))
    X = problem.samples(options.data)
    works = {str(jobs): problem.solver(X, n_jobs=jobs) for jobs in (1, 2)}
    warm_up(X, **problem.parameters)
    best = measure.best_of_each(works, 4)
    records = [
        {"samples": len(X), "threads": int(jobs), "seconds": best[jobs]} for jobs in sorted(best)
    ]
    return Outcome(
        records, [at_least("two threads against one", best["1"] / best["2"], 1.7, "× as fast")]
    )


def norm(options: Options) -> Outcome:
    """Norm loss against squared loss at the same number of non-zeros, sparse and dense"""
    records, targets = [], []
    for name, whole in (("MNIST", SPARSE), ("Extended Yale B", FACES)):
        problem = options.sized(whole)
        X = problem.samples(options.data)
        squared = problem.solver(X)()
        choices = {"loss": "norm", "gamma": _matching_gamma(problem, X, squared.coefficients.nnz)}
        robust = problem.solver(X, **choices)()
        best = measure.best_of_each(
            {"squared": problem.solver(X), "norm": problem.solver(X, **choices)}, 5
        )
        records += [
            {
                "samples": len(X),
                "loss": loss,
                "gamma": gamma,
                "nonzeros": result.coefficients.nnz / len(X),
                "certificate": float(result.certificate.max()),
                "seconds": best[loss],
            }
            for loss, gamma, result in (
                ("squared", 1 / problem.a, squared),
                ("norm", choices["gamma"], robust),
            )
        ]
        targets.append(
            at_most(
                f"norm loss against squared loss, {name}",
                best["norm"] / best["squared"],
                2,
                "× the time",
            )
        )
    return Outcome(records, [*targets, certified(*records)])


def errors(options: Options) -> Outcome:
    """Whitened faces with sparse errors against zero mean without, default penalties"""
    X = load("yale-b", options.data).X[: options.sizes(FACES.count)[0]].astype(np.float32)
    plain, whitened = (enhg.ElasticNetHypergraph(preprocessing=p) for p in ("zero_mean", "whiten"))
    works = {"zero mean": lambda: plain.fit(X), "whitened": lambda: whitened.fit(X)}
    best = measure.best_of_each(works, 5)
    result = whitened.representation_
    record = {
        "samples": len(X),
        "errors": result.sparse_errors.nnz / len(X),
        "certificate": float(result.certificate.max()),
        "seconds_by_task": best,
    }
    ratio = best["whitened"] / best["zero mean"]
    target = at_most("whitened with sparse errors", ratio, 3, "× zero mean without")
    return Outcome([record], [target, certified(record)])


def _matching_gamma(problem: Problem, X: NDArray, nonzeros: int) -> float:
    """γ of the norm loss that gives as many non-zeros, by bisection of its logarithm."""
    low, high = 1.0, 1000.0
    for _ in range(20):
        gamma = float(np.sqrt(low * high))
        count = problem.solver(X, loss="norm", gamma=gamma)().coefficients.nnz
        if abs(count - nonzeros) <= _MATCHED * nonzeros:
            return gamma
        low, high = (gamma, high) if count < nonzeros else (low, gamma)
    raise RuntimeError(f"no gamma from 1 to 1000 gives the norm loss {nonzeros} non-zeros")


def growth(options: Options) -> Outcome:
    """enhg and all baselines against n: MNIST, a = b = 0.1"""
    records = []
    for count in options.sizes(*_GROWING):
        problem = SPARSE.replace(count=count)
        X = problem.samples(options.data)
        records.append(side_by_side(problem, X, 3, min(options.baseline_rows, _ROWS_IN_SERIES)))
    exponent = _exponent(records, lambda record: record["seconds"])
    return Outcome(
        records,
        [
            at_most(f"exponent of n in the time, {_span(records)}", exponent, 2),
            certified(*records),
        ],
    )


def features(options: Options) -> Outcome:
    """enhg and all baselines against d: 5000 MNIST images with projected or repeated features"""
    problem = options.sized(SPARSE)
    images = problem.samples(options.data)
    records = [
        side_by_side(
            problem, _with_features(images, d), 3, min(options.baseline_rows, _ROWS_IN_SERIES)
        )
        for d in _DIMENSIONS
    ]
    return Outcome(records, [certified(*records)])


def _with_features(X: NDArray, d: int) -> NDArray:
    """Project on the d principal directions, or repeat every feature: inner products stay nearly
    or exactly the same, so that only d changes."""
    if d > X.shape[1]:
        X = np.repeat(X, d // X.shape[1], axis=1)
    elif d < X.shape[1]:
        _, directions = np.linalg.eigh(X.T @ X)
        X = X @ directions[:, -d:]
    return np.ascontiguousarray(SampleNormalizer(center=False).fit_transform(X))


def sparsity(options: Options) -> Outcome:
    """enhg and all baselines against the non-zeros per sample: 5000 MNIST images"""
    problem = options.sized(SPARSE)
    X = problem.samples(options.data)
    records = [
        side_by_side(problem.replace(a=a, b=b), X, 3, min(options.baseline_rows, _ROWS_IN_SERIES))
        for a, b in _PENALTIES
    ]
    records.sort(key=lambda record: record["nonzeros"])
    return Outcome(records, [certified(*records)])


def dense(options: Options) -> Outcome:
    """Strong ridge on embeddings: 400 to 2000 non-zeros per sample against 100, γ = 10"""
    name, X = embeddings(options.data, options.limit)
    supports = options.sizes(*_SUPPORTS, 4100)[:-1]
    lams = [_matching_lam(X, support) for support in supports]
    works = {lam: lambda lam=lam: enhg.self_representation(X, lam=lam) for lam in lams}
    results = {lam: work() for lam, work in works.items()}
    best = measure.best_of_each(works, 4)
    records = [
        {
            "dataset": name,
            "samples": len(X),
            "features": X.shape[1],
            "lam": lam,
            "nonzeros": results[lam].coefficients.nnz / len(X),
            "certificate": float(results[lam].certificate.max()),
            "seconds": best[lam],
            "times_first": best[lam] / best[lams[0]],
        }
        for lam in lams
    ]
    targets = [
        at_most(
            f"time at {record['nonzeros']:.0f} non-zeros",
            record["times_first"],
            10,
            f"× that at {records[0]['nonzeros']:.0f}",
        )
        for record in records[1:]
    ]
    return Outcome(records, [*targets, certified(*records)])


def _matching_lam(X: NDArray, nonzeros: int) -> float:
    """λ that gives about as many non-zeros, by bisection of its logarithm on some samples."""
    some = np.arange(len(X)) % 40 == 0
    low, high = 0.1, 1e5
    for _ in range(20):
        lam = float(np.sqrt(low * high))
        Z = enhg.self_representation(X[some], dictionary=X[~some], lam=lam).coefficients
        count = Z.nnz / Z.shape[0]
        if abs(count - nonzeros) <= _MATCHED * nonzeros:
            return lam
        low, high = (lam, high) if count < nonzeros else (low, lam)
    raise RuntimeError(f"no lam from 0.1 to 100 000 gives {nonzeros} non-zeros")


def copies(options: Options) -> Outcome:
    """Equal samples among others, compared with as many distinct ones: MNIST, a = b = 0.1"""
    problem = options.sized(SPARSE)
    X = problem.samples(options.data)
    solvers = {name: problem.solver(samples) for name, samples in _with_copies(X).items()}
    results = {name: solve() for name, solve in solvers.items()}  # the warm-up
    best = measure.best_of_each(solvers, 3)
    records = [
        {
            "samples": len(X),
            "set": name,
            "nonzeros": result.coefficients.nnz / len(X),
            "certificate": float(result.certificate.max()),
            "seconds": best[name],
            "times_distinct": best[name] / best["distinct"],
        }
        for name, result in results.items()
    ]
    slowest = max(record["times_distinct"] for record in records[1:])
    return Outcome(
        records,
        [
            at_most("time with copies, in times of distinct samples", slowest, 2),
            certified(*records),
        ],
    )


def _with_copies(X: NDArray) -> dict[str, NDArray]:
    """As many samples with copies among them, the distinct ones first."""
    place = np.arange(len(X))
    return {
        "distinct": X,
        "three in five equal": X[place * (place < 2 * len(X) // 5)],
        "all equal": X[0 * place],
        "five of each": X[place // 5],
        "five distinct": X[place % 5],
    }


def memory(options: Options) -> Outcome:
    """Peak resident memory against n, with the Gram matrix stored while it fits, and in blocks"""
    records = []
    for count in options.sizes(*_GROWING):
        problem = SPARSE.replace(count=count)
        with _on_disk(problem.samples(options.data)) as file:
            for budget in (None, _SMALL_BUDGET):
                choices = {} if budget is None else {"memory_budget": budget}
                records.append(
                    _in_new_process("represent", problem, file, **choices) | {"budget": budget}
                )
    beyond = [record for record in records if record["budget"] is not None]
    exponent = _exponent(beyond, lambda record: record["peak_bytes"] - record["bytes_before"])
    return Outcome(
        records,
        [at_most(f"exponent of n in the memory beyond the budget, {_span(beyond)}", exponent, 1.1)],
    )


def stages(options: Options) -> Outcome:
    """Share of each stage in the whole clustering of MNIST, a = b = 0.1"""
    records = []
    for count in options.sizes(*_GROWING):
        problem = SPARSE.replace(count=count)
        with _on_disk(problem.samples(options.data)) as file:
            records.append(_in_new_process("cluster", problem, file))
    return Outcome(records, [])


def choice(options: Options) -> Outcome:
    """The defaults, which choose from the data, against the setting they choose: MNIST"""
    records, targets = [], []
    for count, limit in zip(options.sizes(5000, 70_000), (3.0, 1.2), strict=True):
        with _on_disk(SPARSE.replace(count=count).samples(options.data)) as file:
            runs = 1 if count > _GROWING[-1] else 3
            record = measure.in_new_process("choose", samples=str(file), runs=runs)
        seconds = record["seconds_by_task"]
        for task in ("clustering", "classification"):
            ratio = seconds[task] / seconds[f"{task}, fixed"]
            what = f"{task} of {count} samples"
            targets.append(at_most(what, ratio, limit, "× the chosen setting"))
        records.append(record)
    return Outcome(records, targets)


def photos(options: Options) -> Outcome:
    """Features of photographs from files, against onnxruntime alone on decoded images"""
    record = measure.in_new_process("extract_features", runs=5)
    speed = {
        name: record["images"] / seconds for name, seconds in record["seconds_by_task"].items()
    }
    ratio = speed["files"] / speed["onnxruntime"]
    target = at_least("images per second", ratio, 0.8, "× those of onnxruntime alone")
    return Outcome([record | {"images_per_second": speed}], [target])


def cold(options: Options) -> Outcome:
    """Import and first call in a new interpreter, with nothing compiled"""
    records = []
    for dtype in ("float32", "float64"):
        with tempfile.TemporaryDirectory() as cache:
            for state in ("empty", "filled"):
                result = measure.in_new_process("start", {"NUMBA_CACHE_DIR": cache}, dtype=dtype)
                records.append({"cache": state, "precision": dtype} | result)
    first = max(record["first_call_seconds"] for record in records)
    return Outcome(records, [at_most("first call with nothing compiled", first, 15, "s")])


@contextmanager
def _on_disk(X: NDArray) -> Iterator[Path]:
    """The samples in a file, for a new process that holds nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "samples.npy"
        np.save(file, X)
        yield file


def _in_new_process(
    task: str, problem: Problem, file: Path, gram_runs: int = 0, **choices: object
) -> Record:
    result = measure.in_new_process(
        task, samples=file, parameters=problem.parameters | choices, gram_runs=gram_runs
    )
    return {"task": task, "samples": problem.count, "a": problem.a, "b": problem.b} | result


def _exponent(records: list[Record], figure: Callable[[Record], float]) -> float:
    """p of the best fit of n^p on logarithmic scales."""
    n = [record["samples"] for record in records]
    return float(np.polyfit(np.log(n), np.log([figure(record) for record in records]), 1)[0])


def _span(records: list[Record]) -> str:
    return f"from n = {records[0]['samples']} to {records[-1]['samples']}"


BENCHMARKS: dict[str, Callable[[Options], Outcome]] = {
    work.__name__: work
    for work in (
        cold, sparse, medium, faces, norm, errors, threads, large,
        features, sparsity, dense, copies, memory, stages, choice, photos, growth, full,
        checkpoints, workers, approximate, indices, million, answer, hif,
    )
}  # fmt: skip
