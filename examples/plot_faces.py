"""
Faces under changing light
==========================

Extended Yale B has 64 images of every subject, lit from different directions. Two images of one
subject often differ more than those of two subjects in the same light, so that distances of
pixels say little.

The images may not be distributed with the package. They are read from the folder that the
environment variable ``ENHG_DATA`` names.
"""

# %%
# The first ten subjects, and a few images of two of them.

import textwrap
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from enhg import HypergraphClustering, clustering_accuracy, plotting
from enhg.datasets import load

faces = load("yale-b").first_classes(10)
images = faces.X.reshape(-1, *faces.image_shape)

figure, axes = plt.subplots(2, 8, figsize=(8, 2.2), layout="constrained")
for row, subject in zip(axes, np.unique(faces.y)[:2], strict=True):
    for ax, image in zip(row, images[faces.y == subject][::8], strict=True):
        plotting.plot_image(image, ax=ax)

# %%
# k-means groups the images by the light. ``preprocessing="auto"``, the default, tries three
# transformers and keeps the one whose hypergraph has the largest adjusted modularity. Here this
# is whitening, which gives strong principal directions, mostly those of the light, about equal
# variance.

kmeans = KMeans(10, n_init=10, random_state=0).fit_predict(faces.X)
with warnings.catch_warnings(record=True) as caught:
    model = HypergraphClustering(10, random_state=0).fit(faces.X)
print(f"preprocessing    {model.structure_.preprocessing_}")
print(f"AC of k-means    {clustering_accuracy(faces.y, kmeans):.3f}")
print(f"AC of enhg       {clustering_accuracy(faces.y, model.labels_):.3f}")

# %%
# A few images that are nearly black are like no other; warnings count them.

for warning in caught:
    print(textwrap.fill(str(warning.message), 100))

# %%
# Every cluster is one subject in many kinds of light.

plotting.plot_clusters(images, model.labels_, model.confidence_)

# %%
# A hyperedge holds the samples with the largest coefficients in the reconstruction of one
# sample. Its members are mostly images of the same subject, although the light differs; members
# with another label are framed.

plotting.plot_hyperedge(model.structure_, 20, faces.image_shape, model.labels_)

# %%
# \|Z\|, with rows and columns sorted by subject.

plotting.plot_coefficient_matrix(model.representation_.coefficients, faces.y)
