"""A clustering of digits, and sessions on it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from digit_labels import NAMES, N
from sklearn.datasets import load_digits

from enhg import HypergraphClustering
from enhg.io import Samples
from enhg.labeling.session import LabelingSession, start_log


@pytest.fixture(scope="session")
def samples():
    X = load_digits().data[:N].astype(np.uint8)
    return Samples(X, NAMES, (8, 8), None, Path("digits"))


@pytest.fixture(scope="session")
def clustering(samples):
    return HypergraphClustering(10, random_state=0).fit(samples.X)


@pytest.fixture
def open_session(clustering, tmp_path):
    """Open a session in a folder; those that a test has left open are closed."""
    opened = []

    def open_(folder=tmp_path, **options):
        if options:
            start_log(folder, NAMES, **options)
        session = LabelingSession(clustering, NAMES, folder)
        opened.append(session)
        return session

    yield open_
    for session in opened:
        try:
            session.close()
        except OSError:  # closed by the test
            continue


@pytest.fixture
def session(open_session):
    return open_session()
