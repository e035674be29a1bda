"""
New images
==========

A fitted model labels images that it has not seen, without a new fit, and can be saved.
"""

# %%
# Cluster 1500 digits and predict 297 others. A new sample is represented by the fitted ones; its
# cluster is the one to which most of its memberships belong.

import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from enhg import (
    HypergraphClassifier,
    HypergraphClustering,
    clustering_accuracy,
    load_model,
    plotting,
    save_model,
)

X, y = load_digits(return_X_y=True)
fitted, new = X[:1500], X[1500:]
model = HypergraphClustering(10, random_state=0).fit(fitted)
prediction = model.predict_with_scores(new)
print(f"AC of the fitted samples: {clustering_accuracy(y[:1500], model.labels_):.3f}")
print(f"AC of the new samples:    {clustering_accuracy(y[1500:], prediction.labels):.3f}")

# %%
# The new images of the highest and of the lowest confidence of every cluster.

plotting.plot_clusters(new.reshape(-1, 8, 8), prediction.labels, prediction.confidence)

# %%
# A model file holds arrays and JSON, no pickle: loading one executes nothing.

file = Path(tempfile.mkdtemp()) / "digits.npz"
save_model(model, file)
loaded = load_model(file)
print(f"{file.stat().st_size / 1e6:.1f} MB")
print("same labels:", bool((loaded.predict(new) == prediction.labels).all()))

# %%
# A classifier does the same, here from 5% of the labels.

labeled = np.random.default_rng(0).random(1500) < 0.05
classifier = HypergraphClassifier().fit(fitted, np.where(labeled, y[:1500], -1))
print(f"{labeled.sum()} labels, accuracy on {len(new)} new samples: "
      f"{classifier.score(new, y[1500:]):.3f}")  # fmt: skip

# %%
# An image of something else has a large outlier score.

noise = np.random.default_rng(0).integers(0, 17, (5, 64))
scores = classifier.predict_with_scores(noise).outlier_scores
usual = classifier.predict_with_scores(new).outlier_scores
print("outlier scores of noise: ", np.round(scores, 2))
print("of new digits, quartiles:", np.round(np.quantile(usual, [0.25, 0.5, 0.75]), 2))
