"""
Clusters of handwritten digits
==============================

1797 images of 8×8 pixels are clustered without labels, and the clusters are then scored against
the true labels.
"""

# %%
# Every row of ``X`` holds the pixels of one image. The number of clusters is given here; without
# it, it is estimated (see :ref:`sphx_glr_gallery_plot_cluster_count.py`).

from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score

from enhg import HypergraphClustering, clustering_accuracy, plotting

X, y = load_digits(return_X_y=True)
model = HypergraphClustering(n_clusters=10, random_state=0).fit(X)

# %%
# AC is the accuracy under the best one-to-one matching of clusters and classes. The certificate
# is the largest violation of the optimality conditions over all elastic nets, relative to their
# l1 penalty.

nmi = normalized_mutual_info_score(y, model.labels_, average_method="geometric")
print(f"AC  {clustering_accuracy(y, model.labels_):.3f}")
print(f"NMI {nmi:.3f}")
print(f"largest certificate {model.representation_.certificate.max():.1e}")

# %%
# One row per cluster: the images of the highest confidence, then those of the lowest.

plotting.plot_clusters(X.reshape(-1, 8, 8), model.labels_, model.confidence_)

# %%
# The confusion matrix shows which digits are confused. Clusters are matched to classes one to
# one.

plotting.plot_confusion(y, model.labels_, match=True)

# %%
# The samples in the plane of the first two principal directions of the spectral embedding.

plotting.plot_embedding(model.embedding_, model.labels_)
