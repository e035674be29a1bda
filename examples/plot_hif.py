"""
HIF and xgi
===========

A hypergraph is written in the Hypergraph Interchange Format (HIF), changed and drawn in xgi, and
read back. This needs the extra ``interchange``.
"""

# %%
# A file that every program for HIF can read, with the clusters as an attribute of the nodes.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import xgi
from sklearn.datasets import load_digits

from enhg import Hypergraph, HypergraphClustering
from enhg.interchange import from_xgi, to_xgi

X, y = load_digits(n_class=4, return_X_y=True)
model = HypergraphClustering(4, random_state=0).fit(X[:200])
names = [f"digit {i}" for i in range(200)]
folder = tempfile.TemporaryDirectory()
path = Path(folder.name, "digits.hif.json")
model.graph_.to_hif(path, vertex_names=names, vertex_attributes={"label": model.labels_})
network = xgi.read_hif(path)
print(f"in xgi: {network.num_nodes} nodes, {network.num_edges} hyperedges")
print(f"a node: {names[0]}, {network.nodes[names[0]]}")

# %%
# In xgi, keep the hyperedges inside of one cluster, write the result, and read it here.

clusters = network.nodes.attrs("label").asdict()
members = network.edges.members(dtype=dict)
mixed = [edge for edge, nodes in members.items() if len({clusters[node] for node in nodes}) > 1]
network.remove_edges_from(mixed)
xgi.write_hif(network, path)
pure = Hypergraph.from_hif(path, drop_empty=True)
print(f"{len(mixed)} of {model.graph_.n_edges} hyperedges are of several clusters; left: {pure}")
folder.cleanup()

# %%
# Without a file, memberships and hyperedge weights are kept too.

returned, vertices, _ = from_xgi(to_xgi(model.graph_, vertex_names=names))
print(f"the same hypergraph after a round trip: {returned == model.graph_ and vertices == names}")

# %%
# The hyperedges of ten digits, drawn by xgi.

mask = [i < 10 for i in range(model.graph_.n_vertices)]
part = to_xgi(model.graph_.subhypergraph(mask), vertex_names=names[:10])
part.cleanup(relabel=False, isolates=True)
figure, axes = plt.subplots(figsize=(5, 4), layout="constrained")
xgi.draw(part, pos=xgi.barycenter_spring_layout(part, seed=0), ax=axes, node_labels=True)
plt.show()
