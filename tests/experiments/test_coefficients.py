"""The largest coefficients of every row."""

import numpy as np
from scipy import sparse

from enhg import ElasticNetHypergraph, HyperedgeRule
from experiments.coefficients import largest_per_row


def test_the_largest_magnitudes_are_kept():
    Z = sparse.csr_array([[0.0, 0.5, -0.7, 0.1], [0.0, 0.0, 0.0, 0.2]])
    expected = [[0, 0.5, 0.7, 0], [0, 0, 0, 0.2]]
    np.testing.assert_array_equal(largest_per_row(Z, 2).toarray(), expected)


def test_they_are_the_members_of_hyperedges(union_of_subspaces):
    X, _ = union_of_subspaces(0)
    structure = ElasticNetHypergraph(hyperedges=HyperedgeRule("top", 10)).fit(X)
    members = largest_per_row(structure.representation_.coefficients, 10) != 0
    incidence = structure.graph_.incidence.T != 0
    centroids = sparse.eye_array(len(X), dtype=bool)
    assert (sparse.csr_array(members + centroids) != sparse.csr_array(incidence)).nnz == 0
