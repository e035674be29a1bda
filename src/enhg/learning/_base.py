"""What the learners share: samples to structure, new samples, predictions and states."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from enhg._checkpoint import Checkpoint, CheckpointLike, Computation
from enhg._npz import (
    State,
    require,
    require_array,
    require_parameters,
    require_state,
    require_value,
    saved_parameters,
)
from enhg._progress import Progress
from enhg._protocol import check_graph, is_graph
from enhg._validation import (
    check_features,
    check_samples,
    freeze_new,
    not_validated,
    validated,
)
from enhg.exceptions import InputError
from enhg.structures._base import NestedDefaults, Structure
from enhg.structures._registry import SAVED_STRUCTURES
from enhg.structures.elastic_net import ElasticNetHypergraph

if TYPE_CHECKING:
    from enhg.structures._representation_hypergraph import Attachment

_Method = TypeVar("_Method", bound=Callable[..., Any])

# Fitted attributes of a structure that its learner repeats.
_STRUCTURE_ATTRIBUTES = ("representation_", "outlier_scores_")


@dataclass(frozen=True)
class Prediction:
    """Labels of new samples, with their scores.

    Attributes
    ----------
    labels : ndarray of shape (n_new,)
        Clusters or classes. The marker of a missing label (−1, an empty string, or None if that is
        a class or there are neither numbers nor strings) for samples that no sample of `fit`
        represents, or that no label reaches.
    confidence : ndarray of shape (n_new,)
        As `confidence_` of the learner.
    outlier_scores : ndarray of shape (n_new,)
        As `outlier_scores_` of the learner.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from enhg import HypergraphClustering
    >>> X = load_digits(n_class=3).data
    >>> model = HypergraphClustering(3, random_state=0).fit(X[::2])
    >>> prediction = model.predict_with_scores(X[1::2])
    >>> prediction.labels.shape, prediction.confidence.shape
    ((268,), (268,))
    """

    labels: NDArray
    confidence: NDArray
    outlier_scores: NDArray


class Learner(NestedDefaults):
    """Base class, with `ElasticNetHypergraph` as the default structure."""

    _defaults: ClassVar[dict[str, type[BaseEstimator]]] = {"structure": ElasticNetHypergraph}


def validate_samples(learner: Any, X: ArrayLike, *, reset: bool = True) -> NDArray:
    """Return X as checked samples; set or check the features that the learner expects."""
    samples = check_samples(X, min_samples=2 if reset else 1)
    freeze_new(samples, X)  # so that the structure keeps them without a copy
    check_features(learner, X, reset=reset)
    return samples


def fit_structure(learner: Any, samples: NDArray) -> None:
    """Fit `learner.structure` to checked samples.

    Sets `structure_` and `graph_` on the learner, and `representation_` and `outlier_scores_` if
    the structure has them.
    """
    for name in _STRUCTURE_ATTRIBUTES:
        vars(learner).pop(name, None)  # of an earlier fit
    structure = _fitted_structure(
        learner.structure, samples, learner.checkpoint, verbose=learner.verbose
    )
    graph = _graph(structure)
    if graph.n_vertices != len(samples):
        raise InputError(
            f"structure must have one vertex for each sample of X ({len(samples)}), got "
            f"{graph.n_vertices} vertices",
            parameter="structure",
        )
    _check_same_features(structure, learner)
    if isinstance(structure, FrozenEstimator):
        _check_same_samples(structure.estimator, samples)
    _set_structure(learner, structure, graph)


def finished_parts(
    learner: Any, name: str, samples: NDArray, parameters: State, **arrays: NDArray
) -> Computation:
    """Return the parts that the checkpoint of a learner has of its fit to samples and graph."""
    checkpoint = Checkpoint.at(learner.checkpoint)
    if checkpoint.folder is not None:
        graph = learner.graph_
        probe = np.linspace(1, 2, graph.n_vertices)
        arrays |= {"samples": samples, "hypergraph": graph.theta @ probe + graph.vertex_degrees}
    return checkpoint.computation(name, parameters, **arrays)


def resumed(
    parts: Computation,
    name: str,
    rng: np.random.RandomState,
    compute: Callable[[np.random.RandomState], State],
) -> State:
    """Return a part that draws random numbers, computed if it is not among the finished ones.

    In either case the generator is afterwards as it is when the part was computed.
    """

    def run() -> State:
        state = compute(rng)
        _, keys, *rest = rng.get_state()
        return {"part": state, "keys": keys, "rest": [float(number) for number in rest]}

    stored = parts.get(name, run)
    keys = require_array(stored, "keys", (None,), "u")
    position, has_gauss, gauss = require_value(stored, "rest", list)
    rng.set_state(("MT19937", keys, int(position), int(has_gauss), gauss))
    return require_state(stored, "part")


def _graph(structure: Any) -> Any:
    """Return the graph of a fitted structure, or a graph itself."""
    graph = structure if is_graph(structure) else getattr(structure, "graph_", None)
    if not is_graph(graph):
        raise InputError(
            "structure must be an estimator whose fit sets graph_, a Hypergraph or a Graph, got "
            f"{structure!r}",
            parameter="structure",
        )
    check_graph(graph, "structure")
    return graph


def _check_same_features(structure: Any, learner: Any) -> None:
    """Require that a structure was fitted to the features of the learner, where it has them."""
    expected, given = getattr(structure, "n_features_in_", None), learner.n_features_in_
    if expected not in (None, given):
        raise InputError(
            f"structure must be fitted to the {given} features of X, got one fitted to {expected}",
            parameter="structure",
        )
    names: Any = getattr(structure, "feature_names_in_", None)
    own_names = getattr(learner, "feature_names_in_", names)
    if names is not None and not np.array_equal(names, own_names):
        raise InputError(
            "structure must be fitted to the feature names of X, got one fitted to others",
            parameter="structure",
        )


def _check_same_samples(structure: Any, samples: NDArray) -> None:
    """Require that a structure of this package was fitted to these samples, in any precision."""
    if not isinstance(structure, Structure):
        return
    own = structure.samples_
    dtype = min(own.dtype, samples.dtype, key=lambda dtype: dtype.itemsize)
    if not np.array_equal(own.astype(dtype, copy=False), samples.astype(dtype, copy=False)):
        raise InputError(
            "structure must be fitted to the samples X, got one fitted to others of the same shape",
            parameter="structure",
        )


def _fitted_structure(
    structure: Any, samples: NDArray, checkpoint: CheckpointLike, *, verbose: bool
) -> Any:
    """Return a fitted clone of the structure; a graph or frozen structure is returned as it is."""
    if is_graph(structure):
        return structure
    if isinstance(structure, FrozenEstimator):
        check_is_fitted(structure)
        return structure
    if not (structure is None or _is_estimator(structure)):
        raise InputError(
            f"structure must be a structure, a Hypergraph or a Graph, got {structure!r}",
            parameter="structure",
        )
    fitted = ElasticNetHypergraph() if structure is None else clone(structure)
    options: dict[str, Any] = {}
    if verbose and _fit_takes(fitted, "progress"):
        options["progress"] = True
    if _fit_takes(fitted, "checkpoint"):
        options["checkpoint"] = checkpoint
    with validated() if _is_own(fitted) else not_validated():
        fitted.fit(samples, **options)
    return fitted


def _fit_takes(structure: Any, parameter: str) -> bool:
    """Whether `fit` has a parameter."""
    return parameter in signature(structure.fit).parameters


def _is_estimator(value: Any) -> bool:
    """Whether a value is an estimator that samples alone fit, without labels."""
    methods = hasattr(value, "fit") and hasattr(value, "get_params")
    if not methods or isinstance(value, type):
        return False
    parameters = list(signature(value.fit).parameters.values())
    positional = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
    return not any(p.default is Parameter.empty and p.kind in positional for p in parameters[1:])


def _is_own(structure: Any) -> bool:
    """Whether a structure is one of this package: it relies on samples that were validated."""
    kind = type(structure)
    return issubclass(kind, Structure) and kind.__module__.startswith("enhg.structures.")


def _set_structure(learner: Any, structure: Any, graph: Any) -> None:
    learner.structure_, learner.graph_ = structure, graph
    for name in _STRUCTURE_ATTRIBUTES:
        if hasattr(structure, name):
            setattr(learner, name, getattr(structure, name))


def attach(
    learner: Any, X: ArrayLike, progress: Progress, checkpoint: CheckpointLike = None
) -> Attachment:
    """Attach new samples to the samples that the learner was fitted to."""
    check_is_fitted(learner)
    samples = validate_samples(learner, X, reset=False)
    structure = _unfrozen(learner.structure_)
    # The learner's samples have no feature names; X has, if the structure was fitted with them.
    new = X if hasattr(structure, "feature_names_in_") else samples
    with validated() if _is_own(structure) else not_validated():
        return structure.attach(new, progress=progress, checkpoint=checkpoint)


def if_attaching(method: _Method) -> _Method:
    """Make a method of a learner available only if its structure can attach new samples.

    Before `fit` the parameter `structure` decides, afterwards the fitted structure. It is as
    scikit-learn's `available_if`, whose own message, which hides the reason, cannot be changed.
    """
    return cast(_Method, _IfAttaching(method))


class _IfAttaching:
    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method

    def __get__(self, learner: Any, owner: type) -> Callable[..., Any]:
        if learner is not None:
            structure = _unfrozen(getattr(learner, "structure_", learner.structure))
            if structure is not None and not hasattr(structure, "attach"):
                raise AttributeError(
                    f"{self.method.__name__} needs a structure that can attach new samples, "
                    f"{' or '.join(SAVED_STRUCTURES)}, got {type(structure).__name__}; use one of "
                    "these, or fit to all samples at once"
                )
        return self.method.__get__(learner, owner)


def _unfrozen(structure: Any) -> Any:
    return structure.estimator if isinstance(structure, FrozenEstimator) else structure


def learner_to_state(learner: Any, fitted: State) -> State:
    """Return the state of a fitted learner: parameters, structure, and the entries of `fitted`.

    Raises
    ------
    InputError
        If the structure is not one that can be saved, or a parameter is wrong or no number or word.
    """
    check_is_fitted(learner)
    learner._check_parameters()  # they may have been set after fit, and would not be read again
    structure = _unfrozen(learner.structure_)
    kind = type(structure).__name__
    if kind not in SAVED_STRUCTURES:
        raise InputError(
            f"structure must be one of {tuple(SAVED_STRUCTURES)} for the model to be saved, got "
            f"{kind}",
            parameter="structure",
        )
    return {
        "parameters": saved_parameters(learner),
        "feature_names": [str(name) for name in getattr(learner, "feature_names_in_", [])],
        "structure": {"kind": kind, "state": structure.to_state()},
        **fitted,
    }


def learner_from_state(kind: type, state: State) -> Any:
    """Return a learner of a class with parameters and structure of a state.

    The learner is fitted but for the attributes of its own class.
    """
    saved = require_state(state, "structure")
    name = require_value(saved, "kind", str)
    require(name in SAVED_STRUCTURES, "kind of structure")
    structure = SAVED_STRUCTURES[name].from_state(require_state(saved, "state"))
    parameters = require_parameters(state, kind().get_params(deep=False))
    learner = kind(structure=structure, **parameters)
    learner._check_parameters()
    _set_structure(learner, structure, structure.graph_)
    learner.n_features_in_ = structure.n_features_in_
    names = require_value(state, "feature_names", list)
    require(not names or len(names) == learner.n_features_in_, "feature_names")
    require(all(isinstance(name, str) for name in names), "feature_names")
    if names:
        learner.feature_names_in_ = np.array(names, dtype=object)
    return learner


def require_by_method(
    state: State, entry: str, methods: tuple[str, ...], *, largest: float = 1.0
) -> dict[Any, float]:
    """Return an entry of a state that has a number of at most `largest` for some of the methods.

    They are in the order of `methods`.
    """
    values = require_state(state, entry)
    for name, value in values.items():
        require(name in methods and type(value) is float and value <= largest, entry)
    return {name: values[name] for name in methods if name in values}
