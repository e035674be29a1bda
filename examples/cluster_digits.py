"""Cluster scikit-learn's digits without labels, and score the clusters against the true labels."""

from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score

from enhg import HypergraphClustering, clustering_accuracy

X, y = load_digits(return_X_y=True)
model = HypergraphClustering(n_clusters=10, random_state=0).fit(X)
nmi = normalized_mutual_info_score(y, model.labels_, average_method="geometric")
print(f"AC  {clustering_accuracy(y, model.labels_):.3f}")
print(f"NMI {nmi:.3f}")
print(f"largest certificate {model.representation_.certificate.max():.1e}")
print(f"samples of lowest confidence: {model.confidence_.argsort()[:10]}")
