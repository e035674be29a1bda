"""Hyperedges from coefficients."""
from sklearn.base import BaseEstimator


class HyperedgeRule(BaseEstimator):
    def __init__(self, selection="top", threshold=None, *, positive=False, symmetrize=False, membership="soft", weighting="product"):
        self.selection = selection
        self.threshold = threshold
        self.positive = positive
        self.symmetrize = symmetrize
        self.membership = membership
        self.weighting = weighting
