"""Runs, their pages and the data of these."""

import hashlib
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import load_digits

from enhg import ElasticNetHypergraph, HypergraphClassifier, HypergraphClustering
from enhg.io import Samples
from enhg.io._base import Photos
from enhg.report import write_report
from enhg.run import record_classification, record_clustering, record_prediction

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

    def write(path, run, **options):
        write_report(
            path, run.record, run.samples, run.model,
            summary=[("samples", "some"), ("written", "a\nb")],
            command='enhg cluster "a b" -k 3',
            **options,
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


HUES = np.array([[200, 40, 40], [40, 180, 60], [40, 60, 200]])
SIZES = [(400, 300), (300, 400), (40, 30), (90, 90), (1600, 200)]


@pytest.fixture(scope="session")
def photographs():
    """Make samples of photographs of three hues, of several sizes, with the names given."""

    def make(names):
        rng = np.random.default_rng(0)
        y = np.arange(len(names)) % 3
        X = HUES[y].repeat(16, axis=0).reshape(len(y), -1) + rng.normal(0, 25, (len(y), 48))
        sizes = [SIZES[i % len(SIZES)] for i in range(len(names))]
        thumbnails = []
        for row, size in zip(np.clip(X, 0, 255).astype(np.uint8), sizes, strict=True):
            image = Image.fromarray(row.reshape(4, 4, 3)).resize(size)
            image.thumbnail((160, 160))
            stream = io.BytesIO()
            image.save(stream, "jpeg")
            thumbnails.append(stream.getvalue())
        photos = Photos(
            [Path(name) for name in names],
            thumbnails,
            [hashlib.sha256(thumbnail).hexdigest() for thumbnail in thumbnails],
            sizes,
        )
        labels = np.array(["red", "green", "blue"])[y]
        return Samples(X, names, None, labels, Path("holidays"), photos)

    return make


@pytest.fixture(scope="session")
def predicted():
    """Record the prediction for samples by the model of a run."""

    def predict(samples, run):
        record = record_prediction(samples, run.model, run.model.predict_with_scores(samples.X))
        return SimpleNamespace(samples=samples, model=None, record=record)

    return predict


@pytest.fixture
def opened(browser, page):
    """The page in a window of some width; in the end nothing may be in the console."""

    def opened(width=1280, path=page):
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        browser.get(path.as_uri())
        return browser

    yield opened
    assert browser.get_log("browser") == []


@pytest.fixture(scope="session")
def text():
    """The text of an element."""

    def read(browser, selector):
        return browser.find_element("css selector", selector).text

    return read
