"""Groups, true classes and points of the samples of a run, as the page needs them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import euclidean_distances

from enhg.io import Samples, label_texts
from enhg.io.images import natural_key
from enhg.learning.classification import HypergraphClassifier
from enhg.learning.cluster_count import ClusterCount
from enhg.learning.clustering import HypergraphClustering
from enhg.learning.spectral import embed, fragments
from enhg.run import Model, Run, SampleColumns


@dataclass(frozen=True, eq=False)
class Results:
    """Samples of a run by group.

    Attributes
    ----------
    run : Run
    names : list of str
        Names of the groups (clusters or classes); "" is the group of the samples without a label.
    group, alternative : ndarray of int
        Group of every sample, and the most likely other group (−1 for none).
    truth : ndarray of int
        Index into `true_classes`, −1 where the true class is not known.
    true_classes : list of str
    by_folder : bool
        Whether they are sub-folders, since no true classes are known.
    fragment : ndarray of int
        Size of a sample's component where that is too small for a group, 0 elsewhere.
    points : ndarray of shape (n_samples, n_dimensions) or None
        Embedding that the map is drawn from; None for new samples.
    eigenvalues : ndarray or None
        Of Θ, in decreasing order; None for classes and for new samples.
    estimate : ClusterCount or None
    """

    run: Run
    names: list[str]
    group: NDArray
    alternative: NDArray
    truth: NDArray
    true_classes: list[str]
    by_folder: bool
    fragment: NDArray
    points: NDArray | None
    eigenvalues: NDArray | None
    estimate: ClusterCount | None

    @property
    def columns(self) -> SampleColumns:
        return self.run.samples

    @property
    def suggested(self) -> NDArray:
        """Rows of the samples to label next, best first."""
        row: dict[str, int] = {}
        for at, name in enumerate(self.columns.names):
            row.setdefault(name, at)
        return np.array([row[name] for name in self.run.suggestions or ()], dtype=int)

    @property
    def given(self) -> NDArray:
        """Where labels were given."""
        given = self.run.samples.given
        return np.zeros(len(self.group), bool) if given is None else given

    @property
    def class_names(self) -> list[str]:
        """Given labels, if there are any, else true classes or sub-folders; "" for none."""
        codes, names = self.truth, self.true_classes
        if self.given.any():
            codes, names = np.where(self.given, self.group, -1), self.names
        return [names[code] if code >= 0 else "" for code in codes]


def make_results(run: Run, samples: Samples, model: Model | None) -> Results:
    """Group the samples of a run.

    Parameters
    ----------
    run : Run
    samples : Samples
    model : HypergraphClustering, HypergraphClassifier or None
        The learner of the run; None for the prediction for new samples.
    """
    labels = label_texts(run.samples.labels)
    names = natural_order({*(group.name for group in run.groups), *labels})
    group = _codes(labels, names)
    truth = samples.labels
    texts = _sub_folders(run, samples) if truth is None else label_texts(truth)
    true_classes = natural_order(set(texts) - {""})
    alternative, points, eigenvalues, estimate = np.full(len(labels), -1), None, None, None
    if isinstance(model, HypergraphClassifier):
        n_classes = len(model.classes_)
        alternative = _alternative_class(model, group, _codes(label_texts(model.classes_), names))
        points = embed(model.spectrum_, n_classes, "equal")
    elif model is not None:
        alternative, points = _alternative_cluster(model), model.embedding_
        eigenvalues, estimate = model.spectrum_.eigenvalues, model.cluster_count_
    return Results(
        run=run,
        names=names,
        group=group,
        alternative=alternative,
        truth=_codes(texts, true_classes),
        true_classes=true_classes,
        by_folder=truth is None,
        fragment=np.zeros(len(labels), int) if model is None else _fragment_sizes(model),
        points=points,
        eigenvalues=eigenvalues,
        estimate=estimate,
    )


def natural_order(names: set[str]) -> list[str]:
    """Names sorted with the numbers in them as numbers, "" last.

    >>> natural_order({"face 10", "face 9", ""})
    ['face 9', 'face 10', '']
    """
    return sorted(names, key=lambda name: (name == "", natural_key(name)))


def _sub_folders(run: Run, samples: Samples) -> list[str]:
    """The first folders in the names of photographs that are not the same for all.

    "" for the photographs in none, for those with a given label, and for all if there are not two.
    """
    given = run.samples.given
    paths = [name.split("/")[:-1] for name in samples.names]
    free = [at for at in range(len(paths)) if given is None or not given[at]]
    levels = zip(*(paths[at] for at in free), strict=False)
    depth = len([*takewhile(lambda folders: len({*folders}) == 1, levels)])
    folders = [""] * len(paths)
    for at in free if samples.photos is not None else ():
        folders[at] = "".join(paths[at][depth : depth + 1])
    return folders if len({*folders} - {""}) > 1 else [""] * len(paths)


def _codes(texts: Sequence[str], names: Sequence[str]) -> NDArray:
    """Position of every text among the names, −1 where it is none of them."""
    position = {name: at for at, name in enumerate(names)}
    return np.array([position.get(text, -1) for text in texts])


def _fragment_sizes(model: Model) -> NDArray:
    """Sizes of the components that are too small for a cluster or class, 0 for other samples."""
    count, component = model.graph_.connected_components()
    sizes = np.bincount(component, minlength=count)[component]
    if isinstance(model, HypergraphClassifier):
        small = fragments(model.graph_, len(model.classes_))
    else:
        small = model.fragments_
    return np.where(small, sizes, 0)


def _alternative_class(model: HypergraphClassifier, group: NDArray, codes: NDArray) -> NDArray:
    """The class of the largest share of the label distribution besides the sample's own."""
    shares = np.where(codes == group[:, None], 0.0, model.label_distributions_)
    largest = shares.argmax(axis=1)
    return np.where(shares.max(axis=1) > 0, codes[largest], -1)


def _alternative_cluster(model: HypergraphClustering) -> NDArray:
    """The cluster with the nearest center besides the sample's own."""
    distances = euclidean_distances(model.embedding_, model.cluster_centers_)
    distances[np.arange(len(distances)), model.labels_] = np.inf
    none = np.full(len(distances), -1)
    return none if model.n_clusters_ == 1 else distances.argmin(axis=1)
