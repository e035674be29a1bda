"""
Outliers
========

The outlier score of a sample is one minus the largest cosine with a member of its hyperedge: 0
for a copy of another sample, 1 if it is orthogonal to all of them.
"""

# %%
# A twentieth of the digits is damaged: a rectangle of 4×4 pixels is filled with noise.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import IsolationForest
from sklearn.metrics import average_precision_score
from sklearn.neighbors import LocalOutlierFactor

from enhg import ElasticNetHypergraph, plotting

rng = np.random.default_rng(0)
X = load_digits().data
images = X.reshape(-1, 8, 8).copy()
damaged = rng.random(len(X)) < 0.05
for at in np.flatnonzero(damaged):
    top, left = rng.integers(0, 5, 2)
    images[at, top : top + 4, left : left + 4] = rng.integers(0, 17, (4, 4))
X = images.reshape(len(X), -1)

# %%
# The average precision with which scores rank the damaged images first; a random ranking has
# 0.05.

structure = ElasticNetHypergraph().fit(X)
scores = {
    "enhg": structure.outlier_scores_,
    "LocalOutlierFactor": -LocalOutlierFactor().fit(X).negative_outlier_factor_,
    "IsolationForest": -IsolationForest(random_state=0).fit(X).score_samples(X),
}
for name, values in scores.items():
    print(f"{name:20} {average_precision_score(damaged, values):.3f}")

# %%
# The twenty images of the largest outlier scores. Those that were not damaged have a black
# frame.

order = np.argsort(-structure.outlier_scores_)[:20]
figure, axes = plt.subplots(2, 10, figsize=(9, 2.3), layout="constrained")
for ax, at in zip(axes.flat, order, strict=True):
    ax.imshow(images[at], cmap="gray_r")
    ax.set(xticks=[], yticks=[], xlabel=f"{structure.outlier_scores_[at]:.2f}")
    for spine in ax.spines.values():
        spine.set(visible=not damaged[at], linewidth=3)

# %%
# What other samples do not explain remains in the residual: violet where a sample is brighter
# than its reconstruction, brown where it is darker.

plotting.plot_reconstructions(structure, order[:5], (8, 8))
