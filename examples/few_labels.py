"""Label 1797 digits from 5 % of their labels, then new ones that were not there before."""

import numpy as np
from sklearn.datasets import load_digits

from enhg import HypergraphClassifier, unlabeled_accuracy

X, y = load_digits(return_X_y=True)
seen, new = np.arange(len(y)) < 1500, np.arange(len(y)) >= 1500
given = np.random.default_rng(0).random(seen.sum()) < 0.05

model = HypergraphClassifier().fit(X[seen], np.where(given, y[seen], -1))
accuracy = unlabeled_accuracy(y[seen], model.transduction_, given)
print(f"{given.sum()} labels given, accuracy on the other {(~given).sum()}: {accuracy:.3f}")
print(f"accuracy on {new.sum()} new ones: {model.score(X[new], y[new]):.3f}")
