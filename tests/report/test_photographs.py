"""The page of photographs as files."""

import os
import re
from dataclasses import replace
from io import BytesIO
from types import SimpleNamespace
from urllib.parse import unquote_to_bytes, urljoin, urlsplit

import numpy as np
import pytest
from PIL import Image

from enhg.duplicates import DuplicateGroup
from enhg.io._base import Skipped
from enhg.report import _page
from enhg.report import _selection as selection
from enhg.report._text import shown

HOSTILE = [
    "<script>document.title = 1</script>.jpg",
    '"><img src=x onerror="document.title = 1">.jpg',
    "' onload='document.title = 1.jpg",
    "javascript:document.title=1",
    "photo-\u202egpj.exe",
    "a\u2066b\u200fc.jpg",
    "long/" + 4000 * "n" + ".jpg",
    "not-\udcffunicode.jpg",
    "line\nbreak\x00\x07.jpg",
    "{{script}}</title></style>.jpg",
    "-->]]>&lt;&#60;.jpg",
    "été/日本/😀.jpg",
]


@pytest.fixture(scope="session")
def album(photographs, fitted):
    return fitted(photographs([*HOSTILE, *(f"trip/{i:02}.jpg" for i in range(48))]), 3)


def test_thumbnails_are_files_beside_the_page(album, tmp_path, written, data_of):
    path = written(tmp_path / "report.html", album)
    files = sorted((tmp_path / "thumbnails").iterdir())
    assert [file.name for file in files] == [f"{i:06}.jpg" for i in range(60)]
    photos = album.samples.photos
    assert [file.read_bytes() for file in files] == photos.thumbnails
    assert Image.open(BytesIO(files[4].read_bytes())).size == (160, 20)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["report.html", "thumbnails"]
    data = data_of(path)
    assert data["sizes"] == np.array(photos.sizes).ravel().tolist()
    assert data["pictured"] == data["total"] == 60
    assert data["tiles"] is None
    assert "data:image" not in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("out", ["out", "photos/#1 out?", "other/out"])
def test_originals_are_linked_from_the_final_folder(
    photographs, fitted, tmp_path, written, data_of, out
):
    names = [
        "a b/100%.jpg",
        "a b/#1?.jpg",
        "javascript:x.jpg",
        "\udcff.jpg",
        "été/😀.jpg",
        "%41.jpg",
    ]
    samples = photographs([*names, *(f"{i}.jpg" for i in range(24))])
    files = [tmp_path / "photos" / name for name in samples.names]
    run = fitted(replace(samples, photos=replace(samples.photos, files=files)))
    folder = tmp_path / ".temporary"
    folder.mkdir()
    path = written(folder / "report.html", run, out=tmp_path / out)
    page = (tmp_path / out / "report.html").as_uri()
    urls = [urlsplit(urljoin(page, url)) for url in data_of(path)["originals"]]
    assert [os.fsdecode(unquote_to_bytes(url.path)) for url in urls] == [*map(str, files)]
    assert {(url.scheme, url.query, url.fragment) for url in urls} == {("file", "", "")}


def test_policy_allows_images_of_the_page_only(album, page, tmp_path, written):
    text = written(tmp_path / "report.html", album).read_text(encoding="utf-8")
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert directives["img-src"] == "data: 'self' file:"
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "img-src data:;" in page.read_text(encoding="utf-8")


def test_hostile_names_are_text(album, tmp_path, written, data_of):
    samples = replace(album.samples, skipped=tuple(Skipped(name, name) for name in HOSTILE))
    run = SimpleNamespace(samples=samples, model=album.model, record=album.record)
    path = written(tmp_path / "report.html", run)
    text = path.read_text(encoding="utf-8")
    assert text.count("<script") == text.count("</script>") == 2
    assert "onerror" not in re.sub(r'id="data">.*?</script>', "", text, flags=re.DOTALL)
    data = data_of(path)
    assert data["samples"]["name"][:12] == [shown(name) for name in HOSTILE]
    assert data["samples"]["name"][7] == "not-\ufffdunicode.jpg"
    assert data["samples"]["name"][11] == HOSTILE[11]
    assert data["skipped"] == [[shown(name)] * 2 for name in HOSTILE]


def test_marks_of_direction_and_controls_are_not_shown():
    assert shown("a\u202eb\u2069c\x00d\x9fe\ud800f") == "a\ufffdb\ufffdc\ufffdd\ufffde\ufffdf"
    assert shown("tab\tand\nline, 'ß' العربية 😀") == "tab\tand\nline, 'ß' العربية 😀"


def test_all_photographs_of_many_are_on_the_page(album, tmp_path, written, data_of, monkeypatch):
    monkeypatch.setattr(selection, "MOST_PICTURED", 10)
    data = data_of(written(tmp_path / "report.html", album))
    assert data["pictured"] == len(data["samples"]["name"]) == 60
    assert data["rows"] == list(range(60))
    assert len(data["edges"]["members"]) == len(data["edges"]["nearest"]) == 60


def test_of_very_many_photographs_some_are_on_the_page(
    album, tmp_path, written, data_of, monkeypatch
):
    monkeypatch.setattr(selection, "_MOST_LISTED", 20)
    data = data_of(written(tmp_path / "report.html", album))
    rows, photos = data["rows"], album.samples.photos
    assert (data["total"], data["pictured"], len(set(rows))) == (60, 20, 20)
    assert data["samples"]["name"] == [shown(album.samples.names[row]) for row in rows]
    assert data["sizes"] == [edge for row in rows for edge in photos.sizes[row]]
    assert {file.name: file.read_bytes() for file in (tmp_path / "thumbnails").iterdir()} == {
        f"{row:06}.jpg": photos.thumbnails[row] for row in rows
    }
    assert all(0 <= other < 20 for nearest in data["edges"]["nearest"] for other in nearest)


def test_pixels_have_reconstructions_unless_there_are_many(
    album, fitted, tmp_path, written, data_of, monkeypatch
):
    run = fitted(replace(album.samples, image_shape=(4, 4, 3)), 3)
    path = written(tmp_path / "report.html", run)
    assert data_of(path)["tiles"]["size"] == [4, 4]
    assert path.read_text(encoding="utf-8").count("data:image/png") == 3
    monkeypatch.setattr(_page, "MOST_PICTURED", 59)
    assert data_of(written(path, run))["tiles"] is None


def test_similar_images_are_members_then_nearest(album, tmp_path, written, data_of):
    edges = data_of(written(tmp_path / "report.html", album))["edges"]
    members = album.structure.member_coefficients_.toarray()
    X = album.structure.representation_.samples
    units = X / np.linalg.norm(X, axis=1, keepdims=True)
    for i in range(60):
        positive = np.flatnonzero(members[i] > 0)
        listed = edges["members"][i][1::2]
        assert {j for j in listed if members[i, j] > 0} == set(positive)
        cosines = units @ units[i]
        cosines[[i, *positive]] = -2
        expected = np.argsort(-cosines)[: max(12 - len(positive), 0)]
        np.testing.assert_allclose(cosines[edges["nearest"][i]], cosines[expected], atol=1e-6)


def test_suggestions_duplicates_and_ignored_files(album, tmp_path, written, data_of):
    names = album.samples.names
    groups = (
        DuplicateGroup((3, 1), (True, True), (1.0, 1.0)),
        DuplicateGroup((5, 8, 11), (True, False, False), (1.0, 0.97, 0.9)),
    )
    record = replace(album.record, suggestions=(names[20], names[7]), duplicates=groups)
    samples = replace(album.samples, n_ignored=2)
    run = SimpleNamespace(samples=samples, model=album.model, record=record)
    data = data_of(written(tmp_path / "r.html", run))
    assert data["suggestions"] == [20, 7]
    assert data["duplicates"] == [
        {"members": [[3, 1.0, "red"], [1, 1.0, "green"]], "conflict": True},
        {
            "members": [[5, 1.0, "blue"], [8, 0.97, "blue"], [11, 0.9, "blue"]],
            "conflict": False,
        },
    ]
    assert (data["skipped"], data["ignored"]) == ([], 2)
    plain = data_of(written(tmp_path / "r.html", album))
    assert plain["suggestions"] == plain["duplicates"] == plain["skipped"] == []


@pytest.mark.parametrize("kind", ["photographs", "images", "vectors", "one"])
@pytest.mark.parametrize("classes", [False, True])
def test_prediction(kind, classes, album, fitted, predicted, tmp_path, written, data_of):
    given = np.where(np.arange(60) < 24, album.samples.labels, "")
    run = fitted(album.samples, given=given) if classes else album
    rows = slice(0, 1 if kind == "one" else 30)
    new = replace(album.samples, X=album.samples.X[rows] + 1.0, names=album.samples.names[rows])
    photos = new.photos
    if kind in ("images", "vectors"):
        new = replace(new, photos=None, image_shape=(4, 4, 3) if kind == "images" else None)
    else:
        new = replace(
            new,
            photos=replace(photos, thumbnails=photos.thumbnails[rows], sizes=photos.sizes[rows]),
        )
    new = replace(new, labels=None)
    prediction = predicted(new, run)
    path = written(tmp_path / "report.html", prediction)
    data = data_of(path)
    assert data["run"] == "predict"
    assert data["edges"] is data["eigenvalues"] is data["structure"] is None
    assert (data["confusion"] is None) == (kind != "photographs")  # some have sub-folders
    assert data["samples"]["x"] is data["samples"]["boundary"] is None
    names = [group["name"] for group in data["groups"]]
    labels = prediction.record.samples.labels
    assert [names[group] for group in data["samples"]["group"]] == [str(name) for name in labels]
    sheets = path.read_text(encoding="utf-8").count("data:image/png")
    assert sheets == (1 if kind in ("images", "vectors") else 0)
