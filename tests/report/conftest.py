"""Runs, their pages and the data of these."""

import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_digits

from enhg import ElasticNetHypergraph, HypergraphClassifier, HypergraphClustering
from enhg.io import Samples
from enhg.report import write_report
from enhg.run import record_classification, record_clustering

NASTY = "</script><b>bold</b>&amp;\udcff.png"


@pytest.fixture(scope="session")
def fitted():
    """Fit a clustering, or with labels a classifier, and record the run."""

    def fit(samples, n_clusters=3, given=None):
        structure = ElasticNetHypergraph()
        if given is None:
            model = HypergraphClustering(n_clusters, structure=structure, random_state=0)
            record = record_clustering(samples, model.fit(samples.X))
        else:
            model = HypergraphClassifier(structure=structure).fit(samples.X, given)
            record = record_classification(samples, model)
        record = replace(
            record,
            stages=(("read", 0.2), ("represent", 1.5)),
            warnings=("something <i>odd</i>",),
        )
        return SimpleNamespace(
            samples=samples, model=model, record=record, structure=model.structure_
        )

    return fit


@pytest.fixture(scope="session")
def written():
    """Write the page of a run."""

    def write(path, run):
        write_report(
            path, run.record, run.samples, run.model,
            summary=[("samples", "some"), ("written", "a\nb")],
            command='enhg cluster "a b" -k 3',
        )  # fmt: skip
        return path

    return write


@pytest.fixture(scope="session")
def data_of():
    """The data inside a page."""

    def read(path):
        text = path.read_text(encoding="utf-8")
        return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])

    return read


@pytest.fixture(scope="session")
def digits(fitted):
    X, y = load_digits(n_class=4, return_X_y=True)
    names = [NASTY, *(f"digit {i}.png" for i in range(1, len(X)))]
    samples = Samples(X.astype(np.uint8), names, (8, 8), y, Path("some/digits.npy"))
    return fitted(samples, 4)


@pytest.fixture(scope="session")
def page(digits, written, tmp_path_factory):
    return written(tmp_path_factory.mktemp("page") / "report.html", digits)
