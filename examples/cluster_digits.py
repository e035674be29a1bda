"""Cluster scikit-learn's digits without labels, and score the result against the truth."""

from sklearn.datasets import load_digits

from enhg import HypergraphClustering, clustering_accuracy, normalized_mutual_information

X, y = load_digits(return_X_y=True)
model = HypergraphClustering(n_clusters=10, random_state=0).fit(X)
print(f"AC  {clustering_accuracy(y, model.labels_):.3f}")
print(f"NMI {normalized_mutual_information(y, model.labels_):.3f}")
print(f"worst certificate {model.representation_.certificate.max():.1e}")
print(f"least certain samples: {model.confidence_.argsort()[:10]}")
