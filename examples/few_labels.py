"""Classify 1500 digits from 5 % of their labels, then 297 new ones."""

import numpy as np
from sklearn.datasets import load_digits

from enhg import HypergraphClassifier

X, y = load_digits(return_X_y=True)
fitted, new = np.arange(len(y)) < 1500, np.arange(len(y)) >= 1500
labeled = np.random.default_rng(0).random(fitted.sum()) < 0.05

model = HypergraphClassifier().fit(X[fitted], np.where(labeled, y[fitted], -1))
accuracy = np.mean((model.transduction_ == y[fitted])[~labeled])
print(f"{labeled.sum()} labels, accuracy on {(~labeled).sum()} unlabeled samples: {accuracy:.3f}")
print(f"accuracy on {new.sum()} new samples: {model.score(X[new], y[new]):.3f}")
