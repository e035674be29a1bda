"""The page of photographs in a browser."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from enhg.duplicates import DuplicateGroup
from enhg.io._base import Skipped
from enhg.report._text import shown
from enhg.run import record_clustering

HOSTILE = [
    "<script>document.title = 1</script>.jpg",
    '"><img src=x onerror="document.title = 1">.jpg',
    "javascript:document.title=1",
    "photo-\u202egpj.exe",
    "long/" + 4000 * "n" + ".jpg",
    "not-\udcffunicode.jpg",
    "été/日本/😀.jpg",
]
N = 400


@pytest.fixture(scope="module")
def album(photographs, fitted):
    names = [*HOSTILE, *(f"trip {i % 7}/IMG_{i:03}.jpg" for i in range(len(HOSTILE), N))]
    run = fitted(photographs(names), 3)
    skipped = (Skipped(HOSTILE[0], "<b>damaged</b>"), Skipped("b.heic", "needs an extra"))
    run.samples = replace(run.samples, skipped=skipped, n_ignored=3)
    groups = (
        DuplicateGroup((3, 1), (True, True), (1.0, 1.0)),
        DuplicateGroup((5, 8, 11), (True, False, False), (1.0, 0.97, 0.9)),  # all of them blue
    )
    run.record = replace(run.record, suggestions=(names[30], names[11]), duplicates=groups)
    return run


@pytest.fixture(scope="module")
def report(album, written, tmp_path_factory):
    path = tmp_path_factory.mktemp("album") / "report.html"
    return written(path, album)


def shown_samples(browser, selector):
    buttons = browser.find_elements("css selector", f"{selector} [data-sample]")
    return [int(button.get_attribute("data-sample")) for button in buttons]


def wait_for(browser, script, *arguments):
    from selenium.webdriver.support.ui import WebDriverWait

    return WebDriverWait(browser, 20).until(lambda _: browser.execute_script(script, *arguments))


def clear(box):
    from selenium.webdriver.common.keys import Keys

    box.send_keys(Keys.CONTROL + "a", Keys.DELETE)


def reveal(browser, selector):
    element = browser.find_element("css selector", selector)
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
    return element


OPENERS = (
    "#matches .thumb", "#group-1 .thumb:nth-child(2)", "#group-2 .thumb", "#outliers .card",
    "#duplicates .thumb", "#plane", "#cell .thumb",
)  # fmt: skip
CLICK = """
  const frame = () => new Promise((shown) => requestAnimationFrame(shown));
  const frames = () => frame().then(frame);
  const section = document.querySelector(selector).closest("section");
  section.scrollIntoView();
  await frames();
  const element = document.querySelector(selector);
  element.scrollIntoView({ block: "center" });
  await frames();
  const onMap = element === map.canvas;
  const i = onMap ? 40 : Number(element.dataset.sample);
  const place = () => (onMap ? map.canvas.getBoundingClientRect().top + map.y[i]
    : section.querySelector(`[data-sample="${i}"]`).getBoundingClientRect().top);
  const places = [place()];
  const box = element.getBoundingClientRect();
  const at = onMap ? { clientX: box.x + 1 + map.x[i], clientY: box.y + 1 + map.y[i] } : {};
  element.dispatchEvent(new PointerEvent("click", { ...at, bubbles: true }));
  for (const act of [() => {}, () => panel.close()]) {
    act();
    await frames();
    places.push(place());
  }
  done(places);
"""


@pytest.mark.parametrize("width", [1360, 1100])
def test_what_opens_the_panel_keeps_its_place(opened, report, width):
    browser = opened(width, report)
    browser.find_element("css selector", "#query").send_keys("img_0")
    for selector in OPENERS:
        script = f"(async (selector, done) => {{{CLICK}}})(...arguments)"
        before, opened_at, closed_at = browser.execute_async_script(script, selector)
        assert abs(opened_at - before) < 3, selector
        assert abs(closed_at - before) < 3, selector


def test_the_panel_closes_when_what_opened_it_is_gone(opened, report):
    """As after another page of an opened sheet."""
    browser = opened(1360, report)
    reveal(browser, "#group-1 .thumb").click()
    assert browser.execute_script("""
      const list = panel.origin.parentElement;
      for (const button of [...list.querySelectorAll("button")]) button.remove();
      sheets.resize = () => {};
      panel.close();
      return panel.element.hidden;
    """)


def test_the_panel_below_does_not_cover_a_point(opened, report):
    browser = opened(800, report)
    place, cover = browser.execute_async_script("""
      const done = arguments[0];
      const i = map.y.indexOf(Math.max(...map.y.slice(0, data.pictured)));
      map.canvas.scrollIntoView({ block: "end", behavior: "instant" });
      map.choose(i);
      setTimeout(() => done([map.canvas.getBoundingClientRect().top + map.y[i],
        panel.element.getBoundingClientRect().top]), 300);
    """)
    assert 0 <= place < cover


@pytest.mark.parametrize("width", [1280, 390])
def test_photographs_are_shown_at_their_proportions(opened, report, text, width, album):
    browser = opened(width, report)
    image = reveal(browser, "#sheets img")
    wait_for(browser, "return arguments[0].complete && arguments[0].naturalWidth > 0", image)
    boxes = browser.execute_script("""
      return [...document.querySelectorAll("#sheets img")].map((image) => {
        const { width, height } = image.getBoundingClientRect();
        return [Number(image.closest("[data-sample]").dataset.sample), width, height,
          getComputedStyle(image).imageRendering];
      });
    """)
    for i, across, down, rendering in boxes:
        size = album.samples.photos.sizes[i]
        if across:  # rendered, not skipped by content-visibility
            assert max(across, down) >= min(128, max(size))
            assert across / down == pytest.approx(size[0] / size[1], rel=0.1)
        assert rendering == ("pixelated" if max(size) < 64 else "auto")
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(wide) == 0


def test_every_photograph_is_reached_by_turning_pages(opened, report, album):
    browser = opened(path=report)
    seen = []
    for group in range(3):
        toggle = reveal(browser, f"#group-{group} header button")
        browser.execute_script("arguments[0].click()", toggle)
        while True:
            seen += shown_samples(browser, f"#group-{group}")
            on = browser.find_element("css selector", f"#group-{group} .pages button:last-child")
            if not on.is_enabled():
                break
            browser.execute_script("arguments[0].click()", on)
    assert sorted(seen) == list(range(N))
    confidence = album.model.confidence_.round(4)
    for group in range(3):
        inside = [i for i in seen if album.model.labels_[i] == group]
        assert (np.diff(confidence[inside]) <= 0).all()


def test_arrows_go_on_to_the_next_page(opened, report, press):
    browser = opened(path=report)
    browser.execute_script("document.querySelector('#group-0 header button').click()")
    first = shown_samples(browser, "#group-0")
    browser.execute_script("[...document.querySelectorAll('#group-0 .thumb')].at(-1).focus()")
    press(browser, "ARROW_RIGHT")
    second = shown_samples(browser, "#group-0")
    active = "return Number(document.activeElement.dataset.sample)"
    assert not set(first) & set(second)
    assert browser.execute_script(active) == second[0]
    press(browser, "ARROW_LEFT")
    assert browser.execute_script(active) == first[-1]
    stops = browser.find_elements("css selector", "#group-0 .grid [tabindex='0']")
    assert len(stops) == 1


@pytest.mark.parametrize("width", [1280, 390])
def test_links_arrive_at_their_section(opened, report, width):
    """Sheets that are not drawn yet have nearly the height that they get."""
    for section in ("groups", "review", "map"):
        browser = opened(width, report)
        browser.execute_script(f"document.querySelector('a[href=\"#{section}\"]').click()")
        top = "return Math.abs(document.getElementById(arguments[0]).getBoundingClientRect().top)"
        wait_for(browser, f"{top} < 160", section)


def test_search_by_name_and_group(opened, report, album, text, press):
    browser = opened(path=report)
    box = browser.find_element("css selector", "#query")
    names, labels = album.samples.names, album.model.labels_
    box.send_keys("img_0 TRIP")
    expected = [i for i, name in enumerate(names) if "IMG_0" in name]
    assert text(browser, "#matched").startswith(f"{len(expected)} images with “img_0 TRIP”")
    assert shown_samples(browser, "#matches") == expected[:48]
    group = browser.find_element("css selector", "#within")
    group.send_keys("Cluster 2")
    inside = [i for i in expected if labels[i] == 2]
    assert text(browser, "#matched").startswith(f"{len(inside)} images with")
    assert shown_samples(browser, "#matches") == inside[:48]
    clear(box)
    assert text(browser, "#matched") == f"{(labels == 2).sum()} images in cluster 2"
    group.send_keys("All")
    clear(box)
    assert text(browser, "#matched") == ""
    box.send_keys("日本")
    press(browser, "TAB", "TAB", "ENTER")
    assert text(browser, "#panel h2") == HOSTILE[6]
    press(browser, "ESCAPE")
    clear(box)
    box.send_keys("<b>nothing")
    assert text(browser, "#matched") == "No image with “<b>nothing” in the name"
    assert shown_samples(browser, "#matches") == []


def test_hostile_names_stay_text(opened, report, text):
    browser = opened(path=report)
    title = browser.title
    for i, name in enumerate(HOSTILE):
        browser.execute_script("panel.open(arguments[0], null, map.canvas)", i)
        assert text(browser, "#panel h2") == shown(name)
        size = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert browser.execute_script(size) == 0
    assert HOSTILE[0] in text(browser, "#skipped")
    assert "<b>damaged</b>" in text(browser, "#skipped")
    assert browser.title == title
    assert browser.execute_script("return document.querySelectorAll('script').length") == 2


def test_original_and_thumbnail(opened, report, album, press):
    browser = opened(path=report)
    browser.execute_script("panel.open(9, null, map.canvas)")
    image = reveal(browser, "#panel a img")
    wait_for(browser, "return arguments[0].complete", image)
    assert browser.execute_script("return arguments[0].width <= arguments[0].naturalWidth", image)
    links = browser.find_elements("css selector", "#panel a")
    expected = album.samples.photos.files[9].resolve().as_uri()
    assert [link.get_attribute("href") for link in links] == [expected] * 2


def test_sub_folders_in_the_place_of_classes(opened, album, tmp_path, written, text):
    samples = replace(album.samples, labels=None)
    run = SimpleNamespace(
        samples=samples, model=album.model, record=record_clustering(samples, album.model)
    )
    browser = opened(path=written(tmp_path / "report.html", run))
    assert "trip 3" in text(browser, "#table")
    assert not browser.find_elements("css selector", ".wrong")
    inside = [int(name[5]) for name in samples.names if name.startswith("trip")]
    most = np.bincount(np.array(inside)[album.model.labels_[len(HOSTILE) :] == 0]).argmax()
    assert f"mostly trip {most}" in text(browser, "#group-0 header")


def test_details_and_similar_images(opened, report, album, text):
    browser = opened(path=report)
    i = 40
    browser.execute_script("panel.open(arguments[0], null, map.canvas)", i)
    members = album.structure.member_coefficients_[[i]].toarray()[0]
    first = [j for j in np.argsort(-members, kind="stable") if members[j] > 0]
    similar = shown_samples(browser, "#panel > .grid")
    assert similar[: len(first)] == first[:12]
    assert len(set(similar)) == 12
    assert i not in similar
    facts = text(browser, "#panel .facts").split("\n")
    assert facts[facts.index("Confidence") + 1] == f"{album.model.confidence_[i]:.0%}".replace(
        "%", "\u202f%"
    )
    assert "400×300 pixels" in facts
    for term in ("hyperedge", "residual", "Outlier score"):
        assert term.lower() not in text(browser, "#panel").lower()
    reveal(browser, "#panel summary").click()
    assert "Hyperedge of 10 members" in text(browser, "#panel")
    browser.execute_script("panel.open(41, null, map.canvas)")
    assert "Hyperedge" in text(browser, "#panel")


def test_technical_terms_are_behind_details(opened, report, text):
    browser = opened(path=report)
    words = text(browser, "main").lower()
    for term in ("hyper", "certificate", "eigenvalue", "component", "threshold", "residual"):
        assert term not in words
    reveal(browser, "#results summary").click()
    assert "Certificate" in text(browser, "#results")


def test_images_to_check_are_those_of_lowest_confidence(opened, album, tmp_path, written, text):
    listed = np.argsort(album.model.confidence_.round(4), kind="stable")[:30]
    low = np.isin(np.arange(N), listed)
    columns = replace(album.record.samples, low_confidence=low)
    run = SimpleNamespace(**{**vars(album), "record": replace(album.record, samples=columns)})
    browser = opened(path=written(tmp_path / "report.html", run))
    confidence = album.model.confidence_.round(4)
    ids = []
    assert text(browser, "#low-confidence-title") == "The 30 of lowest confidence"
    for first, last in ((1, 12), (13, 24), (25, 30)):
        assert text(browser, "#low-confidence .pages span") == f"{first}–{last} of 30"
        ids += shown_samples(browser, "#low-confidence")
        on = reveal(browser, "#low-confidence .pages button:last-child")
        assert on.is_enabled() == (last < 30)
        on.click()
    assert set(ids) == set(listed)
    assert (np.diff(confidence[ids]) >= 0).all()
    outliers = shown_samples(browser, "#outliers")
    scores = album.structure.outlier_scores_.round(4)
    np.testing.assert_array_equal(scores[outliers], -np.sort(-scores)[: len(outliers)])


def test_sections_of_suggestions_copies_and_skipped(opened, report, album, tmp_path, written, text):
    browser = opened(path=report)
    assert shown_samples(browser, "#suggestions") == [30, 11]
    assert shown_samples(browser, "#duplicates") == [3, 1, 5, 8, 11]
    assert len(browser.find_elements("css selector", "#duplicates [tabindex='0']")) == 2
    assert shown_samples(browser, "#conflicts") == [3, 1]
    assert "green\nsimilarity 1.00" in text(browser, "#conflicts")
    assert "blue\nsimilarity 0.97" in text(browser, "#duplicates")
    assert "2 images could not be read. 3 files in the folder" in text(browser, "#skipped")
    plain = SimpleNamespace(
        samples=replace(album.samples, skipped=(), n_ignored=0),
        model=album.model,
        record=replace(album.record, suggestions=None, duplicates=()),
    )
    browser = opened(path=written(tmp_path / "report.html", plain))
    sections = browser.find_elements("css selector", "main > section")
    names = [section.get_attribute("id") for section in sections]
    assert names == ["groups", "review", "map", "confusion", "results", "count"]
    assert len(browser.find_elements("css selector", "#sections a")) == len(names)


@pytest.mark.parametrize("kind", ["photographs", "images", "vectors"])
def test_prediction(kind, opened, album, predicted, tmp_path, written, text, press):
    new = replace(album.samples, X=album.samples.X + 1.0)
    if kind != "photographs":
        new = replace(new, photos=None, image_shape=(4, 4, 3) if kind == "images" else None)
    path = written(tmp_path / "report.html", predicted(new, album))
    for width in (1280, 390):
        browser = opened(width, path)
        assert text(browser, "#lead").startswith("Prediction")
        sections = browser.find_elements("css selector", "main > section")
        names = [section.get_attribute("id") for section in sections]
        assert names == ["groups", "review", "confusion", "skipped", "results"]
        reveal(browser, "#sheets .thumb").click()
        assert "Confidence" in text(browser, "#panel")
        assert "Similar" not in text(browser, "#panel")
        reveal(browser, "#panel summary").click()
        assert "Outlier score" in text(browser, "#panel")
        press(browser, "ESCAPE")


def test_many_photographs_load_as_they_come_in_sight(
    opened, album, photographs, predicted, tmp_path, written
):
    n = 3000
    samples = photographs([f"{i}.jpg" for i in range(n)])
    path = written(tmp_path / "report.html", predicted(samples, album))
    assert path.stat().st_size < 500_000
    browser = opened(path=path)
    loaded = "return [...document.images].filter((image) => image.naturalWidth > 0).length"
    first = wait_for(browser, loaded)
    assert 0 < first < 200
    assert browser.execute_script("return document.querySelectorAll('*').length") < 6000
    image = reveal(browser, "#outliers img")
    wait_for(browser, "return arguments[0].naturalWidth > 0", image)
