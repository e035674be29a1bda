"""Tasks that need a new process, to measure peak memory or a start with nothing loaded.

    python -m benchmarks.fresh TASK ARGUMENTS

Arguments and result are JSON; the result is the last line printed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import Any
from unittest.mock import patch

from benchmarks.interchange import time_hif
from benchmarks.measure import best_of_each, peak_bytes, seconds_of


def start(dtype: str) -> dict[str, float]:
    """Time the import, the loading of the solver, and the first call."""
    clock = [time.perf_counter()]
    import enhg

    clock.append(time.perf_counter())
    solve = enhg.self_representation
    clock.append(time.perf_counter())
    import numpy as np

    X = (np.eye(50, 60) + 0.1).astype(dtype)
    clock.append(time.perf_counter())
    solve(X)
    clock.append(time.perf_counter())
    return {
        "import_seconds": clock[1] - clock[0],
        "loading_seconds": clock[2] - clock[1],
        "first_call_seconds": clock[4] - clock[3],
    }


def represent(samples: str, parameters: dict[str, Any], gram_runs: int = 0) -> dict[str, float]:
    """Time one representation of the samples in a file, with peak memory, and Gram after it."""
    import numpy as np

    import enhg
    from benchmarks.problems import gram, warm_up

    warm_up(np.random.default_rng(0).random((200, 50), dtype=np.float32), **parameters)
    before = peak_bytes()
    X = np.load(samples)
    began = time.perf_counter()
    representation = enhg.self_representation(X, **parameters)
    result = {
        "seconds": time.perf_counter() - began,
        "peak_bytes": peak_bytes(),
        "bytes_before": before,
        "certificate": float(representation.certificate.max()),
        "nonzeros": representation.coefficients.nnz / len(X),
    }
    if gram_runs:
        result["gram_seconds"] = best_of_each({"gram": gram(X)}, gram_runs)["gram"]
    return result


def cluster(samples: str, parameters: dict[str, Any], gram_runs: int = 0) -> dict[str, Any]:
    """Time a clustering of the samples in a file into ten clusters by stages, and a label diffusion
    on the same hypergraph from every hundredth of its labels."""
    import numpy as np

    import enhg
    from benchmarks.problems import gram

    structure = enhg.ElasticNetHypergraph(preprocessing="unit", **parameters)
    learner = enhg.HypergraphClustering(n_clusters=10, structure=structure, random_state=0)
    X = np.load(samples)
    learner.fit(X[:200])  # warm-up
    spent: Counter[str] = Counter()
    with _timed_stages(spent):
        seconds = seconds_of(lambda: learner.fit(X))
    spent["hypergraph"] = spent.pop("structure") - spent["representation"]
    spent["other"] = seconds - sum(spent.values())
    labels = np.where(np.arange(len(X)) % 100 == 0, learner.labels_, -1)
    classifier = enhg.HypergraphClassifier(structure=learner.graph_, method="diffusion")
    result = {
        "seconds": seconds,
        "stages": dict(spent),
        "residual": float(learner.spectrum_.residuals.max()),
        "diffusion_seconds": seconds_of(lambda: classifier.fit(X, labels)),
        "peak_bytes": peak_bytes(),
    }
    if gram_runs:
        result["gram_seconds"] = best_of_each({"gram": gram(X)}, gram_runs)["gram"]
    return result


def extract_features(*, runs: int) -> dict:
    """Time features of JPEG files, and onnxruntime on the same images as decoded batches.

    The photographs are those of ``enhg demo --photos``.
    """
    import numpy as np

    from enhg.demo import make_photos
    from enhg.features import ImageFeatures, _efficientnet, extract
    from enhg.io.images import list_images, read_images

    ort = import_module("onnxruntime")
    with TemporaryDirectory() as folder_name:
        folder = Path(folder_name) / "photos"
        make_photos(folder, seed=0)
        listing = list_images(folder)
        features = ImageFeatures().fit()
        prepare = features.extractor_.prepare
        images = [image.value for image in read_images(listing.files, prepare, min_side=224)]
        pixels = np.stack(images).astype(np.float32).transpose(0, 3, 1, 2)
        inputs = np.ascontiguousarray((pixels / 255 - 0.498) / 0.502)
        batches = np.array_split(
            inputs, range(features.batch_size, len(inputs), features.batch_size)
        )
        session = ort.InferenceSession(_efficientnet.load(), providers=["CPUExecutionProvider"])
        name = session.get_inputs()[0].name

        def run_alone() -> None:
            for batch in batches:
                session.run(None, {name: batch})

        works = {"files": partial(extract, listing, features), "onnxruntime": run_alone}
        return {"images": len(images), "seconds_by_task": best_of_each(works, runs)}


def choose(samples: str, *, runs: int) -> dict:
    """Time the default learners on the samples in a file, and with what they chose given.

    Of a classification, the one of `METHODS` with the largest weight is given; self-training cannot
    be. Its labels are every tenth of the clusters found. The hypergraph, which both have, is timed
    on its own and added to the seconds of each, the choice of the preprocessing to those of the
    defaults.
    """
    import numpy as np
    from sklearn.base import clone

    import enhg
    from enhg.learning.propagation import METHODS
    from enhg.structures.choice import choose_preprocessing

    X = np.load(samples)
    name = choose_preprocessing(X)
    structure = enhg.ElasticNetHypergraph(preprocessing=name)
    before = best_of_each(
        {"choice": partial(choose_preprocessing, X), "hypergraph": partial(structure.fit, X)}, runs
    )
    given = {"structure": structure.graph_}
    clustering = enhg.HypergraphClustering(10, **given, random_state=0)
    seconds = best_of_each({"clustering": partial(clustering.fit, X)}, runs)
    labels = np.where(np.arange(len(X)) % 10 == 0, clustering.labels_, -1)
    classifier = enhg.HypergraphClassifier(**given)
    seconds |= best_of_each({"classification": partial(classifier.fit, X, labels)}, runs)
    weights = classifier.method_weights_
    method = max(METHODS, key=lambda part: weights[part])
    fixed = {
        "clustering, fixed": clone(clustering).set_params(method=clustering.method_),
        "classification, fixed": clone(classifier).set_params(method=method),
    }
    works = {task: partial(learner.fit, X, labels) for task, learner in fixed.items()}
    seconds |= best_of_each(works, runs)
    for task in seconds:
        seconds[task] += before["hypergraph"] + (0 if "fixed" in task else before["choice"])
    return {
        "samples": len(X),
        "preprocessing": name,
        "clustering method": clustering.method_,
        "classification method": method,
        "seconds_by_task": seconds,
    }


def approximate(samples: str, candidates: int | None) -> dict[str, Any]:
    """Time the representation by default on some candidates, or all, and cluster by it."""
    import numpy as np

    import enhg

    with np.load(samples) as archive:
        X, y = archive["X"], archive["y"]
    structure = enhg.ElasticNetHypergraph(n_candidates=candidates)
    learner = enhg.HypergraphClustering(10, structure=structure, random_state=0)
    learner.fit(X[:2000])  # warm-up
    spent: Counter[str] = Counter()
    with _timed_stages(spent):
        whole = seconds_of(lambda: learner.fit(X))
    return {
        "candidates": "all" if candidates is None else str(candidates),
        "seconds": spent["representation"],
        "clustering_seconds": whole,
        "nonzeros": learner.representation_.coefficients.nnz / len(X),
        "peak_bytes": peak_bytes(),
    } | _quality(learner, y)


def index(samples: str) -> dict[str, Any]:
    """Time the graph of the 15 nearest neighbors of the samples in a file by pynndescent."""
    import numpy as np

    pynndescent = import_module("pynndescent")

    def build(X: Any) -> object:
        return pynndescent.NNDescent(X, n_neighbors=15, random_state=0, n_jobs=-1).neighbor_graph

    X = np.load(samples)
    build(X[:20_000])  # warm-up, which compiles
    seconds = seconds_of(lambda: build(X))
    return {"program": "pynndescent", "program_seconds": seconds, "peak_bytes": peak_bytes()}


def find_neighbors(samples: str, library: str, n_neighbors: int, checked: int) -> dict[str, Any]:
    """Time the nearest neighbors of all samples in a file by cosine, with recall and memory.

    The recall is that of `checked` random samples against the products with all samples.
    """
    import numpy as np

    X = np.load(samples)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    before = peak_bytes()
    find = {"pynndescent": _by_pynndescent, "faiss": _by_faiss, "usearch": _by_usearch}[library]
    find(X[:5000], n_neighbors + 1)  # warm-up, which compiles
    began = time.perf_counter()
    neighbors = find(X, n_neighbors + 1)  # of which one is the sample itself
    seconds, more = time.perf_counter() - began, peak_bytes() - before
    rows = np.random.default_rng(0).choice(len(X), checked, replace=False)
    nearest = np.argpartition(-X[rows] @ X.T, n_neighbors, axis=1)[:, : n_neighbors + 1]
    shared = [len(np.intersect1d(*pair)) for pair in zip(nearest, neighbors[rows], strict=True)]
    return {
        "program": f"{library} {import_module(library).__version__}",
        "samples": len(X),
        "program_seconds": seconds,
        "recall": (np.mean(shared) - 1) / n_neighbors,
        "bytes_more": more,
    }


def _by_pynndescent(X: Any, count: int) -> Any:
    module = import_module("pynndescent")
    return module.NNDescent(X, n_neighbors=count, random_state=0, n_jobs=-1).neighbor_graph[0]


def _by_faiss(X: Any, count: int) -> Any:
    """Cells of k-means, of which the 16 nearest of √n are searched."""
    faiss = import_module("faiss")
    cells = int(len(X) ** 0.5)
    index = faiss.index_factory(X.shape[1], f"IVF{cells},Flat", faiss.METRIC_INNER_PRODUCT)
    index.train(X)
    index.add(X)
    index.nprobe = 16
    return index.search(X, count)[1]


def _by_usearch(X: Any, count: int) -> Any:
    """A hierarchical graph, with the defaults of the library."""
    import numpy as np

    module = import_module("usearch.index")
    index = module.Index(ndim=X.shape[1], metric="ip", dtype="f32")
    index.add(np.arange(len(X)), X)
    return index.search(X, count).keys.astype(np.int64)


def cluster_large(samples: str, labels: str) -> dict[str, Any]:
    """Time a clustering by default of the samples in a file into ten clusters, by stages."""
    import numpy as np

    import enhg

    X, y = np.load(samples), np.load(labels)
    candidates = enhg.ElasticNetHypergraph(n_candidates=15)
    enhg.HypergraphClustering(10, structure=candidates).fit(X[:20_000])  # warm-up, which compiles
    learner = enhg.HypergraphClustering(10, random_state=0)
    spent: Counter[str] = Counter()
    with _timed_stages(spent):
        whole = seconds_of(lambda: learner.fit(X))
    spent["hypergraph"] = spent.pop("structure") - spent["representation"]
    spent["other"] = whole - sum(spent.values())
    return {
        "program": "enhg",
        "program_seconds": whole,
        "stages": dict(spent),
        "peak_bytes": peak_bytes(),
    } | _quality(learner, y)


def cluster_plainly(samples: str, labels: str, name: str) -> dict[str, Any]:
    """Time a clustering of scikit-learn of the samples in a file into ten clusters."""
    import numpy as np
    from sklearn import cluster
    from sklearn.metrics import normalized_mutual_info_score

    import enhg

    X, y = np.load(samples), np.load(labels)
    learner = getattr(cluster, name)(10, random_state=0)
    seconds = seconds_of(lambda: learner.fit(X))
    return {
        "program": name,
        "program_seconds": seconds,
        "peak_bytes": peak_bytes(),
        "ac": enhg.clustering_accuracy(y, learner.labels_),
        "nmi": float(normalized_mutual_info_score(y, learner.labels_, average_method="geometric")),
    }


def _quality(learner: Any, y: Any) -> dict[str, float]:
    """Scores of a clustering, and of its representation if that is approximate."""
    import numpy as np
    from sklearn.metrics import normalized_mutual_info_score

    import enhg

    checked = learner.representation_.approximation
    return {
        "ac": enhg.clustering_accuracy(y, learner.labels_),
        "nmi": float(normalized_mutual_info_score(y, learner.labels_, average_method="geometric")),
        "share_within": 1.0 if checked is None else checked.share_within(1e-3),
        "violation": 0.0 if checked is None else float(np.median(checked.certificate)),
    }


@contextmanager
def _timed_stages(spent: Counter[str]) -> Iterator[None]:
    """Add the seconds of each stage of a clustering to `spent`."""
    import enhg
    from enhg.learning.coarsening import find_groups
    from enhg.learning.partitions import find_partition
    from enhg.learning.refinement import refine
    from enhg.learning.spectral import top_eigenpairs

    stages: list[tuple[str, object, str]] = [("structure", enhg.ElasticNetHypergraph, "fit")]
    for stage, function in (
        ("representation", enhg.self_representation),
        ("groups", find_groups),
        ("eigenvectors", top_eigenpairs),
        ("partition", find_partition),
        ("refinement", refine),
    ):
        # Modules import functions by name, so that each of them holds a reference of its own.
        stages += [(stage, module, function.__name__) for module in _modules_with(function)]
    with ExitStack() as stack:
        for stage, owner, name in stages:
            timed = _timed(getattr(owner, name), stage, spent)
            stack.enter_context(patch.object(owner, name, timed))
        yield


def _modules_with(function: Callable) -> list[ModuleType]:
    modules = [module for name, module in sys.modules.items() if name.startswith("enhg.")]
    return [module for module in modules if vars(module).get(function.__name__) is function]


def _timed(function: Callable, stage: str, spent: Counter[str]) -> Callable:
    @wraps(function)
    def call(*arguments: object, **choices: object) -> object:
        began = time.perf_counter()
        try:
            return function(*arguments, **choices)
        finally:
            spent[stage] += time.perf_counter() - began

    return call


def within_budget(samples: str, budget: int, rows: int | None) -> dict[str, float]:
    """Peak memory of a representation beside the samples and the result, which are not counted."""
    import numpy as np

    import enhg
    from benchmarks.measure import reset_peak

    X = np.load(samples)
    enhg.self_representation(X[:300])
    enhg.self_representation(X[:50], dictionary=X[:300])
    before = reset_peak()
    chosen = {} if rows is None else {"dictionary": X}
    result = enhg.self_representation(X[:rows], memory_budget=budget, **chosen)
    Z = result.coefficients
    result_bytes = Z.data.nbytes + Z.indices.nbytes + Z.indptr.nbytes
    return {
        "used_bytes": peak_bytes() - before - result_bytes,
        "result_bytes": result_bytes,
        "certificate": float(result.certificate.max()),
    }


def under_load(samples: str, turns: int = 3) -> dict[str, list[float]]:
    """Seconds of the stages alone and beside two busy processes, the best of several turns."""
    import numpy as np

    import enhg

    X = np.load(samples)
    graph = enhg.ElasticNetHypergraph(preprocessing="unit", n_candidates=15).fit(X).graph_
    learner = enhg.HypergraphClustering(10, structure=graph, random_state=0)
    stages = {
        "representation": lambda: enhg.self_representation(X),
        "clustering": lambda: learner.fit(X),
    }
    best = {name: [float("inf"), float("inf")] for name in stages}
    for _ in range(turns):
        for place, n_others in enumerate((0, 2)):
            with _busy_processes(n_others):
                for name, stage in stages.items():
                    best[name][place] = min(best[name][place], seconds_of(stage))
    return best


@contextmanager
def _busy_processes(count: int) -> Iterator[None]:
    """Processes that keep one core busy each."""
    code = "while True: pass"
    processes = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(count)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


_TASKS: dict[str, Callable[..., dict]] = {
    "start": start,
    "represent": represent,
    "cluster": cluster,
    "choose": choose,
    "approximate": approximate,
    "index": index,
    "find_neighbors": find_neighbors,
    "cluster_large": cluster_large,
    "cluster_plainly": cluster_plainly,
    "extract_features": extract_features,
    "hif": time_hif,
    "within_budget": within_budget,
    "under_load": under_load,
}

if __name__ == "__main__":
    print(json.dumps(_TASKS[sys.argv[1]](**json.loads(sys.argv[2]))))
