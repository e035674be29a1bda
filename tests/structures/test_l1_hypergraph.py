"""`L1Hypergraph` against scikit-learn's lasso and `ElasticNetHypergraph`."""

import numpy as np

from enhg import ElasticNetHypergraph, HyperedgeRule, L1Hypergraph


def test_members_have_the_largest_coefficients_of_the_lasso(unit_samples, solve_by_sklearn):
    structure = L1Hypergraph(
        gamma=20, gamma_scale="absolute", hyperedges=HyperedgeRule("top", 3),
        preprocessing="none", tol=1e-8,
    ).fit(unit_samples)  # fmt: skip
    Z = solve_by_sklearn(unit_samples, 20)
    H = structure.graph_.incidence.toarray()
    for i in range(len(unit_samples)):
        members = [j for j in np.argsort(-Z[i])[:3] if Z[i, j] > 1e-6]
        np.testing.assert_allclose(H[members, i], Z[i, members] / Z[i, members].sum(), atol=1e-4)
        assert np.count_nonzero(H[:, i]) == 1 + len(members)


def test_it_is_the_elastic_net_hypergraph_without_ridge(unit_samples):
    options = {"gamma": 20, "hyperedges": HyperedgeRule("top", 3, membership="binary")}
    structure = L1Hypergraph(**options).fit(unit_samples)
    assert structure.graph_ == ElasticNetHypergraph(lam=0, **options).fit(unit_samples).graph_
    assert structure.graph_ != ElasticNetHypergraph(lam=5, **options).fit(unit_samples).graph_
    assert "lam" not in structure.get_params()
    assert structure.attach(unit_samples[:2]).memberships.shape == (2, len(unit_samples))
