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
print(f"{len(mixed)} of {model.graph_.n_edges} hyperedges are of several clusters")
print(f"left: {pure}")
folder.cleanup()

# %%
# Without a file, memberships and hyperedge weights are kept too.

returned, vertices, _ = from_xgi(to_xgi(model.graph_, vertex_names=names))
print(f"the same hypergraph after a round trip: {returned == model.graph_ and vertices == names}")

# %%
# The smallest hyperedge of every digit, of five members, drawn by xgi. Nodes have the color of
# their cluster.

network = to_xgi(model.graph_)
network.remove_edges_from(range(200, model.graph_.n_edges))
positions = xgi.barycenter_spring_layout(network, seed=0)
colors = plt.get_cmap("tab10")(model.labels_)
figure, axes = plt.subplots(figsize=(6, 4.5), layout="constrained")
xgi.draw(network, pos=positions, ax=axes, node_fc=colors, node_size=6)
plt.show()
