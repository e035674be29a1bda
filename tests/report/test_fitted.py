"""Samples of a model that are similar to new samples."""

import os
import shutil
import zlib
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from enhg import HypergraphClassifier, HypergraphClustering, L1Hypergraph, save_model
from enhg.io.models import read_model
from enhg.report import _similar
from enhg.report._fitted import find_fitted
from enhg.run import record_prediction

N = 60


@pytest.fixture(scope="module")
def album(photographs, fitted):
    return fitted(photographs([f"trip/{i:02}.jpg" for i in range(N)]), 3)


@pytest.fixture(scope="module")
def folder(album, written, tmp_path_factory):
    """The folder of the run: page, photographs and model."""
    folder = tmp_path_factory.mktemp("run")
    written(folder / "report.html", album)
    samples = album.samples
    save_model(
        album.model, folder / "model.npz", image_shape=(4, 4, 3), names=samples.names,
        thumbnails=samples.photos.thumbnails,
    )  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def new(album):
    """The images of the model in reverse order, a little changed."""
    rng = np.random.default_rng(1)
    samples = album.samples
    photos = replace(
        samples.photos,
        thumbnails=samples.photos.thumbnails[::-1],
        sizes=samples.photos.sizes[::-1],
    )
    X = samples.X[::-1] + rng.normal(0, 0.1, samples.X.shape)
    names = [f"new {i}.jpg" for i in range(N)]
    return replace(samples, X=X, names=names, photos=photos, labels=None)


def of_height_and_width(side, jpeg):
    """A JPEG file whose header states another size."""
    at = jpeg.index(b"\xff\xc0") + 5  # start of the frame: marker, length, bits, height, width
    return jpeg[:at] + 2 * side.to_bytes(2, "big") + jpeg[at + 4 :]


def predicted_page(path, saved, samples, written):
    prediction = saved.model.predict_with_scores(samples.X)
    record = record_prediction(samples, saved.model, prediction)
    path.parent.mkdir(exist_ok=True)
    return written(path, SimpleNamespace(record=record, samples=samples, model=saved))


def test_a_new_image_is_most_similar_to_the_one_that_it_was_made_of(album, folder, new):
    fitted = find_fitted(read_model(folder / "model.npz"), new, np.arange(N))
    labels = album.model.labels_
    for i, similar in enumerate(fitted.similar):
        assert len(set(similar)) == 12
        first = similar[0]
        assert fitted.names[first] == f"trip/{N - 1 - i:02}.jpg"
        assert fitted.labels[first] == str(labels[N - 1 - i])
    some = find_fitted(read_model(folder / "model.npz"), new, np.array([7, 3]))
    assert [some.names[similar[0]] for similar in some.similar] == ["trip/52.jpg", "trip/56.jpg"]
    assert len(some.names) <= 24


def test_photographs_of_the_run_are_beside_the_page(album, folder, new, tmp_path, written, data_of):
    path = predicted_page(tmp_path / "report.html", read_model(folder / "model.npz"), new, written)
    data = data_of(path)["fitted"]
    photos = album.samples.photos
    row = {name: at for at, name in enumerate(album.samples.names)}
    for at, name in enumerate(data["name"]):
        picture = (tmp_path / "thumbnails" / f"fitted-{at:06}.jpg").read_bytes()
        assert picture == photos.thumbnails[row[name]]
        assert max(data["sizes"][2 * at : 2 * at + 2]) <= 160
    assert data["tiles"] is None
    assert len(list((tmp_path / "thumbnails").glob("fitted-*"))) == len(data["name"])
    assert len(list((tmp_path / "thumbnails").glob("0*"))) == N


FIFO = pytest.param(
    "fifo", marks=pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFOs")
)


@pytest.mark.parametrize(
    "change",
    ["absent", "of another run", "no image", "no checksums", FIFO, "too large", "forged"],
)
def test_only_photographs_of_the_run_are_shown(folder, new, tmp_path, change):
    shutil.copytree(folder, tmp_path / "run")
    saved = read_model(tmp_path / "run" / "model.npz")
    thumbnails = tmp_path / "run" / "thumbnails"
    if change == "absent":
        shutil.rmtree(thumbnails)
    elif change == "no checksums":
        saved = replace(saved, checksums=None)
    elif change == "fifo":  # which a reader would wait for
        (thumbnails / "000009.jpg").unlink()
        os.mkfifo(thumbnails / "000009.jpg")
    elif change in {"too large", "forged"}:
        data = of_height_and_width(0xFFFF, (thumbnails / "000009.jpg").read_bytes())
        (thumbnails / "000009.jpg").write_bytes(data)
        if change == "forged":
            saved.checksums[9] = zlib.crc32(data)
    else:
        other = (thumbnails / "000001.jpg").read_bytes()
        (thumbnails / "000009.jpg").write_bytes(other if change == "of another run" else b"text")
    fitted = find_fitted(saved, new, np.arange(N))
    assert fitted.thumbnails == []
    assert set(fitted.pictures.sheets) == {"sample"}  # the pixels in the model
    names_only = find_fitted(replace(saved, image_shape=None), new, np.arange(N))
    assert (names_only.thumbnails, names_only.pictures) == ([], None)


def test_model_without_names_and_samples_without_photographs(folder, new):
    saved = replace(read_model(folder / "model.npz"), names=None)
    fitted = find_fitted(saved, replace(new, photos=None), np.arange(N))
    assert fitted.names[fitted.similar[0][0]] == str(N - 1)
    assert fitted.thumbnails == []


def test_too_many_pairs_are_not_compared(folder, new, monkeypatch, tmp_path, written, data_of):
    monkeypatch.setattr(_similar, "_MOST_COMPARED", 10)
    saved = read_model(folder / "model.npz")
    assert find_fitted(saved, new, np.arange(N)) is None
    assert data_of(predicted_page(tmp_path / "r.html", saved, new, written))["fitted"] is None


@pytest.mark.parametrize("kind", ["classes", "lasso"])
def test_other_models(album, new, tmp_path, written, data_of, kind):
    samples = album.samples
    if kind == "classes":
        given = np.where(np.arange(N) % 4 == 0, samples.labels, "")
        model = HypergraphClassifier().fit(samples.X, given)
    else:
        model = HypergraphClustering(3, structure=L1Hypergraph(), random_state=0).fit(samples.X)
    save_model(model, tmp_path / "model.npz", names=samples.names)
    saved = read_model(tmp_path / "model.npz")
    data = data_of(predicted_page(tmp_path / "report.html", saved, new, written))
    first = [similar[0] for similar in data["fitted"]["similar"]]
    assert [data["fitted"]["name"][at] for at in first] == samples.names[::-1]
    fitted = model.transduction_ if kind == "classes" else model.labels_.astype(str)
    groups = [data["groups"][data["fitted"]["group"][at]]["name"] for at in first]
    assert groups == fitted[::-1].tolist()


@pytest.mark.parametrize("kind", ["photographs", "images", "vectors"])
def test_panel_of_a_new_image(kind, opened, folder, new, tmp_path, written, text):
    saved = read_model(folder / "model.npz")
    if kind != "photographs":
        shape = (4, 4, 3) if kind == "images" else None
        new = replace(new, photos=None, image_shape=shape)
        saved = replace(saved, image_shape=shape)
    path = predicted_page(tmp_path / "report.html", saved, new, written)
    for width in (1280, 390):
        browser = opened(width, path)
        assert "similar ones" in text(browser, "#order")
        browser.execute_script("panel.open(5, null, document.querySelector('#sheets .thumb'))")
        noun = "samples" if kind == "vectors" else "images"
        assert f"Similar {noun} of the model" in text(browser, "#panel")
        entries = browser.find_elements("css selector", "#panel .fitted-list li")
        assert len(entries) == 12
        cluster = saved.model.labels_[N - 6]
        assert entries[0].text == f"trip/{N - 6}.jpg\nCluster {cluster}"
        pictures = browser.execute_script("""
          return [...document.querySelectorAll("#panel .fitted-list :is(.photo, .picture)")]
            .map((picture) => picture.getBoundingClientRect().width);
        """)
        assert len(pictures) == (0 if kind == "vectors" else 12)
        assert all(across > 15 for across in pictures)
        if kind == "photographs":
            first = "document.querySelector('#panel .fitted-list img')"
            assert browser.execute_script(f"return {first}.decode().then(() => true)")
        wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert browser.execute_script(wide) == 0
