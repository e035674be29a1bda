"""Groups, alternatives and true classes of the samples."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from enhg import Hypergraph, HypergraphClustering
from enhg.report._results import _fragment_sizes, _sub_folders, make_results, natural_order


def test_natural_order():
    assert natural_order({"b", "a10", "a9", "", "10", "9"}) == ["9", "10", "a9", "a10", "b", ""]


def test_alternative_is_another_group(digits):
    results = make_results(digits.record, digits.samples, digits.model)
    assert not (results.alternative == results.group).any()
    distances = np.linalg.norm(
        digits.model.embedding_[:, None] - digits.model.cluster_centers_, axis=2
    )
    distances[np.arange(len(distances)), digits.model.labels_] = np.inf
    np.testing.assert_array_equal(results.alternative, distances.argmin(axis=1))


def test_alternative_of_a_disputed_label_is_the_predicted_class(digits, fitted):
    truth = digits.samples.labels
    given = np.where(np.arange(len(truth)) < 60, truth.astype(str), "")
    given[0] = str((truth[0] + 1) % 4)
    run = fitted(digits.samples, given=given)
    assert 0 in run.model.disputed_indices_
    results = make_results(run.record, run.samples, run.model)
    assert results.names[results.group[0]] == given[0]
    assert results.names[results.alternative[0]] == str(truth[0])


@pytest.mark.parametrize(
    ("names", "given", "expected"),
    [
        (["a/1.jpg", "b/2.jpg", "3.jpg"], "", ["a", "b", ""]),
        (["x/a/1.jpg", "x/b/c/2.jpg", "x/3.jpg"], "", ["a", "b", ""]),
        (["x/a/1.jpg", "x/a/2.jpg"], "", ["", ""]),
        (["a/1.jpg", "2.jpg"], "", ["", ""]),
        (["a/1.jpg", "b/2.jpg", "unlabeled/3.jpg"], "110", ["", "", ""]),
        (["a/1.jpg", "b/2.jpg", "c/3.jpg"], "100", ["", "b", "c"]),
    ],
)
def test_sub_folders(names, given, expected):
    given = np.array([letter == "1" for letter in given]) if given else None
    run = SimpleNamespace(samples=SimpleNamespace(given=given))
    assert _sub_folders(run, SimpleNamespace(names=names, photos=True)) == expected
    assert not any(_sub_folders(run, SimpleNamespace(names=names, photos=None)))


def test_class_names_are_given_labels_or_else_true_classes(digits, fitted):
    truth = digits.samples.labels.astype(str)
    assert make_results(digits.record, digits.samples, digits.model).class_names == truth.tolist()
    given = np.where(np.arange(len(truth)) < 60, truth, "")
    run = fitted(digits.samples, given=given)
    assert make_results(run.record, run.samples, run.model).class_names == given.tolist()


@pytest.mark.parametrize(("n_clusters", "marked"), [(1, []), (2, [6])])
def test_fragments_are_those_of_the_model(digits, n_clusters, marked):
    """Six samples in a component of their own, too small for one of two clusters."""
    n = len(digits.samples.X)
    edges = [[i, (i + 1) % (n - 6), (i + 5) % (n - 6)] for i in range(n - 6)]
    edges.append(list(range(n - 6, n)))
    model = HypergraphClustering(n_clusters, structure=Hypergraph.from_edges(edges), random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model.fit(digits.samples.X)
    sizes = _fragment_sizes(model)
    assert sorted(set(sizes) - {0}) == marked
    np.testing.assert_array_equal(sizes > 0, model.fragments_)
    assert (model.confidence_[model.fragments_] == 0).all()
