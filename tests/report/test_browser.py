"""The page in a browser."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from enhg.io import Samples
from enhg.report import _selection as selection


@pytest.mark.parametrize("width", [1280, 390])
def test_opens_and_fits(opened, width, digits, text):
    browser = opened(width)
    assert text(browser, "h1") == "digits.npy"
    assert str(len(digits.samples.X)) in text(browser, "#lead")
    assert len(browser.find_elements("css selector", ".sheet")) == 4
    assert "something <i>odd</i>" in text(browser, "#warnings")
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(wide) == 0
    browser.find_element("css selector", ".thumb").click()
    assert browser.execute_script(wide) == 0


def test_one_image(opened, digits, predicted, written, text, tmp_path):
    samples = replace(digits.samples, X=digits.samples.X[:1], names=["new.png"], labels=None)
    browser = opened(path=written(tmp_path / "one.html", predicted(samples, digits)))
    assert text(browser, "#lead") == "Prediction: 1 image of 8×8 pixels in 4 clusters"


def test_panel_shows_the_hyperedge(opened, digits, text):
    samples, model, structure = digits.samples, digits.model, digits.structure
    browser = opened()
    thumb = browser.find_element("css selector", "#sheets .thumb")
    i = int(thumb.get_attribute("data-sample"))
    thumb.click()
    assert text(browser, "#panel h2") == samples.names[i]
    assert browser.find_elements("css selector", "#panel .grid .thumb")
    assert not browser.find_element("css selector", "#panel .parts").is_displayed()
    browser.find_element("css selector", "#panel summary").click()
    Z = structure.representation_.coefficients[[i]].toarray()[0]
    largest = Z[np.argmax(np.abs(Z))]
    assert f"{largest:+.3f}".replace("-", "−") in text(browser, "#panel .parts")
    facts = text(browser, "#panel details .facts").split("\n")
    shown = float(facts[facts.index("Confidence") + 1])
    assert shown == pytest.approx(model.confidence_[i], abs=0.0051)
    assert f"{structure.relative_residuals_[i]:.0%}".replace("%", "") in text(browser, "#panel")
    member = browser.find_element("css selector", "#panel .parts .thumb")
    j = int(member.get_attribute("data-sample"))
    member.click()
    assert text(browser, "#panel h2") == samples.names[j]
    browser.find_element("css selector", "#panel [aria-label=Back]").click()
    assert text(browser, "#panel h2") == samples.names[i]
    assert len(browser.find_elements("css selector", "#panel .triple .picture")) == 3


def test_percentages_below_all(opened):
    shown = opened().execute_script("return [0.0042, 0.42, 0.9949, 0.9951, 0.9999, 1].map(percent)")
    assert [text.replace("\u202f", " ") for text in shown] == [
        "0.4 %", "42 %", "99 %", "over 99 %", "over 99 %", "100 %",
    ]  # fmt: skip


def test_keyboard(opened, digits, text, press):
    samples, model = digits.samples, digits.model
    browser = opened()
    order = np.argsort(-model.confidence_.round(4), kind="stable")
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


def appears(browser, selector):
    """Wait until an element is displayed: the page reacts to a key in its next frame."""
    from selenium.webdriver.support.ui import WebDriverWait

    element = browser.find_element("css selector", selector)
    return WebDriverWait(browser, 10).until(lambda _: element.is_displayed())


def test_map_hovers_and_selects(opened, digits, text, press):
    samples = digits.samples
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
    browser.execute_script("resize()")  # as the page does after the panel is closed
    assert appears(browser, "#tip")
    press(browser, "ENTER")
    assert appears(browser, "#panel")
    for way in ("truth", "confidence", "group"):
        browser.find_element("css selector", f"[data-way={way}]").click()


def test_all_of_a_cluster_and_a_cell(opened, digits):
    browser = opened()
    shown = len(browser.find_elements("css selector", "#group-1 .thumb"))
    browser.find_element("css selector", "#group-1 header button").click()
    count = int((digits.model.labels_ == 1).sum())
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


def test_page_with_some_of_the_samples(opened, digits, tmp_path, monkeypatch, written, text):
    samples = digits.samples
    monkeypatch.setattr(selection, "MOST_PICTURED", 100)
    monkeypatch.setattr(selection, "_MOST_EXTREME", 10)
    path = written(tmp_path / "report.html", digits)
    browser = opened(path=path)
    assert text(browser, "#sampling").startswith(f"100 of {len(samples.X)} images are on this page")
    browser.execute_script("panel.open(arguments[0], null, map.canvas)", len(samples.X) - 1)
    assert "not on this page" in text(browser, "#panel")


@pytest.mark.parametrize("kind", ["vectors", "colors", "many", "one", "two", "classes"])
def test_other_kinds_of_runs(opened, kind, tmp_path, fitted, written, text):
    rng = np.random.default_rng(0)
    k = {"many": 200, "one": 1, "two": 1}.get(kind, 3)
    n = {"many": 600, "two": 2}.get(kind, 90)
    y = np.arange(n) % k
    X = rng.normal(size=(k, 60))[y] * 3 + rng.normal(size=(n, 60))
    shape = {"colors": (4, 5, 3), "vectors": None}.get(kind, (6, 10))
    samples = Samples(X, [f"name {i}" for i in range(n)], shape, y, Path("x.npy"))
    given = np.where(np.arange(n) < 15, y.astype(str), "") if kind == "classes" else None
    path = written(tmp_path / "r.html", fitted(samples, k, given))
    for width in (1280, 390):
        browser = opened(width, path)
        browser.find_element("css selector", ".thumb").click()
        assert text(browser, "#panel h2").startswith("name ")
    assert bool(browser.find_elements("css selector", "#count")) == (kind != "classes")
