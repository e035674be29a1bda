"""The report: what the page says, and that it works in a browser."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_digits

from enhg import (
    ElasticNetHypergraph,
    HypergraphClassifier,
    HypergraphClustering,
    clustering_accuracy,
)
from enhg.io import Samples
from enhg.report import _selection as selection
from enhg.report import write_report
from enhg.report._layout import lay_out
from enhg.report._pictures import pictures_of
from enhg.report._results import in_natural_order, results_of

NASTY = "</script><b>bold</b>&amp;\udcff.png"


def fitted(X, n_clusters=3, given=None):
    structure = ElasticNetHypergraph().fit(X)
    if given is None:
        model = HypergraphClustering(n_clusters, structure=structure.graph_, random_state=0).fit(X)
    else:
        model = HypergraphClassifier(structure=structure.graph_).fit(X, given)
    return model, structure


def written(path, samples, model, structure, **changes):
    told = {
        "stages": [("read", 0.2), ("represent", 1.5)],
        "warnings": ["something <i>odd</i>"],
        "summary": [("samples", "some"), ("written", "a\nb")],
        "command": 'enhg cluster "a b" -k 3',
    }
    write_report(path, samples, model, structure, **(told | changes))
    return path


def data_of(path):
    text = path.read_text(encoding="utf-8")
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(n_class=4, return_X_y=True)
    names = [NASTY, *(f"digit {i}.png" for i in range(1, len(X)))]
    samples = Samples(X.astype(np.uint8), names, (8, 8), y, Path("some/digits.npy"))
    return samples, *fitted(samples.X, 4)


@pytest.fixture(scope="module")
def page(digits, tmp_path_factory):
    return written(tmp_path_factory.mktemp("page") / "report.html", *digits)


# --- what is written -------------------------------------------------------------------------


def test_names_cannot_leave_their_place(page):
    text = page.read_text(encoding="utf-8")
    assert "<b>bold" not in text
    assert "<i>odd" not in text
    assert text.count("</script>") == 2
    assert data_of(page)["samples"]["name"][0] == NASTY


def test_nothing_comes_from_elsewhere(page):
    text = page.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert "unsafe" not in text
    assert set(re.findall(r"https?://[^\s\"'`]+", text)) == {"http://www.w3.org/2000/svg"}
    assert set(re.findall(r"url\(\"(.{11})", text)) == {"data:image/"}
    assert not re.search(r"<[^>]+\son\w+=", text)


def test_numbers_are_those_of_the_model(page, digits):
    samples, model, structure = digits
    data = data_of(page)
    assert data["total"] == data["pictured"] == len(samples.X)
    assert data["samples"]["group"] == model.labels_.tolist()
    np.testing.assert_allclose(data["samples"]["confidence"], 1000 * model.confidence_, atol=0.5)
    assert [group["count"] for group in data["groups"]] == np.bincount(model.labels_).tolist()
    assert data["scores"][0] == ["AC", clustering_accuracy(samples.labels, model.labels_)]
    assert np.sum(data["confusion"]["table"]) == len(samples.X)
    assert np.trace(data["confusion"]["table"]) / len(samples.X) == data["scores"][0][1]
    Z = structure.representation_.coefficients.toarray()
    for i in (0, 100):
        count, *flat = data["edges"]["rebuilders"][i]
        others, values = np.array(flat[::2], int), flat[1::2]
        assert count == len(others) == 10
        np.testing.assert_allclose(values, Z[i, others], atol=5e-5)
        for j in others:
            listed = data["edges"]["rebuilds"][j]
            assert i in listed[1::2] or listed[0] > 24


def test_truth_is_not_needed(digits, tmp_path):
    samples, model, structure = digits
    blind = Samples(samples.X, samples.names, samples.image_shape, None, samples.source)
    data = data_of(written(tmp_path / "r.html", blind, model, structure))
    assert data["scores"] == []
    assert data["confusion"] is None


def test_classes_given_and_unreached(tmp_path, union_of_subspaces):
    X, y = union_of_subspaces(0)
    truth = np.array(["été", "日本", "10", "9"])[y]
    given = np.where((np.arange(len(y)) % 4 == 0) & (y != 3), truth, "")
    with pytest.warns(UserWarning, match="no label reaches"):
        model, structure = fitted(X, given=given)
    samples = Samples(X, [str(i) for i in range(len(y))], None, truth, Path("x.npy"))
    data = data_of(written(tmp_path / "r.html", samples, model, structure, given=given))
    assert [group["name"] for group in data["groups"]] == ["10", "été", "日本", ""]
    assert sum(group["given"] for group in data["groups"]) == (given != "").sum()
    assert data["scores"] == [["accuracy", np.mean((model.transduction_ == truth)[given == ""])]]
    assert np.sum(data["confusion"]["table"]) == (given == "").sum()


def test_written_whole_or_not_at_all(digits, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("before")

    def fail(self, target):
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="disk full"):
        written(path, *digits)
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.parametrize(("n", "k"), [(2, 1), (2, 2), (30, 1)])
@pytest.mark.parametrize("shape", [None, (4, 5)])
def test_small_runs(n, k, shape, tmp_path):
    X = np.random.default_rng(0).normal(size=(n, 20))
    samples = Samples(X, [str(i) for i in range(n)], shape, None, Path("x.npy"))
    data = data_of(written(tmp_path / "r.html", samples, *fitted(X, k)))
    assert len(data["samples"]["x"]) == n
    assert len(data["groups"]) == k


def test_an_estimate_is_told(digits, tmp_path):
    samples, model, structure = digits
    estimate = SimpleNamespace(
        best=4,
        runner_up=2,
        sure=False,
        values=np.array([1, 0.9, 0.5]),
        scores=np.array([0, np.nan]),
    )
    model = HypergraphClustering(4, structure=structure.graph_, random_state=0).fit(samples.X)
    model.cluster_count_ = estimate
    data = data_of(written(tmp_path / "r.html", samples, model, structure))
    assert data["estimate"] == {
        "best": 4, "runnerUp": 2, "sure": False, "values": [1, 0.9, 0.5], "scores": [0, None],
    }  # fmt: skip


# --- its parts --------------------------------------------------------------------------------


def test_natural_order():
    assert in_natural_order({"b", "a10", "a9", "", "10", "9"}) == ["9", "10", "a9", "a10", "b", ""]


def test_selection_is_bounded_and_holds_what_matters(digits, monkeypatch):
    samples, model, structure = digits
    monkeypatch.setattr(selection, "MOST_PICTURED", 300)
    monkeypatch.setattr(selection, "_STRANGEST", 20)
    chosen = selection.select(results_of(model, structure, samples.labels, None), structure)
    assert len(chosen.pictured) == 300
    np.testing.assert_array_equal(np.sort(chosen.rows), np.arange(len(samples.X)))
    assert set(np.argsort(-structure.outlier_scores_, kind="stable")[:20]) <= set(chosen.pictured)
    for group in range(4):
        inside = np.flatnonzero(model.labels_ == group)
        by_confidence = inside[np.argsort(model.confidence_[inside], kind="stable")]
        assert {by_confidence[0], by_confidence[-1]} <= set(chosen.pictured)


def test_numbers_are_bounded_too(digits, monkeypatch):
    samples, model, structure = digits
    monkeypatch.setattr(selection, "MOST_PICTURED", 50)
    monkeypatch.setattr(selection, "_STRANGEST", 5)
    monkeypatch.setattr(selection, "_MOST_NUMBERED", 400)
    chosen = selection.select(results_of(model, structure, samples.labels, None), structure)
    assert len(chosen.rows) == len(set(chosen.rows)) == 400
    assert set(chosen.members[chosen.pictured].indices) <= set(chosen.rows)


def test_map_keeps_neighbors_together():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(6), 50)
    points = rng.normal(size=(6, 10))[group] * 5 + rng.normal(size=(300, 10))
    place = lay_out(points)
    assert place.shape == (300, 2)
    assert place.min() >= 0
    assert place.max() <= 1
    nearest = ((place[:, None] - place[None]) ** 2).sum(axis=2)
    np.fill_diagonal(nearest, np.inf)
    assert (group[nearest.argmin(axis=1)] == group).mean() > 0.95


@pytest.mark.parametrize(
    ("shape", "tile"),
    [((8, 8), (8, 8)), ((200, 100), (64, 32)), ((6, 9, 3), (6, 9)), ((6, 9, 2), (6, 9))],
)
def test_tiles(shape, tile):
    from base64 import b64decode
    from io import BytesIO

    from PIL import Image

    X = np.random.default_rng(0).integers(0, 256, size=(12, np.prod(shape)), dtype=np.uint8)
    samples = Samples(X, [str(i) for i in range(12)], shape, None, Path("x.npy"))
    pictures = pictures_of(samples, ElasticNetHypergraph().fit(X), np.arange(12))
    assert pictures.tile == tile
    sheet = Image.open(BytesIO(b64decode(pictures.sheets["image"].partition(",")[2])))
    assert sheet.mode == ("RGB" if shape[2:] == (3,) else "L")
    height, width = tile
    i, j = divmod(7, pictures.columns)
    cut = np.asarray(sheet)[i * height : (i + 1) * height, j * width : (j + 1) * width]
    if shape[:2] == tile and shape[2:] != (2,):
        span = float(X.max()) - float(X.min())
        np.testing.assert_allclose(
            cut, (X[7].reshape(shape) - float(X.min())) * 255 / span, atol=0.6
        )


# --- in a browser -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in programs:
        pytest.skip("chromium and chromedriver are not installed")
    options = webdriver.ChromeOptions()
    options.binary_location = programs[0]
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    for flag in (
        "headless=new", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run",
        "disable-background-networking", "disable-component-update", "disable-sync",
        "force-prefers-reduced-motion",
        f"user-data-dir={tmp_path_factory.mktemp('chromium')}",
    ):  # fmt: skip
        options.add_argument(f"--{flag}")
    driver = webdriver.Chrome(options, webdriver.ChromeService(programs[1]))
    yield driver
    driver.quit()


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


def text(browser, selector):
    return browser.find_element("css selector", selector).text


def press(browser, *keys):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    ActionChains(browser).send_keys(*(getattr(Keys, key) for key in keys)).perform()


@pytest.mark.parametrize("width", [1280, 390])
def test_opens_and_fits(opened, width, digits):
    browser = opened(width)
    assert text(browser, "h1") == "digits.npy"
    assert str(len(digits[0].X)) in text(browser, "#figures")
    assert len(browser.find_elements("css selector", ".sheet")) == 4
    assert "something <i>odd</i>" in text(browser, "#warnings")
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(wide) == 0
    browser.find_element("css selector", ".thumb").click()
    assert browser.execute_script(wide) == 0


def test_panel_tells_the_hyperedge(opened, digits):
    samples, model, structure = digits
    browser = opened()
    thumb = browser.find_element("css selector", "#sheets .thumb")
    i = int(thumb.get_attribute("data-sample"))
    thumb.click()
    assert text(browser, "#panel h2") == samples.names[i]
    Z = structure.representation_.coefficients[[i]].toarray()[0]
    largest = Z[np.argmax(np.abs(Z))]
    assert f"{largest:+.3f}".replace("-", "−") in text(browser, "#panel .parts")
    assert f"{model.confidence_[i]:.2f}" in text(browser, "#panel .facts")
    rebuilder = browser.find_element("css selector", "#panel .parts .thumb")
    j = int(rebuilder.get_attribute("data-sample"))
    rebuilder.click()
    assert text(browser, "#panel h2") == samples.names[j]
    browser.find_element("css selector", "#panel [aria-label=Back]").click()
    assert text(browser, "#panel h2") == samples.names[i]
    assert len(browser.find_elements("css selector", "#panel .three .picture")) == 3


def test_keyboard(opened, digits):
    samples, model, _ = digits
    browser = opened()
    order = np.argsort(-np.rint(1000 * model.confidence_), kind="stable")
    first = [samples.names[i] for i in order if model.labels_[i] == 0]
    browser.execute_script("document.querySelector('#sheets .thumb').focus()")
    press(browser, "ARROW_RIGHT", "ENTER")
    assert text(browser, "#panel h2") == first[1]
    press(browser, "ARROW_RIGHT")
    assert text(browser, "#panel h2") == first[2]
    press(browser, "ARROW_LEFT", "ARROW_LEFT")
    assert text(browser, "#panel h2") == first[0]
    press(browser, "ESCAPE")
    assert not browser.find_element("css selector", "#panel").is_displayed()
    assert browser.execute_script("return document.activeElement.title") == first[1]


def test_map_hovers_and_selects(opened, digits):
    samples, *_ = digits
    browser = opened()
    browser.execute_script("document.getElementById('plane').scrollIntoView({block: 'center'})")
    browser.execute_script("""
      const box = map.canvas.getBoundingClientRect();
      for (const kind of ["pointermove", "click"]) map.canvas.dispatchEvent(new PointerEvent(kind,
        {clientX: box.x + 1 + map.x[40], clientY: box.y + 1 + map.y[40], bubbles: true}));
    """)
    name = text(browser, "#panel h2")
    row = samples.names.index(name)
    data = browser.execute_script("return [map.x[arguments[0]] - map.x[40], "
                                  "map.y[arguments[0]] - map.y[40]]", row)  # fmt: skip
    assert np.hypot(*data) < 2
    press(browser, "ESCAPE")
    press(browser, "ARROW_RIGHT")
    assert browser.find_element("css selector", "#tip").is_displayed()
    press(browser, "ENTER")
    assert browser.find_element("css selector", "#panel").is_displayed()
    for way in ("truth", "confidence", "group"):
        browser.find_element("css selector", f"[data-way={way}]").click()


def test_all_of_a_cluster_and_a_cell(opened, digits):
    browser = opened()
    shown = len(browser.find_elements("css selector", "#group-1 .thumb"))
    browser.find_element("css selector", "#group-1 header button").click()
    count = int((digits[1].labels_ == 1).sum())
    assert shown < len(browser.find_elements("css selector", "#group-1 .thumb")) == count
    cell = browser.find_element("css selector", "#table td button")
    browser.execute_script("arguments[0].click()", cell)
    assert browser.find_elements("css selector", "#cell .thumb")


def test_theme(opened):
    browser = opened()
    ground = "return getComputedStyle(document.documentElement).backgroundColor"
    before = browser.execute_script(ground)
    browser.find_element("css selector", "#theme").click()
    assert browser.execute_script(ground) != before


def test_a_part_of_many(opened, digits, tmp_path, monkeypatch):
    samples, model, structure = digits
    monkeypatch.setattr(selection, "MOST_PICTURED", 100)
    monkeypatch.setattr(selection, "_STRANGEST", 10)
    path = written(tmp_path / "report.html", samples, model, structure)
    browser = opened(path=path)
    assert text(browser, "#sampling").startswith(f"100 of {len(samples.X)} images are on this page")
    browser.execute_script("panel.open(arguments[0], null, map.canvas)", len(samples.X) - 1)
    assert "not on this page" in text(browser, "#panel")


@pytest.mark.parametrize("kind", ["vectors", "colors", "many", "one", "two", "classes"])
def test_other_kinds_of_runs(opened, kind, tmp_path):
    rng = np.random.default_rng(0)
    k = {"many": 200, "one": 1, "two": 1}.get(kind, 3)
    n = {"many": 600, "two": 2}.get(kind, 90)
    y = np.arange(n) % k
    X = rng.normal(size=(k, 60))[y] * 3 + rng.normal(size=(n, 60))
    shape = {"colors": (4, 5, 3), "vectors": None}.get(kind, (6, 10))
    samples = Samples(X, [f"name {i}" for i in range(n)], shape, y, Path("x.npy"))
    given = np.where(np.arange(n) < 15, y.astype(str), "") if kind == "classes" else None
    path = written(tmp_path / "r.html", samples, *fitted(X, k, given), given=given)
    for width in (1280, 390):
        browser = opened(width, path)
        browser.find_element("css selector", ".thumb").click()
        assert text(browser, "#panel h2").startswith("name ")
