"""Parameters and constants of the package, varied one at a time.

The settings of `experiments.selection` are combinations of the parameters that matter most. Here
other parameters, and constants that were chosen by their scores, have smaller and larger values,
with all others at their defaults.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from enhg import ElasticNetHypergraph, HyperedgeRule, HypergraphClassifier, HypergraphClustering
from enhg.hypergraph import Hypergraph
from enhg.preprocessing.naming import preprocessing_name
from enhg.structures.choice import choose_preprocessing
from experiments.selection import CLASSIFICATION, CLUSTERING, COUNT, DEFAULT, Row, Trial

_BOTH = (CLUSTERING, CLASSIFICATION)


@dataclass(frozen=True)
class Variation:
    """A parameter or constant with another value than its default.

    Attributes
    ----------
    name : str
        A parameter of `ElasticNetHypergraph`, of `HyperedgeRule` or of a learner, or the module
        and the name of a constant.
    value : object
    tasks : tuple of str
        The tasks that are scored with it.
    preprocessing : str or None
        The preprocessing that a constant belongs to; a constant of no preprocessing leaves the
        hypergraph as it is, unless `chooses`.
    chooses : bool
        Whether the choice of the preprocessing depends on the constant.
    """

    name: str
    value: Any = field(hash=False)
    tasks: tuple[str, ...]
    preprocessing: str | None = None
    chooses: bool = False

    def __str__(self) -> str:
        return f"{self.name}={as_text(self.value)}"

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Change a constant, a public one wherever it is imported; nothing for a parameter."""
        module, _, constant = self.name.rpartition(".")
        with ExitStack() as stack:
            if module:
                owner = sys.modules[f"enhg.{module}"]
                others = [m for name, m in sys.modules.items() if name.startswith("enhg.")]
                imported = [m for m in others if hasattr(m, constant) and m is not owner]
                for place in [owner, *([] if constant.startswith("_") else imported)]:
                    stack.enter_context(patch.object(place, constant, self.value))
            yield

    def hypergraph(self, X: NDArray, default: ElasticNetHypergraph) -> Hypergraph:
        """The hypergraph; that of the defaults itself if it does not depend on the variation.

        To be called within `applied`.
        """
        options = {self.name: self.value}
        if self.name in HyperedgeRule().get_params():
            return HyperedgeRule(**options).build(default.representation_.coefficients)
        if self.name in ElasticNetHypergraph().get_params(deep=False):
            return ElasticNetHypergraph(n_jobs=1, **options).fit(X).graph_
        own = preprocessing_name(default.preprocessing_)
        chosen = choose_preprocessing(X) if self.preprocessing or self.chooses else own
        if chosen == own and self.preprocessing != own:
            return default.graph_
        return ElasticNetHypergraph(preprocessing=chosen, n_jobs=1).fit(X).graph_

    def is_of_structure(self) -> bool:
        """Whether nothing but the hypergraph depends on the variation."""
        return self.name.startswith(("structures.", "preprocessing."))

    @property
    def default(self) -> Any:
        """The default value."""
        module, _, constant = self.name.rpartition(".")
        if module:
            return getattr(sys.modules[f"enhg.{module}"], constant)
        estimators = HyperedgeRule(), ElasticNetHypergraph(), HypergraphClustering()
        owner = next((e for e in estimators if self.name in e.get_params(deep=False)), None)
        return (owner or HypergraphClassifier()).get_params(deep=False)[self.name]

    def learner_options(self, task: str) -> dict[str, Any]:
        """The parameters of the learner that differ from the defaults."""
        return {self.name: self.value} if self.name in _LEARNER_PARAMETERS[task] else {}


def as_text(value: Any) -> str:
    """Write a value as in Python, texts in double quotes and numbers with few digits."""
    if isinstance(value, str):
        return f'"{value}"'
    return f"{value:.4g}" if isinstance(value, float) else repr(value)


_LEARNER_PARAMETERS = {
    CLUSTERING: ("normalize_rows",),
    CLASSIFICATION: ("alpha", "class_balance"),
    COUNT: (),
}


def _varied(name: str, values: Sequence[Any], tasks: tuple[str, ...], **where: Any) -> list:
    return [Variation(name, value, tasks, **where) for value in values]


_WHITE: dict[str, Any] = {"preprocessing": "whiten"}
_SMOOTH: dict[str, Any] = {"preprocessing": "smooth"}

VARIATIONS: list[Variation] = [
    *_varied("gamma", (5, 20), _BOTH),
    *_varied("lam", (2, 20), _BOTH),
    *_varied("weighting", ("cosine", "uniform"), _BOTH),
    *_varied("membership", ("binary",), _BOTH),
    *_varied("selection", ("largest", "mean"), _BOTH),
    *_varied("error_weight", (None,), _BOTH),
    *_varied("normalize_rows", (False,), (CLUSTERING,)),
    *_varied("alpha", (0.95, 0.99), (CLASSIFICATION,)),
    *_varied("class_balance", ("equal", "labels", "none"), (CLASSIFICATION,)),
    *_varied("structures.choice._MEMBERS", (7, 15), _BOTH, chooses=True),
    *_varied("structures.choice._WHITENED_ERROR_WEIGHT", (0.25, 1.0), _BOTH, **_WHITE),
    *_varied("preprocessing.whitening._KNEE", (0.01, 0.04), _BOTH, **_WHITE),
    *_varied("preprocessing.smoothing._STEPS_PER_FEATURE", (1.5 / 64, 6 / 64), _BOTH, **_SMOOTH),
    *_varied("preprocessing.smoothing._LEAST_CORRELATION", (0.3, 0.7), _BOTH, **_SMOOTH),
    *_varied("learning.spectral._EIGENVECTORS_PER_CLUSTER", (3, 8), (CLUSTERING,)),
    *_varied("learning.refinement._MAX_LOSS", (-np.inf, 0.09, 0.36), (CLUSTERING,)),
    *_varied("learning.discriminants.SHORT_ALPHA", (0.8, 0.95), _BOTH),
    *_varied("learning.discriminants.FOLDS", (2, 5), _BOTH),
    *_varied("learning.cluster_count._EIGENGAP_WEIGHT", (0.125, 0.5), (COUNT,)),
    *_varied("learning.cluster_count._MIN_STABILITY", (0.8, 0.95), (COUNT,)),
    *_varied("learning.plateaus.TOLERANCE", (0.1, 0.3), (COUNT,)),
]


def variation_rows(trial: Trial) -> Iterator[Row]:
    """Cluster, classify and count by the defaults and by every variation."""
    default = ElasticNetHypergraph(n_jobs=1).fit(trial.X)
    own = {task: trial.score(task, default.graph_, {}) for task in (*_BOTH, COUNT)}
    for row in own.values():
        yield row | {"method": DEFAULT}
    for variation in VARIATIONS:
        with variation.applied():
            graph = variation.hypergraph(trial.X, default)
            same = graph is default.graph_ and variation.is_of_structure()
            for task in variation.tasks:
                options = variation.learner_options(task)
                row = own[task] if same else trial.score(task, graph, options)
                yield row | {"method": str(variation)}
