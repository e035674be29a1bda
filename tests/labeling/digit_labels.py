"""Images of digits, and what a person does with them."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import load_digits

from enhg.labeling.actions import Action

N = 400
NAMES = [f"{i:03}.png" for i in range(N)]
TRUTH = load_digits().target[:N].astype(str)


def act(session, kind, rows=(), label="", **others):
    """Apply an action with a key of its own."""
    key = f"{session.version}"
    session.act(Action(key, kind, tuple(int(row) for row in rows), label, **others))


def name_clusters(session):
    """Name every cluster by the class of most of its images."""
    for cluster in range(session.model.n_clusters_):
        rows = np.flatnonzero(session.model.labels_ == cluster)
        names, counts = np.unique(TRUTH[rows], return_counts=True)
        act(session, "name", rows, str(names[counts.argmax()]), origin="cluster")
