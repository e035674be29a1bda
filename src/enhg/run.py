"""Typed record of a run.

The summary, the JSON output, the tables and the report are made from one record, computed here.
"""

from __future__ import annotations

import math
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import normalized_mutual_info_score

from enhg.duplicates import DuplicateGroup, find_duplicates
from enhg.exceptions import InputError
from enhg.io import Samples, label_texts
from enhg.io._base import Skipped
from enhg.io.labels import spelled_alike
from enhg.learning._base import Prediction
from enhg.learning.classification import HypergraphClassifier
from enhg.learning.clustering import HypergraphClustering
from enhg.learning.scores import is_outlier, low_confidence, outlier_threshold
from enhg.metrics import clustering_accuracy
from enhg.preprocessing import preprocessing_name
from enhg.structures.elastic_net import ElasticNetHypergraph

Model = HypergraphClustering | HypergraphClassifier


@dataclass(frozen=True)
class InputFigures:
    """Size and origin of the samples of a run.

    Attributes
    ----------
    n_samples, n_features : int
    image_shape : tuple of int or None
        Shape of a sample, where it is an image.
    source : str
        Path of the input.
    description : str
        What the features of images are and why, in a sentence; "" where there was no choice.
    skipped : tuple of Skipped
        Images of a folder that could not be read.
    n_ignored : int
        Number of files in a folder that are no images.
    has_photos : bool
        Whether the image files behind the samples are known.
    """

    n_samples: int
    n_features: int
    image_shape: tuple[int, ...] | None
    source: str
    description: str = ""
    skipped: tuple[Skipped, ...] = ()
    n_ignored: int = 0
    has_photos: bool = False


@dataclass(frozen=True)
class StructureFigures:
    """Figures of the representation and of its hypergraph.

    Attributes
    ----------
    preprocessing : str
        Name of the preprocessing that was applied.
    mean_support : float
        Mean number of non-zero coefficients of a sample.
    certificate : float
        Largest certificate of all samples; 0 is exactly optimal.
    n_hyperedges, n_components : int
    largest_component : int
        Number of vertices of the largest component.
    median_violation : float or None
        Of approximate representations: the median certificate over all atoms.
    """

    preprocessing: str
    mean_support: float
    certificate: float
    n_hyperedges: int
    n_components: int
    largest_component: int
    median_violation: float | None = None


@dataclass(frozen=True, eq=False)
class SampleColumns:
    """Results of every sample, as arrays of length n_samples.

    Attributes
    ----------
    names : sequence of str
    labels : ndarray
        Cluster numbers (−1 for none), or class labels ("" for none).
    confidence, outlier_scores : ndarray
        From 0 to 1, as the learner gives them.
    low_confidence, is_outlier : ndarray of bool
        Samples to check, whose label was predicted with the smallest confidence, and samples
        whose outlier score exceeds the threshold.
    boundary_scores : ndarray or None
        As `boundary_scores_` of the learner; None for new samples.
    residuals : ndarray or None
        Relative residuals ‖xᵢ − Σⱼ zᵢⱼ xⱼ‖/‖xᵢ‖, as `relative_residuals_` of the structure; None
        for new samples.
    given : ndarray of bool or None
        Where the label was given; None where no labels were given.
    """

    names: Sequence[str]
    labels: NDArray
    confidence: NDArray
    outlier_scores: NDArray
    low_confidence: NDArray
    is_outlier: NDArray
    boundary_scores: NDArray | None = None
    residuals: NDArray | None = None
    given: NDArray | None = None


@dataclass(frozen=True)
class Group:
    """A cluster or class, and the number of its samples."""

    name: str
    size: int


@dataclass(frozen=True)
class Estimate:
    """Estimated number of clusters; see `ClusterCount`."""

    n_clusters: int
    runner_up: int
    reliable: bool

    @property
    def all_equal(self) -> bool:
        """Whether there is one cluster since all samples are equal."""
        return self.reliable and self.n_clusters == 1


@dataclass(frozen=True)
class Spreading:
    """Figures of semi-supervised classification.

    Attributes
    ----------
    method_weights : dict of str to float
        The weights of the methods of `HypergraphClassifier.method_weights_`.
    n_given : int
        Number of given labels.
    n_disputed : int
        Number of given labels that differ from the largest entry of the label distribution.
    """

    method_weights: Mapping[str, float]
    n_given: int
    n_disputed: int


@dataclass(frozen=True)
class Scores:
    """Scores against the true labels, over the samples that are scored.

    Attributes
    ----------
    n_scored : int
        Number of samples with a true label, and without a given one.
    ac, nmi : float or None
        Clustering accuracy and normalized mutual information (geometric mean), for clusters.
    accuracy : float or None
        For classes.
    """

    n_scored: int
    ac: float | None = None
    nmi: float | None = None
    accuracy: float | None = None


@dataclass(frozen=True, eq=False)
class Run:
    """Record of a run.

    Attributes
    ----------
    kind : {"cluster", "classify", "predict"}
    grouping : {"cluster", "class"}
        Whether the groups are clusters or classes.
    input : InputFigures
    samples : SampleColumns
    groups : tuple of Group
        All clusters or classes, also empty ones.
    median_confidence : float
        Of the samples whose label was predicted; NaN if there are none.
    n_unreached : int
        Number of samples that stay without a label.
    structure : StructureFigures or None
        None for new samples.
    estimate : Estimate or None
        Where the number of clusters was estimated.
    spreading : Spreading or None
        Of a classification.
    scores : Scores or None
        Where true labels are known.
    suggestions : tuple of str or None
        Names of the samples to label next, best first; None if there was no request.
    duplicates : tuple of DuplicateGroup
        Groups of copies and near-copies.
    stages : tuple of (str, float)
        Names and seconds of the stages.
    warnings : tuple of str
    """

    kind: Literal["cluster", "classify", "predict"]
    grouping: Literal["cluster", "class"]
    input: InputFigures
    samples: SampleColumns
    groups: tuple[Group, ...]
    median_confidence: float
    n_unreached: int = 0
    structure: StructureFigures | None = None
    estimate: Estimate | None = None
    spreading: Spreading | None = None
    scores: Scores | None = None
    suggestions: tuple[str, ...] | None = None
    duplicates: tuple[DuplicateGroup, ...] = ()
    stages: tuple[tuple[str, float], ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def confidence_threshold(self) -> float:
        """The largest confidence of the samples to check; 0 if there are none."""
        return float(self.samples.confidence[self.samples.low_confidence].max(initial=0))


def compile_kernels(dtype: DTypeLike) -> None:
    """Compile the solver for samples of a type by fitting a small problem."""
    kind = np.float64 if dtype == np.float64 else np.float32
    ElasticNetHypergraph().fit(np.random.default_rng(0).random((20, 20)).astype(kind))


def record_clustering(samples: Samples, model: HypergraphClustering) -> Run:
    """Record of a clustering.

    Parameters
    ----------
    samples : Samples
    model : HypergraphClustering
        Fitted on these samples, with an `ElasticNetHypergraph` as structure.
    """
    count = model.cluster_count_
    estimate = None
    if count is not None:
        estimate = Estimate(int(count.n_clusters), int(count.runner_up), bool(count.reliable))
    predicted = np.ones(len(samples.X), bool)
    return Run(
        kind="cluster",
        grouping="cluster",
        input=input_figures(samples),
        samples=_fitted_columns(samples, model, model.labels_, predicted),
        groups=_groups(range(model.n_clusters_), model.labels_),
        median_confidence=_median(model.confidence_[predicted]),
        structure=_structure_figures(fitted_structure(model)),
        estimate=estimate,
        scores=_clustering_scores(samples.labels, model.labels_),
    )


def record_classification(samples: Samples, model: HypergraphClassifier) -> Run:
    """Record of a classification.

    Parameters
    ----------
    samples : Samples
    model : HypergraphClassifier
        Fitted on these samples, with an `ElasticNetHypergraph` as structure and labels as text.
    """
    given = np.zeros(len(samples.X), bool)
    given[model.labeled_indices_] = True
    predicted = ~(given | model.unreached_)
    columns = _fitted_columns(samples, model, model.transduction_, predicted)
    return Run(
        kind="classify",
        grouping="class",
        input=input_figures(samples),
        samples=replace(columns, given=given),
        groups=_groups(model.classes_.tolist(), model.transduction_),
        median_confidence=_median(model.confidence_[predicted]),
        n_unreached=int(model.unreached_.sum()),
        structure=_structure_figures(fitted_structure(model)),
        spreading=Spreading(
            {str(method): weight for method, weight in model.method_weights_.items()},
            int(given.sum()),
            len(model.disputed_indices_),
        ),
        scores=_accuracy(samples.labels, model.transduction_, ~given),
    )


def record_prediction(samples: Samples, model: Model, prediction: Prediction) -> Run:
    """Record of the prediction for new samples.

    Parameters
    ----------
    samples : Samples
    model : HypergraphClustering or HypergraphClassifier
    prediction : Prediction
        Result of `predict_with_scores`.
    """
    clusters = isinstance(model, HypergraphClustering)
    names = range(model.n_clusters_) if clusters else model.classes_.tolist()
    reached = prediction.labels != -1 if clusters else prediction.confidence > 0
    columns = SampleColumns(
        samples.names,
        prediction.labels,
        prediction.confidence,
        prediction.outlier_scores,
        low_confidence(prediction.confidence, reached),
        prediction.outlier_scores > outlier_threshold(model.outlier_scores_),
    )
    score = _clustering_scores if clusters else _accuracy
    return Run(
        kind="predict",
        grouping="cluster" if clusters else "class",
        input=input_figures(samples),
        samples=columns,
        groups=_groups(names, prediction.labels),
        median_confidence=_median(prediction.confidence[reached]),
        n_unreached=int((~reached).sum()),
        scores=score(samples.labels, prediction.labels),
    )


def add_suggestions(run: Run, model: Model, n: int) -> Run:
    """The record with the names of the n samples to label next.

    Parameters
    ----------
    run : Run
    model : HypergraphClustering or HypergraphClassifier
        The learner of the run.
    n : int
        At most the number of unlabeled samples; a larger number is lowered with a warning.
    """
    given = run.samples.given
    unlabeled = run.input.n_samples if given is None else int((~given).sum())
    if n > unlabeled:
        warnings.warn(
            f"fewer samples are unlabeled than are to be suggested: {unlabeled} in place of {n}",
            stacklevel=2,
        )
    rows = model.suggest(min(n, unlabeled)).tolist() if unlabeled else []
    return replace(run, suggestions=tuple(run.samples.names[row] for row in rows))


def add_duplicates(run: Run, samples: Samples, structure: ElasticNetHypergraph | None) -> Run:
    """The record with the groups of copies and near-copies, where the image files are known.

    Parameters
    ----------
    run : Run
    samples : Samples
    structure : ElasticNetHypergraph or None
        Fitted on the samples; images are compared with those of its largest coefficients, too.
    """
    if samples.photos is None:
        return run
    coefficients = None if structure is None else structure.representation_.coefficients
    duplicates = tuple(find_duplicates(samples.photos, coefficients))
    unusual = run.samples.is_outlier.copy()  # but not those that are like another image
    unusual[[row for group in duplicates for row in group.members]] = False
    return replace(run, duplicates=duplicates, samples=replace(run.samples, is_outlier=unusual))


def label_table(run: Run) -> dict[str, list[Any]]:
    """Columns of labels.csv: name, label, confidence, outlier, boundary, residual and given.

    The last three are left out where the run does not have them.
    """
    columns = run.samples
    table: dict[str, list[Any]] = {
        "name": list(columns.names),
        "label": columns.labels.tolist(),
        "confidence": four_decimals(columns.confidence),
        "outlier": four_decimals(columns.outlier_scores),
    }
    if columns.boundary_scores is not None:
        table["boundary"] = four_decimals(columns.boundary_scores)
    if columns.residuals is not None:
        table["residual"] = four_decimals(columns.residuals)
    if columns.given is not None:
        table["given"] = ["yes" if given else "no" for given in columns.given]
    return table


def four_decimals(values: NDArray) -> list[str]:
    """Numbers as text with four decimals, the precision of every table of a run.

    >>> four_decimals(np.array([0.5, 1 / 3]))
    ['0.5000', '0.3333']
    """
    return [f"{value:.4f}" for value in values]


def fitted_structure(model: Model) -> ElasticNetHypergraph:
    """The structure that a learner was fitted on, out of a `FrozenEstimator` if it is in one."""
    structure = model.structure_
    if isinstance(structure, FrozenEstimator):
        structure = structure.estimator
    if not isinstance(structure, ElasticNetHypergraph):
        raise InputError(
            f"structure of model must be an ElasticNetHypergraph, got {type(structure).__name__}",
            parameter="model",
        )
    return structure


def input_figures(samples: Samples) -> InputFigures:
    """Size and origin of samples."""
    n, d = samples.X.shape
    return InputFigures(
        n, d, samples.image_shape, str(samples.source), samples.description, samples.skipped,
        samples.n_ignored, samples.photos is not None,
    )  # fmt: skip


def _structure_figures(structure: ElasticNetHypergraph) -> StructureFigures:
    representation, graph = structure.representation_, structure.graph_
    n_components, component = graph.connected_components()
    checked = representation.approximation
    return StructureFigures(
        preprocessing=preprocessing_name(structure.preprocessing_),
        mean_support=representation.coefficients.nnz / graph.n_vertices,
        certificate=float(representation.certificate.max()),
        n_hyperedges=int(graph.n_edges),
        n_components=int(n_components),
        largest_component=int(np.bincount(component).max()),
        median_violation=None if checked is None else float(np.median(checked.certificate)),
    )


def _fitted_columns(
    samples: Samples, model: Model, labels: NDArray, predicted: NDArray
) -> SampleColumns:
    structure = fitted_structure(model)
    return SampleColumns(
        names=samples.names,
        labels=labels,
        confidence=model.confidence_,
        outlier_scores=model.outlier_scores_,
        low_confidence=low_confidence(model.confidence_, predicted),
        is_outlier=is_outlier(model.outlier_scores_),
        boundary_scores=model.boundary_scores_,
        residuals=structure.relative_residuals_,
    )


def _median(values: NDArray) -> float:
    return float(np.median(values)) if len(values) else math.nan


def _groups(names: Iterable[Any], labels: NDArray) -> tuple[Group, ...]:
    sizes = Counter(labels.tolist())
    return tuple(Group(str(name), sizes[name]) for name in names)


def _clustering_scores(true_labels: NDArray | None, labels: NDArray) -> Scores | None:
    truth, known = _known(true_labels, len(labels))
    if not known.any():
        return None
    truth, labels = truth[known], labels[known]
    nmi = normalized_mutual_info_score(truth, labels, average_method="geometric")
    return Scores(int(known.sum()), ac=clustering_accuracy(truth, labels), nmi=float(nmi))


def _accuracy(
    true_labels: NDArray | None, labels: NDArray, counted: NDArray | Literal[True] = True
) -> Scores | None:
    truth, known = _known(true_labels, len(labels))
    if not (known := known & counted).any():
        return None
    hits = np.array(spelled_alike(label_texts(labels), truth.tolist())) == truth
    return Scores(int(known.sum()), accuracy=float(hits[known].mean()))


def _known(true_labels: NDArray | None, n_samples: int) -> tuple[NDArray, NDArray]:
    """The true labels as text, and where they are known."""
    texts = [""] * n_samples if true_labels is None else label_texts(true_labels)
    truth = np.array(texts, dtype=np.str_)
    return truth, truth != ""
