"""
How many clusters?
==================

``n_clusters="auto"``, the default, estimates the number of clusters from the eigenvalues of the
hypergraph and from the partitions of the largest modularity over a range of resolutions. It also
says whether the estimate is reliable. On many data sets it is not, or it differs from the number
of classes: :doc:`/quality` has the estimates on eleven data sets.
"""

# %%
# Ten digits: both criteria agree, and random subsets of the samples are partitioned in the same
# way.

from sklearn.datasets import load_digits, make_blobs

from enhg import ElasticNetHypergraph, HypergraphClustering, count_clusters, plotting

X, y = load_digits(return_X_y=True)
model = HypergraphClustering(random_state=0).fit(X)
print(model.n_clusters_, "clusters, reliable:", model.cluster_count_.reliable)
plotting.plot_cluster_count(model.cluster_count_)

# %%
# The eigenvalues: a gap after the tenth.

plotting.plot_spectrum(model.spectrum_.eigenvalues, model.n_clusters_)

# %%
# Five of the digits. Handwritten ones have several shapes, which are clusters of their own.
# "Reliable" means that both criteria and random subsets of the samples agree, not that clusters
# are classes.

few = y < 5
five = HypergraphClustering(random_state=0).fit(X[few])
print(five.n_clusters_, "clusters, reliable:", five.cluster_count_.reliable)
plotting.plot_confusion(y[few], five.labels_, match=True)

# %%
# ``count_clusters`` takes any hypergraph or graph: here one Gaussian cloud, which has no
# clusters. The estimate is not 1, but it is not called reliable; the estimators issue a warning
# in such a case.

cloud, _ = make_blobs(400, 3, centers=1, random_state=0)
count = count_clusters(ElasticNetHypergraph().fit(cloud).graph_, random_state=0)
print(count.n_clusters, "clusters, reliable:", count.reliable, "- runner-up:", count.runner_up)
plotting.plot_cluster_count(count)
