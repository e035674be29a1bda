"""
Classes from a few labels
=========================

Labels of a few samples spread over the hypergraph to all others. Which samples have the labels
matters: :meth:`enhg.HypergraphClustering.suggest` returns those whose labels are most informative
about the others.
"""

# %%
# 30 random samples. None of them is a 2, so that all samples of this class get another label.
# −1 means no label.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression

from enhg import ElasticNetHypergraph, HypergraphClassifier, HypergraphClustering, plotting

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)


def given_labels(rows):
    """The true labels of some rows, -1 for the others."""
    given = np.full(len(y), -1)
    given[rows] = y[rows]
    return given


given = given_labels(rng.choice(len(y), 30, replace=False))
model = HypergraphClassifier().fit(X, given)
unlabeled = given == -1
accuracy = np.mean(model.transduction_[unlabeled] == y[unlabeled])
print(f"{(~unlabeled).sum()} random labels, accuracy on the others: {accuracy:.3f}")
print("weights of the methods:", {k: round(float(v), 2) for k, v in model.method_weights_.items()})

# %%
# The confidence of right and of wrong labels. Most of the wrong ones have a low confidence.

wrong = np.flatnonzero(unlabeled & (model.transduction_ != y))
right = np.flatnonzero(unlabeled & (model.transduction_ == y))
figure, ax = plt.subplots(figsize=(6, 3.2), layout="constrained")
bins = np.linspace(0, 1, 26)
for rows, name in ((right, "right"), (wrong, "wrong")):
    ax.hist(model.confidence_[rows], bins, density=True, alpha=0.6, label=name)
ax.set(xlabel="confidence", ylabel="density")
ax.legend()

# %%
# From here on, the hypergraph is made once and used by all learners. Suggested samples, random
# samples and logistic regression on the same random samples, for 10 to 80 labels:

structure = FrozenEstimator(ElasticNetHypergraph().fit(X))
suggested = list(HypergraphClustering(10, structure=structure, random_state=0).fit(X).suggest(10))
random_order = rng.permutation(len(y))
curves = {"suggested": [], "random": [], "random, logistic regression": []}
for count in (10, 20, 40, 80):
    rows_by_name = {"suggested": np.array(suggested), "random": random_order[:count]}
    for name, rows in rows_by_name.items():
        given = given_labels(rows)
        model = HypergraphClassifier(structure=structure).fit(X, given)
        score = np.mean((model.transduction_ == y)[given == -1])
        curves[name].append((f"{count}", float(score)))
        if name == "suggested" and count < 80:
            suggested += list(model.suggest(count))
    rows = random_order[:count]
    linear = LogisticRegression(max_iter=1000).fit(X[rows] / 16, y[rows])
    others = np.setdiff1d(np.arange(len(y)), rows)
    score = linear.score(X[others] / 16, y[others])
    curves["random, logistic regression"].append((f"{count}", float(score)))

for name, points in curves.items():
    print(f"{name:28}", "  ".join(f"{count}: {score:.3f}" for count, score in points))
ax = plotting.plot_comparison(curves, main="suggested", ylabel="accuracy")
ax.set_xlabel("labels")
