"""Tasks that need a process of their own, for peak memory or for a start with nothing loaded.

    python -m benchmarks.fresh TASK ARGUMENTS

The arguments are JSON; so is the result, printed as the last line.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from functools import wraps
from typing import Any
from unittest.mock import patch

from benchmarks.measure import best_of_each, peak_bytes, seconds_of


def start(dtype: str) -> dict[str, float]:
    """Import, loading of the solver, and the very first call."""
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
    """One representation of the samples in a file: seconds, peak memory, and Gram after it."""
    import numpy as np

    import enhg
    from benchmarks.problems import gram, warm_up

    warm_up(np.random.default_rng(0).random((200, 50), dtype=np.float32), **parameters)
    before = peak_bytes()
    X = np.load(samples)
    began = time.perf_counter()
    found = enhg.self_representation(X, **parameters)
    result = {
        "seconds": time.perf_counter() - began,
        "peak_bytes": peak_bytes(),
        "bytes_before": before,
        "certificate": float(found.certificate.max()),
        "nonzeros": found.coefficients.nnz / len(X),
    }
    if gram_runs:
        result["gram_seconds"] = best_of_each({"gram": gram(X)}, gram_runs)["gram"]
    return result


def cluster(samples: str, parameters: dict[str, Any], gram_runs: int = 0) -> dict[str, Any]:
    """The whole clustering of the samples in a file into ten, and the seconds of its stages; then
    their classification on the same hypergraph, from every hundredth of the labels found."""
    import numpy as np
    from sklearn.cluster import KMeans

    import enhg
    from benchmarks.problems import gram
    from enhg.learning import clustering
    from enhg.structures import elastic_net

    structure = enhg.ElasticNetHypergraph(preprocessing="unit", **parameters)
    learner = enhg.HypergraphClustering(n_clusters=10, structure=structure, random_state=0)
    X = np.load(samples)
    learner.fit(X[:200])  # the warm-up
    spent: Counter[str] = Counter()

    def clocked(stage: str, function: Callable) -> Callable:
        @wraps(function)
        def call(*arguments: object, **choices: object) -> object:
            began = time.perf_counter()
            try:
                return function(*arguments, **choices)
            finally:
                spent[stage] += time.perf_counter() - began

        return call

    with ExitStack() as stack:
        for stage, holder, name in (
            ("structure", enhg.ElasticNetHypergraph, "fit"),
            ("representation", elastic_net, "self_representation"),
            ("eigenvectors", clustering, "top_eigenpairs"),
            ("k-means", KMeans, "fit"),
        ):
            stack.enter_context(patch.object(holder, name, clocked(stage, getattr(holder, name))))
        seconds = seconds_of(lambda: learner.fit(X))
    spent["hypergraph"] = spent.pop("structure") - spent["representation"]
    spent["other"] = seconds - sum(spent.values())
    labels = np.where(np.arange(len(X)) % 100 == 0, learner.labels_, -1)
    classifier = enhg.HypergraphClassifier(structure=learner.graph_)
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


_TASKS: dict[str, Callable[..., dict]] = {
    "start": start,
    "represent": represent,
    "cluster": cluster,
}

if __name__ == "__main__":
    print(json.dumps(_TASKS[sys.argv[1]](**json.loads(sys.argv[2]))))
