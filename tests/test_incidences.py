"""Incidences with names."""

import numpy as np
import pytest

from enhg._incidences import NamedIncidence, check_names, incidence_of_triples, shown
from enhg.exceptions import InputError


def test_triples():
    triples = [("b", "e", 0.5), ("a", "f", 2)]
    named = incidence_of_triples(triples, ["a", "b"], ["e", "f"], [3, 4])
    assert named.incidence.toarray().tolist() == [[0, 2], [0.5, 0]]
    assert named.weights.tolist() == [3, 4]


def test_repeated_incidences_count_once():
    vertices, edges = np.array([0, 1, 2, 1, 1]), np.array([0, 0, 1, 0, 0])
    names = np.ones(2), list("abc"), list("ef")
    memberships = np.array([1.0, 0.1, 2, 0.1, 0.1])
    named = NamedIncidence.collect(vertices, edges, memberships, *names)
    assert named.incidence.toarray().tolist() == [[1, 0], [0.1, 0], [0, 2]]
    memberships[4] = 0.2
    message = "one weight, got 0.1 and 0.2 of 'b' in hyperedge 'e'"
    with pytest.raises(InputError, match=message):
        NamedIncidence.collect(vertices, edges, memberships, *names)


def test_membership_of_zero_is_none():
    triples = [("a", "e", 1.0), ("b", "e", 0.0)]
    named = incidence_of_triples(triples, ["a", "b"], ["e"], [1.0])
    assert named.without_empty(drop=False).vertex_names == ["a", "b"]
    assert named.without_empty(drop=True).vertex_names == ["a"]


def test_without_empty_keeps_weights_and_names_together():
    triples = [("a", "f", 1.0), ("c", "h", 2.0)]
    named = incidence_of_triples(triples, list("abc"), list("efgh"), [1, 2, 3, 4])
    with pytest.warns(
        UserWarning, match="hyperedges without a vertex .*: 2, the first of them 'e'"
    ):
        kept = named.without_empty(drop=False)
    assert kept.vertex_names == list("abc")
    assert kept.incidence.toarray().tolist() == [[1, 0], [0, 0], [0, 2]]
    filled = named.without_empty(drop=True)
    assert (filled.vertex_names, filled.edge_names) == (["a", "c"], ["f", "h"])
    assert filled.weights.tolist() == [2, 4]
    assert filled.incidence.toarray().tolist() == [[1, 0], [0, 2]]


def test_names():
    assert check_names(None, "names", 3, first=5) == [5, 6, 7]
    checked = check_names(np.array([3, 4]), "names", 2)
    assert checked == [3, 4]
    assert all(type(name) is int for name in checked)
    with pytest.raises(InputError, match="names must be distinct, got True twice"):
        check_names([1, True], "names", 2)


def test_long_names_are_shortened_in_messages():
    assert len(shown("a" * 10**6)) == 40
