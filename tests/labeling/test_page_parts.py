"""Parts of the page of a labeling session, in a browser."""

from __future__ import annotations

import time
from threading import Thread

import numpy as np
import pytest
from digit_labels import TRUTH, act, name_clusters
from person import Person

pytest.importorskip("starlette", reason="needs starlette")
uvicorn = pytest.importorskip("uvicorn", reason="needs uvicorn")
pytest.importorskip("selenium", reason="needs selenium")

from selenium.webdriver import ActionChains  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

from enhg.labeling.export import Exporter  # noqa: E402
from enhg.labeling.pictures import Pictures  # noqa: E402
from enhg.labeling.server import make_app  # noqa: E402
from enhg.labeling.serving import open_port  # noqa: E402

HOSTILE = '<img src=x onerror="document.title=1">&amp;\u202e"'
FIT = "return document.documentElement.scrollWidth <= document.documentElement.clientWidth"


@pytest.fixture
def served(samples, tmp_path):
    """Serve a session in a thread; returns the address of its page."""
    servers = []

    def serve(session):
        listening = open_port(0)
        port = listening.getsockname()[1]
        app = make_app(
            session, Pictures(samples, tmp_path), Exporter(session, samples, tmp_path), "key", port
        )
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="off"))
        thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        servers.append((server, thread))
        return f"http://127.0.0.1:{port}/key/"

    yield serve
    for server, thread in servers:
        server.should_exit = True
        thread.join(10)


@pytest.fixture
def person(browser, served):
    """A person at the page; in the end nothing may be in the console."""
    yield Person(browser, TRUTH)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    browser.get("about:blank")  # before the server ends
    assert browser.get_log("browser") == []


def test_by_keyboard_alone(person, session, served):
    person.open(served(session) + "#questions")
    person.answer()
    person.press("s", "u")  # skip one, and mark the next as unsure
    person.ready()
    assert (session.answers.marks >= 0).sum() == 1
    person.press(",")  # clusters
    person.until("return current === 'clusters'")
    person.press(*[Keys.TAB] * 3)  # the choice of what is shown, then a button of the first sheet
    person.press("a")
    count = person.js("return selection.rows.size")
    in_cluster = session.model.labels_ == 0
    assert count == (in_cluster & ~session.answers.settled).sum()
    person.js("document.querySelector('#cluster-0 .thumb').focus()")
    person.press(" ", Keys.ARROW_RIGHT, Keys.ARROW_RIGHT, " ")  # take two of them out
    assert person.js("return selection.rows.size") == count - 2
    person.give("zero")
    assert session.answers.classes[-1] == "zero"
    assert person.counts["zero"] == count - 2
    focused = person.js("return document.activeElement.dataset.row")
    assert focused is not None  # the focus is back
    person.chord(Keys.SHIFT, Keys.ARROW_RIGHT)
    assert person.js("return selection.rows.size") == 2
    person.press(Keys.ESCAPE)
    assert person.js("return selection.rows.size") == 0
    person.press("?")
    assert "Keys" in person.text("#dialog-title")
    person.press(Keys.ESCAPE)
    person.chord(Keys.CONTROL, "z")
    person.ready()
    assert "zero" not in person.counts
    assert person.text("#status").startswith(f"Undone: {count - 2} images labeled zero.")


def test_hostile_names_are_text(browser, person, session, served):
    session.names[3] = HOSTILE
    person.open(served(session) + "#questions")
    person.press("n")
    person.press(HOSTILE.replace("\u202e", ""), Keys.ENTER)
    person.ready()
    person.give("plain")
    for view in ("questions", "clusters", "predictions", "contradictions", "map", "progress"):
        person.view(view)
    person.js("enlarge(3)")
    assert person.text("#dialog-title").startswith("<img src=x")
    person.js("dialog.element.close(); askName(state.classes[0])")
    person.js("dialog.element.close()")
    assert "<img src=x" in person.text("#classes")
    assert person.js("return document.title") == "digits: labels"
    assert person.all("img[src=x]") == []
    person.view("questions")
    person.press("n")
    person.press("a\u200bb", Keys.ENTER)  # a name with a space that is not visible
    person.until("return document.getElementById('status').classList.contains('wrong')")
    assert "control characters" in person.text("#status")
    browser.get_log("browser")  # the refused action


def test_two_windows_follow_each_other(browser, person, session, served):
    address = served(session) + "#questions"
    person.open(address)
    first = browser.current_window_handle
    browser.switch_to.new_window("tab")
    try:
        person.open(address)
        person.answer()
        named = person.counts
        browser.switch_to.window(first)
        person.until("return state.version === 1")
        assert person.counts == named
        assert "another window" in person.text("#status")
        person.ready()
        person.answer()
        browser.switch_to.window(browser.window_handles[-1])
        person.until("return state.version === 2")
    finally:
        browser.switch_to.window(browser.window_handles[-1])
        browser.close()
        browser.switch_to.window(first)


def test_the_server_goes_and_comes_back(browser, person, session, served):
    person.open(served(session) + "#questions")
    person.answer()
    browser.set_network_conditions(offline=True, latency=0, throughput=-1)
    try:
        person.press("1")
        person.until("return !document.getElementById('trouble').hidden")
        assert "does not respond" in person.text("#trouble")
        assert "Not yet saved: 1 action" in person.text("#trouble")
    finally:
        browser.delete_network_conditions()
    person.until("return document.getElementById('trouble').hidden")
    person.ready()
    assert session.answers.settled.sum() == 2  # the action that waited arrived once
    browser.get_log("browser")  # the requests without an answer


def test_predictions_are_accepted_in_bulk(person, session, served):
    for name in "0123456789":
        act(session, "name", np.flatnonzero(name == TRUTH)[:3], name)
    person.open(served(session) + "#predictions")
    slider = person.find("#threshold")
    person.js("arguments[0].value = 0; arguments[0].dispatchEvent(new Event('input'))", slider)
    count = person.js("return predictions.ids.length")
    person.until(
        "return arguments[0].textContent === arguments[1]",
        person.find("#accept"),
        f"Accept {count}",
    )
    assert count == 400 - 30 - len(session.snapshot.hidden)
    rows = [int(thumb.get_attribute("data-row")) for thumb in person.all("#predicted .thumb")]
    assert not set(rows) & set(session.snapshot.hidden)
    person.all("#predicted .thumb")[0].click()  # leave one out
    assert person.text("#accept") == f"Accept {count - 1}"
    expected, before = session.snapshot.predictions.codes, session.answers.settled
    person.find("#accept").click()
    person.ready()
    labels = session.answers.labels
    accepted = (labels >= 0) & ~before
    assert accepted.sum() == count - 1
    assert not accepted[rows[0]]
    assert (labels == expected)[accepted].all()
    person.find("#undo").click()
    person.ready()
    assert (session.answers.labels >= 0).sum() == 30


def test_hidden_predictions_are_not_shown(person, session, served):
    name_clusters(session)
    act(session, "clear", range(0, 400, 2))
    person.open(served(session) + "#questions")
    hidden = set(person.js("return [...hidden]"))
    assert hidden == set(session.snapshot.hidden)
    person.js("questions.jump(arguments[0])", next(iter(hidden)))
    assert "Random check" in person.text("#answer")
    assert "Predicted" not in person.text("#answer")
    checked = session.history[-1].checked
    person.answer()
    assert session.history[-1].checked == checked + 1


def test_images_like_the_one_asked_about_are_named_with_it(person, session, served):
    person.open(served(session) + "#questions")
    row = person.js("return questions.row")
    alike = session.snapshot.alike(row)
    person.press("a")
    assert set(person.js("return [...selection.rows]")) == set(alike)
    assert f"{len(alike)} similar" in person.text("#target")
    person.all("#alike .thumb")[0].click()  # take one out
    person.give("some")
    named = set(np.flatnonzero(session.answers.labels >= 0).tolist())
    assert row in named
    assert named < {row, *alike}
    assert len(named) == len(alike)
    person.view("clusters")
    person.find("#cluster-1 .core").click()
    assert set(person.js("return [...selection.rows]")) == set(session.cores[1])


def test_contradictions_are_kept_or_changed(person, session, served):
    name_clusters(session)
    rows = np.flatnonzero(session.model.labels_ == 0)[:3]
    act(session, "name", np.r_[rows[:2], np.flatnonzero(session.model.labels_ == 1)[:1]], "odd")
    assert len(session.snapshot.contradictions) >= 2
    person.open(served(session) + "#contradictions")
    (first, other), second = (
        session.snapshot.contradictions[0],
        session.snapshot.contradictions[1][0],
    )
    kept = session.answers.labels[second]
    person.press("y")
    person.ready()
    assert session.answers.labels[first] == other
    assert int(person.find(".contradiction").get_attribute("data-contradicted")) == second
    person.press("k")
    person.ready()
    assert session.answers.labels[second] == kept
    assert session.answers.confirmed[second]
    assert second not in [row for row, _ in session.snapshot.contradictions]


def test_contradictions_of_the_same_classes_are_answered_together(person, session, served):
    """The line before them answers for all, in one action that can be undone."""
    name_clusters(session)
    clusters = [np.flatnonzero(session.model.labels_ == cluster)[:3] for cluster in (0, 1)]
    act(session, "name", np.concatenate(clusters), "odd")
    person.open(served(session) + "#contradictions")
    groups = person.all(".contradictions-alike")
    assert len(groups) == 2
    codes = session.answers.labels.copy()
    keep, _ = groups[0].find_elements("tag name", "button")
    cards = person.js(
        "const cards = []; let next = document.querySelector('.contradictions-alike').nextSibling;"
        "while (next?.matches('.contradiction')) { cards.push(+next.dataset.contradicted);"
        " next = next.nextSibling; } return cards"
    )
    assert 2 <= len(cards) <= 3
    keep.click()
    person.ready()
    assert session.answers.confirmed[cards].all()
    assert (session.answers.labels == codes).all()
    assert not set(cards) & {row for row, _ in session.snapshot.contradictions}
    _, change = person.find(".contradictions-alike").find_elements("tag name", "button")
    change.click()
    person.ready()
    assert (session.answers.labels != codes).sum() in (2, 3)
    person.chord(Keys.CONTROL, "z")
    person.ready()
    assert (session.answers.labels == codes).all()


def test_drag_shift_and_lasso(browser, person, session, served):
    person.open(served(session) + "#clusters")
    thumbs = person.all("#cluster-0 .thumb")
    thumbs[0].click()
    ActionChains(browser).key_down(Keys.SHIFT).click(thumbs[4]).key_up(Keys.SHIFT).perform()
    assert person.js("return selection.rows.size") == 5
    thumbs[2].click()  # out again
    assert person.js("return selection.rows.size") == 4
    person.press(Keys.ESCAPE)
    ActionChains(browser).drag_and_drop(thumbs[1], thumbs[3]).perform()
    chosen = set(person.js("return [...selection.rows]"))
    assert chosen == {int(thumb.get_attribute("data-row")) for thumb in thumbs[1:4]}
    person.view("map")
    assert person.js("return selection.rows.size") == 0
    plane = person.find("#plane")
    width, height = plane.size["width"] // 2 - 3, plane.size["height"] // 2 - 3
    chain = ActionChains(browser, duration=20).move_to_element_with_offset(plane, -width, -height)
    chain.click_and_hold().move_by_offset(2 * width, 0).move_by_offset(0, 2 * height)
    chain.move_by_offset(-2 * width, 0).release().perform()
    assert person.js("return selection.rows.size") > 300
    assert person.all("#lassoed .thumb")
    person.press("n")
    person.press("all", Keys.ENTER)
    person.ready()
    assert person.counts["all"] > 300


@pytest.mark.parametrize(("width", "height"), [(1280, 900), (640, 430), (390, 844)])
def test_fits_in_light_and_dark(browser, person, session, served, width, height):
    name_clusters(session)
    address = served(session)
    for scheme in ("light", "dark"):
        feature = {"name": "prefers-color-scheme", "value": scheme}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
        person.open(address, width, height)
        for view in ("questions", "clusters", "predictions", "contradictions", "map", "progress"):
            person.view(view)
            assert person.js(FIT), view
        ground = person.js("return getComputedStyle(document.documentElement).backgroundColor")
        brightness = int(ground.strip("rgb()").split(",")[0])
        assert (brightness > 128) == (scheme == "light")


def test_no_request_leaves_the_server(browser, person, session, served):
    address = served(session)
    person.open(address + "#questions")
    person.answer()
    for view in ("clusters", "map", "progress"):
        person.view(view)
    time.sleep(0.3)
    names = person.js("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    assert len(names) > 10
    assert all(name.startswith(address) for name in names)


def test_an_image_that_vanished(browser, person, session, served, monkeypatch):
    def gone(self, row):
        raise FileNotFoundError("no such file")

    monkeypatch.setattr(Pictures, "large", gone)
    person.open(served(session) + "#questions")
    person.until("return document.querySelector('#asked .gone') !== null")
    assert session.names[person.js("return questions.row")] in person.text("#asked .gone")
    person.answer()
    assert session.answers.settled.sum() == 1
    browser.get_log("browser")  # the pictures that are missing
    monkeypatch.undo()
    person.view("map")
