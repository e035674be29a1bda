"""
Every plot
==========

:mod:`enhg.plotting` draws samples and results. It needs matplotlib (extra ``plot``). Every
function draws on the axes ``ax``, by default on those of a new figure, and returns the axes.
"""

# %%
# The samples are 1797 handwritten digits of scikit-learn, images of 8×8 pixels.

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from enhg import (
    ElasticNetHypergraph,
    HypergraphClustering,
    KNNHypergraph,
    clustering_accuracy,
    elastic_net_path,
    plotting,
)
from enhg.preprocessing import SampleNormalizer

X, y = load_digits(return_X_y=True)
images = X.reshape(-1, 8, 8)
model = HypergraphClustering(random_state=0).fit(X)
structure, labels = model.structure_, model.labels_
Z = structure.representation_.coefficients
print(f"{model.n_clusters_} clusters, {Z.nnz / len(X):.0f} coefficients per sample")

# %%
# Several plots can share one figure, which is saved as usual in matplotlib:
# ``figure.savefig("clusters.png")``.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
plotting.plot_embedding(model.embedding_, labels, ax=left)
plotting.plot_confusion(y, labels, match=True, ax=right)

# %%
# Number of clusters: ``plot_cluster_count``
# ------------------------------------------
# The score of every number of clusters, with the estimate and the runner-up in color. If the
# estimate is not reliable, the title says so.

plotting.plot_cluster_count(model.cluster_count_)

# %%
# Spectrum: ``plot_spectrum``
# ---------------------------
# The largest eigenvalues of Θ, with a line after the number of clusters.

plotting.plot_spectrum(model.spectrum_.eigenvalues, model.n_clusters_)

# %%
# Clusters: ``plot_clusters``
# ---------------------------
# One row of images per cluster: first those of the highest confidence, then those of the lowest.

plotting.plot_clusters(images, labels, model.confidence_)

# %%
# Coefficient matrix: ``plot_coefficient_matrix``
# -----------------------------------------------
# \|Z\|, each row divided by its largest entry, with rows and columns sorted by label. Entries
# outside the diagonal blocks are coefficients of samples with another label. A large matrix is
# reduced: a pixel shows the largest entry of its block.

plotting.plot_coefficient_matrix(Z, labels)

# %%
# Coefficients of a sample: ``plot_coefficients``
# -----------------------------------------------
# One row of Z as vertical lines over the atoms. Here the atoms are sorted by label; the gray
# band contains those with the label of the sample, and the dashed lines are at plus and minus
# the smallest coefficient of a member.

order = labels.argsort(kind="stable")
start = int((labels < labels[3]).sum())
own = slice(start, start + int((labels == labels[3]).sum()))
threshold = abs(structure.member_coefficients_[[3]].data).min()
plotting.plot_coefficients(Z[[3]].toarray().ravel()[order], threshold, own)

# %%
# Incidence: ``plot_incidence``
# -----------------------------
# The incidence matrix H. Vertices are sorted by label, and hyperedges by the label with the
# largest total membership. As above, a pixel shows the largest entry of its block.

plotting.plot_incidence(structure.graph_, labels)

# %%
# Hyperedge of a sample: ``plot_hyperedge``
# -----------------------------------------
# The centroid of the hyperedge, its members with their coefficients, the reconstruction of the
# centroid and its residual, with the relative residual. The images have the units of the samples
# given to ``fit``. Members with another label are framed.

plotting.plot_hyperedge(structure, 3, (8, 8), labels)

# %%
# Hyperedges that contain a sample: ``plot_memberships``
# ------------------------------------------------------
# The centroids of the hyperedges that a sample is a member of, with its memberships, here for
# the sample of the largest boundary score. Centroids with another label are framed.

sample = int(model.boundary_scores_.argmax())
plotting.plot_memberships(structure, sample, (8, 8), labels)

# %%
# Reconstructions and residuals: ``plot_reconstructions``
# -------------------------------------------------------
# A column per sample: the sample, its reconstruction, and its residual, violet where the sample
# is brighter than the reconstruction and brown where it is darker. Given a structure, the images
# have the units of the samples given to ``fit``; given a ``Representation``, they show the
# preprocessed samples. The relative residual below is that of the preprocessed sample in both
# cases.

plotting.plot_reconstructions(structure, [0, 1, 2, sample], (8, 8))

# %%
# Solution path: ``plot_path``
# ----------------------------
# The coefficients of a sample along the path of the elastic net. The ten atoms with the largest
# coefficients have a color and a name.

path = elastic_net_path(SampleNormalizer().fit_transform(X[:300]), 3, ridge=0.5)
plotting.plot_path(path)

# %%
# One image: ``plot_image``
# -------------------------
# Black at the smallest value and white at the largest.

plotting.plot_image(images[3])

# %%
# Scores of several methods: ``plot_comparison``
# ----------------------------------------------
# One line per method over a few cases. The main method has a heavy black line.


def accuracy(n_classes, structure):
    """AC on the first digits."""
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    model = HypergraphClustering(n_classes, structure=structure, random_state=0).fit(X)
    return clustering_accuracy(y, model.labels_)


curves = {
    name: [(f"{k} digits", accuracy(k, structure)) for k in (3, 4, 5)]
    for name, structure in (("ENHG", None), ("KNN-HG", KNNHypergraph()))
}
plotting.plot_comparison(curves, main="ENHG", ylabel="AC")

# %%
# Scores against a parameter: ``plot_curves``
# -------------------------------------------
# One line per name; the horizontal axis is logarithmic and includes zero.

lams = [0, 1, 3, 10]
curves = {"γ = 10": (lams, [accuracy(4, ElasticNetHypergraph(lam=lam)) for lam in lams])}
plotting.plot_curves(curves, xlabel="λ", ylabel="AC")
