"""
A hypergraph of your own
========================

The learners take any hypergraph or graph in place of one that is made of samples. Here the
hyperedges are given as lists of vertices.
"""

# %%
# Two groups of five people: hyperedges are the meetings that they took part in, and one meeting
# joins the groups.

import numpy as np
from scipy.sparse.csgraph import connected_components

from enhg import Hypergraph, HypergraphClassifier, HypergraphClustering, plotting

meetings = [[0, 1, 2], [1, 2, 3, 4], [0, 4], [5, 6, 7], [6, 7, 8, 9], [5, 9], [4, 5]]
hypergraph = Hypergraph.from_edges(meetings, weights=[1, 1, 1, 1, 1, 1, 0.2])
print(hypergraph)
print("degrees:", hypergraph.vertex_degrees)

# %%
# X only gives the number of samples then.

X = np.zeros((10, 1))
clusters = HypergraphClustering(2, structure=hypergraph, random_state=0).fit(X)
print("clusters:", clusters.labels_)
given = np.full(10, -1)
given[[0, 9]] = [0, 1]
classes = HypergraphClassifier(structure=hypergraph).fit(X, given)
print("classes: ", classes.transduction_)
plotting.plot_incidence(hypergraph, clusters.labels_)

# %%
# The clique expansion is the adjacency matrix of a graph, a sparse array that SciPy,
# scikit-learn and other libraries take. :meth:`enhg.Hypergraph.save` writes the hypergraph
# itself to a file.

adjacency = hypergraph.clique_expansion()
print("components:", connected_components(adjacency)[0])
print(np.round(adjacency.toarray()[:5, :5], 2))
