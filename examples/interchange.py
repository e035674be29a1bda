"""Write a hypergraph as HIF, study it in xgi, and read back what xgi wrote."""

import tempfile
from pathlib import Path

import numpy as np
import xgi
from sklearn.datasets import load_digits

from enhg import Hypergraph, HypergraphClustering
from enhg.interchange import from_xgi, to_xgi

X, y = load_digits(n_class=4, return_X_y=True)
model = HypergraphClustering(4, random_state=0).fit(X[:200])
names = [f"digit {i}" for i in range(200)]

# A file that any program for HIF reads, with the clusters as an attribute of the nodes.
with tempfile.TemporaryDirectory() as folder:
    ours, theirs = Path(folder, "digits.hif.json"), Path(folder, "xgi.hif.json")
    model.graph_.to_hif(ours, vertex_names=names, vertex_attributes={"label": model.labels_})
    network = xgi.read_hif(ours)
    print(f"in xgi: {network.num_nodes} nodes, {network.num_edges} hyperedges")
    print(f"a node: {names[0]}, {network.nodes[names[0]]}")

    # Keep the hyperedges inside of one cluster, in xgi, and go back.
    clusters = network.nodes.attrs("label").asdict()
    mixed = [
        edge for edge, members in network.edges.members(dtype=dict).items()
        if len({clusters[member] for member in members}) > 1
    ]  # fmt: skip
    network.remove_edges_from(mixed)
    xgi.write_hif(network, theirs)
    pure = Hypergraph.from_hif(theirs, drop_empty=True)
    print(f"back: {pure}, of {model.graph_.n_edges} hyperedges {len(mixed)} were mixed")

# Without a file, memberships and hyperedge weights are kept too.
returned, vertices, _ = from_xgi(to_xgi(model.graph_, vertex_names=names))
print(f"the same hypergraph after a round trip: {returned == model.graph_ and vertices == names}")
print(f"xgi's degrees: {np.mean(to_xgi(model.graph_).nodes.degree.aslist()):.1f} on average")
