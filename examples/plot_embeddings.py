"""
Photographs by the embeddings of a network
==========================================

On pixels, photographs of the same thing have little in common. Embeddings, the features that a
neural network computes of an image, compare them by what is on them. Any array with one row per
image will do: here the rows are made by :class:`enhg.features.ImageFeatures`, which runs a small
network on the processor.
"""

# %%
# 192 photographs of eight kinds, cropped from pictures that come with scikit-learn and
# scikit-image (those of ``enhg demo --photos``).

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from enhg import HypergraphClustering, clustering_accuracy, plotting
from enhg.demo import make_photos
from enhg.features import ImageFeatures

folder = Path(tempfile.mkdtemp()) / "photos"
kinds = make_photos(folder, seed=0)
files = sorted(folder.iterdir())
y = np.array([kinds[file.name] for file in files])

# %%
# Embeddings in, clusters out. Embeddings of another network, for example of CLIP, are used in
# the same way: ``np.load("embeddings.npy")``, or any array.

X = ImageFeatures().fit_transform(files)
model = HypergraphClustering(n_clusters=8, random_state=0).fit(X)
print(f"{X.shape[0]} photographs, {X.shape[1]} features")
print(f"AC {clustering_accuracy(y, model.labels_):.3f}")

# %%
# The photographs of the highest confidence of every cluster.

figure, axes = plt.subplots(8, 6, figsize=(7, 8), layout="constrained")
for cluster, row in enumerate(axes):
    members = np.flatnonzero(model.labels_ == cluster)
    best = members[np.argsort(-model.confidence_[members])][:6]
    for ax in row:
        ax.set_axis_off()
    for ax, at in zip(row, best, strict=False):
        ax.imshow(Image.open(files[at]).resize((120, 90)))

# %%
# Clusters and kinds.

plotting.plot_confusion(y, model.labels_, match=True)
